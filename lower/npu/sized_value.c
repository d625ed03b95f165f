/* lower/npu/sized_value.c -- sizes that ops compute with, as in a mean: a form over sizes that becomes a float.
 *
 * No instruction puts a register's number into the unified buffer.  So before the first tile each core
 * writes the number's digits of base 64: of each as many lanes as it says, with what one of them is worth.
 * Their sum is the number; it is kept behind all tiles, and a tile copies it where it loads an argument.
 */
#include "loopstate/dag/size.h"
#include "lower/npu/sized.h"

#define DIGITS 4
#define MOST_KEPT (10 + 5 * DIGITS) /* instructions that write one number */
#define BASE 64 /* lanes of a repeat */
#define MOST ((int64_t)1 << 24) /* integers below are float32's */

struct walk {
	struct sized *s;
	bool refused;
};

static bool has_size(const struct hn_expr *e)
{
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (has_size(e->arg[i])) {
			return true;
		}
	}
	return hn_expr_is_size(e);
}

static bool is_float(const struct hn_expr *e)
{
	return e->dtype == HN_F32 || e->dtype == HN_F16;
}

/* A new one is added, where there is room. */
int32_t sized_value_of(struct sized *s, const struct hn_expr *e)
{
	const struct hn_npu_form *f = e->op == HN_EXPR_CAST && is_float(e) && has_size(e) ? sized_form(s, e->arg[0]) : NULL;
	int64_t lo, hi;
	uint32_t k = 0;

	if (f == NULL || !hn_size_range(s->dag->sizes, e->arg[0], &lo, &hi) || lo < 0 || hi >= MOST) {
		return -1;
	}
	while (k < s->n_value && !hn_npu_form_equal(s->value[k], f)) {
		k++;
	}
	if (k == SIZED_VALUES) {
		return -1;
	}
	s->value[k] = f;
	s->n_value = k == s->n_value ? k + 1 : s->n_value;
	return (int32_t)k;
}

static void look(struct walk *w, const struct hn_expr *e)
{
	if (sized_value_of(w->s, e) >= 0) {
		return;
	}
	w->refused = w->refused || hn_expr_is_size(e);
	for (uint32_t i = 0; i < e->n_arg; i++) {
		look(w, e->arg[i]);
	}
}

static void visit(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	look(ctx, e);
}

int sized_values(struct sized *s)
{
	for (uint32_t i = 0; i < s->dag->n_op; i++) {
		struct walk w = { .s = s };

		if (s->dag->op[i]->kind == HN_OP_COMPUTE) {
			hn_dag_op_exprs(s->dag->op[i], visit, &w);
		}
		if (w.refused) {
			return sized_refuse(s, s->dag->op[i], "it computes with a size, and not as one of at most 4 floats below "
					    "2^24: a program for the NPU needs a number there");
		}
	}
	return 0;
}

/* -- code ----------------------------------------------------------------------------------- */

static int64_t region(const struct sized *s)
{
	return hn_npu_memory_bytes(s->m, HN_NPU_UB) - SIZED_KEPT;
}

int64_t sized_kept(const struct sized *s, uint32_t value)
{
	return region(s) + DIGITS * BASE * 4 + (int64_t)value * 256;
}

static struct hn_npu_insn of(enum hn_npu_op op, int64_t to, int64_t from, int n_number, const int64_t *v)
{
	struct hn_npu_insn in = { .op = (uint8_t)op, .type = { HN_F32, HN_F32 } };

	in.place[0] = (struct hn_npu_place){ .memory = HN_NPU_UB, .at = sized_imm(to) };
	in.place[1] = (struct hn_npu_place){ .memory = HN_NPU_UB, .at = sized_imm(from) };
	for (int i = 0; i < n_number; i++) {
		in.number[i] = sized_imm(v[i]);
	}
	return in;
}

void sized_keep(const struct sized *s, uint32_t value, struct hn_npu_number v, int q, int t,
		const struct hn_npu_insn **ret, uint32_t *n)
{
	/* REP MASK BITS BITS2 B0 SD S0; of SPREAD: REP BD SD */
	static const int64_t sums[] = { DIGITS, HN_NPU_DENSE, 0, 0, 1, HN_NPU_DENSE, HN_NPU_DENSE };
	static const int64_t sum[] = { 1, DIGITS, 0, 0, 1, HN_NPU_DENSE, HN_NPU_DENSE }, spread[] = { 1, 1, HN_NPU_DENSE };
	struct hn_npu_insn *in = HN_NEW_ARRAY(s->a, struct hn_npu_insn, MOST_KEPT);
	int64_t worth = 1;
	uint32_t k = 0;

	in[k++] = sized_scalar(HN_NPU_I_MOV, q, v, sized_imm(0));
	in[k++] = sized_fill(region(s), 0, DIGITS, HN_NPU_DENSE, HN_NPU_DENSE);
	in[k++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_V, 0, 0);
	for (int i = 0; i < DIGITS; i++, worth *= BASE) {
		in[k++] = sized_scalar(HN_NPU_I_SMOD, t, sized_reg(q), sized_imm(BASE));
		in[k++] = sized_scalar(HN_NPU_I_SDIV, q, sized_reg(q), sized_imm(BASE));
		in[k++] = sized_scalar(HN_NPU_I_IF, 0, sized_imm(0), sized_reg(t));
		in[k] = sized_fill(region(s) + (int64_t)i * BASE * 4, (float)worth, 1, 0, HN_NPU_DENSE);
		in[k++].number[1] = sized_reg(t);
		in[k++] = (struct hn_npu_insn){ .op = HN_NPU_I_END };
	}
	in[k++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_V, 0, 0);
	in[k++] = of(HN_NPU_I_CADD, sized_kept(s, value), region(s), 7, sums);
	in[k++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_V, 0, 0);
	in[k++] = of(HN_NPU_I_CADD, region(s), sized_kept(s, value), 7, sum);
	in[k++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_V, 0, 0);
	in[k++] = of(HN_NPU_I_BRCB, sized_kept(s, value), region(s), 3, spread);
	in[k++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_V, 0, 0);
	hn_assert(k == MOST_KEPT);
	*ret = in;
	*n = k;
}

struct hn_npu_insn sized_copy(const struct sized *s, uint32_t value, const struct hn_npu_insn *load)
{
	static const int64_t block[] = { 1, 8, 0, 0, 1, 1, HN_NPU_DENSE, HN_NPU_DENSE };

	return of(HN_NPU_I_COPY, load->place[0].at.imm, sized_kept(s, value), 8, block);
}
