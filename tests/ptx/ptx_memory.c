/* ptx_memory.c -- loads, stores and cp.async.  Each address lies in memory that the kernel may touch, at
 * its alignment.  A cp.async comes at once or when a group is waited for, as the seed has it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/ptx_int.h"

enum space { GENERIC, GLOBAL, SHARED, LOCAL, PARAM };

void *ptx_shared(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane, uint64_t address,
		 uint32_t bytes, uint32_t align)
{
	const struct ptx_block *b = w->block;

	if (address < PTX_SHARED_FROM || address > b->shared_end || bytes > b->shared_end - address) {
		ptx_fault(w, in, lane, "%u bytes at %" PRId64 " of %u bytes of shared memory", bytes,
			  (int64_t)address - PTX_SHARED_FROM, b->shared_end - PTX_SHARED_FROM);
		return NULL;
	}
	if (address % align != 0) {
		ptx_fault(w, in, lane, "shared address %" PRIu64 " is no multiple of %u", address, align);
		return NULL;
	}
	return b->shared + address;
}

void *ptx_global(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane, uint64_t address,
		 uint64_t bytes, uint32_t align, bool store)
{
	const struct ptx_launch *l = w->block->launch;

	for (uint32_t i = 0; i < l->n_range; i++) {
		uint64_t from = (uint64_t)(uintptr_t)l->range[i].at, n = l->range[i].bytes;

		/* LLVM loads four numbers where three are: memory comes in chunks of 16 bytes at least */
		n = store ? n : (n + 15) / 16 * 16;
		if (address < from || address - from > n || bytes > n - (address - from)) {
			continue;
		}
		if (store && l->range[i].constant) {
			ptx_fault(w, in, lane, "a store into array %u, an input", i);
			return NULL;
		}
		if (address % align != 0) {
			ptx_fault(w, in, lane, "byte %" PRIu64 " of array %u is at no multiple of %u",
				  address - from, i, align);
			return NULL;
		}
		return (void *)(uintptr_t)address;
	}
	ptx_fault(w, in, lane, "%" PRIu64 " bytes at %#" PRIx64 ", where no array is", bytes, address);
	return NULL;
}

static void *local(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane, uint64_t address,
		   uint32_t bytes)
{
	uint32_t size = w->block->kernel->local;

	if (address > size || bytes > size - address || address % bytes != 0) {
		ptx_fault(w, in, lane, "%u bytes at %" PRIu64 " of %u bytes of local memory", bytes, address,
			  size);
		return NULL;
	}
	return w->local + (uint64_t)lane * size + address;
}

void *ptx_generic(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane, uint64_t address,
		  uint32_t bytes, bool store)
{
	uint64_t window = address & (uint64_t)0xffff << 48;

	if (window == PTX_SHARED_WINDOW) {
		return ptx_shared(w, in, lane, address - window, bytes, bytes);
	}
	if (window == PTX_LOCAL_WINDOW) {
		return local(w, in, lane, address - window, bytes);
	}
	return ptx_global(w, in, lane, address, bytes, bytes, store);
}

void ptx_wrote(const struct ptx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes)
{
	struct ptx_block *b = w->block;
	uint32_t thread = w->index * PTX_LANES + lane;

	for (uint64_t i = address / 16; i <= (address + bytes - 1) / 16; i++) {
		b->writer[i] = thread + 1;
		b->written[i] = b->fences[thread];
	}
}

bool ptx_visible(const struct ptx_warp *w, const struct ptx_insn *in, uint64_t address, uint32_t bytes)
{
	const struct ptx_block *b = w->block;

	for (uint64_t i = address / 16; i <= (address + bytes - 1) / 16; i++) {
		if (b->writer[i] != 0 && b->written[i] == b->fences[b->writer[i] - 1]) {
			ptx_fault(w, in, 0, "what thread %u wrote at %" PRIu64 " of shared memory is behind no fence "
				  "yet", b->writer[i] - 1, i * 16 - PTX_SHARED_FROM);
			return false;
		}
	}
	return true;
}

/* Where a lane's access goes. */
static char *place(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		   const struct ptx_operand *o, bool store)
{
	uint64_t address = ptx_value(w, o, lane);
	uint32_t bytes = (uint32_t)in->bytes * in->lanes;

	switch ((enum space)in->from) {
	case GLOBAL:
		return ptx_global(w, in, lane, address, bytes, bytes, store);
	case SHARED: {
		uint64_t end = w->block->shared_end, chunk = (end + 15) / 16 * 16;
		bool over = !store && address < end && address + bytes > end && address + bytes <= chunk;

		return ptx_shared(w, in, lane, address, over ? (uint32_t)(end - address) : bytes, bytes);
	}
	case LOCAL:
		return local(w, in, lane, address, bytes);
	case PARAM:
		if (store || address > w->block->kernel->param_bytes ||
		    bytes > w->block->kernel->param_bytes - address) {
			ptx_fault(w, in, lane, "no parameter at %" PRIu64, address);
			return NULL;
		}
		return (char *)w->block->param + address;
	default:
		return ptx_generic(w, in, lane, address, bytes, store);
	}
}

/* A register may be wider than the type: the rest is zeros, or the sign. */
static void load_element(struct ptx_warp *w, const struct ptx_operand *o, uint32_t l, const char *p,
			 uint32_t bytes, bool is_signed)
{
	union ptx_reg *r = &w->reg[o->reg];
	uint32_t off = 64 - 8 * bytes;
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	v = is_signed ? (uint64_t)((int64_t)(v << off) >> off) : v;
	if (o->wide) {
		r->w[l] = v;
	} else {
		r->u[l] = (uint32_t)v;
	}
}

static void store_element(const struct ptx_warp *w, const struct ptx_operand *o, uint32_t l, char *p,
			  uint32_t bytes)
{
	const union ptx_reg *r = &w->reg[o->reg + (o->constant && bytes == 8)];
	uint64_t v = o->wide || (o->constant && bytes == 8) ? r->w[l] : r->u[l];

	memcpy(p, &v, bytes);
}

static enum ptx_did do_load(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	const struct ptx_operand *at = &in->op[in->lanes];

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1)) {
			continue;
		}
		const char *p = place(w, in, l, at, false);

		if (p == NULL) {
			return PTX_FAULT;
		}
		for (uint32_t e = 0; e < in->lanes; e++) {
			load_element(w, &in->op[e], l, p + e * in->bytes, in->bytes, in->how != 0);
		}
	}
	return PTX_DONE;
}

static enum ptx_did do_store(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1)) {
			continue;
		}
		char *p = place(w, in, l, &in->op[0], true);

		if (p == NULL) {
			return PTX_FAULT;
		}
		for (uint32_t e = 0; e < in->lanes; e++) {
			store_element(w, &in->op[1 + e], l, p + e * in->bytes, in->bytes);
		}
		if (in->from == SHARED) {
			ptx_wrote(w, l, ptx_value(w, &in->op[0], l), (uint32_t)in->bytes * in->lanes);
		}
	}
	return PTX_DONE;
}

/* -- cp.async --------------------------------------------------------------------------------- */

static enum ptx_did come(struct ptx_warp *w, uint32_t lane, const struct ptx_copy *c)
{
	char *to = ptx_shared(w, c->in, lane, c->to, c->bytes, c->bytes);
	const char *from = c->of == 0 || to == NULL
				   ? to
				   : ptx_global(w, c->in, lane, c->from, c->of, c->bytes, false);

	if (from == NULL) {
		return PTX_FAULT;
	}
	memmove(to, from, c->of);
	memset(to + c->of, 0, c->bytes - c->of);
	ptx_wrote(w, lane, c->to, c->bytes);
	return PTX_DONE;
}

/* [to], [from], bytes and perhaps the bytes that the source has. */
static enum ptx_did do_copy(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	bool late = hn_rng_below(&w->block->rng, 2) == 0;

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		struct ptx_copies *q = &w->copies[l];
		struct ptx_copy c = { .in = in };

		if (!(mask >> l & 1)) {
			continue;
		}
		c.to = ptx_value(w, &in->op[0], l);
		c.from = ptx_value(w, &in->op[1], l);
		c.bytes = (uint32_t)ptx_value(w, &in->op[2], l);
		c.of = in->n_op > 3 ? (uint32_t)ptx_value(w, &in->op[3], l) : c.bytes;
		if ((c.bytes != 4 && c.bytes != 8 && c.bytes != 16) || c.of > c.bytes ||
		    (in->how != 0 && c.bytes != 16)) {
			return ptx_fault(w, in, l, "copies %u of %u bytes", c.of, c.bytes);
		}
		if (!late) {
			if (come(w, l, &c) != PTX_DONE) {
				return PTX_FAULT;
			}
			continue;
		}
		if (q->n == q->cap) {
			q->cap = q->cap > 0 ? 2 * q->cap : 8;
			q->copy = realloc(q->copy, q->cap * sizeof *q->copy);
			hn_assert(q->copy != NULL);
		}
		q->copy[q->n++] = c;
	}
	return PTX_DONE;
}

static void commit(struct ptx_copies *q)
{
	q->groups++;
	for (uint32_t i = q->n; i-- > 0 && q->copy[i].group == 0;) {
		q->copy[i].group = q->groups;
	}
}

static enum ptx_did do_commit(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	(void)in;
	PTX_EACH(mask, commit(&w->copies[l]));
	return PTX_DONE;
}

/* All groups of a lane but the last `but` are there. */
static enum ptx_did wait_lane(struct ptx_warp *w, uint32_t lane, uint32_t but)
{
	struct ptx_copies *q = &w->copies[lane];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		if (q->copy[i].group == 0 || q->copy[i].group + but > q->groups) {
			q->copy[kept++] = q->copy[i];
		} else if (come(w, lane, &q->copy[i]) != PTX_DONE) {
			return PTX_FAULT;
		}
	}
	q->n = kept;
	return PTX_DONE;
}

static enum ptx_did do_wait(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	bool all = in->n_op == 0;

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1)) {
			continue;
		}
		if (all) {
			commit(&w->copies[l]);
		}
		if (wait_lane(w, l, all ? 0 : (uint32_t)ptx_value(w, &in->op[0], l)) != PTX_DONE) {
			return PTX_FAULT;
		}
	}
	return PTX_DONE;
}

/* -- which ------------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	ptx_do *run;
	uint8_t how;
} async[] = {
	{ "cp.async.ca.shared.global", do_copy, 0 },
	{ "cp.async.cg.shared.global", do_copy, 1 },
	{ "cp.async.commit_group", do_commit, 0 },
	{ "cp.async.wait_group", do_wait, 0 },
	{ "cp.async.wait_all", do_wait, 0 },
};

/* What a word of a load or store says. */
static bool know(struct ptx_insn *in, const char *word)
{
	static const struct {
		char text[12];
		int8_t space, lanes, bytes, is_signed; /* -1: says nothing of it */
	} row[] = {
		{ "global", GLOBAL, -1, -1, -1 }, { "shared", SHARED, -1, -1, -1 },
		{ "shared::cta", SHARED, -1, -1, -1 }, { "local", LOCAL, -1, -1, -1 },
		{ "param", PARAM, -1, -1, -1 },	  { "v2", -1, 2, -1, -1 },    { "v4", -1, 4, -1, -1 },
		{ "nc", -1, -1, -1, -1 },	  { "volatile", -1, -1, -1, -1 },
		{ "b8", -1, -1, 1, 0 },		  { "u8", -1, -1, 1, 0 },     { "s8", -1, -1, 1, 1 },
		{ "b16", -1, -1, 2, 0 },	  { "u16", -1, -1, 2, 0 },    { "s16", -1, -1, 2, 1 },
		{ "b32", -1, -1, 4, 0 },	  { "u32", -1, -1, 4, 0 },    { "s32", -1, -1, 4, 0 },
		{ "f32", -1, -1, 4, 0 },	  { "b64", -1, -1, 8, 0 },    { "u64", -1, -1, 8, 0 },
		{ "s64", -1, -1, 8, 0 },	  { "f64", -1, -1, 8, 0 },
	};

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		if (strcmp(row[i].text, word) == 0) {
			in->from = row[i].space >= 0 ? (uint8_t)row[i].space : in->from;
			in->lanes = row[i].lanes >= 0 ? (uint8_t)row[i].lanes : in->lanes;
			in->bytes = row[i].bytes >= 0 ? (uint8_t)row[i].bytes : in->bytes;
			in->how = row[i].is_signed >= 0 ? (uint8_t)row[i].is_signed : in->how;
			return true;
		}
	}
	return false;
}

ptx_do *ptx_find_memory(struct ptx_insn *in)
{
	bool load = strcmp(in->word[0], "ld") == 0;

	for (size_t i = 0; i < HN_COUNT_OF(async); i++) {
		if (strcmp(async[i].text, in->name) == 0) {
			in->how = async[i].how;
			return async[i].run;
		}
	}
	if (!load && strcmp(in->word[0], "st") != 0) {
		return NULL;
	}
	in->from = GENERIC;
	in->lanes = 1;
	for (uint32_t i = 1; i < in->n_word; i++) {
		if (!know(in, in->word[i])) {
			return NULL;
		}
	}
	/* 16 bytes at most */
	return in->bytes == 0 || in->n_op != in->lanes + 1U || in->bytes * in->lanes > 16 ? NULL
	       : load									  ? do_load
											  : do_store;
}
