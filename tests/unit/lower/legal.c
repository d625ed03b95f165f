/* The exact legality check: accepts what is right, and refuses each way of being wrong
 * with the reason that applies.  Wrong trees are made by editing right ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "tests/lib/lower_edits.h"

static const char matmul_text[] =
	"mm(float32 A[24,16], float32 B[16,20]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";

/* B is a producer with a halo of 3 x 3 around each point of C. */
static const char stencil_text[] =
	"st(float32 A[18,18], float32 W[3,3]) -> C { B(y,x) = A(y,x) * 2.0\n"
	"C(y,x) +=! B(y+r,x+s) * W(r,s) }";

struct fixture {
	struct hn_arena arena;
	const struct hn_dag *dag;
	const struct hn_state *state;
	struct hn_err err;
};

static void open_text(struct fixture *f, const char *text)
{
	memset(f, 0, sizeof(*f));
	hn_arena_init(&f->arena, 0);
	if (hn_dag_parse("test", text, strlen(text), 0, &f->arena, &f->dag, &f->err)) {
		fail_msg("%s", f->err.msg);
	}
	f->state = hn_state_init(f->dag, &f->arena);
}

static void step(struct fixture *f, const char *steps)
{
	const struct hn_trace *trace;

	if (hn_trace_parse("test", steps, strlen(steps), &f->arena, &trace, &f->err) ||
	    hn_state_replay(f->dag, trace, &f->arena, &f->state, &f->err)) {
		fail_msg("%s", f->err.msg);
	}
}

static struct hn_looptree *tree_of(struct fixture *f)
{
	const struct hn_looptree *t;
	struct hn_looptree *copy = HN_NEW(&f->arena, struct hn_looptree);

	if (hn_looptree_build(f->state, &f->arena, &t, &f->err)) {
		fail_msg("%s", f->err.msg);
	}
	*copy = *t;
	return copy;
}

static void expect(struct fixture *f, const struct hn_looptree *t, enum hn_verdict want,
		   const char *reason)
{
	enum hn_verdict got = hn_legal_check(t, 20000, &f->err);

	if (got != want) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_looptree_print(t, &text);
		print_error("%s\n", text.s);
		hn_buf_fini(&text);
		fail_msg("wanted %s, got %s: %s", hn_verdict_name(want),
			 hn_verdict_name(got), f->err.msg);
	}
	if (reason && !strstr(f->err.msg, reason)) {
		fail_msg("wanted \"...%s...\", got \"%s\"", reason, f->err.msg);
	}
}

static void expect_edited(const char *text, const char *steps, edit_fn edit,
			  const char *reason)
{
	struct fixture f;
	struct hn_looptree *t;

	open_text(&f, text);
	step(&f, steps);
	t = tree_of(&f);
	expect(&f, t, HN_VERDICT_OK, NULL);
	t->n_loop += 1000; /* room for loops that an edit adds */
	t->root = edit_tree(t->root, edit, &f.arena);
	expect(&f, t, HN_VERDICT_ILLEGAL, reason);
	hn_arena_fini(&f.arena);
}

/* Two levels of tiles, 4 does not divide 18 nor 20, all reduction loops split, parallel,
 * vector. */
static const char matmul_steps[] =
	"[[\"SP\", 2, 0, 24, [2, 3], 1], [\"SP\", 2, 3, 20, [2, 4], 1], [\"SP\", 2, 6, "
	"16, [5], 1],"
	" [\"RE\", 2, [0, 3, 1, 4, 6, 2, 7, 5]], [\"FU\", 2, [0, 1]], [\"AN\", 2, 0, 3],"
	" [\"AN\", 2, 6, 2]]";

static const char stencil_steps[] =
	"[[\"SP\", 3, 0, 16, [5], 1], [\"SP\", 3, 2, 16, [4], 1],"
	" [\"RE\", 3, [0, 2, 1, 3, 4, 5]], [\"CA\", 2, 3, 1]]";

static void accepts(void **state)
{
	static const char *const good[][2] = {
		{ matmul_text, "[]" },
		{ matmul_text, matmul_steps },
		{ stencil_text, "[]" },
		{ stencil_text, stencil_steps },
		{ stencil_text, "[[\"CI\", 2]]" },
		{ stencil_text, "[[\"CA\", 2, 3, 3]]" },
		/* A mask with nothing behind its end, in parts that go past it. */
		{ "mask(int32 A[5], bool M[5]) -> C { C +=! M(k) ? A(k) }",
		  "[[\"SP\", 2, 0, 5, [2], 1], [\"RF\", 2, 0, 0]]" },
		{ matmul_text,
		  "[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 24, [2, 6], 1],"
		  " [\"SP\", 2, 3, 20, [1, 8], 1], [\"SP\", 3, 0, 24, [12], 1],"
		  " [\"SP\", 3, 2, 20, [8], 1], [\"RE\", 3, [0, 2, 1, 3]], [\"CA\", 2, "
		  "3, "
		  "1]]" },
		{ matmul_text, "[[\"SP\", 2, 2, 16, [4], 1], [\"RF\", 2, 2, 2]]" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(good); i++) {
		struct fixture f;

		open_text(&f, good[i][0]);
		step(&f, good[i][1]);
		expect(&f, tree_of(&f), HN_VERDICT_OK, NULL);
		hn_arena_fini(&f.arena);
	}
}

static void race_reduction(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE) {
		n->ann = HN_ANN_PARALLEL;
	}
}

static void vector_reduction(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE) {
		n->ann = HN_ANN_VECTORIZE;
	}
}

/* The reduction's last axis stops depending on its loops: points are counted many times.
 */
static void repeat_points(struct hn_node *n, struct hn_arena *a)
{
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE && n->extent > 1) {
		struct hn_node *again = HN_NEW(a, struct hn_node);

		*again = *n;
		again->loop += 500;
		again->extent = 2;
		again->init = NULL;
		again->n_child = n->n_child;
		again->child = n->child;
		n->child = HN_NEW_ARRAY(a, const struct hn_node *, 1);
		((const struct hn_node **)n->child)[0] = again;
		n->n_child = 1;
	}
}

static void refuses(void **state)
{
	(void)state;
	expect_edited(matmul_text, matmul_steps, race_reduction, "share an element");
	expect_edited(matmul_text, matmul_steps, vector_reduction, "vectorize loop");
	expect_edited(matmul_text, matmul_steps, shorten_reduction, "left out");
	expect_edited(matmul_text, matmul_steps, shorten_spatial, "has not been");
	expect_edited(matmul_text, matmul_steps, drop_init, "never initialised");
	expect_edited(matmul_text, matmul_steps, drop_guards, "outside the buffer");
	/* a window's fourth iteration of three: the pad's condition keeps its load inside */
	expect_edited("f(float32 X[9,3]) -> Y { Y(h,c) max=! 2*h+r>=1 && 2*h+r<10 ? "
		      "X(2*h+r-1,c) : -1e30 where h in 0:5, r in 0:3 }",
		      "[[\"SP\", 1, 2, 3, [2], 1]]", drop_guards, "outside its domain");
	expect_edited(matmul_text, matmul_steps, repeat_points, "counted twice");
	expect_edited(stencil_text, "[]", swap_children, "before it is complete");
	expect_edited(stencil_text, stencil_steps, swap_children,
		      "before it is complete");
	expect_edited(stencil_text, stencil_steps, shorten_spatial, "has not been");
}

/* The footprint of an attached producer, one element short in each direction. */
static void refuses_short_footprint(void **state)
{
	(void)state;
	for (uint32_t d = 0; d < 2; d++) {
		struct fixture f;
		struct hn_looptree *t;
		struct hn_buffer *buffer;
		int64_t *extent;

		open_text(&f, stencil_text);
		step(&f, stencil_steps);
		t = tree_of(&f);
		buffer = HN_NEW_ARRAY(&f.arena, struct hn_buffer, t->dag->n_op);
		memcpy(buffer, t->buffer, t->dag->n_op * sizeof(*buffer));
		extent = HN_NEW_ARRAY(&f.arena, int64_t, 2);
		memcpy(extent, buffer[2].extent, 2 * sizeof(*extent));
		extent[d]--;
		buffer[2].extent = extent;
		t->buffer = buffer;
		expect(&f, t, HN_VERDICT_ILLEGAL, "outside the buffer");
		hn_arena_fini(&f.arena);
	}
}

/* P and C in one loop, where C reads what the iteration before made of P: fine in turn, and
 * not at once, though each iteration writes elements of its own. */
static void refuses_reads_of_what_others_write(void **state)
{
	struct fixture f;
	struct hn_looptree *t;
	struct hn_node *root, *loop, *p;
	const struct hn_node **both;

	(void)state;
	open_text(&f, "f(int32 A[8]) -> (P, C) { P(i) = A(i) + 1\n"
		      "C(i) = i >= 1 ? P(i) + P(i - 1) : 0 where i in 0:8 }");
	t = tree_of(&f);
	root = HN_NEW(&f.arena, struct hn_node);
	loop = HN_NEW(&f.arena, struct hn_node);
	p = HN_NEW(&f.arena, struct hn_node);
	both = HN_NEW_ARRAY(&f.arena, const struct hn_node *, 2);
	*root = *t->root;
	*loop = *root->child[1];
	*p = *root->child[0]->child[0];
	p->axis = loop->child[0]->axis;
	both[0] = p;
	both[1] = loop->child[0];
	loop->child = both;
	loop->n_child = 2;
	root->child++;
	((const struct hn_node **)root->child)[0] = loop;
	root->n_child--;
	t->root = root;
	expect(&f, t, HN_VERDICT_OK, NULL);
	loop->ann = HN_ANN_PARALLEL;
	expect(&f, t, HN_VERDICT_ILLEGAL, "share an element of P");
	hn_arena_fini(&f.arena);
}

static void refuses_a_missing_producer(void **state)
{
	struct fixture f;
	struct hn_looptree *t;
	struct hn_node *root;

	(void)state;
	open_text(&f, stencil_text);
	t = tree_of(&f);
	root = HN_NEW(&f.arena, struct hn_node);
	*root = *t->root;
	root->child++;
	root->n_child--;
	t->root = root;
	expect(&f, t, HN_VERDICT_ILLEGAL, "never computed");
	hn_arena_fini(&f.arena);
}

/* Of y - x the order counts: tiles in order are fine, a reduction turned inside out is not. */
static const char ordered_json[] =
	"{\"format\":\"compute-dag/"
	"1\",\"ops\":[{\"kind\":\"placeholder\",\"id\":\"A\",\"shape\":[4,12],"
	"\"dtype\":\"float32\"},{\"kind\":\"compute\",\"id\":\"M\",\"name\":\"M\","
	"\"shape\":[4],"
	"\"dtype\":[\"int32\"],\"axes\":[[\"i\",0,4]],\"reduce_axes\":[[\"k\",0,12]],"
	"\"body\":[{\"reduce\":"
	"{\"lhs\":[\"x\"],\"rhs\":[\"y\"],\"result\":[[\"sub\",[\"var\",\"y\"],[\"var\","
	"\"x\"]]],"
	"\"identity\":[[\"int\",0,\"int32\"]]},\"source\":[[\"var\",\"k\"]],"
	"\"condition\":[\"int\",1,\"bool\"],\"init\":[],\"value_index\":0}]}],"
	"\"inputs_outputs\":[\"A\",\"M\"]}";

static void keeps_the_order_of_an_unknown_combiner(void **state)
{
	static const char in_order[] = "[[\"SP\", 1, 1, 12, [3], 1]]";
	static const char inside_out[] =
		"[[\"SP\", 1, 1, 12, [3], 1], [\"RE\", 1, [0, 2, 1]]]";
	struct fixture f;

	(void)state;
	open_text(&f, ordered_json);
	step(&f, in_order);
	expect(&f, tree_of(&f), HN_VERDICT_OK, NULL);
	step(&f, inside_out);
	expect(&f, tree_of(&f), HN_VERDICT_ILLEGAL, "may not be reordered");
	hn_arena_fini(&f.arena);
}

static void name_the_first_loop(struct hn_node *n, struct hn_arena *a)
{
	if (n->kind == HN_NODE_STMT && n->stage == 2) {
		const struct hn_expr **axis = HN_NEW_ARRAY(a, const struct hn_expr *, 1);

		axis[0] = hn_expr_var(0, HN_I32, "i", a);
		n->axis = axis;
	}
}

/* C's nest counts by the loop of B's: nothing is known of where it stands then. */
static void certifies_no_loop_of_another_nest(void **state)
{
	struct hn_looptree *t;
	struct fixture f;

	(void)state;
	open_text(&f, "two(float32 A[16]) -> C { B(i) = A(i) * 2.0\nC(i) = B(i) + 1.0 }");
	t = tree_of(&f);
	expect(&f, t, HN_VERDICT_OK, NULL);
	t->root = edit_tree(t->root, name_the_first_loop, &f.arena);
	expect(&f, t, HN_VERDICT_BUILD_FAIL, NULL);
	hn_arena_fini(&f.arena);
}

static void gives_up_in_time(void **state)
{
	struct fixture f;

	(void)state;
	open_text(&f, matmul_text);
	step(&f, matmul_steps);
	for (int i = 0; i < 20; i++) {
		enum hn_verdict v = hn_legal_check(tree_of(&f), 1, &f.err);

		assert_true(v == HN_VERDICT_OK || v == HN_VERDICT_BUILD_TIMEOUT);
	}
	hn_arena_fini(&f.arena);
}

static void prints_what_isl_reads(void **state)
{
	struct fixture f;
	struct hn_buf text;

	(void)state;
	open_text(&f, stencil_text);
	step(&f, stencil_steps);
	hn_buf_init(&text);
	assert_int_equal(hn_poly_print(tree_of(&f), &text, &f.err), 0);
	assert_non_null(strstr(text.s, "S0 B compute"));
	assert_non_null(strstr(text.s, "read B"));
	assert_non_null(strstr(text.s, "C update"));
	hn_buf_fini(&text);
	hn_arena_fini(&f.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts),
		cmocka_unit_test(refuses),
		cmocka_unit_test(refuses_short_footprint),
		cmocka_unit_test(refuses_reads_of_what_others_write),
		cmocka_unit_test(refuses_a_missing_producer),
		cmocka_unit_test(keeps_the_order_of_an_unknown_combiner),
		cmocka_unit_test(certifies_no_loop_of_another_nest),
		cmocka_unit_test(gives_up_in_time),
		cmocka_unit_test(prints_what_isl_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
