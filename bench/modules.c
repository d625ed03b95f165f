/* bench/modules.c -- what the rules make of products of matrices for a GPU, as files: for who has
 * such a machine at another place, or for a short time.
 *
 * Words are TYPE:MxNxK (bfloat16:4096x4096x4096; a row-major product of row-major matrices, whose
 * sums are float32, of int8 int32), or files of dags.  For each rule's schedule of each, at last those
 * of instructions that no machine has confirmed, there are NAME-i.steps, a history, and
 * NAME-i.module, what a board loads (proto/gpu_module.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "bench/workload.h"
#include "loopstate/nest/looptree.h"
#include "lower/lower.h"
#include "sketch/heuristic.h"

#define USAGE                                                                                    \
	"usage: hone-bench modules --target LINE -o FOLDER [--form FORM] "                       \
	"TYPE:MxNxK|FILE...\n"

struct run {
	struct hn_target target;
	struct hn_emitter *emitter;
	const char *folder, *form;
	struct hn_arena a;
};

static int write_file(const struct run *r, const char *name, uint32_t i, const char *suffix,
		      const void *bytes, size_t n, struct hn_err *err)
{
	char path[600], clean[200];

	snprintf(clean, sizeof(clean), "%s", strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	for (char *c = clean; *c != '\0'; c++) {
		*c = *c == ':' ? '-' : *c;
	}
	snprintf(path, sizeof(path), "%s/%s-%u.%s", r->folder, clean, i, suffix);
	return hn_file_replace(path, bytes, n, err);
}

static int one(struct run *r, const char *name, uint32_t i, const struct hn_state *s,
	       struct hn_err *err)
{
	const struct hn_emit_options options = { .symbol = "k", .form = r->form };
	int64_t start = hn_clock_ns();
	const struct hn_looptree *t;
	struct hn_artefact made;
	struct hn_buf text;
	char context[300];
	int rc = hn_looptree_build(s, &r->a, &t, err);

	rc = rc ? rc : hn_emit(r->emitter, t, &options, &r->a, &made, err);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	hn_trace_write(s->trace, &text);
	rc = write_file(r, name, i, "steps", text.s, text.n, err);
	hn_buf_fini(&text);
	rc = rc ? rc : write_file(r, name, i, "module", made.object, made.object_bytes, err);
	if (rc == 0) {
		snprintf(context, sizeof(context), "\"case\": \"%.200s\", \"rule\": %u", name, i);
		hn_bench_row("module", (double)(hn_clock_ns() - start) / 1e9, "s", context);
	}
	return rc;
}

static int all_of(struct run *r, const char *word, struct hn_err *err)
{
	const struct hn_state *s[2 * HN_HEURISTIC_MAX];
	const struct hn_bench_args file = { .argc = 1, .argv = (char **)(uintptr_t)&word };
	struct hn_bench_case *item;
	const struct hn_dag *dag;
	uint32_t n;
	int rc = 0;

	if (strchr(word, ':') != NULL) {
		dag = hn_bench_product(word, &r->a, err);
	} else {
		dag = hn_bench_cases(&file, &r->a, &n, &item) == 0 && n == 1 ? item->dag : NULL;
	}
	if (dag == NULL) {
		return -HONE_E_INVALID;
	}
	n = hn_heuristics(dag, &r->target, &r->a, s);
	n += hn_heuristics_unconfirmed(dag, &r->target, &r->a, &s[n]);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = one(r, word, i, s[i], err);
	}
	return rc == 0 && n == 0 ? hn_fail(err, HONE_E_UNSUPPORTED, "%s: no rule has a schedule", word)
				 : rc;
}

extern int hn_bench_modules(const struct hn_bench_args *args);

int hn_bench_modules(const struct hn_bench_args *args)
{
	const char *line = NULL;
	struct run r = { 0 };
	struct hn_err err = { 0 };
	int i = 0, rc;

	for (; i + 1 < args->argc && args->argv[i][0] == '-'; i += 2) {
		const char *value = args->argv[i + 1];

		line = strcmp(args->argv[i], "--target") == 0 ? value : line;
		r.folder = strcmp(args->argv[i], "-o") == 0 ? value : r.folder;
		r.form = strcmp(args->argv[i], "--form") == 0 ? value : r.form;
	}
	if (line == NULL || r.folder == NULL || i >= args->argc) {
		fputs(USAGE, stderr);
		return 2;
	}
	hn_arena_init(&r.a, 0);
	rc = hn_target_parse(line, &r.a, &r.target, &err);
	rc = rc ? rc : hn_emitter_new(&r.target, &r.emitter, &err);
	for (; i < args->argc && rc == 0; i++) {
		rc = all_of(&r, args->argv[i], &err);
	}
	if (rc != 0 && err.msg[0] != '\0') {
		fprintf(stderr, "hone-bench modules: %s\n", err.msg);
	}
	hn_emitter_free(r.emitter);
	hn_arena_fini(&r.a);
	return rc != 0;
}
