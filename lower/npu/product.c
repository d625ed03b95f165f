/* lower/npu/product.c -- a product of matrices on the cube, by a plan of tiles.
 *
 * Cores get batches, rows and columns of the result, and of its terms; those that get less, at the ends,
 * have a section of their own.  Of a tile, sums stay in L0C for all terms.  Each memory has slots that are taken in
 * turn, and the next terms are asked for before the present ones are multiplied; which pipe waits for
 * which is hn_npu_order's.
 */
#include <string.h>

#include "lower/npu/cube.h"

const struct hn_npu_task *hn_npu_plain_task(const struct hn_npu_product *p, struct hn_arena *a)
{
	struct hn_npu_buffer *buffer = HN_NEW_ARRAY(a, struct hn_npu_buffer, 3);
	struct hn_npu_task *t = HN_NEW(a, struct hn_npu_task);

	*t = (struct hn_npu_task){ .m = p->m, .n = p->n, .k = p->k, .dtype = HN_F16, .n_value = 1, .n_store = 1,
				   .n_buffer = 3, .buffer = buffer };
	t->a = (struct hn_npu_view){ .arg = 0, .dtype = HN_F16, .row = p->k, .block = 16, .lane = 1 };
	t->b = (struct hn_npu_view){ .arg = 1, .dtype = HN_F16, .row = p->n, .block = 16, .lane = 1 };
	t->value[0] = (struct hn_npu_value){ .shape = HN_NPU_FULL, .dtype = (uint8_t)p->result,
					     .from = { -1, -1 } };
	t->store[0].view = (struct hn_npu_view){ .arg = 2, .dtype = (uint8_t)p->result, .row = p->n, .block = 16,
						 .lane = 1 };
	for (int i = 0; i < 3; i++) {
		int64_t n = i == 0 ? hn_mul_sat(p->m, p->k) : i == 1 ? hn_mul_sat(p->k, p->n) : hn_mul_sat(p->m, p->n);

		buffer[i] = (struct hn_npu_buffer){ .dtype = (uint8_t)(i < 2 ? HN_F16 : p->result), .n_elem = n };
	}
	return t;
}

/* -- where a core is -------------------------------------------------------------------- */

/* Register reg = bytes of the core's first row and column, and of the batch, which CUBE_T1 has. */
static void base(struct cube *x, const struct hn_npu_view *v, int reg, int64_t row, int64_t column)
{
	int64_t size = hn_dtype_bytes(v->dtype), left = 1;

	hn_buf_printf(x->text, "mul r%d r%d " N64 "\nmul r%d r%d " N64 "\nadd r%d r%d r%d\n", reg, CUBE_ROW,
		      row * size, CUBE_T2, CUBE_COLUMN, column * size, reg, reg, CUBE_T2);
	if (v->first != 0) {
		hn_buf_printf(x->text, "add r%d r%d " N64 "\n", reg, reg, v->first * size);
	}
	for (uint32_t d = x->t->n_batch; d-- > 0; left *= x->t->batch[d]) {
		if (v->batch[d] == 0 || x->t->batch[d] == 1) {
			continue;
		}
		hn_buf_printf(x->text, "div r%d r%d " N64 "\nmod r%d r%d " N64 "\nmul r%d r%d " N64
			      "\nadd r%d r%d r%d\n", CUBE_T2, CUBE_T1, left, CUBE_T2, CUBE_T2, x->t->batch[d],
			      CUBE_T2, CUBE_T2, v->batch[d] * size, reg, reg, CUBE_T2);
	}
}

void cube_batch(struct cube *x, int64_t batch, bool stored)
{
	const struct hn_npu_task *t = x->t;
	bool by_rows = t->b.turned || (t->window != NULL && t->window->staged);
	int64_t *known = stored ? &x->batch_stored : &x->batch_loaded;
	int reg = CUBE_RESULTS;

	if (*known == batch) {
		return;
	}
	*known = batch;
	hn_buf_printf(x->text, "add r%d r%d " N64 "\n", CUBE_T1, CUBE_BATCH, batch);
	if (!stored) {
		base(x, &t->a, CUBE_A, cube_has_own_rows(t) ? 0 : t->a.turned ? t->a.block : t->a.row * 16, 0);
		base(x, &t->b, CUBE_B, 0, by_rows ? t->b.row * 16 : t->b.block);
		return;
	}
	if (x->n_sums > 1) {
		cube_sums_register(x);
	}
	for (uint32_t i = 0; i < t->n_store && !x->puts_sums; i++) {
		base(x, &t->store[i].view, reg++, t->store[i].view.row * 16, t->store[i].view.block);
	}
	for (uint32_t i = 0; i < t->n_value && !x->puts_sums; i++) {
		const struct hn_npu_view *v = &t->value[i].view;

		if (t->value[i].loaded) {
			base(x, v, reg++, v->row * 16, v->block);
		}
	}
	cube_edge_registers(x);
}

static struct cube_step step_of(const struct cube *x, int64_t number)
{
	const struct hn_npu_product *p = x->p;
	int64_t steps = hn_ceildiv(x->part[3].size, p->k1), columns = hn_ceildiv(x->part[2].size, p->n0);
	int64_t rows = hn_ceildiv(x->part[1].size, p->m0), tile = number / steps;
	struct cube_step s = { .batch = tile / columns / rows, .row = tile / columns % rows * p->m0,
			       .column = tile % columns * p->n0, .term = x->part[3].first + number % steps * p->k1 };

	s.rows = cube_least(p->m0, x->part[1].size - s.row);
	s.columns = cube_least(p->n0, x->part[2].size - s.column);
	s.terms = cube_least(p->k1, x->part[3].first + x->part[3].size - s.term);
	s.first = number % steps == 0;
	s.last = number % steps == steps - 1;
	return s;
}

static void put_row_of_zeros(struct cube *x)
{
	int64_t width = x->t->window->width; /* blocks */

	for (int64_t i = 0; i < width / 8; i += 255) {
		hn_buf_printf(x->text, "vdup.s32 ub[" N64 "] 0 rep " N64 "\n", x->zeros_at + i * 256,
			      cube_least(width / 8 - i, 255));
	}
	if (width % 8 != 0) {
		hn_buf_printf(x->text, "vdup.s32 ub[" N64 "] 0 mask " N64 "\n", x->zeros_at + width / 8 * 256,
			      width % 8 * 8);
	}
}

/* -- the code --------------------------------------------------------------------------- */

/* What a part's cores begin with; theirs are those from `first` on. */
static void begin(struct cube *x, int64_t first)
{
	const struct cube_part *b = &x->part[0], *m = &x->part[1], *n = &x->part[2];

	x->a = x->b = (struct cube_held){ 0 };
	x->batch_loaded = x->batch_stored = -1;
	memset(x->fixed_at, -1, sizeof(x->fixed_at));
	memset(x->zeroed, -1, sizeof(x->zeroed));
	hn_buf_printf(x->text, "core r%d\n", CUBE_CORE);
	if (first > 0) {
		hn_buf_printf(x->text, "add r%d r%d " N64 "\n", CUBE_CORE, CUBE_CORE, first);
	}
	hn_buf_printf(x->text, "div r%d r%d " N64 "\ndiv r%d r%d " N64 "\nmod r%d r%d " N64
		      "\nmod r%d r%d " N64 "\n", CUBE_T1, CUBE_CORE, m->n * n->n,
		      CUBE_T2, CUBE_CORE, n->n, CUBE_T2, CUBE_T2, m->n, CUBE_T3, CUBE_CORE, n->n);
	hn_buf_printf(x->text, "mul r%d r%d " N64 "\nadd r%d r%d " N64 "\nmul r%d r%d " N64 "\nadd r%d r%d " N64
		      "\nmul r%d r%d " N64 "\nadd r%d r%d " N64 "\n", CUBE_BATCH, CUBE_T1, b->size, CUBE_BATCH,
		      CUBE_BATCH, b->first, CUBE_ROW, CUBE_T2, m->size / 16, CUBE_ROW, CUBE_ROW, m->first / 16,
		      CUBE_COLUMN, CUBE_T3, n->size / 16, CUBE_COLUMN, CUBE_COLUMN, n->first / 16);
}

static int64_t steps_of(const struct cube *x)
{
	return x->part[0].size * hn_ceildiv(x->part[1].size, x->p->m0) * hn_ceildiv(x->part[2].size, x->p->n0) *
	       hn_ceildiv(x->part[3].size, x->p->k1);
}

static void multiply(struct cube *x)
{
	int64_t all = steps_of(x);
	struct cube_step next = step_of(x, 0);

	if (x->zeros_at >= 0) {
		put_row_of_zeros(x);
	}
	for (int64_t i = 0; i < all && !x->text->failed; i++) {
		struct cube_step s = next;

		next = step_of(x, i + 1);
		/* S stops at a full queue: what comes next has to be asked for before */
		if (x->p->slots_l1 == 1 || i == 0) {
			cube_load(x, i, &s);
		}
		if (x->p->slots_l1 > 1 && i + 1 < all) {
			cube_load(x, i + 1, &next);
		}
		cube_multiply(x, i, &s);
		if (s.last && x->puts_sums) {
			cube_put_sums(x, &s);
		} else if (s.last) {
			cube_store(x, &s);
		}
	}
	if (x->edges) {
		cube_store_edges(x);
	}
}

static void add_up(struct cube *y)
{
	int64_t all = steps_of(y);

	for (int64_t i = 0; i < all && !y->text->failed; i++) {
		struct cube_step s = step_of(y, i);

		cube_store(y, &s);
	}
}

/* -- sections --------------------------------------------------------------------------- */

struct span { /* cores with the same code */
	int64_t first, n;
	struct cube_part part[4];
};

struct spans {
	uint32_t n;
	struct span *span;
};

/* An axis in parts of `size`, and what is left; of each core by itself, where code depends on it. */
static uint32_t parts(int64_t extent, int64_t size, bool each, struct cube_part *ret)
{
	int64_t whole = extent / size, left = extent % size;
	uint32_t n = 0;

	for (int64_t i = 0; i < whole && each; i++) {
		ret[n++] = (struct cube_part){ i * size, 1, size };
	}
	if (whole > 0 && !each) {
		ret[n++] = (struct cube_part){ 0, whole, size };
	}
	if (left > 0) {
		ret[n++] = (struct cube_part){ whole * size, 1, left };
	}
	return n;
}

static struct spans spans_of(const struct cube *x, bool own_rows, bool own_terms, struct hn_arena *a)
{
	const struct hn_npu_task *t = x->t;
	int64_t size[4] = { x->batches, x->rows, x->columns, own_terms ? x->terms : t->k };
	int64_t extent[4] = { hn_npu_batches(t), t->m, t->n, t->k }, first = 0;
	struct spans ret = { .n = 1 };
	struct cube_part *part[4];
	uint32_t n[4];

	for (int i = 0; i < 4; i++) {
		part[i] = HN_NEW_ARRAY(a, struct cube_part, (size_t)(extent[i] / size[i]) + 2);
		n[i] = parts(extent[i], size[i], (i == 1 && own_rows) || i == 3, part[i]);
		ret.n *= n[i];
	}
	ret.span = HN_NEW_ARRAY(a, struct span, ret.n);
	for (uint32_t i = 0; i < ret.n; i++) {
		struct span *s = &ret.span[i];

		*s = (struct span){ first, 1, { part[0][i / n[3] / n[2] / n[1]], part[1][i / n[3] / n[2] % n[1]],
						part[2][i / n[3] % n[2]], part[3][i % n[3]] } };
		for (int d = 0; d < 4; d++) {
			s->n *= s->part[d].n;
		}
		first += s->n;
	}
	return ret;
}

/* The span that core `at` is in, NULL: none; *end falls to where the answer may be another one. */
static const struct span *span_at(const struct spans *s, int64_t at, int64_t *end)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (at < s->span[i].first + s->span[i].n) {
			*end = cube_least(*end, s->span[i].first + s->span[i].n);
			return &s->span[i];
		}
	}
	return NULL;
}

/* Cores that add up what others, and they, have summed; NULL: terms are not split. */
static void code(struct cube *x, struct cube *y, struct hn_arena *a)
{
	const struct hn_npu_task *t = x->t;
	struct spans one = spans_of(x, cube_has_own_rows(t), true, a), two = { 0 };

	if (y != NULL) {
		two = spans_of(y, false, false, a);
	}
	hn_buf_puts(x->text, HN_NPU_FORMAT "\n");
	for (uint32_t i = 0; i < t->n_buffer; i++) {
		hn_buf_printf(x->text, "gm a%u %s[" N64 "]\n", i, hn_dtype_name((enum hn_dtype)t->buffer[i].dtype),
			      t->buffer[i].n_elem);
	}
	cube_put_scratch(x);
	for (int64_t at = 0, end = INT64_MAX; !x->text->failed; at = end, end = INT64_MAX) {
		const struct span *first = span_at(&one, at, &end), *second = span_at(&two, at, &end);

		if (first == NULL && second == NULL) {
			break;
		}
		hn_buf_printf(x->text, "cores " N64 " " N64 " {\n", at, end - at);
		if (first != NULL) {
			memcpy(x->part, first->part, sizeof(x->part));
			begin(x, at - first->first);
			multiply(x);
		}
		if (y != NULL) {
			hn_buf_puts(x->text, "barrier cores\n");
		}
		if (second != NULL) {
			memcpy(y->part, second->part, sizeof(y->part));
			begin(y, at - second->first);
			add_up(y);
		}
		hn_buf_puts(x->text, "}\n");
	}
}

int hn_npu_product(const struct hn_npu_product *p, const struct hn_npu_profile *m, struct hn_arena *a,
		   const struct hn_npu_program **ret, struct hn_npu_order_facts *facts,
		   struct hn_err *err)
{
	struct cube x = { .p = p, .m = m, .t = p->task }, y = { 0 };
	struct hn_npu_product second = { 0 };
	struct hn_buf text;
	const char *why;

	if (p->task == NULL && p->result != HN_F16 && p->result != HN_F32) {
		return hn_fail(err, HONE_E_INVALID, "a product has a result of float16 or float32");
	}
	x.t = p->task != NULL ? p->task : hn_npu_plain_task(p, a);
	why = cube_fit(&x);
	if (why != NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a product of " N64 " x " N64 " x " N64 ", tiles " N64 " x " N64
			       " x " N64 " of " N64 " on %s: %s", p->m, p->n, p->k, p->m0, p->n0, p->k0, p->k1,
			       m->name, why);
	}
	hn_buf_init(&text);
	text.max_bytes = HN_NPU_TEXT_BYTES;
	x.text = &text;
	x.puts_sums = x.n_sums > 1;
	if (x.n_sums > 1) {
		(void)cube_second(&x, &y, &second);
	}
	code(&x, x.n_sums > 1 ? &y : NULL, a);
	return hn_npu_order_text(&text, m, p->order, a, ret, facts, err);
}
