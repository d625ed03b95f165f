/* ast_judge.h -- a loop tree held against isl's AST of it: the same statement instances in
 * the same order. */
#ifndef HN_TESTS_AST_JUDGE_H
#define HN_TESTS_AST_JUDGE_H

#include <isl/options.h>

#include "lower/prove/poly_tree.h"
#include "lower/prove/watchdog.h"
#include "tests/lib/ast_walk.h"

struct ast_total {
	uint64_t n_tree, n_instance, n_long, n_slow, n_extended, n_isolated;
};

/* Prints the first place where they part. */
static inline bool ast_same(const struct instances *tree, const struct instances *ast)
{
	size_t n = tree->n < ast->n ? tree->n : ast->n, i = 0;

	if (tree->fault[0] || ast->fault[0]) {
		print_error("%s%s\n", tree->fault, ast->fault);
		return false;
	}
	while (i < n && tree->v[i] == ast->v[i]) {
		i++;
	}
	if (i < n || tree->n != ast->n) {
		print_error(
			"they part at number %zu: %zu numbers in the tree, %zu in the "
			"AST\n",
			i, tree->n, ast->n);
	}
	return i == n && tree->n == ast->n;
}

/* What isl prints of the tree it reads back as the same tree. */
static inline bool ast_reloads(isl_schedule *schedule)
{
	char *text = isl_schedule_to_str(schedule);
	isl_schedule *back =
		isl_schedule_read_from_str(isl_schedule_get_ctx(schedule), text);
	bool same = isl_schedule_plain_is_equal(schedule, back) == isl_bool_true;

	if (!same) {
		print_error("the schedule tree does not read back\n");
	}
	isl_schedule_free(back);
	free(text);
	return same;
}

static inline bool ast_compare(const struct hn_poly *p, isl_ast_node *ast, size_t most,
			       struct ast_total *total)
{
	struct instances tree = { .most = most }, other = { .most = most };
	bool same = true;

	instances_of_tree(p, &tree);
	if (tree.n > most) {
		total->n_long++;
	} else {
		instances_of_ast(ast, &other);
		same = ast_same(&tree, &other);
		total->n_tree++;
		total->n_instance += tree.n;
	}
	free(tree.v);
	free(other.v);
	return same;
}

static inline void ast_report(const struct ast_total *x)
{
	print_message(
		"%llu trees with %llu numbers, %llu with extension nodes, %llu with "
		"isolated bands; %llu too long, %llu too slow\n",
		(unsigned long long)x->n_tree, (unsigned long long)x->n_instance,
		(unsigned long long)x->n_extended, (unsigned long long)x->n_isolated,
		(unsigned long long)x->n_long, (unsigned long long)x->n_slow);
}

/* False after telling why; slow ones (limit_ms of isl) and long ones are counted. */
static inline bool ast_judge(const struct hn_looptree *t, int64_t limit_ms, size_t most,
			     struct ast_total *total)
{
	isl_ctx *ctx = isl_ctx_alloc();
	struct hn_watchdog *dog = hn_watchdog_start(ctx, limit_ms);
	isl_schedule *schedule = NULL;
	isl_ast_node *ast = NULL;
	struct hn_buf text;
	struct hn_arena a;
	struct hn_poly p;
	bool good = true;

	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_poly_build(t, ctx, &a, &p);
	if (hn_poly_tree_text(&p, &text)) {
		schedule = isl_schedule_read_from_str(ctx, text.s);
		ast = hn_poly_ast(&p, schedule);
	}
	hn_watchdog_stop(dog);
	if (isl_ctx_last_error(ctx) == isl_error_abort) {
		total->n_slow++;
	} else if (!ast) {
		print_error("isl: %s\n%s\n", isl_ctx_last_error_msg(ctx), text.s);
		good = false;
	} else {
		total->n_extended += strstr(text.s, "extension") != NULL;
		total->n_isolated += strstr(text.s, "isolate[[") != NULL;
		good = ast_reloads(schedule) && ast_compare(&p, ast, most, total);
	}
	if (!good) {
		char *c = ast ? isl_ast_node_to_C_str(ast) : NULL;

		print_error("%s\n%s\n", text.s, c ? c : "");
		free(c);
	}
	isl_ast_node_free(ast);
	isl_schedule_free(schedule);
	hn_poly_free(&p);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	isl_ctx_free(ctx);
	return good;
}

#endif
