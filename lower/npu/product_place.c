/* lower/npu/product_place.c -- where the values of a piece are in the unified buffer.
 *
 * Values that do not live at the same time share memory, and one that is made of another lane by lane
 * takes its place.
 */
#include "lower/npu/cube_after.h"

/* Spread; what is loaded lies behind it as it comes. */
int64_t cube_spread_bytes(const struct cube *x, const struct hn_npu_value *v, int64_t columns)
{
	switch (v->shape) {
	case HN_NPU_ONE:
		return CUBE_REPEAT;
	case HN_NPU_ROW:
		return x->p->m0 * 16 * cube_value_bytes(v);
	case HN_NPU_COLUMN:
		return columns / 16 * CUBE_REPEAT;
	default:
		return x->p->m0 * columns * cube_value_bytes(v);
	}
}

static int64_t loaded_bytes(const struct cube *x, const struct hn_npu_value *v)
{
	int64_t n = v->shape == HN_NPU_ONE ? 32 : v->shape == HN_NPU_ROW ? x->p->m0 : x->p->n0;

	return cube_is_fixed(v) ? cube_up(n * cube_value_bytes(v), HN_NPU_BLOCK) : 0;
}

static void find_last(struct cube *x)
{
	const struct hn_npu_task *t = x->t;

	for (uint32_t i = 0; i < t->n_value; i++) {
		x->last[i] = -1;
		for (int k = 0; k < 2 && !t->value[i].loaded && i > 0; k++) {
			if (t->value[i].from[k] >= 0) {
				x->last[t->value[i].from[k]] = (int32_t)i;
			}
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		x->last[t->store[i].value] = (int32_t)(t->n_value + i);
	}
}

/* Of float16 whose rows are next to each other instead: a piece with rows and columns exchanged, and
 * the matrices of a column of fractals. */
static int64_t turned_bytes(const struct cube *x, const struct hn_npu_view *v, int64_t columns)
{
	return v->turned ? x->p->m0 * (columns + 16) * 2 : 0;
}

/* The lowest place behind one that is taken, or 0, where nothing that lives reaches in. */
static int64_t free_place(const struct cube *x, const int64_t *bytes, uint32_t i)
{
	int64_t best = INT64_MAX;

	for (uint32_t c = 0; c <= i; c++) {
		int64_t at = c == i ? 0 : x->at[c] + bytes[c];
		bool taken = c < i && (x->last[c] < (int32_t)i || cube_is_fixed(&x->t->value[c]));

		for (uint32_t o = 0; o < i && !taken; o++) {
			taken = x->last[o] >= (int32_t)i && !cube_is_fixed(&x->t->value[o]) &&
				x->at[o] < at + bytes[i] && at < x->at[o] + bytes[o];
		}
		best = !taken && at < best ? at : best;
	}
	return best;
}

int64_t cube_place(struct cube *x, int64_t columns)
{
	const struct hn_npu_task *t = x->t;
	int64_t bytes[HN_NPU_MOST_VALUES], all = 0;

	find_last(x);
	x->fixed = 0;
	for (uint32_t i = 0; i < t->n_value; i++) {
		const struct hn_npu_value *v = &t->value[i];

		bytes[i] = cube_spread_bytes(x, v, cube_is_fixed(v) ? x->p->n0 : columns) + loaded_bytes(x, v);
		bytes[i] *= v->loaded && !cube_is_fixed(v) && cube_is_wide(&v->view, columns) ? 2 : 1;
		bytes[i] += turned_bytes(x, &v->view, columns);
		x->at[i] = -1;
		if (x->last[i] < 0) { /* nobody reads it: it is not made */
			bytes[i] = x->at[i] = 0;
			continue;
		}
		if (cube_is_fixed(v)) {
			x->at[i] = x->fixed;
			x->fixed += bytes[i];
			continue;
		}
		/* lane by lane, in the place of an operand that ends here */
		for (int k = 0; k < 2 && !v->loaded && i > 0 && x->at[i] < 0; k++) {
			int32_t f = v->from[k];

			if (f >= 0 && x->last[f] == (int32_t)i && bytes[f] == bytes[i] && !cube_is_fixed(&t->value[f]) &&
			    t->value[f].dtype == v->dtype && t->value[f].shape == v->shape) {
				x->at[i] = x->at[f];
			}
		}
		x->at[i] = x->at[i] < 0 ? free_place(x, bytes, i) : x->at[i];
		all = x->at[i] + bytes[i] > all ? x->at[i] + bytes[i] : all;
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		x->store_at[i] = all;
		all += cube_is_wide(&t->store[i].view, columns)
			       ? x->p->m0 * columns * cube_value_bytes(&t->value[t->store[i].value])
			       : turned_bytes(x, &t->store[i].view, columns);
	}
	return all;
}
