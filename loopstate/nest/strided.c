/* loopstate/nest/strided.c -- see strided.h. */
#include "loopstate/nest/strided.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"

int64_t hn_strided_span(const struct hn_buffer *b)
{
	int64_t last = 0;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		last = hn_add_sat(last, hn_mul_sat(b->extent[d] - 1, b->stride[d]));
	}
	return hn_add_sat(last, 1);
}

int64_t hn_strided_place(const struct hn_buffer *b, int64_t at)
{
	int64_t place = 0;

	for (uint32_t d = b->n_dim; d-- > 0; at /= b->extent[d]) {
		place += at % b->extent[d] * b->stride[d];
	}
	return place;
}

/* A number of at most 2^62 at *p, behind it what is left. */
static bool read_number(const char **p, int64_t *ret)
{
	char *end;

	if (**p < '0' || **p > '9') {
		return false;
	}
	errno = 0;
	*ret = strtoll(*p, &end, 10);
	*p = end;
	return errno == 0 && *ret <= HN_EXTENT_MAX;
}

/* Each step along a dimension goes past all that lies within it. */
static bool keeps_apart(const struct hn_buffer *b)
{
	int64_t within = 1;

	for (uint32_t d = b->n_dim; d-- > 0;) {
		if (b->extent[d] > 1 && b->stride[d] < within) {
			return false;
		}
		within = hn_add_sat(within, hn_mul_sat(b->extent[d] - 1, b->stride[d]));
	}
	return within < HN_EXTENT_MAX;
}

/* One "ARG:STRIDE,.." at *p. */
static int read_one(const struct hn_dag *dag, const char **p, struct hn_buffer *buffer,
		    struct hn_arena *a, struct hn_err *err)
{
	struct hn_buffer *b;
	int64_t arg = -1, *stride;
	bool good = read_number(p, &arg) && **p == ':';

	if (!good || arg >= dag->n_arg) {
		return hn_fail(err, HONE_E_INVALID,
			       "strides: want ARG:STRIDE,.. with one of %u arguments at '%.40s'",
			       dag->n_arg, *p);
	}
	b = &buffer[dag->arg[arg]];
	stride = HN_NEW_ARRAY(a, int64_t, b->n_dim);
	for (uint32_t d = 0; good && d < b->n_dim; d++) {
		good = **p == (d == 0 ? ':' : ',');
		*p += good;
		good = good && read_number(p, &stride[d]);
	}
	b->stride = stride;
	if (!good || b->n_dim == 0 || (**p != '\0' && **p != ';')) {
		return hn_fail(err, HONE_E_INVALID, "strides: argument %lld has %u dimensions",
			       (long long)arg, b->n_dim);
	}
	*p += **p == ';';
	return keeps_apart(b) ? 0
			      : hn_fail(err, HONE_E_INVALID,
					"strides: two elements of argument %lld would share a place",
					(long long)arg);
}

int hn_looptree_stride(const struct hn_looptree *t, const char *text, struct hn_arena *a,
		       const struct hn_looptree **ret, struct hn_err *err)
{
	struct hn_looptree *strided = HN_NEW(a, struct hn_looptree);
	struct hn_buffer *buffer = HN_NEW_ARRAY(a, struct hn_buffer, t->dag->n_op);
	int rc = 0;

	if (t->dag->sizes != NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "strides: not where sizes are parameters of the kernel");
	}
	memcpy(buffer, t->buffer, t->dag->n_op * sizeof(*buffer));
	for (const char *p = text; rc == 0 && *p != '\0';) {
		rc = read_one(t->dag, &p, buffer, a, err);
	}
	*strided = *t;
	strided->buffer = buffer;
	*ret = strided;
	return rc;
}
