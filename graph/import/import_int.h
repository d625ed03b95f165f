/* graph/import/import_int.h -- what the files of the importer share. */
#ifndef HN_GRAPH_IMPORT_IMPORT_INT_H
#define HN_GRAPH_IMPORT_IMPORT_INT_H

#include "graph/import/import.h"
#include "graph/import/names.h"
#include "graph/ir/op.h"

struct hn_importer {
	struct hn_onnx *onnx;
	const struct hn_onnx_model *model;
	struct hn_import *im;
	struct hn_graph *g;
	struct hn_names name;	     /* values; HN_BAD: of a node that was refused */
	uint32_t n_name;	     /* it has at most */
	struct hn_names initializer; /* numbers of the file's weights */
	bool in_part;		     /* inputs that are refused are HN_BAD, too */
	struct hn_err node_err;	     /* why a node is refused */
	struct hn_err *err;
};

#define HN_UNKNOWN_NAME (-3) /* in i->name: nothing has defined it */

/* import.c: the value of that name (weights are imported when they are first used), HN_NONE for "";
 * whether there is one. */
int32_t hn_import_value(struct hn_importer *i, const char *name);
bool hn_import_has_name(struct hn_importer *i, const char *name);

/* Names and inputs of the model, into an importer that has all but these; before any node. */
int hn_import_begin(struct hn_importer *i);

/* The number of a weight of the file; HN_UNKNOWN_NAME: it has none of that name. */
int32_t hn_import_initializer(struct hn_importer *i, const char *name);

/* One node.  What is refused is noted; not 0: the whole import ends. */
int hn_import_node(struct hn_importer *i, const struct hn_onnx_node *n);

/* branch.c: an If; its results into out[], which are HN_BAD before.  As above. */
int hn_import_if(struct hn_importer *i, const struct hn_onnx_node *n, int32_t *out);

/* constants.c: a tensor of the file, and the operator Constant; HN_BAD after hn_graph_fail. */
int32_t hn_import_tensor(struct hn_importer *i, const struct hn_onnx_tensor *t);
int32_t hn_import_constant(struct hn_importer *i, const struct hn_onnx_node *n);

/* Whether two elements lie in a byte. */
bool hn_import_is_packed(int32_t onnx_type);

/* attrs.c: whether attribute k of the node is one that the operator knows; false after
 * hn_graph_fail. */
bool hn_import_check_attr(struct hn_importer *i, const struct hn_onnx_node *n, uint32_t k,
			  const struct hn_gop *op);

/* One attribute into to[], which has room for two; returns how many. */
uint32_t hn_import_attr(struct hn_importer *i, const struct hn_onnx_attr *from,
			struct hn_gattr *to);

#endif
