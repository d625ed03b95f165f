/* client/cmd_query.c -- `hone query`: the best known schedule, from the snapshot. */
#include <math.h>
#include <stdio.h>

#include "base/jw.h"
#include "client/best.h"

/* What is not known is null, never 0. */
static double known(double v)
{
	return v > 0 ? v : NAN;
}

static void put_json(const struct hn_best *best, struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &best->entry;
	double ns = e->best.median_ns;
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "key", e->workload.key);
	hn_jw_str(&w, "name", e->workload.name);
	hn_jw_str(&w, "target", best->target_line);
	hn_best_write_near(best, &w);
	hn_jw_str(&w, "cache", e->workload.cache);
	if (e->best.id > 0) {
		hn_jw_int(&w, "record", e->best.id);
	} else {
		hn_jw_null(&w, "record");
	}
	hn_jw_double(&w, "median_ns", known(ns));
	hn_jw_double(&w, "naive_ns", known(e->naive.ns));
	if (e->naive.share > 0 && e->naive.share < 1) {
		hn_jw_double(&w, "naive_share", e->naive.share);
	}
	hn_jw_double(&w, "speedup", known(ns > 0 ? e->naive.ns / ns : 0));
	hn_jw_double(&w, "flops", e->workload.flops);
	hn_jw_double(&w, "gflops", ns > 0 ? e->workload.flops / ns : NAN);
	hn_jw_uint(&w, "trials", e->n_trial);
	hn_jw_uint(&w, "failed", e->n_failed);
	hn_jw_str(&w, "codegen", e->best.id > 0 ? e->best.stamp.codegen : NULL);
	hn_jw_str(&w, "board", e->best.id > 0 ? e->best.stamp.board : NULL);
	hn_jw_json(&w, "steps", e->best.steps);
	if (e->best.in_doubt) {
		hn_jw_str(&w, "damage", hn_snapshot_notice(best->snapshot));
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

static void put_text(const struct hn_best *best, struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &best->entry;
	double ns = e->best.median_ns;
	char tuned[32], naive[32];

	hn_buf_printf(b, "%s  (workload %.16s%s)\n", e->workload.name, e->workload.key,
		      hn_show_cache(e->workload.cache));
	if (*best->near != '\0') {
		hn_buf_printf(b, "  near    measured on another machine: %s\n", best->near);
	}
	if (ns > 0) {
		hn_buf_printf(b, "  tuned   %s, %.1f GFLOP/s\n", hn_show_time(ns, tuned),
			      e->workload.flops / ns);
	} else {
		hn_buf_puts(b, "  tuned   nothing measured yet; this is the automatic schedule\n");
	}
	if (e->naive.ns > 0 && ns > 0) {
		hn_buf_printf(b, "  naive   %s, %.1fx slower", hn_show_time(e->naive.ns, naive),
			      e->naive.ns / ns);
		if ((best->target.caps & HN_CAP_MODULES) != 0) {
			hn_buf_puts(b, ", by this computer's cores");
		}
		hn_show_share(e->naive.share, b);
	}
	hn_buf_printf(b, "  trials  %u, %u failed\n  target  %s\n  steps   %s\n",
		      e->n_trial, e->n_failed, best->target_line, e->best.steps);
}

int cmd_query(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_arena a;
	struct hn_best best;
	struct hn_buf b;
	const char *key;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_input_key(o, &a, &key, err);
	if (rc == 0) {
		rc = hn_best_find(o, key, &a, &best, err);
	}
	if (rc == 0) {
		hn_buf_init(&b);
		if (o->json) {
			put_json(&best, &b);
		} else {
			put_text(&best, &b);
		}
		fwrite(b.s, 1, b.n, stdout);
		hn_buf_fini(&b);
		hn_best_close(&best);
	}
	hn_arena_fini(&a);
	return rc;
}
