/* tests/full/loopstate_properties.c -- the histories of the unit test, thirty times as
 * many. */
#define N_HISTORIES 1800
#include "tests/unit/loopstate/properties.c"
