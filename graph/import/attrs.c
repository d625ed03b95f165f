/* graph/import/attrs.c -- attributes of nodes: which kind each has to be, and their values. */
#include <string.h>

#include "base/buf.h"
#include "graph/import/import_int.h"

static bool is_word_of(const char *words, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = words; n > 0 && (p = strstr(p, name)) != NULL; p += n) {
		if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

/* Attributes that are no integers, by their names, which mean the same in all operators. */
static const char floats[] =
	"alpha beta bias clip cubic_coeff_a epsilon extrapolation_value gamma lambd "
	"max min momentum ratio scale scales softcap value";
static const char texts[] =
	"activations approximate auto_pad coordinate_transformation_mode direction equation "
	"keep_aspect_ratio_policy mode nearest_mode padding_mode reduction round_mode";

/* Whether an attribute is of its kind; one tensor is a number, too. */
static bool is_of_kind(const struct hn_onnx_attr *a)
{
	bool number = is_word_of(floats, a->name), text = is_word_of(texts, a->name);

	switch (a->type) {
	case HN_ONNX_ATTR_INT:
	case HN_ONNX_ATTR_INTS:
		return !number && !text;
	case HN_ONNX_ATTR_FLOAT:
	case HN_ONNX_ATTR_FLOATS:
		return number;
	case HN_ONNX_ATTR_STRING:
	case HN_ONNX_ATTR_STRINGS:
		return text;
	default:
		return a->type == HN_ONNX_ATTR_TENSOR && strcmp(a->name, "value") == 0;
	}
}

/* The value of ConstantOfShape: a tensor of one element. */
static bool import_value(struct hn_importer *i, const struct hn_onnx_attr *from,
			 struct hn_gattr to[2])
{
	int32_t v = hn_import_tensor(i, from->t);
	double *number = HN_NEW(i->g->arena, double);

	if (v < 0 || !hn_gvalue_number(&i->g->value[v], 0, number)) {
		hn_graph_fail(i->g, HONE_E_INVALID, "attribute %s has no element",
			      from->name);
		return false;
	}
	to[0] = (struct hn_gattr){ from->name, HN_GATTR_FLOATS, 1, NULL, number, NULL };
	to[1] = hn_gattr_of_int(i->g->arena, "value_type", i->g->value[v].dtype);
	return true;
}

static const double *widened(struct hn_arena *a, uint32_t n, const float *v)
{
	double *d = HN_NEW_ARRAY(a, double, n);

	for (uint32_t k = 0; k < n; k++) {
		float f;

		memcpy(&f, v + k, sizeof(f)); /* the file's, of any alignment */
		d[k] = (double)f;
	}
	return d;
}

/* A list of texts, blanks between. */
static struct hn_gattr of_words(struct hn_arena *a, const struct hn_onnx_attr *from)
{
	struct hn_buf words;

	hn_buf_init(&words);
	for (uint32_t k = 0; k < from->n_strings; k++) {
		hn_buf_printf(&words, "%s%.*s", k > 0 ? " " : "", from->strings[k].n < 64 ? (int)from->strings[k].n : 64,
			      (const char *)from->strings[k].at);
	}
	struct hn_gattr attr = { .name = from->name,
				 .kind = HN_GATTR_STRING,
				 .s = hn_arena_strdup(a, words.n > 0 ? words.s : "") };

	hn_buf_fini(&words);
	return attr;
}

/* One attribute into to[], which has room for two; returns how many. */
uint32_t hn_import_attr(struct hn_importer *i, const struct hn_onnx_attr *from,
			    struct hn_gattr *to)
{
	struct hn_arena *a = i->g->arena;
	int64_t *one;

	*to = (struct hn_gattr){ .name = from->name };
	switch (from->type) {
	case HN_ONNX_ATTR_INT:
		*to = hn_gattr_of_int(a, from->name, from->i);
		return 1;
	case HN_ONNX_ATTR_INTS:
		one = HN_NEW_ARRAY(a, int64_t, from->n_ints);
		for (uint32_t k = 0; k < from->n_ints; k++) {
			memcpy(one + k, from->ints + k, sizeof(*one)); /* of any alignment */
		}
		*to = hn_gattr_of_ints(from->name, from->n_ints, one);
		return 1;
	case HN_ONNX_ATTR_FLOAT:
		*to = (struct hn_gattr){ from->name, HN_GATTR_FLOATS,	      1,
					 NULL,	     widened(a, 1, &from->f), NULL };
		return 1;
	case HN_ONNX_ATTR_FLOATS:
		*to = (struct hn_gattr){ from->name,
					 HN_GATTR_FLOATS,
					 from->n_floats,
					 NULL,
					 widened(a, from->n_floats, from->floats),
					 NULL };
		return 1;
	case HN_ONNX_ATTR_STRING:
		*to = (struct hn_gattr){
			.name = from->name,
			.kind = HN_GATTR_STRING,
			.s = hn_arena_strndup(a, (const char *)from->s.at, from->s.n)
		};
		return 1;
	case HN_ONNX_ATTR_STRINGS:
		*to = of_words(a, from);
		return 1;
	case HN_ONNX_ATTR_TENSOR:
		return import_value(i, from, to) ? 2 : 0;
	default:
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "attribute %.40s of kind %s",
			      from->name, hn_onnx_attr_type_name(from->type));
		return 0;
	}
}

/* Two of a name: which one counts nobody can say. */
bool hn_import_check_attr(struct hn_importer *i, const struct hn_onnx_node *n, uint32_t k,
		       const struct hn_gop *op)
{
	const char *name = n->attribute[k].name;

	if (!is_word_of(op->attrs, name)) {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "attribute %.40s", name);
		return false;
	}
	if (!is_of_kind(&n->attribute[k])) {
		hn_graph_fail(i->g, HONE_E_INVALID, "attribute %.40s is of kind %s", name,
			      hn_onnx_attr_type_name(n->attribute[k].type));
		return false;
	}
	for (uint32_t j = 0; j < k; j++) {
		if (strcmp(n->attribute[j].name, name) == 0) {
			hn_graph_fail(i->g, HONE_E_INVALID,
				      "attribute %.40s is there twice", name);
			return false;
		}
	}
	return true;
}
