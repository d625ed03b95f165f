/* target/cpu/fingerprint_join.c -- adjacent loops of a nest that continue each other: the code
 * generator treats them like one loop (lower/cpu/emit_nest.h).
 *
 * The generator sees a point's indices as sums of loop variables with known ranges, and
 * constants (loopstate/expr/linear.h). So 8 x 2 rows have the same sums as 16 rows. Two loops
 * differ from one only where conditions are looked for: the ends of a loop are separated if they
 * depend on that loop alone (lower/cpu/emit_guard.c), and reductions are unrolled at borders
 * (lower/cpu/emit_border.c).
 */
#include "target/cpu/fingerprint_int.h"

/* One iteration of o is all of i's, in every row. */
static bool goes_on(const struct nest *x, const struct made *o, const struct made *i)
{
	bool on = true;

	for (uint32_t k = 0; k < x->n_row && on; k++) {
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

/* Moving along o is moving on to the next vectors: no other points run faster, and all lanes
 * of i's vectors count. */
static bool next_to_vectors(const struct nest *x, const struct made *o, const struct made *i)
{
	int64_t lanes = 1;
	bool next = x->t.turn == NULL;

	for (uint32_t k = 0; k < x->t.n_chain; k++) {
		lanes *= x->t.chain[k]->block;
	}
	for (uint32_t k = 0; k < x->n.n_loop && next; k++) {
		const struct made *m = &x->made[k];
		bool point = !m->gone && !m->reduce && !m->chain && m->block > 1 && m != o;

		next = !point || (m->fast == o->fast ? m->inner < o->inner : o->fast);
	}
	return next && lanes % x->t.width == 0 && i->block == i->extent;
}

/* Lanes o go on where the lanes, or vectors, of i end. */
static bool goes_on_in_lanes(const struct nest *x, const struct made *o, const struct made *i)
{
	if (o->chain) {
		return o->fastest == i->slowest + 1;
	}
	return i->slowest + 1 == x->t.n_chain && (o->block == 1 || next_to_vectors(x, o, i));
}

/* Whether o and i, of which all iterations are made at a time, are one. */
static bool are_one(const struct nest *x, const struct made *o, const struct made *i)
{
	const struct hn_tile_dim *across = x->t.across;

	if (o == i || o->gone || i->gone || o->reduce != i->reduce || o->turn || i->turn ||
	    (o->chain && !i->chain) || i->block != i->extent ||
	    across == &x->t.dim[o->inner] || across == &x->t.dim[i->inner] ||
	    !goes_on(x, o, i)) {
		return false;
	}
	if (i->reduce) {
		return o->rank == INSIDE && i->rank == INSIDE && !i->bound && next_to(x, o, i);
	}
	return i->chain ? goes_on_in_lanes(x, o, i) : o->block == 1 || next_to(x, o, i);
}

void hn_print_join(struct nest *x)
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
					    .bound = i->bound,
					    .several = i->bound && !i->chain,
					    .outer = o->outer,
					    .inner = i->inner,
					    .fastest = i->fastest,
					    .slowest = o->chain ? o->slowest : i->slowest };
			p = UINT32_MAX; /* from the first pair on */
		}
	}
}
