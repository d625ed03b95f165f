/* Features of nests whose numbers can be worked out by hand. */
#include "tests/lib/search_dags.h"
#include "tests/lib/dag_form.h"

#include "base/file.h"
#include "costmodel/features.h"
#include "loopstate/state/trace.h"

#define TARGET                                                                                     \
	"cpu -isa=x86-64-avx2 -num_cores=2 -l1_bytes=32768 -l2_bytes=524288 -l3_bytes=33554432"

struct expected {
	uint32_t row;
	enum hn_feature feature;
	double value;
};

static bool features_of(const struct hn_dag *dag, const char *trace, struct hn_arena *a,
			struct hn_features *ret)
{
	const struct hn_trace *t;
	const struct hn_state *s;
	const struct hn_looptree *tree;
	struct hn_target target;
	struct hn_err err = {0};

	if (hn_target_parse(TARGET, a, &target, &err) < 0 ||
	    hn_trace_parse("trace", trace, strlen(trace), a, &t, &err) < 0 ||
	    hn_state_replay(dag, t, a, &s, &err) < 0 ||
	    hn_looptree_build(s, a, &tree, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return hn_features_of(tree, &target, a, ret);
}

static void check(const struct hn_dag *dag, const char *trace, uint32_t n_row,
		  const struct expected *e, size_t n, struct hn_arena *a)
{
	struct hn_features f;

	assert_true(features_of(dag, trace, a, &f));
	assert_int_equal(f.n, n_row);
	for (size_t i = 0; i < n; i++) {
		double x = (double)f.x[(size_t)e[i].row * HN_N_FEATURE + e[i].feature];
		if (x < e[i].value * (1 - 1e-6) || x > e[i].value * (1 + 1e-6)) {
			fail_msg("row %u, %s: %g, should be %g", e[i].row,
				 hn_feature_name(e[i].feature), x, e[i].value);
		}
	}
}

#define F(row, name, value) {row, HN_FEATURE_##name, value}

static void a_copy(void **state)
{
	static const struct expected e[] = {
		F(0, kind, 0), F(0, statements, 1), F(0, points, 64 * 44), F(0, loops, 2),
		F(0, arith, 1), F(0, accesses, 2), F(0, scope, 0), F(0, alloc_bytes, 64 * 44 * 4),
		/* 44 elements in six vectors of eight */
		F(0, lanes, 8), F(0, lanes_extent, 44), F(0, lanes_used, 44.0 / 48),
		F(0, lanes_depth, 1), F(0, wholes, 2), F(0, gathers, 0), F(0, vector_len, 0),
		F(0, inner1_extent, 44), F(0, inner2_extent, 64), F(0, inner2_moves, 2),
		F(0, parallel_len, 0), F(0, balance, 1), F(0, fork_cycles, 0),
		/* all of it fits L1; a store is fetched and written back */
		F(0, unique_bytes, 2 * 64 * 44 * 4), F(0, l1_bytes, 3 * 64 * 44 * 4),
		F(0, l1_fits, 2), F(0, l1_again, 1), F(0, l1_inside, 2.0 * 64 * 44 * 4 / 32768),
		F(0, first_stride, 4), F(0, first_reuse_depth, 0), F(0, program_part, 1),
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	check(dag_open("f(float32 A[64,44]) -> B { B(i,j) = A(i,j) * 2 }", &a), "[]", 1, e,
	      HN_COUNT_OF(e), &a);
	hn_arena_fini(&a);
}

static void three_rows_on_two_cores(void **state)
{
	static const struct expected e[] = {
		F(0, parallel_len, 3), F(0, parallel_runs, 1), F(0, parallel_depth, 2),
		F(0, balance, 3.0 / 4), F(0, fork_cycles, 9000 + 3 * 80),
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	check(dag_open("f(float32 A[3,44]) -> B { B(i,j) = A(i,j) * 2 }", &a), "[[\"AN\", 1, 0, 3]]",
	      1, e, HN_COUNT_OF(e), &a);
	hn_arena_fini(&a);
}

static void columns_are_gathered(void **state)
{
	static const struct expected e[] = {
		F(0, lanes_extent, 64), F(0, lanes_marked, 1), F(0, wholes, 1), F(0, gathers, 1),
		F(0, gather_bytes, 48 * 4), F(0, vector_len, 64),
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	check(dag_open("f(float32 A[64,48]) -> B { B(j,i) = A(i,j) * 2 }", &a), "[[\"AN\", 1, 1, 2]]",
	      1, e, HN_COUNT_OF(e), &a);
	hn_arena_fini(&a);
}

#define TILED(rows, steps)                                                                         \
	"[[\"SP\", 2, 0, 512, [1, 16, " rows "], 1], [\"SP\", 2, 4, 512, [2, 2, 16], 1], "         \
	"[\"SP\", 2, 8, 512, [64], 1], [\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], "              \
	"[\"FU\", 2, [0, 1]], [\"AN\", 2, 0, 3], [\"AN\", 2, 8, 2]" steps "]"

/* Rows of two vectors of eight, one operand of two vectors, one register for the other. */
static void a_register_tile(void **state)
{
	static const struct expected fits[] = {
		F(0, kind, 1), F(1, kind, 2), F(1, statements, 2), F(1, multiplies, 1),
		F(1, points, 512.0 * 512 * 512), F(1, acc_depth, 3), F(1, trips, 64),
		F(1, rows, 4), F(1, vecs, 2), F(1, needed, 4 * 2 + 2 + 1), F(1, spilled, 0),
		F(1, block_rows, 4), F(1, block_vecs, 2), F(1, blocks, 1), F(1, chains, 1),
		F(1, inner1_kind, 0), F(1, inner3_kind, 1), F(1, inner3_extent, 64),
		F(1, parallel_len, 64), F(1, balance, 1), F(0, fork_cycles, 9000 + 64 * 80),
		F(1, fork_cycles, 0),
	};
	static const struct expected spills[] = {
		F(1, rows, 8), F(1, vecs, 2), F(1, needed, 8 * 2 + 2 + 1), F(1, spilled, 3),
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_matmul(&a, 512, 512, 512);
	check(dag, TILED("4", ""), 2, fits, HN_COUNT_OF(fits), &a);
	check(dag, TILED("8", ""), 2, spills, HN_COUNT_OF(spills), &a);
	hn_arena_fini(&a);
}

static void what_is_prepared_has_no_row(void **state)
{
	struct hn_features f;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(features_of(dag_open("f(float32 A[64], const float32 W[64]) -> B {"
				      " V(i) = W(i) * 3  B(i) = A(i) * V(63-i) }",
				      &a),
				"[]", &a, &f));
	assert_int_equal(f.n, 1);
	hn_arena_fini(&a);
}

static void too_many_accesses_are_hopeless(void **state)
{
	struct hn_features f;
	struct hn_buf text;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_buf_printf(&text, "f(float32 A[100]) -> B { B(i) = A(i)");
	for (int i = 1; i < 60; i++) {
		hn_buf_printf(&text, " + A(i+%d)", i);
	}
	hn_buf_printf(&text, " where i in 0:8 }");
	assert_false(features_of(dag_open(text.s, &a), "[]", &a, &f));
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

static void copies_are_equal(void **state)
{
	struct hn_features f;
	struct hn_arena a, b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_arena_init(&b, 0);
	assert_true(features_of(dag_matmul(&a, 64, 64, 64), "[]", &a, &f));
	struct hn_features copy = hn_features_copy(&f, &b);
	assert_int_equal(copy.n, f.n);
	assert_ptr_not_equal(copy.trace, f.trace);
	assert_true(hn_trace_equal(copy.trace, f.trace));
	assert_memory_equal(copy.x, f.x, f.n * HN_N_FEATURE * sizeof *f.x);
	assert_memory_equal(copy.cycles, f.cycles, f.n * sizeof *f.cycles);
	assert_ptr_not_equal(copy.x, f.x);
	hn_arena_fini(&b);
	hn_arena_fini(&a);
}

static void the_page_is_printed_from_the_table(void **state)
{
	struct hn_buf page, doc;
	struct hn_err err;

	(void)state;
	hn_buf_init(&page);
	hn_buf_init(&doc);
	assert_int_equal(
		hn_file_read(HONE_SOURCE_DIR "/docs/features.md", 1 << 20, &page, &err), 0);
	hn_features_doc(&doc);
	if (strcmp(page.s, doc.s) != 0) {
		fail_msg("docs/features.md: print it anew with hone-bench model --features");
	}
	hn_buf_fini(&doc);
	hn_buf_fini(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy),
		cmocka_unit_test(three_rows_on_two_cores),
		cmocka_unit_test(columns_are_gathered),
		cmocka_unit_test(a_register_tile),
		cmocka_unit_test(what_is_prepared_has_no_row),
		cmocka_unit_test(too_many_accesses_are_hopeless),
		cmocka_unit_test(copies_are_equal),
		cmocka_unit_test(the_page_is_printed_from_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
