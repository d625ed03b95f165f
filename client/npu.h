/* client/npu.h -- `hone npu`: what its files share. */
#ifndef HN_CLIENT_NPU_H
#define HN_CLIENT_NPU_H

#include "client/cmd.h"
#include "target/npu/npu_run.h"

/* hone-build's program of the computation that o gives, as text; its name in `a`. */
int hn_npu_made(const struct hn_opts *o, const char *profile, struct hn_arena *a, const char **name,
		struct hn_buf *text, struct hn_err *err) HN_NODISCARD;

/* npu_network.c: a network, kernel by kernel, each in a launch of its own.  A kernel without a program
 * is told with the reason; HONE_E_UNSUPPORTED when none has one. */
int hn_npu_network(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_buf *b,
		   struct hn_err *err) HN_NODISCARD;

#endif
