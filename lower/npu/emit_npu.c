/* lower/npu/emit_npu.c -- the emitter of the simulated NPU: a program as text, which is what its boards
 * take, what is kept and what people read.
 *
 * The tree says what was proved; the program is made of the task's dag, by a plan.  The naive program
 * has a barrier behind each instruction.
 */
#include <stdlib.h>
#include <string.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/state/state.h"
#include "lower/lower.h"
#include "lower/npu/npu.h"
#include "target/npu/npu.h"

#define FORM "npu"

struct npu_emitter {
	struct hn_npu_profile profile;
};

static int open_npu(const struct hn_target *target, void **ret, struct hn_err *err)
{
	struct npu_emitter *e = calloc(1, sizeof(*e));
	int rc;

	if (e == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "no memory for a code generator");
	}
	rc = hn_npu_profile_of_target(target, &e->profile, err);
	if (rc != 0) {
		free(e);
		return rc;
	}
	*ret = e;
	return 0;
}

static int refuse(const struct hn_emit_options *o, struct hn_err *err)
{
	if (o->n_beside > 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a program for the NPU: nothing goes beside it");
	}
	if (o->form != NULL && strcmp(o->form, FORM) != 0) {
		return hn_fail(err, HONE_E_INVALID, "form %.40s: of the NPU there is " FORM, o->form);
	}
	if (o->want_ir) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "a program for the NPU has no LLVM IR; --emit-asm and -o give its text");
	}
	return 0;
}

/* A call, or a division. */
static bool has(const struct hn_expr *e, bool call)
{
	bool found = call ? e->op == HN_EXPR_CALL : e->op == HN_EXPR_DIV;

	for (uint32_t i = 0; i < e->n_arg && !found; i++) {
		found = has(e->arg[i], call);
	}
	return found;
}

static bool op_has(const struct hn_op *op, bool call)
{
	const struct hn_expr *const *e = op->reduce != NULL ? op->reduce->source : op->body;
	bool found = false;

	for (uint32_t i = 0; i < op->n_out && e != NULL && !found; i++) {
		found = has(e[i], call);
	}
	return found;
}

/* Rows are reduced by halves.  Of integers every order gives the same, of floats the task says whether
 * that may be. */
static int check_order(const struct hn_dag *dag, const struct hn_op *op, struct hn_err *err)
{
	const char *why = op->reduce != NULL && hn_dag_forbidden(dag) != 0 ? hn_against_parts(dag, op) : NULL;

	return why == NULL ? 0
			   : hn_fail(err, HONE_E_UNSUPPORTED, "%s: %s; the NPU's programs reduce in another order",
				     op->name, why);
}

/* Functions are the machine's own: what a task forbids is not kept. */
static int check_dag(const struct hn_dag *dag, struct hn_err *err)
{
	if (dag->sizes != NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a program for the NPU is of numbers, not of sizes");
	}
	for (uint32_t i = dag->n_input; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		const struct {
			enum hn_liberty liberty;
			bool taken;
		} rows[] = {
			{ HN_LIBERTY_functions, op_has(op, true) },
			{ HN_LIBERTY_reciprocal, op_has(op, false) },
		};

		if (check_order(dag, op, err) != 0) {
			return -err->code;
		}
		for (size_t k = 0; k < HN_COUNT_OF(rows); k++) {
			if (rows[k].taken && hn_dag_forbids(dag, rows[k].liberty)) {
				return hn_fail(err, HONE_E_UNSUPPORTED,
					       "%s: the task forbids %s, which the NPU's programs use", op->name,
					       hn_liberty_name(rows[k].liberty));
			}
		}
	}
	return 0;
}

static int emit_npu(void *state, const struct hn_looptree *t, const struct hn_emit_options *options,
		    struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err)
{
	const struct npu_emitter *e = state;
	struct hn_npu_plan plan = { .order = options->scalar ? HN_NPU_BARRIERS : HN_NPU_FLAGS,
				    .slots = options->scalar ? 1 : 2,
				    .reuse = !options->scalar };
	struct hn_npu_tiles tiles;
	const struct hn_npu_program *p;
	struct hn_buf text, planted;
	int rc = refuse(options, err);

	rc = rc ? rc : check_dag(t->state->root_dag, err);
	hn_npu_tiles_of(t->state, &tiles);
	if (tiles.op >= 0 && !options->scalar) {
		plan.tiles = &tiles;
		plan.slots = tiles.slots;
	}
	rc = rc ? rc : hn_npu_program(t->state->root_dag, &e->profile, &plan, a, &p, err);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	hn_buf_init(&planted);
	hn_npu_print(p, &text);
	if (options->plant != HN_PLANT_NONE) {
		rc = hn_npu_plant(p, text.s, (int)options->plant, &planted, err);
	}
	if (rc == 0) {
		const struct hn_buf *made = options->plant != HN_PLANT_NONE ? &planted : &text;
		const char *bytes = hn_arena_strndup(a, made->s, made->n);

		*ret = (struct hn_artefact){ .object = bytes, .object_bytes = made->n,
					     .form = HN_ARTEFACT_NPU,
					     .assembly = options->want_asm ? bytes : NULL };
	}
	rc = rc == 0 && (text.failed || planted.failed)
		     ? hn_fail(err, HONE_E_NOMEM, "no memory for the program's text") : rc;
	hn_buf_fini(&text);
	hn_buf_fini(&planted);
	return rc;
}

static struct hn_emitter_facts facts_of_npu(const void *state, struct hn_arena *a)
{
	const struct npu_emitter *e = state;

	return (struct hn_emitter_facts){ .version = HN_NPU_FORMAT,
					  .triple = "",
					  .processor = hn_arena_strdup(a, e->profile.name),
					  .features = "" };
}

extern const struct hn_emit_ops hn_emit_npu;
const struct hn_emit_ops hn_emit_npu = { "npu", open_npu, free, emit_npu, facts_of_npu, NULL };
