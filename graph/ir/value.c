/* graph/ir/value.c -- what is known of values and attributes. */
#include <string.h>

#include "base/arith.h"
#include "base/buf.h"
#include "graph/ir/graph.h"

int64_t hn_gvalue_elements(const struct hn_gvalue *v)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < v->rank; d++) {
		n = hn_mul_sat(n, v->shape[d]);
	}
	return n;
}

uint64_t hn_gvalue_bytes(const struct hn_gvalue *v)
{
	return (uint64_t)hn_mul_sat(hn_gvalue_elements(v), hn_dtype_bytes(v->dtype));
}

const char *hn_shape_text(struct hn_arena *a, uint32_t rank, const int64_t *shape)
{
	struct hn_buf b;
	const char *s;

	hn_buf_init(&b);
	for (uint32_t d = 0; d < rank; d++) {
		hn_buf_printf(&b, "%s%lld", d > 0 ? "," : "", (long long)shape[d]);
	}
	s = hn_arena_printf(a, "[%s]", b.s);
	hn_buf_fini(&b);
	return s;
}

static int64_t element(const struct hn_gvalue *v, int64_t i)
{
	return v->fill ? 0 : i;
}

/* An integer of the type at p, widened. */
static int64_t load_int(enum hn_dtype t, const unsigned char *p)
{
	uint32_t bytes = hn_dtype_bytes(t), shift = 64 - 8 * bytes;
	uint64_t u = 0;

	memcpy(&u, p, bytes);
	return hn_dtype_class(t) == HN_CLASS_SIGNED ? (int64_t)(u << shift) >> shift : (int64_t)u;
}

bool hn_gvalue_int(const struct hn_gvalue *v, int64_t i, int64_t *ret)
{
	if (v == NULL || v->data == NULL || hn_dtype_class(v->dtype) == HN_CLASS_FLOAT ||
	    i < 0 || i >= hn_gvalue_elements(v)) {
		return false;
	}
	*ret = load_int(v->dtype, (const unsigned char *)v->data +
					  (size_t)element(v, i) * hn_dtype_bytes(v->dtype));
	return true;
}

bool hn_gvalue_number(const struct hn_gvalue *v, int64_t i, double *ret)
{
	int64_t n;

	if (v != NULL && v->data != NULL && hn_dtype_class(v->dtype) == HN_CLASS_FLOAT &&
	    i >= 0 && i < hn_gvalue_elements(v)) {
		_Alignas(8) char one[8]; /* the data may be a file's, of any alignment */
		size_t bytes = hn_dtype_bytes(v->dtype);

		memcpy(one, (const char *)v->data + (size_t)element(v, i) * bytes, bytes);
		*ret = hn_float_get(v->dtype, one, 0);
		return true;
	}
	if (!hn_gvalue_int(v, i, &n)) {
		return false;
	}
	*ret = (double)n;
	return true;
}

const struct hn_gattr *hn_gattr_find(const struct hn_gnode *n, const char *name)
{
	for (uint32_t i = 0; i < n->n_attr; i++) {
		if (strcmp(n->attr[i].name, name) == 0) {
			return &n->attr[i];
		}
	}
	return NULL;
}

int64_t hn_gattr_int(const struct hn_gnode *n, const char *name, int64_t otherwise)
{
	const struct hn_gattr *a = hn_gattr_find(n, name);

	return a != NULL && a->kind == HN_GATTR_INTS && a->n == 1 ? a->i[0] : otherwise;
}

double hn_gattr_float(const struct hn_gnode *n, const char *name, double otherwise)
{
	const struct hn_gattr *a = hn_gattr_find(n, name);

	return a != NULL && a->kind == HN_GATTR_FLOATS && a->n == 1 ? a->f[0] : otherwise;
}

const char *hn_gattr_string(const struct hn_gnode *n, const char *name, const char *otherwise)
{
	const struct hn_gattr *a = hn_gattr_find(n, name);

	return a != NULL && a->kind == HN_GATTR_STRING ? a->s : otherwise;
}

struct hn_gattr hn_gattr_of_int(struct hn_arena *a, const char *name, int64_t v)
{
	int64_t *i = HN_NEW(a, int64_t);

	*i = v;
	return hn_gattr_of_ints(name, 1, i);
}

struct hn_gattr hn_gattr_of_ints(const char *name, uint32_t n, const int64_t *v)
{
	return (struct hn_gattr){ .name = name, .kind = HN_GATTR_INTS, .n = n, .i = v };
}
