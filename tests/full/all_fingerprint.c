/* Programs of one fingerprint for a target (target/cpu/fingerprint.h) compile to one machine code.
 *
 * Neighbours of neighbours of random programs, as a search makes them; of each fingerprint the
 * first history and every other one that differs from it are compiled. */
#include "tests/lib/search_dags.h"

#include <llvm-c/Target.h>

#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "search/search_int.h"
#include "target/cpu/fingerprint.h"

#define N_WALK 40
#define N_STEP 40
#define MOST_PAIRS 200 /* of one dag */

struct first {
	uint64_t hash;
	const struct hn_trace *trace;
};

struct fixture {
	struct hn_arena a;
	struct hn_target host;
	struct hn_emitter *em;
	uint32_t n_pair;
};

static const struct hn_looptree *tree_of(const struct hn_dag *dag, const struct hn_trace *t,
					 struct hn_arena *a)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_err err;

	if (hn_state_replay(dag, t, a, &s, &err) < 0 ||
	    hn_looptree_build(s, a, &tree, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return tree;
}

static struct hn_artefact compile(struct fixture *f, const struct hn_dag *dag,
				  const struct hn_trace *t, struct hn_arena *a)
{
	struct hn_emit_options o = { .symbol = "k" };
	struct hn_artefact out;
	struct hn_err err;

	if (hn_emit(f->em, tree_of(dag, t, a), &o, a, &out, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return out;
}

static void compare(struct fixture *f, const struct hn_dag *dag, const struct hn_trace *x,
		    const struct hn_trace *y)
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	struct hn_artefact p = compile(f, dag, x, &a), q = compile(f, dag, y, &a);

	if (p.object_bytes != q.object_bytes ||
	    memcmp(p.object, q.object, p.object_bytes) != 0) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_trace_write(x, &text);
		hn_buf_puts(&text, "\n");
		hn_trace_write(y, &text);
		fail_msg("one fingerprint, two programs:\n%s", text.s);
	}
	f->n_pair++;
	hn_arena_fini(&a);
}

static void walk(struct fixture *f, const struct hn_dag *dag)
{
	struct hn_task task = { .dag = dag, .target = &f->host, .model = "analytic" };
	struct first *first = HN_NEW_ARRAY(&f->a, struct first, N_WALK *N_STEP);
	uint32_t n_first = 0, most = f->n_pair + MOST_PAIRS;
	struct hn_space sp;
	struct hn_err err;

	assert_int_equal(hn_space_init(&sp, &task, &err), 0);
	for (uint32_t i = 0; i < N_WALK; i++) {
		struct hn_indiv x, y;

		if (hn_space_sample(&sp, i, &f->a, &x) != HN_VERDICT_OK) {
			continue;
		}
		for (uint32_t k = 0; k < N_STEP && x.plan; k++) {
			struct hn_rng rng = hn_rng_stream(3, i, k, 0);
			const char *origin;
			const struct hn_plan *p =
				hn_mutate(x.sketch, x.plan, NULL, &rng, &f->a, &origin);
			uint32_t at = 0;
			uint64_t code;

			if (!p || hn_space_rebuild(&sp, x.sketch, p, &rng, &f->a, &y) !=
					  HN_VERDICT_OK) {
				continue;
			}
			code = hn_fingerprint(tree_of(dag, y.trace, &f->a), &f->host, &f->a);
			while (at < n_first && first[at].hash != code) {
				at++;
			}
			if (at == n_first) {
				first[n_first++] = (struct first){ code, y.trace };
			} else if (!hn_trace_equal(first[at].trace, y.trace) &&
				   f->n_pair < most) {
				compare(f, dag, first[at].trace, y.trace);
			}
			x = y;
		}
	}
	hn_space_fini(&sp);
}

/* Two axes are reduced at once: fused, split, and one sum again. */
static const struct hn_dag *dag_squares(struct hn_arena *a)
{
	static const char text[] = "n(float32 A[48,64]) -> C { C() +=! A(i,j) * A(i,j) }";
	const struct hn_dag *dag;
	struct hn_err err;

	if (hn_dag_from_text("t", text, strlen(text), 0, a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void one_fingerprint_is_one_code(void **state)
{
	struct fixture f = { 0 };
	struct hn_err err;

	(void)state;
	hn_arena_init(&f.a, 0);
	hn_target_host(&f.a, &f.host);
	assert_int_equal(hn_emitter_new(&f.host, &f.em, &err), 0);
	walk(&f, dag_matmul(&f.a, 64, 128, 96));
	walk(&f, dag_conv(&f.a, 7, 16, 32));
	walk(&f, dag_softmax(&f.a, 12, 200));
	walk(&f, dag_max_pool(&f.a, 8, 13));
	walk(&f, dag_matmul(&f.a, 61, 67, 71));
	walk(&f, dag_row_min(&f.a, 10, 1024));
	walk(&f, dag_squares(&f.a));
	print_message("%u pairs\n", f.n_pair);
	assert_true(f.n_pair >= 1000);
	hn_emitter_free(f.em);
	hn_arena_fini(&f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_fingerprint_is_one_code) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("fingerprints", tests, NULL, NULL);
}
