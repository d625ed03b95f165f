/* costmodel/npu.h -- the analytic model of a program on a machine of explicit buffers: tiles are
 * loaded, worked on and stored, and each of its pipes takes its share of the time.
 */
#ifndef HN_COSTMODEL_NPU_H
#define HN_COSTMODEL_NPU_H

#include "target/npu/npu.h"
#include "target/npu/npu_tiles.h"

/* Cycles of the machine.  Pure. */
double hn_npu_cycles(const struct hn_dag *dag, const struct hn_npu_tiles *t,
		     const struct hn_npu_profile *m);

#endif
