/* loopstate/read/dag_text_value.h -- values of the text notation while an expression is read.
 *
 * Literals have no type of their own: they take the other operand's, so that `2 * A(i)` reads as
 * one expects.  Where something fails, hn_text_fail has said so and the value is hn_text_failed. */
#ifndef HN_LOOPSTATE_READ_DAG_TEXT_VALUE_H
#define HN_LOOPSTATE_READ_DAG_TEXT_VALUE_H

#include "loopstate/read/dag_text_priv.h"

struct hn_text_val {
	const struct hn_expr *e; /* NULL: failed */
	bool loose; /* a literal, its type still open; int32 or float32 so far */
	struct hn_token at;
	uint32_t height;
};

extern const struct hn_text_val hn_text_failed;

static inline bool hn_text_is_float(const struct hn_expr *e)
{
	return hn_dtype_class((enum hn_dtype)e->dtype) == HN_CLASS_FLOAT;
}

/* A literal as a value of type `to`; others stay.  False: failed. */
bool hn_text_settle(struct hn_text *t, struct hn_text_val *v, enum hn_dtype to);

/* The same to float32 or int32, where nothing says more.  False also of what has failed. */
bool hn_text_settle_open(struct hn_text *t, struct hn_text_val *v);

/* Two of one type, where one of them is a literal.  False: failed. */
bool hn_text_unify(struct hn_text *t, struct hn_text_val *x, struct hn_text_val *y);

/* The node `like` of n arguments, checked; its place is `at`. */
struct hn_text_val hn_text_make(struct hn_text *t, const struct hn_expr *like,
				const struct hn_text_val *arg, uint32_t n,
				const struct hn_token *at);

/* x and y by the operator; of two literals a literal. */
struct hn_text_val hn_text_join(struct hn_text *t, const struct hn_text_binary *row,
				struct hn_text_val x, struct hn_text_val y,
				const struct hn_token *at);

/* arg[0] ? arg[1] : arg[2], as IF or SELECT. */
struct hn_text_val hn_text_choose(struct hn_text *t, enum hn_expr_op op,
				  struct hn_text_val arg[3], const struct hn_token *at);

struct hn_text_val hn_text_negate(struct hn_text *t, struct hn_text_val v,
				  const struct hn_token *at);

/* dag_text_expr.c: an expression, with `?` and all that binds tighter. */
struct hn_text_val hn_text_choice(struct hn_text *t);

/* dag_text_operand.c: what the name at hand stands for, with its arguments. */
struct hn_text_val hn_text_named(struct hn_text *t);

#endif
