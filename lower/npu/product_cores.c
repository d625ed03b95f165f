/* lower/npu/product_cores.c -- which part of a product each core has, so that no two of them write to a block
 * of 32 bytes.
 *
 * Rows and columns are split at multiples of 16.  Where rows of the result begin anywhere, a block has
 * numbers of two cores at the end of their parts.  A plan may allow edges for it: each core puts the
 * first 16 numbers of its part of each row into scratch, so that what it stores has a gap before it
 * that is longer than a block, and stores them when all cores have met.
 */
#include "lower/npu/cube_after.h"

enum { EDGE = 16 };

static bool whole_blocks(int64_t elements, int64_t size)
{
	return elements * size % HN_NPU_BLOCK == 0;
}

/* No two cores may write to a block of 32 bytes.  Rows and columns are split at multiples of 16, so it
 * is what rows, and batches, begin with that has to be at a block. */
static bool is_clean(const struct cube *x, const struct hn_npu_store *s)
{
	const struct hn_npu_task *t = x->t;
	const struct hn_npu_view *w = &s->view;
	int64_t size = hn_dtype_bytes(t->value[s->value].dtype), all = hn_npu_batches(t);
	bool split_b = x->batches < all, split_m = x->rows < t->m, split_n = x->columns < t->n;
	int64_t inner = 1; /* batches of the axes behind */

	if (w->turned) { /* columns of rows that are next to each other */
		split_m = split_m && t->n > 1 && !whole_blocks(w->lane, size);
		for (uint32_t d = 0; d < t->n_batch; d++) {
			split_m = split_m || (x->rows < t->m && !whole_blocks(w->batch[d], size));
		}
		if (split_m) {
			return false;
		}
	} else if (t->m > 1 && !whole_blocks(w->row, size) && (split_n || (split_m && !whole_blocks(16 * w->row, size)))) {
		return false;
	}
	if (split_n && !w->turned && !whole_blocks(w->block, size)) {
		return false;
	}
	for (uint32_t d = t->n_batch; d-- > 0; inner *= t->batch[d]) {
		bool cut, clean = whole_blocks(w->batch[d], size);

		if (t->batch[d] == 1 || clean) {
			continue;
		}
		/* steps of this axis that all go to one core, as many as make up whole blocks, are one step */
		cut = split_b && !(x->batches % inner == 0 && inner * t->batch[d] == all &&
				   whole_blocks(x->batches / inner * w->batch[d], size));
		if (cut || split_n || (split_m && w->batch[d] > w->row) ||
		    (split_b && w->turned && w->lane > w->batch[d]) ||
		    (split_b && t->m > 1 && w->row > w->batch[d] && !whole_blocks(w->row, size))) {
			return false;
		}
	}
	return true;
}


/* -- edges ------------------------------------------------------------------------------ */

/* Numbers of its axis that lie one behind the other, in all, and of a core. */
static int64_t along(const struct cube *x, const struct hn_npu_store *s, int64_t *ret_part)
{
	*ret_part = s->view.turned ? x->rows : x->columns;
	return s->view.turned ? x->t->m : x->t->n;
}

/* The last part is the shortest: behind its edge there is a gap to the next one. */
static bool has_edges(const struct cube *x, const struct hn_npu_store *s)
{
	int64_t gap = HN_NPU_BLOCK / hn_dtype_bytes(x->t->value[s->value].dtype), part, all = along(x, s, &part);
	bool dense = s->view.turned || (s->view.block == EDGE && s->view.lane == 1 && s->view.row != EDGE);
	int64_t last = all % part == 0 ? cube_least(part, all) : all % part;

	return dense && last >= EDGE + gap;
}

/* A core's batches, so many that their ends are at a block. */
static bool split_batches(struct cube *x)
{
	int64_t all = hn_npu_batches(x->t), each = hn_ceildiv(all, cube_cores_b(x->p));

	for (int64_t q = 1; q <= HN_NPU_BLOCK; q *= 2) {
		bool clean = true;

		x->batches = cube_least(cube_up(each, q), all);
		for (uint32_t i = 0; i < x->t->n_store; i++) {
			clean = clean && is_clean(x, &x->t->store[i]);
		}
		if (clean) {
			return true;
		}
	}
	return false;
}

static bool with_edges(struct cube *x)
{
	x->batches = hn_ceildiv(hn_npu_batches(x->t), cube_cores_b(x->p));
	for (uint32_t i = 0; i < x->t->n_store; i++) {
		x->edge[i] = !is_clean(x, &x->t->store[i]);
		x->edges |= x->edge[i];
		if (x->edge[i] && !has_edges(x, &x->t->store[i])) {
			return false;
		}
	}
	return true;
}

bool cube_share(struct cube *x)
{
	x->rows = hn_ceildiv(hn_ceildiv(x->t->m, 16), x->p->cores_m) * 16;
	x->columns = hn_ceildiv(hn_ceildiv(x->t->n, 16), x->p->cores_n) * 16;
	x->terms = hn_ceildiv(hn_ceildiv(x->t->k, cube_unit(x->t)), cube_cores_k(x->p)) * cube_unit(x->t);
	x->n_sums = hn_ceildiv(x->t->k, x->terms);
	x->edges = false;
	for (uint32_t i = 0; i < HN_NPU_MOST_STORES; i++) {
		x->edge[i] = false;
	}
	if (x->n_sums > 1) { /* sums in scratch are whole blocks */
		x->batches = hn_ceildiv(hn_npu_batches(x->t), cube_cores_b(x->p));
		return true;
	}
	return x->p->edges ? with_edges(x) : split_batches(x);
}

/* Scratch has a matrix of 16 columns for each part and batch: a row of it is the edge of a row, or, where
 * these are next to each other, of a column. */
static int64_t lines(const struct cube *x, const struct hn_npu_store *s)
{
	return s->view.turned ? x->t->n : x->t->m;
}

static int64_t edge_elements(const struct cube *x, const struct hn_npu_store *s)
{
	int64_t part, all = along(x, s, &part);

	return hn_mul_sat(hn_ceildiv(all, part) * EDGE, hn_mul_sat(hn_npu_batches(x->t), lines(x, s)));
}

static enum hn_dtype type_of(const struct cube *x, const struct hn_npu_store *s)
{
	return (enum hn_dtype)x->t->value[s->value].dtype;
}

int64_t cube_scratch_bytes(const struct cube *x)
{
	int64_t bytes = x->n_sums > 1 ? cube_sums_bytes(x) : 0;

	for (uint32_t i = 0; i < x->t->n_store; i++) {
		const struct hn_npu_store *s = &x->t->store[i];

		bytes = hn_add_sat(bytes, x->edge[i] ? hn_mul_sat(edge_elements(x, s), hn_dtype_bytes(type_of(x, s))) : 0);
	}
	return bytes;
}

void cube_put_scratch(struct cube *x)
{
	if (x->n_sums > 1) {
		hn_buf_printf(x->text, "scratch w float32[" N64 "]\n", cube_sums_bytes(x) / CUBE_SUM);
	}
	for (uint32_t i = 0; i < x->t->n_store; i++) {
		if (x->edge[i]) {
			hn_buf_printf(x->text, "scratch e%u %s[" N64 "]\n", i, hn_dtype_name(type_of(x, &x->t->store[i])),
				      edge_elements(x, &x->t->store[i]));
		}
	}
}

static int reg_of_edge(const struct cube *x, uint32_t store)
{
	int reg = CUBE_RESULTS + (int)x->t->n_store;

	for (uint32_t i = 0; i < x->t->n_value; i++) {
		reg += x->t->value[i].loaded;
	}
	for (uint32_t i = 0; i < store; i++) {
		reg += x->edge[i];
	}
	return reg;
}

/* Where the core's edges of a batch, which CUBE_T1 has, begin. */
void cube_edge_registers(struct cube *x)
{
	for (uint32_t i = 0; i < x->t->n_store; i++) {
		const struct hn_npu_store *s = &x->t->store[i];
		int64_t part, line = EDGE * hn_dtype_bytes(type_of(x, s)), reg = reg_of_edge(x, i);

		if (!x->edge[i]) {
			continue;
		}
		(void)along(x, s, &part);
		hn_buf_printf(x->text, "div r%d r%d " N64 "\nmul r%d r%d " N64 "\nadd r%d r%d r%d\nmul r" N64 " r%d " N64
			      "\nmul r%d r%d " N64 "\nadd r" N64 " r" N64 " r%d\n", CUBE_T2,
			      s->view.turned ? CUBE_ROW : CUBE_COLUMN, part / 16, CUBE_T2, CUBE_T2,
			      hn_npu_batches(x->t), CUBE_T2, CUBE_T2, CUBE_T1, reg, CUBE_T2, lines(x, s) * line, CUBE_T2,
			      s->view.turned ? CUBE_COLUMN : CUBE_ROW, 16 * line, reg, reg, CUBE_T2);
	}
}

bool cube_is_edge(const struct cube *x, const struct cube_piece *p, uint32_t store)
{
	return x->edge[store] && (x->t->store[store].view.turned ? p->s->row : p->s->column + p->column) == 0;
}

/* `n` lines of it, `step` bytes apart in the unified buffer. */
void cube_put_edge(struct cube *x, uint32_t store, int64_t first, int64_t n, int64_t at, int64_t step)
{
	int64_t line = EDGE * hn_dtype_bytes(type_of(x, &x->t->store[store]));

	hn_buf_printf(x->text, "store e%u[r%d+" N64 "] ub[" N64 "] n " N64 " burst " N64 " from " N64 " to " N64 "\n",
		      store, reg_of_edge(x, store), first * line, at, n, line, step, line);
}

/* Edges of a batch, so many lines at a time that two have room. */
static void bring_edges(struct cube *x, uint32_t store, int64_t *n_done)
{
	const struct hn_npu_store *s = &x->t->store[store];
	const struct hn_npu_view *w = &s->view;
	int64_t size = hn_dtype_bytes(type_of(x, s)), line = EDGE * size, step = w->turned ? w->lane : w->row;
	int64_t all = w->turned ? x->part[2].size : x->part[1].size, half = x->m->ub_bytes / 2 / HN_NPU_BLOCK * HN_NPU_BLOCK;
	int64_t most = cube_least(half / line, CUBE_EDGE_LINES);

	for (int64_t i = 0; i < all; i += most) {
		int64_t n = cube_least(most, all - i), at = (*n_done)++ % 2 * half;

		hn_buf_printf(x->text, "load ub[" N64 "] e%u[r%d+" N64 "] burst " N64 "\nstore a%d[r%d+" N64 "] ub[" N64
			      "] n " N64 " burst " N64 " from " N64 " to " N64 "\n", at, store, reg_of_edge(x, store),
			      i * line, n * line, w->arg, CUBE_RESULTS + (int)store, i * step * size, at, n, line, line,
			      step * size);
	}
}

void cube_store_edges(struct cube *x)
{
	int64_t n_done = 0;

	hn_buf_puts(x->text, "barrier cores\n");
	for (int64_t b = 0; b < x->part[0].size && !x->text->failed; b++) {
		cube_batch(x, b, true);
		for (uint32_t i = 0; i < x->t->n_store; i++) {
			if (x->edge[i]) {
				bring_edges(x, i, &n_done);
			}
		}
	}
}
