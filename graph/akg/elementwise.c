/* graph/akg/elementwise.c -- operators of which an element needs one element of each operand.
 *
 * Operands of different types are computed in the type that has both (hn_akg_promoted).  A literal has
 * the type of the tensors beside it, as a number in a program has.
 */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

/* Operands from `first` on in one type, bool as `truth`; false after a failure. */
static bool operands(struct hn_akg_call *c, uint32_t first, enum hn_dtype truth, int32_t *in)
{
	enum hn_dtype t = HN_BOOL;
	bool any = false;

	memcpy(in, c->in, c->op->n_in * sizeof(*in));
	hn_akg_align(c, in);
	for (uint32_t k = first; k < c->op->n_in && !c->g->failed; k++) {
		if (c->op->in[k].value == NULL) {
			t = hn_akg_promoted(t, (enum hn_dtype)c->g->value[in[k]].dtype);
			any = true;
		}
	}
	for (uint32_t k = first; k < c->op->n_in && !c->g->failed; k++) {
		const struct hn_gvalue *x = &c->g->value[in[k]];

		if (c->op->in[k].value != NULL && (!any || (hn_is_float(x) && hn_dtype_class(t) != HN_CLASS_FLOAT))) {
			t = hn_akg_promoted(t, (enum hn_dtype)x->dtype);
		}
	}
	t = t == HN_BOOL ? truth : t;
	for (uint32_t k = first; k < c->op->n_in && !c->g->failed; k++) {
		in[k] = hn_cast_to(c->g, in[k], t);
	}
	return !c->g->failed;
}

static int32_t *room(struct hn_akg_call *c)
{
	return HN_NEW_ARRAY(c->g->arena, int32_t, c->op->n_in + 1);
}

static bool is_float_type(enum hn_dtype t)
{
	return hn_dtype_class(t) == HN_CLASS_FLOAT;
}

/* Operand 0; as the result's type where integers become a float. */
static int32_t as_float(struct hn_akg_call *c)
{
	enum hn_dtype to = (enum hn_dtype)c->op->out[0].dtype;

	return !hn_is_float(hn_akg_in(c, 0)) && is_float_type(to) ? hn_cast_to(c->g, c->in[0], to)
								  : c->in[0];
}

void hn_akg_unary(struct hn_akg_call *c)
{
	c->out[0] = hn_graph_1(c->g, c->row->as, as_float(c));
}

void hn_akg_square(struct hn_akg_call *c)
{
	c->out[0] = hn_graph_2(c->g, "Mul", c->in[0], c->in[0]);
}

/* Integers are whole. */
void hn_akg_whole(struct hn_akg_call *c)
{
	c->out[0] = hn_is_float(hn_akg_in(c, 0)) ? hn_graph_1(c->g, c->row->as, c->in[0]) : c->in[0];
}

void hn_akg_number_is(struct hn_akg_call *c)
{
	if (*c->row->as != '\0') {
		c->out[0] = hn_graph_1(c->g, c->row->as, c->in[0]);
		return;
	}
	c->out[0] = hn_graph_1(c->g, "Not",
			       hn_graph_2(c->g, "Or", hn_graph_1(c->g, "IsNaN", c->in[0]),
					  hn_graph_1(c->g, "IsInf", c->in[0])));
}

void hn_akg_logical(struct hn_akg_call *c)
{
	int32_t x = hn_cast_to(c->g, c->in[0], HN_BOOL);

	c->out[0] = c->op->n_in == 1 ? hn_graph_1(c->g, c->row->as, x)
				     : hn_graph_2(c->g, c->row->as, x,
						  hn_cast_to(c->g, c->in[1], HN_BOOL));
}

/* The least number that an Ascend core tells from 0. */
void hn_akg_add_least(struct hn_akg_call *c)
{
	enum hn_dtype t = (enum hn_dtype)hn_akg_in(c, 0)->dtype;

	c->out[0] = t == HN_F32	  ? hn_plus(c->g, c->in[0], 0x1p-126)
		    : t == HN_F16 ? hn_plus(c->g, c->in[0], 0x1p-24)
				  : c->in[0];
}

void hn_akg_zeros(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);

	c->out[0] = hn_akg_filled(c->g, (enum hn_dtype)x->dtype, x->rank, x->shape, 0);
}

void hn_akg_binary(struct hn_akg_call *c)
{
	int32_t *in = room(c);

	if (operands(c, 0, HN_I32, in)) {
		c->out[0] = hn_graph_add(c->g, c->row->as, c->op->n_in, in, 0, NULL);
	}
}

/* With the sign of the dividend. */
void hn_akg_mod(struct hn_akg_call *c)
{
	struct hn_gattr fmod = hn_gattr_of_int(c->g->arena, "fmod", 1);
	int32_t *in = room(c);

	if (operands(c, 0, HN_I32, in)) {
		c->out[0] = hn_graph_add(c->g, "Mod", 2, in, 1, &fmod);
	}
}

/* Integers: what is left of the dividend without its remainder is divided without one. */
void hn_akg_floor_div(struct hn_akg_call *c)
{
	int32_t *in = room(c), rest;

	if (!operands(c, 0, HN_I32, in)) {
		return;
	}
	if (hn_is_float(&c->g->value[in[0]])) {
		c->out[0] = hn_graph_1(c->g, "Floor", hn_graph_2(c->g, "Div", in[0], in[1]));
		return;
	}
	rest = hn_graph_2(c->g, "Mod", in[0], in[1]);
	c->out[0] = hn_graph_2(c->g, "Div", hn_graph_2(c->g, "Sub", in[0], rest), in[1]);
}

static int32_t compared(struct hn_graph *g, const char *op, int32_t x, int32_t y)
{
	return *op != '\0' ? hn_graph_2(g, op, x, y)
			   : hn_graph_1(g, "Not", hn_graph_2(g, "Equal", x, y));
}

void hn_akg_compare(struct hn_akg_call *c)
{
	int32_t *in = room(c);

	if (operands(c, 0, HN_I32, in)) {
		c->out[0] = compared(c->g, c->row->as, in[0], in[1]);
	}
}

void hn_akg_select(struct hn_akg_call *c)
{
	int32_t *in = room(c);

	if (operands(c, 1, HN_BOOL, in)) {
		in[0] = hn_cast_to(c->g, in[0], HN_BOOL);
		c->out[0] = hn_graph_add(c->g, "Where", 3, in, 0, NULL);
	}
}

/* A comparison of the first two operands chooses between the others. */
void hn_akg_select_by(struct hn_akg_call *c)
{
	int32_t *in = room(c), where[3];

	if (operands(c, 0, HN_I32, in)) {
		where[0] = compared(c->g, c->row->as, in[0], in[1]);
		where[1] = in[2];
		where[2] = in[3];
		c->out[0] = hn_graph_add(c->g, "Where", 3, where, 0, NULL);
	}
}

/* The type is made as the file says of the result; dst_type says it, too. */
void hn_akg_copy(struct hn_akg_call *c)
{
	const char *name = hn_akg_text(c, "dst_type", "");
	enum hn_dtype t = hn_dtype_of(name);

	c->out[0] = *name != '\0' && t != HN_N_DTYPE ? hn_cast_to(c->g, c->in[0], t) : c->in[0];
}
