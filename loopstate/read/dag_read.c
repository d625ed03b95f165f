/* loopstate/read/dag_read.c -- which of the two forms a text is in. */
#include "loopstate/read/dag_read.h"

#include <string.h>

#include "base/json.h"
#include "loopstate/dag/size.h"

static int parse_json(const char *what, const char *text, size_t n, uint64_t max_bytes,
		      struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
{
	/* An expression of full depth, below object, ops, op, body, reduce, source. */
	const struct hn_json_limits limits = { .max_depth = HN_DAG_MAX_DEPTH + 16 };
	struct hn_json *json;
	int rc = hn_json_parse(what, text, n, &limits, &json, err);

	if (rc == 0) {
		rc = hn_dag_from_json(what, json, max_bytes, a, ret, err);
		hn_json_free(json);
	}
	return rc;
}

int hn_dag_parse_sized(const char *what, const char *text, size_t n, uint64_t max_bytes,
		       struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
{
	size_t i = 0;

	while (i < n && strchr(" \t\r\n", text[i]) != NULL && text[i] != '\0') {
		i++;
	}
	if (i == n) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: empty: expected compute-dag/1 or the "
			       "text notation",
			       what);
	}
	if (text[i] == '{') {
		return parse_json(what, text, n, max_bytes, a, ret, err);
	}
	return hn_dag_from_text(what, text, n, max_bytes, a, ret, err);
}

int hn_dag_parse(const char *what, const char *text, size_t n, uint64_t max_bytes,
		 struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
{
	const struct hn_dag *dag;
	int rc = hn_dag_parse_sized(what, text, n, max_bytes, a, &dag, err);

	rc = rc ? rc : hn_dag_need_numbers(what, dag, err);
	if (rc == 0) {
		*ret = dag;
	}
	return rc;
}
