/* lower/prove/poly_tree.c -- writing a loop tree as isl's schedule tree.  See poly_tree.h. */
#include "lower/prove/poly_tree.h"

#include <inttypes.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdlib.h>
#include <string.h>

#include "lower/prove/poly_isolate.h"

/* Statements [first, end) of the model are those below a node: the model numbers them in
 * the order of the text. */
struct span {
	uint32_t first, end;
};

struct writer {
	const struct hn_poly *p;
	struct hn_buf *out;
	uint32_t *enters;    /* [n_stmt] loops outside the place where a statement enters;
			      * 0 = it is in the domain node */
	uint32_t next;	     /* statement that comes next in the text */
	uint32_t n_isolated; /* bands around this place that are */
	bool failed;	     /* isl refused something */
};

static void put_item(struct writer *w, const struct hn_node *node, uint32_t depth);

static uint32_t count_stmts(const struct hn_node *node)
{
	uint32_t n = node->kind == HN_NODE_STMT;

	for (uint32_t i = 0; i < node->n_child; i++) {
		const struct hn_node *init = node->child[i]->init;

		n += count_stmts(node->child[i]) + (init ? count_stmts(init) : 0);
	}
	return n;
}

static struct span below(const struct writer *w, const struct hn_node *node)
{
	return (struct span){ w->next, w->next + count_stmts(node) };
}

static uint32_t enters_at(const struct writer *w, const struct hn_poly_stmt *s)
{
	return w->enters[s->id];
}

/* The iterations of the first n loops in which the statement runs. */
static isl_set *iterations(const struct writer *w, const struct hn_poly_stmt *s,
			   uint32_t n)
{
	return isl_map_range(hn_poly_prefix(w->p, s, n));
}

/* Whether, whenever s runs, statements run that are there without it: a loop of the AST
 * runs where one of those does. */
static bool is_carried(struct writer *w, const struct hn_poly_stmt *s, uint32_t depth)
{
	isl_set *others = NULL, *own = iterations(w, s, depth);
	isl_bool ret;

	for (uint32_t i = 0; i < w->p->n_stmt; i++) {
		const struct hn_poly_stmt *x = &w->p->stmt[i];

		if (enters_at(w, x) < depth && x->n_loop >= depth &&
		    x->loop[depth - 1] == s->loop[depth - 1]) {
			isl_set *more = iterations(w, x, depth);

			others = others ? isl_set_union(others, more) : more;
		}
	}
	ret = others ? isl_set_is_subset(own, others) : isl_bool_false;
	w->failed |= ret == isl_bool_error;
	isl_set_free(others);
	isl_set_free(own);
	return ret == isl_bool_true;
}

/* Statements of a LOCAL buffer enter in the loop that holds it, outer loops first; where
 * nobody carries them they are in the domain node like others. */
static void place_statements(struct writer *w, struct hn_arena *a)
{
	uint32_t most = 0;

	w->enters = HN_NEW_ARRAY(a, uint32_t, w->p->n_stmt);
	for (uint32_t i = 0; i < w->p->n_stmt; i++) {
		const struct hn_poly_stmt *s = &w->p->stmt[i];

		w->enters[i] = hn_poly_lifetime(w->p->tree, s->node->stage, s);
		most = w->enters[i] > most ? w->enters[i] : most;
	}
	for (uint32_t depth = 1; depth <= most; depth++) {
		for (uint32_t i = 0; i < w->p->n_stmt; i++) {
			if (w->enters[i] == depth &&
			    !is_carried(w, &w->p->stmt[i], depth)) {
				w->enters[i] = 0;
			}
		}
	}
}

static void put_text(struct writer *w, char *isl_text)
{
	w->failed |= isl_text == NULL;
	hn_buf_puts(w->out, isl_text ? isl_text : "");
	free(isl_text);
}

/* Domains of all statements in the domain node. */
static void put_domain(struct writer *w)
{
	isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(w->p->ctx, 0));

	for (uint32_t i = 0; i < w->p->n_stmt; i++) {
		const struct hn_poly_stmt *s = &w->p->stmt[i];

		if (enters_at(w, s) == 0) {
			all = isl_union_set_union(
				all, isl_union_set_from_set(
					     isl_map_domain(isl_map_copy(s->write))));
		}
	}
	put_text(w, isl_union_set_to_str(all));
	isl_union_set_free(all);
}

/* Statements that have entered at this depth, as universes. */
static void put_filter(struct writer *w, struct span x, uint32_t depth)
{
	const char *comma = "";

	hn_buf_puts(w->out, "{ filter: \"{ ");
	for (uint32_t i = x.first; i < x.end; i++) {
		if (enters_at(w, &w->p->stmt[i]) <= depth) {
			hn_buf_puts(w->out, comma);
			hn_poly_put_instance(w->p, &w->p->stmt[i], w->out);
			comma = "; ";
		}
	}
	hn_buf_puts(w->out, " }\"");
}

static bool any_enters(const struct writer *w, struct span x, uint32_t depth)
{
	for (uint32_t i = x.first; i < x.end && depth > 0; i++) {
		if (enters_at(w, &w->p->stmt[i]) == depth) {
			return true;
		}
	}
	return false;
}

/* The instances that run in each iteration of the `depth` loops outside. */
static void put_extension(struct writer *w, struct span x, uint32_t depth)
{
	isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(w->p->ctx, 0));

	for (uint32_t i = x.first; i < x.end; i++) {
		const struct hn_poly_stmt *s = &w->p->stmt[i];

		if (enters_at(w, s) == depth) {
			isl_map *m = isl_map_reverse(hn_poly_prefix(w->p, s, depth));

			all = isl_union_map_union(all, isl_union_map_from_map(m));
		}
	}
	hn_buf_puts(w->out, "extension: \"");
	put_text(w, isl_union_map_to_str(all));
	hn_buf_putc(w->out, '"');
	isl_union_map_free(all);
}

/* One item of a sequence: a child, or what a child runs first. */
static void put_filtered(struct writer *w, const struct hn_node *node, uint32_t depth)
{
	/* isl reads no mark back that has only a leaf below it. */
	bool local = node->kind != HN_NODE_STMT && any_enters(w, below(w, node), depth);

	put_filter(w, below(w, node), depth);
	if (local) {
		hn_buf_printf(w->out, ", child: { mark: \"hone:local T%" PRId32 "\"",
			      w->p->stmt[w->next + count_stmts(node) - 1].node->stage);
	}
	put_item(w, node, depth);
	hn_buf_puts(w->out, local ? " } }" : " }");
}

/* What the node's body holds, under a node that takes a child. */
static void put_body(struct writer *w, const struct hn_node *node, uint32_t depth)
{
	bool extended = any_enters(w, below(w, node), depth);
	const char *comma = "";

	if (node->n_child == 1 && !node->child[0]->init && !extended) {
		put_item(w, node->child[0], depth);
		return;
	}
	hn_buf_puts(w->out, ", child: { ");
	if (extended) {
		put_extension(w, below(w, node), depth);
		hn_buf_puts(w->out, ", child: { ");
	}
	hn_buf_puts(w->out, "sequence: [ ");
	for (uint32_t i = 0; i < node->n_child; i++) {
		if (node->child[i]->init) {
			hn_buf_puts(w->out, comma);
			put_filtered(w, node->child[i]->init, depth);
			comma = ", ";
		}
		hn_buf_puts(w->out, comma);
		put_filtered(w, node->child[i], depth);
		comma = ", ";
	}
	hn_buf_puts(w->out, extended ? " ] } }" : " ] }");
}

static bool is_marked(const struct hn_node *loop)
{
	return loop->ann != HN_ANN_NONE;
}

/* The loop that is all there is in this one's body, or NULL. */
static const struct hn_node *perfectly_inside(const struct writer *w,
					      const struct hn_node *loop, uint32_t depth)
{
	const struct hn_node *x = loop->n_child == 1 ? loop->child[0] : NULL;

	if (!x || x->kind != HN_NODE_LOOP || x->init || is_marked(x) || is_marked(loop) ||
	    any_enters(w, below(w, loop), depth + 1)) {
		return NULL;
	}
	return x;
}

/* One member: S[digits] -> [(turn of its loop at that depth)]. */
static void put_member(struct writer *w, struct span x, uint32_t depth)
{
	const char *comma = "";

	hn_buf_puts(w->out, "{ ");
	for (uint32_t i = x.first; i < x.end; i++) {
		const struct hn_poly_stmt *s = &w->p->stmt[i];

		if (enters_at(w, s) <= depth) {
			hn_buf_puts(w->out, comma);
			hn_poly_put_instance(w->p, s, w->out);
			hn_buf_puts(w->out, " -> [(");
			hn_poly_put_turn(w->p, s, depth, w->out);
			hn_buf_puts(w->out, ")]");
			comma = "; ";
		}
	}
	hn_buf_puts(w->out, " }");
}

static void put_options(struct writer *w, const struct hn_node *loop, struct span x,
			uint32_t depth, uint32_t n, bool *ret_isolated)
{
	isl_set *full = NULL;

	if ((loop->ann == HN_ANN_VECTORIZE || loop->ann == HN_ANN_UNROLL) &&
	    w->n_isolated < HN_POLY_MAX_ISOLATED) {
		full = hn_poly_full_iterations(w->p, x.first, x.end, depth, loop->extent,
					       &w->failed);
	}
	*ret_isolated = full != NULL;
	hn_buf_printf(w->out, ", options: \"{ atomic[x] : 0 <= x < %u", n);
	if (full) {
		isl_set *option = hn_poly_isolate_option(full);
		char *text = isl_set_to_str(option);
		const char *inner = text ? strchr(text, '{') : NULL;

		w->failed |= !inner;
		hn_buf_printf(w->out, "; [isolate[] -> atomic[x]] : 0 <= x < %u; %s", n,
			      inner ? inner + 1 : "}");
		free(text);
		isl_set_free(option);
	} else {
		hn_buf_puts(w->out, " }");
	}
	hn_buf_putc(w->out, '"');
}

static void put_loops(struct writer *w, const struct hn_node *loop, uint32_t depth)
{
	struct span x = below(w, loop);
	const struct hn_node *first = loop, *inner;
	uint32_t at = depth;
	bool isolated;

	if (is_marked(loop)) {
		hn_buf_printf(w->out, ", child: { mark: \"hone:%s\"", hn_ann_keyword(loop->ann));
	}
	hn_buf_puts(w->out, ", child: { schedule: \"[");
	put_member(w, x, at);
	while ((inner = perfectly_inside(w, loop, at)) != NULL) {
		hn_buf_puts(w->out, ", ");
		put_member(w, x, ++at);
		loop = inner;
	}
	hn_buf_puts(w->out, "]\"");
	put_options(w, first, x, depth, at - depth + 1, &isolated);
	w->n_isolated += isolated;
	put_body(w, loop, at + 1);
	w->n_isolated -= isolated;
	hn_buf_puts(w->out, is_marked(first) ? " } }" : " }");
}

static void put_item(struct writer *w, const struct hn_node *node, uint32_t depth)
{
	if (node->kind == HN_NODE_LOOP) {
		put_loops(w, node, depth);
	} else if (node->kind == HN_NODE_SEQ) {
		put_body(w, node, depth);
	} else {
		w->next++;
	}
}

bool hn_poly_tree_text(const struct hn_poly *p, struct hn_buf *ret)
{
	struct writer w = { .p = p, .out = ret };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	place_statements(&w, &a);
	hn_buf_puts(ret, "{ domain: \"");
	put_domain(&w);
	hn_buf_putc(ret, '"');
	put_body(&w, p->tree->root, 0);
	hn_buf_puts(ret, " }");
	hn_arena_fini(&a);
	return !w.failed && !ret->failed;
}

isl_schedule *hn_poly_tree(const struct hn_poly *p)
{
	isl_schedule *ret = NULL;
	struct hn_buf text;

	hn_buf_init(&text);
	if (hn_poly_tree_text(p, &text)) {
		ret = isl_schedule_read_from_str(p->ctx, text.s);
	}
	hn_buf_fini(&text);
	return ret;
}
