/* graph/akg/import_int.h -- what the files of the importer share. */
#ifndef HN_GRAPH_AKG_IMPORT_INT_H
#define HN_GRAPH_AKG_IMPORT_INT_H

#include "graph/akg/import.h"
#include "graph/import/names.h"

/* What a name means: the value that it has now. */
struct hn_akg_def {
	const struct hn_akg_tensor *as; /* where it is defined */
	int32_t value;			/* HN_BAD: of an operator that was refused */
	bool is_input, is_assigned;
};

struct hn_akg_importer {
	const struct hn_akg_kernel *k;
	struct hn_import *im;
	struct hn_graph *g;
	struct hn_names name; /* numbers of def[] */
	struct hn_akg_def *def;
	uint32_t n_def, cap_def;
	struct hn_err node_err; /* why an operator is refused */
	struct hn_err *err;
};

/* -- open.c ----------------------------------------------------------------------------- */

/* [n_in][rank] what an open dimension of an input is called: by the file, or by the first of those that
 * have to be like it; NULL: it has no name. */
const char ***hn_akg_name_open(const struct hn_akg_kernel *k, struct hn_arena *a);

/* -- operand.c -------------------------------------------------------------------------- */

/* NULL: nothing of that name is defined. */
struct hn_akg_def *hn_akg_find(struct hn_akg_importer *i, const char *name);

struct hn_akg_def *hn_akg_define(struct hn_akg_importer *i, const struct hn_akg_tensor *t,
				 int32_t value);

/* The value of an operand; HN_BAD after hn_graph_fail. */
int32_t hn_akg_operand(struct hn_akg_importer *i, const struct hn_akg_tensor *t);

/* Whether t may have this shape: open dimensions have any. */
bool hn_akg_may_be(uint32_t rank, const int64_t *shape, const struct hn_akg_tensor *t);

/* v as the file says of result t: the type is made so, and so are dimensions of one element.  Complex
 * numbers are pairs, or v is one part of them. */
int32_t hn_akg_settle(struct hn_graph *g, int32_t v, const struct hn_akg_tensor *t, bool is_pair);

#endif
