/* tests/fuzz/dag.c -- compute-dag/1. */
#include "fuzz.h"
#include "loopstate/read/dag_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct hn_dag *dag;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_parse("fuzz", (const char *)data, n, 0, &a, &dag, NULL) == 0) {
		hn_fuzz_dag(dag);
	}
	hn_arena_fini(&a);
	return 0;
}
