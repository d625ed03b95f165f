/* lower/npu/product_terms.c -- terms of a product split over cores: each core stores sums of its terms to
 * scratch, and when all have met, cores that share the result anew add them up.
 *
 * Scratch has, for each batch and column of fractals, the sums of all parts of the terms one after the
 * other, with all rows.  So a column's sums are one transfer.  They are added by halves, always the same
 * ones: whatever the order of cores and pipes, the answer is the same.
 */
#include <math.h>
#include <string.h>

#include "lower/npu/cube_after.h"

enum { SUM_ROW = 16 * CUBE_SUM }; /* bytes */

static int64_t rows_of(const struct cube *x)
{
	return cube_up(x->t->m, 16);
}

/* From column to column of fractals. */
static int64_t column_bytes(const struct cube *x)
{
	return x->n_sums * rows_of(x) * SUM_ROW;
}

static const char *type_of(const struct cube *x)
{
	return hn_npu_type_word(x->t->dtype == HN_I8 ? HN_I32 : HN_F32);
}

int64_t cube_sums_bytes(const struct cube *x)
{
	return hn_mul_sat(hn_mul_sat(hn_npu_batches(x->t), hn_ceildiv(x->t->n, 16)),
			  hn_mul_sat(x->n_sums, rows_of(x) * SUM_ROW));
}

static int reg_of_sums(const struct cube *x)
{
	int reg = CUBE_RESULTS + (int)x->t->n_store;

	for (uint32_t i = 0; i < x->t->n_value; i++) {
		reg += x->t->value[i].loaded;
	}
	return reg;
}

/* Where they begin for the core's rows and columns, of the batch that CUBE_T1 has. */
void cube_sums_register(struct cube *x)
{
	int reg = reg_of_sums(x);

	hn_buf_printf(x->text, "mul r%d r%d " N64 "\nadd r%d r%d r%d\nmul r%d r%d " N64 "\nmul r%d r%d %d\nadd r%d r%d r%d\n",
		      CUBE_T2, CUBE_T1, hn_ceildiv(x->t->n, 16), CUBE_T2, CUBE_T2, CUBE_COLUMN, reg, CUBE_T2,
		      column_bytes(x), CUBE_T2, CUBE_ROW, 16 * SUM_ROW, reg, reg, CUBE_T2);
}

/* -- to scratch ------------------------------------------------------------------------- */

/* Sums of a tile, which are those of part[3] of the terms. */
void cube_put_sums(struct cube *x, const struct cube_step *s)
{
	int64_t m1 = hn_ceildiv(s->rows, 16), number = x->part[3].first / x->terms;

	cube_batch(x, s->batch, true);
	for (int64_t c = 0; c < s->columns; c += x->piece) {
		int64_t n1 = hn_ceildiv(cube_least(x->piece, s->columns - c), 16);
		int64_t at = x->fixed + x->n_piece++ % x->copies * x->ub_bytes;

		hn_buf_printf(x->text, "vdrain.%s.%s ub[" N64 "] l0c[" N64 "] n " N64 "\nstore w[r%d+" N64 "] ub[" N64
			      "] n " N64 " burst " N64 " from " N64 " to " N64 "\n", type_of(x), type_of(x), at,
			      x->n_c % x->p->slots_l0c * x->l0_c + c / 16 * m1 * 256 * CUBE_SUM, n1 * m1, reg_of_sums(x),
			      (s->column + c) / 16 * column_bytes(x) + (number * rows_of(x) + s->row) * SUM_ROW, at, n1,
			      m1 * 16 * SUM_ROW, m1 * 16 * SUM_ROW, column_bytes(x));
	}
	x->n_c++;
}

/* -- and back --------------------------------------------------------------------------- */

static void add(struct cube *x, int64_t to, int64_t a, int64_t b, int64_t repeats)
{
	for (int64_t i = 0; i < repeats; i += CUBE_MOST_REPEATS) {
		int64_t at = i * CUBE_REPEAT;

		hn_buf_printf(x->text, "vadd.%s ub[" N64 "] ub[" N64 "] ub[" N64 "] rep " N64 "\n", type_of(x), to + at,
			      a + at, b + at, cube_least(repeats - i, CUBE_MOST_REPEATS));
	}
}

/* The sums of a column, to where the piece has them: as they are, or converted. */
static void add_up(struct cube *x, int64_t to, int64_t at, int64_t m1)
{
	enum hn_dtype type = (enum hn_dtype)x->t->value[0].dtype;
	bool same = strcmp(hn_npu_type_word(type), type_of(x)) == 0;
	int64_t one = m1 * 16 * SUM_ROW, n = x->n_sums;

	while (n > 1) {
		int64_t half = (n + 1) / 2;

		add(x, half == 1 && same ? to : at, at, at + half * one, (n - half) * one / CUBE_REPEAT);
		n = half;
	}
	for (int64_t i = 0; i < m1 * 4 && !same; i += CUBE_MOST_REPEATS) {
		hn_buf_printf(x->text, "vconv.%s.%s ub[" N64 "] ub[" N64 "] rep " N64 "\n", hn_npu_type_word(type),
			      type_of(x), to + i * 64 * hn_dtype_bytes(type), at + i * CUBE_REPEAT,
			      cube_least(m1 * 4 - i, CUBE_MOST_REPEATS));
	}
}

void cube_take_sums(struct cube *x, const struct cube_piece *p)
{
	int64_t at = p->base + x->sums_at, to = p->base + x->at[0], one = p->m1 * 16 * SUM_ROW;
	int64_t from = (p->s->column + p->column) / 16 * column_bytes(x) + p->s->row * SUM_ROW;
	bool whole = one == rows_of(x) * SUM_ROW;

	for (int64_t c = 0; c < (whole ? 1 : p->n1); c++) {
		hn_buf_printf(x->text, "load ub[" N64 "] w[r%d+" N64 "] n " N64 " burst " N64 " from " N64 "\n",
			      at + c * x->n_sums * one, reg_of_sums(x), from + c * column_bytes(x),
			      whole ? p->n1 : x->n_sums, whole ? x->n_sums * one : one,
			      whole ? column_bytes(x) : rows_of(x) * SUM_ROW);
	}
	for (int64_t c = 0; c < p->n1; c++) {
		add_up(x, to + c * p->m1 * 256 * cube_value_bytes(&x->t->value[0]), at + c * x->n_sums * one, p->m1);
	}
}

/* -- which core adds up what ------------------------------------------------------------ */

/* Cycles of a core, as many rows and columns at a time as there is room for; -1: there is none. */
static double room(struct cube *x, struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = x->m;
	int64_t rows = cube_least(x->rows, cube_up(x->t->m, 16)), columns = cube_least(x->columns, cube_up(x->t->n, 16));
	double transfers, bytes, repeats, steps = ceil(log2((double)x->n_sums));

	for (p->m0 = rows, p->n0 = columns;; ) {
		x->piece = p->n0;
		x->ub_bytes = cube_place(x, x->piece);
		x->sums_at = x->ub_bytes;
		x->ub_bytes += x->n_sums * p->m0 * x->piece * CUBE_SUM;
		x->copies = x->ub_bytes * 2 + x->fixed > m->ub_bytes ? 1 : 2;
		if (x->ub_bytes + x->fixed <= m->ub_bytes) {
			break;
		}
		if (p->n0 > 16) {
			p->n0 = cube_up(p->n0 / 2, 16);
		} else if (p->m0 > 16) {
			p->m0 = cube_up(p->m0 / 2, 16);
		} else {
			return -1;
		}
	}
	transfers = (double)(x->batches * hn_ceildiv(rows, p->m0)) *
		    (double)(rows_of(x) == p->m0 ? hn_ceildiv(columns, p->n0) : columns / 16);
	bytes = (double)(x->batches * rows * columns) * CUBE_SUM;
	repeats = bytes / CUBE_REPEAT;
	return transfers * ((double)m->gm_latency + (double)(x->n_sums * m->gm_gap) +
			    steps * (double)(m->vector_start + m->vector_drain)) +
	       bytes * (double)x->n_sums / (double)m->gm_burst + repeats * 2 * (double)x->n_sums +
	       bytes / (double)m->gm_rate + (double)(x->batches * rows * m->gm_gap * x->t->n_store);
}

/* So many that each has about the same, of n parts. */
static int64_t balanced(int64_t n, int64_t cores)
{
	return hn_ceildiv(n, hn_ceildiv(n, cube_least(n, cores)));
}

static void take_if_better(const struct cube *first, const struct hn_npu_product *like, struct cube *best,
			   struct hn_npu_product *ret, double *least)
{
	struct hn_npu_product p = *like;
	struct cube y = { .p = &p, .m = first->m, .t = first->t, .text = first->text };
	double t;

	if (!cube_share(&y)) {
		return;
	}
	y.n_sums = first->n_sums;
	t = room(&y, &p);
	if (t >= 0 && (*least < 0 || t < *least)) {
		*least = t;
		*ret = p;
		*best = y;
		best->p = ret;
	}
}

double cube_second(const struct cube *x, struct cube *ret, struct hn_npu_product *p)
{
	int64_t all_m = hn_ceildiv(x->t->m, 16), all_n = hn_ceildiv(x->t->n, 16), all_b = hn_npu_batches(x->t);
	struct hn_npu_product like = *x->p;
	double least = -1;

	like.cores_k = 1;
	like.k1 = x->t->k; /* all at once */
	like.edges = false;
	for (like.cores_b = balanced(all_b, x->m->cores); like.cores_b > 0;
	     like.cores_b = like.cores_b > 1 ? balanced(all_b, like.cores_b / 2) : 0) {
		int64_t left = x->m->cores / like.cores_b;

		for (like.cores_m = balanced(all_m, left); like.cores_m > 0;
		     like.cores_m = like.cores_m > 1 ? balanced(all_m, like.cores_m / 2) : 0) {
			like.cores_n = balanced(all_n, left / like.cores_m);
			take_if_better(x, &like, ret, p, &least);
			like.cores_n = 1;
			take_if_better(x, &like, ret, p, &least);
		}
	}
	return least;
}

/* What the sums take on their second way, in instructions of a core. */
int64_t cube_second_insns(const struct cube *y)
{
	int64_t columns = hn_ceildiv(y->columns, 16), tiles = hn_mul_sat(y->batches, hn_ceildiv(y->rows, y->p->m0));
	int64_t of_a_column = 8, one = y->p->m0 * SUM_ROW / CUBE_REPEAT / CUBE_MOST_REPEATS + 1;

	for (int64_t n = y->n_sums; n > 1; n = (n + 1) / 2) {
		of_a_column += 3 + n / 2 * one;
	}
	return hn_mul_sat(tiles, columns * (of_a_column + 2 * one));
}
