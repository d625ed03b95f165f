/* daemon/think.c -- the heavy phase of a job, off the loop.
 *
 * The baton rule: while a phase runs, the policy and everything in struct think belong to
 * the worker; the loop keeps serving and measuring, and takes the baton back in
 * on_thought.  One phase of a job at a time, so there are no locks.  The worker sees the
 * job's dag, target and task, which never change.
 */
#include "daemon/daemon.h"
#include "daemon/near.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct think {
	uv_work_t req; /* first */
	struct hn_job *job;
	uint32_t want;
	struct hn_shots told; /* taken from the job */
	struct hn_arena warm; /* holds `record`; handed over on the first phase */
	uint32_t n_record;
	struct hn_warm_record *record;
	struct hn_round *round; /* NULL when nothing came */
	int rc;
	struct hn_err err;
};

static void tell_warm(struct think *t)
{
	struct hn_told *told = HN_NEW_ARRAY(&t->warm, struct hn_told, t->n_record);
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_record; i++) {
		const struct hn_warm_record *r = &t->record[i];

		if (hn_trace_parse("record", r->steps, strlen(r->steps), &t->warm,
				   &told[n].trace, NULL) == 0) {
			told[n].verdict = r->verdict;
			told[n].median_ns = r->median_ns;
			n++;
		}
	}
	t->job->ops->tell(t->job->policy, told, n);
}

static void hint_near(struct hn_job *j)
{
	const struct hn_trace *trace[HN_NEAR_MOST];
	struct hn_arena a;

	if (j->ops->hint != NULL) {
		hn_arena_init(&a, 0);
		uint32_t n = hn_near_find(j->daemon->config.home.s, j, &a, trace);

		j->ops->hint(j->policy, trace, n);
		hn_arena_fini(&a);
	}
}

static void tell_new(struct think *t)
{
	struct hn_told *told = calloc(t->told.n + 1, sizeof(*told));
	uint32_t n = 0;

	hn_assert(told != NULL);
	for (const struct hn_shot *s = t->told.head; s != NULL; s = s->next) {
		told[n++] = (struct hn_told){ .trace = s->candidate->trace,
					      .verdict = s->verdict,
					      .median_ns = s->median_ns };
	}
	if (n > 0) {
		t->job->ops->tell(t->job->policy, told, n);
	}
	free(told);
}

static void ask(struct think *t)
{
	struct hn_job *j = t->job;
	struct hn_round *round = calloc(1, sizeof(*round));
	struct hn_candidate *candidate;
	struct hn_buf b;

	hn_assert(round != NULL);
	hn_arena_init(&round->arena, 0);
	candidate = HN_NEW_ARRAY(&round->arena, struct hn_candidate, t->want);
	round->n = j->ops->ask(j->policy, t->want, &round->arena, candidate);
	if (round->n == 0) {
		hn_arena_fini(&round->arena);
		free(round);
		return;
	}
	round->live = round->n;
	round->shot = HN_NEW_ARRAY(&round->arena, struct hn_shot, round->n);
	hn_buf_init(&b);
	for (uint32_t i = 0; i < round->n; i++) {
		struct hn_shot *s = &round->shot[i];

		*s = (struct hn_shot){ .job = j, .round = round, .candidate = &candidate[i] };
		hn_buf_reset(&b);
		hn_trace_write(candidate[i].trace, &b);
		s->steps = hn_arena_strndup(&round->arena, b.s, b.n);
		hn_buf_reset(&b);
		hn_lineage_write(&candidate[i].lineage, &b);
		s->changes = hn_arena_strndup(&round->arena, b.s, b.n);
	}
	hn_buf_fini(&b);
	t->round = round;
}

static void on_worker(uv_work_t *req)
{
	struct think *t = (struct think *)req;
	struct hn_job *j = t->job;

	if (j->policy == NULL) {
		t->rc = j->ops->create(&j->task, &j->policy, &t->err);
		if (t->rc != 0) {
			j->policy = NULL;
			return;
		}
		tell_warm(t);
		hint_near(j);
	}
	tell_new(t);
	ask(t);
}

static void on_thought(uv_work_t *req, int status)
{
	struct think *t = (struct think *)req;
	struct hn_job *j = t->job;
	struct hn_shot *s;

	(void)status;
	j->thinking = false;
	while ((s = hn_shots_pop(&t->told)) != NULL) {
		hn_shot_drop(s);
	}
	hn_arena_fini(&t->warm);
	for (uint32_t i = 0; t->round != NULL && i < t->round->n; i++) {
		hn_shots_push(&j->ready, &t->round->shot[i]);
	}
	if (t->rc != 0) {
		hn_job_fail(j, &t->err);
	} else if (t->round == NULL) {
		j->exhausted = true;
	}
	if (hn_job_ended(j)) {
		while ((s = hn_shots_pop(&j->ready)) != NULL) {
			hn_shot_drop(s);
		}
	}
	hn_daemon_wake(j->daemon);
	free(t);
}

void hn_job_think(struct hn_job *j, uint32_t n)
{
	struct think *t = calloc(1, sizeof(*t));

	hn_assert(t != NULL);
	t->job = j;
	t->want = n;
	t->told = j->told;
	j->told = (struct hn_shots){ 0 };
	t->warm = j->warm_arena;
	t->record = j->warm;
	t->n_record = j->n_warm_record;
	hn_arena_init(&j->warm_arena, 0);
	j->warm = NULL;
	j->n_warm_record = 0;
	j->thinking = true;
	if (uv_queue_work(&j->daemon->loop, &t->req, on_worker, on_thought) != 0) {
		hn_bug(__FILE__, __LINE__, "uv_queue_work");
	}
}
