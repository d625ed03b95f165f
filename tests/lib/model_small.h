/* A compiled network of three steps as data, for tests of what is made of it: x times w0, the
 * largest of that and zero, times w1.  Both products are one kernel. */
#ifndef HN_TESTS_MODEL_SMALL_H
#define HN_TESTS_MODEL_SMALL_H

#include "proto/model.h"

#define MS_N 64
#define MS_ROW ((uint64_t)(4 * MS_N))
#define MS_ALL (MS_ROW * MS_N)

struct ms {
	int64_t dim[2];
	struct hn_model_tensor input, output;
	uint64_t matmul_bytes[3], relu_bytes[2];
	bool constant[2];
	struct hn_model_kernel kernel[2];
	struct hone_model_arg arg[3][3];
	struct hn_model_step step[3];
	struct hn_model m;
};

static inline struct hone_model_arg ms_at(uint32_t place, uint64_t offset)
{
	return (struct hone_model_arg){ .place = place, .offset = offset };
}

static inline void ms_steps(struct ms *s)
{
	s->arg[0][0] = ms_at(HONE_MODEL_INPUT, 0);
	s->arg[0][1] = ms_at(HONE_MODEL_WEIGHTS, 0);
	s->arg[0][2] = ms_at(HONE_MODEL_ARENA, 0);
	s->arg[1][0] = ms_at(HONE_MODEL_ARENA, 0);
	s->arg[1][1] = ms_at(HONE_MODEL_ARENA, 0);
	s->arg[2][0] = ms_at(HONE_MODEL_ARENA, 0);
	s->arg[2][1] = ms_at(HONE_MODEL_WEIGHTS, MS_ALL);
	s->arg[2][2] = ms_at(HONE_MODEL_OUTPUT, 0);
	for (uint32_t i = 0; i < 3; i++) {
		s->step[i] = (struct hn_model_step){ .name = i == 1 ? "relu" : "dense",
						     .kernel = i == 1,
						     .arg = s->arg[i],
						     .prepared = i == 2 ? MS_ALL : 0 };
	}
}

/* The step at arg[1] is in place; `prepared` bytes for each product. */
static inline void ms_make(struct ms *s, uint64_t prepared)
{
	*s = (struct ms){ .dim = { MS_N, MS_N },
			  .matmul_bytes = { MS_ALL, MS_ALL, MS_ALL },
			  .relu_bytes = { MS_ALL, MS_ALL },
			  .constant = { false, true } };
	s->input = (struct hn_model_tensor){ "x", HN_F32, 2, s->dim, NULL };
	s->output = (struct hn_model_tensor){ "the answer", HN_F32, 2, s->dim, NULL };
	s->kernel[0] = (struct hn_model_kernel){ .symbol = "small_k0",
						 .name = "matmul",
						 .n_in = 2,
						 .n_arg = 3,
						 .arg_bytes = s->matmul_bytes,
						 .constant = s->constant,
						 .prepared_bytes = prepared,
						 .worker_bytes = 64 };
	s->kernel[1] = (struct hn_model_kernel){ .symbol = "small_k1",
						 .name = "relu",
						 .n_in = 1,
						 .n_arg = 2,
						 .arg_bytes = s->relu_bytes,
						 .constant = s->constant };
	ms_steps(s);
	s->m = (struct hn_model){ .name = "small",
				  .n_input = 1,
				  .n_output = 1,
				  .n_kernel = 2,
				  .n_step = 3,
				  .input = &s->input,
				  .output = &s->output,
				  .kernel = s->kernel,
				  .step = s->step,
				  .weights_bytes = 2 * MS_ALL,
				  .prepared_bytes = prepared ? 2 * MS_ALL : 0,
				  .arena_bytes = MS_ALL };
}

#endif
