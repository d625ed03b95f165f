/* costmodel/simt.c -- see simt.h.  Source of the form: Hong and Kim, "An Analytical Model for a GPU
 * Architecture with Memory-level and Thread-level Parallelism Awareness" (ISCA 2009).
 */
#include "costmodel/simt.h"

#include <math.h>

#include "costmodel/model.h"
#include "loopstate/nest/bounds_scope.h"
#include "loopstate/nest/memory.h"

#define WARP 32.0
#define HZ 1.7e9	  /* of the machine */
#define ISSUES 4.0	  /* instructions of warps a cycle */
#define CORE_THREADS 2048.0
#define CORE_REGISTERS 65536.0
#define CORE_BLOCKS 32.0
#define OTHER_REGISTERS 36.0
#define SECTOR 32.0
#define CACHE_BYTES 48.0  /* a cycle, to a multiprocessor */
#define MEMORY_BYTES 14.0 /* a cycle, of each multiprocessor's share */
#define START_CYCLES 1800.0
#define WAIT_CYCLES 600.0 /* for what comes from the second cache */
#define LAUNCH_CYCLES 4000.0
#define HIDDEN_WARPS 12.0 /* that hide what each waits for, of RESULTS numbers in a thread each */
#define RESULTS 72.0
#define OVERLAP 0.1

static double largest(double x, double y)
{
	return x > y ? x : y;
}

static double least(double x, double y)
{
	return x < y ? x : y;
}

void hn_simt_begin(struct hn_simt_kernel *k, const struct hn_looptree *tree,
		   const struct hn_target *t, struct hn_arena *a)
{
	*k = (struct hn_simt_kernel){ .tree = tree,
				      .target = t,
				      .blocks = 1,
				      .threads = 1,
				      .registers = OTHER_REGISTERS,
				      .seen = HN_NEW_ARRAY(a, bool, tree->dag->n_op + 1) };
}

static enum hn_runs runs_of(const struct hn_node *loop)
{
	return loop->extent > 1 ? hn_ann_rows[loop->ann].runs : HN_RUNS_ORDER;
}

/* A loop around the statement that its tensor's memory serves: it is not done in each of its
 * iterations. */
static bool is_served(const struct hn_simt_kernel *k, const struct hn_view *v, uint32_t l)
{
	const struct hn_node *n = v->loop[l];
	int32_t stage = v->stmt->stage;

	return n->stage != stage && k->tree->buffer[stage].lifetime == HN_LIFETIME_LOOP &&
	       hn_scope_serves(k->tree->state, stage, n->ann);
}

static enum hn_memory memory_of(const struct hn_simt_kernel *k, const struct hn_buffer *b)
{
	if (b->op < 0 || b->lifetime != HN_LIFETIME_LOOP) {
		return HN_MEMORY_GLOBAL;
	}
	return hn_scope_serves(k->tree->state, b->op, HN_ANN_THREAD_X) ? HN_MEMORY_SHARED
								       : HN_MEMORY_LOCAL;
}

/* What a tensor takes, once. */
static void hold(struct hn_simt_kernel *k, const struct hn_buffer *b, double bytes)
{
	enum hn_memory m = memory_of(k, b);
	double n = b->ring > 1 ? b->ring : 1;

	if (b->op < 0 || k->seen[b->op]) {
		return;
	}
	k->seen[b->op] = true;
	for (uint32_t d = 0; d < b->n_dim; d++) {
		n *= (double)b->extent[d];
	}
	k->registers += m == HN_MEMORY_LOCAL ? n : 0;
	k->shared += m == HN_MEMORY_SHARED ? n * bytes : 0;
	k->memory += m == HN_MEMORY_GLOBAL ? n * bytes : 0;
}

static double common_factor(double x, double y)
{
	return y < 1 ? x : common_factor(y, fmod(x, y));
}

/* Times that each thread makes the access, in instructions. */
static double times_of(const struct hn_simt_kernel *k, const struct hn_view *v,
		       const struct hn_stream *s)
{
	double n = 1, ret = 1;

	for (uint32_t l = 0; l < v->n_loop; l++) {
		enum hn_runs runs = runs_of(v->loop[l]);

		if (runs != HN_RUNS_BLOCKS && runs != HN_RUNS_THREADS && runs != HN_RUNS_LANES) {
			n *= (double)v->loop[l]->extent;
		}
		ret = s->moves[l] || is_served(k, v, l) ? n : ret;
	}
	return ret;
}

/* Elements from one thread to the next, and how many each takes at once. */
static void step_of(const struct hn_view *v, const struct hn_stream *s, double *stride, double *lanes)
{
	*stride = 0;
	*lanes = 1;
	for (uint32_t l = 0; l < v->n_loop; l++) {
		if (runs_of(v->loop[l]) == HN_RUNS_THREADS) {
			*stride = fabs((double)s->stride[l]);
		}
		if (runs_of(v->loop[l]) == HN_RUNS_LANES && s->stride[l] == 1) {
			*lanes = (double)v->loop[l]->extent;
		}
	}
}

static double see_access(struct hn_simt_kernel *k, const struct hn_view *v,
			 const struct hn_stream *s, double warps)
{
	enum hn_memory m = memory_of(k, s->buffer);
	double stride, lanes, n = times_of(k, v, s), bytes = (double)s->elem_bytes;

	hold(k, s->buffer, bytes);
	if (m == HN_MEMORY_LOCAL) {
		return 0;
	}
	step_of(v, s, &stride, &lanes);
	if (m == HN_MEMORY_SHARED) {
		double words = largest(bytes / 4, 1);
		double apart = stride == 0 || s->buffer->swizzle.bits > 0
				       ? WARP
				       : WARP / common_factor(WARP, stride * words);

		/* neighbours in a tile: 4 of them ask for different numbers at once */
		k->turns += warps * n * largest(1, lanes * words / 2) * largest(1, 4 / apart);
		return warps * n;
	}
	double each = ceil(lanes * bytes / SECTOR);
	double sectors = stride == 0 ? each
				     : least(WARP * each, ceil(WARP * stride * bytes / SECTOR));

	k->bytes += warps * n * sectors * SECTOR;
	return warps * n;
}

double hn_simt_see(struct hn_simt_kernel *k, const struct hn_view *v)
{
	double blocks = 1, threads = 1, n = 1, issue = 0, before = k->turns;
	bool ahead = false, fetches = false;
	double rounds = 1;

	for (uint32_t l = 0; l < v->n_loop; l++) {
		enum hn_runs runs = runs_of(v->loop[l]);
		double e = (double)v->loop[l]->extent;

		if (is_served(k, v, l)) {
			continue;
		}
		blocks *= runs == HN_RUNS_BLOCKS ? e : 1;
		threads *= runs == HN_RUNS_THREADS ? e : 1;
		n *= runs != HN_RUNS_BLOCKS && runs != HN_RUNS_THREADS ? e : 1;
		rounds *= runs == HN_RUNS_ORDER && v->loop[l]->stage != v->stmt->stage ? e : 1;
		ahead = ahead || v->loop[l]->ahead > 0;
	}
	double warps = ceil(threads / WARP);

	for (uint32_t i = 0; i < v->n_stream; i++) {
		issue += see_access(k, v, &v->stream[i], warps);
		fetches = fetches || memory_of(k, v->stream[i].buffer) == HN_MEMORY_GLOBAL;
	}
	issue += warps * n * (v->n_arith + 8 * v->n_expensive +
			      (v->stmt->stmt == HN_STMT_UPDATE && !v->multiplies ? 1 : 0));
	k->issue += issue;
	k->waits += fetches && !ahead && k->tree->buffer[v->stmt->stage].lifetime == HN_LIFETIME_LOOP
			    ? rounds * WAIT_CYCLES
			    : 0;
	k->blocks = largest(k->blocks, blocks);
	k->threads = largest(k->threads, threads);
	return issue / ISSUES + (k->turns - before) + 1;
}

/* Blocks on a multiprocessor at once. */
static double resident_of(const struct hn_simt_kernel *k)
{
	const int64_t *param = k->target->param;
	double warps = ceil(k->threads / WARP), resident = CORE_THREADS / (warps * WARP);

	resident = least(floor(resident), floor(CORE_REGISTERS / (k->registers * warps * WARP)));
	resident = least(resident, k->shared > 0 ? floor((double)param[HN_PARAM_L1_BYTES] /
							 (k->shared + 1024))
						 : CORE_BLOCKS);
	return largest(least(resident, CORE_BLOCKS), 1);
}

void hn_simt_shape(const struct hn_simt_kernel *k, struct hn_features_kernel *ret)
{
	double resident = resident_of(k);
	double cores = largest((double)k->target->param[HN_PARAM_NUM_CORES], 1);

	*ret = (struct hn_features_kernel){
		.blocks = k->blocks,
		.threads = k->threads,
		.registers = k->registers,
		.shared = k->shared,
		.resident = resident,
		.waves = k->blocks / (cores * resident),
		.issue = k->issue / ISSUES,
		.turns = k->turns,
		.transfers = k->bytes / CACHE_BYTES,
		.waits = START_CYCLES + k->waits,
	};
}

double hn_simt_cycles(const struct hn_simt_kernel *k)
{
	const int64_t *param = k->target->param;
	double cores = largest((double)param[HN_PARAM_NUM_CORES], 1);
	double warps = ceil(k->threads / WARP), resident = resident_of(k);

	double part[] = { k->issue / ISSUES, k->turns, k->bytes / CACHE_BYTES };
	double most = 0, sum = 0;

	for (int i = 0; i < 3; i++) {
		most = largest(most, part[i]);
		sum += part[i];
	}
	double block = most + OVERLAP * (sum - most) + (START_CYCLES + k->waits) / resident;
	double full = floor(k->blocks / (cores * resident));
	double last = ceil((k->blocks - full * cores * resident) / cores);
	double each = least(largest((k->registers - OTHER_REGISTERS) / RESULTS, 0.5), 2) * warps;
	double hides = least(resident * each / HIDDEN_WARPS, 1);
	double hides_last = least(largest(last * each / HIDDEN_WARPS, 1 / HIDDEN_WARPS), 1);
	double cycles = full * resident * block / hides +
			(last > 0 ? last * block / hides_last : 0) + START_CYCLES;
	double memory = k->memory / (MEMORY_BYTES * cores);

	cycles = largest(cycles, memory) + OVERLAP * least(cycles, memory) + LAUNCH_CYCLES;
	/* a block with more of something than there is does not run */
	if (k->threads > (double)param[HN_PARAM_MAX_THREADS_PER_BLOCK] ||
	    k->shared > (double)param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK]) {
		cycles *= 1e3;
	}
	return cycles * HN_MODEL_HZ / HZ;
}
