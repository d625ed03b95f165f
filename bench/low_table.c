/* bench/low_table.c -- see low_table.h. */
#include "bench/low_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cdefs.h"
#include "bench/bench.h"

/* A number of the table, or a dash for what is not known. */
static const char *cell(double v, int digits, char text[20])
{
	if (v > 0) {
		snprintf(text, 20, "%.*f", digits, v);
	} else {
		strcpy(text, "-");
	}
	return text;
}

static void print_head(void)
{
	fprintf(stderr, "%-36s %9s %-12s %9s %-6s %9s %9s %9s %8s %8s\n", "case",
		"peer GOPS", "by", "hone GOPS", "by", "auto GOPS", "hone/peer",
		"auto/peer", "of peak", "peer's");
}

static void print_line(const struct hn_low_line *l, int name_bytes)
{
	char text[7][20];

	fprintf(stderr, "%-36.*s %9s %-12s %9s %-6s %9s %9s %9s %8s %8s\n", name_bytes,
		l->name, cell(l->peer_gops, 1, text[0]), l->peer,
		cell(l->gops, 1, text[1]), l->by, cell(l->auto_gops, 1, text[2]),
		cell(l->ratio, 3, text[3]), cell(l->auto_ratio, 3, text[4]),
		cell(l->peak, 3, text[5]), cell(l->peer_peak, 3, text[6]));
}

void hn_low_add(struct hn_low_table *t, const struct hn_low_line *line, int32_t threads)
{
	char context[300];

	t->line = realloc(t->line, (t->n + 1) * sizeof(*line));
	hn_assert(t->line != NULL);
	t->line[t->n++] = *line;
	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"threads\": %d, \"by\": \"%s\", \"peer\": \"%s\"",
		 line->name, threads, line->by, line->peer);
	if (line->ratio > 0) {
		hn_bench_row("low.ratio", line->ratio, "x of the best peer", context);
	}
	if (line->auto_ratio > 0) {
		hn_bench_row("low.auto", line->auto_ratio, "x of the best peer", context);
	}
	if (line->other > 0) {
		hn_bench_row("low.other", line->other, "x of the other log's", context);
	}
	if (line->peak > 0) {
		snprintf(context, sizeof(context),
			 "\"case\": \"%s\", \"threads\": %d, \"instruction\": \"%s\", "
			 "\"peer\": %.3f",
			 line->name, threads, line->limit, line->peer_peak);
		hn_bench_row("low.peak", line->peak, "of the peak", context);
	}
	if (t->n == 1) {
		print_head();
	}
	print_line(line, (int)strlen(line->name));
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

struct mean {
	double log;
	uint32_t n;
};

static void add(struct mean *m, double v)
{
	if (v > 0) {
		m->log += log(v);
		m->n++;
	}
}

static double mean(const struct mean *m)
{
	return m->n > 0 ? exp(m->log / m->n) : 0;
}

/* Over the class of `like`; NULL: over all. */
static void print_class(const struct hn_low_table *t, const char *like, int32_t threads)
{
	struct mean ratio = { 0 }, own = { 0 }, peak = { 0 }, peer_peak = { 0 };
	struct hn_low_line line = { .name = like != NULL ? like : "all",
				    .by = "",
				    .peer = "geomean" };
	double least = INFINITY;
	const char *worst = "";
	char context[400];
	int bytes = like != NULL ? (int)class_length(like) : 3;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct hn_low_line *l = &t->line[i];

		if (like != NULL && !same_class(l->name, like)) {
			continue;
		}
		add(&ratio, l->ratio);
		add(&own, l->auto_ratio);
		add(&peak, l->peak);
		add(&peer_peak, l->peer_peak);
		if (l->ratio > 0 && l->ratio < least) {
			least = l->ratio;
			worst = l->name;
		}
	}
	line.ratio = mean(&ratio);
	line.auto_ratio = mean(&own);
	line.peak = mean(&peak);
	line.peer_peak = mean(&peer_peak);
	print_line(&line, bytes);
	if (ratio.n == 0 && peak.n > 0) { /* built without peers */
		snprintf(context, sizeof(context),
			 "\"class\": \"%.*s\", \"cases\": %u, \"threads\": %d", bytes,
			 line.name, peak.n, threads);
		hn_bench_row("low.summary", line.peak, "of the peak", context);
	} else if (ratio.n > 0) {
		snprintf(context, sizeof(context),
			 "\"class\": \"%.*s\", \"cases\": %u, \"threads\": %d, "
			 "\"auto\": %.3f, \"peak\": %.3f, \"peer_peak\": %.3f, \"min\": "
			 "%.3f, "
			 "\"min_case\": \"%s\"",
			 bytes, line.name, ratio.n, threads, line.auto_ratio, line.peak,
			 line.peer_peak, least, worst);
		hn_bench_row("low.summary", line.ratio, "x of the best peer", context);
	}
}

void hn_low_summary(const struct hn_low_table *t, int32_t threads)
{
	for (uint32_t i = 0; i < t->n; i++) {
		bool seen = false;

		for (uint32_t k = 0; k < i && !seen; k++) {
			seen = same_class(t->line[k].name, t->line[i].name);
		}
		if (!seen) {
			print_class(t, t->line[i].name, threads);
		}
	}
	if (t->n > 0) {
		print_class(t, NULL, threads);
	}
}
