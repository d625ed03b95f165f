/* tests/full/loopstate_looptree.c -- the random histories of the unit test, forty times
 * as many. */
#define N_TREES 6000
#include "tests/unit/loopstate/looptree.c"
