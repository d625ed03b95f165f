/* tests/ptx/ptx_read.h -- how a module's text is read, in three files: words (ptx_words.c), names and what
 * they stand for (ptx_names.c), instructions and kernels (ptx_parse.c).  What is not understood gives
 * -HONE_E_INVALID, and err says the line. */
#ifndef HN_TESTS_PTX_PTX_READ_H
#define HN_TESTS_PTX_PTX_READ_H

#include "tests/ptx/ptx_int.h"

/* What a name is. */
struct ptx_name {
	const char *text;
	uint32_t length;
	bool counted; /* %r<100>: the number behind it counts on */
	bool wide;
	enum { A_REGISTER, AN_ADDRESS } is;
	uint32_t reg, n; /* the first register's place, and how many */
	uint64_t value;	 /* an address */
};

struct ptx_label {
	const char *text;
	uint32_t length;
	uint32_t at; /* the instruction behind it, or of a jump: the one that goes there */
	uint32_t line;
};

struct ptx_reader {
	const char *at, *end;
	uint32_t line;
	struct hn_arena *a;
	struct hn_err *err;
	struct ptx_name *name;
	uint32_t n_name, cap_name;
	struct ptx_label *label, *jump;
	uint32_t n_label, cap_label, n_jump, cap_jump;
	struct ptx_insn *insn;
	uint32_t n_insn, cap_insn;
	union ptx_reg *first;
	uint32_t n_reg, cap_reg;
	uint32_t shared; /* declared so far, from PTX_SHARED_FROM */
	bool dynamic;	 /* an array without a size was seen: it lies behind the others */
	struct ptx_kernel *kernel;
};

int ptx_wrong(struct ptx_reader *r, const char *what, const char *text, size_t n);

/* -- ptx_words.c ------------------------------------------------------------------------------ */

/* Over blanks and comments. */
void ptx_skip(struct ptx_reader *r);
size_t ptx_word(struct ptx_reader *r, const char **text);
bool ptx_take(struct ptx_reader *r, char c);
bool ptx_is(const char *text, size_t n, const char *what);
int ptx_expect(struct ptx_reader *r, char c);
int ptx_number(struct ptx_reader *r, uint64_t *v);
void ptx_skip_statement(struct ptx_reader *r);
void ptx_skip_line(struct ptx_reader *r);

/* -- ptx_names.c ------------------------------------------------------------------------------ */

int ptx_new_registers(struct ptx_reader *r, uint32_t n, uint32_t *reg);
int ptx_constant(struct ptx_reader *r, uint64_t v, uint32_t *reg);
int ptx_name(struct ptx_reader *r, const char *t, size_t n, struct ptx_operand *o);
int ptx_registers(struct ptx_reader *r);
int ptx_shared_array(struct ptx_reader *r);
int ptx_local_array(struct ptx_reader *r);
int ptx_parameters(struct ptx_reader *r);

#endif
