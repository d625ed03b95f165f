/* board.c -- from frames to a driver's calls and back; knows JSON so that drivers need
 * not. */
#include "measure/board/board.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "proto/slot.h"

#define BOARD(name, takes) extern const struct hn_board_ops hn_board_##name;
#include "measure/board/boards.def"
#undef BOARD

static const struct hn_board_ops *const boards[] = {
#define BOARD(name, takes) &hn_board_##name,
#include "measure/board/boards.def"
#undef BOARD
};

#define DEFAULT_LIMIT_MS 10000

const struct hn_board_ops *hn_board_of(const char *target)
{
	size_t n = strcspn(target, " ");

	for (size_t i = 0; i < HN_COUNT_OF(boards); i++) {
		if (strlen(boards[i]->name) == n &&
		    memcmp(boards[i]->name, target, n) == 0) {
			return boards[i];
		}
	}
	return NULL;
}

/* Optional members: absent keeps the default, a wrong kind or a negative number is an
 * error. */
static bool take_int(const struct hn_json *v, const char *key, int64_t *ret)
{
	const struct hn_json *m = hn_json_get(v, key);

	return m == NULL || (hn_json_int(m, ret) && *ret >= 0);
}

static bool take_double(const struct hn_json *v, const char *key, double *ret)
{
	const struct hn_json *m = hn_json_get(v, key);

	return m == NULL || (hn_json_double(m, ret) && *ret >= 0);
}

/* Where a request's objects are: in its blob, one behind the other, or in slots. */
struct objects {
	const uint8_t *blob; /* what is left of it */
	size_t bytes;
	struct hn_arena *a;
	bool changed; /* a slot does not hold what it should */
};

static struct objects objects_of(const struct hn_frame *f, struct hn_arena *a)
{
	return (struct objects){.blob = f->blob, .bytes = f->blob_bytes, .a = a};
}

/* A copy of the slot's bytes, held against their hash: a driver never sees the slot. */
static int take_slot(const struct hn_json *v, int64_t slot, int64_t bytes, struct objects *from,
		     const void **ret, struct hn_err *err)
{
	const char *hash = hn_json_string(hn_json_get(v, "hash"));
	void *copy;
	int rc;

	if (hash == NULL || slot > UINT32_MAX || bytes > HN_SLOT_BYTES) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: bad slot members");
	}
	copy = hn_arena_alloc(from->a, (size_t)bytes);
	rc = hn_slot_read(HN_SLOT_FD, (uint32_t)slot, (size_t)bytes, hash, copy, err);
	from->changed = rc != 0;
	*ret = copy;
	return rc;
}

/* object_bytes of a slot or of the blob; without a word all that is left of the blob. */
static int take_object(const struct hn_json *v, struct objects *from, struct hn_board_kernel *k,
		       struct hn_err *err)
{
	int64_t slot = 0, bytes = (int64_t)from->bytes;

	if (!take_int(v, "slot", &slot) || !take_int(v, "object_bytes", &bytes) ||
	    (slot == 0 && bytes > (int64_t)from->bytes)) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: bad object members");
	}
	k->object_bytes = (size_t)bytes;
	if (slot > 0) {
		return take_slot(v, slot, bytes, from, &k->object, err);
	}
	k->object = from->blob;
	from->blob += bytes;
	from->bytes -= (size_t)bytes;
	return 0;
}

static int take_kernel(const struct hn_json *v, struct objects *from,
		       struct hn_board_kernel *k, struct hn_err *err)
{
	int64_t shared = 0, per_worker = 0, prepared = 0;

	k->limit_ms = DEFAULT_LIMIT_MS;
	if (!take_int(v, "shared_bytes", &shared) ||
	    !take_int(v, "per_worker_bytes", &per_worker) ||
	    !take_int(v, "prepared_bytes", &prepared) ||
	    !take_int(v, "limit_ms", &k->limit_ms)) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: bad kernel members");
	}
	k->shared_bytes = (uint64_t)shared;
	k->per_worker_bytes = (uint64_t)per_worker;
	k->prepared_bytes = (uint64_t)prepared;
	k->symbol = hn_json_string(hn_json_get(v, "symbol"));
	if (k->symbol == NULL) {
		k->symbol = "hone_kernel";
	}
	return take_object(v, from, k, err);
}

static void write_samples(const char *key, const double *ns, uint32_t n, struct hn_jw *w)
{
	hn_jw_list(w, key);
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_double(w, NULL, ns[i]);
	}
	hn_jw_end(w);
}

static void write_answer(const struct hn_board_answer *a, bool duel, struct hn_buf *json)
{
	struct hn_jw w;

	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "verdict", hn_verdict_name(a->verdict));
	hn_jw_str(&w, "detail", a->detail);
	write_samples("samples_ns", a->sample_ns, a->n_sample, &w);
	if (duel) {
		write_samples("rival_ns", a->rival_ns, a->n_sample, &w);
		hn_jw_bool(&w, "rivals", a->rivals);
	}
	hn_jw_int(&w, "run_ns", a->run_ns);
	hn_jw_int(&w, "kernel_ns", a->kernel_ns);
	if (a->n_sample > 0) {
		hn_jw_double(&w, "naive_ns", hn_stats_median(a->sample_ns, a->n_sample));
	}
	if (a->naive_share > 0) {
		hn_jw_double(&w, "naive_share", a->naive_share);
	}
	if (a->in_part) {
		hn_jw_bool(&w, "in_part", true);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
}

/* Make it known, unless boards of this kind cannot measure it as it is to be. */
static void make_workload(const struct hn_board_ops *ops, void *board,
			  const struct hn_board_workload *w, struct hn_board_answer *ret)
{
	if (w->cold && !ops->cold) {
		ret->verdict = HN_VERDICT_OVER_LIMIT;
		snprintf(ret->detail, sizeof ret->detail,
			 "boards of kind %s cannot empty their caches: ask for warm ones",
			 ops->name);
		return;
	}
	ops->workload(board, w, ret);
}

static int serve_workload(const struct hn_board_ops *ops, void *board,
			  const struct hn_json *v, const struct hn_frame *f,
			  struct hn_buf *json, struct hn_err *err)
{
	struct hn_board_workload w = {.key = hn_json_string(hn_json_get(v, "workload"))};
	struct hn_board_answer answer = {.verdict = HN_VERDICT_NONE};
	struct hn_tensor *tensor;
	struct objects from;
	struct hn_arena a;
	int64_t seed = 0, magnitude = 0;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_tensors_parse(hn_json_get(v, "args"), &a, &w.n_tensor, &tensor, err);
	from = objects_of(f, &a);
	rc = rc != 0 ? rc : take_kernel(v, &from, &w.naive, err);
	if (rc == 0 && (w.key == NULL || !take_double(v, "tolerance", &w.tolerance) ||
			!take_double(v, "flops", &w.need.flops) ||
			!take_int(v, "magnitude", &magnitude) ||
			magnitude > INT32_MAX || !take_double(v, "read_bytes", &w.need.read_bytes) ||
			!take_double(v, "written_bytes", &w.need.written_bytes) ||
			!take_double(v, "naive_ns", &w.naive_ns) ||
			!hn_parts_read(v, &w.parts) ||
			(hn_json_get(v, "cold") != NULL &&
			 !hn_json_bool(hn_json_get(v, "cold"), &w.cold)) ||
			(hn_json_get(v, "seed") != NULL &&
			 !hn_json_int(hn_json_get(v, "seed"), &seed)))) {
		rc = hn_fail(err, HONE_E_CORRUPT, "frame: bad workload members");
	}
	if (rc == 0) {
		w.tensor = tensor;
		w.seed = (uint64_t)seed;
		w.magnitude = (int32_t)magnitude;
		w.wide = hn_json_string(hn_json_get(v, "wide"));
		w.refer = hn_json_string(hn_json_get(v, "refer"));
		w.part = hn_json_string(hn_json_get(v, "part"));
		w.sample = hn_json_string(hn_json_get(v, "sample"));
		make_workload(ops, board, &w, &answer);
		write_answer(&answer, false, json);
	}
	hn_arena_fini(&a);
	return rc != 0					 ? rc
	       : answer.verdict == HN_VERDICT_BOARD_LOST ? -HONE_E_NO_BOARD
							 : 0;
}

/* One kernel, or two. */
static int take_kernels(const struct hn_json *v, struct objects *from,
			struct hn_board_request *r, struct hn_err *err)
{
	const struct hn_json *rival = hn_json_get(v, "rival");
	int rc = take_kernel(v, from, &r->kernel, err);

	if (rc != 0 || rival == NULL) {
		return rc;
	}
	if (hn_json_kind(rival) != HN_JSON_OBJECT) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: bad rival members");
	}
	return take_kernel(rival, from, &r->rival, err);
}

static int serve_measure(const struct hn_board_ops *ops, void *board,
			 const struct hn_json *v, const struct hn_frame *f,
			 struct hn_buf *json, struct hn_err *err)
{
	struct hn_board_request r = {.key = hn_json_string(hn_json_get(v, "workload"))};
	struct hn_board_answer answer = {.verdict = HN_VERDICT_NONE};
	int64_t n_workers = 0;
	struct objects from;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	from = objects_of(f, &a);
	rc = take_kernels(v, &from, &r, err);
	if (rc == 0 && (r.key == NULL || !take_double(v, "best_ns", &r.best_ns) ||
			!take_int(v, "n_workers", &n_workers) || n_workers > 1024)) {
		rc = hn_fail(err, HONE_E_CORRUPT, "frame: bad measure members");
	}
	if (rc == 0) {
		r.n_workers = (int32_t)n_workers;
		ops->measure(board, &r, &answer);
	} else if (from.changed) {
		answer.verdict = HN_VERDICT_BUILDER_LOST;
		snprintf(answer.detail, sizeof answer.detail, "%.390s", err->msg);
		rc = 0;
	}
	if (rc == 0) {
		write_answer(&answer, hn_json_get(v, "rival") != NULL, json);
	}
	hn_arena_fini(&a);
	return rc != 0					 ? rc
	       : answer.verdict == HN_VERDICT_BOARD_LOST ? -HONE_E_NO_BOARD
							 : 0;
}

static int serve_probe(const struct hn_board_ops *ops, void *board, struct hn_buf *json)
{
	struct hn_probe p = {0};
	struct hn_err err = {0};
	struct hn_jw w;
	int rc = ops->probe(board, &p, &err);

	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "verdict", rc != 0 ? "NOISY" : "OK");
	if (rc != 0) {
		hn_jw_str(&w, "detail", err.msg);
		hn_jw_end(&w);
		return 0;
	}
	hn_jw_double(&w, "fma_gflops_1", p.fma_gflops_one);
	hn_jw_double(&w, "fma_gflops_all", p.fma_gflops_all);
	hn_jw_double(&w, "memory_gb_s", p.memory_gb_s);
	hn_jw_double(&w, "fork_join_ns", p.fork_join_ns);
	hn_jw_double(&w, "timer_ns", p.timer_ns);
	for (uint32_t i = 0; i < p.n_level; i++) {
		char key[24];

		snprintf(key, sizeof key, "level%" PRIu32 "_bytes", i + 1);
		hn_jw_double(&w, key, p.level[i].bytes);
		snprintf(key, sizeof key, "level%" PRIu32 "_gb_s", i + 1);
		hn_jw_double(&w, key, p.level[i].gb_s);
	}
	hn_jw_uint(&w, "sandbox", p.sandbox);
	hn_jw_end(&w);
	return 0;
}

static int serve_canary(const struct hn_board_ops *ops, void *board, struct hn_buf *json)
{
	struct hn_err err = {0};
	struct hn_canary c = {0};
	struct hn_jw w;
	int rc = ops->canary != NULL ? ops->canary(board, &c, &err) : 0;

	if (rc == -HONE_E_NO_BOARD) {
		return rc;
	}
	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "verdict",
		  rc != 0		? "NOISY"
		  : ops->canary == NULL ? "NONE"
					: "OK");
	hn_jw_str(&w, "detail", err.msg);
	hn_jw_double(&w, "canary_ns", c.ns);
	hn_jw_double(&w, "wander", c.wander);
	hn_jw_end(&w);
	return 0;
}

int hn_board_serve(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
		   uint16_t *ret_type, struct hn_buf *json, struct hn_err *err)
{
	struct hn_json *v = NULL;
	int rc = hn_json_parse("frame", f->json, f->json_bytes, NULL, &v, err);

	if (rc == 0 && hn_json_kind(v) != HN_JSON_OBJECT) {
		rc = hn_fail(err, HONE_E_CORRUPT, "frame: not an object");
	}
	if (rc == 0) {
		switch (f->type) {
		case HN_FRAME_WORKLOAD:
			*ret_type = HN_FRAME_WORKLOAD_READY;
			rc = serve_workload(ops, board, v, f, json, err);
			break;
		case HN_FRAME_MEASURE:
			*ret_type = HN_FRAME_MEASURED;
			rc = serve_measure(ops, board, v, f, json, err);
			break;
		case HN_FRAME_PROBE:
			*ret_type = HN_FRAME_PROBED;
			rc = serve_probe(ops, board, json);
			break;
		case HN_FRAME_CANARY:
			*ret_type = HN_FRAME_CANARIED;
			rc = serve_canary(ops, board, json);
			break;
		default:
			rc = hn_fail(err, HONE_E_CORRUPT,
				     "frame: type %u is not for a board", f->type);
		}
	}
	hn_json_free(v);
	return rc;
}
