/* lower/npu/sized_axes.c -- dimensions of a dag whose length is a size, and how arguments lie along them.
 *
 * An axis of an op and a dimension of what it reads are one where the op reads along its own axis.  A
 * dimension is gone through row by row where no op does anything else with its axes: it is no sum's,
 * and no index, condition or number is made of it.  A size's dimensions have to be so, and what lies
 * outside of them in an argument as well, for rows of a tile to lie next to each other.
 */
#include "loopstate/dag/size.h"
#include "lower/npu/sized.h"

#define SEQUENCE 32
#define TERMS (-1)

struct walk {
	struct sized *s;
	uint32_t op;
	bool unites;
};

uint32_t sized_n_axis(const struct hn_op *op)
{
	return op->kind == HN_OP_PLACEHOLDER ? op->n_dim : op->n_spatial + op->n_reduce;
}

static uint32_t root(const struct sized *s, uint32_t i)
{
	while (s->parent[i] != i) {
		i = s->parent[i];
	}
	return i;
}

uint32_t sized_find(const struct sized *s, uint32_t op, uint32_t axis)
{
	return root(s, s->first[op] + axis);
}

int64_t sized_largest(const struct hn_op *op, uint32_t axis)
{
	return op->kind == HN_OP_PLACEHOLDER ? op->shape[axis] : op->axis[axis].extent;
}

static bool same_extent(const struct hn_op *x, uint32_t i, const struct hn_op *y, uint32_t k)
{
	const struct hn_expr *e = hn_op_extent(x, i), *f = hn_op_extent(y, k);

	return e == NULL || f == NULL ? e == f && sized_largest(x, i) == sized_largest(y, k) : hn_expr_equal(e, f);
}

static bool is_one(const struct hn_op *op, uint32_t axis)
{
	return hn_op_extent(op, axis) == NULL && sized_largest(op, axis) == 1;
}

/* -- which axes go together ---------------------------------------------------------------- */

static void bind(const struct walk *w, uint32_t op, uint32_t axis)
{
	if (!w->unites && !is_one(w->s->dag->op[op], axis)) {
		w->s->bound[sized_find(w->s, op, axis)] = w->op + 1;
	}
}

static void look(const struct walk *w, const struct hn_expr *e)
{
	const struct hn_op *op = w->s->dag->op[w->op], *from;

	if (e->op == HN_EXPR_VAR && (uint32_t)e->ref < sized_n_axis(op)) {
		bind(w, w->op, (uint32_t)e->ref);
	}
	if (e->op != HN_EXPR_LOAD) {
		for (uint32_t i = 0; i < e->n_arg; i++) {
			look(w, e->arg[i]);
		}
		return;
	}
	from = w->s->dag->op[e->ref];
	w->s->is_read[e->ref] = true;
	for (uint32_t d = 0; d < from->n_dim; d++) {
		const struct hn_expr *i = e->arg[d];

		if (i->op == HN_EXPR_VAR && (uint32_t)i->ref < sized_n_axis(op) &&
		    same_extent(op, (uint32_t)i->ref, from, d)) {
			if (w->unites) {
				w->s->parent[sized_find(w->s, w->op, (uint32_t)i->ref)] =
					sized_find(w->s, (uint32_t)e->ref, d);
			}
			continue;
		}
		look(w, i);
		bind(w, (uint32_t)e->ref, d);
	}
}

static void visit(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	look(ctx, e);
}

/* A sum of one value, whose terms may be taken in any order and any number of them left out. */
static bool takes_any(const struct hn_op *op)
{
	return op->reduce != NULL && op->reduce->n == 1 && op->reduce->kind != HN_COMBINE_NONE &&
	       op->reduce->kind != HN_COMBINE_GENERAL;
}

static void op_axes(struct sized *s, uint32_t i)
{
	const struct hn_op *op = s->dag->op[i];

	for (uint32_t d = 0; d < sized_n_axis(op); d++) {
		struct walk w = { .s = s, .op = i };

		if (op->kind == HN_OP_COMPUTE && (op->axis[d].min != 0 || (d >= op->n_spatial && !takes_any(op)))) {
			bind(&w, i, d);
		} else if (op->kind == HN_OP_COMPUTE && d >= op->n_spatial && !is_one(op, d)) {
			s->summed[sized_find(s, i, d)] = i + 1;
		}
		for (uint32_t e = 0; e < d; e++) {
			if (sized_find(s, i, d) == sized_find(s, i, e)) {
				bind(&w, i, d);
			}
		}
	}
}

static void sets(struct sized *s)
{
	const struct hn_dag *dag = s->dag;

	s->first = HN_NEW_ARRAY(s->a, uint32_t, dag->n_op + 1);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		s->first[i + 1] = s->first[i] + sized_n_axis(dag->op[i]);
	}
	s->parent = HN_NEW_ARRAY(s->a, uint32_t, s->first[dag->n_op] + 1);
	s->bound = HN_NEW_ARRAY(s->a, uint32_t, s->first[dag->n_op] + 1);
	s->summed = HN_NEW_ARRAY(s->a, uint32_t, s->first[dag->n_op] + 1);
	s->is_read = HN_NEW_ARRAY(s->a, bool, dag->n_op + 1);
	for (uint32_t k = 0; k < s->first[dag->n_op]; k++) {
		s->parent[k] = k;
	}
	for (int unites = 1; unites >= 0; unites--) {
		for (uint32_t i = 0; i < dag->n_op; i++) {
			struct walk w = { .s = s, .op = i, .unites = unites != 0 };

			if (dag->op[i]->kind == HN_OP_COMPUTE) {
				hn_dag_op_exprs(dag->op[i], visit, &w);
			}
		}
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		op_axes(s, i);
	}
}

/* -- dimensions that are gone through ------------------------------------------------------- */

int32_t sized_class_of(const struct sized *s, uint32_t set)
{
	for (uint32_t c = 0; c < s->n_class; c++) {
		if (s->class[c].set == set) {
			return (int32_t)c;
		}
	}
	return -1;
}

int sized_refuse(struct sized *s, const struct hn_op *op, const char *why)
{
	return hn_fail(s->err, HONE_E_UNSUPPORTED, "%s: %s", op->name, why);
}

static int add_class(struct sized *s, uint32_t op, uint32_t d)
{
	uint32_t set = sized_find(s, op, d);
	const struct hn_op *o = s->dag->op[op];
	const struct hn_npu_form *extent = sized_extent(s, o, d);

	if (sized_class_of(s, set) >= 0) {
		return 0;
	}
	if (s->bound[set] != 0 || s->summed[set] != 0) {
		uint32_t by = s->bound[set] != 0 ? s->bound[set] : s->summed[set];

		return hn_op_extent(o, d) != NULL
			       ? sized_refuse(s, s->dag->op[by - 1], "it computes with a place along a size, or "
					"reduces it by other than a sum, product, least or greatest: a program for the NPU needs a "
					"number there")
			       : sized_refuse(s, s->dag->op[by - 1], "a dimension that it sums over, or computes with a "
					"place along, lies outside of a size in an argument");
	}
	if (extent == NULL || s->n_class == SIZED_CLASSES) {
		return sized_refuse(s, o, "its sizes are more, or in other forms, than a program for the NPU has");
	}
	s->class[s->n_class++] = (struct sized_class){ .extent = extent, .largest = sized_largest(o, d), .set = set };
	return 0;
}

/* An argument that nothing reads. */
static bool is_idle(const struct sized *s, uint32_t op)
{
	return s->dag->op[op]->kind == HN_OP_PLACEHOLDER && !s->is_read[op];
}

/* What cores can share beside terms: numbers outside of these in an argument, else the first inside, up to one
 * that is summed over. */
static int beside_terms(struct sized *s)
{
	int rc = 0;

	for (int inside = 0; inside < 2 && (inside == 0 || s->n_class == 0); inside++) {
		for (uint32_t i = 0; i < s->dag->n_arg && rc == 0; i++) {
			uint32_t op_i = (uint32_t)s->dag->arg[i], from = 0, n = sized_arg(s, i)->n_dim;
			bool goes_on = true;

			while (from < n && !sized_is_sum(s, sized_find(s, op_i, from))) {
				from++;
			}
			for (uint32_t d = inside ? from : 0; from < n && d < (inside ? n : from) && rc == 0 && goes_on; d++) {
				uint32_t set = sized_find(s, op_i, d);
				bool is_free = s->bound[set] == 0 && s->summed[set] == 0;

				goes_on = !inside || is_free || s->n_class == 0;
				rc = is_free && !is_one(sized_arg(s, i), d) ? add_class(s, op_i, d) : 0;
			}
			if (inside && s->n_class > 0) {
				return rc;
			}
		}
	}
	return rc;
}

/* So many numbers of the result that has most dimensions, the outermost first: cores share these, too. */
static int inside(struct sized *s)
{
	uint32_t of = s->dag->n_input, before = s->n_class;
	int rc = 0;

	for (uint32_t i = of; i < s->dag->n_arg; i++) {
		of = sized_arg(s, i)->n_dim > sized_arg(s, of)->n_dim ? i : of;
	}
	for (uint32_t d = 0; d < sized_arg(s, of)->n_dim && rc == 0 && s->n_class < before + s->depth; d++) {
		uint32_t set = sized_find(s, (uint32_t)s->dag->arg[of], d);

		if (s->bound[set] == 0 && s->summed[set] == 0 && !is_one(sized_arg(s, of), d)) {
			rc = add_class(s, (uint32_t)s->dag->arg[of], d);
		}
	}
	return rc == 0 && s->n_class < before + s->depth ? sized_refuse(s, sized_arg(s, of), "it has no more dimensions")
							 : rc;
}

/* Those of sizes, and what lies outside of any of them in an argument. */
static int classes(struct sized *s, bool all)
{
	uint32_t before = UINT32_MAX;
	int rc = 0;

	s->n_class = s->n_sum = 0;
	for (uint32_t i = 0; i < s->dag->n_op && rc == 0; i++) {
		for (uint32_t d = 0; d < sized_n_axis(s->dag->op[i]) && rc == 0 && !is_idle(s, i); d++) {
			uint32_t set = sized_find(s, i, d);

			if (hn_op_extent(s->dag->op[i], d) != NULL) {
				rc = s->bound[set] == 0 && s->summed[set] != 0 ? sized_add_sum(s, i, d) : add_class(s, i, d);
			}
		}
	}
	rc = rc == 0 && all && s->n_sum > 0 ? beside_terms(s) : rc;
	rc = rc == 0 && s->depth > 0 ? inside(s) : rc;
	while (rc == 0 && before != s->n_class) {
		before = s->n_class;
		for (uint32_t i = 0; i < s->dag->n_arg && rc == 0; i++) {
			const struct hn_op *op = sized_arg(s, i);
			uint32_t op_i = (uint32_t)s->dag->arg[i], end = 0;

			for (uint32_t d = 0; d < op->n_dim; d++) {
				end = sized_class_of(s, sized_find(s, op_i, d)) >= 0 ? d : end;
			}
			for (uint32_t d = 0; d < end && rc == 0; d++) {
				rc = is_one(op, d) || sized_is_sum(s, sized_find(s, op_i, d)) ? 0 : add_class(s, op_i, d);
			}
		}
	}
	return rc;
}

/* The classes along which argument i lies, outermost first; where terms lie between two of them, TERMS. */
static uint32_t sequence(const struct sized *s, uint32_t i, int8_t *ret)
{
	const struct hn_op *op = sized_arg(s, i);
	uint32_t n = 0;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		int32_t c = sized_class_of(s, sized_find(s, (uint32_t)s->dag->arg[i], d));

		if (c >= 0) {
			ret[n++] = (int8_t)c;
		} else if (n > 0 && ret[n - 1] != TERMS && sized_is_sum(s, sized_find(s, (uint32_t)s->dag->arg[i], d))) {
			ret[n++] = TERMS;
		}
	}
	return n > 0 && ret[n - 1] == TERMS ? n - 1 : n;
}

static bool has(const int8_t *seq, uint32_t n, int32_t c)
{
	for (uint32_t k = 0; k < n; k++) {
		if (seq[k] == c) {
			return true;
		}
	}
	return false;
}

/* Whether c is innermost of all arguments that have it: then it can be in tiles. */
static bool is_innermost(const struct sized *s, int32_t c)
{
	int8_t seq[SEQUENCE];

	for (uint32_t i = 0; i < s->dag->n_arg; i++) {
		uint32_t n = sequence(s, i, seq);

		if (has(seq, n, c) && seq[n - 1] != c) {
			return false;
		}
	}
	return true;
}

/* The class just outside of `head` wherever that is, and nowhere else; -1: there is none. */
static int32_t outside(const struct sized *s, int32_t head)
{
	int8_t seq[SEQUENCE];
	int32_t p = -1;
	bool found = false;

	for (uint32_t i = 0; i < s->dag->n_arg; i++) {
		uint32_t n = sequence(s, i, seq), k = 0;
		int32_t q = -1;

		while (k < n && seq[k] != head) {
			k++;
		}
		if (k < n) {
			q = k > 0 ? seq[k - 1] : -1;
			if (found && q != p) {
				return -1;
			}
			p = q;
			found = true;
		}
	}
	for (uint32_t i = 0; i < s->dag->n_arg && p >= 0; i++) {
		uint32_t n = sequence(s, i, seq);

		if (has(seq, n, p) && !has(seq, n, head)) {
			return -1;
		}
	}
	return p;
}

/* Which class is in tiles, what becomes one with it, and the order of all. */
static int arrange(struct sized *s)
{
	int8_t rows[SIZED_CLASSES];
	struct sized_class made[SIZED_CLASSES];
	uint32_t n_rows = 0, n = 0;
	int32_t head = -1;

	for (uint32_t c = 0; c < s->n_class; c++) {
		if (is_innermost(s, (int32_t)c) &&
		    (head < 0 || s->class[c].extent->op != HN_NPU_FORM_NUMBER)) {
			head = (int32_t)c;
		}
	}
	if (head < 0 && s->n_class > 0) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "no size is the innermost of the dimensions that "
			       "arguments have in front: they lie in different orders");
	}
	while (head >= 0) {
		rows[n_rows++] = (int8_t)head;
		head = outside(s, head);
	}
	for (uint32_t c = 0; c < s->n_class; c++) {
		if (!has(rows, n_rows, (int32_t)c)) {
			made[n++] = s->class[c];
		}
	}
	s->n_outer = n;
	while (n_rows > 0) {
		made[n++] = s->class[(uint32_t)rows[--n_rows]];
	}
	for (uint32_t c = 0; c < s->n_class; c++) {
		s->class[c] = made[c];
	}
	return 0;
}

int sized_classes(struct sized *s)
{
	int rc;

	sets(s);
	rc = classes(s, true);
	if (rc != 0 && s->n_sum > 0) { /* with cores that share sizes alone */
		rc = classes(s, false);
	}
	rc = rc ? rc : arrange(s);
	return rc || s->n_sum == 0 ? rc : sized_terms(s);
}
