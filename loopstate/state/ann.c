/* ann.c -- see ann.h. */
#include "loopstate/state/ann.h"

const struct hn_ann_row hn_ann_rows[HN_N_ANN] = {
#define ANN(name, number, keyword, target, runs) [number] = { keyword, HN_RUNS_##runs },
#include "loopstate/state/iters.def"
#undef ANN
};
