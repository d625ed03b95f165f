/* board.c -- from frames to a driver's calls and back. */
#include "measure/board/board.h"

#include <stdio.h>
#include <string.h>

#include "proto/frames.h"

#define BOARD(name, takes) extern const struct hn_board_ops hn_board_##name;
#include "measure/board/boards.def"
#undef BOARD

static const struct hn_board_ops *const boards[] = {
#define BOARD(name, takes) &hn_board_##name,
#include "measure/board/boards.def"
#undef BOARD
};

const struct hn_board_ops *hn_board_at(size_t i)
{
	return i < HN_COUNT_OF(boards) ? boards[i] : NULL;
}

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
static int take_slot(const struct hn_frame_object *o, struct objects *from, const void **ret,
		     struct hn_err *err)
{
	void *copy = hn_arena_alloc(from->a, (size_t)o->bytes);
	int rc = hn_slot_read(HN_SLOT_FD, (uint32_t)o->slot, (size_t)o->bytes, o->hash, copy, err);

	from->changed = rc != 0;
	*ret = copy;
	return rc;
}

static int take_kernel(const struct hn_frame_object *o, const char *symbol, int64_t limit_ms,
		       struct objects *from, struct hn_board_kernel *ret, struct hn_err *err)
{
	*ret = (struct hn_board_kernel){ .object_bytes = (size_t)o->bytes,
					 .symbol = symbol,
					 .shared_bytes = (uint64_t)o->shared_bytes,
					 .per_worker_bytes = (uint64_t)o->per_worker_bytes,
					 .prepared_bytes = (uint64_t)o->prepared_bytes,
					 .limit_ms = limit_ms };
	if (o->slot > 0) {
		return take_slot(o, from, &ret->object, err);
	}
	if ((size_t)o->bytes > from->bytes) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: the blob ends before its object");
	}
	ret->object = from->blob;
	from->blob += o->bytes;
	from->bytes -= (size_t)o->bytes;
	return 0;
}

/* What both answers say, borrowed from a. */
static struct hn_frame_run run_of(const struct hn_board_answer *a)
{
	return (struct hn_frame_run){ .verdict = a->verdict,
				      .detail = a->detail,
				      .samples_ns = { a->n_sample, a->sample_ns },
				      .run_ns = a->run_ns,
				      .kernel_ns = a->kernel_ns,
				      .state = a->state };
}

static const char *given(const char *text)
{
	return *text != '\0' ? text : NULL;
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

static int serve_workload(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
			  struct hn_arena *a, struct hn_buf *json, struct hn_err *err)
{
	struct hn_board_answer answer = { .verdict = HN_VERDICT_NONE };
	struct objects from = objects_of(f, a);
	struct hn_frame_workload v;
	struct hn_tensor *tensor;
	struct hn_board_workload w;
	int rc = hn_frame_decode_workload(f, a, &v, err);

	rc = rc ? rc : hn_tensors_of(v.args.n, v.args.at, a, &tensor, err);
	if (rc != 0) {
		return rc;
	}
	w = (struct hn_board_workload){
		.key = v.workload,
		.n_tensor = v.args.n,
		.tensor = tensor,
		.seed = (uint64_t)v.seed,
		.magnitude = (int32_t)v.magnitude,
		.tolerance = v.tolerance,
		.need = { v.flops, v.read_bytes, v.written_bytes },
		.cold = v.cold,
		.settled = v.settled,
		.subnormals = v.subnormals,
		.wide = given(v.wide),
		.refer = given(v.refer),
		.part = given(v.part),
		.parts = { .n = v.slices.n },
		.sample = given(v.sample),
		.bracket = given(v.bracket),
		.naive_ns = v.naive_ns,
	};
	for (uint32_t i = 0; i < v.slices.n; i++) {
		w.parts.part[i] = v.slices.at[i];
	}
	rc = take_kernel(v.object, v.symbol, v.limit_ms, &from, &w.naive, err);
	if (rc != 0) {
		return rc;
	}
	make_workload(ops, board, &w, &answer);
	const struct hn_frame_run run = run_of(&answer);

	hn_frame_encode_workload_ready(
		&(struct hn_frame_workload_ready){ .run = &run,
						   .naive_share = answer.naive_share,
						   .in_part = answer.in_part },
		json);
	return answer.verdict == HN_VERDICT_BOARD_LOST ? -HONE_E_NO_BOARD : 0;
}

static int serve_measure(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
			 struct hn_arena *a, struct hn_buf *json, struct hn_err *err)
{
	struct hn_board_answer answer = { .verdict = HN_VERDICT_NONE };
	struct objects from = objects_of(f, a);
	struct hn_board_request r;
	struct hn_frame_measure v;
	int rc = hn_frame_decode_measure(f, a, &v, err);

	if (rc != 0) {
		return rc;
	}
	r = (struct hn_board_request){ .key = v.workload,
				       .best_ns = v.best_ns,
				       .n_workers = (int32_t)v.n_workers };
	rc = take_kernel(v.object, v.symbol, v.limit_ms, &from, &r.kernel, err);
	if (rc == 0 && v.rival != NULL) {
		rc = take_kernel(v.rival, v.symbol, v.limit_ms, &from, &r.rival, err);
	}
	if (rc == 0) {
		ops->measure(board, &r, &answer);
	} else if (from.changed) {
		answer.verdict = HN_VERDICT_BUILDER_LOST;
		snprintf(answer.detail, sizeof answer.detail, "%.390s", err->msg);
	} else {
		return rc;
	}
	const struct hn_frame_run run = run_of(&answer);
	struct hn_frame_measured said = { .run = &run, .rivals = answer.rivals };

	if (v.rival != NULL) {
		said.rival_ns.n = answer.n_sample;
		said.rival_ns.at = answer.rival_ns;
	}
	hn_frame_encode_measured(&said, json);
	return answer.verdict == HN_VERDICT_BOARD_LOST ? -HONE_E_NO_BOARD : 0;
}

static int serve_probe(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
		       struct hn_arena *a, struct hn_buf *json, struct hn_err *err)
{
	struct hn_frame_level level[HN_PROBE_LEVELS];
	struct hn_frame_probe asked;
	struct hn_probe p = { 0 };
	struct hn_err why = { 0 };
	int rc = hn_frame_decode_probe(f, a, &asked, err);

	if (rc != 0) {
		return rc;
	}
	if (ops->probe(board, &p, &why) != 0) {
		hn_frame_encode_probed(&(struct hn_frame_probed){ .verdict = HN_VERDICT_NOISY,
								  .detail = why.msg },
				       json);
		return 0;
	}
	for (uint32_t i = 0; i < p.n_level; i++) {
		level[i] = (struct hn_frame_level){ p.level[i].bytes, p.level[i].gb_s };
	}
	hn_frame_encode_probed(&(struct hn_frame_probed){ .verdict = HN_VERDICT_OK,
							  .fma_gflops_1 = p.fma_gflops_one,
							  .fma_gflops_all = p.fma_gflops_all,
							  .memory_gb_s = p.memory_gb_s,
							  .fork_join_ns = p.fork_join_ns,
							  .timer_ns = p.timer_ns,
							  .levels = { p.n_level, level },
							  .sandbox = p.sandbox },
			       json);
	return 0;
}

static int serve_canary(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
			struct hn_arena *a, struct hn_buf *json, struct hn_err *err)
{
	struct hn_frame_canary asked;
	struct hn_canary c = { 0 };
	struct hn_err why = { 0 };
	int rc = hn_frame_decode_canary(f, a, &asked, err);

	if (rc != 0) {
		return rc;
	}
	rc = ops->canary != NULL ? ops->canary(board, &c, &why) : 0;
	if (rc == -HONE_E_NO_BOARD) {
		return rc;
	}
	hn_frame_encode_canaried(
		&(struct hn_frame_canaried){ .verdict = rc != 0		      ? HN_VERDICT_NOISY
							: ops->canary == NULL ? HN_VERDICT_NONE
									      : HN_VERDICT_OK,
					     .detail = why.msg,
					     .canary_ns = rc == 0 ? c.ns : 0,
					     .wander = rc == 0 ? c.wander : 0 },
		json);
	return 0;
}

int hn_board_serve(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
		   uint16_t *ret_type, struct hn_buf *json, struct hn_err *err)
{
	int (*serve)(const struct hn_board_ops *ops, void *board, const struct hn_frame *f,
		     struct hn_arena *a, struct hn_buf *json, struct hn_err *err) =
		f->type == HN_FRAME_WORKLOAD  ? serve_workload
		: f->type == HN_FRAME_MEASURE ? serve_measure
		: f->type == HN_FRAME_PROBE   ? serve_probe
		: f->type == HN_FRAME_CANARY  ? serve_canary
					      : NULL;
	struct hn_arena a;

	if (serve == NULL) {
		return hn_fail(err, HONE_E_CORRUPT, "frame: %s is not for a board",
			       hn_frame_name(f->type));
	}
	*ret_type = (uint16_t)hn_frame_reply((enum hn_frame_type)f->type);
	hn_arena_init(&a, 0);
	int rc = serve(ops, board, f, &a, json, err);

	hn_arena_fini(&a);
	return rc;
}
