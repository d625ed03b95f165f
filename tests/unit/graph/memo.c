/* Constants of a second reading: the very ones of the first, where their operands are, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/ir/memo.h"
#include "graph/op/build.h"

static const int64_t dims[] = { 40 };
static float weight[40];

/* What a reading makes of the weight and of a number. */
struct reading {
	struct hn_arena a;
	struct hn_graph g;
	struct hn_err err;
};

static void begin(struct reading *r, struct hn_memo *memo)
{
	hn_arena_init(&r->a, 0);
	hn_graph_init(&r->g, &r->a, "g", &r->err);
	r->g.memo = memo;
}

static const float *scaled(struct reading *r, const float *w, bool lasts, double by)
{
	int32_t v = hn_graph_const(&r->g, "w", HN_F32, 1, dims, w, false);

	r->g.value[v].lasts = lasts;
	v = hn_graph_2(&r->g, "Mul", v, hn_graph_scalar(&r->g, HN_F32, by));
	assert_false(r->g.failed);
	return r->g.value[v].data;
}

static const float *twice(struct reading *r, const float *w, bool lasts)
{
	return scaled(r, w, lasts, 2);
}

static void a_second_reading_computes_nothing(void **state)
{
	struct hn_arena a;
	struct reading first, second;
	const float *x, *y;
	float other[40] = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_memo *memo = hn_memo_new(&a);

	for (int i = 0; i < 40; i++) {
		weight[i] = (float)i;
	}
	begin(&first, memo);
	x = twice(&first, weight, true);
	assert_true(x[39] == 78);
	assert_ptr_equal(x, twice(&first, weight, true));
	assert_ptr_not_equal(twice(&first, other, false), twice(&first, other, false));
	hn_memo_close(memo);
	begin(&second, memo);
	assert_ptr_equal(twice(&second, weight, true), x);
	assert_ptr_not_equal(twice(&second, weight, false), x); /* its place may be another's later */
	y = scaled(&second, weight, true, 3); /* another number, which nobody keeps any more */
	assert_true(y[39] == 117);
	assert_ptr_not_equal(scaled(&second, weight, true, 3), y);
	y = twice(&second, other, true);
	assert_true(y[39] == 0);
	hn_arena_fini(&second.a);
	hn_arena_fini(&first.a);
	hn_arena_fini(&a);
}

/* What is made of a result that was kept is kept as well; but one element that stands for all is a
 * number of the program. */
static void results_last(void **state)
{
	struct hn_arena a;
	struct reading r;
	int32_t v, fill;

	(void)state;
	hn_arena_init(&a, 0);
	begin(&r, hn_memo_new(&a));
	v = hn_graph_const(&r.g, "w", HN_F32, 1, dims, weight, false);
	fill = hn_graph_const(&r.g, "w", HN_F32, 1, dims, weight, true);
	r.g.value[v].lasts = r.g.value[fill].lasts = true;
	v = hn_graph_1(&r.g, "Neg", hn_graph_1(&r.g, "Exp", v));
	fill = hn_graph_1(&r.g, "Neg", hn_graph_1(&r.g, "Exp", fill));
	assert_true(r.g.value[v].lasts);
	assert_false(r.g.value[fill].lasts);
	assert_true(r.g.value[fill].fill);
	assert_ptr_not_equal(r.g.value[v].data, r.g.value[fill].data);
	hn_arena_fini(&r.a);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_second_reading_computes_nothing),
					    cmocka_unit_test(results_last) };

	return cmocka_run_group_tests_name("graph memo", tests, NULL, NULL);
}
