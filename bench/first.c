/* bench/first.c -- how long a user waits for the first measured candidate of a computation that
 * nobody has tuned.
 *
 *   hone-bench first [CASE...]    a case of suite.def; without one 512^3, 1024^3, 3000^3 and c3d-b16-2
 *
 * Each is `hone tune --trials 1` in a store of its own, without a daemon: `first.trial` is from the
 * command to the first trial, the start of honed and its probe of the machine included;
 * `first.job` from the job's begin to there; `first.command` the whole, with the final.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "bench/bench.h"
#include "bench/suite.h"

int hn_bench_first(const struct hn_bench_args *args);

static const struct hn_suite_row large = {
	"gmm-3000", HN_SUITE_matmul, { 0, 3000, 3000, 3000 }, HN_SUITE_F32
};

static const struct hn_suite_row *row_of(const char *name)
{
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (strcmp(hn_suite[i].name, name) == 0) {
			return &hn_suite[i];
		}
	}
	return strcmp(name, large.name) == 0 ? &large : NULL;
}

static double number(const struct hn_json *v, const char *key)
{
	double d = 0;

	return hn_json_double(hn_json_get(v, key), &d) ? d : 0;
}

static void report(const char *name, double seconds, const struct hn_json *job)
{
	char context[300];

	snprintf(context, sizeof context,
		 "\"case\": \"%s\", \"gflop\": %.1f, \"naive_seconds\": %.3g, \"measured\": %s", name,
		 number(job, "flops") * 1e-9, number(job, "naive_ns") * 1e-9,
		 number(job, "median_ns") > 0 ? "true" : "false");
	double after = (number(job, "ms") - number(job, "first_ms")) * 1e-3;

	hn_bench_row("first.trial", seconds - after, "s", context);
	hn_bench_row("first.job", number(job, "first_ms") * 1e-3, "s", context);
	hn_bench_row("first.command", seconds, "s", context);
}

/* `program` is our own; hone is beside it. */
static int tune(const char *program, const char *folder, const struct hn_suite_row *row)
{
	char command[9000], line[20000] = "", path[300];
	struct hn_json *job = NULL;
	struct hn_err err = { 0 };
	struct hn_buf text;
	int64_t begin;
	FILE *p;
	int rc;

	hn_buf_init(&text);
	hn_suite_text(row, &text);
	snprintf(path, sizeof path, "%s/%s.txt", folder, row->name);
	rc = hn_file_replace(path, text.s, text.n, &err);
	hn_buf_fini(&text);
	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
		return 1;
	}
	snprintf(command, sizeof command,
		 "HONE_HOME='%s/%s.home' HONE_SOCKET='%s/s' '%.*s/hone' tune '%s' --trials 1 --json "
		 "--quiet",
		 folder, row->name, folder, (int)(strrchr(program, '/') - program), program, path);
	begin = hn_clock_ns();
	p = popen(command, "r");
	if (p == NULL || fgets(line, sizeof line, p) == NULL || pclose(p) != 0 ||
	    hn_json_parse("job", line, strlen(line), NULL, &job, NULL) != 0) {
		fprintf(stderr, "hone-bench: %s: hone tune failed\n", row->name);
		return 1;
	}
	report(row->name, (double)(hn_clock_ns() - begin) * 1e-9, job);
	hn_json_free(job);
	return 0;
}

int hn_bench_first(const struct hn_bench_args *args)
{
	static char *const usual[] = { "gmm-b1-2", "gmm-b1-3", "gmm-3000", "c3d-b16-2" };
	char *const *name = args->argc > 0 ? args->argv : usual;
	int n = args->argc > 0 ? args->argc : (int)HN_COUNT_OF(usual), status = 0;
	char folder[] = "/tmp/hone-first-XXXXXX", program[4200] = "", command[100];
	ssize_t at = readlink("/proc/self/exe", program, sizeof program - 1);

	if (at <= 0 || mkdtemp(folder) == NULL) {
		fprintf(stderr, "hone-bench: no folder to work in\n");
		return 1;
	}
	for (int i = 0; i < n; i++) {
		const struct hn_suite_row *row = row_of(name[i]);

		if (row == NULL) {
			fprintf(stderr, "hone-bench: no case '%s' in bench/suite.def\n", name[i]);
			status = 2;
			continue;
		}
		status |= tune(program, folder, row);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command) != 0 ? 1 : status;
}
