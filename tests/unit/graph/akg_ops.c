/* Each operator of AKG by a small kernel whose answer is known: read, imported, and evaluated by the
 * interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/half.h"
#include "graph/akg/call.h"
#include "graph/akg/import.h"
#include "tests/lib/akg_text.h"
#include "tests/lib/graph_eval.h"

struct row {
	const char *op, *attr, *in, *out;
};

/* The kernel that is tried. */
struct bed {
	struct hn_arena arena;
	struct hn_graph g;
	struct hn_err err;
	void **mem;
};

static const struct row rows[] = {
#define CASE(op, attr, in, out) { op, attr, in, out },
#include "tests/unit/graph/akg_ops.def"
#undef CASE
};

/* -- elements --------------------------------------------------------------------------- */

static double get(const void *p, enum hn_dtype t, size_t i)
{
	switch (t) {
	case HN_F32:
		return (double)((const float *)p)[i];
	case HN_F16:
		return (double)hn_half_to_float(((const uint16_t *)p)[i]);
	case HN_I32:
		return ((const int32_t *)p)[i];
	case HN_U32:
		return ((const uint32_t *)p)[i];
	case HN_I64:
		return (double)((const int64_t *)p)[i];
	case HN_BOOL:
		return ((const uint8_t *)p)[i];
	default:
		fail_msg("a test of %s", hn_dtype_name(t));
		return 0;
	}
}

static void set(void *p, enum hn_dtype t, size_t i, double v)
{
	switch (t) {
	case HN_F32:
		((float *)p)[i] = (float)v;
		break;
	case HN_F16:
		((uint16_t *)p)[i] = hn_half_of_float((float)v);
		break;
	case HN_I32:
		((int32_t *)p)[i] = (int32_t)v;
		break;
	case HN_U32:
		((uint32_t *)p)[i] = (uint32_t)v;
		break;
	case HN_I64:
		((int64_t *)p)[i] = (int64_t)v;
		break;
	case HN_BOOL:
		((uint8_t *)p)[i] = v != 0;
		break;
	default:
		fail_msg("a test of %s", hn_dtype_name(t));
	}
}

static bool is_right(double a, double b, enum hn_dtype t)
{
	double off = t == HN_F16 ? 2e-3 : t == HN_F32 ? 2e-6 : 0;

	return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= off * (1 + fabs(b));
}

/* -- one kernel ------------------------------------------------------------------------- */

static void fill_inputs(const struct bed *b, const char *s)
{
	struct akg_text *t = malloc(sizeof *t);
	uint32_t n = 0;

	assert_non_null(t);
	while (s != NULL && *s != '\0') {
		s = akg_tensor(s, t);
		if (t->is_literal) {
			continue;
		}
		const struct hn_gvalue *v = &b->g.value[b->g.input[n]];

		assert_int_equal(hn_gvalue_elements(v), t->n);
		b->mem[b->g.input[n]] = malloc(hn_gvalue_bytes(v) + 1);
		assert_non_null(b->mem[b->g.input[n]]);
		for (size_t i = 0; i < t->n; i++) {
			set(b->mem[b->g.input[n]], (enum hn_dtype)v->dtype, i, t->number[i]);
		}
		n++;
	}
	assert_int_equal(n, b->g.n_input);
	free(t);
}

/* Outputs of a type and shape, with these elements. */
static void compare(struct bed *b, const struct row *r)
{
	struct akg_text *t = malloc(sizeof *t);
	const char *s = r->out;
	char shape[80];

	assert_non_null(t);
	for (uint32_t k = 0; s != NULL; k++) {
		s = akg_tensor(s, t);
		assert_true(k < b->g.n_output);

		const struct hn_gvalue *v = &b->g.value[b->g.output[k]];
		bool complex = strcmp(t->dtype, "complex64") == 0;

		snprintf(shape, sizeof shape, "[%s%s]", *t->shape != '\0' ? t->shape : "1",
			 complex ? ",2" : "");
		assert_string_equal(hn_shape_text(&b->arena, v->rank, v->shape), shape);
		assert_string_equal(hn_dtype_name((enum hn_dtype)v->dtype), complex ? "float32" : t->dtype);
		assert_int_equal(hn_gvalue_elements(v), t->n);
		for (size_t i = 0; i < t->n; i++) {
			double a = get(b->mem[b->g.output[k]], (enum hn_dtype)v->dtype, i);

			if (!is_right(a, t->number[i], (enum hn_dtype)v->dtype)) {
				fail_msg("%s {%s} of %s: element %zu of output %u is %.9g, not %.9g",
					 r->op, r->attr, r->in, i, k, a, t->number[i]);
			}
		}
	}
	free(t);
}

static void import(struct bed *b, const struct row *r, struct hn_akg **ret)
{
	struct hn_import im = { 0 };
	struct hn_buf text;

	hn_buf_init(&text);
	put_akg(&text, r->op, r->attr, r->in, r->out);
	if (hn_akg_parse("test", text.s, text.n, ret, &b->err) != 0 ||
	    hn_akg_import(*ret, &im, &b->g, &b->err) != 0) {
		fail_msg("%s {%s} of %s: %s", r->op, r->attr, r->in, b->err.msg);
	}
	hn_buf_fini(&text);
}

static void try(const struct row *r)
{
	struct bed b = { .err = { 0 } };
	struct hn_akg *k = NULL;

	hn_arena_init(&b.arena, 0);
	hn_graph_init(&b.g, &b.arena, "test", &b.err);
	import(&b, r, &k);
	assert_int_equal(hn_akg_kernel(k)->n_note, 0);
	b.mem = calloc(b.g.n_value + 1, sizeof *b.mem);
	assert_non_null(b.mem);
	fill_inputs(&b, r->in);
	if (eval_graph(&b.g, b.mem, &b.err) != 0) {
		fail_msg("%s {%s} of %s: %s", r->op, r->attr, r->in, b.err.msg);
	}
	compare(&b, r);
	for (uint32_t v = 0; v < b.g.n_value; v++) {
		free(b.mem[v]);
	}
	free(b.mem);
	hn_akg_close(k);
	hn_arena_fini(&b.arena);
}

static void answers_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		try(&rows[i]);
	}
}

static void each_operator_has_a_case(void **state)
{
	const struct hn_akg_row *all;
	uint32_t n;

	(void)state;
	all = hn_akg_rows(&n);
	for (uint32_t k = 0; k < n; k++) {
		bool found = false;

		for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
			found = found || strcmp(rows[i].op, all[k].name) == 0;
		}
		if (!found) {
			fail_msg("no case of %s", all[k].name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_known),
		cmocka_unit_test(each_operator_has_a_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
