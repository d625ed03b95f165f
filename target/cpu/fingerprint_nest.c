/* target/cpu/fingerprint_nest.c -- hashes a nest as the code generator makes it
 * (lower/cpu/emit_nest.h).
 *
 * No code is made for a loop whose points are all in the tile. So only its place among the
 * points matters, and not its place among the loops. A loop whose iterations are the points next
 * to those of another loop, further out, forms one loop with it: rows 8 x 2 held whole are 16
 * rows, and 12 times 64 lanes are 768 lanes, of which 64 are made at a time. Where this cannot
 * be decided (prefetches), loops are written one after the other as they stand.
 */
#include "target/cpu/fingerprint_int.h"

/* A loop is made for it, which can fetch ahead. */
static bool fetches(const struct nest *x, uint32_t i)
{
	const struct hn_tile_dim *d = &x->t.dim[i];

	return x->n.loop[i]->n_prefetch > 0 && d != x->t.across && d->extent / d->block > 1;
}

/* What is fetched ahead is found by the tile's loops one after the other
 * (lower/cpu/emit_prefetch.c). */
static bool is_ordered(const struct nest *x)
{
	bool ordered = false;

	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		ordered |= fetches(x, i);
	}
	return ordered;
}

static struct made made_of(const struct nest *x, uint32_t i)
{
	const struct hn_tile *t = &x->t;
	const struct hn_tile_dim *d = &t->dim[i];
	bool held = !d->reduce && d->block == d->extent;
	struct made m = { .gone = d->extent == 1,
			  .rank = held ? (d->chain ? LANES : POINTS)
				  : d->reduce && i >= t->tile ? INSIDE
							      : AROUND,
			  .extent = d->extent,
			  .block = d->block,
			  .reduce = d->reduce,
			  .chain = d->chain,
			  .fast = d->fast,
			  .turn = d == t->turn,
			  .outer = i,
			  .inner = i };

	for (uint32_t k = 0; k < t->n_chain; k++) {
		m.slowest = t->chain[k] == d ? k : m.slowest;
	}
	m.fastest = m.slowest;
	for (uint32_t k = 0; k < x->n_row && !x->ordered; k++) {
		m.bound |= x->row[k].compares && x->coef[(size_t)k * x->n.n_loop + i] != 0;
	}
	return m;
}

/* -- the row of numbers --------------------------------------------------------------------- */

static void put_made(struct writer *w, const struct nest *x, struct made *m)
{
	bool across = x->t.across == &x->t.dim[m->inner];

	m->place = ++w->n_place;
	w->place[x->n.loop[m->outer]->loop] = w->place[x->n.loop[m->inner]->loop] = m->place;
	hn_print_number(w, -3);
	hn_print_number(w, m->extent);
	hn_print_number(w, m->block);
	hn_print_number(w, m->reduce | m->chain << 1 | m->fast << 2 | m->turn << 3 | across << 4 |
				   (m->rank == INSIDE) << 5 | m->several << 6);
}

/* Whether a load of the operand lies elsewhere in another iteration of the loop. */
static bool moves(const struct nest *x, uint32_t i, int32_t operand)
{
	bool moves = false;

	for (uint32_t k = 0; k < x->n.n_load; k++) {
		moves |= x->n.load[k]->ref == operand && x->t.dim[i].stride[k + 1] != 0;
	}
	return moves;
}

/* In iterations of what is made, which do not matter where all read the same; at its ends, a loop
 * that conditions depend on makes less at a time than its block. */
static void put_prefetches(struct writer *w, const struct nest *x, uint32_t i)
{
	const struct hn_node *n = x->n.loop[i];
	const struct hn_tile_dim *d = &x->t.dim[i];
	int64_t block = d->reduce || !x->choices ? d->block : 1;

	for (uint32_t k = 0; fetches(x, i) && k < n->n_prefetch; k++) {
		int32_t operand = n->prefetch[k].operand;
		int64_t ahead = (n->prefetch[k].distance + block - 1) / block;

		hn_print_number(w, operand);
		hn_print_number(w, moves(x, i, operand) ? ahead : 0);
	}
}

/* First values that are set before the loop. */
static void put_init(struct writer *w, const struct nest *x, uint32_t i)
{
	const struct hn_node *init = x->n.loop[i]->init;

	if (init && !x->t.from_identity) {
		hn_print_number(w, -1);
		hn_print_node(w, init, x->around);
	}
}

static void put_ordered(struct writer *w, const struct nest *x)
{
	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		const struct hn_node *n = x->n.loop[i];

		put_init(w, x, i);
		w->place[n->loop] = x->around;
		if (!x->made[i].gone) {
			put_made(w, x, &x->made[i]);
			put_prefetches(w, x, i);
		}
	}
	hn_print_stmt(w, x->n.stmt);
}

/* What is made whose iterations are those of the loop at position i; NULL = nothing. */
static struct made *made_by(const struct nest *x, uint32_t i)
{
	for (uint32_t k = 0; k < x->n.n_loop; k++) {
		if (!x->made[k].gone && x->made[k].inner == i) {
			return &x->made[k];
		}
	}
	return NULL;
}

/* Points, slowest first: those that do not run fast, then those that do
 * (lower/cpu/emit_point.c). */
static struct made *next_point(const struct nest *x, uint32_t *p)
{
	uint32_t n = x->n.n_loop;

	for (; *p < 2 * n; ++*p) {
		struct made *m = made_by(x, *p % n);

		if (m && !m->reduce && !m->chain && m->block > 1 && m->fast == (*p >= n)) {
			++*p;
			return m;
		}
	}
	return NULL;
}

/* A loop, or points among whose iterations ends are looked for that are made apart. */
static bool stands(const struct made *m, enum rank rank)
{
	return !m->gone && (m->rank == rank ||
			    (rank == AROUND && m->rank == POINTS && m->bound));
}

/* Loops that are made from the outermost in, lanes by their chain; then the order of points. */
static void put_unordered(struct writer *w, const struct nest *x)
{
	uint32_t n = x->n.n_loop, p = 0;
	struct made *m;

	for (uint32_t i = 0; i < n; i++) {
		w->place[x->n.loop[i]->loop] = x->around;
	}
	for (enum rank rank = AROUND; rank <= INSIDE; rank++) {
		for (uint32_t i = 0; i < n; i++) {
			if (rank == AROUND) {
				put_init(w, x, i);
			}
			if (stands(&x->made[i], rank)) {
				put_made(w, x, &x->made[i]);
			}
		}
	}
	for (uint32_t k = 0; k < x->t.n_chain; k++) {
		m = made_by(x, (uint32_t)(x->t.chain[k] - x->t.dim));
		if (m && m->rank == LANES) {
			put_made(w, x, m);
		}
	}
	while ((m = next_point(x, &p))) {
		if (m->rank == POINTS && !m->bound) {
			put_made(w, x, m);
		}
	}
	for (p = 0; (m = next_point(x, &p));) {
		hn_print_number(w, m->place);
	}
}

/* The loop's own number when it runs, in the order in which the code adds up terms. */
static void put_term(struct writer *w, const struct nest *x, const struct hn_linear_term *t)
{
	int32_t loop = hn_nest_loop_of(&x->n, t);

	if (loop < 0) {
		hn_print_number(w, (int64_t)(uintptr_t)t->v);
		hn_print_number(w, t->coef);
		return;
	}
	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		const struct made *m = &x->made[i];

		if (!m->gone && m->outer == (uint32_t)loop && m->extent / m->block > 1) {
			hn_print_number(w, m->place);
		}
	}
}

static void put_rows(struct writer *w, const struct nest *x)
{
	hn_print_number(w, -6);
	for (uint32_t k = 0; k < x->n_row; k++) {
		hn_print_number(w, x->row[k].kind);
		hn_print_number(w, x->row[k].x.c);
		for (uint32_t i = 0; i < x->row[k].x.n; i++) {
			put_term(w, x, &x->row[k].x.t[i]);
		}
		for (uint32_t i = 0; i < x->n.n_loop; i++) {
			int64_t c = x->coef[(size_t)k * x->n.n_loop + x->made[i].inner];

			if (!x->made[i].gone && c != 0) {
				/* in any order */
				w->hash += hn_mix(hn_mix(k, x->made[i].place), c);
			}
		}
	}
}

static void put_nest(struct writer *w, const struct nest *x)
{
	const struct hn_tile *t = &x->t;

	hn_print_number(w, -5);
	if (x->n.stmt->init && !t->from_identity) {
		hn_print_number(w, -1);
		hn_print_node(w, x->n.stmt->init, x->around);
	}
	if (x->ordered) {
		put_ordered(w, x);
	} else {
		put_unordered(w, x);
		put_rows(w, x);
		hn_print_body(w, x);
	}
	hn_print_number(w,
			t->width | (int64_t)t->n_across << 16 | (int64_t)t->from_identity << 32);
	for (uint32_t k = 0; k < t->n_chain; k++) {
		struct made *m = made_by(x, (uint32_t)(t->chain[k] - t->dim));

		if (m) {
			hn_print_number(w, m->place);
		}
	}
	hn_print_number(w, -4);
}

/* The nest with its tile chosen. */
static void put_chosen(struct writer *w, struct nest *x)
{
	hn_tile_choose(&x->t, w->target);
	x->made = HN_NEW_ARRAY(w->a, struct made, x->n.n_loop + 1);
	x->ordered = is_ordered(x) || !hn_print_find_rows(w, x);
	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		x->made[i] = made_of(x, i);
	}
	if (!x->ordered) {
		hn_print_join(x);
	}
	put_nest(w, x);
}

/* An instruction makes some loop's terms, where their factors lie side by side: what else the
 * tile is made of hangs on that. */
static bool has_instruction(const struct nest *x)
{
	bool any = false;

	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		any |= x->n.loop[i]->intrin != NULL;
	}
	return any;
}

bool hn_print_nest(struct writer *w, const struct hn_node *n, int64_t around)
{
	struct nest x = { .around = around };

	hn_nest_read(w->t, n, w->a, &x.n);
	if (w->t->dag->sizes || has_instruction(&x)) {
		return false;
	}
	hn_print_find_axes(w, &x);
	hn_nest_tile(w->t, &x.n, w->target, w->a, &x.t);
	hn_nest_strides(w->t, &x.n, &w->loops, w->a, &x.t);
	put_chosen(w, &x);
	return true;
}
