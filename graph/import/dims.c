/* graph/import/dims.c -- see dims.h. */
#include "graph/import/dims.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"

#define MOST_OPTIONS 500 /* bytes of a message */
#define MOST_INPUTS 200

static void cut(struct hn_buf *b, size_t n)
{
	b->n = n;
	b->s[n] = '\0';
}

void hn_dims_init(struct hn_dims *d, struct hn_import *im, uint32_t most, struct hn_arena *a)
{
	*d = (struct hn_dims){ .im = im, .a = a };
	hn_names_init(&d->asked, most, a);
	hn_buf_init(&d->options);
	hn_buf_init(&d->inputs);
}

void hn_dims_fini(struct hn_dims *d)
{
	hn_buf_fini(&d->options);
	hn_buf_fini(&d->inputs);
}

static struct hn_import_dim *find(struct hn_dims *d, const char *name)
{
	for (uint32_t k = 0; k < d->im->n_dim; k++) {
		if (strcmp(d->im->dim[k].name, name) == 0) {
			d->im->dim[k].used = true;
			return &d->im->dim[k];
		}
	}
	return NULL;
}

/* What the model's author calls it; NULL: nothing. */
static const char *author_name(const struct hn_onnx_dim *dim)
{
	bool has = dim->kind == HN_ONNX_DIM_PARAM && *dim->dim_param != '\0' &&
		   strcmp(dim->dim_param, "?") != 0;

	return has ? dim->dim_param : NULL;
}

static bool is_open(const struct hn_onnx_dim *dim)
{
	return dim->kind != HN_ONNX_DIM_VALUE || dim->dim_value <= 0;
}

/* A shell's word that is the name; false where a name cannot be shown as it is. */
static bool put_word(struct hn_buf *b, const char *name)
{
	size_t n = strlen(name), plain = 0;

	for (size_t i = 0, k; i < n; i += k) {
		k = hn_shown_length(name + i, n - i);
		if (k == 0 || name[i] == '\'') {
			return false;
		}
		plain += isalnum((unsigned char)name[i]) || strchr("_.:/+-", name[i]) != NULL;
	}
	hn_buf_printf(b, plain == n ? " --dim %s=.." : " --dim '%s=..'", name);
	return true;
}

/* " --dim NAME=..", once; by its place where the name is none. */
static void ask(struct hn_dims *d, const char *name, const char *place)
{
	int32_t *asked = hn_names_at(&d->asked, name != NULL ? name : place, 0);
	size_t before = d->options.n;

	if (*asked != 0) {
		return;
	}
	*asked = 1;
	if ((name == NULL || !put_word(&d->options, name)) && !put_word(&d->options, place)) {
		hn_buf_puts(&d->options, " --dim INPUT:K=..");
	}
	if (d->options.n > MOST_OPTIONS) {
		d->n_unsaid++;
		cut(&d->options, before);
	}
}

/* "x[batch, 3, ?]" */
static void put_input(struct hn_buf *b, const struct hn_onnx_value_info *v)
{
	char shown[81];

	hn_shown(shown, sizeof shown, v->name, strlen(v->name));
	hn_buf_printf(b, "%s%s[", b->n > 0 ? ", " : "", shown);
	for (uint32_t k = 0; k < v->n_dim; k++) {
		const struct hn_onnx_dim *dim = &v->dim[k];
		const char *name = author_name(dim);

		hn_buf_puts(b, k > 0 ? ", " : "");
		if (is_open(dim)) {
			hn_shown(shown, sizeof shown, name != NULL ? name : "?",
				 name != NULL ? strlen(name) : 1);
			hn_buf_puts(b, shown);
		} else {
			hn_buf_printf(b, "%lld", (long long)dim->dim_value);
		}
	}
	hn_buf_putc(b, ']');
}

static void tell_input(struct hn_dims *d, const struct hn_onnx_value_info *v)
{
	size_t before = d->inputs.n;

	put_input(&d->inputs, v);
	if (d->inputs.n > MOST_INPUTS) {
		cut(&d->inputs, before);
		d->n_untold++;
	}
}

void hn_dims_shape(struct hn_dims *d, const struct hn_onnx_value_info *v, int64_t *ret)
{
	bool missing = false;

	for (uint32_t k = 0; k < v->n_dim; k++) {
		const char *place = hn_arena_printf(d->a, "%s:%u", v->name, k);
		const char *name = author_name(&v->dim[k]);
		const struct hn_import_dim *given = find(d, place);

		given = given == NULL && name != NULL ? find(d, name) : given;
		if (given != NULL) {
			ret[k] = given->value;
		} else if (!is_open(&v->dim[k])) {
			ret[k] = v->dim[k].dim_value;
		} else {
			ret[k] = 0;
			ask(d, name, place);
			missing = true;
		}
	}
	if (missing) {
		tell_input(d, v);
	}
}

static int fail_open(const struct hn_dims *d, struct hn_err *err)
{
	char options[40] = "", inputs[40] = "";

	if (d->n_unsaid > 0) {
		snprintf(options, sizeof options, " and %u more", d->n_unsaid);
	}
	if (d->n_untold > 0) {
		snprintf(inputs, sizeof inputs, "%s%u %sinputs", d->inputs.n > 0 ? " and " : "",
			 d->n_untold, d->inputs.n > 0 ? "more " : "");
	}
	return hn_fail(err, HONE_E_INVALID,
		       "the model leaves dimensions open; give their sizes:%s%s (it takes %s%s)",
		       d->options.n > 0 ? d->options.s : "", options,
		       d->inputs.n > 0 ? d->inputs.s : "", inputs);
}

int hn_dims_check(const struct hn_dims *d, struct hn_err *err)
{
	if (d->inputs.n > 0 || d->n_untold > 0) {
		return fail_open(d, err);
	}
	for (uint32_t k = 0; k < d->im->n_dim; k++) {
		if (!d->im->dim[k].used) {
			return hn_fail(err, HONE_E_INVALID,
				       "--dim %.80s: no input has a dimension of that name",
				       d->im->dim[k].name);
		}
	}
	return 0;
}
