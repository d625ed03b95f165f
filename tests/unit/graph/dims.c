/* Sizes that a model leaves open: each option once and in full, whatever the author calls things,
 * which inputs they are of, and what was given put in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "graph/import/dims.h"

#define MOST 4000

struct dim_case {
	const char *input, *name[3]; /* NULL: the author left no name; "3": a number */
};

static struct hn_onnx_dim dim_of(const char *name)
{
	return (struct hn_onnx_dim){ .kind = name == NULL	      ? HN_ONNX_DIM_UNKNOWN
					     : strcmp(name, "3") == 0 ? HN_ONNX_DIM_VALUE
								      : HN_ONNX_DIM_PARAM,
				     .dim_value = 3,
				     .dim_param = name != NULL ? name : "" };
}

/* What is said of these inputs, "" where all is known; the last one's shape. */
static void ask(const struct dim_case *rows, uint32_t n, struct hn_import *im, int64_t shape[3],
		struct hn_err *err)
{
	struct hn_arena a;
	struct hn_dims d;

	*err = (struct hn_err){ 0 };
	hn_arena_init(&a, 0);
	hn_dims_init(&d, im, MOST, &a);
	for (uint32_t i = 0; i < n; i++) {
		struct hn_onnx_dim dim[3];

		for (uint32_t k = 0; k < 3; k++) {
			dim[k] = dim_of(rows[i].name[k]);
		}
		hn_dims_shape(&d,
			      &(struct hn_onnx_value_info){
				      .name = rows[i].input, .n_dim = 3, .dim = dim },
			      shape);
	}
	int rc = hn_dims_check(&d, err);

	assert_int_equal(rc, -err->code);
	hn_dims_fini(&d);
	hn_arena_fini(&a);
}

#define SAYS "the model leaves dimensions open; give their sizes:"

static void all_are_asked_for_at_once(void **state)
{
	static const struct {
		struct dim_case in[2];
		const char *says;
	} rows[] = {
		/* a name that is a part of another, and one for two inputs */
		{ { { "x", { "batch", "3", "at" } }, { "y", { "batch", NULL, "?" } } },
		  " --dim batch=.. --dim at=.. --dim y:1=.. --dim y:2=.. (it takes x[batch, 3, "
		  "at], y[batch, ?, ?])" },
		/* a shell's words */
		{ { { "x", { "past + 1", "$HOME", "3" } }, { "y", { "3", "3", "3" } } },
		  " --dim 'past + 1=..' --dim '$HOME=..' (it takes x[past + 1, $HOME, 3])" },
		/* names that no terminal shall see, and quotes */
		{ { { "x y", { "a\nb", "it's", "3" } }, { "q'", { "\033[2J", "3", "3" } } },
		  " --dim 'x y:0=..' --dim 'x y:1=..' --dim INPUT:K=.. (it takes x y[a b, it's, 3], "
		  "q'[ [2J, 3, 3])" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_import im = { 0 };
		struct hn_err err;
		int64_t shape[3];

		ask(rows[i].in, 2, &im, shape, &err);
		if (strncmp(err.msg, SAYS, strlen(SAYS)) != 0 ||
		    strcmp(err.msg + strlen(SAYS), rows[i].says) != 0) {
			fail_msg("\"%s\", not \"%s\"", err.msg, rows[i].says);
		}
	}
}

/* More than a line has room for: whole options, and how many are left. */
static void many_are_counted(void **state)
{
	static struct dim_case rows[1000];
	static char name[1000][32];
	struct hn_import im = { 0 };
	struct hn_err err;
	int64_t shape[3];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name[i], sizeof name[i], "past_key_values_%d", i);
		rows[i] = (struct dim_case){ name[i], { name[i], "3", NULL } };
	}
	ask(rows, 1000, &im, shape, &err);
	uint32_t n = 0;
	char more[40];

	for (const char *at = err.msg; (at = strstr(at, " --dim past_key_values_")) != NULL; at++) {
		n++;
	}
	assert_true(n > 15);
	snprintf(more, sizeof more, "=.. and %u more (it takes past", 2000 - n);
	assert_non_null(strstr(err.msg, more));
	assert_non_null(strstr(err.msg, ", 3, ?] and 99"));
	assert_string_equal(err.msg + strlen(err.msg) - 13, " more inputs)");
	assert_true(strlen(err.msg) < sizeof err.msg - 100);
}

static void what_is_given_is_used(void **state)
{
	struct hn_import_dim given[] = { { .name = "batch", .value = 7 },
					 { .name = "x:1", .value = 8 } };
	struct hn_import im = { .n_dim = 2, .dim = given };
	const struct dim_case x = { "x", { "batch", "batch", "3" } }, y = { "y", { "3", "3", "3" } };
	struct hn_err err;
	int64_t shape[3];

	(void)state;
	ask(&x, 1, &im, shape, &err);
	assert_string_equal(err.msg, "");
	assert_true(shape[0] == 7 && shape[1] == 8 && shape[2] == 3);
	given[0].used = given[1].used = false;
	ask(&y, 1, &im, shape, &err);
	assert_string_equal(err.msg, "--dim batch: no input has a dimension of that name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_asked_for_at_once),
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(what_is_given_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
