/* lower/npu/sized_few.c -- where sizes are small, cores share other dimensions as well.
 *
 * A batch of 1 to 4 images is work for four cores.  So programs are made that go through more dimensions
 * than the sizes', as if these were sizes, too: one more, two more, ...  Rows are shorter then, and many
 * of them take longer.  Launches are tried on the machine: the program that is the fastest of the fewest
 * rows is taken up to as many as it is faster for.
 */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "lower/npu/sized.h"
#include "target/npu/npu_launch.h"
#include "target/npu/npu_run.h"

#define DEPTHS 4
#define FEW 1024	/* rows; of more there is work for all cores */
#define MOST ((uint64_t)1 << 22) /* instructions of a launch that is tried */
#define WORTH 0.97 /* of the time of the fewest rows */

struct few {
	const struct sized *s;
	const struct hn_npu_form *rows; /* of the program that there is: all of them */
	int64_t most;
};

/* Sizes with which there are about so many rows: the last as large as need be, then the others. */
static int64_t sizes_of(const struct few *f, int64_t rows, int64_t *value)
{
	int64_t n = 0;

	for (uint32_t k = 0; k < f->s->n_size; k++) {
		value[k] = f->s->size[k].lo;
	}
	for (uint32_t k = f->s->n_size; k-- > 0;) {
		if (!hn_npu_form_value(f->rows, value, &n) || n >= rows) {
			break;
		}
		value[k] = f->s->size[k].hi / value[k] < rows / n ? f->s->size[k].hi : value[k] * (rows / n);
	}
	return hn_npu_form_value(f->rows, value, &n) ? n : -1;
}

static double cycles(const struct few *f, const struct hn_npu_program *const *p, uint32_t n, const int64_t *value)
{
	const struct hn_npu_options o = { .most = MOST };
	const struct hn_npu_program *taken;
	struct hn_npu_result r;
	struct hn_arena a;
	struct hn_err err;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_launch_first(p, n, value, &a, &taken, &err);
	rc = rc ? rc : hn_npu_run(taken, f->s->m, &o, &a, &r, &err);
	hn_arena_fini(&a);
	return rc == 0 ? (double)r.cycles : HUGE_VAL;
}

/* A condition that no sizes fulfil. */
static bool is_never(const struct hn_npu_program *p)
{
	return p->n_where > 0 && p->where[0].left->op == HN_NPU_FORM_NUMBER;
}

static const struct hn_npu_program *of_depth(const struct sized *s, uint32_t depth)
{
	struct sized *own = HN_NEW(s->a, struct sized);
	const struct hn_npu_program *ret = NULL;
	struct hn_err *ignored = HN_NEW(s->a, struct hn_err);

	*own = (struct sized){ .dag = s->dag, .m = s->m, .plan = s->plan, .a = s->a, .err = ignored, .n_width = 1,
			       .depth = depth };
	if (sized_axes(own) != 0 || sized_one(own, true, 1, &ret) != 0 || is_never(ret)) {
		return NULL;
	}
	return ret;
}

/* Up to how many rows it is the faster one. */
static int64_t faster_up_to(const struct few *f, const struct hn_npu_program *few,
			    const struct hn_npu_program *const *p, uint32_t n)
{
	int64_t value[HN_NPU_MOST_SIZES], last = 0;

	for (int64_t rows = 1; rows <= f->most && rows <= FEW; rows += rows < 4 ? 1 : rows / 4) {
		int64_t at = sizes_of(f, rows, value);

		if (at > last && cycles(f, &few, 1, value) < cycles(f, p, n, value)) {
			last = at;
		} else if (at > last) {
			break;
		}
	}
	return last;
}

void sized_few(const struct sized *s, const struct hn_npu_program *ret[HN_NPU_SIZED_KERNELS], uint32_t *ret_n)
{
	struct few f = { .s = s, .rows = hn_npu_form(HN_NPU_FORM_MUL, s->outer, s->rows, s->a), .most = 1 };
	const struct hn_npu_program *best = NULL;
	int64_t value[HN_NPU_MOST_SIZES], up_to;
	struct hn_npu_program *made;
	struct hn_npu_where *where;
	double least;

	for (uint32_t c = 0; c < s->n_class; c++) {
		f.most = hn_mul_sat(f.most, s->class[c].largest);
	}
	if (sizes_of(&f, 1, value) < 1 || *ret_n == HN_NPU_SIZED_KERNELS) {
		return;
	}
	least = WORTH * cycles(&f, ret, *ret_n, value);
	for (uint32_t depth = 1; depth <= DEPTHS; depth++) {
		const struct hn_npu_program *p = of_depth(s, depth);
		double own = p == NULL ? HUGE_VAL : cycles(&f, &p, 1, value);

		if (own < least) {
			least = own;
			best = p;
		}
	}
	up_to = best == NULL ? 0 : faster_up_to(&f, best, ret, *ret_n);
	if (up_to == 0) {
		return;
	}
	made = HN_NEW(s->a, struct hn_npu_program);
	where = HN_NEW_ARRAY(s->a, struct hn_npu_where, best->n_where + 1);
	*made = *best;
	for (uint32_t i = 0; i < best->n_where; i++) {
		where[i] = best->where[i];
	}
	where[best->n_where] = (struct hn_npu_where){ .left = f.rows, .right = hn_npu_form_number(up_to, s->a),
						      .relation = HN_NPU_LE };
	made->where = where;
	made->n_where = best->n_where + (up_to < f.most);
	*ret_n = made->n_where > 0 ? *ret_n : 0;
	memmove(&ret[1], &ret[0], *ret_n * sizeof(ret[0]));
	ret[0] = made;
	(*ret_n)++;
}
