/* target/npu/npu_insn.h -- what is known about each instruction, by the tables. */
#ifndef HN_TARGET_NPU_NPU_INSN_H
#define HN_TARGET_NPU_NPU_INSN_H

#include "target/npu/npu.h"

enum hn_npu_numeral {
#define NUMBER(name, word, fallback, least, greatest, text) HN_NPU_N_##name,
#include "target/npu/numbers.def"
#undef NUMBER
	HN_NPU_N_NUMERAL
};

struct hn_npu_numeral_row {
	const char *word;
	int64_t fallback, least, greatest;
};
#define HN_NPU_NONE INT64_MAX /* a fallback: the text has to say it */

struct hn_npu_kind_row {
	uint8_t n_place, n_number;
	const uint8_t *place;  /* [n_place] sets of memories: bit enum hn_npu_memory */
	const uint8_t *number; /* [n_number] enum hn_npu_numeral */
};

/* Sets of types, by the place in a mask of enum hn_dtype. */
struct hn_npu_types {
	uint32_t first, second; /* second: 0 = there is one type */
};

struct hn_npu_op_row {
	const char *word;
	uint8_t kind, pipe, c16, c32;
	struct hn_npu_types types;
};

extern const char *const hn_npu_pipe_name[HN_NPU_N_PIPE + 2];
extern const char *const hn_npu_memory_word[HN_NPU_N_MEMORY];
extern const uint16_t hn_npu_memory_align[HN_NPU_N_MEMORY];
extern const struct hn_npu_numeral_row hn_npu_numeral[HN_NPU_N_NUMERAL];
extern const struct hn_npu_op_row hn_npu_op[HN_NPU_N_OP];
extern const struct hn_npu_kind_row hn_npu_kind[HN_NPU_N_KIND];
int64_t hn_npu_memory_bytes(const struct hn_npu_profile *m, enum hn_npu_memory memory);

/* The short words of types in the text: f16, f32, s32, s8; HN_N_DTYPE, NULL: none. */
const char *hn_npu_type_word(enum hn_dtype t);
enum hn_dtype hn_npu_type_of(const char *word, size_t n);

/* Which pipe's queue it goes to: S of what the scalar unit does itself. */
static inline enum hn_npu_pipe hn_npu_pipe_of(const struct hn_npu_insn *in)
{
	switch (in->op) {
	case HN_NPU_I_SET:
		return (enum hn_npu_pipe)in->pipe[0];
	case HN_NPU_I_WAIT:
		return (enum hn_npu_pipe)in->pipe[1];
	case HN_NPU_I_BARRIER:
		return in->pipe[0] >= HN_NPU_ALL ? HN_NPU_S : (enum hn_npu_pipe)in->pipe[0];
	default:
		return (enum hn_npu_pipe)hn_npu_op[in->op].pipe;
	}
}

#endif
