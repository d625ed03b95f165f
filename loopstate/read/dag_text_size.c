/* loopstate/read/dag_text_size.c -- size parameters of the text notation, and extents made of
 * them (loopstate/dag/size.h).
 *
 *   matmul(N in [1, 4096], float32 A[N,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }
 */
#include <string.h>

#include "loopstate/dag/size.h"
#include "loopstate/read/dag_text_priv.h"

const struct hn_sizes *hn_text_sizes(const struct hn_text *t)
{
	return t->sizes.n > 0 ? &t->sizes : NULL;
}

static int64_t want_int(struct hn_text *t)
{
	int64_t v = t->tok.i;

	if (t->tok.kind != HN_TOKEN_INT) {
		hn_text_fail(t, &t->tok, "expected a whole number, found '%s'",
			     t->tok.text);
		return 0;
	}
	hn_text_next(t);
	return v;
}

void hn_text_size(struct hn_text *t, const char *name, const struct hn_token *at)
{
	struct hn_size s = { .name = name };

	hn_text_want(t, "in");
	hn_text_want(t, "[");
	s.lo = want_int(t);
	hn_text_want(t, ",");
	s.hi = want_int(t);
	hn_text_want(t, "]");
	if (t->rc == 0 && t->n_op > 0) {
		hn_text_fail(t, at, "size '%s' comes after a tensor: name sizes first", name);
	}
	if (t->rc == 0 && t->sizes.n == HN_DAG_MAX_SIZES) {
		hn_text_fail(t, at, "more than %d sizes", HN_DAG_MAX_SIZES);
	}
	if (t->rc == 0) {
		t->size[t->sizes.n++] = s;
		t->sizes.size = t->size;
		t->rc = hn_dag_check_sizes(t->what, &t->sizes, t->err);
	}
}

bool hn_text_extent(struct hn_text *t, int64_t *ret, const struct hn_expr **ret_form)
{
	struct hn_token at = t->tok;
	const struct hn_expr *e;
	int64_t lo;

	*ret_form = NULL;
	if (t->sizes.n == 0) {
		*ret = t->tok.i;
		if (t->tok.kind != HN_TOKEN_INT || t->tok.i < 1) {
			hn_text_fail(t, &at,
				     "an extent is a whole number of at least 1, not '%s'",
				     at.text);
			return false;
		}
		hn_text_next(t);
		return true;
	}
	t->in_extent = true;
	e = hn_text_expr(t, HN_I32);
	t->in_extent = false;
	if (e == NULL) {
		return false;
	}
	e = hn_size_form(e, t->a);
	if (!hn_size_range(&t->sizes, e, &lo, ret)) {
		hn_text_fail(t, &at,
			     "an extent is a whole number, or a sum of multiples of sizes");
		return false;
	}
	if (lo < 1) {
		hn_text_fail(t, &at,
			     e->op == HN_EXPR_INT
				     ? "an extent is a whole number of at least 1, not '%s'"
				     : "the extent that begins with '%s' can be below 1: "
				       "raise the least value of a size",
			     at.text);
		return false;
	}
	*ret_form = e->op == HN_EXPR_INT ? NULL : e;
	return true;
}
