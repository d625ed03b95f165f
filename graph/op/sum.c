/* graph/op/sum.c -- the type in which a template sums products up. */
#include "graph/op/sum.h"

static bool is_byte(enum hn_dtype t)
{
	return t == HN_I8 || t == HN_U8;
}

enum hn_dtype hn_sum_type(enum hn_dtype x, enum hn_dtype y)
{
	return is_byte(x) && is_byte(y) ? HN_I32 : x == y && x != HN_BOOL ? x : HN_N_DTYPE;
}

enum hn_dtype hn_sum_result(const struct hn_gnode *n, enum hn_dtype x, enum hn_dtype y)
{
	enum hn_dtype t = hn_sum_type(x, y);

	return t == x ? (enum hn_dtype)hn_gattr_int(n, "sum", t) : t;
}

/* While it is summed up. */
static enum hn_dtype type_of(const struct hn_say *s, int32_t v)
{
	enum hn_dtype t = s->g->value[v].dtype;

	return hn_dtype_is_narrow(t) ? HN_F32 : t;
}

uint32_t hn_sum_left(struct hn_say *s, int32_t v, const hn_say_index *index)
{
	const struct hn_gvalue *y = &s->g->value[v];
	uint32_t temp;

	if (type_of(s, v) == y->dtype) {
		hn_say_left(s, v, index);
		return 0;
	}
	temp = hn_say_temp(s);
	hn_say_text(s, "\t");
	hn_say_at(s, temp, y->rank, y->order, index);
	return temp;
}

void hn_sum_open(struct hn_say *s, int32_t v, enum hn_dtype t)
{
	if (type_of(s, v) != t) {
		hn_say_text(s, "%s(", hn_dtype_name(type_of(s, v)));
	}
}

void hn_sum_close(struct hn_say *s, int32_t v, enum hn_dtype t)
{
	hn_say_text(s, "%s", type_of(s, v) != t ? ")" : "");
}

void hn_sum_round_open(struct hn_say *s, int32_t v)
{
	enum hn_dtype t = s->g->value[v].dtype;

	if (type_of(s, v) != t) {
		hn_say_text(s, "%s(", hn_dtype_name(t));
	}
}

void hn_sum_round_close(struct hn_say *s, int32_t v)
{
	hn_say_text(s, "%s", type_of(s, v) != s->g->value[v].dtype ? ")" : "");
}

void hn_sum_end(struct hn_say *s, int32_t v, uint32_t temp, const hn_say_index *index)
{
	const struct hn_gvalue *y = &s->g->value[v];

	if (temp == 0) {
		return;
	}
	hn_say_left(s, v, index);
	hn_say_text(s, " = ");
	hn_sum_round_open(s, v);
	hn_say_at(s, temp, y->rank, y->order, index);
	hn_sum_round_close(s, v);
	hn_say_where(s, v, index);
	hn_say_end(s);
}
