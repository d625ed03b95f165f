/* loopstate/read/dag_text_attr.c -- attributes in the text notation, in front of a statement:
 *
 *   @auto_scheduler_no_split_at_inner(i, j)  @bitwise  @FLOP(1000)
 *
 * Only those that mean something: a slip of the pen in a hint is not to be kept in silence. */
#include <string.h>

#include "loopstate/read/dag_text_priv.h"

enum attr_kind { ATTR_OPS, ATTR_AXES, ATTR_FLAG, ATTR_TIMED, ATTR_NUMBER };

static const char *const names[] = {
#define ATTR(name, kind) #name,
#include "loopstate/dag/attrs.def"
#undef ATTR
	"FLOP",
};

static const uint8_t kinds[] = {
#define ATTR(name, kind) ATTR_##kind,
#include "loopstate/dag/attrs.def"
#undef ATTR
	ATTR_NUMBER,
};

static enum attr_kind kind_of(const char *name)
{
	size_t i = 0;

	while (strcmp(names[i], name) != 0) {
		i++;
	}
	return (enum attr_kind)kinds[i];
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
	bool known = false;

	if (t->n_attr == HN_TEXT_MAX_ATTRS) {
		hn_text_fail(t, &at, "more than %d attributes", HN_TEXT_MAX_ATTRS);
		return;
	}
	attr = &t->attr[t->n_attr];
	*attr = (struct hn_attr){ .name = hn_text_want_name(t, "an attribute") };
	for (size_t i = 0; t->rc == 0 && i < HN_COUNT_OF(names); i++) {
		known = known || strcmp(names[i], attr->name) == 0;
	}
	for (uint32_t i = 0; t->rc == 0 && i < t->n_attr; i++) {
		if (strcmp(t->attr[i].name, attr->name) == 0) {
			hn_text_fail(t, &at, "the attribute '%s' is there twice", attr->name);
		}
	}
	if (t->rc == 0 && !known) {
		hn_text_fail(t, &at, "there is no attribute '%s'%s", attr->name,
			     hn_dag_known(attr->name, "attributes", names, HN_COUNT_OF(names), 0,
					  t->a));
	}
	if (t->rc == 0 && hn_text_is(t, "(")) {
		parse_items(t, attr);
	}
	if (t->rc == 0 && (attr->n_item > 0) !=
				  (kind_of(attr->name) != ATTR_FLAG && kind_of(attr->name) != ATTR_TIMED)) {
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
	enum attr_kind kind = kind_of(attr->name);
	const char **item = (const char **)attr->item;
	struct hn_buf json;
	int32_t out;

	hn_buf_init(&json);
	for (uint32_t i = 0; t->rc == 0 && i < attr->n_item; i++) {
		int32_t op = kind == ATTR_OPS ? hn_text_tensor(t, item[i], &out) : -1;

		if (kind == ATTR_OPS && op < 0) {
			hn_text_fail(t, at, "there is no tensor '%s' up to here", item[i]);
		} else if (kind == ATTR_AXES && !is_index(t, item[i])) {
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
		} else if (kind_of(attr->name) == ATTR_NUMBER) {
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
