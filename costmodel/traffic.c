/* costmodel/traffic.c -- bytes each cache level must fetch.
 *
 * The footprint of the loops from depth d inward is compared with the level's capacity.
 * Loops inside the largest footprint that fits reuse what is there; the next loop adds
 * what it newly touches; loops further out fetch everything again.  Rows a power of two
 * apart fall into few sets of a cache: such a footprint counts for as much as it
 * displaces. Source of the idea: the cache model of Wolf and Lam (PLDI'91), on boxes.
 */
#include <string.h>

#include "base/arith.h"
#include "costmodel/analytic_int.h"

#define LINE 64.0
#define WAYS 8

/* How many times its size the footprint displaces in a cache whose ways hold way_bytes.
 */
static double conflicts(double rows, double row_lines, int64_t row_bytes,
			int64_t way_bytes)
{
	if (rows < 2 || row_bytes <= 0 || way_bytes <= 0) {
		return 1;
	}
	double places = (double)(way_bytes / hn_gcd(row_bytes, way_bytes)) * row_lines;
	double all = (double)way_bytes / LINE;
	if (places >= all || rows * row_lines <= places * WAYS) {
		return 1;
	}
	return all / places;
}

/* Bytes of whole lines in the box of that many elements along each dimension. */
static double box_bytes(const struct hn_stream *s, const int64_t *size, int64_t way_bytes)
{
	double rows = 1, row_bytes;
	const struct hn_buffer *b = s->buffer;

	if (s->n_dim == 0) {
		return LINE;
	}
	uint32_t last = s->n_dim - 1;
	for (uint32_t d = 0; d < last; d++) {
		rows *= (double)size[d];
	}
	row_bytes = (double)(size[last] * s->elem_bytes);
	if (size[last] >= b->extent[last]) {
		return rows * row_bytes < LINE ? LINE : rows * row_bytes;
	}
	double lines = row_bytes / LINE;
	lines = lines < 1 ? 1 : lines;
	int64_t apart = last > 0 ? b->stride[last - 1] * s->elem_bytes : 0;
	return rows * lines * LINE * conflicts(rows, lines, apart, way_bytes);
}

/* One vector of the stream along each dimension. */
static void vector_size(const struct hn_view *v, const struct hn_stream *s,
			const struct hn_lanes *w, int64_t *size)
{
	for (uint32_t d = 0; d < s->n_dim; d++) {
		size[d] = 1;
		if (w->loop >= 0 &&
		    s->span[(size_t)d * v->n_loop + (uint32_t)w->loop] > 0) {
			int64_t e = v->loop[w->loop]->extent;
			int64_t span = s->span[(size_t)d * v->n_loop + (uint32_t)w->loop];

			size[d] += e > w->width ? span / (e - 1) * (w->width - 1) : span;
			size[d] = size[d] < s->buffer->extent[d] ? size[d]
								 : s->buffer->extent[d];
		}
	}
}

/* Whether an earlier load goes through the same buffer in the same steps, a constant distance
 * apart (a stencil's neighbours, a square's factors): the cache has its lines already. */
static bool follows(const struct hn_view *v, uint32_t i)
{
	const struct hn_stream *s = &v->stream[i];
	size_t steps = v->n_loop * sizeof(*s->stride);

	for (uint32_t k = 0; k < i && !s->store; k++) {
		const struct hn_stream *t = &v->stream[k];

		if (t->buffer == s->buffer && memcmp(t->stride, s->stride, steps) == 0 &&
		    memcmp(t->span, s->span, s->n_dim * steps) == 0) {
			return true;
		}
	}
	return false;
}

/* Footprint of each stream at each depth: fp[i * (n_loop + 1) + d]; 0 for followers. */
static double *footprints(const struct hn_view *v, const struct hn_lanes *w,
			  int64_t way_bytes, struct hn_arena *a)
{
	uint32_t n = v->n_loop;
	double *fp = HN_NEW_ARRAY(a, double, (size_t)v->n_stream *(n + 1));

	for (uint32_t i = 0; i < v->n_stream; i++) {
		const struct hn_stream *s = &v->stream[i];
		int64_t size[HN_DAG_MAX_RANK];

		if (follows(v, i)) {
			continue;
		}
		vector_size(v, s, w, size);
		double now = box_bytes(s, size, way_bytes);
		fp[(size_t)i * (n + 1) + n] = now;
		for (uint32_t l = n; l-- > 0;) {
			if (s->moves[l]) {
				for (uint32_t d = 0; d < s->n_dim; d++) {
					int64_t most = s->buffer->extent[d];
					size[d] += s->span[(size_t)d * n + l];
					size[d] = size[d] < most ? size[d] : most;
				}
				now = box_bytes(s, size, way_bytes);
			}
			fp[(size_t)i * (n + 1) + l] = now;
		}
	}
	return fp;
}

/* The outermost depth whose loops' footprint fits. */
static uint32_t fitting_depth(const struct hn_view *v, const double *fp, double capacity)
{
	uint32_t n = v->n_loop, d = n;

	while (d > 0) {
		double all = 0;
		for (uint32_t i = 0; i < v->n_stream; i++) {
			all += fp[(size_t)i * (n + 1) + d - 1];
		}
		if (all > capacity) {
			break;
		}
		d--;
	}
	return d;
}

/* cold: the footprints without conflicts. */
static struct hn_level level(const struct hn_view *v, const struct hn_lanes *w,
			     int64_t capacity, const double *fp, const double *cold)
{
	uint32_t n = v->n_loop, d = fitting_depth(v, fp, 0.9 * (double)capacity);
	struct hn_level out = {.fits = d, .from = d > 0 ? d - 1 : 0, .again = 1};

	for (uint32_t l = 0; l < out.from; l++) {
		out.again *= hn_view_units(v, l, w);
	}
	for (uint32_t i = 0; i < v->n_stream; i++) {
		const double *of = fp + (size_t)i * (n + 1);

		out.inside += of[d];
		out.beyond += of[out.from];
		out.bytes += cold[(size_t)i * (n + 1) + out.from] * out.again *
			     (v->stream[i].store ? 2 : 1);
	}
	return out;
}

struct hn_traffic hn_view_traffic(const struct hn_view *v, const struct hn_target *t,
				  const struct hn_lanes *w, struct hn_arena *a)
{
	int64_t l1 = t->param[HN_PARAM_L1_BYTES], l2 = t->param[HN_PARAM_L2_BYTES];
	struct hn_traffic out = {.cold = footprints(v, w, 0, a)};

	out.level[0] = level(v, w, l1, footprints(v, w, l1 / WAYS, a), out.cold);
	out.level[1] = level(v, w, l2, footprints(v, w, l2 / WAYS, a), out.cold);
	out.level[2] = level(v, w, t->param[HN_PARAM_L3_BYTES], out.cold, out.cold);
	return out;
}
