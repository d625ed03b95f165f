/* graph/library/header.h -- the C header of a compiled network: what a person needs to run it. */
#ifndef HN_GRAPH_LIBRARY_HEADER_H
#define HN_GRAPH_LIBRARY_HEADER_H

#include "base/buf.h"
#include "proto/model.h"

/* Append the header of a network that hn_model_check lets pass, whose files are called `file`;
 * embedded: its weights are in the object; gpu: it is for a GPU. */
void hn_model_header(const struct hn_model *m, const char *file, bool embedded, bool gpu,
		     struct hn_buf *buf);

#endif
