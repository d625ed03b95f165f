/* target/npu/npu_parse.c -- a program of the NPU from its text: sizes, buffers and sections.
 *
 * The text may come from anywhere: counts and nesting are bounded, numbers are read with their
 * limits.  What an address comes to is known when the program runs, and judged there.
 */
#include <string.h>

#include "base/name.h"
#include "target/npu/npu_form.h"
#include "target/npu/npu_parse_int.h"

/* Elements between brackets: a number, or a form over the sizes, of which the largest count here. */
static void take_length(struct npu_parse *p, struct hn_npu_buffer *b)
{
	int64_t largest[HN_NPU_MOST_SIZES];
	const struct hn_npu_form *form;

	hn_npu_expect(p, "[");
	form = hn_npu_take_form(p);
	hn_npu_expect(p, "]");
	for (uint32_t i = 0; i < p->p.n_size; i++) {
		largest[i] = p->size[i].hi;
	}
	if (!hn_npu_form_value(form, largest, &b->n_elem)) {
		hn_npu_refuse(p, "the length of %s is beyond all numbers for the largest sizes", b->name);
	}
	b->length = form->op == HN_NPU_FORM_NUMBER ? NULL : form;
	if (b->n_elem < 1 || b->n_elem > HN_NPU_MOST_BYTES / hn_dtype_bytes(b->dtype)) {
		hn_npu_refuse(p, "%lld elements%s: a buffer has 1 byte to %lld", (long long)b->n_elem,
			      b->length != NULL ? " of the largest sizes" : "",
			      (long long)HN_NPU_MOST_BYTES);
	}
	b->bytes = b->n_elem * hn_dtype_bytes(b->dtype);
}

static void buffer(struct npu_parse *p, bool scratch)
{
	uint32_t n = p->p.n_buffer + p->p.n_scratch;
	struct hn_npu_buffer b;

	if (n == HN_NPU_MOST_BUFFERS) {
		hn_npu_refuse(p, "more than %d buffers", HN_NPU_MOST_BUFFERS);
	}
	if (!scratch && p->p.n_scratch > 0) {
		hn_npu_refuse(p, "an argument behind scratch");
	}
	hn_npu_take(p);
	if (!hn_name_fits(p->word, HN_NPU_WORD - 1)) {
		hn_npu_refuse(p, "'%s' is no name: %s", p->word, HN_NAME_RULE);
	}
	for (int i = 0; i < HN_NPU_N_MEMORY; i++) {
		if (strcmp(p->word, hn_npu_memory_word[i]) == 0) {
			hn_npu_refuse(p, "'%s' is a memory, and no name for a buffer", p->word);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(p->word, p->buffer[i].name) == 0) {
			hn_npu_refuse(p, "two buffers are called '%s'", p->word);
		}
	}
	b.name = hn_arena_strdup(p->a, p->word);
	hn_npu_take(p);
	b.dtype = (uint8_t)hn_dtype_of(p->word);
	if (b.dtype >= HN_N_DTYPE) {
		hn_npu_refuse(p, "'%s' is no type", p->word);
	}
	take_length(p, &b);
	if (scratch && b.length != NULL) {
		hn_npu_refuse(p, "scratch %s has no number for a length", b.name);
	}
	p->scratch += scratch ? b.bytes : 0;
	if (p->scratch > HN_NPU_MOST_SCRATCH) {
		hn_npu_refuse(p, "scratch of %lld bytes: a program has %d at most", (long long)p->scratch,
			      HN_NPU_MOST_SCRATCH);
	}
	p->buffer = hn_arena_grow(p->a, p->buffer, n, &p->cap_buffer, sizeof(b));
	p->buffer[n] = b;
	*(scratch ? &p->p.n_scratch : &p->p.n_buffer) += 1;
	hn_npu_end_line(p);
}

static uint32_t take_cores(struct npu_parse *p)
{
	int64_t n = hn_npu_int_of(p, hn_npu_take(p));

	if (n < 0 || n > 1024) {
		hn_npu_refuse(p, "%lld: cores are 0 to 1023", (long long)n);
	}
	return (uint32_t)n;
}

static void add(struct npu_parse *p, uint32_t *open, uint32_t *n_open, bool *straight)
{
	struct hn_npu_insn in = hn_npu_take_insn(p);
	uint8_t kind = hn_npu_op[in.op].kind;

	for (uint32_t i = 0; i < p->p.n_size && (kind == HN_NPU_K_LET || kind == HN_NPU_K_LOOP); i++) {
		if (in.reg == p->size[i].reg) {
			hn_npu_refuse(p, "r%u is the size %s: no code writes to it", in.reg, p->size[i].name);
		}
	}
	if (p->n_insn_all++ == HN_NPU_MOST_INSNS) {
		hn_npu_refuse(p, "more than %d instructions", HN_NPU_MOST_INSNS);
	}
	p->insn = hn_arena_grow(p->a, p->insn, p->n_insn, &p->cap_insn, sizeof(in));
	if (in.op == HN_NPU_I_LOOP || in.op == HN_NPU_I_IF) {
		if (*n_open == HN_NPU_NESTING) {
			hn_npu_refuse(p, "nested more than %d deep", HN_NPU_NESTING);
		}
		open[(*n_open)++] = p->n_insn;
		*straight = false;
	} else if (in.op == HN_NPU_I_END) {
		if (*n_open == 0) {
			hn_npu_refuse(p, "no loop and no if is open");
		}
		in.jump = open[--*n_open];
		p->insn[in.jump].jump = p->n_insn;
	}
	p->insn[p->n_insn++] = in;
	hn_npu_end_line(p);
}

static void section(struct npu_parse *p)
{
	struct hn_npu_section s = { .straight = true };
	uint32_t open[HN_NPU_NESTING], n_open = 0;

	s.first = take_cores(p);
	s.n_core = take_cores(p);
	if (s.n_core == 0 || s.first + s.n_core > 1024) {
		hn_npu_refuse(p, "%u cores from %u on: a section has 1 core or more, of 1024", s.n_core,
			      s.first);
	}
	for (uint32_t i = 0; i < p->p.n_section; i++) {
		if (s.first < p->section[i].first + p->section[i].n_core &&
		    p->section[i].first < s.first + s.n_core) {
			hn_npu_refuse(p, "another section has some of these cores");
		}
	}
	hn_npu_expect(p, "{");
	hn_npu_end_line(p);
	p->insn = NULL;
	p->n_insn = p->cap_insn = 0;
	while (!hn_npu_accept(p, "}")) {
		if (p->at == p->end) {
			hn_npu_refuse(p, "the text ends before '}'");
		}
		add(p, open, &n_open, &s.straight);
	}
	if (n_open > 0) {
		hn_npu_refuse(p, "the loop or if of line %u has no end", p->insn[open[n_open - 1]].line);
	}
	hn_npu_end_line(p);
	s.insn = p->insn;
	s.n_insn = p->n_insn;
	p->section = hn_arena_grow(p->a, p->section, p->p.n_section, &p->cap_section, sizeof(s));
	p->section[p->p.n_section++] = s;
}

__attribute__((noinline)) static void program(struct npu_parse *p)
{
	for (const char *s = p->at; s < p->end; s++) { /* so that messages show what they quote */
		if ((*s < ' ' || *s > '~') && *s != '\n' && *s != '\t') {
			hn_npu_refuse(p, "byte %td is no printed ASCII", s - p->at);
		}
	}
	if (hn_npu_peek(p) == 0) {
		hn_npu_end_line(p); /* comments may come first */
	}
	hn_npu_expect(p, HN_NPU_FORMAT);
	hn_npu_end_line(p);
	while (p->at < p->end) {
		hn_npu_take(p);
		if (strcmp(p->word, "gm") == 0 || strcmp(p->word, "scratch") == 0) {
			buffer(p, p->word[0] == 's');
		} else if (strcmp(p->word, "cores") == 0) {
			section(p);
		} else if (strcmp(p->word, "size") == 0) {
			hn_npu_take_size(p);
		} else if (strcmp(p->word, "where") == 0) {
			hn_npu_take_where(p);
		} else {
			hn_npu_refuse(p, "'%s' is none of size, where, gm, scratch and cores", p->word);
		}
	}
	if (p->p.n_section == 0) {
		hn_npu_refuse(p, "no core has any code");
	}
}

/* False where something was refused: hn_npu_refuse comes back here.  Nothing else is to be put away,
 * all of it lies in the arena. */
__attribute__((noinline)) static bool is_read(struct npu_parse *p)
{
	if (setjmp(p->out) != 0) {
		return false;
	}
	program(p);
	return true;
}

int hn_npu_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		 const struct hn_npu_program **ret, struct hn_err *err)
{
	struct npu_parse *p = HN_NEW(a, struct npu_parse);
	struct hn_npu_program *made;

	*p = (struct npu_parse){ .what = what, .at = text, .end = text + n, .line = 1, .a = a,
				 .err = err };
	if (!is_read(p)) {
		return -HONE_E_INVALID;
	}
	made = HN_NEW(a, struct hn_npu_program);
	*made = p->p;
	made->what = hn_arena_strdup(a, what);
	made->buffer = p->buffer;
	made->section = p->section;
	made->size = p->size;
	made->where = p->where;
	*ret = made;
	return 0;
}
