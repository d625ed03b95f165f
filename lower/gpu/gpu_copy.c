/* lower/gpu/gpu_copy.c -- copies of boxes as loops over their elements, which every language has. */
#include <string.h>

#include "lower/gpu/gpu_int.h"

struct unboxed {
	const struct hn_device *d;
	struct hn_arena *a;
	uint8_t *type; /* [n] of the slots */
	uint32_t n;
};

static uint32_t count_slots(const struct hn_device_node *n)
{
	uint32_t ret = n->kind == HN_DEVICE_COPY ? n->copy->n_dim : 0;

	for (uint32_t i = 0; i < n->n_child; i++) {
		ret += count_slots(n->child[i]);
	}
	return ret;
}

static const struct hn_device_node *node_of(struct unboxed *u, struct hn_device_node n)
{
	struct hn_device_node *copy = HN_NEW(u->a, struct hn_device_node);

	*copy = n;
	return copy;
}

static const struct hn_expr *plus(struct unboxed *u, const struct hn_expr *at, int32_t slot,
				  int64_t stride)
{
	const struct hn_expr *x = hn_expr_binary(HN_EXPR_MUL, hn_expr_var(slot, HN_I32, NULL, u->a),
						 hn_expr_int(stride, HN_I32, u->a), u->a);

	return hn_expr_binary(HN_EXPR_ADD, at, x, u->a);
}

static const struct hn_device_node *loops_of(struct unboxed *u, const struct hn_device_node *n)
{
	const struct hn_device_copy *c = n->copy;
	const struct hn_expr *to = n->at, *from = c->from_at;
	int32_t slot[HN_DEVICE_MAX_DIM];

	for (uint32_t d = 0; d < c->n_dim; d++) {
		u->type[u->n] = HN_I32;
		slot[d] = (int32_t)u->n++;
		to = plus(u, to, slot[d], c->stride[d]);
		from = plus(u, from, slot[d], c->from_stride[d]);
	}
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = u->d->buffer[c->from].dtype,
				      .ref = c->from };
	const struct hn_device_node *ret = node_of(
		u, (struct hn_device_node){ .kind = HN_DEVICE_STORE,
					    .buffer = n->buffer,
					    .at = to,
					    .e = hn_expr_with_args(&like, &from, 1, u->a) });

	for (uint32_t d = c->n_dim; d-- > 0;) {
		const struct hn_device_node **child =
			HN_NEW_ARRAY(u->a, const struct hn_device_node *, 1);

		child[0] = ret;
		ret = node_of(u, (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
							  .slot = slot[d],
							  .extent = c->extent[d],
							  .n_child = 1,
							  .child = child });
	}
	return ret;
}

static const struct hn_device_node *rewrite(struct unboxed *u, const struct hn_device_node *n)
{
	if (n->kind == HN_DEVICE_COPY) {
		return loops_of(u, n);
	}
	struct hn_device_node copy = *n;
	const struct hn_device_node **child =
		HN_NEW_ARRAY(u->a, const struct hn_device_node *, n->n_child);

	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = rewrite(u, n->child[i]);
	}
	copy.child = child;
	return node_of(u, copy);
}

const struct hn_device_kernel *hn_gpu_without_copies(const struct hn_device *d,
						     const struct hn_device_kernel *k,
						     struct hn_arena *a)
{
	uint32_t more = count_slots(k->body);
	struct hn_device_kernel *ret = HN_NEW(a, struct hn_device_kernel);
	struct unboxed u = { d, a, HN_NEW_ARRAY(a, uint8_t, k->n_slot + more), k->n_slot };

	if (more == 0) {
		return k;
	}
	memcpy(u.type, k->type, k->n_slot);
	*ret = *k;
	ret->body = rewrite(&u, k->body);
	ret->type = u.type;
	ret->n_slot = u.n;
	return ret;
}
