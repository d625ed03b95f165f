/* loopstate/nest/quick_read.c -- whether what is read has been computed and is where it is looked
 * for. */
#include "loopstate/nest/quick_int.h"

static bool subtract(const struct hn_digit_form *base, struct hn_digit_form *f)
{
	return hn_digit_form_add(base, -1, f);
}

/* Index k of a load, with the reader's axes as `axis`, lies among what `w` computes in its
 * lifetime, and in the buffer. */
static bool index_there(const struct hn_quick_check *c, const struct hn_quick_stmt *w,
			const struct hn_expr *index, uint32_t k,
			const struct hn_digit_form *const *axis)
{
	const struct hn_buffer *b = &c->tree->buffer[w->node->stage];
	const struct hn_axis *x = &w->op->axis[k];
	bool all = w->base[k]->n == 0 && w->base[k]->lo <= x->min &&
		   w->base[k]->lo + w->span[k] >= x->min + x->extent - 1;
	bool held = b->min[k]->op == HN_EXPR_INT && b->min[k]->u.i <= x->min &&
		    b->min[k]->u.i + b->extent[k] >= x->min + x->extent;
	struct hn_digit_form f, in_buffer;

	if (all && held) {
		return true; /* the whole dimension */
	}
	hn_digit_form_zero(&f);
	if (!hn_digit_form_add_expr(&c->space, index, axis, 1, &f)) {
		return false;
	}
	hn_digit_form_zero(&in_buffer);
	if (!held && !(hn_digit_form_add(&f, 1, &in_buffer) &&
		       hn_digit_form_add_expr(&c->space, b->min[k], NULL, -1, &in_buffer) &&
		       hn_digit_form_within(&c->space, &in_buffer, 0, b->extent[k] - 1))) {
		return false;
	}
	return all || (subtract(w->base[k], &f) &&
		       hn_digit_form_within(&c->space, &f, 0, w->span[k]));
}

static bool load_there(struct hn_quick_check *c, const struct hn_quick_stmt *s,
		       const struct hn_quick_stmt *w, const struct hn_expr *load)
{
	for (uint32_t k = 0; k < w->op->n_spatial; k++) {
		if (!index_there(c, w, load->arg[k], k, s->raw) &&
		    !index_there(c, w, load->arg[k], k, s->axis)) {
			return hn_quick_refuse(c, s, "it may read what is not computed yet");
		}
	}
	return true;
}

static bool check_load(struct hn_quick_check *c, const struct hn_quick_stmt *s,
		       const struct hn_expr *load)
{
	const struct hn_op *op = c->tree->dag->op[load->ref];
	const struct hn_quick_writers *w = &c->writers[load->ref];
	bool before, init_before = true, late;

	if (op->kind == HN_OP_PLACEHOLDER) {
		return true;
	}
	if (!w->main) {
		return hn_quick_refuse(c, s, "it reads a stage that is never computed");
	}
	if (w->main == s || w->init == s) {
		return hn_quick_refuse(c, s, "it reads itself");
	}
	uint32_t n = hn_quick_common(w->main, s, &before);

	if (w->init) {
		hn_quick_common(w->init, s, &init_before);
	}
	late = hn_quick_lead(w->main, s) < 0 || (w->init && hn_quick_lead(w->init, s) < 0);
	if (n != w->main->life || !before || !init_before || late) {
		return hn_quick_refuse(c, s, "it may run before what it reads");
	}
	return load_there(c, s, w->main, load) &&
	       (!w->init || load_there(c, s, w->init, load));
}

static bool check_loads(struct hn_quick_check *c, const struct hn_quick_stmt *s,
			const struct hn_expr *e)
{
	if (e->op == HN_EXPR_LOAD && !check_load(c, s, e)) {
		return false;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (!check_loads(c, s, e->arg[i])) {
			return false;
		}
	}
	return true;
}

bool hn_quick_reads(struct hn_quick_check *c, const struct hn_quick_stmt *s)
{
	const struct hn_reduce *r = s->op->reduce;
	bool ok = true;

	if (s->node->stmt == HN_STMT_COMPUTE) {
		for (uint32_t i = 0; i < s->op->n_out && ok; i++) {
			ok = check_loads(c, s, s->op->body[i]);
		}
	} else if (s->node->stmt == HN_STMT_UPDATE) {
		ok = !r->condition || check_loads(c, s, r->condition);
		for (uint32_t i = 0; i < r->n && ok; i++) {
			ok = check_loads(c, s, r->source[i]);
		}
	}
	return ok;
}
