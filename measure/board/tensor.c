/* tensor.c -- arguments read from the wire. */
#include "measure/board/tensor.h"

#include <string.h>

#include "base/arith.h"

static int parse_shape(const struct hn_json *shape, struct hn_arena *a,
		       struct hn_tensor *t, struct hn_err *err)
{
	int64_t *extent;
	uint32_t i = 0;

	if (shape == NULL || hn_json_kind(shape) != HN_JSON_ARRAY ||
	    hn_json_count(shape) > HN_TENSOR_MAX_DIM) {
		return hn_fail(err, HONE_E_INVALID, "args: %s: bad shape", t->name);
	}
	t->n_dim = hn_json_count(shape);
	extent = HN_NEW_ARRAY(a, int64_t, t->n_dim);
	t->n_elem = 1;
	for (const struct hn_json *e = hn_json_first(shape); e != NULL;
	     e = hn_json_next(e)) {
		if (!hn_json_int(e, &extent[i]) || extent[i] < 1) {
			return hn_fail(err, HONE_E_INVALID, "args: %s: bad extent",
				       t->name);
		}
		t->n_elem = hn_mul_sat(t->n_elem, extent[i++]);
	}
	t->shape = extent;
	t->bytes = hn_mul_sat(t->n_elem, hn_dtype_bytes(t->elem));
	if (t->bytes > HN_TENSOR_MAX_BYTES) {
		return hn_fail(err, HONE_E_INVALID, "args: %s: larger than memory",
			       t->name);
	}
	return 0;
}

static int parse_one(const struct hn_json *v, struct hn_arena *a, struct hn_tensor *t,
		     struct hn_err *err)
{
	const char *name = hn_json_string(hn_json_get(v, "name"));
	const char *dtype = hn_json_string(hn_json_get(v, "dtype"));

	if (name == NULL || dtype == NULL || strlen(name) > 200) {
		return hn_fail(err, HONE_E_INVALID, "args: name or dtype missing");
	}
	t->name = hn_arena_strdup(a, name);
	t->elem = hn_dtype_of(dtype);
	if (t->elem == HN_N_DTYPE) {
		return hn_fail(err, HONE_E_INVALID, "args: %s: unknown dtype \"%.40s\"",
			       name, dtype);
	}
	if (!hn_json_bool(hn_json_get(v, "output"), &t->output)) {
		return hn_fail(err, HONE_E_INVALID, "args: %s: output missing", name);
	}
	return parse_shape(hn_json_get(v, "shape"), a, t, err);
}

int hn_tensors_parse(const struct hn_json *args, struct hn_arena *a, uint32_t *ret_n,
		     struct hn_tensor **ret, struct hn_err *err)
{
	uint32_t n, i = 0;
	struct hn_tensor *t;

	if (args == NULL || hn_json_kind(args) != HN_JSON_ARRAY ||
	    hn_json_count(args) == 0 || hn_json_count(args) > HN_TENSOR_MAX_ARG) {
		return hn_fail(err, HONE_E_INVALID, "args: expected 1 to %d arguments",
			       HN_TENSOR_MAX_ARG);
	}
	n = hn_json_count(args);
	t = HN_NEW_ARRAY(a, struct hn_tensor, n);
	for (const struct hn_json *v = hn_json_first(args); v != NULL;
	     v = hn_json_next(v)) {
		int rc;

		if (hn_json_kind(v) != HN_JSON_OBJECT) {
			return hn_fail(err, HONE_E_INVALID, "args: expected objects");
		}
		rc = parse_one(v, a, &t[i++], err);
		if (rc != 0) {
			return rc;
		}
	}
	*ret_n = n;
	*ret = t;
	return 0;
}
