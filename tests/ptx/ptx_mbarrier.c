/* ptx_mbarrier.c -- mbarriers: a phase is over when as many have arrived as it was made for,
 * and the bytes came that they expect.  The eight bytes are of our own layout, with a mark, so that
 * memory which holds none, or was written over, is told from one.
 *
 * Source: Parallel Thread Execution ISA 8.5, "mbarrier". */
#include <string.h>

#include "tests/ptx/ptx_mbarrier.h"

#define MBARRIER_MAX_COUNT 4095 /* by the ISA 2^20 - 1; a block has 1024 threads */
#define MBARRIER_MAX_BYTES ((1 << 20) - 1)

/* From the low end: the phase's parity, 12 bits that are pending, 12 expected, 22 of bytes; the mark
 * knows the place and the block. */
#define MBARRIER_BITS 47

static uint64_t mbarrier_mark(const struct ptx_block *b, uint64_t address, uint64_t low)
{
	uint64_t h = low ^ address << MBARRIER_BITS ^
		     (((uint64_t)b->id[2] << 16 ^ b->id[1]) << 20 ^ b->id[0]) *
			     0x94d049bb133111ebU;

	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9U;
	return (h ^ h >> 31) << MBARRIER_BITS;
}

bool ptx_mbarrier_read(const struct ptx_block *b, uint64_t address, const void *memory,
		       struct ptx_mbarrier *m)
{
	const uint64_t low_mask = ((uint64_t)1 << MBARRIER_BITS) - 1;
	uint64_t bits;

	memcpy(&bits, memory, sizeof bits);
	if ((bits & ~low_mask) != mbarrier_mark(b, address, bits & low_mask)) {
		return false;
	}
	m->phase = bits & 1;
	m->pending = bits >> 1 & 0xfff;
	m->expected = bits >> 13 & 0xfff;
	m->bytes = (int32_t)(bits >> 25 & 0x3fffff) - (1 << 21);
	return true;
}

static void mbarrier_write(const struct ptx_block *b, uint64_t address, void *memory,
			   const struct ptx_mbarrier *m)
{
	uint64_t bits = m->phase | (uint64_t)m->pending << 1 |
			(uint64_t)m->expected << 13 |
			(uint64_t)(m->bytes + (1 << 21)) << 25;

	bits |= mbarrier_mark(b, address, bits);
	memcpy(memory, &bits, sizeof bits);
}

void *ptx_mbarrier_at(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		      uint64_t address, struct ptx_mbarrier *m)
{
	void *memory = ptx_shared(w, in, lane, address, 8, 8);

	if (memory && !ptx_mbarrier_read(w->block, address, memory, m)) {
		ptx_fault(w, in, lane, "no mbarrier at shared address %#llx",
			  (unsigned long long)address);
		return NULL;
	}
	return memory;
}

enum ptx_did ptx_mbarrier_count(const struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t lane, uint64_t address, uint32_t arrivals,
				int64_t bytes)
{
	struct ptx_mbarrier m;
	void *memory = ptx_mbarrier_at(w, in, lane, address, &m);

	if (!memory) {
		return PTX_FAULT;
	}
	if (arrivals > m.pending) {
		return ptx_fault(w, in, lane,
				 "%u arrivals at the mbarrier at %#llx, which waits "
				 "for %u of %u and %d bytes",
				 arrivals, (unsigned long long)address, m.pending,
				 m.expected, m.bytes);
	}
	bytes += m.bytes;
	if (bytes > MBARRIER_MAX_BYTES || bytes < -MBARRIER_MAX_BYTES) {
		return ptx_fault(w, in, lane, "%lld bytes to come at an mbarrier",
				 (long long)bytes);
	}
	m.bytes = (int32_t)bytes;
	m.pending -= arrivals;
	if (!m.pending && m.bytes < 0) {
		return ptx_fault(w, in, lane,
				 "%d bytes more came to the mbarrier at %#llx than "
				 "were expected",
				 -m.bytes, (unsigned long long)address);
	}
	if (!m.pending && !m.bytes) {
		m.phase ^= 1;
		m.pending = m.expected;
	}
	mbarrier_write(w->block, address, memory, &m);
	return PTX_DONE;
}

enum ptx_did ptx_mbarrier_init(struct ptx_warp *w, const struct ptx_insn *in,
			       uint32_t mask)
{
	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		uint64_t address;
		uint32_t n;
		struct ptx_mbarrier m;
		void *memory;

		if (!(mask >> lane & 1)) {
			continue;
		}
		address = ptx_value(w, &in->op[0], lane);
		n = (uint32_t)ptx_value(w, &in->op[1], lane);
		memory = ptx_shared(w, in, lane, address, 8, 8);
		if (!memory) {
			return PTX_FAULT;
		}
		if (!n || n > MBARRIER_MAX_COUNT) {
			return ptx_fault(w, in, lane,
					 "a count of %u; 1 to %u is understood", n,
					 MBARRIER_MAX_COUNT);
		}
		if (ptx_mbarrier_read(w->block, address, memory, &m)) {
			return ptx_fault(w, in, lane, "an mbarrier is at %#llx already",
					 (unsigned long long)address);
		}
		m = (struct ptx_mbarrier){ .pending = n, .expected = n };
		mbarrier_write(w->block, address, memory, &m);
		ptx_wrote(w, lane, address, 8);
	}
	return PTX_DONE;
}

enum ptx_did ptx_mbarrier_inval(struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t mask)
{
	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		struct ptx_mbarrier m;
		void *memory;

		if (!(mask >> lane & 1)) {
			continue;
		}
		memory = ptx_mbarrier_at(w, in, lane, ptx_value(w, &in->op[0], lane), &m);
		if (!memory) {
			return PTX_FAULT;
		}
		memset(memory, 0xa5, 8);
	}
	return PTX_DONE;
}

/* Of arrive: what it gives, the address, bytes (expect_tx) or a count; of expect_tx alone: the
 * address, bytes.  What it gives is the parity of the phase that it arrived at. */
enum ptx_did ptx_mbarrier_arrive(struct ptx_warp *w, const struct ptx_insn *in,
				 uint32_t mask)
{
	bool arrives = !strcmp(in->word[1], "arrive"), expects = ptx_has(in, "expect_tx");
	uint32_t i = arrives ? 1 : 0;

	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		uint64_t address, more;
		struct ptx_mbarrier m;

		if (!(mask >> lane & 1)) {
			continue;
		}
		address = ptx_value(w, &in->op[i], lane);
		more = in->n_op > i + 1 ? (uint32_t)ptx_value(w, &in->op[i + 1], lane)
					: 1;
		if (!ptx_mbarrier_at(w, in, lane, address, &m) ||
		    ptx_mbarrier_count(w, in, lane, address,
				       !arrives	 ? 0
				       : expects ? 1
						 : (uint32_t)more,
				       expects ? (int64_t)more : 0) != PTX_DONE) {
			return PTX_FAULT;
		}
		if (arrives && in->op[0].reg != PTX_NONE) {
			w->reg[in->op[0].reg].w[lane] = m.phase;
		}
	}
	return PTX_DONE;
}

/* The predicate, the address, a parity (or what arrive gave, the same here): whether the phase of that
 * parity is over.  try_wait may say no at any time, and does. */
enum ptx_did ptx_mbarrier_wait(struct ptx_warp *w, const struct ptx_insn *in,
			       uint32_t mask)
{
	bool tries = !strcmp(in->word[1], "try_wait");
	bool shy = tries && !hn_rng_below(&w->block->rng, 8);

	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		struct ptx_mbarrier m;
		uint64_t parity;
		bool over;

		if (!(mask >> lane & 1)) {
			continue;
		}
		if (!ptx_mbarrier_at(w, in, lane, ptx_value(w, &in->op[1], lane), &m)) {
			return PTX_FAULT;
		}
		parity = ptx_value(w, &in->op[2], lane);
		if (parity > 1) {
			return ptx_fault(w, in, lane, "a parity of %llu",
					 (unsigned long long)parity);
		}
		over = m.phase != parity && !shy;
		w->reg[in->op[0].reg].u[lane] = over;
		w->asks |= over ? 0 : 1U << lane;
	}
	return PTX_DONE;
}
