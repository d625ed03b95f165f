/* tests/unit/loopstate/scopes.c -- GPU bounds worked out by hand: memories against thread
 * loops, lengths that threads keep, and Ansor's defects on demand. */
#include "tests/lib/state_util.h"

#include "base/arith.h"
#include "loopstate/nest/looptree.h"
#include "loopstate/state/intrin.h"
#include "loopstate/nest/memory.h"

/* C = A B of 32 x 32 x 32 in blocks of 4 x 8: loops blockIdx.x (32), threadIdx.x (32), k;
 * stage 1 is a copy of A for stage 3 (C) in the memory %s, made at loop %d of C. */
#define BLOCKS                                                                           \
	"[[\"SP\", 2, 0, 32, [4], 1], [\"SP\", 2, 2, 32, [8], 1], "                      \
	"[\"RE\", 2, [0, 2, 1, 3, 4]], [\"FU\", 2, [0, 1]], [\"FU\", 2, [1, 2]], "       \
	"[\"AN\", 2, 0, 5], [\"AN\", 2, 1, 6], [\"CHR\", 0, \"%s\", [2]], "              \
	"[\"CA\", 1, 3, %d]%s]"

struct want {
	const char *memory;
	int loop;
	const char *more;
	int64_t rows, columns; /* of A that the copy holds */
	bool has_tree;
};

static const struct want wants[] = {
	/* One block needs 4 rows of A; one iteration of k one column. */
	{ "shared", 2, "", 4, 1, true },
	{ "shared", 1, "", 4, 32, true },
	{ "shared", 0, "", 4, 32, true },
	/* One thread needs one row, wherever its copy is made. */
	{ "local", 2, "", 1, 1, true },
	{ "local", 1, "", 1, 32, true },
	{ "local", 0, "", 1, 32, false },
	/* All blocks and threads. */
	{ "global", 2, "", 32, 1, true },
	{ "global", 0, "", 32, 32, true },
	/* A memory's scope goes on behind its keyword; a warp is the threads of threadIdx.x. */
	{ "shared.dyn", 1, "", 4, 32, true },
	{ "warp", 1, "", 4, 32, true },
	{ "wmma.accumulator", 1, "", 1, 32, true },
};

static const struct hn_state *state_with(const struct want *w, struct hn_arena *a)
{
	const struct hn_dag *dag = matmul_relu(32, 32, 32, a);
	const struct hn_trace *t = NULL;
	const struct hn_state *s = NULL;
	struct hn_err err = { 0 };
	const char *text = hn_arena_printf(a, BLOCKS, w->memory, w->loop, w->more);

	if (hn_trace_parse("steps", text, strlen(text), a, &t, &err) != 0 ||
	    hn_state_replay(dag, t, a, &s, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return s;
}

static const struct hn_bounds *bounds_of(const struct hn_state *s, struct hn_arena *a)
{
	const struct hn_bounds *b = NULL;
	struct hn_err err = { 0 };

	if (hn_bounds_infer(s, a, &b, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return b;
}

static void test_memories(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(wants); i++) {
		struct hn_arena a;
		const struct hn_looptree *t = NULL;
		struct hn_err err = { 0 };

		hn_arena_init(&a, 0);
		const struct hn_state *s = state_with(&wants[i], &a);
		const struct hn_bounds *b = bounds_of(s, &a);

		print_message("%s at loop %d\n", wants[i].memory, wants[i].loop);
		assert_int_equal(b->stage[1].axis[0].extent, wants[i].rows);
		assert_int_equal(b->stage[1].axis[1].extent, wants[i].columns);
		int rc = hn_looptree_build(s, &a, &t, &err);

		assert_int_equal(rc, wants[i].has_tree ? 0 : -HONE_E_UNSUPPORTED);
		hn_arena_fini(&a);
	}
}

/* A copy in no named memory, made inside a thread loop, is the thread's own; inside a
 * block loop only, the block's. */
static void test_memory_by_place(void **state)
{
	static const int64_t rows[] = { 4, 1, 1 };

	(void)state;
	for (int loop = 0; loop < 3; loop++) {
		const struct want w = { "nowhere", loop, "", rows[loop], 0, true };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_bounds *b = bounds_of(state_with(&w, &a), &a);

		assert_int_equal(b->stage[1].axis[0].extent, rows[loop]);
		hn_arena_fini(&a);
	}
}

/* The copy's 4 elements, split by 32: the inner length is cut to 4, unless threads count
 * it. */
static void test_lengths_kept(void **state)
{
	struct want w = { .memory = "shared", .loop = 2 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	w.more = ", [\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 0, [32], 1]";
	const struct hn_bounds *b = bounds_of(state_with(&w, &a), &a);

	assert_int_equal(b->stage[1].iter_extent[0], 1);
	assert_int_equal(b->stage[1].iter_extent[1], 4);
	assert_int_equal(b->stage[1].n_guard, 0);
	w.more = ", [\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 0, [32], 1], [\"AN\", 1, 1, 6]";
	b = bounds_of(state_with(&w, &a), &a);
	assert_int_equal(b->stage[1].iter_extent[0], 1);
	assert_int_equal(b->stage[1].iter_extent[1], 32);
	assert_int_equal(b->stage[1].n_guard, 1);
	hn_arena_fini(&a);
}

static void assert_text(const struct hn_state *s, const char *want)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_state_print(s, true, &buf);
	assert_string_equal(buf.s, want);
	hn_buf_fini(&buf);
}

/* An empty fuse: the loops that Ansor forgets still run, and are only not shown. */
static void test_empty_fuse(void **state)
{
	static const char *const text = "[[\"FU\", 1, []], [\"AN\", 1, 0, 6]]";
	struct hn_arena a;
	const struct hn_trace *t = NULL;
	const struct hn_state *right = NULL, *ansor = NULL;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = row_sum(1, 5, 3, &a);

	assert_int_equal(hn_trace_parse("steps", text, strlen(text), &a, &t, NULL), 0);
	assert_int_equal(hn_state_replay(dag, t, &a, &right, NULL), 0);
	assert_int_equal(hn_state_replay_as(dag, t, HN_REPLAY_ANSOR, &a, &ansor, NULL),
			 0);
	assert_text(right, "Placeholder: A\nfor p (0,5)\n  for q (0,3)\n    B = ...\n");
	assert_text(ansor, "Placeholder: A\nB = ...\n");
	const struct hn_bounds *b = bounds_of(ansor, &a);

	assert_text(hn_bounds_apply(ansor, b, &a), "Placeholder: A\nB = ...\n");
	assert_int_equal(right->stage[1]->n_iter, ansor->stage[1]->n_iter);
	assert_int_equal(b->stage[1].iter_extent[2], 5);
	assert_int_equal(b->stage[1].iter_extent[3], 3);
	hn_arena_fini(&a);
}

/* A reordering after an attachment: printed at the old position, run in the loop. */
static void test_reorder_after_attachment(void **state)
{
	static const char *const text =
		"[[\"CA\", 2, 3, 0], [\"RE\", 3, [1, 0]], [\"SP\", 3, 0, 0, [5], 1]]";
	struct hn_arena a;
	const struct hn_trace *t = NULL;
	const struct hn_state *right = NULL, *ansor = NULL;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(4, 5, 1, &a);

	assert_int_equal(hn_trace_parse("steps", text, strlen(text), &a, &t, NULL), 0);
	assert_int_equal(hn_state_replay(dag, t, &a, &right, NULL), 0);
	assert_int_equal(hn_state_replay_as(dag, t, HN_REPLAY_ANSOR, &a, &ansor, NULL),
			 0);
	hn_state_check(right);
	hn_state_check(ansor);
	right = hn_bounds_apply(right, bounds_of(right, &a), &a);
	ansor = hn_bounds_apply(ansor, bounds_of(ansor, &a), &a);
	assert_text(right, "Placeholder: A, B\nfor j.1 (0,5)\n  for i (0,4)\n"
			   "    C = ...\n    D = ...\n");
	assert_text(ansor, "Placeholder: A, B\nfor j.1 (0,5)\n  C = ...\n"
			   "  for i (0,4)\n    D = ...\n");
	hn_arena_fini(&a);
}

/* One vocabulary, two ways to say it: a scope begins with a keyword, a device program says it
 * alone, and only those that device programs know. */
static void test_words(void **state)
{
	(void)state;
	for (int m = 0; m < HN_N_MEMORY; m++) {
		const struct hn_memory_row *row = &hn_memory_rows[m];
		enum hn_memory said = hn_memory_of_device(row->keyword);

		assert_int_equal(hn_memory_of_scope(row->keyword), m);
		assert_int_equal(said, row->in_device ? (enum hn_memory)m : HN_N_MEMORY);
	}
	assert_int_equal(hn_memory_of_scope("shared.dyn"), HN_MEMORY_SHARED);
	assert_int_equal(hn_memory_of_scope(HN_INTRIN_MEMORY), HN_MEMORY_TILE);
	assert_int_equal(hn_memory_of_device("shared.dyn"), HN_N_MEMORY);
	assert_int_equal(hn_memory_of_scope("share"), HN_N_MEMORY);
	assert_int_equal(hn_memory_of_scope(""), HN_N_MEMORY);
	assert_int_equal(hn_memory_of_scope(NULL), HN_N_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memories),
		cmocka_unit_test(test_memory_by_place),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_lengths_kept),
		cmocka_unit_test(test_empty_fuse),
		cmocka_unit_test(test_reorder_after_attachment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
