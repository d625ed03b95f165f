/* bench/tally.c -- see tally.h. */
#include "bench/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "measure/stats.h"

const char *const hn_tally_reading[] = { "limit-fma", "limit-read", NULL };
const char *const hn_tally_roofline[] = { "limit-fma", "limit-stream", "limit-exp",
					  NULL };

static bool among(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0) {
		names++;
	}
	return *names != NULL;
}

double hn_tally_share(const struct hn_contest *t, const struct hn_race_result *r,
		      const char *const *limits, const char **ret_limit)
{
	double q[HN_RACE_MAX_ROUND], sum[HN_RACE_MAX_CONTENDER] = { 0 };
	uint32_t slowest = 0;

	for (uint32_t i = 0; i < r->n_round; i++) {
		q[i] = 0;
		for (uint32_t c = 1; c < t->n; c++) {
			if (t->contender[c].limit &&
			    among(limits, t->contender[c].name)) {
				double ns = r[c].ns[i] * t->contender[c].amount;

				q[i] = fmax(q[i], ns / r->ns[i]);
				sum[c] += ns;
			}
		}
	}
	for (uint32_t c = 1; c < t->n; c++) {
		slowest = sum[c] > sum[slowest] ? c : slowest;
	}
	*ret_limit = slowest > 0 ? t->contender[slowest].name + strlen("limit-") : "";
	return hn_stats_median(q, r->n_round);
}

void hn_tally_add(struct hn_tally *t, const struct hn_tally_entry *entry)
{
	t->entry = realloc(t->entry, (t->n + 1) * sizeof(*entry));
	hn_assert(t->entry != NULL);
	t->entry[t->n++] = *entry;
}

static size_t class_length(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash != NULL ? (size_t)(dash - name) : strlen(name);
}

static bool same_class(const char *x, const char *y)
{
	size_t n = class_length(x);

	return n == class_length(y) && strncmp(x, y, n) == 0;
}

/* What the schedules by rule reached of hone's speed, and the case where hone lost most to its
 * own rule: above 1 the schedule is the slower. */
static void print_own(const struct hn_tally *t, const char *like, char *text,
		      size_t text_bytes)
{
	double sum = 0, least = INFINITY, most = 0;
	const char *worst = "", *lost = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_tally_entry *e = &t->entry[i];

		if (e->own <= 0 || (like != NULL && !same_class(e->name, like))) {
			continue;
		}
		n++;
		sum += log(e->own);
		worst = e->own < least ? e->name : worst;
		least = fmin(least, e->own);
		lost = e->own > most ? e->name : lost;
		most = fmax(most, e->own);
	}
	if (n > 0) {
		snprintf(text, text_bytes,
			 "\"%s\": %.3f, \"least\": %.3f, \"least_case\": \"%s\", "
			 "\"most\": %.3f, \"most_case\": \"%s\", ",
			 t->own, exp(sum / n), least, worst, most, lost);
	}
}

/* Geometric means over the entries of `like`'s class; like NULL: over all. */
static void print_class(const struct hn_tally *t, const char *like, const char *context)
{
	double ratio = 0, share = 0, roofline = 0, least = INFINITY;
	const char *worst = "";
	uint32_t n = 0, n_ratio = 0;
	char text[800], versus[200] = "", own[300] = "";

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_tally_entry *e = &t->entry[i];

		if (like != NULL && !same_class(e->name, like)) {
			continue;
		}
		n++;
		share += log(e->share);
		roofline += log(e->roofline);
		if (isfinite(e->ratio)) {
			n_ratio++;
			ratio += log(e->ratio);
		}
		if (e->ratio < least) {
			least = e->ratio;
			worst = e->name;
		}
	}
	if (n_ratio > 0) {
		snprintf(versus, sizeof(versus), "\"min\": %.3f, \"min_case\": \"%s\", ",
			 least, worst);
	}
	print_own(t, like, own, sizeof(own));
	snprintf(text, sizeof(text),
		 "\"class\": \"%.*s\", \"cases\": %u, \"share\": %.3f, "
		 "\"roofline\": %.3f, %s%s%s",
		 like != NULL ? (int)class_length(like) : 3, like != NULL ? like : "all",
		 n, exp(share / n), exp(roofline / n), versus, own, context);
	if (n_ratio > 0) {
		hn_bench_row("kernels.summary", exp(ratio / n_ratio),
			     "x of the best peer", text);
	} else {
		hn_bench_row("kernels.summary", exp(share / n), "of the limit", text);
	}
}

static void print_odd(const struct hn_tally *t, const char *context)
{
	char text[300];

	for (uint32_t i = 0; i < t->n; i++) {
		for (uint32_t k = 0; k < t->n; k++) {
			const struct hn_tally_entry *odd = &t->entry[i];
			const struct hn_tally_entry *even = &t->entry[k];

			if (strncmp(odd->name, "odd-", 4) == 0 &&
			    strncmp(even->name, "even-", 5) == 0 &&
			    strcmp(odd->name + 4, even->name + 5) == 0) {
				snprintf(text, sizeof(text), "\"case\": \"%s\", %s",
					 odd->name, context);
				hn_bench_row("kernels.odd", odd->roofline / even->roofline,
					     "of the even neighbour's share", text);
			}
		}
	}
}

void hn_tally_summary(const struct hn_tally *t, const char *context)
{
	print_odd(t, context);
	for (uint32_t i = 0; i < t->n; i++) {
		bool seen = false;

		for (uint32_t k = 0; k < i && !seen; k++) {
			seen = same_class(t->entry[k].name, t->entry[i].name);
		}
		if (!seen) {
			print_class(t, t->entry[i].name, context);
		}
	}
	if (t->n > 0) {
		print_class(t, NULL, context);
	}
}
