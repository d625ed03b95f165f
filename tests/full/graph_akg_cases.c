/* The fused operators of the folder that -DHONE_CASES names: each is read and imported, or hone says
 * of an operator in it that it does not take it, and why. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/akg/import.h"

#define MOST_DIMS 64
#define SIZE 32 /* of open dimensions */

/* Every open dimension of inputs, once. */
static uint32_t open_dims(const struct hn_akg_kernel *k, struct hn_arena *a, struct hn_import_dim *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n_in; i++) {
		for (uint32_t d = 0; d < k->in[i].rank; d++) {
			const struct hn_akg_tensor *t = &k->in[i];

			if (t->shape[d] == -1) {
				assert_true(n < MOST_DIMS);
				ret[n++] = (struct hn_import_dim){
					hn_arena_printf(a, "%s:%u", t->name, d), SIZE, false
				};
			}
		}
	}
	return n;
}

/* Whether it is imported; if not, an operator is refused by name. */
static bool import(const char *path)
{
	struct hn_import_dim dim[MOST_DIMS];
	struct hn_import im = { .dim = dim };
	struct hn_err err = { 0 };
	struct hn_akg *k = NULL;
	struct hn_arena a;
	struct hn_graph g;
	int rc;

	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "case", &err);
	if (hn_akg_open(path, &k, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	im.n_dim = open_dims(hn_akg_kernel(k), &a, dim);
	rc = hn_akg_import(k, &im, &g, &err);
	for (uint32_t i = 0; i < im.n_refusal; i++) {
		print_message("%s: %s: %s\n", strrchr(path, '/') + 1, im.refusal[i].op,
			      im.refusal[i].why);
		assert_string_equal(im.refusal[i].why, hn_akg_why_not(im.refusal[i].op));
	}
	if (rc != 0 && im.n_refusal == 0) {
		fail_msg("%s: %s", path, err.msg);
	}
	hn_akg_close(k);
	hn_arena_fini(&a);
	return rc == 0;
}

static void all_are_imported(void **state)
{
	uint32_t n_imported = 0;
	glob_t files = { 0 };

	(void)state;
	if (glob(HONE_CASES_DIR "/akg/*.info*", 0, NULL, &files) != 0 ||
	    glob(HONE_CASES_DIR "/akg/*.json", GLOB_APPEND, NULL, &files) != 0) {
		assert_int_not_equal(access(HONE_CASES_DIR, F_OK), 0); /* a folder of cases has some */
		print_message("no cases here; -DHONE_CASES=DIR names a folder with akg/ in it\n");
		skip();
	}
	for (size_t i = 0; i < files.gl_pathc; i++) {
		n_imported += import(files.gl_pathv[i]);
	}
	print_message("%u of %zu kernels are imported\n", n_imported, files.gl_pathc);
	assert_true(n_imported * 100 >= files.gl_pathc * 95);
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_imported),
	};

	return cmocka_run_group_tests_name("cases of AKG", tests, NULL, NULL);
}
