/* lower/npu/sized_args.c -- sizes as a program's forms, and how arguments lie along what is gone through:
 * by it also which axes are that. */
#include <string.h>

#include "base/arith.h"
#include "loopstate/dag/size.h"
#include "lower/npu/sized.h"

/* -- forms ---------------------------------------------------------------------------------- */

const struct hn_npu_form *sized_form(struct sized *s, const struct hn_expr *e)
{
	static const struct {
		uint8_t op, form;
	} rows[] = {
		{ HN_EXPR_ADD, HN_NPU_FORM_ADD }, { HN_EXPR_SUB, HN_NPU_FORM_SUB }, { HN_EXPR_MUL, HN_NPU_FORM_MUL },
		{ HN_EXPR_FLOORDIV, HN_NPU_FORM_DIV },
	};
	const struct hn_npu_form *x, *y;

	if (e->op == HN_EXPR_INT) {
		return hn_npu_form_number(e->u.i, s->a);
	}
	if (hn_expr_is_size(e)) {
		return hn_npu_form_size((uint32_t)(e->ref - HN_SLOT_SIZE), s->a);
	}
	for (size_t i = 0; i < HN_COUNT_OF(rows) && e->n_arg == 2; i++) {
		if (e->op == rows[i].op) {
			x = sized_form(s, e->arg[0]);
			y = sized_form(s, e->arg[1]);
			return x == NULL || y == NULL ? NULL
						      : hn_npu_form((enum hn_npu_form_op)rows[i].form, x, y, s->a);
		}
	}
	return NULL;
}

static int n_part(const struct hn_npu_form *f)
{
	return f->a == NULL ? 1 : n_part(f->a) + n_part(f->b);
}

const struct hn_npu_form *sized_extent(struct sized *s, const struct hn_op *op, uint32_t d)
{
	const struct hn_expr *e = hn_op_extent(op, d);

	return e == NULL ? hn_npu_form_number(sized_largest(op, d), s->a) : sized_form(s, e);
}

static const struct hn_npu_form *times(struct sized *s, const struct hn_npu_form *x,
				       const struct hn_npu_form *y)
{
	return hn_npu_form(HN_NPU_FORM_MUL, x, y, s->a);
}

/* -- arguments ------------------------------------------------------------------------------ */

static bool same_address(const struct sized_address *x, const struct sized_address *y)
{
	return x->rows == y->rows && x->n_outer == y->n_outer && x->row_bytes == y->row_bytes && x->terms == y->terms &&
	       memcmp(x->outer, y->outer, sizeof(x->outer)) == 0;
}

/* Whether rows are as many as a launch says. */
static bool are_open(const struct sized *s)
{
	bool ret = false;

	for (uint32_t c = s->n_outer; c < s->n_class; c++) {
		ret = ret || s->class[c].extent->op != HN_NPU_FORM_NUMBER;
	}
	return ret;
}

static int address(struct sized *s, uint32_t i)
{
	const struct hn_op *op = sized_arg(s, i);
	uint32_t out = i < s->dag->n_input ? 0 : hn_dag_arg_out(s->dag, i), k = 0;
	struct sized_address x = { .row_bytes = hn_dtype_bytes((enum hn_dtype)op->dtype[out]) };
	bool terms = false, outer_inside = false, rows_inside = false;

	s->length[i] = hn_npu_form_number(1, s->a);
	s->of[i] = -1;
	for (uint32_t d = 0; d < op->n_dim; d++) {
		uint32_t set = sized_find(s, (uint32_t)s->dag->arg[i], d);
		int32_t c = sized_class_of(s, set);
		const struct hn_npu_form *extent = sized_extent(s, op, d);

		if (extent == NULL) {
			return sized_refuse(s, op, "its sizes are in forms that a program for the NPU has not");
		}
		s->length[i] = times(s, s->length[i], extent);
		if (n_part(s->length[i]) > HN_NPU_FORM_DEPTH) {
			return sized_refuse(s, op, "its sizes are in longer forms than a program for the NPU has");
		}
		if (sized_is_sum(s, set)) {
			s->unit[i] = hn_dtype_bytes((enum hn_dtype)op->dtype[out]);
			x.terms = x.n_outer + x.rows;
			terms = true;
			continue;
		}
		outer_inside = outer_inside || (terms && c >= 0 && c < (int32_t)s->n_outer);
		rows_inside = rows_inside || (terms && c >= (int32_t)s->n_outer);
		if (outer_inside && (extent->op != HN_NPU_FORM_NUMBER || are_open(s))) {
			return sized_refuse(s, op, "two sizes lie inside of one that is summed over");
		}
		s->unit[i] = hn_mul_sat(s->unit[i], sized_largest(op, d));
		x.rows = x.rows || c >= (int32_t)s->n_outer;
		if (c >= 0 && c < (int32_t)s->n_outer) {
			x.outer[x.n_outer++] = (int8_t)c;
		}
		x.row_bytes = c < 0 ? hn_mul_sat(x.row_bytes, sized_largest(op, d)) : x.row_bytes;
	}
	if (rows_inside && are_open(s)) {
		s->far[i] = x.row_bytes;
		s->unit[i] = SIZED_APART * x.row_bytes;
	}
	if (i >= s->dag->n_input && (x.rows != (s->n_class > 0) || x.n_outer != s->n_outer)) {
		return sized_refuse(s, op, "each result has to have all dimensions of the sizes");
	}
	if (i >= s->dag->n_input) {
		int64_t step = HN_NPU_BLOCK / hn_gcd(HN_NPU_BLOCK, x.row_bytes);

		s->step = step > s->step ? step : s->step;
		if (x.terms == 0) {
			s->least_step = step > s->least_step ? step : s->least_step;
		}
		s->lines = s->lines || (terms && x.terms == 0 && x.rows);
	}
	if (!x.rows && x.n_outer == 0) {
		return 0;
	}
	while (k < s->n_address && !same_address(&s->address[k], &x)) {
		k++;
	}
	if (k == SIZED_ADDRESSES) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "arguments lie in more than %d ways along their sizes",
			       SIZED_ADDRESSES);
	}
	s->n_address = k == s->n_address ? k + 1 : s->n_address;
	s->address[k] = x;
	s->of[i] = (int8_t)k;
	return 0;
}

/* A program's names of sizes have letters, digits and _ alone. */
static const char *name_of(struct sized *s, const char *name, uint32_t k)
{
	const char *ret;
	char *made = hn_arena_alloc(s->a, strlen(name) + 2);
	size_t n = 0;

	if (name[0] >= '0' && name[0] <= '9') {
		made[n++] = '_';
	}
	for (const char *c = name; *c != '\0'; c++) {
		made[n++] = strchr("$.:@-", *c) != NULL ? '_' : *c;
	}
	made[n] = '\0';
	ret = made;
	for (uint32_t i = 0; i < k; i++) {
		if (strcmp(ret, s->size[i].name) == 0) { /* none is left out: the new name may be one's, too */
			ret = hn_arena_printf(s->a, "%s_%u", ret, k);
			i = UINT32_MAX;
		}
	}
	return ret;
}

static int check_sizes(struct sized *s)
{
	const struct hn_sizes *sizes = s->dag->sizes;

	if (sizes == NULL) {
		return hn_fail(s->err, HONE_E_INVALID, "a computation without sizes");
	}
	if (sizes->n > HN_NPU_MOST_SIZES) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "%u sizes: a program for the NPU has at most %d", sizes->n,
			       HN_NPU_MOST_SIZES);
	}
	s->n_size = sizes->n;
	for (uint32_t k = 0; k < sizes->n; k++) {
		s->size[k] = (struct hn_npu_size){ .name = name_of(s, sizes->size[k].name, k), .lo = sizes->size[k].lo,
						   .hi = sizes->size[k].hi,
						   .reg = (uint8_t)(HN_NPU_REGISTERS - 1 - k) };
	}
	return 0;
}

int sized_axes(struct sized *s)
{
	int rc = check_sizes(s);

	rc = rc ? rc : sized_values(s);
	rc = rc ? rc : sized_classes(s);
	s->step = s->least_step = 1;
	s->far = HN_NEW_ARRAY(s->a, int64_t, s->dag->n_arg + 1);
	s->unit = HN_NEW_ARRAY(s->a, int64_t, s->dag->n_arg + 1);
	s->of = HN_NEW_ARRAY(s->a, int8_t, s->dag->n_arg + 1);
	s->length = hn_arena_array(s->a, s->dag->n_arg + 1, sizeof(s->length[0]));
	for (uint32_t i = 0; i < s->dag->n_arg && rc == 0; i++) {
		rc = address(s, i);
	}
	s->rows = s->outer = hn_npu_form_number(1, s->a);
	for (uint32_t c = 0; c < s->n_class && rc == 0; c++) {
		*(c < s->n_outer ? &s->outer : &s->rows) =
			times(s, c < s->n_outer ? s->outer : s->rows, s->class[c].extent);
	}
	return rc;
}
