/* graph/onnx/read.c -- any message into its struct, by the rows of messages.c. */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "base/utf8.h"
#include "graph/onnx/onnx_int.h"

#define CONTEXT_MOST 5 /* names that stand in front of an error, the innermost */
#define SHOWN_BYTES 48

void *onnx_take(struct onnx_reader *r, uint64_t n, size_t size)
{
	uint64_t left = r->most_bytes > r->arena->used_bytes
				? r->most_bytes - r->arena->used_bytes
				: 0;

	if (n > left / size) {
		hn_fail(r->err, HONE_E_QUOTA,
			"its structure takes more than %llu bytes of memory, the most "
			"for a file "
			"of %llu bytes",
			(unsigned long long)r->most_bytes,
			(unsigned long long)r->file_bytes);
		return NULL;
	}
	return hn_arena_array(r->arena, n, size);
}

/* The first byte that no text has, or n. */
static size_t text_end(const char *s, size_t n)
{
	size_t i = 0, length;

	for (; i < n; i += length) {
		length = hn_utf8_length(s + i, n - i);
		unsigned c = length > 0 ? hn_utf8_get(s + i, length) : 0;

		if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
			break;
		}
	}
	return i < n ? i : n;
}

const char *onnx_text(struct onnx_reader *r, const char *what, struct hn_wire inside,
		      uint64_t at)
{
	const char *s = (const char *)inside.at;
	size_t n = hn_wire_left(&inside);
	char *copy;

	if (n > HN_ONNX_MAX_TEXT) {
		hn_fail(r->err, HONE_E_QUOTA,
			"byte %llu: %s of %zu bytes; the most are %d",
			(unsigned long long)at, what, n, HN_ONNX_MAX_TEXT);
		return NULL;
	}
	if (text_end(s, n) < n) {
		hn_fail(r->err, HONE_E_INVALID,
			"byte %llu: %s is no text: it holds a control character, or is "
			"not UTF-8",
			(unsigned long long)(hn_wire_at(&inside) + text_end(s, n)), what);
		return NULL;
	}
	if (n == 0) {
		return "";
	}
	copy = onnx_take(r, n + 1, 1);
	return copy ? memcpy(copy, s, n) : NULL;
}

static const struct onnx_row *row_of(const struct onnx_shape *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->n_row; i++) {
		if (s->row[i].number == number) {
			return &s->row[i];
		}
	}
	return NULL;
}

/* What a field of that row has on the wire. */
static enum hn_wire_type wire_type(const struct onnx_row *row)
{
	switch ((enum onnx_kind)row->kind) {
	case ONNX_INT:
	case ONNX_INT32:
	case ONNX_INTS:
		return HN_WIRE_VARINT;
	case ONNX_FLOAT:
	case ONNX_FLOATS:
		return HN_WIRE_FIXED32;
	case ONNX_LATER:
		return (enum hn_wire_type)row->of;
	default:
		return HN_WIRE_BYTES;
	}
}

/* Numbers that may be packed. */
static bool is_numbers(const struct onnx_row *row)
{
	return row->kind == ONNX_INTS || row->kind == ONNX_FLOATS ||
	       (row->kind == ONNX_LATER && row->of != HN_WIRE_BYTES);
}

static bool is_single_message(const struct onnx_row *row)
{
	return row->kind == ONNX_ONE || row->kind == ONNX_HERE || row->kind == ONNX_WORD;
}

/* ---- the first pass ---- */

static int count_field(struct onnx_reader *r, const struct onnx_row *row,
		       const struct hn_wire_field *f, uint64_t *n)
{
	uint64_t more = 1;
	int rc = 0;

	if (is_numbers(row)) {
		rc = hn_wire_count(f, wire_type(row), &more, r->err);
	} else if (f->type != wire_type(row)) {
		rc = hn_fail(r->err, HONE_E_INVALID, "byte %llu: %s where %s is wanted",
			     (unsigned long long)f->at, hn_wire_word(f->type),
			     hn_wire_word(wire_type(row)));
	} else if (is_single_message(row) && *n > 0) {
		rc = hn_fail(r->err, HONE_E_INVALID,
			     "byte %llu: it is there twice, and two readers would read "
			     "two models",
			     (unsigned long long)f->at);
	}
	*n += more;
	return rc != 0 ? hn_err_within(r->err, "%s", row->name) : 0;
}

static int count_fields(struct onnx_reader *r, const struct onnx_shape *s,
			struct hn_wire w, uint64_t *n)
{
	uint64_t at = hn_wire_at(&w);
	uint32_t n_there = 0;
	struct hn_wire_field f;

	while (hn_wire_more(&w)) {
		int rc = hn_wire_next(&w, &f, r->err);
		const struct onnx_row *row = rc == 0 ? row_of(s, f.number) : NULL;

		n_there += row != NULL && n[f.number] == 0;
		rc = row ? count_field(r, row, &f, &n[f.number]) : rc;
		if (rc != 0) {
			return rc;
		}
	}
	if (s->one_of && n_there > 1) {
		return hn_fail(r->err, HONE_E_INVALID,
			       "byte %llu: a %s that is two things at once",
			       (unsigned long long)at, s->word);
	}
	return 0;
}

/* ---- lists, allocated at their size ---- */

static size_t item_bytes(const struct onnx_row *row)
{
	switch ((enum onnx_kind)row->kind) {
	case ONNX_INTS:
		return sizeof(int64_t);
	case ONNX_FLOATS:
		return sizeof(float);
	case ONNX_TEXTS:
		return sizeof(const char *);
	case ONNX_BYTES_LIST:
		return sizeof(struct hn_onnx_bytes);
	default:
		return onnx_shape[row->of].bytes;
	}
}

static int check_nodes(struct onnx_reader *r, uint64_t n)
{
	r->n_node += n;
	return r->n_node <= HN_ONNX_MAX_NODES
		       ? 0
		       : hn_fail(r->err, HONE_E_QUOTA, "more than %u nodes",
				 HN_ONNX_MAX_NODES);
}

static int allocate(struct onnx_reader *r, const struct onnx_shape *s, const uint64_t *n,
		    char *to)
{
	for (uint32_t i = 0; i < s->n_row; i++) {
		const struct onnx_row *row = &s->row[i];
		bool is_nodes = row->kind == ONNX_MANY && row->of == ONNX_NODE;
		void *list;

		if (row->kind < ONNX_INTS || n[row->number] == 0) {
			continue;
		}
		if (is_nodes && check_nodes(r, n[row->number]) != 0) {
			return -HONE_E_QUOTA;
		}
		list = onnx_take(r, n[row->number], item_bytes(row));
		if (!list) {
			return -HONE_E_QUOTA;
		}
		memcpy(to + row->at, &list, sizeof list);
	}
	return 0;
}

/* ---- the second pass ---- */

/* "node 3 "conv1" (Conv)": what an error inside of a message is in. */
static void name_message(const struct onnx_shape *s, struct hn_wire w,
			 char name[SHOWN_BYTES], char also[SHOWN_BYTES])
{
	struct hn_wire_field f;

	while (hn_wire_more(&w) && hn_wire_next(&w, &f, NULL) == 0) {
		char *to = f.number == s->name ? name : f.number == s->also ? also : NULL;

		if (to && f.type == HN_WIRE_BYTES) {
			hn_shown(to, SHOWN_BYTES, (const char *)f.inside.at,
				 hn_wire_left(&f.inside));
		}
	}
}

static int within(struct onnx_reader *r, const struct onnx_row *row, uint64_t index,
		  struct hn_wire inside)
{
	const struct onnx_shape *s = &onnx_shape[row->of];
	char name[SHOWN_BYTES] = "", also[SHOWN_BYTES] = "", number[24] = "";

	if (r->n_context++ >= CONTEXT_MOST) {
		return -r->err->code;
	}
	name_message(s, inside, name, also);
	if (row->kind == ONNX_MANY) {
		snprintf(number, sizeof number, " %llu", (unsigned long long)index);
	}
	return hn_err_within(r->err, "%s%s%s%s%s%s%s%s", row->name, number,
			     name[0] ? " \"" : "", name, name[0] ? "\"" : "",
			     also[0] ? " (" : "", also, also[0] ? ")" : "");
}

static int fill_int32(struct onnx_reader *r, const struct onnx_row *row,
		      const struct hn_wire_field *f, void *to)
{
	int64_t v = (int64_t)f->value;
	int32_t fits = (int32_t)v;

	if (v != fits) {
		return hn_fail(r->err, HONE_E_INVALID,
			       "%s: byte %llu: %lld does not fit 32 bits", row->name,
			       (unsigned long long)f->at, (long long)v);
	}
	memcpy(to, &fits, sizeof fits);
	return 0;
}

static int fill_text(struct onnx_reader *r, const struct onnx_row *row,
		     const struct hn_wire_field *f, void *to)
{
	const char *text = onnx_text(r, row->name, f->inside, f->at);

	memcpy(to, &text, sizeof text);
	return text ? 0 : -HONE_E_INVALID;
}

static void fill_bytes(const struct hn_wire_field *f, void *to)
{
	const struct hn_onnx_bytes b = { f->inside.at, hn_wire_left(&f->inside) };

	memcpy(to, &b, sizeof b);
}

static int fill_message(struct onnx_reader *r, const struct onnx_row *row,
			const struct hn_wire_field *f, uint64_t index, void *to)
{
	int rc = onnx_read(r, (enum onnx_message)row->of, f->inside, to);

	return rc == 0 ? 0 : within(r, row, index, f->inside);
}

static int fill_one(struct onnx_reader *r, const struct onnx_row *row,
		    const struct hn_wire_field *f, void *to)
{
	void *made = onnx_take(r, 1, onnx_shape[row->of].bytes);

	memcpy(to, &made, sizeof made);
	return made ? fill_message(r, row, f, 0, made) : -HONE_E_QUOTA;
}

static int fill_here(struct onnx_reader *r, const struct onnx_row *row,
		     const struct hn_wire_field *f, char *to)
{
	const bool there = true;

	memcpy(to + row->at, &there, sizeof there);
	return onnx_read(r, (enum onnx_message)row->of, f->inside, to);
}

/* All numbers of a field, behind the n_done that other fields of the list have filled. */
static int fill_numbers(struct onnx_reader *r, const struct onnx_row *row,
			const struct hn_wire_field *f, char *list, uint32_t *n_done)
{
	struct hn_wire in = f->inside;
	size_t size = item_bytes(row);

	while (hn_wire_more(&in)) {
		uint64_t v = 0;
		uint32_t low;
		int rc = hn_wire_number(&in, wire_type(row), &v, r->err);

		if (rc != 0) {
			return rc;
		}
		low = (uint32_t)v;
		memcpy(list + *n_done * size,
		       size == sizeof low ? (void *)&low : (void *)&v, size);
		*n_done += 1;
	}
	return 0;
}

static int fill_list(struct onnx_reader *r, const struct onnx_row *row,
		     const struct hn_wire_field *f, char *to)
{
	uint32_t n_done;
	char *list, *item;
	int rc = 0;

	memcpy(&list, to + row->at, sizeof list);
	memcpy(&n_done, to + row->count, sizeof n_done);
	if (is_numbers(row)) {
		rc = fill_numbers(r, row, f, list, &n_done);
		memcpy(to + row->count, &n_done, sizeof n_done);
		return rc;
	}
	item = list + n_done * item_bytes(row);
	if (row->kind == ONNX_TEXTS) {
		rc = fill_text(r, row, f, item);
	} else if (row->kind == ONNX_BYTES_LIST) {
		fill_bytes(f, item);
	} else {
		rc = fill_message(r, row, f, n_done, item);
	}
	n_done++;
	memcpy(to + row->count, &n_done, sizeof n_done);
	return rc;
}

static void count_one(void *to)
{
	uint32_t n;

	memcpy(&n, to, sizeof n);
	n += n < UINT32_MAX;
	memcpy(to, &n, sizeof n);
}

static int fill_field(struct onnx_reader *r, const struct onnx_row *row,
		      const struct hn_wire_field *f, char *to)
{
	const uint32_t low = (uint32_t)f->value;
	char *member = to + row->at;

	switch ((enum onnx_kind)row->kind) {
	case ONNX_INT:
		memcpy(member, &f->value, sizeof f->value);
		return 0;
	case ONNX_INT32:
		return fill_int32(r, row, f, member);
	case ONNX_FLOAT:
		memcpy(member, &low, sizeof low);
		return 0;
	case ONNX_TEXT:
		return fill_text(r, row, f, member);
	case ONNX_BYTES:
		fill_bytes(f, member);
		return 0;
	case ONNX_ONE:
		return fill_one(r, row, f, member);
	case ONNX_HERE:
		return fill_here(r, row, f, to);
	case ONNX_WORD:
		memcpy(member, &row->name, sizeof row->name);
		return 0;
	case ONNX_COUNT:
		count_one(member);
		return 0;
	case ONNX_LATER:
		return 0;
	default:
		return fill_list(r, row, f, to);
	}
}

static int fill_fields(struct onnx_reader *r, const struct onnx_shape *s,
		       struct hn_wire w, char *to)
{
	int rc = 0;

	while (rc == 0 && hn_wire_more(&w)) {
		struct hn_wire_field f;
		const struct onnx_row *row;

		rc = hn_wire_next(&w, &f, r->err);
		row = rc == 0 ? row_of(s, f.number) : NULL;
		rc = row ? fill_field(r, row, &f, to) : rc;
	}
	return rc;
}

/* What the file does not say is "". */
static void fill_defaults(const struct onnx_shape *s, char *to)
{
	for (uint32_t i = 0; i < s->n_row; i++) {
		const char *text = "";

		if (s->row[i].kind == ONNX_TEXT) {
			memcpy(&text, to + s->row[i].at, sizeof text);
			text = text ? text : "";
			memcpy(to + s->row[i].at, &text, sizeof text);
		}
	}
}

static int read_fields(struct onnx_reader *r, const struct onnx_shape *s,
		       struct hn_wire w, void *to)
{
	uint64_t n[ONNX_N_NUMBER] = { 0 }, at = hn_wire_at(&w);
	int rc = count_fields(r, s, w, n);

	if (rc == 0) {
		rc = allocate(r, s, n, to);
	}
	if (rc == 0) {
		rc = fill_fields(r, s, w, to);
	}
	if (rc != 0) {
		return rc;
	}
	fill_defaults(s, to);
	if (s->at != ONNX_NOWHERE) {
		memcpy((char *)to + s->at, &at, sizeof at);
	}
	return s->finish ? s->finish(r, &w, to, n) : 0;
}

int onnx_read(struct onnx_reader *r, enum onnx_message m, struct hn_wire w, void *to)
{
	int rc;

	if (m != ONNX_GRAPH) {
		return read_fields(r, &onnx_shape[m], w, to);
	}
	if (r->n_depth >= HN_ONNX_MAX_DEPTH) {
		return hn_fail(r->err, HONE_E_QUOTA,
			       "byte %llu: graphs within graphs, deeper than %d",
			       (unsigned long long)hn_wire_at(&w), HN_ONNX_MAX_DEPTH);
	}
	r->n_depth++;
	rc = read_fields(r, &onnx_shape[m], w, to);
	r->n_depth--;
	return rc;
}
