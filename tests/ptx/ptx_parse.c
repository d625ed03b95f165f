/* ptx_parse.c -- the kernels and instructions of a module's text, with the blocks in braces that inline
 * assembly makes.  What an instruction is its room says (ptx_int.h). */
#include <ctype.h>
#include <string.h>

#include "tests/ptx/ptx_read.h"

#define MAX_WORDS 24
#define MAX_OPERANDS 400
#define MAX_NAME 200

static int offset(struct ptx_reader *r, struct ptx_operand *o)
{
	uint64_t v;

	if (!ptx_take(r, '+')) {
		return 0;
	}
	if (ptx_number(r, &v) != 0) {
		return -HONE_E_INVALID;
	}
	o->offset = (int32_t)(int64_t)v;
	return o->offset == (int64_t)v ? 0 : ptx_wrong(r, "too far an offset", "", 0);
}

/* One operand, or those of braces and brackets. */
static int operand(struct ptx_reader *r, struct ptx_operand *op, uint32_t *n_op, uint8_t *groups,
		   uint8_t group, bool address)
{
	const char *t;
	size_t n;
	uint64_t v;

	if (*n_op == MAX_OPERANDS) {
		return ptx_wrong(r, "too many operands", "", 0);
	}
	if (ptx_take(r, '{') || ptx_take(r, '[')) {
		bool braces = r->at[-1] == '{';

		group = braces ? ++*groups : group;
		for (uint32_t i = 0; i == 0 || ptx_take(r, ','); i++) {
			if (operand(r, op, n_op, groups, group, !braces && i == 0) != 0) {
				return -HONE_E_INVALID;
			}
		}
		return ptx_expect(r, braces ? '}' : ']');
	}
	struct ptx_operand *o = &op[(*n_op)++];

	*o = (struct ptx_operand){ .group = group, .address = address };
	ptx_skip(r);
	if (r->at < r->end && (*r->at == '-' || isdigit((unsigned char)*r->at))) {
		o->constant = true;
		return ptx_number(r, &v) != 0 ? -HONE_E_INVALID : ptx_constant(r, v, &o->reg);
	}
	n = ptx_word(r, &t);
	return ptx_name(r, t, n, o) != 0 ? -HONE_E_INVALID : offset(r, o);
}

static ptx_find *const room[] = {
	ptx_find_scalar, ptx_find_memory, ptx_find_flow, ptx_find_mma, ptx_find_wgmma, ptx_find_bulk,
};

static void cut(struct ptx_reader *r, struct ptx_insn *in)
{
	const char **w = HN_NEW_ARRAY(r->a, const char *, MAX_WORDS);
	char *copy = hn_arena_strdup(r->a, in->name), *rest = NULL;

	in->word = w;
	for (char *p = strtok_r(copy, ".", &rest); p != NULL && in->n_word < MAX_WORDS;
	     p = strtok_r(NULL, ".", &rest)) {
		w[in->n_word++] = p;
	}
}

static int instruction(struct ptx_reader *r, const char *t, size_t n, struct ptx_operand *guard,
		       bool guard_not)
{
	struct ptx_operand op[MAX_OPERANDS];
	struct ptx_insn in = { .line = r->line, .guard = guard->reg, .guard_not = guard_not, .to = -1 };
	uint8_t groups = 0;
	uint32_t n_op = 0;

	if (n == 0 || n > MAX_NAME) {
		return ptx_wrong(r, "no instruction", t, n);
	}
	in.name = hn_arena_strndup(r->a, t, n);
	cut(r, &in);
	if (strcmp(in.word[0], "bra") == 0) {
		n = ptx_word(r, &t);
		r->jump = hn_arena_grow(r->a, r->jump, r->n_jump, &r->cap_jump, sizeof *r->jump);
		r->jump[r->n_jump++] = (struct ptx_label){ .text = t, .length = (uint32_t)n,
						       .at = r->n_insn, .line = r->line };
	} else if (ptx_skip(r), r->at < r->end && *r->at != ';') {
		do {
			if (operand(r, op, &n_op, &groups, 0, false) != 0) {
				return -HONE_E_INVALID;
			}
		} while (ptx_take(r, ',') || ptx_take(r, '|'));
	}
	if (ptx_expect(r, ';') != 0) {
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
		return ptx_wrong(r, "this machine has no", in.name, strlen(in.name));
	}
	r->insn = hn_arena_grow(r->a, r->insn, r->n_insn, &r->cap_insn, sizeof *r->insn);
	r->insn[r->n_insn++] = in;
	return 0;
}

static int statement(struct ptx_reader *r)
{
	struct ptx_operand guard = { 0 };
	bool guard_not = false;
	const char *t;
	size_t n;

	if (ptx_take(r, '@')) {
		guard_not = ptx_take(r, '!');
		n = ptx_word(r, &t);
		if (ptx_name(r, t, n, &guard) != 0) {
			return -HONE_E_INVALID;
		}
	}
	n = ptx_word(r, &t);
	if (n > 0 && guard.reg == 0 && r->at < r->end && *r->at == ':') {
		r->at++;
		r->label = hn_arena_grow(r->a, r->label, r->n_label, &r->cap_label, sizeof *r->label);
		r->label[r->n_label++] =
			(struct ptx_label){ .text = t, .length = (uint32_t)n, .at = r->n_insn };
		return 0;
	}
	if (n == 0 || t[0] != '.') {
		return instruction(r, t, n, &guard, guard_not);
	}
	if (ptx_is(t, n, ".reg")) {
		return ptx_registers(r);
	}
	if (ptx_is(t, n, ".shared")) {
		return ptx_shared_array(r);
	}
	if (ptx_is(t, n, ".local")) {
		return ptx_local_array(r);
	}
	if (ptx_is(t, n, ".pragma")) {
		ptx_skip_statement(r);
		return 0;
	}
	return ptx_wrong(r, "unknown directive", t, n);
}

/* Behind the first brace, to behind its partner. */
static int block(struct ptx_reader *r)
{
	uint32_t outside = r->n_name;

	while (!ptx_take(r, '}')) {
		int rc = ptx_take(r, '{') ? block(r) : r->at < r->end ? statement(r)
								  : ptx_wrong(r, "the text ends", "", 0);

		if (rc != 0) {
			return rc;
		}
	}
	r->n_name = outside;
	return 0;
}

/* Where jumps go. */
static int link_jumps(struct ptx_reader *r)
{
	for (uint32_t i = 0; i < r->n_jump; i++) {
		const struct ptx_label *j = &r->jump[i], *to = NULL;

		for (uint32_t k = 0; k < r->n_label; k++) {
			const struct ptx_label *l = &r->label[k];

			if (l->length == j->length && memcmp(l->text, j->text, l->length) == 0) {
				if (to != NULL) {
					return ptx_wrong(r, "two labels of the name", j->text, j->length);
				}
				to = l;
			}
		}
		if (to == NULL) {
			r->line = j->line;
			return ptx_wrong(r, "no label", j->text, j->length);
		}
		r->insn[j->at].to = (int32_t)to->at;
	}
	return 0;
}

/* Behind ".entry". */
static int kernel(struct ptx_reader *r, struct ptx_kernel *k)
{
	const char *t;
	size_t n = ptx_word(r, &t);
	uint32_t shared = r->shared, names = r->n_name;
	uint64_t v[3] = { 0, 1, 1 };
	bool dynamic = r->dynamic;

	*k = (struct ptx_kernel){ .name = hn_arena_strndup(r->a, t, n) };
	r->kernel = k;
	r->insn = NULL;
	r->first = NULL;
	r->n_label = r->n_jump = r->n_insn = r->n_reg = 0;
	r->cap_insn = r->cap_reg = 0;
	if (ptx_new_registers(r, PTX_N_SPECIAL, &k->n_reg) != 0 || ptx_expect(r, '(') != 0 || ptx_parameters(r) != 0) {
		return -HONE_E_INVALID;
	}
	while (!ptx_take(r, '{')) {
		n = ptx_word(r, &t);
		if (ptx_is(t, n, ".reqntid") || ptx_is(t, n, ".maxntid")) {
			for (int i = 0; i < 3 && (i == 0 || ptx_take(r, ',')); i++) {
				if (ptx_number(r, &v[i]) != 0) {
					return -HONE_E_INVALID;
				}
			}
			for (int i = 0; i < 3 && t[1] == 'r'; i++) {
				k->ntid[i] = (uint32_t)v[i];
			}
		} else if (ptx_is(t, n, ".maxnreg") || ptx_is(t, n, ".minnctapersm")) {
			if (ptx_number(r, &v[0]) != 0) {
				return -HONE_E_INVALID;
			}
			k->maxnreg = t[1] == 'm' && t[2] == 'a' ? (uint32_t)v[0] : k->maxnreg;
		} else {
			return ptx_wrong(r, "unknown directive", t, n);
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
	struct ptx_reader r = { .at = text, .end = text + n, .line = 1, .a = a, .err = err };
	struct ptx_module *m = HN_NEW(a, struct ptx_module);
	uint32_t cap = 0;

	for (;;) {
		const char *t;
		size_t length = ptx_word(&r, &t);
		int rc = 0;

		if (length == 0) {
			break;
		}
		if (ptx_is(t, length, ".version") || ptx_is(t, length, ".target") ||
		    ptx_is(t, length, ".address_size")) {
			ptx_skip_line(&r);
		} else if (ptx_is(t, length, ".entry")) {
			m->kernel = hn_arena_grow(a, m->kernel, m->n_kernel, &cap, sizeof *m->kernel);
			rc = kernel(&r, &m->kernel[m->n_kernel++]);
		} else if (ptx_is(t, length, ".shared")) {
			rc = ptx_shared_array(&r);
		} else if (!ptx_is(t, length, ".visible") && !ptx_is(t, length, ".extern")) {
			rc = ptx_wrong(&r, "unknown directive", t, length);
		}
		if (rc != 0) {
			return rc;
		}
	}
	ptx_skip(&r);
	*module = m;
	return r.at == r.end ? 0 : ptx_wrong(&r, "not understood:", r.at, 1);
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
