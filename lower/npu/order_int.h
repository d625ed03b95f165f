/* lower/npu/order_int.h -- a walk over instructions that finds what each has to come after: what straight
 * code and loops share.
 */
#ifndef HN_LOWER_NPU_ORDER_INT_H
#define HN_LOWER_NPU_ORDER_INT_H

#include "lower/npu/npu.h"
#include "target/npu/npu_op.h"

struct npu_done { /* instructions, from 1, that are done */
	uint32_t done[HN_NPU_N_PIPE];
};

struct npu_last {
	uint32_t read[HN_NPU_N_PIPE], write;
	uint8_t write_pipe;
};

struct npu_use { /* of a flag: its last set and the instruction that waited */
	uint32_t set, waited;
};

struct npu_edge { /* a flag behind instruction `at` of pipe from, for pipe `to` */
	uint32_t at, before; /* before: the instruction that waits */
	uint8_t from, to, id;
};

struct npu_order {
	const struct hn_npu_program *p;
	const struct hn_npu_profile *m;
	const struct hn_npu_section *s;
	struct hn_arena *a;
	int64_t reg[HN_NPU_REGISTERS];
	const int64_t *image;
	struct npu_done known[HN_NPU_N_PIPE];
	struct npu_done *when; /* [n_insn + 1] what was done when the i-th was */
	uint8_t *pipe;	    /* [n_insn + 1] */
	struct npu_last *touch[HN_NPU_N_MEMORY];
	struct npu_use use[HN_NPU_N_PIPE][HN_NPU_N_PIPE][8];
	uint32_t n_edge, cap_edge;
	struct npu_edge *edge;
	uint8_t *before; /* [n_insn + 1] 1: a barrier of V, 2: of all */
	bool loose; /* flags as if there were enough: their numbers are given later */
	struct hn_npu_order_facts *facts;
};

/* order.c: find edges and barriers of o->s; then the section with them. */
int npu_order_walk(struct npu_order *o, enum hn_npu_order order, struct hn_err *err);
struct hn_npu_section npu_order_section(struct npu_order *o, enum hn_npu_order order);
struct hn_npu_insn npu_plain(enum hn_npu_op op, uint8_t from, uint8_t to, int64_t id);

/* order_loop.c: code that is done again and again, and what stands before and behind all of its turns. */
struct npu_turns {
	uint32_t n_before, n_body, n_behind;
	const struct hn_npu_insn *before, *body, *behind;
	bool carried; /* turns are ordered by flags; else by a barrier of all pipes */
};

/* Turns of the instructions s->insn, each of which touches the same memory, as p's.  All pipes have done
 * all before the first, and a barrier of all stands behind the last. */
int npu_order_turns(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		    const struct hn_npu_section *s, enum hn_npu_order order, bool carries, struct hn_arena *a,
		    struct npu_turns *ret, struct hn_err *err) HN_NODISCARD;

#endif
