/* What a search knows of how far off its model is: reckoned anew when the model has learned. */
#include "tests/lib/search_dags.h"

#include <math.h>

#include "tests/lib/dag_form.h"
#include "search/experience.h"

#define N_PROGRAM 60
#define FEW 10

static double mean_bias(const struct hn_indiv *x, const double *ns, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += hn_experience_bias(&x[i], ns[i]);
	}
	return sum / n;
}

/* Programs of many parallel iterations take five times as long as the analytic model says. */
static void biases_follow_the_model(void **state)
{
	struct hn_indiv x[N_PROGRAM];
	double ns[N_PROGRAM], before;
	struct hn_experience e;
	struct hn_target target;
	struct hn_space sp;
	struct hn_arena a;
	struct hn_err err;
	uint32_t n = 0;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(
		hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=2", &a, &target, &err),
		0);
	struct hn_task task = {
		.dag = dag_open(
			"f(float32 A[128,96], B[96,64]) -> C { C(i,j) +=! A(i,k) * "
			"B(k,j) }",
			&a),
		.target = &target,
		.seed = 1,
		.model = "learned"
	};

	assert_int_equal(hn_space_init(&sp, &task, &err), 0);
	hn_experience_init(&e, &sp);
	for (uint64_t i = 0; n < N_PROGRAM; i++) {
		if (hn_space_sample(&sp, i, &a, &x[n]) == HN_VERDICT_OK) {
			n++;
		}
	}
	hn_space_score(&sp, x, n);
	for (uint32_t i = 0; i < n; i++) {
		const float *row =
			x[i].features.x + (size_t)(x[i].features.n - 1) * HN_N_FEATURE;

		ns[i] = 1e9 / x[i].score *
			(row[HN_FEATURE_parallel_len] > log2(17) ? 5 : 1);
	}
	for (uint32_t i = 0; i < FEW; i++) {
		hn_experience_add(&e, &x[i], ns[i]);
	}
	assert_false(
		hn_experience_learn(&e)); /* too few for the model, not for the means */
	assert_float_equal(hn_experience_mean(&e, NULL), mean_bias(x, ns, FEW), 1e-9);
	for (uint32_t i = FEW; i < n; i++) {
		hn_experience_add(&e, &x[i], ns[i]);
	}
	before = mean_bias(x, ns, n);
	assert_true(fabs(before) > 0.1);
	assert_true(hn_experience_learn(&e));
	hn_space_score(&sp, x, n);
	assert_true(fabs(mean_bias(x, ns, n) - before) > 0.05);
	assert_float_equal(hn_experience_mean(&e, NULL), mean_bias(x, ns, n), 1e-9);
	/* nothing is new: it does not learn again, and nothing changes */
	assert_false(hn_experience_learn(&e));
	assert_float_equal(hn_experience_mean(&e, NULL), mean_bias(x, ns, n), 1e-9);
	hn_space_fini(&sp);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(biases_follow_the_model),
	};

	return cmocka_run_group_tests_name("search experience", tests, NULL, NULL);
}
