/* client/show.c -- see show.h. Plain ANSI. It obeys COLUMNS, and prints plain lines where there
 * is no terminal. */
#include "client/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/target.h"

#define TTY_NS 100000000
#define PLAIN_NS 5000000000

void hn_show_init(struct hn_show *s, bool quiet)
{
	const char *term = getenv("TERM");

	*s = (struct hn_show){ .quiet = quiet };
	s->tty = isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
}

int hn_show_columns(int fd)
{
	const char *env = getenv("COLUMNS");
	struct winsize w;

	if (env != NULL && atoi(env) > 20) {
		return atoi(env);
	}
	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

/* One line of progress: the terminal's last, written over, or one more. */
static void put_out(struct hn_show *s, const char *line)
{
	if (s->tty) {
		fprintf(stderr, "\r%.*s\033[K", hn_show_columns(STDERR_FILENO) - 1, line);
		s->line_open = true;
	} else {
		fprintf(stderr, "%s\n", line);
	}
	fflush(stderr);
}

void hn_show_begin(struct hn_show *s, const char *what)
{
	struct hn_buf b;

	if (!s->quiet && s->tty) { /* a refusal shall be one line in a file */
		hn_buf_init(&b);
		hn_buf_printf(&b, "%s: starting", what);
		put_out(s, b.s);
		hn_buf_fini(&b);
	}
}

static int64_t put_failures(const struct hn_json *job, struct hn_buf *b)
{
	const struct hn_json *all = hn_json_get(job, "failures");
	int64_t total = 0, n = 0;
	const char *sep = "";

	for (const struct hn_json *c = all != NULL ? hn_json_first(all) : NULL; c != NULL;
	     c = hn_json_next(c)) {
		if (hn_json_int(c, &n)) {
			hn_buf_printf(b, "%s%s %lld", sep, hn_json_key(c), (long long)n);
			total += n;
			sep = ", ";
		}
	}
	return total;
}

void hn_show_clock(const struct hn_json *job, struct hn_buf *b)
{
	const struct hn_json *budget = hn_json_get(job, "budget");
	double seconds = hn_show_number(budget, "seconds");
	double trials = hn_show_number(budget, "trials");

	hn_buf_printf(b, "%.0f", hn_show_number(job, "elapsed_ms") / 1000);
	if (seconds > 0) {
		hn_buf_printf(b, "/%.0f", seconds);
	}
	hn_buf_printf(b, " s  %.0f", hn_show_number(job, "trials"));
	if (trials > 0) {
		hn_buf_printf(b, "/%.0f", trials);
	}
	hn_buf_puts(b, " trials");
}

/* Of the peak, in percent: products that are zero whatever the data may be left out, so
 * they do not count. */
static double share_of_peak(const struct hn_json *job)
{
	double needed = hn_show_number(job, "needed_flops");

	needed = needed > 0 ? needed : hn_show_number(job, "flops");
	return 100 * needed / hn_show_number(job, "best_ns") /
	       hn_show_number(job, "peak_gflops");
}

/* What is being done about it. */
static const char *activity(const struct hn_json *job)
{
	const char *state = hn_show_word(job, "state");

	if (strcmp(state, "new") == 0) {
		return hn_show_number(job, "peak_gflops") > 0 ? "waiting for its turn"
							      : "measuring this machine first";
	}
	return strcmp(state, "naive") == 0 ? "timing the naive program" : state;
}

static void put_line(const struct hn_json *job, struct hn_buf *b)
{
	double best = hn_show_number(job, "best_ns"),
	       peak = hn_show_number(job, "peak_gflops");
	const char *state = hn_show_word(job, "state");
	struct hn_buf failures;
	int64_t n_failed;
	char t[32];

	hn_buf_printf(b, "%s: ", hn_show_word(job, "name"));
	if (strcmp(state, "search") != 0) {
		hn_buf_printf(b, "%s  ", activity(job));
	}
	hn_show_clock(job, b);
	if (hn_json_get(job, "paused") != NULL) {
		hn_buf_printf(b, "  paused: %s", hn_show_word(job, "paused"));
	}
	if (best > 0) {
		hn_buf_printf(b, "  best %s  %.1f GFLOP/s", hn_show_time(best, t),
			      hn_show_number(job, "gflops"));
		if (peak > 0) {
			hn_buf_printf(b, "  %.0f %% of peak", share_of_peak(job));
		}
		if (hn_show_number(job, "speedup") > 0) {
			hn_buf_printf(b, "  %.0fx", hn_show_number(job, "speedup"));
		}
	}
	hn_buf_init(&failures);
	n_failed = put_failures(job, &failures);
	if (n_failed > 0) {
		hn_buf_printf(b, "  failed %lld (%s)", (long long)n_failed, failures.s);
	}
	hn_buf_fini(&failures);
	if (hn_show_number(job, "noisy") > 0) {
		hn_buf_printf(b, "  %.0f timed in noise", hn_show_number(job, "noisy"));
	}
}

void hn_show_progress(struct hn_show *s, const struct hn_json *job, bool force)
{
	int64_t now = hn_clock_ns();
	struct hn_buf b;

	if (s->quiet || (!force && now - s->shown_ns < (s->tty ? TTY_NS : PLAIN_NS))) {
		return;
	}
	s->shown_ns = now;
	hn_buf_init(&b);
	if (hn_json_get(job, "tasks") != NULL) {
		hn_show_set_line(job, &b);
	} else {
		put_line(job, &b);
	}
	put_out(s, b.s);
	hn_buf_fini(&b);
}

void hn_show_end(struct hn_show *s)
{
	if (s->line_open) {
		fputc('\n', stderr);
	}
	s->line_open = false;
}

void hn_show_note(struct hn_show *s, const char *text)
{
	if (!s->quiet) {
		hn_show_end(s);
		fprintf(stderr, "%s\n", text);
	}
}

void hn_show_share(double share, struct hn_buf *b)
{
	if (share > 0 && share < 1) {
		hn_buf_printf(b, "  estimated from 1/%.0f of its iterations", 1 / share);
	}
	hn_buf_putc(b, '\n');
}

static bool flag(const struct hn_json *obj, const char *key)
{
	bool set = false;

	return hn_json_bool(hn_json_get(obj, key), &set) && set;
}

/* What the final decided, and why the time that was shown before is another now. */
static void put_final(const struct hn_json *job, struct hn_buf *b)
{
	const struct hn_json *f = hn_json_get(job, "final");
	double before = hn_show_number(f, "before_ns"), now = hn_show_number(f, "median_ns");
	char t[32];

	if (f == NULL) {
		return;
	}
	hn_buf_printf(b, "  final     %.0f against each other, %.0f duels: ",
		      hn_show_number(f, "entrants"), hn_show_number(f, "duels"));
	if (!flag(f, "decided")) {
		hn_buf_puts(b, "not decided; the next job of this workload holds it\n");
		return;
	}
	if (flag(f, "changed")) {
		hn_buf_printf(b, "another took the lead, by %.1f to %.1f %%",
			      100 * hn_show_number(f, "gain_lo"),
			      100 * hn_show_number(f, "gain_hi"));
	} else {
		hn_buf_puts(b, "the leader stays");
	}
	if (before > 0 && now > before * 1.001) {
		hn_buf_printf(b, "; %s, shown before, was luck of one screening",
			      hn_show_time(before, t));
	} else if (before > 0 && now < before * 0.999) {
		hn_buf_printf(b, "; %s was shown before", hn_show_time(before, t));
	}
	hn_buf_putc(b, '\n');
}

/* Devices have no naive program: this computer's cores run it. */
static bool has_modules(const char *target_line)
{
	struct hn_target t;
	struct hn_arena a;
	bool has;

	hn_arena_init(&a, 0);
	has = hn_target_parse(target_line, &a, &t, NULL) == 0 && (t.caps & HN_CAP_MODULES) != 0;
	hn_arena_fini(&a);
	return has;
}

void hn_show_table(const struct hn_json *job, struct hn_buf *b)
{
	double naive = hn_show_number(job, "naive_ns"),
	       best = hn_show_number(job, "best_ns"),
	       heuristic = hn_show_number(job, "guard_ns");
	double flops = hn_show_number(job, "flops"),
	       peak = hn_show_number(job, "peak_gflops");
	struct hn_buf failures;
	bool in_part;
	int64_t n_failed;
	char t[32];

	hn_buf_printf(b, "%s  (workload %.16s%s, job %s: %s)\n",
		      hn_show_word(job, "name"), hn_show_word(job, "workload"),
		      hn_show_cache(hn_show_word(job, "cache")), hn_show_word(job, "job"),
		      hn_show_word(job, "state"));
	if (strcmp(hn_show_word(job, "target_name"), "native") != 0) {
		hn_buf_printf(b, "  target    %s\n", hn_show_word(job, "target_name"));
	}
	if (naive > 0) {
		hn_buf_printf(b, "  naive     %-12s %10.2f GFLOP/s",
			      hn_show_time(naive, t), flops / naive);
		if (has_modules(hn_show_word(job, "target"))) {
			hn_buf_puts(b, "  by this computer's cores");
		}
		hn_show_share(hn_show_number(job, "naive_share"), b);
	} else if (best > 0) {
		hn_buf_puts(b, "  naive     none: as written it has no program there, or too long a one\n");
	}
	if (heuristic > 0) {
		hn_buf_printf(b, "  heuristic %-12s %10.2f GFLOP/s  by rule, no search\n",
			      hn_show_time(heuristic, t), flops / heuristic);
	}
	if (best > 0) {
		hn_buf_printf(b, "  tuned     %-12s %10.2f GFLOP/s",
			      hn_show_time(best, t), flops / best);
		if (naive > 0) {
			hn_buf_printf(b, "  %.1fx faster", naive / best);
		}
		hn_buf_putc(b, '\n');
	} else {
		hn_buf_printf(b, "  tuned     none: no candidate was %s yet\n",
			      hn_show_number(job, "trials") > 0 ? "correct" : "measured");
	}
	put_final(job, b);
	if (peak > 0) {
		hn_buf_printf(b, "  peak      %.1f GFLOP/s float32 FMA measured here, all cores",
			      peak);
		if (best > 0) {
			hn_buf_printf(b, ": %.1f %% of it reached", share_of_peak(job));
		}
		hn_buf_putc(b, '\n');
	}
	hn_buf_init(&failures);
	n_failed = put_failures(job, &failures);
	hn_buf_printf(b,
		      "  trials    %.0f in %.1f s, %.0f from the store; %.0f correct, "
		      "%lld failed%s%s\n",
		      hn_show_number(job, "trials"),
		      hn_show_number(job, "elapsed_ms") / 1000,
		      hn_show_number(job, "warm"), hn_show_number(job, "ok"),
		      (long long)n_failed, n_failed > 0 ? ": " : "", failures.s);
	hn_buf_fini(&failures);
	if (hn_json_bool(hn_json_get(job, "in_part"), &in_part) && in_part) {
		hn_buf_printf(b, "  compared  on %s\n", hn_show_word(job, "inputs"));
	}
	if (*hn_show_word(job, "message") != '\0') {
		hn_buf_printf(b, "  note      %s\n", hn_show_word(job, "message"));
	}
}

static void print_levels(const struct hn_json *probe)
{
	const struct hn_json *all = hn_json_get(probe, "levels");
	char time[32];

	for (const struct hn_json *l = all != NULL ? hn_json_first(all) : NULL; l != NULL;
	     l = hn_json_next(l)) {
		printf("cache %.0f %.0f KiB, %.1f GB/s one core\n",
		       hn_show_number(l, "level"), hn_show_number(l, "bytes") / 1024,
		       hn_show_number(l, "gb_s"));
	}
	if (hn_show_number(probe, "fork_join_ns") > 0) {
		printf("loop    %s fork and join", hn_show_time(hn_show_number(probe, "fork_join_ns"), time));
		printf(", clock %s\n", hn_show_time(hn_show_number(probe, "timer_ns"), time));
	}
}

void hn_show_probe(const struct hn_json *probe)
{
	if (probe == NULL) {
		puts("limits  not measured yet");
		return;
	}
	if (hn_show_number(probe, "fma_gflops_all") <= 0) {
		puts("limits  as the target line has them");
		return;
	}
	printf("FMA     %.1f GFLOP/s one core, %.1f all\nmemory  %.1f GB/s\n",
	       hn_show_number(probe, "fma_gflops_one"),
	       hn_show_number(probe, "fma_gflops_all"),
	       hn_show_number(probe, "memory_gb_s"));
	print_levels(probe);
	printf("sandbox %s\n", hn_show_word(probe, "sandbox"));
}
