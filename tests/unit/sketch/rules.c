/* Sketches of small computations: counts, goldens and steps as TVM's auto-scheduler makes
 * them for four cores; and fills: legal, whole, the same for the same stream. */
#include "tests/lib/search_dags.h"

#include "loopstate/nest/bounds.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/nest/looptree.h"
#include "sketch/sketch.h"

static struct hn_target four_cores(struct hn_arena *a)
{
	struct hn_target t;

	assert_int_equal(
		hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=4", a, &t, NULL), 0);
	return t;
}

static struct hn_sketches sketches_of(const struct hn_dag *dag, const struct hn_target *t,
				      struct hn_arena *a)
{
	struct hn_sketches s;
	struct hn_err err = { 0 };

	if (hn_sketch_generate(dag, t, a, &s, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return s;
}

static void numbers_are_right(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	const struct {
		const struct hn_dag *dag;
		uint32_t n;
	} want[] = {
		{ dag_matmul(&a, 512, 512, 512), 3 },
		{ dag_matmul(&a, 8, 8, 512), 5 },
		{ dag_double_matmul(&a, 512), 9 },
		{ dag_conv(&a, 14, 16, 32), 3 },
		{ dag_max_pool(&a, 512, 56), 1 },
		{ dag_row_min(&a, 10, 1024), 3 },
		{ dag_softmax(&a, 1, 1024), 9 },
		{ dag_total(&a, 128), 3 },
		{ dag_scalar(&a), 1 },
	};
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		struct hn_sketches s = sketches_of(want[i].dag, &t, &a);
		if (s.n != want[i].n) {
			fail_msg("dag %zu: %u sketches, want %u", i, s.n, want[i].n);
		}
	}
	hn_arena_fini(&a);
}

static void check_text(const struct hn_state *s, const char *want)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_state_print(s, /* delete_trivial_loops= */ true, &text);
	assert_string_equal(text.s, want);
	hn_buf_fini(&text);
}

static void check_steps(const struct hn_state *s, const char *want)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_trace_write(s->trace, &text);
	assert_string_equal(text.s, want);
	hn_buf_fini(&text);
}

static void matmul_is_tiled_as_ansor_does(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	struct hn_sketches s = sketches_of(dag_matmul(&a, 512, 512, 512), &t, &a);
	check_text(s.sketch[0].state, "Placeholder: A, B\n"
				      "for i.0 (None)\n"
				      "  for j.0 (None)\n"
				      "    for i.1 (None)\n"
				      "      for j.1 (None)\n"
				      "        for k.0 (None)\n"
				      "          for i.2 (None)\n"
				      "            for j.2 (None)\n"
				      "              for k.1 (None)\n"
				      "                for i.3 (None)\n"
				      "                  for j.3 (None)\n"
				      "                    C = ...\n");
	check_steps(s.sketch[0].state, "[[\"SP\", 2, 0, 512, [null, null, null], 1], "
				       "[\"SP\", 2, 4, 512, [null, null, null], 1], "
				       "[\"SP\", 2, 8, 512, [null], 1], "
				       "[\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]]]");
	check_steps(
		s.sketch[2].state,
		"[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 512, [null, null, null], 1], "
		"[\"SP\", 2, 4, 512, [null, null, null], 1], "
		"[\"SP\", 2, 8, 512, [null], 1], "
		"[\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], [\"FSP\", 3, 0, 1, 2], "
		"[\"FSP\", 3, 3, 2, 2], [\"RE\", 3, [0, 3, 1, 4, 2, 5]], "
		"[\"CA\", 2, 3, 3]]");
	assert_string_equal(s.sketch[2].rules, "add_cache_write,tile_fuse");
	hn_arena_fini(&a);
}

static void an_rfactor_split_is_open_again(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	struct hn_sketches s = sketches_of(dag_row_min(&a, 10, 1024), &t, &a);
	check_text(s.sketch[0].state, "Placeholder: A\n"
				      "for i (0,10)\n"
				      "  for k_o (0,1024)\n"
				      "    B.rf = ...\n"
				      "for ax0 (0,10)\n"
				      "  for k_o_v (0,1024)\n"
				      "    B.repl = ...\n");
	check_steps(s.sketch[0].state,
		    "[[\"SP\", 1, 1, 1024, [null], 1], [\"RF\", 1, 1, 1]]");
	check_steps(s.sketch[1].state,
		    "[[\"SP\", 1, 1, 1024, [null], 1], [\"RF\", 1, 2, 1], "
		    "[\"RE\", 1, [0, 2, 1]]]");
	assert_false(s.sketch[0].state->concrete);
	assert_int_equal(s.sketch[0].n_hole, 1);
	assert_int_equal(s.sketch[0].hole[0].role, HN_HOLE_RFACTOR);
	hn_arena_fini(&a);
}

/* A sum over one window of all 1024 elements, as TVM writes a global pooling: its extent is an
 * expression, which Ansor's rules do not know.  A search does. */
static void an_unknown_extent_is_not_factored(void **state)
{
	static const char text[] =
		"{'format':'compute-dag/1','ops':[{'kind':'placeholder','id':'A','shape':[1024],"
		"'dtype':'float32'},{'kind':'compute','id':'B','shape':[1],'dtype':['float32'],"
		"'axes':[['i',0,1]],'reduce_axes':[['k',0,['sub',['mul',['add',['var','i'],"
		"['int',1,'int32']],['int',1024,'int32']],['mul',['var','i'],['int',1024,"
		"'int32']]]]],'body':[{'reduce':{'lhs':['x'],'rhs':['y'],'result':[['add',['var',"
		"'x'],['var','y']]],'identity':[['float',0,'float32']]},'source':[['load','A',"
		"['add',['mul',['var','i'],['int',1024,'int32']],['var','k']]]]}]}],"
		"'inputs_outputs':['A','B']}";
	struct hn_sketches s;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	char *json = hn_arena_strdup(&a, text);

	for (char *p = json; *p; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	const struct hn_dag *dag = NULL;

	if (hn_dag_parse("t", json, strlen(json), 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	s = sketches_of(dag, &t, &a);
	assert_int_equal(s.n, 1);
	check_steps(s.sketch[0].state, "[]");
	assert_int_equal(hn_sketch_generate_own(dag, &t, &a, &s, &err), 0);
	assert_true(s.n >= 2);
	check_steps(s.sketch[0].state, "[[\"SP\", 1, 1, 1024, [null], 1], [\"RF\", 1, 1, 1]]");
	hn_arena_fini(&a);
}

static void other_kinds_are_refused(void **state)
{
	struct hn_arena a;
	struct hn_target t;
	struct hn_sketches s;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	t = four_cores(&a);
	t.kind = "tiles_only";
	t.caps = HN_CAP_MATRIX_UNIT;
	assert_int_equal(hn_sketch_generate(dag_scalar(&a), &t, &a, &s, &err),
			 -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "tiles_only"));
	hn_arena_fini(&a);
}

/* Many reductions in a row: each could be cut in two ways, 3^14 sketches without a limit.
 */
static void a_long_chain_ends(void **state)
{
	struct hn_arena a;
	struct hn_buf ops;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&ops);
	struct hn_target t = four_cores(&a);
	hn_buf_puts(&ops, PLACEHOLDER("A", "[64]"));
	for (int i = 0; i < 14; i++) {
		hn_buf_printf(&ops,
			      "," COMPUTE("R%d", "[1]", "[[\"i\",0,1]]", "[[\"k\",0,64]]",
					  SUM("[\"mul\",[\"load\",\"A\"," V(
						  "k") "],[\"load\","
						       "\"%s%d\","
						       "[\"int\",0,\"int32\"]"
						       "]]")),
			      i, i == 0 ? "A" : "R", i - 1);
	}
	char *text = hn_arena_strdup(&a, ops.s), *first = strstr(text, "A-1");
	memmove(first + 1, first + 3, strlen(first + 3) + 1);
	struct hn_sketches s = sketches_of(dag_of(&a, "\"A\",\"R13\"", text), &t, &a);
	assert_true(s.n >= 512 && s.n < 5000);
	hn_buf_fini(&ops);
	hn_arena_fini(&a);
}

static void fills_are_whole_and_repeatable(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	const struct hn_dag *dags[] = { dag_matmul(&a, 509, 521, 503),
					dag_matmul(&a, 1, 1, 1),
					dag_conv(&a, 7, 5, 12),
					dag_softmax(&a, 3, 1000),
					dag_max_pool(&a, 8, 13),
					dag_total(&a, 127),
					dag_scalar(&a),
					dag_matmul(&a, 8, 8, 512) };
	for (size_t d = 0; d < HN_COUNT_OF(dags); d++) {
		struct hn_sketches sk = sketches_of(dags[d], &t, &a);
		uint32_t ok = 0, n = 0;
		for (uint32_t k = 0; k < sk.n; k++) {
			for (uint64_t i = 0; i < 20; i++, n++) {
				struct hn_rng r = hn_rng_stream(1, d, k, i), q = r;
				const struct hn_state *x, *y;
				const struct hn_looptree *tree;
				struct hn_plan *plan;
				enum hn_verdict v =
					hn_sketch_fill(&sk.sketch[k], &t, &r, &a, &x);
				assert_int_equal(
					hn_sketch_fill(&sk.sketch[k], &t, &q, &a, &y), v);
				if (v != HN_VERDICT_OK) {
					continue;
				}
				ok++;
				assert_true(x->concrete);
				if (x->trace) {
					assert_true(hn_trace_equal(x->trace, y->trace));
					assert_true(hn_plan_of(&sk.sketch[k], x->trace,
							       &a, &plan));
				}
				assert_int_equal(hn_looptree_build(x, &a, &tree, NULL),
						 0);
			}
		}
		if (ok * 50 < n * 49) {
			fail_msg("dag %zu: %u of %u fills are legal", d, ok, n);
		}
	}
	hn_arena_fini(&a);
}

/* A result that another stage reads keeps its own nest. */
static void results_stay_at_root(void **state)
{
	static const char text[] = "t(float32 A[64,64]) -> B, C {"
				   " B(i,j) = exp(A(i,j)) C(i,j) = B(i,j) * 2 }";
	const struct hn_dag *dag;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &a, &dag, NULL), 0);
	struct hn_sketches sk = sketches_of(dag, &t, &a);
	assert_int_equal(sk.n, 1);
	for (uint64_t i = 0; i < 20; i++) {
		struct hn_rng r = hn_rng_stream(5, 0, 0, i);
		const struct hn_state *s;
		assert_int_equal(hn_sketch_fill(&sk.sketch[0], &t, &r, &a, &s),
				 HN_VERDICT_OK);
		assert_int_equal(s->stage[1]->at, HN_AT_ROOT);
	}
	hn_arena_fini(&a);
}

/* Of the decided lengths of hole h: whether they divide, and iterations run for 100 needed. */
static bool is_even(const struct hn_sketch *sk, const struct hn_plan *plan, uint32_t h,
		    int64_t *ret_percent)
{
	const struct hn_hole *hole = &sk->hole[h];
	int64_t run = 1;

	for (uint32_t k = 0; k < hole->n_len; k++) {
		run *= plan->len[h][k];
	}
	bool even = hole->extent % run == 0;
	run *= (hole->extent + run - 1) / run;
	*ret_percent = 100 * run / hole->extent;
	return even;
}

/* Primes get full tiles and a partial one, in space and in reductions, with little waste;
 * powers of two hardly ever; Ansor's own draw never. */
static void extents_without_divisors_have_partial_tiles(void **state)
{
	struct hn_arena a;
	uint32_t uneven[2][3] = { { 0 } };

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	const struct hn_dag *dags[] = { dag_matmul(&a, 509, 521, 503),
					dag_matmul(&a, 512, 512, 512) };
	for (uint32_t d = 0; d < 2; d++) {
		struct hn_sketches sk = sketches_of(dags[d], &t, &a);
		for (uint64_t i = 0; i < 300; i++) {
			struct hn_rng r = hn_rng_stream(9, d, 0, i);
			const struct hn_state *s;
			struct hn_plan *plan;
			assert_int_equal(hn_sketch_fill(&sk.sketch[0], &t, &r, &a, &s),
					 HN_VERDICT_OK);
			assert_true(hn_plan_of(&sk.sketch[0], s->trace, &a, &plan));
			for (uint32_t h = 0; h < 3; h++) {
				int64_t percent;
				uneven[d][h] +=
					!is_even(&sk.sketch[0], plan, h, &percent);
				assert_true(percent < 145);
			}
		}
	}
	for (uint32_t h = 0; h < 3; h++) {
		assert_true(uneven[0][h] > 100);
		assert_true(uneven[1][h] < 60);
	}
	struct hn_rng r = hn_rng_stream(9, 9, 9, 9);
	for (int i = 0; i < 200; i++) {
		const int64_t *len = hn_tile_uniform(521 * 6, 3, &r, &a);
		assert_int_equal(521 * 6 % (len[0] * len[1] * len[2]), 0);
	}
	hn_arena_fini(&a);
}

/* A program with a prefetch reads back as a plan that makes it again, and without. */
static void a_prefetch_is_a_decision(void **state)
{
	struct hn_arena a;
	uint32_t n = 0;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	struct hn_sketches sk = sketches_of(dag_matmul(&a, 512, 512, 512), &t, &a);
	for (uint64_t i = 0; i < 200; i++) {
		struct hn_rng r = hn_rng_stream(5, 0, 0, i), q = r;
		const struct hn_state *s, *again;
		const int64_t **len;
		struct hn_plan_stage *stage;
		struct hn_plan *plan;
		assert_int_equal(hn_sketch_fill(&sk.sketch[0], &t, &r, &a, &s),
				 HN_VERDICT_OK);
		uint32_t last = s->trace->n_step - 1;
		if (s->trace->step[last]->kind != HN_STEP_prefetch) {
			continue;
		}
		n++;
		assert_true(hn_plan_of(&sk.sketch[0], s->trace, &a, &plan));
		assert_int_equal(hn_sketch_rebuild(&sk.sketch[0], plan, &t, &q, &a, &again),
				 HN_VERDICT_OK);
		assert_true(hn_trace_equal(s->trace, again->trace));
		plan = hn_plan_copy(&sk.sketch[0], plan, &len, &stage, &a);
		stage[s->trace->step[last]->stage].fetch = 0;
		assert_int_equal(hn_sketch_rebuild(&sk.sketch[0], plan, &t, &q, &a, &again),
				 HN_VERDICT_OK);
		assert_int_equal(again->trace->n_step, last);
	}
	assert_true(n > 2 && n < 20);
	hn_arena_fini(&a);
}

/* Whole vectors where the extent has them, and register tiles that do not spill. */
static void tiles_suit_the_machine(void **state)
{
	struct hn_arena a;
	uint32_t n = 0, whole = 0, fits = 0;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = four_cores(&a);
	struct hn_sketches sk = sketches_of(dag_matmul(&a, 512, 512, 512), &t, &a);
	for (uint64_t i = 0; i < 300; i++) {
		struct hn_rng r = hn_rng_stream(3, 0, 0, i);
		const struct hn_state *s;
		struct hn_plan *plan;
		assert_int_equal(hn_sketch_fill(&sk.sketch[0], &t, &r, &a, &s),
				 HN_VERDICT_OK);
		assert_true(hn_plan_of(&sk.sketch[0], s->trace, &a, &plan));
		int64_t rows = plan->len[0][2], lanes = plan->len[1][2];
		n++;
		whole += lanes % 8 == 0;
		fits += rows * ((lanes + 7) / 8) <= 16;
		assert_true(lanes <= 64);
	}
	assert_true(whole * 10 >= n * 9);
	assert_true(fits * 10 >= n * 9);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_right),
		cmocka_unit_test(matmul_is_tiled_as_ansor_does),
		cmocka_unit_test(an_rfactor_split_is_open_again),
		cmocka_unit_test(an_unknown_extent_is_not_factored),
		cmocka_unit_test(other_kinds_are_refused),
		cmocka_unit_test(a_long_chain_ends),
		cmocka_unit_test(fills_are_whole_and_repeatable),
		cmocka_unit_test(results_stay_at_root),
		cmocka_unit_test(extents_without_divisors_have_partial_tiles),
		cmocka_unit_test(a_prefetch_is_a_decision),
		cmocka_unit_test(tiles_suit_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
