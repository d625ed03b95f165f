/* The fused operators of the folder that -DHONE_CASES names, on the simulated NPU: each dag that hone
 * makes of one is a program that the machine runs, or hone says why not.  Where it is not too large it
 * is judged, and its numbers are the interpreter's.  How many are is held to a floor.
 *
 *     full_all_npu_akg [PART-OF-A-NAME]     those alone, and what each takes
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/akg/import.h"
#include "graph/net/net.h"
#include "graph/pass/pass.h"
#include "tests/lib/npu_bed.h"

#define MOST_DIMS 64
#define SIZE 32 /* of open dimensions */
#define MOST_KEYS 1000
#define MOST_ELEMENTS 2000000 /* of all arguments, and */
#define MOST_INSNS 300000    /* of the program, where numbers are computed and races judged */

static const char *part; /* of names */

struct count {
	uint32_t files, whole, aicore, aicore_whole; /* whole: each dag is a program */
	uint32_t dags, made, computed;
	uint32_t n_key;
	char key[MOST_KEYS][HN_KEY_BYTES];
};

static uint32_t open_dims(const struct hn_akg_kernel *k, struct hn_arena *a, struct hn_import_dim *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n_in; i++) {
		for (uint32_t d = 0; d < k->in[i].rank; d++) {
			if (k->in[i].shape[d] == -1) {
				assert_true(n < MOST_DIMS);
				ret[n++] = (struct hn_import_dim){
					hn_arena_printf(a, "%s:%u", k->in[i].name, d), SIZE, false
				};
			}
		}
	}
	return n;
}

static bool is_new(struct count *c, const struct hn_dag *dag)
{
	char key[HN_KEY_BYTES];

	hn_dag_key(dag, key);
	for (uint32_t i = 0; i < c->n_key; i++) {
		if (strcmp(c->key[i], key) == 0) {
			return false;
		}
	}
	assert_true(c->n_key < MOST_KEYS);
	memcpy(c->key[c->n_key++], key, sizeof(key));
	return true;
}

static double elements(const struct hn_dag *dag)
{
	double n = 0;

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		n += (double)hn_op_elements(dag->op[dag->arg[i]]);
	}
	return n;
}

/* Whether it is a program; one that is wrong ends the test. */
static bool one(const char *file, const char *name, const struct hn_dag *dag, const struct hn_npu_profile *m,
		struct count *c)
{
	const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	bool fresh = is_new(c, dag), made;
	const struct hn_npu_program *p;
	struct hn_npu_result r = { 0 };
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	made = hn_npu_program(dag, m, &plan, &a, &p, &err) == 0;
	c->dags += fresh;
	c->made += made && fresh;
	if (!made && (fresh || part != NULL)) {
		print_message("%.36s %s: %s\n", file, name, err.msg);
	}
	if (made && (hn_npu_run(p, m, &(struct hn_npu_options){ .most = (uint64_t)1 << 34 }, &a, &r, &err) != 0)) {
		fail_msg("%s %s: %s", file, name, err.msg);
	}
	if (made && fresh && elements(dag) <= MOST_ELEMENTS && r.n_insn <= MOST_INSNS) {
		struct npu_bed b;

		if (npu_bed_open(&b, dag, m, 5) != 0 || npu_bed_run(&b, p, 0, true, &a, &r) != 0 ||
		    npu_bed_compare(&b) < 0) {
			fail_msg("%s %s: %s", file, name, b.err.msg);
		}
		c->computed++;
		npu_bed_close(&b);
	}
	if (made && part != NULL) {
		print_message("%.36s %s: %lld cycles, %llu instructions\n", file, name, (long long)r.cycles,
			      (unsigned long long)r.n_insn);
	}
	hn_arena_fini(&a);
	return made;
}

static void file(const char *path, const struct hn_npu_profile *m, struct count *c)
{
	const char *name = strrchr(path, '/') + 1;
	struct hn_import_dim dim[MOST_DIMS];
	struct hn_import im = { .dim = dim };
	struct hn_err err = { 0 };
	struct hn_akg *k = NULL;
	struct hn_net net;
	struct hn_arena a;
	struct hn_graph g;
	bool whole = true, aicore = strstr(name, "aicore") != NULL;

	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "case", &err);
	if (hn_akg_open(path, &k, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	im.n_dim = open_dims(hn_akg_kernel(k), &a, dim);
	if (hn_akg_import(k, &im, &g, &err) != 0) {
		assert_true(im.n_refusal > 0); /* graph_akg_cases looks at these */
		whole = false;
	} else if (hn_net_make(&g, &net, &err) != 0) {
		fail_msg("%s: %s", name, err.msg);
	}
	for (uint32_t i = 0; im.n_refusal == 0 && i < net.n_task; i++) {
		whole = one(name, net.task[i].name, net.task[i].dag, m, c) && whole;
	}
	c->files++;
	c->whole += whole;
	c->aicore += aicore;
	c->aicore_whole += aicore && whole;
	hn_akg_close(k);
	hn_arena_fini(&a);
}

static void most_are_programs(void **state)
{
	static struct count c;
	struct hn_npu_profile m;
	struct hn_err err;
	glob_t files = { 0 };

	(void)state;
	if (glob(HONE_CASES_DIR "/akg/*.info*", 0, NULL, &files) != 0 ||
	    glob(HONE_CASES_DIR "/akg/*.json", GLOB_APPEND, NULL, &files) != 0) {
		assert_int_not_equal(access(HONE_CASES_DIR, F_OK), 0); /* a folder of cases has some */
		print_message("no cases here; -DHONE_CASES=DIR names a folder with akg/ in it\n");
		skip();
	}
	assert_int_equal(hn_npu_profile_of("dv910", &m, &err), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		if (part == NULL || strstr(files.gl_pathv[i], part) != NULL) {
			file(files.gl_pathv[i], &m, &c);
		}
	}
	print_message("%u of %u files are programs as a whole, %u of %u for aicore; %u of %u dags, of %u the "
		      "numbers too\n", c.whole, c.files, c.aicore_whole, c.aicore, c.made, c.dags, c.computed);
	assert_true(part != NULL || (c.made * 100 >= c.dags * 93 && c.aicore_whole * 10 >= c.aicore * 9));
	globfree(&files);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_are_programs),
	};

	part = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests_name("cases of AKG on the NPU", tests, NULL, NULL);
}
