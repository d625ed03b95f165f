/* graph/import/import.h -- a network from a model file of ONNX.
 *
 * Every node becomes operators of graph/op/ops.def.  What cannot be is told at once for the whole
 * model: an import goes on behind a node that it does not take, and lists them all.
 */
#ifndef HN_GRAPH_IMPORT_IMPORT_H
#define HN_GRAPH_IMPORT_IMPORT_H

#include "graph/ir/graph.h"
#include "graph/onnx/onnx.h"

#define HN_IMPORT_MIN_OPSET 6
#define HN_IMPORT_MAX_OPSET 28
#define HN_IMPORT_MAX_NODES 65536 /* each is checked: a tenth of a millisecond */

/* A number for a symbolic dimension: of its name, or of dimension k of an input, "INPUT:k". */
struct hn_import_dim {
	const char *name;
	int64_t value; /* 1 or more */
	bool used;     /* written by the import */
};

/* Nodes that hone does not take, of one operator and for one reason. */
struct hn_refusal {
	const char *op;	  /* "Loop", "com.microsoft.FusedConv" */
	const char *node; /* the first */
	const char *why;
	uint32_t n;
};

struct hn_import {
	struct hn_import_dim *dim;
	uint32_t n_dim;
	bool as_written; /* a quantized model computes in float32 (graph/pass/pass.h) */
	/* results, in the graph's arena */
	struct hn_refusal *refusal;
	uint32_t n_refusal, cap_refusal;
	uint32_t n_unseen; /* nodes behind those, which were not looked at */
};

/* Into `g`, which is initialized and empty; weights stay where `o` has them, so it outlives g.
 * HONE_E_UNSUPPORTED where im->refusal says why; HONE_E_INVALID for a model that is none, or
 * dimensions that nobody has told. */
int hn_graph_import(struct hn_onnx *o, struct hn_import *im, struct hn_graph *g,
		    struct hn_err *err) HN_NODISCARD;

#endif
