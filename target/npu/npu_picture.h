/* target/npu/npu_picture.h -- pipes over time, as profilers draw them. */
#ifndef HN_TARGET_NPU_NPU_PICTURE_H
#define HN_TARGET_NPU_NPU_PICTURE_H

#include "target/npu/npu_run.h"

/* An SVG of the events of a run: a row for each pipe, a box for each instruction, with its text as
 * the title that viewers show beside the pointer. */
void hn_npu_picture(const struct hn_npu_program *p, const struct hn_npu_options *o,
		    const struct hn_npu_result *r, struct hn_buf *svg);

#endif
