/* bench/npu_published.c -- the simulated NPU beside the published times of the machine that it is
 * like: in which order it puts them, and how far off it is. */
#include <stdio.h>

#include "bench/bench.h"
#include "bench/npu.h"

static void summary(const char *what, const char *profile, const double *cycles, const double *published,
		    size_t n)
{
	char context[160];

	snprintf(context, sizeof(context), "\"cases\": \"%s\", \"profile\": \"%s\", \"n\": %zu", what, profile, n);
	hn_bench_row("npu", hn_npu_spearman(cycles, published, n), "rank correlation with published times",
		     context);
	hn_bench_row("npu", hn_npu_median_off(cycles, published, n), "median of |log2| of the ratios", context);
}

int hn_bench_npu_published(const struct hn_npu_profile *m, struct hn_err *err)
{
	double cycles[HN_NPU_MOST_CASES], published[HN_NPU_MOST_CASES], halves[HN_NPU_MOST_CASES];
	struct hn_npu_case c[HN_NPU_MOST_CASES];
	struct hn_arena a;
	char context[240];
	size_t n, first = 0;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_cases(m, &a, c, &n, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = hn_npu_case_cycles(&c[i], c[i].p, m, &cycles[i], err);
		published[i] = c[i].published;
		halves[i] = c[i].halves;
		snprintf(context, sizeof(context), "\"case\": \"%.79s\", \"profile\": \"%.20s\", \"cycles\": %.0f, "
			 "\"published\": %.0f", c[i].name, m->name, cycles[i], published[i]);
		hn_bench_row("npu", cycles[i] / published[i], "of the published time", context);
		if (rc == 0 && (i + 1 == n || c[i + 1].class != c[i].class)) {
			summary(hn_npu_class_name[c[i].class], m->name, cycles + first, published + first,
				i + 1 - first);
			if (c[i].class == HN_NPU_CONVOLUTION) {
				summary("convolutions on one core, sums of float16", m->name, cycles + first,
					halves + first, i + 1 - first);
			}
			first = i + 1;
		}
	}
	hn_arena_fini(&a);
	return rc;
}
