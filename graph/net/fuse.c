/* graph/net/fuse.c -- groups of nodes, merged by rule. */
#include "graph/net/fuse.h"

#include <string.h>

#include "graph/ir/op.h"
#include "graph/net/fuse_int.h"
#include "graph/net/widen.h"

#define MOST_NODES 64 /* of a group: longer chains gain nothing */

/* Which node computes it; HN_FUSE_NONE: an input, a constant, an alias. */
static uint32_t maker_of(const struct hn_fuse *w, int32_t v)
{
	int32_t n = v >= 0 ? w->g->value[v].node : -1;

	return n < 0 || w->is_alias[n] ? HN_FUSE_NONE : (uint32_t)n;
}

static void find_readers(struct hn_fuse *w)
{
	struct hn_graph *g = w->g;

	w->reader = HN_NEW_ARRAY(g->arena, uint32_t *, g->n_value);
	w->n_reader = HN_NEW_ARRAY(g->arena, uint32_t, g->n_value);
	w->is_output = HN_NEW_ARRAY(g->arena, bool, g->n_value);
	for (uint32_t pass = 0; pass < 2; pass++) { /* count, then fill in */
		for (uint32_t i = 0; i < g->n_node; i++) {
			const struct hn_gnode *n = &g->node[i];

			for (uint32_t k = 0; k < n->n_in; k++) {
				int32_t v = n->in[k];

				if (v >= 0 && pass == 1) {
					w->reader[v][w->n_reader[v]] = i;
				}
				w->n_reader[v >= 0 ? v : 0] += v >= 0;
			}
		}
		for (uint32_t v = 0; v < g->n_value && pass == 0; v++) {
			w->reader[v] = HN_NEW_ARRAY(g->arena, uint32_t, w->n_reader[v]);
			w->n_reader[v] = 0;
		}
	}
	for (uint32_t i = 0; i < g->n_output; i++) {
		w->is_output[g->output[i]] = true;
	}
}

/* Whether all who read v are nodes of that group. */
static bool read_only_in(struct hn_fuse *w, int32_t v, uint32_t group)
{
	for (uint32_t i = 0; i < w->n_reader[v]; i++) {
		if (hn_fuse_group(w, w->reader[v][i]) != group) {
			return false;
		}
	}
	return !w->is_output[v];
}

static bool same_place(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	if (x->rank != y->rank ||
	    (x->rank > 0 && memcmp(x->shape, y->shape, x->rank * sizeof(*x->shape)) != 0)) {
		return false;
	}
	for (uint32_t k = 0; k < x->rank; k++) {
		if ((x->order != NULL ? x->order[k] : k) != (y->order != NULL ? y->order[k] : k)) {
			return false;
		}
	}
	return true;
}

/* What a group of the class `behind` takes in of what computes one of its operands. */
struct rule {
	bool takes[HN_GOP_NORMALIZE + 1]; /* by the class in front */
	bool same; /* the value between has to be like the result: nothing is computed twice */
};

static const struct rule rules[] = {
	[HN_GOP_ELEMENTWISE] = { { [HN_GOP_ELEMENTWISE] = true,
				   [HN_GOP_VIEW] = true,
				   [HN_GOP_INJECTIVE] = true,
				   [HN_GOP_REDUCE] = true,
				   [HN_GOP_CONTRACT] = true,
				   [HN_GOP_NORMALIZE] = true },
				 true },
	[HN_GOP_VIEW] = { { [HN_GOP_VIEW] = true, [HN_GOP_INJECTIVE] = true }, false },
	[HN_GOP_INJECTIVE] = { { [HN_GOP_ELEMENTWISE] = true,
				 [HN_GOP_VIEW] = true,
				 [HN_GOP_INJECTIVE] = true },
			       false },
	[HN_GOP_REDUCE] = { { [HN_GOP_ELEMENTWISE] = false }, false },
	[HN_GOP_CONTRACT] = { { [HN_GOP_ELEMENTWISE] = false }, false },
	[HN_GOP_NORMALIZE] = { { [HN_GOP_ELEMENTWISE] = true }, true },
};

/* The result of a group while it grows: of the reader's node. */
static bool fits_by_rule(const struct hn_fuse *w, uint32_t front, uint32_t behind, uint32_t reader,
			 int32_t v)
{
	const struct rule *rule = &rules[w->heavy[behind]];
	bool heavy_behind = w->heavy[behind] > HN_GOP_INJECTIVE;
	bool light_front = w->heavy[front] <= HN_GOP_INJECTIVE;

	/* what is light joins what follows a heavy node in its group, too: a residual's Relu */
	if (heavy_behind && light_front && w->g->node[reader].op->class == HN_GOP_ELEMENTWISE &&
	    w->heavy[front] == HN_GOP_ELEMENTWISE) {
		return same_place(&w->g->value[v], &w->g->value[w->g->node[reader].out[0]]);
	}
	return rule->takes[w->heavy[front]] &&
	       (!rule->same ||
		same_place(&w->g->value[v], &w->g->value[w->g->node[reader].out[0]]));
}

/* Whether the node reads another tensor like v that is computed, too. */
static bool meets(const struct hn_fuse *w, uint32_t reader, int32_t v)
{
	const struct hn_gnode *n = &w->g->node[reader];

	for (uint32_t k = 0; k < n->n_in; k++) {
		const struct hn_gvalue *x = n->in[k] >= 0 ? &w->g->value[n->in[k]] : NULL;

		if (x != NULL && n->in[k] != v && x->data == NULL &&
		    same_place(x, &w->g->value[v])) {
			return true;
		}
	}
	return false;
}

static bool fits(struct hn_fuse *w, uint32_t maker, uint32_t reader, int32_t v)
{
	uint32_t front = hn_fuse_group(w, maker), behind = hn_fuse_group(w, reader);
	struct hn_net_edge edge = { v, w->heavy[front], w->g->node[reader].op->class,
				    w->heavy[behind], meets(w, reader, v) };
	enum hn_net_say say;
	bool by_rule;

	if (front == behind || w->size[front] + w->size[behind] > MOST_NODES ||
	    (w->shared ? hn_fuse_makes_circle(w, front, behind) : !read_only_in(w, v, behind))) {
		return false;
	}
	by_rule = fits_by_rule(w, front, behind, reader, v);
	say = hn_net_choice_say(w->choice, &edge);
	if (say == (by_rule ? HN_NET_CUT : HN_NET_JOIN)) {
		w->said[v] = (uint8_t)say;
		return !by_rule;
	}
	return by_rule;
}

static void merge(struct hn_fuse *w, uint32_t front, uint32_t behind)
{
	front = hn_fuse_group(w, front);
	behind = hn_fuse_group(w, behind);
	uint32_t next = w->next[front];

	w->next[front] = w->next[behind];
	w->next[behind] = next;
	w->parent[front] = behind;
	w->size[behind] += w->size[front];
	w->heavy[behind] = w->heavy[front] > w->heavy[behind] ? w->heavy[front] : w->heavy[behind];
}

/* Values that nodes of the group read and others make; in the order of its nodes. */
static uint32_t find_operands(struct hn_fuse *w, uint32_t group, uint32_t last, int32_t *ret)
{
	uint32_t n = 0;

	for (uint32_t i = last + 1; i-- > 0 && n < MOST_NODES;) {
		const struct hn_gnode *node = &w->g->node[i];

		if (hn_fuse_group(w, i) != group || w->is_alias[i]) {
			continue;
		}
		for (uint32_t k = 0; k < node->n_in && n < MOST_NODES; k++) {
			uint32_t maker = maker_of(w, node->in[k]);

			if (maker != HN_FUSE_NONE && hn_fuse_group(w, maker) != group) {
				ret[n++] = node->in[k];
			}
		}
		if (last - i > 4 * MOST_NODES) {
			break; /* groups are local */
		}
	}
	return n;
}

/* Of the operands that may be merged, the one that is computed last: its data are the warmest, and
 * where two sums of products meet it is the main path. */
static bool merge_one(struct hn_fuse *w, uint32_t last)
{
	uint32_t group = hn_fuse_group(w, last), best = HN_FUSE_NONE;
	int32_t operand[MOST_NODES];
	uint32_t n = find_operands(w, group, last, operand);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t maker = maker_of(w, operand[i]);

		for (uint32_t r = 0; r < w->n_reader[operand[i]]; r++) {
			uint32_t reader = w->reader[operand[i]][r];

			if (hn_fuse_group(w, reader) == group && fits(w, maker, reader, operand[i]) &&
			    (best == HN_FUSE_NONE || maker > best)) {
				best = maker;
			}
		}
	}
	if (best == HN_FUSE_NONE) {
		return false;
	}
	merge(w, best, last);
	return true;
}

/* Whether the node is left for its one reader to take in: what it makes is larger than what it
 * reads. */
static bool waits(struct hn_fuse *w, uint32_t i)
{
	const struct hn_gnode *n = &w->g->node[i], *reader;
	const struct rule *rule;
	int32_t v = n->out[0];

	if (!hn_widens(w->g, n) || w->n_reader[v] != 1 || w->is_output[v]) {
		return false;
	}
	reader = &w->g->node[w->reader[v][0]];
	rule = &rules[reader->op->class];
	return rule->takes[HN_GOP_ELEMENTWISE] &&
	       (!rule->same || same_place(&w->g->value[v], &w->g->value[reader->out[0]]));
}

/* -- the result -------------------------------------------------------------------------- */

/* A group runs where its last node stands: all that it reads is there by then.  Where values are
 * shared that is not so, and it runs when it is ready. */
static void collect(struct hn_fuse *w, struct hn_partition *ret)
{
	struct hn_graph *g = w->g;
	uint32_t *number = HN_NEW_ARRAY(g->arena, uint32_t, g->n_node);
	uint32_t *last = HN_NEW_ARRAY(g->arena, uint32_t, g->n_node), before;

	for (uint32_t i = 0; i < g->n_node; i++) {
		number[i] = HN_FUSE_NONE;
		if (!w->is_alias[i]) {
			last[hn_fuse_group(w, i)] = i;
		}
	}
	ret->group = HN_NEW_ARRAY(g->arena, struct hn_ggroup, g->n_node);
	do {
		before = ret->n_group;
		for (uint32_t i = 0; i < g->n_node; i++) {
			uint32_t root = hn_fuse_group(w, i);

			if (!w->is_alias[i] && last[root] == i && number[root] == HN_FUSE_NONE &&
			    (!w->shared || hn_fuse_is_ready(w, root, number))) {
				number[root] = ret->n_group++;
				ret->group[number[root]].node =
					HN_NEW_ARRAY(g->arena, uint32_t, w->size[root]);
			}
		}
	} while (ret->n_group > before);
	for (uint32_t i = 0; i < g->n_node; i++) {
		if (!w->is_alias[i]) {
			struct hn_ggroup *group = &ret->group[number[hn_fuse_group(w, i)]];

			((uint32_t *)group->node)[group->n_node++] = i;
		}
	}
}

static void find_outs(struct hn_fuse *w, struct hn_ggroup *group)
{
	uint32_t root = hn_fuse_group(w, group->node[0]), most = 0;
	int32_t *out;

	for (uint32_t i = 0; i < group->n_node; i++) {
		most += w->g->node[group->node[i]].n_out;
	}
	out = HN_NEW_ARRAY(w->g->arena, int32_t, most);
	for (uint32_t i = 0; i < group->n_node; i++) {
		const struct hn_gnode *n = &w->g->node[group->node[i]];

		for (uint32_t k = 0; k < n->n_out; k++) {
			if (!read_only_in(w, n->out[k], root)) {
				out[group->n_out++] = n->out[k];
			}
		}
	}
	group->out = out;
}

/* Each node by itself, then merged from the first to the last. */
static void merge_all(struct hn_fuse *w)
{
	for (uint32_t i = 0; i < w->g->n_node; i++) {
		w->parent[i] = w->next[i] = i;
		w->size[i] = 1;
		w->heavy[i] = w->g->node[i].op->class;
	}
	for (uint32_t i = 0; i < w->g->n_node; i++) {
		while (!w->is_alias[i] && !waits(w, i) && merge_one(w, i)) {
		}
	}
}

/* Whether a reduction is in what computes each node's results, up to the last sum of products. */
static bool *find_reduced(struct hn_fuse *w)
{
	bool *reduced = HN_NEW_ARRAY(w->g->arena, bool, w->g->n_node);

	for (uint32_t i = 0; i < w->g->n_node; i++) {
		const struct hn_gnode *n = &w->g->node[i];
		enum hn_gop_class class = n->op->class;

		reduced[i] = class == HN_GOP_REDUCE || class == HN_GOP_NORMALIZE;
		for (uint32_t k = 0; k < n->n_in && class != HN_GOP_CONTRACT; k++) {
			int32_t maker = n->in[k] >= 0 ? w->g->value[n->in[k]].node : -1;

			reduced[i] = reduced[i] || (maker >= 0 && reduced[maker]);
		}
	}
	return reduced;
}

/* A view of what is reduced cuts a kernel in two, though it does nothing, and what was reduced is read
 * again.  Where values are shared it is an op of the kernel; those that joined nobody are their
 * operand's memory again.  So is a view of what is element-wise alone: there a cut costs a copy, and
 * its indices may have no form. */
static void merge_views(struct hn_fuse *w)
{
	bool *is_view = HN_NEW_ARRAY(w->g->arena, bool, w->g->n_node), *reduced = find_reduced(w);

	for (uint32_t i = 0; i < w->g->n_node; i++) {
		const struct hn_gnode *n = &w->g->node[i];

		is_view[i] = w->is_alias[i] && n->n_in > 0 && n->in[0] >= 0 &&
			     w->g->value[n->in[0]].node >= 0 && reduced[w->g->value[n->in[0]].node];
	}
	for (uint32_t i = 0; i < w->g->n_node; i++) {
		w->is_alias[i] = w->is_alias[i] && !is_view[i];
	}
	merge_all(w);
	for (uint32_t i = 0; i < w->g->n_node; i++) {
		w->is_alias[i] = w->is_alias[i] || (is_view[i] && w->size[hn_fuse_group(w, i)] == 1);
	}
}

void hn_partition_make(struct hn_graph *g, const struct hn_net_choice *choice,
		       struct hn_partition *ret)
{
	struct hn_fuse w = { .g = g,
			  .choice = choice,
			  .said = HN_NEW_ARRAY(g->arena, uint8_t, g->n_value),
			  .parent = HN_NEW_ARRAY(g->arena, uint32_t, g->n_node),
			  .size = HN_NEW_ARRAY(g->arena, uint32_t, g->n_node),
			  .next = HN_NEW_ARRAY(g->arena, uint32_t, g->n_node),
			  .list = HN_NEW_ARRAY(g->arena, uint32_t, g->n_node),
			  .seen = HN_NEW_ARRAY(g->arena, bool, g->n_node),
			  .shared = choice != NULL && choice->rival != NULL && choice->rival->shared,
			  .heavy = HN_NEW_ARRAY(g->arena, uint8_t, g->n_node) };
	struct hn_places places;

	hn_places_make(g, choice == NULL || !choice->whole, &places);
	w.is_alias = HN_NEW_ARRAY(g->arena, bool, g->n_node);
	memcpy(w.is_alias, places.is_alias, g->n_node * sizeof(bool));
	*ret = (struct hn_partition){ .place = places.of, .said = w.said };
	find_readers(&w);
	if (w.shared) {
		merge_views(&w);
	}
	merge_all(&w);
	collect(&w, ret);
	for (uint32_t i = 0; i < ret->n_group; i++) {
		find_outs(&w, &ret->group[i]);
	}
}
