/* loopstate/read/dag_text_priv.h -- what the files of the text notation share: tokens, the
 * parser's state, the statement in hand. */
#ifndef HN_LOOPSTATE_READ_DAG_TEXT_PRIV_H
#define HN_LOOPSTATE_READ_DAG_TEXT_PRIV_H

#include "loopstate/dag/dag_priv.h"

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
	const struct hn_expr *ragged; /* the extent over indices outside, until these are known */
	const struct hn_expr *within; /* what it became: a condition; NULL: none */
	bool stated;	     /* by `where`, there: */
	struct hn_token stated_at;
	bool settled;	     /* known from loads that are under no condition */
	struct hn_token at;  /* first use; after inference, what gave the size */
};

struct hn_text_load {
	const struct hn_expr *e;
	bool guarded; /* inside a conditional: says nothing about sizes */
	struct hn_token at;
};

#define HN_TEXT_MAX_LOADS 8192
#define HN_TEXT_MAX_DEPTH (2 * HN_DAG_MAX_DEPTH) /* of parentheses; trees have their own bound */
#define HN_TEXT_MAX_ATTRS 8 /* of one statement, those written with it */

struct hn_text_let { /* a name bound by `let`, innermost first */
	const struct hn_text_let *up;
	const char *name;
	int32_t slot;
	enum hn_dtype dtype;
};

struct hn_text_param {
	const struct hn_op *op;
	bool constant; /* `const` */
	bool later;    /* an `input` statement says where it comes */
	bool placed;
	struct hn_token at;
};

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
	const char *const *out_name[HN_DAG_MAX_OPS]; /* of an op with several outputs */
	uint32_t n_op;
	struct hn_text_param param[HN_DAG_MAX_OPS]; /* in the order of arguments */
	uint32_t n_param;
	const char **later; /* names that `input` statements may place */
	uint32_t n_later;
	struct hn_sizes sizes;
	struct hn_size size[HN_DAG_MAX_SIZES];
	bool in_extent; /* an expression that may name sizes alone */

	/* The statement in hand. */
	struct hn_text_index index[HN_DAG_MAX_ITERS];
	uint32_t n_index, n_spatial;
	const struct hn_text_index *outer; /* the end of whose range is read; NULL: none */
	bool reduces;
	struct hn_text_load *load; /* [max_load] */
	uint32_t n_load, max_load, guard_depth, depth;
	const char *target[HN_DAG_MAX_OUT]; /* names being defined */
	uint32_t n_target;
	const struct hn_text_let *let;
	int32_t n_let;
	const char *const *side[2]; /* a combiner's arguments while its values are read */
	uint8_t side_type[HN_DAG_MAX_OUT];
	struct hn_attr attr[HN_TEXT_MAX_ATTRS];
	struct hn_token attr_at[HN_TEXT_MAX_ATTRS];
	uint32_t n_attr;
};

/* A sign that reduces: `sign`, or a name and then "=!". */
struct hn_text_reduction {
	const char *name, *sign;
	enum hn_combiner kind; /* NONE: the combiner is written out behind the values */
	uint32_t n;	       /* values carried; 0: any number */
	enum hn_expr_op op;    /* of one value */
	enum hn_expr_op wins;  /* of two: whether the right side takes its place */
};

extern const struct hn_text_reduction hn_text_reductions[];
extern const uint32_t hn_text_n_reduction;

/* The combiner and the identities of a row with a kind, for sources of these types; the sources
 * themselves are left to the caller. */
struct hn_reduce *hn_text_reduce(const struct hn_text_reduction *row, const uint8_t *dtype,
				 struct hn_arena *a);

/* "by (x), (y) -> value from identity", of n values of these types.  NULL: failed. */
struct hn_reduce *hn_text_combiner(struct hn_text *t, const uint8_t *dtype, uint32_t n);

/* The infix operators: by which sign of which level floats and integers are written. */
struct hn_text_binary {
	const char *sign;
	int level; /* binds tighter when higher */
	enum hn_expr_op floats, ints;
};

extern const struct hn_text_binary hn_text_binaries[];
extern const uint32_t hn_text_n_binary;

/* Those written as functions of two values. */
struct hn_text_pair {
	const char *name;
	enum hn_expr_op op;
};

extern const struct hn_text_pair hn_text_pairs[];
extern const uint32_t hn_text_n_pair;

/* Fail at a token: "what:line:col: ..."; the first failure stays. */
void hn_text_fail(struct hn_text *t, const struct hn_token *at, const char *fmt, ...)
	HN_PRINTF(3, 4);

void hn_text_next(struct hn_text *t); /* move to the next token */
bool hn_text_is(const struct hn_text *t, const char *text);
bool hn_text_take(struct hn_text *t, const char *sign); /* if it is there */
bool hn_text_want(struct hn_text *t, const char *sign); /* fails if it is not */
const char *hn_text_want_name(struct hn_text *t, const char *noun); /* NULL: failed */
struct hn_token hn_text_peek(struct hn_text *t); /* the one behind it */

/* An expression; `want` types what literals leave open (HN_N_DTYPE: float32 or int32).
 * NULL: failed. */
const struct hn_expr *hn_text_expr(struct hn_text *t, enum hn_dtype want);

/* The value of a reduction: an expression, or `condition ? expression` without the other side,
 * which leaves out the points where the condition does not hold.  *ret_condition NULL: always. */
const struct hn_expr *hn_text_source(struct hn_text *t, const struct hn_expr **ret_condition);

/* The tensor of that name, and which output of its op; -1: none up to here. */
int32_t hn_text_tensor(const struct hn_text *t, const char *name, int32_t *ret_out);

/* One statement: a tensor, or where a parameter comes; and adding its op, checked as if at token
 * `at`. */
void hn_text_statement(struct hn_text *t);
void hn_text_add_op(struct hn_text *t, const struct hn_op *op, const struct hn_token *at);

/* "@" NAME [ "(" item, ... ")" ], and what the items stand for in the statement that follows. */
void hn_text_attr(struct hn_text *t);
void hn_text_attr_items(struct hn_text *t);

/* An extent: a number, or a form over sizes, whose largest value *ret is; *ret_form NULL for
 * a number.  False: failed. */
bool hn_text_extent(struct hn_text *t, int64_t *ret, const struct hn_expr **ret_form);

/* NAME "in" "[" least "," largest "]" of the parameter list; the name is taken. */
void hn_text_size(struct hn_text *t, const char *name, const struct hn_token *at);

/* The size parameters so far, NULL when there are none. */
const struct hn_sizes *hn_text_sizes(const struct hn_text *t);

/* [ "where" NAME "in" first ":" end, ... ] */
void hn_text_where(struct hn_text *t);

/* Give indices their sizes whose range ends at an index outside, where these are known; whether
 * there was one. */
bool hn_text_settle_ragged(struct hn_text *t);

/* The condition that such ranges are; NULL: always.  After inference. */
const struct hn_expr *hn_text_within(const struct hn_text *t);

/* Give every index of the statement a size, from the loads and `where`. */
void hn_text_infer(struct hn_text *t);

#endif
