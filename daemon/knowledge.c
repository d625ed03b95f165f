/* daemon/knowledge.c -- what cost models have learned goes from job to job of a target: a job
 * begins with what the store has, else with what hone was shipped with, else with nothing, and
 * leaves there what it has learned itself.  Of jobs that run at the same time the last to end
 * leaves its own; the records of all stay, and are what counts.  What cold caches teach is kept
 * apart: the same programs, in another order.
 */
#include "daemon/daemon.h"

#include <stdio.h>

/* What the store calls it. */
static const char *name_of(const struct hn_job *j, char name[80])
{
	snprintf(name, 80, "%.60s%s", j->model_name, j->workload.cold ? " cold" : "");
	return name;
}

/* Whether this is something the job's model can begin with; if not, why, in the log. */
static bool fits(const struct hn_job *j, const char *text)
{
	const struct hn_model_ops *ops = hn_model_ops(j->model_name);
	struct hn_model *m = ops->create(0);
	struct hn_err err;
	int rc = ops->load(m, text, &err);

	ops->destroy(m);
	if (rc != 0) {
		hn_log_line(&j->daemon->log, "warn", "job %s: %s", j->id, err.msg);
	}
	return rc == 0;
}

const char *hn_job_knowledge_name(const struct hn_job *j, char name[80])
{
	return hn_model_ops(j->model_name)->load != NULL ? name_of(j, name) : NULL;
}

void hn_job_recall(struct hn_job *j, const char *text)
{
	if (hn_model_ops(j->model_name)->load == NULL) {
		return;
	}
	if (text == NULL || !fits(j, text)) {
		text = hn_model_shipped(j->model_name, &j->target);
		text = text != NULL && fits(j, text) ? text : NULL;
	}
	j->task.knowledge = text != NULL ? hn_arena_strdup(&j->work, text) : NULL;
}

void hn_job_keep_knowledge(struct hn_job *j)
{
	struct hn_buf text;
	char name[80];

	if (j->thinking || j->policy == NULL || j->ops->learned == NULL) {
		return;
	}
	hn_buf_init(&text);
	if (j->ops->learned(j->policy, &text)) {
		hn_put_model(j, name_of(j, name), text.s);
	}
	hn_buf_fini(&text);
}
