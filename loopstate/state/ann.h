/* loopstate/state/ann.h -- loop annotations: who runs the iterations of a loop (iters.def).
 *
 * An annotation is a byte of a state's loops and of the loop tree's; a record may hold any number,
 * which the step that sets it refuses. */
#ifndef HN_LOOPSTATE_STATE_ANN_H
#define HN_LOOPSTATE_STATE_ANN_H

#include <stdbool.h>
#include <stdint.h>

enum hn_ann {
#define ANN(name, number, keyword, target, runs) HN_ANN_##name = number,
#include "loopstate/state/iters.def"
#undef ANN
	HN_N_ANN
};

/* All but ORDER run at the same time, so that no two iterations may touch what one writes. */
enum hn_runs {
	HN_RUNS_ORDER,	 /* one after the other */
	HN_RUNS_LANES,	 /* lanes of one instruction */
	HN_RUNS_CORES,	 /* cores of a CPU */
	HN_RUNS_BLOCKS,	 /* blocks of a GPU's grid */
	HN_RUNS_VIRTUAL, /* virtual threads of one thread, interleaved */
	HN_RUNS_THREADS	 /* threads of one block, which can add up what each has summed */
};

struct hn_ann_row {
	const char *keyword;
	enum hn_runs runs;
};

extern const struct hn_ann_row hn_ann_rows[HN_N_ANN];

static inline bool hn_ann_known(int64_t ann)
{
	return ann >= 0 && ann < HN_N_ANN;
}

/* Of one that is known. */
static inline const char *hn_ann_keyword(uint8_t ann)
{
	return hn_ann_rows[ann].keyword;
}

static inline bool hn_ann_concurrent(uint8_t ann)
{
	return hn_ann_rows[ann].runs != HN_RUNS_ORDER;
}

/* Whether it binds a loop to a number of a GPU's grid. */
static inline bool hn_ann_is_thread(uint8_t ann)
{
	return hn_ann_rows[ann].runs >= HN_RUNS_BLOCKS;
}

#endif
