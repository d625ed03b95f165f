/* base_pool.c -- the pool that users link: whole loops, and what hone/pool.h says of forks,
 * nested loops, several threads, missing threads, the caller's CPU and floating-point mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hone/pool.h"

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct tally {
	_Atomic int hits[1000];
	_Atomic int busy[64];
	int n_workers;
};

static void touch(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct tally *t = closure;

	assert_true(worker >= 0 && worker < t->n_workers);
	assert_int_equal(atomic_fetch_add(&t->busy[worker], 1), 0);
	for (int64_t i = begin; i < end; i++) {
		atomic_fetch_add(&t->hits[i], 1);
	}
	atomic_fetch_sub(&t->busy[worker], 1);
}

static void runs_whole(struct hone_pool *p, int64_t n)
{
	struct tally t = { .n_workers = hone_pool_threads(p) };

	hone_pool_run(p, touch, &t, n);
	for (int64_t i = 0; i < 1000; i++) {
		assert_int_equal(t.hits[i], i < n);
	}
}

static void every_iteration_once(void **state)
{
	static const int64_t sizes[] = { -1, 0, 1, 2, 3, 7, 64, 997 };

	(void)state;
	for (int32_t workers = 1; workers <= 5; workers++) {
		struct hone_pool *p = hone_pool_create(workers);

		assert_int_equal(hone_pool_threads(p), workers);
		for (int round = 0; round < 20; round++) {
			for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
				runs_whole(p, sizes[s]);
			}
			if (round % 8 == 0) {
				/* long enough for the workers to fall asleep */
				nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
			}
		}
		hone_pool_destroy(p);
	}
}

/* Worker 1 does not go on before everything but its first part has been done. */
struct held {
	_Atomic int64_t done, n_first;
	int64_t n, deadline;
	_Atomic bool stuck;
};

static void hold_up(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct held *h = closure;

	if (worker == 1 && h->n_first == 0) {
		h->n_first = end - begin;
		while (h->done < h->n - h->n_first && !h->stuck) {
			h->stuck = now_ns() > h->deadline;
		}
	}
	atomic_fetch_add(&h->done, end - begin);
}

static void a_slow_worker_is_helped(void **state)
{
	struct hone_pool *p = hone_pool_create(2);

	(void)state;
	for (int64_t n = 3; n <= 200; n += 11) {
		struct held h = { .n = n, .deadline = now_ns() + 5000000000 };

		hone_pool_run(p, hold_up, &h, n);
		assert_false(h.stuck);
		assert_true(h.done == n && h.n_first <= (n + 3) / 4);
	}
	hone_pool_destroy(p);
}

static void add_up(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	_Atomic uint64_t *sum = closure;
	uint64_t n = (uint64_t)(end - begin);

	(void)worker;
	atomic_fetch_add(&sum[0], n);
	atomic_fetch_add(&sum[1], n * (uint64_t)(begin + end - 1)); /* twice the sum */
}

static void long_loops_are_whole(void **state)
{
	const uint64_t n = ((uint64_t)1 << 32) + 7;
	_Atomic uint64_t sum[2] = { 0 };
	struct hone_pool *p = hone_pool_create(3);

	(void)state;
	hone_pool_run(p, add_up, sum, (int64_t)n);
	assert_true(sum[0] == n && sum[1] == n * (n - 1)); /* modulo 2^64 */
	hone_pool_destroy(p);
}

static void no_pool_is_the_caller(void **state)
{
	(void)state;
	assert_int_equal(hone_pool_threads(NULL), 1);
	assert_null(hone_pool_env(NULL, 100));
	runs_whole(NULL, 10);
	hone_pool_destroy(NULL);
}

static void environments(void **state)
{
	struct hone_pool *p = hone_pool_create(2), *one = hone_pool_create(1);
	const struct hone_env *env = hone_pool_env(p, 0);
	unsigned char *at;

	(void)state;
	assert_int_equal(env->abi, HONE_KERNEL_ABI);
	assert_int_equal(env->n_workers, 2);
	assert_ptr_equal(env->ctx, p);
	assert_true(env->parallel_for == hone_pool_run);
	assert_true(env->workspace == NULL && env->workspace_bytes == 0);
	/* it grows, never shrinks, and stays where it is */
	assert_ptr_equal(hone_pool_env(p, 1000), env);
	at = env->workspace;
	assert_true((uintptr_t)at % 64 == 0 && env->workspace_bytes >= 1000);
	memset(at, 7, 1000);
	hone_pool_env(p, 10);
	assert_true(env->workspace == at && at[999] == 7);
	hone_pool_env(p, (uint64_t)1 << 20);
	assert_true(env->workspace_bytes >= (uint64_t)1 << 20);
	/* what cannot be had is not there */
	hone_pool_env(p, UINT64_MAX - 3);
	assert_true(env->workspace == NULL && env->workspace_bytes == 0);
	assert_true(hone_pool_env(one, 0)->parallel_for == NULL);
	hone_pool_destroy(p);
	hone_pool_destroy(one);
}

struct nest {
	struct hone_pool *p;
	_Atomic int inner;
};

static void inner(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct nest *n = closure;

	assert_int_equal(worker, 0);
	atomic_fetch_add(&n->inner, (int)(end - begin));
}

static void outer(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct nest *n = closure;

	(void)worker;
	for (int64_t i = begin; i < end; i++) {
		hone_pool_run(n->p, inner, n, 10);
	}
}

static void loops_inside_loops(void **state)
{
	struct nest n = { .p = hone_pool_create(3) };

	(void)state;
	hone_pool_run(n.p, outer, &n, 50);
	assert_int_equal(n.inner, 500);
	runs_whole(n.p, 100);
	hone_pool_destroy(n.p);
}

static void *many_loops(void *p)
{
	for (int i = 0; i < 2000; i++) {
		runs_whole(p, 64);
	}
	return NULL;
}

static void several_threads_at_once(void **state)
{
	struct hone_pool *p = hone_pool_create(3);
	pthread_t t[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&t[i], NULL, many_loops, p), 0);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	hone_pool_destroy(p);
}

/* Whoever takes longer is ended by the alarm. */
static int status_of_child(void (*child)(void *), void *ctx)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(20);
		child(ctx);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void use_parents(void *p)
{
	struct hone_pool *own;

	runs_whole(p, 100);
	hone_pool_destroy(p);
	own = hone_pool_create(3);
	runs_whole(own, 100);
	hone_pool_destroy(own);
}

static void after_a_fork(void **state)
{
	struct hone_pool *p = hone_pool_create(3);

	(void)state;
	runs_whole(p, 100);
	assert_int_equal(status_of_child(use_parents, p), 0);
	runs_whole(p, 100);
	hone_pool_destroy(p);
}

/* Threads that may still begin: the linker sends pthread_create here (tests/CMakeLists.txt). */
static int n_allowed = INT_MAX;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	return n_allowed-- > 0 ? __real_pthread_create(t, a, f, arg) : EAGAIN;
}

static void fewer_threads_than_asked_for(void **state)
{
	static const int allowed[] = { 0, 1, 3 };

	(void)state;
	for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
		struct hone_pool *p;

		n_allowed = allowed[i];
		p = hone_pool_create(60);
		n_allowed = INT_MAX;
		assert_non_null(p);
		assert_int_equal(hone_pool_threads(p), allowed[i] + 1); /* the caller is one */
		assert_int_equal(hone_pool_env(p, 0)->n_workers, allowed[i] + 1);
		runs_whole(p, 500);
		hone_pool_destroy(p);
	}
}

static void note_rounding(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	volatile double one = 1, little = 1e-30;
	bool *up = closure;

	(void)begin;
	(void)end;
	up[worker] = one + little > 1;
}

static void the_callers_floating_point_mode(void **state)
{
	struct hone_pool *p = hone_pool_create(3);
	bool up[3];

	(void)state;
	fesetround(FE_UPWARD);
	hone_pool_run(p, note_rounding, up, 3);
	fesetround(FE_TONEAREST);
	assert_true(up[0] && up[1] && up[2]);
	hone_pool_run(p, note_rounding, up, 3);
	assert_false(up[0] || up[1] || up[2]);
	hone_pool_destroy(p);
}

struct seat {
	int cpu[2];
	sigset_t mask[2];
};

static void note_seat(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct seat *s = closure;

	(void)begin;
	(void)end;
	s->cpu[worker] = sched_getcpu();
	pthread_sigmask(SIG_SETMASK, NULL, &s->mask[worker]);
}

/* The caller is free; a worker makes room for it; a pinning pool gives back what it took. */
static void where_threads_are(void **state)
{
	cpu_set_t before, now, one;
	struct seat seat;
	struct hone_pool *p = hone_pool_create(2);
	int cpu = 0;

	(void)state;
	if (hone_pool_cpus() < 2) {
		print_message("one processor: there is no other place for a thread\n");
		skip();
	}
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	for (int round = 0; round < 4; round++, cpu++) {
		while (!CPU_ISSET((size_t)cpu % CPU_SETSIZE, &before)) {
			cpu = (cpu + 1) % CPU_SETSIZE;
		}
		CPU_ZERO(&one);
		CPU_SET((size_t)cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
		hone_pool_run(p, note_seat, &seat, 2);
		assert_int_equal(seat.cpu[0], cpu);
		assert_int_not_equal(seat.cpu[1], cpu);
	}
	sched_setaffinity(0, sizeof before, &before);
	hone_pool_destroy(p);
	assert_int_equal(sigismember(&seat.mask[1], SIGINT), 1);
	assert_int_equal(sigismember(&seat.mask[1], SIGSEGV), 0);
	assert_int_equal(sigismember(&seat.mask[0], SIGINT), 0);

	p = hone_pool_create_with(&(struct hone_pool_options){ .n_threads = 2, .pin_caller = 1 });
	sched_getaffinity(0, sizeof now, &now);
	assert_int_equal(CPU_COUNT(&now), 1);
	hone_pool_destroy(p);
	sched_getaffinity(0, sizeof now, &now);
	assert_true(CPU_EQUAL(&now, &before));
}

static void headers_are_for_everybody(void **state)
{
	static const char *const compilers[] = {
		HONE_CC " -x c -std=c89 -pedantic-errors -Wall -Wextra -Werror",
		HONE_CC " -x c -std=c17 -pedantic-errors -Wall -Wextra -Werror",
		"c++ -x c++ -std=c++98 -Wno-long-long -Wall -Wextra -Werror",
	};
	char command[600];

	(void)state;
	for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
		snprintf(command, sizeof command,
			 "printf '#include \"hone/pool.h\"\\n"
			 "int main(void) { hone_pool_destroy(hone_pool_create(0)); return 0; }\\n'"
			 " | %s -fsyntax-only -I'%s/include' -",
			 compilers[i], HONE_SOURCE_DIR);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_iteration_once),
		cmocka_unit_test(a_slow_worker_is_helped),
		cmocka_unit_test(long_loops_are_whole),
		cmocka_unit_test(no_pool_is_the_caller),
		cmocka_unit_test(environments),
		cmocka_unit_test(loops_inside_loops),
		cmocka_unit_test(several_threads_at_once),
		cmocka_unit_test(after_a_fork),
		cmocka_unit_test(fewer_threads_than_asked_for),
		cmocka_unit_test(the_callers_floating_point_mode),
		cmocka_unit_test(where_threads_are),
		cmocka_unit_test(headers_are_for_everybody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
