/* target/npu/npu_parse_size.c -- sizes of a program, what holds of them, and lengths that are made of them.
 *
 * Divisors are numbers of 1 or more, so no form divides by zero whatever the sizes are.
 */
#include <stdio.h>
#include <string.h>

#include "target/npu/npu_form.h"
#include "target/npu/npu_parse_int.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char peek(struct npu_parse *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) {
		p->at++;
	}
	return p->at < p->end ? *p->at : '\n';
}

/* Letters, digits and _, to p->word. */
static void take_identifier(struct npu_parse *p)
{
	size_t n = 0;

	while (p->at + n < p->end && n < sizeof(p->word) - 1 && (is_letter(p->at[n]) || is_digit(p->at[n]))) {
		p->word[n] = p->at[n];
		n++;
	}
	p->word[n] = '\0';
	p->at += n;
}

static const struct hn_npu_form *take_sum(struct npu_parse *p, int depth);

static const struct hn_npu_form *take_factor(struct npu_parse *p, int depth)
{
	char number[HN_NPU_WORD + 1], c = peek(p);
	const struct hn_npu_form *f;

	if (depth > HN_NPU_FORM_DEPTH) {
		hn_npu_refuse(p, "a form of more than %d terms or brackets", HN_NPU_FORM_DEPTH);
	}
	if (c == '(') {
		p->at++;
		f = take_sum(p, depth + 1);
		if (peek(p) != ')') {
			hn_npu_refuse(p, "a bracket is not closed");
		}
		p->at++;
		return f;
	}
	if (!is_letter(c) && !is_digit(c) && c != '-') {
		hn_npu_refuse(p, "here stands a size, a number, or what is in brackets");
	}
	if (is_letter(c)) {
		take_identifier(p);
		for (uint32_t i = 0; i < p->p.n_size; i++) {
			if (strcmp(p->word, p->size[i].name) == 0) {
				return hn_npu_form_size(i, p->a);
			}
		}
		hn_npu_refuse(p, "'%s' is no size of this program", p->word);
	}
	p->at += c == '-';
	take_identifier(p);
	snprintf(number, sizeof(number), "%s%s", c == '-' ? "-" : "", p->word);
	return hn_npu_form_number(hn_npu_int_of(p, number), p->a);
}

static const struct hn_npu_form *take_product(struct npu_parse *p, int depth)
{
	const struct hn_npu_form *f = take_factor(p, depth), *g;
	int n = depth;

	for (char c; (c = peek(p)) == '*' || c == '/' || c == '%';) {
		p->at++;
		g = take_factor(p, ++n);
		if (c != '*' && (g->op != HN_NPU_FORM_NUMBER || g->number < 1)) {
			hn_npu_refuse(p, "'%c' is by a number of 1 or more", c);
		}
		f = hn_npu_form(c == '*' ? HN_NPU_FORM_MUL : c == '/' ? HN_NPU_FORM_DIV : HN_NPU_FORM_MOD, f, g,
				p->a);
	}
	return f;
}

static const struct hn_npu_form *take_sum(struct npu_parse *p, int depth)
{
	const struct hn_npu_form *f = take_product(p, depth);
	int n = depth;

	for (char c; (c = peek(p)) == '+' || c == '-';) {
		p->at++;
		f = hn_npu_form(c == '+' ? HN_NPU_FORM_ADD : HN_NPU_FORM_SUB, f, take_product(p, ++n), p->a);
	}
	return f;
}

const struct hn_npu_form *hn_npu_take_form(struct npu_parse *p)
{
	return take_sum(p, 0);
}

/* 1..4096 */
static void take_range(struct npu_parse *p, struct hn_npu_size *s)
{
	char *dots = strstr((char *)(uintptr_t)hn_npu_take(p), "..");

	if (dots == NULL) {
		hn_npu_refuse(p, "'%s': a size has a range, as 1..4096", p->word);
	}
	*dots = '\0';
	s->lo = hn_npu_int_of(p, p->word);
	s->hi = hn_npu_int_of(p, dots + 2);
	if (s->lo < 0 || s->hi < s->lo) {
		hn_npu_refuse(p, "%lld..%lld: the first is the least, and not below 0", (long long)s->lo,
			      (long long)s->hi);
	}
}

void hn_npu_take_size(struct npu_parse *p)
{
	struct hn_npu_size s;

	if (p->p.n_buffer + p->p.n_scratch + p->p.n_where + p->p.n_section > 0) {
		hn_npu_refuse(p, "sizes stand before all else");
	}
	if (p->p.n_size == HN_NPU_MOST_SIZES) {
		hn_npu_refuse(p, "more than %d sizes", HN_NPU_MOST_SIZES);
	}
	(void)peek(p);
	take_identifier(p);
	if (!is_letter(p->word[0])) {
		hn_npu_refuse(p, "the name of a size is a letter or _, then letters, digits and _");
	}
	s.name = hn_arena_strdup(p->a, p->word);
	s.reg = hn_npu_take_register(p);
	take_range(p, &s);
	for (uint32_t i = 0; i < p->p.n_size; i++) {
		if (strcmp(s.name, p->size[i].name) == 0 || s.reg == p->size[i].reg) {
			hn_npu_refuse(p, "there is a size %s in r%u already", p->size[i].name, p->size[i].reg);
		}
	}
	p->size = hn_arena_grow(p->a, p->size, p->p.n_size, &p->cap_size, sizeof(s));
	p->size[p->p.n_size++] = s;
	hn_npu_end_line(p);
}

void hn_npu_take_where(struct npu_parse *p)
{
	struct hn_npu_where w = { .left = NULL };
	bool found = false;

	if (p->p.n_buffer + p->p.n_scratch + p->p.n_section > 0) {
		hn_npu_refuse(p, "what holds of sizes stands behind them, before buffers and code");
	}
	if (p->p.n_size == 0) {
		hn_npu_refuse(p, "a condition is on sizes, and there are none");
	}
	if (p->p.n_where == HN_NPU_MOST_WHERE) {
		hn_npu_refuse(p, "more than %d conditions", HN_NPU_MOST_WHERE);
	}
	w.left = hn_npu_take_form(p);
	(void)peek(p);
	for (uint8_t i = 0; i < 3 && !found && p->end - p->at >= 2; i++) {
		if (memcmp(p->at, hn_npu_relation_word[i], 2) == 0) {
			w.relation = i;
			found = true;
		}
	}
	if (!found) {
		hn_npu_refuse(p, "a condition has ==, <= or >= between its two sides");
	}
	p->at += 2;
	w.right = hn_npu_take_form(p);
	p->where = hn_arena_grow(p->a, p->where, p->p.n_where, &p->cap_where, sizeof(w));
	p->where[p->p.n_where++] = w;
	hn_npu_end_line(p);
}
