/* costmodel/simt.h -- the analytic model of a kernel on a machine with blocks of threads.
 *
 * Statements add up to what a block asks for: instructions, turns of shared memory, bytes from the
 * second cache.  How many blocks are on a multiprocessor at once follows from threads, registers and
 * shared memory; what the last wave leaves empty is lost.
 */
#ifndef HN_COSTMODEL_SIMT_H
#define HN_COSTMODEL_SIMT_H

#include "costmodel/analytic_int.h"
#include "costmodel/features.h"

struct hn_simt_kernel {
	const struct hn_looptree *tree;
	const struct hn_target *target;
	double blocks, threads;		     /* the largest of its statements' */
	double issue, turns, bytes;	     /* of a block: of its warps, of banks, from the cache */
	double waits;			     /* cycles that nothing of the block itself hides */
	double registers, shared;	     /* of a thread; bytes of a block */
	double memory;			     /* bytes of tensors in memory, each once */
	bool *seen;			     /* [n_stage] counted already */
};

void hn_simt_begin(struct hn_simt_kernel *k, const struct hn_looptree *tree,
		   const struct hn_target *t, struct hn_arena *a);

/* One statement; what it takes of a block's time, to share the kernel's out by. */
double hn_simt_see(struct hn_simt_kernel *k, const struct hn_view *v);

/* Cycles of the kernel, at HN_MODEL_HZ. */
double hn_simt_cycles(const struct hn_simt_kernel *k);

/* What is said of it; its rows are left out. */
void hn_simt_shape(const struct hn_simt_kernel *k, struct hn_features_kernel *ret);

#endif
