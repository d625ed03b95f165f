/* lower/gpu/c_int.h -- what the files of the C languages share: OpenCL C and CUDA C, which differ
 * in words (c_words.def) and in little else. */
#ifndef HN_LOWER_GPU_C_INT_H
#define HN_LOWER_GPU_C_INT_H

#include "lower/gpu/gpu_int.h"

enum gpu_c_word {
#define WORD(name, opencl, cuda) GPU_C_##name,
#include "lower/gpu/c_words.def"
#undef WORD
	GPU_C_N_WORD
};

struct gpu_c {
	bool cuda;
	struct hn_buf code;
	uint32_t depth;	 /* of braces */
	uint32_t n_name; /* names made in the kernel */
	bool has_double;
};

const char *hn_gpu_c_word(const struct gpu *g, enum gpu_c_word w);

/* A text in the arena. */
HN_PRINTF(2, 3) gpu_val hn_gpu_c_text(struct gpu *g, const char *fmt, ...);
/* A line of the kernel. */
HN_PRINTF(2, 3) void hn_gpu_c_line(struct gpu *g, const char *fmt, ...);

/* i32, f32, ...; of a type's element in memory: bool is u8, float16 is u16. */
const char *hn_gpu_c_type(struct gpu *g, enum hn_dtype t);
const char *hn_gpu_c_stored(struct gpu *g, enum hn_dtype t);

/* An element. */
const char *hn_gpu_c_place(struct gpu *g, const struct gpu_at *at);

/* The i-th variable of a buffer that is kept in some. */
const char *hn_gpu_c_variable(struct gpu *g, int32_t buffer, int64_t i);
const char *hn_gpu_c_new_name(struct gpu *g);

/* c_lanes.c */
extern const struct gpu_vector_lang hn_gpu_opencl_vectors;

/* c_warp.c */
void hn_gpu_c_ldmatrix(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
		       uint32_t n, bool trans);
void hn_gpu_c_mma(struct gpu *g, const struct hn_intrin *in, const struct gpu_at *sum,
		  const struct gpu_at *left, const struct gpu_at *right);

/* What the code begins with: types, and the functions that C lacks and `kernels` call. */
void hn_gpu_c_prelude(struct gpu *g, const char *kernels, struct hn_buf *ret);

/* c_value.c */
gpu_val hn_gpu_c_number(struct gpu *g, enum hn_dtype t, int64_t v);
gpu_val hn_gpu_c_real(struct gpu *g, enum hn_dtype t, double v);
gpu_val hn_gpu_c_binary(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, gpu_val x, gpu_val y,
			bool exact);
gpu_val hn_gpu_c_not(struct gpu *g, gpu_val x);
gpu_val hn_gpu_c_cast(struct gpu *g, enum hn_dtype to, enum hn_dtype from, gpu_val x);
gpu_val hn_gpu_c_round(struct gpu *g, enum hn_dtype to, gpu_val x);
gpu_val hn_gpu_c_call(struct gpu *g, enum hn_fn fn, enum hn_dtype t, const gpu_val *x);
gpu_val hn_gpu_c_select(struct gpu *g, enum hn_dtype t, gpu_val c, gpu_val x, gpu_val y);

#endif
