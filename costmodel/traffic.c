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

/* Of the lines of a cache's ways, the share in which rows of the stream's buffer begin; 0 where
 * rows do not recur. */
static double places_of(const struct hn_stream *s, int64_t way_bytes)
{
	int64_t row_bytes = s->n_dim > 1 ? s->buffer->stride[s->n_dim - 2] * s->elem_bytes : 0;

	return row_bytes > 0 && way_bytes > 0
		       ? (double)(way_bytes / hn_gcd(row_bytes, way_bytes))
		       : 0;
}

/* A box of so many elements along each dimension, as rows of whole lines. */
struct box {
	double rows, lines;
	double bytes;
	bool whole_rows; /* of the buffer: they follow each other */
};

static struct box make_box(const struct hn_stream *s, const int64_t *size)
{
	const struct hn_buffer *b = s->buffer;
	struct box x = {.rows = 1, .bytes = LINE, .whole_rows = true};

	if (s->n_dim == 0) {
		return x;
	}
	uint32_t last = s->n_dim - 1;
	for (uint32_t d = 0; d < last; d++) {
		x.rows *= (double)size[d];
	}
	double row_bytes = (double)(size[last] * s->elem_bytes);
	if (size[last] >= b->extent[last]) {
		x.bytes = x.rows * row_bytes < LINE ? LINE : x.rows * row_bytes;
		return x;
	}
	double lines = row_bytes / LINE;
	x.lines = lines < 1 ? 1 : lines;
	x.bytes = x.rows * x.lines * LINE;
	x.whole_rows = false;
	return x;
}

/* How many times its size the box displaces in a cache whose ways hold way_bytes. */
static double conflicts(const struct box *x, double share, int64_t way_bytes)
{
	if (x->whole_rows || x->rows < 2 || share == 0) {
		return 1;
	}
	double places = share * x->lines, all = (double)way_bytes / LINE;

	return places >= all || x->rows * x->lines <= places * WAYS ? 1 : all / places;
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

/* Footprints of each stream at each depth, [n_stream * (n_loop + 1)], 0 for followers: their
 * bytes, and what they displace in level 1 and 2. */
struct footprints {
	double *cold, *in[2];
};

static void set_footprint(const struct footprints *f, size_t at, const struct box *x,
			  const double *share, const int64_t *way_bytes)
{
	f->cold[at] = x->bytes;
	for (int i = 0; i < 2; i++) {
		f->in[i][at] = x->bytes * conflicts(x, share[i], way_bytes[i]);
	}
}

static void stream_footprints(const struct hn_view *v, uint32_t i, const struct hn_lanes *w,
			      const int64_t *way_bytes, const struct footprints *f)
{
	const struct hn_stream *s = &v->stream[i];
	const double share[2] = {places_of(s, way_bytes[0]), places_of(s, way_bytes[1])};
	uint32_t n = v->n_loop;
	size_t at = (size_t)i * (n + 1) + n;
	int64_t size[HN_DAG_MAX_RANK];

	vector_size(v, s, w, size);
	struct box now = make_box(s, size);
	set_footprint(f, at, &now, share, way_bytes);
	for (uint32_t l = n; l-- > 0;) {
		at--;
		if (!s->moves[l]) {
			f->cold[at] = f->cold[at + 1];
			f->in[0][at] = f->in[0][at + 1];
			f->in[1][at] = f->in[1][at + 1];
			continue;
		}
		for (uint32_t d = 0; d < s->n_dim; d++) {
			int64_t most = s->buffer->extent[d];
			size[d] += s->span[(size_t)d * n + l];
			size[d] = size[d] < most ? size[d] : most;
		}
		now = make_box(s, size);
		set_footprint(f, at, &now, share, way_bytes);
	}
}

static struct footprints find_footprints(const struct hn_view *v, const struct hn_lanes *w,
					 const int64_t *way_bytes, struct hn_arena *a)
{
	size_t n = (size_t)v->n_stream * (v->n_loop + 1);
	double *all = HN_NEW_ARRAY(a, double, 3 * n);
	struct footprints f = {all, {all + n, all + 2 * n}};

	for (uint32_t i = 0; i < v->n_stream; i++) {
		if (!follows(v, i)) {
			stream_footprints(v, i, w, way_bytes, &f);
		}
	}
	return f;
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
	const int64_t way_bytes[2] = {l1 / WAYS, l2 / WAYS};
	struct footprints f = find_footprints(v, w, way_bytes, a);
	struct hn_traffic out = {.cold = f.cold};

	out.level[0] = level(v, w, l1, f.in[0], f.cold);
	out.level[1] = level(v, w, l2, f.in[1], f.cold);
	out.level[2] = level(v, w, t->param[HN_PARAM_L3_BYTES], f.cold, f.cold);
	return out;
}
