/* lower/npu/dag.c -- a dag's program for the NPU: of a product of matrices for the cube, of what goes
 * through rows for the vector unit; by rule, or as the machine itself runs it fastest.
 */
#include "lower/npu/parts.h"
#include "lower/npu/task.h"
#include "target/npu/npu_run.h"

#define FAR 8 /* times */
#define SIZES 5 /* of tiles: each half of the one before */

static int64_t cycles_of(const struct hn_npu_program *p, const struct hn_npu_profile *m)
{
	const struct hn_npu_options o = { 0 };
	struct hn_npu_result r;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_run(p, m, &o, &a, &r, NULL);
	hn_arena_fini(&a);
	return rc == 0 ? r.cycles : INT64_MAX;
}

/* Where few cores have anything to do, reductions are done in parts, if that is faster on the machine. */
static void in_parts(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		     uint32_t cores, struct hn_arena *a, const struct hn_npu_program **ret)
{
	struct hn_npu_plan p = *plan;
	const struct hn_npu_program *parts;

	p.tiles = NULL;
	p.tile = 0;
	if (cores * 2 <= m->cores && hn_npu_vector_parts(dag, m, &p, m->cores / cores, a, &parts, NULL) == 0 &&
	    cycles_of(parts, m) < cycles_of(*ret, m)) {
		*ret = parts;
	}
}

static uint64_t n_insn(const struct hn_npu_program *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n_section; i++) {
		n += (uint64_t)p->section[i].n_insn * p->section[i].n_core;
	}
	return n;
}

/* A border that sums read over is made first, if that is faster, or all that there is: *rc is of the
 * program without. */
static void staged(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		   struct hn_arena *a, int *rc, const struct hn_npu_program **ret)
{
	const struct hn_npu_program *first;
	struct hn_npu_plan p = *plan;

	p.tiles = NULL;
	p.tile = 0;
	if (hn_npu_vector_staged(dag, m, &p, a, &first, NULL) == 0 &&
	    /* a program so much longer need not be run to be slower */
	    (*rc != 0 || n_insn(first) < n_insn(*ret) / FAR || cycles_of(first, m) < cycles_of(*ret, m))) {
		*ret = first;
		*rc = 0;
	}
}

/* By a history's tiles; by the rule's where these are too many for one program; with one slot where
 * there is no room for two. */
static int vectors(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		   struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	struct hn_npu_plan p = *plan;
	struct hn_npu_vector_facts facts = { .cores = 1 };
	int rc = hn_npu_vector(dag, m, &p, a, ret, &facts, err);

	if (rc == -HONE_E_UNSUPPORTED && p.tiles != NULL) {
		p.tiles = NULL;
		rc = hn_npu_vector(dag, m, &p, a, ret, &facts, err);
	}
	if (rc == -HONE_E_UNSUPPORTED && p.slots > 1) {
		p.slots = 1;
		rc = hn_npu_vector(dag, m, &p, a, ret, &facts, err);
	}
	if (rc == -HONE_E_UNSUPPORTED || (rc == 0 && facts.split)) {
		staged(dag, m, &p, a, &rc, ret);
	}
	if (rc == 0 && !facts.split) {
		in_parts(dag, m, &p, facts.cores, a, ret);
	}
	return rc;
}

/* What a product has no form for says more than what vectors have none for. */
static int no_product(int rc, const char *why, struct hn_err *err)
{
	return rc == 0 || why == NULL ? rc
				      : hn_fail(err, HONE_E_UNSUPPORTED, "of products there is no form for %s", why);
}

int hn_npu_program(const struct hn_dag *dag, const struct hn_npu_profile *m,
		   const struct hn_npu_plan *plan, struct hn_arena *a, const struct hn_npu_program **ret,
		   struct hn_err *err)
{
	struct hn_npu_product p;
	const char *why;

	if (!hn_npu_task_of(dag, a, &p, &why)) {
		return no_product(vectors(dag, m, plan, a, ret, err), why, err);
	}
	hn_npu_product_plan(m, &p);
	if (plan->tiles != NULL && plan->tiles->op == p.task->sum && p.m0 > 0) {
		hn_npu_product_by(m, plan->tiles, &p);
	} else {
		p.slots_l0 = p.slots_l1 = plan->slots;
	}
	p.order = plan->order;
	return hn_npu_product(&p, m, a, ret, NULL, err);
}

struct choice {
	const struct hn_dag *dag;
	const struct hn_npu_profile *m;
	bool product;
	struct hn_npu_product p, best_p;
	struct hn_npu_plan plan, best_plan;
	int64_t least; /* cycles of the best; 0 = none yet */
};

static int code(const struct choice *c, const struct hn_npu_product *p, const struct hn_npu_plan *plan,
		struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	return c->product ? hn_npu_product(p, c->m, a, ret, NULL, err)
			  : hn_npu_vector(c->dag, c->m, plan, a, ret, NULL, err);
}

/* What has no program is no choice. */
static void try(struct choice *c)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	struct hn_npu_result r;
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (code(c, &c->p, &c->plan, &a, &p, &err) == 0 && hn_npu_run(p, c->m, &o, &a, &r, &err) == 0 &&
	    (c->least == 0 || r.cycles < c->least)) {
		c->least = r.cycles;
		c->best_p = c->p;
		c->best_plan = c->plan;
	}
	hn_arena_fini(&a);
}

static void try_tiles(struct choice *c, int64_t largest)
{
	for (int64_t i = 0; i < SIZES && largest >> i > 0; i++) {
		for (c->plan.slots = 1; c->plan.slots <= 2; c->plan.slots++) {
			c->plan.tile = largest >> i;
			try(c);
		}
	}
}

int hn_npu_tuned(const struct hn_dag *dag, const struct hn_npu_profile *m, struct hn_arena *a,
		 const struct hn_npu_program **ret, struct hn_err *err)
{
	struct choice c = { .dag = dag, .m = m };
	struct hn_npu_product plans[HN_NPU_MOST_PLANS];
	struct hn_npu_vector_facts facts;
	const char *why;
	int rc;

	c.plan = (struct hn_npu_plan){ .order = HN_NPU_FLAGS, .slots = 1, .reuse = true };
	c.product = hn_npu_task_of(dag, a, &c.p, &why);
	c.best_plan = c.plan;
	if (c.product) {
		uint32_t n;

		c.p.order = HN_NPU_FLAGS;
		n = hn_npu_product_plans(m, &c.p, HN_NPU_MOST_PLANS, plans);
		c.best_p = c.p;
		for (uint32_t i = 0; i < n; i++) {
			c.p = plans[i];
			try(&c);
		}
	} else {
		rc = no_product(hn_npu_vector(dag, m, &c.plan, a, ret, &facts, err), why, err);
		if (rc != 0) {
			return rc;
		}
		try_tiles(&c, facts.rows == 1 ? facts.columns : facts.rows);
		c.plan.tile = 0;
		c.plan.slots = 2;
		try(&c);
	}
	rc = code(&c, &c.best_p, &c.best_plan, a, ret, err);
	if (rc == 0 && !c.product) {
		c.plan.slots = 2;
		in_parts(dag, m, &c.plan, facts.cores, a, ret);
	}
	return rc;
}
