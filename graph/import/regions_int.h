/* graph/import/regions_int.h -- what the files that find regions share. */
#ifndef HN_GRAPH_IMPORT_REGIONS_INT_H
#define HN_GRAPH_IMPORT_REGIONS_INT_H

#include "graph/import/import_int.h"
#include "graph/import/regions.h"

enum hn_region_kind {
	HN_REGION_LEFT,	    /* not taken */
	HN_REGION_TAKEN,
	HN_REGION_CONSTANT, /* all that it computes is known: a weight of whoever reads it */
};

/* Nodes, who reads whom, and which belong together. */
struct hn_region_plan {
	struct hn_arena *arena;
	const struct hn_onnx_graph *from;
	struct hn_names producer;	  /* of a value: its node */
	const uint8_t *kind;		  /* [n] enum hn_region_kind */
	uint32_t *first_reader, *reader; /* of node i: reader[first_reader[i]..first_reader[i + 1]) */
	uint32_t *group; /* [n] a node of its group, in the end the first one */
	uint32_t *next;	 /* [n] the next of its group, round and round */
	uint32_t *seen, stamp;
};

/* Every name that a node reads, graphs within included. */
void hn_region_names(const struct hn_onnx_node *n, void (*each)(void *ctx, const char *name),
		     void *ctx);

/* Put taken nodes into groups. */
void hn_region_group(struct hn_region_plan *p);

#endif
