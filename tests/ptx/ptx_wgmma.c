/* ptx_wgmma.c -- products of warpgroups, wgmma: the product is begun, and comes later.  Each
 * warp does its own sixteen rows.  Where matrices lie in shared memory ptx_matrix.c reads.
 *
 * More is checked than a GPU does: warps of a group say the same; what is read was handed over by a
 * proxy fence; accumulators that changed between two products changed before a wgmma.fence.  A wait
 * that was forgotten is seen in the values: products come as late as they may, or at once.
 *
 * Sums are float32, in the order of the sum's index, the accumulator added last.
 *
 * Source: Parallel Thread Execution ISA 8.5, "Asynchronous warpgroup level matrix multiply-accumulate
 * instructions". */
#include <stdlib.h>

#include "base/cdefs.h"
#include "tests/ptx/ptx_tensor.h"

#define GROUP_WARPS 4
#define MAX_N PTX_MATRIX_ROWS
#define MAX_K 32
#define ROWS 16 /* of a warp */

typedef float wgmma_four __attribute__((vector_size(16)));

struct wgmma_product {
	struct ptx_matrix a, b;
	enum ptx_kind of_a, of_b;
	uint32_t n, k;
	uint32_t n_sum,
		a_reg; /* registers of the sum; operands that hold A, 0: it is in memory */
	char sum;      /* 'f': f32; 'h': f16; 's': s32 */
	bool add;      /* to what the accumulators hold */
	float sign;
	uint32_t fences; /* of the warp when it began */
};

/* -- the product ------------------------------------------------------------------------------ */

/* A's sixteen rows of this warp, from memory or registers, each number four times. */
static enum ptx_did wgmma_left(struct ptx_warp *w, const struct ptx_insn *in,
			       const struct wgmma_product *p, wgmma_four *left)
{
	uint32_t at[ROWS], each = 4 / ptx_kind_bytes(p->of_a);
	float value[MAX_K * ROWS];

	for (uint32_t r = 0; r < ROWS; r++) {
		at[r] = r;
	}
	if (!p->a_reg) {
		enum ptx_did did =
			ptx_matrix_read(w, in, &p->a, p->of_a, w->index % 4 * ROWS, ROWS,
					p->k, value, at, ROWS);

		if (did != PTX_DONE) {
			return did;
		}
	}
	for (uint32_t r = 0; r < p->a_reg; r++) {
		const union ptx_reg *reg = &w->reg[in->op[p->n_sum + r].reg];

		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			uint32_t k = (r / 2 * 4 + lane % 4) * each;

			ptx_widen(&value[k * ROWS + lane / 4 + r % 2 * 8], ROWS,
				  &reg->u[lane], each, p->of_a);
		}
	}
	for (uint32_t i = 0; i < p->k * ROWS; i++) {
		left[i] = (wgmma_four){ value[i], value[i], value[i], value[i] };
	}
	return PTX_DONE;
}

/* Sums of 32 lanes are those of a register, `half` and `odd` being its column's and row's part of its
 * number: lane 4 g + q has row g + 8 half and column 2 q + odd of eight. */
static void wgmma_sums(float *sum, const wgmma_four *left, const wgmma_four *right,
		       uint32_t n_k, float sign)
{
	wgmma_four s[8] = { { 0 } };

	for (uint32_t k = 0; k < n_k; k++) {
		for (uint32_t g = 0; g < 8; g++) {
			s[g] += left[k * ROWS + g] * right[k];
		}
	}
	for (uint32_t g = 0; g < 8; g++) {
		s[g] *= sign;
	}
	memcpy(sum, s, sizeof s);
}

static void wgmma_put(union ptx_reg *d, const struct wgmma_product *p, const float *sum,
		      bool high)
{
	uint32_t keep = p->add ? UINT32_MAX : 0, shift = high ? 16 : 0;

	if (p->sum == 'f') {
		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			d->f[lane] = hn_float_of_bits(d->u[lane] & keep) + sum[lane];
		}
	} else if (p->sum == 's') {
		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			d->u[lane] = (d->u[lane] & keep) + (uint32_t)(int32_t)sum[lane];
		}
	} else {
		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			uint16_t old = (uint16_t)((d->u[lane] & keep) >> shift);
			uint32_t bits =
				hn_half_of_float(hn_half_to_float(old) + sum[lane]);

			d->u[lane] = (d->u[lane] & ~(0xffffU << shift)) | bits << shift;
		}
	}
}

/* A mark of what the accumulators hold. */
static uint32_t wgmma_mark(const struct ptx_warp *w, const struct ptx_insn *in,
			   uint32_t n)
{
	uint32_t mark[PTX_LANES] = { 0 }, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *u = w->reg[in->op[i].reg].u;

		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			mark[lane] = (mark[lane] << 5 | mark[lane] >> 27) ^ u[lane];
		}
	}
	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		all = all * 0x01000193 ^ mark[lane];
	}
	return all;
}

/* The accumulators' last product; of a warp that has more accumulators than we look after, the oldest
 * is forgotten. */
static struct ptx_sum *wgmma_last(struct ptx_warp *w, uint32_t reg)
{
	struct ptx_wgmma *seen = &w->wgmma;

	for (uint32_t i = 0; i < HN_COUNT_OF(seen->sum); i++) {
		if (seen->sum[i].reg == reg) {
			return &seen->sum[i];
		}
	}
	seen->next_sum = (seen->next_sum + 1) % (uint32_t)HN_COUNT_OF(seen->sum);
	seen->sum[seen->next_sum] = (struct ptx_sum){ .reg = reg };
	return &seen->sum[seen->next_sum];
}

static enum ptx_did wgmma_multiply(struct ptx_warp *w, const struct ptx_insn *in,
				   const struct wgmma_product *p)
{
	wgmma_four left[MAX_K * ROWS], right[MAX_N / 4 * MAX_K];
	uint32_t at[MAX_N];
	struct ptx_sum *last = wgmma_last(w, in->op[0].reg);
	enum ptx_did did;
	float sum[PTX_LANES];

	if (last->fences == p->fences && last->mark != wgmma_mark(w, in, p->n_sum)) {
		return ptx_fault(w, in, 0,
				 "accumulators changed since the product before, and "
				 "no wgmma.fence, or while it was under way");
	}
	for (uint32_t n = 0; n < p->n;
	     n++) { /* columns 0, 2, 4, 6 of eight, then the odd ones */
		at[n] = ((n / 8 * 2 + n % 2) * p->k) * 4 + n % 8 / 2;
	}
	did = wgmma_left(w, in, p, left);
	if (did == PTX_DONE) {
		did = ptx_matrix_read(w, in, &p->b, p->of_b, 0, p->n, p->k,
				      (float *)right, at, 4);
	}
	if (did != PTX_DONE) {
		return did;
	}
	for (uint32_t i = 0; i < p->n / 2;
	     i++) { /* of eight columns: both halves, even and odd */
		uint32_t half = i / 2 % 2, odd = i % 2;

		wgmma_sums(sum, left + 8 * half, right + (i / 4 * 2 + odd) * p->k, p->k,
			   p->sign);
		wgmma_put(&w->reg[in->op[p->sum == 'h' ? i / 2 : i].reg], p, sum,
			  p->sum == 'h' && odd);
	}
	last->fences = p->fences;
	last->mark = wgmma_mark(w, in, p->n_sum);
	w->block->counts->products++;
	return PTX_DONE;
}

static enum ptx_did wgmma_come(struct ptx_warp *w, struct ptx_late *late)
{
	struct wgmma_product p;

	memcpy(&p, late->data, sizeof p);
	return wgmma_multiply(w, late->in, &p);
}

/* -- instructions ----------------------------------------------------------------------------- */

/* Warps of a group come to the same instructions, with the same `what`. */
static enum ptx_did wgmma_agree(struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t mask, uint64_t what)
{
	struct ptx_warp *group = w->block->warp + (w->index & ~(GROUP_WARPS - 1U));
	struct ptx_wgmma *seen = &w->wgmma;
	uint64_t kept = HN_COUNT_OF(seen->said);

	if (mask != PTX_ALL || (w->index | (GROUP_WARPS - 1)) >= w->block->n_warp) {
		return ptx_fault(w, in, 0,
				 "by less than a warpgroup: lanes %08x of warp %u, the "
				 "block has %u warps",
				 mask, w->index, w->block->n_warp);
	}
	what ^= in->line * 0x9e3779b97f4a7c15U;
	for (uint32_t i = 0; i < GROUP_WARPS; i++) {
		const struct ptx_wgmma *other = &group[i].wgmma;
		uint64_t ahead = other->n_said - seen->n_said;

		if (other->n_said <= seen->n_said && group[i].ended == PTX_ALL) {
			return ptx_fault(w, in, 0, "warp %u of the group has ended",
					 group[i].index);
		}
		if (other->n_said > seen->n_said && ahead <= kept &&
		    other->said[seen->n_said % kept] != what) {
			return ptx_fault(w, in, 0,
					 "warp %u of the group came to another "
					 "instruction, or with other operands",
					 group[i].index);
		}
	}
	seen->said[seen->n_said++ % kept] = what;
	return PTX_DONE;
}

/* A register that is the same in all lanes. */
static bool wgmma_same(const struct ptx_warp *w, const struct ptx_insn *in,
		       const struct ptx_operand *o, uint64_t *value)
{
	*value = ptx_value(w, o, 0);
	for (uint32_t lane = 1; lane < PTX_LANES; lane++) {
		if (ptx_value(w, o, lane) != *value) {
			ptx_fault(w, in, lane, "operand %u is not the same in all lanes",
				  (uint32_t)(o - in->op) + 1);
			return false;
		}
	}
	return true;
}

/* The form: m64nNkK.SUM.A.B; false: there is no such. */
static bool wgmma_form(const struct ptx_insn *in, struct wgmma_product *p)
{
	const char *sum = in->word[5];
	char *end;

	*p = (struct wgmma_product){ .of_a = ptx_kind_of(in->word[6]),
				     .of_b = ptx_kind_of(in->word[7]),
				     .sum = !strcmp(sum, "f32")	  ? 'f'
					    : !strcmp(sum, "f16") ? 'h'
								  : 's' };
	if (strncmp(in->word[4], "m64n", 4)) {
		return false;
	}
	p->n = (uint32_t)strtoul(in->word[4] + 4, &end, 10);
	p->k = *end == 'k' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
	if (*end || !p->of_a || p->k * ptx_kind_bytes(p->of_a) != 32 || !p->n ||
	    p->n % 8 || p->n > MAX_N) {
		return false;
	}
	p->n_sum = p->sum == 'h' ? p->n / 4 : p->n / 2;
	if (ptx_kind_whole(p->of_a)) {
		return !strcmp(sum, "s32") && ptx_kind_whole(p->of_b) &&
		       (p->n <= 32 || p->n % 16 == 0);
	}
	return p->of_a == p->of_b &&
	       (p->sum == 'f' || (p->sum == 'h' && p->of_a == PTX_F16));
}

/* An immediate that is one of two. */
static bool wgmma_either(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t i,
			 int32_t one, int32_t other, int32_t *value)
{
	const struct ptx_operand *o = &in->op[i];

	*value = (int32_t)ptx_value(w, o, 0);
	if (!o->constant || (*value != one && *value != other)) {
		ptx_fault(w, in, 0, "operand %u is %d or %d", i + 1, one, other);
		return false;
	}
	return true;
}

/* The operands: the sum, A in four registers or its descriptor, B's, whether to add; of floats, two
 * signs; of 16 bits, whether A (in memory) and B lie across. */
static bool wgmma_operands(const struct ptx_warp *w, const struct ptx_insn *in,
			   struct wgmma_product *p, uint64_t *what)
{
	uint32_t i = p->n_sum, extra;
	uint64_t a = 0, b, add;
	int32_t sign[2] = { 1, 1 }, across[2] = { 0, 0 };

	p->a_reg = in->n_op > i && in->op[i].group ? 4 : 0;
	i += p->a_reg ? 4 : 1;
	extra = ptx_kind_whole(p->of_a) ? 0 : p->of_a == PTX_TF32 ? 2 : p->a_reg ? 3 : 4;
	if (in->n_op != i + 2 + extra || !in->op[0].group ||
	    in->op[0].group != in->op[p->n_sum - 1].group || in->op[i].group ||
	    in->op[p->n_sum].group == in->op[0].group || !in->op[i].wide ||
	    (!p->a_reg && !in->op[i - 1].wide)) {
		ptx_fault(w, in, 0,
			  "%u registers of the sum, A, B, and %u more are wanted",
			  p->n_sum, 1 + extra);
		return false;
	}
	if ((!p->a_reg && !wgmma_same(w, in, &in->op[i - 1], &a)) ||
	    !wgmma_same(w, in, &in->op[i], &b) ||
	    !wgmma_same(w, in, &in->op[i + 1], &add) ||
	    (extra && (!wgmma_either(w, in, i + 2, 1, -1, &sign[0]) ||
		       !wgmma_either(w, in, i + 3, 1, -1, &sign[1]))) ||
	    (extra == 4 && !wgmma_either(w, in, i + 4, 0, 1, &across[0])) ||
	    (extra > 2 && !wgmma_either(w, in, i + 1 + extra, 0, 1, &across[1]))) {
		return false;
	}
	p->a = ptx_matrix(a, across[0]);
	p->b = ptx_matrix(b, across[1]);
	p->add = add & 1;
	p->sign = (float)(sign[0] * sign[1]);
	*what = a * 0xbf58476d1ce4e5b9U ^ b * 0x94d049bb133111ebU ^ add;
	return true;
}

static enum ptx_did wgmma_begin(struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t mask)
{
	struct wgmma_product p;
	struct ptx_late *late;
	uint64_t what;

	if (!wgmma_form(in, &p) || !wgmma_operands(w, in, &p, &what) ||
	    wgmma_agree(w, in, mask, what) != PTX_DONE) {
		return PTX_FAULT;
	}
	if (!w->wgmma.fences) {
		return ptx_fault(w, in, 0, "no wgmma.fence before the first product");
	}
	p.fences = w->wgmma.fences;
	if (!w->products.first && hn_rng_below(&w->block->rng, 2)) {
		return wgmma_multiply(w, in, &p);
	}
	late = ptx_begin(&w->products, in, mask, sizeof p);
	late->come = wgmma_come;
	memcpy(late->data, &p, sizeof p);
	return PTX_DONE;
}

static enum ptx_did wgmma_fence(struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t mask)
{
	w->wgmma.fences++;
	return wgmma_agree(w, in, mask, 0);
}

static enum ptx_did wgmma_commit(struct ptx_warp *w, const struct ptx_insn *in,
				 uint32_t mask)
{
	if (wgmma_agree(w, in, mask, 0) != PTX_DONE) {
		return PTX_FAULT;
	}
	ptx_commit(&w->products);
	return hn_rng_below(&w->block->rng, 4)
		       ? PTX_DONE
		       : ptx_come(w, &w->products, w->products.groups);
}

static enum ptx_did wgmma_wait(struct ptx_warp *w, const struct ptx_insn *in,
			       uint32_t mask)
{
	uint32_t left, groups = w->products.groups;

	if (in->n_op != 1 || !in->op[0].constant) {
		return ptx_fault(w, in, 0, "a number of groups is wanted");
	}
	if (wgmma_agree(w, in, mask, 0) != PTX_DONE) {
		return PTX_FAULT;
	}
	left = (uint32_t)ptx_value(w, &in->op[0], 0);
	return ptx_come(w, &w->products, groups > left ? groups - left : 0);
}

/* Registers go to the block's pool, or come from it when it has them: counted for a lane, by warps. */
static enum ptx_did wgmma_registers(struct ptx_warp *w, const struct ptx_insn *in,
				    uint32_t mask)
{
	bool more = !strcmp(in->word[1], "inc");
	uint32_t n = in->n_op == 1 ? (uint32_t)ptx_value(w, &in->op[0], 0) : 0;

	if (n < 24 || n > 256 || n % 8 || !in->op[0].constant) {
		return ptx_fault(w, in, 0, "a multiple of 8 from 24 to 256 is wanted");
	}
	if (more ? n < w->registers : n > w->registers) {
		return ptx_fault(w, in, 0, "%u registers, and the warp has %u", n,
				 w->registers);
	}
	if (more && w->block->pool < n - w->registers) {
		return PTX_AGAIN;
	}
	if (wgmma_agree(w, in, mask, n) != PTX_DONE) {
		return PTX_FAULT;
	}
	w->block->pool += w->registers - n;
	w->registers = n;
	return PTX_DONE;
}

static const struct wgmma_row {
	const char *name[5]; /* of words; NULL: not looked at */
	uint32_t words;
	ptx_do *run;
} wgmma_rows[] = {
	{ { "wgmma", "mma_async", "sync", "aligned", NULL }, 8, wgmma_begin },
	{ { "wgmma", "fence", "sync", "aligned", NULL }, 4, wgmma_fence },
	{ { "wgmma", "commit_group", "sync", "aligned", NULL }, 4, wgmma_commit },
	{ { "wgmma", "wait_group", "sync", "aligned", NULL }, 4, wgmma_wait },
	{ { "setmaxnreg", "inc", "sync", "aligned", "u32" }, 5, wgmma_registers },
	{ { "setmaxnreg", "dec", "sync", "aligned", "u32" }, 5, wgmma_registers },
};

ptx_do *ptx_find_wgmma(struct ptx_insn *in)
{
	struct wgmma_product p;

	for (uint32_t i = 0; i < HN_COUNT_OF(wgmma_rows); i++) {
		const struct wgmma_row *row = &wgmma_rows[i];
		bool same = row->words == in->n_word;

		for (uint32_t j = 0; j < 5 && same; j++) {
			same = !row->name[j] || !strcmp(row->name[j], in->word[j]);
		}
		if (same && (row->run != wgmma_begin || wgmma_form(in, &p))) {
			in->together = true;
			return row->run;
		}
	}
	return NULL;
}
