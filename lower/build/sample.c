/* lower/build/sample.c -- see sample.h. */
#include "lower/build/sample.h"

#include "base/rng.h"
#include "loopstate/dag/range.h"
#include "lower/build/restrict.h"

#define SEED 21
#define MIDDLE HN_SAMPLE_MAX /* a place of its own, where no box is taken */
#define LONG_SIDE 64 /* of an output's box: then another dimension grows */

/* Elements of an op: first[d] <= index[d] < first[d] + n[d], from 0 on. */
struct box {
	bool any;
	int64_t first[HN_DAG_MAX_RANK], n[HN_DAG_MAX_RANK];
};

struct sampling {
	const struct hn_looptree *tree;
	const struct hn_dag *dag;
	struct box *box; /* [n_op] */
	double at[MIDDLE + 1][HN_DAG_MAX_RANK]; /* where boxes lie: 0 = first, 1 = last */
	struct hn_arena *a;
};

/* The loads of one op in its box. */
struct reading {
	struct sampling *s;
	struct hn_range *known;
};

/* The box that holds both. */
static void add_range(struct box *b, uint32_t d, bool first, int64_t lo, int64_t hi)
{
	int64_t old_lo = b->first[d], old_hi = old_lo + b->n[d] - 1;

	lo = first || lo < old_lo ? lo : old_lo;
	hi = first || hi > old_hi ? hi : old_hi;
	b->first[d] = lo;
	b->n[d] = hi - lo + 1;
}

static void note_load(const struct hn_expr *e, void *ctx)
{
	struct reading *r = ctx;

	if (e->op == HN_EXPR_LET) {
		hn_range_bind(r->known, e->ref, e->arg[0]);
	}
	if (e->op != HN_EXPR_LOAD) {
		return;
	}
	const struct hn_op *from = r->s->dag->op[e->ref];
	struct box *b = &r->s->box[e->ref];
	bool first = !b->any;

	b->any = true;
	for (uint32_t d = 0; d < e->n_arg; d++) {
		int64_t end = from->shape[d] - 1;
		struct hn_bound got = hn_range_of(r->known, e->arg[d], 0, end);
		int64_t lo = got.lo > 0 ? got.lo : 0, hi = got.hi < end ? got.hi : end;

		/* beyond its tensor is only what no condition lets through */
		lo = lo < end ? lo : end;
		add_range(b, d, first, lo, hi > lo ? hi : lo);
	}
}

/* What op i reads for its box. */
static void need(struct sampling *s, uint32_t i)
{
	struct hn_op boxed = *s->dag->op[i];
	struct hn_axis *axis =
		HN_NEW_ARRAY(s->a, struct hn_axis, boxed.n_spatial + boxed.n_reduce);

	for (uint32_t d = 0; d < boxed.n_spatial + boxed.n_reduce; d++) {
		axis[d] = boxed.axis[d];
		if (d < boxed.n_spatial) {
			axis[d].min += s->box[i].first[d];
			axis[d].extent = s->box[i].n[d];
		}
	}
	boxed.axis = axis;

	struct reading r = { .s = s, .known = hn_range_new(&boxed, s->a) };

	hn_op_visit(&boxed, note_load, &r);
	hn_range_free(r.known);
}

static double points(const struct sampling *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->dag->n_op; i++) {
		const struct hn_op *op = s->dag->op[i];
		double n = 1, terms = op->n_reduce > 0 ? 1 : 0;

		if (op->kind != HN_OP_COMPUTE || !s->box[i].any) {
			continue;
		}
		for (uint32_t d = 0; d < op->n_spatial; d++) {
			n *= (double)s->box[i].n[d];
		}
		for (uint32_t k = 0; k < op->n_reduce; k++) {
			terms *= (double)op->axis[op->n_spatial + k].extent;
		}
		sum += n * (terms + 1);
	}
	return sum;
}

/* The boxes for outputs of at most side[d] elements a dimension, counted from the last, at a
 * place; what they cost. */
static double lay(struct sampling *s, uint32_t place, const int64_t *side)
{
	const struct hn_dag *dag = s->dag;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		s->box[i].any = false;
	}
	for (uint32_t k = dag->n_input; k < dag->n_arg; k++) {
		const struct hn_op *op = dag->op[dag->arg[k]];
		struct box *b = &s->box[dag->arg[k]];

		b->any = true;
		for (uint32_t d = 0; d < op->n_dim; d++) {
			int64_t most = side[op->n_dim - 1 - d];

			b->n[d] = op->shape[d] < most ? op->shape[d] : most;
			b->first[d] = (int64_t)(s->at[place][d] * (double)(op->shape[d] - b->n[d]));
		}
	}
	/* readers come after what they read */
	for (uint32_t i = dag->n_op; i-- > 0;) {
		if (s->box[i].any && dag->op[i]->kind == HN_OP_COMPUTE) {
			need(s, i);
		}
	}
	return points(s);
}

/* The largest sides with which a box in the middle, where borders make nothing cheaper, costs no
 * more: they grow the last dimension first.  False: one element takes more. */
static bool grow(struct sampling *s, double most, int64_t *side)
{
	double now;
	bool grown = true;

	for (uint32_t d = 0; d < HN_DAG_MAX_RANK; d++) {
		side[d] = 1;
	}
	now = lay(s, MIDDLE, side);
	while (grown && now <= most) {
		grown = false;
		for (uint32_t d = 0; d < HN_DAG_MAX_RANK && !grown; d++) {
			double after = most + 1;

			side[d] *= 2;
			if (side[d] <= LONG_SIDE) {
				after = lay(s, MIDDLE, side);
			}
			grown = after > now && after <= most;
			now = grown ? after : now;
			side[d] /= grown ? 1 : 2;
		}
	}
	return now <= most;
}

/* Each loop over an axis of a nest runs over its box.  False: the nest is of another shape. */
static bool restrict_axes(const struct sampling *s, const struct hn_node *n, uint32_t i,
			  const struct hn_restrict *r)
{
	const struct hn_op *op = s->dag->op[i];

	if (n->kind == HN_NODE_STMT) {
		for (uint32_t d = 0; d < op->n_spatial; d++) {
			const struct hn_expr *e = n->axis[d];

			if (e->op == HN_EXPR_VAR && (uint32_t)e->ref < s->tree->n_loop) {
				r->first[e->ref] = s->box[i].first[d];
				r->extent[e->ref] = s->box[i].n[d];
			} else if (op->axis[d].extent > 1) {
				return false;
			}
		}
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		if (!restrict_axes(s, n->child[k], i, r)) {
			return false;
		}
	}
	return n->init == NULL || restrict_axes(s, n->init, i, r);
}

static const struct hn_looptree *tree_of(const struct sampling *s)
{
	const struct hn_node *root = s->tree->root;
	const struct hn_node **nest = HN_NEW_ARRAY(s->a, const struct hn_node *, root->n_child);
	uint32_t n = 0;

	for (uint32_t k = 0; k < root->n_child; k++) {
		uint32_t i = (uint32_t)root->child[k]->stage;
		struct hn_restrict r = hn_restrict_none(s->tree, s->a);

		if (!s->box[i].any) {
			continue;
		}
		if (!restrict_axes(s, root->child[k], i, &r)) {
			return NULL;
		}
		nest[n++] = hn_restrict(s->tree, root->child[k], &r);
	}
	return hn_restrict_tree(s->tree, n, nest, s->a);
}

/* The two ends, somewhere between, and the middle. */
static void draw_places(struct sampling *s)
{
	struct hn_rng r = hn_rng_stream(SEED, 0, 0, 0);

	for (uint32_t d = 0; d < HN_DAG_MAX_RANK; d++) {
		for (uint32_t p = 2; p < HN_SAMPLE_MAX; p++) {
			s->at[p][d] = hn_rng_unit(&r);
		}
		s->at[1][d] = 1;
		s->at[MIDDLE][d] = 0.5;
	}
}

uint32_t hn_sample(const struct hn_looptree *t, double most, struct hn_arena *a,
		   const struct hn_looptree *ret[HN_SAMPLE_MAX])
{
	struct sampling s = { .tree = t,
			      .dag = t->dag,
			      .box = HN_NEW_ARRAY(a, struct box, t->dag->n_op),
			      .a = a };
	int64_t side[HN_DAG_MAX_RANK];
	uint32_t n = 0;

	draw_places(&s);
	if (t->dag->sizes != NULL || !grow(&s, most, side)) {
		return 0;
	}
	while (n < HN_SAMPLE_MAX && lay(&s, n, side) <= 2 * most) {
		ret[n] = tree_of(&s);
		if (ret[n] == NULL) {
			return 0;
		}
		n++;
	}
	return n;
}
