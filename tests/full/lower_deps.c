/* The polyhedral model of every program, whole: its dependences are those of isl's
 * dataflow analysis, and its plain loops have an AST.  Where isl needs longer than the limit
 * that is said cleanly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/options.h>

#include "lower/prove/poly_ast.h"
#include "lower/prove/poly_tree.h"
#include "lower/prove/watchdog.h"
#include "tests/lib/each_case.h"
#include "tests/lib/deps_judge.h"

#define LIMIT_MS 2000		/* what a dag's model may take */
#define ANALYSIS_LIMIT_MS 20000 /* what it is held against */

struct total {
	uint32_t n, n_slow, n_unjudged, n_no_ast;
};

static void make_ast(const char *name, const struct hn_deps *d, struct total *t)
{
	isl_schedule *tree = hn_poly_tree(&d->poly);
	isl_ast_node *ast = hn_poly_ast(&d->poly, tree);

	if (!ast && isl_ctx_last_error(d->poly.ctx) != isl_error_abort) {
		fail_msg("%s: no AST: %s", name, isl_ctx_last_error_msg(d->poly.ctx));
	}
	t->n_no_ast += !ast;
	isl_ast_node_free(ast);
	isl_schedule_free(tree);
}

static void judge(const char *name, const struct hn_deps *d, struct total *t)
{
	isl_ctx *ctx = d->poly.ctx;
	struct hn_watchdog *dog = hn_watchdog_start(ctx, ANALYSIS_LIMIT_MS);
	isl_bool same = deps_agree(d, name);

	if (same == isl_bool_false) {
		fail_msg("%s: not what the analysis says", name);
	}
	if (same == isl_bool_true) {
		make_ast(name, d, t);
	} else {
		assert_int_equal(isl_ctx_last_error(ctx), isl_error_abort);
		print_message("%s: the analysis ran out of time\n", name);
		t->n_unjudged++;
	}
	hn_watchdog_stop(dog);
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	isl_ctx *isl = isl_ctx_alloc();
	struct total *t = ctx;
	const char *name = e->name;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_deps d;

	(void)em;
	(void)host;
	isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
	hn_arena_init(&a, 0);
	struct hn_watchdog *dog = hn_watchdog_start(isl, LIMIT_MS);
	int rc = hn_deps_build(e->dag, isl, &a, &d, &err);

	hn_watchdog_stop(dog);
	if (rc != 0 && rc != -HONE_E_TIMEOUT) {
		fail_msg("%s: %s", name, err.msg);
	}
	t->n++;
	t->n_slow += rc != 0;
	if (rc == 0) {
		judge(name, &d, t);
	}
	hn_deps_free(&d);
	isl_ctx_free(isl);
	hn_arena_fini(&a);
}

static void models_every_case(void **state)
{
	struct total t = { 0 };

	(void)state;
	each_case(check_case, &t);
	print_message("%u dags: %u models, %u analyses and %u ASTs ran out of time\n",
		      t.n, t.n_slow, t.n_unjudged, t.n_no_ast);
	assert_true((t.n_slow + t.n_unjudged + t.n_no_ast) * 10 <= t.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(models_every_case) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("dependences", tests, NULL, NULL);
}
