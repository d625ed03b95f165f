/* lower/device/place_bulk.c -- copies of a pipeline as boxes of a tensor (PL's kind 4).
 *
 * A stage that holds a box of a tensor, as it is, comes by one bulk copy, or by as many as it has
 * blocks of columns (place_wgmma.c).  Here the copies of a turn stand before what the turn computes;
 * place_role.c gives them to a warpgroup of its own, which knows how far ahead it is.
 *
 * Outside of the tensor a box is filled with 0.
 */
#include "loopstate/nest/ring.h"
#include "lower/device/device_role.h"
#include "lower/device/place_int.h"

#define CHUNK 16 /* bytes */
#define LINE 128 /* bytes of shared memory that all banks hold */

struct boxes {
	struct place *p;
	int32_t stage, source;
	const struct hn_buffer *b;    /* in shared memory */
	const struct hn_buffer *from; /* in global memory */
	int64_t block;		      /* elements of a box's rows */
	int32_t map;
};

/* Elements in which chunks of the stage change places as a warpgroup reads them; 0: they do not. */
static int64_t row_of(const struct hn_buffer *b, int64_t bytes)
{
	const struct hn_swizzle *z = &b->swizzle;
	int64_t width = (bytes << z->unit) << z->bits;
	bool ok = z->bits > 0 && bytes << z->unit == CHUNK && width <= LINE &&
		  width << z->shift == LINE;

	for (uint32_t d = 0; d + 1 < b->n_dim; d++) {
		ok = ok && (d == z->row_dim || b->extent[d] == 1);
	}
	return ok && b->extent[b->n_dim - 1] % (width / bytes) == 0 ? width / bytes : 0;
}

static const char *why_none(struct boxes *x)
{
	struct place *p = x->p;
	const struct hn_op *op = p->t->dag->op[x->stage];
	const struct hn_expr *e = hn_place_copied(op);
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)op->dtype[0]);

	if (e == NULL || p->held[x->stage].memory != HN_MEMORY_SHARED || op->dtype[0] != e->dtype) {
		return "is no tensor's box in shared memory, as it is";
	}
	x->source = e->ref;
	x->from = &p->t->buffer[x->source];
	if (x->from->op < 0 || x->from->lifetime == HN_LIFETIME_LOOP || x->from->swizzle.bits > 0) {
		return "is a box of what does not lie in global memory";
	}
	x->block = row_of(x->b, bytes);
	if (x->b->n_dim > HN_DEVICE_MAP_DIM || x->b->n_dim < 2 || x->block == 0) {
		return "is not laid out as a warpgroup reads it (SW)";
	}
	for (uint32_t d = 0; d < x->b->n_dim; d++) {
		bool last = d + 1 == x->b->n_dim;

		if (last ? x->from->stride[d] != 1
			 : x->from->stride[d] * bytes % HN_MAP_ALIGN != 0 ||
				   x->b->extent[d] > HN_MAP_BOX) {
			return "has rows that are no multiple of 16 bytes, or more of them than a "
			       "box has";
		}
	}
	return NULL;
}

static void add_map(struct boxes *x)
{
	struct place *p = x->p;
	const struct hn_op *of = p->t->dag->op[x->source];
	const struct hn_expr *axis[HN_DAG_MAX_RANK];
	struct hn_device_map m = { .n_dim = x->b->n_dim };

	if (p->n_map == HN_DEVICE_MOST_MAPS) {
		hn_place_refuse(p, x->stage, "takes more than %d tensor maps", HN_DEVICE_MOST_MAPS);
	}
	for (uint32_t d = 0; d < m.n_dim; d++) {
		bool last = d + 1 == m.n_dim;

		axis[d] = hn_place_value(p, x->from->min[d], x->source);
		m.size[d] = of->shape[d];
		m.stride[d] = x->from->stride[d];
		m.box[d] = last ? x->block : x->b->extent[d];
	}
	(void)hn_place_element(p, x->source, axis, &m.buffer);
	m.swizzle = x->block * (int64_t)hn_dtype_bytes((enum hn_dtype)of->dtype[0]);
	m.name = hn_arena_printf(p->a, "%s.map%u", p->buffer[m.buffer].name, p->n_map);
	if (p->n_map == p->cap_map) {
		p->map = hn_arena_grow(p->a, p->map, p->n_map, &p->cap_map, sizeof(p->map[0]));
	}
	x->map = (int32_t)p->n_map;
	p->map[p->n_map++] = m;
}

/* The box from column `column` of the stage on. */
static void add_box(struct boxes *x, int64_t column, struct code *c)
{
	struct place *p = x->p;
	struct hn_device_bulk *k = HN_NEW(p->a, struct hn_device_bulk);
	struct hn_device_node n = { .kind = HN_DEVICE_BULK, .bulk = k };
	const struct hn_expr *axis[HN_DAG_MAX_RANK];

	k->map = x->map;
	k->mbarrier = -1; /* place_role.c */
	for (uint32_t d = 0; d < x->b->n_dim; d++) {
		int64_t more = d + 1 == x->b->n_dim ? column : 0;

		axis[d] = hn_place_binary(p, HN_EXPR_ADD,
					  hn_place_value(p, x->b->min[d], x->stage),
					  hn_place_int(p, more));
		k->from[d] = hn_simplify(
			hn_place_binary(p, HN_EXPR_SUB, axis[d],
					hn_place_value(p, x->from->min[d], x->source)),
			p->span, p->n_slot, p->a);
	}
	n.at = hn_place_element(p, x->stage, axis, &n.buffer);
	hn_place_add(p, c, n);
}

static void add_boxes(struct place *p, int32_t stage, struct code *c)
{
	struct boxes x = { .p = p, .stage = stage, .b = &p->t->buffer[stage] };
	const char *why = why_none(&x);

	if (why != NULL) {
		hn_place_refuse(p, stage, "is to come by bulk copies (PL), and %s", why);
		return;
	}
	add_map(&x);
	for (int64_t i = 0; i < x.b->extent[x.b->n_dim - 1]; i += x.block) {
		add_box(&x, i, c);
	}
	p->held[stage].full = p->held[stage].zero = HN_HELD_YES;
}

void hn_place_bulk(struct place *p, const struct hn_node *n, const struct bound *q,
		   struct draft *out)
{
	struct code c = { 0 };
	int64_t stages = hn_ring_ahead(n) + 1;

	if (p->bulk_slot >= 0 || p->block[2] != 1 ||
	    p->block[1] >= HN_ROLE_MOST) {
		hn_place_refuse(p, n->stage,
				"has a pipeline of bulk copies (PL), and its kernel has another one, "
				"or more than seven warpgroups");
		return;
	}
	out = hn_place_turn_loop(p, n, n->extent, out);
	p->bulk_slot = p->value[n->loop]->ref;
	p->bulk_loop = n->loop;
	p->bulk_turn = hn_place_turn(p, p->value[n->loop], n->extent);
	p->bulk_stages = stages;
	p->bulk_of = n->stage;
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		if (n->child[i]->ahead > 0) {
			add_boxes(p, n->child[i]->stage, &c);
		}
	}
	struct draft *d = hn_place_draft(p, out);

	d->piece = true;
	d->node = *hn_place_wrap(p, (struct hn_device_node){ .kind = HN_DEVICE_SEQ }, &c);
	hn_place_in_turn(p, n, q, /* ahead= */ false, out);
}
