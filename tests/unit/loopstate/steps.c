/* What each step does to a state, and what it refuses. */
#include "tests/lib/state_util.h"

#include "base/arith.h"
#include "tests/lib/dag_form.h"
#include "loopstate/nest/looptree.h"

static int64_t extent_of(const struct hn_state *s, int32_t stage, int32_t iter)
{
	assert_true((uint32_t)iter < s->stage[stage]->n_iter);
	return s->stage[stage]->iter[iter].extent;
}

static void assert_extents(const struct hn_state *s, int32_t stage, const int64_t *want,
			   uint32_t n)
{
	assert_int_equal(s->stage[stage]->n_iter, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(extent_of(s, stage, (int32_t)i), want[i]);
	}
}

#define EXTENTS(s, stage, ...)                                                           \
	assert_extents(s, stage, (const int64_t[]){__VA_ARGS__},                         \
		       sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void test_split_fuse_reorder_annotate(void **state)
{
	struct hn_arena a;
	const struct hn_state *s;
	struct hn_err err;
	static const int64_t order[] = {0, 2, 4, 3, 1}, l16[] = {16}, l8[] = {8},
			     l82[] = {8, 2}, l328[] = {32, 8};

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(512, 512, 512, &a);
	const struct hn_state *init = hn_state_init(dag, &a);

	assert_int_equal(hn_split(init, 2, 0, l16, 1, true, &a, &s, &err), 0);
	assert_int_equal(hn_split(s, 2, 2, l8, 1, true, &a, &s, &err), 0);
	EXTENTS(s, 2, 32, 16, 64, 8, 512);
	assert_int_equal(s->trace->step[0]->a[HN_SP_EXTENT], 512);
	assert_int_equal(hn_reorder(s, 2, order, 5, &a, &s, &err), 0);
	EXTENTS(s, 2, 32, 64, 512, 8, 16);
	assert_int_equal(hn_fuse(s, 2, 0, 2, &a, &s, &err), 0);
	EXTENTS(s, 2, 2048, 512, 8, 16);
	assert_string_equal(s->stage[2]->iter[0].name, "i.0@j.0@");
	assert_int_equal(s->stage[2]->iter[0].kind, HN_ITER_SPATIAL);
	assert_int_equal(hn_fuse(s, 2, 0, 2, &a, &s, &err), 0);
	assert_int_equal(s->stage[2]->iter[0].kind, HN_ITER_MIXED);
	assert_string_equal(s->stage[2]->iter[0].name, "i.0@j.0@@k@");
	assert_int_equal(hn_split(s, 2, 0, l8, 1, true, &a, &s, &err), 0);
	assert_string_equal(s->stage[2]->iter[1].name, "i.0@j.0@@k@.1");
	hn_state_check(s);

	assert_int_equal(hn_split(init, 2, 0, l82, 2, true, &a, &s, &err), 0);
	assert_int_equal(hn_split(s, 2, 3, l328, 2, false, &a, &s, &err), 0);
	EXTENTS(s, 2, 32, 8, 2, 32, 8, 2, 512);
	assert_string_equal(s->stage[2]->iter[5].name, "j.2");
	assert_int_equal(s->stage[2]->rel[1].len[2], HN_HOLE);
	assert_int_equal(s->stage[2]->rel[0].len[0], HN_HOLE);
	assert_int_equal(s->stage[2]->rel[0].len[2], 2);
	for (int32_t i = 0; i < 6; i++) {
		assert_int_equal(hn_annotate(s, 2, i, (enum hn_ann)(i + 1), &a, &s, &err),
				 0);
		assert_int_equal(s->stage[2]->iter[i].ann, i + 1);
	}
	assert_int_equal(hn_annotate(s, 2, 0, HN_ANN_UNROLL, &a, &s, &err),
			 -HONE_E_INVALID);
	assert_string_equal(err.msg,
			    "AN stage 2 (C) iter 0: i.0 is annotated unroll already");
	hn_arena_fini(&a);
}

static void test_lengths_that_do_not_divide_round_up(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(509, 7, 1, &a);

	EXTENTS(state_of(dag, "[[\"SP\", 2, 0, 509, [4, 16], 1]]", &a), 2, 8, 4, 16, 7,
		1);
	EXTENTS(state_of(dag, "[[\"SP\", 2, 0, 509, [4, 16], 0]]", &a), 2, 4, 16, 8, 7,
		1);
	EXTENTS(state_of(dag, "[[\"SP\", 2, 0, 509, [4, null, 16], 1]]", &a), 2, -1, -1,
		-1, 16, 7, 1);
	EXTENTS(state_of(dag, "[[\"SP\", 2, 0, 509, [4, null, 16], 0]]", &a), 2, 4, -1,
		-1, -1, 7, 1);
	EXTENTS(state_of(dag, "[[\"SP\", 2, 2, 1, [], 1]]", &a), 2, 509, 7, 1);
	EXTENTS(state_of(dag, "[[\"SP\", 2, 1, 7, [100], 1]]", &a), 2, 509, 1, 100, 1);
	hn_arena_fini(&a);
}

static void test_attachments_follow_their_loop(void **state)
{
	struct hn_arena a;
	static const struct {
		const char *step;
		int32_t iter; /* of D where C is afterwards */
	} move[] = {
		{"[\"SP\", 3, 0, 0, [2], 1]", 3}, {"[\"SP\", 3, 1, 0, [2], 1]", 3},
		{"[\"SP\", 3, 2, 0, [2], 1]", 3}, {"[\"SP\", 3, 1, 0, [], 1]", 2},
		{"[\"FU\", 3, [1, 2]]", 1},	  {"[\"FU\", 3, [0, 1, 2]]", 0},
		{"[\"FU\", 3, [0, 1]]", 1},	  {"[\"FU\", 3, []]", 3},
		{"[\"RE\", 3, [2, 1, 0, 3]]", 0}, {"[\"RE\", 3, [3, 0, 1, 2]]", 3},
		{"[\"CHW\", 3, \"local\"]", -1},
	};

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s = state_of(matmul_relu(16, 16, 16, &a),
					    "[[\"SP\", 3, 0, 16, [4], 1], [\"SP\", 3, 2, "
					    "16, [4], 1], [\"CA\", 2, 3, 2]]",
					    &a);

	for (size_t i = 0; i < HN_COUNT_OF(move); i++) {
		const struct hn_trace *t =
			trace_of_text(hn_arena_printf(&a, "[%s]", move[i].step), &a);
		const struct hn_state *n = NULL;
		int rc = hn_state_apply(s, t->step[0], &a, &n, NULL);

		if (move[i].iter < 0) {
			assert_int_equal(rc, -HONE_E_INVALID);
			continue;
		}
		assert_int_equal(rc, 0);
		hn_state_check(n);
		assert_int_equal(n->stage[2]->at_iter, move[i].iter);
		assert_non_null(hn_state_attached_at(n, 3, move[i].iter));
	}
	hn_arena_fini(&a);
}

static void test_compute_at_inline_root(void **state)
{
	struct hn_arena a;
	struct hn_err err;
	const struct hn_state *s = NULL;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(16, 16, 16, &a);

	s = state_of(dag, "[[\"CHW\", 3, \"local\"], [\"CHW\", 4, \"x\"]]", &a);
	assert_string_equal(s->dag->op[3]->name, "D.local");
	assert_string_equal(s->dag->op[4]->name, "D.x");
	assert_string_equal(s->dag->op[5]->name, "D");
	assert_int_equal(s->dag->arg[2], 5);
	assert_int_equal(hn_compute_inline(s, 3, &a, &s, &err), 0);
	assert_int_equal(hn_compute_inline(s, 4, &a, &s, &err), 0);

	int32_t consumer[2];

	assert_int_equal(hn_state_consumers(s, 2, consumer, 2), 1);
	assert_int_equal(consumer[0], 5);
	assert_preview(
		s, "Placeholder: A, B\nfor i (0,16)\n  for j (0,16)\n    for k (0,16)\n"
		   "      C = ...\nfor i (0,16)\n  for j (0,16)\n    D = ...\n");
	assert_int_equal(hn_compute_at(s, 2, 5, 0, &a, &s, &err), 0);
	assert_preview(
		s, "Placeholder: A, B\nfor i (0,16)\n  for i (None)\n    for j (None)\n"
		   "      for k (None)\n        C = ...\n  for j (0,16)\n    D = ...\n");
	assert_int_equal(hn_compute_root(s, 2, &a, &s, &err), 0);
	assert_int_equal(s->stage[2]->at, HN_AT_ROOT);
	assert_int_equal(s->n_attached, 0);
	assert_int_equal(hn_compute_root(s, 4, &a, &s, &err), 0);
	assert_int_equal(s->stage[4]->at, HN_AT_ROOT);
	hn_state_check(s);
	hn_arena_fini(&a);
}

/* As TVM's test of follow_split has it: the loops outside of the split ones are copied. */
static void test_follow_split_copies_the_outer_loops(void **state)
{
	struct hn_arena a;
	static const int64_t len[] = {4, 2, 8, 4}, len2[] = {2, 2, 4, 8};
	static const int64_t order[] = {0, 5, 1, 6, 2, 7, 3, 8, 4, 9};
	const struct hn_state *s;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_cache_write(hn_state_init(matmul_relu(512, 512, 512, &a), &a),
					2, "global", &a, &s, &err),
			 0);
	assert_int_equal(hn_split(s, 3, 0, len, 4, true, &a, &s, &err), 0);
	for (int32_t level = 1; level <= 5; level++) {
		const struct hn_state *f = NULL;

		assert_int_equal(hn_follow_split(s, 2, 0, 1, level, &a, &f, &err), 0);
		for (int32_t i = 0; i < level; i++) {
			assert_int_equal(extent_of(f, 2, i), extent_of(s, 3, i));
		}
	}
	assert_int_equal(hn_follow_split(s, 2, 0, 1, 6, &a, &s, &err), -HONE_E_INVALID);
	assert_int_equal(hn_follow_split(s, 2, 0, 0, 1, &a, &s, &err), -HONE_E_INVALID);
	assert_int_equal(hn_follow_split(s, 2, 0, 2, 1, &a, &s, &err), -HONE_E_INVALID);

	assert_int_equal(hn_split(s, 3, 5, len2, 4, true, &a, &s, &err), 0);
	assert_int_equal(hn_reorder(s, 3, order, 10, &a, &s, &err), 0);
	for (int32_t i = 0; i < 5; i++) {
		assert_int_equal(hn_fuse(s, 3, i, 2, &a, &s, &err), 0);
	}
	assert_int_equal(hn_fuse(s, 2, 0, 2, &a, &s, &err), 0);
	for (int64_t level = 0; level < 4; level++) {
		for (int64_t factor = 0; factor < 2; factor++) {
			const struct hn_state *f =
				state_of(s->root_dag, "[]",
					 &a); /* only to have something to overwrite */
			int64_t src[] = {1, 2};
			struct hn_step step = {.kind = HN_STEP_follow_fused_split,
					       .stage = 2,
					       .a = {0, level, factor},
					       .n_list = 2,
					       .list = src};

			assert_int_equal(hn_state_apply(s, &step, &a, &f, &err), 0);
			assert_int_equal(extent_of(f, 2, factor ? 1 : 0),
					 extent_of(s, 3, (int32_t)level + 1));
		}
	}
	hn_arena_fini(&a);
}

/* As TVM's test of rfactor has it, names too. */
static void test_rfactor_shapes_and_names(void **state)
{
	struct hn_arena a;
	const struct hn_state *s;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(8, 8, 512, &a);

	s = state_of(dag, "[[\"SP\", 2, 2, 512, [16], 1], [\"RF\", 2, 2, 2]]", &a);
	EXTENTS(s, 2, 8, 8, 32, 16);
	EXTENTS(s, 3, 8, 8, 32);
	assert_preview(
		s, "Placeholder: A, B\nfor i (0,8)\n  for j (0,8)\n    for k_o (0,32)\n"
		   "      for k_i (0,16)\n        C.rf = ...\n"
		   "for ax0 (0,8)\n  for ax1 (0,8)\n    for k_o_v (0,32)\n"
		   "      C.repl = ...\nfor i (0,8)\n  for j (0,8)\n    D = ...\n");
	s = state_of(dag, "[[\"SP\", 2, 2, 512, [16], 1], [\"RF\", 2, 3, 2]]", &a);
	EXTENTS(s, 2, 8, 8, 16, 32);
	EXTENTS(s, 3, 8, 8, 16);
	s = state_of(dag, "[[\"SP\", 2, 2, 512, [null], 1], [\"RF\", 2, 2, 0]]", &a);
	EXTENTS(s, 2, 512, 8, 8, 1);
	assert_false(s->concrete);
	s = state_of(dag,
		     "[[\"SP\", 2, 2, 512, [4, 8], 1], [\"RF\", 2, 3, 1], "
		     "[\"RF\", 2, 3, 0], [\"AN\", 2, 0, 3]]",
		     &a);
	assert_string_equal(s->dag->op[2]->name, "C.rf.rf");
	assert_string_equal(s->dag->op[3]->name, "C.rf.repl");
	assert_string_equal(s->dag->op[4]->name, "C.repl");
	assert_string_equal(s->dag->op[4]->id, "C");
	EXTENTS(s, 2, 16, 8, 4, 8, 8);
	s = state_of(
		row_sum(3, 5, 7, &a),
		"[[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 35, [4], 1], [\"RF\", 1, 2, 1]]",
		&a);
	assert_preview(s, "Placeholder: A\nfor i (0,3)\n  for p_q_fused_i (0,4)\n"
			  "    for p_q_fused_o (0,9)\n      B.rf = ...\n"
			  "for ax0 (0,3)\n  for p_q_fused_i_v (0,4)\n    B.repl = ...\n");
	hn_arena_fini(&a);
}

static int64_t value_of(const struct hn_expr *e, const int64_t *axis)
{
	int64_t x, y;

	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_VAR:
		return axis[e->ref];
	case HN_EXPR_INT:
		return e->u.i;
	default:
		break;
	}
	x = value_of(e->arg[0], axis);
	y = value_of(e->arg[1], axis);
	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_ADD:
		return x + y;
	case HN_EXPR_MUL:
		return x * y;
	case HN_EXPR_FLOORDIV:
		return hn_floordiv(x, y);
	case HN_EXPR_FLOORMOD:
		return hn_floormod(x, y);
	case HN_EXPR_LT:
		return x < y;
	case HN_EXPR_AND:
		return x && y;
	default:
		fail_msg("node %d", e->op);
		return 0;
	}
}

/* Run the partial op over its domain: each element of A must be read exactly once. */
static void assert_reads_each_once(const struct hn_op *op, int64_t r, int64_t p,
				   int64_t q)
{
	uint32_t n = op->n_spatial + op->n_reduce;
	int64_t axis[HN_DAG_MAX_ITERS] = {0};
	int *hits = calloc((size_t)(r * p * q), sizeof(*hits));
	const struct hn_expr *load = op->reduce->source[0];
	bool more = true;

	while (more) {
		if (op->reduce->condition == NULL ||
		    value_of(op->reduce->condition, axis)) {
			int64_t x = value_of(load->arg[0], axis),
				y = value_of(load->arg[1], axis),
				z = value_of(load->arg[2], axis);

			assert_in_range(x, 0, r - 1);
			assert_in_range(y, 0, p - 1);
			assert_in_range(z, 0, q - 1);
			hits[(x * p + y) * q + z]++;
		}
		more = false;
		for (uint32_t d = n; d-- > 0 && !more;) {
			more = ++axis[d] < op->axis[d].extent;
			axis[d] = more ? axis[d] : 0;
		}
	}
	for (int64_t i = 0; i < r * p * q; i++) {
		assert_int_equal(hits[i], 1);
	}
	free(hits);
}

static void test_rfactor_counts_each_element_once(void **state)
{
	static const char *const steps[] = {
		"[[\"RF\", 1, 1, 0]]",
		"[[\"RF\", 1, 2, 1]]",
		"[[\"SP\", 1, 2, 0, [2], 1], [\"RF\", 1, 2, 1]]",
		"[[\"SP\", 1, 2, 0, [3], 0], [\"RF\", 1, 3, 1]]",
		"[[\"SP\", 1, 2, 0, [3, 2], 1], [\"RF\", 1, 3, 0]]",
		"[[\"SP\", 1, 2, 0, [100], 1], [\"RF\", 1, 3, 0]]",
		"[[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 0, [4], 1], [\"RF\", 1, 1, 1]]",
		"[[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 0, [4], 1], [\"RF\", 1, 2, 1]]",
		"[[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 0, [3, 5], 0], [\"RF\", 1, 2, 1]]",
		/* a split of a fuse of a split, none of which divides */
		"[[\"SP\", 1, 2, 0, [3], 1], [\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 0, [4], "
		"1], "
		"[\"RF\", 1, 1, 0]]",
		"[[\"SP\", 1, 1, 0, [2], 1], [\"FU\", 1, [2, 3]], [\"SP\", 1, 2, 0, [3], "
		"1], "
		"[\"RE\", 1, [0, 3, 2, 1]], [\"RF\", 1, 2, 0]]",
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(steps); i++) {
		const struct hn_state *s = state_of(row_sum(2, 5, 7, &a), steps[i], &a);

		assert_reads_each_once(s->dag->op[1], 2, 5, 7);
		assert_int_equal(s->dag->op[2]->n_reduce, 1);
	}
	hn_arena_fini(&a);
}

static void test_an_empty_fuse_keeps_the_reduction(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s =
		state_of(rank0_sum(128, &a), "[[\"FU\", 1, []], [\"AN\", 1, 0, 6]]", &a);

	EXTENTS(s, 1, 1, 128);
	assert_int_equal(s->stage[1]->iter[0].kind, HN_ITER_SPECIAL);
	assert_preview(s, "Placeholder: A\nfor k (0,128)\n  B = ...\n");
	hn_arena_fini(&a);
}

static void test_pragma_and_storage_align(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_preview(
		state_of(matmul_relu(8, 8, 8, &a),
			 "[[\"PR\", 3, 0, \"auto_unroll_max_step$64\"], "
			 "[\"SA\", 3, 0, 8, 4]]",
			 &a),
		"Placeholder: A, B\nfor i (0,8)\n  for j (0,8)\n    for k (0,8)\n"
		"      C = ...\nD auto_unroll: 64\nD storage_offset: 4\nfor i (0,8)\n"
		"  for j (0,8)\n    D = ...\n");
	hn_arena_fini(&a);
}

/* Chained caches of one tensor, and readers that stay. */
static void test_caches_chain(void **state)
{
	struct hn_arena a;
	static const char *const name[] = {"A",	      "A.d.shared", "A.shared", "B",
					   "C.local", "C",	    "D"};

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s =
		state_of(matmul_relu(8, 8, 8, &a),
			 "[[\"CHW\", 2, \"local\"], [\"CHR\", 0, \"shared\", "
			 "[2]], [\"CHR\", 0, \"shared\", [1]]]",
			 &a);

	for (uint32_t i = 0; i < HN_COUNT_OF(name); i++) {
		assert_string_equal(s->dag->op[i]->name, name[i]);
	}
	assert_int_equal(s->access->op[2].producer[0], 1);
	assert_int_equal(s->access->op[4].producer[0], 2);
	assert_string_equal(s->stage[1]->iter[1].name, "ax1");
	assert_string_equal(s->stage[4]->iter[0].name, "i_c");
	assert_string_equal(s->stage[4]->iter[2].name, "k");
	assert_string_equal(s->stage[1]->scope, "shared");
	assert_string_equal(s->stage[4]->scope, "local");
	assert_null(s->stage[5]->scope);
	hn_arena_fini(&a);
}

/* Ids move up, all readers are led to the copy, attachments keep their loop. */
static void test_pack_inserts_a_stage(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s = state_of(matmul_relu(8, 8, 8, &a),
					    "[[\"CA\", 2, 3, 0], [\"PK\", 1, [3, 4]], "
					    "[\"PK\", 1, [2, 1]], "
					    "[\"AN\", 3, 0, 3]]",
					    &a);

	hn_state_check(s);
	assert_int_equal(s->n_stage, 6);
	assert_string_equal(s->dag->op[2]->name, "B.d.pack");
	assert_string_equal(s->dag->op[3]->name, "B.pack");
	EXTENTS(s, 2, 4, 8, 2);
	EXTENTS(s, 3, 3, 2, 3, 4);
	assert_int_equal(s->access->op[2].producer[0], 1);
	assert_int_equal(s->access->op[3].producer[0], 2);
	assert_int_equal(s->access->op[4].producer[1], 3);
	assert_int_equal(s->access->op[1].n_consumer, 1);
	assert_int_equal(s->stage[4]->at_stage, 5);
	assert_int_equal(s->stage[4]->at_iter, 0);
	assert_int_equal(s->stage[3]->iter[0].ann, HN_ANN_PARALLEL);
	assert_null(s->stage[2]->scope);
	hn_arena_fini(&a);
}

static const struct hn_prefetch *only_prefetch(const struct hn_state *s, int32_t stage)
{
	assert_int_equal(s->stage[stage]->n_prefetch, 1);
	return s->stage[stage]->prefetch;
}

/* What the loop tree has at the loop of that name, or NULL when no loop has anything. */
static const struct hn_prefetch *fetched(const struct hn_node *n, const char *loop)
{
	const struct hn_prefetch *hit = NULL;

	if (n->kind == HN_NODE_LOOP && n->n_prefetch > 0) {
		assert_non_null(loop);
		assert_string_equal(n->name, loop);
		hit = n->prefetch;
	}
	for (uint32_t i = 0; i < n->n_child && hit == NULL; i++) {
		hit = fetched(n->child[i], loop);
	}
	return hit;
}

static void test_a_prefetch_follows_loop_and_operand(void **state)
{
	static const struct {
		const char *steps, *loop; /* NULL: the prefetch has ended */
		int32_t stage, operand;
	} then[] = {
		{ "", "k", 2, 1 },
		{ ", [\"RE\", 2, [2, 1, 0]]", "k", 2, 1 },
		{ ", [\"SP\", 2, 0, 8, [2], 1], [\"FU\", 2, [1, 2]]", "k", 2, 1 },
		{ ", [\"AN\", 2, 2, 1]", "k", 2, 1 },
		{ ", [\"CHW\", 3, \"local\"]", "k", 2, 1 },
		{ ", [\"PK\", 0, [2, 2]]", "k", 3, 2 },
		{ ", [\"PK\", 1, [2, 2]]", "k", 3, 2 },
		{ ", [\"CHR\", 1, \"local\", [2]]", "k", 3, 2 },
		{ ", [\"CHR\", 0, \"local\", [2]]", "k", 3, 2 },
		/* where there is nothing ahead any more */
		{ ", [\"CHR\", 1, \"local\", [2]], [\"CA\", 2, 3, 2]", NULL, 3, 2 },
		{ ", [\"AN\", 2, 2, 3]", NULL, 2, 1 },
		{ ", [\"SP\", 2, 2, 8, [2], 1]", NULL, 2, 1 },
		{ ", [\"FU\", 2, [1, 2]]", NULL, 2, 1 },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(then); i++) {
		char *steps = hn_arena_printf(&a, "[[\"PF\", 2, 2, 1, 3]%s]",
					      then[i].steps);
		const struct hn_state *s = state_of(matmul_relu(8, 8, 8, &a), steps, &a);
		const struct hn_looptree *t;

		hn_state_check(s);
		assert_int_equal(only_prefetch(s, then[i].stage)->operand,
				 then[i].operand);
		assert_int_equal(hn_looptree_build(s, &a, &t, NULL), 0);
		const struct hn_prefetch *p = fetched(t->root, then[i].loop);

		assert_int_equal(p != NULL, then[i].loop != NULL);
		if (p != NULL) {
			assert_int_equal(p->operand, then[i].operand);
			assert_int_equal(p->distance, 3);
		}
	}
	hn_arena_fini(&a);
}

/* No iteration of the loop is that far ahead. */
static void test_a_prefetch_past_the_end_is_none(void **state)
{
	struct hn_arena a;
	const struct hn_looptree *t;

	(void)state;
	hn_arena_init(&a, 0);
	for (int d = 7; d <= 8; d++) {
		char *steps = hn_arena_printf(&a, "[[\"PF\", 2, 2, 1, %d]]", d);
		const struct hn_state *s = state_of(matmul_relu(8, 8, 8, &a), steps, &a);

		assert_int_equal(hn_looptree_build(s, &a, &t, NULL), 0);
		assert_int_equal(fetched(t->root, "k") != NULL, d < 8);
	}
	hn_arena_fini(&a);
}

/* Marks the kinds of the history in *seen. */
static void explain_all(const struct hn_dag *dag, const char *steps, uint32_t *seen,
			struct hn_arena *a)
{
	const struct hn_trace *t = trace_of_text(steps, a);
	const struct hn_state *s = hn_state_init(dag, a);
	struct hn_buf buf;

	hn_buf_init(&buf);
	for (uint32_t i = 0; i < t->n_step; i++) {
		struct hn_err err = {0};

		hn_buf_reset(&buf);
		hn_step_ops(t->step[i]->kind)->explain(s, t->step[i], &buf);
		assert_true(buf.n > 10);
		*seen |= 1u << t->step[i]->kind;
		if (hn_state_apply(s, t->step[i], a, &s, &err) != 0) {
			fail_msg("step %u: %s", (unsigned)i, err.msg);
		}
	}
	hn_buf_fini(&buf);
}

/* Each kind of pipeline has words of its own. */
static void test_pipelines_explain_their_kind(void **state)
{
	static const char *const of_kind[HN_N_PIPELINE] = {
		"buffers", "through registers", "by asynchronous copies", "of the turn before go on",
		"the producer, for others that multiply, the consumers"
	};
	struct hn_arena a;
	struct hn_buf buf;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&buf);
	for (int kind = 0; kind < HN_N_PIPELINE; kind++) {
		const char *steps = hn_arena_printf(
			&a, "[[\"CHR\", 0, \"shared\", [2]], [\"SP\", 3, 2, 8, [2], 1], [\"CA\", 1, "
			    "3, 2], [\"PL\", 3, 2, 3, %d]]", kind);
		const struct hn_trace *t = trace_of_text(steps, &a);
		const struct hn_state *s = hn_state_init(matmul_relu(8, 8, 8, &a), &a);

		for (uint32_t i = 0; i < t->n_step; i++) {
			hn_buf_reset(&buf);
			hn_step_ops(t->step[i]->kind)->explain(s, t->step[i], &buf);
			assert_int_equal(hn_state_apply(s, t->step[i], &a, &s, NULL), 0);
		}
		assert_non_null(strstr(buf.s, of_kind[kind]));
		assert_null(strstr(buf.s, "(null)"));
	}
	hn_buf_fini(&buf);
	hn_arena_fini(&a);
}

static void test_every_step_explains_itself(void **state)
{
	struct hn_arena a;
	static const char *const steps =
		"[[\"CHW\", 2, \"local\"], [\"CHR\", 0, \"shared\", [2]], [\"SP\", 3, 2, "
		"8, [4], "
		"1], [\"RF\", 3, 2, 0], [\"SP\", 5, 0, 8, [4, 2], 0], [\"FU\", 5, [1, "
		"2]], "
		"[\"RE\", 5, [1, 0, 2]], [\"FSP\", 6, 0, 4, 2], [\"FFSP\", 6, 0, [4], 0, "
		"1], "
		"[\"AN\", 6, 0, 3], [\"PR\", 6, 0, \"auto_unroll_max_step$16\"], "
		"[\"SA\", 5, 0, 8, "
		"1], [\"CA\", 1, 3, 0], [\"CR\", 1], [\"PF\", 6, 1, 5, 2], "
		"[\"CI\", 5], [\"PK\", 2, [1, 4]]]";
	static const char *const of_bytes =
		"[[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"]]";
	static const char *const of_tiles =
		"[[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 1, 2, 3], \"tdpbusd\"], "
		"[\"FR\", 2, \"tile\"]]";
	static const char *const of_shared =
		"[[\"CHR\", 0, \"shared\", [2]], [\"SW\", 1, 0, 0, 3, 1],"
		" [\"SP\", 3, 2, 8, [2], 1], [\"CA\", 1, 3, 2], [\"PL\", 3, 2, 3, 2]]";
	uint32_t seen = 0;

	(void)state;
	hn_arena_init(&a, 0);
	explain_all(matmul_relu(8, 8, 8, &a), steps, &seen, &a);
	explain_all(matmul_relu(8, 8, 8, &a), of_shared, &seen, &a);
	const struct hn_dag *bytes = dag_open("b(uint8 A[8,8], int8 B[8,8]) -> C {"
					      " C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
					      &a);

	explain_all(bytes, of_bytes, &seen, &a);
	explain_all(bytes, of_tiles, &seen, &a);
	for (uint32_t k = 0; k < HN_N_STEP; k++) {
		if ((seen >> k & 1) == 0) {
			fail_msg("the histories above have no %s: add one",
				 hn_step_ops((enum hn_step_kind)k)->tag);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_fuse_reorder_annotate),
		cmocka_unit_test(test_lengths_that_do_not_divide_round_up),
		cmocka_unit_test(test_attachments_follow_their_loop),
		cmocka_unit_test(test_compute_at_inline_root),
		cmocka_unit_test(test_follow_split_copies_the_outer_loops),
		cmocka_unit_test(test_rfactor_shapes_and_names),
		cmocka_unit_test(test_rfactor_counts_each_element_once),
		cmocka_unit_test(test_an_empty_fuse_keeps_the_reduction),
		cmocka_unit_test(test_pragma_and_storage_align),
		cmocka_unit_test(test_caches_chain),
		cmocka_unit_test(test_pack_inserts_a_stage),
		cmocka_unit_test(test_a_prefetch_follows_loop_and_operand),
		cmocka_unit_test(test_a_prefetch_past_the_end_is_none),
		cmocka_unit_test(test_every_step_explains_itself),
		cmocka_unit_test(test_pipelines_explain_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
