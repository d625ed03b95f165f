/* lower/npu/sized.c -- programs of a dag with sizes: the one for all cores, and, where it is not for all
 * sizes, one for a core alone.  The steps are in sized.h.
 */
#include <string.h>

#include "base/arith.h"
#include "base/name.h"
#include "lower/npu/sized.h"

static int head(struct sized *s)
{
	struct hn_npu_program *p = HN_NEW(s->a, struct hn_npu_program);
	struct hn_npu_buffer *b = HN_NEW_ARRAY(s->a, struct hn_npu_buffer, s->dag->n_arg + 1);
	struct hn_npu_size *size = HN_NEW_ARRAY(s->a, struct hn_npu_size, s->n_size + 1);
	int64_t largest[HN_NPU_MOST_SIZES];

	for (uint32_t i = 0; i < s->n_size; i++) {
		size[i] = s->size[i];
		largest[i] = s->size[i].hi;
	}
	for (uint32_t i = 0; i < s->dag->n_arg; i++) {
		const struct hn_op *op = s->dag->op[s->dag->arg[i]];
		uint32_t out = i < s->dag->n_input ? 0 : hn_dag_arg_out(s->dag, i);
		struct hn_buf name;

		hn_buf_init(&name);
		hn_buf_printf(&name, "a%u", i);
		b[i] = (struct hn_npu_buffer){ .name = hn_arena_strdup(s->a, name.s), .dtype = op->dtype[out],
					       .length = s->length[i] };
		hn_buf_fini(&name);
		if (!hn_npu_form_value(s->length[i], largest, &b[i].n_elem) || b[i].n_elem < 1 ||
		    b[i].n_elem > HN_NPU_MOST_BYTES / hn_dtype_bytes(b[i].dtype)) {
			return hn_fail(s->err, HONE_E_UNSUPPORTED, "%s: of the largest sizes it is larger than a "
				       "buffer may be", op->name);
		}
		b[i].bytes = b[i].n_elem * hn_dtype_bytes(b[i].dtype);
		b[i].length = b[i].length->op == HN_NPU_FORM_NUMBER ? NULL : b[i].length;
	}
	*p = (struct hn_npu_program){ .what = "code", .n_buffer = s->dag->n_arg, .buffer = b,
				      .n_size = s->n_size, .size = size };
	s->head = p;
	s->apart = p;
	if (s->n_sum > 0) {
		struct hn_npu_buffer *far = HN_NEW_ARRAY(s->a, struct hn_npu_buffer, s->dag->n_arg + 1);

		for (uint32_t i = 0; i < s->dag->n_arg; i++) {
			far[i] = b[i];
			far[i].bytes = far[i].n_elem = INT64_MAX;
		}
		s->apart = HN_NEW(s->a, struct hn_npu_program);
		*s->apart = *p;
		s->apart->buffer = far;
	}
	return 0;
}

/* Rows of outer dimensions begin with blocks: what sizes have to be for that. */
static void conditions(struct sized *s)
{
	struct hn_npu_where *w = HN_NEW(s->a, struct hn_npu_where);

	if ((s->n_outer == 0 && !s->lines) || s->step == 1 || !s->shared) {
		return;
	}
	*w = (struct hn_npu_where){ .left = hn_npu_form(HN_NPU_FORM_MOD, s->rows,
							hn_npu_form_number(s->step, s->a), s->a),
				    .right = hn_npu_form_number(0, s->a), .relation = HN_NPU_EQ };
	if (w->left->op == HN_NPU_FORM_NUMBER && w->left->number == 0) {
		return;
	}
	s->head->where = w;
	s->head->n_where = 1;
}

static int64_t most_rows(const struct sized *s)
{
	int64_t rows = 1;

	for (uint32_t c = s->n_outer; c < s->n_class; c++) {
		rows = hn_mul_sat(rows, s->class[c].largest);
	}
	return rows;
}

/* The rows that a core has, of so many in all. */
static int64_t part_of(const struct sized *s, int64_t rows)
{
	int64_t part = hn_ceildiv(hn_ceildiv(rows, s->step), s->cores) * s->step;

	return part < rows ? part : rows;
}

int sized_one(struct sized *s, bool shared, uint32_t inner, const struct hn_npu_program **ret)
{
	int64_t rows = most_rows(s);
	int rc;

	s->shared = shared;
	s->inner = inner;
	s->cores = shared ? (uint32_t)s->m->cores / inner : 1;
	/* with outer dimensions as many as there are cores, a core has all rows */
	s->most_rows = !shared || s->n_outer > 0 ? rows : part_of(s, rows);
	rc = head(s);
	if (rc != 0) {
		return rc;
	}
	conditions(s);
	for (uint32_t i = 0; i < s->n_width; i++) {
		struct sized_width *w = &s->at[i];

		s->width = w->terms;
		rc = sized_tiles(s);
		if (rc != 0) {
			return rc;
		}
		sized_pick(s);
		w->n_tile = s->n_tile;
		w->tile = s->tile;
	}
	return sized_code(s, ret);
}

/* Up to how many rows it is faster than the other, from one row on; 0: from none. */
static int64_t faster_up_to(const struct sized *s, const struct sized *other)
{
	int64_t most = most_rows(s), last = 0, rows = 1, step;

	while (last < most && sized_cycles(s, part_of(s, rows)) <= sized_cycles(other, part_of(other, rows))) {
		last = rows;
		step = rows < 64 ? 1 : rows / 64;
		rows = most - rows < step ? most : rows + step; /* the largest is looked at as well */
	}
	return last;
}

/* A product of few rows: cores share columns as well.  Each such program is for rows up to so many, and
 * stands before that of more rows. */
static int of_few_rows(struct sized *s, const struct hn_npu_program **ret, uint32_t *ret_n)
{
	struct sized last = *s;
	uint32_t n = *ret_n;
	int64_t before = INT64_MAX;

	/* parts of a row begin with blocks where all rows do */
	for (uint32_t inner = 2; s->step == 1 && inner <= s->m->cores && inner <= 32 && n < HN_NPU_SIZED_KERNELS; inner *= 4) {
		struct hn_npu_where *w = HN_NEW(s->a, struct hn_npu_where);
		struct sized own = *s;
		struct hn_npu_program *made;
		const struct hn_npu_program *p;
		struct hn_err ignored;
		int64_t up_to;

		own.err = &ignored;
		if (sized_one(&own, true, inner, &p) != 0) { /* too few columns, or blocks that two write to */
			continue;
		}
		up_to = faster_up_to(&own, &last);
		if (up_to == 0) {
			continue;
		}
		*w = (struct hn_npu_where){ .left = s->rows, .right = hn_npu_form_number(up_to, s->a),
					    .relation = HN_NPU_LE };
		made = HN_NEW(s->a, struct hn_npu_program);
		*made = *p;
		made->where = w;
		made->n_where = up_to < most_rows(s); /* else for all that there are */
		n = made->n_where > 0 ? n : 1;
		if (up_to < before && made->n_where > 0) {
			memmove(&ret[1], &ret[0], n * sizeof(ret[0]));
			n++;
		} /* else nothing is left for the one before */
		ret[0] = made;
		before = up_to;
		last = own;
	}
	*ret_n = n;
	return 0;
}

int hn_npu_sized(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		 struct hn_arena *a, const struct hn_npu_program *ret[HN_NPU_SIZED_KERNELS], uint32_t *ret_n,
		 struct hn_err *err)
{
	struct sized *s = HN_NEW(a, struct sized);
	int rc;

	*ret_n = 0;
	*s = (struct sized){ .dag = dag, .m = m, .plan = plan, .a = a, .err = err, .n_width = 1 };
	if (dag->n_arg > HN_NPU_MOST_BUFFERS) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%u arguments: a program has at most %d", dag->n_arg,
			       HN_NPU_MOST_BUFFERS);
	}
	rc = sized_axes(s);
	rc = rc ? rc : sized_one(s, true, 1, &ret[0]);
	*ret_n = rc == 0;
	if (rc == 0 && ret[0]->n_where > 0) {
		rc = sized_one(s, false, 1, &ret[1]);
		*ret_n = rc == 0 ? 2 : 0;
	} else if (rc == 0 && s->n_outer == 0 && sized_is_product(s)) {
		rc = of_few_rows(s, ret, ret_n);
	}
	if (rc == 0 && !sized_is_product(s)) {
		sized_few(s, ret, ret_n);
	}
	return rc;
}
