/* lower/device/device_period.c -- after how many iterations an index comes again: buffers that are
 * used in turn have numbers modulo how many there are.
 */
#include "lower/device/device_verify_int.h"

#define LONGEST 64

static int64_t gcd(int64_t x, int64_t y)
{
	return y == 0 ? x : gcd(y, x % y);
}

bool hn_verify_period(const struct hn_expr *e, int32_t slot, int64_t *p)
{
	int64_t coef;

	if (!hn_expr_uses(e, slot)) {
		return true;
	}
	if (e->op == HN_EXPR_FLOORMOD && e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i > 0 &&
	    hn_expr_linear(e->arg[0], slot, &coef)) {
		int64_t n = e->arg[1]->u.i;

		if (n > LONGEST || *p / gcd(*p, n) * n > LONGEST) {
			return false;
		}
		*p = *p / gcd(*p, n) * n;
		return true;
	}
	if (e->op == HN_EXPR_VAR) {
		return false;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (!hn_verify_period(e->arg[i], slot, p)) {
			return false;
		}
	}
	return true;
}
