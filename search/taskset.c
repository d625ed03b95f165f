/* search/taskset.c -- see taskset.h. */
#include "search/taskset.h"

#include <math.h>
#include <string.h>

#include "base/cdefs.h"

#define PRIOR 0.1	 /* s, before anything is known ... */
#define PRIOR_WEIGHT 3.0 /* ... and what that weighs */

#define STRATEGY(id, name) extern const struct hn_strategy_ops hn_strategy_##id;
#include "search/strategies.def"
#undef STRATEGY

static const struct hn_strategy_ops *const strategies[] = {
#define STRATEGY(id, name) &hn_strategy_##id,
#include "search/strategies.def"
#undef STRATEGY
};

const struct hn_strategy_ops *hn_strategy_ops(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(strategies); i++) {
		if (strcmp(strategies[i]->name, name) == 0) {
			return strategies[i];
		}
	}
	return NULL;
}

void hn_taskset_init(struct hn_taskset *ts, const struct hn_strategy_ops *strategy,
		     const struct hn_taskset_budget *budget, uint32_t n,
		     const double *weight)
{
	hn_assert(n >= 1 && n <= HN_TASKSET_MAX);
	*ts = (struct hn_taskset){ .strategy = strategy, .budget = *budget, .n = n };
	for (uint32_t i = 0; i < n; i++) {
		hn_assert(weight[i] > 0);
		ts->task[i].weight = weight[i];
	}
}

void hn_taskset_naive(struct hn_taskset *ts, uint32_t task, double naive_ns)
{
	struct hn_taskset_task *t = &ts->task[task];

	if (!t->correct) {
		t->time_ns = naive_ns;
	}
}

/* How much less the k-th round brings than the first would. */
static double fade(double k)
{
	return 1 / (k * sqrt(k));
}

double hn_taskset_gain_ns(const struct hn_taskset *ts, uint32_t task)
{
	const struct hn_taskset_task *t = &ts->task[task];
	double s = (t->slopes + PRIOR * PRIOR_WEIGHT) / (t->weights + PRIOR_WEIGHT);

	return t->over ? 0 : t->time_ns * -expm1(-s * fade(t->n_round + t->n_open + 1));
}

double hn_taskset_objective(const struct hn_taskset *ts)
{
	double sum = 0;

	for (uint32_t i = 0; i < ts->n; i++) {
		const struct hn_taskset_task *t = &ts->task[i];

		if (t->time_ns == 0 && !t->over) {
			return 0;
		}
		sum += t->weight * t->time_ns;
	}
	return sum;
}

double hn_taskset_gain(const struct hn_taskset *ts)
{
	double sum = hn_taskset_objective(ts), most = 0;

	for (uint32_t i = 0; i < ts->n; i++) {
		most = fmax(most, ts->task[i].weight * hn_taskset_gain_ns(ts, i));
	}
	return sum > 0 ? most / sum : 0;
}

double hn_taskset_cost(const struct hn_taskset *ts, uint32_t task)
{
	const struct hn_taskset_task *t = &ts->task[task];
	double seconds = 0, n = 0;

	if (ts->budget.seconds == 0) {
		return 1;
	}
	if (t->n_timed > 0) {
		return t->seconds / t->n_timed;
	}
	for (uint32_t i = 0; i < ts->n; i++) {
		seconds += ts->task[i].seconds;
		n += ts->task[i].n_timed;
	}
	return n > 0 ? seconds / n : 1;
}

/* Who has not had a round, or has waited too long; ts->n = nobody. */
static uint32_t owed(const struct hn_taskset *ts)
{
	uint32_t longest = ts->n;
	uint64_t patience = (uint64_t)HN_TASKSET_PATIENCE * ts->n;

	for (uint32_t i = 0; i < ts->n; i++) {
		const struct hn_taskset_task *t = &ts->task[i];

		if (t->over) {
			continue;
		}
		if (t->n_round + t->n_open == 0) {
			return i;
		}
		if (ts->n_begun - t->chosen >= patience &&
		    (longest == ts->n || t->chosen < ts->task[longest].chosen)) {
			longest = i;
		}
	}
	return longest;
}

/* Sums over the tasks. */
struct all {
	int64_t granted; /* trials told and open */
	uint32_t n_open, n_over;
	bool first; /* some live task's first round has not been told yet, */
	bool none;  /* or not even begun */
};

static struct all sum_up(const struct hn_taskset *ts)
{
	struct all all = { 0 };

	for (uint32_t i = 0; i < ts->n; i++) {
		const struct hn_taskset_task *t = &ts->task[i];

		all.granted += t->trials + t->open_trials;
		all.n_open += t->n_open;
		all.n_over += t->over;
		all.first |= !t->over && t->n_round == 0;
		all.none |= !t->over && t->n_round + t->n_open == 0;
	}
	return all;
}

/* A short budget still gives every task a round. */
static int64_t round_trials(const struct hn_taskset *ts, int64_t left)
{
	int64_t round = HN_TASKSET_ROUND, even = ts->budget.trials / ts->n;

	if (ts->budget.trials == 0) {
		return round;
	}
	round = even < round ? even : round;
	round = round < 1 ? 1 : round;
	return left > 0 && left < round ? left : round;
}

struct hn_taskset_answer hn_taskset_next(const struct hn_taskset *ts, double seconds)
{
	const struct hn_taskset_budget *budget = &ts->budget;
	struct hn_taskset_answer answer = { .say = HN_TASKSET_GO };
	struct all all = sum_up(ts);

	if (budget->seconds > 0 && seconds >= budget->seconds) {
		answer.say = HN_TASKSET_SECONDS;
	} else if (budget->trials > 0 && all.granted >= budget->trials && !(all.none && ts->n_stored > 0)) {
		answer.say = all.n_open > 0 ? HN_TASKSET_WAIT : HN_TASKSET_TRIALS;
	} else if (all.n_over == ts->n) {
		answer.say = all.n_open > 0 ? HN_TASKSET_WAIT : HN_TASKSET_OVER;
	} else if (!all.first && budget->stop_gain > 0 &&
		   hn_taskset_gain(ts) < budget->stop_gain) {
		answer.say = all.n_open > 0 ? HN_TASKSET_WAIT : HN_TASKSET_GAIN;
	} else {
		answer.task = owed(ts);
		answer.task =
			answer.task < ts->n ? answer.task : ts->strategy->choose(ts);
		answer.trials = round_trials(ts, budget->trials - all.granted);
	}
	return answer;
}

void hn_taskset_begin(struct hn_taskset *ts, const struct hn_taskset_answer *go)
{
	struct hn_taskset_task *t = &ts->task[go->task];

	t->chosen = ++ts->n_begun;
	t->n_open++;
	t->open_trials += go->trials;
}

void hn_taskset_tell(struct hn_taskset *ts, uint32_t task, int64_t granted,
		     const struct hn_taskset_told *told)
{
	struct hn_taskset_task *t = &ts->task[task];

	if (granted > 0) {
		hn_assert(t->n_open > 0);
		t->n_open--;
		t->open_trials -= granted;
	} else {
		ts->n_stored += told->trials;
	}
	t->trials += told->trials;
	t->over |= told->over;
	t->n_round++;
	if (told->seconds > 0) {
		t->seconds += told->seconds;
		t->n_timed++;
	}
	if (t->correct &&
	    told->best_ns > 0) { /* of the first nobody knows where it came from */
		double weight = sqrt(fade(t->n_round));

		t->slopes += log(t->time_ns / told->best_ns) / fade(t->n_round) * weight;
		t->weights += weight;
	}
	if (told->best_ns > 0) {
		t->time_ns = told->best_ns;
		t->correct = true;
	}
}
