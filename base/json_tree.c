/* base/json_tree.c -- the tree of a document that the scan (json_scan.c) let pass.
 *
 * Only that makes it so short: here no text can be malformed, too deep or cut short.  Nodes and
 * texts lie in one arena with the document, and go with its root.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_int.h"
#include "base/utf8.h"

struct tree {
	const char *at;
	struct hn_arena *a;
	locale_t plain; /* where the decimal point is a point */
};

static void read_value(struct tree *t, struct hn_json *v);

static void skip_blank(struct tree *t)
{
	t->at += strspn(t->at, " \t\n\r");
}

static unsigned read_hex4(struct tree *t)
{
	char text[5];

	memcpy(text, t->at, 4);
	text[4] = '\0';
	t->at += 4;
	return (unsigned)strtoul(text, NULL, 16);
}

/* Behind a backslash. */
static size_t read_escape(struct tree *t, char *out)
{
	static const char escapes[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char c = *t->at++;
	unsigned point;

	if (c != 'u') {
		*out = values[strchr(escapes, c) - escapes];
		return 1;
	}
	point = read_hex4(t);
	if (point >= 0xd800 && point <= 0xdfff) {
		t->at += 2;
		point = 0x10000 + ((point - 0xd800) << 10) + (read_hex4(t) - 0xdc00);
	}
	return hn_utf8_put(point, out);
}

/* No escape is shorter than what it stands for. */
static const char *read_string(struct tree *t)
{
	const char *end = ++t->at;
	char *ret, *out;

	while (*end != '"') {
		end += *end == '\\' ? 2 : 1;
	}
	out = ret = hn_arena_alloc(t->a, (size_t)(end - t->at) + 1);
	while (t->at < end) {
		size_t n = strcspn(t->at, "\"\\");

		memcpy(out, t->at, n);
		out += n;
		t->at += n;
		if (t->at < end) {
			t->at++;
			out += read_escape(t, out);
		}
	}
	*out = '\0';
	t->at = end + 1;
	return ret;
}

static double read_number(struct tree *t)
{
	char text[HN_JSON_NUMBER_MAX + 1];
	size_t n = strspn(t->at, "0123456789.eE+-");

	memcpy(text, t->at, n);
	text[n] = '\0';
	t->at += n;
	return strtod_l(text, NULL, t->plain);
}

static void read_children(struct tree *t, struct hn_json *v, char close)
{
	struct hn_json **end = &v->child;

	t->at++;
	skip_blank(t);
	while (*t->at != close) {
		struct hn_json *c = HN_NEW(t->a, struct hn_json);

		if (close == '}') {
			c->key = read_string(t);
			skip_blank(t);
			t->at++; /* the colon */
			skip_blank(t);
		}
		read_value(t, c);
		*end = c;
		end = &c->next;
		v->n_child++;
		skip_blank(t);
		t->at += *t->at == ',';
		skip_blank(t);
	}
	t->at++;
}

static void read_value(struct tree *t, struct hn_json *v)
{
	switch (*t->at) {
	case '{':
		v->kind = HN_JSON_OBJECT;
		read_children(t, v, '}');
		break;
	case '[':
		v->kind = HN_JSON_ARRAY;
		read_children(t, v, ']');
		break;
	case '"':
		v->kind = HN_JSON_STRING;
		v->string = read_string(t);
		break;
	case 't':
	case 'f':
		v->kind = HN_JSON_BOOL;
		v->truth = *t->at == 't';
		t->at += v->truth ? 4 : 5;
		break;
	case 'n':
		v->kind = HN_JSON_NULL;
		t->at += 4;
		break;
	default:
		v->kind = HN_JSON_NUMBER;
		v->number = read_number(t);
	}
}

struct hn_json *hn_json_tree(const char *text, size_t n)
{
	struct hn_json_doc *doc = calloc(1, sizeof(*doc));
	struct tree t;

	if (doc == NULL) {
		return NULL;
	}
	hn_arena_init(&doc->arena, 0);
	t = (struct tree){ .at = hn_arena_strndup(&doc->arena, text, n),
			   .a = &doc->arena,
			   .plain = newlocale(LC_ALL_MASK, "C", (locale_t)0) };
	skip_blank(&t);
	read_value(&t, &doc->root);
	freelocale(t.plain);
	return &doc->root;
}
