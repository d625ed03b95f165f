/* lower/device/place_turn.c -- loops of which some is ahead of the rest (loopstate/nest/ring.h).
 *
 * What is ahead is placed twice: in a loop of its own, for the first iterations, and then in each
 * iteration of the loop, for one that comes later, under a condition where there is none.  The
 * condition is put on pieces, so that barriers stay between them.
 *
 * Copies that nobody waits for make one group for each iteration.  Before iteration t, as many
 * groups have begun as iterations are ahead, and t more; that of t itself has to be there.
 *
 * Where a warpgroup's product may end in the next turn (kind 3), what is ahead is so by one turn less:
 * it fills the copy that the product of two turns before has read.
 *
 * Kind 4 is kind 2 where no warpgroup multiplies; else place_bulk.c has it.
 */
#include "loopstate/nest/ring.h"
#include "lower/device/device_wgmma.h"
#include "lower/device/place_int.h"

void hn_place_in_turn(struct place *p, const struct hn_node *n, const struct bound *q, bool ahead,
		      struct draft *out)
{
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		if ((n->child[i]->ahead > 0) == ahead) {
			hn_place_node(p, n->child[i], q, out);
		}
	}
}

struct reading {
	int32_t of;
	bool any;
};

static void see_load(const struct hn_expr *e, void *ctx)
{
	struct reading *r = ctx;

	r->any = r->any || (e->op == HN_EXPR_LOAD && e->ref == r->of);
}

static void see_value(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, see_load, ctx);
}

static bool any_reads(const struct place *p, const struct hn_node *n, int32_t of)
{
	struct reading r = { .of = of };

	if (n->kind == HN_NODE_STMT) {
		hn_dag_op_exprs(p->t->dag->op[n->stage], see_value, &r);
	}
	for (uint32_t i = 0; i < n->n_child && !r.any; i++) {
		r.any = any_reads(p, n->child[i], of);
	}
	return r.any;
}

/* Whether what is ahead in the loop may come when it likes: nothing that is ahead, too, reads it. */
static bool may_fly(const struct place *p, const struct hn_node *n)
{
	for (uint32_t i = 0; i < n->n_child; i++) {
		for (uint32_t k = 0; k < n->n_child && n->child[i]->ahead > 0; k++) {
			if (n->child[k]->ahead > 0 &&
			    any_reads(p, n->child[k], n->child[i]->stage)) {
				return false;
			}
		}
	}
	return n->pipeline >= HN_PIPELINE_ASYNC;
}

/* A statement of every thread's: a commit, or a wait. */
static void flight(struct place *p, enum hn_device_kind kind, int64_t groups,
		   struct draft *out)
{
	struct draft *d = hn_place_draft(p, out);

	d->piece = true;
	d->node = (struct hn_device_node){ .kind = (uint8_t)kind, .extent = groups };
}

/* One turn needs none. */
struct draft *hn_place_turn_loop(struct place *p, const struct hn_node *n, int64_t extent,
				 struct draft *out)
{
	if (extent == 1) {
		p->value[n->loop] = hn_place_int(p, 0);
		return out;
	}
	int32_t slot = hn_place_slot(p, HN_I32, extent);

	out = hn_place_draft(p, out);
	out->node = (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
					     .slot = slot,
					     .extent = extent };
	out->stage = n->stage;
	out->loop = n->loop;
	p->value[n->loop] = hn_place_var(p, slot);
	return out;
}

/* What is ahead is so by one number, and comes first. */
static bool has_form(struct place *p, const struct hn_node *n, int64_t ahead_by)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < n->n_child; i++) {
		int32_t ahead = n->child[i]->ahead;

		if (ahead != 0 && ahead != ahead_by) {
			why = "has work that is ahead by different numbers";
		} else if (ahead != 0 && i > 0 && n->child[i - 1]->ahead == 0) {
			why = "has work that is ahead behind what is not";
		}
	}
	if (why != NULL) {
		hn_place_refuse(p, n->stage, "%s", why);
	}
	return why == NULL;
}

/* The first iterations' part of what is ahead; whether it has copies that nobody waits for. */
static bool place_first(struct place *p, const struct hn_node *n, const struct bound *q,
			int64_t most, struct draft *out)
{
	struct draft *first = hn_place_turn_loop(p, n, most, out);
	uint32_t n_async = p->n_async;

	first->first = first != out;
	hn_place_in_turn(p, n, q, /* ahead= */ true, first);
	if (p->n_async > n_async) {
		flight(p, HN_DEVICE_COMMIT, 0, first);
	}
	return p->n_async > n_async;
}

/* In iteration `turn`, what is ahead for a later one, where there is that. */
static void place_later(struct place *p, const struct hn_node *n, const struct bound *q,
			int64_t most, const struct hn_expr *turn, struct draft *out)
{
	const struct hn_expr *when = p->when;
	const struct hn_expr *there =
		hn_place_binary(p, HN_EXPR_LT, turn, hn_place_int(p, n->extent - most));

	p->when = when == NULL ? there : hn_place_binary(p, HN_EXPR_AND, when, there);
	p->value[n->loop] = hn_place_binary(p, HN_EXPR_ADD, turn, hn_place_int(p, most));
	hn_place_in_turn(p, n, q, /* ahead= */ true, out);
	p->when = when;
	p->value[n->loop] = turn;
}

void hn_place_turns(struct place *p, const struct hn_node *n, const struct bound *q,
		    struct draft *out)
{
	int64_t ahead = hn_ring_ahead(n);
	bool open = n->pipeline == HN_PIPELINE_OPEN && p->team == HN_WARPGROUP && ahead > 1;
	int64_t most = open ? ahead - 1 : ahead; /* a copy more stays as it is */
	struct phase *phase = HN_NEW_ARRAY(p->a, struct phase, 2);
	const struct phase *around = p->phase;
	bool async = p->async;

	if (!has_form(p, n, ahead)) {
		return;
	}
	if (n->pipeline == HN_PIPELINE_BULK && p->team == HN_WARPGROUP) {
		hn_place_bulk(p, n, q, out);
		return;
	}
	phase[0] = (struct phase){ n->loop, true, around };
	phase[1] = (struct phase){ n->loop, false, around };
	p->async = may_fly(p, n);
	bool flies = place_first(p, n, q, most, out);

	out = hn_place_turn_loop(p, n, n->extent, out);
	if (open && p->value[n->loop]->op == HN_EXPR_VAR) {
		p->open_slot = p->value[n->loop]->ref;
	}
	if (flies) {
		flight(p, HN_DEVICE_WAIT, most - 1, out);
	}
	p->phase = &phase[0];
	place_later(p, n, q, most, p->value[n->loop], out);
	p->async = async;
	if (flies) {
		flight(p, HN_DEVICE_COMMIT, 0, out);
	}
	p->phase = &phase[1];
	hn_place_in_turn(p, n, q, /* ahead= */ false, out);
	p->phase = around;
}
