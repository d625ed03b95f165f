/* lower/device/device_parse_int.h -- what the files of the device program's reader share.
 *
 * The first thing that is wrong ends the reading: hn_parse_refuse writes its message and jumps
 * to the struct's `out`.  So the others return what they read, and have no error to return.  All
 * they make lies in the arena.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_PARSE_INT_H
#define HN_LOWER_DEVICE_DEVICE_PARSE_INT_H

#include <setjmp.h>

#include "lower/device/device_int.h"

#define HN_PARSE_NESTING 280 /* of expressions and blocks, one in the other */
#define HN_PARSE_WORD 160    /* bytes of a word, with its NUL */

struct parse {
	const char *what, *at, *end;
	uint32_t line, depth; /* depth: of expressions and blocks */
	struct hn_arena *a;
	struct hn_device d;
	struct hn_device_buffer *buffer;
	struct hn_device_kernel *kernel;
	struct hn_device_map *map;
	uint32_t cap_buffer, cap_kernel, cap_map, cap_slot;
	uint32_t n_slot; /* of the kernel at hand */
	uint8_t *type;	 /* [n_slot] enum hn_dtype */
	char word[HN_PARSE_WORD];
	struct hn_err *err;
	jmp_buf out; /* where hn_parse_refuse goes */
};

_Noreturn HN_PRINTF(2, 3) void hn_parse_refuse(struct parse *p, const char *fmt, ...);

/* device_parse_word.c: a word is letters, digits, '_' and '.', or one sign.  Peek returns where it
 * begins in the text and its length, 0 at the end of the line; take copies it to p->word and
 * refuses the end of the line. */
const char *hn_parse_peek(struct parse *p, size_t *ret_n);
const char *hn_parse_take(struct parse *p);
bool hn_parse_accept(struct parse *p, const char *word); /* took it? */
void hn_parse_expect(struct parse *p, const char *word);
void hn_parse_end_line(struct parse *p); /* and the empty lines after it */

int64_t hn_parse_int_of(struct parse *p, const char *word);
int64_t hn_parse_take_int(struct parse *p);
enum hn_dtype hn_parse_take_type(struct parse *p);

/* A variable's slot: v7, block.x; -1: the word is no variable. */
int32_t hn_parse_slot_of(struct parse *p, const char *word);
/* A variable that gets its name, and with it its type, here. */
int32_t hn_parse_take_name(struct parse *p, enum hn_dtype type);
/* The kernel's variables are at least n, those that are new of type int32. */
void hn_parse_grow_slots(struct parse *p, uint32_t n);

int32_t hn_parse_find_buffer(const struct parse *p, const char *name); /* -1: none */
int32_t hn_parse_take_buffer(struct parse *p);

bool hn_parse_is_name(const struct parse *p); /* is p->word one for a buffer or map? */

/* device_parse.c: BUFFER[index]; a word and numbers, of a copy's dimensions at most; { statements } */
int32_t hn_parse_element(struct parse *p, const struct hn_expr **at);
uint32_t hn_parse_numbers(struct parse *p, const char *word, int64_t *ret);
void hn_parse_block(struct parse *p, struct hn_device_node *parent);

/* device_parse_role.c: a statement of roles, if that is what comes; a map, behind its word. */
bool hn_parse_role_word(struct parse *p, struct hn_device_node *n);
void hn_parse_map(struct parse *p);

/* device_parse_expr.c */
const struct hn_expr *hn_parse_expr(struct parse *p);

#endif
