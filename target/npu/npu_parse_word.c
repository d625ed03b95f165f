/* target/npu/npu_parse_word.c -- the NPU's text in words: numbers, registers, ends of lines. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/npu/npu_parse_int.h"

_Noreturn HN_PRINTF(2, 3) void hn_npu_refuse(struct npu_parse *p, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	(void)hn_fail(p->err, HONE_E_INVALID, "%s:%u: %s", p->what, p->line, why);
	longjmp(p->out, 1);
}

size_t hn_npu_peek(struct npu_parse *p)
{
	const char *s;

	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) {
		p->at++;
	}
	s = p->at;
	if (s < p->end && *s == '#') {
		while (p->at < p->end && *p->at != '\n') {
			p->at++;
		}
		return 0;
	}
	while (s < p->end && strchr(" \t\n[]{}#", *s) == NULL) {
		s++;
	}
	return s == p->at && s < p->end && *s != '\n' ? 1 : (size_t)(s - p->at);
}

const char *hn_npu_take(struct npu_parse *p)
{
	size_t n = hn_npu_peek(p);

	if (n == 0) {
		hn_npu_refuse(p, "the line ends too early");
	}
	if (n >= sizeof(p->word)) {
		hn_npu_refuse(p, "a word of %zu bytes", n);
	}
	memcpy(p->word, p->at, n);
	p->word[n] = '\0';
	p->at += n;
	return p->word;
}

bool hn_npu_accept(struct npu_parse *p, const char *word)
{
	size_t n = hn_npu_peek(p);

	if (n != strlen(word) || memcmp(p->at, word, n) != 0) {
		return false;
	}
	p->at += n;
	return true;
}

void hn_npu_expect(struct npu_parse *p, const char *word)
{
	if (!hn_npu_accept(p, word)) {
		size_t n = hn_npu_peek(p);

		hn_npu_refuse(p, "expected '%s', not '%.*s'", word, n > 40 ? 40 : (int)n, p->at);
	}
}

void hn_npu_end_line(struct npu_parse *p)
{
	if (hn_npu_peek(p) > 0) {
		hn_npu_refuse(p, "'%s' stands behind what the line says", hn_npu_take(p));
	}
	while (p->at < p->end && hn_npu_peek(p) == 0 && p->at < p->end) {
		p->line += *p->at++ == '\n';
	}
}

int64_t hn_npu_int_of(struct npu_parse *p, const char *word)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(word, &end, 10);
	if (end == word || *end != '\0' || errno != 0 || *word == '+') {
		hn_npu_refuse(p, "'%s' is no integer", word);
	}
	return v;
}

/* The length of the register that the word begins with; 0 = none. */
static size_t register_of(struct npu_parse *p, const char *word, int8_t *ret)
{
	size_t n = word[0] == 'r' ? strspn(word + 1, "0123456789") : 0;
	long r = n > 0 && n < 4 ? strtol(word + 1, NULL, 10) : HN_NPU_REGISTERS;

	if (n == 0) {
		return 0;
	}
	if (r >= HN_NPU_REGISTERS) {
		hn_npu_refuse(p, "'%s': registers are r0 to r%d", word, HN_NPU_REGISTERS - 1);
	}
	*ret = (int8_t)r;
	return n + 1;
}

uint8_t hn_npu_take_register(struct npu_parse *p)
{
	const char *word = hn_npu_take(p);
	int8_t r = 0;
	size_t n = register_of(p, word, &r);

	if (n == 0 || word[n] != '\0') {
		hn_npu_refuse(p, "'%s' is no register", word);
	}
	return (uint8_t)r;
}

struct hn_npu_number hn_npu_take_number(struct npu_parse *p)
{
	const char *word = hn_npu_take(p);
	struct hn_npu_number v = { .reg = -1 };
	size_t n = register_of(p, word, &v.reg);

	if (n == 0 || word[n] != '\0') {
		if (n > 0 && word[n] != '+' && word[n] != '-') {
			hn_npu_refuse(p, "'%s' is no number", word);
		}
		v.imm = hn_npu_int_of(p, word + n + (n > 0 && word[n] == '+'));
	}
	return v;
}

float hn_npu_take_float(struct npu_parse *p)
{
	const char *word = hn_npu_take(p);
	char *end;
	float v = strtof(word, &end);

	if (end == word || *end != '\0') {
		hn_npu_refuse(p, "'%s' is no number", word);
	}
	return v;
}
