/* daemon/daemon.h -- the state of honed: one loop owns all of it. */
#ifndef HN_DAEMON_DAEMON_H
#define HN_DAEMON_DAEMON_H

#include "daemon/config.h"
#include "daemon/job.h"
#include "daemon/log.h"
#include "daemon/pending.h"
#include "daemon/served.h"
#include "daemon/server.h"
#include "daemon/set.h"
#include "daemon/store.h"

/* A client that wants a job's events. */
struct hn_subscription {
	struct hn_subscription *next;
	struct hn_session *session;
	struct hn_job *job;
	uint64_t number;	     /* per connection */
	uint64_t lost_from, lost_to; /* dropped events; 0 = none */
};

/* A job.wait, job.cancel or set.cancel that has no answer yet: it comes with the end. */
struct hn_wait {
	struct hn_wait *next;
	struct hn_session *session;
	struct hn_job *job; /* one of these */
	struct hn_set *set;
	bool cancels;
	int64_t deadline_ns;
	char id[HN_LIMIT_ID_BYTES + 3];
};

struct hn_daemon {
	uv_loop_t loop;
	struct hn_config config;
	struct hn_log log;
	struct hn_server server;
	struct hn_arena arena; /* of `served`; life of the process */
	struct hn_served *served; /* the first is meant where a task names none */
	uint32_t n_served, room_served;
	void (*served_closed)(struct hn_daemon *d);
	char boot[20];
	int64_t started_ns;
	struct hn_db *db; /* the store's thread has it; see store.h */
	struct hn_store *store;
	struct hn_buf notice; /* what is damaged in it; "" */
	struct hn_job *jobs;	    /* oldest first */
	struct hn_set *sets;	    /* oldest first; their jobs are in `jobs` */
	struct hn_subscription *subscriptions;
	struct hn_wait *waits;
	struct hn_pending *pendings;	/* requests that wait for the store */
	struct hn_submission *submissions; /* jobs and sets that are not in it yet */
	struct hn_again *agains; /* why.c: records that are measured once more */
	uint64_t n_subscription;
	int64_t n_record; /* committed since start */

	uv_signal_t on_int, on_term;
	uv_timer_t wake;  /* pump soon, outside of callbacks */
	uv_timer_t tick;  /* deadlines, batches, snapshot */
	uv_timer_t deadline; /* ends a shutdown that hangs */
	bool ticking;
	bool snapshot_due;
	int64_t snapshot_ns, snapshot_wait_ns; /* written last; not again before so long */
	struct {
		int64_t since_ns; /* 0 = there is room */
		int64_t again_ns, wait_ns;
		bool probing, has_room; /* asked for; found: what waited is being stored */
		struct hn_ask probe;
	} stall;
	bool trim_due; /* much was freed since the heap was trimmed */
	int64_t trim_ns;
	bool stopping, had_client, quit_queued;
};

/* Open store and socket. What was opened is closed again on failure. */
int hn_daemon_open(struct hn_daemon *d, struct hn_err *err) HN_NODISCARD;

/* Run until stopped; then everything is committed and closed. */
void hn_daemon_run(struct hn_daemon *d);

/* Begin to stop: jobs are suspended, records committed, clients told. */
void hn_daemon_stop(struct hn_daemon *d, const char *reason);

/* Replace the snapshot by what the store says now, if it is due, then call `then` (NULL: nothing);
 * a failure is logged, and it is due again. */
void hn_daemon_snapshot(struct hn_daemon *d, void (*then)(void *ctx), void *ctx);

/* Pump soon. */
void hn_daemon_wake(struct hn_daemon *d);

/* jobs.c */
struct hn_submit {	  /* what to tune; strings are copied */
	const char *id;	  /* NULL = a new one */
	const char *text; /* dag in either form */
	size_t text_bytes;
	const char *name, *target, *policy, *model; /* NULL = default */
	const char *records, *records_key; /* NULL = none */
	bool cold;	     /* mark the dag so (loopstate/dag/mark.h) */
	struct hn_job_budget budget;
	struct hn_crashes crashes; /* of an earlier honed's job */
};
/* Answers the request `id` when the job is stored, or one is there that does the same. */
int hn_jobs_submit(struct hn_daemon *d, const struct hn_submit *s, struct hn_session *owner,
		   const char *id, struct hn_err *err) HN_NODISCARD;
struct hn_job *hn_jobs_find(struct hn_daemon *d, const char *id);
void hn_jobs_pump(struct hn_daemon *d);
void hn_jobs_tick(struct hn_daemon *d);
void hn_jobs_suspend(struct hn_daemon *d);
void hn_jobs_resume(struct hn_daemon *d);
uint32_t hn_jobs_live(const struct hn_daemon *d);
bool hn_jobs_release(struct hn_job *j,
		     struct hn_session *s); /* true: nobody else wants it */
void hn_jobs_free(struct hn_daemon *d);

/* For those who make jobs: parsed and checked, in no list yet; room for n more, and somebody to
 * measure them; the row of the store, waited for by nobody; the list. */
void hn_jobs_new_id(char letter, char ret[24]);
int hn_jobs_make(struct hn_daemon *d, const struct hn_submit *s, struct hn_job **ret,
		 struct hn_err *err) HN_NODISCARD;
int hn_jobs_check_room(struct hn_served *s, uint32_t n, struct hn_err *err) HN_NODISCARD;
void hn_jobs_store(struct hn_job *j, enum hn_job_state state);
void hn_jobs_append(struct hn_daemon *d, struct hn_job *j);

/* turns.c: begin what waits for this target, as far as there is room; keep its measurer busy, one
 * candidate of each job in turn. */
void hn_turns_start(struct hn_served *at);
void hn_turns_shoot(struct hn_served *at);

/* set_submit.c */
/* Of the params of set.submit, or (`again`) of the row of a stored set, with its ids and seconds;
 * in no list yet.  A refusal names the place, as "tasks[2]: ...". */
int hn_sets_make(struct hn_daemon *d, const struct hn_json *v, bool again, struct hn_set **ret,
		 struct hn_err *err) HN_NODISCARD;
void hn_sets_unmake(struct hn_set *s);
void hn_sets_append(struct hn_daemon *d, struct hn_set *s);

/* submit.c */
/* Store what was made, then answer the request with it.  A job that is being stored for another
 * client already is shared. */
int hn_submit_job(struct hn_daemon *d, struct hn_session *s, const char *id, struct hn_job *j,
		  struct hn_err *err) HN_NODISCARD;
int hn_submit_set(struct hn_daemon *d, struct hn_session *s, const char *id, struct hn_set *set,
		  struct hn_err *err) HN_NODISCARD;
/* What was submitted while the disk was full: there is room, or it is refused. */
void hn_submit_held(struct hn_daemon *d, bool has_room);
/* How many jobs are being stored, and what their computations take. */
uint32_t hn_submit_count(const struct hn_daemon *d, size_t *bytes);
/* The one that would give the same answer; NULL. */
struct hn_job *hn_submit_equal(const struct hn_daemon *d, const struct hn_job *like);
bool hn_jobs_equal(const struct hn_job *a, const struct hn_job *b);
void hn_jobs_own(struct hn_job *j, struct hn_session *s);

/* put.c: store it; nobody waits, a failure is logged. */
void hn_put_row(struct hn_daemon *d, const char *id, const char *json, bool finished);
void hn_put_model(struct hn_job *j, const char *name, const char *text);
void hn_put_automatic(struct hn_job *j, const char *steps);
struct hn_set *hn_sets_find(struct hn_daemon *d, const char *id);

/* ids.c: by an id or, with at least 4 letters, the beginning of one.  NULL: why not is in err. */
struct hn_job *hn_ids_job(struct hn_daemon *d, const char *word, struct hn_err *err);
struct hn_set *hn_ids_set(struct hn_daemon *d, const char *word, struct hn_err *err);

/* ended.c: the jobs and sets that ended and are not held any more, a JSON list. */
struct hn_ended {
	struct hn_arena arena;
	uint32_t n, cap;
	struct hn_ended_row {
		const char *json;
		int64_t unix_ms;
	} *row; /* newest first */
};
int hn_ended_read(struct hn_ended *e, struct hn_db *db, struct hn_err *err) HN_NODISCARD;
void hn_ended_write(struct hn_daemon *d, const struct hn_ended *e, struct hn_jw *w,
		    const char *name);
void hn_sets_prune(struct hn_daemon *d); /* ended ones beyond those kept; their jobs stay */
void hn_sets_free(struct hn_daemon *d);

/* notify.c: events to subscribers, answers to waits. */
void hn_notify_event(struct hn_job *j, enum hn_event type, const char *data);
void hn_notify_progress(struct hn_job *j);
void hn_notify_best(struct hn_job *j); /* the record it has just got */
void hn_notify_ended(struct hn_job *j);
void hn_notify_tick(struct hn_daemon *d, int64_t now_ns);
void hn_notify_drained(struct hn_daemon *d, struct hn_session *s);
void hn_notify_forget(struct hn_daemon *d, struct hn_session *s, const struct hn_job *j);
uint64_t hn_notify_subscribe(struct hn_daemon *d, struct hn_session *s, struct hn_job *j);
void hn_notify_replay(struct hn_daemon *d, uint64_t subscription, uint64_t since_seq);
bool hn_notify_unsubscribe(struct hn_daemon *d, struct hn_session *s, uint64_t number);
void hn_notify_wait(struct hn_daemon *d, struct hn_session *s, struct hn_job *j,
		    const char *id, int64_t deadline_ns);
/* Answer a cancel when the job, or the set, has ended. */
void hn_notify_cancelled(struct hn_daemon *d, struct hn_session *s, struct hn_job *j,
			 struct hn_set *set, const char *id);
void hn_notify_set_ended(struct hn_set *set);

/* stall.c: a disk that is full */
/* True: the store has no room, all jobs wait, and whoever failed tries again in hn_job_save. */
bool hn_stall_begin(struct hn_daemon *d, const struct hn_err *err);
bool hn_stall_on(const struct hn_daemon *d);
/* False: still no room. Called before jobs make a step. */
bool hn_stall_pass(struct hn_daemon *d, int64_t now_ns);
void hn_stall_why(const struct hn_daemon *d, char *why, size_t n);
void hn_stall_hurry(struct hn_daemon *d); /* look for room at once */

/* damage.c */
/* Log what is damaged in the store, now and whenever something is found. */
void hn_damage_watch(struct hn_daemon *d);
/* The member "damage" of an answer out of the store, a comma ahead; nothing when it is sound. */
void hn_damage_write(const struct hn_daemon *d, struct hn_jw *w);
/* A refusal because nothing was found says what may be missing. */
void hn_damage_add(const struct hn_daemon *d, struct hn_err *err);

/* machine.c */
/* The measured parameters as words of a target line: those that differ from `told`. */
void hn_machine_line(const struct hn_target *told, const struct hn_probe_result *p,
		     struct hn_buf *b);
/* Write them into the store's folder, for the next start; the path onto ret_path. */
int hn_machine_write(const struct hn_served *s, struct hn_buf *ret_path,
		     struct hn_err *err) HN_NODISCARD;

/* why.c */
/* What failed of a job, or of a workload key (target NULL = any), as `failures` answers. */
int hn_why_answer(struct hn_daemon *d, struct hn_session *s, const char *id, const char *job,
		  const char *key, const char *target, struct hn_err *err) HN_NODISCARD;
/* Build and measure a stored record once more; the session is answered when it is done. */
int hn_why_measure(struct hn_daemon *d, struct hn_session *s, const char *id,
		   int64_t record, struct hn_err *err) HN_NODISCARD;

/* lineage.c: what `lineage` answers of a stored record. */
int hn_lineage_answer(struct hn_db *db, int64_t record, struct hn_buf *b,
		      struct hn_err *err) HN_NODISCARD;

/* methods.c */
extern const struct hn_session_ops hn_methods_ops;

#endif
