/* bench/workload.c -- reading the workloads of a benchmark.  See workload.h. */
#include "bench/workload.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "loopstate/read/dag_read.h"

static const char *const examples[] = { "matmul.txt", "resnet50-conv.json",
					"softmax.json", "depthwise.json" };

static int read_case(const char *path, struct hn_arena *a, struct hn_bench_case *ret)
{
	struct hn_err err = { 0 };
	struct hn_buf text;
	int rc;

	hn_buf_init(&text);
	rc = hn_file_read(path, 64u << 20, &text, &err);
	if (rc == 0) {
		rc = hn_dag_parse(path, text.s, text.n, 0, a, &ret->dag, &err);
	}
	ret->name = hn_arena_strdup(a, path);
	hn_buf_fini(&text);
	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	return rc ? -1 : 0;
}

int hn_bench_suite(const struct hn_bench_args *args, struct hn_arena *a, uint32_t *ret_n,
		   struct hn_bench_case **ret)
{
	struct hn_bench_args all = *args;
	glob_t found = { 0 };
	int rc;

	if (args->argc == 0) {
		char *pattern = hn_arena_printf(a, "%s/*.[jt][sx]*", args->examples);

		glob(pattern, 0, NULL, &found);
		pattern = hn_arena_printf(a, "%s/ansor/*/dag.json", args->cases);
		if (glob(pattern, GLOB_APPEND, NULL, &found) != 0) {
			fputs("hone-bench: without the shared cases (HONE_CASES) only "
			      "the examples are run\n",
			      stderr);
		}
		all.argc = (int)found.gl_pathc;
		all.argv = found.gl_pathv;
	}
	rc = hn_bench_cases(&all, a, ret_n, ret);
	globfree(&found);
	return rc;
}

int hn_bench_cases(const struct hn_bench_args *args, struct hn_arena *a, uint32_t *ret_n,
		   struct hn_bench_case **ret)
{
	uint32_t n = args->argc > 0 ? (uint32_t)args->argc : HN_COUNT_OF(examples);
	struct hn_bench_case *item = HN_NEW_ARRAY(a, struct hn_bench_case, n);

	for (uint32_t i = 0; i < n; i++) {
		const char *path = args->argc > 0
					   ? args->argv[i]
					   : hn_arena_printf(a, "%s/%s", args->examples,
							     examples[i]);

		if (read_case(path, a, &item[i]) != 0) {
			return -1;
		}
	}
	*ret_n = n;
	*ret = item;
	return 0;
}

const struct hn_dag *hn_bench_product(const char *word, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_dag *dag;
	long long m, n, k;
	char type[20], text[300];

	if (sscanf(word, "%19[a-z0-9]:%lldx%lldx%lld", type, &m, &n, &k) != 4) {
		(void)hn_fail(err, HONE_E_INVALID, "%s: neither TYPE:MxNxK nor a file", word);
		return NULL;
	}
	const char *sum = strcmp(type, "int8") == 0 ? "int32" : "float32";

	snprintf(text, sizeof(text),
		 "f(%s A[%lld,%lld], %s B[%lld,%lld]) -> C { C(i,j) +=! %s(A(i,k)) * %s(B(k,j)) }",
		 type, m, k, type, k, n, sum, sum);
	return hn_dag_from_text(word, text, strlen(text), 0, a, &dag, err) == 0 ? dag : NULL;
}
