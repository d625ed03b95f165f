/* Replay and bounds ask the system for no memory once an arena is warm: calls of malloc
 * and its kin are counted (the linker puts the __wrap_ functions in their place). */
#include "tests/lib/sketch_util.h"

#include <stdlib.h>

#include "loopstate/nest/bounds.h"

#define N_HISTORY 32

static uint64_t calls;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
	calls++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	calls++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	calls++;
	return __real_realloc(p, n);
}

/* Replay every history, with bounds, as a search does; the steps applied. */
static uint64_t replay_all(const struct hn_state *start, const struct hn_trace **history,
			   struct hn_arena *a)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i < N_HISTORY; i++) {
		const struct hn_state *s;
		const struct hn_bounds *b;
		struct hn_err err;

		hn_arena_reset(a);
		assert_int_equal(hn_state_replay_from(start, history[i], a, &s, &err), 0);
		assert_int_equal(hn_bounds_infer(s, a, &b, &err), 0);
		steps += history[i]->n_step;
	}
	return steps;
}

static void check(const char *text)
{
	const struct hn_trace *history[N_HISTORY];
	struct hn_arena keep, a;
	uint64_t steps = 0, before;

	hn_arena_init(&keep, 0);
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&keep, "cpu");
	const struct hn_dag *dag = dag_text(&keep, text);
	struct hn_sketches sk = sketches_of(dag, &t, &keep);
	const struct hn_state *start = hn_state_init(dag, &keep);

	for (uint32_t i = 0; i < N_HISTORY; i++) {
		struct hn_rng rng = hn_rng_stream(3, 0, 0, i);
		const struct hn_state *s;

		assert_int_equal(
			hn_sketch_fill(&sk.sketch[i % sk.n], &t, &rng, &keep, &s),
			HN_VERDICT_OK);
		history[i] = s->trace;
	}
	replay_all(start, history, &a);
	replay_all(start, history, &a);
	before = calls;
	for (int i = 0; i < 20; i++) {
		steps += replay_all(start, history, &a);
	}
	assert_true(before > 0);
	assert_true(steps > 20 * N_HISTORY);
	assert_int_equal(calls, before);
	hn_arena_fini(&a);
	hn_arena_fini(&keep);
}

static void a_warm_replay_allocates_nothing(void **state)
{
	(void)state;
	check("f(float32 A[512,512], float32 B[512,512]) -> C { C(i,j) +=! A(i,k) * "
	      "B(k,j) }");
	check("f(float32 X[1,58,58,64], W[3,3,64,64], b[64]) -> Y {"
	      " K(n,h,w,f) +=! X(n,h+r,w+s,c) * W(r,s,c,f)"
	      " Y(n,h,w,f) = max(K(n,h,w,f) + b(f), 0) }");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_warm_replay_allocates_nothing),
	};

	return cmocka_run_group_tests_name("sketch alloc", tests, NULL, NULL);
}
