/* wire.c -- from tickets to frames and back (docs/frames.md); what an answer must be beyond the
 * rows of its frame is checked here, by what was asked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/host/measurer_int.h"

_Static_assert(HN_FRAME_SAMPLES == HN_STATS_MAX_SAMPLE, "struct outcome holds a frame's samples");
_Static_assert(HN_FRAME_PAIRS == HN_PAIRS, "the same of a duel");
_Static_assert(HN_FRAME_LEVELS == HN_COUNT_OF(((struct hn_probe_result *)0)->level),
	       "struct hn_probe_result holds a frame's levels");
_Static_assert(HN_FRAME_LINE < sizeof ((struct outcome *)0)->detail, "... and a frame's sentence");

#define NAIVE_LIMIT_MS 120000
/* A measurement is some ten runs, which take seconds each where there is much to compute: six runs
 * at 20 GFLOP/s. */
#define MS_PER_FLOP 3e-7
#define MOST_MS 600000

void hn_wire_build(const struct hn_measurer *m, const struct ticket *t, uint32_t slot,
		   struct hn_buf *json)
{
	const struct workload *work = t->w;
	struct hn_frame_build v = {
		.dag = work->dag_json,
		.target = m->config.target,
		.symbol = HN_SYMBOL,
		.no_emit = m->takes == HN_BOARD_TAKES_STEPS,
		.plant = t->plant,
		.slot = slot,
	};

	if (t->kind == TICKET_WORKLOAD) {
		v.target = m->naive_target;
		v.naive = true;
		v.steps = "[]";
		v.wide = HN_WIDE_SYMBOL;
		v.wide_steps = work->wide_steps;
		v.refer = work->refer_steps != NULL ? HN_REFER_SYMBOL : NULL;
		v.refer_steps = work->refer_steps;
		v.slices = HN_PART_SYMBOL;
		v.samples = HN_SAMPLE_SYMBOL;
		v.brackets = HN_BRACKET_SYMBOL;
		v.bracket_steps = work->bracket_steps;
		v.counts = m->takes == HN_BOARD_TAKES_PROGRAM ? m->config.target : NULL;
	} else {
		v.prove = true;
		v.steps = t->building->steps;
	}
	hn_frame_encode_build(&v, json);
}

static struct hn_frame_object object_of(const struct artefact *a)
{
	return (struct hn_frame_object){
		.bytes = a->object_bytes,
		.shared_bytes = a->shared_bytes,
		.per_worker_bytes = a->per_worker_bytes,
		.prepared_bytes = a->prepared_bytes,
		.slot = a->slot,
		.hash = a->slot != 0 ? a->hash : NULL,
	};
}

void hn_wire_workload(const struct workload *work, struct hn_buf *json)
{
	const struct hn_frame_object object = object_of(&work->naive);

	hn_frame_encode_workload(
		&(struct hn_frame_workload){
			.workload = work->key,
			.args = { work->n_arg, work->arg },
			.object = &object,
			.symbol = HN_SYMBOL,
			.limit_ms = NAIVE_LIMIT_MS,
			.seed = (int64_t)(work->seed & INT64_MAX),
			.magnitude = work->magnitude,
			.tolerance = work->tolerance,
			.flops = work->need.flops,
			.read_bytes = work->need.read_bytes,
			.written_bytes = work->need.written_bytes,
			.cold = work->cold,
			.settled = work->settled,
			.subnormals = work->subnormals,
			.naive_ns = work->counted_ns > 0 ? 0 : work->naive_ns, /* of the cores */
			.wide = HN_WIDE_SYMBOL,
			.refer = HN_REFER_SYMBOL,
			.part = HN_PART_SYMBOL,
			.sample = HN_SAMPLE_SYMBOL,
			.bracket = HN_BRACKET_SYMBOL,
			.slices = { work->parts.n, work->parts.part },
		},
		json);
}

int64_t hn_wire_limit_ms(const struct hn_measurer *m, const struct workload *w)
{
	return m->config.run_limit_ms + (int64_t)fmin(w->need.flops * MS_PER_FLOP, MOST_MS);
}

void hn_wire_measure(const struct hn_measurer *m, const struct ticket *t, struct hn_buf *json)
{
	const struct hn_frame_object object = object_of(&t->program.artefact),
				     rival = object_of(&t->rival.artefact);

	hn_frame_encode_measure(
		&(struct hn_frame_measure){
			.workload = t->w->key,
			.object = &object,
			.rival = hn_ticket_duel(t) ? &rival : NULL,
			.symbol = HN_SYMBOL,
			.limit_ms = hn_wire_limit_ms(m, t->w),
			.best_ns = t->best_ns,
		},
		json);
}

const struct hn_frame_argument *hn_wire_args(const struct hn_workload *work, struct hn_arena *a)
{
	struct hn_frame_argument *ret = HN_NEW_ARRAY(a, struct hn_frame_argument, work->n_arg);

	for (uint32_t i = 0; i < work->n_arg; i++) {
		const struct hn_measure_arg *arg = &work->arg[i];
		int64_t *shape = HN_NEW_ARRAY(a, int64_t, arg->n_dim);

		for (uint32_t d = 0; d < arg->n_dim; d++) {
			shape[d] = arg->shape[d];
		}
		ret[i] = (struct hn_frame_argument){ .name = hn_arena_strdup(a, arg->name),
						     .dtype = hn_dtype_of(arg->dtype),
						     .shape = { arg->n_dim, shape },
						     .output = arg->output };
		hn_assert(ret[i].dtype != HN_N_DTYPE);
	}
	return ret;
}

/* The object: the blob, or what the builder says of its slot.  The board compares the bytes with
 * the hash; honed need not see them. */
static int take_object(const struct hn_frame_object *o, const struct hn_frame *f, uint32_t slot,
		       struct artefact *a, struct hn_err *err)
{
	if (o == NULL) {
		return hn_fail(err, HONE_E_CORRUPT, "BUILT: object: missing");
	}
	if (o->slot != (f->blob_bytes > 0 ? 0 : slot) ||
	    o->bytes != (o->slot == 0 ? f->blob_bytes : o->bytes)) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "BUILT: object: neither the blob nor in the slot that it was given");
	}
	a->shared_bytes = o->shared_bytes;
	a->per_worker_bytes = o->per_worker_bytes;
	a->prepared_bytes = o->prepared_bytes;
	if (o->slot == 0) {
		hn_artefact_set(a, f->blob, f->blob_bytes);
		return 0;
	}
	a->slot = slot;
	a->object_bytes = (uint32_t)o->bytes;
	memcpy(a->hash, o->hash, sizeof a->hash);
	return 0;
}

/* A verdict and why. */
static void tell(struct outcome *o, enum hn_verdict verdict, const char *detail)
{
	o->verdict = verdict;
	snprintf(o->detail, sizeof o->detail, "%s", detail);
}

static int take_built(const struct hn_frame *f, const struct hn_frame_built *v, struct ticket *t,
		      bool object, uint32_t slot, struct hn_err *err)
{
	struct outcome *o = &t->outcome;

	tell(o, v->verdict, v->detail);
	o->build_ns = v->build_ns;
	o->prove_ns = v->prove_ns;
	free(t->certificate); /* of an earlier try */
	t->certificate = strdup(v->certificate);
	hn_assert(t->certificate != NULL);
	memcpy(t->codegen, v->codegen, strlen(v->codegen) + 1);
	if (t->kind == TICKET_WORKLOAD) {
		t->w->counted_ns = v->counted_ns;
		t->w->parts.n = v->slices.n;
		for (uint32_t i = 0; i < v->slices.n; i++) {
			t->w->parts.part[i] = v->slices.at[i];
		}
	}
	if (v->verdict == HN_VERDICT_OK && object) {
		return take_object(v->object, f, slot, &t->building->artefact, err);
	}
	return f->blob_bytes == 0 && v->object == NULL
		       ? 0
		       : hn_fail(err, HONE_E_CORRUPT, "BUILT: object: nobody asked for one");
}

int hn_wire_built(const struct hn_frame *f, struct ticket *t, bool object, uint32_t slot,
		  struct hn_err *err)
{
	struct hn_frame_built v;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_frame_decode_built(f, &a, &v, err);

	rc = rc ? rc : take_built(f, &v, t, object, slot, err);
	hn_arena_fini(&a);
	return rc;
}

static void take_run(const struct hn_frame_run *v, struct outcome *ret)
{
	tell(ret, v->verdict, v->detail);
	ret->n_sample = v->samples_ns.n;
	memcpy(ret->sample_ns, v->samples_ns.at, v->samples_ns.n * sizeof(double));
	ret->run_ns = v->run_ns;
	ret->kernel_ns = v->kernel_ns;
	snprintf(ret->state, sizeof ret->state, "%s", v->state);
}

int hn_wire_ready(const struct hn_frame *f, struct outcome *ret, struct hn_err *err)
{
	struct hn_frame_workload_ready v;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_frame_decode_workload_ready(f, &a, &v, err);

	if (rc == 0) {
		take_run(v.run, ret);
		ret->naive_share = v.naive_share;
		ret->in_part = v.in_part;
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_wire_measured(const struct hn_frame *f, bool duel, struct outcome *ret, struct hn_err *err)
{
	struct hn_frame_measured v;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_frame_decode_measured(f, &a, &v, err);

	if (rc == 0 && v.rival_ns.n != (duel ? v.run->samples_ns.n : 0)) {
		rc = hn_fail(err, HONE_E_CORRUPT, "MEASURED: rival_ns: %s",
			     duel ? "missing" : "nobody asked for a duel");
	}
	if (rc == 0) {
		take_run(v.run, ret);
		memcpy(ret->rival_ns, v.rival_ns.at, v.rival_ns.n * sizeof(double));
		ret->rivals = v.rivals;
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_wire_probed(const struct hn_frame *f, struct hn_probe_result *ret, struct hn_err *err)
{
	struct hn_frame_probed v;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_frame_decode_probed(f, &a, &v, err);

	if (rc == 0 && v.verdict != HN_VERDICT_OK) {
		rc = hn_fail(err, HONE_E_CORRUPT, "PROBED: %s", v.detail);
	}
	if (rc == 0) {
		*ret = (struct hn_probe_result){ .fma_gflops_one = v.fma_gflops_1,
						 .fma_gflops_all = v.fma_gflops_all,
						 .memory_gb_s = v.memory_gb_s,
						 .fork_join_ns = v.fork_join_ns,
						 .timer_ns = v.timer_ns,
						 .n_level = v.levels.n,
						 .sandbox = (uint32_t)v.sandbox };
	}
	for (uint32_t i = 0; rc == 0 && i < v.levels.n; i++) {
		ret->level[i].bytes = v.levels.at[i].bytes;
		ret->level[i].gb_s = v.levels.at[i].gb_s;
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_wire_canaried(const struct hn_frame *f, enum hn_verdict *ret_verdict,
		     struct hn_canary *ret, struct hn_err *err)
{
	struct hn_frame_canaried v;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_frame_decode_canaried(f, &a, &v, err);

	if (rc == 0 && v.verdict != HN_VERDICT_OK && v.verdict != HN_VERDICT_NONE) {
		rc = hn_fail(err, HONE_E_CORRUPT, "CANARIED: %s", v.detail);
	}
	if (rc == 0) {
		*ret_verdict = v.verdict;
		*ret = (struct hn_canary){ .ns = v.canary_ns, .wander = v.wander };
	}
	hn_arena_fini(&a);
	return rc;
}
