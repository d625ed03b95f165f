/* client/asm.h -- the inner loops of a kernel's assembly text, and what they consist of. */
#ifndef HN_CLIENT_ASM_H
#define HN_CLIENT_ASM_H

#include "base/arena.h"
#include "base/buf.h"

#define HN_ASM_CLASS(name, text) HN_ASM_##name,
enum hn_asm_class {
#include "client/asm.def"
	HN_ASM_N
};
#undef HN_ASM_CLASS

/* A loop without a loop in it: lines from its label to the jump back. */
struct hn_asm_loop {
	const char *text; /* in the listing, not terminated */
	size_t n_bytes;
	uint32_t n; /* instructions */
	uint32_t count[HN_ASM_N];
	uint32_t n_memory; /* of the arithmetic, with an operand in memory */
	uint32_t n_stack;  /* instructions that touch the stack: spilled values */
};

/* Loops of an x86-64 listing in AT&T syntax as LLVM writes it, those with most arithmetic
 * first; in the arena.  Other machines' listings have no known instructions: class other. */
uint32_t hn_asm_loops(const char *listing, struct hn_arena *a, struct hn_asm_loop **ret);

/* "68 instructions: 32 fma, ...". */
void hn_asm_print_mix(const struct hn_asm_loop *loop, struct hn_buf *b);

#endif
