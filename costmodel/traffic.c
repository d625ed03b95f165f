/* costmodel/traffic.c -- bytes each cache level must fetch.
 *
 * The footprint of the loops from depth d inward is compared with the level's capacity.
 * Loops inside the largest footprint that fits reuse what is there; the next loop adds
 * what it newly touches; loops further out fetch everything again.  Source of the idea: the
 * cache model of Wolf and Lam (PLDI'91), on boxes.
 *
 * Rows a power of two apart fall into few sets of a cache.  Where they overfill these, the
 * access loses its own lines, whatever else fits, and waits for them: a set has few ways for
 * lines that are on their way.
 */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "costmodel/analytic_int.h"

#define LINE 64
#define LEAST_WAYS 8
#define PAGE 4096 /* larger distances say nothing of a physical address */

/* Measured with 8 ways (Zen 4), a line of each row in turn, in the time of a line that
 * follows another from L2.  Rows 4096 bytes apart, which fall into one set: 12 take 0.6, 16
 * 1.2, 24 2.2, 32 3.0, 48 4.7, 64 and more 5.  Many rows that fall into 2, 4, 8 and 16 sets:
 * 4.2, 2.2, 1.2 and 1.  It is much the same where no line is used twice. */
#define LONGEST_WAIT 5.0
#define WAITS_OF_SETS 10.0 /* lines' time: shared by the sets */

struct cache {
	int64_t way_bytes; /* a power of two */
	double ways;
};

static struct cache cache_of(int64_t bytes)
{
	struct cache c = { .way_bytes = LINE };

	while (c.way_bytes <= bytes / LEAST_WAYS / 2) {
		c.way_bytes *= 2;
	}
	c.ways = (double)bytes / (double)c.way_bytes;
	return c;
}

/* A box of so many elements along each dimension, as rows of whole lines. */
struct box {
	double rows, lines; /* lines of a row; 0: rows follow each other */
	double bytes;
	int64_t apart; /* rows begin at multiples of it */
};

static struct box make_box(const struct hn_stream *s, const int64_t *size)
{
	const struct hn_buffer *b = s->buffer;
	struct box x = { .rows = 1, .bytes = LINE };
	uint32_t last = s->n_dim;

	while (last > 0 && b->extent[last - 1] == 1) {
		last--;
	}
	if (last == 0) {
		return x;
	}
	last--;
	for (uint32_t d = 0; d < last; d++) {
		x.rows *= (double)size[d];
		x.apart = size[d] > 1 ? hn_gcd(x.apart, b->stride[d] * s->elem_bytes) : x.apart;
	}
	double row_bytes = (double)(size[last] * s->elem_bytes);
	if (size[last] >= b->extent[last]) {
		x.bytes = x.rows * row_bytes < LINE ? LINE : x.rows * row_bytes;
		return x;
	}
	double lines = row_bytes / LINE;
	x.lines = lines < 1 ? 1 : lines;
	x.bytes = x.rows * x.lines * LINE;
	return x;
}

/* For how many lines' time each line of the box is waited for because its rows fall into the same
 * sets; 0 where those have room.  uses: instructions that go by before the next is asked for. */
static double waits_of(const struct box *x, const struct cache *c, double uses)
{
	if (x->lines == 0 || x->rows < 2) {
		return 0;
	}
	double sets = (double)(c->way_bytes / hn_gcd(x->apart, PAGE)) * x->lines;
	double waits = x->rows * x->lines / (sets * c->ways) - 1;
	double most = fmax(1, fmin(WAITS_OF_SETS / sets, LONGEST_WAIT) / uses);

	return sets * LINE >= (double)c->way_bytes ? 0 : fmax(0, fmin(waits, most));
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

/* Of each stream at each depth, [n_stream * (n_loop + 1)], 0 for followers: bytes of its
 * footprint, and what its lines wait in level 1 and 2. */
struct footprints {
	double *bytes, *waits[2];
};

static void set_footprint(const struct footprints *f, size_t at, const struct box *x,
			  const struct cache *c, double uses)
{
	f->bytes[at] = x->bytes;
	f->waits[0][at] = waits_of(x, &c[0], uses);
	f->waits[1][at] = waits_of(x, &c[1], uses);
}

/* Instructions of a register block that take the same vector of the stream, or one of its
 * elements. */
static double uses_of(const struct hn_stream *s, const struct hn_compute *c)
{
	bool lanes = c->lanes.loop >= 0 && s->moves[c->lanes.loop];

	return lanes ? c->block_rows : c->block_vecs;
}

static void stream_footprints(const struct hn_view *v, uint32_t i, const struct hn_compute *by,
			      const struct cache *c, const struct footprints *f)
{
	const struct hn_stream *s = &v->stream[i];
	double uses = uses_of(s, by);
	uint32_t n = v->n_loop;
	size_t at = (size_t)i * (n + 1) + n;
	int64_t size[HN_DAG_MAX_RANK];

	vector_size(v, s, &by->lanes, size);
	struct box now = make_box(s, size);
	set_footprint(f, at, &now, c, uses);
	for (uint32_t l = n; l-- > 0;) {
		at--;
		if (!s->moves[l]) {
			f->bytes[at] = f->bytes[at + 1];
			f->waits[0][at] = f->waits[0][at + 1];
			f->waits[1][at] = f->waits[1][at + 1];
			continue;
		}
		for (uint32_t d = 0; d < s->n_dim; d++) {
			int64_t most = s->buffer->extent[d];
			size[d] += s->span[(size_t)d * n + l];
			size[d] = size[d] < most ? size[d] : most;
		}
		now = make_box(s, size);
		set_footprint(f, at, &now, c, uses);
	}
}

static struct footprints find_footprints(const struct hn_view *v, const struct hn_compute *by,
					 const struct cache *c, struct hn_arena *a)
{
	size_t n = (size_t)v->n_stream * (v->n_loop + 1);
	double *all = HN_NEW_ARRAY(a, double, 3 * n);
	struct footprints f = { all, { all + n, all + 2 * n } };

	for (uint32_t i = 0; i < v->n_stream; i++) {
		if (!follows(v, i)) {
			stream_footprints(v, i, by, c, &f);
		}
	}
	return f;
}

static double bytes_at(const struct hn_view *v, const double *bytes, uint32_t d)
{
	double all = 0;

	for (uint32_t i = 0; i < v->n_stream; i++) {
		all += bytes[(size_t)i * (v->n_loop + 1) + d];
	}
	return all;
}

/* The outermost depth whose loops' footprint fits. */
static uint32_t fitting_depth(const struct hn_view *v, const double *bytes, double capacity)
{
	uint32_t d = v->n_loop;

	while (d > 0 && bytes_at(v, bytes, d - 1) <= capacity) {
		d--;
	}
	return d;
}

/* How often the loops from each depth on run. */
static const double *find_times(const struct hn_view *v, const struct hn_lanes *w,
				struct hn_arena *a)
{
	double *times = HN_NEW_ARRAY(a, double, v->n_loop + 1);

	times[0] = 1;
	for (uint32_t l = 0; l < v->n_loop; l++) {
		times[l + 1] = times[l] * hn_view_units(v, l, w);
	}
	return times;
}

/* What one access fetches: all from one depth on, or what it loses for itself, counted as so
 * many bytes as it waits for; the worst of the depths down to the last, where it stays in
 * registers. */
static double fetched(const double *bytes, const double *waits, const double *times,
		      uint32_t from, uint32_t last)
{
	uint32_t all = from < last ? from : last;
	double most = bytes[all] * times[all];

	for (uint32_t d = 0; waits && d <= last; d++) {
		most = fmax(most, bytes[d] * times[d] * waits[d]);
	}
	return most;
}

struct walk {
	const struct hn_view *v;
	const struct hn_compute *c;
	struct hn_arena *a;
	const double *times;
};

/* waits: NULL = sets do not matter. */
static struct hn_level level(const struct walk *w, int64_t capacity, const double *bytes,
			     const double *waits)
{
	const struct hn_view *v = w->v;
	uint32_t n = v->n_loop, d = fitting_depth(v, bytes, 0.9 * (double)capacity);
	struct hn_level out = { .fits = d, .from = d > 0 ? d - 1 : 0 };
	double *of = HN_NEW_ARRAY(w->a, double, v->n_stream);

	for (uint32_t i = 0; i < v->n_stream; i++) {
		size_t at = (size_t)i * (n + 1);
		bool held = v->stream[i].store && w->c->at >= 0;

		of[i] = fetched(bytes + at, waits ? waits + at : NULL, w->times, out.from,
				held ? (uint32_t)w->c->at : n);
		out.bytes += of[i] * (v->stream[i].store ? 2 : 1);
	}
	out.fetched = of;
	out.again = w->times[out.from];
	out.inside = bytes_at(v, bytes, d);
	out.beyond = bytes_at(v, bytes, out.from);
	return out;
}

struct hn_traffic hn_view_traffic(const struct hn_view *v, const struct hn_target *t,
				  const struct hn_compute *c, struct hn_arena *a)
{
	int64_t l1 = t->param[HN_PARAM_L1_BYTES], l2 = t->param[HN_PARAM_L2_BYTES];
	const struct cache cache[2] = { cache_of(l1), cache_of(l2) };
	struct footprints f = find_footprints(v, c, cache, a);
	struct walk w = { v, c, a, find_times(v, &c->lanes, a) };
	struct hn_traffic out = { .cold = f.bytes };

	out.level[0] = level(&w, l1, f.bytes, f.waits[0]);
	out.level[1] = level(&w, l2, f.bytes, f.waits[1]);
	out.level[2] = level(&w, t->param[HN_PARAM_L3_BYTES], f.bytes, NULL);
	return out;
}
