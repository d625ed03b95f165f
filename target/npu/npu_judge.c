/* target/npu/npu_judge.c -- races, by blocks of 32 bytes: two instructions touch one, one of them
 * writes, and no flag and no barrier orders them.
 *
 * What comes after what is read off the clocks of the pipes.  It is the same in every order that the
 * pipes may run in, since the n-th wait for a flag always meets its n-th set.  So a program that is
 * clean in one run is clean in all.
 */
#include <string.h>

#include "target/npu/npu_sim_int.h"

static size_t blocks(int64_t bytes)
{
	return (size_t)((bytes + HN_NPU_BLOCK - 1) / HN_NPU_BLOCK);
}

/* Records of each buffer, in blocks.  An argument that nobody stores to has none: no race is there. */
static size_t records(const struct npu_sim *s, uint32_t buffer)
{
	return s->touch_gm[buffer] == NULL ? 0 : blocks(s->p->buffer[buffer].bytes);
}

static void mark_stored(const struct hn_npu_section *c, bool *stored)
{
	for (uint32_t i = 0; i < c->n_insn; i++) {
		if (c->insn[i].op == HN_NPU_I_STORE) {
			stored[c->insn[i].place[0].buffer] = true;
		}
	}
}

void npu_judge_open(struct npu_sim *s, struct hn_arena *a)
{
	bool *stored = HN_NEW_ARRAY(a, bool, npu_buffers(s));

	npu_judge_alone(s, a);
	for (uint32_t i = 0; i < s->p->n_section; i++) {
		mark_stored(&s->p->section[i], stored);
	}
	s->touch_gm = HN_NEW_ARRAY(a, struct npu_touch *, npu_buffers(s));
	for (uint32_t i = 0; i < npu_buffers(s); i++) {
		if (stored[i] || i >= s->p->n_buffer) { /* scratch: whether it was written counts */
			s->touch_gm[i] = HN_NEW_ARRAY(a, struct npu_touch, blocks(s->p->buffer[i].bytes));
		}
	}
	for (uint32_t i = 0; i < s->p->n_buffer; i++) {
		for (size_t k = 0; k < records(s, i); k++) {
			s->touch_gm[i][k].full = true;
		}
	}
}

void npu_judge_core(struct npu_sim *s)
{
	for (int i = 0; i < HN_NPU_GM; i++) {
		memset(s->touch[i], 0, sizeof(struct npu_touch) *
			       blocks(hn_npu_memory_bytes(s->m, (enum hn_npu_memory)i)));
	}
}

void npu_judge_alone(struct npu_sim *s, struct hn_arena *a)
{
	for (int i = 0; i < HN_NPU_GM; i++) {
		s->touch[i] = HN_NEW_ARRAY(a, struct npu_touch,
					   blocks(hn_npu_memory_bytes(s->m, (enum hn_npu_memory)i)));
	}
}

void npu_judge_met(struct npu_sim *s)
{
	for (uint32_t i = 0; i < npu_buffers(s); i++) {
		for (size_t k = 0; k < records(s, i); k++) {
			s->touch_gm[i][k] = (struct npu_touch){ .full = s->touch_gm[i][k].full };
		}
	}
}

static bool is_after(const struct npu_sim *s, enum hn_npu_pipe p, uint32_t other, uint32_t number,
		     uint32_t own)
{
	if (other == (uint32_t)p && (p != HN_NPU_V || number == own)) {
		return true;
	}
	return s->pipe[p].clock.done[other] >= number;
}

static const char *name_of(const struct npu_sim *s, const struct npu_span *span)
{
	return span->memory == HN_NPU_GM ? s->p->buffer[span->buffer].name : hn_npu_memory_word[span->memory];
}

static bool race(struct npu_sim *s, const struct npu_span *span, int64_t block, const char *what,
		 uint32_t other)
{
	return npu_is_wrong(&s->fault, HN_NPU_F_RACE, "%s block %lld of %s, which %s %s, and nothing "
			    "orders the two", span->write ? "writes" : "reads", (long long)block, name_of(s, span),
			    other < HN_NPU_N_PIPE ? hn_npu_pipe_name[other] : "another core", what);
}

static bool write_block(struct npu_sim *s, enum hn_npu_pipe p, const struct npu_span *span,
			struct npu_touch *t, int64_t block, uint32_t number, uint16_t core)
{
	if (span->memory == HN_NPU_GM) {
		if ((t->write_core != 0 && t->write_core != core) ||
		    (t->read_core != 0 && t->read_core != core)) {
			return race(s, span, block, t->write_core != 0 && t->write_core != core
							    ? "writes" : "reads", HN_NPU_N_PIPE);
		}
		if (t->write_core == 0 && t->read_core == 0) {
			t->write = 0;
			memset(t->read, 0, sizeof(t->read));
		}
		t->write_core = core;
	}
	if (t->write != 0 && !is_after(s, p, t->write_pipe, t->write, number)) {
		return race(s, span, block, "writes", t->write_pipe);
	}
	for (uint32_t i = 0; i < HN_NPU_N_PIPE; i++) {
		if (t->read[i] != 0 && !is_after(s, p, i, t->read[i], number)) {
			return race(s, span, block, "reads", i);
		}
	}
	t->write = number;
	t->write_pipe = (uint8_t)p;
	t->full = true;
	return true;
}

static bool read_block(struct npu_sim *s, enum hn_npu_pipe p, const struct npu_span *span,
		       struct npu_touch *t, int64_t block, uint32_t number, uint16_t core)
{
	if (span->memory == HN_NPU_GM) {
		if (t->write_core != 0 && t->write_core != core) {
			return race(s, span, block, "writes", HN_NPU_N_PIPE);
		}
		if (t->read_core != core) { /* another core's numbers say nothing here */
			memset(t->read, 0, sizeof(t->read));
		}
		t->read_core = t->read_core == 0 || t->read_core == core ? core : NPU_READ_MANY;
	}
	if (!t->full) {
		return npu_is_wrong(&s->fault, HN_NPU_F_UNWRITTEN, "reads block %lld of %s, which nothing "
				    "has written", (long long)block, name_of(s, span));
	}
	if (t->write != 0 && !is_after(s, p, t->write_pipe, t->write, number)) {
		return race(s, span, block, "writes", t->write_pipe);
	}
	t->read[p] = number;
	return true;
}

/* What an instruction comes after, to look at many blocks with. */
struct after {
	uint32_t done[HN_NPU_N_PIPE]; /* numbers of each pipe up to this one */
	uint32_t number, own; /* its own; and again where its pipe does not wait for itself, else 0 */
	uint16_t core;
};

static struct after after_of(const struct npu_sim *s, enum hn_npu_pipe p)
{
	struct after r = { .number = (uint32_t)s->pipe[p].n_done + 1, .core = (uint16_t)(s->core + 1) };

	memcpy(r.done, s->pipe[p].clock.done, sizeof(r.done));
	if (p == HN_NPU_V) {
		r.own = r.number;
	} else {
		r.done[p] = UINT32_MAX;
	}
	return r;
}

/* Of a core's memory: whether it is plain at once that the block may be touched. */
static bool is_fine(const struct after *x, const struct npu_touch *t, bool write)
{
	bool late = t->write > x->done[t->write_pipe] && (t->write_pipe != HN_NPU_V || t->write != x->own);

	if (!write) {
		return !late && t->full;
	}
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		late |= t->read[i] > x->done[i] && (i != HN_NPU_V || t->read[i] != x->own);
	}
	return !late;
}

static bool touch(struct npu_sim *s, enum hn_npu_pipe p, const struct npu_span *span, int64_t at,
		  const struct after *x)
{
	bool gm = span->memory == HN_NPU_GM;
	struct npu_touch *t = gm ? s->touch_gm[span->buffer] : s->touch[span->memory];
	int64_t from = at / HN_NPU_BLOCK, to = (at + span->bytes - 1) / HN_NPU_BLOCK;

	for (int64_t b = from; b <= to; b++) {
		if (!gm && is_fine(x, &t[b], span->write)) {
			if (span->write) {
				t[b].write = x->number;
				t[b].write_pipe = (uint8_t)p;
				t[b].full = true;
			} else {
				t[b].read[p] = x->number;
			}
		} else if (!(span->write ? write_block(s, p, span, &t[b], b, x->number, x->core)
					 : read_block(s, p, span, &t[b], b, x->number, x->core))) {
			return false;
		}
	}
	return true;
}

bool npu_judge(struct npu_sim *s, enum hn_npu_pipe p, const struct npu_op *op)
{
	const struct after x = after_of(s, p);

	for (uint32_t i = 0; i < op->n_span; i++) {
		const struct npu_span *span = &op->span[i];

		if (span->memory == HN_NPU_GM && s->touch_gm[span->buffer] == NULL) {
			continue;
		}
		for (int64_t k = 0; k < span->n1; k++) {
			for (int64_t j = 0; j < span->n0; j++) {
				if (!touch(s, p, span, span->at + k * span->s1 + j * span->s0, &x)) {
					return false;
				}
			}
		}
	}
	return true;
}

bool npu_judge_set(struct npu_sim *s, enum hn_npu_pipe from, enum hn_npu_pipe to, struct npu_flag *f)
{
	return f->waited <= s->pipe[from].clock.done[to];
}
