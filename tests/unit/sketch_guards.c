/* Guard schedules: every dag has some, each a complete history that replays to the same
 * state; and the nests they make follow from the target's numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "loopstate/looptree.h"
#include "sketch/guard.h"

#define AVX512 "cpu -isa=x86-64-avx512 -num_cores=4"
#define AVX2 "cpu -isa=x86-64-avx2 -num_cores=4"

static const char *const programs[] = {
	"f(float32 A[1]) -> B { B() = A(0) * 2 }",
	"f(float32 A[128]) -> B { B() +=! A(k) }",
	"f(float32 A[7]) -> B { B(i) = A(i) + 1 }",
	"f(float32 A[33,65], B[65,17]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float32 A[33,65], B[17,65]) -> C { C(i,j) +=! A(i,k) * B(j,k) }",
	"f(float32 A[65], B[65,17]) -> C { C(j) +=! A(k) * B(k,j) }",
	"f(float32 A[64,48]) -> B { B(i,j) = A(j,i) }",
	"f(float32 A[5,1000]) -> M, E { M(i) max=! A(i,k) E(i,j) = exp(A(i,j) - M(i)) }",
	"f(float32 A[1000000]) -> S { S() +=! A(k) * A(k) }",
	"f(float32 A[1,23,23,40], const W[3,3,40,24], b[24]) -> Y {"
	" P(n,h,w,c) = h >= 1 && h < 24 && w >= 1 && w < 24 ? A(n,h-1,w-1,c) : 0"
	"   where h in 0:25, w in 0:25"
	" C(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f)"
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }",
	"f(float32 A[9,30,64], B[64,50], D[50,20]) -> C, E {"
	" C(b,i,j) +=! A(b,i,k) * B(k,j)"
	" E(b,i,l) +=! C(b,i,j) * D(j,l) }",
	"f(float32 X[1,5,5,40], W[3,3,40,24], b[24]) -> Y {"
	" P(n,h,w,c) = h >= 1 && h < 10 && (h-1)%2==0 && w >= 1 && w < 10 && (w-1)%2==0"
	"   ? X(n,(h-1)/2,(w-1)/2,c) : 0 where h in 0:11, w in 0:11"
	" C(n,h,w,f) +=! P(n,h+r,w+s,c) * W(2-r,2-s,c,f) where h in 0:9, w in 0:9"
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }",
	"f(int8 A[40,64], B[64,48]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
};

static const struct hn_dag *parse(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse("t", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	return dag;
}

static struct hn_target target_of(const char *line, struct hn_arena *a)
{
	struct hn_target t;
	struct hn_err err;

	assert_int_equal(hn_target_parse(line, a, &t, &err), 0);
	return t;
}

static void check_guard(const struct hn_dag *dag, const struct hn_state *s,
			struct hn_arena *a)
{
	static const struct hn_trace none;
	const struct hn_trace *read;
	const struct hn_looptree *tree;
	const struct hn_state *again;
	struct hn_buf text;
	struct hn_err err = { 0 };

	hn_buf_init(&text);
	hn_trace_write(s->trace ? s->trace : &none, &text);
	assert_int_equal(hn_trace_parse("guard", text.s, text.n, a, &read, &err), 0);
	assert_true(hn_trace_complete(read));
	if (hn_state_replay(dag, read, a, &again, &err) != 0) {
		fail_msg("%s: %s", text.s, err.msg);
	}
	assert_true(hn_trace_equal(again->trace, s->trace ? s->trace : &none));
	assert_int_equal(hn_looptree_build(again, a, &tree, &err), 0);
	hn_state_check(again);
	hn_buf_fini(&text);
}

static void every_dag_has_guards(void **state)
{
	static const char *const target[] = { AVX512, AVX2, "cpu -isa=generic" };
	struct hn_arena a;

	(void)state;
	for (size_t t = 0; t < HN_COUNT_OF(target); t++) {
		for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
			const struct hn_state *g[HN_GUARD_MAX], *h[HN_GUARD_MAX];

			hn_arena_init(&a, 0);
			struct hn_target on = target_of(target[t], &a);
			const struct hn_dag *dag = parse(programs[i], &a);
			uint32_t n = hn_guards(dag, &on, &a, g);

			assert_in_range(n, 1, HN_GUARD_MAX);
			assert_int_equal(hn_guards(dag, &on, &a, h), n);
			for (uint32_t k = 0; k < n; k++) {
				check_guard(dag, g[k], &a);
				assert_true(hn_trace_hash(g[k]->trace) ==
					    hn_trace_hash(h[k]->trace));
				for (uint32_t j = 0; j < k; j++) {
					assert_false(
						hn_trace_equal(g[k]->trace, g[j]->trace));
				}
			}
			hn_arena_fini(&a);
		}
	}
}

static void a_gpu_has_none(void **state)
{
	const struct hn_state *g[HN_GUARD_MAX];
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of("cuda -isa=sm_80", &a);

	assert_int_equal(hn_guards(parse(programs[3], &a), &t, &a, g), 0);
	hn_arena_fini(&a);
}

/* Product of the lengths of the spatial loops inside the last reduction loop. */
static int64_t tile_points(const struct hn_node *n)
{
	int64_t points = 1;

	while (n->kind != HN_NODE_STMT) {
		if (n->kind == HN_NODE_LOOP) {
			points = n->iter_kind == HN_ITER_REDUCE ? 1 : points * n->extent;
		}
		n = n->child[n->n_child - 1];
	}
	return points;
}

static bool has_parallel(const struct hn_node *n)
{
	bool any = n->kind == HN_NODE_LOOP && n->ann == HN_ANN_PARALLEL;

	for (uint32_t i = 0; n->kind != HN_NODE_STMT && i < n->n_child; i++) {
		any = any || has_parallel(n->child[i]);
	}
	return any;
}

/* A product's sums fill the registers of the machine and never pass them. */
static void tiles_follow_the_registers(void **state)
{
	static const struct {
		const char *target;
		int64_t lanes, registers;
	} machine[] = { { AVX512, 16, 32 }, { AVX2, 8, 16 } };
	const char *text = "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * "
			   "B(k,j) }";
	struct hn_arena a;

	(void)state;
	for (size_t t = 0; t < HN_COUNT_OF(machine); t++) {
		const struct hn_state *g[HN_GUARD_MAX];
		const struct hn_looptree *tree;

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(machine[t].target, &a);
		uint32_t n = hn_guards(parse(text, &a), &on, &a, g);

		for (uint32_t i = 0; i + 1 < n; i++) { /* the last is the plain one */
			assert_int_equal(hn_looptree_build(g[i], &a, &tree, NULL), 0);
			int64_t points = tile_points(tree->root);

			assert_in_range(points, machine[t].lanes * 8,
					machine[t].lanes * (machine[t].registers - 2));
			assert_true(has_parallel(tree->root));
		}
		hn_arena_fini(&a);
	}
}

static void one_core_has_no_parallel_loops(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target on = target_of("cpu -isa=x86-64-avx2 -num_cores=1", &a);

	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		const struct hn_looptree *tree;
		uint32_t n = hn_guards(parse(programs[i], &a), &on, &a, g);

		for (uint32_t k = 0; k < n; k++) {
			assert_int_equal(hn_looptree_build(g[k], &a, &tree, NULL), 0);
			assert_false(has_parallel(tree->root));
		}
	}
	hn_arena_fini(&a);
}

static bool has_step(const struct hn_state *s, enum hn_step_kind kind)
{
	for (uint32_t i = 0; s->trace && i < s->trace->n_step; i++) {
		if (s->trace->step[i]->kind == kind) {
			return true;
		}
	}
	return false;
}

/* The right operand of A * B^T has to be packed to be loaded as vectors; a sum of one
 * number is cut for the cores; a bias joins the convolution's tiles. */
static void steps_follow_the_accesses(void **state)
{
	static const struct {
		const char *text;
		enum hn_step_kind want;
	} of[] = {
		{ "f(float32 A[333,65], B[170,65]) -> C { C(i,j) +=! A(i,k) * B(j,k) }",
		  HN_STEP_pack },
		{ "f(float32 A[1000000]) -> S { S() +=! A(k) }", HN_STEP_rfactor },
		{ "f(float32 A[64,65], B[65,48], b[48]) -> C {"
		  " D(i,j) +=! A(i,k) * B(k,j) C(i,j) = D(i,j) + b(j) }",
		  HN_STEP_compute_at },
		{ "f(float32 A[64,1000]) -> E { M(i) max=! A(i,k)"
		  " E(i,j) = A(i,j) - M(i) }",
		  HN_STEP_compute_at },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(AVX512, &a);
		uint32_t n = hn_guards(parse(of[i].text, &a), &on, &a, g);

		assert_true(n > 1);
		assert_true(has_step(g[0], of[i].want));
		assert_false(has_step(g[n - 1], of[i].want));
		hn_arena_fini(&a);
	}
}

static uint32_t loops_of_length(const struct hn_node *n, enum hn_iter_kind kind,
				int64_t extent)
{
	bool here =
		n->kind == HN_NODE_LOOP && n->iter_kind == kind && n->extent == extent;
	uint32_t found = here;

	for (uint32_t i = 0; n->kind != HN_NODE_STMT && i < n->n_child; i++) {
		found += loops_of_length(n->child[i], kind, extent);
	}
	return found;
}

/* The zeros between the elements of a transposed convolution are read where they are
 * multiplied, in nests of one remainder each: rows and taps are split by the stride. */
static void remainders_get_nests_of_their_own(void **state)
{
	const char *text =
		"f(float32 X[1,8,8,64], W[9,9,64,48]) -> Y {"
		" P(n,h,w,c) = h >= 6 && h < 30 && (h-6)%3==0 && w >= 6 && w < 30 &&"
		"   (w-6)%3==0 ? X(n,(h-6)/3,(w-6)/3,c) : 0 where h in 0:32, w in 0:32"
		" Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(8-r,8-s,c,f)"
		"   where h in 0:24, w in 0:24 }";
	const struct hn_state *g[HN_GUARD_MAX];
	const struct hn_looptree *tree;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target on = target_of(AVX512, &a);

	assert_true(hn_guards(parse(text, &a), &on, &a, g) > 1);
	assert_true(has_step(g[0], HN_STEP_compute_inline));
	assert_int_equal(hn_looptree_build(g[0], &a, &tree, NULL), 0);
	/* 9 taps each way: 3 remainders of 3 */
	assert_int_equal(loops_of_length(tree->root, HN_ITER_REDUCE, 9), 0);
	assert_int_equal(loops_of_length(tree->root, HN_ITER_REDUCE, 3), 4);
	hn_arena_fini(&a);
}

/* Weights that no cache of a core holds go by once: the padding of a small image is not
 * made a block of rows at a time inside of a loop over the weights. */
static void large_weights_stream_once(void **state)
{
	static const struct {
		const char *text;
		bool attached;
	} of[] = {
		{ "f(float32 X[1,7,7,512], W[3,3,512,512]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 8 && w >= 1 && w < 8 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:9, w in 0:9"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) }",
		  false },
		{ "f(float32 X[1,56,56,64], W[3,3,64,64]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 57 && w >= 1 && w < 57 ? X(n,h-1,w-1,c) : "
		  "0"
		  "   where h in 0:58, w in 0:58"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) }",
		  true },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(AVX512, &a);

		uint32_t k = 0, n = hn_guards(parse(of[i].text, &a), &on, &a, g);

		while (k < n && has_step(g[k], HN_STEP_compute_inline)) {
			k++;
		}
		assert_true(k < n);
		assert_int_equal(has_step(g[k], HN_STEP_compute_at), of[i].attached);
		hn_arena_fini(&a);
	}
}

/* The reduction loops down to the statement, outside in; how many. */
static uint32_t reduction_of(const struct hn_node *n, int64_t *extent)
{
	uint32_t k = 0;

	for (; n->kind != HN_NODE_STMT; n = n->child[n->n_child - 1]) {
		if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE) {
			extent[k++] = n->extent;
		}
	}
	return k;
}

/* Channels in parts whose weights a second cache holds, the window inside, the pads read
 * where they are multiplied: one of the guards of a convolution. */
static void channels_in_parts_around_the_window(void **state)
{
	static const char text[] =
		"f(float32 X[1,14,14,256], W[3,3,256,256]) -> Y {"
		" P(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? X(n,h-1,w-1,c) : 0"
		"   where h in 0:16, w in 0:16"
		" Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) }";
	const struct hn_state *g[HN_GUARD_MAX];
	struct hn_arena a;
	bool any = false;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target on = target_of(AVX512, &a);

	on.param[HN_PARAM_L2_BYTES] = 2 << 20;
	uint32_t n = hn_guards(parse(text, &a), &on, &a, g);

	for (uint32_t k = 0; k < n; k++) {
		const struct hn_looptree *tree;
		int64_t e[8] = { 0 };

		assert_int_equal(hn_looptree_build(g[k], &a, &tree, NULL), 0);
		any = any || (has_step(g[k], HN_STEP_compute_inline) &&
			      reduction_of(tree->root, e) == 4 && e[0] == 4 &&
			      e[1] == 3 && e[2] == 3 && e[3] == 64);
	}
	assert_true(any);
	hn_arena_fini(&a);
}

/* Rows of an operand that is left in place are fetched ahead when they are far apart. */
static void far_rows_are_fetched_ahead(void **state)
{
	static const struct {
		const char *text;
		bool far;
	} of[] = {
		{ "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  true },
		{ "f(float32 A[512,512], B[512,128]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  false },
		/* computed inside of what adds the bias */
		{ "f(float32 A[512,512], B[512,512], c[512]) -> D {"
		  " C(i,j) +=! A(i,k) * B(k,j) D(i,j) = C(i,j) + c(j) }",
		  true },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		bool any = false;

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(AVX512, &a);
		uint32_t n = hn_guards(parse(of[i].text, &a), &on, &a, g);

		for (uint32_t k = 0; k < n; k++) {
			any = any || has_step(g[k], HN_STEP_prefetch);
			assert_false(has_step(g[k], HN_STEP_prefetch) &&
				     has_step(g[k], HN_STEP_pack));
		}
		assert_int_equal(any, of[i].far);
		hn_arena_fini(&a);
	}
}

/* Constant operands are packed in every guard but those that ask for the reverse, and what is
 * computed from constants alone stays a stage at root. */
static void constants_are_prepared(void **state)
{
	static const struct {
		const char *text;
		bool packed, inlined;
	} of[] = {
		{ "f(float32 A[64,64], B[64,128]) -> C { P(k,j) = B(k,j) * 2"
		  " C(i,j) +=! A(i,k) * P(k,j) }",
		  false, true },
		{ "f(float32 A[64,64], const B[64,128]) -> C { P(k,j) = B(k,j) * 2"
		  " C(i,j) +=! A(i,k) * P(k,j) }",
		  true, false },
		/* one panel is the whole row: it lies in order */
		{ "f(float32 A[64,64], const B[64,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  false, false },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		bool any = false;

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(AVX512, &a);
		uint32_t n = hn_guards(parse(of[i].text, &a), &on, &a, g);

		assert_int_equal(has_step(g[0], HN_STEP_pack), of[i].packed);
		for (uint32_t k = 0; k < n; k++) {
			any = any || has_step(g[k], HN_STEP_compute_inline);
		}
		assert_int_equal(any, of[i].inlined);
		hn_arena_fini(&a);
	}
}

/* Products of rows with keys, their softmax and the product with values: one nest, as many rows
 * at a time as leave the second cache half empty, the first product in tiles. */
static void attention_goes_by_blocks_of_rows(void **state)
{
	static const char text[] =
		"f(float32 Q[8,2048,64], K[8,2048,64], V[8,2048,64]) -> O {"
		" S(h,i,j) +=! Q(h,i,d) * K(h,j,d) M(h,i) max=! S(h,i,j)"
		" E(h,i,j) = exp(S(h,i,j) - M(h,i)) Z(h,i) +=! E(h,i,j)"
		" P(h,i,j) = E(h,i,j) / Z(h,i) O(h,i,d) +=! P(h,i,j) * V(h,j,d) }";
	static const int64_t rows[] = { 16, 32 };
	struct hn_arena a;

	(void)state;
	for (size_t m = 0; m < HN_COUNT_OF(rows); m++) {
		const struct hn_state *g[HN_GUARD_MAX];
		bool any = false;

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(AVX512, &a);

		on.param[HN_PARAM_L2_BYTES] = rows[m] << 16;
		uint32_t n = hn_guards(parse(text, &a), &on, &a, g);

		for (uint32_t k = 0; k < n; k++) {
			const struct hn_looptree *tree;

			assert_int_equal(hn_looptree_build(g[k], &a, &tree, NULL), 0);
			/* the packed keys, and the rest */
			any = any || (tree->root->n_child == 2 &&
				      loops_of_length(tree->root, HN_ITER_SPATIAL,
						      2048 / rows[m]) > 0 &&
				      loops_of_length(tree->root, HN_ITER_SPATIAL,
						      rows[m]) >= 4 &&
				      loops_of_length(tree->root, HN_ITER_REDUCE, 64) == 1);
		}
		assert_true(any);
		hn_arena_fini(&a);
	}
}

#define SOFTMAX(rows, columns)                                                           \
	"softmax(float32 A[" rows "," columns "]) -> Y {\n\tM(i) max=! A(i, k)\n"         \
	"\tE(i, j) = exp(A(i, j) - M(i))\n\tS(i) +=! E(i, k)\n"                          \
	"\tY(i, j) = E(i, j) / S(i)\n}\n"

/* What a row boils down to is made for as many rows as the first cache holds; the rest of a
 * row with them, when that fits too, else row by row. */
static void short_rows_go_in_blocks(void **state)
{
	static const struct {
		const char *text, *steps;
	} of[] = {
		{ SOFTMAX("1536", "128"),
		  "[[\"SP\", 4, 0, 1536, [16], 1], [\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], "
		  "[\"CA\", 2, 4, 0], [\"CA\", 1, 4, 0]]" },
		{ SOFTMAX("128", "700"),
		  "[[\"SP\", 4, 0, 128, [8], 1], [\"AN\", 4, 0, 3], [\"CA\", 3, 4, 1], "
		  "[\"CA\", 2, 4, 1], [\"CA\", 1, 4, 0]]" },
		{ SOFTMAX("128", "5000"),
		  "[[\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], [\"CA\", 2, 4, 0], "
		  "[\"CA\", 1, 4, 0]]" },
		{ SOFTMAX("15", "900"),
		  "[[\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], [\"CA\", 2, 4, 0], "
		  "[\"CA\", 1, 4, 0]]" },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		struct hn_buf text;

		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		struct hn_target on = target_of(AVX512, &a);

		on.param[HN_PARAM_L1_BYTES] = 49152;
		on.param[HN_PARAM_NUM_CORES] = 2;
		hn_guards(parse(of[i].text, &a), &on, &a, g);
		hn_trace_write(g[0]->trace, &text);
		assert_string_equal(text.s, of[i].steps);
		hn_buf_fini(&text);
		hn_arena_fini(&a);
	}
}

/* Panels that share out evenly over the cores are packed in the loop over them, and not
 * where they are constant, transposed or too few. */
static void panels_are_packed_in_turn(void **state)
{
	static const struct {
		const char *text;
		bool in_turn;
	} cases[] = {
		{ "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  true },
		{ "f(float32 A[509,503], B[503,1021]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) "
		  "}",
		  true },
		{ "f(float32 A[512,512], const B[512,512]) -> C {"
		  " C(i,j) +=! A(i,k) * B(k,j) }",
		  false },
		{ "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! "
		  "A(i,k) * B(j,k) }",
		  false },
		{ "f(float32 A[512,512], B[512,80]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		const struct hn_state *guard[HN_GUARD_MAX];
		const struct hn_dag *dag;
		struct hn_target target;
		struct hn_arena a;
		bool any = false;

		hn_arena_init(&a, 0);
		assert_int_equal(hn_dag_parse("f", cases[i].text, strlen(cases[i].text),
					      0, &a, &dag, NULL),
				 0);
		assert_int_equal(hn_target_parse(AVX512, &a, &target, NULL), 0);
		uint32_t n = hn_guards(dag, &target, &a, guard);

		for (uint32_t k = 0; k < n; k++) {
			any = any || (has_step(guard[k], HN_STEP_pack) &&
				      has_step(guard[k], HN_STEP_compute_at));
		}
		assert_int_equal(any, cases[i].in_turn);
		hn_arena_fini(&a);
	}
}

/* Eight sums hide an addition's latency: neighbours whose windows overlap, times vectors of
 * channels where those leave nothing over; more where no fewer divide the row.  A window's
 * rows that the first cache does not hold are gone through in strips. */
static void windows_have_eight_sums(void **state)
{
	static const struct {
		const char *text, *split, *neighbours, *order;
	} of[] = {
		{ "d(float32 x[1,114,114,64], w[3,3,64]) -> Y { Y(n,h,w1,c) +=! "
		  "x(n,h+r,w1+s,c) * w(r,s,c) where h in 0:112, w1 in 0:112 }",
		  "[\"SP\", 2, 5, 64, [32], 1]", "112, [4], 1]", "[0, 1, 3, 2, " },
		{ "d(float32 x[1,114,114,67], w[3,3,67]) -> Y { Y(n,h,w1,c) +=! "
		  "x(n,h+r,w1+s,c) * w(r,s,c) where h in 0:112, w1 in 0:112 }",
		  "[\"SP\", 2, 5, 67, [16], 1]", "112, [8], 1]", "[0, 1, 3, 2, " },
		{ "d(float32 x[1,57,59,67], w[3,3,67]) -> Y { Y(n,h,w1,c) +=! "
		  "x(n,h+r,w1+s,c) * w(r,s,c) where h in 0:55, w1 in 0:57 }",
		  ", 67, [16], 1]", ", 19], 1]", "" },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		struct hn_buf text;

		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		struct hn_target on = target_of(AVX512, &a);

		hn_guards(parse(of[i].text, &a), &on, &a, g);
		hn_trace_write(g[0]->trace, &text);
		if (!strstr(text.s, of[i].split) ||
		    !strstr(text.s, of[i].neighbours) ||
		    !strstr(text.s, of[i].order)) {
			fail_msg("%s", text.s);
		}
		hn_buf_fini(&text);
		hn_arena_fini(&a);
	}
}

/* Long columns: a strip as wide as a core's share, some rows at a time, is all that is read in
 * between; and what reads the sums element by element joins the strip.  A strip too narrow to
 * be fetched ahead is none: four cores would have 256 numbers each. */
static void long_columns_go_in_strips(void **state)
{
	static const struct {
		const char *text;
		bool strips;
	} of[] = {
		{ "f(float32 A[1900,2100], t[1900]) -> Y { Y(j) +=! A(i,j) * t(i) }", true },
		{ "f(float32 A[1900,2100], t[1900], b[2100]) -> Y {"
		  " S(j) +=! A(i,j) * t(i)  Y(j) = S(j) + b(j) }",
		  true },
		{ "f(float32 A[1900,1024], t[1900]) -> Y { Y(j) +=! A(i,j) * t(i) }",
		  false },
		{ "f(float32 A[60,2100], t[60]) -> Y { Y(j) +=! A(i,j) * t(i) }", false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		const struct hn_looptree *tree;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		struct hn_target on = target_of(AVX512, &a);

		hn_guards(parse(of[i].text, &a), &on, &a, g);
		assert_int_equal(hn_looptree_build(g[0], &a, &tree, NULL), 0);
		/* 1900 = 119 parts of 16; 2100 = 4 strips of 17 vectors by two */
		bool parts = loops_of_length(tree->root, HN_ITER_REDUCE, 119) == 1 &&
			     loops_of_length(tree->root, HN_ITER_REDUCE, 16) == 1;
		bool strips = loops_of_length(tree->root, HN_ITER_SPATIAL, 4) == 1 &&
			      loops_of_length(tree->root, HN_ITER_SPATIAL, 17) == 1;

		if (parts != of[i].strips || strips != of[i].strips) {
			fail_msg("%s", of[i].text);
		}
		hn_arena_fini(&a);
	}
}

/* Where, outside in, the first spatial loop of that length stands; -1 = there is none. */
static int32_t depth_of(const struct hn_node *n, int64_t extent)
{
	for (int32_t k = 0; n->kind != HN_NODE_STMT; n = n->child[n->n_child - 1], k++) {
		if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_SPATIAL &&
		    n->extent == extent) {
			return k;
		}
	}
	return -1;
}

/* Weights that the first cache holds: pixels go by once, all of their results are made; else
 * the weights go by once. */
static void small_weights_stay(void **state)
{
	static const struct {
		const char *text;
		int64_t pixels, channels; /* lengths of the loops over them */
		bool stay;
	} of[] = {
		{ "f(float32 X[57,56,32], W[32,96]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(c,f) }",
		  57, 3, true },
		{ "f(float32 X[57,56,512], W[512,96]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(c,f) }",
		  57, 3, false },
	};
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const struct hn_state *g[HN_GUARD_MAX];
		const struct hn_looptree *tree;

		hn_arena_init(&a, 0);
		struct hn_target on = target_of("cpu -isa=x86-64-avx512 -num_cores=1", &a);

		assert_true(hn_guards(parse(of[i].text, &a), &on, &a, g) > 1);
		assert_int_equal(hn_looptree_build(g[0], &a, &tree, NULL), 0);
		int32_t pixels = depth_of(tree->root, of[i].pixels);
		int32_t channels = depth_of(tree->root, of[i].channels);

		assert_true(pixels >= 0 && channels >= 0);
		assert_int_equal(pixels < channels, of[i].stay);
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dag_has_guards),
		cmocka_unit_test(a_gpu_has_none),
		cmocka_unit_test(tiles_follow_the_registers),
		cmocka_unit_test(one_core_has_no_parallel_loops),
		cmocka_unit_test(steps_follow_the_accesses),
		cmocka_unit_test(remainders_get_nests_of_their_own),
		cmocka_unit_test(large_weights_stream_once),
		cmocka_unit_test(channels_in_parts_around_the_window),
		cmocka_unit_test(far_rows_are_fetched_ahead),
		cmocka_unit_test(constants_are_prepared),
		cmocka_unit_test(attention_goes_by_blocks_of_rows),
		cmocka_unit_test(short_rows_go_in_blocks),
		cmocka_unit_test(panels_are_packed_in_turn),
		cmocka_unit_test(windows_have_eight_sums),
		cmocka_unit_test(long_columns_go_in_strips),
		cmocka_unit_test(small_weights_stay),
	};

	return cmocka_run_group_tests_name("sketch guards", tests, NULL, NULL);
}
