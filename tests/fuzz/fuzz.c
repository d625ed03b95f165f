/* tests/fuzz/fuzz.c -- what must hold of anything a reader took. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "loopstate/nest/bounds.h"
#include "loopstate/read/dag_read.h"

#define ARENA_BYTES ((size_t)256 << 20)

/* In the text notation it is the same dag, and written again the same text. */
static void assert_text(const struct hn_dag *dag, const char *key, struct hn_arena *a)
{
	char again[HN_KEY_BYTES];
	const struct hn_dag *copy;
	struct hn_buf once, twice;
	struct hn_err err = { .code = 0 };

	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_dag_write_text(dag, "fuzz", &once);
	if (once.n <= HN_DAG_MAX_TEXT) {
		if (hn_dag_from_text("fuzz", once.s, once.n, 0, a, &copy, &err) != 0) {
			fprintf(stderr, "%s\n%s\n", err.msg, once.s);
			hn_assert(!"the text is not read back");
		}
		hn_dag_key(copy, again);
		hn_dag_write_text(copy, "fuzz", &twice);
		if (strcmp(key, again) != 0 || strcmp(once.s, twice.s) != 0) {
			fprintf(stderr, "%s\n%s\n", once.s, twice.s);
			hn_assert(!"the text is of another dag");
		}
	}
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
}

void hn_fuzz_dag(const struct hn_dag *dag)
{
	char key[HN_KEY_BYTES], again[HN_KEY_BYTES];
	const struct hn_dag *copy;
	struct hn_err err = { .code = 0 };
	struct hn_buf once, twice;
	struct hn_arena a;

	hn_arena_init(&a, ARENA_BYTES);
	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_assert(hn_dag_check("fuzz", dag, 0, NULL) == 0);
	hn_dag_write_json(dag, &once);
	if (hn_dag_parse_sized("fuzz", once.s, once.n, 0, &a, &copy, &err) != 0) {
		fprintf(stderr, "%s\n%s\n", err.msg, once.s);
		hn_assert(!"the JSON is not read back");
	}
	hn_dag_write_json(copy, &twice);
	hn_dag_key(dag, key);
	hn_dag_key(copy, again);
	hn_assert(strcmp(once.s, twice.s) == 0 && strcmp(key, again) == 0);
	assert_text(dag, key, &a);
	hn_buf_reset(&once);
	hn_state_print(hn_state_init(dag, &a), /* delete_trivial_loops= */ true, &once);
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	hn_arena_fini(&a);
}

void hn_fuzz_trace(const struct hn_trace *trace)
{
	const struct hn_trace *copy;
	struct hn_buf once, twice;
	struct hn_arena a;

	hn_arena_init(&a, ARENA_BYTES);
	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_trace_write(trace, &once);
	hn_assert(hn_trace_parse("fuzz", once.s, once.n, &a, &copy, NULL) == 0);
	hn_trace_write(copy, &twice);
	hn_assert(strcmp(once.s, twice.s) == 0 && hn_trace_equal(trace, copy));
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	hn_arena_fini(&a);
}
