/* ptx_run.c -- runs a kernel: blocks one after the other, the warps of a block in turns whose order and
 * length are drawn.  Lanes of a warp that have the same next instruction go together, those with the
 * least one first, so that lanes which parted meet again; in some turns a part of the lanes goes alone,
 * as a GPU may have it since 7.0. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/ptx/ptx_int.h"

#define TURN 400	 /* instructions of a warp before another may go, at most */
#define APART 8		 /* one turn of so many is of some lanes alone */
#define A_LOOK 8	 /* instructions that only ask once more */
#define IDLE_ROUNDS 2000 /* in which all warps only ask: nothing will come */

enum turn { STOPPED, ASKED, WENT, BROKE };

enum ptx_did ptx_fault(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		       const char *fmt, ...)
{
	const struct ptx_block *b = w->block;
	struct hn_buf s;
	va_list v;

	hn_buf_init(&s);
	va_start(v, fmt);
	hn_buf_vprintf(&s, fmt, v);
	va_end(v);
	hn_fail(b->err, HONE_E_INVALID, "ptx line %u (%.60s), block %u,%u,%u, thread %u: %s", in->line,
		in->name, b->id[0], b->id[1], b->id[2], w->index * PTX_LANES + lane, s.s);
	hn_buf_fini(&s);
	return PTX_FAULT;
}

/* -- lanes ------------------------------------------------------------------------------------ */

static void leave(struct ptx_warp *w)
{
	PTX_EACH(w->here, w->pc[l] = w->at);
	w->here = 0;
}

/* Picks who goes: the lanes with the least next instruction.  False: none can. */
static bool pick(struct ptx_warp *w)
{
	uint32_t can = ~(w->ended | w->waits | w->held | w->asks), least = UINT32_MAX, next = UINT32_MAX;

	leave(w);
	w->apart = (can & w->apart) != 0 ? w->apart : 0;
	can &= w->apart != 0 ? w->apart : PTX_ALL;
	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (can >> l & 1 && w->pc[l] < least) {
			least = w->pc[l];
		}
	}
	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (!(can >> l & 1)) {
			continue;
		}
		if (w->pc[l] == least) {
			w->here |= 1U << l;
		} else if (w->pc[l] < next) {
			next = w->pc[l];
		}
	}
	w->at = least;
	w->next = next;
	return w->here != 0;
}

/* Lanes that wait for the warp's others: all are here, and go on together. */
static enum turn meet(struct ptx_warp *w)
{
	uint32_t all = ~w->ended;

	if (w->waits == 0 || w->asks != 0) {
		bool asks = w->asks != 0;

		w->asks = 0;
		return asks ? ASKED : STOPPED;
	}
	uint32_t at = w->pc[__builtin_ctz(w->waits)];

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (w->waits >> l & 1 && w->pc[l] != at) {
			ptx_fault(w, &w->block->kernel->insn[at], l, "lanes wait at different instructions");
			return BROKE;
		}
	}
	if (w->waits != all) {
		return STOPPED; /* the others are at a barrier, and come or do not */
	}
	w->waits = 0;
	return WENT;
}

static void branch(struct ptx_warp *w, const struct ptx_insn *in, uint32_t taken)
{
	uint32_t from = w->at;

	if (taken == w->here && w->next == UINT32_MAX) {
		w->at = (uint32_t)in->to;
		return;
	}
	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (w->here >> l & 1) {
			w->pc[l] = taken >> l & 1 ? (uint32_t)in->to : from + 1;
		}
	}
	w->here = 0;
}

/* Up to `most` instructions. */
static enum turn turn(struct ptx_warp *w, uint32_t most)
{
	const struct ptx_kernel *k = w->block->kernel;
	struct ptx_counts *counts = w->block->counts;

	leave(w);
	w->apart = hn_rng_below(&w->block->rng, APART) == 0 ? (uint32_t)hn_rng_u64(&w->block->rng) : 0;
	for (uint32_t i = 0; i < most; i++) {
		if (w->here == 0 || w->at >= w->next) {
			if (!pick(w)) {
				enum turn t = meet(w);

				if (t == BROKE) {
					return t;
				}
				if (t != WENT) {
					return i > (t == ASKED ? A_LOOK : 0) ? WENT : t;
				}
				pick(w);
			}
		}
		if (w->at >= k->n_insn) {
			w->ended |= w->here; /* the last brace is a ret */
			w->here = 0;
			continue;
		}
		const struct ptx_insn *in = &k->insn[w->at];
		uint32_t mask = w->here;

		if (in->guard != 0) {
			const uint32_t *p = w->reg[in->guard].u;
			uint32_t on = 0;

			for (uint32_t l = 0; l < PTX_LANES; l++) {
				on |= (uint32_t)((p[l] & 1) != in->guard_not) << l;
			}
			mask &= on;
		}
		if (in->together && w->here != ~w->ended) {
			uint32_t stay = w->here;

			leave(w);
			w->waits |= stay;
			continue;
		}
		counts->steps++;
		enum ptx_did did = mask == 0 ? PTX_DONE : in->run(w, in, mask);

		if (did == PTX_DONE) {
			w->at++;
			/* who is told to ask again, or waits or has ended, goes no further now */
			if ((w->here & (w->ended | w->held | w->asks)) != 0) {
				leave(w);
			}
		} else if (did == PTX_AGAIN) {
			w->asks |= mask;
			PTX_EACH(w->here, w->pc[l] = w->at + (mask >> l & 1 ? 0 : 1));
			w->here = 0;
		} else if (did == PTX_BRANCH) {
			branch(w, in, mask);
		} else {
			return BROKE;
		}
	}
	return most > A_LOOK ? WENT : ASKED; /* so short a turn may be all asking */
}

/* -- blocks ----------------------------------------------------------------------------------- */

static void special(struct ptx_warp *w)
{
	const struct ptx_launch *l = w->block->launch;

	for (uint32_t i = 0; i < PTX_LANES; i++) {
		uint32_t t = w->index * PTX_LANES + i;
		uint32_t v[PTX_N_SPECIAL] = {
			[PTX_TID_X] = t % l->block[0],
			[PTX_TID_Y] = t / l->block[0] % l->block[1],
			[PTX_TID_Z] = t / l->block[0] / l->block[1],
			[PTX_LANEID] = i,
			[PTX_WARPID] = w->index,
		};

		for (int d = 0; d < 3; d++) {
			v[PTX_NTID_X + d] = l->block[d];
			v[PTX_CTAID_X + d] = w->block->id[d];
			v[PTX_NCTAID_X + d] = l->grid[d];
		}
		for (int s = 0; s < PTX_N_SPECIAL; s++) {
			w->reg[s].u[i] = v[s];
		}
	}
}

static void begin_queue(struct ptx_queue *q)
{
	*q = (struct ptx_queue){ .end = &q->first };
}

static void end_queue(struct ptx_queue *q)
{
	while (q->first != NULL) {
		struct ptx_late *late = q->first;

		q->first = late->next;
		free(late);
	}
	begin_queue(q);
}

static void begin_block(struct ptx_block *b)
{
	const struct ptx_kernel *k = b->kernel;
	uint32_t threads = b->launch->block[0] * b->launch->block[1] * b->launch->block[2];

	memset(b->shared, 0xdb, b->shared_end);
	memset(b->writer, 0, PTX_MAX_SHARED / 16 * sizeof *b->writer);
	memset(b->barrier, 0, sizeof b->barrier);
	b->pool = 0;
	for (uint32_t i = 0; i < b->n_warp; i++) {
		struct ptx_warp *w = &b->warp[i];
		uint32_t n = threads - i * PTX_LANES;

		w->ended = n >= PTX_LANES ? 0 : ~0U << n;
		w->waits = w->held = w->asks = w->here = 0;
		w->next = UINT32_MAX;
		w->barrier = -1;
		w->registers = k->maxnreg;
		memset(w->pc, 0, sizeof w->pc);
		for (uint32_t l = 0; l < PTX_LANES; l++) {
			w->copies[l].n = w->copies[l].groups = 0;
		}
		memcpy(w->reg, k->first, k->n_reg * sizeof *w->reg);
		special(w);
	}
}

static int hangs(struct ptx_block *b)
{
	for (uint32_t i = 0; i < b->n_warp; i++) {
		struct ptx_warp *w = &b->warp[i];
		uint32_t stay = ~w->ended;

		if (stay != 0) {
			uint32_t lane = (uint32_t)__builtin_ctz(stay), at = w->pc[lane];

			at -= at > 0 && w->held >> lane & 1;
			ptx_fault(w, &b->kernel->insn[at < b->kernel->n_insn ? at : 0], lane,
				  "it hangs: no warp of the block can go on, this one is here");
			break;
		}
	}
	return -HONE_E_INVALID;
}

static int run_block(struct ptx_block *b)
{
	uint32_t idle = 0;

	begin_block(b);
	for (;;) {
		uint32_t from = hn_rng_below(&b->rng, b->n_warp), alive = 0, asked = 0, went = 0;

		for (uint32_t i = 0; i < b->n_warp; i++) {
			struct ptx_warp *w = &b->warp[(from + i) % b->n_warp];

			if (w->ended == UINT32_MAX) {
				continue;
			}
			alive++;
			enum turn t = turn(w, 1 + hn_rng_below(&b->rng, TURN));

			if (t == BROKE) {
				return -HONE_E_INVALID;
			}
			asked += t == ASKED;
			went += t == WENT;
			if (b->bulk.first != NULL && hn_rng_below(&b->rng, 4) == 0) {
				if (ptx_bulk_step(w) == PTX_FAULT) {
					return -HONE_E_INVALID;
				}
				went++;
			}
		}
		if (alive == 0) {
			return 0;
		}
		idle = went > 0 ? 0 : idle + 1;
		if (went == 0 && b->bulk.first != NULL) {
			if (ptx_bulk_step(&b->warp[from]) == PTX_FAULT) {
				return -HONE_E_INVALID;
			}
			idle = 0;
		}
		if (idle > (asked > 0 ? IDLE_ROUNDS : 0)) {
			return hangs(b);
		}
		if (b->launch->steps > 0 && b->counts->steps > b->launch->steps) {
			return hn_fail(b->err, HONE_E_QUOTA, "more than %" PRIu64 " instructions of warps",
				       b->launch->steps);
		}
	}
}

/* -- launches --------------------------------------------------------------------------------- */

static int check(const struct ptx_kernel *k, const struct ptx_launch *l, struct hn_err *err)
{
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

	for (int i = 0; i < 3; i++) {
		if (l->grid[i] == 0 || l->block[i] == 0 || (k->ntid[0] > 0 && l->block[i] != k->ntid[i])) {
			return hn_fail(err, HONE_E_INVALID, "%s is for blocks of %u x %u x %u threads, not %u x "
				       "%u x %u", k->name, k->ntid[0], k->ntid[1], k->ntid[2], l->block[0],
				       l->block[1], l->block[2]);
		}
	}
	if (threads > 1024 || (uint64_t)k->shared + l->shared > PTX_MAX_SHARED - PTX_SHARED_FROM) {
		return hn_fail(err, HONE_E_INVALID, "%s: %" PRIu64 " threads, %u + %u bytes of shared memory: "
			       "more than a block has", k->name, threads, k->shared, l->shared);
	}
	if (k->maxnreg * threads > 65536) {
		return hn_fail(err, HONE_E_INVALID, "%s: %" PRIu64 " threads of %u registers are more than "
			       "65536", k->name, threads, k->maxnreg);
	}
	return 0;
}

static void begin(struct ptx_block *b, uint32_t threads)
{
	const struct ptx_kernel *k = b->kernel;

	b->n_warp = (threads + PTX_LANES - 1) / PTX_LANES;
	b->warp = calloc(b->n_warp, sizeof *b->warp);
	b->shared = aligned_alloc(1024, PTX_MAX_SHARED);
	b->writer = calloc(PTX_MAX_SHARED / 16, sizeof *b->writer);
	b->written = calloc(PTX_MAX_SHARED / 16, sizeof *b->written);
	b->fences = calloc(threads, sizeof *b->fences);
	b->shared_end = PTX_SHARED_FROM + k->shared + b->launch->shared;
	begin_queue(&b->bulk);
	for (uint32_t i = 0; i < b->n_warp; i++) {
		struct ptx_warp *w = &b->warp[i];

		w->block = b;
		w->index = i;
		w->reg = aligned_alloc(64, k->n_reg * sizeof *w->reg);
		w->local = calloc(PTX_LANES, k->local + 1);
		begin_queue(&w->products);
	}
}

static void end(struct ptx_block *b)
{
	for (uint32_t i = 0; i < b->n_warp; i++) {
		end_queue(&b->warp[i].products);
		for (uint32_t l = 0; l < PTX_LANES; l++) {
			free(b->warp[i].copies[l].copy);
		}
		free(b->warp[i].reg);
		free(b->warp[i].local);
	}
	end_queue(&b->bulk);
	free(b->warp);
	free(b->shared);
	free(b->writer);
	free(b->written);
	free(b->fences);
}

/* What a block leaves behind that never came: nobody waited for it; and warps that missed instructions
 * of their group. */
static int left_over(struct ptx_block *b)
{
	for (uint32_t i = 0; i < b->n_warp; i++) {
		struct ptx_warp *w = &b->warp[i];

		if (w->products.first != NULL) {
			ptx_fault(w, w->products.first->in, 0, "nobody waits for these products");
			return -HONE_E_INVALID;
		}
		if (w->wgmma.n_said != b->warp[i / 4 * 4].wgmma.n_said) {
			ptx_fault(w, &b->kernel->insn[b->kernel->n_insn - 1], 0,
				  "the warps of its group came to other instructions of warpgroups");
			return -HONE_E_INVALID;
		}
	}
	if (b->bulk.first != NULL) {
		ptx_fault(&b->warp[0], b->bulk.first->in, 0,
			  "the block ends, and a bulk copy into its memory is on its way");
		return -HONE_E_INVALID;
	}
	return 0;
}

int ptx_run(const struct ptx_module *m, const struct ptx_launch *l, struct ptx_counts *counts,
	    struct hn_err *err)
{
	const struct ptx_kernel *k = NULL;
	_Alignas(128) char param[4096] = { 0 };
	int rc;

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		k = strcmp(m->kernel[i].name, l->kernel) == 0 ? &m->kernel[i] : k;
	}
	if (k == NULL) {
		return hn_fail(err, HONE_E_NOT_FOUND, "the module has no kernel '%s'", l->kernel);
	}
	rc = check(k, l, err);
	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; i < k->n_param; i++) {
		memcpy(param + k->param[i].offset, l->param[i], k->param[i].bytes);
	}
	struct ptx_block b = { .kernel = k, .launch = l, .counts = counts, .err = err, .param = param,
			       .rng = hn_rng_stream(l->seed, 1, 0, 0) };

	begin(&b, l->block[0] * l->block[1] * l->block[2]);
	for (uint64_t i = 0; i < (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] && rc == 0; i++) {
		b.id[0] = (uint32_t)(i % l->grid[0]);
		b.id[1] = (uint32_t)(i / l->grid[0] % l->grid[1]);
		b.id[2] = (uint32_t)(i / l->grid[0] / l->grid[1]);
		rc = run_block(&b);
		rc = rc == 0 ? left_over(&b) : rc;
	}
	end(&b);
	return rc;
}

/* -- things that come later ------------------------------------------------------------------- */

struct ptx_late *ptx_begin(struct ptx_queue *q, const struct ptx_insn *in, uint32_t mask, size_t bytes)
{
	struct ptx_late *late = calloc(1, sizeof *late + bytes);

	hn_assert(late != NULL);
	late->in = in;
	late->mask = mask;
	*q->end = late;
	q->end = &late->next;
	return late;
}

void ptx_commit(struct ptx_queue *q)
{
	q->groups++;
	for (struct ptx_late *late = q->first; late != NULL; late = late->next) {
		late->group = late->group == 0 ? q->groups : late->group;
	}
}

enum ptx_did ptx_come(struct ptx_warp *w, struct ptx_queue *q, uint32_t group)
{
	while (q->first != NULL && q->first->group > 0 && q->first->group <= group) {
		struct ptx_late *late = q->first;
		enum ptx_did did = late->come(w, late);

		q->first = late->next;
		q->end = q->first == NULL ? &q->first : q->end;
		free(late);
		if (did != PTX_DONE) {
			return did;
		}
	}
	return PTX_DONE;
}
