/* client/kernel.h -- one kernel of a network as an object: the best record of the store, or the
 * automatic schedule where there is none. */
#ifndef HN_CLIENT_KERNEL_H
#define HN_CLIENT_KERNEL_H

#include "client/check.h"

struct hn_kernel {
	const char *key, *dag, *steps;	/* JSON, the latter two */
	const char *target_line;
	int64_t record;		/* of the store; 0: the automatic schedule */
	double median_ns;	/* as it was measured; 0 = it was not */
	double predicted_ns;	/* by the analytic model, of an automatic one; else 0 */
	uint64_t workspace_bytes, worker_bytes, prepared_bytes;
	bool init;		/* it asks for tile registers */
	const char *strides;	/* set between choosing and making: of its arguments
				 * (loopstate/nest/strided.h); NULL: they lie in a row */
	const bool *reads;	/* [inputs] whether a run reads it beside what is prepared */
	bool run_record;	/* set between choosing and making: a record is run here, too */
	struct hn_check check;	/* it was run, or why not */
};

/* Which schedule: of the computation o->text.  The record `declined` is not taken, and the automatic
 * schedule is where it is the best (netchoice.h); 0: none is declined.  All in a. */
int hn_kernel_choose(const struct hn_opts *o, int64_t declined, struct hn_arena *a,
		     struct hn_kernel *ret, struct hn_err *err) HN_NODISCARD;

/* Make it: DIR/SYMBOL.o, an object, or a GPU's module (proto/gpu_module.h).  Other files that this takes are gone after.  A record was checked when it
 * was measured, with arguments in a row; an automatic schedule is run on a few inputs here, unless --unchecked is given.
 * One that is wrong fails, and k->check.wrong says why. */
int hn_kernel_make(const char *verb, const struct hn_opts *o, const char *dir, const char *symbol,
		   struct hn_arena *a, struct hn_kernel *k, struct hn_err *err) HN_NODISCARD;

#endif
