/* loopstate/read/dag_text_where.c -- ranges that a statement of the text notation states:
 *
 *   S(i) +=! A(i,k)  where k in 0:i + 1
 *
 * A range ends at a number, at a form over sizes (loopstate/dag/size.h), or, of a reduced index, at
 * one over the indices outside of it (loopstate/dag/ragged.h).
 */
#include <string.h>

#include "loopstate/dag/ragged.h"
#include "loopstate/dag/size.h"
#include "loopstate/expr/simplify.h"
#include "loopstate/read/dag_text_priv.h"

#define FAR ((int64_t)1 << 60)

static bool parse_begin(struct hn_text *t, int64_t *ret)
{
	bool minus = hn_text_take(t, "-");

	if (t->rc != 0 || t->tok.kind != HN_TOKEN_INT) {
		hn_text_fail(t, &t->tok, "expected a whole number, found '%s'",
			     t->tok.text);
		return false;
	}
	*ret = minus ? -t->tok.i : t->tok.i;
	hn_text_next(t);
	return true;
}

static bool uses_index(const struct hn_text *t, const struct hn_expr *e)
{
	bool uses = false;

	for (uint32_t i = 0; i < t->n_index && !uses; i++) {
		uses = hn_expr_uses(e, (int32_t)i);
	}
	return uses;
}

/* The end of index i's range, which begins at lo. */
static void parse_end(struct hn_text *t, uint32_t i, int64_t lo, const struct hn_token *at)
{
	struct hn_text_index *x = &t->index[i];
	const struct hn_expr *e;
	int64_t least;

	t->outer = x;
	e = hn_text_expr(t, HN_I32);
	t->outer = NULL;
	if (e == NULL || t->rc != 0) {
		return;
	}
	e = hn_size_form(hn_expr_binary(HN_EXPR_SUB, e, hn_expr_int(lo, e->dtype, t->a), t->a),
			 t->a);
	if (e->op == HN_EXPR_INT) {
		x->extent = e->u.i;
	} else if (uses_index(t, e) || hn_text_sizes(t) == NULL) {
		x->ragged = e;
		return;
	} else {
		x->form = e;
		if (!hn_size_range(hn_text_sizes(t), x->form, &least, &x->extent)) {
			hn_text_fail(t, at, "a range ends at a whole number, or a sum of multiples "
					    "of sizes");
			return;
		}
	}
	if (x->extent < 1 || lo < -FAR || x->extent > FAR || lo + x->extent > FAR) {
		hn_text_fail(t, at, "the range of '%s' is empty or too large", x->name);
	}
}

/* where i in 0:n, j in ... */
void hn_text_where(struct hn_text *t)
{
	if (!hn_text_take(t, "where")) {
		return;
	}
	do {
		struct hn_token at = t->tok;
		const char *name = hn_text_want_name(t, "an index");
		int64_t lo;
		uint32_t i = 0;

		if (name == NULL || !hn_text_want(t, "in") || !parse_begin(t, &lo) ||
		    !hn_text_want(t, ":")) {
			return;
		}
		while (i < t->n_index && strcmp(t->index[i].name, name) != 0) {
			i++;
		}
		if (i == t->n_index) {
			hn_text_fail(t, &at, "'%s' is no index of this statement", name);
		} else if (t->index[i].stated) {
			hn_text_fail(t, &at, "the range of '%s' is stated twice", name);
		} else {
			t->index[i].min = lo;
			t->index[i].stated = true;
			t->index[i].stated_at = at;
			parse_end(t, i, lo, &at);
		}
	} while (t->rc == 0 && hn_text_take(t, ","));
}

/* Index i, all outside of which are known. */
static void settle(struct hn_text *t, uint32_t i)
{
	struct hn_text_index *x = &t->index[i];
	struct hn_axis axis[HN_DAG_MAX_ITERS];
	const struct hn_op op = { .n_spatial = t->n_spatial,
				  .n_reduce = t->n_index - t->n_spatial,
				  .axis = axis,
				  .sizes = hn_text_sizes(t) };

	for (uint32_t k = 0; k < t->n_index; k++) {
		const struct hn_text_index *y = &t->index[k];

		axis[k] = (struct hn_axis){ y->name, y->min, y->extent > 0 ? y->extent : 1 };
	}
	const char *fault = hn_ragged_axis(&op, i, x->name, x->min, x->ragged, t->a, &x->extent,
					   &x->within);

	if (fault != NULL) {
		hn_text_fail(t, &x->stated_at, "the range of '%s': %s", x->name, fault);
	}
	x->ragged = NULL;
}

bool hn_text_settle_ragged(struct hn_text *t)
{
	bool any = false;

	for (uint32_t i = 0; i < t->n_index && t->rc == 0; i++) {
		bool ready = t->index[i].ragged != NULL;

		for (uint32_t k = 0; k < i && ready; k++) {
			ready = t->index[k].extent > 0 ||
				!hn_expr_uses(t->index[i].ragged, (int32_t)k);
		}
		if (ready) {
			settle(t, i);
			any = true;
		}
	}
	return any;
}

const struct hn_expr *hn_text_within(const struct hn_text *t)
{
	const struct hn_expr *all = NULL;

	for (uint32_t i = t->n_spatial; i < t->n_index; i++) {
		all = hn_ragged_both(all, t->index[i].within, t->a);
	}
	return all;
}
