/* The unmeasured answer: what it may choose, and that its work is bounded by counts where dags are
 * long or their ops would grow into one another. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/state/inline.h"
#include "lower/lower.h"
#include "loopstate/dag/mark.h"
#include "search/answer.h"

#define MOST_BYTES (192 << 10) /* of a heuristic, an op */
#define MOST_NODES 2048 /* twice what an op may grow to */

struct bed {
	struct hn_arena a;
	struct hn_target target;
	const struct hn_dag *dag;
};

static void bed_open(struct bed *b, const char *target, const char *text)
{
	struct hn_err err = { 0 };

	hn_arena_init(&b->a, 0);
	if (hn_target_parse(target, &b->a, &b->target, &err) != 0 ||
	    hn_dag_parse("t", text, strlen(text), 0, &b->a, &b->dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
}

/* n stencils of three points, each over the one before. */
static void write_stencils(uint32_t n, struct hn_buf *b)
{
	hn_buf_printf(b, "f(float32 Y0[200,200]) -> Y%u {\n", n);
	for (uint32_t i = 1; i <= n; i++) {
		hn_buf_printf(b,
			      " Y%u(i,j) = Y%u(i,j+1) + Y%u(i+1,j) + Y%u(i+2,j+1)"
			      " where i in 0:%u, j in 0:%u\n",
			      i, i - 1, i - 1, i - 1, 200 - 2 * i, 200 - 2 * i);
	}
	hn_buf_puts(b, "}\n");
}

static void write_products(uint32_t n, struct hn_buf *b)
{
	hn_buf_puts(b, "f(float32 Y0[32,32]");
	for (uint32_t i = 1; i <= n; i++) {
		hn_buf_printf(b, ", W%u[32,32]", i);
	}
	hn_buf_printf(b, ") -> Y%u {\n", n);
	for (uint32_t i = 1; i <= n; i++) {
		hn_buf_printf(b, " Y%u(i,j) +=! Y%u(i,k) * W%u(k,j)\n", i, i - 1, i);
	}
	hn_buf_puts(b, "}\n");
}

/* Sums of rows and of columns in turn, taken off what they are of. */
static void write_sums(uint32_t n, struct hn_buf *b)
{
	hn_buf_printf(b, "f(float32 Y0[256,256]) -> Y%u {\n", n);
	for (uint32_t i = 1; i <= n; i++) {
		const char *axis = i % 2 ? "i" : "j";

		hn_buf_printf(b, " r%u(%s) +=! Y%u(i,j)\n Y%u(i,j) = Y%u(i,j) - r%u(%s)\n", i,
			      axis, i - 1, i, i - 1, i, axis);
	}
	hn_buf_puts(b, "}\n");
}

/* Layers with a bias, their input added again. */
static void write_residual(uint32_t n, struct hn_buf *b)
{
	hn_buf_puts(b, "f(float32 Y0[128,128]");
	for (uint32_t i = 1; i <= n; i++) {
		hn_buf_printf(b, ", const W%u[128,128], B%u[128]", i, i);
	}
	hn_buf_printf(b, ") -> Y%u {\n", n);
	for (uint32_t i = 1; i <= n; i++) {
		hn_buf_printf(b,
			      " T%u(i,j) +=! Y%u(i,k) * W%u(k,j)\n"
			      " Y%u(i,j) = Y%u(i,j) + max(T%u(i,j) + B%u(j), 0)\n",
			      i, i - 1, i, i, i - 1, i, i);
	}
	hn_buf_puts(b, "}\n");
}

static void count(const struct hn_expr *e, void *ctx)
{
	(void)e;
	++*(uint32_t *)ctx;
}

static void nothing_grows_without_end(void **state)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	struct hn_buf text;
	struct bed b;

	(void)state;
	hn_buf_init(&text);
	write_stencils(24, &text);
	bed_open(&b, "cpu -isa=x86-64-avx512 -num_cores=2", text.s);
	uint32_t n = hn_auto(b.dag, &b.target, &b.a, trace);

	assert_true(n > 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_state *s;
		const struct hn_dag *dag;

		assert_int_equal(hn_state_replay(b.dag, trace[i], &b.a, &s, NULL), 0);
		assert_int_equal(hn_inline_dag(s, &b.a, &dag, NULL), 0);
		for (uint32_t k = 0; k < dag->n_op; k++) {
			uint32_t nodes = 0;

			if (dag->op[k]->body && s->stage[k]->at != HN_AT_INLINED) {
				hn_expr_visit(dag->op[k]->body[0], count, &nodes);
			}
			assert_in_range(nodes, 0, MOST_NODES);
		}
	}
	hn_arena_fini(&b.a);
	hn_buf_fini(&text);
}

static uint32_t alternatives(uint32_t n_product)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	struct hn_buf text;
	struct bed b;

	hn_buf_init(&text);
	write_products(n_product, &text);
	bed_open(&b, "cpu -isa=x86-64-avx512 -num_cores=2", text.s);
	uint32_t n = hn_auto(b.dag, &b.target, &b.a, trace);

	hn_arena_fini(&b.a);
	hn_buf_fini(&text);
	return n;
}

static void a_long_dag_gets_fewer_alternatives(void **state)
{
	(void)state;
	assert_in_range(alternatives(2), 5, HN_AUTO_MAX);
	assert_in_range(alternatives(64), 2, 4);
}

/* Element-wise chains that double with each op that takes another over: where it ends the model
 * must still know a time, else it takes what it knows, 64 nests through memory. */
static void what_grows_stays_rated(void **state)
{
	struct hn_answers all;
	struct hn_buf b;
	struct bed bed;

	(void)state;
	hn_buf_init(&b);
	hn_buf_puts(&b, "f(float32 Y0[256,256]) -> Y64 {\n");
	for (uint32_t i = 1; i <= 64; i++) {
		hn_buf_printf(&b, " Y%u(i,j) = max(Y%u(i,j) * 1.01 + 0.5, Y%u(i,j))\n", i, i - 1,
			      i - 1);
	}
	hn_buf_puts(&b, "}\n");
	bed_open(&bed, "cpu -isa=x86-64-avx512 -num_cores=2", b.s);
	hn_answers_find(bed.dag, &bed.target, &bed.a, &all);
	for (uint32_t i = 0; i < all.n; i++) {
		const struct hn_looptree *tree;
		const struct hn_state *s;

		assert_true(all.at[i].predicted_ns > 0);
		assert_int_equal(hn_state_replay(bed.dag, all.at[i].trace, &bed.a, &s, NULL), 0);
		assert_int_equal(hn_looptree_build(s, &bed.a, &tree, NULL), 0);
		assert_true(i > 0 || tree->root->n_child == 1);
	}
	hn_arena_fini(&bed.a);
	hn_buf_fini(&b);
}

/* What a heuristic makes of each op does not grow with the number of them: expressions made anew
 * after each step would be megabytes an op here. */
static void a_heuristic_makes_little_of_each_op(void **state)
{
	static void (*const write[])(uint32_t n, struct hn_buf *b) = {
		write_stencils, write_products, write_sums, write_residual
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(write); i++) {
		const struct hn_state *heuristic[HN_HEURISTIC_MAX];
		struct hn_buf text;
		struct bed b;

		hn_buf_init(&text);
		write[i](90, &text);
		bed_open(&b, "cpu -isa=x86-64-avx512 -num_cores=2", text.s);
		size_t before = b.a.used_bytes;
		uint32_t n = hn_heuristics(b.dag, &b.target, &b.a, heuristic);

		assert_true(n > 0);
		assert_in_range((b.a.used_bytes - before) / n / b.dag->n_op, 1, MOST_BYTES);
		hn_arena_fini(&b.a);
		hn_buf_fini(&text);
	}
}

/* A proof of few operations ends as it would have by the clock; more let it through. */
static void a_proof_is_bounded_by_operations(void **state)
{
	struct hn_legal_limits limits = { .operations = 500 };
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_answers all;
	struct hn_err err;
	struct hn_buf text;
	struct bed b;

	(void)state;
	hn_buf_init(&text);
	write_products(3, &text);
	bed_open(&b, "cpu -isa=x86-64-avx512 -num_cores=2", text.s);
	hn_answers_find(b.dag, &b.target, &b.a, &all);
	assert_int_equal(hn_state_replay(b.dag, all.at[0].trace, &b.a, &s, NULL), 0);
	assert_int_equal(hn_looptree_build(s, &b.a, &tree, NULL), 0);
	assert_int_equal(hn_legal_certify(tree, &limits, NULL, &err), HN_VERDICT_BUILD_TIMEOUT);
	limits.operations = 10000000;
	assert_int_equal(hn_legal_certify(tree, &limits, NULL, &err), HN_VERDICT_OK);
	hn_arena_fini(&b.a);
	hn_buf_fini(&text);
}

#define CONV                                                                             \
	"f(float32 X[1,14,14,64], const W[3,3,64,64]) -> C {"                             \
	" P(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? X(n,h-1,w-1,c) : 0"         \
	"   where h in 0:16, w in 0:16"                                                   \
	" C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f) where h in 0:14, w in 0:14 }"
#define DEPTHWISE                                                                        \
	"f(float32 x[1,14,14,512], const w[3,3,512]) -> C {"                              \
	" P(n,h,v,c) = h >= 1 && h < 15 && v >= 1 && v < 15 ? x(n,h-1,v-1,c) : 0"         \
	"   where h in 0:16, v in 0:16"                                                   \
	" C(n,h,v,f) +=! P(n,h*2+r,v*2+t,f) * w(r,t,f)"                                   \
	"   where h in 0:7, v in 0:7, r in 0:3, t in 0:3 }"
#define PRODUCT "f(float32 A[128,96], B[96,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"

/* The order's first, all shown to be legal; the same each time. */
static void the_first_that_is_shown_legal(void **state)
{
	static const char *const text[] = { CONV, DEPTHWISE, PRODUCT };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		struct hn_answers x, y;
		struct bed b;

		bed_open(&b, "cpu -isa=x86-64-avx512 -num_cores=2", text[i]);
		hn_answers_find(b.dag, &b.target, &b.a, &x);
		hn_answers_find(b.dag, &b.target, &b.a, &y);
		assert_true(x.n > 1 && x.n == y.n);
		for (uint32_t k = 0; k < x.n; k++) {
			assert_int_equal(x.at[k].place, k);
			assert_true(x.at[k].shown && x.at[k].predicted_ns > 0);
			assert_true(hn_trace_equal(x.at[k].trace, y.at[k].trace));
		}
		hn_arena_fini(&b.a);
	}
}

/* What fits in a cache is there at the next call; a cold task and what is larger come from memory. */
static void small_data_are_predicted_warm(void **state)
{
	static const char target[] = "cpu -isa=x86-64-avx512 -num_cores=2 -l1_bytes=32768 "
				     "-l2_bytes=1048576 -l3_bytes=33554432";
	static const struct {
		const char *text;
		bool fits;
	} want[] = {
		{ "f(float32 A[512,256]) -> B { B(i,j) = A(i,j) * A(i,j) }", true },
		{ "f(float32 A[16384,1024]) -> B { B(i,j) = A(i,j) * A(i,j) }", false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		struct hn_answers warm, cold;
		struct bed b;

		bed_open(&b, target, want[i].text);
		hn_answers_find(b.dag, &b.target, &b.a, &warm);
		hn_answers_find(hn_dag_mark(b.dag, HN_MARK_COLD, &b.a), &b.target, &b.a, &cold);
		double ratio = cold.at[0].predicted_ns / warm.at[0].predicted_ns;

		print_message("%.1f us warm, %.1f cold\n", warm.at[0].predicted_ns / 1e3,
			      cold.at[0].predicted_ns / 1e3);
		if (want[i].fits) {
			assert_true(ratio > 3 && warm.at[0].predicted_ns < 30e3);
		} else {
			assert_true(ratio == 1);
		}
		hn_arena_fini(&b.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_data_are_predicted_warm),
		cmocka_unit_test(nothing_grows_without_end),
		cmocka_unit_test(a_long_dag_gets_fewer_alternatives),
		cmocka_unit_test(what_grows_stays_rated),
		cmocka_unit_test(a_heuristic_makes_little_of_each_op),
		cmocka_unit_test(a_proof_is_bounded_by_operations),
		cmocka_unit_test(the_first_that_is_shown_legal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
