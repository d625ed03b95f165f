/* lower/device/device_interp_wgmma.c -- what a warpgroup does together (device_wgmma.h).
 *
 * The factors are read where the hardware would look for them: from the first byte, the descriptor's
 * numbers and the moves of chunks.  So a program that lays them out in another way has other
 * numbers.  What threads have written there has to have been fenced.
 */
#include "lower/device/device_wgmma.h"

#include <inttypes.h>
#include <string.h>

#include "lower/device/device_interp_int.h"

#define MOST_TERMS (HN_WGMMA_STEPS * 32)

/* The first element, which all 128 threads have to agree on; -1 when they do not. */
static int64_t first_of(struct run *r, const struct op *o, int i, int64_t first)
{
	const struct hn_device_buffer *b = &r->d->buffer[o->n->warp->from[i]];
	int64_t at = o->warp_at[i]->eval(o->warp_at[i], r->frame[first]).i;
	int64_t unit = HN_WGMMA_ROWS * o->n->warp->lies[i].width /
		       (int64_t)hn_dtype_bytes((enum hn_dtype)b->dtype);

	for (int64_t t = 1; t < HN_WARPGROUP; t++) {
		if (o->warp_at[i]->eval(o->warp_at[i], r->frame[first + t]).i != at) {
			hn_interp_fault(r, "threads of a warpgroup do not agree where %s is",
					b->name);
			return -1;
		}
	}
	if (at % unit != 0) {
		hn_interp_fault(r, "a warpgroup reads %s from %" PRId64
				", which is no multiple of 8 rows", b->name, at);
		return -1;
	}
	return at;
}

/* An element that some thread has written; the hardware's own way to it. */
static double element(struct run *r, int32_t buffer, int64_t at)
{
	enum hn_dtype type = (enum hn_dtype)r->d->buffer[buffer].dtype;
	int64_t k = hn_interp_reach(r, buffer, at, false);
	union hn_value v;

	if (k < 0) {
		return 0;
	}
	const struct seen *s = &r->memory[buffer].seen[k];

	if (!r->memory[buffer].by_roles && s->wrote_by >= 0 && r->fenced[s->wrote_by] <= s->fences) {
		hn_interp_fault(r,
				"a warpgroup reads %s[%" PRId64 "], which thread %" PRId64
				" has written, with no fence and barrier since",
				r->d->buffer[buffer].name, at, s->wrote_by);
	}
	v = hn_interp_get(r->memory[buffer].data, type, k);
	return hn_dtype_class(type) == HN_CLASS_FLOAT ? v.f : (double)v.i;
}

/* [sides][terms] of a factor. */
static int64_t read_matrix(struct run *r, const struct op *o, int i, int64_t first, int64_t sides,
			   int64_t terms, double *to)
{
	const struct hn_device_matrix *m = &o->n->warp->lies[i];
	int32_t buffer = o->n->warp->from[i];
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)r->d->buffer[buffer].dtype);
	int64_t at = first_of(r, o, i, first);

	r->thread = TOGETHER;
	for (int64_t s = 0; s < sides && r->fault[0] == '\0'; s++) {
		for (int64_t k = 0; k < terms && r->fault[0] == '\0'; k++) {
			int64_t place = hn_wgmma_place(m, bytes, s, k) / bytes;

			to[s * terms + k] = element(r, buffer, at + place);
		}
	}
	return at;
}

/* A sum and the terms of each step, which are added in double and rounded once. */
static union hn_value add_to(union hn_value v, const struct hn_device_warp *w, const double *left,
			     const double *right)
{
	int64_t terms = hn_intrin_terms(w->intrin);

	for (int64_t step = 0; step < w->steps; step++) {
		double sum = 0;

		for (int64_t k = step * terms; k < (step + 1) * terms; k++) {
			sum += left[k] * right[k];
		}
		if (hn_dtype_class(w->intrin->sum) == HN_CLASS_FLOAT) {
			v.f = (double)(float)(v.f + sum);
		} else { /* it wraps */
			v.i = (int32_t)(uint32_t)((uint64_t)v.i + (uint64_t)(int64_t)sum);
		}
	}
	return v;
}

void hn_interp_wgmma(struct run *r, const struct op *o, int64_t first)
{
	const struct hn_device_warp *w = o->n->warp;
	int64_t rows = w->intrin->most[HN_INTRIN_M], each = 4;
	int64_t terms = w->steps * hn_intrin_terms(w->intrin);
	union hn_value v[HN_WGMMA_COLUMNS / 8 * 4];
	struct open_product open = { w, first, r->phase, { 0 } };

	for (int i = 0; i < 2; i++) {
		if (r->factor[i] == NULL) {
			r->factor[i] = HN_NEW_ARRAY(&r->arena, double,
						    HN_WGMMA_COLUMNS * MOST_TERMS);
		}
		open.at[i] = read_matrix(r, o, i, first, i == 0 ? rows : w->columns, terms,
					 r->factor[i]);
	}
	if (w->open) {
		r->open = hn_arena_grow(&r->arena, r->open, r->n_open, &r->cap_open,
					sizeof(r->open[0]));
		r->open[r->n_open++] = open;
	}
	for (int64_t t = 0; t < HN_WARPGROUP && r->fault[0] == '\0'; t++) {
		r->thread = first + t;
		hn_interp_fetch(r, o->n->buffer, o->at, w->columns / 8 * each, v);
		if (r->fault[0] != '\0') {
			return;
		}
		int64_t at = o->at->eval(o->at, r->frame[r->thread]).i;

		for (int64_t e = 0; e < w->columns / 8 * each; e++) {
			int64_t row, column, i = hn_interp_reach(r, o->n->buffer, at + e, true);

			hn_warp_element(w->intrin, HN_FRAGMENT_SUM, t, e % each, &row, &column);
			column += e / each * 8;
			hn_interp_put(r->memory[o->n->buffer].data, w->intrin->sum, i,
				      add_to(v[e], w, &r->factor[0][row * terms],
					     &r->factor[1][column * terms]));
		}
	}
}

/* The product has read its factors until now, whatever came since it began. */
static void end_product(struct run *r, const struct open_product *x)
{
	r->thread = TOGETHER;
	for (int i = 0; i < 2 && !r->memory[x->w->from[i]].by_roles; i++) {
		const struct hn_device_buffer *b = &r->d->buffer[x->w->from[i]];
		int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)b->dtype), count;
		int64_t run = hn_wgmma_run(x->w, i, &count) / bytes;

		for (int64_t k = 0; k < count * run && r->fault[0] == '\0'; k++) {
			int64_t at = x->at[i] + k / run * x->w->lies[i].next / bytes + k % run;

			if (at < b->n_elem && (r->memory[x->w->from[i]].seen[at].wrote > x->phase ||
					       r->memory[x->w->from[i]].seen[at].flies)) {
				hn_interp_fault(r,
						"%s[%" PRId64 "] is written before a warpgroup has "
						"settled the product that reads it",
						b->name, at);
			} else if (at < b->n_elem && r->memory[x->w->from[i]].seen[at].wrote > 0) {
				(void)hn_interp_reach(r, x->w->from[i], at, false);
			}
		}
	}
}

/* All products of the warpgroup, but the last `extent` of them. */
void hn_interp_settle(struct run *r, const struct op *o, int64_t first)
{
	uint32_t kept = 0;
	int64_t mine = 0;

	for (uint32_t i = 0; i < r->n_open; i++) {
		mine += r->open[i].first == first;
	}
	for (uint32_t i = 0; i < r->n_open; i++) {
		const struct open_product x = r->open[i];

		if (x.first == first && mine-- > o->n->extent) {
			end_product(r, &x);
		} else {
			r->open[kept++] = x;
		}
	}
	r->n_open = kept;
}
