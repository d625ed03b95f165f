/* graph/akg/akg_int.h -- what the files of the reader share. */
#ifndef HN_GRAPH_AKG_AKG_INT_H
#define HN_GRAPH_AKG_AKG_INT_H

#include "graph/akg/akg.h"

#define HN_AKG_MAX_RANK 8   /* as graph/ir/graph.h */
#define HN_AKG_MAX_ATTRS 256
#define HN_AKG_MAX_NOTES 32 /* of different texts; more are not worth a line each */

struct hn_akg_reader {
	struct hn_arena *arena;
	struct hn_akg_note *note;
	uint32_t n_note, cap_note;
	struct hn_err *err;
};

/* table.c: whether an attribute has a meaning here, or is known to have none for any result. */
bool hn_akg_is_known_attr(const char *op, const char *attr);

/* read.c: the document as a kernel, whose texts stay in the document. */
int hn_akg_read(struct hn_akg_reader *r, const struct hn_json *root, struct hn_akg_kernel *ret);

#endif
