/* search/taskset.h -- many tasks, one budget: which task gets the next round, and when to stop?
 *
 * The tasks of a set are, for example, the operators of a model. A task's weight is how often
 * the model runs it. The objective is the weighted sum of the tasks' times: the time of the
 * model.
 *
 * Only the rule is here: no clock, no process, no randomness. The caller asks for the task of
 * the next round, runs the round, and reports the result. The same reports give the same
 * choices. Rounds may overlap: an open round counts as one without gain.
 *
 * First every task gets one round, even if the store holds as many trials as the budget allows. Then
 * the strategy chooses (strategies.def). A task that has waited for HN_TASKSET_PATIENCE turns of the
 * whole set goes first, so that none starves. This costs at most one round in HN_TASKSET_PATIENCE.
 *
 * The expected gain of a round: in a task's k-th round ln(time) falls by s * k^-1.5. s is a mean
 * of the task's own rounds (each weighs k^-0.75) and a prior, 0.1, which weighs 3. It was fitted
 * to 292 tunes of the CPU suite, in rounds of 16 trials: it predicts 0.46 % a round, and 0.52 %
 * came; from the sixth round on 0.15 and 0.17 %.
 *
 * Ansor's terms (section 6 of the paper: 0.2 of the gain of the last three rounds and 0.8 of
 * time / rounds) choose about as well. But they predict 5.9 % where 0.26 % came, so no threshold
 * could be set by them. Adding the gain of recent rounds made the forecast worse.
 */
#ifndef HN_SEARCH_TASKSET_H
#define HN_SEARCH_TASKSET_H

#include <stdbool.h>
#include <stdint.h>

#define HN_TASKSET_MAX 512
#define HN_TASKSET_ROUND 16 /* trials of a round, when the budget is not short */
#define HN_TASKSET_PATIENCE 10

struct hn_taskset;

struct hn_strategy_ops {
	const char *name;
	/* One of the tasks that are not over (there is one); all have had a round. */
	uint32_t (*choose)(const struct hn_taskset *ts);
};

/* The strategy of that name (strategies.def: "gradient", "round-robin"), or NULL. */
const struct hn_strategy_ops *hn_strategy_ops(const char *name);

struct hn_taskset_budget {
	int64_t trials;	  /* of all tasks together; 0 = no limit */
	double seconds;	  /* of all tasks together; 0 = no limit */
	double stop_gain; /* end when no round is expected to bring this share; 0 = never */
};

struct hn_taskset_task {
	double weight;	/* > 0 */
	double time_ns; /* the best so far, or the naive program's; 0 = not known */
	double slopes,
		weights; /* what its rounds say of s, weighted, and their weights */
	double seconds;	 /* of the rounds told; those of unknown length not */
	int64_t trials;	 /* told */
	int64_t open_trials;
	uint32_t n_round, n_timed,
		n_open;	 /* told; told with their seconds; begun, not told */
	uint64_t chosen; /* the set's round it was last chosen for */
	bool correct;	 /* time_ns is a candidate's */
	bool over;	 /* it gets no more rounds */
};

struct hn_taskset {
	const struct hn_strategy_ops *strategy;
	struct hn_taskset_budget budget;
	uint64_t n_begun;
	int64_t n_stored; /* trials told that no round was begun for */
	uint32_t n;
	struct hn_taskset_task task[HN_TASKSET_MAX];
};

enum hn_taskset_say {
	HN_TASKSET_GO,	    /* `task` gets `trials` */
	HN_TASKSET_WAIT,    /* what the open rounds bring decides */
	HN_TASKSET_TRIALS,  /* the end: so many were granted, ... */
	HN_TASKSET_SECONDS, /* ... it took so long, ... */
	HN_TASKSET_GAIN,    /* ... no round is worth it, ... */
	HN_TASKSET_OVER	    /* ... or every task is over */
};

struct hn_taskset_answer {
	enum hn_taskset_say say;
	uint32_t task;	/* GO */
	int64_t trials; /* GO */
};

/* What came of a round. */
struct hn_taskset_told {
	int64_t trials; /* made */
	double seconds; /* the round took; 0 = not known */
	double best_ns; /* the task's best correct time, all rounds; 0 = none yet */
	bool over;	/* its space is exhausted, it failed or was cancelled */
};

/* 1 <= n <= HN_TASKSET_MAX tasks with these weights (> 0). */
void hn_taskset_init(struct hn_taskset *ts, const struct hn_strategy_ops *strategy,
		     const struct hn_taskset_budget *budget, uint32_t n,
		     const double *weight);

/* The naive program's time: the task's until a candidate is correct. */
void hn_taskset_naive(struct hn_taskset *ts, uint32_t task, double naive_ns);

/* What is next, so many seconds after the set began. */
struct hn_taskset_answer hn_taskset_next(const struct hn_taskset *ts, double seconds);

/* The answer (GO) is followed: the round is open until it is told. */
void hn_taskset_begin(struct hn_taskset *ts, const struct hn_taskset_answer *go);

/* A round of `trials` granted ones has ended; granted 0 = made before the set began (a warm
 * start), never begun. */
void hn_taskset_tell(struct hn_taskset *ts, uint32_t task, int64_t granted,
		     const struct hn_taskset_told *told);

/* Weighted sum of the times, ns; 0 while a task's is not known, but for tasks that are over
 * without one. */
double hn_taskset_objective(const struct hn_taskset *ts);

/* What one more round of the task is expected to take off its time, ns; 0 when it is over. */
double hn_taskset_gain_ns(const struct hn_taskset *ts, uint32_t task);

/* The largest share of the objective that one round of any task is expected to take off. */
double hn_taskset_gain(const struct hn_taskset *ts);

/* What a round of the task costs, in what the budget counts: seconds (the mean of its rounds so
 * far, or of all tasks'), or else rounds. */
double hn_taskset_cost(const struct hn_taskset *ts, uint32_t task);

#endif
