/* lower/device/device_parse.c -- a device program from its text.  The grammar is in device_text.c.
 *
 * The text may come from anywhere: counts and nesting are bounded, numbers are read with their
 * limits, and what was read goes through hn_device_check before anyone sees it.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/device/device_int.h"
#include "lower/device/device_verify.h"

#define MOST_BUFFERS 4096
#define MOST_KERNELS 1024
#define MOST_SLOTS 65536
#define MOST_NESTING 280
#define MOST_WORD 160

struct reader {
	const char *what, *at, *end;
	uint32_t line, depth;
	struct hn_arena *a;
	struct hn_device d;
	struct hn_device_buffer *buffer;
	struct hn_device_kernel *kernel;
	uint32_t cap_buffer, cap_kernel, cap_slot;
	uint32_t n_slot; /* of the kernel at hand */
	uint8_t *type;
	char word[MOST_WORD];
	struct hn_err *err;
	jmp_buf out;
};

_Noreturn HN_PRINTF(2, 3) static void refuse(struct reader *r, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	(void)hn_fail(r->err, HONE_E_INVALID, "%s:%u: %s", r->what, r->line, why);
	longjmp(r->out, 1);
}

/* ---- words */

static void blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) {
		r->at++;
	}
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* The next word: of letters, digits, '_' and '.'; or one sign (==, <= and >= are one). */
static const char *peek(struct reader *r, size_t *ret_n)
{
	const char *s;

	blanks(r);
	s = r->at;
	while (s < r->end && is_word(*s)) {
		/* 1.5e-07 is one word */
		bool number = *r->at >= '0' && *r->at <= '9';

		s++;
		if (number && s < r->end && (*s == '-' || *s == '+') && s[-1] == 'e') {
			s++;
		}
	}
	if (s == r->at && s < r->end && *s != '\n') {
		bool two = s + 1 < r->end && s[1] == '=' && strchr("<>=!", *s) != NULL;

		s += two ? 2 : 1;
	}
	*ret_n = (size_t)(s - r->at);
	return r->at;
}

static const char *take(struct reader *r)
{
	size_t n;
	const char *s = peek(r, &n);

	if (n == 0) {
		refuse(r, "the line ends too early");
	}
	if (n >= sizeof(r->word)) {
		refuse(r, "a word of %zu bytes", n);
	}
	memcpy(r->word, s, n);
	r->word[n] = '\0';
	r->at += n;
	return r->word;
}

static bool next_is(struct reader *r, const char *word)
{
	size_t n;
	const char *s = peek(r, &n);

	return n == strlen(word) && memcmp(s, word, n) == 0;
}

static bool accept(struct reader *r, const char *word)
{
	if (!next_is(r, word)) {
		return false;
	}
	r->at += strlen(word);
	return true;
}

static void expect(struct reader *r, const char *word)
{
	if (!accept(r, word)) {
		size_t n;
		const char *s = peek(r, &n);

		refuse(r, "expected '%s', not '%.*s'", word, n > 40 ? 40 : (int)n, s);
	}
}

static void end_line(struct reader *r)
{
	size_t n;

	(void)peek(r, &n);
	if (n > 0) {
		refuse(r, "'%s' stands behind what the line says", take(r));
	}
	while (r->at < r->end && (*r->at == '\n' || *r->at == ' ' || *r->at == '\t')) {
		r->line += *r->at++ == '\n';
	}
}

static int64_t to_int(struct reader *r, const char *word)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(word, &end, 10);
	if (end == word || *end != '\0' || errno != 0) {
		refuse(r, "'%s' is no integer", word);
	}
	return v;
}

static int64_t take_int(struct reader *r)
{
	char text[MOST_WORD + 1] = "-";
	bool minus = accept(r, "-");

	snprintf(text + 1, sizeof(text) - 1, "%s", take(r));
	return to_int(r, minus ? text : text + 1);
}

static enum hn_dtype take_type(struct reader *r)
{
	enum hn_dtype t;

	take(r);
	t = hn_dtype_of(r->word);
	if (t >= HN_N_DTYPE) {
		refuse(r, "'%s' is no type", r->word);
	}
	return t;
}

/* v7, block.x; -1: it is no variable. */
static int32_t to_slot(struct reader *r, const char *word)
{
	int64_t slot;

	for (int32_t i = 0; i < HN_DEVICE_FIRST; i++) {
		if (strcmp(word, hn_device_number[i]) == 0) {
			return i;
		}
	}
	if (word[0] != 'v' || word[1] < '0' || word[1] > '9' ||
	    word[1 + strspn(word + 1, "0123456789")] != '\0') {
		return -1;
	}
	slot = to_int(r, word + 1);
	if (slot < HN_DEVICE_FIRST || slot >= MOST_SLOTS) {
		refuse(r, "%s: variables are v%d to v%d", word, HN_DEVICE_FIRST,
		       MOST_SLOTS - 1);
	}
	return (int32_t)slot;
}

/* A variable that gets its name here. */
static int32_t take_name(struct reader *r, enum hn_dtype type)
{
	int32_t slot = to_slot(r, take(r));

	if (slot < HN_DEVICE_FIRST) {
		refuse(r, "'%s' is no name for a variable", r->word);
	}
	while (r->n_slot <= (uint32_t)slot) {
		if (r->n_slot == r->cap_slot) {
			r->type =
				hn_arena_grow(r->a, r->type, r->n_slot, &r->cap_slot, 1);
		}
		r->type[r->n_slot++] = HN_I32;
	}
	r->type[slot] = (uint8_t)type;
	return slot;
}

static int32_t find_buffer(const struct reader *r, const char *name)
{
	for (uint32_t i = 0; i < r->d.n_buffer; i++) {
		if (strcmp(r->buffer[i].name, name) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

static int32_t take_buffer(struct reader *r)
{
	int32_t b = find_buffer(r, take(r));

	if (b < 0) {
		refuse(r, "there is no buffer '%s'", r->word);
	}
	return b;
}

/* ---- expressions */

static const struct hn_expr *expr(struct reader *r);

static const struct hn_expr *node(struct reader *r, enum hn_expr_op op,
				  enum hn_dtype type, int32_t ref,
				  const struct hn_expr *const *arg, uint32_t n)
{
	const struct hn_expr like = { .op = (uint8_t)op,
				      .dtype = (uint8_t)type,
				      .ref = ref };

	return hn_expr_with_args(&like, arg, n, r->a);
}

static enum hn_dtype result_of(enum hn_expr_op op, const struct hn_expr *const *arg,
			       uint32_t n)
{
	bool flag = (op >= HN_EXPR_EQ && op <= HN_EXPR_GE) || op == HN_EXPR_AND ||
		    op == HN_EXPR_OR || op == HN_EXPR_NOT;

	return flag ? HN_BOOL : (enum hn_dtype)arg[n - 1]->dtype;
}

static const struct hn_expr *binary(struct reader *r)
{
	const struct hn_expr *arg[2];
	enum hn_expr_op op = HN_EXPR_VAR;

	arg[0] = expr(r);
	take(r);
	while (op < HN_N_EXPR && (hn_device_infix[op] == NULL ||
				  strcmp(hn_device_infix[op], r->word) != 0)) {
		op++;
	}
	if (op == HN_N_EXPR) {
		refuse(r, "'%s' is no operator", r->word);
	}
	arg[1] = expr(r);
	expect(r, ")");
	return node(r, op, result_of(op, arg, 2), 0, arg, 2);
}

#define MOST_ARGS 3

static uint32_t arguments(struct reader *r, const struct hn_expr **arg)
{
	uint32_t n = 0;

	do {
		if (n == MOST_ARGS) {
			refuse(r, "more than %d arguments", MOST_ARGS);
		}
		arg[n++] = expr(r);
	} while (accept(r, ","));
	expect(r, ")");
	return n;
}

static const struct hn_expr *let(struct reader *r)
{
	const struct hn_expr *arg[2], *like;
	int32_t slot = take_name(r, HN_I32);

	expect(r, ",");
	arg[0] = expr(r);
	r->type[slot] = arg[0]->dtype;
	expect(r, ",");
	arg[1] = expr(r);
	expect(r, ")");
	like = node(r, HN_EXPR_LET, (enum hn_dtype)arg[1]->dtype, slot, arg, 2);
	return like;
}

/* NAME( is taken. */
static const struct hn_expr *call(struct reader *r, const char *name)
{
	const struct hn_expr *arg[MOST_ARGS];
	enum hn_dtype type = hn_dtype_of(name);
	enum hn_fn fn = hn_fn_of(name);
	enum hn_expr_op op = HN_EXPR_VAR;
	uint32_t n;

	if (strcmp(name, "let") == 0) {
		return let(r);
	}
	while (op < HN_N_EXPR && strcmp(hn_expr_op_name(op), name) != 0) {
		op++;
	}
	if (type >= HN_N_DTYPE && fn >= HN_N_FN &&
	    (op == HN_N_EXPR || op < HN_EXPR_ADD || op >= HN_EXPR_CAST)) {
		refuse(r, "'%s' is no function", name);
	}
	char said[MOST_WORD];

	snprintf(said, sizeof(said), "%s", name); /* r->word goes on */
	n = arguments(r, arg);
	if (type < HN_N_DTYPE) {
		if (n != 1) {
			refuse(r, "%s(...) takes one argument", said);
		}
		return node(r, HN_EXPR_CAST, type, 0, arg, n);
	}
	if (op < HN_N_EXPR) {
		return node(r, op, result_of(op, arg, n), 0, arg, n);
	}
	return node(r, HN_EXPR_CALL, (enum hn_dtype)arg[n - 1]->dtype, (int32_t)fn, arg,
		    n);
}

/* A number; `minus` has been taken. */
static const struct hn_expr *constant(struct reader *r, const char *word, bool minus)
{
	bool whole = word[strspn(word, "0123456789")] == '\0';
	enum hn_dtype type = whole ? HN_I32 : HN_F32;
	char text[MOST_WORD + 1], *end;
	double v;

	snprintf(text, sizeof(text), "%s%s", minus ? "-" : "", word);
	if (accept(r, ":")) {
		type = take_type(r);
	}
	if (whole != (hn_dtype_class(type) != HN_CLASS_FLOAT)) {
		refuse(r, "%s is no %s", text, hn_dtype_name(type));
	}
	if (whole) {
		return hn_expr_int(to_int(r, text), type, r->a);
	}
	v = strtod(text, &end);
	if (*end != '\0') {
		refuse(r, "'%s' is no number", text);
	}
	return hn_expr_float(v, type, r->a);
}

static const struct hn_expr *element(struct reader *r, int32_t buffer)
{
	const struct hn_expr *at = expr(r);

	expect(r, "]");
	return node(r, HN_EXPR_LOAD, (enum hn_dtype)r->buffer[buffer].dtype, buffer, &at,
		    1);
}

static const struct hn_expr *primary(struct reader *r)
{
	char word[MOST_WORD];
	bool minus;
	int32_t slot;

	if (accept(r, "(")) {
		return binary(r);
	}
	minus = accept(r, "-");
	snprintf(word, sizeof(word), "%s", take(r));
	if ((word[0] >= '0' && word[0] <= '9') || strcmp(word, "inf") == 0 ||
	    strcmp(word, "nan") == 0) {
		return constant(r, word, minus);
	}
	if (minus) {
		refuse(r, "'-' stands before '%s', which is no number", word);
	}
	if (accept(r, "[")) {
		if (find_buffer(r, word) < 0) {
			refuse(r, "there is no buffer '%s'", word);
		}
		return element(r, find_buffer(r, word));
	}
	if (accept(r, "(")) {
		return call(r, word);
	}
	slot = to_slot(r, word);
	if (slot < 0 || slot >= (int32_t)r->n_slot) {
		refuse(r, "'%s' has no value here", word);
	}
	return hn_expr_var(slot, (enum hn_dtype)r->type[slot], NULL, r->a);
}

static const struct hn_expr *expr(struct reader *r)
{
	const struct hn_expr *e;

	if (++r->depth > MOST_NESTING) {
		refuse(r, "nested more than %d deep", MOST_NESTING);
	}
	e = primary(r);
	r->depth--;
	return e;
}

/* ---- statements */

struct list {
	uint32_t n, cap;
	const struct hn_device_node **v;
};

static void add(struct reader *r, struct list *l, struct hn_device_node n)
{
	struct hn_device_node *copy = HN_NEW(r->a, struct hn_device_node);

	*copy = n;
	if (l->n == l->cap) {
		l->v = hn_arena_grow(r->a, l->v, l->n, &l->cap, sizeof(l->v[0]));
	}
	l->v[l->n++] = copy;
}

static void block(struct reader *r, struct hn_device_node *parent);

static void loop(struct reader *r, struct hn_device_node *n)
{
	n->kind = HN_DEVICE_LOOP;
	n->slot = take_name(r, HN_I32);
	n->extent = take_int(r);
	for (int how = 1; how < 3; how++) {
		if (accept(r, hn_device_how_word[how] + 1)) {
			n->how = (uint8_t)how;
		}
	}
	block(r, n);
}

static uint32_t numbers(struct reader *r, const char *word, int64_t *ret)
{
	uint32_t n = 0;
	size_t length;

	expect(r, word);
	for (const char *s = peek(r, &length);
	     length > 0 && ((*s >= '0' && *s <= '9') || *s == '-');
	     s = peek(r, &length)) {
		if (n == HN_DEVICE_MAX_DIM) {
			refuse(r, "a copy has %d dimensions at most", HN_DEVICE_MAX_DIM);
		}
		ret[n++] = take_int(r);
	}
	return n;
}

static void copy(struct reader *r, struct hn_device_node *n)
{
	struct hn_device_copy *c = HN_NEW(r->a, struct hn_device_copy);
	uint32_t to, from;

	n->kind = HN_DEVICE_COPY;
	n->buffer = take_buffer(r);
	expect(r, "[");
	n->at = expr(r);
	expect(r, "]");
	to = numbers(r, "stride", c->stride);
	expect(r, "from");
	c->from = take_buffer(r);
	expect(r, "[");
	c->from_at = expr(r);
	expect(r, "]");
	from = numbers(r, "stride", c->from_stride);
	c->n_dim = numbers(r, "box", c->extent);
	if (to != c->n_dim || from != c->n_dim) {
		refuse(r, "a copy of %u dimensions has %u and %u strides", c->n_dim, to,
		       from);
	}
	n->copy = c;
}

static void statement(struct reader *r, struct hn_device_node *n)
{
	if (accept(r, "for")) {
		loop(r, n);
	} else if (accept(r, "if")) {
		n->kind = HN_DEVICE_IF;
		n->e = expr(r);
		block(r, n);
	} else if (accept(r, "let")) {
		n->kind = HN_DEVICE_LET;
		n->slot = take_name(r, HN_I32);
		expect(r, "=");
		n->e = expr(r);
		r->type[n->slot] = n->e->dtype;
	} else if (accept(r, "barrier")) {
		n->kind = HN_DEVICE_BARRIER;
	} else if (accept(r, "copy")) {
		copy(r, n);
	} else {
		n->kind = HN_DEVICE_STORE;
		n->buffer = take_buffer(r);
		expect(r, "[");
		n->at = expr(r);
		expect(r, "]");
		expect(r, "=");
		n->e = expr(r);
	}
	end_line(r);
}

/* { statements } */
static void block(struct reader *r, struct hn_device_node *parent)
{
	struct list l = { 0 };

	expect(r, "{");
	end_line(r);
	if (++r->depth > MOST_NESTING) {
		refuse(r, "nested more than %d deep", MOST_NESTING);
	}
	while (!accept(r, "}")) {
		struct hn_device_node n = { 0 };

		if (r->at == r->end) {
			refuse(r, "the text ends before '}'");
		}
		statement(r, &n);
		add(r, &l, n);
	}
	r->depth--;
	parent->child = l.v;
	parent->n_child = l.n;
}

/* ---- the program */

static void buffer(struct reader *r, enum hn_space space)
{
	struct hn_device_buffer b = { .space = (uint8_t)space, .arg = -1 };

	if (r->d.n_buffer == MOST_BUFFERS) {
		refuse(r, "more than %d buffers", MOST_BUFFERS);
	}
	if (r->d.n_buffer == r->cap_buffer) {
		r->buffer = hn_arena_grow(r->a, r->buffer, r->d.n_buffer, &r->cap_buffer,
					  sizeof(r->buffer[0]));
	}
	take(r);
	if (!((r->word[0] >= 'a' && r->word[0] <= 'z') ||
	      (r->word[0] >= 'A' && r->word[0] <= 'Z') || r->word[0] == '_') ||
	    find_buffer(r, r->word) >= 0) {
		refuse(r, "'%s' is no name for a buffer, or two have it", r->word);
	}
	b.name = hn_arena_strdup(r->a, r->word);
	b.dtype = (uint8_t)take_type(r);
	expect(r, "[");
	b.n_elem = take_int(r);
	expect(r, "]");
	if (accept(r, "arg")) {
		int64_t arg = take_int(r);

		if (arg < 0 || arg >= MOST_BUFFERS) {
			refuse(r, "there is no argument %lld", (long long)arg);
		}
		b.arg = (int32_t)arg;
	}
	end_line(r);
	r->buffer[r->d.n_buffer++] = b;
}

static void kernel(struct reader *r)
{
	struct hn_device_node *body = HN_NEW(r->a, struct hn_device_node);
	struct hn_device_kernel k = { 0 };

	if (r->d.n_kernel == MOST_KERNELS) {
		refuse(r, "more than %d kernels", MOST_KERNELS);
	}
	if (r->d.n_kernel == r->cap_kernel) {
		r->kernel = hn_arena_grow(r->a, r->kernel, r->d.n_kernel, &r->cap_kernel,
					  sizeof(r->kernel[0]));
	}
	r->type = NULL;
	r->n_slot = r->cap_slot = 0;
	for (int s = 0; s < HN_DEVICE_FIRST; s++) {
		if (r->n_slot == r->cap_slot) {
			r->type =
				hn_arena_grow(r->a, r->type, r->n_slot, &r->cap_slot, 1);
		}
		r->type[r->n_slot++] = HN_I32;
	}
	k.name = hn_arena_strdup(r->a, take(r));
	expect(r, "grid");
	for (int d = 0; d < 3; d++) {
		k.grid[d] = take_int(r);
	}
	expect(r, "block");
	for (int d = 0; d < 3; d++) {
		k.block[d] = take_int(r);
	}
	block(r, body);
	end_line(r);
	body->kind = HN_DEVICE_SEQ;
	k.body = body;
	k.n_slot = r->n_slot;
	k.type = r->type;
	r->kernel[r->d.n_kernel++] = k;
}

__attribute__((noinline)) static void program(struct reader *r)
{
	size_t n = strlen(HN_DEVICE_FORMAT);

	for (const char *s = r->at; s < r->end;
	     s++) { /* so that messages show what they quote */
		if ((*s < ' ' || *s > '~') && *s != '\n' && *s != '\t') {
			refuse(r, "byte %td is no printed ASCII", s - r->at);
		}
	}
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, HN_DEVICE_FORMAT, n) != 0) {
		refuse(r, "expected " HN_DEVICE_FORMAT);
	}
	r->at += n;
	end_line(r);
	while (r->at < r->end) {
		int space = 0;

		take(r);
		while (space < HN_N_SPACE &&
		       strcmp(r->word, hn_space_keyword((enum hn_space)space)) != 0) {
			space++;
		}
		if (space < HN_N_SPACE) {
			buffer(r, (enum hn_space)space);
		} else if (strcmp(r->word, "kernel") == 0) {
			kernel(r);
		} else {
			refuse(r, "'%s' is no space of memory, and no kernel", r->word);
		}
	}
}

/* False where something was refused: refuse() comes back here.  Nothing else is to be put away,
 * all of it lies in the arena. */
__attribute__((noinline)) static bool is_read(struct reader *r)
{
	if (setjmp(r->out) != 0) {
		return false;
	}
	program(r);
	return true;
}

int hn_device_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		    const struct hn_device **ret, struct hn_err *err)
{
	struct reader *r = HN_NEW(a, struct reader);
	struct hn_device *d;
	int rc;

	*r = (struct reader){
		.what = what, .at = text, .end = text + n, .line = 1, .a = a, .err = err
	};
	if (!is_read(r)) {
		return -HONE_E_INVALID;
	}
	d = HN_NEW(a, struct hn_device);
	*d = r->d;
	d->buffer = r->buffer;
	d->kernel = r->kernel;
	rc = hn_device_check(d, NULL, err);
	if (rc == 0) {
		*ret = d;
	}
	return rc;
}
