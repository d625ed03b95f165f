/* hone/hone.h -- libhone: ask for the best known schedule of a computation.
 *
 * Answers come from the store's snapshot, an immutable file that is mapped and searched
 * in place: no daemon, no database, no search is started.  Handles are opaque; any number
 * of threads may query one store at the same time.  C89, no dependencies in this header.
 *
 *     struct hone_store *store;
 *     struct hone_answer best;
 *     struct hone_error error;
 *
 *     if (hone_store_open(NULL, &store, &error) != 0 ||
 *         hone_query_dag(store, text, strlen(text), NULL, &best, &error) != 0) {
 *             fprintf(stderr, "%s\n", error.text);
 *     }
 */
#ifndef HONE_HONE_H
#define HONE_HONE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Answers of the functions below; 0 is success. The numbers are for ever. */
#define HONE_NOT_FOUND (-1)
#define HONE_QUOTA (-4)
#define HONE_INVALID (-7)
#define HONE_UNSUPPORTED (-8)
#define HONE_VERSION_MISMATCH (-9)
#define HONE_PERMISSION (-10)
#define HONE_CORRUPT (-13)
#define HONE_INTERNAL (-15)
#define HONE_IO (-16)
#define HONE_NOMEM (-17)

/* How near an answer is (struct hone_answer), best first. */
#define HONE_EXACT 0	 /* measured on this very target */
#define HONE_CLASS 1	 /* on one of the same instruction set and features: numbers differ */
#define HONE_NEAREST 2	 /* on one of the same instruction set that lacks features that are here */
#define HONE_AUTOMATIC 3 /* nothing is measured: the schedule that hone makes by rule */

struct hone_store;

struct hone_error {
	int code;	 /* as returned */
	char text[1000]; /* one line: the place, what is wrong, what to do */
};

/* The fastest correct and proved schedule. Strings live as long as the store is open. */
struct hone_answer {
	const char *workload;	/* key: 64 hex digits */
	const char *name;	/* what the submitter called it */
	const char *target;	/* target line of the machine that it was measured on */
	const char *cache;	/* "warm": its times are of calls that find the caches as the call
				 * before left them; "cold": their data in memory */
	const char *steps;	/* transform steps, JSON */
	double median_ns;	/* its time; 0 = nothing was measured, and the automatic schedule answers */
	double naive_ns;	/* time of the program as written; 0 = unknown */
	double flops;		/* floating operations of one run */
	unsigned long n_trial;	/* candidates measured so far */
	unsigned long n_failed; /* of which failed */
	/* "" when that is the target asked for.  Else this is a near answer, of another machine with
	 * the same instruction set, and here is what differs: "num_cores 2, here 4; ...".  Its
	 * steps are legal here, its time is not of here. */
	char near[1024];
	int match; /* HONE_EXACT, ... */
};

/* Open the store in `dir`; NULL: $HONE_HOME, $XDG_DATA_HOME/hone or ~/.local/share/hone.
 * HONE_NOT_FOUND when nothing was ever stored there. `error` may be NULL, here and below.
 */
int hone_store_open(const char *dir, struct hone_store **ret, struct hone_error *error);
void hone_store_close(struct hone_store *store); /* NULL is fine; ends all answers */

/* Number of stored answers. */
unsigned long hone_store_count(const struct hone_store *store);

/* Look up by workload key, or by the beginning of one (at least 4 digits; HONE_INVALID when
 * several begin so). `target` is a target line, or NULL for this machine; without a record of
 * it, the nearest machine of the same instruction set answers (`near`).  HONE_NOT_FOUND says
 * what there is instead. */
int hone_query_key(const struct hone_store *store, const char *workload,
		   const char *target, struct hone_answer *ret, struct hone_error *error);

/* Look up a computation, given as compute-dag/1 or in the text notation (n bytes). */
int hone_query_dag(const struct hone_store *store, const char *text, size_t n,
		   const char *target, struct hone_answer *ret, struct hone_error *error);

/* The time that the answer's schedule is expected to take on the target (as for the query), in ns:
 * its median, times by how much the analytic cost model finds this machine slower than the one where
 * it was measured.  That of an exact answer is its median; of an automatic one the model's alone.
 * Some tenths of a millisecond. HONE_UNSUPPORTED: the model does not look at such programs. */
int hone_expect(const struct hone_store *store, const struct hone_answer *answer,
		const char *target, double *ret_ns, struct hone_error *error);

/* The workload key of a computation; key has room for 65 bytes. */
int hone_workload_key(const char *text, size_t n, char *key, struct hone_error *error);

/* What may be asked of a computation besides its answer.  Each set of these is a task of its
 * own, with records and a best of its own. */
#define HONE_BITWISE 1u /* the numbers of the program as written, to the bit */
#define HONE_COLD 2u	/* fast where its data is in memory, in no cache */
/* No such liberty with floating-point numbers (docs/math.md); all of them are HONE_BITWISE. */
#define HONE_NO_CONTRACTION 4u
#define HONE_NO_REASSOCIATION 8u
#define HONE_NO_RECIPROCAL 16u
#define HONE_NO_ZEROS 32u
#define HONE_NO_MINMAX 64u
#define HONE_NO_FUNCTIONS 128u
#define HONE_NO_SUBNORMALS 256u

/* The key of such a task, for hone_query_key; marks = 0: hone_workload_key.  HONE_INVALID for
 * marks that are none of the above. */
int hone_task_key(const char *text, size_t n, unsigned marks, char *key,
		  struct hone_error *error);

#ifdef __cplusplus
}
#endif

#endif
