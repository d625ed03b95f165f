/* measure/board/check.c -- see check.h. */
#include "measure/board/check.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hone/kernel.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/jw.h"
#include "base/rng.h"
#include "measure/board/child.h"
#include "measure/board/fpenv.h"
#include "measure/board/redzone.h"
#include "base/loader.h"
#include "measure/board/sandbox.h"
#include "measure/board/verify.h"
#include "proto/frames.h"

#define WORKERS 3
#define CHUNKS 16	/* of a parallel loop, in any order */
#define LIMIT_NS INT64_C(20000000000)
#define CHILD_BYTES ((int64_t)1 << 30) /* beside the buffers: the object, malloc's */
#define MOST_WORKSPACE ((uint64_t)4 << 30)
#define TRIES 3 /* of a process that is killed from outside */

typedef int32_t (*plain_fn)(void *const *args, const struct hone_env *env);
typedef int32_t (*sized_fn)(const int64_t *sizes, void *const *args, const struct hone_env *env);
typedef int32_t (*prepare_fn)(void *const *args, void *prepared, const struct hone_env *env);

/* The file's first frame. */
struct kernel {
	struct hn_frame_kernel said;
	const void *object; /* said.object->bytes of them */
};

/* Shared with the child; what it says of itself is not believed, its outputs are looked at. */
struct shared {
	struct hn_fault_note note;
	int32_t returned;
	bool loaded;
	char why[200]; /* it was not */
};

struct run {
	struct hn_arena a;
	const struct kernel *kernel;
	struct shared *shared;
	struct hn_frame_case said;
	uint32_t index, n_arg;
	struct hn_tensor *arg;
	struct hn_redzone *buffer; /* [n_arg] */
	struct hn_redzone workspace, prepared;
	const int64_t **at;   /* [n_arg] of outputs: the places that are known, ... */
	const char **value; /* ... and what is there */
	const int64_t *n_known;
	double error; /* the largest difference that was seen (verify.h) */
	struct hn_rng rng;
};

static int corrupt(const char *what, struct hn_err *err)
{
	return hn_fail(err, HONE_E_CORRUPT, "check: %s", what);
}

static int read_kernel(const struct hn_frame *f, struct hn_arena *a, struct kernel *ret,
		       struct hn_err *err)
{
	const int64_t most = (int64_t)MOST_WORKSPACE / WORKERS;
	int rc = hn_frame_decode_kernel(f, a, &ret->said, err);
	const struct hn_frame_object *o = ret->said.object;

	if (rc != 0) {
		return rc;
	}
	if (o->slot != 0 || o->bytes != f->blob_bytes) {
		return corrupt("the kernel is not in the file", err);
	}
	ret->object = f->blob;
	return o->shared_bytes <= most && o->per_worker_bytes <= most && o->prepared_bytes <= most
		       ? 0
		       : hn_fail(err, HONE_E_NOMEM, "check: its workspace takes too much memory");
}

/* So many bytes of the blob, copied to where they are aligned, and those to the next multiple of
 * 8; NULL: it ends before. */
static const void *take(struct run *r, const struct hn_frame *f, size_t *used, int64_t bytes)
{
	size_t n = (size_t)bytes, at = *used;

	if (bytes < 0 || n > f->blob_bytes || f->blob_bytes - n < at) {
		return NULL;
	}
	*used = (at + n + 7) / 8 * 8;
	*used = *used < f->blob_bytes ? *used : f->blob_bytes;
	uint64_t *copy = HN_NEW_ARRAY(&r->a, uint64_t, n / 8 + 1);

	memcpy(copy, (const char *)f->blob + at, n);
	return copy;
}

/* Buffers and what is known, from a case. */
static int read_case(struct run *r, const struct hn_frame *f, struct hn_err *err)
{
	size_t used = 0;
	int64_t bytes = 0;
	int rc = hn_tensors_of(r->said.args.n, r->said.args.at, &r->a, &r->arg, err);

	if (rc != 0) {
		return rc;
	}
	r->n_arg = r->said.args.n;
	r->n_known = r->said.elements.at;
	for (uint32_t i = 0; i < r->n_arg; i++) {
		bytes += r->arg[i].bytes; /* each below 2^40 */
		if (r->n_known[i] > r->arg[i].n_elem) {
			return corrupt("more elements than there are", err);
		}
	}
	if (bytes > HN_FRAME_MAX_BLOB) {
		return corrupt("arguments larger than a frame", err);
	}
	r->buffer = HN_NEW_ARRAY(&r->a, struct hn_redzone, r->n_arg);
	r->at = HN_NEW_ARRAY(&r->a, const int64_t *, r->n_arg);
	r->value = HN_NEW_ARRAY(&r->a, const char *, r->n_arg);
	for (uint32_t i = 0; i < r->n_arg && rc == 0; i++) {
		const struct hn_tensor *t = &r->arg[i];
		const void *input;

		if (t->output) {
			r->at[i] = take(r, f, &used, 8 * r->n_known[i]);
			r->value[i] = take(r, f, &used, r->n_known[i] * hn_dtype_bytes(t->elem));
			if (r->at[i] == NULL || r->value[i] == NULL) {
				return corrupt("a case without its answers", err);
			}
			for (int64_t k = 0; k < r->n_known[i]; k++) {
				if (r->at[i][k] < 0 || r->at[i][k] >= t->n_elem) {
					return corrupt("an element outside of its output", err);
				}
			}
			rc = hn_redzone_map((size_t)t->bytes, HN_REDZONE_EXACT, &r->buffer[i], err);
			hn_redzone_settle(&r->buffer[i]);
			continue;
		}
		input = take(r, f, &used, t->bytes);
		if (input == NULL) {
			return corrupt("a case without its inputs", err);
		}
		rc = hn_redzone_map((size_t)t->bytes, HN_REDZONE_EXACT, &r->buffer[i], err);
		if (rc == 0) {
			memcpy(r->buffer[i].data, input, (size_t)t->bytes);
			rc = hn_redzone_seal(&r->buffer[i], err);
		}
	}
	return rc;
}

/* Memory of a call beside its arguments. */
static int map_memory(struct run *r, struct hn_err *err)
{
	const struct hn_frame_object *k = r->kernel->said.object;
	int64_t bytes = k->shared_bytes + WORKERS * k->per_worker_bytes;
	int rc = bytes > 0 ? hn_redzone_map((size_t)bytes, HN_REDZONE_ALIGNED, &r->workspace, err)
			   : 0;

	if (rc == 0 && k->prepared_bytes > 0 && r->index % 2 == 0) {
		rc = hn_redzone_map((size_t)k->prepared_bytes, HN_REDZONE_ALIGNED, &r->prepared,
				    err);
	}
	hn_redzone_settle(&r->workspace);
	hn_redzone_settle(&r->prepared);
	return rc;
}

/* A parallel loop in pieces, on workers and in an order drawn at random. */
static void run_in_any_order(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	struct hn_rng *rng = ctx;
	int64_t n_chunk = n < CHUNKS ? n : CHUNKS, order[CHUNKS];

	for (int64_t i = 0; i < n_chunk; i++) {
		int64_t at = (int64_t)hn_rng_below(rng, (uint64_t)i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	for (int64_t i = 0; i < n_chunk; i++) {
		int64_t c = order[i], size = n / n_chunk, more = n % n_chunk;
		int64_t begin = c * size + (c < more ? c : more);

		body(closure, begin, begin + size + (c < more),
		     (int32_t)hn_rng_below(rng, WORKERS));
	}
}

static void *function(const struct run *r, const struct hn_object *object, const char *suffix)
{
	char name[256];

	snprintf(name, sizeof name, "%s%s", r->kernel->said.symbol, suffix);
	return (void *)hn_object_function(object, name);
}

/* In the child. */
static void call(void *ctx)
{
	struct run *r = ctx;
	struct shared *s = r->shared;
	struct hn_object *object;
	struct hn_err err = { 0 };
	const void *data;
	size_t bytes;
	void **args = HN_NEW_ARRAY(&r->a, void *, r->n_arg);
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = WORKERS,
				.parallel_for = run_in_any_order,
				.ctx = &r->rng,
				.workspace = r->workspace.data,
				.workspace_bytes = r->workspace.bytes };
	bool loaded = hn_object_load(r->kernel->object,
				     (size_t)r->kernel->said.object->bytes, &object, &err) == 0 &&
		      hn_object_freeze(object, &data, &bytes, &err) == 0;
	void *fn = loaded ? function(r, object, "_packed") : NULL;
	void *prepare = loaded && r->prepared.data != NULL
				? function(r, object, "_prepare_packed")
				: NULL;

	s->loaded = fn != NULL && (r->prepared.data == NULL || prepare != NULL);
	snprintf(s->why, sizeof s->why, "%.190s", loaded ? "it lacks the kernel" : err.msg);
	if (!s->loaded) {
		return;
	}
	for (uint32_t i = 0; i < r->n_arg; i++) {
		args[i] = r->buffer[i].data;
	}
	hn_sandbox_enter_kernel(HN_SANDBOX_ALL);
	hn_fp_reset();
	if (prepare != NULL) {
		s->returned = ((prepare_fn)prepare)(args, r->prepared.data, &env);
		env.prepared = r->prepared.data;
		env.prepared_bytes = r->prepared.bytes;
	}
	if (s->returned == 0) {
		s->returned = r->kernel->said.sized
				      ? ((sized_fn)fn)(r->said.sizes.at, args, &env)
				      : ((plain_fn)fn)(args, &env);
	}
}

static enum hn_verdict judge_fault(struct run *r, const struct hn_fault_end *end,
				   char *text, size_t n)
{
	struct hn_fault_range *range = HN_NEW_ARRAY(&r->a, struct hn_fault_range, r->n_arg);

	for (uint32_t i = 0; i < r->n_arg; i++) {
		const struct hn_redzone *g = &r->buffer[i];

		range[i] = (struct hn_fault_range){
			.begin = (uintptr_t)g->region,
			.end = (uintptr_t)g->region + g->region_bytes,
			.data_begin = (uintptr_t)g->data,
			.data_end = (uintptr_t)g->data + g->bytes,
			.name = r->arg[i].name,
			.read_only = !r->arg[i].output,
		};
	}
	return hn_fault_classify(end, &r->shared->note, r->n_arg, range, text, n);
}

/* The first element that differs, into text. */
static bool right(struct run *r, uint32_t i, char *text, size_t n)
{
	uint32_t size = hn_dtype_bytes(r->arg[i].elem);
	int64_t count = r->n_known[i];
	struct hn_tensor some = r->arg[i];
	char *got = HN_NEW_ARRAY(&r->a, char, (size_t)count * size + 8);
	struct hn_mismatch m;

	for (int64_t k = 0; k < count; k++) {
		memcpy(got + k * size, r->buffer[i].data + r->at[i][k] * size, size);
	}
	some.n_elem = count;
	double scale = hn_verify_scale(&some, r->value[i]);

	r->error = fmax(r->error, hn_verify_error(&some, got, r->value[i], scale));
	if (hn_verify(&some, got, r->value[i], r->said.tolerance, scale, &m)) {
		return true;
	}
	hn_verify_print(&r->arg[i], r->at[i][m.first], got + m.first * size,
			r->value[i] + m.first * size, text, n);
	return false;
}

static enum hn_verdict judge(struct run *r, const struct hn_fault_end *end, char *text, size_t n)
{
	if (end->timed_out || end->status != 0) {
		return judge_fault(r, end, text, n);
	}
	if (!r->shared->loaded || r->shared->returned != 0) {
		snprintf(text, n, "%s%s",
			 r->shared->loaded ? "the kernel says that it did not do its work"
					   : "the object cannot be loaded: ",
			 r->shared->loaded ? "" : r->shared->why);
		return r->shared->loaded ? HN_VERDICT_WRONG_RESULT : HN_VERDICT_LOAD_FAIL;
	}
	for (uint32_t i = 0; i < r->n_arg; i++) {
		if (r->arg[i].output && !hn_redzone_intact(&r->buffer[i])) {
			snprintf(text, n, "wrote beside %.60s, within a page of it",
				 r->arg[i].name);
			return HN_VERDICT_SEGV_GUARD;
		}
	}
	for (uint32_t i = 0; i < r->n_arg; i++) {
		if (r->arg[i].output && !right(r, i, text, n)) {
			return HN_VERDICT_WRONG_RESULT;
		}
	}
	return HN_VERDICT_OK;
}

static int run_case(struct run *r, enum hn_verdict *ret, char *text, size_t n, struct hn_err *err)
{
	const struct hn_child_limits limits = {
		.ns = LIMIT_NS,
		.bytes = CHILD_BYTES + (int64_t)r->workspace.bytes + (int64_t)r->prepared.bytes,
	};
	int rc = 0;

	*ret = HN_VERDICT_RUN_LOST;
	for (int i = 0; rc == 0 && i < TRIES && *ret == HN_VERDICT_RUN_LOST; i++) {
		struct hn_fault_end end;

		*r->shared = (struct shared){ 0 };
		r->rng = hn_rng_stream(1, 0, 0, r->index);
		for (uint32_t k = 0; k < r->n_arg; k++) {
			if (r->arg[k].output) {
				memset(r->buffer[k].data, HN_POISON_FIRST, r->buffer[k].bytes);
				hn_redzone_mend(&r->buffer[k]);
			}
		}
		rc = hn_child_run(call, r, &limits, &r->shared->note, &end, err);
		if (rc == 0) {
			*ret = judge(r, &end, text, n);
		}
	}
	return rc;
}

static void close_run(struct run *r)
{
	for (uint32_t i = 0; r->buffer != NULL && i < r->n_arg; i++) {
		hn_redzone_unmap(&r->buffer[i]);
	}
	hn_redzone_unmap(&r->workspace);
	hn_redzone_unmap(&r->prepared);
	hn_arena_fini(&r->a);
}

static void put_case(const struct run *r, struct hn_jw *w)
{
	int64_t n = 0, of = 0;

	for (uint32_t i = 0; i < r->n_arg; i++) {
		n += r->n_known[i];
		of += r->arg[i].output ? r->arg[i].n_elem : 0;
	}
	hn_jw_object(w, NULL);
	hn_jw_str(w, "inputs", r->said.inputs);
	hn_jw_list(w, "sizes");
	for (uint32_t i = 0; i < r->said.sizes.n; i++) {
		hn_jw_int(w, NULL, r->said.sizes.at[i]);
	}
	hn_jw_end(w);
	hn_jw_int(w, "elements", n);
	hn_jw_int(w, "of", of);
	hn_jw_double(w, "error", r->error);
	hn_jw_double(w, "allowed", r->said.tolerance);
	hn_jw_end(w);
}

struct outcome {
	enum hn_verdict verdict;
	char detail[700], why[HN_FRAME_LINE + 200];
	bool some; /* a case was run and was right */
};

/* What is said of a kernel that is wrong: where, and on what. */
static void blame(const struct run *r, const char *text, struct outcome *o)
{
	size_t n = sizeof o->detail, at = (size_t)snprintf(o->detail, n, "%.500s", text);

	for (uint32_t i = 0; i < r->said.sizes.n && at < n; i++) {
		at += (size_t)snprintf(o->detail + at, n - at, "%s%lld", i > 0 ? ", " : "; sizes ",
				       (long long)r->said.sizes.at[i]);
	}
}

static int one_case(const struct kernel *k, struct shared *shared, const struct hn_frame *f,
		    uint32_t index, struct outcome *o, struct hn_jw *w, struct hn_err *err)
{
	struct run r = { .kernel = k, .shared = shared, .index = index };
	enum hn_verdict v = HN_VERDICT_NONE;
	char text[500] = "";

	hn_arena_init(&r.a, 0);
	int rc = hn_frame_decode_case(f, &r.a, &r.said, err);

	if (rc == 0 && *r.said.why != '\0') {
		snprintf(o->why, sizeof o->why, "%s", r.said.why);
		close_run(&r);
		return 0;
	}
	rc = rc ? rc : read_case(&r, f, err);
	rc = rc ? rc : map_memory(&r, err);
	rc = rc ? rc : run_case(&r, &v, text, sizeof text, err);
	if (rc == 0 && v == HN_VERDICT_OK) {
		put_case(&r, w);
		o->some = true;
	} else if (rc == 0 && v == HN_VERDICT_FPE && k->said.may_trap) {
		snprintf(o->why, sizeof o->why, "it divides by zero on the inputs tried");
	} else if (rc == 0 && v == HN_VERDICT_RUN_LOST) {
		snprintf(o->why, sizeof o->why, "its process was disturbed: %s", text);
	} else if (rc == 0) {
		o->verdict = v;
		blame(&r, text, o);
	}
	close_run(&r);
	return rc;
}

/* The frames of the file, in turn. */
static int run_frames(int fd, struct outcome *o, struct hn_jw *w, struct hn_err *err)
{
	struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hn_buf object, in;
	struct kernel kernel;
	struct hn_arena a;
	struct hn_frame f;
	uint32_t i = 0;

	if (shared == MAP_FAILED) {
		return hn_fail(err, HONE_E_NOMEM, "check: no memory");
	}
	hn_arena_init(&a, 0);
	hn_buf_init(&object);
	hn_buf_init(&in);
	int rc = hn_frame_recv(fd, &object, &f, err);

	rc = rc > 0 ? corrupt("no kernel", err) : rc;
	rc = rc ? rc : read_kernel(&f, &a, &kernel, err);
	while (rc == 0 && o->verdict == HN_VERDICT_OK) {
		rc = hn_frame_recv(fd, &in, &f, err);
		if (rc != 0) {
			rc = rc > 0 ? 0 : rc;
			break;
		}
		rc = one_case(&kernel, shared, &f, i++, o, w, err);
	}
	hn_buf_fini(&object);
	hn_buf_fini(&in);
	hn_arena_fini(&a);
	munmap(shared, sizeof *shared);
	return rc;
}

int hn_check_run(const char *path, struct hn_buf *json, struct hn_err *err)
{
	struct outcome o = { .verdict = HN_VERDICT_OK };
	int64_t begin = hn_clock_ns();
	int fd = hn_file_open(path, err);
	struct hn_jw w;

	if (fd < 0) {
		return fd;
	}
	hn_sandbox_enter_process(HN_SANDBOX_ALL);
	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "cases");
	int rc = run_frames(fd, &o, &w, err);

	hn_jw_end(&w);
	hn_jw_str(&w, "verdict", hn_verdict_name(o.verdict));
	hn_jw_str(&w, "detail", o.detail);
	hn_jw_str(&w, "why", o.some ? "" : o.why);
	hn_jw_fixed(&w, "ms", (double)(hn_clock_ns() - begin) / 1e6, 1);
	hn_jw_end(&w);
	hn_jw_done(&w);
	close(fd);
	return rc;
}
