/* lower/gpu/gpu_unroll.c -- which loops are written out, and which arrays are registers.
 *
 * Registers have no addresses: an array of a thread's own is held in them only when every index of
 * it is a number.  So the loops whose variables stand in such indices are written out.  Where that
 * would be too much code, arrays stay in memory, the largest first.  Short loops
 * without barriers are written out, too: their loads are then in flight together, and their
 * indices are parts of the instructions.
 */
#include <string.h>

#include "base/arith.h"
#include "lower/device/device_role.h"
#include "lower/gpu/gpu_int.h"

#define CALL_SIZE 12	/* statements that a function is as long as */
#define CHOICE_SIZE 3	/* the same of a value of two sides */
#define LOOP_SIZE 12	/* the same of a loop that stays one: compilers look at each copy of it */
#define BARRIER_SIZE 12 /* the same of a barrier: on cores, all threads of a block in a loop up to it */
#define CORE_UNROLLED 64 /* of a loop on a core, which has few registers: its compiler makes the rest, */
#define CORE_SHORT 32	 /* and looks at each statement many times */
#define MOST_KEPT 1024 /* elements of a kernel's arrays: more than registers can be */

struct plan {
	struct gpu *g;
	bool *in_index; /* [n_slot] of an array of a thread's own */
	bool *moves;	/* [n_buffer] an index of it is no number, whatever is written out */
	bool *is_loop;	/* [n_slot] */
	uint32_t *lanes; /* [n_slot] that become one vector */
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
	} else if (e->op == HN_EXPR_VAR && p->lanes[e->ref] > 1 &&
		   hn_gpu_vector(p->g, (enum hn_dtype)p->g->d->buffer[p->buffer].dtype,
				 p->lanes[e->ref]) > 1) {
		uint8_t *v = &p->g->vector[p->buffer];

		*v = *v == 0 || p->lanes[e->ref] < *v ? (uint8_t)p->lanes[e->ref] : *v;
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
		p->lanes[n->slot] = hn_gpu_lanes_of(p->g, n);
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
		for (int i = 0; i < hn_device_n_from(n); i++) {
			see_index(p, n->warp->from[i], n->warp->from_at[i]);
			p->g->is_matrix[n->warp->from[i]] |= n->kind == HN_DEVICE_WGMMA;
		}
	}
	if (hn_role_is_word(n) && n->kind != HN_DEVICE_ROLE) {
		see_index(p, n->buffer, n->at);
	}
	if (n->kind == HN_DEVICE_BULK) {
		see_index(p, n->bulk->mbarrier, n->bulk->mbarrier_at);
		p->g->maps[n->bulk->map] = true;
		p->g->is_matrix[n->buffer] = true;
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

	if (n->kind == HN_DEVICE_BARRIER) {
		return BARRIER_SIZE;
	}

	if (n->e != NULL && ret > 0) {
		hn_expr_visit(n->e, see_size, &ret);
	}
	return ret;
}

/* How often the statements of a loop that is written out are written. */
static int64_t times_of(const struct plan *p, const struct hn_device_node *n)
{
	int64_t n_strip = hn_ceildiv(n->extent, p->lanes[n->slot]);

	return p->lanes[n->slot] > 1 && !p->in_index[n->slot] && n_strip > HN_GPU_MOST_STRIPS
		       ? 1
		       : n_strip;
}

/* Statements that are written when the loops of in_index are written out; saturates. */
static int64_t size_of(const struct plan *p, const struct hn_device_node *n)
{
	int64_t ret = own_size(n);

	for (uint32_t i = 0; i < n->n_child; i++) {
		ret += size_of(p, n->child[i]);
	}
	if (n->kind == HN_DEVICE_LOOP && p->in_index[n->slot]) {
		ret = ret > INT32_MAX / times_of(p, n) ? INT32_MAX : ret * times_of(p, n);
	} else if (n->kind == HN_DEVICE_LOOP) {
		ret += LOOP_SIZE;
	}
	return ret > INT32_MAX ? INT32_MAX : ret;
}

/* Statements that a loop is written out to, if it is asked for, and if not. */
static int64_t most_of(const struct gpu *g, bool asked)
{
	if (g->vector_bytes > 0) {
		return asked ? CORE_UNROLLED : CORE_SHORT;
	}
	return asked ? g->lang->most_unrolled : g->lang->most_short;
}

/* Decides each loop, innermost first; returns the statements that are written.  times: how often
 * the loops around it that are written out for arrays repeat it. */
static int64_t decide(struct plan *p, const struct hn_device_node *n, int64_t times,
		      bool *ret_waits)
{
	int64_t inside = times;
	int64_t size = own_size(n);
	bool waits = n->kind == HN_DEVICE_BARRIER || n->kind == HN_DEVICE_WAIT ||
		     n->kind == HN_DEVICE_COMMIT || n->kind == HN_DEVICE_AWAIT;

	if (n->kind == HN_DEVICE_LOOP && p->in_index[n->slot]) {
		inside *= times_of(p, n); /* of at most lang->most_written statements */
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		bool below = false;

		size += decide(p, n->child[i], inside, &below);
		waits = waits || below;
	}
	if (n->kind == HN_DEVICE_LOOP) {
		int64_t most = most_of(p->g, n->how == HN_DEVICE_UNROLLED);
		bool is_short = !waits && n->how != HN_DEVICE_ROLLED && size * times <= most / times_of(p, n);

		p->g->whole[n->slot] = p->in_index[n->slot] || is_short;
		if (p->g->whole[n->slot] || p->lanes[n->slot] > 1) {
			size *= times_of(p, n);
		} else {
			size += LOOP_SIZE;
		}
	}
	*ret_waits = waits;
	return size;
}

/* What is kept as things stand; returns whether that is little enough, and the largest of it. */
static bool count_kept(struct plan *p, int32_t *largest)
{
	const struct hn_device *d = p->g->d;
	int64_t elements = 0;

	*largest = -1;
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		bool local = d->buffer[i].memory == HN_MEMORY_LOCAL && p->g->used[i];
		uint8_t *v = &p->g->vector[i];

		p->g->kept[i] = local && !p->moves[i];
		*v = *v == 0 || d->buffer[i].n_elem % *v != 0 ? 1 : *v;
		if (p->g->kept[i]) {
			elements += d->buffer[i].n_elem / *v;
			if (*largest < 0 || d->buffer[i].n_elem > d->buffer[*largest].n_elem) {
				*largest = (int32_t)i;
			}
		}
	}
	/* a thread with a core to itself has the core's registers; what is more lies in memory anyhow */
	int64_t own = p->g->target->param[HN_PARAM_VECTOR_REGISTERS] * 5 / 4;

	return elements <= (p->g->vector_bytes > 0 ? own : MOST_KEPT) && size_of(p, p->g->k->body) <= p->g->lang->most_written;
}

/* What is too much goes to memory, the largest array first. */
static void decide_kept(struct plan *p)
{
	int32_t largest;

	p->again = true;
	see(p, p->g->k->body);
	while (!count_kept(p, &largest) && largest >= 0) {
		p->moves[largest] = true;
		memset(p->in_index, 0, p->g->n_slot * sizeof(p->in_index[0]));
		see(p, p->g->k->body);
	}
}

void hn_gpu_plan(struct gpu *g)
{
	struct plan p = { .g = g,
			  .in_index = HN_NEW_ARRAY(g->a, bool, g->n_slot),
			  .is_loop = HN_NEW_ARRAY(g->a, bool, g->n_slot),
			  .lanes = HN_NEW_ARRAY(g->a, uint32_t, g->n_slot),
			  .moves = HN_NEW_ARRAY(g->a, bool, g->d->n_buffer) };
	bool waits;

	see(&p, g->k->body);
	decide_kept(&p);
	(void)decide(&p, g->k->body, 1, &waits);
}
