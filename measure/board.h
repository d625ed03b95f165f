/* measure/board.h -- what a driver brings so that hone can measure on a kind of device.
 *
 * A driver is one file under drv/ and one row of boards.def.  It lives in a hone-board
 * process of its own, is called by one thread, blocks, and may be killed at any moment:
 * whatever it holds outside the process must survive that.  It says what happened by
 * verdicts; an answer of HN_VERDICT_BOARD_LOST makes hone-board end, to be started
 * afresh.
 */
#ifndef HN_MEASURE_BOARD_H
#define HN_MEASURE_BOARD_H

#include "base/buf.h"
#include "base/verdict.h"
#include "measure/probe.h"
#include "measure/stats.h"
#include "measure/tensor.h"
#include "proto/frame.h"

#define HN_BOARD_WORKLOADS 8 /* references kept, least recently used goes first */

/* Both kinds of artefact: an object and what calling it takes. */
struct hn_board_kernel {
	const void *object;
	size_t object_bytes;
	const char *symbol; /* SYMBOL_packed is called (hone/kernel.h) */
	uint64_t shared_bytes, per_worker_bytes;
	uint64_t prepared_bytes; /* not 0: SYMBOL_prepare_packed is called first, untimed */
	int64_t limit_ms; /* wall clock for everything done with it */
};

struct hn_board_workload {
	const char *key;
	uint32_t n_tensor;
	const struct hn_tensor *tensor; /* arguments in order */
	uint64_t seed;
	double tolerance; /* as struct hn_workload */
	double flops;	  /* 0 = no check against the machine's peak */
	struct hn_board_kernel naive;
};

struct hn_board_request {
	const char *key;
	double best_ns;	   /* 0 = unknown */
	int32_t n_workers; /* 0 = all cores */
	struct hn_board_kernel kernel;
};

struct hn_board_answer {
	enum hn_verdict verdict; /* NONE: the workload is not known here (any more) */
	char detail[400];
	uint32_t n_sample;
	double sample_ns[HN_STATS_MAX_SAMPLE];
	int64_t run_ns; /* wall clock of all of it */
};

struct hn_board_ops {
	const char *name; /* target kinds it serves: "cpu" */
	int (*open)(const char *target, void **ret_board, struct hn_err *err);
	void (*close)(void *board);
	/* Make the reference outputs from the naive kernel and time it. Nothing of w is
	 * kept by pointer. */
	void (*workload)(void *board, const struct hn_board_workload *w,
			 struct hn_board_answer *ret);
	/* Check and time one candidate. */
	void (*measure)(void *board, const struct hn_board_request *r,
			struct hn_board_answer *ret);
	int (*probe)(void *board, struct hn_probe *ret, struct hn_err *err);
};

/* The driver for a target line's first word, or NULL. */
const struct hn_board_ops *hn_board_of(const char *target);

/* Answer one frame of honed's: the reply's JSON onto `json`, its type into *ret_type.
 * HONE_E_CORRUPT when the frame makes no sense (the peer is broken: end), HONE_E_NO_BOARD
 * when the device is gone. */
int hn_board_serve(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
		   uint16_t *ret_type, struct hn_buf *json,
		   struct hn_err *err) HN_NODISCARD;

#endif
