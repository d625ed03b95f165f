/* tests/full/all_random.c -- the pairs of the unit test, thousands of them. */
#define N_PAIRS 2000
#include "tests/unit/all/random.c"
