/* ort/contest.h -- two that compute the same, timed in turns; what was found is kept in a file.
 */
#ifndef HN_ORT_CONTEST_H
#define HN_ORT_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ort_contest {
	double runtime_ns, hone_ns; /* medians */
	double gain; /* the less of: the median of the turns' quotients, the quotient of the bests */
	double error; /* largest difference of an output, relative to its largest element */
};

/* Five to fifteen turns.  runs[0] is the runtime's, runs[1] hone's.  Where one thread computes, the
 * caller's, it is timed by its own clock, which other load does not disturb. */
int ort_contest_run(int (*const runs[2])(void *ctx, struct hn_err *err), void *ctx, int32_t threads,
		    struct ort_contest *ret, struct hn_err *err) HN_NODISCARD;

/* What it was found for: anything else is another contest. */
struct ort_contest_key {
	const char *runtime, *onnx, *library; /* version; hashes */
	int32_t threads;
};

/* Whether the file has the result. */
bool ort_contest_read(const char *path, const struct ort_contest_key *key, struct ort_contest *ret);

/* Where it cannot be written the contest is held each time. */
void ort_contest_keep(const char *path, const struct ort_contest_key *key,
		      const struct ort_contest *c);

/* Bytes of an element of ONNX's type; 0: it is none whose bytes we know. */
uint64_t ort_element_bytes(int element);

/* Made-up elements: floats between -1 and 1; of integers, which may be indices, zeros and ones. */
void ort_contest_fill(int element, void *bytes, uint64_t n_bytes, uint64_t n, uint64_t seed);

/* Of n elements of ONNX's type, relative to the largest of x; infinite where only one of them is a number. */
double ort_contest_difference(int element, uint64_t n, const void *x, const void *y);

#endif
