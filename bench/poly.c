/* bench/poly.c -- what the polyhedral view of a computation costs: the parts of `hone poly`
 * for its plain loops.
 *
 * A row a part over all workloads: median, and the longest with its name.  Each part makes the
 * model anew, is made REPEATS times, and the least counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/workload.h"
#include "lower/prove/poly_show.h"

#define LIMIT_MS 2000
#define REPEATS 3

static const char *const parts[] = { "statements", "dependences", "schedule", "ast",
				     "legality" };

struct cost {
	const char *name;
	double ms;
};

/* Milliseconds, or -1 when isl ran out of time. */
static double show_ms(const struct hn_looptree *tree, const char *part)
{
	int64_t start = hn_clock_ns();
	struct hn_err err = { 0 };
	struct hn_buf text;

	hn_buf_init(&text);
	int rc = hn_poly_show(tree, part, LIMIT_MS, &text, &err);
	double ms = (double)(hn_clock_ns() - start) * 1e-6;

	if (rc != 0 || strstr(text.s, "ran out of time")) {
		ms = -1;
	}
	hn_buf_fini(&text);
	return ms;
}

static double least_ms(const struct hn_looptree *tree, const char *part)
{
	double least = show_ms(tree, part);

	for (int i = 1; i < REPEATS && least >= 0; i++) {
		double ms = show_ms(tree, part);

		least = ms < least ? ms : least;
	}
	return least;
}

static int by_ms(const void *x, const void *y)
{
	double p = ((const struct cost *)x)->ms, q = ((const struct cost *)y)->ms;

	return (p > q) - (p < q);
}

static void print_row(const char *part, struct cost *cost, uint32_t n)
{
	uint32_t n_slow = 0;
	char name[40], context[300];

	qsort(cost, n, sizeof(*cost), by_ms); /* what ran out of time comes first */
	while (n_slow < n && cost[n_slow].ms < 0) {
		n_slow++;
	}
	if (n_slow == n) {
		return;
	}
	snprintf(name, sizeof(name), "poly.%s", part);
	snprintf(context, sizeof(context),
		 "\"cases\": %u, \"out_of_time\": %u, \"longest_ms\": %.2f, \"longest\": "
		 "\"%s\"",
		 n, n_slow, cost[n - 1].ms, cost[n - 1].name);
	hn_bench_row(name, cost[n_slow + (n - n_slow) / 2].ms, "ms", context);
}

int hn_bench_poly(const struct hn_bench_args *args);

int hn_bench_poly(const struct hn_bench_args *args)
{
	const struct hn_looptree **tree;
	struct hn_bench_case *item;
	struct hn_err err = { 0 };
	struct hn_arena a;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	int status = hn_bench_suite(args, &a, &n, &item) == 0 ? 0 : 1;
	struct cost *cost = HN_NEW_ARRAY(&a, struct cost, n);

	tree = HN_NEW_ARRAY(&a, const struct hn_looptree *, n);
	for (uint32_t i = 0; status == 0 && i < n; i++) {
		if (hn_looptree_build(hn_state_init(item[i].dag, &a), &a, &tree[i],
				      &err)) {
			fprintf(stderr, "hone-bench: %s: %s\n", item[i].name, err.msg);
			status = 1;
		}
	}
	for (size_t p = 0; status == 0 && p < HN_COUNT_OF(parts); p++) {
		for (uint32_t i = 0; i < n; i++) {
			cost[i] = (struct cost){ item[i].name,
						 least_ms(tree[i], parts[p]) };
		}
		print_row(parts[p], cost, n);
	}
	hn_arena_fini(&a);
	return status;
}
