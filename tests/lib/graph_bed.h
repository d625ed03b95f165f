/* graph_bed.h -- a graph to build nodes in: what tests of graph/ begin and end with. */
#ifndef HN_TESTS_GRAPH_BED_H
#define HN_TESTS_GRAPH_BED_H

#include "graph/ir/graph.h"

static struct hn_arena arena;
static struct hn_graph g;
static struct hn_err err;

static int set_up(void **state)
{
	(void)state;
	err = (struct hn_err){ 0 };
	hn_arena_init(&arena, 0);
	hn_graph_init(&g, &arena, "net", &err);
	g.opset = 17;
	g.at = "here";
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hn_arena_fini(&arena);
	return 0;
}

#endif
