/* graph/op/rotary.c -- rotary embeddings: pairs of elements turned by angles of their place.
 *
 * `rotary` takes x of 4 dimensions, and cosines and sines [batch, places, turned / 2].  Its attributes:
 * at, the dimension of x that counts places; turned, how many of the last dimension are turned;
 * interleaved, whether a pair lies together or half of them apart.  Source: Su et al. (2021).
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

static int32_t not_fit(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *angle = hn_gcall_in(c, 1);

	return hn_graph_fail(c->g, HONE_E_INVALID, "%s of %s with cosines %s", c->node->op->name,
			     hn_shape_text(c->g->arena, x->rank, x->shape),
			     hn_shape_text(c->g->arena, angle->rank, angle->shape));
}

/* The cosines or sines of the places that operand 3 names, or as they are. */
static int32_t at_places(const struct hn_gcall *c, uint32_t operand)
{
	const int32_t in[] = { hn_gcall_arg(c, operand), hn_gcall_arg(c, 3) };

	return hn_gcall_in(c, 3) == NULL ? in[0] : hn_graph_add(c->g, "Gather", 2, in, 0, NULL);
}

int32_t hn_rotary_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *cos = hn_gcall_in(c, 1);
	int64_t heads = hn_gattr_int(c->node, "num_heads", 0), at = x->rank == 3 ? 1 : 2;
	int64_t turned = hn_gattr_int(c->node, "rotary_embedding_dim", 0);
	int64_t interleaved = hn_gattr_int(c->node, "interleaved", 0) != 0, shape[4];
	int32_t in[] = { hn_gcall_arg(c, 0), at_places(c, 1), at_places(c, 2) }, y;

	if (in[1] < 0 || in[2] < 0) {
		return HN_BAD;
	}
	if (x->rank < 3 || x->rank > 4 ||
	    (x->rank == 3 && (heads < 1 || x->shape[2] % heads != 0))) {
		return not_fit(c);
	}
	memcpy(shape, x->shape, x->rank * sizeof(*shape));
	if (x->rank == 3) {
		shape[3] = shape[2] / heads;
		shape[2] = heads;
	}
	turned = turned == 0 ? shape[3] : turned;
	cos = &c->g->value[in[1]];
	if (turned < 2 || turned % 2 != 0 || turned > shape[3] || cos->rank != 3 ||
	    cos->shape[0] != shape[0] || cos->shape[1] != shape[at] ||
	    cos->shape[2] != turned / 2 || cos->dtype != x->dtype ||
	    hn_gvalue_elements(&c->g->value[in[2]]) != hn_gvalue_elements(cos)) {
		return not_fit(c);
	}
	struct hn_gattr attr[] = { hn_gattr_of_ints("at", 1, &at),
				   hn_gattr_of_ints("turned", 1, &turned),
				   hn_gattr_of_ints("interleaved", 1, &interleaved) };

	in[0] = hn_reshaped(c->g, in[0], 4, shape);
	y = hn_graph_add(c->g, "rotary", 3, in, 3, attr);
	return hn_reshaped(c->g, y, x->rank, x->shape);
}

/* "X(..i) * C(..k) sign X(..pair) * S(..k)", of the place i3 and its pair. */
static void put_turn(struct hn_say *s, const struct hn_gnode *n, const hn_say_index *index,
		     const char *pair, const char *sign, const char *k)
{
	int64_t at = hn_gattr_int(n, "at", 1);
	hn_say_index angle[3], other[4];

	snprintf(angle[0], sizeof(angle[0]), "i0");
	snprintf(angle[1], sizeof(angle[1]), "i%lld", (long long)at);
	snprintf(angle[2], sizeof(angle[2]), "%s", k);
	memcpy(other, index, sizeof(other));
	snprintf(other[3], sizeof(other[3]), "%s", pair);
	hn_say_load(s, n->in[0], index);
	hn_say_text(s, " * ");
	hn_say_load(s, n->in[1], angle);
	hn_say_text(s, " %s ", sign);
	hn_say_load(s, n->in[0], other);
	hn_say_text(s, " * ");
	hn_say_load(s, n->in[2], angle);
}

void hn_rotary_say(struct hn_say *s, const struct hn_gnode *n)
{
	int64_t turned = hn_gattr_int(n, "turned", 2), half = turned / 2;
	bool interleaved = hn_gattr_int(n, "interleaved", 0) != 0;
	bool whole = turned == s->g->value[n->in[0]].shape[3];
	hn_say_index index[HN_GRAPH_MAX_RANK], pair, k;

	hn_say_indices(index, 4);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	if (!whole) {
		hn_say_text(s, "i3 >= %lld ? ", (long long)turned);
		hn_say_load(s, n->in[0], index);
		hn_say_text(s, " : ");
	}
	snprintf(pair, sizeof(pair), "i3 + %lld", interleaved ? 1LL : (long long)half);
	if (interleaved) {
		hn_say_text(s, "i3 %% 2 == 0 ? ");
	} else {
		hn_say_text(s, "i3 < %lld ? ", (long long)half);
	}
	put_turn(s, n, index, pair, "-", interleaved ? "i3 / 2" : "i3");
	hn_say_text(s, " : ");
	snprintf(pair, sizeof(pair), "i3 - %lld", interleaved ? 1LL : (long long)half);
	snprintf(k, sizeof(k), "i3 - %lld", (long long)half);
	put_turn(s, n, index, pair, "+", interleaved ? "i3 / 2" : k);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}
