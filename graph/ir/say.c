/* graph/ir/say.c -- a template's statements. */
#include "graph/ir/say.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void hn_say_indices(hn_say_index *ret, uint32_t rank)
{
	for (uint32_t d = 0; d < rank; d++) {
		snprintf(ret[d], sizeof(ret[d]), "i%u", d);
	}
}

void hn_say_text(struct hn_say *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hn_buf_vprintf(s->b, fmt, ap);
	va_end(ap);
}

static void put_indices(struct hn_say *s, uint32_t rank, const uint8_t *order,
			const hn_say_index *index)
{
	for (uint32_t k = 0; k < rank; k++) {
		hn_say_text(s, "%s%s", k > 0 ? "," : "(",
			    index[order != NULL ? order[k] : k]);
	}
	hn_buf_puts(s->b, rank > 0 ? ")" : "");
}

void hn_say_tensor(struct hn_say *s, int32_t v, const hn_say_index *index)
{
	hn_say_text(s, "T%u", s->name[v]);
	put_indices(s, s->g->value[v].rank, s->g->value[v].order, index);
}

void hn_say_left(struct hn_say *s, int32_t v, const hn_say_index *index)
{
	hn_say_text(s, "\t");
	hn_say_tensor(s, v, index);
}

/* The largest number of a signed integer's type. */
static int64_t most(enum hn_dtype t)
{
	return (int64_t)(((uint64_t)1 << hn_dtype_bits(t)) - 1);
}

void hn_say_number(struct hn_say *s, enum hn_dtype t, double v)
{
	const char *type = hn_dtype_name(t);

	if (hn_dtype_class(t) == HN_CLASS_SIGNED && v < 0 && v == floor(v) && v >= -0x1p63) {
		hn_say_int(s, t, (int64_t)v);
	} else if (isnan(v)) {
		hn_say_text(s, "%s(nan)", type);
	} else if (isinf(v)) {
		hn_say_text(s, v < 0 ? "(-%s(inf))" : "%s(inf)", type);
	} else {
		hn_say_text(s, v < 0 ? "(-%s(" : "%s(", type);
		hn_buf_double(s->b, fabs(v));
		hn_buf_puts(s->b, v < 0 ? "))" : ")");
	}
}

void hn_say_int(struct hn_say *s, enum hn_dtype t, int64_t v)
{
	if (t == HN_BOOL) {
		hn_buf_puts(s->b, v != 0 ? "true" : "false");
	} else if (v < 0 && v == -1 - most(t)) { /* its opposite does not fit */
		hn_say_text(s, "(-%s(%lld) - %s(1))", hn_dtype_name(t), (long long)most(t),
			    hn_dtype_name(t));
	} else if (v < 0) {
		hn_say_text(s, "(-%s(%lld))", hn_dtype_name(t), (long long)-v);
	} else {
		hn_say_text(s, "%s(%llu)", hn_dtype_name(t), (unsigned long long)v);
	}
}

void hn_say_int_of(struct hn_say *s, enum hn_dtype t, int64_t v)
{
	if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
		hn_say_number(s, t, (double)v);
	} else {
		hn_say_int(s, t, v);
	}
}

/* A constant of one element is a number in the text, unless it is to be an operand: true when v is
 * one. */
static bool put_constant(struct hn_say *s, const struct hn_gvalue *v)
{
	int64_t i;
	double f;

	if (v->data == NULL || v->operand || hn_gvalue_elements(v) != 1) {
		return false;
	}
	if (hn_gvalue_int(v, 0, &i)) {
		hn_say_int(s, v->dtype, i);
	} else if (hn_gvalue_number(v, 0, &f)) {
		hn_say_number(s, v->dtype, f);
	}
	return true;
}

void hn_say_load(struct hn_say *s, int32_t v, const hn_say_index *index)
{
	const struct hn_gvalue *value = &s->g->value[v];

	if (!put_constant(s, value)) {
		hn_say_tensor(s, v, index);
	}
}

void hn_say_broadcast(struct hn_say *s, int32_t v, int32_t to, uint32_t direct,
		      const hn_say_index *index)
{
	const struct hn_gvalue *value = &s->g->value[v], *wide = &s->g->value[to];
	uint32_t skip = wide->rank - value->rank;
	hn_say_index mine[HN_GRAPH_MAX_RANK];

	for (uint32_t d = 0; d < value->rank; d++) {
		bool one = value->shape[d] == 1 && wide->shape[skip + d] != 1 &&
			   d + direct < value->rank;

		snprintf(mine[d], sizeof(mine[d]), "%s", one ? "0" : index[skip + d]);
	}
	hn_say_load(s, v, mine);
}

void hn_say_range(struct hn_say *s, const char *index, int64_t extent)
{
	hn_say_text(s, "%s%s in 0:%lld", s->ranges++ == 0 ? "  where " : ", ", index,
		    (long long)extent);
}

void hn_say_where(struct hn_say *s, int32_t v, const hn_say_index *index)
{
	const struct hn_gvalue *value = &s->g->value[v];

	for (uint32_t k = 0; k < value->rank; k++) {
		uint32_t d = value->order != NULL ? value->order[k] : k;

		hn_say_range(s, index[d], value->shape[d]);
	}
}

void hn_say_end(struct hn_say *s)
{
	hn_buf_putc(s->b, '\n');
	s->ranges = 0;
}

uint32_t hn_say_temp(struct hn_say *s)
{
	return ++s->n_temp;
}

void hn_say_at(struct hn_say *s, uint32_t temp, uint32_t rank, const uint8_t *order,
	       const hn_say_index *index)
{
	hn_say_text(s, "P%u", temp);
	put_indices(s, rank, order, index);
}
