/* graph/import/regions_group.c -- which nodes are a region together.
 *
 * First by levels: how many times a path from the inputs came back from a node that is left.  Taken
 * nodes of one level that are connected are one group, and no path leaves it and comes back: behind a
 * node that is left the level is higher.  Edges between groups only go to higher levels, so groups wait
 * for each other in no circle.  Then two groups with an edge between them become one, if no other path leads
 * from the one to the other; what then waits for what stays free of circles.
 */
#include <string.h>

#include "graph/import/regions_int.h"

#define MOST_WORK ((uint64_t)1 << 28) /* edges looked at: a second */

static uint32_t group_of(struct hn_region_plan *p, uint32_t n)
{
	while (p->group[n] != n) {
		p->group[n] = p->group[p->group[n]];
		n = p->group[n];
	}
	return n;
}

static void join(struct hn_region_plan *p, uint32_t x, uint32_t y)
{
	uint32_t a = group_of(p, x), b = group_of(p, y), next = p->next[a];

	if (a != b) {
		p->next[a] = p->next[b];
		p->next[b] = next;
		p->group[a > b ? a : b] = a > b ? b : a;
	}
}

static void join_levels(struct hn_region_plan *p)
{
	uint32_t *level = HN_NEW_ARRAY(p->arena, uint32_t, p->from->n_node + 1);

	for (uint32_t i = 0; i < p->from->n_node; i++) {
		for (uint32_t e = p->first_reader[i]; e < p->first_reader[i + 1]; e++) {
			uint32_t to = p->reader[e];
			bool back = p->kind[i] == HN_REGION_LEFT && p->kind[to] == HN_REGION_TAKEN;

			if (level[to] < level[i] + back) {
				level[to] = level[i] + back;
			}
		}
	}
	for (uint32_t i = 0; i < p->from->n_node; i++) {
		for (uint32_t e = p->first_reader[i]; e < p->first_reader[i + 1]; e++) {
			uint32_t to = p->reader[e];

			if (p->kind[i] == HN_REGION_TAKEN && p->kind[to] == HN_REGION_TAKEN &&
			    level[i] == level[to]) {
				join(p, i, to);
			}
		}
	}
}

/* Whether a path leads from group a to group b through another.  *work falls. */
static bool has_detour(struct hn_region_plan *p, uint32_t a, uint32_t b, uint32_t *stack,
		       uint64_t *work)
{
	uint32_t n = 0;

	p->seen[a] = ++p->stamp;
	stack[n++] = a;
	while (n > 0) {
		uint32_t from = stack[--n], i = from;

		do {
			for (uint32_t e = p->first_reader[i]; e < p->first_reader[i + 1]; e++) {
				uint32_t to = group_of(p, p->reader[e]);

				*work -= *work > 0;
				if (to == b && from != a) {
					return true;
				}
				if (to != b && p->seen[to] != p->stamp) {
					p->seen[to] = p->stamp;
					stack[n++] = to;
				}
			}
			i = p->next[i];
		} while (i != from);
	}
	return false;
}

static void join_neighbours(struct hn_region_plan *p)
{
	uint32_t *stack = HN_NEW_ARRAY(p->arena, uint32_t, p->from->n_node + 1);
	uint64_t work = MOST_WORK;

	for (uint32_t i = 0; i < p->from->n_node; i++) {
		for (uint32_t e = p->first_reader[i]; e < p->first_reader[i + 1] && work > 0; e++) {
			uint32_t a = group_of(p, i), b = group_of(p, p->reader[e]);

			if (p->kind[i] == HN_REGION_TAKEN &&
			    p->kind[p->reader[e]] == HN_REGION_TAKEN && a != b &&
			    !has_detour(p, a, b, stack, &work)) {
				join(p, a, b);
			}
		}
	}
}

void hn_region_group(struct hn_region_plan *p)
{
	uint32_t n = p->from->n_node;

	p->group = HN_NEW_ARRAY(p->arena, uint32_t, n + 1);
	p->next = HN_NEW_ARRAY(p->arena, uint32_t, n + 1);
	p->seen = HN_NEW_ARRAY(p->arena, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		p->group[i] = p->next[i] = i;
	}
	join_levels(p);
	join_neighbours(p);
	for (uint32_t i = 0; i < n; i++) {
		p->group[i] = group_of(p, i);
	}
}
