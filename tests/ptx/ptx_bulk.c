/* ptx_bulk.c -- bulk copies by tensor maps, and the fences between the two ways to shared
 * memory.  A bulk copy is begun, and comes at a moment of chance: it reads then what global memory
 * holds then.
 *
 * Source: Parallel Thread Execution ISA 8.5, "cp.async.bulk.tensor", "Tensors", "membar / fence"; CUDA
 * driver API, cuTensorMapEncodeTiled; CUDA C++ Programming Guide, "Tensor memory access". */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cdefs.h"
#include "tests/ptx/ptx_mbarrier.h"

/* -- bulk copies ------------------------------------------------------------------------------ */

struct bulk_copy {
	struct ptx_warp *w;
	uint32_t lane, rows, row_bytes;
	uint64_t to, mbarrier; /* shared addresses */
	struct ptx_map map;
	int32_t at[5];
};

/* Rows of the box: what its innermost dimension makes, one behind another.  Swizzles exchange the 16
 * bytes chunks of a span by the number of the 128 bytes in which they lie. */
static uint64_t bulk_swizzled(const struct bulk_copy *c, uint64_t address)
{
	uint64_t chunks = c->map.swizzle / 16;

	return chunks ? address ^ (address >> 7 & (chunks - 1)) << 4 : address;
}

/* One row: zeros where it leaves the tensor. */
static enum ptx_did bulk_row(const struct bulk_copy *c, const struct ptx_insn *in,
			     uint32_t row, char *to)
{
	const struct ptx_map *map = &c->map;
	int64_t from = c->at[0] < 0 ? -(int64_t)c->at[0] : 0, end = map->box[0];
	uint64_t offset = 0;
	const char *source;

	memset(to, 0, c->row_bytes);
	for (uint32_t d = 1; d < map->rank; d++) {
		int64_t place = (int64_t)c->at[d] + row % map->box[d];

		row /= map->box[d];
		if ((uint64_t)place >= map->size[d]) { /* or negative */
			return PTX_DONE;
		}
		offset += (uint64_t)place * map->stride[d - 1];
	}
	if (c->at[0] + end > (int64_t)map->size[0]) {
		end = (int64_t)map->size[0] - c->at[0];
	}
	if (end <= from) {
		return PTX_DONE;
	}
	offset += (uint64_t)(c->at[0] + from) * map->bytes;
	source = ptx_global(c->w, in, c->lane, (uint64_t)(uintptr_t)map->at + offset,
			    (uint64_t)(end - from) * map->bytes, map->bytes, false);
	if (!source) {
		return PTX_FAULT;
	}
	memcpy(to + from * map->bytes, source, (size_t)((end - from) * map->bytes));
	return PTX_DONE;
}

static enum ptx_did bulk_bring(const struct bulk_copy *c, const struct ptx_insn *in)
{
	uint32_t bytes = c->rows * c->row_bytes;
	char row[256 * 8], *memory;

	memory = ptx_shared(c->w, in, c->lane, c->to, bytes, 128);
	if (!memory || !ptx_visible(c->w, in, c->to, bytes)) {
		return PTX_FAULT;
	}
	for (uint32_t r = 0; r < c->rows; r++) {
		if (bulk_row(c, in, r, row) != PTX_DONE) {
			return PTX_FAULT;
		}
		for (uint32_t i = 0; i < c->row_bytes; i += 16) {
			uint64_t address = c->to + (uint64_t)r * c->row_bytes + i;

			memcpy(memory + (bulk_swizzled(c, address) - c->to), row + i, 16);
		}
	}
	c->w->block->counts->bulk_bytes += bytes;
	return ptx_mbarrier_count(c->w, in, c->lane, c->mbarrier, 0, -(int64_t)bytes);
}

static enum ptx_did bulk_come(struct ptx_warp *w, struct ptx_late *late)
{
	struct bulk_copy c;

	(void)w;
	memcpy(&c, late->data, sizeof c);
	return bulk_bring(&c, late->in);
}

/* What is wrong with a map; NULL: nothing.  A span that is wider than the box's rows is refused: the
 * documents do not say where its rows lie. */
static const char *bulk_map_wrong(const struct ptx_map *map)
{
	uint32_t inner = (uint32_t)map->box[0] * map->bytes;

	if (map->rank < 1 || map->rank > 5 ||
	    (map->bytes != 1 && map->bytes != 2 && map->bytes != 4 && map->bytes != 8)) {
		return "no tensor map there";
	}
	if ((uintptr_t)map->at % 16) {
		return "the tensor is not at a multiple of 16";
	}
	for (uint32_t d = 0; d < map->rank; d++) {
		if (!map->box[d] || map->box[d] > 256) {
			return "a box has 1 to 256 elements each way";
		}
		if (!map->size[d] || map->size[d] > (uint64_t)1 << 32) {
			return "a tensor has 1 to 2^32 elements each way";
		}
		if (d && (map->stride[d - 1] % 16 ||
			  map->stride[d - 1] >= (uint64_t)1 << 40)) {
			return "a stride is a multiple of 16 below 2^40";
		}
	}
	if (inner % 16) {
		return "a box's rows are multiples of 16 bytes";
	}
	if (map->swizzle && map->swizzle != 32 && map->swizzle != 64 &&
	    map->swizzle != 128) {
		return "a swizzle's span is 32, 64 or 128 bytes";
	}
	return map->swizzle && inner != map->swizzle
		       ? "a swizzle's span and the box's rows have different sizes"
		       : NULL;
}

/* The map is in a parameter or in global memory. */
static bool bulk_map(struct bulk_copy *c, const struct ptx_insn *in, uint64_t address)
{
	const struct ptx_block *b = c->w->block;
	uint64_t param = (uint64_t)(uintptr_t)b->param;
	const char *wrong;

	if (address - param < b->kernel->param_bytes) {
		if (b->kernel->param_bytes - (address - param) < 128 ||
		    (address - param) % 64) {
			ptx_fault(c->w, in, c->lane,
				  "no 128 bytes of a tensor map in a parameter, "
				  "at a multiple of 64");
			return false;
		}
	} else if (!ptx_global(c->w, in, c->lane, address, 128, 64, false)) {
		return false;
	}
	memcpy(&c->map, (const void *)(uintptr_t)address, sizeof c->map);
	wrong = bulk_map_wrong(&c->map);
	if (wrong) {
		ptx_fault(c->w, in, c->lane, "%s", wrong);
	}
	return !wrong;
}

static enum ptx_did bulk_begin_lane(struct ptx_warp *w, const struct ptx_insn *in,
				    uint32_t lane)
{
	uint32_t rank = (uint32_t)(in->word[4][0] - '0');
	struct bulk_copy c = { .w = w, .lane = lane, .rows = 1 };
	struct ptx_late *late;
	struct ptx_mbarrier m;
	uint64_t bytes;

	c.to = ptx_value(w, &in->op[0], lane);
	c.mbarrier = ptx_value(w, &in->op[2 + rank], lane);
	if (!bulk_map(&c, in, ptx_value(w, &in->op[1], lane))) {
		return PTX_FAULT;
	}
	if (c.map.rank != rank) {
		return ptx_fault(w, in, lane, "the tensor map has rank %u", c.map.rank);
	}
	for (uint32_t d = 0; d < rank; d++) {
		c.at[d] = (int32_t)ptx_value(w, &in->op[2 + d], lane);
		c.rows *= d ? c.map.box[d] : 1;
		if (c.rows > PTX_MAX_SHARED) {
			return ptx_fault(w, in, lane, "a box larger than shared memory");
		}
	}
	c.row_bytes = (uint32_t)c.map.box[0] * c.map.bytes;
	bytes = (uint64_t)c.rows * c.row_bytes;
	if (bytes > PTX_MAX_SHARED) {
		return ptx_fault(w, in, lane, "a box larger than shared memory");
	}
	if (!ptx_shared(w, in, lane, c.to, (uint32_t)bytes, 128) ||
	    !ptx_visible(w, in, c.to, (uint32_t)bytes) ||
	    !ptx_mbarrier_at(w, in, lane, c.mbarrier, &m) ||
	    !ptx_visible(w, in, c.mbarrier, 8)) {
		return PTX_FAULT;
	}
	if (!hn_rng_below(&w->block->rng, 4)) {
		return bulk_bring(&c, in); /* at once */
	}
	late = ptx_begin(&w->block->bulk, in, 1U << lane, sizeof c);
	late->come = bulk_come;
	memcpy(late->data, &c, sizeof c);
	return PTX_DONE;
}

static enum ptx_did bulk_begin(struct ptx_warp *w, const struct ptx_insn *in,
			       uint32_t mask)
{
	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		if (mask >> lane & 1 && bulk_begin_lane(w, in, lane) != PTX_DONE) {
			return PTX_FAULT;
		}
	}
	return PTX_DONE;
}

enum ptx_did ptx_bulk_step(struct ptx_warp *w)
{
	struct ptx_queue *q = &w->block->bulk;
	struct ptx_late **at = &q->first, *late;
	uint32_t n = 0;
	enum ptx_did did;

	for (late = q->first; late; late = late->next) {
		n++;
	}
	if (!n) {
		return PTX_AGAIN;
	}
	for (n = (uint32_t)hn_rng_below(&w->block->rng, n); n; n--) {
		at = &(*at)->next;
	}
	late = *at;
	*at = late->next;
	if (q->end == &late->next) {
		q->end = at;
	}
	did = late->come(w, late);
	free(late);
	return did;
}

/* -- fences ----------------------------------------------------------------------------------- */

/* Of all memory or of shared memory; of global memory alone it hands over nothing that we look after. */
static enum ptx_did fence_proxy(struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t mask)
{
	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		if (mask >> lane & 1 && !ptx_has(in, "global")) {
			w->block->fences[w->index * PTX_LANES + lane]++;
		}
	}
	return PTX_DONE;
}

/* What mbarrier.init of these lanes wrote is seen by all; other writes are not. */
static enum ptx_did fence_mbarrier(struct ptx_warp *w, const struct ptx_insn *in,
				   uint32_t mask)
{
	struct ptx_block *b = w->block;

	(void)in;
	for (uint32_t at = PTX_SHARED_FROM; at + 16 <= b->shared_end; at += 16) {
		uint32_t thread = b->writer[at / 16] - 1;
		struct ptx_mbarrier m;

		if (b->writer[at / 16] && thread / PTX_LANES == w->index &&
		    mask >> thread % PTX_LANES & 1 &&
		    (ptx_mbarrier_read(b, at, b->shared + at, &m) ||
		     ptx_mbarrier_read(b, at + 8, b->shared + at + 8, &m))) {
			b->writer[at / 16] = 0;
		}
	}
	return PTX_DONE;
}

static enum ptx_did bulk_nothing(struct ptx_warp *w, const struct ptx_insn *in,
				 uint32_t mask)
{
	(void)w, (void)in, (void)mask;
	return PTX_DONE;
}

/* -- by their words --------------------------------------------------------------------------- */

/* The words in front, those that may follow in their order, each there or not, and how many operands:
 * at least, at most. */
static const struct bulk_row {
	const char *front, *rest;
	uint32_t least, most;
	ptx_do *run;
} bulk_rows[] = {
	{ "mbarrier.init", "shared shared::cta b64", 2, 2, ptx_mbarrier_init },
	{ "mbarrier.inval", "shared shared::cta b64", 1, 1, ptx_mbarrier_inval },
	{ "mbarrier.arrive.expect_tx",
	  "release relaxed cta cluster shared shared::cta b64", 3, 3,
	  ptx_mbarrier_arrive },
	{ "mbarrier.arrive", "release relaxed cta cluster shared shared::cta b64", 2, 3,
	  ptx_mbarrier_arrive },
	{ "mbarrier.expect_tx", "relaxed cta cluster shared shared::cta b64", 2, 2,
	  ptx_mbarrier_arrive },
	{ "mbarrier.test_wait",
	  "parity acquire relaxed cta cluster shared shared::cta b64", 3, 3,
	  ptx_mbarrier_wait },
	{ "mbarrier.try_wait",
	  "parity acquire relaxed cta cluster shared shared::cta b64", 3, 4,
	  ptx_mbarrier_wait },
	{ "cp.async.bulk.tensor.1d",
	  "shared::cluster shared::cta global tile mbarrier::complete_tx::bytes", 4, 4,
	  bulk_begin },
	{ "cp.async.bulk.tensor.2d",
	  "shared::cluster shared::cta global tile mbarrier::complete_tx::bytes", 5, 5,
	  bulk_begin },
	{ "cp.async.bulk.tensor.3d",
	  "shared::cluster shared::cta global tile mbarrier::complete_tx::bytes", 6, 6,
	  bulk_begin },
	{ "cp.async.bulk.tensor.4d",
	  "shared::cluster shared::cta global tile mbarrier::complete_tx::bytes", 7, 7,
	  bulk_begin },
	{ "cp.async.bulk.tensor.5d",
	  "shared::cluster shared::cta global tile mbarrier::complete_tx::bytes", 8, 8,
	  bulk_begin },
	{ "fence.proxy.async", "global shared::cta", 0, 0, fence_proxy },
	{ "fence.mbarrier_init.release.cluster", "", 0, 0, fence_mbarrier },
	{ "prefetch.tensormap", "", 1, 1, bulk_nothing },
	{ "prefetch.param.tensormap", "", 1, 1, bulk_nothing },
};

/* Behind a word of `list`; NULL: it is not there. */
static const char *bulk_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n) {
		if ((at == list || at[-1] == ' ' || at[-1] == '.') &&
		    (!at[n] || at[n] == ' ' || at[n] == '.')) {
			return at + n;
		}
	}
	return NULL;
}

static bool bulk_is(const struct bulk_row *row, const struct ptx_insn *in)
{
	const char *at = row->front;
	uint32_t i = 0;

	for (; *at; i++) {
		size_t n = i < in->n_word ? strlen(in->word[i]) : 0;

		if (!n || strncmp(at, in->word[i], n) || (at[n] && at[n] != '.')) {
			return false;
		}
		at += n + (at[n] == '.');
	}
	for (at = row->rest; i < in->n_word && at; i++) {
		at = bulk_word(at, in->word[i]);
	}
	return at != NULL;
}

ptx_do *ptx_find_bulk(struct ptx_insn *in)
{
	for (uint32_t i = 0; i < HN_COUNT_OF(bulk_rows); i++) {
		const struct bulk_row *row = &bulk_rows[i];

		if (in->n_op >= row->least && in->n_op <= row->most && bulk_is(row, in)) {
			return row->run;
		}
	}
	return NULL;
}
