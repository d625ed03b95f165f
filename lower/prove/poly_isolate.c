/* lower/prove/poly_isolate.c -- full and partial iterations of a loop.  See poly_isolate.h. */
#include "lower/prove/poly_isolate.h"

#include <inttypes.h>
#include <stdlib.h>

void hn_poly_put_loop(const struct hn_poly *p, int32_t loop, struct hn_buf *ret)
{
	const struct hn_radix *r = &p->radix[loop];

	for (uint32_t k = 0; k < r->n_digit; k++) {
		hn_buf_printf(ret, "%s%" PRId64 "l%d_%u", k > 0 ? " + " : "",
			      r->weight[k], loop, k);
	}
}

void hn_poly_put_turn(const struct hn_poly *p, const struct hn_poly_stmt *s, uint32_t i,
		      struct hn_buf *ret)
{
	int32_t ahead = hn_poly_ahead(s, i);

	hn_poly_put_loop(p, s->loop[i]->loop, ret);
	if (ahead != 0) {
		hn_buf_printf(ret, " %c %d", ahead > 0 ? '-' : '+', abs(ahead));
	}
}

isl_map *hn_poly_prefix(const struct hn_poly *p, const struct hn_poly_stmt *s, uint32_t n)
{
	struct hn_buf text;
	isl_map *ret;

	hn_buf_init(&text);
	hn_buf_puts(&text, "{ ");
	hn_poly_put_instance(p, s, &text);
	hn_buf_puts(&text, " -> [");
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_puts(&text, i > 0 ? ", " : "");
		hn_poly_put_turn(p, s, i, &text);
	}
	hn_buf_puts(&text, "] }");
	ret = text.failed ? NULL : isl_map_read_from_str(p->ctx, text.s);
	hn_buf_fini(&text);
	return isl_map_intersect_domain(ret, isl_map_domain(isl_map_copy(s->write)));
}

/* { [outer, v] : v in [0, extent) } over all outer. */
static isl_set *all_iterations(isl_set *outer, uint32_t depth, int64_t extent)
{
	isl_ctx *ctx = isl_set_get_ctx(outer);

	outer = isl_set_add_dims(outer, isl_dim_set, 1);
	outer = isl_set_lower_bound_si(outer, isl_dim_set, depth, 0);
	return isl_set_upper_bound_val(outer, isl_dim_set, depth,
				       isl_val_int_from_si(ctx, extent - 1));
}

isl_set *hn_poly_full_iterations(const struct hn_poly *p, uint32_t first, uint32_t end,
				 uint32_t depth, int64_t extent, bool *failed)
{
	isl_set *full = NULL, *outer = NULL;
	isl_bool whole, none;

	for (uint32_t i = first; i < end; i++) {
		isl_set *run, *at, *cut;

		if (p->stmt[i].n_loop <= depth) {
			continue;
		}
		run = isl_map_range(hn_poly_prefix(p, &p->stmt[i], depth + 1));
		at = isl_set_project_out(isl_set_copy(run), isl_dim_set, depth, 1);
		cut = isl_set_subtract(all_iterations(isl_set_copy(at), depth, extent),
				       run);
		cut = isl_set_project_out(cut, isl_dim_set, depth, 1);
		outer = outer ? isl_set_union(outer, isl_set_copy(at)) : isl_set_copy(at);
		at = isl_set_subtract(at, cut);
		full = full ? isl_set_intersect(full, at) : at;
	}
	whole = isl_set_is_subset(outer, full);
	none = isl_set_is_empty(full);
	isl_set_free(outer);
	*failed |= whole == isl_bool_error || none == isl_bool_error;
	if (whole != isl_bool_false || none != isl_bool_false) {
		isl_set_free(full);
		return NULL;
	}
	return all_iterations(isl_set_coalesce(full), depth, extent);
}

isl_set *hn_poly_isolate_option(isl_set *full)
{
	uint32_t n = (uint32_t)isl_set_dim(full, isl_dim_set);
	isl_map *m = isl_map_from_range(full);

	m = isl_map_move_dims(m, isl_dim_in, 0, isl_dim_out, 0, n - 1);
	return isl_set_set_tuple_name(isl_map_wrap(m), "isolate");
}
