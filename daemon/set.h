/* daemon/set.h -- several workloads tuned for one weighted sum, from one budget: see set.c. */
#ifndef HN_DAEMON_SET_H
#define HN_DAEMON_SET_H

#include "daemon/job.h"
#include "search/taskset.h"

#define HN_SET_OPEN 2 /* rounds: while one ends, the next begins */

/* One of its tasks: a job that runs in rounds. */
struct hn_member {
	struct hn_job *job;
	double weight;
	bool cancelled; /* under an earlier daemon */
	int64_t n_told; /* of the job's trials, those told to the rule */
	struct {
		int64_t trials, begun_ns;
	} open[HN_SET_OPEN]; /* rounds granted and not told, oldest first */
	uint32_t n_open;
};

struct hn_set {
	struct hn_set *next; /* in daemon->sets, oldest first */
	struct hn_daemon *daemon;
	char id[24];
	enum hn_job_state state; /* never NAIVE */
	char message[1000];
	struct {	   /* how it is about to end: told when it is stored */
		bool begun, asked;
		enum hn_job_state state;
	} end;
	struct hn_taskset rule;
	uint32_t n;
	struct hn_member *member; /* heap; the jobs are in daemon->jobs */
	double spent_s;		  /* under earlier daemons */
	bool overdue; /* its seconds are spent; some tasks may yet be owed an answer */
	struct hn_crashes crashes;
	int64_t submitted_ns, started_ns, ended_ns; /* 0 = not yet */
	int64_t told_ns;			    /* when the last round was told */
	int64_t stored_ns;			    /* when spent_s was last stored */
};

bool hn_set_ended(const struct hn_set *s);
bool hn_set_over(const struct hn_set *s); /* it has ended or is about to */

/* Since it began, seconds, under earlier daemons too. */
double hn_set_seconds(const struct hn_set *s, int64_t now_ns);

/* Its turn has come: the store is read, and rounds are granted once it was; called until then. */
void hn_set_start(struct hn_set *s);

/* Hear of the rounds that have ended, grant the next, end it; after every change and at each tick. */
void hn_set_step(struct hn_set *s, int64_t now_ns);

/* Let it end; its jobs end in the same way, and it ends with the last of them, when the store has
 * it. */
void hn_set_finish(struct hn_set *s, enum hn_job_state end, const char *message);
void hn_set_end_step(struct hn_set *s); /* one of its jobs has ended */

/* Keep what makes it again (set_submit.c); nobody waits for it. */
void hn_set_store(struct hn_set *s);

/* view.c: what set.get answers; and the row of the store. */
void hn_set_write(const struct hn_set *s, struct hn_jw *w, const char *name);
void hn_set_write_request(const struct hn_set *s, enum hn_job_state state, struct hn_buf *b);

#endif
