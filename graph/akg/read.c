/* graph/akg/read.c -- see akg.h: from JSON to the kernel that it describes. */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "graph/akg/akg_int.h"

enum object { KERNEL, OP, TENSOR, ATTR };

static const char *const object_name[] = { "the kernel", "an operator", "a tensor", "an attribute" };

/* Kinds that a member may have, as bits of enum hn_json_kind. */
enum {
	STRING = 1 << HN_JSON_STRING,
	BOOL = 1 << HN_JSON_BOOL,
	LIST = 1 << HN_JSON_ARRAY,
	LIST_OR_NULL = LIST | 1 << HN_JSON_NULL,
	ATTRS = LIST_OR_NULL | 1 << HN_JSON_OBJECT,
	STRING_OR_NULL = STRING | 1 << HN_JSON_NULL,
	ANY = 0xff
};

static const struct {
	uint8_t object, kinds;
	const char *name;
} keys[] = {
#define KEY(object, name, kinds) { object, kinds, name },
#include "graph/akg/keys.def"
#undef KEY
};

static const char *kinds_text(uint8_t kinds)
{
	return kinds & STRING ? "a string" : kinds & LIST ? "a list" : "true or false";
}

static const char *shown(struct hn_akg_reader *r, const char *s)
{
	char text[81];

	hn_shown(text, sizeof(text), s, strlen(s));
	return hn_arena_strdup(r->arena, text);
}

static void add_note(struct hn_akg_reader *r, const char *what, const char *at)
{
	for (uint32_t i = 0; i < r->n_note; i++) {
		if (strcmp(r->note[i].what, what) == 0) {
			r->note[i].n++;
			return;
		}
	}
	if (r->n_note == HN_AKG_MAX_NOTES) {
		return;
	}
	r->note = hn_arena_grow(r->arena, r->note, r->n_note, &r->cap_note, sizeof(*r->note));
	r->note[r->n_note++] = (struct hn_akg_note){
		hn_arena_strdup(r->arena, what), hn_arena_strdup(r->arena, at), 1
	};
}

static void note_key(struct hn_akg_reader *r, enum object o, const char *key, const char *at)
{
	char name[81], what[160];

	hn_shown(name, sizeof(name), key, strlen(key));
	snprintf(what, sizeof(what), "member \"%s\" of %s", name, object_name[o]);
	add_note(r, what, at);
}

/* An object's members: each of its kind, or unknown and noted. */
static int check_members(struct hn_akg_reader *r, enum object o, const struct hn_json *v,
			 const char *at)
{
	if (hn_json_kind(v) != HN_JSON_OBJECT) {
		return hn_fail(r->err, HONE_E_INVALID, "%s: %s is wanted, and this is %s", at,
			       object_name[o], hn_json_kind_name(v));
	}
	for (const struct hn_json *m = hn_json_first(v); m != NULL; m = hn_json_next(m)) {
		const char *key = hn_json_key(m);
		size_t i = 0;

		while (i < HN_COUNT_OF(keys) &&
		       (keys[i].object != o || strcmp(keys[i].name, key) != 0)) {
			i++;
		}
		if (i == HN_COUNT_OF(keys)) {
			note_key(r, o, key, at);
		} else if ((keys[i].kinds >> hn_json_kind(m) & 1) == 0) {
			return hn_fail(r->err, HONE_E_INVALID, "%s: \"%s\" is %s; it has to be %s", at,
				       key, hn_json_kind_name(m), kinds_text(keys[i].kinds));
		}
	}
	return 0;
}

/* A text that is a name in messages and headers. */
static int check_text(struct hn_akg_reader *r, const char *s, const char *key, const char *at)
{
	for (const char *p = s; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f) {
			return hn_fail(r->err, HONE_E_INVALID,
				       "%s: \"%s\" has a control character", at, key);
		}
	}
	return strlen(s) <= HN_AKG_MAX_TEXT
		       ? 0
		       : hn_fail(r->err, HONE_E_QUOTA, "%s: \"%s\" has %zu bytes; at most %d", at, key,
				 strlen(s), HN_AKG_MAX_TEXT);
}

static int read_text(struct hn_akg_reader *r, const struct hn_json *object, const char *key,
		     bool wanted, const char *at, const char **ret)
{
	const char *s = hn_json_string(hn_json_get(object, key));

	*ret = s != NULL ? s : "";
	if (wanted && **ret == '\0') {
		return hn_fail(r->err, HONE_E_INVALID, "%s: it has no \"%s\"", at, key);
	}
	return check_text(r, *ret, key, at);
}

/* -- tensors ---------------------------------------------------------------------------- */

static const int64_t one_element = 1;

static int read_shape(struct hn_akg_reader *r, const struct hn_json *list, int64_t least,
		      const char *at, struct hn_akg_tensor *ret)
{
	uint32_t n = hn_json_count(list), k = 0;
	int64_t *shape;

	ret->rank = 1;
	ret->shape = &one_element;
	if (list == NULL) {
		return hn_fail(r->err, HONE_E_INVALID, "%s: it has no \"shape\"", at);
	}
	if (n > HN_AKG_MAX_RANK) {
		return hn_fail(r->err, HONE_E_UNSUPPORTED, "%s: %u dimensions; hone has %d", at, n,
			       HN_AKG_MAX_RANK);
	}
	if (n == 0) {
		return 0;
	}
	shape = HN_NEW_ARRAY(r->arena, int64_t, n);
	for (const struct hn_json *e = hn_json_first(list); e != NULL; e = hn_json_next(e), k++) {
		if (!hn_json_int(e, &shape[k]) || (shape[k] < least && shape[k] != -1)) {
			return hn_fail(r->err, HONE_E_INVALID,
				       "%s: dimension %u of \"shape\" is no length, nor -1", at, k);
		}
	}
	ret->rank = n;
	ret->shape = shape;
	return 0;
}

/* A name for a length; numbers, and what is no name, are none. */
static const char *symbol_of(const struct hn_json *e)
{
	const char *s = hn_json_string(e);
	int64_t number;

	return s == NULL || hn_json_int(e, &number) || strlen(s) > HN_AKG_MAX_TEXT ? "" : s;
}

static int read_symbols(struct hn_akg_reader *r, const struct hn_json *list, const char *at,
			struct hn_akg_tensor *ret)
{
	const char **symbol;
	uint32_t k = 0;

	if (list == NULL || hn_json_kind(list) == HN_JSON_NULL) {
		return 0;
	}
	if (hn_json_count(list) != ret->rank) {
		return hn_fail(r->err, HONE_E_INVALID,
			       "%s: \"symbolic_shape\" names %u of %u dimensions", at,
			       hn_json_count(list), ret->rank);
	}
	symbol = HN_NEW_ARRAY(r->arena, const char *, ret->rank);
	for (const struct hn_json *e = hn_json_first(list); e != NULL; e = hn_json_next(e)) {
		symbol[k++] = symbol_of(e);
	}
	ret->symbol = symbol;
	return 0;
}

/* hone's types, and complex numbers of two of them. */
static int read_dtype(struct hn_akg_reader *r, const char *name, const char *at,
		      struct hn_akg_tensor *ret)
{
	enum hn_dtype t = hn_dtype_of(name);

	ret->is_complex = strcmp(name, "complex64") == 0 || strcmp(name, "complex128") == 0;
	if (ret->is_complex) {
		t = strcmp(name, "complex64") == 0 ? HN_F32 : HN_F64;
	}
	ret->dtype = (uint8_t)t;
	return t != HN_N_DTYPE ? 0
			       : hn_fail(r->err, HONE_E_UNSUPPORTED,
					 "%s: \"data_type\" %s is none that hone has", at,
					 shown(r, name));
}

/* A literal is a number, true or false, or a list of numbers. */
static int check_value(struct hn_akg_reader *r, const struct hn_json *v, const char *at)
{
	bool good = v == NULL || hn_json_kind(v) == HN_JSON_NUMBER ||
		    hn_json_kind(v) == HN_JSON_BOOL;

	if (!good && hn_json_kind(v) == HN_JSON_ARRAY) {
		good = true;
		for (const struct hn_json *e = hn_json_first(v); e != NULL; e = hn_json_next(e)) {
			good = good && (hn_json_kind(e) == HN_JSON_NUMBER ||
					hn_json_kind(e) == HN_JSON_BOOL);
		}
	}
	return good ? 0
		    : hn_fail(r->err, HONE_E_INVALID,
			      "%s: \"value\" is neither a number nor a list of numbers", at);
}

static int read_tensor(struct hn_akg_reader *r, const struct hn_json *v, const char *at,
		       struct hn_akg_tensor *ret)
{
	const char *dtype;
	int rc;

	*ret = (struct hn_akg_tensor){ 0 };
	rc = check_members(r, TENSOR, v, at);
	rc = rc ? rc : read_text(r, v, "tensor_name", true, at, &ret->name);
	rc = rc ? rc : read_text(r, v, "data_type", true, at, &dtype);
	rc = rc ? rc : read_text(r, v, "format", false, at, &ret->format);
	rc = rc ? rc : read_dtype(r, dtype, at, ret);
	ret->value = rc ? NULL : hn_json_get(v, "value");
	rc = rc ? rc : read_shape(r, hn_json_get(v, "shape"), ret->value != NULL ? 0 : 1, at, ret);
	rc = rc ? rc : read_symbols(r, hn_json_get(v, "symbolic_shape"), at, ret);
	return rc ? rc : check_value(r, ret->value, at);
}

/* A list of tensors, or of lists of tensors (`nested`). */
static int read_tensors(struct hn_akg_reader *r, const struct hn_json *list, bool nested,
			const char *at, uint32_t *ret_n, const struct hn_akg_tensor **ret)
{
	struct hn_akg_tensor *t = NULL;
	uint32_t n = 0, cap = 0, i = 0;
	int rc = 0;

	for (const struct hn_json *e = hn_json_first(list); rc == 0 && e != NULL;
	     e = hn_json_next(e), i++) {
		const struct hn_json *one = nested ? hn_json_first(e) : e;
		uint32_t k = 0;

		if (nested && hn_json_kind(e) != HN_JSON_ARRAY) {
			return hn_fail(r->err, HONE_E_INVALID,
				       "%s[%u]: a list of tensors is wanted, and this is %s", at, i,
				       hn_json_kind_name(e));
		}
		for (; rc == 0 && one != NULL; one = nested ? hn_json_next(one) : NULL, k++) {
			char place[160];

			if (nested) {
				snprintf(place, sizeof(place), "%s[%u][%u]", at, i, k);
			} else {
				snprintf(place, sizeof(place), "%s[%u]", at, i);
			}
			t = hn_arena_grow(r->arena, t, n, &cap, sizeof(*t));
			rc = read_tensor(r, one, place, &t[n++]);
		}
	}
	*ret_n = n;
	*ret = t;
	return rc;
}

/* -- operators -------------------------------------------------------------------------- */

static void note_attr(struct hn_akg_reader *r, const struct hn_akg_op *op, const char *name)
{
	char what[200];

	snprintf(what, sizeof(what), "attribute %s of %s", shown(r, name), shown(r, op->name));
	add_note(r, what, op->at);
}

/* A list of objects with name and value, or one object whose members they are. */
static int read_attr(struct hn_akg_reader *r, const struct hn_json *e, bool is_member,
		     struct hn_akg_op *op, struct hn_akg_attr *ret)
{
	char at[160];
	int rc = 0;

	snprintf(at, sizeof(at), "%s.attr[%u]", op->at, op->n_attr);
	if (is_member) {
		*ret = (struct hn_akg_attr){ hn_json_key(e), e };
		return check_text(r, ret->name, "name", at);
	}
	rc = check_members(r, ATTR, e, at);
	rc = rc ? rc : read_text(r, e, "name", true, at, &ret->name);
	ret->value = rc ? NULL : hn_json_get(e, "value");
	if (rc == 0 && ret->value == NULL) {
		rc = hn_fail(r->err, HONE_E_INVALID, "%s: it has no \"value\"", at);
	}
	for (uint32_t k = 0; rc == 0 && k < op->n_attr; k++) {
		if (strcmp(op->attr[k].name, ret->name) == 0) {
			rc = hn_fail(r->err, HONE_E_INVALID, "%s: %s is there twice", at,
				     shown(r, ret->name));
		}
	}
	return rc;
}

static int read_attrs(struct hn_akg_reader *r, const struct hn_json *list, struct hn_akg_op *ret)
{
	bool are_members = list != NULL && hn_json_kind(list) == HN_JSON_OBJECT;
	uint32_t n = hn_json_count(list);
	struct hn_akg_attr *attr;
	int rc = 0;

	if (n > HN_AKG_MAX_ATTRS) {
		return hn_fail(r->err, HONE_E_QUOTA, "%s.attr: %u attributes; hone reads %d", ret->at, n,
			       HN_AKG_MAX_ATTRS);
	}
	attr = HN_NEW_ARRAY(r->arena, struct hn_akg_attr, n);
	ret->attr = attr;
	for (const struct hn_json *e = hn_json_first(list); rc == 0 && e != NULL; e = hn_json_next(e)) {
		struct hn_akg_attr *a = &attr[ret->n_attr];

		rc = read_attr(r, e, are_members, ret, a);
		if (rc == 0 && !hn_akg_is_known_attr(ret->name, a->name)) {
			note_attr(r, ret, a->name);
		}
		ret->n_attr++;
	}
	return rc;
}

static int read_op(struct hn_akg_reader *r, const struct hn_json *v, struct hn_akg_op *ret)
{
	const char *in, *out;
	int rc = check_members(r, OP, v, ret->at);

	rc = rc ? rc : read_text(r, v, "name", true, ret->at, &ret->name);
	rc = rc ? rc : read_attrs(r, hn_json_get(v, "attr"), ret);
	if (rc != 0) {
		return rc;
	}
	if (hn_json_get(v, "output_desc") == NULL) {
		return hn_fail(r->err, HONE_E_INVALID, "%s: it has no \"output_desc\"", ret->at);
	}
	in = hn_arena_printf(r->arena, "%s.input_desc", ret->at);
	out = hn_arena_printf(r->arena, "%s.output_desc", ret->at);
	rc = read_tensors(r, hn_json_get(v, "input_desc"), true, in, &ret->n_in, &ret->in);
	return rc ? rc
		  : read_tensors(r, hn_json_get(v, "output_desc"), false, out, &ret->n_out, &ret->out);
}

static int read_ops(struct hn_akg_reader *r, const struct hn_json *list, struct hn_akg_kernel *ret)
{
	uint32_t n = hn_json_count(list), k = 0;
	struct hn_akg_op *op;
	int rc = 0;

	if (n > HN_AKG_MAX_OPS) {
		return hn_fail(r->err, HONE_E_QUOTA, "op_desc: %u operators; hone reads %d", n,
			       HN_AKG_MAX_OPS);
	}
	op = HN_NEW_ARRAY(r->arena, struct hn_akg_op, n);
	for (const struct hn_json *e = hn_json_first(list); rc == 0 && e != NULL;
	     e = hn_json_next(e), k++) {
		op[k].at = hn_arena_printf(r->arena, "op_desc[%u]", k);
		rc = read_op(r, e, &op[k]);
	}
	ret->op = op;
	ret->n_op = n;
	return rc;
}

int hn_akg_read(struct hn_akg_reader *r, const struct hn_json *root, struct hn_akg_kernel *ret)
{
	int rc = check_members(r, KERNEL, root, "at the top");

	rc = rc ? rc : read_text(r, root, "op", true, "at the top", &ret->name);
	rc = rc ? rc : read_text(r, root, "process", false, "at the top", &ret->process);
	if (rc == 0 && (hn_json_get(root, "op_desc") == NULL ||
			hn_json_get(root, "output_desc") == NULL)) {
		rc = hn_fail(r->err, HONE_E_INVALID, "at the top: it has no \"%s\"",
			     hn_json_get(root, "op_desc") == NULL ? "op_desc" : "output_desc");
	}
	rc = rc ? rc
		: read_tensors(r, hn_json_get(root, "input_desc"), true, "input_desc", &ret->n_in,
			       &ret->in);
	rc = rc ? rc
		: read_tensors(r, hn_json_get(root, "output_desc"), false, "output_desc",
			       &ret->n_out, &ret->out);
	rc = rc ? rc : read_ops(r, hn_json_get(root, "op_desc"), ret);
	ret->note = r->note;
	ret->n_note = r->n_note;
	return rc;
}
