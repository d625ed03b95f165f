/* ptx_mma.c -- a warp's products of small matrices, mma.sync, and ldmatrix, which brings
 * their factors.  Where an element lies among lanes and registers is one rule for all shapes: a lane
 * is a row (or a column of the second factor) and one of four places along the sum, and a register
 * holds as many elements of that place as fit.
 *
 * Sums are float32, in the order of the sum's index, the third operand added last.
 *
 * Source: Parallel Thread Execution ISA 8.5, "Matrix multiply-accumulate operation using mma
 * instruction", "ldmatrix". */
#include "base/cdefs.h"
#include "tests/ptx/ptx_tensor.h"

#define MMA_M 16
#define MMA_N 8
#define MMA_MAX_K 32

static const struct mma_form {
	const char *shape;
	uint32_t k;
	const char *sum;    /* the type of the product and of what is added */
	enum ptx_kind kind; /* of the factors; of integers, signed or not */
} mma_forms[] = {
	{ "m16n8k16", 16, "f32", PTX_BF16 }, { "m16n8k16", 16, "f32", PTX_F16 },
	{ "m16n8k16", 16, "f16", PTX_F16 },  { "m16n8k8", 8, "f32", PTX_BF16 },
	{ "m16n8k8", 8, "f32", PTX_F16 },    { "m16n8k8", 8, "f16", PTX_F16 },
	{ "m16n8k8", 8, "f32", PTX_TF32 },   { "m16n8k4", 4, "f32", PTX_TF32 },
	{ "m16n8k16", 16, "s32", PTX_S8 },   { "m16n8k32", 32, "s32", PTX_S8 },
};

/* mma.sync.aligned.SHAPE.row.col.SUM.A.B.SUM */
static const struct mma_form *mma_form(const struct ptx_insn *in)
{
	enum ptx_kind a, b;

	if (in->n_word != 10 || strcmp(in->word[4], "row") ||
	    strcmp(in->word[5], "col") || strcmp(in->word[6], in->word[9])) {
		return NULL;
	}
	a = ptx_kind_of(in->word[7]);
	b = ptx_kind_of(in->word[8]);
	if (a != b && !(ptx_kind_whole(a) && ptx_kind_whole(b))) {
		return NULL;
	}
	for (uint32_t i = 0; i < HN_COUNT_OF(mma_forms); i++) {
		const struct mma_form *f = &mma_forms[i];

		if (!strcmp(f->shape, in->word[3]) && !strcmp(f->sum, in->word[6]) &&
		    (f->kind == a || (f->kind == PTX_S8 && a == PTX_U8))) {
			return f;
		}
	}
	return NULL;
}

/* The first factor [row][k], the second [k][column], from their registers. */
static void mma_factors(const struct ptx_warp *w, const struct ptx_insn *in,
			const struct ptx_operand *a, const struct ptx_operand *b,
			uint32_t k, float (*left)[MMA_MAX_K], float (*right)[MMA_N])
{
	enum ptx_kind of_a = ptx_kind_of(in->word[7]), of_b = ptx_kind_of(in->word[8]);
	uint32_t each = 4 / ptx_kind_bytes(of_a); /* elements of a register */

	for (uint32_t r = 0; r < k / (4 * each); r++) {
		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			uint32_t row = lane / 4, at = (r * 4 + lane % 4) * each, value;

			value = w->reg[a[2 * r].reg].u[lane];
			ptx_widen(&left[row][at], 1, &value, each, of_a);
			value = w->reg[a[2 * r + 1].reg].u[lane];
			ptx_widen(&left[row + 8][at], 1, &value, each, of_a);
			value = w->reg[b[r].reg].u[lane];
			ptx_widen(&right[at][row], MMA_N, &value, each, of_b);
		}
	}
}

/* The sum's registers: f32 and s32 have rows' columns 0, 1, then those of eight rows below; f16 the
 * same with both columns in one. */
static void mma_add(struct ptx_warp *w, const struct ptx_operand *d,
		    const struct ptx_operand *c, const char *sum, float (*product)[MMA_N])
{
	for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
		uint32_t column = lane % 4 * 2;

		for (uint32_t half = 0; half < 2; half++) {
			const float *p = &product[lane / 4 + 8 * half][column];
			uint32_t old, bits;

			if (!strcmp(sum, "f16")) {
				old = w->reg[c[half].reg].u[lane];
				bits = hn_half_of_float(p[0] +
							hn_half_to_float((uint16_t)old));
				bits |= (uint32_t)hn_half_of_float(
						p[1] +
						hn_half_to_float((uint16_t)(old >> 16)))
					<< 16;
				w->reg[d[half].reg].u[lane] = bits;
				continue;
			}
			for (uint32_t i = 0; i < 2; i++) {
				old = w->reg[c[2 * half + i].reg].u[lane];
				w->reg[d[2 * half + i].reg].u[lane] =
					!strcmp(sum, "s32")
						? old + (uint32_t)(int32_t)p[i]
						: hn_float_bits(p[i] +
								hn_float_of_bits(old));
			}
		}
	}
}

/* Lanes read their own registers before any is written: the four sums' registers may be the same. */
static enum ptx_did mma_do(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	const struct mma_form *f = mma_form(in);
	uint32_t n_sum = !strcmp(f->sum, "f16") ? 2 : 4,
		 n_b = f->k * ptx_kind_bytes(f->kind) / 16;
	const struct ptx_operand *d = in->op, *a = d + n_sum, *b = a + 2 * n_b,
				 *c = b + n_b;
	float left[MMA_M][MMA_MAX_K], right[MMA_MAX_K][MMA_N], product[MMA_M][MMA_N];

	if (mask != PTX_ALL) {
		return ptx_fault(w, in, 0, "mma.sync by lanes %08x alone", mask);
	}
	if (in->n_op != 2 * n_sum + 3 * n_b || d->group != d[n_sum - 1].group ||
	    a->group != a[2 * n_b - 1].group || b->group != b[n_b - 1].group ||
	    d->group == a->group || a->group == b->group || b->group == c->group ||
	    !c->group) {
		return ptx_fault(w, in, 0, "%s has %u, %u, %u and %u registers", f->shape,
				 n_sum, 2 * n_b, n_b, n_sum);
	}
	mma_factors(w, in, a, b, f->k, left, right);
	for (uint32_t m = 0; m < MMA_M; m++) {
		float sum[MMA_N] = { 0 };

		for (uint32_t k = 0; k < f->k; k++) {
			for (uint32_t n = 0; n < MMA_N; n++) {
				sum[n] += left[m][k] * right[k][n];
			}
		}
		memcpy(product[m], sum, sizeof sum);
	}
	mma_add(w, d, c, f->sum, product);
	w->block->counts->products++;
	return PTX_DONE;
}

/* Lanes 8 i to 8 i + 7 have the addresses of matrix i's rows, 16 bytes each.  A lane gets the two
 * elements of its row, lane / 4, from column 2 (lane % 4); of the transposed matrix, those of its
 * column, lane / 4, from row 2 (lane % 4). */
static enum ptx_did ldmatrix_do(struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t mask)
{
	uint32_t n = (uint32_t)(in->word[4][1] - '0');
	uint16_t element[4][8][8];
	bool trans = ptx_has(in, "trans");

	if (mask != PTX_ALL) {
		return ptx_fault(w, in, 0, "ldmatrix by lanes %08x alone", mask);
	}
	if (in->n_op != n + 1 || !in->op[n].address) {
		return ptx_fault(w, in, 0, "ldmatrix.x%u has %u registers and an address",
				 n, n);
	}
	for (uint32_t lane = 0; lane < 8 * n; lane++) {
		const void *row =
			ptx_shared(w, in, lane, ptx_value(w, &in->op[n], lane), 16, 16);

		if (!row) {
			return PTX_FAULT;
		}
		memcpy(element[lane / 8][lane % 8], row, 16);
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
			uint32_t across = lane / 4, along = lane % 4 * 2, low, high;

			low = trans ? element[i][along][across]
				    : element[i][across][along];
			high = trans ? element[i][along + 1][across]
				     : element[i][across][along + 1];
			w->reg[in->op[i].reg].u[lane] = low | high << 16;
		}
	}
	return PTX_DONE;
}

/* ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16 */
static bool ldmatrix_known(const struct ptx_insn *in)
{
	uint32_t space;

	if (in->n_word < 7 || strcmp(in->word[3], "m8n8") ||
	    (strcmp(in->word[4], "x1") && strcmp(in->word[4], "x2") &&
	     strcmp(in->word[4], "x4"))) {
		return false;
	}
	space = strcmp(in->word[5], "trans") ? 5 : 6;
	return in->n_word == space + 2 && !strcmp(in->word[space + 1], "b16") &&
	       (!strcmp(in->word[space], "shared") ||
		!strcmp(in->word[space], "shared::cta"));
}

ptx_do *ptx_find_mma(struct ptx_insn *in)
{
	ptx_do *run = NULL;

	if (in->n_word < 3 || strcmp(in->word[1], "sync") ||
	    strcmp(in->word[2], "aligned")) {
		return NULL;
	}
	if (!strcmp(in->word[0], "mma") && mma_form(in)) {
		run = mma_do;
	} else if (!strcmp(in->word[0], "ldmatrix") && ldmatrix_known(in)) {
		run = ldmatrix_do;
	}
	in->together = run != NULL;
	return run;
}
