/* loopstate/dag_text_priv.h -- what the files of the text notation share: tokens, the
 * parser's state, the statement in hand. */
#ifndef HN_LOOPSTATE_DAG_TEXT_PRIV_H
#define HN_LOOPSTATE_DAG_TEXT_PRIV_H

#include "loopstate/dag_priv.h"

enum hn_token_kind {
	HN_TOKEN_END,
	HN_TOKEN_NAME,
	HN_TOKEN_INT,
	HN_TOKEN_FLOAT,
	HN_TOKEN_SIGN
};

struct hn_token {
	enum hn_token_kind kind;
	const char *text;   /* NUL-terminated, in the arena */
	uint32_t line, col; /* from 1 */
	int64_t i;
	double f;
};

struct hn_text_index { /* an index name of the statement in hand */
	const char *name;
	int64_t min, extent; /* extent 0: not known yet */
	const struct hn_expr *form; /* the extent over sizes, whose largest value that
				     * is; NULL: a number */
	bool stated;	     /* by `where` */
	bool settled;	     /* known from loads that are under no condition */
	struct hn_token at;  /* first use; after inference, what gave the size */
};

struct hn_text_load {
	const struct hn_expr *e;
	bool guarded; /* inside a conditional: says nothing about sizes */
	struct hn_token at;
};

#define HN_TEXT_MAX_LOADS 256

struct hn_text {
	const char *what;
	const char *s, *end; /* rest of the source */
	uint32_t line, col;
	struct hn_token tok; /* looked at, not yet taken */
	struct hn_arena *a;
	struct hn_err *err;
	int rc; /* first failure */
	uint64_t max_bytes;
	const struct hn_op *op[HN_DAG_MAX_OPS];
	bool constant[HN_DAG_MAX_OPS]; /* `const` parameters */
	uint32_t n_op;
	struct hn_sizes sizes;
	struct hn_size size[HN_DAG_MAX_SIZES];
	bool in_extent; /* an expression that may name sizes alone */

	/* The statement in hand. */
	struct hn_text_index index[HN_DAG_MAX_ITERS];
	uint32_t n_index, n_spatial;
	bool reduces;
	struct hn_text_load load[HN_TEXT_MAX_LOADS];
	uint32_t n_load, guard_depth, depth;
	const char *target; /* name being defined */
};

/* Fail at a token: "what:line:col: ..."; the first failure stays. */
void hn_text_fail(struct hn_text *t, const struct hn_token *at, const char *fmt, ...)
	HN_PRINTF(3, 4);

void hn_text_next(struct hn_text *t); /* move to the next token */
bool hn_text_is(const struct hn_text *t, const char *text);
bool hn_text_take(struct hn_text *t, const char *sign); /* if it is there */
bool hn_text_want(struct hn_text *t, const char *sign); /* fails if it is not */
const char *hn_text_want_name(struct hn_text *t, const char *noun); /* NULL: failed */

/* An expression; `want` types what literals leave open (HN_N_DTYPE: float32 or int32).
 * NULL: failed. */
const struct hn_expr *hn_text_expr(struct hn_text *t, enum hn_dtype want);

/* An extent: a number, or a form over sizes, whose largest value *ret is; *ret_form NULL for
 * a number.  False: failed. */
bool hn_text_extent(struct hn_text *t, int64_t *ret, const struct hn_expr **ret_form);

/* NAME "in" "[" least "," largest "]" of the parameter list; the name is taken. */
void hn_text_size(struct hn_text *t, const char *name, const struct hn_token *at);

/* The size parameters so far, NULL when there are none. */
const struct hn_sizes *hn_text_sizes(const struct hn_text *t);

/* Give every index of the statement a size, from the loads and `where`. */
void hn_text_infer(struct hn_text *t);

#endif
