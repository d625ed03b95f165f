/* loopstate/read/dag_json.c -- reading compute-dag/1: the document and its ops.
 *
 * Reads into the arena, one op at a time, each checked before the next is read; the
 * document can be freed afterwards.  Messages name the place by path.  The checks
 * themselves are in dag_type.c, dag_check.c and dag_range.c and serve dags from anywhere.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_json_priv.h"
#include "loopstate/read/dag_read.h"

/* Deep paths show their two ends. */
#define PATH_ENDS 8

static void path_text(const struct hn_json_path *at, struct hn_buf *buf)
{
	const struct hn_json_path *seg[HN_DAG_MAX_DEPTH + 32];
	uint32_t n = 0;

	for (; at != NULL && n < HN_COUNT_OF(seg); at = at->up) {
		seg[n++] = at;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_json_path *s = seg[n - 1 - i];

		if (n > 2 * PATH_ENDS && i >= PATH_ENDS && i < n - PATH_ENDS) {
			hn_buf_puts(buf, i == PATH_ENDS ? "[...]" : "");
			continue;
		}
		if (s->text != NULL) {
			hn_buf_puts(buf, s->text);
		} else {
			hn_buf_printf(buf, "[%" PRIu32 "]", s->index);
		}
		if (s->note != NULL) {
			hn_buf_printf(buf, " (%s)", s->note);
		}
	}
}

int hn_dag_read_fail(const struct hn_dag_reader *r, const struct hn_json_path *at,
		     int code, const char *fmt, ...)
{
	char msg[600];
	struct hn_buf path;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	hn_buf_init(&path);
	path_text(at, &path);
	int rc = path.n > 0
			 ? hn_fail(r->err, code, "%s: %.300s: %s", r->what, path.s, msg)
			 : hn_fail(r->err, code, "%s: %s", r->what, msg);

	hn_buf_fini(&path);
	return rc;
}

#define FAIL(r, at, ...) hn_dag_read_fail(r, at, HONE_E_INVALID, __VA_ARGS__)

/* An extent: a number, or a form over sizes, whose largest value *ret is. */
static int read_extent(struct hn_dag_reader *r, const struct hn_json *v,
		       const struct hn_op *op, const struct hn_json_path *at,
		       int64_t *ret, const struct hn_expr **ret_form)
{
	struct hn_expr_reader x = { .dag = r,
				    .at = { op, r->op, 0, false },
				    .scope = r->size_names };
	int64_t lo;

	*ret_form = NULL;
	if (hn_json_int(v, ret)) {
		return 0;
	}
	if (r->sizes == NULL) {
		return FAIL(r, at, "must be a whole number");
	}
	const struct hn_expr *form = hn_dag_read_expr(&x, v, at);

	if (form == NULL) {
		return -HONE_E_INVALID;
	}
	if (!hn_size_range(r->sizes, form, &lo, ret)) {
		return FAIL(r, at, "must be a number or a sum of multiples of sizes");
	}
	*ret_form = hn_size_form(form, r->a);
	return 0;
}

/* What the op keeps of the forms read: those of its shape, which its spatial axes must
 * repeat, then those of its reduction axes. */
static int keep_extents(struct hn_dag_reader *r, struct hn_op *op,
			const struct hn_expr *const *shape,
			const struct hn_expr *const *axis, const struct hn_json_path *at)
{
	uint32_t n = op->n_dim + op->n_reduce;
	const struct hn_expr **keep = HN_NEW_ARRAY(r->a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		keep[i] = i < op->n_dim ? shape[i] : axis[op->n_spatial + i - op->n_dim];
	}
	for (uint32_t i = 0; i < op->n_spatial && i < op->n_dim; i++) {
		bool same = (shape[i] == NULL) == (axis[i] == NULL) &&
			    (shape[i] == NULL || hn_expr_equal(shape[i], axis[i]));

		if (!same) {
			return FAIL(r, at,
				    "axes[%" PRIu32 "]: another extent than shape[%" PRIu32
				    "]",
				    i, i);
		}
	}
	op->sizes = r->sizes;
	op->extent = r->sizes != NULL ? keep : NULL;
	return 0;
}

static int read_shape(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		      const struct hn_expr **form, const struct hn_json_path *at)
{
	const struct hn_json *list;
	int rc = hn_dag_need_list(r, v, "shape", HN_DAG_MAX_RANK, at, &list, &op->n_dim);

	if (rc != 0) {
		return rc;
	}
	int64_t *shape = HN_NEW_ARRAY(r->a, int64_t, op->n_dim);
	const struct hn_json *c = hn_json_first(list);

	for (uint32_t d = 0; d < op->n_dim && rc == 0; d++, c = hn_json_next(c)) {
		const struct hn_json_path key = { at, ".shape", 0, NULL },
					  place = { &key, NULL, d, NULL };

		rc = read_extent(r, c, op, &place, &shape[d], &form[d]);
	}
	op->shape = shape;
	return rc;
}

static int read_dtype(struct hn_dag_reader *r, const struct hn_json *v,
		      const struct hn_json_path *at, uint8_t *ret)
{
	const char *s = v != NULL ? hn_json_string(v) : NULL;

	if (s == NULL) {
		return FAIL(r, at, "'dtype' must be the name of a type");
	}
	if (hn_dtype_of(s) == HN_N_DTYPE) {
		return hn_dag_read_fail(r, at, HONE_E_UNSUPPORTED,
					"dtype '%.40s' is not supported%s", s,
					hn_dag_known_types(s, r->a));
	}
	*ret = (uint8_t)hn_dtype_of(s);
	return 0;
}

static int read_dtypes(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		       const struct hn_json_path *at)
{
	const struct hn_json *list = hn_json_get(v, "dtype");
	bool many = list != NULL && hn_json_kind(list) == HN_JSON_ARRAY;

	op->n_out = many ? hn_json_count(list) : 1;
	if (op->n_out == 0 || op->n_out > HN_DAG_MAX_OUT ||
	    (op->kind == HN_OP_PLACEHOLDER && op->n_out != 1)) {
		return FAIL(
			r, at, "'dtype' names %" PRIu32 " outputs, 1 to %d are allowed",
			op->n_out, op->kind == HN_OP_PLACEHOLDER ? 1 : HN_DAG_MAX_OUT);
	}
	uint8_t *dtype = HN_NEW_ARRAY(r->a, uint8_t, op->n_out);
	const struct hn_json *c = many ? hn_json_first(list) : list;
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < op->n_out;
	     k++, c = many ? hn_json_next(c) : c) {
		rc = read_dtype(r, c, at, &dtype[k]);
	}
	op->dtype = dtype;
	return rc;
}

static int read_axis(struct hn_dag_reader *r, const struct hn_json *v,
		     struct hn_op *op, uint32_t i, const struct hn_json_path *at,
		     struct hn_axis *ret, const struct hn_expr **form)
{
	const struct hn_json *c =
		hn_json_kind(v) == HN_JSON_ARRAY ? hn_json_first(v) : NULL;
	int64_t number;

	if (c == NULL || hn_json_count(v) != 3 || hn_json_string(c) == NULL ||
	    !hn_json_int(hn_json_next(c), &ret->min)) {
		return FAIL(r, at, "an axis is [name, min, extent] with whole numbers");
	}
	ret->name = hn_arena_strdup(r->a, hn_json_string(c));
	c = hn_json_next(hn_json_next(c));
	if (i >= op->n_spatial && !hn_json_int(c, &number)) {
		*form = NULL;
		return hn_dag_read_ragged(r, c, op, i, at, ret, form);
	}
	return read_extent(r, c, op, at, &ret->extent, form);
}

static int read_axes(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		     const struct hn_expr **form, const struct hn_json_path *at)
{
	const struct hn_json *list[2];
	int rc = hn_dag_need_list(r, v, "axes", HN_DAG_MAX_RANK, at, &list[0],
				  &op->n_spatial);

	if (rc == 0) {
		rc = hn_dag_read_list(r, v, "reduce_axes",
				      HN_DAG_MAX_ITERS - HN_DAG_MAX_RANK, at, &list[1],
				      &op->n_reduce);
	}
	if (rc != 0) {
		return rc;
	}
	struct hn_axis *axis =
		HN_NEW_ARRAY(r->a, struct hn_axis, op->n_spatial + op->n_reduce);
	uint32_t n = 0;

	op->axis = axis;
	for (int k = 0; k < 2; k++) {
		const struct hn_json_path key = { at, k ? ".reduce_axes" : ".axes", 0,
						  NULL };
		const struct hn_json *c = list[k] != NULL ? hn_json_first(list[k]) : NULL;

		for (uint32_t i = 0; c != NULL; c = hn_json_next(c), i++) {
			const struct hn_json_path place = { &key, NULL, i, NULL };

			if ((rc = read_axis(r, c, op, n, &place, &axis[n], &form[n])) != 0) {
				return rc;
			}
			n++;
		}
	}
	return 0;
}

static void read_attr(struct hn_dag_reader *r, const struct hn_json *v,
		      struct hn_attr *ret)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_json_write(v, &buf);
	ret->name = hn_arena_strdup(r->a, hn_json_key(v));
	ret->json = hn_arena_strdup(r->a, buf.s);
	hn_buf_fini(&buf);
	if (!hn_dag_all_strings(v)) {
		return;
	}
	ret->n_item = hn_json_count(v);
	const char **item = HN_NEW_ARRAY(r->a, const char *, ret->n_item);
	const struct hn_json *c = hn_json_first(v);

	for (uint32_t i = 0; i < ret->n_item; i++, c = hn_json_next(c)) {
		item[i] = hn_arena_strdup(r->a, hn_json_string(c));
	}
	ret->item = item;
}

static int read_attrs(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		      const struct hn_json_path *at)
{
	const struct hn_json *attrs = hn_json_get(v, "attrs");

	if (attrs == NULL || hn_json_kind(attrs) == HN_JSON_NULL) {
		return 0;
	}
	if (hn_json_kind(attrs) != HN_JSON_OBJECT) {
		return FAIL(r, at, "'attrs' must be an object, found %s",
			    hn_json_kind_name(attrs));
	}
	op->n_attr = hn_json_count(attrs);
	struct hn_attr *attr = HN_NEW_ARRAY(r->a, struct hn_attr, op->n_attr);
	const struct hn_json *c = hn_json_first(attrs);

	for (uint32_t i = 0; i < op->n_attr; i++, c = hn_json_next(c)) {
		if (!hn_name_fits(hn_json_key(c), HN_DAG_MAX_NAME)) {
			return FAIL(r, at, "'attrs': a name must be 1 to %d of " HN_NAME_RULE,
				    HN_DAG_MAX_NAME);
		}
		read_attr(r, c, &attr[i]);
	}
	op->attr = attr;
	return 0;
}

/* An optional text member. */
static int get_text(struct hn_dag_reader *r, const struct hn_json *v, const char *key,
		    const struct hn_json_path *at, const char **ret)
{
	const struct hn_json *c = hn_json_get(v, key);

	*ret = NULL;
	if (c == NULL || hn_json_kind(c) == HN_JSON_NULL) {
		return 0;
	}
	const char *s = hn_json_string(c);

	if (s == NULL) {
		return FAIL(r, at, "'%s' must be a string, found %s", key,
			    hn_json_kind_name(c));
	}
	*ret = hn_arena_strdup(r->a, s);
	return 0;
}

static int read_head(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		     struct hn_json_path *at)
{
	const char *kind = NULL;
	int rc;

	if (hn_json_kind(v) != HN_JSON_OBJECT) {
		return FAIL(r, at, "an op is an object, found %s", hn_json_kind_name(v));
	}
	if ((rc = get_text(r, v, "id", at, &op->id)) != 0 ||
	    (rc = get_text(r, v, "name", at, &op->name)) != 0 ||
	    (rc = get_text(r, v, "tag", at, &op->tag)) != 0 ||
	    (rc = get_text(r, v, "kind", at, &kind)) != 0) {
		return rc;
	}
	op->id = op->id != NULL ? op->id : op->name;
	if (op->id == NULL) {
		return FAIL(r, at, "an op needs an 'id' or a 'name'");
	}
	op->name = op->name != NULL ? op->name : op->id;
	op->tag = op->tag != NULL ? op->tag : "";
	at->note = op->id;
	if (kind == NULL) {
		return FAIL(r, at, "'kind' is missing: \"placeholder\" or \"compute\"");
	}
	op->kind = strcmp(kind, "compute") == 0 ? HN_OP_COMPUTE : HN_OP_PLACEHOLDER;
	if (op->kind == HN_OP_PLACEHOLDER && strcmp(kind, "placeholder") != 0) {
		return FAIL(r, at, "unknown kind '%.40s': \"placeholder\" or \"compute\"",
			    kind);
	}
	return 0;
}

static int read_op(struct hn_dag_reader *r, const struct hn_json *v, uint64_t max_bytes,
		   const struct hn_json_path *list)
{
	struct hn_json_path at = { list, NULL, r->n_op, NULL };
	struct hn_op *op = HN_NEW(r->a, struct hn_op);
	const struct hn_expr *shape[HN_DAG_MAX_RANK], *axis[HN_DAG_MAX_ITERS];
	int rc;

	op->sizes = r->sizes;
	r->within = NULL;
	if ((rc = read_head(r, v, op, &at)) != 0 ||
	    (rc = read_shape(r, v, op, shape, &at)) != 0 ||
	    (rc = read_dtypes(r, v, op, &at)) != 0 ||
	    (rc = read_attrs(r, v, op, &at)) != 0) {
		return rc;
	}
	if ((op->kind == HN_OP_COMPUTE && (rc = read_axes(r, v, op, axis, &at)) != 0) ||
	    (rc = keep_extents(r, op, shape, axis, &at)) != 0) {
		return rc;
	}
	if (op->kind == HN_OP_COMPUTE && (rc = hn_dag_read_body(r, v, op, &at)) != 0) {
		return r->err != NULL && r->err->code != 0 ? -r->err->code : rc;
	}
	r->op[r->n_op++] = op;
	return hn_dag_check_op(r->what, r->op, r->n_op - 1, max_bytes, r->err);
}

static int read_args(struct hn_dag_reader *r, const struct hn_json *json,
		     struct hn_dag *dag)
{
	const struct hn_json_path at = { NULL, "inputs_outputs", 0, NULL };
	const struct hn_json *list;
	int rc = hn_dag_need_list(r, json, "inputs_outputs", HN_DAG_MAX_OPS, NULL, &list,
				  &dag->n_arg);

	if (rc != 0) {
		return rc;
	}
	int32_t *arg = HN_NEW_ARRAY(r->a, int32_t, dag->n_arg);
	const struct hn_json *c = hn_json_first(list);

	for (uint32_t i = 0; i < dag->n_arg; i++, c = hn_json_next(c)) {
		const struct hn_json_path place = { &at, NULL, i, NULL };
		const char *id = hn_json_string(c);
		int32_t out, prior = 0;

		if (id == NULL) {
			return FAIL(r, &place, "must be the id of an op");
		}
		arg[i] = hn_dag_find(r->op, r->n_op, id, &out);
		if (arg[i] < 0) {
			return FAIL(r, &place,
				    arg[i] == -2 ? "'%s' has several outputs; list "
						   "each: id.v0, id.v1, ..."
						 : "there is no op '%s'",
				    id);
		}
		for (uint32_t j = 0; j < i; j++) {
			prior += arg[j] == arg[i];
		}
		if (prior != out) {
			return FAIL(r, &place, "'%s' is listed twice or out of order",
				    id);
		}
	}
	dag->arg = arg;
	while (dag->n_input < dag->n_arg &&
	       r->op[arg[dag->n_input]]->kind == HN_OP_PLACEHOLDER) {
		dag->n_input++;
	}
	return 0;
}

/* "sizes": [[name, least, largest], ...]; none when the member is absent. */
static int read_sizes(struct hn_dag_reader *r, const struct hn_json *json)
{
	const struct hn_json_path at = { NULL, "sizes", 0, NULL };
	const struct hn_json *list;
	uint32_t n;
	int rc = hn_dag_read_list(r, json, "sizes", HN_DAG_MAX_SIZES, NULL, &list, &n);

	if (rc != 0 || n == 0) {
		return rc;
	}
	struct hn_sizes *sizes = HN_NEW(r->a, struct hn_sizes);
	struct hn_size *size = HN_NEW_ARRAY(r->a, struct hn_size, n);
	struct hn_dag_name *name = HN_NEW_ARRAY(r->a, struct hn_dag_name, n);
	const struct hn_json *c = hn_json_first(list);

	*sizes = (struct hn_sizes){ n, size };
	for (uint32_t k = 0; k < n; k++, c = hn_json_next(c)) {
		const struct hn_json_path place = { &at, NULL, k, NULL };
		const struct hn_json *s =
			hn_json_kind(c) == HN_JSON_ARRAY ? hn_json_first(c) : NULL;

		if (s == NULL || hn_json_count(c) != 3 || hn_json_string(s) == NULL ||
		    !hn_json_int(hn_json_next(s), &size[k].lo) ||
		    !hn_json_int(hn_json_next(hn_json_next(s)), &size[k].hi)) {
			return FAIL(r, &place, "a size is [name, least, largest]");
		}
		size[k].name = hn_arena_strdup(r->a, hn_json_string(s));
		name[k] = (struct hn_dag_name){ r->size_names, size[k].name,
						HN_SLOT_SIZE + (int32_t)k, HN_I32 };
		r->size_names = &name[k];
	}
	r->sizes = sizes;
	return hn_dag_check_sizes(r->what, sizes, r->err);
}

int hn_dag_from_json(const char *what, const struct hn_json *json, uint64_t max_bytes,
		     struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
{
	struct hn_err own = { 0 };
	struct hn_dag_reader r = { .what = what,
				   .a = a,
				   .err = err != NULL ? err : &own };
	const struct hn_json_path at = { NULL, "ops", 0, NULL };
	uint32_t n_op;

	r.err->code = 0;
	if (hn_json_kind(json) != HN_JSON_OBJECT) {
		return FAIL(&r, NULL, "expected an object, found %s",
			    hn_json_kind_name(json));
	}
	const struct hn_json *format = hn_json_get(json, "format");
	const char *s = format != NULL ? hn_json_string(format) : NULL;

	if (s == NULL || strcmp(s, "compute-dag/1") != 0) {
		return hn_dag_read_fail(&r, NULL,
					s == NULL ? HONE_E_INVALID : HONE_E_VERSION,
					"'format' must be \"compute-dag/1\"");
	}
	int rc = read_sizes(&r, json);

	rc = rc ? rc : hn_dag_need_list(&r, json, "ops", HN_DAG_MAX_OPS, NULL, &r.ops, &n_op);
	if (rc != 0) {
		return rc;
	}
	r.op = HN_NEW_ARRAY(a, const struct hn_op *, n_op);
	for (const struct hn_json *c = hn_json_first(r.ops); c != NULL;
	     c = hn_json_next(c)) {
		if ((rc = read_op(&r, c, max_bytes, &at)) != 0) {
			return rc;
		}
	}
	struct hn_dag *dag = HN_NEW(a, struct hn_dag);

	dag->n_op = n_op;
	dag->op = r.op;
	dag->sizes = r.sizes;
	if ((rc = read_args(&r, json, dag)) != 0 ||
	    (rc = hn_dag_check_whole(what, dag, max_bytes, r.err)) != 0) {
		return rc;
	}
	*ret = dag;
	return 0;
}
