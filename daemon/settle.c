/* daemon/settle.c -- what remains of a job that has ended.
 *
 * A search holds its population, its model and the records it was told; the measurer holds the
 * objects of its candidates.  None of it is asked for again: a later job of the same workload
 * begins from the store.  What job.get and the late subscriber are told stays, for as long as the
 * job is remembered.
 */
#include "daemon/daemon.h"

static bool is_over(const struct hn_job *j)
{
	return hn_job_idle(j) && (j->set == NULL || hn_set_ended(j->set));
}

/* Everything in `work`. */
static void drop_work(struct hn_job *j)
{
	struct hn_workload *w = &j->workload;

	j->dag = NULL;
	j->dag_json = NULL;
	j->target = (struct hn_target){ 0 };
	j->task = (struct hn_task){ 0 };
	w->key = w->dag_json = NULL;
	w->arg = NULL;
	w->n_arg = 0;
	hn_arena_fini(&j->work);
}

void hn_job_settle(struct hn_job *j)
{
	if (j->settled || !is_over(j)) {
		return;
	}
	j->settled = true;
	hn_job_drop_search(j);
	drop_work(j);
	if (j->known) {
		hn_measurer_forget(j->served->measurer, j->key);
	}
	j->daemon->trim_due = true;
}
