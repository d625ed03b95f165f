/* target/npu/npu_parse_int.h -- what the files of the NPU text's reader share.
 *
 * The first thing that is wrong ends the reading: hn_npu_refuse writes its message and jumps to the
 * struct's `out`.  So the others return what they read, and have no error to return.  All they make
 * lies in the arena.
 */
#ifndef HN_TARGET_NPU_NPU_PARSE_INT_H
#define HN_TARGET_NPU_NPU_PARSE_INT_H

#include <setjmp.h>

#include "target/npu/npu_insn.h"

#define HN_NPU_WORD 128 /* bytes of a word, with its NUL */

struct npu_parse {
	const char *what, *at, *end;
	uint32_t line;
	struct hn_arena *a;
	struct hn_npu_program p;
	struct hn_npu_buffer *buffer;
	struct hn_npu_section *section;
	struct hn_npu_size *size;
	struct hn_npu_where *where;
	struct hn_npu_insn *insn; /* of the section at hand */
	int64_t scratch; /* bytes */
	uint32_t cap_buffer, cap_section, cap_size, cap_where, n_insn, cap_insn, n_insn_all;
	char word[HN_NPU_WORD];
	struct hn_err *err;
	jmp_buf out;
};

_Noreturn HN_PRINTF(2, 3) void hn_npu_refuse(struct npu_parse *p, const char *fmt, ...);

/* npu_parse_word.c: a word is all but blanks, brackets and '#'; a bracket is one.  Peek gives its length, 0
 * at the end of the line; take copies it to p->word and refuses the end of the line. */
size_t hn_npu_peek(struct npu_parse *p);
const char *hn_npu_take(struct npu_parse *p);
bool hn_npu_accept(struct npu_parse *p, const char *word); /* took it? */
void hn_npu_expect(struct npu_parse *p, const char *word);
void hn_npu_end_line(struct npu_parse *p); /* and the empty lines after it */
int64_t hn_npu_int_of(struct npu_parse *p, const char *word);
uint8_t hn_npu_take_register(struct npu_parse *p);
struct hn_npu_number hn_npu_take_number(struct npu_parse *p);
float hn_npu_take_float(struct npu_parse *p);

/* npu_parse_size.c: the lines of sizes and conditions, behind their word; a length behind its bracket. */
void hn_npu_take_size(struct npu_parse *p);
void hn_npu_take_where(struct npu_parse *p);
const struct hn_npu_form *hn_npu_take_form(struct npu_parse *p);

/* npu_parse_insn.c: one line of code. */
struct hn_npu_insn hn_npu_take_insn(struct npu_parse *p);

#endif
