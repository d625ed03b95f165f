/* lower/npu/sized_code.h -- code of a program for sizes while it is written: what sized_code.c and
 * sized_share.c have in common.
 */
#ifndef HN_LOWER_NPU_SIZED_CODE_H
#define HN_LOWER_NPU_SIZED_CODE_H

#include "lower/npu/sized.h"

struct code {
	struct sized *s;
	struct hn_npu_insn *insn;
	uint32_t n, cap;
	uint32_t open[HN_NPU_NESTING], n_open;
	int next; /* register */
	/* rows; a core's first and how many; tiles; the outer dimensions' first of this core, the rows that a
	 * tile may begin at last, turns, the turn, and its tile's place */
	int step; /* rows of which results have whole blocks; -1: a number */
	int rows, start, part, first_outer, last, turns, turn, tiles, all, row, scratch;
	struct sized_registers ragged; /* of terms */
	int extent[SIZED_CLASSES], place[SIZED_CLASSES]; /* of outer dimensions */
};

/* sized_write.c: instructions one behind the other. */
struct hn_npu_insn *sized_add(struct code *c);
/* x op y, into a register; nothing where it is there already. */
void sized_let(struct code *c, enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y);
void sized_begin(struct code *c, enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y);
void sized_end(struct code *c);
/* Several, with their conditions. */
void sized_put(struct code *c, const struct hn_npu_insn *in, uint32_t n);
/* A form into that register; those behind the registers in use are free for its parts. */
void sized_form_into(struct code *c, int to, const struct hn_npu_form *f);

/* sized_share.c: what registers there are, and what a core has. */
void sized_registers(struct code *c);
/* Rows from `start` on, so many in `part`; of outer dimensions `all` from first_outer. */
void sized_shares(struct code *c);
void sized_keep_values(struct code *c);

#endif
