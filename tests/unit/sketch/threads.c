/* Programs for threads: every fill replays, has bounds and a loop tree, keeps the
 * machine's limits, and reads back as the plan it was made of. */
#include "tests/lib/sketch_util.h"

#include "loopstate/nest/bounds.h"
#include "loopstate/nest/looptree.h"

static const char *const dags[] = {
	"t(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"t(float32 A[1031,1033], B[1033,1039]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"t(float32 A[1,1], B[1,1]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"t(float32 A[8,1024], B[1024,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"t(float32 X[14,14,16], W[3,3,16,32], b[32]) -> Y {"
	" P(h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? X(h-1,w-1,c) : 0"
	" where h in 0:16, w in 0:16"
	" C(h,w,f) +=! P(h+r,w+s,c) * W(r,s,c,f)"
	" Y(h,w,f) = max(C(h,w,f) + b(f), 0) }",
	"t(float32 A[2,1024]) -> N { M(i) max=! A(i,k) E(i,j) = exp(A(i,j) - M(i))"
	" S(i) +=! E(i,k) N(i,j) = E(i,j) / S(i) }",
	"t(float32 A[1,2048], B[10,2048], b[10]) -> D { C(i,j) +=! A(i,k) * B(j,k)"
	" D(i,j) = C(i,j) + b(j) }",
	"t(float32 X[8,15,15]) -> Y { Y(c,h,w) max=! X(c,2*h+r,2*w+s)"
	" where h in 0:7, w in 0:7, r in 0:3, s in 0:3 }",
	/* a tiled stage and a reduction over threads in one nest */
	"t(float32 X[64,512], A[64,64], B[64,64]) -> D { R(i) +=! X(i,k)"
	" C(i,j) +=! A(i,k) * B(k,j) D(i,j) = C(i,j) * R(i) }",
	"t(float32 A[127]) -> B { B +=! A(k) }",
	"t(float32 A[1]) -> B { B = A(0) + 1 }",
	"t(float32 A[7,1000]) -> B { B(j,i) = A(i,j) }",
};

struct nest {
	int64_t threads, vthreads, shared;
	uint32_t blocks;
};

static int32_t root_of(const struct hn_state *s, int32_t stage)
{
	while (s->stage[stage]->at == HN_AT_ITER) {
		stage = s->stage[stage]->at_stage;
	}
	return stage;
}

static void add_loop(struct nest *n, enum hn_ann ann, int64_t extent)
{
	assert_true(ann != HN_ANN_PARALLEL);
	if (ann == HN_ANN_THREAD_X) {
		assert_true(n->threads == 0 || n->threads == extent);
		n->threads = extent;
	} else if (ann == HN_ANN_VTHREAD) {
		n->vthreads = extent;
	} else if (ann == HN_ANN_BLOCK_X) {
		n->blocks++;
	}
}

/* Limits, and that each nest at root is bound. */
static void check_kernels(const struct hn_state *s, const struct hn_target *t,
			  struct hn_arena *a)
{
	struct nest *nest = HN_NEW_ARRAY(a, struct nest, s->n_stage);
	const struct hn_bounds *b;
	struct hn_err err = { 0 };

	if (hn_bounds_infer(s, a, &b, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	for (int32_t i = 0; i < (int32_t)s->n_stage; i++) {
		const struct hn_stage *st = s->stage[i];
		struct nest *n = &nest[root_of(s, i)];
		if (s->dag->op[i]->kind != HN_OP_COMPUTE || st->at == HN_AT_INLINED) {
			continue;
		}
		for (uint32_t k = 0; k < st->n_iter; k++) {
			add_loop(n, st->iter[k].ann, b->stage[i].iter_extent[k]);
		}
		int64_t bytes = hn_dtype_bytes(s->dag->op[i]->dtype[0]);
		for (uint32_t k = 0; k < s->dag->op[i]->n_spatial; k++) {
			bytes *= b->stage[i].axis[k].extent;
		}
		n->shared += st->scope && strcmp(st->scope, "shared") == 0 ? bytes : 0;
	}
	for (uint32_t i = 0; i < s->n_stage; i++) {
		bool root = s->dag->op[i]->kind == HN_OP_COMPUTE &&
			    s->stage[i]->at == HN_AT_ROOT;
		assert_true(!root || nest[i].threads > 0);
		assert_true(nest[i].blocks <= 1);
		assert_true(nest[i].threads <= t->param[HN_PARAM_MAX_THREADS_PER_BLOCK]);
		assert_true(nest[i].vthreads <= t->param[HN_PARAM_MAX_VTHREAD_EXTENT]);
		assert_true(nest[i].shared <=
			    t->param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK]);
	}
}

/* Returns whether the draw was legal. */
static bool try_one(const struct hn_dag *dag, const struct hn_sketch *sk,
		    const struct hn_target *t, uint64_t seed, struct hn_arena *a)
{
	struct hn_rng r = hn_rng_stream(7, seed, 0, 0), q = r;
	const struct hn_looptree *tree;
	const struct hn_state *x, *y;
	struct hn_plan *plan;
	struct hn_err err = { 0 };
	enum hn_verdict v = hn_sketch_fill(sk, t, &r, a, &x);

	assert_int_equal(hn_sketch_fill(sk, t, &q, a, &y), v);
	if (v != HN_VERDICT_OK) {
		assert_int_equal(v, HN_VERDICT_OVER_LIMIT);
		return false;
	}
	assert_true(x->concrete);
	assert_true(hn_trace_equal(x->trace, y->trace));
	if (hn_state_replay(dag, x->trace, a, &y, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	check_kernels(y, t, a);
	if (hn_looptree_build(y, a, &tree, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	assert_true(hn_plan_of(sk, x->trace, a, &plan));
	assert_int_equal(hn_sketch_rebuild(sk, plan, t, &q, a, &y), HN_VERDICT_OK);
	return true;
}

static void fill_all(const struct hn_target *t, struct hn_arena *top)
{
	for (size_t d = 0; d < HN_COUNT_OF(dags); d++) {
		const struct hn_dag *dag = dag_text(top, dags[d]);
		struct hn_sketches sk = sketches_of(dag, t, top);
		for (uint32_t k = 0; k < sk.n; k++) {
			uint32_t ok = 0;
			for (uint64_t i = 0; i < 30; i++) {
				struct hn_arena a;
				hn_arena_init(&a, 0);
				ok += try_one(dag, &sk.sketch[k], t, i * 64 + k, &a);
				hn_arena_fini(&a);
			}
			if (ok < 6) {
				fail_msg("dag %zu sketch %u: %u of 30 draws are legal", d,
					 k, ok);
			}
		}
	}
}

static void programs_for_blocks_are_legal(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&a, "cuda");
	fill_all(&t, &a);
	hn_arena_fini(&a);
}

static void programs_without_shared_memory_are_legal(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&a, "cuda");
	t.caps &= ~(uint32_t)HN_CAP_SHARED;
	t.param[HN_PARAM_NUM_CORES] = 8;
	t.param[HN_PARAM_MAX_THREADS_PER_BLOCK] = 256;
	t.param[HN_PARAM_WARP_SIZE] = 1;
	t.param[HN_PARAM_MAX_VTHREAD_EXTENT] = 1;
	t.param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] = 0;
	fill_all(&t, &a);
	hn_arena_fini(&a);
}

/* What a block shares is brought in by all of its threads, a vector each. */
static void threads_fetch_together(void **state)
{
	uint32_t vectors = 0, n = 0;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&a, "cuda");
	struct hn_sketches sk = sketches_of(dag_text(&a, dags[0]), &t, &a);
	for (uint64_t i = 0; i < 60; i++) {
		struct hn_rng r = hn_rng_stream(9, i, 0, 0);
		const struct hn_state *s;
		if (hn_sketch_fill(&sk.sketch[0], &t, &r, &a, &s) != HN_VERDICT_OK) {
			continue;
		}
		/* A A.shared B B.shared C.local C; blocks, vthreads, threads of C */
		const struct hn_stage *root = s->stage[5];
		assert_int_equal(root->iter[0].ann, HN_ANN_BLOCK_X);
		assert_int_equal(root->iter[1].ann, HN_ANN_VTHREAD);
		assert_int_equal(root->iter[2].ann, HN_ANN_THREAD_X);
		for (uint32_t k = 1; k <= 3; k += 2) {
			const struct hn_stage *st = s->stage[k];
			assert_int_equal(st->n_iter, 3);
			assert_int_equal(st->iter[1].ann, HN_ANN_THREAD_X);
			assert_int_equal(st->iter[2].ann, HN_ANN_VECTORIZE);
			assert_int_equal(st->iter[1].extent, root->iter[2].extent);
			assert_true(st->iter[2].extent <= 4);
			vectors += st->iter[2].extent > 1;
		}
		n++;
	}
	assert_true(n >= 40);
	assert_true(vectors > 0);
	hn_arena_fini(&a);
}

/* Extents without divisors: a warp is cut from one of them all the same. */
static void prime_extents_get_a_warp(void **state)
{
	uint32_t n = 0;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&a, "cuda");
	struct hn_sketches sk = sketches_of(dag_text(&a, dags[1]), &t, &a);
	for (uint64_t i = 0; i < 20; i++) {
		struct hn_rng r = hn_rng_stream(13, i, 0, 0);
		const struct hn_state *s;
		if (hn_sketch_fill(&sk.sketch[0], &t, &r, &a, &s) != HN_VERDICT_OK) {
			continue;
		}
		assert_int_equal(s->stage[5]->iter[2].ann, HN_ANN_THREAD_X);
		assert_int_equal(s->stage[5]->iter[2].extent, 32);
		n++;
	}
	assert_true(n > 10);
	hn_arena_fini(&a);
}

/* Hints to unroll reach the innermost loop of each axis named, whoever else says what. */
static void named_axes_are_unrolled(void **state)
{
	static const char *const targets[] = { "cuda",
					       "cpu -isa=x86-64-avx2 -num_cores=4" };
	static const char *const axis[] = { "k", "i_c", "j" };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag =
		dag_hint(&a, dag_text(&a, dags[0]), "C",
			 "auto_scheduler_always_unroll_inner", axis, 3);
	for (size_t d = 0; d < HN_COUNT_OF(targets); d++) {
		struct hn_target t = target_of(&a, targets[d]);
		struct hn_sketches sk = sketches_of(dag, &t, &a);
		const char *last_k = d == 0 ? "k.2" : "k.1";
		const char *last_i = d == 0 ? "i_c.4" : "i_c.3";
		uint32_t n = 0, cached = sk.n - 1;
		for (uint64_t i = 0; i < 40; i++) {
			struct hn_rng r = hn_rng_stream(11, i, d, 0);
			const struct hn_state *s;
			if (hn_sketch_fill(&sk.sketch[cached], &t, &r, &a, &s) !=
			    HN_VERDICT_OK) {
				continue;
			}
			const struct hn_stage *st = s->stage[s->n_stage - 2];
			for (uint32_t k = 0; k < st->n_iter; k++) {
				bool named = strcmp(st->iter[k].name, last_k) == 0 ||
					     strcmp(st->iter[k].name, last_i) == 0;
				assert_int_equal(named, st->iter[k].ann == HN_ANN_UNROLL);
				n += named;
			}
			/* "j" names an axis of the computation, not of the copy. */
			st = s->stage[s->n_stage - 1];
			for (uint32_t k = 0; k < st->n_iter; k++) {
				assert_true(st->iter[k].ann != HN_ANN_UNROLL);
			}
		}
		assert_true(n >= 20);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_for_blocks_are_legal),
		cmocka_unit_test(programs_without_shared_memory_are_legal),
		cmocka_unit_test(threads_fetch_together),
		cmocka_unit_test(prime_extents_get_a_warp),
		cmocka_unit_test(named_axes_are_unrolled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
