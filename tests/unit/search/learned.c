/* The learned model on an invented machine: the analytic one with a distortion that the
 * analytic model cannot know. */
#include "tests/lib/search_dags.h"

#include <math.h>

#include "loopstate/nest/looptree.h"
#include "sketch/sketch.h"
#include "costmodel/model.h"

#define N_PROGRAM 400
#define N_TAUGHT 300

struct programs {
	struct hn_arena arena;
	uint32_t n;
	struct hn_features f[N_PROGRAM];
	const struct hn_features *at[N_PROGRAM];
	double ns[N_PROGRAM];
	struct hn_lesson lesson[N_PROGRAM];
};

/* Reductions of short rows take four times as long as said, many parallel iterations three
 * times, what L2 feeds a third; the noise is of 2 %. */
static double true_ns(const struct hn_features *f, struct hn_rng *rng)
{
	double cycles = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const float *x = f->x + (size_t)i * HN_N_FEATURE;
		bool rows = x[HN_FEATURE_kind] == 2 && x[HN_FEATURE_block_vecs] < 3;

		cycles += f->cycles[i] * (rows ? 4 : 1) *
			  (x[HN_FEATURE_parallel_len] > 64 ? 3 : 1) *
			  (x[HN_FEATURE_l2_part] > 0.5F ? 1.0 / 3 : 1);
	}
	return cycles / 3 * (0.98 + 0.04 * hn_rng_unit(rng));
}

static void draw(struct programs *p)
{
	struct hn_target target;
	struct hn_sketches sketches;
	struct hn_arena scratch;
	struct hn_err err = {0};

	hn_arena_init(&p->arena, 0);
	hn_arena_init(&scratch, 0);
	const struct hn_dag *dag = dag_matmul(&p->arena, 512, 512, 512);
	if (hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2 -l1_bytes=32768 "
			    "-l2_bytes=524288 -l3_bytes=33554432",
			    &p->arena, &target, &err) < 0 ||
	    hn_sketch_generate(dag, &target, &p->arena, &sketches, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	p->n = 0;
	for (uint32_t i = 0; p->n < N_PROGRAM; i++) {
		struct hn_rng rng = hn_rng_stream(1, 0, 0, i);
		const struct hn_looptree *tree;
		const struct hn_state *s;
		struct hn_features f;

		hn_arena_reset(&scratch);
		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], &target, &rng, &scratch,
				   &s) == HN_VERDICT_OK &&
		    hn_looptree_build(s, &scratch, &tree, &err) == 0 &&
		    hn_features_of(tree, &target, &scratch, &f)) {
			uint32_t k = p->n++;

			p->f[k] = hn_features_copy(&f, &p->arena);
			p->at[k] = &p->f[k];
			p->ns[k] = true_ns(&f, &rng);
			p->lesson[k] = (struct hn_lesson){&p->f[k], 1, p->ns[k]};
		}
	}
	hn_arena_fini(&scratch);
}

/* Share of pairs in the right order, of the programs nobody was taught. */
static double pairwise(const struct programs *p, const double *score)
{
	uint32_t right = 0, all = 0;

	for (uint32_t i = N_TAUGHT; i < N_PROGRAM; i++) {
		for (uint32_t k = i + 1; k < N_PROGRAM; k++) {
			all++;
			right += (p->ns[i] < p->ns[k]) == (score[i] > score[k]);
		}
	}
	return (double)right / all;
}

static void it_learns_what_the_analytic_model_cannot_know(void **state)
{
	static struct programs p;
	const struct hn_model_ops *learned = hn_model_ops("learned");
	double score[N_PROGRAM], before[N_PROGRAM];

	(void)state;
	draw(&p);
	struct hn_model *m = learned->create(7);
	learned->predict(m, p.at, p.n, before);
	for (uint32_t i = 0; i < p.n; i++) {
		assert_true(before[i] == hn_model_analytic_score(p.at[i]));
	}
	assert_true(learned->update(m, p.lesson, N_TAUGHT, 300));
	learned->predict(m, p.at, p.n, score);
	double was = pairwise(&p, before), is = pairwise(&p, score);
	if (!(is > 0.92 && is > was + 0.1)) {
		fail_msg("pairs in order: %g by the analytic model, %g learned", was, is);
	}
	learned->destroy(m);
	hn_arena_fini(&p.arena);
}

/* Neither another instance nor other company changes a bit. */
static void same_lessons_same_bits(void **state)
{
	static struct programs p;
	const struct hn_model_ops *learned = hn_model_ops("learned");
	double score[2][N_PROGRAM], alone;

	(void)state;
	draw(&p);
	for (int i = 0; i < 2; i++) {
		struct hn_model *m = learned->create(7);

		assert_true(learned->update(m, p.lesson, N_TAUGHT, 300));
		learned->predict(m, p.at, p.n, score[i]);
		learned->predict(m, &p.at[5], 1, &alone);
		assert_true(alone == score[i][5]);
		learned->destroy(m);
	}
	assert_memory_equal(score[0], score[1], sizeof score[0]);
	hn_arena_fini(&p.arena);
}

static void it_learns_when_a_fifth_is_new(void **state)
{
	static struct programs p;
	const struct hn_model_ops *learned = hn_model_ops("learned");

	(void)state;
	draw(&p);
	struct hn_model *m = learned->create(7);
	assert_false(learned->update(m, p.lesson, 3, 300));
	assert_true(learned->update(m, p.lesson, 100, 300));
	assert_false(learned->update(m, p.lesson, 119, 300));
	assert_true(learned->update(m, p.lesson, 120, 300));
	learned->destroy(m);
	hn_arena_fini(&p.arena);
}

/* One task ten times slower than another by the clock alone: nothing is to be learned from that. */
static void tasks_are_not_compared(void **state)
{
	static struct programs p;
	const struct hn_model_ops *learned = hn_model_ops("learned");
	double score[2][N_PROGRAM];

	(void)state;
	draw(&p);
	for (int slow = 0; slow < 2; slow++) {
		struct hn_model *m = learned->create(7);

		for (uint32_t i = 0; i < N_TAUGHT; i++) {
			p.lesson[i].task = i / 100;
			p.lesson[i].median_ns = p.ns[i] * (slow && i / 100 == 1 ? 8 : 1);
		}
		assert_true(learned->update(m, p.lesson, N_TAUGHT, 300));
		learned->predict(m, p.at, p.n, score[slow]);
		learned->destroy(m);
	}
	for (uint32_t i = 0; i < p.n; i++) {
		assert_true(fabs(log(score[0][i] / score[1][i])) < 1e-3);
	}
	hn_arena_fini(&p.arena);
}

/* What was learned goes on as text, to the bit; and the next teaching keeps it. */
static void what_was_learned_goes_on(void **state)
{
	static struct programs p;
	const struct hn_model_ops *learned = hn_model_ops("learned");
	double score[2][N_PROGRAM];
	struct hn_err err = {0};
	struct hn_buf text, more;

	(void)state;
	draw(&p);
	struct hn_model *m = learned->create(7), *next = learned->create(8);
	hn_buf_init(&text);
	hn_buf_init(&more);
	assert_false(learned->save(m, &text));
	hn_buf_reset(&text);
	assert_true(learned->update(m, p.lesson, 200, 300));
	assert_true(learned->save(m, &text));
	assert_int_equal(learned->load(next, text.s, &err), 0);
	learned->predict(m, p.at, p.n, score[0]);
	learned->predict(next, p.at, p.n, score[1]);
	assert_memory_equal(score[0], score[1], sizeof score[0]);
	double was = pairwise(&p, score[1]);
	assert_true(learned->update(next, p.lesson, N_TAUGHT, 300));
	assert_true(learned->save(next, &more));
	const char *trees = strchr(text.s, '\n'), *all = strchr(more.s, '\n');
	assert_true(more.n > text.n && strncmp(trees, all, strlen(trees)) == 0);
	learned->predict(next, p.at, p.n, score[1]);
	assert_true(pairwise(&p, score[1]) >= was - 0.01);
	hn_buf_fini(&more);
	hn_buf_fini(&text);
	learned->destroy(next);
	learned->destroy(m);
	hn_arena_fini(&p.arena);
}

/* What hone is shipped with was trained on the features of this version: else it is to be trained
 * anew (docs/model.md). */
static void the_shipped_model_fits(void **state)
{
	const struct hn_model_ops *learned = hn_model_ops("learned");
	struct hn_target avx2 = {.isa = "x86-64-avx2"}, other = {.isa = "aarch64"};
	struct hn_model *m = learned->create(7);
	struct hn_err err = {0};

	(void)state;
	assert_null(hn_model_shipped("analytic", &avx2));
	assert_null(hn_model_shipped("learned", &other));
	const char *text = hn_model_shipped("learned", &avx2);
	assert_non_null(text);
	assert_true(strlen(text) < 1000000);
	if (learned->load(m, text, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	learned->destroy(m);
}

static void what_does_not_fit_is_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} bad[] = {
		{"", HONE_E_CORRUPT, "not a learned model"},
		{"hone-model 2 learned 1 0\n", HONE_E_CORRUPT, "not a learned model"},
		{"hone-model 1 learned 0000000000000001 1\n=1\n", HONE_E_VERSION, "other features"},
		{"STAMP 2\n=1\n", HONE_E_CORRUPT, "tree 2 of 2"},
		{"STAMP 1\n3,0.5 =1\n", HONE_E_CORRUPT, "tree 1 of 1"},
		{"STAMP 1\n9999,0.5 =1 =2\n", HONE_E_CORRUPT, "tree 1 of 1"},
		{"STAMP 1\n3,inf =1 =2\n", HONE_E_CORRUPT, "tree 1 of 1"},
		{"STAMP 1\n=1 =2\n", HONE_E_CORRUPT, "tree 1 of 1"},
	};
	const struct hn_model_ops *learned = hn_model_ops("learned");
	struct hn_model *m = learned->create(7);
	struct hn_buf kept;

	(void)state;
	hn_buf_init(&kept);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const char *after = bad[i].text;
		struct hn_err err = {0};
		char text[200] = "";

		if (strncmp(after, "STAMP", 5) == 0) {
			snprintf(text, sizeof text, "hone-model 1 learned %016llx",
				 (unsigned long long)hn_features_stamp());
			after += 5;
		}
		strncat(text, after, sizeof text - strlen(text) - 1);
		assert_int_equal(learned->load(m, text, &err), -bad[i].code);
		if (!strstr(err.msg, bad[i].says)) {
			fail_msg("%s: %s", bad[i].text, err.msg);
		}
		assert_false(learned->save(m, &kept));
	}
	hn_buf_fini(&kept);
	learned->destroy(m);
}

/* Of programs that are said to be alike, those of long parallel loops fail. */
static void a_failed_program_is_a_lesson(void **state)
{
	static struct programs p;
	const struct hn_model_ops *learned = hn_model_ops("learned");
	double sum[2] = {0}, score[N_PROGRAM];
	uint32_t n[2] = {0};

	(void)state;
	draw(&p);
	for (uint32_t i = 0; i < N_PROGRAM; i++) {
		bool fails = p.f[i].x[HN_FEATURE_parallel_len] > 64;

		p.lesson[i].median_ns = fails ? INFINITY : 1e9 / hn_model_analytic_score(p.at[i]);
	}
	struct hn_model *m = learned->create(7);
	assert_true(learned->update(m, p.lesson, N_TAUGHT, 300));
	learned->predict(m, p.at, p.n, score);
	for (uint32_t i = N_TAUGHT; i < N_PROGRAM; i++) {
		bool fails = isinf(p.lesson[i].median_ns);

		sum[fails] += log(hn_model_analytic_score(p.at[i]) / score[i]);
		n[fails]++;
	}
	assert_true(n[0] > 10 && n[1] > 10);
	if (!(sum[1] / n[1] > sum[0] / n[0] + log(2))) {
		fail_msg("slower than said by exp(%g); those that work by exp(%g)", sum[1] / n[1],
			 sum[0] / n[0]);
	}
	learned->destroy(m);
	hn_arena_fini(&p.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_learns_what_the_analytic_model_cannot_know),
		cmocka_unit_test(same_lessons_same_bits),
		cmocka_unit_test(it_learns_when_a_fifth_is_new),
		cmocka_unit_test(tasks_are_not_compared),
		cmocka_unit_test(what_was_learned_goes_on),
		cmocka_unit_test(the_shipped_model_fits),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(a_failed_program_is_a_lesson),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
