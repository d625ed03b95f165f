/* lower/cpu/emit_model_int.h -- constant tables of C structs, which the tables of compiled networks are
 * made of: emit_model.c and emit_model_gpu.c share it.
 *
 * A struct is laid out by LLVM for the target, and held against what this compiler makes of the
 * header, so that the two cannot drift apart.
 */
#ifndef HN_LOWER_CPU_EMIT_MODEL_INT_H
#define HN_LOWER_CPU_EMIT_MODEL_INT_H

#include <stddef.h>

#include "lower/cpu/emit_int.h"

struct hn_table_field {
	size_t at; /* offset in C */
	LLVMValueRef v;
};

struct hn_table {
	struct emit *e;
	const struct hn_model *m;
	LLVMTargetDataRef layout;
	LLVMValueRef model; /* the global NAME_model */
	LLVMValueRef entry; /* what NAME_run and the like pass on: that, or a GPU's table */
};

LLVMValueRef hn_table_word(const struct hn_table *t, uint64_t v); /* 32 bits */
LLVMValueRef hn_table_size(const struct hn_table *t, uint64_t v); /* 64 bits */
LLVMValueRef hn_table_words(const struct hn_table *t, const int64_t v[3]); /* an array of three */

/* A pointer to n bytes, and to one behind them that is 0. */
LLVMValueRef hn_table_bytes(const struct hn_table *t, const void *bytes, size_t n);
LLVMValueRef hn_table_text(const struct hn_table *t, const char *s);

/* A pointer to v[0..n), all of one type; null for none. */
LLVMValueRef hn_table_array(const struct hn_table *t, LLVMValueRef *v, uint32_t n);

LLVMValueRef hn_table_struct(const struct hn_table *t, const struct hn_table_field *f, uint32_t n,
			     size_t bytes);

/* The global constant of that name. */
LLVMValueRef hn_table_global(const struct hn_table *t, const char *name, LLVMValueRef v);

#define AT(type, member, value)                                                          \
	{                                                                                \
		offsetof(struct type, member), value                                     \
	}
#define STRUCTURE(t, type, fields)                                                       \
	hn_table_struct(t, fields, HN_COUNT_OF(fields), sizeof(struct type))

/* emit_model_gpu.c: NAME_gpu (proto/gpu_table.h), of t->m->module. */
void hn_table_gpu(struct hn_table *t);

#endif
