/* lower/gpu/emit_gpu.c -- the emitter of machines with blocks and threads: a device program,
 * verified, then printed in the form that is asked for, or that the target's boards take. */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "loopstate/dag/liberty.h"
#include "lower/device/device_hold.h"
#include "lower/device/device_int.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "lower/lower.h"

#define VERIFY_MS 20000
#define TEXT_FORM "device" /* of the device program itself */

/* What boards of a kind of target take. */
static const struct kind {
	const char *kind;
	enum hn_gpu_form form;
} kinds[] = { { "cuda", HN_GPU_PTX }, { "opencl", HN_GPU_OPENCL } };

struct gpu_emitter {
	struct hn_target target;
	enum hn_gpu_form form;
	struct hn_arena arena; /* target's strings */
};

static int open_gpu(const struct hn_target *target, void **ret, struct hn_err *err)
{
	struct gpu_emitter *e = calloc(1, sizeof(*e));

	if (e == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "no memory for a code generator");
	}
	hn_arena_init(&e->arena, 0);
	e->target = *target;
	e->target.kind = hn_arena_strdup(&e->arena, target->kind);
	e->target.isa = hn_arena_strdup(&e->arena, target->isa);
	for (size_t i = 0; i < HN_COUNT_OF(kinds); i++) {
		if (strcmp(kinds[i].kind, target->kind) == 0) {
			e->form = kinds[i].form;
		}
	}
	*ret = e;
	return 0;
}

static void close_gpu(void *state)
{
	struct gpu_emitter *e = state;

	hn_arena_fini(&e->arena);
	free(e);
}

static void put_text(const struct hn_buf *text, enum hn_artefact_form form, struct hn_arena *a,
		     struct hn_artefact *ret)
{
	char *bytes = hn_arena_alloc(a, text->n + 1);

	memcpy(bytes, text->s, text->n);
	*ret = (struct hn_artefact){ .object = bytes, .object_bytes = text->n, .form = form };
}

static int emit_module(const struct gpu_emitter *e, const struct hn_device *d,
		       enum hn_gpu_form form, const struct hn_looptree *t,
		       const struct hn_emit_options *options, struct hn_arena *a,
		       struct hn_artefact *ret, struct hn_err *err)
{
	const char *ir = NULL;
	struct hn_gpu_options how = {
		.contracts = !options->scalar && !hn_dag_forbids(t->dag, HN_LIBERTY_contraction),
		.sums_anyhow = !options->scalar && !hn_dag_forbids(t->dag, HN_LIBERTY_reassociation),
		.picks_anyhow = !options->scalar && !hn_dag_forbids(t->dag, HN_LIBERTY_minmax),
		.ir = options->want_ir ? &ir : NULL,
	};
	struct hn_gpu_module m;
	struct hn_buf text;
	int rc = hn_gpu_print(d, form, &e->target, &how, a, &m, err);

	if (rc == 0 && options->plant != HN_PLANT_NONE) {
		rc = hn_gpu_plant(&m, options->plant, a, err);
	}
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	hn_gpu_module_write(&m, &text);
	put_text(&text, HN_ARTEFACT_MODULE, a, ret);
	hn_buf_fini(&text);
	ret->ir = ir;
	ret->assembly = options->want_asm ? m.code : NULL;
	return 0;
}

static int emit_gpu(void *state, const struct hn_looptree *t,
		    const struct hn_emit_options *options, struct hn_arena *a,
		    struct hn_artefact *ret, struct hn_err *err)
{
	const struct gpu_emitter *e = state;
	const struct hn_device *d;
	bool as_text = options->form != NULL && strcmp(options->form, TEXT_FORM) == 0;
	enum hn_gpu_form form = options->form != NULL ? hn_gpu_form_of(options->form) : e->form;
	struct hn_buf text;
	int rc;

	if (options->n_beside > 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "device program: nothing goes beside it");
	}
	if (form == HN_GPU_N_FORM && !as_text) {
		return hn_fail(err, HONE_E_INVALID,
			       "form %s: there are " TEXT_FORM ", opencl, cuda and ptx",
			       options->form);
	}
	rc = hn_device_place_for(t, &e->target, a, &d, err);
	rc = rc ? rc : hn_device_verify(d, &e->target, VERIFY_MS, err);
	if (rc != 0) {
		return rc;
	}
	if (!as_text) {
		return emit_module(e, d, form, t, options, a, ret, err);
	}
	hn_buf_init(&text);
	hn_device_print(d, &text);
	put_text(&text, HN_ARTEFACT_DEVICE, a, ret);
	hn_buf_fini(&text);
	return 0;
}

static struct hn_emitter_facts facts_of_gpu(const void *state, struct hn_arena *a)
{
	const struct gpu_emitter *e = state;
	unsigned major, minor, patch;

	LLVMGetVersion(&major, &minor, &patch);
	return (struct hn_emitter_facts){
		.version = e->form == HN_GPU_PTX
				   ? hn_arena_printf(a, "LLVM %u.%u.%u", major, minor, patch)
				   : HN_DEVICE_FORMAT,
		.triple = "",
		.processor = e->target.isa,
		.features = "",
	};
}

extern const struct hn_emit_ops hn_emit_gpu;
const struct hn_emit_ops hn_emit_gpu = { "gpu",	   open_gpu,	 close_gpu,
					 emit_gpu, facts_of_gpu, NULL };
