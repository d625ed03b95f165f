/* wire.c -- the JSON of measure.h's frames, as honed writes and reads it. */
#include "measure/board/sandbox.h"
#include "measure/host/measurer_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/name.h"
#include "proto/slot.h"

#define NAIVE_LIMIT_MS 120000
/* A measurement is some ten runs, which take seconds each where there is much to compute: six runs
 * at 20 GFLOP/s. */
#define MS_PER_FLOP 3e-7
#define MOST_MS 600000

/* What a naive program's object is to hold beside it. */
static void put_companions(const struct workload *work, struct hn_jw *w)
{
	hn_jw_str(w, "wide", HN_WIDE_SYMBOL);
	if (work->wide_steps != NULL) {
		hn_jw_str(w, "wide_steps", work->wide_steps);
	}
	if (work->refer_steps != NULL) {
		hn_jw_str(w, "refer", HN_REFER_SYMBOL);
		hn_jw_str(w, "refer_steps", work->refer_steps);
	}
	hn_jw_str(w, "slices", HN_PART_SYMBOL);
	hn_jw_str(w, "samples", HN_SAMPLE_SYMBOL);
}

void hn_wire_build(const struct hn_measurer *m, const struct ticket *t, uint32_t slot,
		   struct hn_buf *json)
{
	bool naive = t->kind == TICKET_WORKLOAD;
	struct hn_jw w;

	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_bool(&w, "naive", naive);
	hn_jw_bool(&w, "prove", !naive);
	hn_jw_bool(&w, "no_emit", m->takes == HN_BOARD_TAKES_STEPS);
	hn_jw_str(&w, "symbol", HN_SYMBOL);
	hn_jw_str(&w, "plant", t->plant);
	if (slot != 0) {
		hn_jw_uint(&w, "slot", slot);
	}
	if (naive) {
		put_companions(t->w, &w);
	}
	hn_jw_str(&w, "target", m->config.target);
	hn_jw_json(&w, "steps", naive ? "[]" : t->building->steps);
	hn_jw_json(&w, "dag", t->w->dag_json);
	hn_jw_end(&w);
}

static void put_artefact(const struct artefact *a, int64_t limit_ms, struct hn_jw *w)
{
	hn_jw_int(w, "shared_bytes", a->shared_bytes);
	hn_jw_int(w, "per_worker_bytes", a->per_worker_bytes);
	hn_jw_int(w, "prepared_bytes", a->prepared_bytes);
	hn_jw_int(w, "limit_ms", limit_ms);
	hn_jw_str(w, "symbol", HN_SYMBOL);
	hn_jw_uint(w, "object_bytes", a->object_bytes);
	if (a->slot != 0) {
		hn_jw_uint(w, "slot", a->slot);
		hn_jw_str(w, "hash", a->hash);
	}
}

void hn_wire_workload(const struct hn_measurer *m, const struct workload *work,
		      struct hn_buf *json)
{
	struct hn_jw w;

	(void)m;
	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "workload", work->key);
	hn_jw_strf(&w, "seed", "%" PRId64, (int64_t)(work->seed & INT64_MAX));
	hn_jw_int(&w, "magnitude", work->magnitude);
	hn_jw_double(&w, "flops", work->need.flops);
	hn_jw_double(&w, "read_bytes", work->need.read_bytes);
	hn_jw_double(&w, "written_bytes", work->need.written_bytes);
	hn_jw_double(&w, "tolerance", work->tolerance);
	hn_jw_double(&w, "naive_ns", work->naive_ns);
	hn_parts_write(&work->parts, &w);
	hn_jw_str(&w, "wide", HN_WIDE_SYMBOL);
	hn_jw_str(&w, "refer", HN_REFER_SYMBOL);
	hn_jw_str(&w, "part", HN_PART_SYMBOL);
	hn_jw_str(&w, "sample", HN_SAMPLE_SYMBOL);
	hn_jw_bool(&w, "cold", work->cold);
	hn_jw_written(&w, "args", work->args_json);
	put_artefact(&work->naive, NAIVE_LIMIT_MS, &w);
	hn_jw_end(&w);
}

int64_t hn_wire_limit_ms(const struct hn_measurer *m, const struct workload *w)
{
	return m->config.run_limit_ms + (int64_t)fmin(w->need.flops * MS_PER_FLOP, MOST_MS);
}

void hn_wire_measure(const struct hn_measurer *m, const struct ticket *t,
		     struct hn_buf *json)
{
	struct hn_jw w;

	hn_jw_init(&w, json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "workload", t->w->key);
	hn_jw_int(&w, "n_workers", 0);
	hn_jw_double(&w, "best_ns", t->best_ns);
	put_artefact(&t->program.artefact, hn_wire_limit_ms(m, t->w), &w);
	if (hn_ticket_duel(t)) {
		hn_jw_object(&w, "rival");
		put_artefact(&t->rival.artefact, hn_wire_limit_ms(m, t->w), &w);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
}

char *hn_wire_args(const struct hn_workload *work, struct hn_arena *a)
{
	struct hn_buf b;
	struct hn_jw w;
	char *text;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_list(&w, NULL);
	for (uint32_t i = 0; i < work->n_arg; i++) {
		const struct hn_measure_arg *arg = &work->arg[i];

		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "name", arg->name);
		hn_jw_str(&w, "dtype", arg->dtype);
		hn_jw_bool(&w, "output", arg->output);
		hn_jw_list(&w, "shape");
		for (uint32_t d = 0; d < arg->n_dim; d++) {
			hn_jw_int(&w, NULL, arg->shape[d]);
		}
		hn_jw_end(&w);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	text = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
	return text;
}

/* The frame's object, or NULL. */
static struct hn_json *parse(const struct hn_frame *f)
{
	static const struct hn_json_limits limits = {
		.max_bytes = 1 << 20, .max_depth = 8, .max_tokens = 4096};
	struct hn_json *v;

	if (hn_json_parse("frame", f->json, f->json_bytes, &limits, &v, NULL) != 0) {
		return NULL;
	}
	if (hn_json_kind(v) != HN_JSON_OBJECT) {
		hn_json_free(v);
		return NULL;
	}
	return v;
}

static bool read_verdict(const struct hn_json *v, enum hn_verdict *verdict, char *detail,
			 size_t n)
{
	const char *name = hn_json_string(hn_json_get(v, "verdict"));
	const char *text = hn_json_string(hn_json_get(v, "detail"));

	*verdict = name != NULL ? hn_verdict_of(name) : HN_N_VERDICT;
	text = text != NULL ? text : "";
	hn_shown(detail, n < 391 ? n : 391, text, strlen(text));
	return *verdict != HN_N_VERDICT;
}

static int64_t read_count(const struct hn_json *v, const char *key)
{
	int64_t n = 0;

	return hn_json_int(hn_json_get(v, key), &n) && n >= 0 ? n : 0;
}

static void read_codegen(const struct hn_json *v, char ret[HN_CODEGEN])
{
	const char *text = hn_json_string(hn_json_get(v, "codegen"));

	text = text != NULL ? text : "";
	hn_shown(ret, HN_CODEGEN, text, strlen(text));
}

static bool is_hash(const char *text)
{
	return text != NULL && strlen(text) == HN_SHA256_HEX - 1 &&
	       strspn(text, "0123456789abcdef") == HN_SHA256_HEX - 1;
}

/* The object: the blob, or what the builder says of its slot.  The board holds the bytes
 * against the hash; honed need not see them. */
static bool take_object(const struct hn_json *v, const struct hn_frame *f, uint32_t slot,
			struct artefact *a)
{
	const char *hash = hn_json_string(hn_json_get(v, "hash"));
	int64_t bytes = read_count(v, "slot_bytes");

	if (f->blob_bytes > 0) {
		hn_artefact_set(a, f->blob, f->blob_bytes);
		return true;
	}
	if (slot == 0 || bytes == 0 || bytes > HN_SLOT_BYTES || !is_hash(hash)) {
		return false;
	}
	a->slot = slot;
	a->object_bytes = (uint32_t)bytes;
	memcpy(a->hash, hash, sizeof a->hash);
	return true;
}

bool hn_wire_built(const struct hn_frame *f, struct ticket *t, bool object, uint32_t slot)
{
	struct hn_json *v = f->type == HN_FRAME_BUILT ? parse(f) : NULL;
	struct outcome *o = &t->outcome;
	struct artefact *a = &t->building->artefact;
	bool good = v != NULL &&
		    read_verdict(v, &o->verdict, o->detail, sizeof o->detail) &&
		    o->verdict != HN_VERDICT_NONE;

	if (good) {
		o->build_ns = read_count(v, "build_ns");
		o->prove_ns = read_count(v, "prove_ns");
		const char *certificate = hn_json_string(hn_json_get(v, "certificate"));

		free(t->certificate); /* of an earlier try */
		t->certificate = strdup(certificate ? certificate : "");
		hn_assert(t->certificate != NULL);
		a->shared_bytes = read_count(v, "shared_bytes");
		a->per_worker_bytes = read_count(v, "per_worker_bytes");
		a->prepared_bytes = read_count(v, "prepared_bytes");
	}
	if (good) {
		read_codegen(v, t->codegen);
	}
	if (good && t->kind == TICKET_WORKLOAD) {
		good = hn_parts_read(v, &t->w->parts);
	}
	if (good && o->verdict == HN_VERDICT_OK && object) {
		good = take_object(v, f, slot, a);
	} else {
		good = good && f->blob_bytes == 0;
	}
	hn_json_free(v);
	return good;
}

static bool read_samples(const struct hn_json *list, uint32_t most, double *ns, uint32_t *ret_n)
{
	*ret_n = 0;
	if (list == NULL || hn_json_kind(list) != HN_JSON_ARRAY || hn_json_count(list) > most) {
		return false;
	}
	for (const struct hn_json *s = hn_json_first(list); s != NULL;
	     s = hn_json_next(s)) {
		if (!hn_json_double(s, &ns[*ret_n]) || !(ns[*ret_n] > 0)) {
			return false;
		}
		++*ret_n;
	}
	return true;
}

/* Of a duel there are as many of the rival's. */
static bool read_rival(const struct hn_json *v, struct outcome *o)
{
	uint32_t n;

	return hn_json_bool(hn_json_get(v, "rivals"), &o->rivals) &&
	       read_samples(hn_json_get(v, "rival_ns"), HN_PAIRS, o->rival_ns, &n) &&
	       n == o->n_sample;
}

static double read_figure(const struct hn_json *v, const char *key)
{
	double d = 0;

	return hn_json_double(hn_json_get(v, key), &d) && d > 0 ? d : 0;
}

bool hn_wire_measured(const struct hn_frame *f, bool duel, struct outcome *ret)
{
	struct hn_json *v = parse(f);
	bool good, in_part;

	good = v != NULL &&
	       read_verdict(v, &ret->verdict, ret->detail, sizeof ret->detail) &&
	       read_samples(hn_json_get(v, "samples_ns"), HN_STATS_MAX_SAMPLE, ret->sample_ns,
			    &ret->n_sample) &&
	       (!duel || ret->verdict == HN_VERDICT_NONE || read_rival(v, ret)) &&
	       (ret->verdict == HN_VERDICT_NOISY ||
		(ret->verdict == HN_VERDICT_OK) == (ret->n_sample > 0));
	ret->run_ns = v != NULL ? read_count(v, "run_ns") : 0;
	ret->kernel_ns = v != NULL ? read_count(v, "kernel_ns") : 0;
	ret->naive_share = v != NULL ? read_figure(v, "naive_share") : 0;
	ret->in_part = v != NULL && hn_json_bool(hn_json_get(v, "in_part"), &in_part) && in_part;
	hn_json_free(v);
	return good;
}

/* What not every kind of board has. */
static void read_levels(const struct hn_json *v, struct hn_probe_result *ret)
{
	ret->fork_join_ns = read_figure(v, "fork_join_ns");
	ret->timer_ns = read_figure(v, "timer_ns");
	ret->n_level = 0;
	for (int i = 0; i < (int)HN_COUNT_OF(ret->level); i++) {
		char key[24];

		snprintf(key, sizeof key, "level%d_bytes", i + 1);
		ret->level[i].bytes = read_figure(v, key);
		snprintf(key, sizeof key, "level%d_gb_s", i + 1);
		ret->level[i].gb_s = read_figure(v, key);
		ret->n_level += ret->level[i].bytes > 0;
	}
}

bool hn_wire_probed(const struct hn_frame *f, struct hn_probe_result *ret)
{
	struct hn_json *v = f->type == HN_FRAME_PROBED ? parse(f) : NULL;
	enum hn_verdict verdict;
	int64_t sandbox = 0;
	char detail[400];
	bool good =
		v != NULL && read_verdict(v, &verdict, detail, sizeof detail) &&
		verdict == HN_VERDICT_OK &&
		hn_json_double(hn_json_get(v, "fma_gflops_1"), &ret->fma_gflops_one) &&
		hn_json_double(hn_json_get(v, "fma_gflops_all"), &ret->fma_gflops_all) &&
		hn_json_double(hn_json_get(v, "memory_gb_s"), &ret->memory_gb_s) &&
		hn_json_int(hn_json_get(v, "sandbox"), &sandbox) && sandbox >= 0 &&
		sandbox <= HN_SANDBOX_ALL;

	if (good) {
		read_levels(v, ret);
	}
	ret->sandbox = good ? (uint32_t)sandbox : 0;
	hn_json_free(v);
	return good;
}

bool hn_wire_canaried(const struct hn_frame *f, enum hn_verdict *ret_verdict,
		      struct hn_canary *ret)
{
	struct hn_json *v = parse(f);
	char detail[400];
	bool good = v != NULL && read_verdict(v, ret_verdict, detail, sizeof detail) &&
		    hn_json_double(hn_json_get(v, "canary_ns"), &ret->ns) && ret->ns >= 0 &&
		    hn_json_double(hn_json_get(v, "wander"), &ret->wander) &&
		    ret->wander >= 0 && (*ret_verdict == HN_VERDICT_OK) == (ret->ns > 0);

	hn_json_free(v);
	return good;
}
