/* What `hone poly` prints: texts that isl reads back as the objects they came from, and for
 * what is illegal the dependence, its statements and the loop that carries it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/options.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "lower/prove/deps.h"
#include "lower/prove/poly_show.h"
#include "lower/prove/poly_tree.h"
#include "tests/lib/lower_edits.h"

#define LIMIT_MS 20000

struct bed {
	struct hn_arena a;
	const struct hn_looptree *tree;
	struct hn_buf text;
	isl_ctx *ctx;
	struct hn_deps deps;
};

static void bed_open(struct bed *b, const char *program, const char *steps, edit_fn edit)
{
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	hn_arena_init(&b->a, 0);
	hn_buf_init(&b->text);
	b->ctx = isl_ctx_alloc();
	isl_options_set_on_error(b->ctx, ISL_ON_ERROR_CONTINUE);
	if (hn_dag_parse("t", program, strlen(program), 0, &b->a, &dag, &err) ||
	    hn_trace_parse("t", steps, strlen(steps), &b->a, &trace, &err) ||
	    hn_state_replay(dag, trace, &b->a, &s, &err) ||
	    hn_looptree_build(s, &b->a, &b->tree, &err)) {
		fail_msg("%s", err.msg);
	}
	if (edit) {
		struct hn_looptree *wrong = HN_NEW(&b->a, struct hn_looptree);

		*wrong = *b->tree;
		wrong->root = edit_tree(b->tree->root, edit, &b->a);
		b->tree = wrong;
	}
	assert_int_equal(hn_deps_of_tree(b->tree, b->ctx, &b->a, &b->deps, &err), 0);
}

static void bed_close(struct bed *b)
{
	hn_deps_free(&b->deps);
	isl_ctx_free(b->ctx);
	hn_buf_fini(&b->text);
	hn_arena_fini(&b->a);
}

static char *show(struct bed *b, const char *part)
{
	struct hn_err err = { 0 };

	hn_buf_reset(&b->text);
	if (hn_poly_show(b->tree, part, LIMIT_MS, &b->text, &err)) {
		fail_msg("%s", err.msg);
	}
	return b->text.s;
}

static const char stencil[] =
	"st(float32 A[18,18], float32 W[3,3]) -> C { B(y,x) = A(y,x) * 2.0\n"
	"C(y,x) +=! B(y+r,x+s) * W(r,s) }";
static const char pad[] =
	"p(float32 A[12]) -> C { P(i) = i >= 1 && i < 13 ? A(i-1) : 0 where i in 0:14\n"
	"C(i,j) +=! P(i + r) * float32(j / 2 + j % 2 + r) where i in 0:12, j in 0:5, r "
	"in 0:3 }";
static const char tiles[] =
	"[[\"SP\", 3, 0, 16, [5], 1], [\"SP\", 3, 2, 16, [3], 1],"
	" [\"RE\", 3, [0, 2, 1, 3, 4, 5]], [\"CA\", 2, 3, 1], [\"AN\", 3, 3, 2]]";

static const char *const reloaded[][2] = { { stencil, "[]" },
					   { stencil, tiles },
					   { pad, "[]" } };

/* The isl text of a line begins at its brace. */
static char *object(char *line)
{
	char *brace = strchr(line, '{');

	assert_non_null(brace);
	return brace;
}

static void reload_dependences(struct bed *b)
{
	char *rest, *line = strtok_r(show(b, "dependences"), "\n", &rest);

	for (uint32_t c = 0; c < HN_N_DEP; c++, line = strtok_r(NULL, "\n", &rest)) {
		assert_non_null(line);
		isl_union_map *m = isl_union_map_read_from_str(b->ctx, object(line));

		assert_true(strncmp(line, hn_dep_class_name(c),
				    strlen(hn_dep_class_name(c))) == 0);
		assert_true(isl_union_map_is_equal(m, b->deps.dep[c]) == isl_bool_true);
		isl_union_map_free(m);
	}
	assert_null(line);
}

/* Domains, writes and reads of all statements, as one union each. */
static void reload_statements(struct bed *b)
{
	isl_union_set *domain =
		isl_union_set_empty(isl_union_set_get_space(b->deps.domain));
	isl_union_map *write =
		isl_union_map_empty(isl_union_map_get_space(b->deps.write));
	isl_union_map *read = isl_union_map_copy(write), *want;
	char *rest;

	for (char *line = strtok_r(show(b, "statements"), "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "  domain", 8) == 0) {
			domain = isl_union_set_union(
				domain,
				isl_union_set_read_from_str(b->ctx, object(line)));
		} else if (strncmp(line, "  write", 7) == 0) {
			write = isl_union_map_union(
				write, isl_union_map_read_from_str(b->ctx, object(line)));
		} else if (strncmp(line, "  read", 6) == 0) {
			read = isl_union_map_union(
				read, isl_union_map_read_from_str(b->ctx, object(line)));
		}
	}
	want = isl_union_map_domain_factor_domain(isl_union_map_copy(b->deps.read));
	assert_true(isl_union_set_is_equal(domain, b->deps.domain) == isl_bool_true);
	assert_true(isl_union_map_is_equal(write, b->deps.write) == isl_bool_true);
	assert_true(isl_union_map_is_equal(read, want) == isl_bool_true);
	isl_union_set_free(domain);
	isl_union_map_free(write);
	isl_union_map_free(read);
	isl_union_map_free(want);
}

static void reads_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(reloaded); i++) {
		isl_schedule *tree, *back;
		struct bed b;

		bed_open(&b, reloaded[i][0], reloaded[i][1], NULL);
		reload_dependences(&b);
		reload_statements(&b);
		tree = hn_poly_tree(&b.deps.poly);
		back = isl_schedule_read_from_str(b.ctx, show(&b, "schedule"));
		assert_true(isl_schedule_plain_is_equal(tree, back) == isl_bool_true);
		assert_non_null(strstr(show(&b, "ast"), "S2("));
		assert_string_equal(show(&b, "legality"), "legal\n");
		isl_schedule_free(tree);
		isl_schedule_free(back);
		bed_close(&b);
	}
}

static void expect_words(const char *program, const char *steps, edit_fn edit,
			 const char *words)
{
	struct bed b;

	bed_open(&b, program, steps, edit);
	show(&b, "legality");
	if (!strstr(b.text.s, "ILLEGAL: ") || !strstr(b.text.s, words)) {
		fail_msg("wanted \"%s\" in %s", words, b.text.s);
	}
	bed_close(&b);
}

static void tells_what_is_broken(void **state)
{
	(void)state;
	expect_words(stencil, "[[\"AN\", 3, 2, 3]]", NULL,
		     "reduction dependence S2 (update C) -> S2 (update C) is carried by "
		     "parallel loop r (l4): {");
	expect_words(stencil, "[[\"AN\", 3, 3, 2]]", NULL,
		     "reduction dependence S2 (update C) -> S2 (update C) is carried by "
		     "vectorize loop s (l5): {");
	expect_words(
		stencil, "[]", swap_children,
		"flow dependence S2 (compute B) -> S1 (update C) runs backwards: its "
		"reader's nest comes first");
}

/* In a bitwise task a reduction keeps its order. */
static void tells_of_turned_reductions(void **state)
{
	static const char program[] =
		"{\"format\":\"compute-dag/"
		"1\",\"ops\":[{\"kind\":\"placeholder\",\"id\":\"A\","
		"\"name\":\"A\",\"shape\":[4,6],\"dtype\":\"float32\"},{\"kind\":"
		"\"compute\","
		"\"id\":\"C\",\"name\":\"C\",\"tag\":\"\",\"attrs\":{\"bitwise\":true},"
		"\"axes\":"
		"[],\"reduce_axes\":[[\"i\",0,4],[\"j\",0,6]],\"shape\":[],\"dtype\":["
		"\"float32\"],\"body\":[{\"reduce\":{\"lhs\":[\"x\"],\"rhs\":[\"y\"],"
		"\"result\":[[\"add\",[\"var\",\"x\"],[\"var\",\"y\"]]],\"identity\":[["
		"\"float\",0.0,\"float32\"]]},\"source\":[[\"load\",\"A\",[\"var\",\"i\"]"
		",["
		"\"var\",\"j\"]]],\"condition\":[\"int\",1,\"bool\"],\"init\":[],"
		"\"value_index\":0}]}],\"inputs_outputs\":[\"A\",\"C\"]}";

	(void)state;
	expect_words(program, "[[\"RE\", 1, [1, 0]]]", NULL,
		     "reduction dependence S1 (update C) -> S1 (update C) is carried "
		     "backwards by loop j (l0)");
}

static void names_its_parts(void **state)
{
	struct hn_err err = { 0 };
	struct bed b;

	(void)state;
	bed_open(&b, stencil, "[]", NULL);
	assert_int_not_equal(hn_poly_show(b.tree, "tree", LIMIT_MS, &b.text, &err), 0);
	assert_non_null(strstr(err.msg, "no part \"tree\": all, statements"));
	bed_close(&b);
}

/* Tiles on tiles of a convolution: more than a millisecond of isl in each part but one. */
static const char many[] =
	"c(float32 X[4,30,30,16], float32 W[3,3,16,24]) -> C { C(n,h,w,f) +=! "
	"X(n,h+r,w+s,c) * W(r,s,c,f) }";
static const char many_tiles[] =
	"[[\"SP\", 2, 0, 4, [2, 2], 1], [\"SP\", 2, 3, 28, [3, 4], 1], [\"SP\", 2, 6, "
	"28, [3, "
	"5], 1], [\"SP\", 2, 9, 24, [5, 2], 1], [\"SP\", 2, 14, 16, [3], 1], [\"RE\", 2, "
	"[0, 3, "
	"6, 9, 1, 4, 7, 10, 14, 12, 13, 15, 2, 5, 8, 11]], [\"AN\", 2, 15, 2]]";

/* The clock is another thread's, which may be late: of twenty times it is not once. */
static void says_when_time_is_up(void **state)
{
	uint32_t n_stopped = 0;
	struct hn_err err = { 0 };
	struct bed b;

	(void)state;
	bed_open(&b, many, many_tiles, NULL);
	for (int i = 0; i < 20; i++) {
		hn_buf_reset(&b.text);
		assert_int_equal(hn_poly_show(b.tree, "ast", 1, &b.text, &err), 0);
		if (strcmp(b.text.s, "(isl ran out of time)\n") == 0) {
			n_stopped++;
		} else {
			assert_non_null(strstr(b.text.s, "S1("));
		}
	}
	assert_true(n_stopped > 0);
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_back),
		cmocka_unit_test(tells_what_is_broken),
		cmocka_unit_test(tells_of_turned_reductions),
		cmocka_unit_test(names_its_parts),
		cmocka_unit_test(says_when_time_is_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
