/* hone/tune.h -- libhone: have honed search for a fast kernel, and follow the job.
 *
 *     struct hone_daemon *daemon;
 *     char job[HONE_JOB_BYTES];
 *
 *     if (hone_daemon_open(NULL, &daemon, &error) != 0 ||
 *         hone_submit(daemon, text, &budget, job, &error) != 0 ||
 *         hone_follow(daemon, job, show, NULL, &last, &error) != 0) {
 *             fprintf(stderr, "%s\n", error.text);
 *     }
 *
 * One thread at a time may use a connection.  A job goes on without its client, and what it found
 * is in the store.  C89, no dependencies in this header.
 */
#ifndef HONE_TUNE_H
#define HONE_TUNE_H

#include "hone/hone.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hone_daemon;

#define HONE_JOB_BYTES 72
#define HONE_CANCELLED (-6)

/* Connect to honed on this socket; NULL: $HONE_SOCKET, or where it listens by default.
 * HONE_NOT_FOUND when nobody answers: start honed, or run `hone tune`, which does. */
int hone_daemon_open(const char *socket, struct hone_daemon **ret, struct hone_error *error);
void hone_daemon_close(struct hone_daemon *daemon); /* NULL is fine; jobs go on */

/* The job ends with what is reached first; 0 = no such limit, but not both. */
struct hone_budget {
	unsigned long trials; /* stored ones included */
	double seconds;
};

/* Submit a computation (compute-dag/1 or text, a string) for honed's first target.  The same one
 * with the same budget shares a job. */
int hone_submit(struct hone_daemon *daemon, const char *text, const struct hone_budget *budget,
		char job[HONE_JOB_BYTES], struct hone_error *error);

struct hone_progress {
	char state[16]; /* new, naive, search, final, done, failed, cancelled */
	unsigned long trials;
	double best_ns; /* 0: none yet */
	double naive_ns; /* of the program as written; 0: not measured yet */
};

/* Called for each step that honed tells; not 0: follow no longer. */
typedef int (*hone_progress_fn)(void *ctx, const struct hone_progress *now);

/* Follow a job to its end; each: NULL is fine, and so is ret, which is how it stood at last.
 * 0: done.  HONE_CANCELLED: cancelled, or `each` said so.  Else why it failed. */
int hone_follow(struct hone_daemon *daemon, const char *job, hone_progress_fn each, void *ctx,
		struct hone_progress *ret, struct hone_error *error);

/* Stop a job; what it found is kept. */
int hone_cancel(struct hone_daemon *daemon, const char *job, struct hone_error *error);

#ifdef __cplusplus
}
#endif

#endif
