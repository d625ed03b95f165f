/* daemon/crashes.h -- a job that ends honed again and again is not resumed for ever.
 *
 * Its row in the store says, from when it starts, that honed ended meanwhile; an orderly end, and
 * the job's own, take that back.  So whoever finds the row knows how often.  A crash that lets
 * new records be kept is forgiven: the job gets on, whatever else ends honed.
 */
#ifndef HN_DAEMON_CRASHES_H
#define HN_DAEMON_CRASHES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"

#define HN_CRASHES_MOST 5

struct hn_crashes {
	int64_t n;	 /* in a row, without a new record */
	int64_t n_trial; /* records of its workload at the latest start */
};

/* Of a job's row; zero where it does not say. */
struct hn_crashes hn_crashes_read(const struct hn_json *row);

/* The row's members, into the object that is open. */
void hn_crashes_write(const struct hn_crashes *c, bool running, struct hn_jw *w);

/* The job starts, with so many records; HONE_E_INTERNAL when it has had its tries. */
int hn_crashes_start(struct hn_crashes *c, int64_t n_trial, struct hn_err *err) HN_NODISCARD;

#endif
