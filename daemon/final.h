/* daemon/final.h -- the end of a search: its leaders against each other (measure/host/final.h),
 * the winner promoted in the store. */
#ifndef HN_DAEMON_FINAL_H
#define HN_DAEMON_FINAL_H

#include "db/db.h"
#include "measure/host/final.h"

struct hn_job;
struct hn_shot;

#define HN_LEADERS 8 /* and the best heuristic, and the holder */

/* A record that may be the best. */
struct hn_leader {
	int64_t record_id; /* 0 = none */
	double median_ns;
	int64_t run_ns;	  /* what measuring it took: what its part of a duel will take, at most */
	int64_t build_ns; /* what the first duel adds; 0 = its object is at hand */
	bool noisy;	  /* its time was told with a warning */
	char *steps;	/* heap */
	char *certificate; /* heap; of legality: without one nothing is best */
};

/* How a final ended, for whoever waits; n_field = 0: none was held. */
struct hn_final_told {
	uint32_t n_field, n_duel; /* who took part; duels in all */
	bool decided;		  /* false: cut short, or overtaken by another; it stays owed */
	bool changed;		  /* another holds the title now */
	double gain_lo, gain_hi;  /* of the challenger: 0.03 = takes 3 % less time; 0 = none came */
	double before_ns;	  /* the best time that was known before it */
	double median_ns;	  /* the holder's now */
};

/* What a job knows about its final; all zero at first. */
struct hn_job_final {
	struct hn_leader leader[HN_LEADERS]; /* not judged yet, fastest first */
	uint32_t n_leader;
	struct hn_leader heuristic;	 /* the best heuristic schedule, not judged yet */
	struct hn_leader holder; /* promoted by an earlier final */
	int64_t judged_id;	 /* of that final */
	int64_t last_id;	 /* the latest record known */
	double stored_ns;	 /* building and measuring of earlier jobs' records */

	struct hn_leader *entrant[HN_FINAL_MAX_ENTRANT]; /* while it is held; 0 = holder */
	uint32_t n_entrant, n_field; /* left; at the beginning */
	struct hn_final state;
	int64_t began_ns, deadline_ns; /* of its share of the time */
	int64_t latest_ns; /* when it ends, decided or not */
	uint32_t n_told; /* duels */
	uint32_t n_lost; /* duels the infrastructure lost */
	bool open;	 /* a duel is under way, or the winner's proof */
	bool proving;	 /* the latter: it is judged, and nothing is written yet */
	struct hn_final_result judged;
	bool unsaved;	 /* judged and proved, and the promotion is not stored yet */
	bool recalling;	 /* the store is asked who takes part */
	struct hn_final_told told; /* of the last that was held */
};

/* A correct and proved record came into the store (or was there). */
void hn_final_note(struct hn_job_final *f, const struct hn_leader *record, bool heuristic);

/* The same, told by the record: it counts when it is right and proved, and is the holder when it
 * has that one's id.  at_hand: its object is kept (measure.h). */
void hn_final_note_record(struct hn_job_final *f, const struct hn_record *r,
			  const char *certificate, bool at_hand);

/* Whom the store names the holder, and which records its final settled; the holder's steps come
 * with its record. */
void hn_final_recall_holder(struct hn_job_final *f, const struct hn_promotion *p);

/* Part of the job's seconds that belongs to its final: 0 when there is nothing to decide. */
double hn_job_final_reserve(const struct hn_job *j);

/* Whether there is one to hold, and time for it. */
bool hn_job_final_owed(const struct hn_job *j, int64_t now_ns);

/* Whether another job of this workload and target holds one now: two at a time would each be
 * without the other's winner. */
bool hn_job_final_waits(const struct hn_job *j);

/* Begin the final against whom the store names the holder now, if there is one to hold and time
 * for it, state FINAL; else the job ends. */
void hn_job_final_begin(struct hn_job *j);

/* Between two duels: the race ends when what is left of the time is needed for the match to be
 * looked at, duels taking what they took so far. */
void hn_job_final_hurry(struct hn_job_final *f, int64_t now_ns);

/* Whether its time is over: its share, when a judgement can be made by what was told, else twice
 * that or the job's seconds. */
bool hn_job_final_over(const struct hn_job_final *f, int64_t now_ns);

/* When it is, judge what is there. Called in state FINAL, at each step. */
void hn_job_final_step(struct hn_job *j, int64_t now_ns);

/* Promote the winner that was judged and proved, and end; without room on the disk it waits
 * (unsaved). */
void hn_job_final_save(struct hn_job *j);

void hn_job_final_fini(struct hn_job_final *f);

#endif
