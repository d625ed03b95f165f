/* target/npu/npu_traffic.c -- what a program asks of global memory, and which of it the second cache
 * has.
 *
 * Registers, loops and conditions alone decide it, so they are walked through before the pipes are.
 * Of a buffer that fits into the cache, memory gives each byte once.  Of a larger one, what several
 * cores read comes once for all of them, since they go through it together; what a core reads again,
 * it has to fetch again.
 */
#include <string.h>

#include "base/arith.h"
#include "target/npu/npu_sim_int.h"

#define LINE 512 /* bytes that are counted at once */

struct traffic {
	double read, written; /* bytes, by all cores */
	double distinct;      /* of a buffer larger than the cache: bytes of each core's own */
	uint64_t *seen;	      /* [lines / 64] by this core; NULL where the buffer fits */
};

static void see(struct traffic *t, const struct npu_span *s, double cores)
{
	for (int64_t k = 0; k < s->n1 * s->n0; k++) {
		int64_t at = s->at + k / s->n0 * s->s1 + k % s->n0 * s->s0;

		for (int64_t l = at / LINE; l <= (at + s->bytes - 1) / LINE; l++) {
			uint64_t bit = (uint64_t)1 << (l % 64);

			t->distinct += (t->seen[l / 64] & bit) != 0 ? 0 : cores * LINE;
			t->seen[l / 64] |= bit;
		}
	}
}

/* A transfer of so many cores. */
static void count(struct npu_sim *s, const struct hn_npu_insn *in, double cores, uint64_t *left,
		  struct traffic *t)
{
	uint64_t work = 0;

	struct npu_op op;
	struct npu_fault ignored; /* it is met again, where it is told of */

	if (!npu_resolve(s->p, s->m, in, s->reg, NULL, &op, &ignored)) {
		return;
	}
	for (uint32_t i = 0; i < op.n_span; i++) {
		const struct npu_span *span = &op.span[i];
		struct traffic *of = &t[span->buffer];
		double bytes = cores * (double)(span->n0 * span->n1 * span->bytes);

		if (span->memory != HN_NPU_GM) {
			continue;
		}
		*(span->write ? &of->written : &of->read) += bytes;
		if (!span->write && of->seen != NULL) {
			see(of, span, cores);
			work += npu_work(&op);
		}
	}
	*left -= work < *left ? work : *left;
}

static void walk(struct npu_sim *s, double cores, uint64_t *left, struct traffic *t)
{
	npu_registers(s);
	s->at = s->n_loop = 0;
	while (s->at < s->section->n_insn && *left > 0) {
		const struct hn_npu_insn *in = &s->section->insn[s->at];
		uint8_t kind = hn_npu_op[in->op].kind;

		--*left;
		if (kind == HN_NPU_K_LET || kind == HN_NPU_K_LOOP || kind == HN_NPU_K_IF ||
		    kind == HN_NPU_K_END) {
			if (!npu_scalar(s, in)) {
				return;
			}
			continue;
		}
		if (hn_npu_op[in->op].pipe == HN_NPU_MTE2 || kind == HN_NPU_K_STORE) {
			count(s, in, cores, left, t);
		}
		s->at++;
	}
}

static size_t words(int64_t bytes)
{
	return (size_t)hn_ceildiv(bytes, LINE * 64);
}

static void walk_core(struct npu_sim *s, double cores, uint64_t *left, struct traffic *t)
{
	for (uint32_t i = 0; i < npu_buffers(s); i++) {
		if (t[i].seen != NULL) {
			memset(t[i].seen, 0, words(s->p->buffer[i].bytes) * 8);
		}
	}
	walk(s, cores, left, t);
}

int64_t npu_traffic(struct npu_sim *s, struct hn_arena *a)
{
	struct traffic *t = HN_NEW_ARRAY(a, struct traffic, npu_buffers(s));
	uint64_t left = s->most;
	double asked = 0;

	for (uint32_t i = 0; i < npu_buffers(s); i++) {
		if (s->p->buffer[i].bytes > s->m->l2_bytes) {
			t[i].seen = HN_NEW_ARRAY(a, uint64_t, words(s->p->buffer[i].bytes));
		}
	}
	for (uint32_t i = 0; i < s->p->n_section; i++) {
		uint32_t n;

		s->section = &s->p->section[i];
		n = s->alike[i] ? 1 : s->section->n_core;
		for (uint32_t k = 0; k < n; k++) {
			s->core = s->section->first + k;
			walk_core(s, s->alike[i] ? s->section->n_core : 1, &left, t);
		}
	}
	for (uint32_t i = 0; i < npu_buffers(s); i++) {
		double bytes = (double)s->p->buffer[i].bytes;
		double once = t[i].seen != NULL ? t[i].distinct : t[i].read;
		double miss = once > bytes ? bytes / once : 1;

		s->rate[i] = 1 / (miss / (double)s->m->gm_rate + (1 - miss) / (double)s->m->l2_rate);
		s->ret->read_bytes += (int64_t)t[i].read;
		s->ret->written_bytes += (int64_t)t[i].written;
		asked += miss * t[i].read + t[i].written;
	}
	s->fault.kind = HN_NPU_FINE;
	return (int64_t)(asked / (double)s->m->chip_rate);
}
