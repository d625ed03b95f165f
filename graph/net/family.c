/* graph/net/family.c -- see family.h. */
#include "graph/net/family.h"

#include <inttypes.h>
#include <string.h>

#include "loopstate/dag/constant.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"

/* A vector of 16 numbers and a panel of four are what schedules count in.  Below a vector its half
 * and its quarter: there a packed panel is mostly empty, and each length wants another order of loops
 * (`hone-bench regret`). */
static const int64_t small_end[] = { 4, 8, 16, 64 };

int64_t hn_family_end(int64_t size, int64_t most)
{
	for (size_t i = 0; i < HN_COUNT_OF(small_end); i++) {
		if (size <= small_end[i] && small_end[i] < most) {
			return small_end[i];
		}
	}
	return most;
}

static bool uses_size(const struct hn_expr *e, uint32_t k)
{
	bool uses = e != NULL && hn_expr_is_size(e) && e->ref == HN_SLOT_SIZE + (int32_t)k;

	for (uint32_t i = 0; e != NULL && i < e->n_arg && !uses; i++) {
		uses = uses_size(e->arg[i], k);
	}
	return uses;
}

/* Weights that a schedule may lay out anew; a bias is read as it is. */
bool hn_family_has_weights(const struct hn_dag *dag)
{
	bool found = false;

	for (uint32_t i = 0; i < dag->n_arg && !found; i++) {
		found = hn_dag_arg_is_constant(dag, i) && dag->op[dag->arg[i]]->n_dim > 1;
	}
	return found;
}

/* A sum as long as the size, or sums of which it counts rows and columns. */
static bool sums_differ(const struct hn_op *op, uint32_t k)
{
	uint32_t n = 0;

	for (uint32_t d = 0; op->reduce != NULL && d < op->n_dim + op->n_reduce; d++) {
		n += uses_size(hn_op_extent(op, d), k) ? d < op->n_dim ? 1 : 2 : 0;
	}
	return n > 1;
}

bool hn_family_differs(const struct hn_dag *dag, uint32_t k)
{
	bool differs = false;

	for (uint32_t i = 0; i < dag->n_op && !differs; i++) {
		differs = sums_differ(dag->op[i], k);
	}
	return differs && !hn_family_has_weights(dag);
}

struct cutter {
	struct hn_ranges *all;
	struct hn_arena *a;
	struct hn_err *err;
	uint32_t n, cap;
	struct hn_net_range *range;
};

/* "name(N0 in [1, 512], .." with the part's sizes; the rest stays. */
static const char *part_text(const struct cutter *c, const struct hn_net_range *part,
			     const struct hn_gtask *task, const char *name)
{
	const char *rest = task->text;
	const char *s = hn_arena_printf(c->a, "%s(", name);

	for (uint32_t k = 0; k < c->all->n_size; k++) {
		const struct hn_size *size = &task->dag->sizes->size[k];

		rest = strstr(rest, "], ") + strlen("], ");
		s = hn_arena_printf(c->a, "%s%s in [%" PRId64 ", %" PRId64 "], ", s, size->name,
				    part->least[k], part->most[k]);
	}
	return hn_arena_printf(c->a, "%s%s", s, rest);
}

/* Kernels of the part's own, where they differ along size k. */
static int own_kernels(struct cutter *c, struct hn_net_range *part, uint32_t k)
{
	struct hn_net *net = &part->net;
	struct hn_gtask *task = HN_NEW_ARRAY(c->a, struct hn_gtask, net->n_task + 1);
	struct hn_gkernel *kernel = HN_NEW_ARRAY(c->a, struct hn_gkernel, net->n_kernel + 1);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < net->n_task; i++) {
		struct hn_gtask *t = &task[i];

		*t = net->task[i];
		if (!t->sized || !hn_family_differs(t->dag, k)) {
			continue;
		}
		const char *name = hn_arena_printf(c->a, "to%" PRId64 "_%s", part->most[k], t->name);

		t->text = part_text(c, part, t, name);
		t->name = name;
		rc = hn_dag_parse_sized(t->name, t->text, strlen(t->text), 0, c->a, &t->dag, c->err);
	}
	for (uint32_t i = 0; i < net->n_kernel; i++) {
		kernel[i] = net->kernel[i];
		kernel[i].name = task[kernel[i].task].name;
	}
	net->task = task;
	net->kernel = kernel;
	return rc;
}

static bool any_differs(const struct hn_net *net, uint32_t k)
{
	bool any = false;

	for (uint32_t i = 0; i < net->n_task && !any; i++) {
		any = net->task[i].sized && hn_family_differs(net->task[i].dag, k);
	}
	return any;
}

static void add(struct cutter *c, const struct hn_net_range *r)
{
	c->range = hn_arena_grow(c->a, c->range, c->n, &c->cap, sizeof(*c->range));
	c->range[c->n++] = *r;
}

/* The part of the largest sizes first: it is the range, less the others. */
static int cut(struct cutter *c, const struct hn_net_range *r, uint32_t k)
{
	struct hn_net_range part = *r;
	int64_t most = r->most[k], least = r->least[k];
	int rc = 0;

	while (any_differs(&r->net, k) && hn_family_end(least, most) < most) {
		least = hn_family_end(least, most) + 1;
	}
	part.least[k] = least;
	add(c, &part);
	for (least = r->least[k]; rc == 0 && least < part.least[k];) {
		struct hn_net_range small = *r;

		small.least[k] = least;
		small.most[k] = hn_family_end(least, most);
		least = small.most[k] + 1;
		rc = own_kernels(c, &small, k);
		add(c, &small);
	}
	return rc;
}

int hn_family_cut(struct hn_ranges *r, struct hn_arena *a, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < r->n_size; k++) {
		struct cutter c = { .all = r, .a = a, .err = err };

		for (uint32_t i = 0; rc == 0 && i < r->n; i++) {
			rc = cut(&c, &r->range[i], k);
		}
		r->n = c.n;
		r->range = c.range;
	}
	return rc;
}
