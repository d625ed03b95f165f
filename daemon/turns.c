/* daemon/turns.c -- whose turn it is on a target: each has its own queue, so that no other target's
 * jobs are in the way.
 *
 * At most HN_LIMIT_JOBS_ACTIVE jobs of a target are searched at a time (its boards keep the
 * references of a few workloads); the others wait in order of arrival.  Active jobs take
 * turns candidate by candidate, so that a long one never starves a short one.  A set (set.c)
 * counts as one of them, however many tasks it has.
 */
#include "daemon/daemon.h"

static const struct hn_served *served_of(const struct hn_set *s)
{
	return s->member[0].job->served; /* all its tasks have the same */
}

static uint32_t n_active(const struct hn_served *at)
{
	const struct hn_daemon *d = at->daemon;
	uint32_t n = 0;

	for (const struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		n += j->served == at && j->set == NULL && j->state != HN_JOB_NEW &&
		     !hn_job_ended(j);
	}
	for (const struct hn_set *s = d->sets; s != NULL; s = s->next) {
		n += served_of(s) == at && s->state != HN_JOB_NEW && !hn_set_ended(s);
	}
	return n;
}

void hn_turns_start(struct hn_served *at)
{
	struct hn_daemon *d = at->daemon;
	uint32_t n = n_active(at);

	if (at->probe_state == HN_PROBE_OPEN) {
		return; /* its end wakes us: nothing may run on these boards beside the probe */
	}
	for (struct hn_job *j = d->jobs;
	     j != NULL && n < HN_LIMIT_JOBS_ACTIVE && !hn_stall_on(d); j = j->next) {
		if (j->served != at) {
			continue;
		}
		if (j->set != NULL && j->set->state == HN_JOB_NEW) {
			if (j == j->set->member[0].job) {
				hn_set_start(j->set);
				n++;
			}
		} else if (j->set == NULL && j->state == HN_JOB_NEW) {
			hn_job_start(j);
			n += !hn_job_ended(j);
		}
	}
}

/* The job after the one whose turn it was, round and round; there is one. */
static struct hn_job *next_turn(const struct hn_served *at)
{
	struct hn_job *j = at->turn;

	do {
		j = j != NULL && j->next != NULL ? j->next : at->daemon->jobs;
	} while (j->served != at);
	return j;
}

void hn_turns_shoot(struct hn_served *at)
{
	uint32_t open = 0, idle = 0, n_job = 0, depth;

	if (at->measurer == NULL) {
		return;
	}
	for (const struct hn_job *j = at->daemon->jobs; j != NULL; j = j->next) {
		n_job += j->served == at;
		open += j->served == at ? j->open.n : 0;
	}
	depth = hn_measurer_depth(at->measurer);
	while (open < depth && idle < n_job) {
		at->turn = next_turn(at);
		if (hn_job_shoot(at->turn)) {
			open++;
			idle = 0;
		} else {
			idle++;
		}
	}
}
