/* measure/board/prepare.c -- see prepare.h. */
#include "measure/board/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "hone/kernel.h"
#include "measure/board/child.h"
#include "measure/board/fpenv.h"
#include "base/loader.h"
#include "measure/board/sandbox.h"
#include "proto/model.h"

#define MOST_TEXT ((size_t)64 << 20)
#define MOST_OBJECT ((size_t)256 << 20)
#define LIMIT_NS INT64_C(30000000000) /* and as much for each 2^30 bytes that are made */
#define CHILD_BYTES ((int64_t)1 << 30) /* beside what is mapped: objects, and malloc's */

typedef int32_t (*prepare_fn)(void *const *args, void *prepared, const struct hone_env *env);
typedef int32_t (*init_fn)(void);

/* Shared with the child; what it says of itself is used for messages alone. */
struct shared {
	struct hn_fault_note note;
	uint32_t step; /* the one at work */
	bool done;
	char why[200];
};

struct run {
	struct hn_arena a;
	const struct hn_model *m;
	const char *objects;
	const char *weights;
	char *prepared, *workspace;
	uint64_t workspace_bytes;
	struct shared *shared;
	const bool *prepares; /* [n_step] */
	prepare_fn *fn;	      /* [n_kernel]; NULL: it prepares nothing */
};

/* -- in the child ------------------------------------------------------------------------- */

static bool load(struct run *r, uint32_t kernel, struct hn_err *err)
{
	const struct hn_model_kernel *k = &r->m->kernel[kernel];
	char *path = hn_arena_printf(&r->a, "%s/%s.o", r->objects, k->symbol);
	struct hn_object *object;
	struct hn_buf b;

	hn_buf_init(&b);
	int rc = hn_file_read(path, MOST_OBJECT, &b, err);

	rc = rc ? rc : hn_object_load(b.s, b.n, &object, err);
	hn_buf_fini(&b);
	if (rc != 0) {
		return false;
	}
	init_fn init = (init_fn)hn_object_function(
		object, hn_arena_printf(&r->a, "%s_init", k->symbol));

	r->fn[kernel] = (prepare_fn)hn_object_function(
		object, hn_arena_printf(&r->a, "%s_prepare_packed", k->symbol));
	if (r->fn[kernel] == NULL || (k->init && (init == NULL || init() != 0))) {
		(void)hn_fail(err, HONE_E_INTERNAL, "%s prepares nothing", k->symbol);
		return false;
	}
	return true;
}

static bool load_all(struct run *r)
{
	struct hn_err err = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < r->m->n_step && good; i++) {
		r->shared->step = i;
		good = !r->prepares[i] || r->fn[r->m->step[i].kernel] != NULL ||
		       load(r, r->m->step[i].kernel, &err);
	}
	snprintf(r->shared->why, sizeof r->shared->why, "%.190s", err.msg);
	return good;
}

static int32_t prepare(struct run *r, const struct hn_model_step *s)
{
	const struct hn_model_kernel *k = &r->m->kernel[s->kernel];
	const struct hone_env env = { .abi = HONE_KERNEL_ABI,
				      .n_workers = 1,
				      .workspace = r->workspace,
				      .workspace_bytes = r->workspace_bytes };
	void *args[HONE_MODEL_MAX_ARGS] = { NULL };

	for (uint32_t i = 0; i < k->n_in; i++) {
		if (k->constant[i]) {
			args[i] = (char *)(uintptr_t)r->weights + s->arg[i].offset;
		}
	}
	return r->fn[s->kernel](args, r->prepared + s->prepared, &env);
}

static void body(void *ctx)
{
	struct run *r = ctx;
	int32_t rc = 0;

	if (!load_all(r)) {
		return;
	}
	hn_sandbox_enter_kernel(HN_SANDBOX_ALL);
	hn_fp_reset();
	for (uint32_t i = 0; i < r->m->n_step && rc == 0; i++) {
		r->shared->step = i;
		rc = r->prepares[i] ? prepare(r, &r->m->step[i]) : 0;
	}
	r->shared->done = rc == 0;
}

/* -- in the parent ------------------------------------------------------------------------ */

/* The whole file, read-only. */
static int map_weights(struct run *r, const char *path, struct hn_err *err)
{
	int fd = hn_file_open(path, err);
	struct stat st;
	void *p;

	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &st) != 0 || (uint64_t)st.st_size != r->m->weights_bytes) {
		close(fd);
		return hn_fail(err, HONE_E_CORRUPT, "%s: not the weights of this network", path);
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	r->weights = p;
	return p != MAP_FAILED ? 0 : hn_fail(err, HONE_E_NOMEM, "%s: %s", path, strerror(errno));
}

/* A new file of zeros; its room on the disk is taken at once, so that no write fails later. */
static int map_out(struct run *r, const char *path, struct hn_err *err)
{
	off_t n = (off_t)r->m->prepared_bytes;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why;
	void *p = MAP_FAILED;

	if (fd < 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	why = posix_fallocate(fd, 0, n);
	if (why == 0) {
		p = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		why = p == MAP_FAILED ? errno : 0;
	}
	close(fd);
	r->prepared = p;
	return why == 0 ? 0
			: hn_fail(err, why == ENOSPC ? HONE_E_DISK_FULL : HONE_E_IO, "%s: %s", path,
				  strerror(why));
}

static void *map_some(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int map_rest(struct run *r, struct hn_err *err)
{
	for (uint32_t i = 0; i < r->m->n_kernel; i++) {
		const struct hn_model_kernel *k = &r->m->kernel[i];
		uint64_t n = k->workspace_bytes + k->worker_bytes;

		r->workspace_bytes = n > r->workspace_bytes ? n : r->workspace_bytes;
	}
	r->workspace = map_some((size_t)r->workspace_bytes + 1);
	r->shared = map_some(sizeof *r->shared);
	return r->workspace != MAP_FAILED && r->shared != MAP_FAILED
		       ? 0
		       : hn_fail(err, HONE_E_NOMEM, "no memory for the kernels' workspace");
}

static int run_child(struct run *r, struct hn_err *err)
{
	const int64_t gib = (int64_t)(r->m->prepared_bytes >> 30);
	const struct hn_child_limits limits = { .ns = LIMIT_NS * (1 + gib), .bytes = CHILD_BYTES };
	struct hn_fault_end end;
	char text[300];
	int rc;

	r->prepares = hn_model_prepares(r->m, &r->a);
	r->fn = HN_NEW_ARRAY(&r->a, prepare_fn, r->m->n_kernel);
	rc = hn_child_run(body, r, &limits, &r->shared->note, &end, err);
	if (rc != 0 || (!end.timed_out && end.status == 0 && r->shared->done)) {
		return rc;
	}
	if (end.timed_out || end.status != 0) {
		(void)hn_fault_classify(&end, &r->shared->note, 0, NULL, text, sizeof text);
	} else {
		r->shared->why[sizeof r->shared->why - 1] = '\0';
		snprintf(text, sizeof text, "%s",
			 *r->shared->why != '\0' ? r->shared->why : "it says that it failed");
	}
	return hn_fail(err, HONE_E_INTERNAL, "%.100s: its weights were not prepared: %s",
		       r->m->step[r->shared->step < r->m->n_step ? r->shared->step : 0].name, text);
}

int hn_prepare_run(const char *model, const char *weights, const char *objects, const char *out,
		   struct hn_err *err)
{
	struct run r = { .objects = objects };
	struct hn_buf text;

	hn_sandbox_enter_process(HN_SANDBOX_ALL);
	hn_arena_init(&r.a, 0);
	hn_buf_init(&text);
	int rc = hn_file_read(model, MOST_TEXT, &text, err);

	rc = rc ? rc : hn_model_read(model, text.s, text.n, &r.a, &r.m, err);
	if (rc == 0 && (r.m->prepared_bytes == 0 || r.m->weights_bytes == 0)) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: it prepares nothing", model);
	}
	rc = rc ? rc : map_weights(&r, weights, err);
	rc = rc ? rc : map_out(&r, out, err);
	rc = rc ? rc : map_rest(&r, err);
	rc = rc ? rc : run_child(&r, err);
	hn_buf_fini(&text);
	hn_arena_fini(&r.a);
	return rc; /* what is mapped goes with the process */
}
