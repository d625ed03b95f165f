/* daemon/refer.c -- the schedules that a job has before it measures any, chosen off the loop.
 *
 * Which programs may stand in for a workload's naive one (measure.h): the automatic schedule of
 * the bitwise task, which keeps the order of each output's terms, and uses all cores and lanes.
 * It is proved by the builder.  A short naive program needs none.
 *
 * And the automatic schedule of the workload itself, where nothing of it is measured yet: it is
 * stored, so that there is an answer however the job ends.
 */
#include "daemon/daemon.h"

#include <stdlib.h>

#include "base/arith.h"
#include "loopstate/dag/mark.h"
#include "loopstate/state/bracket.h"
#include "loopstate/state/widen.h"
#include "measure/board/board.h"
#include "search/answer.h"

#define LONG_POINTS (1 << 24) /* runs of a naive program's statements: some 20 ms */

static int64_t points_of(const struct hn_dag *dag)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		int64_t n = op->kind == HN_OP_COMPUTE ? 1 : 0;

		for (uint32_t k = 0; k < op->n_spatial + op->n_reduce; k++) {
			n = hn_mul_sat(n, op->axis[k].extent);
		}
		sum = hn_add_sat(sum, n);
	}
	return sum;
}

/* The history of the automatic schedule, as text; NULL: none is shown legal. */
static const char *steps_of(const struct hn_dag *dag, const struct hn_target *target,
			    struct hn_arena *a)
{
	struct hn_answers answers;
	const char *steps = NULL;
	struct hn_buf text;

	hn_answers_find(dag, target, a, &answers);
	if (answers.n > 0 && answers.at[0].shown) {
		hn_buf_init(&text);
		hn_trace_write(answers.at[0].trace, &text);
		steps = hn_arena_strndup(a, text.s, text.n);
		hn_buf_fini(&text);
	}
	return steps;
}

static const char *bitwise_steps_of(const struct hn_dag *dag, const struct hn_target *target,
				    struct hn_arena *a)
{
	return steps_of(hn_dag_mark(dag, HN_MARK_BITWISE, a), target, a);
}

struct choosing {
	uv_work_t req; /* first */
	struct hn_job *job;
	struct hn_arena a;
	bool measured, is_long; /* something is; the naive program is */
	const char *refer_steps, *wide_steps, *bracket_steps, *automatic;
	void (*then)(struct hn_job *j);
};

static void choose(uv_work_t *req)
{
	struct choosing *c = (struct choosing *)req;
	const struct hn_job *j = c->job;
	const struct hn_dag *wide, *moved;
	struct hn_target runs = j->target; /* what runs naive programs */

	if (!c->measured) {
		c->automatic = steps_of(j->dag, &j->target, &c->a);
	}
	if (!c->is_long) {
		return;
	}
	if (hn_board_is_apart(j->target_line)) {
		hn_target_host(&c->a, &runs);
	}
	wide = hn_dag_widen(j->dag, &c->a);
	c->refer_steps = bitwise_steps_of(j->dag, &runs, &c->a);
	if (c->refer_steps != NULL && wide != NULL) {
		c->wide_steps = bitwise_steps_of(wide, &runs, &c->a);
	}
	moved = hn_dag_bracket(wide != NULL ? wide : j->dag, HN_BRACKET_LOW,
			       HN_BRACKET_WHOLE, &c->a);
	if (c->refer_steps != NULL && moved != NULL) {
		c->bracket_steps = bitwise_steps_of(moved, &runs, &c->a);
	}
}

static const char *kept(const char *text, struct hn_job *j)
{
	return text != NULL ? hn_arena_strdup(&j->arena, text) : NULL;
}

static void chosen(uv_work_t *req, int status)
{
	struct choosing *c = (struct choosing *)req;
	struct hn_job *j = c->job;

	(void)status;
	j->workload.refer_steps = kept(c->refer_steps, j);
	j->workload.wide_steps = kept(c->wide_steps, j);
	j->workload.bracket_steps = kept(c->bracket_steps, j);
	if (c->automatic != NULL) {
		hn_put_automatic(j, c->automatic);
	}
	hn_arena_fini(&c->a);
	c->then(j);
	free(c);
}

void hn_job_choose_reference(struct hn_job *j, void (*then)(struct hn_job *j))
{
	bool measured = j->best_ns > 0, is_long = points_of(j->dag) >= LONG_POINTS;
	struct choosing *c;

	if (measured && !is_long) {
		then(j);
		return;
	}
	c = calloc(1, sizeof *c);
	hn_assert(c != NULL);
	hn_arena_init(&c->a, 0);
	c->job = j;
	c->measured = measured;
	c->is_long = is_long;
	c->then = then;
	if (uv_queue_work(&j->daemon->loop, &c->req, choose, chosen) != 0) {
		hn_bug(__FILE__, __LINE__, "uv_queue_work");
	}
}
