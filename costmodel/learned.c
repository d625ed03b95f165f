/* costmodel/learned.c -- the learned model: a forest that corrects the analytic model's cycles,
 * statement by statement. It learns the order of programs, so its scores are no times.
 *
 * The trees that it was made or loaded with stay. Each training of this instance gets all
 * lessons again. It grows new trees after the old ones, and they replace the trees of the last
 * training. So a model that goes from task to task learns what is new in each, in bounded time.
 * A model with more than MOST_TREES keeps only the first KEPT_TREES, which are the most general,
 * and learns its own task again.
 *
 * Text form: `hone-model 1 learned FEATURES TREES`, then the forest. FEATURES is the stamp of
 * features.def: trees fit only the columns that they were trained on.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/boost.h"

#define LEAST_LESSONS 16 /* below that nothing is learned */
#define LEAST_ROUNDS 30	 /* trees of one teaching during a search: */
#define MOST_ROUNDS 300
#define WORK 200000	 /* about so many statements times trees, 0.3 s of one core */
#define MOST_TREES 1200
#define KEPT_TREES 600

struct hn_model {
	uint64_t seed;
	struct hn_forest forest;
	uint32_t n_base;   /* trees it had before it was taught */
	uint32_t n_lesson; /* of the last teaching */
};

static struct hn_model *create(uint64_t seed)
{
	struct hn_model *m = calloc(1, sizeof *m);

	hn_assert(m);
	m->seed = seed;
	return m;
}

static void destroy(struct hn_model *m)
{
	if (m) {
		hn_forest_fini(&m->forest);
		free(m);
	}
}

static void predict(struct hn_model *m, const struct hn_features *const *f, uint32_t n,
		    double *score)
{
	double *by = NULL;
	uint32_t row = 0;

	if (m->forest.n_tree > 0) {
		uint32_t n_row;
		float *x = hn_boost_rows(f, n, &n_row);

		by = calloc(n_row + 1, sizeof *by);
		hn_assert(by);
		hn_forest_predict(&m->forest, x, n_row, HN_N_FEATURE, by);
		free(x);
	}
	for (uint32_t i = 0; i < n; i++) {
		double cycles = HN_MODEL_CALL_CYCLES;

		for (uint32_t k = 0; k < f[i]->n; k++, row++) {
			cycles += f[i]->cycles[k] * (by ? exp(by[row]) : 1);
		}
		score[i] = HN_MODEL_HZ / cycles;
	}
	free(by);
}

static uint32_t quick_rounds(const struct hn_lesson *lesson, uint32_t n)
{
	uint32_t rows = 1;

	for (uint32_t i = 0; i < n; i++) {
		rows += lesson[i].f->n;
	}
	uint32_t rounds = WORK / rows;

	return rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
}

static bool update(struct hn_model *m, const struct hn_lesson *lesson, uint32_t n,
		   uint32_t rounds)
{
	if (n < LEAST_LESSONS || n < m->n_lesson + m->n_lesson / 5) {
		return false;
	}
	m->n_lesson = n;
	if (m->n_base > MOST_TREES) {
		m->n_base = KEPT_TREES;
	}
	hn_forest_cut(&m->forest, m->n_base);
	return hn_boost(&m->forest, lesson, n, rounds > 0 ? rounds : quick_rounds(lesson, n),
			m->seed);
}

static bool save(const struct hn_model *m, struct hn_buf *buf)
{
	hn_buf_printf(buf, "hone-model 1 learned %016" PRIx64 " %u\n", hn_features_stamp(),
		      m->forest.n_tree);
	hn_forest_write(&m->forest, buf);
	return m->forest.n_tree > 0;
}

static int load(struct hn_model *m, const char *text, struct hn_err *err)
{
	uint64_t features;
	uint32_t n_tree;
	int end = 0;

	if (sscanf(text, "hone-model 1 learned %16" SCNx64 " %u%n", &features, &n_tree, &end) != 2 ||
	    text[end] != '\n') {
		return hn_fail(err, HONE_E_CORRUPT, "model: not a learned model of this hone");
	}
	if (features != hn_features_stamp()) {
		return hn_fail(err, HONE_E_VERSION,
			       "model: it was trained on other features (%016" PRIx64
			       ", these are %016" PRIx64 "), so it is not used",
			       features, hn_features_stamp());
	}
	struct hn_forest f = {0};
	const char *line = text + end + 1;
	for (uint32_t i = 0; i < n_tree; i++) {
		const char *next = strchr(line, '\n');
		int rc = hn_forest_add_line(&f, line, HN_N_FEATURE, err);

		if (rc < 0) {
			hn_forest_fini(&f);
			hn_err_within(err, "model: tree %u of %u", i + 1, n_tree);
			return rc;
		}
		line = next ? next + 1 : "";
	}
	hn_forest_fini(&m->forest);
	m->forest = f;
	m->n_base = f.n_tree;
	m->n_lesson = 0;
	return 0;
}

extern const struct hn_model_ops hn_model_learned;
const struct hn_model_ops hn_model_learned = {.name = "learned",
					      .create = create,
					      .destroy = destroy,
					      .predict = predict,
					      .update = update,
					      .save = save,
					      .load = load};
