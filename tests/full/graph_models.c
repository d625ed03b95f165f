/* Real models, read by hone and by the onnx package, say the same: every name, attribute, shape
 * and byte of their weights, as text that is compared line by line.
 *
 * -DHONE_MODELS=DIR names a folder with *.onnx files; python3 -c 'import onnx' must work, of
 * -DHONE_PYTHON where that is another one.  Without these the test is skipped, and says so. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/lib/onnx_dump.h"

#define LINE_BYTES 400 /* of a line that differs, shown */

static const char *python(void)
{
	return HONE_PYTHON[0] != '\0' ? HONE_PYTHON : "python3";
}

static bool has_onnx(void)
{
	char command[4096];

	snprintf(command, sizeof command, "'%s' -c 'import onnx' 2>/dev/null", python());
	return system(command) == 0;
}

/* What Python says of the file. */
static void say_python(const char *path, struct hn_buf *ret)
{
	char command[4096], chunk[65536];
	size_t n;
	FILE *out;

	snprintf(command, sizeof command, "'%s' '%s/tests/lib/onnx_dump.py' '%s'", python(),
		 HONE_SOURCE_DIR, path);
	out = popen(command, "r");
	assert_non_null(out);
	while ((n = fread(chunk, 1, sizeof chunk, out)) > 0) {
		hn_buf_add(ret, chunk, n);
	}
	if (pclose(out) != 0) {
		fail_msg("%s failed", command);
	}
}

static void say_hone(const char *path, struct hn_buf *ret)
{
	struct hn_onnx *o;
	struct hn_err err = { 0 };
	int64_t start = hn_clock_ns();
	const struct hn_onnx_graph *g;

	if (hn_onnx_open(path, &o, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	g = hn_onnx_model(o)->graph;
	print_message("%s: %u nodes, %u initializers, %zu bytes of memory, %.2f ms\n",
		      strrchr(path, '/') + 1, g->n_node, g->n_initializer, hn_onnx_memory(o),
		      (double)(hn_clock_ns() - start) * 1e-6);
	dump_model(ret, hn_onnx_model(o));
	hn_onnx_close(o);
}

static void compare(const char *path, const char *got, const char *want)
{
	for (unsigned line = 1; *got != '\0' || *want != '\0'; line++) {
		size_t n = strcspn(got, "\n"), m = strcspn(want, "\n");

		if (n != m || memcmp(got, want, n) != 0) {
			fail_msg("%s: line %u is\n%.*s\nand by Python\n%.*s", path, line,
				 (int)(n < LINE_BYTES ? n : LINE_BYTES), got,
				 (int)(m < LINE_BYTES ? m : LINE_BYTES), want);
		}
		got += n + (got[n] != '\0');
		want += m + (want[m] != '\0');
	}
}

static void models_are_read_as_by_python(void **state)
{
	const glob_t *files = *state;

	for (size_t i = 0; i < files->gl_pathc; i++) {
		struct hn_buf got, want;

		hn_buf_init(&got);
		hn_buf_init(&want);
		say_hone(files->gl_pathv[i], &got);
		say_python(files->gl_pathv[i], &want);
		assert_true(got.n > 0);
		compare(files->gl_pathv[i], got.s, want.s);
		hn_buf_fini(&got);
		hn_buf_fini(&want);
	}
}

int main(void)
{
	glob_t files = { 0 };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(models_are_read_as_by_python, &files),
	};
	int rc;

	if (HONE_MODELS_DIR[0] == '\0') {
		print_message("skipped: no models; -DHONE_MODELS=DIR names a folder of them\n");
		return 77;
	}
	if (!has_onnx()) {
		print_message("skipped: %s has no onnx package (-DHONE_PYTHON=PROGRAM)\n", python());
		return 77;
	}
	if (glob(HONE_MODELS_DIR "/*.onnx", 0, NULL, &files) != 0) {
		print_message("%s: no *.onnx\n", HONE_MODELS_DIR);
		return 1;
	}
	rc = cmocka_run_group_tests_name("onnx models", tests, NULL, NULL);
	globfree(&files);
	return rc;
}
