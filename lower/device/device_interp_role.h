/* lower/device/device_interp_role.h -- what interpreting roles shares with the rest. */
#ifndef HN_LOWER_DEVICE_DEVICE_INTERP_ROLE_H
#define HN_LOWER_DEVICE_DEVICE_INTERP_ROLE_H

#include "lower/device/device_interp_int.h"
#include "lower/device/device_role.h"

/* All roles of a block, to their ends.  judges: words alone, each warpgroup by its first thread. */
void hn_interp_roles(struct run *r, const struct op *const *role, uint32_t n_role, bool judges);

/* MBARRIER, by the running thread. */
void hn_interp_mbarrier(struct run *r, const struct op *o, union hn_value *frame);

/* Room for the kernel at hand, once; a block begins, and no mbarrier has been made. */
void hn_interp_make_roles(struct run *r);
void hn_interp_forget_mbarriers(struct run *r);

/* device_interp_box.c: a bulk copy begins: nobody may touch its box; the box is there. */
void hn_interp_box_flies(struct run *r, const struct hn_device_node *n, int64_t at);
void hn_interp_box(struct run *r, const struct hn_device_node *n, int64_t at, const int64_t *from);

/* device_interp.c: one thread through a node without words; a node, compiled; no block has run yet. */
void hn_interp_thread(struct run *r, const struct op *o, union hn_value *frame);
const struct op *hn_interp_compile_node(struct hn_compile *c, const struct hn_device_node *n);
void hn_interp_block(struct run *r, const struct op *o);

#endif
