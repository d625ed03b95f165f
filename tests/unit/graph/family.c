/* Ranges cut into parts: which, and which kernels each has of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "graph/net/family.h"
#include "loopstate/read/dag_read.h"

static void ends_are_of_small_sizes(void **state)
{
	static const struct {
		int64_t size, most, end;
	} of[] = { { 1, 512, 4 },  { 4, 512, 4 },   { 5, 512, 8 },    { 9, 512, 16 },
		   { 16, 512, 16 }, { 17, 512, 64 }, { 64, 512, 64 },  { 65, 512, 512 },
		   { 9, 16, 16 },   { 1, 3, 3 },     { 5, 7, 7 },      { 10, 40, 16 },
		   { 17, 40, 40 },  { 17, 65, 64 } };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		assert_int_equal(hn_family_end(of[i].size, of[i].most), of[i].end);
	}
}

#define SIZES "N0 in [7, 60], N1 in [3, 12], "

static const char *const program[] = {
	/* the lanes are a size's: N0 */
	"f(" SIZES "float32 Q[N1,N0,64], float32 K[N1,N0,64]) -> C {"
	" C(b,i,j) +=! Q(b,i,k) * K(b,j,k) }",
	/* the sum is */
	"f(" SIZES "float32 P[N1,N0,N0], float32 V[N1,N0,64]) -> C {"
	" C(b,i,j) +=! P(b,i,k) * V(b,k,j) }",
	/* weights, rows alone, no sum, the other size */
	"f(" SIZES "float32 X[N0,N1,64], const float32 W[N0,64]) -> C {"
	" C(i,b,j) +=! X(i,b,k) * W(j,k) where i in 0:N0, b in 0:N1, j in 0:2 }",
	"f(" SIZES "float32 X[N1,N0,64]) -> C { C(b,i) = X(b,i,0) where b in 0:N1, i in 0:N0 }",
	"f(" SIZES "float32 X[N0,N1]) -> C { C(i) +=! X(i,k) }",
};
static const bool differs[HN_COUNT_OF(program)][2] = {
	{ true, false }, { true, false }, { false, false }, { false, false }, { false, true }
};

static const struct hn_dag *dag_of(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };

	if (hn_dag_parse_sized("f", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void lanes_and_sums_of_sizes_differ(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		for (uint32_t k = 0; k < 2; k++) {
			assert_int_equal(hn_family_differs(dag_of(program[i], &a), k), differs[i][k]);
		}
	}
	hn_arena_fini(&a);
}

/* Of two sizes: by the first in three parts, each of these by the second in three. */
static void parts_have_kernels_of_their_own(void **state)
{
	static const struct hn_net_size size[2] = { { "sequence", 7, 60, 1 }, { "batch", 3, 12, 1 } };
	static const struct {
		int64_t least[2], most[2];
		const char *scores, *sum; /* names of programs 0 and 4 */
	} part[] = { { { 17, 9 }, { 60, 12 }, "f", "f" },
		     { { 17, 3 }, { 60, 4 }, "f", "to4_f" },
		     { { 17, 5 }, { 60, 8 }, "f", "to8_f" },
		     { { 7, 9 }, { 8, 12 }, "to8_f", "f" },
		     { { 7, 3 }, { 8, 4 }, "to8_f", "to4_f" },
		     { { 7, 5 }, { 8, 8 }, "to8_f", "to8_f" },
		     { { 9, 9 }, { 16, 12 }, "to16_f", "f" },
		     { { 9, 3 }, { 16, 4 }, "to16_f", "to4_f" },
		     { { 9, 5 }, { 16, 8 }, "to16_f", "to8_f" } };
	struct hn_gtask task[HN_COUNT_OF(program)];
	struct hn_gkernel kernel[HN_COUNT_OF(program)];
	struct hn_ranges r = { .n_size = 2, .size = size, .n = 1 };
	struct hn_net_range whole = { .least = { 7, 3 }, .most = { 60, 12 } };
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (uint32_t i = 0; i < HN_COUNT_OF(program); i++) {
		task[i] = (struct hn_gtask){
			.name = "f", .text = program[i], .dag = dag_of(program[i], &a), .sized = true
		};
		kernel[i] = (struct hn_gkernel){ .task = i, .name = "f" };
	}
	whole.net = (struct hn_net){ .n_task = HN_COUNT_OF(task),
				     .n_kernel = HN_COUNT_OF(kernel),
				     .task = task,
				     .kernel = kernel };
	r.range = &whole;
	assert_int_equal(hn_family_cut(&r, &a, &err), 0);
	assert_int_equal(r.n, HN_COUNT_OF(part));
	for (uint32_t i = 0; i < r.n; i++) {
		const struct hn_net *net = &r.range[i].net;
		const struct hn_sizes *of_sum = net->task[4].dag->sizes;
		const struct hn_sizes *of_scores = net->task[0].dag->sizes;

		for (uint32_t k = 0; k < 2; k++) {
			assert_int_equal(r.range[i].least[k], part[i].least[k]);
			assert_int_equal(r.range[i].most[k], part[i].most[k]);
			/* the largest part's kernels are for the whole range */
			assert_true(of_sum->size[k].lo <= part[i].least[k]);
			assert_true(of_sum->size[k].hi >= part[i].most[k]);
		}
		assert_int_equal(of_scores->size[0].hi, part[i].most[0]);
		assert_int_equal(of_sum->size[1].hi, part[i].most[1]);
		assert_string_equal(net->kernel[0].name, part[i].scores);
		assert_string_equal(net->kernel[4].name, part[i].sum);
		assert_ptr_equal(net->task[2].text, program[2]); /* weights: one kernel for all */
		assert_ptr_equal(net->task[3].text, program[3]);
	}
	assert_ptr_equal(r.range[0].net.task[0].text, program[0]);
	assert_ptr_not_equal(r.range[3].net.task[0].text, program[0]);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_of_small_sizes),
		cmocka_unit_test(lanes_and_sums_of_sizes_differ),
		cmocka_unit_test(parts_have_kernels_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
