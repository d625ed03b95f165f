/* The last places of a network: weights where their file has them, one prepared block for steps
 * that prepare the same, and arguments that leave their weight refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "graph/library/settle.h"
#include "tests/lib/model_small.h"

/* Two weights; of `same` content they are one in the file. */
static void plan(bool same, struct hn_weight w[2], struct hn_arena *a,
		 struct hn_weights *ret)
{
	struct hn_err err = { 0 };

	for (uint32_t i = 0; i < 2; i++) {
		float *f = HN_NEW_ARRAY(a, float, MS_N *MS_N);

		f[0] = (float)(same ? 1 : 1 + i);
		w[i] = (struct hn_weight){ f, MS_ALL, 4, 0 };
	}
	assert_int_equal(hn_weights_plan(w, 2, a, ret, &err), 0);
}

static int settle(struct ms *s, bool same, struct hn_arena *a, struct hn_model *ret,
		  struct hn_err *err)
{
	struct hn_weight w[2];
	struct hn_weights p;

	s->arg[2][1].offset = 0;
	s->arg[2][1].index += 1;
	plan(same, w, a, &p);
	return hn_library_settle(&s->m, w, 2, &p, a, ret, err);
}

static void weights_get_their_places(void **state)
{
	struct hn_err err = { 0 };
	struct hn_model m;
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	for (uint32_t same = 0; same < 2; same++) {
		ms_make(&s, MS_ALL - 4);
		assert_int_equal(settle(&s, same, &a, &m, &err), 0);
		assert_int_equal(m.weights_bytes, HN_WEIGHTS_PAGE + (same ? MS_ALL : 2 * MS_ALL));
		assert_int_not_equal(m.stamp, 0);
		assert_int_equal(m.step[0].arg[1].offset, HN_WEIGHTS_HEAD);
		assert_int_equal(m.step[2].arg[1].offset, HN_WEIGHTS_HEAD + (same ? 0 : MS_ALL));
		assert_int_equal(m.step[2].arg[1].index, 0);
		assert_int_equal(m.step[2].prepared, same ? 0 : MS_ALL);
		assert_int_equal(m.prepared_bytes, same ? MS_ALL : 2 * MS_ALL);
		assert_int_equal(s.arg[2][1].index, 1); /* what was given stays */
	}
	hn_arena_fini(&a);
}

static void steps_apart_prepare_apart(void **state)
{
	struct hn_err err = { 0 };
	struct hn_model m;
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, MS_ALL);
	s.kernel[1] = s.kernel[0]; /* another kernel with the same weight */
	s.kernel[1].symbol = "small_k1";
	s.step[1] = s.step[0];
	s.step[1].kernel = 1;
	assert_int_equal(settle(&s, true, &a, &m, &err), 0);
	assert_int_equal(m.step[0].prepared, 0);
	assert_int_equal(m.step[1].prepared, MS_ALL);
	assert_int_equal(m.step[2].prepared, 0);
	hn_arena_fini(&a);
}

static void no_weight(struct ms *s)
{
	s->arg[2][1].index = 1;
}
static void past_weight(struct ms *s)
{
	s->matmul_bytes[1]++;
}
static void past_it_far(struct ms *s)
{
	s->arg[0][1].offset = UINT64_MAX;
}
static void no_kernel(struct ms *s)
{
	s->step[1].kernel = 9;
}
static void not_checked(struct ms *s)
{
	s->m.arena_bytes = 1;
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		void (*spoil)(struct ms *s);
		const char *says;
	} rows[] = {
		{ no_weight, "steps[2].args[1]: there is no weight 2" },
		{ past_weight,
		  "steps[0].args[1]: 16385 bytes at 0 go past the end of weight 0" },
		{ past_it_far,
		  "steps[0].args[1]: 16384 bytes at 18446744073709551615 go past" },
		{ no_kernel, "steps[1].kernel: there is no kernel 9" },
		{ not_checked, "arena_bytes: not a multiple" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_err err = { 0 };
		struct hn_model m;
		struct ms s;

		ms_make(&s, MS_ALL);
		rows[i].spoil(&s);
		assert_int_not_equal(settle(&s, false, &a, &m, &err), 0);
		if (strstr(err.msg, rows[i].says) != err.msg) {
			fail_msg("\"%s\", not \"%s\"", err.msg, rows[i].says);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_get_their_places),
		cmocka_unit_test(steps_apart_prepare_apart),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
