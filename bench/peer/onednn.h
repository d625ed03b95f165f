/* bench/peer/onednn.h -- a sequence of oneDNN primitives as a contender.
 *
 * A file of this folder builds one for each way of saying a case: plain layouts, the library's
 * own (format any, with constant and input reorders outside the timing), one primitive
 * after the other or fused by post-operations.  Failures are sticky: a sequence that oneDNN
 * refuses is dropped with a note by hn_dnn_done.
 */
#ifndef HN_BENCH_PEER_ONEDNN_H
#define HN_BENCH_PEER_ONEDNN_H

#include <oneapi/dnnl/dnnl.h>

#include "bench/contest.h"

#define HN_DNN_MAX_STEP 8
#define HN_DNN_MAX_ARG 8
#define HN_DNN_MAX_MEMORY 40
#define HN_DNN_MAX_DESC 40

struct hn_dnn_step {
	dnnl_primitive_t primitive;
	dnnl_primitive_desc_t pd;
	int n_arg;
	dnnl_exec_arg_t arg[HN_DNN_MAX_ARG];
};

struct hn_dnn {
	struct hn_contest *contest;
	struct hn_contender *contender;
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	bool failed;
	uint32_t n_step, n_memory, n_desc;
	struct hn_dnn_step step[HN_DNN_MAX_STEP];
	dnnl_memory_t memory[HN_DNN_MAX_MEMORY];
	dnnl_memory_desc_t desc[HN_DNN_MAX_DESC];
	dnnl_memory_t out; /* the answer in oneDNN's layout; NULL when in the contest's */
	const_dnnl_memory_desc_t out_plain;
};

/* Begin a contender of that name. */
struct hn_dnn *hn_dnn_begin(struct hn_contest *t, const char *name);
/* Keep it, or drop it when something failed. */
void hn_dnn_done(struct hn_dnn *d);

/* Descriptors of tensors: row-major, by strides, layout left to oneDNN.  They live as long as
 * the sequence; NULL when it has failed. */
const_dnnl_memory_desc_t hn_dnn_plain_of(struct hn_dnn *d, dnnl_data_type_t type,
					 int n_dim, const int64_t *dims);
const_dnnl_memory_desc_t hn_dnn_strided_of(struct hn_dnn *d, dnnl_data_type_t type,
					   int n_dim, const int64_t *dims,
					   const int64_t *strides);
const_dnnl_memory_desc_t hn_dnn_any_of(struct hn_dnn *d, dnnl_data_type_t type, int n_dim,
				       const int64_t *dims);

/* The same of float32. */
const_dnnl_memory_desc_t hn_dnn_plain(struct hn_dnn *d, int n_dim, const int64_t *dims);
const_dnnl_memory_desc_t hn_dnn_strided(struct hn_dnn *d, int n_dim, const int64_t *dims,
					const int64_t *strides);
const_dnnl_memory_desc_t hn_dnn_any(struct hn_dnn *d, int n_dim, const int64_t *dims);

/* Memory over the contest's buffer `at`, or of oneDNN's own (at NULL). */
dnnl_memory_t hn_dnn_memory(struct hn_dnn *d, const_dnnl_memory_desc_t md, void *at);

/* The tensor at `at`, which is laid out as `have`, in the layout `want`: itself, or a copy made
 * now. */
dnnl_memory_t hn_dnn_input(struct hn_dnn *d, const_dnnl_memory_desc_t have,
			   const_dnnl_memory_desc_t want, void *at);

/* Memory for the answer in layout `want`; the contest's own buffer when it is `plain`. */
dnnl_memory_t hn_dnn_output(struct hn_dnn *d, const_dnnl_memory_desc_t plain,
			    const_dnnl_memory_desc_t want);

/* Append a primitive: a place for it, and, when the caller has made its descriptor `pd`, which
 * stays for queries (hn_dnn_layout(d, step, dnnl_query_weights_md)), the primitive:
 *
 *   s = hn_dnn_step(d);
 *   hn_dnn_made(d, s, dnnl_..._primitive_desc_create(&s->pd, d->engine, ...));
 */
struct hn_dnn_step *hn_dnn_step(struct hn_dnn *d);
void hn_dnn_made(struct hn_dnn *d, struct hn_dnn_step *s, dnnl_status_t status);
void hn_dnn_arg(struct hn_dnn_step *s, int which, dnnl_memory_t memory);
const_dnnl_memory_desc_t hn_dnn_layout(struct hn_dnn *d, const struct hn_dnn_step *s,
				       dnnl_query_t what);

/* A copy between layouts as a step of the sequence. */
void hn_dnn_copy(struct hn_dnn *d, dnnl_memory_t from, dnnl_memory_t to);

/* In-place element-wise steps over `y`: a function, and adding `r`. */
void hn_dnn_eltwise(struct hn_dnn *d, dnnl_alg_kind_t kind, float alpha, float beta,
		    dnnl_memory_t y);
void hn_dnn_binary(struct hn_dnn *d, dnnl_alg_kind_t kind, dnnl_memory_t y,
		   dnnl_memory_t r);

/* True when the call went well; remembers when not. */
bool hn_dnn_ok(struct hn_dnn *d, dnnl_status_t s);

/* The classes. */
void hn_dnn_conv(struct hn_contest *t, const struct hn_conv *c);
void hn_dnn_products(struct hn_contest *t);
void hn_dnn_rows(struct hn_contest *t);
void hn_dnn_low(struct hn_contest *t);

#endif
