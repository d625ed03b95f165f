/* ort/contest.c -- see contest.h. */
#include "ort/contest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/half.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/jw.h"
#include "ort/slots.h"

#define FORMAT "hone-ort-race/1"
#define TURNS 15
#define LEAST_TURNS 5
#define MOST_NS 3000000000 /* after the least turns */
#define MOST_FILE (1 << 16)

static double now(int32_t threads)
{
	struct timespec t;

	clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A pause, in which the other's threads stop spinning (the runtime's do for several milliseconds:
 * with 2 of them a network of 7 ms seemed to take 15), one run to be warm; one that counts. */
static int timed(int (*run)(void *, struct hn_err *), void *ctx, int32_t threads, double *ns,
		 struct hn_err *err)
{
	const struct timespec pause = { .tv_nsec = 30000000 };

	nanosleep(&pause, NULL);
	int rc = run(ctx, err);
	double start = now(threads);

	rc = rc ? rc : run(ctx, err);
	*ns = now(threads) - start;
	return rc;
}

static int order(const void *x, const void *y)
{
	double u = *(const double *)x, v = *(const double *)y;

	return u < v ? -1 : u > v;
}

static double median(double *x, uint32_t n)
{
	qsort(x, n, sizeof(*x), order);
	return x[n / 2];
}

int ort_contest_run(int (*const runs[2])(void *ctx, struct hn_err *err), void *ctx, int32_t threads,
		    struct ort_contest *ret, struct hn_err *err)
{
	double ns[2][TURNS], gain[TURNS];
	int64_t start = hn_clock_ns();
	uint32_t n = 0;
	int rc = 0;

	while (rc == 0 && n < TURNS && (n < LEAST_TURNS || hn_clock_ns() - start < MOST_NS)) {
		rc = timed(runs[n % 2], ctx, threads, &ns[n % 2][n], err);
		rc = rc ? rc : timed(runs[1 - n % 2], ctx, threads, &ns[1 - n % 2][n], err);
		gain[n] = ns[0][n] / ns[1][n];
		n++;
	}
	if (rc == 0) {
		ret->gain = median(gain, n);
		ret->runtime_ns = median(ns[0], n);
		ret->hone_ns = median(ns[1], n);
		/* sorted: the best of each, which other load disturbs least */
		ret->gain = fmin(ret->gain, ns[0][0] / ns[1][0]);
	}
	return rc;
}

/* -- what was found before -------------------------------------------------------------------- */

static bool is_same(const struct hn_json *v, const char *member, const char *want)
{
	const char *s = hn_json_string(hn_json_get(v, member));

	return s != NULL && strcmp(s, want) == 0;
}

bool ort_contest_read(const char *path, const struct ort_contest_key *key, struct ort_contest *ret)
{
	struct hn_json *v = NULL;
	struct hn_buf b;
	int64_t threads = 0;

	hn_buf_init(&b);
	bool kept = hn_file_read_kept(path, MOST_FILE, &b, NULL) == 0 &&
		    hn_json_parse(path, b.s, b.n, NULL, &v, NULL) == 0 &&
		    is_same(v, "format", FORMAT) && is_same(v, "onnxruntime", key->runtime) &&
		    is_same(v, "onnx", key->onnx) && is_same(v, "library", key->library) &&
		    hn_json_int(hn_json_get(v, "threads"), &threads) && threads == key->threads &&
		    hn_json_double(hn_json_get(v, "onnxruntime_ns"), &ret->runtime_ns) &&
		    hn_json_double(hn_json_get(v, "hone_ns"), &ret->hone_ns) &&
		    hn_json_double(hn_json_get(v, "gain"), &ret->gain) &&
		    hn_json_double(hn_json_get(v, "error"), &ret->error);
	hn_json_free(v);
	hn_buf_fini(&b);
	return kept;
}

void ort_contest_keep(const char *path, const struct ort_contest_key *key,
		      const struct ort_contest *c)
{
	struct hn_err ignored;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", FORMAT);
	hn_jw_str(&w, "onnxruntime", key->runtime);
	hn_jw_str(&w, "onnx", key->onnx);
	hn_jw_str(&w, "library", key->library);
	hn_jw_int(&w, "threads", key->threads);
	hn_jw_double(&w, "onnxruntime_ns", c->runtime_ns);
	hn_jw_double(&w, "hone_ns", c->hone_ns);
	hn_jw_double(&w, "gain", c->gain);
	hn_jw_double(&w, "error", c->error);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	int rc = hn_file_replace(path, b.s, b.n, &ignored);

	(void)rc;
	hn_buf_fini(&b);
}

/* -- what is computed --------------------------------------------------------------------------- */

uint64_t ort_element_bytes(int element)
{
	/* by number: none, float32, 8 and 16 bits, 32 and 64, strings, bool, float16, float64, ... */
	static const uint8_t bytes[] = { 0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2 };

	return element >= 0 && element < (int)HN_COUNT_OF(bytes) ? bytes[element] : 0;
}

void ort_contest_fill(int element, void *bytes, uint64_t n_bytes, uint64_t n, uint64_t seed)
{
	size_t step = n > 0 ? n_bytes / n : 0;

	memset(bytes, 0, n_bytes);
	for (uint64_t i = 0; i < n && step > 0; i++) {
		uint64_t h = hn_hash64_word(i, seed);

		if (element == ORT_FLOAT) {
			((float *)bytes)[i] = (float)(h >> 40) * 0x1p-23f - 1;
		} else if (element != ORT_FLOAT16 && element != ORT_DOUBLE &&
			   element != ORT_BFLOAT16) {
			((unsigned char *)bytes)[i * step] = h & 1;
		}
	}
}

static double element_of(int type, const void *p, uint64_t i)
{
	switch (type) {
	case ORT_FLOAT:
		return (double)((const float *)p)[i];
	case ORT_DOUBLE:
		return ((const double *)p)[i];
	case ORT_INT64:
		return (double)((const int64_t *)p)[i];
	case ORT_INT32:
		return (double)((const int32_t *)p)[i];
	case ORT_FLOAT16:
		return (double)hn_half_to_float(((const uint16_t *)p)[i]);
	case ORT_BFLOAT16:
		return (double)hn_bfloat_to_float(((const uint16_t *)p)[i]);
	default:
		return (double)((const unsigned char *)p)[i];
	}
}

double ort_contest_difference(int element, uint64_t n, const void *x, const void *y)
{
	double most = 1e-30, worst = 0;

	for (uint64_t i = 0; i < n; i++) {
		double u = element_of(element, x, i), v = element_of(element, y, i);

		if (isnan(u) != isnan(v) || isinf(u) != isinf(v)) {
			return INFINITY;
		}
		if (isfinite(u)) {
			most = fmax(most, fabs(u));
			worst = fmax(worst, fabs(u - v));
		}
	}
	return worst / most;
}
