/* daemon/job.h -- one workload being tuned: see the state machine in job.c. */
#ifndef HN_DAEMON_JOB_H
#define HN_DAEMON_JOB_H

#include <uv.h>

#include "base/jw.h"
#include "daemon/crashes.h"
#include "daemon/final.h"
#include "daemon/recall.h"
#include "daemon/ring.h"
#include "daemon/store.h"
#include "daemon/workload.h"
#include "db/db.h"
#include "search/policy.h"

struct hn_daemon;
struct hn_job;
struct hn_session;
struct hn_served;
struct hn_set;

enum hn_job_state {
	HN_JOB_NEW,   /* waits for its turn */
	HN_JOB_NAIVE, /* the board makes the reference outputs and times the naive program
		       */
	HN_JOB_SEARCH,	  /* ask, measure, record */
	HN_JOB_FINAL,	  /* the leaders against each other */
	HN_JOB_DONE,	  /* budget spent, or the space is exhausted */
	HN_JOB_FAILED,	  /* message says why */
	HN_JOB_CANCELLED, /* results so far are kept */
	HN_JOB_SUSPENDED  /* the daemon ends; a later one goes on */
};

const char *hn_job_state_name(enum hn_job_state s);

/* One candidate on its way. */
struct hn_shot {
	struct hn_shot *next;
	struct hn_job *job;
	struct hn_round *round;
	const struct hn_candidate *candidate; /* in the round's arena, as are steps and changes */
	const char *steps;
	const char *changes; /* its lineage's, as words */
	uint8_t tries;
	int64_t after_ns; /* not before: it was lost (job.c) */
	enum hn_verdict verdict;
	double median_ns;
	int64_t build_ns, run_ns, prove_ns, kernel_ns;
	char state[104]; /* of the device (measure.h) */
	uint32_t n_sample;
	double *sample_ns; /* heap */
	char *detail;	   /* heap */
	char *certificate; /* heap; "" = none */
	char *codegen;	   /* heap; "" = none (measure.h) */
};

/* A stored result, for the policy's warm start. */
struct hn_warm_record {
	const char *steps;
	enum hn_verdict verdict;
	double median_ns;
};

/* Candidates that were asked for together, and their memory. */
struct hn_round {
	struct hn_arena arena;
	uint32_t n, live; /* live: shots not yet told */
	struct hn_shot *shot;
};

struct hn_shots { /* first in, first out */
	struct hn_shot *head, *tail;
	uint32_t n;
};

/* What was submitted. */
struct hn_job_budget {
	int64_t trials; /* 0 = no limit */
	double seconds; /* 0 = no limit */
	uint64_t seed;
};

struct hn_job {
	struct hn_job *next; /* in daemon->jobs, oldest first */
	struct hn_daemon *daemon;
	struct hn_served *served; /* whose boards measure it */
	char id[24];
	enum hn_job_state state;
	char message[1000];    /* why it ended so; "" */
	int error;	       /* FAILED: the class, HONE_E_x */
	struct hn_arena arena; /* what is told of it: strings, until it is forgotten */
	struct hn_arena work;  /* what it works on, until it is settled */
	const struct hn_dag *dag; /* in work, as dag_json and what target, workload and task hold */
	const char *dag_json, *name, *target_line, *policy_name, *model_name;
	const char *records, *records_key; /* "" = none */
	char key[HN_KEY_BYTES];
	struct hn_target target;
	struct hn_workload workload;
	struct hn_job_budget budget;
	struct hn_task task;
	struct hn_set *set; /* whose task it is; NULL = a job of its own */
	bool asking;	    /* the store has a request of it (save.c) */
	struct {	    /* how it is about to end: told when it is stored */
		bool begun, without_results; /* they could not be stored */
		enum hn_job_state state;
		char message[1000];
	} end;
	int64_t allowed;    /* trials: its budget's, or what its set has granted */
	bool held;	    /* nothing more is measured; its final comes */
	int64_t spent_ns;   /* of a set's job: its rounds took */
	double left_ns;	    /* of a set's job: what its final may take */

	/* search; `policy` belongs to the worker while `thinking` (think.c) */
	const struct hn_policy_ops *ops;
	struct hn_policy *policy;
	bool opened;		    /* hn_job_open was through */
	bool naive_owed, row_owed; /* not stored yet: its naive time, its end */
	bool thinking, exhausted, naive_open;
	bool known;   /* to the measurer, until it is settled */
	bool settled; /* settle.c */
	uint32_t naive_tries; /* lost ones */
	int64_t naive_after_ns; /* when to try once more */
	struct hn_arena
		warm_arena; /* holds `warm`; goes to the worker with the first phase */
	struct hn_warm_record *warm;
	uint32_t n_warm_record;
	struct hn_shots ready, open, batch, storing, told;
	int64_t batch_ns; /* when the oldest of the batch came; 0 = empty */

	/* counters */
	int64_t n_warm;	 /* stored by earlier jobs */
	int64_t n_trial; /* recorded or given up, warm ones included */
	int64_t n_verdict[HN_N_VERDICT];
	uint32_t n_fail_run; /* failures in a row of class fail_class */
	enum hn_verdict fail_class;
	uint32_t n_infra_run; /* infrastructure failures in a row */
	uint32_t n_lost_run;  /* tries that were lost in a row, of whichever candidate */
	bool hopeless;	      /* a run grew too long; the runs stay as they were then */
	int64_t n_noisy;	  /* OK, but timed too badly to be promoted */
	double naive_ns, best_ns; /* 0 = unknown */
	double host_ns; /* of the program as written on this computer, where naive_ns is not known for
			 * that: which task of a set is next depends on it, no answer does */
	double naive_share; /* of the naive program that was run for its time; 0 = not known */
	const char *inputs; /* sets that answers are compared on, by the board; NULL = not said */
	const char *sampled; /* what records say of it where some are compared in part; else NULL */
	double heuristic_ns;	  /* the best heuristic schedule's; 0 = none measured */
	char *best_steps;	  /* heap */
	int64_t kernel_ns;	  /* spent inside kernels by this job */
	int64_t first_ns;	  /* when its first trial was known; 0 = not yet */
	struct hn_job_final final;
	int64_t submitted_ns, started_ns, ended_ns; /* 0 = not yet */

	struct hn_crashes crashes; /* a set's are the set's */

	struct hn_ring ring;
	int64_t told_ns;     /* last progress event */
	int64_t told_trials; /* counter it carried */
	uint32_t n_owner;
	struct hn_session **owner; /* who submitted it and is still here */
};

bool hn_job_ended(const struct hn_job *j);

/* It has ended or is about to: nothing is begun any more. */
bool hn_job_over(const struct hn_job *j);

/* Read what the store knows of it; a set does so for its jobs before it starts one. False: not
 * yet, it is being read, or waits for room on the disk; or it failed. Called until it is true. */
bool hn_job_open(struct hn_job *j);

/* The job's turn has come: NEW -> NAIVE, once it is open; called until then. The measurer must be
 * there. */
void hn_job_start(struct hn_job *j);

/* Nothing of it is under way but what waits to be recorded. */
bool hn_job_still(const struct hn_job *j);

/* Of a set's job: measure nothing more, ... */
void hn_job_hold(struct hn_job *j);

/* ... and end, with a final where there is one to hold in that time. */
void hn_job_conclude(struct hn_job *j, double left_ns, int64_t now_ns);

/* It is through, with a final or without: DONE. */
void hn_job_is_through(struct hn_job *j);

/* What it took so far, and may still take (INFINITY = no limit): of a set's job, its rounds. */
double hn_job_spent_ns(const struct hn_job *j, int64_t now_ns);
double hn_job_left_ns(const struct hn_job *j, int64_t now_ns);

/* Whatever the seconds, a job ends with an answer: the first candidate, the automatic schedule, is
 * waited for, and a few more where that does not work.  left_s: of its budget, or its set's. */
bool hn_job_owes_answer(const struct hn_job *j, double left_s);

/* Measure the next ready candidate; false when there is none. */
bool hn_job_shoot(struct hn_job *j);

/* Ask for more, end when the budget is spent; called after every change and at each tick.
 */
void hn_job_step(struct hn_job *j, int64_t now_ns);

/* Let it end: ready ones are dropped, open ones forgotten, measured ones committed. Its state is
 * the new one, and told, when the store has it. */
void hn_job_finish(struct hn_job *j, enum hn_job_state final, const char *message);

/* ... because a client says so; a set remembers it. */
void hn_job_cancel(struct hn_job *j);

/* The next step of that, after an answer of the store; nothing when it is not about to end. */
void hn_job_end_step(struct hn_job *j);

/* End it as FAILED, for this reason. */
void hn_job_fail(struct hn_job *j, const struct hn_err *err);

/* Nothing that belongs to it is with the measurer or a worker thread any more. */
bool hn_job_idle(const struct hn_job *j);
void hn_job_drop_search(struct hn_job *j); /* policy, candidates, leaders, warm records */
void hn_job_free(struct hn_job *j);

/* settle.c: of an ended and idle job keep what is told of it and its latest events, and let go
 * of the rest; of a set's job once the set has ended. Nothing happens before, nor twice. */
void hn_job_settle(struct hn_job *j);

/* record.c: commit the batch, unless the store has a request of it already; events come when it is
 * stored.  A full disk: the batch is as before, and waits (stall.c). */
void hn_job_commit(struct hn_job *j);

/* save.c: ask the store, which has no other request of it; its answer is there. */
void hn_job_ask(struct hn_job *j, struct hn_ask *a);
void hn_job_answered(struct hn_job *j);
/* ... and it is this failure: it waits for room on the disk, or ends. */
void hn_job_not_stored(struct hn_job *j, const struct hn_err *err);

/* save.c: store its naive time, and search from then on. */
void hn_job_store_naive(struct hn_job *j);

/* end.c: store its end, without which it would be resumed; for whoever tries it again, too. */
void hn_job_store_end(struct hn_job *j);

/* Store what waited for room on the disk; false while something of it does, or is being stored. */
bool hn_job_save(struct hn_job *j);

/* record.c: the warm start: counters and best from the store, records for the policy. */
void hn_job_warm(struct hn_job *j, const struct hn_recall *r);

/* knowledge.c: the name of what the job's cost model begins with in the store, NULL: nothing;
 * begin with it, NULL: with what hone was shipped with; keep what it has learned. */
const char *hn_job_knowledge_name(const struct hn_job *j, char name[80]);
void hn_job_recall(struct hn_job *j, const char *text);
void hn_job_keep_knowledge(struct hn_job *j);


/* refer.c: put into j->workload what may stand in for a naive program that is long, and store the
 * automatic schedule where nothing is measured, off the loop;
 * `then` is called at once or from the loop, when the job may have ended. */
void hn_job_choose_reference(struct hn_job *j, void (*then)(struct hn_job *j));

/* think.c: create the policy, tell it what is known, ask for up to n: off the loop. */
void hn_job_think(struct hn_job *j, uint32_t n);

/* view.c: {"job", "state", "trials", ...}: job.get, progress and done. */
void hn_job_write(const struct hn_job *j, struct hn_jw *w, const char *name);

/* view.c: the member "naive_share", where a naive time is an estimate. */
void hn_naive_write_share(double share, struct hn_jw *w);

/* view.c: the submit params that make this job again (kept in the store), in that state. */
void hn_job_write_request(const struct hn_job *j, enum hn_job_state state, const char *message,
			  struct hn_buf *b);

/* Trials that may still be asked for. */
int64_t hn_job_remaining(const struct hn_job *j);

void hn_shots_push(struct hn_shots *q, struct hn_shot *s);
struct hn_shot *hn_shots_pop(struct hn_shots *q);
void hn_shots_remove(struct hn_shots *q, struct hn_shot *s);
void hn_shots_drop(struct hn_shots *q); /* all of them */
void hn_shot_drop(struct hn_shot *s); /* told, or never to be */

#endif
