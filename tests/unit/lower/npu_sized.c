/* Programs for the NPU of dags with sizes: one program, run at many sizes of its range, judged, with the
 * interpreter's numbers; what has no such program is told, and which kernel is taken for which sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/npu_sized_bed.h"

static const struct hn_npu_plan by_flags = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };

struct given {
	struct hn_arena a;
	struct npu_sized_bed b;
	const char *text;
};

static void open(struct given *g, const char *text, const char *profile, const struct hn_npu_plan *plan)
{
	const struct hn_dag *dag;
	struct hn_npu_profile m;
	struct hn_err err;

	g->text = text;
	hn_arena_init(&g->a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &m, &err), 0);
	if (hn_dag_parse_sized("t", text, strlen(text), 0, &g->a, &dag, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text);
	}
	if (npu_sized_open(&g->b, dag, &m, plan, &g->a) != 0) {
		fail_msg("%s\n%s", g->b.err.msg, text);
	}
}

static int at(struct given *g, int64_t m, int64_t n)
{
	int64_t value[2] = { m, n };
	int kernel = npu_sized_run(&g->b, value, 0, NULL);

	if (kernel < 0) {
		fail_msg("%lld, %lld: %s\n%s", (long long)m, (long long)n, g->b.err.msg, g->text);
	}
	return kernel;
}

/* All of 1 to 70, and some more. */
static void all_sizes(const char *text, const struct hn_npu_plan *plan, int64_t most)
{
	struct given g;

	open(&g, text, "tiny", plan);
	for (int64_t m = 1; m <= most; m += m < 70 ? 1 : m / 3) {
		at(&g, m, 0);
	}
	at(&g, most, 0);
	hn_arena_fini(&g.a);
}

static const char flat[] = "f(M in [1, 9000], float32 X[M], float32 Z[M]) -> Y { Y(i) = X(i) * 2.0 + Z(i) }";
static const char rows[] = "r(M in [1, 700], float32 X[M,72]) -> Y { T(i) max=! X(i,j) E(i,j) = exp(X(i,j) - T(i)) "
			   "S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }";
static const char bias[] = "b(M in [1, 700], float16 X[M,40], float16 B[40]) -> Y { "
			   "Y(i,j) = max(X(i,j) + B(j), float16(0.0)) }";
static const char odd[] = "o(M in [1, 700], float16 X[M,77], float32 B[77]) -> (Y, S) { "
			  "Y(i,j) = float32(X(i,j)) * B(j) S(i) +=! Y(i,j) }";
static const char batch[] = "p(M in [1, 300], float16 A[M,48], float16 B[48,32]) -> D { "
			    "C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) D(i,j) = max(C(i,j), 0.0) }";

static void every_size_of_one_dimension(void **state)
{
	(void)state;
	all_sizes(flat, &by_flags, 9000);
	all_sizes(rows, &by_flags, 700);
	all_sizes(bias, &by_flags, 700);
	all_sizes(odd, &by_flags, 700);
	all_sizes(batch, &by_flags, 300);
}

static void every_plan(void **state)
{
	static const struct hn_npu_plan plans[] = {
		{ .order = HN_NPU_BARRIERS, .slots = 1, .reuse = true },
		{ .order = HN_NPU_BARRIERS, .slots = 2, .reuse = true },
		{ .order = HN_NPU_FLAGS, .slots = 1, .reuse = false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(plans); i++) {
		all_sizes(odd, &plans[i], 700);
		all_sizes(batch, &plans[i], 300);
	}
}

static const char norm[] =
	"n(M in [1, 700], float32 X[M,256], float32 G[256], float32 B[256]) -> Y { S(i) +=! X(i,j) "
	"D(i,j) = X(i,j) - S(i) / 256.0 V(i) +=! D(i,j) * D(i,j) Y(i,j) = D(i,j) * rsqrt(V(i) + 0.1) * G(j) + B(j) }";

static uint32_t n_whole(const struct hn_npu_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->section[0].n_insn; i++) {
		const struct hn_npu_insn *in = &p->section[0].insn[i];

		n += in->op == HN_NPU_I_BARRIER && in->pipe[0] == HN_NPU_ALL;
	}
	return n;
}

static int64_t cycles_at(struct given *g, int64_t m)
{
	int64_t cycles = 0;

	if (npu_sized_run(&g->b, &m, 0, &cycles) < 0) {
		fail_msg("%s", g->b.err.msg);
	}
	return cycles;
}

/* A program of few rows that is the faster one up to the largest size is taken there, too. */
static void the_largest_size_is_like_the_one_before(void **state)
{
	struct given g;

	(void)state;
	open(&g, "m(M in [1, 300], float16 A[M,512], float16 B[512,512]) -> D { C(i,j) +=! float32(A(i,k)) * "
		 "float32(B(k,j)) D(i,j) = float16(C(i,j)) }", "dv910", &by_flags);
	assert_true(cycles_at(&g, 300) <= cycles_at(&g, 297) * 1.2);
	hn_arena_fini(&g.a);
}

/* Turns are ordered by flags, also where a tile loads more than there are flags for; and are faster so. */
static void flags_are_carried(void **state)
{
	static const struct {
		const char *text;
		int64_t most;
	} table[] = { { flat, 9000 }, { rows, 700 }, { bias, 700 }, { odd, 700 }, { norm, 700 } };
	static const struct hn_npu_plan apart = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .apart = true };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		struct given g, h;

		open(&g, table[i].text, "tiny", &by_flags);
		open(&h, table[i].text, "tiny", &apart);
		assert_int_equal(n_whole(g.b.p[0]), 0);
		assert_true(n_whole(h.b.p[0]) > 0);
		assert_true(cycles_at(&g, table[i].most) < cycles_at(&h, table[i].most));
		hn_arena_fini(&g.a);
		hn_arena_fini(&h.a);
	}
}

/* Dimensions outside of the rows; blocks of which two rows are part need a condition, or one core. */
static void several_dimensions(void **state)
{
	static const struct {
		const char *text;
		uint32_t kernels;
		int64_t every; /* sizes that are multiples of it have the first kernel */
	} table[] = {
		{ "a(B in [1, 9], M in [1, 70], float32 X[B,M,8]) -> Y { Y(b,i,j) = X(b,i,j) * 2.0 }", 1, 1 },
		{ "b(B in [1, 9], M in [1, 70], float32 X[B,M,8], float32 Z[M,8]) -> Y { Y(b,i,j) = X(b,i,j) + Z(i,j) }",
		  1, 1 },
		{ "c(B in [1, 9], M in [1, 70], float32 X[B,M,3], float32 Z[B]) -> Y { Y(b,i,j) = X(b,i,j) + Z(b) }", 2, 8 },
		{ "d(B in [1, 9], M in [1, 70], float32 X[B,3,M,16], float32 Z[B,M,16]) -> S { "
		  "P(b,h,i,j) = X(b,h,i,j) * Z(b,i,j) S(b,h,i) +=! P(b,h,i,j) }", 2, 8 },
		{ "e(B in [1, 9], M in [1, 70], float16 X[B,5,M,2], float16 Z[5,M]) -> Y { "
		  "Y(b,h,i,j) = max(X(b,h,i,j), Z(h,i)) }", 2, 8 },
	};
	static const int64_t at_b[] = { 1, 2, 3, 8, 9 }, at_m[] = { 1, 7, 8, 16, 17, 24, 33, 64, 69, 70 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		struct given g;

		open(&g, table[i].text, "tiny", &by_flags);
		assert_int_equal(g.b.n, table[i].kernels);
		for (size_t k = 0; k < HN_COUNT_OF(at_b) * HN_COUNT_OF(at_m); k++) {
			int64_t m = at_m[k % HN_COUNT_OF(at_m)];

			assert_int_equal(at(&g, at_b[k / HN_COUNT_OF(at_m)], m), m % table[i].every != 0);
		}
		hn_arena_fini(&g.a);
	}
}

/* Of few rows cores share columns as well; rows of a batch, images of a convolution, bytes. */
static void products(void **state)
{
	static const struct {
		const char *text, *profile;
		bool several;
	} table[] = {
		{ "a(M in [1, 400], float16 A[M,64], float16 B[64,256]) -> D { "
		  "C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) D(i,j) = float16(C(i,j)) }", "dv910", true },
		{ "b(M in [1, 400], float16 A[M,40], float16 B[40,77]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
		  "dv910", false },
		{ "c(M in [1, 400], int8 A[M,64], int8 B[64,64]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }", "tiny",
		  true },
		{ "d(M in [1, 3], N in [1, 70], float16 A[M,N,32], float16 B[M,32,16]) -> C { "
		  "C(b,i,j) +=! float32(A(b,i,k)) * float32(B(b,k,j)) }", "tiny", false },
		{ "e(M in [1, 9], float16 X[M,6,6,16], float16 W[3,3,16,16]) -> Y { "
		  "Y(n,h,w,f) +=! float32(X(n,h+r,w+s,c)) * float32(W(r,s,c,f)) where h in 0:4, w in 0:4 }", "tiny", false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		uint32_t taken = 0;
		struct given g;

		open(&g, table[i].text, table[i].profile, &by_flags);
		for (int64_t m = 1; m <= g.b.dag->sizes->size[0].hi; m += 1 + m / 3) {
			taken |= 1u << at(&g, m, 1 + 7 * m % 70);
		}
		taken |= 1u << at(&g, g.b.dag->sizes->size[0].hi, 70);
		assert_int_equal(g.b.n > 1, table[i].several);
		assert_int_equal(taken, (1u << g.b.n) - 1);
		hn_arena_fini(&g.a);
	}
}

/* A batch of one is as much for all cores as they can share of an image. */
static void small_sizes_share_other_dimensions(void **state)
{
	static const struct {
		const char *text;
		double least; /* times as fast as by the program of many rows */
	} table[] = {
		{ "i(B in [1, 40], float16 X[B,64,16,16], float32 S[64]) -> Y { Y(b,c,h,w) = float16(max(float32(X(b,c,h,w)) * "
		  "S(c), 0.0)) }", 1.2 },
		{ "p(B in [1, 40], float16 X[B,64,16,16]) -> Y { Y(b,c) +=! float32(X(b,c,h,w)) }", 1.2 },
		{ "s(B in [1, 40], M in [1, 9], float32 X[B,M,64,64]) -> Y { T(b,m,i) +=! X(b,m,i,j) Y(b,m,i,j) = "
		  "X(b,m,i,j) - T(b,m,i) }", 1.2 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		int64_t few = 0, many = 0, one[2] = { 1, 1 };
		struct npu_sized_bed all;
		uint32_t taken = 0;
		struct given g;

		open(&g, table[i].text, "dv910", &by_flags);
		assert_true(g.b.n > 1 && g.b.p[0]->n_where > 0);
		for (int64_t b = 1; b <= 40; b += 1 + b / 5) {
			taken |= 1u << at(&g, b, 1 + b % 9);
		}
		taken |= 1u << at(&g, 40, 9);
		assert_int_equal(taken, 3);
		all = g.b;
		all.p[0] = all.p[1];
		all.n = 1;
		assert_int_equal(npu_sized_run(&g.b, one, 0, &few), 0);
		assert_int_equal(npu_sized_run(&all, one, 0, &many), 0);
		if (few * table[i].least > many) {
			fail_msg("%lld cycles, and %lld of many rows: %s", (long long)few, (long long)many, table[i].text);
		}
		hn_arena_fini(&g.a);
	}
}

/* Rows of whole blocks are shared one by one; of others, as many together as have whole blocks. */
static void rows_of_whole_blocks_are_shared_one_by_one(void **state)
{
	int64_t whole[2] = { 32, 2000 }, halves[2] = { 32, 2004 }, none[2] = { 32, 2001 }, cycles[3] = { 0 };
	struct given g;

	(void)state;
	open(&g, "s(M in [1, 64], L in [1, 2048], float32 X[M,L]) -> Y { T(i) max=! X(i,j) Y(i,j) = exp(X(i,j) - T(i)) }",
	     "dv910", &by_flags);
	assert_int_equal(npu_sized_run(&g.b, whole, 0, &cycles[0]), 0);
	assert_int_equal(npu_sized_run(&g.b, halves, 0, &cycles[1]), 0);
	assert_int_equal(npu_sized_run(&g.b, none, 0, &cycles[2]), 0);
	if (cycles[0] * 1.05 > cycles[1] || cycles[1] * 1.2 > cycles[2]) {
		fail_msg("%lld, %lld, %lld cycles", (long long)cycles[0], (long long)cycles[1], (long long)cycles[2]);
	}
	hn_arena_fini(&g.a);
}

/* Numbers that follow from sizes: digits of base 64, one and several of them. */
static void sizes_are_numbers_too(void **state)
{
	static const struct {
		const char *text;
		int64_t most;
	} table[] = {
		{ "m(M in [1, 20000], float32 X[M]) -> Y { Y(i) = X(i) * float32(M) + float32(M * 800) }", 20000 },
		{ "h(M in [1, 700], float16 X[M,40]) -> Y { Y(i,j) = X(i,j) + float16(M / 3) }", 700 },
		{ "n(L in [1, 300], float32 X[6,L], float32 G[L]) -> Y { S(i) +=! X(i,j) D(i,j) = X(i,j) - S(i) / float32(L) "
		  "V(i) +=! D(i,j) * D(i,j) Y(i,j) = D(i,j) * rsqrt(V(i) / float32(L) + 0.1) * G(j) }", 300 },
		{ "a(L in [1, 300], float32 X[L,24]) -> S { T(j) +=! X(i,j) S(j) = T(j) / float32(L) }", 300 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		all_sizes(table[i].text, &by_flags, table[i].most);
	}
}

/* Each number of terms up to some, and some more: what is behind them is nothing. */
static void every_number_of_terms(void **state)
{
	static const struct {
		const char *text;
		int64_t most;
	} table[] = {
		{ "s(M in [1, 40], L in [1, 700], float32 X[M,L]) -> Y { T(i) max=! X(i,j) E(i,j) = exp(X(i,j) - T(i)) "
		  "S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }", 700 },
		{ "n(L in [1, 300], float16 X[5,L], float32 G[L]) -> Y { A(i) +=! float32(X(i,j)) "
		  "D(i,j) = float32(X(i,j)) - A(i) V(i) +=! D(i,j) * D(i,j) Y(i,j) = float16(D(i,j) * rsqrt(V(i) + 0.1) * G(j)) }",
		  300 },
		{ "c(L in [1, 300], float32 X[L,24]) -> (S, Y) { S(j) +=! X(i,j) Y(i,j) = X(i,j) - S(j) }", 300 },
		{ "p(L in [1, 99], float32 X[3,L,4]) -> (P, N) { P(i,k) min=! X(i,j,k) N(i,k) *=! X(i,j,k) * 1.5 }", 99 },
		{ "t(L in [1, 300], float32 X[L]) -> S { S max=! X(i) }", 300 },
		{ "x(N in [1, 50], L in [1, 300], float32 X[L,N]) -> S { S(j) +=! X(i,j) }", 300 },
		{ "y(N in [1, 50], L in [1, 200], float32 X[L,N]) -> Y { A(j) max=! X(i,j) E(i,j) = exp(X(i,j) - A(j)) "
		  "S(j) +=! E(i,j) Y(i,j) = E(i,j) / S(j) }", 200 },
		{ "z(N in [1, 50], L in [1, 100], float16 X[3,L,N,5], float32 Z[L,5]) -> Y { Y(b,j,k) +=! float32(X(b,i,j,k)) * "
		  "Z(i,k) }", 100 },
		{ "w(L in [1, 300], float32 X[4,L], float32 Z[L]) -> S { A(i) +=! X(i,j) B max=! Z(j) S(i) = A(i) + B }", 300 },
		{ "v(M in [1, 40], L in [1, 300], float16 A[M,L], float16 B[L]) -> C { C(i) +=! float32(A(i,k)) * float32(B(k)) }",
		  300 },
		{ "b(M in [1, 3], L in [1, 200], float16 X[M,L,7]) -> S { S(b,k) +=! float32(X(b,i,k)) }", 200 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		struct given g;
		bool both;

		open(&g, table[i].text, "tiny", &by_flags);
		both = g.b.dag->sizes->n > 1;
		for (int64_t l = 1; l <= table[i].most; l += l < 70 ? 1 : l / 5) {
			int64_t m = 1 + l % g.b.dag->sizes->size[0].hi;

			at(&g, both ? m : l, both ? l : 0);
		}
		at(&g, both ? 1 : table[i].most, table[i].most);
		hn_arena_fini(&g.a);
	}
}

/* What a reduction begins with is any number: it counts once, and lanes past the length take none of it. */
static void reductions_begin_with_any_number(void **state)
{
	static const struct {
		const char *dtype, *result, *identity;
	} row[] = {
		{ "float32", "[\"add\",[\"var\",\"x\"],[\"var\",\"y\"]]", "[\"float\",5,\"float32\"]" },
		{ "float32", "[\"max\",[\"var\",\"x\"],[\"var\",\"y\"]]", "[\"float\",0.25,\"float32\"]" },
		{ "int8", "[\"max\",[\"var\",\"x\"],[\"var\",\"y\"]]", "[\"int\",50,\"int8\"]" },
		{ "int8", "[\"min\",[\"var\",\"x\"],[\"var\",\"y\"]]", "[\"int\",-3,\"int8\"]" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		char text[1200];

		snprintf(text, sizeof(text),
			 "{\"format\":\"compute-dag/1\",\"sizes\":[[\"L\",1,100]],\"ops\":[{\"kind\":\"placeholder\","
			 "\"id\":\"X\",\"name\":\"X\",\"shape\":[6,[\"var\",\"L\"]],\"dtype\":\"%s\"},{\"kind\":\"compute\","
			 "\"id\":\"S\",\"name\":\"S\",\"tag\":\"\",\"shape\":[6],\"dtype\":[\"%s\"],\"axes\":[[\"i\",0,6]],"
			 "\"reduce_axes\":[[\"j\",0,[\"var\",\"L\"]]],\"body\":[{\"reduce\":{\"lhs\":[\"x\"],\"rhs\":[\"y\"],"
			 "\"result\":[%s],\"identity\":[%s]},\"source\":[[\"load\",\"X\",[\"var\",\"i\"],"
			 "[\"var\",\"j\"]]],\"condition\":[\"int\",1,\"bool\"],\"init\":[],\"value_index\":0}]}],"
			 "\"inputs_outputs\":[\"X\",\"S\"]}",
			 row[i].dtype, row[i].dtype, row[i].result, row[i].identity);
		all_sizes(text, &by_flags, 100);
	}
}

static void what_has_no_program_is_told(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "a(M in [1, 20000], float32 X[8,M]) -> S { S(i) +=! X(i,j) }", "S: a size that it sums over comes to more than" },
		{ "h(M in [1, 16000], float32 X[8,M]) -> S { S(i) +=! X(i,j) }", "do not fit in the unified buffer" },
		{ "i(M in [1, 40], N in [1, 40], float32 X[M,N]) -> T { S(i) +=! X(i,j) T max=! S(i) }", "some of the sizes" },
		{ "j(L in [1, 40], M in [1, 40], N in [1, 40], float32 X[L,M,N], float32 Z[M]) -> S { S(j,k) +=! X(i,j,k) * Z(j) }",
		  "X: two sizes lie inside of one" },
		{ "k(K in [1, 40], float16 A[8,K], float16 B[K,8]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
		  "a product of matrices whose terms are a size" },
		{ "b(M in [1, 40], float32 X[M,8]) -> Y { Y(i,j) = X(i,j) * float32(i) }", "Y: it computes with a place along a size" },
		{ "c(M in [1, 40], float32 X[M,8]) -> Y { Y(i,j) = X(i,j) * float32(3 - M) }", "Y: it computes with a size" },
		{ "l(M in [1, 20000000], float32 X[M]) -> Y { Y(i) = X(i) * float32(M) }", "Y: it computes with a size" },
		{ "m(M in [1, 40], float16 A[M,16], float16 B[16,8]) -> D { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) "
		  "D(i,j) = C(i,j) / float32(M) }", "or that is computed with one" },
		{ "d(M in [1, 40], float32 X[8,M]) -> S { S(j) +=! X(i,j) }", "lies outside of a size in an argument" },
		{ "e(M in [1, 40], float32 X[M,8], float32 Z[4]) -> (Y, W) { Y(i,j) = X(i,j) * 2.0 W(i) = Z(i) + 1.0 }",
		  "W: each result has to have all dimensions of the sizes" },
		{ "f(M in [1, 40], N in [1, 40], float32 X[M,N], float32 Z[N,M]) -> Y { Y(i,j) = X(i,j) + Z(j,i) }",
		  "they lie in different orders" },
		{ "g(M in [1, 40], float32 X[M,8]) -> Y { Y(i,j) = X(M - 1 - i,j) where i in 0:M }", "Y: it computes with a size" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		const struct hn_dag *dag;
		struct npu_sized_bed b;
		struct hn_npu_profile m;
		struct hn_arena a;
		struct hn_err err;

		hn_arena_init(&a, 0);
		assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
		if (hn_dag_from_text("t", table[i].text, strlen(table[i].text), 0, &a, &dag, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		if (npu_sized_open(&b, dag, &m, &by_flags, &a) != -HONE_E_UNSUPPORTED ||
		    strstr(b.err.msg, table[i].says) == NULL) {
			fail_msg("%s\n%s", table[i].text, b.err.msg);
		}
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_of_one_dimension),
		cmocka_unit_test(every_plan),
		cmocka_unit_test(the_largest_size_is_like_the_one_before),
		cmocka_unit_test(flags_are_carried),
		cmocka_unit_test(several_dimensions),
		cmocka_unit_test(products),
		cmocka_unit_test(small_sizes_share_other_dimensions),
		cmocka_unit_test(rows_of_whole_blocks_are_shared_one_by_one),
		cmocka_unit_test(sizes_are_numbers_too),
		cmocka_unit_test(every_number_of_terms),
		cmocka_unit_test(reductions_begin_with_any_number),
		cmocka_unit_test(what_has_no_program_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
