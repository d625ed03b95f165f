/* target/npu/npu.h -- the NPU: a machine of DaVinci's kind, and the programs that it runs.
 *
 * No such hardware need be here: the machine is what npu_run.h does with a program.  So its form,
 * its instructions and the machine live in one room below all who make programs (lower/) and who
 * measure them (measure/).  All of it is data: profiles.def, insns.def and the tables they name.
 * docs/npu.md says what each instruction does.
 *
 * A program has sections.  Each core runs the code of the section that it is in, once.  Programs
 * are immutable, in an arena.
 *
 * A program may have sizes, which each launch gives: registers that begin with them, lengths of buffers
 * that are forms over them, and conditions that say for which of them it is (npu_launch.h).
 */
#ifndef HN_TARGET_NPU_NPU_H
#define HN_TARGET_NPU_NPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/dtype.h"
#include "base/err.h"

struct hn_npu_profile {
	const char *name, *text;
#define FIELD(name, least, value, greatest, text) int64_t name;
#include "target/npu/profiles.def"
};

/* The i-th row of profiles.def: false behind the last.  The one of that name: HONE_E_INVALID names
 * those there are. */
bool hn_npu_profile_at(size_t i, struct hn_npu_profile *ret);
int hn_npu_profile_of(const char *name, struct hn_npu_profile *ret, struct hn_err *err) HN_NODISCARD;

/* The machine that a target line of kind "npu" means: the profile that its isa names, with as many
 * cores, and with memories as large, as the line's numbers say.  HONE_E_INVALID: no such profile, or
 * a number is more than it has. */
struct hn_target;
int hn_npu_profile_of_target(const struct hn_target *t, struct hn_npu_profile *ret,
			     struct hn_err *err) HN_NODISCARD;

enum hn_npu_pipe {
#define PIPE(name, text) HN_NPU_##name,
#include "target/npu/pipes.def"
#undef PIPE
	HN_NPU_N_PIPE
};
#define HN_NPU_ALL HN_NPU_N_PIPE /* of a barrier */
#define HN_NPU_CORES (HN_NPU_N_PIPE + 1) /* of a barrier: all pipes of all cores */

enum hn_npu_memory {
#define MEMORY(name, word, field, align) HN_NPU_##name,
#include "target/npu/memories.def"
#undef MEMORY
	HN_NPU_GM,
	HN_NPU_N_MEMORY
};

enum hn_npu_kind {
#define KIND(name, places, numbers) HN_NPU_K_##name,
#include "target/npu/kinds.def"
#undef KIND
	HN_NPU_N_KIND
};

enum hn_npu_op {
#define INSN(name, word, kind, pipe, types, c16, c32, text) HN_NPU_I_##name,
#include "target/npu/insns.def"
#undef INSN
	HN_NPU_N_OP
};

enum { HN_NPU_REGISTERS = 32, HN_NPU_BLOCK = 32, HN_NPU_PLACES = 4, HN_NPU_NUMBERS = 12,
       HN_NPU_MOST_INSNS = 1 << 20, HN_NPU_MOST_BUFFERS = 256, HN_NPU_NESTING = 16,
       HN_NPU_MOST_SIZES = 8, HN_NPU_MOST_WHERE = 8,
       HN_NPU_MOST_SCRATCH = 1 << 28 /* bytes of a program's */ };
#define HN_NPU_MOST_BYTES ((int64_t)1 << 36) /* of a buffer */
#define HN_NPU_DENSE (-1) /* of a stride, and of a mask: all lanes */

/* imm, and what register `reg` has where that is not -1. */
struct hn_npu_number {
	int64_t imm;
	int8_t reg;
};

struct hn_npu_place {
	uint8_t memory;	/* enum hn_npu_memory */
	int16_t buffer;	/* GM: of the program */
	struct hn_npu_number at; /* bytes */
};

struct hn_npu_insn {
	uint8_t op;	 /* enum hn_npu_op */
	uint8_t pipe[2]; /* FLAG, BARRIER */
	uint8_t reg;	 /* LET, LOOP */
	uint8_t type[2]; /* enum hn_dtype: of the result, of the source */
	uint32_t line;	 /* of the text, from 1; else a number that tells it from others */
	uint32_t jump;	 /* LOOP, IF: its END; END: its begin; in the section's code */
	float scale;	 /* SCALED, FILL */
	struct hn_npu_place place[HN_NPU_PLACES];
	struct hn_npu_number number[HN_NPU_NUMBERS]; /* as its kind has them; FLAG: the flag's;
						      * LET, LOOP, IF: x and y */
};

struct hn_npu_size {
	const char *name;
	uint8_t reg; /* which begins with it, and which no code writes to */
	int64_t lo, hi; /* 0 <= lo <= hi */
};

struct hn_npu_form; /* over sizes: npu_form.h */

enum hn_npu_relation { HN_NPU_EQ, HN_NPU_LE, HN_NPU_GE };

struct hn_npu_where {
	const struct hn_npu_form *left, *right;
	uint8_t relation; /* enum hn_npu_relation */
};

struct hn_npu_buffer {
	const char *name; /* a name as hn_name_fits has them */
	uint8_t dtype;
	int64_t n_elem, bytes; /* of a length that is a form: of the largest sizes; launched: as it is */
	const struct hn_npu_form *length; /* NULL: a number */
};

struct hn_npu_section {
	uint32_t first, n_core;
	uint32_t n_insn;
	const struct hn_npu_insn *insn;
	bool straight; /* it has neither loops nor conditions */
};

/* Buffers are the arguments of the kernel, in order; behind them scratch, which the machine has in global
 * memory while the program runs, with nothing in it at first. */
struct hn_npu_program {
	const char *what; /* where it is from, for messages */
	uint32_t n_buffer, n_scratch, n_section;
	const struct hn_npu_buffer *buffer; /* [n_buffer + n_scratch] */
	const struct hn_npu_section *section; /* no two have a core in common */
	uint32_t n_size, n_where;
	const struct hn_npu_size *size;
	const struct hn_npu_where *where; /* it is for sizes of which all of them hold */
	const int64_t *value; /* [n_size] of a launch; NULL: it is none yet */
};

/* As text, and back; docs/npu.md has the grammar.  Printing what was read gives the same text.
 * HONE_E_INVALID with "what:line: ..." */
#define HN_NPU_FORMAT "hnpu/1" /* the first line */
void hn_npu_print(const struct hn_npu_program *p, struct hn_buf *buf);
void hn_npu_print_insn(const struct hn_npu_program *p, const struct hn_npu_insn *in,
		       struct hn_buf *buf);
int hn_npu_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		 const struct hn_npu_program **ret, struct hn_err *err) HN_NODISCARD;

#endif
