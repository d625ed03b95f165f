/* lower/cpu/emit_edge.c -- the forms of a register tile: one for full tiles, others for edges.
 *
 * A comparison that depends on the place of the tile is tested once for the tile. Where it
 * holds, the code treats it as a fact (full/partial tile separation: Kim et al., "Multi-level
 * tiling: M for the price of one", 2007).
 *
 * If the blocks do not divide a length, only the last block fails. In a form of its own the
 * number of that block is a constant. So its masks are constants, and points beyond the edge
 * cost nothing. The edge of the lanes and one more edge get such forms, each with and without
 * the other. Everything else that may fail is masked.
 */
#include "lower/cpu/emit_nest.h"

/* A comparison that is tested for a tile. */
struct tested {
	struct emit_fact fact;
	LLVMValueRef holds; /* i1 */
	struct hn_linear_known edge;
	uint32_t of; /* the edge that it is of; n_edge or more = none */
};

struct forms {
	struct emit_tile t;
	struct emit_fact *fact; /* those that hold in what is being emitted */
	uint32_t n_tested, n_edge;
	struct tested *tested;
};

static bool same_place(const struct hn_linear_known *x, const struct hn_linear_known *y)
{
	return x->v == y->v && x->value == y->value;
}

/* Give the edge of tested comparison i, and all that fail in the same place, the next
 * number. */
static void make_edge(struct forms *f, uint32_t i)
{
	for (uint32_t k = 0; k < f->n_tested; k++) {
		if (same_place(&f->tested[k].edge, &f->tested[i].edge)) {
			f->tested[k].of = f->n_edge;
		}
	}
	f->n_edge++;
}

/* Guards along the lanes first; then others. */
static void choose_edges(const struct emit *e, struct forms *f)
{
	const struct emit_nest *n = f->t.n;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < f->n_tested && f->n_edge < EMIT_MAX_EDGES; i++) {
			const struct tested *x = &f->tested[i];
			bool lanes = n->n_chain > 0 &&
				     hn_emit_uses_loop(e, x->fact.x, n->chain[0]->loop);

			if (x->of >= EMIT_MAX_EDGES && x->edge.v && !x->fact.op_space &&
			    lanes == (pass == 0)) {
				make_edge(f, i);
			}
		}
	}
}

/* A guard that ends the reduction where a size says: its loop does (emit_live.c). */
static bool left_to_trips(struct emit *e, const struct emit_nest *n,
			  const struct emit_fact *f)
{
	return !f->op_space && hn_emit_is_size_guard(e, f->x) &&
	       hn_emit_on_reduction(e, n, f->x);
}

/* The comparisons that always hold, as facts, and those to be tested. */
static void find_tests(struct emit *e, struct forms *f)
{
	struct emit_facts all;

	hn_emit_find_comparisons(e, f->t.n, &all);
	f->fact = HN_NEW_ARRAY(e->a, struct emit_fact, all.n + 1);
	f->tested = HN_NEW_ARRAY(e->a, struct tested, all.n + 1);
	e->fact = f->fact;
	e->n_fact = 0;
	uint32_t sure = 0;

	for (uint32_t i = 0; i < all.n; i++) {
		struct tested *x = &f->tested[f->n_tested];

		*x = (struct tested){ .fact = all.fact[i], .of = EMIT_MAX_EDGES };
		if (!left_to_trips(e, f->t.n, &x->fact)) {
			x->holds = hn_emit_holds_everywhere(e, f->t.n, &x->fact,
							    &x->edge);
		}
		if (x->holds && !LLVMIsAConstantInt(x->holds)) {
			f->n_tested++;
		} else if (x->holds && LLVMConstIntGetZExtValue(x->holds)) {
			f->fact[sure++] = x->fact;
		}
	}
	e->n_fact = sure; /* not before: a fact is not looked into */
}

/* i1: all comparisons of the edge hold; NULL = there are none. */
static LLVMValueRef test_of(struct emit *e, const struct forms *f, uint32_t edge)
{
	LLVMValueRef all = NULL;

	for (uint32_t i = 0; i < f->n_tested; i++) {
		LLVMValueRef v = f->tested[i].holds;

		if (f->tested[i].of == edge) {
			all = all ? LLVMBuildAnd(e->b, all, v, "") : v;
		}
	}
	return all;
}

static void assume(struct emit *e, struct forms *f, uint32_t edge)
{
	for (uint32_t i = 0; i < f->n_tested; i++) {
		if (f->tested[i].of == edge) {
			f->fact[e->n_fact++] = f->tested[i].fact;
		}
	}
}

/* In a block of its own, what was hoisted to an enclosing loop stays valid; nothing else is
 * shared. */
static void begin_form(struct emit *e, LLVMBasicBlockRef block)
{
	LLVMPositionBuilderAtEnd(e->b, block);
	e->epoch++;
}

static void emit_forms(struct emit *e, struct forms *f, uint32_t edge);

/* Two forms of what edges from `edge` on leave: where the test holds, and where not. */
static void two_forms(struct emit *e, struct forms *f, uint32_t edge, LLVMValueRef test)
{
	LLVMBasicBlockRef inside = hn_emit_block(e, "inside"),
			  outside = hn_emit_block(e, "edge"),
			  join = hn_emit_block(e, "join");
	uint32_t n_fact = e->n_fact, n_known = e->lin.n_known;

	LLVMBuildCondBr(e->b, test, inside, outside);
	begin_form(e, inside);
	assume(e, f, edge);
	emit_forms(e, f, edge + 1);
	LLVMBuildBr(e->b, join);
	e->n_fact = n_fact;
	begin_form(e, outside);
	for (uint32_t i = 0; edge < f->n_edge && e->lin.n_known == n_known; i++) {
		if (f->tested[i].of == edge) {
			e->lin.known[e->lin.n_known++] = f->tested[i].edge;
		}
	}
	emit_forms(e, f, edge + 1);
	e->lin.n_known = n_known;
	LLVMBuildBr(e->b, join);
	begin_form(e, join);
}

/* The forms by edges from `edge` on; inside all of them the other tests make two more. */
static void emit_forms(struct emit *e, struct forms *f, uint32_t edge)
{
	bool others = edge == f->n_edge && e->lin.n_known == 0;
	LLVMValueRef test = NULL;

	if (edge < f->n_edge) {
		test = test_of(e, f, edge);
	} else if (others) {
		test = test_of(e, f, EMIT_MAX_EDGES);
	}
	if (!test) {
		hn_emit_tile_form(e, &f->t);
	} else {
		two_forms(e, f, edge < f->n_edge ? edge : EMIT_MAX_EDGES, test);
	}
}

void hn_emit_one_tile(struct emit *e, struct emit_nest *n)
{
	struct forms f = { .t = { .n = n,
				  .n_out = n->op->n_out,
				  .n_point = hn_emit_count_points(n) } };

	f.t.guard = HN_NEW_ARRAY(e->a, struct emit_val, f.t.n_point);
	f.t.loose = HN_NEW_ARRAY(e->a, struct emit_val, f.t.n_point);
	f.t.spare = HN_NEW_ARRAY(e->a, bool, f.t.n_point);
	find_tests(e, &f);
	hn_emit_no_point(e, n);
	choose_edges(e, &f);
	emit_forms(e, &f, 0);
	e->n_fact = 0;
}
