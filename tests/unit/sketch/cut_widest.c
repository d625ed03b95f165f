/* Programs for a machine of explicit buffers: every draw is legal by the quick check, reads back as
 * the plan it was made of, covers the widest op, and its tiles are what the memories hold. */
#include "tests/lib/sketch_util.h"

#include "base/arith.h"
#include "loopstate/nest/quick.h"
#include "target/npu/npu.h"
#include "target/npu/npu_tiles.h"

#define DRAWS 60

static const char *const dags[] = {
	"t(float16 A[512,512], float16 B[512,512]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	"t(float16 A[1000,77], float16 B[77,1031]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	"t(float16 A[12,128,64], float16 B[12,64,128]) -> C {"
	" C(b,i,j) +=! float32(A(b,i,k)) * float32(B(b,k,j)) }",
	"t(float16 X[2,14,14,32], float16 W[64,3,3,32]) -> Y {"
	" Y(n,h,w,f) +=! float32(X(n,h+r,w+s,c)) * float32(W(f,r,s,c)) where h in 0:12, w in 0:12 }",
	"t(float32 A[1024,512]) -> N { M(i) max=! A(i,k) E(i,j) = exp(A(i,j) - M(i))"
	" S(i) +=! E(i,k) N(i,j) = E(i,j) / S(i) }",
	"t(float32 A[1048576], B[1048576]) -> C { C(i) = A(i) * B(i) + 1 }",
	"t(float32 A[1], B[1]) -> C { C(i) = A(i) + B(i) }",
	"t(float32 A[3,5,7,11], B[7]) -> D { C(i,j,k,l) = A(i,j,k,l) * B(k) D(k) +=! C(i,j,k,l) }",
	"t(float32 A[7,1009]) -> B { B(j,i) = A(i,j) }",
	"t() -> B { B(i,j) = 1.5 where i in 0:64, j in 0:64 }",
	/* two ops as wide as each other, and two results */
	"t(float32 A[64,64]) -> B, C { B(i,j) = A(i,j) * 2 C(i,j) = B(i,j) + A(i,j) }",
};

/* Points of a tile in the axes of one role, as the cube takes them. */
static int64_t tile_of(const struct hn_npu_tiles *t, const uint8_t *role, enum hn_npu_role want, int64_t *parts)
{
	int64_t n = 1;

	*parts = 1;
	for (uint32_t i = 0; i < t->n_axis; i++) {
		if (role[i] == want && t->axis[i].tile > 0) {
			n *= t->axis[i].tile;
			*parts *= t->axis[i].parts;
		}
	}
	return hn_ceildiv(n, 16) * 16;
}

static void fits_cube(const struct hn_op *op, const struct hn_npu_tiles *t, const struct hn_npu_profile *m)
{
	int64_t m0, n0, k0, k1, parts_m, parts_n, parts;
	uint8_t role[HN_DAG_MAX_ITERS];

	assert_true(hn_npu_roles(op, role));
	m0 = tile_of(t, role, HN_NPU_ROLE_ROW, &parts_m);
	n0 = tile_of(t, role, HN_NPU_ROLE_COLUMN, &parts_n);
	k0 = k1 = tile_of(t, role, HN_NPU_ROLE_TERM, &parts);
	for (uint32_t i = 0; i < t->n_axis; i++) {
		k1 *= role[i] == HN_NPU_ROLE_TERM && t->axis[i].tile > 0 ? t->axis[i].times : 1;
	}
	assert_true(m0 * n0 * 4 <= m->l0c_bytes);
	assert_true(m0 * k0 * 2 * t->slots <= m->l0a_bytes);
	assert_true(k0 * n0 * 2 * t->slots <= m->l0b_bytes);
	/* several axes of terms may not divide: the code generator takes fewer */
	assert_true(op->n_reduce > 1 || (m0 + n0) * k1 * 2 * t->slots <= m->l1_bytes);
	assert_true(parts_m * parts_n <= m->cores);
}

static void check(const struct hn_dag *dag, const struct hn_state *s, const struct hn_sketch *sk,
		  const struct hn_npu_profile *m)
{
	const struct hn_op *op = dag->op[hn_npu_widest(dag)];
	struct hn_npu_tiles t;

	hn_npu_tiles_of(s, &t);
	assert_int_equal(t.op, sk->n_hole > 0 ? hn_npu_widest(dag) : -1);
	assert_int_equal(t.n_axis, op->n_spatial + op->n_reduce);
	for (uint32_t i = 0; i < t.n_axis; i++) {
		int64_t all = t.axis[i].tile * t.axis[i].times * (t.axis[i].parts > 0 ? t.axis[i].parts : 1);

		assert_true(all >= op->axis[i].extent || (t.axis[i].tile == 0 && op->axis[i].extent == 1));
	}
	if (t.product) {
		fits_cube(op, &t, m);
	}
}

/* Whether the program loads ahead. */
static bool try_one(const struct hn_dag *dag, const struct hn_sketch *sk, const struct hn_target *target,
		    const struct hn_npu_profile *m, struct hn_quick *quick, uint64_t seed)
{
	struct hn_rng r = hn_rng_stream(7, seed, 0, 0);
	const struct hn_looptree *tree;
	const struct hn_state *x, *y;
	struct hn_npu_tiles t;
	struct hn_plan *plan;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_sketch_fill(sk, target, &r, &a, &x), HN_VERDICT_OK);
	if (hn_looptree_build(x, &a, &tree, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	assert_true(hn_quick_legal(quick, tree, NULL));
	check(dag, tree->state, sk, m);
	assert_true(hn_plan_of(sk, x->trace, &a, &plan));
	assert_int_equal(hn_sketch_rebuild(sk, plan, target, &r, &a, &y), HN_VERDICT_OK);
	assert_true(hn_trace_equal(x->trace, y->trace));
	hn_npu_tiles_of(tree->state, &t);
	hn_arena_fini(&a);
	return t.slots > 1;
}

static void all_draws_of(const char *isa)
{
	struct hn_npu_profile m;
	struct hn_err err = { 0 };
	struct hn_quick *quick = hn_quick_new();
	struct hn_arena a;
	char line[60];

	hn_arena_init(&a, 0);
	snprintf(line, sizeof(line), "npu -isa=%s", isa);
	struct hn_target target = target_of(&a, line);
	assert_int_equal(hn_npu_profile_of(isa, &m, &err), 0);
	for (size_t d = 0; d < HN_COUNT_OF(dags); d++) {
		const struct hn_dag *dag = dag_text(&a, dags[d]);
		struct hn_sketches sk;
		uint32_t ahead = 0;

		assert_int_equal(hn_sketch_generate_own(dag, &target, &a, &sk, &err), 0);
		for (uint32_t k = 0; k < sk.n; k++) {
			for (uint64_t i = 0; i < DRAWS; i++) {
				ahead += try_one(dag, &sk.sketch[k], &target, &m, quick, i * 64 + k);
			}
		}
		/* a program of one tile has nothing to run ahead */
		assert_true(sk.n == (dag->n_input == 0 || sk.sketch[0].n_hole == 0 ? 1 : 2));
		assert_true(ahead > 0 || sk.n == 1);
	}
	hn_quick_free(quick);
	hn_arena_fini(&a);
}

static void draws_for_the_large_machine_are_legal(void **state)
{
	(void)state;
	all_draws_of("dv910");
}

static void draws_for_the_small_machine_are_legal(void **state)
{
	(void)state;
	all_draws_of("tiny");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_for_the_large_machine_are_legal),
		cmocka_unit_test(draws_for_the_small_machine_are_legal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
