/* ptx_words.c -- words, signs and numbers of a module's text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/ptx_read.h"

int ptx_wrong(struct ptx_reader *r, const char *what, const char *text, size_t n)
{
	return hn_fail(r->err, HONE_E_INVALID, "ptx line %u: %s '%.*s'", r->line, what, (int)n, text);
}

void ptx_skip(struct ptx_reader *r)
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
size_t ptx_word(struct ptx_reader *r, const char **text)
{
	ptx_skip(r);
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

bool ptx_take(struct ptx_reader *r, char c)
{
	ptx_skip(r);
	if (r->at < r->end && *r->at == c) {
		r->at++;
		return true;
	}
	return false;
}

bool ptx_is(const char *text, size_t n, const char *what)
{
	return n == strlen(what) && memcmp(text, what, n) == 0;
}

int ptx_expect(struct ptx_reader *r, char c)
{
	char wanted[] = { c, '\0' };

	return ptx_take(r, c) ? 0 : ptx_wrong(r, "there should be", wanted, 1);
}

int ptx_number(struct ptx_reader *r, uint64_t *v)
{
	const char *t;
	bool minus = ptx_take(r, '-');
	size_t n = ptx_word(r, &t);
	char copy[40];
	char *end;

	if (n == 0 || n >= sizeof copy) {
		return ptx_wrong(r, "no number", t, n);
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
	return *end == '\0' ? 0 : ptx_wrong(r, "no number", t, n);
}

/* To behind the semicolon. */
void ptx_skip_statement(struct ptx_reader *r)
{
	while (r->at < r->end && !ptx_take(r, ';')) {
		r->line += *r->at == '\n';
		r->at++;
	}
}

void ptx_skip_line(struct ptx_reader *r)
{
	while (r->at < r->end && *r->at != '\n') {
		r->at++;
	}
}
