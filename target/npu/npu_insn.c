/* target/npu/npu_insn.c -- the tables of the NPU as arrays: profiles, pipes, memories, shapes,
 * numbers, instructions. */
#include <stdio.h>
#include <string.h>

#include "target/npu/npu_insn.h"

#define FIELD(name, least, value, greatest, text)                                            \
	_Static_assert((value) >= (least) && (value) <= (greatest), #name);
#include "target/npu/profiles.def"

bool hn_npu_profile_at(size_t i, struct hn_npu_profile *ret)
{
	size_t row = 0;
	bool found = false;

	*ret = (struct hn_npu_profile){
#define FIELD(field, least, value, greatest, text) .field = (value),
#include "target/npu/profiles.def"
	};
#define SET(field, number) ret->field = (number);
#define PROFILE(name_, text_, differs)                                                       \
	if (i == row++) {                                                                    \
		found = true;                                                                \
		ret->name = name_;                                                           \
		ret->text = text_;                                                           \
		differs                                                                      \
	}
#include "target/npu/profiles.def"
	return found;
}

int hn_npu_profile_of(const char *name, struct hn_npu_profile *ret, struct hn_err *err)
{
	char all[200] = "";
	size_t n = 0;

	for (size_t i = 0; hn_npu_profile_at(i, ret); i++) {
		if (strcmp(ret->name, name) == 0) {
			return 0;
		}
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i > 0 ? ", " : "", ret->name);
	}
	return hn_fail(err, HONE_E_INVALID, "%.60s: no profile of the NPU; there are %s", name, all);
}

const char *const hn_npu_pipe_name[HN_NPU_N_PIPE + 2] = {
#define PIPE(name, text) #name,
#include "target/npu/pipes.def"
#undef PIPE
	"all", "cores",
};

const char *const hn_npu_memory_word[HN_NPU_N_MEMORY] = {
#define MEMORY(name, word, field, align) word,
#include "target/npu/memories.def"
#undef MEMORY
	"gm",
};

const uint16_t hn_npu_memory_align[HN_NPU_N_MEMORY] = {
#define MEMORY(name, word, field, align) align,
#include "target/npu/memories.def"
#undef MEMORY
	1,
};

int64_t hn_npu_memory_bytes(const struct hn_npu_profile *m, enum hn_npu_memory memory)
{
	const int64_t bytes[HN_NPU_N_MEMORY] = {
#define MEMORY(name, word, field, align) m->field,
#include "target/npu/memories.def"
#undef MEMORY
	};

	return bytes[memory];
}

#define NONE HN_NPU_NONE
#define DENSE HN_NPU_DENSE
#define ALL HN_NPU_DENSE
const struct hn_npu_numeral_row hn_npu_numeral[HN_NPU_N_NUMERAL] = {
#define NUMBER(name, word, fallback, least, greatest, text) { word, fallback, least, greatest },
#include "target/npu/numbers.def"
#undef NUMBER
};
#undef NONE
#undef DENSE
#undef ALL

#define AT(memory) 1 << HN_NPU_##memory,
#define AT2(memory, other) (1 << HN_NPU_##memory) | (1 << HN_NPU_##other),
#define AT4(a, b, c, d) (1 << HN_NPU_##a) | (1 << HN_NPU_##b) | (1 << HN_NPU_##c) | (1 << HN_NPU_##d),
#define NUM(name) HN_NPU_N_##name,
#define KIND(name, places, numbers)                                                          \
	static const uint8_t places_##name[] = { places 0 }, numbers_##name[] = { numbers 0 }; \
	_Static_assert(sizeof(places_##name) <= HN_NPU_PLACES + 1 &&                         \
			       sizeof(numbers_##name) <= HN_NPU_NUMBERS + 1, #name);
#include "target/npu/kinds.def"
#undef KIND
#undef AT
#undef AT2
#undef AT4
#undef NUM

const struct hn_npu_kind_row hn_npu_kind[HN_NPU_N_KIND] = {
#define KIND(name, places, numbers)                                                          \
	{ sizeof(places_##name) - 1, sizeof(numbers_##name) - 1, places_##name, numbers_##name },
#include "target/npu/kinds.def"
#undef KIND
};

#define BIT(t) (1u << HN_##t)
#define ARITH { BIT(F16) | BIT(F32) | BIT(I32), 0 }
#define FLOAT { BIT(F16) | BIT(F32), 0 }
#define ANY { BIT(F16) | BIT(F32) | BIT(I32) | BIT(I8), 0 }
#define HALF { BIT(F16), 0 }
#define CUBE { BIT(F16) | BIT(I8), 0 }
#define CONVERT { BIT(F16) | BIT(F32) | BIT(I32) | BIT(I8), BIT(F16) | BIT(F32) | BIT(I32) | BIT(I8) }
#define SUMS { BIT(F16) | BIT(F32) | BIT(I32), BIT(F32) | BIT(I32) }
#define NONE { 0, 0 }
const struct hn_npu_op_row hn_npu_op[HN_NPU_N_OP] = {
#define INSN(name, word, kind, pipe, types, c16, c32, text)                                  \
	{ word, HN_NPU_K_##kind, HN_NPU_##pipe, c16, c32, types },
#include "target/npu/insns.def"
#undef INSN
};

static const struct {
	const char *word;
	enum hn_dtype type;
} words[] = { { "f16", HN_F16 }, { "f32", HN_F32 }, { "s32", HN_I32 }, { "s8", HN_I8 } };

const char *hn_npu_type_word(enum hn_dtype t)
{
	for (size_t i = 0; i < HN_COUNT_OF(words); i++) {
		if (words[i].type == t) {
			return words[i].word;
		}
	}
	return NULL;
}

enum hn_dtype hn_npu_type_of(const char *word, size_t n)
{
	for (size_t i = 0; i < HN_COUNT_OF(words); i++) {
		if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0) {
			return words[i].type;
		}
	}
	return HN_N_DTYPE;
}
