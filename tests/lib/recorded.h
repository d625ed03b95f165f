/* The states that Ansor recorded for a shared case (llvm.json in its folder), as steps. */
#ifndef HN_TESTS_RECORDED_H
#define HN_TESTS_RECORDED_H

#include "base/file.h"
#include "base/json.h"

struct recorded {
	struct hn_buf text;
	struct hn_json *doc;
};

/* How many there are. */
static inline uint32_t recorded_open(const char *folder, struct recorded *ret)
{
	struct hn_err err = { 0 };
	char path[600];
	uint32_t n = 0;

	hn_buf_init(&ret->text);
	snprintf(path, sizeof(path), "%s/llvm.json", folder);
	if (hn_file_read(path, 1 << 26, &ret->text, &err) ||
	    hn_json_parse(path, ret->text.s, ret->text.n, NULL, &ret->doc, &err)) {
		fail_msg("%s", err.msg);
	}
	for (const struct hn_json *s = hn_json_first(hn_json_get(ret->doc, "states")); s;
	     s = hn_json_next(s)) {
		n++;
	}
	return n;
}

/* Of {"i": [[key, target, ...], [[], [steps]]], ...}, an object or the text of one, the steps. */
static inline void recorded_steps_of(const struct hn_json *state, struct hn_buf *ret)
{
	const struct hn_json *r = hn_json_get(state, "record");
	struct hn_json *parsed = NULL;
	struct hn_err err;

	if (hn_json_string(r)) {
		const char *text = hn_json_string(r);

		assert_int_equal(hn_json_parse("record", text, strlen(text), NULL, &parsed, &err), 0);
		r = parsed;
	}
	const struct hn_json *i = hn_json_first(hn_json_get(r, "i"));

	hn_json_write(hn_json_next(hn_json_first(hn_json_next(i))), ret);
	hn_json_free(parsed);
}

static inline void recorded_steps(const struct recorded *r, uint32_t at, struct hn_buf *ret)
{
	const struct hn_json *s = hn_json_first(hn_json_get(r->doc, "states"));

	for (uint32_t i = 0; i < at; i++) {
		s = hn_json_next(s);
	}
	recorded_steps_of(s, ret);
}

static inline void recorded_close(struct recorded *r)
{
	hn_json_free(r->doc);
	hn_buf_fini(&r->text);
}

#endif
