/* lower/gpu/gpu_lanes.c -- loops over lanes as vectors of the language.
 *
 * A thread that has a core to itself works with vectors, and a compiler does not find them among
 * scalars that are written out: that takes it seconds, and it loses some.  So where the language has
 * vectors, a loop over lanes becomes some: neighbours are loaded and stored together, what is the
 * same for all lanes is spread, and all else is put together lane by lane.  A condition on the lane
 * is monotone, so it holds for all lanes where it holds for the first and the last.
 *
 * Loops in order whose turns make neighbours, of what no other turn makes, become vectors, too.
 */
#include "lower/gpu/gpu_lanes_int.h"

#define MANY 8 /* vectors: more than a tile has */
#define ODD INT64_MIN /* a step that is no constant */

uint32_t hn_gpu_vector(const struct gpu *g, enum hn_dtype t, int64_t extent)
{
	uint32_t n = 1, most = g->vector_bytes / hn_dtype_bytes(t);

	if (g->vector_bytes == 0 || (t != HN_F32 && t != HN_F64)) {
		return 1;
	}
	most = most < HN_MOST_LANES ? most : HN_MOST_LANES;
	while (2 * n <= most && 2 * n <= extent && extent % (2 * n) == 0) {
		n *= 2;
	}
	/* a rest is shorter: of a long loop it does not matter, of a tile it splits variables */
	return extent < most || (4 * n >= most && extent < MANY * most) ? n : most;
}

void hn_lanes_at(struct lanes *l, uint32_t i)
{
	const struct hn_expr *x = hn_expr_int(l->at + i, HN_I32, l->g->a);

	l->g->value[l->slot] = l->base ? hn_expr_binary(HN_EXPR_ADD, l->base, x, l->g->a) : x;
}

/* How much an index of the program grows from one number of the slot to the next. */
static int64_t whole_step(const struct gpu *g, const struct hn_expr *e, int32_t slot)
{
	struct hn_affine sum = hn_affine_of(e, g->span, g->n_slot, g->a);
	int64_t step = 0;

	for (uint32_t i = 0; i < sum.n; i++) {
		const struct hn_expr *atom = sum.term[i].atom;

		if (atom->op == HN_EXPR_VAR && atom->ref == slot) {
			step = sum.term[i].coef;
		} else if (hn_expr_uses(atom, slot)) {
			return ODD;
		}
	}
	return step;
}

/* How much an index grows from lane to lane. */
static int64_t step_of(struct lanes *l, const struct hn_expr *e)
{
	struct hn_span here = l->g->span[l->slot];

	l->g->value[l->slot] = NULL;
	l->g->span[l->slot] = l->whole;

	int64_t step = whole_step(l->g, hn_gpu_here(l->g, e), l->slot);

	l->g->span[l->slot] = here;
	hn_lanes_at(l, 0);
	return step;
}

static const struct hn_expr *data_here(struct gpu *g, const struct hn_expr *e)
{
	return hn_simplify_data(hn_gpu_here(g, e), g->span, g->n_slot, g->a);
}

struct gpu_at hn_lanes_place(struct lanes *l, int32_t buffer, const struct hn_expr *e)
{
	struct hn_affine sum = hn_gpu_affine(l->g, e);

	return hn_gpu_at(l->g, buffer, &sum);
}

static gpu_val lane_by_lane(struct lanes *l, const struct hn_expr *e)
{
	gpu_val v[HN_MOST_LANES];

	for (uint32_t i = 0; i < l->n; i++) {
		hn_lanes_at(l, i);
		v[i] = hn_gpu_value(l->g, data_here(l->g, e));
	}
	hn_lanes_at(l, 0);
	return l->g->lang->vector->gather(l->g, (enum hn_dtype)e->dtype, l->n, v);
}

static gpu_val binary(struct lanes *l, const struct hn_expr *e)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	gpu_val x = hn_lanes_value(l, e->arg[0]), y = hn_lanes_value(l, e->arg[1]);

	return e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX
		       ? l->g->lang->vector->pick(l->g, (enum hn_expr_op)e->op, t, l->n, x, y)
		       : l->g->lang->binary(l->g, (enum hn_expr_op)e->op, t, x, y, false);
}

static gpu_val call(struct lanes *l, const struct hn_expr *e)
{
	gpu_val x[2] = { NULL, NULL };

	for (uint32_t i = 0; i < e->n_arg && i < 2; i++) {
		x[i] = hn_lanes_value(l, e->arg[i]);
	}
	return l->g->lang->call(l->g, (enum hn_fn)e->ref, (enum hn_dtype)e->dtype, x);
}

bool hn_lanes_type(uint8_t t)
{
	return t == HN_F32 || t == HN_F64;
}

gpu_val hn_lanes_value(struct lanes *l, const struct hn_expr *e)
{
	struct gpu *g = l->g;

	if (!hn_expr_uses(e, l->slot)) {
		return g->lang->vector->spread(g, (enum hn_dtype)e->dtype, l->n,
					       hn_gpu_value(g, data_here(g, e)));
	}
	if (e->op == HN_EXPR_LOAD && step_of(l, e->arg[0]) == 1) {
		struct gpu_at at = hn_lanes_place(l, e->ref, e->arg[0]);

		return g->lang->vector->load(g, &at, l->n);
	}
	if (e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_MAX && e->op != HN_EXPR_FLOORDIV &&
	    e->op != HN_EXPR_FLOORMOD) {
		return binary(l, e);
	}
	return e->op == HN_EXPR_CALL ? call(l, e) : lane_by_lane(l, e);
}

/* ---- statements */

static bool is_monotone(struct lanes *l, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_AND) {
		return is_monotone(l, e->arg[0]) && is_monotone(l, e->arg[1]);
	}
	return !hn_expr_uses(e, l->slot) ||
	       (e->op >= HN_EXPR_LT && e->op <= HN_EXPR_GE && e->arg[0]->dtype == HN_I32 &&
		step_of(l, e->arg[0]) != ODD && step_of(l, e->arg[1]) != ODD);
}

/* A loop of n strips, each so many lanes further. */
void hn_lanes_begin(struct lanes *l, int64_t n, int64_t length)
{
	struct gpu *g = l->g;

	g->lang->begin_loop(g, l->slot, n, false);
	g->rank[l->slot] = ++g->depth + 1;
	g->span[l->slot] = (struct hn_span){ 0, n - 1 };
	l->base = hn_expr_binary(HN_EXPR_MUL, hn_expr_var(l->slot, HN_I32, NULL, g->a),
				 hn_expr_int(length, HN_I32, g->a), g->a);
	l->at = 0;
	hn_lanes_at(l, 0);
}

void hn_lanes_end(struct lanes *l, int64_t n)
{
	struct gpu *g = l->g;

	g->depth--;
	g->lang->end_loop(g, l->slot, n);
	l->base = NULL;
}

/* The lanes one after the other: in a loop, where no variable is chosen by the lane. */
static void one_by_one(struct lanes *l, const struct hn_device_node *n, bool loop)
{
	struct gpu *g = l->g;

	if (loop && l->base == NULL) {
		struct lanes inner = *l;

		hn_lanes_begin(&inner, l->n, 1);
		inner.at = l->at;
		hn_lanes_at(&inner, 0);
		l->walk(g, l->scope, n);
		hn_lanes_end(&inner, l->n);
		hn_lanes_at(l, 0);
		return;
	}
	for (uint32_t i = 0; i < l->n && g->rc == 0; i++) {
		hn_lanes_at(l, i);
		l->walk(g, l->scope, n);
	}
	hn_lanes_at(l, 0);
}

static void see_kept(const struct hn_expr *e, void *ctx)
{
	struct lanes *l = ((void **)ctx)[0];
	bool *kept = ((void **)ctx)[1];

	*kept |= e->op == HN_EXPR_LOAD && l->g->kept[e->ref] && hn_expr_uses(e->arg[0], l->slot);
}

bool hn_lanes_reads_variable(struct lanes *l, const struct hn_expr *e)
{
	bool kept = false;
	void *ctx[2] = { l, &kept };

	hn_expr_visit(e, see_kept, ctx);
	return kept;
}

static bool chooses_variable(struct lanes *l, const struct hn_device_node *n)
{
	bool kept = (n->kind == HN_DEVICE_STORE && l->g->kept[n->buffer]) ||
		    (n->e != NULL && hn_lanes_reads_variable(l, n->e));

	for (uint32_t i = 0; i < n->n_child && !kept; i++) {
		kept = chooses_variable(l, n->child[i]);
	}
	return kept;
}

static void statement(struct lanes *l, const struct hn_device_node *n);

static void statements(struct lanes *l, const struct hn_device_node *n)
{
	for (uint32_t i = 0; i < n->n_child && l->g->rc == 0; i++) {
		statement(l, n->child[i]);
	}
}

static void under(struct lanes *l, const struct hn_device_node *n)
{
	struct gpu *g = l->g;
	const struct hn_device_node one = { .kind = HN_DEVICE_SEQ, .n_child = 1, .child = &n };

	if (!is_monotone(l, n->e)) {
		one_by_one(l, &one, !chooses_variable(l, n));
		return;
	}
	const struct hn_expr *first = data_here(g, n->e), *last;

	hn_lanes_at(l, l->n - 1);
	last = data_here(g, n->e);
	hn_lanes_at(l, 0);
	const struct hn_expr *all = hn_simplify_data(hn_expr_binary(HN_EXPR_AND, first, last, g->a),
						     g->span, g->n_slot, g->a);

	if (all->op == HN_EXPR_INT) {
		if (all->u.i != 0) {
			statements(l, n);
		} else {
			one_by_one(l, &one, !chooses_variable(l, n));
		}
		return;
	}
	g->lang->begin_if(g, hn_gpu_guard(g, all));
	statements(l, n);
	g->lang->end_if(g);
	if (hn_expr_uses(n->e, l->slot)) {
		const struct hn_expr *not = hn_expr_with_args(
			&(struct hn_expr){ .op = HN_EXPR_NOT, .dtype = all->dtype }, &all, 1, g->a);

		g->lang->begin_if(g, hn_gpu_guard(g, not));
		one_by_one(l, &one, !chooses_variable(l, n));
		g->lang->end_if(g);
	}
}

static void statement(struct lanes *l, const struct hn_device_node *n)
{
	struct gpu *g = l->g;
	const struct hn_device_node one = { .kind = HN_DEVICE_SEQ, .n_child = 1, .child = &n };

	if (n->kind == HN_DEVICE_SEQ) {
		statements(l, n);
	} else if (n->kind == HN_DEVICE_IF) {
		under(l, n);
	} else if (hn_lanes_type(g->d->buffer[n->buffer].dtype) && step_of(l, n->at) == 1) {
		gpu_val v = hn_lanes_value(l, n->e);
		struct gpu_at at = hn_lanes_place(l, n->buffer, n->at);

		g->lang->vector->store(g, &at, l->n, v);
	} else {
		one_by_one(l, &one, false);
	}
}

/* Stores, some of them under conditions, of types that there are vectors of. */
static bool is_plain(const struct gpu *g, const struct hn_device_node *n, uint32_t *bytes)
{
	bool ok = n->kind == HN_DEVICE_SEQ || n->kind == HN_DEVICE_IF || n->kind == HN_DEVICE_LOOP;

	if (n->kind == HN_DEVICE_STORE) {
		enum hn_dtype t = (enum hn_dtype)g->d->buffer[n->buffer].dtype;

		*bytes = hn_dtype_bytes(t) > *bytes ? hn_dtype_bytes(t) : *bytes;
		return !n->async && hn_lanes_type((uint8_t)t);
	}
	for (uint32_t i = 0; i < n->n_child && ok; i++) {
		ok = n->child[i]->kind != HN_DEVICE_LOOP && is_plain(g, n->child[i], bytes);
	}
	return ok;
}

/* Neighbours become a vector, and nothing has to be put together lane by lane. */
bool hn_lanes_is_vector(const struct gpu *g, const struct hn_expr *e, int32_t slot)
{
	bool ok = hn_lanes_type(e->dtype) && e->op != HN_EXPR_CAST && e->op != HN_EXPR_LET &&
		  e->op != HN_EXPR_IF && e->op != HN_EXPR_SELECT;

	if (!hn_expr_uses(e, slot)) {
		return true;
	}
	if (e->op == HN_EXPR_LOAD) {
		return ok && whole_step(g, e->arg[0], slot) == 1;
	}
	for (uint32_t i = 0; i < e->n_arg && ok; i++) {
		ok = hn_lanes_is_vector(g, e->arg[i], slot);
	}
	return ok;
}

struct loads {
	int32_t buffer;
	const struct hn_expr *but; /* an index that does not count; NULL: all do */
	bool any;
};

static void see_buffer(const struct hn_expr *e, void *ctx)
{
	struct loads *l = ctx;

	l->any |= e->op == HN_EXPR_LOAD && e->ref == l->buffer &&
		  (l->but == NULL || !hn_expr_equal(e->arg[0], l->but));
}

bool hn_lanes_reads(const struct hn_expr *e, int32_t buffer, const struct hn_expr *but)
{
	struct loads l = { .buffer = buffer, .but = but };

	hn_expr_visit(e, see_buffer, &l);
	return l.any;
}

/* The one store in the loop; NULL: there is more, or less. */
const struct hn_device_node *hn_lanes_store(const struct hn_device_node *n)
{
	while ((n->kind == HN_DEVICE_SEQ || n->kind == HN_DEVICE_LOOP) && n->n_child == 1 &&
	       n->child[0]->kind != HN_DEVICE_LOOP) {
		n = n->child[0];
	}
	return n->kind == HN_DEVICE_STORE && !n->async ? n : NULL;
}

/* Turns of the loop make neighbours, of what no other turn makes. */
static bool is_independent(const struct gpu *g, const struct hn_device_node *n)
{
	const struct hn_device_node *s = hn_lanes_store(n);

	return s != NULL && hn_lanes_type(g->d->buffer[s->buffer].dtype) &&
	       !hn_lanes_reads(s->e, s->buffer, s->at) && whole_step(g, s->at, n->slot) == 1 &&
	       hn_lanes_is_vector(g, s->e, n->slot);
}

uint32_t hn_gpu_lanes_of(const struct gpu *g, const struct hn_device_node *n)
{
	uint32_t bytes = 4;

	return g->vector_bytes > 0 && n->kind == HN_DEVICE_LOOP && is_plain(g, n, &bytes) &&
			       (n->how == HN_DEVICE_LANES || is_independent(g, n))
		       ? hn_gpu_vector(g, bytes == 4 ? HN_F32 : HN_F64, n->extent)
		       : 1;
}

static void rest(struct lanes *l, const struct hn_device_node *n, int64_t from, uint32_t width)
{
	for (l->at = from; l->at < n->extent && l->g->rc == 0; l->at += l->n) {
		for (l->n = width; l->n > n->extent - l->at;) {
			l->n /= 2;
		}
		hn_lanes_at(l, 0);
		if (l->n > 1) {
			statements(l, n);
		} else {
			l->walk(l->g, l->scope, n);
		}
	}
}

void hn_gpu_lanes(struct gpu *g, const struct hn_device_node *n, uint32_t width,
		  hn_gpu_children *walk, struct scope *s)
{
	struct hn_span span = g->span[n->slot];
	struct lanes l = { .g = g, .slot = n->slot, .whole = span, .n = width, .walk = walk, .scope = s };
	int64_t strips = n->extent / width;

	if (strips <= HN_GPU_MOST_STRIPS || chooses_variable(&l, n)) {
		strips = 0;
	} else {
		hn_lanes_begin(&l, strips, width);
		statements(&l, n);
		hn_lanes_end(&l, strips);
		g->span[n->slot] = span;
	}
	rest(&l, n, strips * width, width);
	g->value[n->slot] = NULL;
}
