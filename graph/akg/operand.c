/* graph/akg/operand.c -- names, literals, and what the file says of operands and results. */
#include <string.h>

#include "graph/akg/call.h"
#include "graph/akg/import_int.h"
#include "graph/op/build.h"

#define UNKNOWN (-3)

struct hn_akg_def *hn_akg_find(struct hn_akg_importer *i, const char *name)
{
	int32_t *at = hn_names_at(&i->name, name, UNKNOWN);

	return *at == UNKNOWN ? NULL : &i->def[*at];
}

struct hn_akg_def *hn_akg_define(struct hn_akg_importer *i, const struct hn_akg_tensor *t, int32_t value)
{
	int32_t *at = hn_names_at(&i->name, t->name, UNKNOWN);

	i->def = hn_arena_grow(i->g->arena, i->def, i->n_def, &i->cap_def, sizeof(*i->def));
	*at = (int32_t)i->n_def;
	i->def[i->n_def] = (struct hn_akg_def){ .as = t, .value = value };
	return &i->def[i->n_def++];
}

/* -- literals --------------------------------------------------------------------------- */

static double number_of(const struct hn_json *v)
{
	bool flag = false;
	double d = 0;

	return hn_json_bool(v, &flag) ? flag : hn_json_double(v, &d) ? d : 0;
}

static int64_t elements_of(const struct hn_akg_tensor *t)
{
	const struct hn_gvalue v = { .rank = t->rank, .shape = t->shape };

	return hn_gvalue_elements(&v);
}

/* A list: each number rounded to the type. */
static int32_t list_literal(struct hn_akg_importer *i, const struct hn_akg_tensor *t)
{
	uint32_t bytes = hn_dtype_bytes((enum hn_dtype)t->dtype), n = hn_json_count(t->value), k = 0;
	char *data = hn_arena_alloc(i->g->arena, (size_t)n * bytes + 1);

	if (elements_of(t) != n) {
		return hn_graph_fail(i->g, HONE_E_INVALID, "%.80s has %u numbers for its shape %s",
				     t->name, n, hn_shape_text(i->g->arena, t->rank, t->shape));
	}
	for (const struct hn_json *e = hn_json_first(t->value); e != NULL; e = hn_json_next(e), k++) {
		int32_t one = hn_graph_scalar(i->g, (enum hn_dtype)t->dtype, number_of(e));

		memcpy(data + (size_t)k * bytes, i->g->value[one].data, bytes);
	}
	return hn_graph_const(i->g, t->name, (enum hn_dtype)t->dtype, t->rank, t->shape, data, false);
}

static int32_t literal(struct hn_akg_importer *i, const struct hn_akg_tensor *t)
{
	if (t->is_complex) {
		return hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "literal %.80s of complex numbers",
				     t->name);
	}
	return hn_json_kind(t->value) == HN_JSON_ARRAY
		       ? list_literal(i, t)
		       : hn_akg_filled(i->g, (enum hn_dtype)t->dtype, t->rank, t->shape,
				       number_of(t->value));
}

/* -- operands and results --------------------------------------------------------------- */

bool hn_akg_may_be(uint32_t rank, const int64_t *shape, const struct hn_akg_tensor *t)
{
	for (uint32_t d = 0; d < rank && rank == t->rank; d++) {
		if (shape[d] != t->shape[d] && shape[d] != -1 && t->shape[d] != -1) {
			return false;
		}
	}
	return rank == t->rank;
}

int32_t hn_akg_operand(struct hn_akg_importer *i, const struct hn_akg_tensor *t)
{
	const struct hn_akg_def *d = t->value != NULL ? NULL : hn_akg_find(i, t->name);

	if (t->value != NULL) {
		return literal(i, t);
	}
	if (d == NULL) {
		return hn_graph_fail(i->g, HONE_E_INVALID,
				     "operand %.80s is no input and no result of an operator before",
				     t->name);
	}
	if (d->as->dtype != t->dtype || d->as->is_complex != t->is_complex ||
	    !hn_akg_may_be(d->as->rank, d->as->shape, t)) {
		return hn_graph_fail(i->g, HONE_E_INVALID,
				     "operand %.80s has another type or shape where it is defined",
				     t->name);
	}
	return d->value;
}

/* The shape without dimensions of one element. */
static uint32_t squeezed(uint32_t rank, const int64_t *shape, int64_t *ret)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < rank; d++) {
		if (shape[d] != 1) {
			ret[n++] = shape[d];
		}
	}
	return n;
}

int32_t hn_akg_settle(struct hn_graph *g, int32_t v, const struct hn_akg_tensor *t, bool is_pair)
{
	int64_t is[HN_GRAPH_MAX_RANK], said[HN_GRAPH_MAX_RANK], pair[HN_GRAPH_MAX_RANK + 1];
	struct hn_akg_tensor as = *t;
	const struct hn_gvalue *x;
	uint32_t n, n_said;

	if (is_pair) {
		memcpy(pair, t->shape, t->rank * sizeof(*pair));
		pair[as.rank++] = 2;
		as.shape = pair;
	}
	v = hn_cast_to(g, v, (enum hn_dtype)as.dtype);
	if (v < 0 || hn_akg_may_be(g->value[v].rank, g->value[v].shape, &as)) {
		return v;
	}
	x = &g->value[v];
	n = squeezed(x->rank, x->shape, is);
	n_said = as.rank > HN_GRAPH_MAX_RANK ? HN_GRAPH_MAX_RANK + 1 : squeezed(as.rank, as.shape, said);
	if (n != n_said || memcmp(is, said, n * sizeof(*is)) != 0) {
		return hn_graph_fail(g, HONE_E_INVALID,
				     "result %.80s is %s by its operands, and the file says %s", t->name,
				     hn_shape_text(g->arena, x->rank, x->shape),
				     hn_shape_text(g->arena, as.rank, as.shape));
	}
	return hn_reshaped(g, v, as.rank, as.shape);
}
