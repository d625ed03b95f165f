/* graph/pass/standardize.c -- (x - mean) / sqrt(mean of its squares + epsilon), as layer norm is
 * exported; and x / sqrt(mean of squares + epsilon), as RMS norm is. */
#include <math.h>

#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/pass/pass.h"

/* v is the mean over some dimensions: a sum times 1 / their size. */
static bool is_mean(const struct hn_graph *g, int32_t v, int32_t *ret_of,
		    const struct hn_gattr **ret_axes)
{
	const struct hn_gnode *n = hn_pass_made_by(g, v, "Mul");
	double factor, size = 1;

	if (n == NULL || !hn_pass_number(g, n->in[1], &factor) ||
	    !hn_pass_reduced(g, n->in[0], "+=!", ret_of, ret_axes)) {
		return false;
	}
	for (uint32_t i = 0; i < (*ret_axes)->n; i++) {
		size *= (double)g->value[*ret_of].shape[(*ret_axes)->i[i]];
	}
	return fabs(factor * size - 1) < 1e-6;
}

/* v is sqrt(mean of d^2 + epsilon). */
static bool is_deviation(const struct hn_graph *g, int32_t v, int32_t d,
			 const struct hn_gattr **ret_axes, double *ret_epsilon)
{
	const struct hn_gnode *root = hn_pass_made_by(g, v, "Sqrt"), *sum, *square;
	uint32_t first;
	int32_t of;

	sum = root != NULL ? hn_pass_made_by(g, root->in[0], "Add") : NULL;
	if (sum == NULL) {
		return false;
	}
	first = hn_pass_number(g, sum->in[1], ret_epsilon) ? 0 : 1;
	if (!hn_pass_number(g, sum->in[1 - first], ret_epsilon) || !(*ret_epsilon >= 0) ||
	    !is_mean(g, sum->in[first], &of, ret_axes)) {
		return false;
	}
	square = hn_pass_made_by(g, of, "Mul");
	return square != NULL && square->in[0] == d && square->in[1] == d;
}

/* What divides: v / result; of x * (1 / y) y. */
static int32_t divisor(const struct hn_graph *g, const struct hn_gnode *n,
		       int32_t *ret_of)
{
	*ret_of = n->in[0];
	if (hn_pass_made_by(g, n->in[1], "Reciprocal") != NULL) {
		return hn_pass_made_by(g, n->in[1], "Reciprocal")->in[0];
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct hn_gnode *inverse = hn_pass_made_by(g, n->in[i], "div");
		double one;

		if (inverse != NULL && hn_pass_number(g, inverse->in[0], &one) &&
		    one == 1) {
			*ret_of = n->in[1 - i];
			return inverse->in[1];
		}
	}
	return HN_NONE;
}

int32_t hn_pass_standardize(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gattr *axes, *mean_axes;
	const struct hn_gnode *centred;
	int32_t d = n->in[0], by = n->in[1], x;
	double epsilon;

	if (*n->op->name == 'M') {
		by = divisor(g, n, &d);
	}
	if (by < 0 || !hn_is_float(&g->value[d]) ||
	    !is_deviation(g, by, d, &axes, &epsilon)) {
		return HN_NONE;
	}
	centred = hn_pass_made_by(g, d, "Sub");
	if (centred != NULL && is_mean(g, centred->in[1], &x, &mean_axes) &&
	    x == centred->in[0] && hn_pass_same_axes(axes, mean_axes)) {
		return hn_standardized(g, x, axes->n, axes->i, epsilon,
				       /* centred= */ true);
	}
	return hn_standardized(g, d, axes->n, axes->i, epsilon, /* centred= */ false);
}
