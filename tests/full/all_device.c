/* Device programs of all cases: every sketch for a GPU that has room on it becomes one, and so does
 * what no sketch draws (thread_sums.h); it is shown to have no races.  The same cut down to a few
 * elements (cropped.h) computes the dag.
 *
 * Each cut program is spoiled, too: a barrier is left out, a buffer is one element shorter, a
 * number becomes 0, a condition always holds.  What the verifier takes of these must run without
 * a fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loopstate/dag/tolerance.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "sketch/sketch.h"
#include "tests/lib/each_cropped.h"
#include "tests/lib/thread_sums.h"

#define FILLS 2	     /* of each sketch */
#define CUT_FILLS 16 /* of each sketch of a program that was cut */
#define SUMS 8	     /* states in which threads take a sum together, of each program */
#define TRIES 40
#define LIMIT_MS 60000
#define FUEL 40000000

struct counts {
	struct hn_target gpu;
	struct hn_quick *quick;
	uint32_t sums; /* of the states: threads take a sum together, loops over elements inside */
	uint32_t no_room; /* of those: not for this target */
	uint32_t states, unfilled, undecided, cropped, right, long_ones;
	uint32_t spoiled, refused, taken, run_refused; /* run_refused: where the interpreter agrees */
};

/* Spoils place number `at` of its kind, counted through all kernels. */
enum spoil { NO_BARRIER, SHORT_BUFFER, NUMBER_IS_0, ALWAYS, N_SPOIL };

struct spoiler {
	struct hn_arena *a;
	enum spoil how;
	uint32_t n, at; /* places seen; the one */
};

static bool is_there(struct spoiler *s, enum spoil how)
{
	return s->how == how && s->n++ == s->at;
}

static const struct hn_expr *no_number(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	return e->op == HN_EXPR_VAR && e->ref < HN_DEVICE_FIRST && is_there(ctx, NUMBER_IS_0)
		       ? hn_expr_int(0, HN_I32, a)
		       : e;
}

static const struct hn_device_node *spoil_node(struct spoiler *s, const struct hn_device_node *n)
{
	struct hn_device_node *copy = HN_NEW(s->a, struct hn_device_node);
	const struct hn_device_node **child =
		HN_NEW_ARRAY(s->a, const struct hn_device_node *, n->n_child + 1);

	*copy = *n;
	copy->child = child;
	copy->n_child = 0;
	copy->at = n->at != NULL ? hn_expr_map(n->at, no_number, s, s->a) : NULL;
	if (n->kind == HN_DEVICE_IF && is_there(s, ALWAYS)) {
		copy->kind = HN_DEVICE_SEQ;
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (n->child[i]->kind != HN_DEVICE_BARRIER || !is_there(s, NO_BARRIER)) {
			child[copy->n_child++] = spoil_node(s, n->child[i]);
		}
	}
	return copy;
}

static const struct hn_device *spoil(struct spoiler *s, const struct hn_device *d)
{
	struct hn_device *copy = HN_NEW(s->a, struct hn_device);
	struct hn_device_kernel *k = HN_NEW_ARRAY(s->a, struct hn_device_kernel, d->n_kernel);
	struct hn_device_buffer *b = HN_NEW_ARRAY(s->a, struct hn_device_buffer, d->n_buffer);

	*copy = *d;
	copy->buffer = b;
	copy->kernel = k;
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		b[i] = d->buffer[i];
		b[i].n_elem -= b[i].arg < 0 && b[i].n_elem > 1 && is_there(s, SHORT_BUFFER);
	}
	for (uint32_t i = 0; i < d->n_kernel; i++) {
		k[i] = d->kernel[i];
		k[i].body = spoil_node(s, d->kernel[i].body);
	}
	return copy;
}

static void fail_with(const char *what, const char *why, const struct hn_looptree *t,
		      const struct hn_device *d)
{
	struct hn_buf text;

	hn_buf_init(&text);
	if (t != NULL) {
		hn_looptree_print(t, &text);
	}
	if (d != NULL) {
		hn_device_print(d, &text);
	}
	fputs(text.s, stderr); /* cmocka cuts long texts */
	fail_msg("%s: %s", what, why);
}

/* A few places of each kind. */
static void judge_spoiled(const struct each *e, const struct hn_device *d,
			  const struct hn_dag *dag, struct counts *n, struct hn_arena *a)
{
	for (uint32_t i = 0; i < 2 * N_SPOIL; i++) {
		struct spoiler count = { .a = a, .how = (enum spoil)(i % N_SPOIL), .at = UINT32_MAX };
		struct hn_err err = { 0 }, run_err = { 0 };
		struct run_args got;

		(void)spoil(&count, d);
		if (count.n == 0) {
			continue;
		}
		struct spoiler s = { .a = a, .how = count.how,
				     .at = (n->cropped * 7 + i * 5) % count.n };
		const struct hn_device *bad = spoil(&s, d);

		n->spoiled++;
		run_args_make(dag, 7, &got);
		int rc = hn_device_verify(bad, &n->gpu, LIMIT_MS, &err);
		int run_rc = hn_device_interpret(bad, got.at, n->cropped, FUEL, &run_err);

		run_args_free(&got);
		/* an element that nobody has written is another matter */
		bool unwritten = strstr(run_err.msg, "before it is written") != NULL;

		if (rc == 0 && run_rc == -HONE_E_INVALID && !unwritten) {
			snprintf(err.msg, sizeof(err.msg), "spoiled (%d, place %u), it is taken, and: %.200s",
				 (int)s.how, s.at, run_err.msg);
			fail_with(e->name, err.msg, NULL, bad);
		}
		n->taken += rc == 0;
		n->refused += rc == -HONE_E_INVALID;
		n->run_refused += rc == -HONE_E_INVALID && run_rc == -HONE_E_INVALID;
	}
}

/* Whether a block of any of its kernels has room, those of all together in it. */
static bool has_room(const struct hn_device *d, const struct hn_target *gpu)
{
	int64_t bytes[HN_N_MEMORY] = { 0 };

	for (uint32_t i = 0; i < d->n_buffer; i++) {
		const struct hn_device_buffer *b = &d->buffer[i];

		bytes[b->memory] += b->n_elem * hn_dtype_bytes((enum hn_dtype)b->dtype);
	}
	return bytes[HN_MEMORY_SHARED] <= gpu->param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] &&
	       bytes[HN_MEMORY_LOCAL] <= gpu->param[HN_PARAM_MAX_LOCAL_MEMORY_PER_BLOCK];
}

/* fits: it was drawn to have room. */
static void judge(const struct each *e, const struct hn_dag *dag, const struct hn_state *s, bool fits,
		  const struct run_args *want, struct counts *n)
{
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct run_args got;

	hn_arena_init(&a, 0);
	n->states++;
	assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
	if (hn_device_place(t, &a, &d, &err) != 0) {
		fail_with(e->name, err.msg, t, NULL);
	}
	if (!fits && !has_room(d, &n->gpu)) {
		n->no_room++;
		hn_arena_fini(&a);
		return;
	}
	int64_t start = hn_clock_ns();
	int rc = hn_device_verify(d, &n->gpu, LIMIT_MS, &err);

	if (hn_clock_ns() - start > 2000000000) {
		print_message("%s: %lld ms\n", e->name, (long long)(hn_clock_ns() - start) / 1000000);
	}
	if (rc == -HONE_E_QUOTA) {
		print_message("%s: %s\n", e->name, err.msg);
		n->undecided++;
	} else if (rc != 0) {
		fail_with(e->name, err.msg, t, d);
	}
	if (want != NULL) {
		n->cropped++;
		run_args_make(dag, 7, &got);
		rc = hn_device_interpret(d, got.at, n->cropped, FUEL, &err);
		if (rc == -HONE_E_QUOTA) {
			n->long_ones++;
		} else if (rc != 0 || !(run_difference(want, &got) <= hn_dag_tolerance(dag))) {
			fail_with(e->name, rc != 0 ? err.msg : "other numbers", t, d);
		} else {
			n->right++;
		}
		run_args_free(&got);
		judge_spoiled(e, d, dag, n, &a);
	}
	hn_arena_fini(&a);
}

static void judge_sketches(const struct each *e, const struct hn_dag *dag,
			   const struct run_args *want, struct counts *n)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_sketch_generate(dag, &n->gpu, &a, &sketches, &err), 0);
	for (uint32_t k = 0; k < sketches.n; k++) {
		struct hn_rng rng = hn_rng_stream(11, 3, k, 0);
		int made = 0;

		for (int i = 0; i < TRIES && made < (want != NULL ? CUT_FILLS : FILLS); i++) {
			const struct hn_state *s;

			if (hn_sketch_fill(&sketches.sketch[k], &n->gpu, &rng, &a, &s) ==
			    HN_VERDICT_OK) {
				judge(e, dag, s, true, want, n);
				made++;
			}
		}
		n->unfilled += made == 0;
	}
	hn_arena_fini(&a);
}

static void judge_sums(const struct each *e, const struct hn_dag *dag,
		       const struct run_args *want, struct counts *n)
{
	int made = 0;

	for (uint64_t seed = 1; seed <= TRIES && made < SUMS; seed++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_state *s = ts_state(dag, n->quick, seed, &a);

		if (s != NULL) {
			judge(e, dag, s, false, want, n);
			n->sums++;
			made++;
		}
		hn_arena_fini(&a);
	}
}

static void check(struct hn_emitter *em, const struct hn_target *host, const struct each *e,
		  void *ctx)
{
	struct counts *n = ctx;
	const struct hn_dag *few;
	struct run_args want;
	struct hn_arena a;

	(void)em;
	(void)host;
	if (e->dag->sizes != NULL) {
		return;
	}
	hn_arena_init(&a, 0);
	judge_sketches(e, e->dag, NULL, n);
	judge_sums(e, e->dag, NULL, n);
	few = each_cropped(e, &a, &want);
	if (few != NULL) {
		judge_sketches(e, few, &want, n);
		judge_sums(e, few, &want, n);
		run_args_free(&want);
	}
	hn_arena_fini(&a);
}

static void every_gpu_state_is_a_device_program(void **state)
{
	struct counts n = { .quick = hn_quick_new() };
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda", &a, &n.gpu, &err), 0);
	each_case(check, &n);
	print_message("%u states placed and shown to have no races, but %u undecided; %u of cut programs, "
		      "%u right, %u too long; %u sketches without a fill\n",
		      n.states, n.undecided, n.cropped, n.right, n.long_ones, n.unfilled);
	print_message("%u of the states: threads take a sum together, with loops over its elements "
		      "inside; %u have no room\n",
		      n.sums, n.no_room);
	print_message("%u of them spoiled: %u refused (%u by the interpreter as well), %u taken\n",
		      n.spoiled, n.refused, n.run_refused, n.taken);
	assert_true(n.run_refused > n.refused / 2);
	assert_true(n.right > n.cropped * 9 / 10);
	assert_true(n.undecided <= n.states / 100);
	assert_true(n.sums > 0 && n.no_room < n.sums / 2);
	hn_quick_free(n.quick);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gpu_state_is_a_device_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
