/* Sums of products, and random histories that give their terms to an instruction (step TE): what the
 * tests of this machine's code and of other machines' share.  The program includes what
 * lower_histories.h needs before this. */
#ifndef HN_TESTS_LOWER_GROUPS_H
#define HN_TESTS_LOWER_GROUPS_H

#include "loopstate/state/intrin.h"
#include "tests/lib/lower_histories.h"

/* The operand to be packed, so that its terms lie side by side, and its block lengths. */
struct group_row {
	const char *intrin, *text;
	int32_t operand;
	int64_t len[4];
};

static const struct group_row group_rows[] = {
	{ "vpdpbusd",
	  "f(uint8 A[13,64], int8 B[64,48]) -> C { C(i,j) +=! int32(A(i,k)) * "
	  "int32(B(k,j)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd", /* tails everywhere */
	  "f(uint8 A[7,61], int8 B[61,37]) -> C { C(i,j) +=! int32(B(k,j)) * "
	  "int32(A(i,k)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd", /* the weights' other order */
	  "f(uint8 A[5,64], int8 B[33,64]) -> C { C(i,j) +=! int32(A(i,k)) * "
	  "int32(B(j,k)) }",
	  1,
	  { 16, 4 } },
	{ "vpdpbusd", /* what fits no group */
	  "f(uint8 A[64,9], int8 B[64,20]) -> C { C(i,j) +=! int32(A(k,i)) * "
	  "int32(B(k,j)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd",
	  "f(uint8 X[7,6,8], int8 W[3,3,8,16]) -> C {\n"
	  "  P(y,x,c) = y >= 1 && y < 8 && x >= 1 && x < 7 ? X(y-1,x-1,c) : uint8(0)"
	  "  where y in 0:9, x in 0:8\n"
	  "  C(y,x,f) +=! int32(P(y+r,x+s,c)) * int32(W(r,s,c,f)) }",
	  1,
	  { 1, 1, 4, 1 } },
	{ "vpdpbusd",
	  "f(uint8 A[6,32], int8 B[32,40], int32 z[40], float32 s[40]) -> Y {\n"
	  "  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	  "  Y(i,j) = int8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, -128), "
	  "127)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd_s8",
	  "f(int8 A[13,61], int8 B[61,48]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }", 1,
	  { 4, 1 } },
	{ "vpdpbusd_s8",
	  "f(int8 X[7,6,8], int8 W[3,3,8,16]) -> C {\n"
	  "  P(y,x,c) = y >= 1 && y < 8 && x >= 1 && x < 7 ? X(y-1,x-1,c) : int8(0)"
	  "  where y in 0:9, x in 0:8\n"
	  "  C(y,x,f) +=! int32(W(r,s,c,f)) * int32(P(y+r,x+s,c)) }", 1,
	  { 1, 1, 4, 1 } },
	{ "vdpbf16ps",
	  "f(bfloat16 A[13,62], B[62,40]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  1,
	  { 2, 1 } },
	{ "vdpbf16ps",
	  "f(bfloat16 A[3,33], B[33,19]) -> C {\n"
	  "  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n  C(i,j) = "
	  "bfloat16(max(S(i,j), 0)) }",
	  1,
	  { 2, 1 } },
	{ "sdot",
	  "f(int8 A[13,61], int8 B[61,48]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }", 1,
	  { 4, 1 } },
	{ "udot",
	  "f(uint8 A[6,32], uint8 B[32,39]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }", 1,
	  { 4, 1 } },
	{ "usdot",
	  "f(uint8 X[7,6,8], int8 W[3,3,8,16]) -> C {\n"
	  "  P(y,x,c) = y >= 1 && y < 8 && x >= 1 && x < 7 ? X(y-1,x-1,c) : uint8(0)"
	  "  where y in 0:9, x in 0:8\n"
	  "  C(y,x,f) +=! int32(P(y+r,x+s,c)) * int32(W(r,s,c,f)) }", 1,
	  { 1, 1, 4, 1 } },
	{ "bfdot",
	  "f(bfloat16 A[9,33], B[33,22]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }", 1,
	  { 2, 1 } },
};

static inline int32_t sum_of(const struct hn_state *s, const struct hn_intrin *in)
{
	const struct hn_expr *factor[2];

	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->dag->op[i]->kind == HN_OP_COMPUTE &&
		    hn_intrin_factors(in, s->dag->op[i], factor)) {
			return (int32_t)i;
		}
	}
	return -1;
}

static inline void pack_operand(struct draw *d, const struct group_row *row)
{
	const struct hn_state *next;
	struct hn_step step = { .kind = HN_STEP_pack,
				.stage = row->operand,
				.n_list = d->s->dag->op[row->operand]->n_dim,
				.list = row->len };

	keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
}

/* The last reduction loop cut, its inner part given away, and everything else at random. */
static inline const struct hn_state *group_history(const struct hn_dag *dag, const struct group_row *row,
				      uint64_t seed, struct hn_arena *a)
{
	struct draw d = { hn_state_init(dag, a), hn_rng_stream(seed, 7, 1, 0), a };
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	const struct hn_state *next;

	if (draw(&d, 4) > 0) {
		pack_operand(&d, row);
	}
	if (draw(&d, 3) == 0) {
		keep(&d, hn_cache_write(d.s, sum_of(d.s, in), "local", a, &next, NULL),
		     &next);
	}
	int32_t stage = sum_of(d.s, in);

	assert_true(stage >= 0);
	int32_t last = (int32_t)d.s->stage[stage]->n_iter - 1;
	int64_t loop = last + 1;
	struct hn_step give = { .kind = HN_STEP_tensorize,
				.stage = stage,
				.n_list = 1,
				.list = &loop,
				.text = in->name };

	assert_int_equal(hn_split(d.s, stage, last, &in->most[HN_INTRIN_TERMS], 1, true, a,
				  &d.s, NULL),
			 0);
	assert_int_equal(hn_state_apply(d.s, &give, a, &d.s, NULL), 0);
	for (int32_t i = 0; i <= last; i++) {
		int64_t len[2] = { 1 + draw(&d, 4), 1 + draw(&d, 20) };

		if (draw(&d, 2) &&
		    hn_split(d.s, stage, i, len, 2, true, a, &next, NULL) == 0) {
			d.s = next;
			i += 2;
			last += 2;
		}
	}
	if (draw(&d, 2)) {
		shuffle_loops(&d, stage);
	}
	annotate_loops(&d, stage);
	return d.s;
}

#endif
