/* Sketches with instructions on tiles, for a target that has them: what is offered, that draws and
 * mutations of them are legal and give the interpreter's answer (the instructions by a model,
 * tests/lib/amx_model.h), and that the analytic model puts the best of them first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/features.h"
#include "costmodel/model.h"
#include "loopstate/state/intrin.h"
#include "search/auto.h"
#include "search/search_int.h"
#include "sketch/sketch.h"
#include "tests/lib/amx_model.h"
#include "tests/lib/lower_forms.h"

#ifdef LOWER_FORMS_X86
#define AMX "-mattr=+avx512vnni,+avx512bf16,+amx-tile,+amx-int8,+amx-bf16"

static const struct {
	const char *text, *intrin;
} programs[] = {
	{ "m(uint8 A[64,256], const int8 B[256,96]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "tdpbusd" },
	{ "m(int8 A[50,130], const int8 B[130,70]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "tdpbssd" },
	{ "m(uint8 A[33,64], const uint8 B[64,48]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "tdpbuud" },
	{ "m(bfloat16 A[48,127], const bfloat16 B[80,127]) -> C {"
	  " S(i,j) +=! float32(A(i,k)) * float32(B(j,k)) C(i,j) = bfloat16(max(S(i,j), "
	  "0)) }",
	  "tdpbf16ps" },
	{ "m(uint8 A[40,96], const int8 B[96,64], const int32 z[64], const float32 "
	  "s[64]) -> Y {"
	  " C(i,j) +=! int32(A(i,k)) * int32(B(k,j))"
	  " Y(i,j) = int8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)), -128), 127)) "
	  "}",
	  "tdpbusd" },
	{ "c(uint8 X[16,16,64], const int8 W[3,3,64,32]) -> Y"
	  " { Y(y,x,f) +=! int32(X(y+r,x+s,c)) * int32(W(r,s,c,f)) }",
	  "tdpbusd" },
};

static const struct hn_intrin *tiles_of(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->stage[i]->intrin != NULL &&
		    hn_intrin_is_tile(s->stage[i]->intrin)) {
			return s->stage[i]->intrin;
		}
	}
	return NULL;
}

static int setup_bed(void **state)
{
	run_model_tiles = true;
	run_define = amx_define;
	return setup_on(state, "cpu -isa=x86-64-avx512 " AMX " -num_cores=2");
}

static int teardown_bed(void **state)
{
	run_model_tiles = false;
	run_define = NULL;
	return teardown(state);
}

static struct hn_sketches sketches(struct fixture *b, const struct hn_dag *dag)
{
	struct hn_sketches s;
	struct hn_err err = { 0 };

	if (hn_sketch_generate_own(dag, &b->host, &b->arena, &s, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return s;
}

static void tiles_are_offered_beside_vectors(void **state)
{
	struct fixture *b = *state;

	for (size_t p = 0; p < HN_COUNT_OF(programs); p++) {
		struct hn_sketches s = sketches(b, dag_open(programs[p].text, &b->arena));
		uint32_t n = 0;

		for (uint32_t i = 0; i < s.n; i++) {
			const struct hn_intrin *in = tiles_of(s.sketch[i].state);

			n += in != NULL;
			assert_true(in == NULL ||
				    strcmp(in->name, programs[p].intrin) == 0);
		}
		if (n == 0 || n == s.n) {
			fail_msg("%s: %u of %u sketches with tiles", programs[p].text, n,
				 s.n);
		}
	}
}

/* The code around the instructions on tiles is run as it is. */
static bool has_avx512(void)
{
	bool has = __builtin_cpu_supports("avx512bw") &&
		   __builtin_cpu_supports("avx512vl") &&
		   __builtin_cpu_supports("avx512vnni") &&
		   __builtin_cpu_supports("avx512bf16");

	if (!has) {
		print_message("this processor lacks AVX-512 with VNNI and BF16\n");
	}
	return has;
}

#define N_DRAW 24

/* A draw of a sketch with tiles, sometimes mutated; NULL: there is none. */
static const struct hn_state *draw_one(struct fixture *b, const struct hn_sketch *sk,
				       uint64_t i)
{
	struct hn_rng r = hn_rng_stream(9, 1, i, 0);
	const struct hn_state *s, *next;
	const char *origin;
	struct hn_plan *plan;

	if (hn_sketch_fill(sk, &b->host, &r, &b->arena, &s) != HN_VERDICT_OK) {
		return NULL;
	}
	for (uint64_t k = 0; k < i % 3; k++) {
		assert_true(hn_plan_of(sk, s->trace, &b->arena, &plan));
		const struct hn_plan *other =
			hn_mutate(sk, plan, NULL, &r, &b->arena, &origin);

		if (other != NULL && hn_sketch_rebuild(sk, other, &b->host, &r, &b->arena,
						       &next) == HN_VERDICT_OK) {
			s = next;
		}
	}
	return s;
}

static void draws_give_the_answer(void **state)
{
	struct fixture *b = *state;
	struct hn_quick *quick = hn_quick_new();

	if (!has_avx512()) {
		skip();
	}
	for (size_t p = 0; p < HN_COUNT_OF(programs); p++) {
		const struct hn_dag *dag = dag_open(programs[p].text, &b->arena);
		struct hn_sketches s = sketches(b, dag);
		uint32_t n = 0, n_tiled = 0;
		struct run_args want;

		form_answer(dag, &want);
		for (uint64_t i = 0; n < N_DRAW && i < 20 * N_DRAW; i++) {
			const struct hn_sketch *sk = &s.sketch[i % s.n];
			const struct hn_state *st =
				tiles_of(sk->state) != NULL ? draw_one(b, sk, i) : NULL;
			const struct hn_looptree *t;
			struct hn_err err;

			if (st == NULL) {
				continue;
			}
			struct history h = {
				programs[p].text,  dag,	     st->trace, i, &want,
				tolerance_of(dag), &b->arena
			};

			assert_int_equal(hn_looptree_build(st, &b->arena, &t, &err), 0);
			assert_true(hn_quick_legal(quick, t, NULL));
			amx.n_sum = 0;
			check_history(b->em, &h, false, true);
			assert_false(amx.configured);
			n_tiled += amx.n_sum > 0;
			n++;
		}
		print_message("%s: %u of %u by tiles\n", programs[p].intrin, n_tiled, n);
		assert_int_equal(n, N_DRAW);
		assert_true(4 * n_tiled > 3 * n);
		run_args_free(&want);
	}
	hn_quick_free(quick);
}

/* Of 400 draws of all sketches the first is on tiles, and held in blocks. */
static void the_model_puts_blocks_first(void **state)
{
	struct fixture *b = *state;
	const struct hn_dag *dag =
		dag_open("m(bfloat16 A[512,512], const bfloat16 B[512,512]) -> C"
			 " { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
			 &b->arena);
	struct hn_sketches s = sketches(b, dag);
	const struct hn_intrin *first = NULL;
	double best = 0, vectors = 0;

	for (uint32_t i = 0; i < 400; i++) {
		struct hn_rng r = hn_rng_stream(3, 1, i, 0);
		const struct hn_looptree *t;
		const struct hn_state *st;
		struct hn_features f;
		struct hn_err err;

		if (hn_sketch_fill(&s.sketch[i % s.n], &b->host, &r, &b->arena, &st) !=
			    HN_VERDICT_OK ||
		    hn_looptree_build(st, &b->arena, &t, &err) != 0 ||
		    !hn_features_of(t, &b->host, &b->arena, &f)) {
			continue;
		}
		double score = hn_model_analytic_score(&f);

		if (score > best) {
			best = score;
			first = tiles_of(st);
		}
		if (tiles_of(st) == NULL && score > vectors) {
			vectors = score;
		}
	}
	print_message("best %.1f us, of vectors %.1f us\n", 1e6 / best, 1e6 / vectors);
	assert_non_null(first);
	assert_true(best > 2 * vectors);
}

/* What is answered at once, without a search: tiles are among the programs made by rule, all are
 * right, and where nothing comes behind the sum the model puts one with tiles first. */
static void rules_alone_choose_tiles(void **state)
{
	struct fixture *f = *state;

	if (!has_avx512()) {
		skip();
	}
	for (size_t p = 0; p < HN_COUNT_OF(programs); p++) {
		const struct hn_dag *dag = dag_open(programs[p].text, &f->arena);
		const struct hn_trace *made[HN_AUTO_MAX];
		uint32_t n = hn_auto(dag, &f->host, &f->arena, made), n_tiled = 0;
		bool alone = dag->n_op == dag->n_input + 1, first = false;
		struct run_args want;

		form_answer(dag, &want);
		for (uint32_t i = 0; i < n; i++) {
			struct history h = {
				programs[p].text,  dag,	     made[i], i, &want,
				tolerance_of(dag), &f->arena
			};

			amx.n_sum = 0;
			check_history(f->em, &h, false, true);
			n_tiled += amx.n_sum > 0;
			first = i == 0 ? amx.n_sum > 0 : first;
		}
		if (n_tiled == 0 || (alone && !first)) {
			fail_msg("%s: %u of %u on tiles, the first %s", programs[p].text,
				 n_tiled, n, first ? "too" : "not");
		}
		run_args_free(&want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tiles_are_offered_beside_vectors,
						setup_bed, teardown_bed),
		cmocka_unit_test_setup_teardown(draws_give_the_answer, setup_bed,
						teardown_bed),
		cmocka_unit_test_setup_teardown(the_model_puts_blocks_first, setup_bed,
						teardown_bed),
		cmocka_unit_test_setup_teardown(rules_alone_choose_tiles, setup_bed,
						teardown_bed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	puts("no machine of this family has AMX: code for it is not made here");
	return 77;
}
#endif
