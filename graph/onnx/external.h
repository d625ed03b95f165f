/* graph/onnx/external.h -- files beside a model that hold its weights.
 *
 * Their names come from the model, and so from a stranger: they are opened one folder after the
 * other, below the model's own, and no symbolic link is followed.  So a model cannot have hone
 * read /etc, nor a file that a link in an unpacked archive points to.
 */
#ifndef HN_GRAPH_ONNX_EXTERNAL_H
#define HN_GRAPH_ONNX_EXTERNAL_H

#include "base/err.h"

struct onnx_map {
	const char *location; /* the caller's; "" of the model's own file */
	const uint8_t *at;    /* NULL where it has no bytes */
	size_t n;
};

/* Map the file of an open descriptor, privately and read-only; `place` names it in messages. */
int onnx_map_fd(int fd, const char *place, struct onnx_map *ret,
		struct hn_err *err) HN_NODISCARD;

/* Map the file at `location` below the folder. */
int onnx_map_below(int folder, const char *location, struct onnx_map *ret,
		   struct hn_err *err) HN_NODISCARD;

void onnx_unmap(struct onnx_map *m);

#endif
