/* costmodel/model.h -- how good a program looks before it is measured.
 *
 * One vtable over features (costmodel/features.h); models: `analytic` (their cycles, no
 * training), `learned` (boosted trees that correct those cycles, costmodel/xgb.c), `random`
 * (seeded noise, for tests that must walk strange candidates).
 */
#ifndef HN_COSTMODEL_MODEL_H
#define HN_COSTMODEL_MODEL_H

#include "base/err.h"
#include "costmodel/features.h"

/* Runs per second on a core of 3 GHz, of a program of so many cycles: calling it takes some, too.
 */
#define HN_MODEL_HZ 3e9
#define HN_MODEL_CALL_CYCLES 1000.0

/* A model's instance: owned by whoever created it.  Several threads may predict at once, while
 * nobody updates it. */
struct hn_model;

/* What a measurement taught: a program of that task took median_ns > 0; INFINITY: it failed. */
struct hn_lesson {
	const struct hn_features *f;
	uint64_t task; /* any number: programs of different ones are not compared */
	double median_ns;
};

struct hn_model_ops {
	const char *name;
	bool timed; /* scores are runs per second; otherwise an order and no more */
	struct hn_model *(*create)(uint64_t seed);
	void (*destroy)(struct hn_model *m); /* NULL is fine */
	/* score[i] > 0: higher is better, comparable within one task only.  The same for a
	 * program whatever else is asked. */
	void (*predict)(struct hn_model *m, const struct hn_features *const *f, uint32_t n,
			double *score);
	/* All that is known by now, in any case more than at the last call; NULL = it does not
	 * learn.  True when it learned: scores got before are void.  rounds: how much effort,
	 * trees for one of trees; 0 = what does not hold up a search, a fraction of a second. */
	bool (*update)(struct hn_model *m, const struct hn_lesson *lesson, uint32_t n,
		       uint32_t rounds);
	/* What it knows as text, for `load`; false when that is nothing.  NULL with update. */
	bool (*save)(const struct hn_model *m, struct hn_buf *buf);
	/* Begin with what `save` wrote.  HONE_E_CORRUPT, HONE_E_VERSION (of other features): in
	 * one line, and the model is as it was. */
	int (*load)(struct hn_model *m, const char *text, struct hn_err *err);
};

/* What the analytic model says, without an instance. */
double hn_model_analytic_score(const struct hn_features *f);

/* A run's time by it, as it is measured: warm caches, or cold ones.  The order of programs is that of
 * the score, which knows no warm data. */
double hn_model_analytic_ns(const struct hn_features *f, bool cold);

/* Text that the model of that name may begin with on that target, trained before hone was shipped
 * (docs/model.md): of the same kind of machine; NULL when there is none. */
struct hn_target;
const char *hn_model_shipped(const char *name, const struct hn_target *target);

/* The model of that name (models.def), or NULL. */
const struct hn_model_ops *hn_model_ops(const char *name);

#endif
