/* client/netregion.c -- the part of a network that another layout is for: from steps that are faster
 * so to the values that have to lie so.
 *
 * Within a step all values are in one order, or it would fall into several kernels.
 */
#include "client/netrival.h"

struct region {
	const struct hn_net *net; /* by rule */
	uint32_t *step_of;	  /* of a node; UINT32_MAX: it is no step's */
	uint8_t *plain;		  /* [n_value] */
	int32_t *stack;		  /* [n_value] operands that are still to be looked at */
};

static uint32_t *steps_of(const struct hn_net *net, struct hn_arena *a)
{
	uint32_t *step = HN_NEW_ARRAY(a, uint32_t, net->g->n_node);

	for (uint32_t i = 0; i < net->g->n_node; i++) {
		step[i] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < net->part.n_group; i++) {
		for (uint32_t k = 0; k < net->part.group[i].n_node; k++) {
			step[net->part.group[i].node[k]] = i;
		}
	}
	return step;
}

/* All that the step computes: what is in one order within it stays in one kernel. */
static void take_step(struct region *r, uint32_t step)
{
	const struct hn_ggroup *group = &r->net->part.group[step];

	for (uint32_t k = 0; k < group->n_node; k++) {
		const struct hn_gnode *n = &r->net->g->node[group->node[k]];

		for (uint32_t i = 0; i < n->n_out; i++) {
			r->plain[n->out[i]] = 1;
		}
	}
}

/* An operand, with all of the step that computes it; what is no step's is memory of its own
 * operands, which follow. */
static void take_operand(struct region *r, int32_t operand)
{
	uint32_t n = 1;

	r->stack[0] = operand;
	while (n > 0) {
		int32_t v = r->stack[--n], maker = v >= 0 ? r->net->g->value[v].node : -1;

		if (maker < 0 || r->plain[v] != 0) {
			continue;
		}
		r->plain[v] = 1;
		if (r->step_of[maker] != UINT32_MAX) {
			take_step(r, r->step_of[maker]);
			continue;
		}
		const struct hn_gnode *node = &r->net->g->node[maker];

		for (uint32_t i = 0; i < node->n_in && n < r->net->g->n_value; i++) {
			r->stack[n] = node->in[i];
			n += node->in[i] >= 0 && r->plain[node->in[i]] == 0;
		}
	}
}

bool hn_netplaces_region(const struct hn_netplaces *p, const struct hn_net *by_rule,
			 const double *gain_ns, double least_ns, bool wide, struct hn_arena *a,
			 uint8_t *plain)
{
	struct region r = { by_rule, steps_of(by_rule, a), plain,
			    HN_NEW_ARRAY(a, int32_t, by_rule->g->n_value) };
	bool found = false;

	for (uint32_t i = 0; i < by_rule->n_step; i++) {
		const struct hn_gstep *step = &by_rule->step[i];

		if (p->of[0][i] == HN_NO_PLACE || gain_ns[p->of[0][i]] < least_ns) {
			continue;
		}
		found = true;
		for (uint32_t k = 0; wide && k < step->n_in; k++) {
			take_operand(&r, step->arg[k]);
		}
		take_step(&r, i);
	}
	return found;
}
