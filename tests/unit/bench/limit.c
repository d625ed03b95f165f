/* The bench's limits: the stream writes every byte and reads every page it stands for,
 * exponentials are counted where they are, instructions for narrow products are as fast as they
 * can be, and the roofline is the slowest of what a case
 * needs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/limit.h"
#include "bench/tally.h"
#include "loopstate/read/dag_read.h"
#include "measure/board/probe.h"

#define THREADS 2

/* main.c's, which is not linked here: no row is printed. */
void hn_bench_row(const char *name, double value, const char *unit, const char *context)
{
	(void)name;
	(void)value;
	(void)unit;
	(void)context;
}

static const struct hn_suite_row *row_of(const char *name)
{
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (strcmp(hn_suite[i].name, name) == 0) {
			return &hn_suite[i];
		}
	}
	fail_msg("no case %s", name);
	return NULL;
}

static const struct hn_dag *parsed(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };

	if (hn_dag_parse("case", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static const struct hn_dag *dag_of(const char *name, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_buf text;

	hn_buf_init(&text);
	hn_suite_text(row_of(name), &text);
	dag = parsed(text.s, a);
	hn_buf_fini(&text);
	return dag;
}

static void open_stream(const struct hn_dag *dag, struct hn_arena *a,
			struct hn_contest *ret)
{
	struct hn_err err = { 0 };

	*ret = (struct hn_contest){ .dag = dag, .n_threads = THREADS };
	ret->arg = HN_NEW_ARRAY(a, void *, dag->n_arg);
	assert_int_equal(hn_kernel_pool_new(THREADS, NULL, NULL, &ret->pool, &err), 0);
	hn_limit_stream(ret);
}

static void check_written(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_contest t;

	open_stream(dag, a, &t);
	const struct hn_contender *c = &t.contender[0];
	unsigned char *written = (unsigned char *)(uintptr_t)c->range[1].at;

	assert_int_equal(t.n, 1);
	assert_true(c->limit);
	/* whole lines of the arguments, none of them missing */
	assert_true(c->range[0].bytes + c->range[1].bytes <= hn_contest_bytes(&t));
	assert_true(c->range[0].bytes + c->range[1].bytes + 64 * dag->n_arg >
		    hn_contest_bytes(&t));
	memset(written, 0xa5, c->range[1].bytes);
	c->call(c->ctx);
	for (size_t k = 0; k < c->range[1].bytes; k++) {
		assert_int_not_equal(written[k], 0xa5);
	}
	c->close(c->ctx);
	hone_pool_destroy(t.pool);
}

/* A page of what is read that may not be: whoever reads all dies of it. */
static void check_read(const struct hn_dag *dag, struct hn_arena *a, bool last)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct hn_contest t;
	int status;
	pid_t pid = fork(); /* before there are threads */

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL); /* cmocka catches it */
		open_stream(dag, a, &t);
		const struct hn_contender *c = &t.contender[0];
		char *at = (char *)(uintptr_t)c->range[0].at;
		size_t n = c->range[0].bytes / page;

		if (n == 0 ||
		    mprotect(at + (last ? n - 1 : 0) * page, page, PROT_NONE) != 0) {
			_exit(1);
		}
		c->call(c->ctx);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV) {
		fail_msg("%s page of %s is not read (status %x)", last ? "last" : "first",
			 dag->op[dag->n_op - 1]->name, (unsigned)status);
	}
}

/* Ratios of 0, 1, a half, a quarter, none of these, and fewer lines than a step has; and
 * more written than read, which no case of the suite does. */
static void test_stream_covers(void **state)
{
	static const char *const names[] = { "nrm-b1-0",   "softmax-0",	  "odd-addrelu",
					     "dep-b1-1",   "resnet50-28", "odd-depthwise",
					     "resnet50-26" };
	static const char *const texts[] = {
		"f(float32 A[5000]) -> B { B(i,j) = A(i) * 2.0 where j in 0:7 }",
		"f(float32 A[5003]) -> B { B(i,j) = A(i) * 2.0 where j in 0:20 }",
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(names); i++) {
		check_written(dag_of(names[i], &a), &a);
	}
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		check_written(parsed(texts[i], &a), &a);
		check_read(parsed(texts[i], &a), &a, /* last= */ true);
		check_read(parsed(texts[i], &a), &a, /* last= */ false);
	}
	check_read(dag_of("softmax-0", &a), &a, /* last= */ true);
	check_read(dag_of("dep-b1-1", &a), &a, /* last= */ true);
	check_read(dag_of("dep-b1-1", &a), &a, /* last= */ false);
	hn_arena_fini(&a);
}

static void test_exponentials(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(hn_limit_count_exp(dag_of("softmax-0", &a)) == 128 * 1000);
	assert_true(hn_limit_count_exp(dag_of("bert-layernorm", &a)) == 0);
	assert_true(hn_limit_count_exp(parsed("f(float32 x[6,37]) -> s {"
					      " s(i) +=! exp(x(i,k)) * exp(x(i,0)) }",
					      &a)) == 2 * 6 * 37);
	hn_arena_fini(&a);
}

static void test_roofline(void **state)
{
	struct hn_contest t = { .n = 4 };
	struct hn_race_result r[4] = { { 3, { 10, 20, 40 } },
				       { 3, { 4, 8, 16 } },
				       { 3, { 3, 6, 12 } },
				       { 3, { 9, 18, 36 } } };
	const char *limit;

	(void)state;
	t.contender[1] = (struct hn_contender){ .name = "limit-fma",
						.limit = true,
						.amount = 0.5 };
	t.contender[2] = (struct hn_contender){ .name = "limit-read",
						.limit = true,
						.amount = 1 };
	t.contender[3] = (struct hn_contender){ .name = "limit-stream",
						.limit = true,
						.amount = 1 };
	assert_float_equal(hn_tally_share(&t, r, hn_tally_reading, &limit), 0.3, 1e-9);
	assert_string_equal(limit, "read");
	assert_float_equal(hn_tally_share(&t, r, hn_tally_roofline, &limit), 0.9, 1e-9);
	assert_string_equal(limit, "stream");
	t.contender[1].amount = 3;
	assert_float_equal(hn_tally_share(&t, r, hn_tally_roofline, &limit), 1.2, 1e-9);
	assert_string_equal(limit, "fma");
}

/* The least ns of a few calls. */
static double least_ns(const struct hn_contender *c)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 40; i++) {
		int64_t begin = hn_clock_ns(), ns;

		c->call(c->ctx);
		ns = hn_clock_ns() - begin;
		least = ns < least ? ns : least;
	}
	return (double)least;
}

/* Where there is an instruction for narrow products, it does what a case needs in less time than
 * multiply-adds of float32 do, and not in none. */
static void test_dots(void **state)
{
	static const enum hn_suite_type types[] = { HN_SUITE_BF16, HN_SUITE_U8S8 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(types); i++) {
		struct hn_suite_row row = { .name = "x",
					    .class = HN_SUITE_product,
					    .p = { 64, 64, 64 },
					    .type = types[i] };
		struct hn_arena a;
		struct hn_contest t = { .row = &row, .n_threads = 1 };
		struct hn_err err = { 0 };

		hn_arena_init(&a, 0);
		t.dag = parsed("f(float32 A[5]) -> B { B(i) = A(i) * 2.0 }", &a);
		t.arg = HN_NEW_ARRAY(&a, void *, t.dag->n_arg);
		assert_int_equal(hn_kernel_pool_new(1, NULL, NULL, &t.pool, &err), 0);
		if (hn_limit_dot(&t, /* tiles= */ true)) {
			const struct hn_contender *c = &t.contender[t.n - 1];
			double fma = hn_probe_fma_try(t.pool, 1), gops;

			assert_true(c->limit);
			gops = hn_suite_useful_flops(&row) / (least_ns(c) * c->amount);
			print_message("%s: %.0f GOP/s, float32 %.0f\n", c->name, gops, fma);
			assert_true(gops > fma && gops < 100 * fma);
		} else {
			print_message("no instruction for type %d here\n", (int)types[i]);
		}
		hn_contest_close(&t);
		hone_pool_destroy(t.pool);
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_covers),
		cmocka_unit_test(test_exponentials),
		cmocka_unit_test(test_roofline),
		cmocka_unit_test(test_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
