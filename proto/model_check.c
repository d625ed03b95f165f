/* proto/model_check.c -- whether a compiled network makes sense: proto/model.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/name.h"
#include "proto/model.h"

static const char *const entries[] = {
#define ENTRY(word, function, letters, returns, takes) "_" #word,
#include "proto/model_entries.def"
#include "proto/gpu_entries.def"
#undef ENTRY
};

/* What the object of a kernel exports (hone/kernel.h). */
static const char *const of_kernel[] = { "", "_packed", "_prepare", "_prepare_packed",
					 "_init" };

static const char *const places[] = { "input", "output", "arena", "weights", "nowhere" };

const char *hn_model_place_name(uint32_t place)
{
	return place < HN_COUNT_OF(places) ? places[place] : "?";
}

uint64_t hn_model_tensor_bytes(const struct hn_model_tensor *t)
{
	int64_t bytes = hn_dtype_bytes(t->dtype);

	for (uint32_t i = 0; i < t->n_dim; i++) {
		bytes = hn_mul_sat(bytes, t->dim[i]);
	}
	return (uint64_t)bytes;
}

uint64_t hn_model_rows_span(const struct hn_model_rows *r)
{
	return (uint64_t)hn_add_sat(hn_mul_sat((int64_t)r->n - 1, (int64_t)r->pitch),
				    (int64_t)r->bytes);
}

bool hn_model_name_fits(const char *s)
{
	size_t n = strlen(s);
	bool fits = n > 0 && n <= HN_MODEL_MAX_NAME && isalpha((unsigned char)s[0]) &&
		    strncmp(s, "hone_", 5) != 0 && strncmp(s, "HONE_", 5) != 0;

	for (size_t i = 0; i < n && fits; i++) {
		fits = isalnum((unsigned char)s[i]) || s[i] == '_';
	}
	return fits;
}

static int check_c_name(const char *where, const char *s, struct hn_err *err)
{
	return hn_model_name_fits(s)
		       ? 0
		       : hn_fail(err, HONE_E_INVALID,
				 "%s: \"%.60s\" is no C name of at most %d characters, "
				 "beginning with a letter and not with hone_",
				 where, s, HN_MODEL_MAX_NAME);
}

static int check_label(const char *where, const char *s, struct hn_err *err)
{
	return hn_label_fits(s, HN_MODEL_MAX_LABEL)
		       ? 0
		       : hn_fail(err, HONE_E_INVALID,
				 "%s.name: not one line of at most %d bytes of shown "
				 "characters",
				 where, HN_MODEL_MAX_LABEL);
}

static int check_bytes(const char *where, const char *what, uint64_t bytes,
		       struct hn_err *err)
{
	return bytes <= HN_MODEL_MAX_BYTES
		       ? 0
		       : hn_fail(err, HONE_E_QUOTA, "%s%s: more than 2^50 bytes", where,
				 what);
}

static int check_count(const char *what, uint64_t n, uint64_t least, uint64_t most,
		       struct hn_err *err)
{
	return n >= least && n <= most
		       ? 0
		       : hn_fail(err, HONE_E_QUOTA,
				 "%s: %" PRIu64 ", not %" PRIu64 " to %" PRIu64, what, n,
				 least, most);
}

static int check_tensor(const char *where, const struct hn_model_tensor *t,
			struct hn_err *err)
{
	int rc = check_label(where, t->name, err);

	if (rc == 0 && t->n_dim > HN_MODEL_MAX_RANK) {
		rc = hn_fail(err, HONE_E_QUOTA, "%s.shape: more than %d dimensions",
			     where, HN_MODEL_MAX_RANK);
	}
	for (uint32_t i = 0; i < t->n_dim && rc == 0; i++) {
		if (t->dim[i] < 1) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "%s.shape[%u]: %" PRId64 " is below 1", where, i,
				     t->dim[i]);
		}
	}
	return rc ? rc : check_bytes(where, "", hn_model_tensor_bytes(t), err);
}

static int check_tensors(const char *what, const struct hn_model_tensor *t, uint32_t n,
			 struct hn_err *err)
{
	int rc = check_count(what, n, 0, HN_MODEL_MAX_TENSORS, err);
	char where[40];

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		snprintf(where, sizeof where, "%s[%u]", what, i);
		rc = check_tensor(where, &t[i], err);
	}
	return rc;
}

static int check_rows(const char *where, const struct hn_model_kernel *k, uint32_t i,
		      struct hn_err *err)
{
	const struct hn_model_rows *r = k->rows != NULL ? &k->rows[i] : NULL;

	if (r == NULL || r->n == 0) {
		return 0;
	}
	return r->bytes > 0 && r->pitch >= r->bytes && hn_model_rows_span(r) == k->arg_bytes[i]
		       ? 0
		       : hn_fail(err, HONE_E_INVALID,
				 "%s: rows of argument %u are empty, or overlap", where, i);
}

static int check_kernel(const char *where, const struct hn_model_kernel *k,
			struct hn_err *err)
{
	int rc = check_c_name(where, k->symbol, err);

	rc = rc ? rc : check_label(where, k->name, err);
	if (rc == 0 && (k->n_arg > HONE_MODEL_MAX_ARGS || k->n_in >= k->n_arg ||
			k->n_arg - k->n_in > HN_MODEL_MAX_OUT)) {
		rc = hn_fail(err, HONE_E_QUOTA,
			     "%s: not 1 to %u outputs, and %u arguments at most", where,
			     HN_MODEL_MAX_OUT, HONE_MODEL_MAX_ARGS);
	}
	for (uint32_t i = 0; i < k->n_arg && rc == 0; i++) {
		rc = check_bytes(where, ": an argument", k->arg_bytes[i], err);
		rc = rc ? rc : check_rows(where, k, i, err);
	}
	rc = rc ? rc : check_bytes(where, ".prepared_bytes", k->prepared_bytes, err);
	rc = rc ? rc : check_bytes(where, ".workspace_bytes", k->workspace_bytes, err);
	return rc ? rc : check_bytes(where, ".worker_bytes", k->worker_bytes, err);
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* No two functions have one name. */
static int check_exports(const struct hn_model *m, struct hn_arena *a, struct hn_err *err)
{
	const char **all =
		HN_NEW_ARRAY(a, const char *,
			     1 + HN_COUNT_OF(entries) + m->n_kernel * HN_COUNT_OF(of_kernel));
	size_t n = 0;

	all[n++] = hn_arena_printf(a, "%s_weights", m->name); /* if they are embedded */

	for (size_t i = 0; i < HN_COUNT_OF(entries); i++) {
		all[n++] = hn_arena_printf(a, "%s%s", m->name, entries[i]);
	}
	for (size_t i = 0; i < m->n_kernel * HN_COUNT_OF(of_kernel); i++) {
		all[n++] = hn_arena_printf(a, "%s%s",
					   m->kernel[i / HN_COUNT_OF(of_kernel)].symbol,
					   of_kernel[i % HN_COUNT_OF(of_kernel)]);
	}
	qsort(all, n, sizeof *all, by_text);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(all[i - 1], all[i]) == 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "kernels: two functions would have the name %s",
				       all[i]);
		}
	}
	return 0;
}

static int check_kernels(const struct hn_model *m, struct hn_arena *a, struct hn_err *err)
{
	int rc = check_count("kernels", m->n_kernel, 0, HN_MODEL_MAX_KERNELS, err);
	char where[40];

	for (uint32_t i = 0; i < m->n_kernel && rc == 0; i++) {
		snprintf(where, sizeof where, "kernels[%u]", i);
		rc = check_kernel(where, &m->kernel[i], err);
	}
	return rc ? rc : check_exports(m, a, err);
}

/* Bytes of what an argument lies in; false where there is no such thing. */
static bool region(const struct hn_model *m, const struct hone_model_arg *arg,
		   uint64_t *ret)
{
	switch (arg->place) {
	case HONE_MODEL_INPUT:
		*ret = arg->index < m->n_input
			       ? hn_model_tensor_bytes(&m->input[arg->index])
			       : 0;
		return arg->index < m->n_input;
	case HONE_MODEL_OUTPUT:
		*ret = arg->index < m->n_output
			       ? hn_model_tensor_bytes(&m->output[arg->index])
			       : 0;
		return arg->index < m->n_output;
	case HONE_MODEL_ARENA:
		*ret = m->arena_bytes;
		return arg->index == 0;
	case HONE_MODEL_WEIGHTS:
		*ret = m->weights_bytes;
		return arg->index == 0;
	default:
		return false;
	}
}

static bool is_written(const struct hone_model_arg *arg)
{
	return arg->place == HONE_MODEL_OUTPUT || arg->place == HONE_MODEL_ARENA;
}

static int check_arg(const struct hn_model *m, uint32_t step, uint32_t i,
		     struct hn_err *err)
{
	const struct hn_model_kernel *k = &m->kernel[m->step[step].kernel];
	const struct hone_model_arg *arg = &m->step[step].arg[i];
	uint64_t bytes = k->arg_bytes[i], in;

	if (arg->place == HONE_MODEL_NOWHERE) {
		return i < k->n_in && k->constant[i] && m->step[step].stored
			       ? 0
			       : hn_fail(err, HONE_E_INVALID,
					 "steps[%u].args[%u]: only a constant input of a step "
					 "whose block is stored may be nowhere",
					 step, i);
	}
	if (!region(m, arg, &in)) {
		return hn_fail(err, HONE_E_INVALID,
			       "steps[%u].args[%u]: there is no %s %u", step, i,
			       hn_model_place_name(arg->place), arg->index);
	}
	if (bytes > in || arg->offset > in - bytes) {
		return hn_fail(err, HONE_E_INVALID,
			       "steps[%u].args[%u]: %" PRIu64 " bytes at %" PRIu64
			       " go past the end of %s, %" PRIu64 " bytes long",
			       step, i, bytes, arg->offset,
			       hn_model_place_name(arg->place), in);
	}
	if (i >= k->n_in && !is_written(arg)) {
		return hn_fail(err, HONE_E_INVALID, "steps[%u].args[%u]: %s is only read",
			       step, i, hn_model_place_name(arg->place));
	}
	if (i < k->n_in && k->constant[i] && arg->place != HONE_MODEL_WEIGHTS) {
		return hn_fail(err, HONE_E_INVALID,
			       "steps[%u].args[%u]: is constant, so it lies in weights",
			       step, i);
	}
	return 0;
}

/* Where an argument of a step lies, as rows. */
struct part {
	const struct hone_model_arg *arg;
	uint64_t bytes;
	struct hn_model_rows rows;
};

static struct part part_of(const struct hn_model_kernel *k, const struct hone_model_arg *arg,
			   uint32_t i)
{
	struct part p = { &arg[i], k->arg_bytes[i], { 1, k->arg_bytes[i], k->arg_bytes[i] } };

	if (k->rows != NULL && k->rows[i].n > 0) {
		p.rows = k->rows[i];
	}
	return p;
}

/* Rows of one pitch lie side by side, each between two of the other's. */
static bool interleaved(const struct part *x, const struct part *y)
{
	uint64_t pitch = x->rows.n > 1 ? x->rows.pitch : y->rows.pitch, apart;

	if (y->rows.n > 1 && y->rows.pitch != pitch) {
		return false;
	}
	apart = y->arg->offset > x->arg->offset
			? (y->arg->offset - x->arg->offset) % pitch
			: (pitch - (x->arg->offset - y->arg->offset) % pitch) % pitch;
	return apart >= x->rows.bytes && apart + y->rows.bytes <= pitch;
}

static bool same_region(const struct part *x, const struct part *y)
{
	return x->arg->place == y->arg->place && x->arg->index == y->arg->index;
}

/* The very same bytes, or those that the longer of two rows begins with. */
static bool same_place(const struct part *x, const struct part *y)
{
	return same_region(x, y) && x->arg->offset == y->arg->offset && x->bytes > 0 &&
	       y->bytes > 0 &&
	       ((x->rows.n == 1 && y->rows.n == 1) ||
		memcmp(&x->rows, &y->rows, sizeof(x->rows)) == 0);
}

/* Whether two arguments share bytes without being the same place. */
static bool clash(const struct part *x, const struct part *y)
{
	return same_region(x, y) && !same_place(x, y) && x->bytes > 0 && y->bytes > 0 &&
	       x->arg->offset < y->arg->offset + y->bytes &&
	       y->arg->offset < x->arg->offset + x->bytes && !interleaved(x, y);
}

/* What a step writes is its own, or in place of what it reads. */
static int check_overlap(const struct hn_model *m, uint32_t step, struct hn_err *err)
{
	const struct hn_model_kernel *k = &m->kernel[m->step[step].kernel];
	const struct hone_model_arg *arg = m->step[step].arg;

	for (uint32_t i = k->n_in; i < k->n_arg; i++) {
		for (uint32_t j = 0; j < i; j++) {
			struct part x = part_of(k, arg, i), y = part_of(k, arg, j);

			if (clash(&x, &y) || (same_place(&x, &y) && j >= k->n_in)) {
				return hn_fail(err, HONE_E_INVALID,
					       "steps[%u].args[%u]: overlaps args[%u]",
					       step, i, j);
			}
		}
	}
	return 0;
}

static int check_step(const struct hn_model *m, uint32_t i, struct hn_err *err)
{
	const struct hn_model_step *s = &m->step[i];
	char where[40];

	snprintf(where, sizeof where, "steps[%u]", i);
	int rc = check_label(where, s->name, err);

	if (rc == 0 && s->kernel >= m->n_kernel) {
		rc = hn_fail(err, HONE_E_INVALID, "%s.kernel: there is no kernel %u",
			     where, s->kernel);
	}
	for (uint32_t k = 0; rc == 0 && k < m->kernel[s->kernel].n_arg; k++) {
		rc = check_arg(m, i, k, err);
	}
	return rc ? rc : check_overlap(m, i, err);
}

static int check_steps(const struct hn_model *m, struct hn_err *err)
{
	int rc = check_count("steps", m->n_step, 0, HN_MODEL_MAX_STEPS, err);
	uint64_t n_arg = 0;

	for (uint32_t i = 0; i < m->n_step && rc == 0; i++) {
		rc = check_step(m, i, err);
		n_arg += rc == 0 ? m->kernel[m->step[i].kernel].n_arg : 0;
	}
	return rc ? rc
		  : check_count("steps: arguments", n_arg, 0, HN_MODEL_MAX_ALL_ARGS, err);
}

struct block {
	uint64_t at;
	uint32_t step;
};

static int by_place(const void *x, const void *y)
{
	const struct block *p = x, *q = y;

	return p->at != q->at ? (p->at > q->at) - (p->at < q->at)
			      : (p->step > q->step) - (p->step < q->step);
}

static bool has_block(const struct hn_model *m, const struct hn_model_step *s)
{
	return m->kernel[s->kernel].prepared_bytes > 0;
}

/* The steps whose prepared block is made at run time, by where it lies. */
static struct block *blocks(const struct hn_model *m, struct hn_arena *a, uint32_t *ret_n)
{
	struct block *b = HN_NEW_ARRAY(a, struct block, m->n_step);
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_step; i++) {
		if (has_block(m, &m->step[i]) && !m->step[i].stored) {
			b[n++] = (struct block){ m->step[i].prepared, i };
		}
	}
	qsort(b, n, sizeof *b, by_place);
	*ret_n = n;
	return b;
}

const bool *hn_model_prepares(const struct hn_model *m, struct hn_arena *a)
{
	bool *ret = HN_NEW_ARRAY(a, bool, m->n_step);
	uint32_t n;
	const struct block *b = blocks(m, a, &n);

	for (uint32_t i = 0; i < n; i++) {
		ret[b[i].step] = i == 0 || b[i].at != b[i - 1].at;
	}
	return ret;
}

/* Whether one block serves both steps. */
static bool may_share(const struct hn_model *m, uint32_t x, uint32_t y)
{
	const struct hn_model_step *s = &m->step[x], *t = &m->step[y];
	const struct hn_model_kernel *k = &m->kernel[s->kernel];
	bool same = s->kernel == t->kernel;

	for (uint32_t i = 0; same && i < k->n_in; i++) {
		same = !k->constant[i] || s->arg[i].offset == t->arg[i].offset;
	}
	return same;
}

static int check_block(uint32_t step, const char *in, uint64_t at, uint64_t bytes, uint64_t end,
		       struct hn_err *err)
{
	if (at % HN_MODEL_ALIGN != 0) {
		return hn_fail(err, HONE_E_INVALID, "steps[%u].prepared: not a multiple of %d",
			       step, HN_MODEL_ALIGN);
	}
	return bytes <= end && at <= end - bytes
		       ? 0
		       : hn_fail(err, HONE_E_INVALID, "steps[%u].prepared: goes past %s", step, in);
}

static int check_stored(const struct hn_model *m, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->n_step && rc == 0; i++) {
		const struct hn_model_step *s = &m->step[i];

		if (s->stored && !has_block(m, s)) {
			rc = hn_fail(err, HONE_E_INVALID, "steps[%u].stored: it prepares nothing", i);
		} else if (s->stored) {
			rc = check_block(i, "weights_bytes", s->prepared,
					 m->kernel[s->kernel].prepared_bytes, m->weights_bytes, err);
		}
	}
	return rc;
}

static int check_prepared(const struct hn_model *m, struct hn_arena *a,
			  struct hn_err *err)
{
	uint64_t end = 0;
	uint32_t n, first = 0; /* of those at this place */
	const struct block *b = blocks(m, a, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = m->kernel[m->step[b[i].step].kernel].prepared_bytes;
		bool shares = i > 0 && b[i].at == b[i - 1].at;

		if (shares ? !may_share(m, b[first].step, b[i].step) : b[i].at < end) {
			return hn_fail(err, HONE_E_INVALID,
				       "steps[%u].prepared: overlaps another block",
				       b[i].step);
		}
		int rc = check_block(b[i].step, "prepared_bytes", b[i].at, bytes,
				     m->prepared_bytes, err);

		if (rc != 0) {
			return rc;
		}
		first = shares ? first : i;
		end = b[i].at + bytes;
	}
	return 0;
}

static int check_sizes(const struct hn_model *m, struct hn_err *err)
{
	int rc = check_bytes("weights_bytes", "", m->weights_bytes, err);

	rc = rc ? rc : check_bytes("prepared_bytes", "", m->prepared_bytes, err);
	rc = rc ? rc : check_bytes("arena_bytes", "", m->arena_bytes, err);
	if (rc == 0 && m->arena_bytes % HN_MODEL_ALIGN != 0) {
		rc = hn_fail(err, HONE_E_INVALID, "arena_bytes: not a multiple of %d",
			     HN_MODEL_ALIGN);
	}
	return rc;
}

static int check_range(const struct hn_model *m, uint32_t i, struct hn_err *err)
{
	const struct hn_model_range *r = &m->range[i];

	for (uint32_t k = 0; k < m->n_size; k++) {
		if (r->least[k] < m->size[k].least || r->most[k] > m->size[k].most ||
		    r->least[k] > r->most[k]) {
			return hn_fail(err, HONE_E_INVALID,
				       "ranges[%u]: from %" PRId64 " to %" PRId64
				       " is no part of size %u, from %" PRId64 " to %" PRId64,
				       i, r->least[k], r->most[k], k, m->size[k].least,
				       m->size[k].most);
		}
	}
	return r->first <= m->n_step && r->n <= m->n_step - r->first
		       ? 0
		       : hn_fail(err, HONE_E_INVALID, "ranges[%u]: there are %u steps", i,
				 m->n_step);
}

/* Sizes, and the steps that are for them. */
static int check_ranges(const struct hn_model *m, struct hn_err *err)
{
	char where[40];
	int rc = (m->n_size == 0) == (m->n_range == 0)
			 ? 0
			 : hn_fail(err, HONE_E_INVALID, "ranges: sizes have them, and only these");

	for (uint32_t i = 0; rc == 0 && i < m->n_size; i++) {
		snprintf(where, sizeof where, "sizes[%u]", i);
		rc = check_label(where, m->size[i].name, err);
		if (rc == 0 && (m->size[i].least < 1 || m->size[i].most < m->size[i].least)) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "%s: from %" PRId64 " to %" PRId64 " is no range", where,
				     m->size[i].least, m->size[i].most);
		}
		if (rc == 0 && m->size[i].step < 1) {
			rc = hn_fail(err, HONE_E_INVALID, "%s: a step of %" PRId64, where,
				     m->size[i].step);
		}
	}
	for (uint32_t i = 0; rc == 0 && i < m->n_range; i++) {
		rc = check_range(m, i, err);
	}
	for (uint32_t i = 0; rc == 0 && m->n_size == 0 && i < m->n_kernel; i++) {
		rc = m->kernel[i].sized ? hn_fail(err, HONE_E_INVALID,
						  "kernels[%u].sized: there are no sizes", i)
					: 0;
	}
	return rc;
}

int hn_model_check(const struct hn_model *m, struct hn_err *err)
{
	struct hn_arena a;
	int rc = check_c_name("name", m->name, err);

	hn_arena_init(&a, 0);
	rc = rc ? rc : check_sizes(m, err);
	rc = rc ? rc : check_tensors("inputs", m->input, m->n_input, err);
	rc = rc ? rc : check_tensors("outputs", m->output, m->n_output, err);
	rc = rc ? rc : check_kernels(m, &a, err);
	rc = rc ? rc : check_steps(m, err);
	rc = rc ? rc : check_stored(m, err);
	rc = rc ? rc : check_ranges(m, err);
	rc = rc ? rc : check_prepared(m, &a, err);
	hn_arena_fini(&a);
	return rc;
}
