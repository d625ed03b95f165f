/* ptx_names.c -- what names stand for: registers, arrays, parameters, special registers; a block in braces
 * hides those outside of it. */
#include <ctype.h>
#include <string.h>

#include "tests/ptx/ptx_read.h"

#define MAX_REGISTERS (1U << 20)

static struct ptx_name *new_name(struct ptx_reader *r, const char *text, size_t n)
{
	r->name = hn_arena_grow(r->a, r->name, r->n_name, &r->cap_name, sizeof *r->name);
	r->name[r->n_name] = (struct ptx_name){ .text = text, .length = (uint32_t)n };
	return &r->name[r->n_name++];
}

int ptx_new_registers(struct ptx_reader *r, uint32_t n, uint32_t *reg)
{
	if (n > MAX_REGISTERS || r->n_reg > MAX_REGISTERS) {
		return ptx_wrong(r, "too many registers", "", 0);
	}
	*reg = r->n_reg;
	for (uint32_t i = 0; i < n; i++) {
		r->first = hn_arena_grow(r->a, r->first, r->n_reg, &r->cap_reg, sizeof *r->first);
		/* what is read before it is written must show */
		memset(&r->first[r->n_reg++], 0xdb, sizeof *r->first);
	}
	return 0;
}

int ptx_constant(struct ptx_reader *r, uint64_t v, uint32_t *reg)
{
	if (ptx_new_registers(r, 2, reg) != 0) {
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
		if (ptx_is(t, n, row[i].text)) {
			return (int)row[i].at;
		}
	}
	return -1;
}

/* The newest of that name: blocks in braces hide what is outside. */
int ptx_name(struct ptx_reader *r, const char *t, size_t n, struct ptx_operand *o)
{
	int special = special_place(t, n);

	if (special >= 0) {
		o->reg = (uint32_t)special;
		return 0;
	}
	for (uint32_t i = r->n_name; i-- > 0;) {
		const struct ptx_name *s = &r->name[i];
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
		return ptx_constant(r, s->value, &o->reg);
	}
	return ptx_wrong(r, "unknown name", t, n);
}

static bool is_wide(const char *t, size_t n)
{
	return ptx_is(t, n, ".b64") || ptx_is(t, n, ".u64") || ptx_is(t, n, ".s64") || ptx_is(t, n, ".f64");
}

/* .reg .b32 %r<100>, x; */
int ptx_registers(struct ptx_reader *r)
{
	const char *t, *type;
	size_t n_type = ptx_word(r, &type);

	do {
		size_t n = ptx_word(r, &t);
		uint64_t count = 1;
		uint32_t reg = 0;
		bool counted = ptx_take(r, '<');

		if (n == 0) {
			return ptx_wrong(r, "no register", t, n);
		}
		if (counted && (ptx_number(r, &count) != 0 || ptx_expect(r, '>') != 0)) {
			return -HONE_E_INVALID;
		}
		if (count > MAX_REGISTERS || ptx_new_registers(r, (uint32_t)count, &reg) != 0) {
			return ptx_wrong(r, "too many registers", t, n);
		}
		struct ptx_name *s = new_name(r, t, n);

		s->counted = counted;
		s->wide = is_wide(type, n_type);
		s->reg = reg;
		s->n = (uint32_t)count;
	} while (ptx_take(r, ','));
	return ptx_expect(r, ';');
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
		if (ptx_is(t, n, row[i].text)) {
			return row[i].bytes;
		}
	}
	return 0;
}

/* .align 16 .b8 name[1024], with words before the name that say nothing here (.ptr .global). */
static int array(struct ptx_reader *r, const char **name, size_t *n_name, uint64_t *align, uint64_t *bytes,
		 bool *open)
{
	const char *t;
	size_t n;
	uint64_t each = 0, count = 1;

	*align = 0;
	*open = false;
	for (;;) {
		n = ptx_word(r, &t);
		if (ptx_is(t, n, ".align")) {
			if (ptx_number(r, align) != 0) {
				return -HONE_E_INVALID;
			}
		} else if (n > 1 && t[0] == '.') {
			each = type_bytes(t, n) > 0 ? type_bytes(t, n) : each;
		} else {
			break;
		}
	}
	if (n == 0 || each == 0) {
		return ptx_wrong(r, "no array", t, n);
	}
	*name = t;
	*n_name = n;
	if (ptx_take(r, '[')) {
		*open = ptx_take(r, ']');
		if (!*open && (ptx_number(r, &count) != 0 || ptx_expect(r, ']') != 0)) {
			return -HONE_E_INVALID;
		}
	}
	*align = *align > 0 ? *align : each;
	*bytes = each * count;
	return *align > 4096 || count > 1U << 30 ? ptx_wrong(r, "too large", t, n) : 0;
}

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

int ptx_shared_array(struct ptx_reader *r)
{
	const char *t;
	size_t n;
	uint64_t align, bytes;
	bool open;

	if (array(r, &t, &n, &align, &bytes, &open) != 0 || ptx_expect(r, ';') != 0) {
		return -HONE_E_INVALID;
	}
	if (r->dynamic && !open) {
		return ptx_wrong(r, "declared behind memory whose size the launch says:", t, n);
	}
	struct ptx_name *s = new_name(r, t, n);
	uint64_t at = round_up(PTX_SHARED_FROM + r->shared, align);

	s->is = AN_ADDRESS;
	s->value = at;
	if (open) {
		r->dynamic = true;
		r->shared = (uint32_t)(at - PTX_SHARED_FROM);
	} else if (at + bytes > PTX_MAX_SHARED) {
		return ptx_wrong(r, "more shared memory than a block has:", t, n);
	} else {
		r->shared = (uint32_t)(at + bytes - PTX_SHARED_FROM);
	}
	return 0;
}

int ptx_local_array(struct ptx_reader *r)
{
	const char *t;
	size_t n;
	uint64_t align, bytes;
	bool open;

	if (array(r, &t, &n, &align, &bytes, &open) != 0 || ptx_expect(r, ';') != 0) {
		return -HONE_E_INVALID;
	}
	struct ptx_name *s = new_name(r, t, n);

	s->is = AN_ADDRESS;
	s->value = round_up(r->kernel->local, align);
	r->kernel->local = (uint32_t)(s->value + bytes);
	return open || s->value + bytes > 1 << 20 ? ptx_wrong(r, "no local array", t, n) : 0;
}

int ptx_parameters(struct ptx_reader *r)
{
	struct ptx_kernel *k = r->kernel;
	uint32_t cap = 0;

	if (ptx_take(r, ')')) {
		return 0;
	}
	do {
		const char *t;
		size_t n = ptx_word(r, &t);
		uint64_t align, bytes;
		bool open;

		if (!ptx_is(t, n, ".param") || array(r, &t, &n, &align, &bytes, &open) != 0 || open) {
			return ptx_wrong(r, "no parameter", t, n);
		}
		struct ptx_name *s = new_name(r, t, n);

		k->param = hn_arena_grow(r->a, k->param, k->n_param, &cap, sizeof *k->param);
		k->param_bytes = (uint32_t)round_up(k->param_bytes, align);
		s->is = AN_ADDRESS;
		s->value = k->param_bytes;
		k->param[k->n_param++] = (struct ptx_param){ .name = hn_arena_strndup(r->a, t, n),
							     .offset = k->param_bytes,
							     .bytes = (uint32_t)bytes };
		k->param_bytes += (uint32_t)bytes;
		if (k->param_bytes > 4096) {
			return ptx_wrong(r, "more than 4 KB of parameters at", t, n);
		}
	} while (ptx_take(r, ','));
	return ptx_expect(r, ')');
}
