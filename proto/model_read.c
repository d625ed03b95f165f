/* proto/model_read.c -- the text of a compiled network, read: proto/model.h.
 *
 * Every member is wanted and none beside them; counts are bounded before memory is taken.  What
 * the values mean together is model_check.c's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "proto/model.h"

/* Where a value is: "steps[3]". */
struct place {
	char text[60];
};

struct reader {
	struct hn_arena *a;
	struct hn_err *err;
};

static int refuse(struct reader *r, const struct place *at, const char *name,
		  const char *wanted)
{
	return hn_fail(r->err, HONE_E_INVALID, "%s%s%s: must be %s", at->text,
		       *at->text && *name ? "." : "", name, wanted);
}

static struct place place_of(const char *list, uint32_t i)
{
	struct place ret;

	snprintf(ret.text, sizeof ret.text, "%s[%" PRIu32 "]", list, i);
	return ret;
}

/* An object with members of these names alone (blanks around each). */
static int want_object(struct reader *r, const struct place *at, const struct hn_json *v,
		       const char *names)
{
	char name[80];

	if (hn_json_kind(v) != HN_JSON_OBJECT) {
		return refuse(r, at, "", "an object");
	}
	for (const struct hn_json *m = hn_json_first(v); m; m = hn_json_next(m)) {
		snprintf(name, sizeof name, " %.60s ", hn_json_key(m));
		if (strchr(hn_json_key(m), ' ') != NULL || strstr(names, name) == NULL) {
			return hn_fail(r->err, HONE_E_INVALID,
				       "%s%s%.60s: no such member", at->text,
				       *at->text ? "." : "", hn_json_key(m));
		}
	}
	return 0;
}

static int want_text(struct reader *r, const struct place *at, const struct hn_json *v,
		     const char *name, const char **ret)
{
	const char *s = hn_json_string(hn_json_get(v, name));

	if (s == NULL) {
		return refuse(r, at, name, "a string");
	}
	*ret = hn_arena_strdup(r->a, s);
	return 0;
}

static int want_number(struct reader *r, const struct place *at, const struct hn_json *v,
		       const char *name, uint64_t most, uint64_t *ret)
{
	char wanted[60];
	int64_t n;

	if (!hn_json_int(v, &n) || n < 0 || (uint64_t)n > most) {
		snprintf(wanted, sizeof wanted, "a whole number from 0 to %" PRIu64,
			 most);
		return refuse(r, at, name, wanted);
	}
	*ret = (uint64_t)n;
	return 0;
}

static int want_size(struct reader *r, const struct place *at, const struct hn_json *v,
		     const char *name, uint64_t *ret)
{
	return want_number(r, at, hn_json_get(v, name), name, HN_MODEL_MAX_BYTES, ret);
}

static int want_bool(struct reader *r, const struct place *at, const struct hn_json *v,
		     const char *name, bool *ret)
{
	return hn_json_bool(hn_json_get(v, name), ret) ? 0
						       : refuse(r, at, name, "true or false");
}

/* Sixteen digits of base 16. */
static int want_stamp(struct reader *r, const struct place *at, const struct hn_json *v,
		      const char *name, uint64_t *ret)
{
	const char *s = hn_json_string(hn_json_get(v, name));

	if (s == NULL || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16) {
		return refuse(r, at, name, "16 digits of base 16, as 00ff00ff00ff00ff");
	}
	*ret = strtoull(s, NULL, 16);
	return 0;
}

static int want_list(struct reader *r, const struct place *at, const struct hn_json *v,
		     const char *name, uint32_t most, const struct hn_json **ret_first,
		     uint32_t *ret_n)
{
	const struct hn_json *list = hn_json_get(v, name);
	char wanted[60];

	if (list == NULL || hn_json_kind(list) != HN_JSON_ARRAY ||
	    hn_json_count(list) > most) {
		snprintf(wanted, sizeof wanted, "a list of at most %" PRIu32, most);
		return refuse(r, at, name, wanted);
	}
	*ret_first = hn_json_first(list);
	*ret_n = hn_json_count(list);
	return 0;
}

static int read_shape(struct reader *r, const struct place *at, const struct hn_json *v,
		      struct hn_model_tensor *ret)
{
	const struct hn_json *first;
	int rc = want_list(r, at, v, "shape", HN_MODEL_MAX_RANK, &first, &ret->n_dim);
	int64_t *dim = HN_NEW_ARRAY(r->a, int64_t, HN_MODEL_MAX_RANK);
	uint64_t n = 0;

	for (uint32_t i = 0; rc == 0 && i < ret->n_dim;
	     i++, first = hn_json_next(first)) {
		rc = want_number(r, at, first, "shape", HN_MODEL_MAX_BYTES, &n);
		dim[i] = rc == 0 ? (int64_t)n : 0;
	}
	ret->dim = dim;
	return rc;
}

static int read_tensor(struct reader *r, const struct place *at, const struct hn_json *v,
		       struct hn_model_tensor *ret)
{
	const char *dtype = "";
	int rc = want_object(r, at, v, " name dtype shape ");

	rc = rc ? rc : want_text(r, at, v, "name", &ret->name);
	rc = rc ? rc : want_text(r, at, v, "dtype", &dtype);
	if (rc == 0) {
		ret->dtype = hn_dtype_of(dtype);
		rc = ret->dtype == HN_N_DTYPE ? refuse(r, at, "dtype", "a type") : 0;
	}
	return rc ? rc : read_shape(r, at, v, ret);
}

static int read_tensors(struct reader *r, const struct hn_json *v, const char *name,
			const struct hn_model_tensor **ret, uint32_t *ret_n)
{
	const struct place top = { "" };
	const struct hn_json *first;
	int rc = want_list(r, &top, v, name, HN_MODEL_MAX_TENSORS, &first, ret_n);

	if (rc != 0) {
		return rc;
	}
	struct hn_model_tensor *t = HN_NEW_ARRAY(r->a, struct hn_model_tensor, *ret_n);

	for (uint32_t i = 0; rc == 0 && i < *ret_n; i++, first = hn_json_next(first)) {
		struct place at = place_of(name, i);

		rc = read_tensor(r, &at, first, &t[i]);
	}
	*ret = t;
	return rc;
}

/* [rows, bytes, pitch]; what they span is at most 2^100, and checked where it is used. */
static int read_rows(struct reader *r, const struct place *at, const char *name,
		     const struct hn_json *list, struct hn_model_rows *ret, uint64_t *ret_bytes)
{
	uint64_t *const to[] = { &ret->n, &ret->bytes, &ret->pitch };
	const struct hn_json *v = hn_json_first(list);
	int rc = hn_json_count(list) == HN_COUNT_OF(to)
			 ? 0
			 : refuse(r, at, name, "of bytes, or of [rows, bytes, pitch]");

	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(to); i++, v = hn_json_next(v)) {
		rc = want_number(r, at, v, name, HN_MODEL_MAX_BYTES, to[i]);
	}
	if (rc == 0 && ret->n == 0) {
		rc = refuse(r, at, name, "of at least one row");
	}
	*ret_bytes = rc == 0 ? hn_model_rows_span(ret) : 0;
	return rc;
}

static int read_sizes(struct reader *r, const struct place *at, const char *name,
		      const struct hn_json *first, struct hn_model_rows *rows, uint64_t *ret)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && first != NULL; i++, first = hn_json_next(first)) {
		rc = hn_json_kind(first) == HN_JSON_ARRAY
			     ? read_rows(r, at, name, first, &rows[i], &ret[i])
			     : want_number(r, at, first, name, HN_MODEL_MAX_BYTES, &ret[i]);
	}
	return rc;
}

static int read_constants(struct reader *r, const struct place *at,
			  const struct hn_json *v, struct hn_model_kernel *ret)
{
	const struct hn_json *first;
	uint32_t n;
	uint64_t i = 0;
	bool *constant = HN_NEW_ARRAY(r->a, bool, ret->n_in);
	int rc = want_list(r, at, v, "constant", ret->n_in, &first, &n);

	for (uint32_t k = 0; rc == 0 && k < n; k++, first = hn_json_next(first)) {
		rc = want_number(r, at, first, "constant", ret->n_in - 1, &i);
		if (rc == 0 && constant[i]) {
			rc = refuse(r, at, "constant", "numbers of inputs, each once");
		}
		if (rc == 0) {
			constant[i] = true;
		}
	}
	ret->constant = constant;
	return rc;
}

static int read_interface(struct reader *r, const struct place *at,
			  const struct hn_json *v, struct hn_model_kernel *ret)
{
	const struct hn_json *in, *out;
	uint32_t n_out;
	int rc = want_list(r, at, v, "inputs", HONE_MODEL_MAX_ARGS, &in, &ret->n_in);

	rc = rc ? rc : want_list(r, at, v, "outputs", HONE_MODEL_MAX_ARGS, &out, &n_out);
	if (rc != 0) {
		return rc;
	}
	ret->n_arg = ret->n_in + n_out;
	uint64_t *bytes = HN_NEW_ARRAY(r->a, uint64_t, ret->n_arg);
	struct hn_model_rows *rows = HN_NEW_ARRAY(r->a, struct hn_model_rows, ret->n_arg);

	ret->arg_bytes = bytes;
	ret->rows = rows;
	rc = read_sizes(r, at, "inputs", in, rows, bytes);
	rc = rc ? rc : read_sizes(r, at, "outputs", out, rows + ret->n_in, bytes + ret->n_in);
	return rc ? rc : read_constants(r, at, v, ret);
}

static int read_kernel(struct reader *r, const struct place *at, const struct hn_json *v,
		       struct hn_model_kernel *ret)
{
	int rc = want_object(r, at, v,
			     " symbol name inputs outputs constant prepared_bytes "
			     "workspace_bytes worker_bytes init sized ");

	rc = rc ? rc : want_text(r, at, v, "symbol", &ret->symbol);
	rc = rc ? rc : want_text(r, at, v, "name", &ret->name);
	rc = rc ? rc : read_interface(r, at, v, ret);
	rc = rc ? rc : want_size(r, at, v, "prepared_bytes", &ret->prepared_bytes);
	rc = rc ? rc : want_size(r, at, v, "workspace_bytes", &ret->workspace_bytes);
	rc = rc ? rc : want_size(r, at, v, "worker_bytes", &ret->worker_bytes);
	rc = rc ? rc : want_bool(r, at, v, "init", &ret->init);
	return rc || hn_json_get(v, "sized") == NULL ? rc
						     : want_bool(r, at, v, "sized", &ret->sized);
}

/* [PLACE, offset], and of inputs and outputs [PLACE, index, offset]. */
static int read_arg(struct reader *r, const struct place *at, const struct hn_json *v,
		    struct hone_model_arg *ret)
{
	static const char wanted[] =
		"[\"arena\" or \"weights\", offset], [\"input\" or "
		"\"output\", number, offset] or [\"nowhere\"]";
	const struct hn_json *x =
		hn_json_kind(v) == HN_JSON_ARRAY ? hn_json_first(v) : NULL;
	const char *word = x != NULL ? hn_json_string(x) : NULL;
	uint64_t index = 0;
	int rc = 0;

	ret->place = 0;
	while (word && ret->place < HONE_MODEL_N_PLACES &&
	       strcmp(hn_model_place_name(ret->place), word) != 0) {
		ret->place++;
	}
	bool numbered = ret->place == HONE_MODEL_INPUT || ret->place == HONE_MODEL_OUTPUT;

	uint32_t words = numbered ? 3 : ret->place == HONE_MODEL_NOWHERE ? 1 : 2;

	if (word == NULL || ret->place == HONE_MODEL_N_PLACES || hn_json_count(v) != words) {
		return refuse(r, at, "", wanted);
	}
	if (words == 1) {
		return 0;
	}
	if (numbered) {
		x = hn_json_next(x);
		rc = want_number(r, at, x, "", HN_MODEL_MAX_TENSORS, &index);
	}
	ret->index = (uint32_t)index;
	return rc ? rc
		  : want_number(r, at, hn_json_next(x), "", HN_MODEL_MAX_BYTES,
				&ret->offset);
}

static int read_args(struct reader *r, const struct place *at, const struct hn_json *v,
		     const struct hn_model_kernel *k, struct hn_model_step *ret)
{
	struct hone_model_arg *arg = HN_NEW_ARRAY(r->a, struct hone_model_arg, k->n_arg);
	const struct hn_json *first;
	struct place here;
	uint32_t n;
	int rc = want_list(r, at, v, "args", HONE_MODEL_MAX_ARGS, &first, &n);

	if (rc == 0 && n != k->n_arg) {
		return refuse(r, at, "args",
			      "as many as the kernel's inputs and outputs");
	}
	for (uint32_t i = 0; rc == 0 && i < n; i++, first = hn_json_next(first)) {
		snprintf(here.text, sizeof here.text, "%.30s.args[%" PRIu32 "]", at->text,
			 i);
		rc = read_arg(r, &here, first, &arg[i]);
	}
	ret->arg = arg;
	return rc;
}

static int read_step(struct reader *r, const struct place *at, const struct hn_json *v,
		     const struct hn_model *m, struct hn_model_step *ret)
{
	uint64_t kernel = 0;
	int rc = want_object(r, at, v, " name kernel args prepared stored ");

	rc = rc ? rc : want_text(r, at, v, "name", &ret->name);
	rc = rc ? rc
		: want_number(r, at, hn_json_get(v, "kernel"), "kernel",
			      HN_MODEL_MAX_KERNELS, &kernel);
	if (rc == 0 && kernel >= m->n_kernel) {
		rc = refuse(r, at, "kernel", "the number of a kernel");
	}
	if (rc != 0) {
		return rc;
	}
	const struct hn_model_kernel *k = &m->kernel[kernel];

	ret->kernel = (uint32_t)kernel;
	if (k->prepared_bytes > 0) {
		rc = want_size(r, at, v, "prepared", &ret->prepared);
		rc = rc ? rc : want_bool(r, at, v, "stored", &ret->stored);
	} else if (hn_json_get(v, "stored") != NULL) {
		rc = refuse(r, at, "stored", "left out: the kernel prepares nothing");
	} else if (hn_json_get(v, "prepared") != NULL) {
		rc = refuse(r, at, "prepared", "left out: the kernel prepares nothing");
	}
	return rc ? rc : read_args(r, at, v, k, ret);
}

static int read_kernels(struct reader *r, const struct hn_json *v, struct hn_model *m)
{
	const struct place top = { "" };
	const struct hn_json *first;
	int rc = want_list(r, &top, v, "kernels", HN_MODEL_MAX_KERNELS, &first,
			   &m->n_kernel);

	if (rc != 0) {
		return rc;
	}
	struct hn_model_kernel *k =
		HN_NEW_ARRAY(r->a, struct hn_model_kernel, m->n_kernel);

	for (uint32_t i = 0; rc == 0 && i < m->n_kernel;
	     i++, first = hn_json_next(first)) {
		struct place at = place_of("kernels", i);

		rc = read_kernel(r, &at, first, &k[i]);
	}
	m->kernel = k;
	return rc;
}

static int read_steps(struct reader *r, const struct hn_json *v, struct hn_model *m)
{
	const struct place top = { "" };
	const struct hn_json *first;
	int rc = want_list(r, &top, v, "steps", HN_MODEL_MAX_STEPS, &first, &m->n_step);

	if (rc != 0) {
		return rc;
	}
	struct hn_model_step *s = HN_NEW_ARRAY(r->a, struct hn_model_step, m->n_step);

	for (uint32_t i = 0; rc == 0 && i < m->n_step; i++, first = hn_json_next(first)) {
		struct place at = place_of("steps", i);

		rc = read_step(r, &at, first, m, &s[i]);
	}
	m->step = s;
	return rc;
}

static int want_signed(struct reader *r, const struct place *at, const struct hn_json *v,
		       const char *name, int64_t *ret)
{
	uint64_t n = 0;
	int rc = want_number(r, at, v, name, HN_MODEL_MAX_BYTES, &n);

	*ret = rc == 0 ? (int64_t)n : 0;
	return rc;
}

static int read_range_sizes(struct reader *r, const struct hn_json *v, struct hn_model *m)
{
	const struct place top = { "" };
	const struct hn_json *first;
	int rc = want_list(r, &top, v, "sizes", HN_MODEL_MAX_SIZES, &first, &m->n_size);
	struct hn_model_size *s = HN_NEW_ARRAY(r->a, struct hn_model_size, HN_MODEL_MAX_SIZES);

	for (uint32_t i = 0; rc == 0 && i < m->n_size; i++, first = hn_json_next(first)) {
		struct place at = place_of("sizes", i);

		rc = want_object(r, &at, first, " name least most step ");
		rc = rc ? rc : want_text(r, &at, first, "name", &s[i].name);
		rc = rc ? rc : want_signed(r, &at, hn_json_get(first, "least"), "least", &s[i].least);
		rc = rc ? rc : want_signed(r, &at, hn_json_get(first, "most"), "most", &s[i].most);
		rc = rc ? rc : want_signed(r, &at, hn_json_get(first, "step"), "step", &s[i].step);
	}
	m->size = s;
	return rc;
}

/* One number for each size. */
static int read_bounds(struct reader *r, const struct place *at, const struct hn_json *v,
		       const char *name, const struct hn_model *m, const int64_t **ret)
{
	const struct hn_json *first;
	int64_t *bound = HN_NEW_ARRAY(r->a, int64_t, m->n_size + 1);
	uint32_t n;
	int rc = want_list(r, at, v, name, HN_MODEL_MAX_SIZES, &first, &n);

	if (rc == 0 && n != m->n_size) {
		rc = refuse(r, at, name, "one number for each size");
	}
	for (uint32_t i = 0; rc == 0 && i < n; i++, first = hn_json_next(first)) {
		rc = want_signed(r, at, first, name, &bound[i]);
	}
	*ret = bound;
	return rc;
}

static int read_range(struct reader *r, const struct place *at, const struct hn_json *v,
		      const struct hn_model *m, struct hn_model_range *ret)
{
	uint64_t step = 0, n = 0;
	int rc = want_object(r, at, v, " least most first steps ");

	rc = rc ? rc : read_bounds(r, at, v, "least", m, &ret->least);
	rc = rc ? rc : read_bounds(r, at, v, "most", m, &ret->most);
	rc = rc ? rc
		: want_number(r, at, hn_json_get(v, "first"), "first", HN_MODEL_MAX_STEPS, &step);
	rc = rc ? rc : want_number(r, at, hn_json_get(v, "steps"), "steps", HN_MODEL_MAX_STEPS, &n);
	ret->first = (uint32_t)step;
	ret->n = (uint32_t)n;
	return rc;
}

static int read_ranges(struct reader *r, const struct hn_json *v, struct hn_model *m)
{
	const struct place top = { "" };
	const struct hn_json *first;
	int rc = want_list(r, &top, v, "ranges", HN_MODEL_MAX_RANGES, &first, &m->n_range);

	if (rc != 0) {
		return rc;
	}
	struct hn_model_range *range = HN_NEW_ARRAY(r->a, struct hn_model_range, m->n_range);

	for (uint32_t i = 0; rc == 0 && i < m->n_range; i++, first = hn_json_next(first)) {
		struct place at = place_of("ranges", i);

		rc = read_range(r, &at, first, m, &range[i]);
	}
	m->range = range;
	return rc;
}

static int read_model(struct reader *r, const struct hn_json *v, struct hn_model *m)
{
	const struct place top = { "" };
	const char *format = "";
	int rc = want_object(
		r, &top, v,
		" format name weights_bytes stamp prepared_bytes arena_bytes inputs "
		"outputs kernels steps sizes ranges ");

	rc = rc ? rc : want_text(r, &top, v, "format", &format);
	if (rc == 0 && strcmp(format, HN_MODEL_FORMAT) != 0) {
		rc = refuse(r, &top, "format", HN_MODEL_FORMAT);
	}
	rc = rc ? rc : want_text(r, &top, v, "name", &m->name);
	rc = rc ? rc : want_size(r, &top, v, "weights_bytes", &m->weights_bytes);
	rc = rc ? rc : want_stamp(r, &top, v, "stamp", &m->stamp);
	rc = rc ? rc : want_size(r, &top, v, "prepared_bytes", &m->prepared_bytes);
	rc = rc ? rc : want_size(r, &top, v, "arena_bytes", &m->arena_bytes);
	rc = rc ? rc : read_tensors(r, v, "inputs", &m->input, &m->n_input);
	rc = rc ? rc : read_tensors(r, v, "outputs", &m->output, &m->n_output);
	rc = rc ? rc : read_kernels(r, v, m);
	rc = rc ? rc : read_steps(r, v, m);
	if (rc == 0 && (hn_json_get(v, "sizes") != NULL || hn_json_get(v, "ranges") != NULL)) {
		rc = read_range_sizes(r, v, m);
		rc = rc ? rc : read_ranges(r, v, m);
	}
	return rc ? rc : hn_model_check(m, r->err);
}

int hn_model_read(const char *what, const char *text, size_t n, struct hn_arena *a,
		  const struct hn_model **ret, struct hn_err *err)
{
	struct reader r = { .a = a, .err = err };
	struct hn_model *m = HN_NEW(a, struct hn_model);
	struct hn_json *root;
	int rc = hn_json_parse(what, text, n, NULL, &root, err);

	if (rc != 0) {
		return rc;
	}
	rc = read_model(&r, root, m);
	hn_json_free(root);
	if (rc != 0) {
		return hn_err_within(err, "%s", what);
	}
	*ret = m;
	return 0;
}
