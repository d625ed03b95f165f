/* isl stopped at random points, while the model, its dependences, the schedule tree, the AST
 * or the words for what is broken are made: every call comes back, says so, and leaves
 * nothing behind.  Every isl object holds its context, which complains on standard error when
 * it is freed before one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/options.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/dag_form.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_histories.h"
#include "lower/prove/poly_ast.h"
#include "lower/prove/poly_tree.h"
#include "lower/prove/poly_why.h"

#define N_STOPS 16 /* of each tree */

struct count {
	uint32_t n, n_stopped, n_late; /* late: the model was whole */
};

/* Everything there is, with whatever isl still does; whether all of it came out. */
static bool make_all(const struct hn_looptree *t, isl_ctx *ctx, struct hn_arena *a,
		     struct count *c)
{
	struct hn_err err = { 0 };
	struct hn_deps d;
	struct hn_buf text;
	int rc = hn_deps_of_tree(t, ctx, a, &d, &err);

	if (rc != 0 && rc != -HONE_E_TIMEOUT) {
		fail_msg("%d: %s", rc, err.msg);
	}
	isl_union_map *validity = hn_deps_validity(&d);
	isl_schedule *tree = hn_poly_tree(&d.poly);
	isl_ast_node *ast = hn_poly_ast(&d.poly, tree);

	hn_buf_init(&text);
	(void)hn_poly_why(&d, &text);
	bool whole = isl_ctx_last_error(ctx) == isl_error_none;

	if (whole != (hn_deps_failure(ctx, "isl", &err) == 0) ||
	    (whole && (rc != 0 || !validity || !tree || !ast))) {
		fail_msg("isl's error and what it gave do not agree: %s", err.msg);
	}
	c->n_late += !whole && rc == 0;
	hn_buf_fini(&text);
	isl_union_map_free(validity);
	isl_ast_node_free(ast);
	isl_schedule_free(tree);
	hn_deps_free(&d);
	return whole;
}

static void free_silently(isl_ctx *ctx)
{
	int said = memfd_create("said", MFD_CLOEXEC), kept = dup(STDERR_FILENO);

	assert_true(said >= 0 && kept >= 0 && dup2(said, STDERR_FILENO) >= 0);
	isl_options_set_on_error(ctx, ISL_ON_ERROR_WARN);
	isl_ctx_free(ctx);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	assert_int_equal(lseek(said, 0, SEEK_END), 0);
	close(said);
	close(kept);
}

static bool stopped_at(const struct hn_looptree *t, unsigned long operations,
		       struct count *c)
{
	isl_ctx *ctx = isl_ctx_alloc();
	struct hn_arena a;

	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	isl_ctx_set_max_operations(ctx, operations);
	hn_arena_init(&a, 0);
	bool whole = make_all(t, ctx, &a, c);

	hn_arena_fini(&a);
	free_silently(ctx);
	return whole;
}

static void stop_everywhere(const struct hn_looptree *t, uint64_t seed, struct count *c)
{
	struct hn_rng rng = hn_rng_stream(seed, 3, 1, 4);

	for (uint32_t i = 0; i < N_STOPS; i++) {
		uint64_t below = (uint64_t)1 << hn_rng_below(&rng, 20);
		unsigned long operations = 1 + hn_rng_below(&rng, below);

		c->n++;
		c->n_stopped += !stopped_at(t, operations, c);
	}
}

static const struct hn_looptree *open_tree(const struct dag_form *form, uint64_t seed,
					   struct hn_arena *a)
{
	const struct hn_dag *dag = dag_form_open(form->name, form->json, a);
	const struct hn_looptree *t;
	struct hn_err err;

	return hn_looptree_build(random_history(dag, seed, a), a, &t, &err) == 0 ? t
										 : NULL;
}

static void comes_back(void **state)
{
	struct count c = { 0 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_looptree *t = open_tree(&dag_forms[i], i, &a);

		if (t) {
			stop_everywhere(t, i, &c);
		}
		hn_arena_fini(&a);
	}
	print_message("%u runs, %u of them stopped, %u after the model\n", c.n,
		      c.n_stopped, c.n_late);
	assert_true(c.n_stopped > c.n / 4 && c.n_late > 0 && c.n_stopped < c.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(comes_back) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
