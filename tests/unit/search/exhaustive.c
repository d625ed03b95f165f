/* The policy that tries everything: what it asks for is what brute force finds, each once, in
 * the same order every time; it ends; and what is stored already is left out. */
#include "tests/lib/search_dags.h"

#include "loopstate/read/dag_read.h"
#include "search/search_int.h"

#define MOST 400000
#define MOST_LOOPS 4 /* run in parallel together: no small program here has more */

struct found {
	uint32_t n;
	uint64_t hash[MOST]; /* of programs */
};

struct fixture {
	struct hn_arena a;
	struct hn_target target;
	struct hn_task task;
};

static void setup(struct fixture *f)
{
	hn_arena_init(&f->a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2", &f->a,
					 &f->target, NULL),
			 0);
	f->task = (struct hn_task){ .target = &f->target };
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_once(struct found *f)
{
	uint32_t n = 0;

	qsort(f->hash, f->n, sizeof(f->hash[0]), by_value);
	for (uint32_t i = 0; i < f->n; i++) {
		if (n == 0 || f->hash[n - 1] != f->hash[i]) {
			f->hash[n++] = f->hash[i];
		}
	}
	f->n = n;
}

static bool has_prefetch(const struct hn_trace *t)
{
	for (uint32_t i = 0; i < t->n_step; i++) {
		if (t->step[i]->kind == HN_STEP_prefetch) {
			return true;
		}
	}
	return false;
}

/* Brute force: every combination of numbers that could be decisions, the senseless ones too,
 * built one by one. */
struct brute {
	struct hn_space sp;
	const struct hn_sketch *sketch;
	struct hn_plan *plan;
	const int64_t **len;
	struct hn_plan_stage *stage;
	bool fetches;
	int n_value; /* strips and unroll limits tried: where no loop is longer than 8, more
		      * than two of each make no difference */
	struct found *found;
};

static void build_one(struct brute *b)
{
	struct hn_rng rng = hn_rng_stream(1, 1, 1, 1);
	struct hn_arena a;
	struct hn_indiv x;

	hn_arena_init(&a, 0);
	if (hn_space_rebuild(&b->sp, b->sketch, b->plan, &rng, &a, &x) == HN_VERDICT_OK) {
		if (b->found->n == MOST) {
			sort_once(b->found);
		}
		assert_true(b->found->n < MOST);
		b->found->hash[b->found->n++] = x.hash;
	}
	hn_arena_fini(&a);
}

static void try_stages(struct brute *b, uint32_t i);

static void try_fetches(struct brute *b, uint32_t i)
{
	const struct hn_op_access *acc = &b->sketch->state->access->op[i];
	struct hn_plan_stage *st = &b->stage[i];

	st->fetch = 0;
	try_stages(b, i + 1);
	for (uint32_t k = 0; b->fetches && k < acc->n_producer; k++) {
		for (st->fetch = 1; st->fetch <= 32; st->fetch *= 2) {
			for (uint32_t l = 0; l < b->sketch->state->stage[i]->n_iter; l++) {
				st->fetch_operand = acc->producer[k];
				st->fetch_iter = (int32_t)l;
				try_stages(b, i + 1);
			}
		}
	}
	st->fetch = 0;
}

static void try_annotations(struct brute *b, uint32_t i)
{
	static const int32_t strip[] = { 0, 8, 16, 32 }, unroll[] = { 0, 512, 64, 16 };
	struct hn_plan_stage *st = &b->stage[i];

	for (int k = 0; k < b->n_value * b->n_value; k++) {
		st->strip = strip[k % b->n_value];
		st->unroll = unroll[k / b->n_value];
		for (st->parallel = 0; st->parallel <= MOST_LOOPS; st->parallel++) {
			try_fetches(b, i);
		}
	}
}

static void try_stages(struct brute *b, uint32_t i)
{
	const struct hn_state *s = b->sketch->state;

	if (i == s->n_stage) {
		build_one(b);
		return;
	}
	b->stage[i] = (struct hn_plan_stage){ .at = HN_AT_ROOT };
	if (s->dag->op[i]->kind != HN_OP_COMPUTE || s->stage[i]->at == HN_AT_INLINED) {
		try_stages(b, i + 1);
		return;
	}
	try_annotations(b, i);
	for (uint32_t t = i + 1; t < s->n_stage; t++) {
		for (uint32_t l = 0; l < s->stage[t]->n_iter; l++) {
			b->stage[i].at = HN_AT_ITER;
			b->stage[i].at_stage = (int32_t)t;
			b->stage[i].at_iter = (int32_t)l;
			try_annotations(b, i);
		}
	}
}

static void try_lengths(struct brute *b, uint32_t hole, uint32_t part, int64_t *len)
{
	if (hole == b->sketch->n_hole) {
		try_stages(b, 0);
		return;
	}
	const struct hn_hole *h = &b->sketch->hole[hole];

	if (part == h->n_len) {
		int64_t run = 1;
		for (uint32_t k = 0; k < h->n_len; k++) {
			run *= len[k];
		}
		if (h->extent % run == 0) {
			b->len[hole] = len;
			try_lengths(b, hole + 1, 0, len + h->n_len);
		}
		return;
	}
	for (len[part] = 1; len[part] <= h->extent; len[part]++) {
		try_lengths(b, hole, part + 1, len);
	}
}

static void brute_force(struct fixture *f, bool fetches, int n_value, struct found *found)
{
	struct brute b = { .fetches = fetches, .n_value = n_value, .found = found };
	struct hn_err err;
	int64_t len[64];

	found->n = 0;
	assert_int_equal(hn_space_init(&b.sp, &f->task, &err), 0);
	for (uint32_t i = 0; i < b.sp.sketches.n; i++) {
		b.sketch = &b.sp.sketches.sketch[i];
		for (uint32_t h = 0; h < b.sketch->n_hole; h++) {
			assert_null(b.sketch->hole[h].pack);
		}
		b.plan = hn_plan_copy(b.sketch, hn_plan_open(b.sketch, &f->a), &b.len,
				      &b.stage, &f->a);
		try_lengths(&b, 0, 0, len);
	}
	hn_space_fini(&b.sp);
	sort_once(found);
}

/* All that the policy asks for, in batches of another size each; those with prefetches only
 * if `fetches`.  Fails when one comes twice. */
static void exhaust(struct fixture *f, bool fetches, struct found *found)
{
	const struct hn_policy_ops *ops = hn_policy_ops("exhaustive");
	struct hn_candidate c[64];
	struct hn_policy *p;
	struct hn_space sp;
	struct hn_arena a;
	struct hn_err err;
	bool fetching = false;
	uint32_t n;

	found->n = 0;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_space_init(&sp, &f->task, &err), 0);
	assert_int_equal(ops->create(&f->task, &p, &err), 0);
	for (uint32_t batch = 1; (n = ops->ask(p, 1 + batch % 64, &a, c)) > 0; batch++) {
		for (uint32_t i = 0; i < n; i++) {
			bool fetch = has_prefetch(c[i].trace);
			struct hn_indiv x;

			assert_int_equal(hn_space_check(&sp, c[i].trace, &a, &x), HN_VERDICT_OK);
			assert_true(fetch || !fetching); /* those without come first */
			fetching |= fetch;
			if (!fetch || fetches) {
				assert_true(found->n < MOST);
				found->hash[found->n++] = x.hash;
			}
		}
		hn_arena_reset(&a);
		if (fetching && !fetches) {
			break;
		}
	}
	if (fetches) {
		assert_int_equal(ops->ask(p, 64, &f->a, c), 0); /* the end is the end */
	}
	ops->destroy(p);
	hn_space_fini(&sp);
	hn_arena_fini(&a);
	n = found->n;
	sort_once(found);
	assert_int_equal(found->n, n);
}

static void counts_agree(struct fixture *f, const char *name, const struct hn_dag *dag,
			 bool fetches, int n_value)
{
	static struct found brute, found;

	f->task.dag = dag;
	brute_force(f, fetches, n_value, &brute);
	exhaust(f, fetches, &found);
	print_message("%s: %u programs%s, %u by brute force\n", name, found.n,
		      fetches ? "" : " without prefetches", brute.n);
	assert_true(brute.n > 0);
	assert_int_equal(found.n, brute.n);
	assert_memory_equal(found.hash, brute.hash, brute.n * sizeof(brute.hash[0]));
}

static const struct hn_dag *dag_text(struct fixture *f, const char *text)
{
	const struct hn_dag *dag;
	struct hn_err err;

	if (hn_dag_from_text("t", text, strlen(text), 0, &f->a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void everything_once(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	counts_agree(&f, "scalar", dag_scalar(&f.a), true, 4);
	counts_agree(&f, "sum", dag_text(&f, "s(float32 A[3,96], B[3,96]) -> C { C(i,j) = A(i,j) + "
					   "B(i,j) }"),
		     true, 4);
	counts_agree(&f, "total", dag_total(&f.a, 6), false, 2);
	counts_agree(&f, "matmul", dag_matmul(&f.a, 2, 2, 2), false, 2);
	hn_arena_fini(&f.a);
}

/* Another seed changes nothing, and a search that starts again goes on. */
static void same_order_and_nothing_stored(void **state)
{
	const struct hn_policy_ops *ops = hn_policy_ops("exhaustive");
	struct hn_candidate c[40], d[40];
	struct hn_told told[20];
	struct hn_policy *p, *q;
	struct fixture f;
	struct hn_err err;

	(void)state;
	setup(&f);
	f.task.dag = dag_matmul(&f.a, 4, 4, 4);
	assert_int_equal(ops->create(&f.task, &p, &err), 0);
	f.task.seed = 99;
	assert_int_equal(ops->create(&f.task, &q, &err), 0);
	assert_int_equal(ops->ask(p, 40, &f.a, c), 40);
	for (uint32_t i = 0; i < 20; i++) {
		told[i] = (struct hn_told){ c[i].trace, HN_VERDICT_OK, 1e6 };
	}
	ops->tell(q, told, 20);
	assert_int_equal(ops->ask(q, 20, &f.a, d), 20);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(hn_trace_equal(c[20 + i].trace, d[i].trace));
	}
	ops->destroy(p);
	ops->destroy(q);
	hn_arena_fini(&f.a);
}

/* Lengths of extents without divisors: those that waste little are among them. */
static void primes_get_uneven_tiles(void **state)
{
	struct fixture f;
	struct hn_candidate c[1];
	const struct hn_policy_ops *ops = hn_policy_ops("exhaustive");
	struct hn_policy *p;
	struct hn_err err;
	uint32_t uneven = 0;

	(void)state;
	setup(&f);
	f.task.dag = dag_row_min(&f.a, 1, 61);
	assert_int_equal(ops->create(&f.task, &p, &err), 0);
	for (uint32_t i = 0; i < 3000 && ops->ask(p, 1, &f.a, c) == 1; i++) {
		for (uint32_t k = 0; k < c[0].trace->n_step; k++) {
			const struct hn_step *s = c[0].trace->step[k];
			uneven += s->kind == HN_STEP_split && s->a[HN_SP_EXTENT] == 61 &&
				  s->list[0] == 21; /* 3 x 21 = 63 */
		}
	}
	assert_true(uneven > 0);
	ops->destroy(p);
	hn_arena_fini(&f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_once),
		cmocka_unit_test(same_order_and_nothing_stored),
		cmocka_unit_test(primes_get_uneven_tiles),
	};

	return cmocka_run_group_tests_name("exhaustive", tests, NULL, NULL);
}
