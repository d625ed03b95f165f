/* loopstate/nest/quick_order.c -- which loops an element tells, and what follows for order. */
#include "loopstate/nest/quick_int.h"

#include "base/arith.h"

uint32_t hn_quick_common(const struct hn_quick_stmt *x, const struct hn_quick_stmt *y,
			 bool *ret_before)
{
	uint32_t n_loop = 0, i = 0;

	while (i < x->n_level && i < y->n_level &&
	       x->level[i].position == y->level[i].position) {
		n_loop += x->level[i].node->kind == HN_NODE_LOOP;
		i++;
	}
	hn_assert(i < x->n_level && i < y->n_level);
	*ret_before = x->level[i].position < y->level[i].position;
	return n_loop;
}

/* The child in which the statement's path leaves the node at level i - 1: its init runs with it. */
static int32_t ahead_at(const struct hn_quick_stmt *s, uint32_t i)
{
	return i == 0 ? 0 : s->level[i - 1].node->child[s->level[i].position / 2]->ahead;
}

int32_t hn_quick_lead(const struct hn_quick_stmt *x, const struct hn_quick_stmt *y)
{
	uint32_t i = 0;

	while (x->level[i].position == y->level[i].position) {
		i++;
	}
	return ahead_at(x, i) - ahead_at(y, i);
}

bool hn_quick_determined(const struct hn_quick_check *c, const struct hn_quick_stmt *s,
			 uint32_t first, uint32_t end)
{
	bool *told = HN_NEW_ARRAY(c->arena, bool, c->space.cap_digit);

	for (uint32_t d = 0; d < s->op->n_spatial; d++) {
		hn_digit_form_tell(&c->space, s->raw[d], first, told);
		if (s->axis[d] != s->raw[d]) {
			hn_digit_form_tell(&c->space, s->axis[d], first, told);
		}
	}
	for (uint32_t i = 0; i < s->n_level; i++) {
		const struct hn_node *n = s->level[i].node;

		if (n->kind != HN_NODE_LOOP) {
			continue;
		}
		for (uint32_t k = 0; k < c->space.radix[n->loop].n_digit; k++) {
			uint32_t d = (uint32_t)c->space.first[n->loop] + k;
			uint32_t depth = c->space.digit[d].depth;

			if (depth >= first && depth < end && c->space.digit[d].range > 1 &&
			    !told[d]) {
				return false;
			}
		}
	}
	return true;
}

/* Whether the digits of the first n loops are in both forms alike. */
static bool same_outside(const struct hn_digit_space *s, const struct hn_digit_form *x,
			 const struct hn_digit_form *y, uint32_t n)
{
	uint32_t n_x = 0, n_y = 0;

	for (uint32_t i = 0; i < y->n; i++) {
		n_y += s->digit[y->term[i].digit].depth < n;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t k = 0;

		if (s->digit[x->term[i].digit].depth >= n) {
			continue;
		}
		while (k < y->n && y->term[k].digit != x->term[i].digit) {
			k++;
		}
		if (k == y->n || y->term[k].coef != x->term[i].coef) {
			return false;
		}
		n_x++;
	}
	return x->lo == y->lo && n_x == n_y;
}

bool hn_quick_init_first(const struct hn_quick_check *c, const struct hn_quick_stmt *init,
			 const struct hn_quick_stmt *update)
{
	bool before;
	uint32_t n = hn_quick_common(init, update, &before);

	if (!before || n < init->life || init->life != update->life ||
	    hn_quick_lead(init, update) != 0) {
		return false;
	}
	for (uint32_t d = 0; d < init->op->n_spatial; d++) {
		if (!same_outside(&c->space, init->raw[d], update->raw[d], n)) {
			return false;
		}
	}
	return n == init->life || (hn_quick_determined(c, init, init->life, n) &&
				   hn_quick_determined(c, update, update->life, n));
}

bool hn_quick_in_sequence(const struct hn_quick_check *c, const struct hn_quick_stmt *s)
{
	const struct hn_digit_space *space = &c->space;
	bool *told = HN_NEW_ARRAY(c->arena, bool, space->cap_digit);
	bool any = false;
	uint32_t last = 0; /* digit: those of one loop are in order, loops by their depth */

	for (uint32_t d = s->op->n_spatial; d < s->n_axis; d++) {
		struct hn_digit_form f;

		hn_digit_form_copy(&f, s->raw[d]);
		hn_digit_form_tell(space, &f, s->life, told);
		while (f.n > 0) {
			uint32_t most = 0;

			for (uint32_t i = 1; i < f.n; i++) {
				most = f.term[i].coef > f.term[most].coef ? i : most;
			}
			uint32_t digit = f.term[most].digit;
			uint32_t depth = space->digit[digit].depth;

			if (!told[digit] ||
			    (any && (depth < space->digit[last].depth ||
				     (depth == space->digit[last].depth && digit < last)))) {
				return false;
			}
			last = digit;
			any = true;
			f.term[most] = f.term[--f.n];
		}
	}
	return true;
}
