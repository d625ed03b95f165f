/* daemon/machine.c -- what was measured of this machine becomes its target's parameters: a
 * file in the store's folder, read where "native" is said (hn_target_parse_at).
 *
 * Sizes of caches are what search and heuristics read.  Where the machine tells a size it is
 * exact, and the measured one is rough; but a level that is shared with others, other
 * machines included, is smaller than told.  So a measured size counts where it is less than
 * half of what is told, and only then.  Which level it is its size tells: a chase may miss a
 * level, or see a step where none is.  Rates and costs are written for people.
 */
#include "daemon/daemon.h"

#include <math.h>
#include <string.h>

#include "base/file.h"

#define SHARED 2 /* told is more than so many times what was measured */

static void put_figures(const struct hn_probe_result *p, struct hn_buf *b)
{
	hn_buf_printf(b, "# measured by `hone board probe`; delete this file to undo it\n"
			 "# float32 %.1f GFLOP/s one core, %.1f all; memory %.1f GB/s\n",
		      p->fma_gflops_one, p->fma_gflops_all, p->memory_gb_s);
	for (uint32_t i = 0; i < p->n_level; i++) {
		hn_buf_printf(b, "# cache %u: %.0f bytes, %.1f GB/s one core\n", i + 1,
			      p->level[i].bytes, p->level[i].gb_s);
	}
	hn_buf_printf(b, "# fork and join %.0f ns, clock %.0f ns\n", p->fork_join_ns,
		      p->timer_ns);
}

/* The largest measured end in (above, upto]; 0 = none. */
static double measured(const struct hn_probe_result *p, int64_t above, int64_t upto)
{
	double most = 0;

	for (uint32_t i = 0; i < p->n_level; i++) {
		double end = p->level[i].bytes;

		most = end > (double)above && end <= (double)upto ? fmax(most, end) : most;
	}
	return most;
}

void hn_machine_line(const struct hn_target *told, const struct hn_probe_result *p,
		     struct hn_buf *b)
{
	static const enum hn_param size[] = {HN_PARAM_L1_BYTES, HN_PARAM_L2_BYTES,
					     HN_PARAM_L3_BYTES};
	int64_t above = 0;

	hn_buf_printf(b, "%s -isa=%s", told->kind, told->isa);
	for (size_t i = 0; i < HN_COUNT_OF(size); i++) {
		int64_t upto = told->param[size[i]];
		double end = measured(p, above, upto);

		if (end >= 1 && end * SHARED < (double)upto) {
			hn_buf_printf(b, " -%s=%.0f", hn_param_name(size[i]), end);
		}
		above = upto > above ? upto : above;
	}
}

int hn_machine_write(const struct hn_served *s, struct hn_buf *ret_path, struct hn_err *err)
{
	struct hn_target told;
	struct hn_arena a;
	struct hn_buf text;
	int rc = 0;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_target_host(&a, &told);
	if (strcmp(told.kind, s->target.kind) != 0) {
		rc = hn_fail(err, HONE_E_NO_BOARD,
			     "board probe: the board is no part of this machine, its target "
			     "line says all: %s",
			     s->line);
	}
	put_figures(&s->probe, &text);
	hn_machine_line(&told, &s->probe, &text);
	hn_buf_putc(&text, '\n');
	hn_buf_printf(ret_path, "%s/" HN_TARGET_MACHINE, s->daemon->config.home.s);
	rc = rc != 0 ? rc : hn_file_replace(ret_path->s, text.s, text.n, err);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}
