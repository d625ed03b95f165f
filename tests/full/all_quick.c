/* The quick check against the exact one, over histories of every program: what the quick
 * one accepts the exact one must accept, and it may refuse at most 2 % of what is legal.
 * Without an argument 3,000 histories, else that many; a second one says how many of each case's
 * draws to pass over, so that a long run can be made in parts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"
#include "loopstate/nest/quick.h"
#include "tests/lib/each_case.h"
#include "tests/lib/mutated.h"

static uint64_t n_histories = 3000, n_passed, n_programs;
#define N_TIMES 5
#define SLOW_NS 10000

struct total {
	uint64_t n, n_replayed, n_legal, n_illegal, n_quick_refuses, n_unknown, n_wrong;
	uint64_t n_plain, n_plain_refused;
	int64_t *quick_ns; /* [n_replayed] */
	char slowest[200];
	int64_t slowest_ns;
	struct hn_quick *quick;
};

static void describe(const char *name, uint64_t seed, const struct hn_looptree *t,
		     const char *why)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_looptree_print(t, &text);
	print_error("%s, seed %llu: %s\n%s\n", name, (unsigned long long)seed, why, text.s);
	hn_buf_fini(&text);
}

static void judge(const char *name, uint64_t seed, const struct mutated *m,
		  struct total *total)
{
	struct hn_err quick_err = { 0 }, err = { 0 };
	bool quick = hn_quick_legal(total->quick, m->tree, &quick_err);
	int64_t ns = INT64_MAX;

	/* the least is without what others ran; a slow one is asked again, to be sure */
	for (int i = 0; i < N_TIMES || (ns > SLOW_NS && i < 20 * N_TIMES); i++) {
		int64_t start = hn_clock_ns();

		(void)hn_quick_legal(total->quick, m->tree, NULL);
		int64_t took = hn_clock_ns() - start;

		ns = took < ns ? took : ns;
	}
	enum hn_verdict v = hn_legal_check(m->tree, 20000, &err);

	total->quick_ns[total->n_replayed++] = ns;
	if (ns > total->slowest_ns) {
		total->slowest_ns = ns;
		snprintf(total->slowest, sizeof(total->slowest), "%s, seed %llu", name,
			 (unsigned long long)seed);
	}
	if (v != HN_VERDICT_OK && v != HN_VERDICT_ILLEGAL) {
		total->n_unknown++;
		if (quick) {
			print_message("%s, seed %llu: quick accepts, exact: %s\n", name,
				      (unsigned long long)seed, err.msg);
		}
		return;
	}
	*(v == HN_VERDICT_OK ? &total->n_legal : &total->n_illegal) += 1;
	if (quick && v == HN_VERDICT_ILLEGAL) {
		describe(name, seed, m->tree, err.msg);
		total->n_wrong++;
	}
	if (v == HN_VERDICT_OK) {
		total->n_quick_refuses += !quick;
		total->n_plain += !m->changed && !m->damaged;
		total->n_plain_refused += !m->changed && !m->damaged && !quick;
	}
	if (v == HN_VERDICT_OK && !quick && getenv("RUN_VERBOSE")) {
		describe(name, seed, m->tree, quick_err.msg);
	}
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *total = ctx;
	struct hn_sketches sketches;
	const struct hn_dag *dag = e->dag;
	struct hn_err err = { 0 };
	struct hn_arena a, scratch;

	(void)em;
	hn_arena_init(&a, 0);
	hn_arena_init(&scratch, 0);
	assert_int_equal(hn_sketch_generate_own(dag, host, &a, &sketches, &err), 0);
	uint64_t n = (n_histories + n_programs - 1) / n_programs;

	for (uint64_t i = n_passed; i < n_passed + n; i++) {
		struct mutated m;

		hn_arena_reset(&scratch);
		m = mutated_draw(dag, &sketches, host, i, 3, &scratch);
		total->n++;
		if (m.tree) {
			judge(e->name, i, &m, total);
		}
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&a);
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

static void agrees_with_exact(void **state)
{
	struct total t = { .quick = hn_quick_new(),
			   .quick_ns = calloc(2 * n_histories + 1000, sizeof(int64_t)) };

	(void)state;
	n_programs = each_count();
	each_case(check_case, &t);
	qsort(t.quick_ns, t.n_replayed, sizeof(*t.quick_ns), by_value);
	print_message("%llu histories, %llu replay: %llu legal, of which %llu refused "
		      "(%llu of %llu plain ones); %llu illegal, of which %llu accepted; %llu "
		      "undecided; %.1f us in the median, at most %.1f (%s)\n",
		      (unsigned long long)t.n, (unsigned long long)t.n_replayed,
		      (unsigned long long)t.n_legal, (unsigned long long)t.n_quick_refuses,
		      (unsigned long long)t.n_plain_refused, (unsigned long long)t.n_plain,
		      (unsigned long long)t.n_illegal, (unsigned long long)t.n_wrong,
		      (unsigned long long)t.n_unknown,
		      (double)t.quick_ns[t.n_replayed / 2] * 1e-3,
		      (double)t.slowest_ns * 1e-3, t.slowest);
	free(t.quick_ns);
	hn_quick_free(t.quick);
	assert_int_equal(t.n_wrong, 0);
	assert_true(t.n_illegal > t.n_replayed / 8);
	assert_true(t.n_quick_refuses * 50 <= t.n_legal);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_exact) };

	if (argc > 1) {
		n_histories = strtoull(argv[1], NULL, 10);
	}
	if (argc > 2) {
		n_passed = strtoull(argv[2], NULL, 10);
	}
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("quick check", tests, NULL, NULL);
}
