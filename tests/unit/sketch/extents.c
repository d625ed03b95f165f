/* What is asked for early and in part agrees with the whole: extents without values and guards are
 * those of bounds, and the inlined dag that a sketch keeps for its programs is theirs. */
#include "tests/lib/sketch_util.h"

#include "loopstate/nest/bounds.h"
#include "loopstate/state/inline.h"

#define N_FILL 40

struct seen {
	uint32_t n, n_known, n_min;
};

static void same_op(const struct hn_op *x, const struct hn_op *y)
{
	for (uint32_t k = 0; x->body && k < x->n_out; k++) {
		assert_true(hn_expr_equal(x->body[k], y->body[k]));
	}
	for (uint32_t k = 0; x->reduce && k < x->reduce->n; k++) {
		assert_true(hn_expr_equal(x->reduce->source[k], y->reduce->source[k]));
	}
}

static void same_dag(const struct hn_state *s, struct hn_arena *a)
{
	const struct hn_dag *with, *without;
	struct hn_state alone = *s;
	struct hn_err err;

	alone.inline_answer = NULL;
	assert_int_equal(hn_inline_dag(s, a, &with, &err), 0);
	assert_int_equal(hn_inline_dag(&alone, a, &without, &err), 0);
	assert_int_equal(with->n_op, without->n_op);
	for (uint32_t i = 0; i < s->n_stage; i++) {
		same_op(with->op[i], without->op[i]);
	}
}

/* As it is, and where another step takes a stage back to its own loops. */
static void same_inlined(const struct hn_state *s, struct hn_arena *a, struct seen *seen)
{
	struct hn_err err;

	same_dag(s, a);
	for (uint32_t i = 0; i < s->n_stage; i++) {
		const struct hn_state *other;

		if (s->stage[i]->at == HN_AT_INLINED) {
			assert_int_equal(hn_compute_root(s, (int32_t)i, a, &other, &err), 0);
			same_dag(other, a);
		}
	}
	seen->n_known += s->inline_answer && s->inline_answer->from == s->dag;
}

static void same_extents(const struct hn_state *s, struct hn_arena *a, struct seen *seen)
{
	const struct hn_bounds *b;
	const struct hn_state *part;
	struct hn_err err;

	assert_int_equal(hn_bounds_infer(s, a, &b, &err), 0);
	assert_int_equal(hn_bounds_extents(s, a, &part, &err), 0);
	const struct hn_state *whole = hn_bounds_apply(s, b, a);

	for (uint32_t i = 0; i < s->n_stage; i++) {
		assert_int_equal(part->stage[i]->n_iter, whole->stage[i]->n_iter);
		for (uint32_t k = 0; k < s->stage[i]->n_iter; k++) {
			const struct hn_iter *x = &part->stage[i]->iter[k];
			const struct hn_iter *y = &whole->stage[i]->iter[k];

			assert_true(x->extent == y->extent && x->min == y->min);
			assert_int_equal(x->min_expr != NULL, y->min_expr != NULL);
			assert_true(!x->min_expr || hn_expr_equal(x->min_expr, y->min_expr));
			seen->n_min += x->min_expr != NULL;
		}
	}
}

static struct seen check(const char *text, const char *target_text)
{
	struct hn_sketches sketches;
	struct hn_arena keep, a;
	struct hn_err err = { 0 };
	struct seen seen = { 0 };

	hn_arena_init(&keep, 0);
	hn_arena_init(&a, 0);
	struct hn_target target = target_of(&keep, target_text);

	assert_int_equal(hn_sketch_generate_own(dag_text(&keep, text), &target, &keep, &sketches,
						&err),
			 0);
	for (uint32_t i = 0; i < N_FILL * sketches.n; i++) {
		struct hn_rng rng = hn_rng_stream(3, 0, 0, i);
		const struct hn_state *s;

		hn_arena_reset(&a);
		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], &target, &rng, &a, &s) ==
		    HN_VERDICT_OK) {
			same_inlined(s, &a, &seen);
			same_extents(s, &a, &seen);
			seen.n++;
		}
	}
	hn_arena_fini(&a);
	hn_arena_fini(&keep);
	assert_true(seen.n >= N_FILL);
	return seen;
}

#define CPU "cpu -isa=x86-64-avx2 -num_cores=2"

/* Padding inlined or attached where its box moves; an odd extent, so that tiles overshoot. */
static void a_padded_convolution(void **state)
{
	struct seen seen = check(
		"conv(float32 X[1,17,19,8], const W[3,3,8,16], bias[16]) -> Y {\n"
		"P(n,h,w,c) = h >= 1 && h < 18 && w >= 1 && w < 20 ? X(n,h-1,w-1,c) : 0"
		" where h in 0:19, w in 0:21\n"
		"C(n,h,w,f) +=! P(n, 2*h+r, 2*w+s, c) * W(r,s,c,f)\n"
		"B(n,h,w,f) = C(n,h,w,f) + bias(f)\n"
		"Y(n,h,w,f) = max(B(n,h,w,f), 0)\n}\n",
		CPU);

	(void)state;
	assert_true(seen.n_known > seen.n / 4);
	assert_true(seen.n_min > 0);
}

static void a_product_of_primes(void **state)
{
	struct seen seen = check("mm(float32 A[67,71], const float32 B[71,61]) -> D {\n"
				 "C(i,j) +=! A(i,k) * B(k,j)\n"
				 "D(i,j) = max(C(i,j), 0)\n}\n",
				 CPU);

	(void)state;
	assert_true(seen.n_min > 0);
}

static void rows_read_twice(void **state)
{
	check("soft(float32 X[33,65]) -> Y {\n"
	      "M(i) max=! X(i,j)\n"
	      "E(i,j) = exp(X(i,j) - M(i))\n"
	      "S(i) +=! E(i,j)\n"
	      "Y(i,j) = E(i,j) / S(i)\n}\n",
	      CPU);
	(void)state;
}

static void threads_of_a_gpu(void **state)
{
	check("mm(float32 A[64,64], float32 B[64,64]) -> D {\n"
	      "C(i,j) +=! A(i,k) * B(k,j)\n"
	      "D(i,j) = max(C(i,j), 0)\n}\n",
	      "cuda");
	(void)state;
}

/* A stage that comes in behind all others leaves which are inlined as it was, and the answer
 * is of another dag all the same. */
static void an_answer_is_of_its_dag(void **state)
{
	const struct hn_state *s;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	s = hn_state_init(dag_text(&a, "f(float32 A[8,9]) -> C { P(i,k) = A(i,k) * 2.0 "
				       "C(i) +=! P(i,k) }"),
			  &a);
	assert_int_equal(hn_compute_inline(s, 1, &a, &s, &err), 0);
	s = hn_inline_ahead(s, s, &a);
	assert_non_null(s->inline_answer);
	same_dag(s, &a);
	assert_int_equal(hn_cache_write(s, 2, "local", &a, &s, &err), 0);
	assert_int_equal(s->n_stage, 4);
	same_dag(s, &a);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_padded_convolution),
		cmocka_unit_test(a_product_of_primes),
		cmocka_unit_test(rows_read_twice),
		cmocka_unit_test(threads_of_a_gpu),
		cmocka_unit_test(an_answer_is_of_its_dag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
