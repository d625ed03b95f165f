/* costmodel/features.h -- a program as numbers: one row a statement of its loop tree, with the
 * cycles that the analytic model gives it.
 *
 * The one thing that cost models read.  What a column means: costmodel/features.def,
 * docs/features.md.  Source of the idea: Ansor, section 5.2 (164 numbers a stored buffer).
 */
#ifndef HN_COSTMODEL_FEATURES_H
#define HN_COSTMODEL_FEATURES_H

#include "base/buf.h"
#include "loopstate/nest/looptree.h"
#include "target/target.h"

enum hn_feature {
#define FEATURE(group, name, unit, source, text) HN_FEATURE_##name,
#include "costmodel/features.def"
#undef FEATURE
	HN_N_FEATURE
};

/* A nest on a machine with blocks of threads, as its model sees it (costmodel/simt.h). */
struct hn_features_kernel {
	uint32_t first, n;	  /* its rows */
	double blocks, threads;	  /* of a block */
	double registers, shared; /* of a thread; bytes of a block */
	double resident, waves;	  /* blocks on a multiprocessor at once; how often all of these are full */
	/* of a block: instructions, turns of shared memory, transfers, and waiting */
	double issue, turns, transfers, waits;
};

struct hn_features {
	const struct hn_trace *trace; /* the program's history: which program it is */
	uint32_t n;	/* statements, in the order of execution; >= 1 */
	const double *cycles; /* [n] by the analytic model, > 0 and finite */
	double warm_cycles;   /* of all, where the call before has left the data in caches: for people,
			       * and for no order of programs */
	const float *x;	      /* [n * HN_N_FEATURE], row by row */
	uint32_t n_kernel;    /* 0: cores run loops */
	const struct hn_features_kernel *kernel;
};

/* Read the tree.  The rows and scratch lie in `a`.  What runs before the first call
 * (tree->prepared) has no row.  False when the program is hopeless: deeper or with more
 * accesses than any real one.  Pure. */
bool hn_features_of(const struct hn_looptree *tree, const struct hn_target *target,
		    struct hn_arena *a, struct hn_features *ret);

/* The same, history too, in another arena. */
struct hn_features hn_features_copy(const struct hn_features *f, struct hn_arena *a);

const char *hn_feature_name(enum hn_feature i);

/* Which features these are: names and texts of features.def, and this number, which a change of
 * what a column holds raises.  Trained models fit no others. */
#define HN_FEATURES_VERSION 1
uint64_t hn_features_stamp(void);

/* docs/features.md. */
void hn_features_doc(struct hn_buf *buf);

#endif
