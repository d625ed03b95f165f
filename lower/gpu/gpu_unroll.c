/* lower/gpu/gpu_unroll.c -- which loops are written out, and which arrays are registers.
 *
 * Registers have no addresses: an array of a thread's own is held in them only when every index of
 * it is a number.  So the loops whose variables stand in such indices are written out.  Where that
 * would be too much code, the arrays stay in memory and nothing is done for them.  Short loops
 * without barriers are written out, too: their loads are then in flight together, and their
 * indices are parts of the instructions.
 */
#include "lower/gpu/gpu_int.h"

#define CALL_SIZE 12	/* statements that a function is as long as */
#define CHOICE_SIZE 3	/* the same of a value of two sides */
#define MOST_KEPT 1024 /* elements of a kernel's arrays: more than registers can be */

struct plan {
	struct gpu *g;
	bool *in_index; /* [n_slot] of an array of a thread's own */
	bool *moves;	/* [n_buffer] an index of it is no number, whatever is written out */
	bool *is_loop;	/* [n_slot] */
	int32_t buffer; /* whose index is looked at */
	bool again;	/* the second time, when `moves` is known */
};

static void see_slot(const struct hn_expr *e, void *ctx)
{
	struct plan *p = ctx;

	if (p->again && e->op == HN_EXPR_VAR) {
		p->in_index[e->ref] = true;
	}
	if ((e->op == HN_EXPR_VAR && !p->is_loop[e->ref]) || e->op == HN_EXPR_LOAD) {
		p->moves[p->buffer] = true;
	}
}

static void see_index(struct plan *p, int32_t buffer, const struct hn_expr *at)
{
	p->g->used[buffer] = true;
	if (p->g->d->buffer[buffer].memory == HN_MEMORY_LOCAL && !p->moves[buffer]) {
		p->buffer = buffer;
		hn_expr_visit(at, see_slot, p);
	}
}

static void see_load(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_LOAD) {
		see_index(ctx, e->ref, e->arg[0]);
	}
}

static void see(struct plan *p, const struct hn_device_node *n)
{
	if (n->kind == HN_DEVICE_LOOP) {
		p->is_loop[n->slot] = true;
	}
	if (n->e != NULL) {
		hn_expr_visit(n->e, see_load, p);
	}
	if (n->kind == HN_DEVICE_STORE) {
		hn_expr_visit(n->at, see_load, p);
		see_index(p, n->buffer, n->at);
		p->g->stored[n->buffer] = true;
	}
	if (n->warp != NULL) {
		see_index(p, n->buffer, n->at);
		for (int i = 0; i < (n->kind == HN_DEVICE_MMA ? 2 : 1); i++) {
			see_index(p, n->warp->from[i], n->warp->from_at[i]);
		}
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see(p, n->child[i]);
	}
}

static void see_size(const struct hn_expr *e, void *ctx)
{
	*(int64_t *)ctx += e->op == HN_EXPR_CALL			      ? CALL_SIZE
			   : e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT ? CHOICE_SIZE
									      : 0;
}

/* Of the node without its children, in statements of a sum. */
static int64_t own_size(const struct hn_device_node *n)
{
	int64_t ret = n->kind == HN_DEVICE_STORE || n->kind == HN_DEVICE_LET || n->warp != NULL;

	if (n->e != NULL && ret > 0) {
		hn_expr_visit(n->e, see_size, &ret);
	}
	return ret;
}

/* Statements that are written when the loops of in_index are written out; saturates. */
static int64_t size_of(const struct plan *p, const struct hn_device_node *n)
{
	int64_t ret = own_size(n);

	for (uint32_t i = 0; i < n->n_child; i++) {
		ret += size_of(p, n->child[i]);
	}
	if (n->kind == HN_DEVICE_LOOP && p->in_index[n->slot]) {
		ret = ret > INT32_MAX / n->extent ? INT32_MAX : ret * n->extent;
	}
	return ret > INT32_MAX ? INT32_MAX : ret;
}

/* Decides each loop, innermost first; returns the statements that are written.  times: how often
 * the loops around it that are written out for arrays repeat it. */
static int64_t decide(struct plan *p, const struct hn_device_node *n, int64_t times,
		      bool *ret_waits)
{
	int64_t inside = times;
	int64_t size = own_size(n);
	bool waits = n->kind == HN_DEVICE_BARRIER || n->kind == HN_DEVICE_WAIT ||
		     n->kind == HN_DEVICE_COMMIT;

	if (n->kind == HN_DEVICE_LOOP && p->in_index[n->slot]) {
		inside *= n->extent; /* of at most lang->most_written statements */
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		bool below = false;

		size += decide(p, n->child[i], inside, &below);
		waits = waits || below;
	}
	if (n->kind == HN_DEVICE_LOOP) {
		int64_t most = n->how == HN_DEVICE_UNROLLED ? p->g->lang->most_unrolled
							   : p->g->lang->most_short;
		bool is_short = !waits && size * times <= most / n->extent;

		p->g->whole[n->slot] = p->in_index[n->slot] || is_short;
		size *= p->g->whole[n->slot] ? n->extent : 1;
	}
	*ret_waits = waits;
	return size;
}

static void decide_kept(struct plan *p)
{
	const struct hn_device *d = p->g->d;
	int64_t elements = 0;

	for (uint32_t i = 0; i < d->n_buffer; i++) {
		bool local = d->buffer[i].memory == HN_MEMORY_LOCAL && p->g->used[i];

		p->g->kept[i] = local && !p->moves[i];
		elements += p->g->kept[i] ? d->buffer[i].n_elem : 0;
	}
	if (elements <= MOST_KEPT && size_of(p, p->g->k->body) <= p->g->lang->most_written) {
		return;
	}
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		p->g->kept[i] = false;
	}
	for (uint32_t s = 0; s < p->g->n_slot; s++) {
		p->in_index[s] = false;
	}
}

void hn_gpu_plan(struct gpu *g)
{
	struct plan p = { .g = g,
			  .in_index = HN_NEW_ARRAY(g->a, bool, g->n_slot),
			  .is_loop = HN_NEW_ARRAY(g->a, bool, g->n_slot),
			  .moves = HN_NEW_ARRAY(g->a, bool, g->d->n_buffer) };
	bool waits;

	see(&p, g->k->body);
	p.again = true;
	see(&p, g->k->body);
	decide_kept(&p);
	(void)decide(&p, g->k->body, 1, &waits);
}
