/* client/asm.c -- see asm.h.
 *
 * A loop is a jump to a label above it; it is an inner one when no other lies between.
 * An instruction's class is that of the longest row of `known` its name begins with;
 * moves are loads or stores by the side their memory operand is on.
 */
#include "client/asm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static const struct {
	const char *prefix;
	enum hn_asm_class class;
} known[] = {
	{ "vfmadd", HN_ASM_FMA },
	{ "vfnmadd", HN_ASM_FMA },
	{ "vfmsub", HN_ASM_FMA },
	{ "vfnmsub", HN_ASM_FMA },
	{ "vbroadcast", HN_ASM_BROADCAST },
	{ "vpbroadcast", HN_ASM_BROADCAST },
	{ "vmov", HN_ASM_LOAD },
	{ "vinsert", HN_ASM_SHUFFLE },
	{ "vextract", HN_ASM_SHUFFLE },
	{ "vperm", HN_ASM_SHUFFLE },
	{ "vpermil", HN_ASM_SHUFFLE },
	{ "vshuf", HN_ASM_SHUFFLE },
	{ "vpshuf", HN_ASM_SHUFFLE },
	{ "vunpck", HN_ASM_SHUFFLE },
	{ "vpunpck", HN_ASM_SHUFFLE },
	{ "vblend", HN_ASM_SHUFFLE },
	{ "vpblend", HN_ASM_SHUFFLE },
	{ "valign", HN_ASM_SHUFFLE },
	{ "vgather", HN_ASM_LOAD },
	{ "vexpand", HN_ASM_SHUFFLE },
	{ "vcompress", HN_ASM_SHUFFLE },
	{ "v", HN_ASM_ARITH },
	{ "prefetch", HN_ASM_PREFETCH },
	{ "j", HN_ASM_BRANCH },
};

/* One line without its end. */
struct line {
	const char *s;
	size_t n;
};

static struct line next_line(const char **at)
{
	const char *end = strchr(*at, '\n');
	struct line l = { *at, end ? (size_t)(end - *at) : strlen(*at) };

	*at = end ? end + 1 : *at + l.n;
	return l;
}

/* The first word of an instruction; n = 0 when the line is none. */
static struct line mnemonic(struct line l)
{
	struct line m = { l.s, 0 };

	while (m.s < l.s + l.n && (*m.s == ' ' || *m.s == '\t')) {
		m.s++;
	}
	if (m.s == l.s || *m.s == '.' || *m.s == '#') {
		return m;
	}
	while (m.s + m.n < l.s + l.n && isalnum((unsigned char)m.s[m.n])) {
		m.n++;
	}
	return m;
}

static bool begins(struct line l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l.n >= n && memcmp(l.s, prefix, n) == 0;
}

static bool has(struct line l, const char *word)
{
	return memmem(l.s, l.n, word, strlen(word)) != NULL;
}

static enum hn_asm_class class_of(struct line l, struct line m)
{
	size_t best = 0;
	enum hn_asm_class class = HN_ASM_OTHER;

	for (size_t i = 0; i < HN_COUNT_OF(known); i++) {
		size_t n = strlen(known[i].prefix);

		if (n > best && begins(m, known[i].prefix)) {
			best = n;
			class = known[i].class;
		}
	}
	if (class == HN_ASM_LOAD) { /* the last operand is where the value goes */
		const char *comma = memrchr(l.s, ',', l.n);
		struct line last = { comma ? comma : l.s,
				     comma ? (size_t)(l.s + l.n - comma) : l.n };

		if (has(last, "(") || (has(last, ")") && !has(last, "%zmm") &&
				       !has(last, "%ymm") && !has(last, "%xmm"))) {
			return HN_ASM_STORE;
		}
		return has(l, "(") ? HN_ASM_LOAD : HN_ASM_SHUFFLE;
	}
	return class;
}

static void count_line(struct hn_asm_loop *loop, struct line l)
{
	struct line m = mnemonic(l);

	if (m.n == 0) {
		return;
	}
	enum hn_asm_class class = class_of(l, m);

	loop->n++;
	loop->count[class]++;
	if ((class == HN_ASM_FMA || class == HN_ASM_ARITH) && has(l, "(")) {
		loop->n_memory++;
	}
	if (has(l, "(%rsp") || has(l, "(%rbp")) {
		loop->n_stack++;
	}
}

static void count_loop(struct hn_asm_loop *loop)
{
	const char *at = loop->text;

	while (at < loop->text + loop->n_bytes) {
		count_line(loop, next_line(&at));
	}
}

static uint32_t arithmetic(const struct hn_asm_loop *l)
{
	return l->count[HN_ASM_FMA] + l->count[HN_ASM_ARITH];
}

static int most_arithmetic(const void *x, const void *y)
{
	const struct hn_asm_loop *a = x, *b = y;
	uint32_t p = arithmetic(a), q = arithmetic(b);

	return p != q ? (p < q ? 1 : -1) : (a->text > b->text) - (a->text < b->text);
}

/* Where the label a jump names stands above it, or NULL. */
static const char *label_above(const char *listing, struct line jump)
{
	const char *name = memmem(jump.s, jump.n, ".L", 2), *at = jump.s;
	size_t n = 0;

	while (name && name + n < jump.s + jump.n &&
	       (isalnum((unsigned char)name[n]) || name[n] == '.' || name[n] == '_')) {
		n++;
	}
	for (; name && at > listing; at--) {
		if ((at == listing || at[-1] == '\n') && strncmp(at, name, n) == 0 &&
		    at[n] == ':') {
			return at;
		}
	}
	return NULL;
}

uint32_t hn_asm_loops(const char *listing, struct hn_arena *a, struct hn_asm_loop **ret)
{
	const char *at = listing, *last_head = listing;
	uint32_t n = 0, cap = 16;

	*ret = HN_NEW_ARRAY(a, struct hn_asm_loop, cap);
	while (*at) {
		struct line l = next_line(&at), m = mnemonic(l);
		const char *head = begins(m, "j") ? label_above(listing, l) : NULL;

		/* outer loops begin above the inner loop that was found last */
		if (!head || (n > 0 && head <= last_head)) {
			continue;
		}
		*ret = hn_arena_grow(a, *ret, n, &cap, sizeof(**ret));
		last_head = head;
		(*ret)[n] = (struct hn_asm_loop){ .text = head,
						  .n_bytes = (size_t)(l.s + l.n - head) };
		count_loop(&(*ret)[n++]);
	}
	qsort(*ret, n, sizeof(**ret), most_arithmetic);
	return n;
}

void hn_asm_print_mix(const struct hn_asm_loop *loop, struct hn_buf *b)
{
	static const char *const text[] = {
#define HN_ASM_CLASS(name, text) text,
#include "client/asm.def"
#undef HN_ASM_CLASS
	};

	hn_buf_printf(b, "%u instructions", loop->n);
	for (uint32_t i = 0, k = 0; i < HN_ASM_N; i++) {
		if (loop->count[i]) {
			hn_buf_printf(b, "%s%u %s", k++ ? ", " : ": ", loop->count[i],
				      text[i]);
		}
	}
	if (loop->n_memory) {
		hn_buf_printf(b, "; %u of the arithmetic read memory", loop->n_memory);
	}
	if (loop->n_stack) {
		hn_buf_printf(b, "; %u touch the stack", loop->n_stack);
	}
}
