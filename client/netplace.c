/* client/netplace.c -- where two networks of one graph differ. */
#include <math.h>
#include <string.h>

#include "client/netrival.h"

/* Which step of a network computes the node; UINT32_MAX: none. */
static uint32_t *step_of_nodes(const struct hn_net *net, struct hn_arena *a)
{
	uint32_t *step = HN_NEW_ARRAY(a, uint32_t, net->g->n_node);

	for (uint32_t i = 0; i < net->g->n_node; i++) {
		step[i] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < net->part.n_group; i++) {
		const struct hn_ggroup *group = &net->part.group[i];

		for (uint32_t k = 0; k < group->n_node; k++) {
			step[group->node[k]] = i;
		}
	}
	return step;
}

static uint32_t root(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

static bool same_kernel(const struct hn_net *x, uint32_t i, const struct hn_net *y, uint32_t k)
{
	const char *a = x->task[x->step[i].task].text, *b = y->task[y->step[k].task].text;
	const char *p = x->kernel[x->step[i].kernel].strides, *q = y->kernel[y->step[k].kernel].strides;

	/* behind the names, which are of each network */
	a += strcspn(a, "(");
	b += strcspn(b, "(");
	return x->part.group[i].n_node == y->part.group[k].n_node && strcmp(a, b) == 0 &&
	       strcmp(p != NULL ? p : "", q != NULL ? q : "") == 0;
}

/* Steps of both are joined by the nodes that they have in common.  Where one step of each is left, of
 * the same kernel, nothing differs. */
void hn_netplaces_find(const struct hn_net *by_rule, const struct hn_net *rival, struct hn_arena *a,
		       struct hn_netplaces *ret)
{
	const struct hn_net *net[2] = { by_rule, rival };
	uint32_t n[2] = { by_rule->n_step, rival->n_step }, all = n[0] + n[1];
	uint32_t *step[2] = { step_of_nodes(by_rule, a), step_of_nodes(rival, a) };
	uint32_t *parent = HN_NEW_ARRAY(a, uint32_t, all), *number = HN_NEW_ARRAY(a, uint32_t, all);
	uint32_t *size = HN_NEW_ARRAY(a, uint32_t, all);

	for (uint32_t i = 0; i < all; i++) {
		parent[i] = i;
	}
	for (uint32_t i = 0; i < by_rule->g->n_node; i++) {
		if (step[0][i] != UINT32_MAX && step[1][i] != UINT32_MAX) {
			parent[root(parent, step[0][i])] = root(parent, n[0] + step[1][i]);
		}
	}
	for (uint32_t i = 0; i < all; i++) {
		size[root(parent, i)]++;
		number[i] = HN_NO_PLACE;
	}
	*ret = (struct hn_netplaces){ .of = { HN_NEW_ARRAY(a, uint32_t, n[0]),
					      HN_NEW_ARRAY(a, uint32_t, n[1]) } };
	for (uint32_t i = 0; i < by_rule->g->n_node; i++) {
		uint32_t r;

		if (step[0][i] == UINT32_MAX || step[1][i] == UINT32_MAX) {
			continue;
		}
		r = root(parent, step[0][i]);
		if (number[r] == HN_NO_PLACE &&
		    (size[r] > 2 || !same_kernel(net[0], step[0][i], net[1], step[1][i]))) {
			number[r] = ret->n++;
		}
	}
	for (uint32_t i = 0; i < all; i++) {
		ret->of[i >= n[0]][i >= n[0] ? i - n[0] : i] = number[root(parent, i)];
	}
}

uint32_t hn_netplaces_of_value(const struct hn_netplaces *p, const struct hn_net *rival, int32_t v)
{
	int32_t maker = rival->g->value[v].node;

	for (uint32_t i = 0; maker >= 0 && i < rival->part.n_group; i++) {
		const struct hn_ggroup *group = &rival->part.group[i];

		for (uint32_t k = 0; k < group->n_node; k++) {
			if (group->node[k] == (uint32_t)maker) {
				return p->of[1][i];
			}
		}
	}
	return HN_NO_PLACE;
}

double hn_netplaces_gain(const struct hn_netplaces *p, uint32_t place, const struct hn_netrun run[2],
			 struct hn_arena *a)
{
	uint32_t n_round = run[0].n_round;
	double *ns[2];

	for (int w = 0; w < 2; w++) {
		ns[w] = HN_NEW_ARRAY(a, double, n_round);
		for (uint32_t i = 0; i < run[w].net->n_step; i++) {
			for (uint32_t r = 0; p->of[w][i] == place && r < n_round; r++) {
				ns[w][r] += run[w].step_ns[i][r];
			}
		}
	}
	return hn_netrace_surely(ns[0], ns[1], n_round) < log(1 - HN_PLACE_GAIN)
		       ? hn_netrace_median(ns[0], n_round) - hn_netrace_median(ns[1], n_round)
		       : 0;
}
