/* lower/interp/interp.c -- the reference interpreter: a dag as written, op after op.
 *
 * Shares nothing with the lowering it judges but the dag.  Values are as wide as they
 * come between loads and stores; a reduction carries them wide from identity to store, so
 * float32 sums are sums in double.
 */
#include <stdlib.h>

#include "loopstate/dag/decided.h"
#include "loopstate/dag/size.h"
#include "lower/interp/interp_priv.h"
#include "lower/lower.h"

#define EVAL(cell, frame) ((cell)->eval((cell), (frame)))

/* Step the axes first..first+n as an odometer; false when it is back at its start. */
static bool advance(const struct hn_machine *m, uint32_t first, uint32_t n)
{
	for (uint32_t i = first + n; i-- > first;) {
		const struct hn_axis *axis = &m->op->axis[i];

		if (++m->frame[i].i < axis->min + axis->extent) {
			return true;
		}
		m->frame[i].i = axis->min;
	}
	return false;
}

static void rewind_axes(const struct hn_machine *m, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++) {
		m->frame[i].i = m->op->axis[i].min;
	}
}

/* One update of the carried values: all results from the old ones. */
static void update(const struct hn_machine *m, union hn_value *lhs, union hn_value *rhs)
{
	union hn_value next[HN_DAG_MAX_OUT];

	for (uint32_t k = 0; k < m->op->n_out; k++) {
		rhs[k] = EVAL(m->body[k], m->frame);
	}
	for (uint32_t k = 0; k < m->op->n_out; k++) {
		next[k] = EVAL(m->result[k], m->frame);
	}
	for (uint32_t k = 0; k < m->op->n_out; k++) {
		lhs[k] = next[k];
	}
}

/* Sums of floats, one output: the innermost axis in a loop of its own. */
static void add_up(const struct hn_machine *m, union hn_value *lhs)
{
	uint32_t inner = m->op->n_spatial + m->op->n_reduce - 1;
	const struct hn_axis *axis = &m->op->axis[inner];
	const struct hn_cell *source = m->body[0];

	do {
		*m->fuel -= axis->extent * m->n_cell;
		for (int64_t i = 0; i < axis->extent; i++) {
			m->frame[inner].i = axis->min + i;
			if (m->condition == NULL || EVAL(m->condition, m->frame).i) {
				lhs->f += EVAL(source, m->frame).f;
			}
		}
	} while (*m->fuel >= 0 && advance(m, m->op->n_spatial, m->op->n_reduce - 1));
}

static void reduce(const struct hn_machine *m, int64_t at)
{
	uint32_t n_axis = m->op->n_spatial + m->op->n_reduce, n_out = m->op->n_out;
	union hn_value *lhs = m->frame + n_axis, *rhs = lhs + n_out;
	bool sum = m->wide && m->op->reduce->kind == HN_COMBINE_SUM &&
		   hn_dtype_class(m->op->dtype[0]) == HN_CLASS_FLOAT &&
		   !hn_dtype_is_narrow(m->op->dtype[0]);

	for (uint32_t k = 0; k < n_out; k++) {
		lhs[k] = EVAL(m->identity[k], m->frame);
	}
	rewind_axes(m, m->op->n_spatial, m->op->n_reduce);
	if (sum) {
		add_up(m, lhs);
	} else {
		do {
			*m->fuel -= m->n_cell;
			if (m->condition == NULL || EVAL(m->condition, m->frame).i) {
				update(m, lhs, rhs);
			}
		} while (*m->fuel >= 0 && advance(m, m->op->n_spatial, m->op->n_reduce));
	}
	for (uint32_t k = 0; k < n_out; k++) {
		hn_interp_put(m->out[k], m->op->dtype[k], at, lhs[k]);
	}
}

void hn_machine_element(const struct hn_machine *m, int64_t at)
{
	if (m->op->reduce != NULL) {
		reduce(m, at);
		return;
	}
	*m->fuel -= m->n_cell;
	for (uint32_t k = 0; k < m->op->n_out; k++) {
		hn_interp_put(m->out[k], m->op->dtype[k], at, EVAL(m->body[k], m->frame));
	}
}

static void run_op(const struct hn_machine *m)
{
	int64_t at = 0;

	rewind_axes(m, 0, m->op->n_spatial);
	do {
		hn_machine_element(m, at++);
	} while (advance(m, 0, m->op->n_spatial));
}

static void compile_op(struct hn_compile *c, const struct hn_op *op, struct hn_machine *m)
{
	const struct hn_reduce *r = op->reduce;

	for (uint32_t k = 0; k < op->n_out; k++) {
		m->body[k] = hn_interp_compile(c, r != NULL ? r->source[k] : op->body[k]);
		if (r != NULL) {
			m->result[k] = hn_interp_compile(c, r->result[k]);
			m->identity[k] = hn_interp_compile(c, r->identity[k]);
		}
	}
	m->condition = r != NULL && r->condition != NULL
			       ? hn_interp_compile(c, r->condition)
			       : NULL;
}

void hn_machine_init(struct hn_compile *c, uint32_t i_op, int64_t *fuel, struct hn_machine *ret)
{
	const struct hn_op *op = c->dag->op[i_op];

	c->n_axis = op->n_spatial + op->n_reduce;
	c->n_out = op->n_out;
	c->n_frame = c->n_axis + 2 * op->n_out;
	c->n_cell = 0;
	*ret = (struct hn_machine){ .op = op,
				    .out = c->data[i_op],
				    .wide = c->floats == HN_INTERP_WIDE,
				    .fuel = fuel };
	enum hn_interp_floats floats = c->floats;

	c->floats = c->decided[i_op] ? HN_INTERP_ROUNDED : floats;
	compile_op(c, op, ret);
	c->floats = floats;
	ret->n_cell = c->n_cell;
	ret->frame = HN_NEW_ARRAY(c->a, union hn_value, (size_t)c->n_frame + 1) + 1;
}

static void interpret_op(const struct hn_dag *dag, const bool *decided,
			 void *const *const *data, uint32_t i)
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	struct hn_compile c = { .dag = dag, .data = data, .decided = decided, .a = &a };
	struct hn_machine m;
	int64_t fuel = INT64_MAX;

	hn_machine_init(&c, i, &fuel, &m);
	run_op(&m);
	hn_arena_fini(&a);
}

int hn_interp_place(const struct hn_dag *dag, void *const *arg, struct hn_arena *a,
		    void ***data, void **own, uint32_t *n_own, struct hn_err *err)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		data[i] = HN_NEW_ARRAY(a, void *, dag->op[i]->n_out);
		for (uint32_t j = 0, k = 0; j < dag->n_arg; j++) {
			if (dag->arg[j] == (int32_t)i) {
				data[i][k++] = arg[j];
			}
		}
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		for (uint32_t k = 0; k < op->n_out; k++) {
			if (data[i][k] != NULL) {
				continue;
			}
			data[i][k] = calloc(1, (size_t)hn_op_bytes(op, k));
			if (data[i][k] == NULL) {
				return hn_fail(
					err, HONE_E_NOMEM,
					"interpreter: no memory for '%s' (%lld bytes)",
					op->id, (long long)hn_op_bytes(op, k));
			}
			own[(*n_own)++] = data[i][k];
		}
	}
	return 0;
}

int hn_interpret(const struct hn_dag *dag, void *const *arg, struct hn_err *err)
{
	struct hn_arena a;
	uint32_t n_own = 0;

	int rc = hn_dag_need_numbers("the interpreter", dag, err);

	if (rc) {
		return rc;
	}
	hn_arena_init(&a, 0);
	void ***data = HN_NEW_ARRAY(&a, void **, dag->n_op);
	void **own = HN_NEW_ARRAY(&a, void *, (size_t)dag->n_op *HN_DAG_MAX_OUT);
	bool *decided = HN_NEW_ARRAY(&a, bool, dag->n_op);

	hn_dag_decided(dag, decided);
	rc = hn_interp_place(dag, arg, &a, data, own, &n_own, err);
	for (uint32_t i = 0; rc == 0 && i < dag->n_op; i++) {
		if (dag->op[i]->kind == HN_OP_COMPUTE) {
			interpret_op(dag, decided, (void *const *const *)data, i);
		}
	}
	for (uint32_t i = 0; i < n_own; i++) {
		free(own[i]);
	}
	hn_arena_fini(&a);
	return rc;
}
