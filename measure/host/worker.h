/* measure/host/worker.h -- a child process that speaks frames, on the loop.
 *
 * States: STARTED -(HELLO)-> READY -(exit, end of file, bad frame, deadline, stop)->
 * GONE. Going is final and told once; the process is killed, reaped and its handles
 * closed behind the owner's back, who may start another at once.
 */
#ifndef HN_MEASURE_HOST_WORKER_H
#define HN_MEASURE_HOST_WORKER_H

#include "proto/frame.h"

struct uv_loop_s;
struct hn_worker;

/* Why a worker is gone, and whether that says anything about what it was doing. */
enum hn_worker_fault {
	HN_WORKER_LOST,	   /* no: it was killed or stopped from outside */
	HN_WORKER_CRASHED, /* yes: it crashed, ended by itself, or broke the protocol */
	HN_WORKER_LATE,	   /* yes: it computed, or slept, until its deadline and on */
};

struct hn_worker_end {
	enum hn_worker_fault fault;
	char why[200];
};

struct hn_worker_owner {
	void (*frame)(void *ctx,
		      const struct hn_frame *f); /* after HELLO; f is borrowed */
	/* The worker is not to be used any more. */
	void (*gone)(void *ctx, const struct hn_worker_end *end);
	/* every handle is closed; follows gone and stop, the very last call */
	void (*closed)(void *ctx);
	void *ctx;	  /* for frame and gone */
	void *closed_ctx; /* for closed */
};

struct hn_worker_program {
	const char *path;
	const char *const *args; /* NULL-terminated; NULL = none */
	int nice;		 /* added to the priority, 0..19 */
	int64_t most_bytes;	 /* of memory it may write to; 0 = no limit */
	int slot_fd;		 /* becomes its HN_SLOT_FD (proto/slot.h); -1 = it has none */
};

/* Start it; stdin and stdout are ours, stderr is shared. */
int hn_worker_start(struct uv_loop_s *loop, const struct hn_worker_program *program,
		    const struct hn_worker_owner *owner, struct hn_worker **ret,
		    struct hn_err *err) HN_NODISCARD;

/* Queue a frame; its bytes are copied. Nothing happens once the worker is gone. */
void hn_worker_send(struct hn_worker *w, const struct hn_frame *f);

/* Kill it unless this is called again within limit_ms, 0 = no limit.  One that others keep from
 * running (process.h) gets up to eight times as much. */
void hn_worker_deadline(struct hn_worker *w, int64_t limit_ms);

/* Kill it; `gone` is not called, `closed` is. NULL is fine. */
void hn_worker_stop(struct hn_worker *w);

int hn_worker_pid(const struct hn_worker *w);

#endif
