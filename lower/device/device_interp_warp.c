/* lower/device/device_interp_warp.c -- what a warp does together (device_warp.h), lane by lane.
 *
 * A read of shared memory is by no thread alone: who wrote the element, and when, has to be known
 * to all of the warp.
 */
#include <string.h>

#include "lower/device/device_interp_int.h"
#include "lower/device/device_warp.h"

void hn_interp_fetch(struct run *r, int32_t buffer, const struct hn_cell *at, int64_t n, void *to)
{
	union hn_value *v = to;
	int64_t from = at->eval(at, r->frame[r->thread]).i;

	for (int64_t e = 0; e < n && r->fault[0] == '\0'; e++) {
		int64_t i = hn_interp_reach(r, buffer, from + e, false);

		v[e] = i < 0 ? (union hn_value){ 0 }
			     : hn_interp_get(r->memory[buffer].data, r->d->buffer[buffer].dtype,
					     i);
	}
}

void hn_interp_mma(struct run *r, const struct op *o, int64_t first)
{
	const struct hn_device_warp *w = o->n->warp;
	int64_t n = hn_warp_elements(w->intrin, HN_FRAGMENT_SUM);
	struct hn_warp_lane lane[HN_WARP];

	for (int64_t l = 0; l < HN_WARP && r->fault[0] == '\0'; l++) {
		r->thread = first + l;
		hn_interp_fetch(r, w->from[0], o->warp_at[0],
		      hn_warp_elements(w->intrin, HN_FRAGMENT_LEFT), lane[l].left);
		hn_interp_fetch(r, w->from[1], o->warp_at[1],
		      hn_warp_elements(w->intrin, HN_FRAGMENT_RIGHT), lane[l].right);
		hn_interp_fetch(r, o->n->buffer, o->at, n, lane[l].sum);
	}
	if (r->fault[0] != '\0') {
		return;
	}
	hn_warp_mma(w->intrin, lane);
	for (int64_t l = 0; l < HN_WARP; l++) {
		r->thread = first + l;
		int64_t at = o->at->eval(o->at, r->frame[r->thread]).i;

		for (int64_t e = 0; e < n; e++) {
			int64_t i = hn_interp_reach(r, o->n->buffer, at + e, true);
			union hn_value v;

			memcpy(&v, &lane[l].sum[e], sizeof(v));
			hn_interp_put(r->memory[o->n->buffer].data, w->intrin->sum, i, v);
		}
	}
}

/* Row `row` of matrix i, as a lane says where it lies. */
static void fetch_row(struct run *r, const struct op *o, int64_t first, int64_t i, int64_t row,
		      union hn_value *to)
{
	int32_t buffer = o->n->warp->from[0];
	enum hn_dtype type = (enum hn_dtype)r->d->buffer[buffer].dtype;
	int64_t n = HN_WARP_ROW / (int64_t)hn_dtype_bytes(type);
	int64_t at = o->warp_at[0]
			     ->eval(o->warp_at[0],
				    r->frame[first + hn_warp_lane_of_row(i, row)])
			     .i;

	r->thread = TOGETHER;
	for (int64_t e = 0; e < n && r->fault[0] == '\0'; e++) {
		int64_t k = hn_interp_reach(r, buffer, at + e, false);

		to[e] = k < 0 ? (union hn_value){ 0 }
			      : hn_interp_get(r->memory[buffer].data, type, k);
	}
}

void hn_interp_ldmatrix(struct run *r, const struct op *o, int64_t first)
{
	enum hn_dtype type = (enum hn_dtype)r->d->buffer[o->n->buffer].dtype;
	int64_t each = 4 / (int64_t)hn_dtype_bytes(type);
	bool trans = o->n->warp->trans;

	for (int64_t i = 0; i < o->n->warp->n_matrix; i++) {
		union hn_value m[8][HN_WARP_ROW];

		for (int64_t row = 0; row < 8; row++) {
			fetch_row(r, o, first, i, row, m[row]);
		}
		for (int64_t l = 0; l < HN_WARP && r->fault[0] == '\0'; l++) {
			r->thread = first + l;
			int64_t at = o->at->eval(o->at, r->frame[r->thread]).i + i * each;

			for (int64_t e = 0; e < each && r->fault[0] == '\0'; e++) {
				int64_t k = hn_interp_reach(r, o->n->buffer, at + e, true);

				if (k >= 0) {
					hn_interp_put(r->memory[o->n->buffer].data, type, k,
						      trans ? m[l % 4 * 2 + e][l / 4]
							    : m[l / 4][l % 4 * each + e]);
				}
			}
		}
	}
}
