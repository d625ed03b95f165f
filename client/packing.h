/* client/packing.h -- the weights of a compiled network in the form that its kernels read: prepared
 * while the library is written, where this machine can run the kernels. */
#ifndef HN_CLIENT_PACKING_H
#define HN_CLIENT_PACKING_H

#include "client/library.h"

struct hn_packing {
	void *bytes; /* the prepared blocks, mapped; NULL: there are none */
	size_t n_bytes;
};

/* Run what the settled *model prepares (hone-board --prepare), in the folder `work`, whose folder
 * `objects` has the kernels' objects.  *model and *weights are then those with the blocks in them,
 * which point into ret until hn_packing_close.  For a target that does not run here, and where
 * there is nothing to prepare, all stay as they are. */
int hn_packing_make(const char *verb, const struct hn_library *l, const struct hn_target *target,
		    const char *work, const char *objects, struct hn_arena *a,
		    struct hn_model *model, struct hn_weights *weights, struct hn_packing *ret,
		    struct hn_err *err) HN_NODISCARD;
void hn_packing_close(struct hn_packing *p); /* zeroed ones are fine */

#endif
