/* costmodel/feature_row.c -- one function a group of features.def. */
#include "costmodel/feature_row.h"

#include "base/arith.h"

#define N_INNER 8
#define N_ACCESS 3

/* The rows of one loop, level or access follow each other, so the next one's are so far on. */
enum {
	INNER_STEP = HN_FEATURE_inner2_extent - HN_FEATURE_inner1_extent,
	LEVEL_STEP = HN_FEATURE_l2_bytes - HN_FEATURE_l1_bytes,
	ACCESS_STEP = HN_FEATURE_second_l1_bytes - HN_FEATURE_first_l1_bytes
};

#define SET(name, value) (x[HN_FEATURE_##name] = (float)(value))

static double inwards(const struct hn_view *v, int32_t loop)
{
	return loop < 0 ? 0 : (double)v->n_loop - loop;
}

static double points_of(const struct hn_view *v, uint32_t to)
{
	double n = 1;

	for (uint32_t l = 0; l < to; l++) {
		n *= (double)v->loop[l]->extent;
	}
	return n;
}

static void statement(const struct hn_view *v, float *x)
{
	const struct hn_stream *store = &v->stream[v->n_stream - 1];
	double bytes = (double)store->elem_bytes;

	for (uint32_t d = 0; d < store->n_dim; d++) {
		bytes *= (double)store->buffer->extent[d];
	}
	SET(kind, v->stmt->stmt);
	SET(points, points_of(v, v->n_loop));
	SET(loops, v->n_loop);
	SET(arith, v->n_arith);
	SET(calls, v->n_expensive);
	SET(multiplies, v->multiplies);
	SET(branches, v->branches);
	SET(skips, v->skips);
	SET(share, v->share);
	SET(elem_bytes, store->elem_bytes);
	SET(accesses, v->n_stream);
	SET(guard, inwards(v, v->guard_loop));
	SET(scope, store->buffer->lifetime);
	SET(alloc_bytes, bytes);
}

/* The largest power of two, at most a line, that the address of every vector is a multiple of
 * when its buffer starts at a line. */
static int64_t alignment(const struct hn_view *v, const struct hn_lanes *w)
{
	int64_t all = 64;

	for (uint32_t i = 0; i < v->n_stream && w->loop >= 0; i++) {
		const struct hn_stream *s = &v->stream[i];

		for (uint32_t l = 0; s->stride[w->loop] == 1 && l < v->n_loop; l++) {
			if ((int32_t)l != w->loop) {
				all |= s->stride[l] * s->elem_bytes;
			}
		}
	}
	return all & -all;
}

static void lanes(const struct hn_view *v, const struct hn_lanes *w, float *x)
{
	uint32_t wholes = 0, gathers = 0;
	int64_t apart = 0;

	for (uint32_t i = 0; i < v->n_stream && w->loop >= 0; i++) {
		const struct hn_stream *s = &v->stream[i];
		int64_t stride = s->stride[w->loop];

		stride = (stride < 0 ? -stride : stride) * s->elem_bytes;
		wholes += s->moves[w->loop] && s->stride[w->loop] == 1;
		gathers += s->moves[w->loop] && s->stride[w->loop] != 1;
		apart = s->moves[w->loop] && stride > apart ? stride : apart;
	}
	SET(lanes, w->width);
	if (w->loop >= 0) {
		int64_t extent = v->loop[w->loop]->extent;

		SET(lanes_extent, extent);
		SET(lanes_used, (double)extent / (double)hn_ceildiv(extent, w->width) /
					(double)w->width);
		SET(lanes_marked, w->loop == v->vector);
		SET(broadcasts, v->n_stream - wholes - gathers);
	}
	SET(lanes_across, w->across);
	SET(lanes_depth, inwards(v, w->loop));
	SET(vector_len, v->vector < 0 ? 0 : v->loop[v->vector]->extent);
	SET(wholes, wholes);
	SET(gathers, gathers);
	SET(gather_bytes, apart);
	SET(alignment, alignment(v, w));
}

static void registers(const struct hn_view *v, const struct hn_target *t,
		      const struct hn_compute *c, float *x)
{
	double have = (double)t->param[HN_PARAM_VECTOR_REGISTERS];
	double chain = (double)(t->param[HN_PARAM_FMA_LATENCY] *
				t->param[HN_PARAM_FMA_PER_CYCLE]);

	SET(acc_depth, inwards(v, c->at));
	SET(trips, c->trips);
	SET(rows, c->rows);
	SET(vecs, c->vecs);
	SET(needed, c->registers);
	SET(spilled, c->registers > have ? c->registers - have : 0);
	SET(block_rows, c->block_rows);
	SET(block_vecs, c->block_vecs);
	SET(blocks, c->blocks);
	SET(rest_rows, (int64_t)c->rows % (int64_t)c->block_rows);
	SET(chains, c->block_rows * c->block_vecs / chain);
}

/* What loop l moves: accesses, those of them that lanes move too, and their footprint. */
static void moved_by(const struct hn_view *v, const struct hn_lanes *w,
		     const struct hn_traffic *m, uint32_t l, float *to)
{
	double bytes = 0;

	for (uint32_t i = 0; i < v->n_stream; i++) {
		bool moves = v->stream[i].moves[l];

		to[0] += moves;
		to[1] += moves && w->loop >= 0 && v->stream[i].moves[w->loop];
		bytes += m->cold[(size_t)i * (v->n_loop + 1) + l];
	}
	to[2] = (float)bytes;
}

static void loops(const struct hn_view *v, const struct hn_estimate *e, float *x)
{
	double unroll_num = 0, unroll_prod = 1, prefetches = 0;

	for (uint32_t k = 0; k < N_INNER && k < v->n_loop; k++) {
		const struct hn_node *l = v->loop[v->n_loop - 1 - k];
		bool own = l->stage == v->stmt->stage;
		float *to = x + HN_FEATURE_inner1_extent + k * INNER_STEP;

		to[0] = (float)l->extent;
		to[1] = !own ? 2 : l->iter_kind == HN_ITER_SPATIAL ? 0 : 1;
		moved_by(v, &e->compute.lanes, &e->traffic, v->n_loop - 1 - k, to + 2);
	}
	for (uint32_t l = 0; l < v->n_loop; l++) {
		bool unroll = v->loop[l]->ann == HN_ANN_UNROLL;

		unroll_num += unroll;
		unroll_prod *= unroll ? (double)v->loop[l]->extent : 1;
		prefetches += v->loop[l]->n_prefetch;
	}
	SET(unroll_num, unroll_num);
	SET(unroll_prod, unroll_prod);
	SET(auto_unroll, v->n_loop ? v->loop[v->n_loop - 1]->unroll_max_step : 0);
	SET(prefetches, prefetches);
	SET(parallel_len, v->parallel < 0 ? 0 : v->loop[v->parallel]->extent);
	SET(parallel_runs, v->parallel < 0 ? 0 : points_of(v, (uint32_t)v->parallel));
	SET(parallel_depth, inwards(v, v->parallel));
	SET(balance, e->balance);
}

static void caches(const struct hn_view *v, const struct hn_target *t,
		   const struct hn_traffic *m, float *x)
{
	static const enum hn_param capacity[] = {HN_PARAM_L1_BYTES, HN_PARAM_L2_BYTES,
						 HN_PARAM_L3_BYTES};
	double points = x[HN_FEATURE_points], unique = 0;

	for (uint32_t k = 0; k < HN_COUNT_OF(capacity); k++) {
		const struct hn_level *level = &m->level[k];
		double holds = (double)t->param[capacity[k]];
		float *to = x + HN_FEATURE_l1_bytes + k * LEVEL_STEP;

		to[0] = (float)level->bytes;
		to[1] = (float)(level->bytes / points);
		to[2] = (float)(v->n_arith * points / level->bytes);
		to[3] = (float)(v->n_loop - level->fits);
		to[4] = (float)(level->inside / holds);
		to[5] = (float)(level->beyond / holds);
		to[6] = (float)level->again;
	}
	for (uint32_t i = 0; i < v->n_stream; i++) {
		unique += m->cold[(size_t)i * (v->n_loop + 1)];
	}
	SET(unique_bytes, unique);
}

static void access(const struct hn_view *v, const struct hn_traffic *m, uint32_t i, float *to)
{
	const struct hn_stream *s = &v->stream[i];
	int32_t moving = (int32_t)v->n_loop - 1, still = moving;
	double bytes = 0;

	while (moving >= 0 && (!s->moves[moving] || v->loop[moving]->extent < 2)) {
		moving--;
	}
	while (still >= 0 && (s->moves[still] || v->loop[still]->extent < 2)) {
		still--;
	}
	for (uint32_t k = 0; k < v->n_stream && still >= 0; k++) {
		bytes += m->cold[(size_t)k * (v->n_loop + 1) + (uint32_t)still + 1];
	}
	to[0] = (float)m->level[0].fetched[i];
	to[1] = (float)m->level[1].fetched[i];
	to[2] = (float)m->cold[(size_t)i * (v->n_loop + 1)];
	to[3] = s->store;
	to[4] = s->buffer->lifetime;
	to[5] = moving < 0 ? 0 : (float)(s->stride[moving] * s->elem_bytes);
	to[6] = (float)inwards(v, still);
	to[7] = still < 0 ? 0 : (float)v->loop[still]->extent;
	to[8] = (float)bytes;
}

/* The accesses with the most traffic, first ones first among equals. */
static void accesses(const struct hn_view *v, const struct hn_traffic *m, float *x)
{
	uint32_t top[N_ACCESS], n = 0;

	for (uint32_t i = 0; i < v->n_stream; i++) {
		double bytes = m->level[0].fetched[i];
		uint32_t at = n;

		while (at > 0 && m->level[0].fetched[top[at - 1]] < bytes) {
			at--;
		}
		n += n < N_ACCESS;
		for (uint32_t k = n; at < N_ACCESS && k-- > at + 1;) {
			top[k] = top[k - 1];
		}
		if (at < N_ACCESS) {
			top[at] = i;
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		access(v, m, top[k], x + HN_FEATURE_first_l1_bytes + k * ACCESS_STEP);
	}
}

static void analytic(const struct hn_estimate *e, float *x)
{
	SET(compute_cycles, e->part[0]);
	SET(l2_cycles, e->part[1]);
	SET(l3_cycles, e->part[2]);
	SET(mem_cycles, e->part[3]);
	SET(fork_cycles, e->fork);
	SET(cycles, e->cycles);
	SET(compute_part, e->part[0] / e->cycles);
	SET(l2_part, e->part[1] / e->cycles);
	SET(l3_part, e->part[2] / e->cycles);
	SET(mem_part, e->part[3] / e->cycles);
	SET(fork_part, e->fork / e->cycles);
}

void hn_feature_row(const struct hn_view *v, const struct hn_target *t,
		    const struct hn_estimate *e, float *x)
{
	statement(v, x);
	lanes(v, &e->compute.lanes, x);
	registers(v, t, &e->compute, x);
	loops(v, e, x);
	caches(v, t, &e->traffic, x);
	accesses(v, &e->traffic, x);
	analytic(e, x);
}
