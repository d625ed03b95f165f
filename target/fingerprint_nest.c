/* target/fingerprint_nest.c -- a nest, as the code generator makes it (lower/emit_nest.h).
 *
 * Of a loop whose points are all in the tile no code is made, so it matters where it stands
 * among the points and not where among the loops; and a loop whose iterations are points next to
 * those of another one, further out, is one with that: rows 8 x 2 held whole are 16 rows, and 12
 * times 64 lanes are 768 lanes, of which 64 are made at a time.  Where that cannot be said
 * (conditions, prefetches), loops are written one after the other as they stand.
 */
#include "target/fingerprint_int.h"
#include "target/nest.h"

enum rank { AROUND, /* made around the tile, */
	    INSIDE, /* or of the tile's reduction; */
	    LANES,  /* held whole, as lanes */
	    POINTS, /* or as other points */
	    N_RANK };

/* What is made of a loop, or of several whose iterations go on in each other. */
struct made {
	bool gone; /* into another one */
	enum rank rank;
	int64_t extent, block;
	bool reduce, chain, fast, turn;
	uint32_t outer; /* position of the loop that runs, if one does, */
	uint32_t inner; /* and of the one whose iterations are this one's */
	int64_t place;
};

struct nest {
	struct hn_nest n;
	struct hn_tile t;
	uint32_t n_axis;
	struct hn_linear *axis; /* [n_axis] */
	int64_t *coef;		   /* [n_axis * n_loop] */
	bool choices;		   /* it has conditions, */
	bool ordered;		   /* and loops are written as they stand */
	struct made *made;	   /* [n_loop] */
	int64_t around;
};

/* A loop is made for it, which can fetch ahead. */
static bool fetches(const struct nest *x, uint32_t i)
{
	const struct hn_tile_dim *d = &x->t.dim[i];

	return x->n.loop[i]->n_prefetch > 0 && d != x->t.across && d->extent / d->block > 1;
}

static void find_choice(const struct hn_expr *x, void *ctx)
{
	bool *found = ctx;

	*found |= x->op >= HN_EXPR_EQ && x->op <= HN_EXPR_IF;
}

static bool has_choices(const struct hn_nest *n)
{
	const struct hn_op *op = n->op;
	const struct hn_reduce *r = n->stmt->stmt == HN_STMT_UPDATE ? op->reduce : NULL;
	bool found = n->stmt->n_guard > 0 || (r && r->condition);

	for (uint32_t k = 0; n->stmt->stmt == HN_STMT_COMPUTE && k < op->n_out; k++) {
		hn_expr_visit(op->body[k], find_choice, &found);
	}
	for (uint32_t k = 0; r && k < r->n; k++) {
		hn_expr_visit(r->source[k], find_choice, &found);
	}
	return found;
}

/* The statement's axes as sums; false when one is none. */
static bool find_lines(struct writer *w, struct nest *x)
{
	uint32_t n = x->n.n_loop;

	x->n_axis = x->n.op->n_spatial + x->n.op->n_reduce;
	x->axis = HN_NEW_ARRAY(w->a, struct hn_linear, x->n_axis + 1);
	x->coef = HN_NEW_ARRAY(w->a, int64_t, (size_t)x->n_axis * n + 1);
	for (uint32_t k = 0; k < x->n_axis; k++) {
		const struct hn_expr *e = x->n.stmt->axis[k];

		if (e && !hn_nest_linear(w->t, &x->n, &w->loops, e, &x->axis[k])) {
			return false;
		}
		for (uint32_t i = 0; i < x->axis[k].n; i++) {
			const struct hn_linear_term *t = &x->axis[k].t[i];
			int32_t loop = hn_nest_loop_of(&x->n, t);

			if (loop >= 0) {
				x->coef[k * n + (uint32_t)loop] = t->coef;
			}
		}
	}
	return true;
}

/* Conditions are looked for over the tile's loops one after the other (lower/emit_guard.c,
 * emit_zero.c), and so is what is fetched ahead; and first values are set where they stand. */
static bool is_ordered(const struct nest *x)
{
	bool ordered = x->choices;

	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		ordered |= fetches(x, i) || (x->t.dim[i].init && !x->t.from_identity);
	}
	return ordered;
}

static struct made made_of(const struct hn_tile *t, uint32_t i)
{
	const struct hn_tile_dim *d = &t->dim[i];
	bool held = !d->reduce && d->block == d->extent;

	return (struct made){ .gone = d->extent == 1,
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
}

/* -- loops that go on in each other -------------------------------------------------------- */

/* One iteration of o is all of i's, in every axis. */
static bool goes_on(const struct nest *x, const struct made *o, const struct made *i)
{
	bool on = true;

	for (uint32_t k = 0; k < x->n_axis && on; k++) {
		const int64_t *c = x->coef + (size_t)k * x->n.n_loop;
		int64_t all;

		on = !__builtin_mul_overflow(c[i->inner], i->extent, &all) && c[o->inner] == all;
	}
	return on;
}

/* Both are points, or iterations of the tile's reduction, one right outside the other. */
static bool next_to(const struct nest *x, const struct made *o, const struct made *i)
{
	bool next = o->inner < i->inner && o->fast == i->fast;

	for (uint32_t k = 0; k < x->n.n_loop && next; k++) {
		const struct made *m = &x->made[k];
		bool same = !m->gone && m->reduce == i->reduce && !m->chain &&
			    m->fast == i->fast && (m->reduce ? m->rank == INSIDE : m->block > 1);

		next = !same || m->inner <= o->inner || m->inner >= i->inner;
	}
	return next;
}

static bool is_slowest_lane(const struct nest *x, const struct made *i)
{
	return x->t.chain[x->t.n_chain - 1] == &x->t.dim[i->inner];
}

/* Whether o and i, of which all iterations are made at a time, are one. */
static bool are_one(const struct nest *x, const struct made *o, const struct made *i)
{
	const struct hn_tile_dim *across = x->t.across;

	if (o == i || o->gone || i->gone || o->reduce != i->reduce || o->chain || o->turn ||
	    i->turn || i->block != i->extent || across == &x->t.dim[o->inner] ||
	    across == &x->t.dim[i->inner] || !goes_on(x, o, i)) {
		return false;
	}
	if (i->reduce) {
		return o->rank == INSIDE && i->rank == INSIDE && next_to(x, o, i);
	}
	return i->chain ? o->block == 1 && is_slowest_lane(x, i)
			: o->block == 1 || next_to(x, o, i);
}

static void join(struct nest *x)
{
	uint32_t n = x->n.n_loop;

	for (uint32_t p = 0; p < n * n; p++) {
		struct made *o = &x->made[p / n], *i = &x->made[p % n];

		if (are_one(x, o, i)) {
			i->gone = true;
			*o = (struct made){ .rank = o->rank == AROUND ? AROUND : i->rank,
					    .extent = o->extent * i->extent,
					    .block = o->block * i->extent,
					    .reduce = i->reduce,
					    .chain = i->chain,
					    .fast = i->fast,
					    .outer = o->outer,
					    .inner = i->inner };
			p = UINT32_MAX; /* from the first pair on */
		}
	}
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
				   (m->rank == INSIDE) << 5);
}

/* In iterations of what is made; at its ends, a loop that conditions depend on makes less at a
 * time than its block. */
static void put_prefetches(struct writer *w, const struct nest *x, uint32_t i)
{
	const struct hn_node *n = x->n.loop[i];
	const struct hn_tile_dim *d = &x->t.dim[i];
	int64_t block = d->reduce || !x->choices ? d->block : 1;

	for (uint32_t k = 0; fetches(x, i) && k < n->n_prefetch; k++) {
		hn_print_number(w, n->prefetch[k].operand);
		hn_print_number(w, (n->prefetch[k].distance + block - 1) / block);
	}
}

static void put_ordered(struct writer *w, const struct nest *x)
{
	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		const struct hn_node *n = x->n.loop[i];

		if (n->init && !x->t.from_identity) {
			hn_print_number(w, -1);
			hn_print_node(w, n->init, x->around);
		}
		w->place[n->loop] = x->around;
		if (!x->made[i].gone) {
			put_made(w, x, &x->made[i]);
			put_prefetches(w, x, i);
		}
	}
	hn_print_stmt(w, x->n.stmt);
}

/* Loops that are made from the outermost in, lanes by their chain; then the order of points. */
static void put_unordered(struct writer *w, const struct nest *x)
{
	uint32_t n = x->n.n_loop;

	for (uint32_t i = 0; i < n; i++) {
		w->place[x->n.loop[i]->loop] = x->around;
	}
	for (enum rank rank = AROUND; rank < N_RANK; rank++) {
		uint32_t n_of = rank == LANES ? x->t.n_chain : n;

		for (uint32_t k = 0; k < n_of; k++) {
			uint32_t i = rank == LANES ? (uint32_t)(x->t.chain[k] - x->t.dim) : k;

			if (!x->made[i].gone && x->made[i].rank == rank) {
				put_made(w, x, &x->made[i]);
			}
		}
	}
	for (uint32_t p = 0; p < n * n; p++) {
		const struct made *m = &x->made[p % n];

		if (!m->gone && m->inner == p / n && !m->reduce && !m->chain && m->block > 1) {
			hn_print_number(w, m->place);
		}
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

static void put_axes(struct writer *w, const struct nest *x)
{
	hn_print_number(w, -6);
	hn_print_number(w, x->n.stmt->stage);
	hn_print_number(w, x->n.stmt->stmt);
	for (uint32_t k = 0; k < x->n_axis; k++) {
		hn_print_number(w, -7);
		hn_print_number(w, x->axis[k].c);
		for (uint32_t i = 0; i < x->axis[k].n; i++) {
			put_term(w, x, &x->axis[k].t[i]);
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
		put_axes(w, x);
	}
	hn_print_number(w,
			t->width | (int64_t)t->n_across << 16 | (int64_t)t->from_identity << 32);
	for (uint32_t i = 0; i < t->n_chain; i++) {
		hn_print_number(w, w->place[x->n.loop[t->chain[i] - t->dim]->loop]);
	}
	hn_print_number(w, -4);
}

/* The nest with its tile chosen. */
static void put_chosen(struct writer *w, struct nest *x)
{
	hn_tile_choose(&x->t, w->target);
	x->made = HN_NEW_ARRAY(w->a, struct made, x->n.n_loop + 1);
	for (uint32_t i = 0; i < x->n.n_loop; i++) {
		x->made[i] = made_of(&x->t, i);
	}
	x->ordered = is_ordered(x) || !find_lines(w, x);
	if (!x->ordered) {
		join(x);
	}
	put_nest(w, x);
}

bool hn_print_nest(struct writer *w, const struct hn_node *n, int64_t around)
{
	struct nest x = { .around = around };

	hn_nest_read(w->t, n, w->a, &x.n);
	if (w->t->dag->sizes) {
		return false;
	}
	x.choices = has_choices(&x.n);
	/* whether functions widen, the code generator alone knows: both ways */
	for (int widen = 0; widen < 1 + x.n.calls; widen++) {
		hn_nest_tile(w->t, &x.n, w->a, &x.t);
		x.t.may_widen = widen;
		hn_nest_strides(w->t, &x.n, &w->loops, w->a, &x.t);
		put_chosen(w, &x);
	}
	return true;
}
