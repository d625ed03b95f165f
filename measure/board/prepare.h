/* measure/board/prepare.h -- hone-board makes the prepared blocks of a compiled network beforehand,
 * for `hone compile` (docs/model-library.md). */
#ifndef HN_MEASURE_BOARD_PREPARE_H
#define HN_MEASURE_BOARD_PREPARE_H

#include "base/err.h"

/* Files: the network's text (proto/model.h), its weights, the folder with an object SYMBOL.o for
 * each kernel, and the file to be made, of prepared_bytes.  All kernels run in one child in a
 * sandbox (child.h, sandbox.h).  HONE_E_INTERNAL names the step whose kernel fails. */
int hn_prepare_run(const char *model, const char *weights, const char *objects, const char *out,
		   struct hn_err *err) HN_NODISCARD;

#endif
