/* bench/zero.c -- how long `hone tune --trials 0` takes to answer: reading, choosing, proving.
 *
 * A row for the workloads together, median and longest, and one for each of the long dags made
 * here, which are what real ones are made of, only more of it. Each is answered REPEATS times, and the
 * least counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "client/auto.h"

#define REPEATS 3

/* A dag of n alike parts, part i made of part i - 1. */
struct shape {
	const char *name;
	const char *input;  /* of all */
	const char *weight; /* of part i; may use @ */
	const char *part;   /* statements: @ is i, ^ is i - 1 */
	uint32_t n[2];	    /* two lengths: does it grow as the dag does? */
};

static const struct shape shapes[] = {
	{ "elementwise", "Y0[256,256]", "",
	  " Y@(i,j) = max(Y^(i,j) * 1.01 + 0.5, Y^(i,j))", { 64, 128 } },
	{ "stencil", "Y0[1024,1024]", "",
	  " Y@(i,j) = Y^(i+1,j) + Y^(i+2,j) + Y^(i+3,j)", { 64, 128 } },
	{ "products", "Y0[64,64]", ", W@[64,64]", " Y@(i,j) +=! Y^(i,k) * W@(k,j)", { 64, 128 } },
	{ "residual", "Y0[128,128]", ", const W@[128,128], B@[128]",
	  " T@(i,j) +=! Y^(i,k) * W@(k,j) Y@(i,j) = Y^(i,j) + max(T@(i,j) + B@(j), 0)",
	  { 32, 64 } },
	{ "convolutions", "Y0[1,14,14,32]", ", const W@[3,3,32,32]",
	  " P@(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? Y^(n,h-1,w-1,c) : 0"
	  " where h in 0:16, w in 0:16"
	  " C@(n,h,w,f) +=! P@(n,h+r,w+t,c) * W@(r,t,c,f) where h in 0:14, w in 0:14"
	  " Y@(n,h,w,f) = max(C@(n,h,w,f) + Y^(n,h,w,f), 0)",
	  { 16, 43 } },
	{ "softmax", "Y0[512,512]", "",
	  " m@(i) max=! Y^(i,k) e@(i,j) = exp(Y^(i,j) - m@(i)) s@(i) +=! e@(i,k)"
	  " Y@(i,j) = e@(i,j) / s@(i)",
	  { 16, 32 } },
	{ "sums", "Y0[256,256]", "",
	  " r@(i) +=! Y^(i,j) Z@(i,j) = Y^(i,j) - r@(i) q@(j) +=! Z@(i,j) Y@(i,j) = Z@(i,j) - q@(j)",
	  { 16, 32 } },
};

static void put(const char *text, uint32_t i, struct hn_buf *b)
{
	for (; *text; text++) {
		if (*text == '@' || *text == '^') {
			hn_buf_printf(b, "%u", i - (*text == '^'));
		} else {
			hn_buf_putc(b, *text);
		}
	}
}

static void write_shape(const struct shape *s, uint32_t n, struct hn_buf *b)
{
	hn_buf_printf(b, "f(float32 %s", s->input);
	for (uint32_t i = 1; i <= n; i++) {
		put(s->weight, i, b);
	}
	hn_buf_printf(b, ") -> Y%u {\n", n);
	for (uint32_t i = 1; i <= n; i++) {
		put(s->part, i, b);
		hn_buf_putc(b, '\n');
	}
	hn_buf_puts(b, "}\n");
}

struct answer {
	double ms;
	bool proved;
	uint32_t n_op, choices;
};

static int answer_once(const struct hn_opts *o, struct answer *ret)
{
	int64_t start = hn_clock_ns();
	struct hn_answers all;
	struct hn_err err = { 0 };
	struct hn_input in;
	struct hn_best best;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_input_read(o, &a, &in, &err);

	rc = rc ? rc : hn_auto_find(o, &in, &a, &best, &all, &err);
	if (rc == 0) {
		double ms = (double)(hn_clock_ns() - start) * 1e-6;

		*ret = (struct answer){ ms, best.entry.best.proved, in.dag->n_op, all.n };
		hn_best_close(&best);
	} else {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	hn_arena_fini(&a);
	return rc;
}

static int answer(const struct hn_opts *o, struct answer *ret)
{
	int rc = answer_once(o, ret);

	for (int i = 1; i < REPEATS && rc == 0; i++) {
		struct answer again;

		rc = answer_once(o, &again);
		ret->ms = rc == 0 && again.ms < ret->ms ? again.ms : ret->ms;
	}
	return rc;
}

static int run_shape(const struct shape *s, uint32_t n)
{
	char name[64], context[160];
	struct answer x;
	struct hn_buf b;

	hn_buf_init(&b);
	write_shape(s, n, &b);
	const struct hn_opts o = { .text = b.s };
	int rc = answer(&o, &x);

	hn_buf_fini(&b);
	if (rc == 0) {
		snprintf(name, sizeof(name), "zero.%s-%u", s->name, n);
		snprintf(context, sizeof(context),
			 "\"ops\": %u, \"choices\": %u, \"proved\": %s", x.n_op, x.choices,
			 x.proved ? "true" : "false");
		hn_bench_row(name, x.ms, "ms", context);
	}
	return rc;
}

static int by_ms(const void *x, const void *y)
{
	double p = ((const struct answer *)x)->ms, q = ((const struct answer *)y)->ms;

	return (p > q) - (p < q);
}

static int run_workloads(const struct hn_bench_case *item, uint32_t n, struct hn_arena *a)
{
	struct answer *x = HN_NEW_ARRAY(a, struct answer, n);
	uint32_t n_proved = 0;
	char context[160];

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_opts o = { .arg = item[i].name };

		if (answer(&o, &x[i]) != 0) {
			return 1;
		}
		n_proved += x[i].proved;
	}
	qsort(x, n, sizeof(*x), by_ms);
	snprintf(context, sizeof(context),
		 "\"cases\": %u, \"proved\": %u, \"longest_ms\": %.1f", n, n_proved, x[n - 1].ms);
	hn_bench_row("zero.workloads", x[n / 2].ms, "ms", context);
	return 0;
}

int hn_bench_zero(const struct hn_bench_args *args);

int hn_bench_zero(const struct hn_bench_args *args)
{
	struct hn_bench_case *item;
	struct hn_arena a;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	int status = hn_bench_suite(args, &a, &n, &item) == 0 ? run_workloads(item, n, &a) : 1;

	for (size_t i = 0; status == 0 && args->argc == 0 && i < HN_COUNT_OF(shapes); i++) {
		for (size_t k = 0; status == 0 && k < HN_COUNT_OF(shapes[i].n); k++) {
			status = run_shape(&shapes[i], shapes[i].n[k]) != 0;
		}
	}
	hn_arena_fini(&a);
	return status;
}
