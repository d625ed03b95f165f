/* cpu_bracket.c -- between what answers of integers and of 16 bits lie.
 *
 * What is rounded to few bits at the end may fall to either neighbour where it lies near the border
 * between them. The naive program's object has two programs that move what is rounded by its error
 * bound, down and up (board.h: bracket). Where both give one value, an answer is that value; a
 * tolerance of a whole unit of the type would hide the faults of its last bit.
 *
 * Each is run once on each set, in a child of its own. Where the references are made by fast
 * programs (cpu_refer_fast.c) these are fast, too.
 */
#include "measure/drv/cpu_call.h"

#include <string.h>

#include "measure/board/pool.h"

bool hn_cpu_is_held(const struct hn_tensor *t)
{
	return hn_dtype_class(t->elem) != HN_CLASS_FLOAT || hn_dtype_is_narrow(t->elem);
}

_Noreturn void hn_cpu_run_bracket(struct cpu_run *run, struct calling *c, struct hn_arena *a)
{
	c->fn = c->bracket[run->bracket - 1];
	c->args = cpu_pointers(run->w, HN_REDZONE_EXACT, run->set, a);
	cpu_poison(run->w, HN_REDZONE_EXACT, HN_POISON_FIRST);
	cpu_compute(run, c);
	run->report->body.n_sample = 0;
	cpu_finish(run, HN_VERDICT_OK, "");
}

/* What the child left in the outputs. */
static int keep(struct cpu_workload *w, uint32_t side, uint32_t set, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->n_tensor && rc == 0; i++) {
		const struct hn_tensor *t = &w->tensor[i];
		struct cpu_buffer *b = &w->buffer[i];
		struct hn_redzone *to = &b->bracket[side][set];

		if (!t->output || !hn_cpu_is_held(t)) {
			continue;
		}
		rc = hn_redzone_map((size_t)t->bytes, HN_REDZONE_ALIGNED, to, err);
		if (rc == 0) {
			memcpy(to->data, cpu_placed(b, HN_REDZONE_EXACT)->data, to->bytes);
			rc = hn_redzone_seal(to, err);
		}
	}
	return rc;
}

static void drop(struct cpu_workload *w, uint32_t set)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		for (int side = 0; side < 2; side++) {
			hn_redzone_unmap(&w->buffer[i].bracket[side][set]);
			w->buffer[i].bracket[side][set] = (struct hn_redzone){0};
		}
	}
}

bool hn_cpu_bracket(struct cpu_board *b, struct cpu_workload *w, uint32_t set,
		    const struct hn_board_workload *from)
{
	bool made = true;

	for (uint32_t side = 0; side < 2 && made; side++) {
		struct cpu_run run = {.w = w, .kernel = &from->naive, .made_of = from,
				      .reference = true, .set = set, .bracket = side + 1,
				      .n_workers = w->refer_ns > 0 ? hone_pool_cpus() : 1};
		struct hn_board_answer a;
		struct hn_err err;

		hn_cpu_run_child(b, &run, &a);
		w->lost |= a.verdict == HN_VERDICT_RUN_LOST;
		made = a.verdict == HN_VERDICT_OK && keep(w, side, set, &err) == 0;
	}
	if (!made) {
		drop(w, set);
	}
	return made;
}
