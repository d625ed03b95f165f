/* ort/race.c -- see race.h. */
#include "ort/race.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/half.h"
#include "base/json.h"
#include "base/jw.h"

#define FORMAT "hone-ort-race/1"
#define TURNS 15
#define LEAST_TURNS 5
#define MOST_NS 3000000000 /* after the least turns */

struct race {
	const void *api;
	void *env, *options, *session, *memory;
	struct ort_library *l;
	void **in, **out; /* [n_inputs], [n_outputs] bytes */
	void **value;	  /* [n_inputs] the same as the runtime's tensors */
	const char **in_name, **out_name;
	void **result; /* [n_outputs] the runtime's */
};

static int refuse(const struct race *r, ort_status *status, const char *what, struct hn_err *err)
{
	if (status == NULL) {
		return 0;
	}
	int rc = hn_fail(err, HONE_E_INTERNAL, "onnxruntime: %s: %.300s", what,
			 ort_call(r->api, GetErrorMessage)(status));

	ort_call(r->api, ReleaseStatus)(status);
	return rc;
}

/* Floats between -1 and 1; of integers, which may be indices, zeros and ones. */
static void fill(const struct hone_model_tensor *t, void *bytes, uint64_t seed)
{
	bool is_float = strcmp(t->dtype, "float32") == 0;
	size_t step = t->bytes;

	for (uint32_t d = 0; d < t->rank; d++) {
		step /= t->dims[d] > 0 ? (size_t)t->dims[d] : 1;
	}
	memset(bytes, 0, t->bytes);
	for (uint64_t i = 0; step > 0 && i < t->bytes / step; i++) {
		uint64_t h = hn_hash64_word(i, seed);

		if (is_float) {
			((float *)bytes)[i] = (float)(h >> 40) * 0x1p-23f - 1;
		} else if (strstr(t->dtype, "float") == NULL) {
			((unsigned char *)bytes)[i * step] = h & 1;
		}
	}
}

static int open_runtime(struct race *r, const char *model, struct hn_err *err)
{
	int32_t threads = hone_pool_threads(r->l->pool);
	int rc = refuse(r, ort_call(r->api, CreateEnv)(ORT_SAYS_WARNING, "hone", &r->env),
			"environment", err);

	rc = rc ? rc
		: refuse(r, ort_call(r->api, CreateSessionOptions)(&r->options), "options", err);
	rc = rc ? rc
		: refuse(r, ort_call(r->api, SetIntraOpNumThreads)(r->options, threads), "threads",
			 err);
	rc = rc ? rc
		: refuse(r, ort_call(r->api, CreateSession)(r->env, model, r->options, &r->session),
			 "session", err);
	return rc ? rc
		  : refuse(r, ort_call(r->api, CreateCpuMemoryInfo)(0, 0, &r->memory), "memory", err);
}

static int make_tensors(struct race *r, struct hn_arena *a, struct hn_err *err)
{
	const struct hone_model *m = r->l->model;
	int rc = 0;

	r->in = HN_NEW_ARRAY(a, void *, m->n_inputs + 1);
	r->value = HN_NEW_ARRAY(a, void *, m->n_inputs + 1);
	r->in_name = HN_NEW_ARRAY(a, const char *, m->n_inputs + 1);
	r->out = HN_NEW_ARRAY(a, void *, m->n_outputs + 1);
	r->result = HN_NEW_ARRAY(a, void *, m->n_outputs + 1);
	r->out_name = HN_NEW_ARRAY(a, const char *, m->n_outputs + 1);
	for (uint32_t i = 0; i < m->n_inputs && rc == 0; i++) {
		const struct hone_model_tensor *t = &m->inputs[i];

		r->in_name[i] = t->name;
		r->in[i] = aligned_alloc(64, (t->bytes + 64) / 64 * 64);
		if (r->in[i] == NULL) {
			return hn_fail(err, HONE_E_NOMEM, "no memory for input %s", t->name);
		}
		fill(t, r->in[i], i + 1);
		rc = refuse(r,
			    ort_call(r->api, CreateTensorWithDataAsOrtValue)(
				    r->memory, r->in[i], t->bytes, t->dims, t->rank,
				    ort_library_type(t), &r->value[i]),
			    t->name, err);
	}
	for (uint32_t i = 0; i < m->n_outputs && rc == 0; i++) {
		r->out_name[i] = m->outputs[i].name;
		r->out[i] = aligned_alloc(64, (m->outputs[i].bytes + 64) / 64 * 64);
		if (r->out[i] == NULL) {
			rc = hn_fail(err, HONE_E_NOMEM, "no memory for output %s",
				     m->outputs[i].name);
		}
	}
	return rc;
}

static void drop_results(struct race *r)
{
	for (uint32_t i = 0; i < r->l->model->n_outputs; i++) {
		if (r->result[i] != NULL) {
			ort_call(r->api, ReleaseValue)(r->result[i]);
		}
		r->result[i] = NULL;
	}
}

static int run_runtime(struct race *r, struct hn_err *err)
{
	const struct hone_model *m = r->l->model;

	drop_results(r);
	return refuse(r,
		      ort_call(r->api, Run)(r->session, NULL, r->in_name,
					    (const void *const *)r->value, m->n_inputs, r->out_name,
					    m->n_outputs, r->result),
		      "run", err);
}

static int run_hone(struct race *r, struct hn_err *err)
{
	int32_t rc = ort_library_run(r->l, (const void *const *)r->in, r->out);

	return rc == 0 ? 0 : hn_fail(err, HONE_E_INTERNAL, "the compiled network returned %d", rc);
}

static double element(const char *dtype, const void *p, uint64_t i)
{
	return strcmp(dtype, "float32") == 0   ? (double)((const float *)p)[i]
	       : strcmp(dtype, "float64") == 0 ? ((const double *)p)[i]
	       : strcmp(dtype, "int64") == 0   ? (double)((const int64_t *)p)[i]
	       : strcmp(dtype, "int32") == 0   ? (double)((const int32_t *)p)[i]
	       : strcmp(dtype, "float16") == 0
		       ? (double)hn_half_to_float(((const uint16_t *)p)[i])
		       : (double)((const unsigned char *)p)[i];
}

/* Of one output.  Infinite where only one of them is a number. */
static double difference(const struct hone_model_tensor *t, const void *x, const void *y)
{
	double most = 1e-30, worst = 0;
	uint64_t n = 1;

	for (uint32_t d = 0; d < t->rank; d++) {
		n *= (uint64_t)t->dims[d];
	}
	for (uint64_t i = 0; i < n; i++) {
		double u = element(t->dtype, x, i), v = element(t->dtype, y, i);

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

static int compare(struct race *r, struct ort_race *ret, struct hn_err *err)
{
	const struct hone_model *m = r->l->model;
	int rc = run_runtime(r, err);

	rc = rc ? rc : run_hone(r, err);
	for (uint32_t i = 0; i < m->n_outputs && rc == 0; i++) {
		size_t bytes = 0;
		void *theirs = NULL;

		rc = refuse(r, ort_call(r->api, GetTensorSizeInBytes)(r->result[i], &bytes),
			    m->outputs[i].name, err);
		rc = rc ? rc
			: refuse(r, ort_call(r->api, GetTensorMutableData)(r->result[i], &theirs),
				 m->outputs[i].name, err);
		if (rc == 0 && bytes != m->outputs[i].bytes) {
			rc = hn_fail(err, HONE_E_INVALID, "output %s: %zu bytes, here %llu",
				     m->outputs[i].name, bytes,
				     (unsigned long long)m->outputs[i].bytes);
		}
		if (rc == 0) {
			ret->error = fmax(ret->error,
					  difference(&m->outputs[i], theirs, r->out[i]));
		}
	}
	return rc;
}

/* A pause, in which the other's threads stop spinning (the runtime's do for several milliseconds:
 * with 2 of them a network of 7 ms seemed to take 15), one run to be warm; one that counts. */
static int timed(struct race *r, int (*run)(struct race *, struct hn_err *), double *ns,
		 struct hn_err *err)
{
	const struct timespec pause = { .tv_nsec = 30000000 };

	nanosleep(&pause, NULL);
	int rc = run(r, err);
	int64_t start = hn_clock_ns();

	rc = rc ? rc : run(r, err);
	*ns = (double)(hn_clock_ns() - start);
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

static int take_turns(struct race *r, struct ort_race *ret, struct hn_err *err)
{
	double theirs[TURNS], ours[TURNS], gain[TURNS];
	int64_t start = hn_clock_ns();
	uint32_t n = 0;
	int rc = 0;

	while (rc == 0 && n < TURNS && (n < LEAST_TURNS || hn_clock_ns() - start < MOST_NS)) {
		rc = timed(r, n % 2 ? run_hone : run_runtime, n % 2 ? &ours[n] : &theirs[n], err);
		rc = rc ? rc
			: timed(r, n % 2 ? run_runtime : run_hone, n % 2 ? &theirs[n] : &ours[n],
				err);
		gain[n] = theirs[n] / ours[n];
		n++;
	}
	if (rc == 0) {
		ret->gain = median(gain, n);
		ret->runtime_ns = median(theirs, n);
		ret->hone_ns = median(ours, n);
		/* sorted: the best of each, which other load disturbs least */
		ret->gain = fmin(ret->gain, theirs[0] / ours[0]);
	}
	return rc;
}

static void close_runtime(struct race *r)
{
	if (r->result != NULL) {
		drop_results(r);
	}
	for (uint32_t i = 0; r->value != NULL && i < r->l->model->n_inputs; i++) {
		if (r->value[i] != NULL) {
			ort_call(r->api, ReleaseValue)(r->value[i]);
		}
		free(r->in[i]);
	}
	for (uint32_t i = 0; r->out != NULL && i < r->l->model->n_outputs; i++) {
		free(r->out[i]);
	}
	if (r->memory != NULL) {
		ort_call(r->api, ReleaseMemoryInfo)(r->memory);
	}
	if (r->session != NULL) {
		ort_call(r->api, ReleaseSession)(r->session);
	}
	if (r->options != NULL) {
		ort_call(r->api, ReleaseSessionOptions)(r->options);
	}
	if (r->env != NULL) {
		ort_call(r->api, ReleaseEnv)(r->env);
	}
}

/* -- what was found before -------------------------------------------------------------------- */

static bool is_same(const struct hn_json *v, const char *member, const char *want)
{
	const char *s = hn_json_string(hn_json_get(v, member));

	return s != NULL && strcmp(s, want) == 0;
}

static bool read_kept(const char *path, const char *runtime, const struct ort_library *l,
		      struct ort_race *ret)
{
	struct hn_json *v = NULL;
	struct hn_buf b;
	int64_t threads = 0;

	hn_buf_init(&b);
	ret->kept = hn_file_read(path, 1 << 16, &b, NULL) == 0 &&
		    hn_json_parse(path, b.s, b.n, NULL, &v, NULL) == 0 &&
		    is_same(v, "format", FORMAT) && is_same(v, "onnxruntime", runtime) &&
		    is_same(v, "onnx", l->onnx) && is_same(v, "library", l->binary) &&
		    hn_json_int(hn_json_get(v, "threads"), &threads) &&
		    threads == hone_pool_threads(l->pool) &&
		    hn_json_double(hn_json_get(v, "onnxruntime_ns"), &ret->runtime_ns) &&
		    hn_json_double(hn_json_get(v, "hone_ns"), &ret->hone_ns) &&
		    hn_json_double(hn_json_get(v, "gain"), &ret->gain) &&
		    hn_json_double(hn_json_get(v, "error"), &ret->error);
	hn_json_free(v);
	hn_buf_fini(&b);
	return ret->kept;
}

/* Where the folder cannot be written to, it is raced each time. */
static void keep(const char *path, const char *runtime, const struct ort_library *l,
		 const struct ort_race *r)
{
	struct hn_err ignored;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", FORMAT);
	hn_jw_str(&w, "onnxruntime", runtime);
	hn_jw_str(&w, "onnx", l->onnx);
	hn_jw_str(&w, "library", l->binary);
	hn_jw_int(&w, "threads", hone_pool_threads(l->pool));
	hn_jw_double(&w, "onnxruntime_ns", r->runtime_ns);
	hn_jw_double(&w, "hone_ns", r->hone_ns);
	hn_jw_double(&w, "gain", r->gain);
	hn_jw_double(&w, "error", r->error);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	int rc = hn_file_replace(path, b.s, b.n, &ignored);

	(void)rc;
	hn_buf_fini(&b);
}

int ort_race(const void *api, const char *runtime, const char *model, const char *dir,
	     struct ort_library *l, struct ort_race *ret, struct hn_err *err)
{
	struct race r = { .api = api, .l = l };
	char path[PATH_MAX];
	struct hn_arena a;

	*ret = (struct ort_race){ 0 };
	snprintf(path, sizeof(path), "%.4000s/race.json", dir);
	if (read_kept(path, runtime, l, ret)) {
		return 0;
	}
	*ret = (struct ort_race){ 0 };
	hn_arena_init(&a, 0);
	int rc = open_runtime(&r, model, err);

	rc = rc ? rc : make_tensors(&r, &a, err);
	rc = rc ? rc : compare(&r, ret, err);
	rc = rc ? rc : take_turns(&r, ret, err);
	if (rc == 0) {
		keep(path, runtime, l, ret);
	}
	close_runtime(&r);
	hn_arena_fini(&a);
	return rc;
}
