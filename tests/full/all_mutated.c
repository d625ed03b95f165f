/* Histories over every program (10,000 over the shared cases alone), changed and damaged (mutated.h), each judged three
 * times: by the quick check, by the exact one, and by running it with every access watched
 * (looptree_trace.h), which knows nothing of polyhedra.  All that is wrong must be refused by
 * one check before it could run, and the exact check refuse nothing that is right; of what is
 * accepted every tenth is compiled, run in parallel and compared.
 *
 * The programs are cut down first (cropped.h): bodies, strides, paddings and conditions are
 * theirs, sizes are not. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"
#include "loopstate/nest/quick.h"
#include "tests/lib/each_case.h"
#include "tests/lib/cropped.h"
#include "tests/lib/looptree_trace.h"
#include "tests/lib/mutated.h"

#define PER_CASE 160
#define N_KIND 12
#define N_TIME 40000
#define TOLERANCE 5e-5

struct kind {
	const char *name;
	uint32_t n, wrong;
};

struct total {
	uint32_t n, n_replayed, n_right, n_wrong, n_missed, n_false_alarm, n_quick_only;
	uint32_t n_ran, n_bad_run, n_skipped;
	uint32_t quick_refused; /* of what is right */
	struct kind kind[N_KIND];
	struct hn_quick *quick;
	int64_t *prove_ns;
};

static void describe(const char *name, uint64_t seed, const struct mutated *m,
		     const char *what, const char *why)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_looptree_print(m->tree, &text);
	print_error("%s, seed %llu (%s): %s: %s\n%s\n", name, (unsigned long long)seed,
		    m->kind, what, why, text.s);
	hn_buf_fini(&text);
}

static void count_kind(struct total *total, const char *name, bool wrong)
{
	uint32_t k = 0;

	while (total->kind[k].name && strcmp(total->kind[k].name, name) != 0) {
		k++;
	}
	assert_true(k < N_KIND);
	total->kind[k].name = name;
	total->kind[k].n++;
	total->kind[k].wrong += wrong;
}

static void run(struct hn_emitter *em, const char *name, uint64_t seed,
		const struct hn_dag *dag, const struct mutated *m, struct total *total)
{
	static const struct hn_trace none;
	struct run_kernel k = { 0 };
	struct run_args want, got;
	struct hn_err err = { 0 };
	struct hn_arena a;
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	hn_arena_init(&a, 0);
	run_args_make(dag, 7, &want);
	run_args_make(dag, 7, &got);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	if (run_build(em, dag, m->trace ? m->trace : &none, false, &a, &k, &err)) {
		describe(name, seed, m, "not built", err.msg);
		total->n_bad_run++;
	} else if (k.fn(got.at, &env) || !(run_difference(&want, &got) <= TOLERANCE) ||
		   !run_redzones_hold(&got)) {
		describe(name, seed, m, "accepted", "its kernel is wrong");
		total->n_bad_run++;
	}
	total->n_ran++;
	run_unload(&k);
	run_args_free(&want);
	run_args_free(&got);
	hn_arena_fini(&a);
}

static void judge(struct hn_emitter *em, const char *name, uint64_t seed,
		  const struct hn_dag *dag, const struct eval *want, const struct mutated *m,
		  struct total *total)
{
	struct hn_err err = { 0 };
	char why[300];
	bool right = trace_right(m->tree, want, why);
	bool quick = hn_quick_legal(total->quick, m->tree, NULL);
	int64_t start = hn_clock_ns();
	enum hn_verdict v = hn_legal_check(m->tree, 60000, &err);

	if (total->n_replayed < N_TIME) {
		total->prove_ns[total->n_replayed] = hn_clock_ns() - start;
	}
	total->n_replayed++;
	count_kind(total, m->kind, !right);
	*(right ? &total->n_right : &total->n_wrong) += 1;
	if (!right && (quick || v == HN_VERDICT_OK)) {
		describe(name, seed, m, quick ? "quick accepts" : "exact accepts", why);
		total->n_missed++;
	}
	if (right && v != HN_VERDICT_OK) {
		describe(name, seed, m, "refused, and right", err.msg);
		total->n_false_alarm++;
	}
	total->quick_refused += right && !quick;
	if (right && v == HN_VERDICT_OK && !m->damaged && total->n_right % 10 == 0) {
		run(em, name, seed, dag, m, total);
	}
}

/* The program cut down, and what it computes; NULL when the watcher cannot say. */
static const struct hn_dag *cut_down(const char *name, const struct hn_dag *dag,
				     struct hn_arena *a, struct eval *ret_want)
{
	const struct hn_dag *crop;
	struct hn_err err = { 0 };
	uint32_t n_dim = dag->op[dag->arg[dag->n_arg - 1]]->n_dim;
	int64_t most = n_dim > 4 ? 3 : n_dim > 2 ? 4 : 12;

	crop = crop_dag(dag, most, most > 4 ? 10 : 3, a);
	if (hn_dag_check(name, crop, 0, &err)) {
		fail_msg("%s", err.msg);
	}
	eval_dag(ret_want, crop);
	if (ret_want->fault[0]) {
		print_message("%s: skipped: %s\n", name, ret_want->fault);
		eval_free(ret_want);
		return NULL;
	}
	return crop;
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *total = ctx;
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a, scratch;
	struct eval want;

	hn_arena_init(&a, 0);
	hn_arena_init(&scratch, 0);
	const struct hn_dag *dag = cut_down(e->name, e->dag, &a, &want);

	total->n_skipped += dag == NULL;
	if (dag) {
		assert_int_equal(hn_sketch_generate_own(dag, host, &a, &sketches, &err),
				 0);
	}
	for (uint64_t seed = 0; dag && seed < PER_CASE; seed++) {
		hn_arena_reset(&scratch);
		struct mutated m = mutated_draw(dag, &sketches, host, seed, 3, &scratch);

		total->n++;
		if (m.tree) {
			judge(em, e->name, seed, dag, &want, &m, total);
		}
	}
	if (dag) {
		eval_free(&want);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&a);
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

static void print_total(const struct total *t)
{
	uint32_t n = t->n_replayed < N_TIME ? t->n_replayed : N_TIME;

	qsort(t->prove_ns, n, sizeof(*t->prove_ns), by_value);
	for (uint32_t k = 0; k < N_KIND && t->kind[k].name; k++) {
		print_message("  %-17s %5u, wrong %5u\n", t->kind[k].name, t->kind[k].n,
			      t->kind[k].wrong);
	}
	print_message("%u histories, %u refused at replay, %u wrong, %u right; %u wrong ones "
		      "accepted, %u right ones refused (by the quick check %u); %u run, %u "
		      "badly; %u cases skipped; exact check %.2f ms in the median\n",
		      t->n, t->n - t->n_replayed, t->n_wrong, t->n_right, t->n_missed,
		      t->n_false_alarm, t->quick_refused, t->n_ran, t->n_bad_run,
		      t->n_skipped, n ? (double)t->prove_ns[n / 2] * 1e-6 : 0);
}

static void every_case(void **state)
{
	struct total t = { .quick = hn_quick_new(),
			   .prove_ns = calloc(N_TIME, sizeof(int64_t)) };

	(void)state;
	each_case(check_case, &t);
	print_total(&t);
	free(t.prove_ns);
	hn_quick_free(t.quick);
	assert_int_equal(t.n_missed, 0);
	assert_int_equal(t.n_false_alarm, 0);
	assert_int_equal(t.n_bad_run, 0);
	assert_true(t.quick_refused * 50 <= t.n_right);
	assert_true(t.n_wrong > t.n / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("mutated histories", tests, NULL, NULL);
}
