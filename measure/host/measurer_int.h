/* measure/host/measurer_int.h -- the parts of a measurer.
 *
 * A request (`struct ticket`) is always in exactly one place:
 *
 *     submit -> [build queue] -> builder -> [run queue] -> board -> [held] -> [done queue]
 *                 ^ lost once |               ^ lost, or not believed |
 *
 * measurer.c owns tickets and the done queue, builders.c the first two places,
 * board_link.c the run queue and a board's turn, board_tickets.c what becomes of its
 * answers: held until the board has shown that it may be believed (health.h). Callbacks are made
 * only from the done queue, from the loop, never from inside a call of the user's.  Objects take
 * another way than requests, past honed (depot.h); artefact.c and kept.c say who keeps them.
 */
#ifndef HN_MEASURE_HOST_MEASURER_INT_H
#define HN_MEASURE_HOST_MEASURER_INT_H

#include <uv.h>

#include "base/buf.h"
#include "base/hash.h"
#include "measure/board/board.h"
#include "measure/depot.h"
#include "measure/health.h"
#include "measure/host/worker.h"
#include "measure/measure.h"
#include "measure/stats.h"

#define HN_SYMBOL "hone_kernel"
#define HN_BRACKET_SYMBOL "hone_bracket" /* 0: rounded a little lower, 1: higher */
#define HN_WIDE_SYMBOL "hone_wide" /* the naive program's, its sums in a wider type */
#define HN_REFER_SYMBOL "hone_refer" /* the naive program's numbers, fast */
#define HN_PART_SYMBOL "hone_part"   /* 0, 1, ...: parts of it to be timed */
#define HN_SAMPLE_SYMBOL "hone_sample" /* 0, 1, ...: these compute some of its outputs */

#define HN_CODEGEN (HN_FRAME_CODEGEN + 1) /* bytes, with the NUL */

enum ticket_kind { TICKET_WORKLOAD, TICKET_CANDIDATE, TICKET_PROBE };

/* An object and what running it takes. */
struct artefact {
	uint32_t slot;	       /* of the depot; 0 = the object is on the heap */
	void *object;	       /* heap, or NULL */
	uint32_t object_bytes; /* 0 = there is none yet */
	int64_t shared_bytes, per_worker_bytes, prepared_bytes;
	char hash[HN_SHA256_HEX];
};

struct outcome {
	enum hn_verdict verdict;
	char detail[400];
	uint32_t n_sample;
	double sample_ns[HN_STATS_MAX_SAMPLE];
	double rival_ns[HN_PAIRS]; /* a duel: beside them */
	bool rivals;		   /* a duel: the verdict is about the rival */
	int64_t build_ns, prove_ns, run_ns, kernel_ns;
	double naive_share; /* as struct hn_board_answer, ... */
	bool in_part;	    /* ... too */
	char state[HN_FRAME_STATE + 1]; /* ... too */
};

/* What running an artefact gave, kept so that the same bytes are measured once. */
struct known_run {
	char hash[HN_SHA256_HEX];
	enum hn_verdict verdict;
	char *detail; /* heap, as sample_ns */
	uint32_t n_sample;
	double *sample_ns;
	int64_t run_ns;
};

/* A history and, once it is built, what came of it. */
struct program {
	char *steps; /* heap */
	struct artefact artefact;
};

/* A program that was in a duel or may be, so that a final need not build. */
struct kept {
	struct program program; /* steps NULL = free */
	uint64_t used;		/* when, in requests */
};

#define HN_KEPT 64 /* far more than a final has entrants */
#define HN_KEPT_REACH 1.12 /* times the best known: may enter a final */

struct workload {
	struct workload *next;
	struct hn_arena arena; /* strings */
	const char *key, *dag_json;
	uint32_t n_arg;
	const struct hn_frame_argument *arg;
	struct hn_need need;
	double tolerance;
	uint64_t seed;
	bool cold, settled, subnormals; /* as struct hn_workload */
	int32_t magnitude;
	uint32_t n_use; /* callers that hold it, its tickets, boards that make it */
	const char *refer_steps, *wide_steps, *bracket_steps; /* as struct hn_workload */
	struct hn_parts parts;		      /* of the naive object */
	double naive_ns, naive_share;	      /* 0 = not known yet */
	double counted_ns; /* of the naive program on a simulated machine; 0 = it has no form there */
	char inputs[400];  /* what the first OK said, ... */
	bool in_part;	   /* ... and whether it was so compared */
	bool ready;	   /* answered OK once */
	uint64_t *on_board; /* heap: by board, the epoch in which it knows it; 0 = never */
	struct artefact naive;
	uint32_t n_known, next_known, cap_known;
	struct known_run *known; /* heap; a ring once it is as large as it may be */
	struct kept kept[HN_KEPT];
};

struct ticket {
	struct ticket *next;
	enum ticket_kind kind;
	uint64_t id;
	struct workload *w; /* NULL for a probe */
	struct program program; /* steps: candidates */
	struct program rival;	/* steps NULL: not a duel */
	struct program *building; /* of the two */
	double best_ns;
	bool anew; /* whatever is known of the same bytes */
	char plant[16];     /* fault to ask the builder for; "" = none */
	int n_build, n_run, n_redo, n_noisy; /* attempts; times not believed; noisy runs */
	int64_t all_run_ns; /* of all runs that were answered */
	int n_lost;	 /* builders that were killed or stopped with it */
	int n_redo_lost; /* boards, with its answer */
	int n_changed; /* times its object was not what had been announced */
	char *certificate; /* heap; NULL before the builder answered */
	char codegen[HN_CODEGEN]; /* as struct hn_measure_result */
	struct outcome outcome;
	struct hn_probe_result probe;
	hn_workload_fn workload_fn;
	hn_measure_fn measure_fn;
	hn_probe_fn probe_fn;
	void *ctx;
};

struct queue {
	struct ticket *first, **last;
};

struct builder {
	struct hn_measurer *m;
	struct hn_worker *worker; /* NULL: to be started when needed */
	bool busy;
	struct ticket *ticket; /* NULL while busy: it was cancelled */
	uint64_t request;
	uint32_t slot; /* where it may put the object; 0 = by frame */
	uint32_t n_built;
};

struct board_link {
	struct hn_measurer *m;
	uint32_t index;
	struct hn_worker *worker; /* NULL: to be started when needed */
	uint64_t epoch; /* which process this is, no two boards share one; from 1 */
	uint64_t n_start;
	bool busy;
	bool making; /* a reference for ticket's workload, ahead of it */
	struct ticket *ticket;
	struct workload *making_of; /* workload the frame in flight is about */
	uint64_t request;
	uint16_t expected; /* the one type its answer may have */

	struct hn_health health;
	bool no_canary;	  /* it has none: its answers count at once */
	bool want_canary; /* before anything else */
	bool want_probe, probed;
	struct hn_probe_result peak;
	uint64_t n_measured;
	struct queue held; /* answered since the last clean canary */
	uint32_t n_held;
	int64_t held_ns; /* what their runs took */
};

struct hn_measurer {
	uv_loop_t *loop;
	struct hn_measurer_config config;
	struct hn_arena arena; /* config's strings */
	uv_timer_t flush;      /* 0 ms: deliver the done queue */
	uv_timer_t comeback;   /* a board's quarantine is over */
	int n_timer;	       /* open */
	enum hn_board_takes takes;
	const char *naive_target; /* the line that naive programs are built for */
	struct hn_depot depot;
	char codegen[HN_CODEGEN]; /* what builders said last; "" = none has emitted yet */
	uint64_t n_by_frame; /* candidates' objects that did not go through it */
	struct workload *workload;
	struct queue to_build, to_run, done, probing;
	uint64_t next_id, next_request, next_epoch;
	uint32_t n_builder;
	struct builder *builder;
	uint32_t n_board;
	struct board_link *board;
	uint32_t n_worker; /* processes not yet reaped and closed */
	const char *plants; /* what is left of config.plant */
	bool closing, timer_closed;
	void (*closed)(void *ctx);
	void *closed_ctx;
};

void queue_init(struct queue *q);
void queue_put(struct queue *q, struct ticket *t);
void queue_put_first(struct queue *q, struct ticket *t);
struct ticket *queue_take(struct queue *q);

/* measurer.c: the ticket is finished with this; deliver it soon. */
void hn_ticket_finish(struct hn_measurer *m, struct ticket *t, enum hn_verdict v,
		      const char *detail);
void hn_measurer_worker_closed(void *measurer); /* hn_worker_owner.closed */

/* measurer.c: who points to a workload counts among its users; the last to let go frees it. */
struct workload *hn_workload_use(struct workload *w);
void hn_workload_let_go(struct hn_measurer *m, struct workload *w);

/* A run of two, fresh whatever is known of them. */
static inline bool hn_ticket_duel(const struct ticket *t)
{
	return t->rival.steps != NULL;
}

/* measurer.c: build what a duel still lacks, then queue it for the board. */
void hn_duel_gather(struct hn_measurer *m, struct ticket *t);

/* artefact.c: set copies the bytes; a share is dropped like the original, and a dropped one
 * is empty. */
void hn_artefact_set(struct artefact *a, const void *bytes, uint32_t n);
void hn_artefact_share(struct hn_measurer *m, const struct artefact *from, struct artefact *to);
void hn_artefact_drop(struct hn_measurer *m, struct artefact *a);

/* kept.c: built programs by workload and steps. */
bool hn_kept_find(struct hn_measurer *m, struct workload *w,
		  struct program *p); /* a share of the artefact into p */
void hn_kept_put(struct hn_measurer *m, struct workload *w, const struct program *p);
void hn_kept_drop(struct hn_measurer *m, struct workload *w, const char *steps);
bool hn_kept_make_room(struct hn_measurer *m); /* a slot's less; false: none is kept */
void hn_kept_free(struct hn_measurer *m, struct workload *w);

/* builders.c */
void hn_builders_pump(struct hn_measurer *m);
int hn_builders_start(struct hn_measurer *m, struct hn_err *err) HN_NODISCARD;
void hn_builders_stop(struct hn_measurer *m);
void hn_builders_redo(struct hn_measurer *m, struct ticket *t, const char *why);

/* board_link.c */
void hn_board_link_pump(struct hn_measurer *m);
int hn_boards_start(struct hn_measurer *m, struct hn_err *err) HN_NODISCARD;
void hn_boards_stop(struct hn_measurer *m);
void hn_board_tell_probes(struct hn_measurer *m); /* once no board owes its own */

/* board_tickets.c */
void hn_board_send(struct board_link *b, uint16_t type, const struct hn_buf *json,
		   const void *blob, uint32_t blob_bytes, int64_t limit_ms);
void hn_board_give(struct board_link *b, struct ticket *t);
struct ticket *hn_board_release(struct board_link *b); /* free again; its ticket */
void hn_board_believe(struct board_link *b); /* what is held counts */
void hn_board_redo(struct board_link *b, bool lost); /* ... does not, or went: measure again */
void hn_board_try_again(struct board_link *b, struct ticket *t, const char *why);
int hn_board_on_ready(struct board_link *b, const struct hn_frame *f, struct hn_err *err);
int hn_board_on_measured(struct board_link *b, const struct hn_frame *f, struct hn_err *err);

/* wire.c: tickets as frames.  Readers take what the frame's rows and the question allow, and refuse
 * the rest with HONE_E_CORRUPT and a line. */
void hn_wire_build(const struct hn_measurer *m, const struct ticket *t, uint32_t slot,
		   struct hn_buf *json);
void hn_wire_workload(const struct workload *w, struct hn_buf *json);
/* Wall clock of one measurement: the measurer's, and what the computation needs beyond. */
int64_t hn_wire_limit_ms(const struct hn_measurer *m, const struct workload *w);
void hn_wire_measure(const struct hn_measurer *m, const struct ticket *t,
		     struct hn_buf *json);
const struct hn_frame_argument *hn_wire_args(const struct hn_workload *w, struct hn_arena *a);
/* slot: where the object may be; it becomes the artefact's when it is there. */
int hn_wire_built(const struct hn_frame *f, struct ticket *t, bool object, uint32_t slot,
		  struct hn_err *err) HN_NODISCARD;
int hn_wire_ready(const struct hn_frame *f, struct outcome *ret, struct hn_err *err) HN_NODISCARD;
int hn_wire_measured(const struct hn_frame *f, bool duel, struct outcome *ret,
		     struct hn_err *err) HN_NODISCARD;
int hn_wire_probed(const struct hn_frame *f, struct hn_probe_result *ret,
		   struct hn_err *err) HN_NODISCARD;
int hn_wire_canaried(const struct hn_frame *f, enum hn_verdict *ret_verdict,
		     struct hn_canary *ret, struct hn_err *err) HN_NODISCARD;

#endif
