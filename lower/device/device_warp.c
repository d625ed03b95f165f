/* lower/device/device_warp.c -- see device_warp.h. */
#include "lower/device/device_wgmma.h"

#include <math.h>
#include <string.h>

int64_t hn_warp_elements(const struct hn_intrin *in, enum hn_fragment which)
{
	int64_t p = hn_warp_packed(in->left);

	return which == HN_FRAGMENT_LEFT ? 4 * p : which == HN_FRAGMENT_RIGHT ? 2 * p : 4;
}

void hn_warp_element(const struct hn_intrin *in, enum hn_fragment which, int64_t lane, int64_t e,
		     int64_t *row, int64_t *column)
{
	int64_t p = hn_warp_packed(in->left), g = lane % HN_WARP / 4, t = lane % 4;

	switch (which) {
	case HN_FRAGMENT_LEFT:
		*row = g + 8 * (e / p % 2);
		*column = t * p + e % p + 4 * p * (e / (2 * p));
		break;
	case HN_FRAGMENT_RIGHT:
		*row = t * p + e % p + 4 * p * (e / p);
		*column = g;
		break;
	default:
		*row = lane / HN_WARP * 16 + g + 8 * (e / 2);
		*column = 2 * t + e % 2;
	}
}

double hn_warp_tf32(double x)
{
	float f = (float)x;
	uint32_t bits;

	if (!isfinite(f)) {
		return x;
	}
	memcpy(&bits, &f, sizeof(bits));
	bits = (bits + 0x1000) & ~UINT32_C(0x1fff);
	memcpy(&f, &bits, sizeof(f));
	return (double)f;
}

static double product(const struct hn_intrin *in, double x, double y)
{
	double xb, yb, xs, ys;

	if (in->asks == NULL) {
		return x * y;
	}
	xb = hn_warp_tf32(x);
	yb = hn_warp_tf32(y);
	xs = hn_warp_tf32((double)(float)(x - xb));
	ys = hn_warp_tf32((double)(float)(y - yb));
	return xs * yb + xb * ys + xb * yb;
}

void hn_warp_mma(const struct hn_intrin *in, struct hn_warp_lane lane[HN_WARP])
{
	bool is_float = hn_dtype_class(in->sum) == HN_CLASS_FLOAT;
	double left[16][32], right[32][8]; /* of bytes, too: they are exact */
	int64_t terms = hn_intrin_terms(in), row, column;

	for (int64_t l = 0; l < HN_WARP; l++) {
		for (int64_t e = 0; e < hn_warp_elements(in, HN_FRAGMENT_LEFT); e++) {
			hn_warp_element(in, HN_FRAGMENT_LEFT, l, e, &row, &column);
			left[row][column] = is_float ? lane[l].left[e].f
						     : (double)lane[l].left[e].i;
		}
		for (int64_t e = 0; e < hn_warp_elements(in, HN_FRAGMENT_RIGHT); e++) {
			hn_warp_element(in, HN_FRAGMENT_RIGHT, l, e, &row, &column);
			right[row][column] = is_float ? lane[l].right[e].f
						      : (double)lane[l].right[e].i;
		}
	}
	for (int64_t l = 0; l < HN_WARP; l++) {
		for (int64_t e = 0; e < hn_warp_elements(in, HN_FRAGMENT_SUM); e++) {
			double sum = 0;

			hn_warp_element(in, HN_FRAGMENT_SUM, l, e, &row, &column);
			for (int64_t k = 0; k < terms; k++) {
				sum += product(in, left[row][k], right[k][column]);
			}
			if (is_float) {
				lane[l].sum[e].f += sum;
			} else { /* it wraps */
				lane[l].sum[e].i = (int32_t)(uint32_t)(
					(uint64_t)lane[l].sum[e].i + (uint64_t)(int64_t)sum);
			}
		}
	}
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

bool hn_warp_is_multiple(const struct hn_expr *e, int64_t n)
{
	if (n == 1) {
		return true;
	}
	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_INT:
		return e->u.i % n == 0;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return hn_warp_is_multiple(e->arg[0], n) &&
		       hn_warp_is_multiple(e->arg[1], n);
	case HN_EXPR_MUL:
		for (int k = 0; k < 2; k++) {
			const struct hn_expr *x = e->arg[k];

			if (x->op == HN_EXPR_INT && x->u.i != INT64_MIN) {
				return hn_warp_is_multiple(e->arg[1 - k],
							   n / gcd(n, x->u.i));
			}
		}
		return false;
	case HN_EXPR_FLOORMOD:
		return e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i % n == 0 &&
		       hn_warp_is_multiple(e->arg[0], n);
	default:
		return false;
	}
}

static const char *why_no_load(const struct hn_device *d, const struct hn_device_node *n)
{
	const struct hn_device_warp *w = n->warp;
	const struct hn_device_buffer *to = &d->buffer[n->buffer],
				      *from = &d->buffer[w->from[0]];
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)to->dtype);

	if (from->memory != HN_MEMORY_SHARED || to->memory != HN_MEMORY_LOCAL) {
		return "ldmatrix loads from shared memory to local";
	}
	if (from->dtype != to->dtype || bytes > 4) {
		return "ldmatrix loads elements of up to 4 bytes, and keeps their type";
	}
	if (w->trans && bytes != 2) {
		return "ldmatrix transposes elements of 2 bytes alone";
	}
	if (w->n_matrix != 1 && w->n_matrix != 2 && w->n_matrix != 4) {
		return "ldmatrix loads 1, 2 or 4 matrices";
	}
	if (!hn_warp_is_multiple(w->from_at[0], HN_WARP_ROW / bytes)) {
		return "rows that ldmatrix loads may lie at what is no multiple of 16 bytes";
	}
	return NULL;
}

static const char *why_no_product(const struct hn_device *d, const struct hn_device_node *n)
{
	const struct hn_device_warp *w = n->warp;
	const struct hn_device_buffer *to = &d->buffer[n->buffer],
				      *left = &d->buffer[w->from[0]],
				      *right = &d->buffer[w->from[1]];

	if (w->intrin == NULL || !hn_intrin_is_warp(w->intrin) ||
	    hn_intrin_is_warpgroup(w->intrin)) {
		return "mma names no instruction of a warp's";
	}
	if (to->dtype != w->intrin->sum || left->dtype != w->intrin->left ||
	    right->dtype != w->intrin->right) {
		return "mma has operands of other types";
	}
	if (to->memory != HN_MEMORY_LOCAL || left->memory != HN_MEMORY_LOCAL ||
	    right->memory != HN_MEMORY_LOCAL) {
		return "mma works on local memory";
	}
	return NULL;
}

const char *hn_warp_why_not(const struct hn_device *d, const struct hn_device_node *n)
{
	return n->kind == HN_DEVICE_WGMMA || n->kind == HN_DEVICE_SETTLE ? hn_wgmma_why_not(d, n)
	       : n->kind == HN_DEVICE_MMA ? why_no_product(d, n)
					  : why_no_load(d, n);
}
