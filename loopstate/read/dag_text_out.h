/* loopstate/read/dag_text_out.h -- what the files share that write the text notation. */
#ifndef HN_LOOPSTATE_READ_DAG_TEXT_OUT_H
#define HN_LOOPSTATE_READ_DAG_TEXT_OUT_H

#include "loopstate/read/dag_text_priv.h"

struct hn_text_out_let {
	const struct hn_text_out_let *up;
	int32_t slot;
	const char *name;
};

struct hn_text_out {
	const struct hn_dag *dag;
	struct hn_buf *buf;
	struct hn_arena *a;
	const char **name; /* [n_name]: those given away that count everywhere in hand */
	uint32_t n_name, max_name;
	const char *const **tensor; /* of each op, its outputs */
	const char **size;
	const bool *constant; /* per op: written `const` */

	/* the op in hand */
	const struct hn_op *op;
	const char **index, **lhs, **rhs;
	const struct hn_text_out_let *let;
};

/* `from` as a name: other bytes than letters and digits become "_". */
const char *hn_text_out_word(const char *from, struct hn_arena *a);

/* The same, one that is no word of the notation and not given away yet; it is now. */
const char *hn_text_out_name(struct hn_text_out *w, const char *from);

/* Names of all sizes and tensors. */
void hn_text_out_names(struct hn_text_out *w);

/* An expression that stands where what binds weaker than `level` needs parentheses.  `typed`: what
 * stands there gives a bare number the expression's type. */
void hn_text_out_expr(struct hn_text_out *w, const struct hn_expr *e, int level, bool typed);

#endif
