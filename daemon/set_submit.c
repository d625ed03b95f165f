/* daemon/set_submit.c -- sets come and go: read from a client or from the store, stored, found,
 * forgotten. */
#include "daemon/daemon.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MOST_WEIGHT 1e9

_Static_assert(HN_LIMIT_SET_TASKS <= HN_TASKSET_MAX, "a set that is taken has room");

/* Fields of set.submit that are the same for all tasks, and those of one. */
static int read_task(struct hn_daemon *d, const struct hn_json *set,
		     const struct hn_json *task, bool again, struct hn_member *ret,
		     struct hn_err *err)
{
	const struct hn_json *dag = hn_json_get(task, "dag");
	const struct hn_json *weight = hn_json_get(task, "weight");
	struct hn_submit s = {
		.id = again ? hn_json_string(hn_json_get(task, "job")) : NULL,
		.text = hn_json_string(hn_json_get(task, "text")),
		.name = hn_json_string(hn_json_get(task, "name")),
		.target = hn_json_string(hn_json_get(set, "target")),
		.policy = hn_json_string(hn_json_get(set, "policy")),
		.model = hn_json_string(hn_json_get(set, "model")),
	};
	struct hn_buf hold;
	int64_t seed = 0;
	int rc;

	hn_json_int(hn_json_get(set, "seed"), &seed);
	hn_json_bool(hn_json_get(set, "cold"), &s.cold);
	if (again) {
		hn_json_bool(hn_json_get(task, "cancelled"), &ret->cancelled);
	}
	s.budget.seed = (uint64_t)seed;
	ret->weight = 1;
	if (weight != NULL && (!hn_json_double(weight, &ret->weight) ||
			       ret->weight <= 0 || ret->weight > MOST_WEIGHT)) {
		return hn_fail(err, HONE_E_INVALID,
			       "weight: want a number above 0, at most %g", MOST_WEIGHT);
	}
	if (s.name != NULL && strlen(s.name) > HN_LIMIT_NAME_BYTES) {
		return hn_fail(err, HONE_E_INVALID, "name: %zu bytes; at most %d may be",
			       strlen(s.name), HN_LIMIT_NAME_BYTES);
	}
	hn_buf_init(&hold);
	if (dag != NULL) {
		hn_json_write(dag, &hold);
		s.text = hold.s;
	}
	if (s.text == NULL) {
		rc = hn_fail(err, HONE_E_INVALID, "give the workload as `dag` or `text`");
	} else {
		s.text_bytes = strlen(s.text);
		rc = hn_jobs_make(d, &s, &ret->job, err);
	}
	hn_buf_fini(&hold);
	return rc;
}

void hn_sets_unmake(struct hn_set *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		hn_job_free(s->member[i].job);
	}
	free(s->member);
	free(s);
}

/* The same workload given twice is one task with both weights. */
static void add(struct hn_set *s, const struct hn_member *m)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->member[i].job->key, m->job->key) == 0) {
			s->member[i].weight += m->weight;
			hn_job_free(m->job);
			return;
		}
	}
	s->member[s->n++] = *m;
}

static int read_tasks(struct hn_set *s, const struct hn_json *v, bool again,
		      struct hn_err *err)
{
	const struct hn_json *tasks = hn_json_get(v, "tasks"),
			     *task = hn_json_first(tasks);
	uint32_t n = hn_json_count(tasks);
	int rc = 0;

	if (n < 1 || n > HN_LIMIT_SET_TASKS) {
		return hn_fail(err, HONE_E_INVALID, "tasks: there are %u; want 1 to %d",
			       n, HN_LIMIT_SET_TASKS);
	}
	s->member = calloc(n, sizeof(*s->member));
	hn_assert(s->member != NULL);
	for (uint32_t i = 0; rc == 0 && i < n; i++, task = hn_json_next(task)) {
		struct hn_member m = { 0 };

		rc = read_task(s->daemon, v, task, again, &m, err);
		if (rc == 0) {
			add(s, &m);
		} else {
			rc = hn_err_within(err, "tasks[%u]", i);
		}
	}
	return rc;
}

static int read_rule(struct hn_set *s, const struct hn_json *v, struct hn_err *err)
{
	const char *strategy = hn_json_string(hn_json_get(v, "strategy"));
	const struct hn_strategy_ops *ops =
		hn_strategy_ops(strategy != NULL ? strategy : "gradient");
	struct hn_taskset_budget budget = { 0 };
	double weight[HN_TASKSET_MAX];

	if (ops == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "strategy: there is none called \"%s\"; want gradient or "
			       "round-robin",
			       strategy);
	}
	hn_json_int(hn_json_get(v, "trials"), &budget.trials);
	hn_json_double(hn_json_get(v, "seconds"), &budget.seconds);
	hn_json_double(hn_json_get(v, "stop_gain"), &budget.stop_gain);
	budget.stop_gain /= 100;
	if (budget.trials == 0 && budget.seconds == 0 && budget.stop_gain == 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "give a budget: trials, seconds or stop_gain");
	}
	for (uint32_t i = 0; i < s->n; i++) {
		weight[i] = s->member[i].weight;
	}
	hn_taskset_init(&s->rule, ops, &budget, s->n, weight);
	return 0;
}

void hn_set_store(struct hn_set *s)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_set_write_request(s, s->state, &b);
	hn_put_row(s->daemon, s->id, b.s, /* finished= */ false);
	hn_buf_fini(&b);
}

void hn_sets_append(struct hn_daemon *d, struct hn_set *s)
{
	struct hn_set **at = &d->sets;

	while (*at != NULL) {
		at = &(*at)->next;
	}
	*at = s;
	for (uint32_t i = 0; i < s->n; i++) {
		s->member[i].job->set = s;
		hn_jobs_append(d, s->member[i].job);
	}
	hn_log_line(&d->log, "info", "set %s: submitted: %u tasks, %s", s->id, s->n,
		    s->rule.strategy->name);
}

int hn_sets_make(struct hn_daemon *d, const struct hn_json *v, bool again, struct hn_set **ret,
		 struct hn_err *err)
{
	struct hn_set *s = calloc(1, sizeof(*s));
	const char *id = again ? hn_json_string(hn_json_get(v, "id")) : NULL;
	int rc;

	hn_assert(s != NULL);
	s->daemon = d;
	s->submitted_ns = hn_clock_ns();
	if (id != NULL) {
		snprintf(s->id, sizeof s->id, "%s", id);
		hn_json_double(hn_json_get(v, "spent"), &s->spent_s);
		s->crashes = hn_crashes_read(v);
	} else {
		hn_jobs_new_id('s', s->id);
	}
	rc = read_tasks(s, v, again, err);
	rc = rc != 0 ? rc : read_rule(s, v, err);
	rc = rc != 0 ? rc : hn_jobs_check_room(s->member[0].job->served, s->n, err);
	if (rc != 0) {
		hn_sets_unmake(s);
		return rc;
	}
	*ret = s;
	return 0;
}

struct hn_set *hn_sets_find(struct hn_daemon *d, const char *id)
{
	struct hn_set *s = d->sets;

	while (s != NULL && strcmp(s->id, id) != 0) {
		s = s->next;
	}
	return s;
}

static void forget(struct hn_set *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		s->member[i].job->set = NULL;
	}
	free(s->member);
	free(s);
}

void hn_sets_prune(struct hn_daemon *d)
{
	struct hn_set **at = &d->sets, *s;
	uint32_t n_ended = 0;

	for (s = d->sets; s != NULL; s = s->next) {
		n_ended += hn_set_ended(s);
	}
	while ((s = *at) != NULL) {
		if (n_ended <= HN_LIMIT_SETS_KEPT || !hn_set_ended(s)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		n_ended--;
		forget(s);
	}
}

void hn_sets_free(struct hn_daemon *d)
{
	while (d->sets != NULL) {
		struct hn_set *s = d->sets;

		d->sets = s->next;
		forget(s);
	}
}
