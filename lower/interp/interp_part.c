/* lower/interp/interp_part.c -- see interp.h.  An op's elements are marked in bits as they are
 * computed; a load of one that is not calls back here.  Ops read earlier ones alone, so that each
 * has one frame and none is asked for while it is computed. */
#include <stdlib.h>

#include "loopstate/dag/decided.h"
#include "loopstate/dag/size.h"
#include "lower/interp/interp.h"
#include "lower/interp/interp_priv.h"

#define MOST_DEEP 200 /* ops in a chain: each is some calls of ours on the stack */

struct lazy_op {
	struct hn_lazy lazy;
	struct hn_interp *in;
	struct hn_machine machine;
};

struct hn_interp {
	struct hn_arena a;
	const struct hn_dag *dag;
	struct lazy_op *op;
	void **own; /* intermediates */
	uint32_t n_own, depth;
	int64_t fuel;
};

static void name_place(const struct hn_machine *m, int64_t at)
{
	for (uint32_t d = m->op->n_spatial; d-- > 0;) {
		const struct hn_axis *axis = &m->op->axis[d];

		m->frame[d].i = axis->min + at % axis->extent;
		at /= axis->extent;
	}
}

static void make(struct hn_lazy *l, int64_t at)
{
	struct lazy_op *op = (struct lazy_op *)l;
	struct hn_interp *in = op->in;

	if (in->fuel < 0 || in->depth >= MOST_DEEP) {
		in->fuel = -1;
		return;
	}
	in->depth++;
	op->machine.frame[-1].i = 0;
	name_place(&op->machine, at);
	hn_machine_element(&op->machine, at);
	in->depth--;
	if (op->machine.frame[-1].i != 0) {
		l->bad[at / 8] |= (uint8_t)(1 << at % 8);
	}
	if (in->fuel >= 0) {
		l->done[at / 8] |= (uint8_t)(1 << at % 8);
	}
}

static int ready_op(struct hn_interp *in, struct hn_compile *c, uint32_t i, struct hn_err *err)
{
	struct lazy_op *op = &in->op[i];

	op->in = in;
	op->lazy.n_elem = hn_op_elements(in->dag->op[i]);
	if (in->dag->op[i]->kind != HN_OP_COMPUTE) {
		return 0;
	}
	op->lazy.make = make;
	op->lazy.done = calloc((size_t)op->lazy.n_elem / 8 + 1, 1);
	op->lazy.bad = calloc((size_t)op->lazy.n_elem / 8 + 1, 1);
	if (op->lazy.done == NULL || op->lazy.bad == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "interpreter: no memory for '%s'",
			       in->dag->op[i]->id);
	}
	hn_machine_init(c, i, &in->fuel, &op->machine);
	return 0;
}

int hn_interp_open(const struct hn_dag *dag, void *const *arg, enum hn_interp_floats floats,
		   struct hn_interp **ret, struct hn_err *err)
{
	int rc = hn_dag_need_numbers("the interpreter", dag, err);
	struct hn_interp *in = rc == 0 ? calloc(1, sizeof *in) : NULL;

	if (in == NULL) {
		return rc ? rc : hn_fail(err, HONE_E_NOMEM, "interpreter: no memory");
	}
	hn_arena_init(&in->a, 0);
	in->dag = dag;
	in->own = HN_NEW_ARRAY(&in->a, void *, (size_t)dag->n_op * HN_DAG_MAX_OUT);
	in->op = HN_NEW_ARRAY(&in->a, struct lazy_op, dag->n_op);

	void ***data = HN_NEW_ARRAY(&in->a, void **, dag->n_op);
	struct hn_lazy **lazy = HN_NEW_ARRAY(&in->a, struct hn_lazy *, dag->n_op);
	bool *decided = HN_NEW_ARRAY(&in->a, bool, dag->n_op);
	struct hn_compile c = { .dag = dag,
				.decided = decided,
				.data = (void *const *const *)data,
				.floats = floats,
				.lazy = lazy,
				.a = &in->a };

	hn_dag_decided(dag, decided);
	rc = hn_interp_place(dag, arg, &in->a, data, in->own, &in->n_own, err);
	for (uint32_t i = 0; i < dag->n_op && rc == 0; i++) {
		lazy[i] = &in->op[i].lazy;
		rc = ready_op(in, &c, i, err);
	}
	if (rc != 0) {
		hn_interp_close(in);
		return rc;
	}
	*ret = in;
	return 0;
}

enum hn_interp_result hn_interp_element(struct hn_interp *in, uint32_t op, int64_t at, int64_t *fuel)
{
	struct hn_lazy *l = &in->op[op].lazy;

	in->fuel = *fuel;
	if ((l->done[at / 8] >> (at % 8) & 1) == 0) {
		l->make(l, at);
	}
	*fuel = in->fuel;
	return in->fuel < 0			    ? HN_INTERP_LONG
	       : (l->bad[at / 8] >> (at % 8) & 1) != 0 ? HN_INTERP_UNDEFINED
							: HN_INTERP_OK;
}

double hn_interp_cells(const struct hn_interp *in)
{
	double sum = 0;

	for (uint32_t i = 0; i < in->dag->n_op; i++) {
		const struct hn_op *op = in->dag->op[i];
		double n = (double)in->op[i].lazy.n_elem * in->op[i].machine.n_cell;

		for (uint32_t k = 0; k < op->n_reduce; k++) {
			n *= (double)op->axis[op->n_spatial + k].extent;
		}
		sum += n;
	}
	return sum;
}

void hn_interp_close(struct hn_interp *in)
{
	if (in == NULL) {
		return;
	}
	for (uint32_t i = 0; i < in->dag->n_op; i++) {
		free(in->op[i].lazy.done);
		free(in->op[i].lazy.bad);
	}
	for (uint32_t i = 0; i < in->n_own; i++) {
		free(in->own[i]);
	}
	hn_arena_fini(&in->a);
	free(in);
}
