/* client/task_times.c -- times of a network's kernels. */
#include "client/task_times.h"

#include <string.h>

#include "client/best.h"
#include "client/made.h"
#include "client/netchoice.h"
#include "search/answer.h"

/* What the network's final has declined; NULL: nothing. */
static const struct hn_netchoice_kernel *find_declined(const struct hn_netchoice *c,
						       const char *name, int64_t record)
{
	for (uint32_t i = 0; i < c->n_kernel; i++) {
		const struct hn_netchoice_kernel *k = &c->kernel[i];

		if (k->declined && k->record == record && strcmp(k->name, name) == 0) {
			return k;
		}
	}
	return NULL;
}

/* The time that the model gives the automatic schedule. */
static int predict(const struct hn_opts *o, const struct hn_input *in, bool made, struct hn_arena *a,
		   struct hn_task_time *ret, struct hn_err *err)
{
	struct hn_answers answers;
	struct hn_target target;
	const char *line;
	struct hn_buf steps;
	int rc = hn_best_target(o, a, &target, &line, err);

	if (rc != 0) {
		return rc;
	}
	hn_answers_find(in->dag, &target, a, &answers);
	ret->ns = answers.n > 0 ? answers.at[0].predicted_ns : 0;
	if (answers.n > 0 && made && hn_made_asks(&target)) {
		hn_buf_init(&steps);
		hn_trace_write(answers.at[0].trace, &steps);
		rc = hn_made("model", in->json, steps.s, line, a, &ret->refused, err);
		ret->ns = ret->refused != NULL ? 0 : ret->ns;
		hn_buf_fini(&steps);
	}
	return rc;
}

static int find_time(const struct hn_opts *o, const struct hn_netchoice *c,
		     const struct hn_gtask *task, bool made, struct hn_arena *a, struct hn_task_time *ret,
		     struct hn_err *err)
{
	struct hn_opts one = hn_network_task(o, task);
	struct hn_input in;
	struct hn_best best;
	int rc = hn_input_read(&one, a, &in, err);

	*ret = (struct hn_task_time){ .task = task };
	if (rc != 0) {
		return rc;
	}
	ret->key = in.key;
	if (hn_best_find(o, in.key, a, &best, NULL) == 0) {
		const struct hn_netchoice_kernel *k =
			find_declined(c, task->name, best.entry.best.id);

		ret->ns = best.differs != 0 ? 0
			  : k != NULL	    ? k->automatic_ns / task->n_step
					    : best.entry.best.median_ns;
		ret->measured = ret->ns > 0;
		hn_best_close(&best);
	}
	return ret->measured ? 0 : predict(o, &in, made, a, ret, err);
}

int hn_task_times(const struct hn_opts *o, struct hn_network *n, bool made, const struct hn_task_time **ret,
		  struct hn_err *err)
{
	struct hn_task_time *t = HN_NEW_ARRAY(&n->arena, struct hn_task_time, n->net.n_task);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n->net.n_task; i++) {
		rc = find_time(o, &n->choice, &n->net.task[i], made, &n->arena, &t[i], err);
	}
	*ret = t;
	return rc;
}

double hn_task_times_sum(const struct hn_task_time *t, uint32_t n)
{
	double ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		ns += t[i].ns * t[i].task->n_step;
	}
	return ns;
}
