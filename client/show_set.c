/* client/show_set.c -- a set on the terminal: a line while it runs, a table at the end. */
#include "client/show.h"

static const char *time_of(const struct hn_json *v, const char *key, char text[32])
{
	double ns = hn_show_number(v, key);

	return ns > 0 ? hn_show_time(ns, text) : "-";
}

/* Where both are known: a naive time may be none (a machine that has no program for it). */
static void put_ratio(double naive, double best, struct hn_buf *b)
{
	if (best > 0 && naive > 0) {
		hn_buf_printf(b, " %8.1fx", naive / best);
	} else {
		hn_buf_printf(b, " %9s", "-");
	}
}

void hn_show_set_line(const struct hn_json *set, struct hn_buf *b)
{
	double best = hn_show_number(set, "best_ns"),
	       naive = hn_show_number(set, "naive_ns");
	char t[32];

	hn_buf_printf(b, "%u tasks: %s  ", hn_json_count(hn_json_get(set, "tasks")),
		      hn_show_word(set, "state"));
	hn_show_clock(set, b);
	if (best > 0) {
		hn_buf_printf(b, "  weighted sum %s", hn_show_time(best, t));
		if (naive > 0) {
			hn_buf_printf(b, "  %.1fx", naive / best);
		}
		hn_buf_printf(b, "  next round %.2f %%", hn_show_number(set, "expected_gain"));
	}
}

static void put_task(const struct hn_json *task, double sum, struct hn_buf *b)
{
	const struct hn_json *job = hn_json_get(task, "job");
	double naive = hn_show_number(job, "naive_ns"),
	       best = hn_show_number(job, "best_ns");
	double weight = hn_show_number(task, "weight");
	const char *state = hn_show_word(job, "state");
	char t[3][32];

	hn_buf_printf(b, "  %8g %7.0f %7.0f %11s %11s %11s", weight,
		      hn_show_number(task, "rounds"), hn_show_number(job, "trials"),
		      time_of(job, "naive_ns", t[0]), time_of(job, "guard_ns", t[1]),
		      time_of(job, "best_ns", t[2]));
	put_ratio(naive, best, b);
	if (best > 0 && sum > 0) {
		hn_buf_printf(b, " %5.1f %%", 100 * weight * best / sum);
	} else {
		hn_buf_printf(b, " %7s", "-");
	}
	hn_buf_printf(b, "  %s%s%s%s\n", hn_show_word(job, "name"),
		      hn_show_cache(hn_show_word(job, "cache")),
		      state[0] == 'd' && state[1] == 'o' ? "" : "  ",
		      state[0] == 'd' && state[1] == 'o' ? "" : state);
}

/* A task without a naive time though there is a best one: so the sum has none. */
static bool lacks_naive(const struct hn_json *tasks)
{
	for (const struct hn_json *task = hn_json_first(tasks); task != NULL; task = hn_json_next(task)) {
		const struct hn_json *job = hn_json_get(task, "job");

		if (hn_show_number(job, "best_ns") > 0 && hn_show_number(job, "naive_ns") <= 0) {
			return true;
		}
	}
	return false;
}

void hn_show_set_table(const struct hn_json *set, struct hn_buf *b)
{
	double best = hn_show_number(set, "best_ns"),
	       naive = hn_show_number(set, "naive_ns");
	const struct hn_json *tasks = hn_json_get(set, "tasks");
	char t[2][32];

	hn_buf_printf(b, "set %s: %s, %u tasks, %s\n", hn_show_word(set, "set"),
		      hn_show_word(set, "state"), hn_json_count(tasks),
		      hn_show_word(set, "strategy"));
	hn_buf_printf(b, "  %8s %7s %7s %11s %11s %11s %9s %7s  %s\n", "weight", "rounds",
		      "trials", "naive", "heuristic", "tuned", "faster", "share", "task");
	for (const struct hn_json *task = hn_json_first(tasks); task != NULL;
	     task = hn_json_next(task)) {
		put_task(task, best, b);
	}
	hn_buf_printf(b, "  %8s %7s %7.0f %11s %11s %11s", "sum", "",
		      hn_show_number(set, "trials"), time_of(set, "naive_ns", t[0]), "",
		      time_of(set, "best_ns", t[1]));
	put_ratio(naive, best, b);
	hn_buf_printf(
		b,
		"\n  %.0f trials in %.1f s, %.0f from the store; another round would "
		"be expected to gain %.2g %%\n",
		hn_show_number(set, "trials"), hn_show_number(set, "elapsed_ms") / 1000,
		hn_show_number(set, "warm"), hn_show_number(set, "expected_gain"));
	if (lacks_naive(tasks)) {
		hn_buf_puts(b, "  naive -: as written it has no program there, or too long a one\n");
	}
	if (*hn_show_word(set, "message") != '\0') {
		hn_buf_printf(b, "  note  %s\n", hn_show_word(set, "message"));
	}
}
