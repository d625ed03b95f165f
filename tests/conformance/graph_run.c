/* graph_run.c -- evaluates models as hone reads them: for tests in other languages.
 *
 * Each line of its input is a folder.  There, model.onnx is imported, input_0.bin, input_1.bin, ..
 * are the elements of its inputs, and output_0.bin, .. are written.  The answer is one line:
 *
 *   ok float32[2,3] int64[]      the outputs' types and shapes
 *   refused REASON               an operator that hone does not take, or a model that is none
 *   failed REASON                a fault of hone's
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/import/import.h"
#include "tests/lib/graph_eval.h"

#define PATH_BYTES 4096

static bool read_all(const char *path, void *to, size_t n)
{
	FILE *f = fopen(path, "rb");
	bool ok = f != NULL && fread(to, 1, n, f) == n && fgetc(f) == EOF;

	if (f != NULL) {
		fclose(f);
	}
	return ok;
}

static bool write_all(const char *path, const void *from, size_t n)
{
	FILE *f = fopen(path, "wb");

	return f != NULL && fwrite(from, 1, n, f) == n && fclose(f) == 0;
}

static int read_inputs(const struct hn_graph *g, const char *folder, void **mem,
		       struct hn_err *err)
{
	char path[PATH_BYTES + 32];

	for (uint32_t i = 0; i < g->n_input; i++) {
		size_t n = hn_gvalue_bytes(&g->value[g->input[i]]);

		mem[g->input[i]] = malloc(n + 1);
		snprintf(path, sizeof path, "%.4000s/input_%u.bin", folder, i);
		if (!read_all(path, mem[g->input[i]], n)) {
			return hn_fail(err, HONE_E_IO, "%s has not %zu bytes", path, n);
		}
	}
	return 0;
}

static int write_outputs(const struct hn_graph *g, const char *folder, void **mem,
			 struct hn_err *err)
{
	char path[PATH_BYTES + 32];

	for (uint32_t i = 0; i < g->n_output; i++) {
		snprintf(path, sizeof path, "%.4000s/output_%u.bin", folder, i);
		if (!write_all(path, mem[g->output[i]],
			       hn_gvalue_bytes(&g->value[g->output[i]]))) {
			return hn_fail(err, HONE_E_IO, "%s cannot be written", path);
		}
	}
	return 0;
}

static void answer(const struct hn_graph *g, struct hn_arena *a, int imported, int rc,
		   const struct hn_err *err)
{
	if (rc != 0) {
		printf("%s %s\n", imported != 0 ? "refused" : "failed", err->msg);
		return;
	}
	printf("ok");
	for (uint32_t i = 0; i < g->n_output; i++) {
		const struct hn_gvalue *v = &g->value[g->output[i]];

		printf(" %s%s", hn_dtype_name(v->dtype),
		       hn_shape_text(a, v->rank, v->shape));
	}
	printf("\n");
}

static void run(const char *folder)
{
	struct hn_err err = { 0 };
	struct hn_import im = { 0 };
	struct hn_onnx *o = NULL;
	struct hn_graph g;
	struct hn_arena a;
	char path[PATH_BYTES + 32];
	void **mem = NULL;
	int rc, imported;

	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "model", &err);
	snprintf(path, sizeof path, "%.4000s/model.onnx", folder);
	rc = hn_onnx_open(path, &o, &err);
	rc = rc ? rc : hn_graph_import(o, &im, &g, &err);
	imported = rc;
	if (rc == 0) {
		mem = calloc(g.n_value + 1, sizeof(*mem));
		rc = read_inputs(&g, folder, mem, &err);
		rc = rc ? rc : eval_graph(&g, mem, &err);
		rc = rc ? rc : write_outputs(&g, folder, mem, &err);
	}
	answer(&g, &a, imported, rc, &err);
	for (uint32_t i = 0; mem != NULL && i < g.n_value; i++) {
		free(mem[i]);
	}
	free(mem);
	hn_onnx_close(o);
	hn_arena_fini(&a);
}

int main(void)
{
	char line[PATH_BYTES];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		run(line);
	}
	return 0;
}
