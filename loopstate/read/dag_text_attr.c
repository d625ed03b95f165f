/* loopstate/read/dag_text_attr.c -- attributes in the text notation, in front of a statement:
 *
 *   @auto_scheduler_no_split_at_inner(i, j)  @bitwise  @FLOP(1000)
 *
 * Only those that mean something: a slip of the pen in a hint is not to be kept in silence. */
#include <string.h>

#include "loopstate/dag/attr.h"
#include "loopstate/read/dag_text_priv.h"

/* "; known attributes are ...", and the one that was probably meant. */
static const char *known_attrs(const char *name, struct hn_arena *a)
{
	uint32_t n = hn_attr_n_rows();
	const char **known = HN_NEW_ARRAY(a, const char *, n);

	for (uint32_t i = 0; i < n; i++) {
		known[i] = hn_attr_row(i)->name;
	}
	return hn_dag_known(name, "attributes", known, n, 0, a);
}

static enum hn_attr_kind kind_of(const struct hn_attr *attr)
{
	return hn_attr_find(attr->name)->kind;
}

/* Whether something stands in parentheses after the name. */
static bool takes_items(enum hn_attr_kind kind)
{
	return hn_attr_has_items(kind) || kind == HN_ATTR_NUMBER;
}

/* "(" item, ... ")" */
static void parse_items(struct hn_text *t, struct hn_attr *attr)
{
	const char **item = HN_NEW_ARRAY(t->a, const char *, HN_DAG_MAX_ITERS);

	attr->item = item;
	hn_text_want(t, "(");
	do {
		if (attr->n_item == HN_DAG_MAX_ITERS) {
			hn_text_fail(t, &t->tok, "more than %d items", HN_DAG_MAX_ITERS);
			return;
		}
		item[attr->n_item++] = t->tok.text;
		if (t->tok.kind != HN_TOKEN_NAME && t->tok.kind != HN_TOKEN_INT &&
		    t->tok.kind != HN_TOKEN_FLOAT) {
			hn_text_fail(t, &t->tok, "expected a name or a number, found '%s'",
				     t->tok.text);
		}
		hn_text_next(t);
	} while (t->rc == 0 && hn_text_take(t, ","));
	hn_text_want(t, ")");
}

void hn_text_attr(struct hn_text *t)
{
	struct hn_token at = t->tok;
	struct hn_attr *attr;

	if (t->n_attr == HN_TEXT_MAX_ATTRS) {
		hn_text_fail(t, &at, "more than %d attributes", HN_TEXT_MAX_ATTRS);
		return;
	}
	attr = &t->attr[t->n_attr];
	*attr = (struct hn_attr){ .name = hn_text_want_name(t, "an attribute") };
	for (uint32_t i = 0; t->rc == 0 && i < t->n_attr; i++) {
		if (strcmp(t->attr[i].name, attr->name) == 0) {
			hn_text_fail(t, &at, "the attribute '%s' is there twice", attr->name);
		}
	}
	if (t->rc == 0 && hn_attr_find(attr->name) == NULL) {
		hn_text_fail(t, &at, "there is no attribute '%s'%s", attr->name,
			     known_attrs(attr->name, t->a));
	}
	if (t->rc == 0 && hn_text_is(t, "(")) {
		parse_items(t, attr);
	}
	if (t->rc == 0 && (attr->n_item > 0) != takes_items(kind_of(attr))) {
		hn_text_fail(t, &at, "the attribute '%s' takes %s", attr->name,
			     attr->n_item > 0 ? "no items" : "items in parentheses");
	}
	t->attr_at[t->n_attr++] = at;
}

static bool is_index(const struct hn_text *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_index; i++) {
		if (strcmp(t->index[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void write_items(struct hn_text *t, struct hn_attr *attr, const struct hn_token *at)
{
	enum hn_attr_kind kind = kind_of(attr);
	const char **item = (const char **)attr->item;
	struct hn_buf json;
	int32_t out;

	hn_buf_init(&json);
	for (uint32_t i = 0; t->rc == 0 && i < attr->n_item; i++) {
		int32_t op = kind == HN_ATTR_OPS ? hn_text_tensor(t, item[i], &out) : -1;

		if (kind == HN_ATTR_OPS && op < 0) {
			hn_text_fail(t, at, "there is no tensor '%s' up to here", item[i]);
		} else if (kind == HN_ATTR_AXES && !is_index(t, item[i])) {
			hn_text_fail(t, at, "'%s' is no index of this statement", item[i]);
		}
		item[i] = op >= 0 ? t->op[op]->id : item[i];
		hn_buf_puts(&json, i > 0 ? "," : "[");
		hn_buf_json_string(&json, item[i]);
	}
	hn_buf_putc(&json, ']');
	attr->json = hn_arena_strdup(t->a, json.s);
	hn_buf_fini(&json);
}

void hn_text_attr_items(struct hn_text *t)
{
	for (uint32_t i = 0; i < t->n_attr; i++) {
		struct hn_attr *attr = &t->attr[i];

		if (attr->n_item == 0) {
			attr->json = "true";
		} else if (kind_of(attr) == HN_ATTR_NUMBER) {
			const char *number = attr->item[0];

			if (attr->n_item != 1 || strspn(number, "0123456789.eE+-") != strlen(number)) {
				hn_text_fail(t, &t->attr_at[i], "'%s' takes a number", attr->name);
			}
			attr->json = number;
			attr->n_item = 0;
		} else {
			write_items(t, attr, &t->attr_at[i]);
		}
	}
}
