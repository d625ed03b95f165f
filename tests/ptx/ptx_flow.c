/* ptx_flow.c -- which instruction is next: branches, ends, barriers; and fences, which have nothing to do
 * where stores are seen at once. */
#include <string.h>

#include "tests/ptx/ptx_int.h"

static enum ptx_did do_branch(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	(void)w;
	(void)in;
	(void)mask;
	return PTX_BRANCH;
}

static enum ptx_did do_end(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	(void)in;
	w->ended |= mask;
	return PTX_DONE;
}

static enum ptx_did do_trap(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	return ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), "trap");
}

static enum ptx_did do_nothing(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	(void)w;
	(void)in;
	(void)mask;
	return PTX_DONE;
}

/* bar.sync number [, threads]: a warp comes with all its lanes, those that ended as well. */
static enum ptx_did do_barrier(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	const struct ptx_launch *l = w->block->launch;
	uint32_t lane = (uint32_t)__builtin_ctz(mask), all = l->block[0] * l->block[1] * l->block[2];
	uint64_t id = ptx_value(w, &in->op[0], lane);
	uint64_t expected = in->n_op > 1 ? ptx_value(w, &in->op[1], lane) : all;
	struct ptx_barrier *b = &w->block->barrier[id % 16];

	if (id > 15 || expected == 0 || expected > all || (in->n_op > 1 && expected % PTX_LANES != 0)) {
		return ptx_fault(w, in, lane, "no barrier %d of %d threads", (int)id, (int)expected);
	}
	if (b->arrived > 0 && b->expected != expected) {
		return ptx_fault(w, in, lane, "others wait here for %u threads", b->expected);
	}
	b->expected = (uint32_t)expected;
	b->arrived += (uint32_t)__builtin_popcount(mask);
	w->held |= mask;
	w->barrier = (int32_t)id;
	if (b->arrived > b->expected) {
		return ptx_fault(w, in, lane, "more threads than it is for");
	}
	for (uint32_t i = 0; b->arrived == b->expected && i < w->block->n_warp; i++) {
		struct ptx_warp *other = &w->block->warp[i];

		if (other->barrier == (int32_t)id) {
			other->held = 0;
			other->barrier = -1;
		}
	}
	b->arrived = b->arrived == b->expected ? 0 : b->arrived;
	return PTX_DONE;
}

static const struct {
	const char *text;
	ptx_do *run;
	bool together;
} row[] = {
	{ "bra", do_branch, false },
	{ "bra.uni", do_branch, false },
	{ "ret", do_end, false },
	{ "exit", do_end, false },
	{ "trap", do_trap, false },
	{ "bar.sync", do_barrier, true },
	{ "barrier.sync", do_barrier, true },
	{ "barrier.sync.aligned", do_barrier, true },
	{ "bar.warp.sync", do_nothing, true },
	{ "membar.cta", do_nothing, false },
	{ "membar.gl", do_nothing, false },
};

ptx_do *ptx_find_flow(struct ptx_insn *in)
{
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		if (strcmp(row[i].text, in->name) == 0) {
			in->together = row[i].together;
			return row[i].run;
		}
	}
	return NULL;
}
