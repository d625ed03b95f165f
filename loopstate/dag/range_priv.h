/* loopstate/dag/range_priv.h -- the prover's inside: shared by range.c (what is known, and
 * the search for bounds) and range_form.c (from expressions to linear forms). */
#ifndef HN_LOOPSTATE_DAG_RANGE_PRIV_H
#define HN_LOOPSTATE_DAG_RANGE_PRIV_H

#include "loopstate/dag/range.h"

#define MAX_ATOM 256
#define MAX_FACT 192
#define MAX_TRAIL 4096
#define MAX_LET 64
#define PROPAGATE_ROUNDS 4
#define SEARCH_DEPTH 4
#define STEPS_PER_QUESTION 10000
#define STEPS_IN_ALL 2000000 /* of search and propagation, for one op */

struct atom {
	const struct hn_expr *key;
	int64_t divisor; /* 0: key itself; else floordiv(key, divisor) */
	int64_t lo, hi;
	bool data;
};

struct undo {
	int32_t atom;
	int64_t lo, hi;
};

struct let {
	int32_t slot;
	struct hn_form form;
	bool data;
};

struct hn_range {
	uint32_t n_atom, n_fact, n_trail, n_let;
	struct atom atom[MAX_ATOM];
	struct hn_form fact[MAX_FACT];
	struct undo trail[MAX_TRAIL];
	struct let let[MAX_LET];
	const struct hn_op *op;
	int64_t steps, question_steps;
	bool empty, data; /* data: the form being built touched loaded values */
};

bool hn_range_known(int64_t end);   /* not +-HN_RANGE_INF */
int64_t hn_range_clamp(__int128 v); /* to +-HN_RANGE_INF */

struct hn_form hn_form_interval(int64_t lo, int64_t hi);
void hn_form_shift(struct hn_form *f, int64_t lo, int64_t hi); /* f += [lo, hi] */

/* f += coef * atom; a term that does not fit goes into the interval. */
void hn_form_add_term(const struct hn_range *r, struct hn_form *f, int32_t atom,
		      __int128 coef);

/* f + coef * g, and coef * g. */
struct hn_form hn_form_combine(const struct hn_range *r, struct hn_form f,
			       const struct hn_form *g, int64_t coef);
struct hn_form hn_form_scaled(const struct hn_range *r, const struct hn_form *g,
			      int64_t coef);

/* coef * [lo, hi], infinite ends kept. */
void hn_form_scale_interval(int64_t coef, int64_t lo, int64_t hi, int64_t *ret_lo,
			    int64_t *ret_hi);

/* Bounds from the atoms' intervals alone. */
int64_t hn_form_min(const struct hn_range *r, const struct hn_form *f);
int64_t hn_form_max(const struct hn_range *r, const struct hn_form *f);

/* f >= 0 holds. */
void hn_range_add_fact(struct hn_range *r, const struct hn_form *f);

/* The atom of that key, made with [lo, hi] if new; -1 when there is no room. */
int32_t hn_range_atom(struct hn_range *r, const struct hn_expr *key, int64_t divisor,
		      int64_t lo, int64_t hi, bool *ret_new);

/* e as a linear form, with what its atoms are known to obey added as facts. */
struct hn_form hn_range_form(struct hn_range *r, const struct hn_expr *e);

#endif
