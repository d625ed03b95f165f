/* lower/build/build_worker.c -- hone-build as a worker: frames on descriptors 0 and 1
 * (measure/measure.h), one request at a time, HELLO first, until the other side closes.
 *
 * Wall clock and memory are the parent's to limit; isl is bounded by hn_legal_check's own
 * clock.  A crash is held against the request; so a fault's signal that another process sent
 * ends this one as SIGKILL would, which is held against nobody (measure/host/worker.c).
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jw.h"
#include "loopstate/dag/dag.h"
#include "lower/build/build.h"
#include "proto/frame.h"
#include "proto/slot.h"

#define ARENA_BYTES ((size_t)1 << 30)

static int get_string(const struct hn_json *j, const char *key, const char *fallback,
		      const char **ret, struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, key);
	const char *s = v ? hn_json_string(v) : fallback;

	if (!s) {
		return hn_fail(err, HONE_E_INVALID, "request: '%s' must be a string",
			       key);
	}
	*ret = s;
	return 0;
}

static int get_bool(const struct hn_json *j, const char *key, bool *ret,
		    struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, key);

	if (v && !hn_json_bool(v, ret)) {
		return hn_fail(err, HONE_E_INVALID, "request: '%s' must be true or false",
			       key);
	}
	return 0;
}

/* A member that is JSON itself, or its text as a string. Appended to buf. */
static int get_text(const struct hn_json *j, const char *key, struct hn_buf *buf,
		    struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, key);

	if (!v) {
		return hn_fail(err, HONE_E_INVALID, "request: no '%s'", key);
	}
	if (hn_json_string(v)) {
		hn_buf_puts(buf, hn_json_string(v));
	} else {
		hn_json_write(v, buf);
	}
	return buf->failed ? hn_fail(err, HONE_E_NOMEM, "request: no memory") : 0;
}

/* Where the object may go (proto/slot.h); 0 = the frame. */
static int get_slot(const struct hn_json *j, uint32_t *ret, struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, "slot");
	int64_t slot = 0;

	if (v && (!hn_json_int(v, &slot) || slot < 1 || slot > UINT32_MAX)) {
		return hn_fail(err, HONE_E_INVALID, "request: 'slot' must be a number");
	}
	*ret = (uint32_t)slot;
	return 0;
}

static int read_request(const struct hn_json *j, struct hn_buf *dag, struct hn_buf *steps,
			uint32_t *slot, struct hn_build_request *ret, struct hn_err *err)
{
	int rc = get_text(j, "dag", dag, err);

	ret->prove = true;
	rc = rc ? rc : get_string(j, "target", "native", &ret->target, err);
	rc = rc ? rc : get_string(j, "symbol", "hone_kernel", &ret->symbol, err);
	rc = rc ? rc : get_string(j, "wide", "", &ret->wide, err);
	rc = rc ? rc : get_string(j, "refer", "", &ret->refer, err);
	rc = rc ? rc : get_string(j, "refer_steps", "", &ret->refer_steps, err);
	rc = rc ? rc : get_string(j, "wide_steps", "", &ret->wide_steps, err);
	rc = rc ? rc : get_string(j, "slices", "", &ret->slices, err);
	rc = rc ? rc : get_string(j, "samples", "", &ret->samples, err);
	rc = rc ? rc : get_string(j, "plant", "", &ret->plant, err);
	rc = rc ? rc : get_bool(j, "naive", &ret->naive, err);
	rc = rc ? rc : get_bool(j, "prove", &ret->prove, err);
	rc = rc ? rc : get_bool(j, "no_emit", &ret->no_emit, err);
	rc = rc ? rc : get_slot(j, slot, err);
	if (rc == 0 && !ret->naive) {
		rc = get_text(j, "steps", steps, err);
	}
	ret->dag = dag->s;
	ret->dag_bytes = dag->n;
	ret->steps = steps->s;
	ret->steps_bytes = steps->n;
	return rc;
}

/* Into the slot, when there is one and it has room; else onto the frame. */
static void hand_over(const struct hn_artefact *object, uint32_t slot, struct hn_jw *w,
		      struct hn_frame *f)
{
	char hash[HN_SHA256_HEX];

	if (slot != 0 &&
	    hn_slot_write(HN_SLOT_FD, slot, object->object, object->object_bytes, hash)) {
		hn_jw_uint(w, "slot_bytes", object->object_bytes);
		hn_jw_str(w, "hash", hash);
	} else {
		f->blob = object->object;
		f->blob_bytes = (uint32_t)object->object_bytes;
	}
}

static void put_slices(const struct hn_naive_more *more, struct hn_jw *w)
{
	hn_jw_list(w, "slices");
	for (uint32_t i = 0; i < more->n_slice; i++) {
		hn_jw_list(w, NULL);
		hn_jw_double(w, NULL, more->points[i]);
		hn_jw_double(w, NULL, more->of[i]);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static int send_answer(uint64_t request, const struct hn_build_answer *ans, uint32_t slot)
{
	struct hn_frame f = { .type = HN_FRAME_BUILT, .request = request };
	struct hn_buf json;
	struct hn_jw w;
	struct hn_err err;

	hn_buf_init(&json);
	hn_jw_init(&w, &json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "verdict", hn_verdict_name(ans->verdict));
	hn_jw_str(&w, "detail", ans->why.msg);
	hn_jw_int(&w, "build_ns", ans->build_ns);
	hn_jw_int(&w, "prove_ns", ans->prove_ns);
	hn_jw_uint(&w, "shared_bytes", ans->artefact.shared_bytes);
	hn_jw_uint(&w, "per_worker_bytes", ans->artefact.per_worker_bytes);
	hn_jw_uint(&w, "prepared_bytes", ans->artefact.prepared_bytes);
	hn_jw_str(&w, "certificate", ans->certificate ? ans->certificate : "");
	hn_jw_str(&w, "codegen", ans->codegen ? ans->codegen : "");
	if (ans->verdict == HN_VERDICT_OK && ans->more.n_slice > 0) {
		put_slices(&ans->more, &w);
	}
	if (ans->verdict == HN_VERDICT_OK && ans->artefact.object != NULL) {
		hand_over(&ans->artefact, slot, &w, &f);
	}
	hn_jw_end(&w);
	f.json = json.s;
	f.json_bytes = (uint32_t)json.n;
	int rc = hn_frame_send(STDOUT_FILENO, &f, &err);

	hn_buf_fini(&json);
	return rc;
}

static int serve_frame(struct hn_builder *b, const struct hn_frame *f)
{
	struct hn_build_answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct hn_build_request r = { 0 };
	struct hn_json *json = NULL;
	/* a dag's deepest expression, below its op, the dag and the request */
	const struct hn_json_limits limits = { .max_depth = HN_DAG_MAX_DEPTH + 24 };
	struct hn_buf dag, steps;
	struct hn_arena a;
	uint32_t slot = 0;
	int rc = 0;

	hn_buf_init(&dag);
	hn_buf_init(&steps);
	hn_arena_init(&a, ARENA_BYTES);
	if (f->type != HN_FRAME_BUILD) {
		rc = hn_fail(&ans.why, HONE_E_INVALID,
			     "a builder takes BUILD, not frame type %u", f->type);
	}
	rc = rc ? rc
		: hn_json_parse("request", f->json, f->json_bytes, &limits, &json,
				&ans.why);
	rc = rc ? rc : read_request(json, &dag, &steps, &slot, &r, &ans.why);
	if (rc == 0) {
		hn_build(b, &r, &a, &ans);
	}
	if (ans.artefact.object_bytes > HN_FRAME_MAX_BLOB) {
		ans.verdict = HN_VERDICT_OVER_LIMIT;
		hn_fail(&ans.why, HONE_E_QUOTA, "the object is larger than %u bytes",
			HN_FRAME_MAX_BLOB);
	}
	rc = send_answer(f->request, &ans, slot);
	hn_json_free(json);
	hn_buf_fini(&dag);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
	return rc;
}

#if defined(__SANITIZE_ADDRESS__)
/* The sanitizer says where. */
static void watch_faults(void)
{
}
#else
static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 && info->si_pid != getpid()) {
		kill(getpid(), SIGKILL);
	}
	raise(signal); /* SA_RESETHAND: it is final now */
}

static void watch_faults(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER };

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < HN_COUNT_OF(faults); i++) {
		sigaction(faults[i], &act, NULL);
	}
}
#endif

static int say_hello(struct hn_err *err)
{
	struct hn_frame f = { .type = HN_FRAME_HELLO };
	struct hn_target host;
	struct hn_arena a;
	struct hn_buf json, line;
	struct hn_jw w;

	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	hn_buf_init(&line);
	hn_target_host(&a, &host);
	hn_target_print(&host, &line);
	hn_jw_init(&w, &json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "worker", "build");
	hn_jw_str(&w, "version", HONE_VERSION);
	hn_jw_str(&w, "target", line.s);
	hn_jw_end(&w);
	f.json = json.s;
	f.json_bytes = (uint32_t)json.n;
	int rc = hn_frame_send(STDOUT_FILENO, &f, err);

	hn_buf_fini(&json);
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	return rc;
}

int hn_build_serve(struct hn_builder *b)
{
	struct hn_err err = { 0 };
	struct hn_buf buf;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a compile under way outlives nobody */
	watch_faults();
	rc = say_hello(&err);
	hn_buf_init(&buf);
	while (rc == 0) {
		struct hn_frame f;

		hn_buf_reset(&buf);
		rc = hn_frame_recv(STDIN_FILENO, &buf, &f, &err);
		rc = rc ? rc : serve_frame(b, &f);
	}
	hn_buf_fini(&buf);
	if (rc < 0 && rc != -HONE_E_IO) {
		fprintf(stderr, "hone-build: %s\n", err.msg);
	}
	return rc == 1 ? 0 : 1;
}
