/* costmodel/model.h -- how good a program looks before it is measured.
 *
 * One vtable; models: `analytic` (a roofline over the loop tree, no training), `random`
 * (seeded noise, for tests that must walk strange candidates), later `xgb` (boosted
 * trees, learned).
 */
#ifndef HN_COSTMODEL_MODEL_H
#define HN_COSTMODEL_MODEL_H

#include "base/err.h"
#include "loopstate/looptree.h"
#include "target/target.h"

struct hn_model; /* a model's instance: owned by whoever created it, one thread at a time
		  */

/* What a measurement taught: trees[i] took median_ns[i] (0 = failed). */
struct hn_lesson {
	const struct hn_looptree *tree;
	double median_ns;
};

struct hn_model_ops {
	const char *name;
	struct hn_model *(*create)(const struct hn_target *target, uint64_t seed);
	void (*destroy)(struct hn_model *m); /* NULL is fine */
	/* score[i]: higher is better, comparable within one task only; -inf = hopeless.
	 */
	void (*predict)(struct hn_model *m, const struct hn_looptree *const *tree,
			uint32_t n, double *score);
	void (*update)(struct hn_model *m, const struct hn_lesson *lesson,
		       uint32_t n); /* may be NULL */
};

/* The model of that name (models.def), or NULL. */
const struct hn_model_ops *hn_model_ops(const char *name);

#endif
