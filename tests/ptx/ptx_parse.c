/* ptx_parse.c -- reads the text of a module: directives, registers, labels and instructions, with the
 * blocks in braces that inline assembly makes.  What an instruction is its room says (ptx_int.h). */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/ptx_int.h"

#define MAX_WORDS 24
#define MAX_OPERANDS 400
#define MAX_NAME 200
#define MAX_REGISTERS (1U << 20)

/* What a name is. */
struct name {
	const char *text;
	uint32_t length;
	bool counted; /* %r<100>: the number behind it counts on */
	bool wide;
	enum { A_REGISTER, AN_ADDRESS } is;
	uint32_t reg, n; /* the first register's place, and how many */
	uint64_t value;	 /* an address */
};

struct label {
	const char *text;
	uint32_t length;
	uint32_t at; /* the instruction behind it, or of a jump: the one that goes there */
	uint32_t line;
};

struct reader {
	const char *at, *end;
	uint32_t line;
	struct hn_arena *a;
	struct hn_err *err;
	struct name *name;
	uint32_t n_name, cap_name;
	struct label *label, *jump;
	uint32_t n_label, cap_label, n_jump, cap_jump;
	struct ptx_insn *insn;
	uint32_t n_insn, cap_insn;
	union ptx_reg *first;
	uint32_t n_reg, cap_reg;
	uint32_t shared; /* declared so far, from PTX_SHARED_FROM */
	bool dynamic;	 /* an array without a size was seen: it lies behind the others */
	struct ptx_kernel *kernel;
};

static int wrong(struct reader *r, const char *what, const char *text, size_t n)
{
	return hn_fail(r->err, HONE_E_INVALID, "ptx line %u: %s '%.*s'", r->line, what, (int)n, text);
}

/* -- words ------------------------------------------------------------------------------------ */

static void skip(struct reader *r)
{
	while (r->at < r->end) {
		if (isspace((unsigned char)*r->at)) {
			r->line += *r->at == '\n';
			r->at++;
		} else if (r->end - r->at >= 2 && r->at[0] == '/' && r->at[1] == '/') {
			while (r->at < r->end && *r->at != '\n') {
				r->at++;
			}
		} else {
			return;
		}
	}
}

static bool is_part(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

/* A name, a number or a directive: what stands up to a blank or a sign.  A colon is a part only in
 * "::". */
static size_t word(struct reader *r, const char **text)
{
	skip(r);
	*text = r->at;
	while (r->at < r->end && is_part(*r->at)) {
		if (*r->at == ':') {
			if (r->end - r->at < 2 || r->at[1] != ':') {
				break;
			}
			r->at++;
		}
		r->at++;
	}
	return (size_t)(r->at - *text);
}

static bool take(struct reader *r, char c)
{
	skip(r);
	if (r->at < r->end && *r->at == c) {
		r->at++;
		return true;
	}
	return false;
}

static bool is(const char *text, size_t n, const char *what)
{
	return n == strlen(what) && memcmp(text, what, n) == 0;
}

static int expect(struct reader *r, char c)
{
	char wanted[] = { c, '\0' };

	return take(r, c) ? 0 : wrong(r, "there should be", wanted, 1);
}

static int number(struct reader *r, uint64_t *v)
{
	const char *t;
	bool minus = take(r, '-');
	size_t n = word(r, &t);
	char copy[40];
	char *end;

	if (n == 0 || n >= sizeof copy) {
		return wrong(r, "no number", t, n);
	}
	memcpy(copy, t, n);
	copy[n] = '\0';
	if (n > 2 && copy[0] == '0' && strchr("fFdD", copy[1]) != NULL) {
		*v = strtoull(copy + 2, &end, 16);
	} else {
		*v = strtoull(copy, &end, 0);
		end += *end == 'U';
	}
	*v = minus ? -*v : *v;
	return *end == '\0' ? 0 : wrong(r, "no number", t, n);
}

/* To behind the semicolon. */
static void skip_statement(struct reader *r)
{
	while (r->at < r->end && !take(r, ';')) {
		r->line += *r->at == '\n';
		r->at++;
	}
}

static void skip_line(struct reader *r)
{
	while (r->at < r->end && *r->at != '\n') {
		r->at++;
	}
}

/* -- names ------------------------------------------------------------------------------------ */

static struct name *new_name(struct reader *r, const char *text, size_t n)
{
	r->name = hn_arena_grow(r->a, r->name, r->n_name, &r->cap_name, sizeof *r->name);
	r->name[r->n_name] = (struct name){ .text = text, .length = (uint32_t)n };
	return &r->name[r->n_name++];
}

static int new_registers(struct reader *r, uint32_t n, uint32_t *reg)
{
	if (n > MAX_REGISTERS || r->n_reg > MAX_REGISTERS) {
		return wrong(r, "too many registers", "", 0);
	}
	*reg = r->n_reg;
	for (uint32_t i = 0; i < n; i++) {
		r->first = hn_arena_grow(r->a, r->first, r->n_reg, &r->cap_reg, sizeof *r->first);
		/* what is read before it is written must show */
		memset(&r->first[r->n_reg++], 0xdb, sizeof *r->first);
	}
	return 0;
}

static int constant(struct reader *r, uint64_t v, uint32_t *reg)
{
	if (new_registers(r, 2, reg) != 0) {
		return -HONE_E_INVALID;
	}
	for (int l = 0; l < PTX_LANES; l++) {
		r->first[*reg].u[l] = (uint32_t)v;
		r->first[*reg + 1].w[l] = v;
	}
	return 0;
}

static int special_place(const char *t, size_t n)
{
	static const struct {
		const char *text;
		enum ptx_special at;
	} row[] = {
		{ "%tid.x", PTX_TID_X },       { "%tid.y", PTX_TID_Y },	    { "%tid.z", PTX_TID_Z },
		{ "%ntid.x", PTX_NTID_X },     { "%ntid.y", PTX_NTID_Y },   { "%ntid.z", PTX_NTID_Z },
		{ "%ctaid.x", PTX_CTAID_X },   { "%ctaid.y", PTX_CTAID_Y }, { "%ctaid.z", PTX_CTAID_Z },
		{ "%nctaid.x", PTX_NCTAID_X }, { "%nctaid.y", PTX_NCTAID_Y },
		{ "%nctaid.z", PTX_NCTAID_Z }, { "%laneid", PTX_LANEID },   { "%warpid", PTX_WARPID },
		{ "_", PTX_NONE },
	};

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		if (is(t, n, row[i].text)) {
			return (int)row[i].at;
		}
	}
	return -1;
}

/* The newest of that name: blocks in braces hide what is outside. */
static int find(struct reader *r, const char *t, size_t n, struct ptx_operand *o)
{
	int special = special_place(t, n);

	if (special >= 0) {
		o->reg = (uint32_t)special;
		return 0;
	}
	for (uint32_t i = r->n_name; i-- > 0;) {
		const struct name *s = &r->name[i];
		size_t length = s->length;
		uint64_t k = 0;

		if (n < length || memcmp(t, s->text, length) != 0 || (!s->counted && n != length)) {
			continue;
		}
		if (s->counted) {
			size_t d = length;

			for (; d < n && isdigit((unsigned char)t[d]) && k < MAX_REGISTERS; d++) {
				k = 10 * k + (uint64_t)(t[d] - '0');
			}
			if (d != n || n == length || k >= s->n) {
				continue;
			}
		}
		if (s->is == A_REGISTER) {
			o->reg = s->reg + (uint32_t)k;
			o->wide = s->wide;
			return 0;
		}
		o->constant = true;
		return constant(r, s->value, &o->reg);
	}
	return wrong(r, "unknown name", t, n);
}

/* -- declarations ----------------------------------------------------------------------------- */

static bool is_wide(const char *t, size_t n)
{
	return is(t, n, ".b64") || is(t, n, ".u64") || is(t, n, ".s64") || is(t, n, ".f64");
}

/* .reg .b32 %r<100>, x; */
static int registers(struct reader *r)
{
	const char *t, *type;
	size_t n_type = word(r, &type);

	do {
		size_t n = word(r, &t);
		uint64_t count = 1;
		uint32_t reg = 0;
		bool counted = take(r, '<');

		if (n == 0) {
			return wrong(r, "no register", t, n);
		}
		if (counted && (number(r, &count) != 0 || expect(r, '>') != 0)) {
			return -HONE_E_INVALID;
		}
		if (count > MAX_REGISTERS || new_registers(r, (uint32_t)count, &reg) != 0) {
			return wrong(r, "too many registers", t, n);
		}
		struct name *s = new_name(r, t, n);

		s->counted = counted;
		s->wide = is_wide(type, n_type);
		s->reg = reg;
		s->n = (uint32_t)count;
	} while (take(r, ','));
	return expect(r, ';');
}

static uint32_t type_bytes(const char *t, size_t n)
{
	static const struct {
		char text[5];
		uint32_t bytes;
	} row[] = { { ".b8", 1 },  { ".u8", 1 },  { ".s8", 1 },	 { ".b16", 2 }, { ".u16", 2 },
		    { ".s16", 2 }, { ".f16", 2 }, { ".b32", 4 }, { ".u32", 4 }, { ".s32", 4 },
		    { ".f32", 4 }, { ".b64", 8 }, { ".u64", 8 }, { ".s64", 8 }, { ".f64", 8 } };

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		if (is(t, n, row[i].text)) {
			return row[i].bytes;
		}
	}
	return 0;
}

/* .align 16 .b8 name[1024], with words before the name that say nothing here (.ptr .global). */
static int array(struct reader *r, const char **name, size_t *n_name, uint64_t *align, uint64_t *bytes,
		 bool *open)
{
	const char *t;
	size_t n;
	uint64_t each = 0, count = 1;

	*align = 0;
	*open = false;
	for (;;) {
		n = word(r, &t);
		if (is(t, n, ".align")) {
			if (number(r, align) != 0) {
				return -HONE_E_INVALID;
			}
		} else if (n > 1 && t[0] == '.') {
			each = type_bytes(t, n) > 0 ? type_bytes(t, n) : each;
		} else {
			break;
		}
	}
	if (n == 0 || each == 0) {
		return wrong(r, "no array", t, n);
	}
	*name = t;
	*n_name = n;
	if (take(r, '[')) {
		*open = take(r, ']');
		if (!*open && (number(r, &count) != 0 || expect(r, ']') != 0)) {
			return -HONE_E_INVALID;
		}
	}
	*align = *align > 0 ? *align : each;
	*bytes = each * count;
	return *align > 4096 || count > 1U << 30 ? wrong(r, "too large", t, n) : 0;
}

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static int shared_array(struct reader *r)
{
	const char *t;
	size_t n;
	uint64_t align, bytes;
	bool open;

	if (array(r, &t, &n, &align, &bytes, &open) != 0 || expect(r, ';') != 0) {
		return -HONE_E_INVALID;
	}
	if (r->dynamic && !open) {
		return wrong(r, "declared behind memory whose size the launch says:", t, n);
	}
	struct name *s = new_name(r, t, n);
	uint64_t at = round_up(PTX_SHARED_FROM + r->shared, align);

	s->is = AN_ADDRESS;
	s->value = at;
	if (open) {
		r->dynamic = true;
		r->shared = (uint32_t)(at - PTX_SHARED_FROM);
	} else if (at + bytes > PTX_MAX_SHARED) {
		return wrong(r, "more shared memory than a block has:", t, n);
	} else {
		r->shared = (uint32_t)(at + bytes - PTX_SHARED_FROM);
	}
	return 0;
}

static int local_array(struct reader *r)
{
	const char *t;
	size_t n;
	uint64_t align, bytes;
	bool open;

	if (array(r, &t, &n, &align, &bytes, &open) != 0 || expect(r, ';') != 0) {
		return -HONE_E_INVALID;
	}
	struct name *s = new_name(r, t, n);

	s->is = AN_ADDRESS;
	s->value = round_up(r->kernel->local, align);
	r->kernel->local = (uint32_t)(s->value + bytes);
	return open || s->value + bytes > 1 << 20 ? wrong(r, "no local array", t, n) : 0;
}

static int parameters(struct reader *r)
{
	struct ptx_kernel *k = r->kernel;
	uint32_t cap = 0;

	if (take(r, ')')) {
		return 0;
	}
	do {
		const char *t;
		size_t n = word(r, &t);
		uint64_t align, bytes;
		bool open;

		if (!is(t, n, ".param") || array(r, &t, &n, &align, &bytes, &open) != 0 || open) {
			return wrong(r, "no parameter", t, n);
		}
		struct name *s = new_name(r, t, n);

		k->param = hn_arena_grow(r->a, k->param, k->n_param, &cap, sizeof *k->param);
		k->param_bytes = (uint32_t)round_up(k->param_bytes, align);
		s->is = AN_ADDRESS;
		s->value = k->param_bytes;
		k->param[k->n_param++] = (struct ptx_param){ .name = hn_arena_strndup(r->a, t, n),
							     .offset = k->param_bytes,
							     .bytes = (uint32_t)bytes };
		k->param_bytes += (uint32_t)bytes;
		if (k->param_bytes > 4096) {
			return wrong(r, "more than 4 KB of parameters at", t, n);
		}
	} while (take(r, ','));
	return expect(r, ')');
}

/* -- instructions ----------------------------------------------------------------------------- */

static int offset(struct reader *r, struct ptx_operand *o)
{
	uint64_t v;

	if (!take(r, '+')) {
		return 0;
	}
	if (number(r, &v) != 0) {
		return -HONE_E_INVALID;
	}
	o->offset = (int32_t)(int64_t)v;
	return o->offset == (int64_t)v ? 0 : wrong(r, "too far an offset", "", 0);
}

/* One operand, or those of braces and brackets. */
static int operand(struct reader *r, struct ptx_operand *op, uint32_t *n_op, uint8_t *groups,
		   uint8_t group, bool address)
{
	const char *t;
	size_t n;
	uint64_t v;

	if (*n_op == MAX_OPERANDS) {
		return wrong(r, "too many operands", "", 0);
	}
	if (take(r, '{') || take(r, '[')) {
		bool braces = r->at[-1] == '{';

		group = braces ? ++*groups : group;
		for (uint32_t i = 0; i == 0 || take(r, ','); i++) {
			if (operand(r, op, n_op, groups, group, !braces && i == 0) != 0) {
				return -HONE_E_INVALID;
			}
		}
		return expect(r, braces ? '}' : ']');
	}
	struct ptx_operand *o = &op[(*n_op)++];

	*o = (struct ptx_operand){ .group = group, .address = address };
	skip(r);
	if (r->at < r->end && (*r->at == '-' || isdigit((unsigned char)*r->at))) {
		o->constant = true;
		return number(r, &v) != 0 ? -HONE_E_INVALID : constant(r, v, &o->reg);
	}
	n = word(r, &t);
	return find(r, t, n, o) != 0 ? -HONE_E_INVALID : offset(r, o);
}

static ptx_find *const room[] = {
	ptx_find_scalar, ptx_find_memory, ptx_find_flow, ptx_find_mma, ptx_find_wgmma, ptx_find_bulk,
};

static void cut(struct reader *r, struct ptx_insn *in)
{
	const char **w = HN_NEW_ARRAY(r->a, const char *, MAX_WORDS);
	char *copy = hn_arena_strdup(r->a, in->name), *rest = NULL;

	in->word = w;
	for (char *p = strtok_r(copy, ".", &rest); p != NULL && in->n_word < MAX_WORDS;
	     p = strtok_r(NULL, ".", &rest)) {
		w[in->n_word++] = p;
	}
}

static int instruction(struct reader *r, const char *t, size_t n, struct ptx_operand *guard,
		       bool guard_not)
{
	struct ptx_operand op[MAX_OPERANDS];
	struct ptx_insn in = { .line = r->line, .guard = guard->reg, .guard_not = guard_not, .to = -1 };
	uint8_t groups = 0;
	uint32_t n_op = 0;

	if (n == 0 || n > MAX_NAME) {
		return wrong(r, "no instruction", t, n);
	}
	in.name = hn_arena_strndup(r->a, t, n);
	cut(r, &in);
	if (strcmp(in.word[0], "bra") == 0) {
		n = word(r, &t);
		r->jump = hn_arena_grow(r->a, r->jump, r->n_jump, &r->cap_jump, sizeof *r->jump);
		r->jump[r->n_jump++] = (struct label){ .text = t, .length = (uint32_t)n,
						       .at = r->n_insn, .line = r->line };
	} else if (skip(r), r->at < r->end && *r->at != ';') {
		do {
			if (operand(r, op, &n_op, &groups, 0, false) != 0) {
				return -HONE_E_INVALID;
			}
		} while (take(r, ',') || take(r, '|'));
	}
	if (expect(r, ';') != 0) {
		return -HONE_E_INVALID;
	}
	struct ptx_operand *own = HN_NEW_ARRAY(r->a, struct ptx_operand, n_op + 1);

	if (n_op > 0) {
		memcpy(own, op, n_op * sizeof *op);
	}
	in.op = own;
	in.n_op = n_op;
	for (size_t i = 0; i < HN_COUNT_OF(room) && in.run == NULL; i++) {
		in.run = room[i](&in);
	}
	if (in.run == NULL) {
		return wrong(r, "this machine has no", in.name, strlen(in.name));
	}
	r->insn = hn_arena_grow(r->a, r->insn, r->n_insn, &r->cap_insn, sizeof *r->insn);
	r->insn[r->n_insn++] = in;
	return 0;
}

static int statement(struct reader *r)
{
	struct ptx_operand guard = { 0 };
	bool guard_not = false;
	const char *t;
	size_t n;

	if (take(r, '@')) {
		guard_not = take(r, '!');
		n = word(r, &t);
		if (find(r, t, n, &guard) != 0) {
			return -HONE_E_INVALID;
		}
	}
	n = word(r, &t);
	if (n > 0 && guard.reg == 0 && r->at < r->end && *r->at == ':') {
		r->at++;
		r->label = hn_arena_grow(r->a, r->label, r->n_label, &r->cap_label, sizeof *r->label);
		r->label[r->n_label++] =
			(struct label){ .text = t, .length = (uint32_t)n, .at = r->n_insn };
		return 0;
	}
	if (n == 0 || t[0] != '.') {
		return instruction(r, t, n, &guard, guard_not);
	}
	if (is(t, n, ".reg")) {
		return registers(r);
	}
	if (is(t, n, ".shared")) {
		return shared_array(r);
	}
	if (is(t, n, ".local")) {
		return local_array(r);
	}
	if (is(t, n, ".pragma")) {
		skip_statement(r);
		return 0;
	}
	return wrong(r, "unknown directive", t, n);
}

/* Behind the first brace, to behind its partner. */
static int block(struct reader *r)
{
	uint32_t outside = r->n_name;

	while (!take(r, '}')) {
		int rc = take(r, '{') ? block(r) : r->at < r->end ? statement(r)
								  : wrong(r, "the text ends", "", 0);

		if (rc != 0) {
			return rc;
		}
	}
	r->n_name = outside;
	return 0;
}

/* Where jumps go. */
static int link_jumps(struct reader *r)
{
	for (uint32_t i = 0; i < r->n_jump; i++) {
		const struct label *j = &r->jump[i], *to = NULL;

		for (uint32_t k = 0; k < r->n_label; k++) {
			const struct label *l = &r->label[k];

			if (l->length == j->length && memcmp(l->text, j->text, l->length) == 0) {
				if (to != NULL) {
					return wrong(r, "two labels of the name", j->text, j->length);
				}
				to = l;
			}
		}
		if (to == NULL) {
			r->line = j->line;
			return wrong(r, "no label", j->text, j->length);
		}
		r->insn[j->at].to = (int32_t)to->at;
	}
	return 0;
}

/* Behind ".entry". */
static int kernel(struct reader *r, struct ptx_kernel *k)
{
	const char *t;
	size_t n = word(r, &t);
	uint32_t shared = r->shared, names = r->n_name;
	uint64_t v[3] = { 0, 1, 1 };
	bool dynamic = r->dynamic;

	*k = (struct ptx_kernel){ .name = hn_arena_strndup(r->a, t, n) };
	r->kernel = k;
	r->insn = NULL;
	r->first = NULL;
	r->n_label = r->n_jump = r->n_insn = r->n_reg = 0;
	r->cap_insn = r->cap_reg = 0;
	if (new_registers(r, PTX_N_SPECIAL, &k->n_reg) != 0 || expect(r, '(') != 0 || parameters(r) != 0) {
		return -HONE_E_INVALID;
	}
	while (!take(r, '{')) {
		n = word(r, &t);
		if (is(t, n, ".reqntid") || is(t, n, ".maxntid")) {
			for (int i = 0; i < 3 && (i == 0 || take(r, ',')); i++) {
				if (number(r, &v[i]) != 0) {
					return -HONE_E_INVALID;
				}
			}
			for (int i = 0; i < 3 && t[1] == 'r'; i++) {
				k->ntid[i] = (uint32_t)v[i];
			}
		} else if (is(t, n, ".maxnreg") || is(t, n, ".minnctapersm")) {
			if (number(r, &v[0]) != 0) {
				return -HONE_E_INVALID;
			}
			k->maxnreg = t[1] == 'm' && t[2] == 'a' ? (uint32_t)v[0] : k->maxnreg;
		} else {
			return wrong(r, "unknown directive", t, n);
		}
	}
	if (block(r) != 0 || link_jumps(r) != 0) {
		return -HONE_E_INVALID;
	}
	k->insn = r->insn;
	k->n_insn = r->n_insn;
	k->first = r->first;
	k->n_reg = r->n_reg;
	k->shared = r->shared;
	r->shared = shared;
	r->dynamic = dynamic;
	r->n_name = names;
	return 0;
}

int ptx_parse(const char *text, size_t n, struct hn_arena *a, struct ptx_module **module,
	      struct hn_err *err)
{
	struct reader r = { .at = text, .end = text + n, .line = 1, .a = a, .err = err };
	struct ptx_module *m = HN_NEW(a, struct ptx_module);
	uint32_t cap = 0;

	for (;;) {
		const char *t;
		size_t length = word(&r, &t);
		int rc = 0;

		if (length == 0) {
			break;
		}
		if (is(t, length, ".version") || is(t, length, ".target") ||
		    is(t, length, ".address_size")) {
			skip_line(&r);
		} else if (is(t, length, ".entry")) {
			m->kernel = hn_arena_grow(a, m->kernel, m->n_kernel, &cap, sizeof *m->kernel);
			rc = kernel(&r, &m->kernel[m->n_kernel++]);
		} else if (is(t, length, ".shared")) {
			rc = shared_array(&r);
		} else if (!is(t, length, ".visible") && !is(t, length, ".extern")) {
			rc = wrong(&r, "unknown directive", t, length);
		}
		if (rc != 0) {
			return rc;
		}
	}
	skip(&r);
	*module = m;
	return r.at == r.end ? 0 : wrong(&r, "not understood:", r.at, 1);
}

const char *ptx_kernel(const struct ptx_module *m, uint32_t i)
{
	return i < m->n_kernel ? m->kernel[i].name : NULL;
}

uint32_t ptx_parameter(const struct ptx_module *m, const char *kernel_name, uint32_t i)
{
	for (uint32_t k = 0; k < m->n_kernel; k++) {
		const struct ptx_kernel *x = &m->kernel[k];

		if (strcmp(x->name, kernel_name) == 0) {
			return i < x->n_param ? x->param[i].bytes : 0;
		}
	}
	return 0;
}

bool ptx_has(const struct ptx_insn *in, const char *word)
{
	for (uint32_t i = 0; i < in->n_word; i++) {
		if (strcmp(in->word[i], word) == 0) {
			return true;
		}
	}
	return false;
}
