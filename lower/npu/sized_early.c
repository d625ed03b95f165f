/* lower/npu/sized_early.c -- loads of a tile as early as its memory allows.
 *
 * Code of a tile loads what it needs just before it is read.  In turns there is another tile before it:
 * so what is loaded first is there when it is read, and one flag tells of several loads.
 */
#include "lower/npu/sized.h"

#define MOST 2000 /* instructions of a tile that is looked at */

struct reach { /* bytes of the unified buffer that an instruction touches; from == to: none */
	int64_t from, to;
};

static struct reach reach_of(const struct sized *s, const struct hn_npu_insn *in)
{
	static const int64_t reg[HN_NPU_REGISTERS] = { 0 };
	struct reach r = { 0, 0 };
	struct npu_fault fault;
	struct npu_op op;

	if (!npu_resolve(s->apart, s->m, in, reg, NULL, &op, &fault)) {
		return (struct reach){ INT64_MIN, INT64_MAX };
	}
	for (uint32_t i = 0; i < op.n_span; i++) {
		const struct npu_span *p = &op.span[i];
		int64_t to = p->at + (p->n1 - 1) * p->s1 + (p->n0 - 1) * p->s0 + p->bytes;

		if (p->memory == HN_NPU_UB) {
			r.from = r.from == r.to || p->at < r.from ? p->at : r.from;
			r.to = to > r.to ? to : r.to;
		}
	}
	return r;
}

void sized_early(const struct sized *s, struct hn_npu_insn *in, uint32_t n)
{
	struct reach *r = HN_NEW_ARRAY(s->a, struct reach, n + 1);

	for (uint32_t i = 0; i < n && n <= MOST; i++) {
		struct hn_npu_insn load = in[i];
		struct reach to = reach_of(s, &load);
		uint32_t k = i;

		/* loads stay in their order */
		while (load.op == HN_NPU_I_LOAD && load.place[0].memory == HN_NPU_UB && k > 0 &&
		       in[k - 1].op != HN_NPU_I_LOAD && (r[k - 1].to <= to.from || r[k - 1].from >= to.to)) {
			in[k] = in[k - 1];
			r[k] = r[k - 1];
			k--;
		}
		in[k] = load;
		r[k] = to;
	}
}
