/* Loops in which what they need is computed ahead (PL): kernels compute the same, as many stages
 * and iterations as there are; and where values come late or a copy is filled too early, both
 * checks refuse, and running shows it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/nest/ring.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "tests/lib/lower_edits.h"
#include "tests/lib/lower_forms.h"
#include "tests/lib/lower_judged.h"

#define N_HISTORIES 60

/* ---- kernels */

static const char matmul[] =
	"f(float32 A[19,23], float32 B[23,37]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";

/* A panel of B for a part of k, of any length. */
static const char panels[] = "[[\"CHR\", 1, \"local\", [2]], [\"SP\", 3, 0, 19, [%d], "
			     "1], [\"SP\", 3, 2, 37, [16], 1],"
			     " [\"SP\", 3, 4, 23, [%d], 1], [\"RE\", 3, [0, 2, 4, 1, 5, "
			     "3]], [\"AN\", 3, 5, 2],"
			     " [\"CA\", 2, 3, 2], [\"PL\", 3, 2, %d, %d]]";

static const struct hn_node *pipelined(const struct hn_node *n)
{
	const struct hn_node *ret = hn_ring_ahead(n) > 0 ? n : NULL;

	for (uint32_t i = 0; i < n->n_child && ret == NULL; i++) {
		ret = pipelined(n->child[i]);
	}
	return ret;
}

static void check_steps(struct fixture *f, const char *text, const char *steps,
			int64_t ahead, const struct run_args *want, struct hn_arena *a)
{
	const struct hn_dag *dag;
	const struct hn_looptree *t = tree_of(text, steps, a, &dag);
	struct history h = { text, dag, t->state->trace, 1, want, tolerance_of(dag), a };
	const struct hn_node *loop = pipelined(t->root);

	assert_int_equal(loop != NULL ? hn_ring_ahead(loop) : 0, ahead);
	judged(t, dag, true, NULL);
	check_history(f->em, &h, /* scalar= */ false, /* parallel= */ true);
	check_history(f->em, &h, /* scalar= */ true, /* parallel= */ false);
}

static void as_far_ahead_as_the_loop_is_long(void **state)
{
	struct fixture *f = *state;
	struct run_args want;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	form_answer(dag_open(matmul, &a), &want);
	for (int len = 3; len <= 25; len += 4) { /* 8 to 1 parts of 23 */
		for (int stages = 2; stages <= 8; stages += 3) {
			int64_t n = (23 + len - 1) / len;
			char *steps = hn_arena_printf(&a, panels, 1 + len % 5, len,
						      stages, len % 3);

			check_steps(f, matmul, steps, stages <= n ? stages - 1 : n - 1,
				    &want, &a);
		}
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

/* More than one stage, one of them read by the other; rings in loops within each other; a halo;
 * a reduction ahead; what is ahead is swizzled. */
static void all_kinds_of_producers(void **state)
{
	static const struct {
		const char *text, *steps;
		int64_t ahead;
	} row[] = {
		{ "f(float32 A[20,24], float32 B[24,32]) -> C { P(k,j) = B(k,j) * 2 "
		  "Q(k,j) = P(k,j) + 1"
		  " C(i,j) +=! A(i,k) * Q(k,j) }",
		  "[[\"SP\", 4, 2, 24, [5], 1], [\"RE\", 4, [2, 0, 3, 1]], [\"CA\", 3, "
		  "4, 0],"
		  " [\"CA\", 2, 4, 0], [\"PL\", 4, 0, 3, 0]]",
		  2 },
		{ "f(float32 A[20,24], float32 B[24,32]) -> C { P(k,j) = B(k,j) * 2 "
		  "Q(k,j) = P(k,j) + 1"
		  " C(i,j) +=! A(i,k) * Q(k,j) }",
		  "[[\"SP\", 4, 2, 24, [6], 1], [\"RE\", 4, [2, 0, 3, 1]], [\"CA\", 3, "
		  "4, 0],"
		  " [\"CA\", 2, 3, 0], [\"PL\", 3, 0, 2, 0], [\"PL\", 4, 0, 2, 0]]",
		  1 },
		{ "f(float32 A[30,31]) -> C { P(y,x) = A(y,x) * 2 C(y,x) = P(y,x) + "
		  "P(y+1,x+2) + P(y+2,x)"
		  " where y in 0:28, x in 0:29 }",
		  "[[\"SP\", 2, 0, 28, [5], 1], [\"CA\", 1, 2, 0], [\"PL\", 2, 0, 4, 1]]",
		  3 },
		{ "f(float32 A[18,7], float32 B[18,9]) -> C { S(i) +=! A(i,k) C(i,j) = "
		  "B(i,j) * S(i) }",
		  "[[\"SP\", 3, 0, 18, [4], 1], [\"CA\", 2, 3, 0], [\"PL\", 3, 0, 2, 2]]",
		  1 },
		{ "f(float32 A[32,32]) -> C { P(i,j) = A(i,j) + 1 C(i,j) = P(j,i) }",
		  "[[\"SP\", 2, 0, 32, [8], 1], [\"SP\", 2, 2, 32, [16], 1], [\"RE\", 2, "
		  "[0, 2, 1, 3]],"
		  " [\"CA\", 1, 2, 1], [\"SW\", 1, 0, 0, 3, 1], [\"PL\", 2, 1, 2, 0]]",
		  1 },
		/* in iterations of a parallel loop, and with one inside */
		{ "f(float32 A[19,23], float32 B[23,37]) -> C { P(k,j) = B(k,j) * 2"
		  " C(i,j) +=! A(i,k) * P(k,j) }",
		  "[[\"SP\", 3, 2, 23, [7], 1], [\"RE\", 3, [0, 2, 3, 1]], [\"AN\", 3, "
		  "0, 3],"
		  " [\"CA\", 2, 3, 1], [\"PL\", 3, 1, 3, 0]]",
		  2 },
		{ "f(float32 A[19,23], float32 B[23,37]) -> C { P(k,j) = B(k,j) * 2"
		  " C(i,j) +=! A(i,k) * P(k,j) }",
		  "[[\"SP\", 3, 2, 23, [7], 1], [\"RE\", 3, [2, 0, 3, 1]], [\"AN\", 3, "
		  "1, 3],"
		  " [\"CA\", 2, 3, 0], [\"AN\", 2, 0, 3], [\"PL\", 3, 0, 3, 0]]",
		  2 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct run_args want;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		form_answer(dag_open(row[i].text, &a), &want);
		check_steps(f, row[i].text, row[i].steps, row[i].ahead, &want, &a);
		run_args_free(&want);
		hn_arena_fini(&a);
	}
}

#define MOST_LOOPS 16

struct order {
	uint32_t n;
	int64_t extent[MOST_LOOPS]; /* of the parallel loops, as they begin */
};

static void note(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	struct order *o = ctx;

	assert_true(o->n < MOST_LOOPS);
	o->extent[o->n++] = n;
	body(closure, 0, n, 0);
}

/* Parallel loops tell when they begin: of 4 iterations, those of P are 2 ahead. */
static void kernels_run_ahead(void **state)
{
	static const char text[] = "f(float32 A[19,23], float32 B[23,37]) -> C {"
				   " P(k,j) = B(k,j) * 2 C(i,j) +=! A(i,k) * P(k,j) }";
	static const char steps[] =
		"[[\"SP\", 3, 2, 23, [7], 1], [\"RE\", 3, [2, 0, 3, 1]], [\"AN\", 3, 1, "
		"3],"
		" [\"CA\", 2, 3, 0], [\"AN\", 2, 0, 3], [\"PL\", 3, 0, 3, 0]]";
	static const int64_t want[] = { 7, 7, 7, 19, 7, 19, 19, 19 };
	struct fixture *f = *state;
	struct order order = { 0 };
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = 1,
				.parallel_for = note,
				.ctx = &order };
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct run_kernel k;
	struct run_args args;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_looptree *t = tree_of(text, steps, &a, &dag);

	assert_int_equal(run_build(f->em, dag, t->state->trace, false, &a, &k, &err), 0);
	run_args_make(dag, 11, &args);
	assert_int_equal(k.fn(args.at, &env), 0);
	assert_int_equal(order.n, HN_COUNT_OF(want));
	assert_memory_equal(order.extent, want, sizeof(want));
	run_args_free(&args);
	run_unload(&k);
	hn_arena_fini(&a);
}

struct used {
	struct fixture *f;
	uint32_t n;
};

static void when_pipelined(const struct history *h, void *ctx)
{
	struct used *u = ctx;
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err;

	if (h->trace == NULL || hn_state_replay(h->dag, h->trace, h->a, &s, &err) ||
	    hn_looptree_build(s, h->a, &t, &err) || pipelined(t->root) == NULL) {
		return;
	}
	assert_int_equal(hn_legal_check(t, JUDGED_MS, &err), HN_VERDICT_OK);
	check_history(u->f->em, h, /* scalar= */ false, /* parallel= */ u->n % 2 == 0);
	u->n++;
}

static void random_histories(void **state)
{
	static const char *const programs[] = {
		"f(float32 A[19,23], float32 B[23,37]) -> C { P(k,j) = B(k,j) * 2"
		" C(i,j) +=! A(i,k) * P(k,j) }",
		"f(float32 A[30,31]) -> C { P(y,x) = A(y,x) * 2 Q(y,x) = P(y,x) + "
		"P(y,x+1)"
		" where y in 0:30, x in 0:30 C(y,x) = Q(y,x) + Q(y+2,x) where y in 0:28, "
		"x in 0:30 }",
		"f(int8 A[9,64], B[64,17]) -> D { C(i,j) +=! int32(A(i,k)) * "
		"int32(B(k,j))"
		" D(i,j) = max(C(i,j), 0) }",
		"f(float32 X[1,9,9,7], W[3,3,7,20]) -> Y { P(n,h,w,c) = h>=1 && h<10 && "
		"w>=1 && w<10 ?"
		" X(n,h-1,w-1,c) : 0 where h in 0:11, w in 0:11 Y(n,h,w,f) +=! "
		"P(n,h+r,w+s,c) *"
		" W(r,s,c,f) where h in 0:9, w in 0:9 }",
	};
	struct used u = { .f = *state };

	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		u.n = 0;
		each_history(programs[i], N_HISTORIES, when_pipelined, &u);
		if (u.n < 5) {
			fail_msg("%s: %u histories", programs[i], u.n);
		}
	}
}

/* ---- what is refused */

static void come_late(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	n->ahead = n->ahead > 0 ? -1 : n->ahead;
}

static void run_at_once(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (hn_ring_ahead(n) > 0) {
		n->ann = HN_ANN_PARALLEL;
	}
}

/* The program without the edit is right. */
static void wrong_when(const struct hn_looptree *t, const struct hn_dag *dag,
		       edit_fn edit, const char *why, struct hn_arena *a)
{
	struct hn_looptree edited = *t;

	edited.root = edit_tree(t->root, edit, a);
	judged(&edited, dag, false, why);
}

static void what_comes_late_is_refused(void **state)
{
	const struct hn_dag *dag;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_looptree *t =
		tree_of(matmul, hn_arena_printf(&a, panels, 4, 5, 3, 0), &a, &dag);

	judged(t, dag, true, NULL);
	wrong_when(t, dag, come_late, "used by stage 3 (C) before it is complete", &a);
	hn_arena_fini(&a);
}

static void iterations_follow_one_another(void **state)
{
	struct hn_quick *quick = hn_quick_new();
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_looptree *t = tree_of(
		"f(float32 A[18,16]) -> C { P(i,j) = A(i,j) * 2 C(i,j) = P(i,j) + 1 }",
		"[[\"CA\", 1, 2, 0], [\"PL\", 2, 0, 2, 0]]", &a, &dag);
	struct hn_looptree edited = *t;

	judged(t, dag, true, NULL);
	edited.root = edit_tree(t->root, run_at_once, &a);
	assert_false(hn_quick_legal(quick, &edited, &err));
	assert_int_equal(hn_legal_check(&edited, JUDGED_MS, &err), HN_VERDICT_ILLEGAL);
	assert_non_null(strstr(err.msg, "its iterations do not follow one another"));
	hn_quick_free(quick);
	hn_arena_fini(&a);
}

/* A ring of one copy less than there are stages, and of none. */
static void a_short_ring_is_refused(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (int stages = 2; stages <= 4; stages++) {
		const struct hn_dag *dag;
		const struct hn_looptree *t = tree_of(
			matmul, hn_arena_printf(&a, panels, 4, 4, stages, 0), &a, &dag);
		struct hn_buffer *buffer =
			HN_NEW_ARRAY(&a, struct hn_buffer, t->dag->n_op);

		memcpy(buffer, t->buffer, t->dag->n_op * sizeof(*buffer));
		assert_int_equal(buffer[2].ring, stages);
		for (int less = 1; less < stages; less++) {
			struct hn_looptree edited = *t;

			buffer[2].ring = stages - less;
			buffer[2].turn = hn_expr_binary(
				HN_EXPR_FLOORMOD,
				hn_expr_var(buffer[2].at_loop, HN_I32, NULL, &a),
				hn_expr_int(stages - less, HN_I32, &a), &a);
			edited.buffer = buffer;
			judged(&edited, dag, false, "filled again while it is needed");
		}
	}
	hn_arena_fini(&a);
}

/* ---- the step */

static void it_stays_with_its_loop(void **state)
{
	static const struct {
		const char *steps;
		int64_t ahead;
	} then[] = {
		{ "", 2 },
		{ ", [\"RE\", 3, [1, 0, 2, 3]]", 2 },
		{ ", [\"SP\", 3, 3, 37, [4], 1]", 2 },
		{ ", [\"CHR\", 0, \"local\", [3]]", 2 },
		{ ", [\"AN\", 3, 1, 1]", 2 },
		/* where nothing is ahead any more */
		{ ", [\"AN\", 3, 1, 3]", 0 },
		{ ", [\"CR\", 2]", 0 },
		{ ", [\"CA\", 2, 3, 0]", 0 },
		{ ", [\"SP\", 3, 1, 5, [2], 1]", 0 },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(then); i++) {
		const struct hn_dag *dag;
		const struct hn_looptree *t = tree_of(
			matmul,
			hn_arena_printf(&a,
					"[[\"CHR\", 1, \"local\", [2]], [\"SP\", 3, 2, "
					"23, [5], 1],"
					" [\"RE\", 3, [0, 2, 3, 1]], [\"CA\", 2, 3, 1],"
					" [\"PL\", 3, 1, 3, 0]%s]",
					then[i].steps),
			&a, &dag);
		const struct hn_node *loop = pipelined(t->root);

		if ((loop != NULL ? hn_ring_ahead(loop) : 0) != then[i].ahead) {
			fail_msg("%s", then[i].steps);
		}
		hn_state_check(t->state);
		if (then[i].ahead > 0) { /* a sum may not be taken in parallel */
			judged(t, dag, true, NULL);
		}
	}
	hn_arena_fini(&a);
}

static void the_tree_says_so(void **state)
{
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_buf text;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_looptree_print(tree_of("f(float32 A[6,4]) -> C { P(i,j) = A(i,j) * 2 C(i,j) = "
				  "P(i,j) + 1 }",
				  "[[\"CA\", 1, 2, 0], [\"PL\", 2, 0, 3, 0]]", &a, &dag),
			  &text);
	assert_string_equal(text.s, "arg A [6, 4]\narg C [6, 4]\n"
				    "for i#2 (6) P 2 ahead\n"
				    "  local P [1, 4] from [i#2, 0] x 3\n"
				    "  for i#0 (1)\n    for j#1 (4)\n"
				    "      P[i#2, j#1] = A[i#2, j#1] * 2\n"
				    "  for j#3 (4)\n    C[i#2, j#3] = P[i#2, j#3] + 1\n");
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

/* ---- devices */

static const char gpu_matmul[] =
	"f(float32 A[32,44], float32 B[44,32]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";

/* Blocks of 16 x 16 threads; a part of k in shared memory at a time: 8, which does not divide. */
static const char gpu_steps[] =
	"[[\"CHW\", 2, \"local\"], [\"CHR\", 0, \"shared\", [2]], [\"CHR\", 2, "
	"\"shared\", [3]],"
	" [\"SP\", 5, 0, 32, [16], 1], [\"SP\", 5, 2, 32, [16], 1], [\"RE\", 5, [0, 2, "
	"1, 3]],"
	" [\"AN\", 5, 0, 7], [\"AN\", 5, 1, 5], [\"AN\", 5, 2, 8], [\"AN\", 5, 3, 6],"
	" [\"CA\", 4, 5, 3], [\"SP\", 4, 2, 44, [%d], 1], [\"RE\", 4, [2, 3, 0, 1]],"
	" [\"CA\", 1, 4, 0], [\"CA\", 3, 4, 0]%s]";

/* ... which all threads bring in. */
static const char by_threads[] =
	", [\"AN\", 1, 0, 8], [\"AN\", 1, 1, 6], [\"AN\", 3, 0, 8], [\"AN\", 3, 1, 6]";

/* Barriers in the program's text between the beginning of that loop and its end. */
static uint32_t barriers_in(const char *text, const char *loop)
{
	const char *at = strstr(text, loop);
	uint32_t n = 0, depth = 0;

	assert_non_null(at);
	do {
		const char *end = strchr(at, '\n');

		depth += end[-1] == '{';
		depth -= end[-1] == '}';
		n += end - at >= 7 && strncmp(end - 7, "barrier", 7) == 0;
		at = end + 1;
	} while (depth > 0);
	return n;
}

static void one_barrier_an_iteration(void **state)
{
	struct hn_target gpu;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda", &a, &gpu, &err), 0);
	for (int stages = 1; stages <= 8; stages++) {
		const char *pl = stages == 1
					 ? ""
					 : hn_arena_printf(&a, ", [\"PL\", 4, 0, %d, %d]",
							   stages, stages % 3);
		const struct hn_dag *dag;
		const struct hn_looptree *t = tree_of(
			gpu_matmul,
			hn_arena_printf(&a, gpu_steps, 8,
					hn_arena_printf(&a, "%s%s", by_threads, pl)),
			&a, &dag);
		const struct hn_device *d;
		struct run_args want, got;
		struct hn_buf text;

		judged(t, dag, true, NULL);
		form_answer(dag, &want);
		hn_buf_init(&text);
		if (hn_device_place(t, &a, &d, &err)) {
			fail_msg("%d stages: %s", stages, err.msg);
		}
		hn_device_print(d, &text);
		if (hn_device_verify(d, &gpu, JUDGED_MS, &err)) {
			fail_msg("%d stages: %s\n%s", stages, err.msg, text.s);
		}
		for (uint32_t order = 0; order < 3; order++) {
			run_args_make(dag, 11, &got);
			if (hn_device_interpret(d, got.at, order, 20000000, &err) ||
			    run_difference(&want, &got) > 1e-5) {
				fail_msg("%d stages: %s\n%s", stages, err.msg, text.s);
			}
			run_args_free(&got);
		}
		/* 6 parts of k */
		uint32_t n = 0;

		for (const char *at = text.s; (at = strstr(at, " 6 {\n")) != NULL;
		     at += 5) {
			while (at[-1] != '\n') {
				at--;
			}
			n = barriers_in(at, "for ");
			at = strchr(at, '\n') - 5;
		}
		uint32_t all = 0; /* none where the ring is filled first */

		for (const char *at = text.s; (at = strstr(at, "barrier\n")) != NULL;
		     at++) {
			all++;
		}
		bool flies = stages > 1 && stages % 3 == 2;

		assert_int_equal(strstr(text.s, "async ") != NULL, flies);
		assert_int_equal(strstr(text.s, "wait ") != NULL, flies);
		if (n != (stages == 1 ? 2 : 1) || all != n) {
			fail_msg("%d stages: %u barriers\n%s", stages, n, text.s);
		}
		hn_buf_fini(&text);
		run_args_free(&want);
	}
	hn_arena_fini(&a);
}

/* 352 of k are 45056 bytes of shared memory, of 49152. */
static void a_ring_needs_room(void **state)
{
	static const char text[] = "f(float32 A[32,4096], float32 B[4096,32]) -> C { "
				   "C(i,j) +=! A(i,k) * B(k,j) }";
	struct hn_target gpu;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda", &a, &gpu, &err), 0);
	for (int stages = 1; stages <= 2; stages++) {
		const char *pl = stages == 1 ? "" : ", [\"PL\", 4, 0, 2, 2]";
		const struct hn_dag *dag;
		const struct hn_looptree *t =
			tree_of(text, hn_arena_printf(&a, gpu_steps, 352, pl), &a, &dag);
		const struct hn_device *d;

		assert_int_equal(hn_device_place(t, &a, &d, &err), 0);
		int rc = hn_device_check(d, &gpu, &err);

		assert_int_equal(rc, stages == 1 ? 0 : -HONE_E_INVALID);
		if (rc != 0) {
			assert_non_null(
				strstr(err.msg, "90112 bytes of shared memory; "));
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(as_far_ahead_as_the_loop_is_long, setup,
						teardown),
		cmocka_unit_test_setup_teardown(all_kinds_of_producers, setup, teardown),
		cmocka_unit_test_setup_teardown(kernels_run_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(random_histories, setup, teardown),
		cmocka_unit_test(what_comes_late_is_refused),
		cmocka_unit_test(iterations_follow_one_another),
		cmocka_unit_test(a_short_ring_is_refused),
		cmocka_unit_test(it_stays_with_its_loop),
		cmocka_unit_test(the_tree_says_so),
		cmocka_unit_test(one_barrier_an_iteration),
		cmocka_unit_test(a_ring_needs_room),
	};

	return cmocka_run_group_tests_name("lower_pipeline", tests, NULL, NULL);
}
