/* Reduction loops given to instructions (step TE): the interpreter's bits under random histories,
 * tails, borders and layouts that no group fits among them; with the instruction where this
 * processor has it, and as loops on lesser ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loopstate/state/intrin.h"
#include "tests/lib/lower_forms.h"

#define N_HISTORY 12

/* The operand to be packed, so that its terms lie side by side, and its block lengths. */
struct row {
	const char *intrin, *text;
	int32_t operand;
	int64_t len[4];
};

static const struct row rows[] = {
	{ "vpdpbusd",
	  "f(uint8 A[13,64], int8 B[64,48]) -> C { C(i,j) +=! int32(A(i,k)) * "
	  "int32(B(k,j)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd", /* tails everywhere */
	  "f(uint8 A[7,61], int8 B[61,37]) -> C { C(i,j) +=! int32(B(k,j)) * "
	  "int32(A(i,k)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd", /* the weights' other order */
	  "f(uint8 A[5,64], int8 B[33,64]) -> C { C(i,j) +=! int32(A(i,k)) * "
	  "int32(B(j,k)) }",
	  1,
	  { 16, 4 } },
	{ "vpdpbusd", /* what fits no group */
	  "f(uint8 A[64,9], int8 B[64,20]) -> C { C(i,j) +=! int32(A(k,i)) * "
	  "int32(B(k,j)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd",
	  "f(uint8 X[7,6,8], int8 W[3,3,8,16]) -> C {\n"
	  "  P(y,x,c) = y >= 1 && y < 8 && x >= 1 && x < 7 ? X(y-1,x-1,c) : uint8(0)"
	  "  where y in 0:9, x in 0:8\n"
	  "  C(y,x,f) +=! int32(P(y+r,x+s,c)) * int32(W(r,s,c,f)) }",
	  1,
	  { 1, 1, 4, 1 } },
	{ "vpdpbusd",
	  "f(uint8 A[6,32], int8 B[32,40], int32 z[40], float32 s[40]) -> Y {\n"
	  "  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	  "  Y(i,j) = int8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, -128), "
	  "127)) }",
	  1,
	  { 4, 1 } },
	{ "vpdpbusd_s8",
	  "f(int8 A[13,61], int8 B[61,48]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }", 1,
	  { 4, 1 } },
	{ "vpdpbusd_s8",
	  "f(int8 X[7,6,8], int8 W[3,3,8,16]) -> C {\n"
	  "  P(y,x,c) = y >= 1 && y < 8 && x >= 1 && x < 7 ? X(y-1,x-1,c) : int8(0)"
	  "  where y in 0:9, x in 0:8\n"
	  "  C(y,x,f) +=! int32(W(r,s,c,f)) * int32(P(y+r,x+s,c)) }", 1,
	  { 1, 1, 4, 1 } },
	{ "vdpbf16ps",
	  "f(bfloat16 A[13,62], B[62,40]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  1,
	  { 2, 1 } },
	{ "vdpbf16ps",
	  "f(bfloat16 A[3,33], B[33,19]) -> C {\n"
	  "  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n  C(i,j) = "
	  "bfloat16(max(S(i,j), 0)) }",
	  1,
	  { 2, 1 } },
};

static int32_t sum_of(const struct hn_state *s, const struct hn_intrin *in)
{
	const struct hn_expr *factor[2];

	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->dag->op[i]->kind == HN_OP_COMPUTE &&
		    hn_intrin_factors(in, s->dag->op[i], factor)) {
			return (int32_t)i;
		}
	}
	return -1;
}

static void pack_operand(struct draw *d, const struct row *row)
{
	const struct hn_state *next;
	struct hn_step step = { .kind = HN_STEP_pack,
				.stage = row->operand,
				.n_list = d->s->dag->op[row->operand]->n_dim,
				.list = row->len };

	keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
}

/* The last reduction loop cut, its inner part given away, and everything else at random. */
static const struct hn_state *history(const struct hn_dag *dag, const struct row *row,
				      uint64_t seed, struct hn_arena *a)
{
	struct draw d = { hn_state_init(dag, a), hn_rng_stream(seed, 7, 1, 0), a };
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	const struct hn_state *next;

	if (draw(&d, 4) > 0) {
		pack_operand(&d, row);
	}
	if (draw(&d, 3) == 0) {
		keep(&d, hn_cache_write(d.s, sum_of(d.s, in), "local", a, &next, NULL),
		     &next);
	}
	int32_t stage = sum_of(d.s, in);

	assert_true(stage >= 0);
	int32_t last = (int32_t)d.s->stage[stage]->n_iter - 1;
	int64_t loop = last + 1;
	struct hn_step give = { .kind = HN_STEP_tensorize,
				.stage = stage,
				.n_list = 1,
				.list = &loop,
				.text = in->name };

	assert_int_equal(hn_split(d.s, stage, last, &in->most[HN_INTRIN_TERMS], 1, true, a,
				  &d.s, NULL),
			 0);
	assert_int_equal(hn_state_apply(d.s, &give, a, &d.s, NULL), 0);
	for (int32_t i = 0; i <= last; i++) {
		int64_t len[2] = { 1 + draw(&d, 4), 1 + draw(&d, 20) };

		if (draw(&d, 2) &&
		    hn_split(d.s, stage, i, len, 2, true, a, &next, NULL) == 0) {
			d.s = next;
			i += 2;
			last += 2;
		}
	}
	if (draw(&d, 2)) {
		shuffle_loops(&d, stage);
	}
	annotate_loops(&d, stage);
	return d.s;
}

struct tally {
	struct fixture *f;
	uint32_t n, by_instruction;
};

static bool calls(const struct hn_looptree *t, struct fixture *f,
		  const struct hn_intrin *in)
{
	struct hn_emit_options o = { .symbol = "k", .want_ir = true };
	struct hn_artefact ret;
	struct hn_err err;

	assert_int_equal(hn_emit(f->em, t, &o, &f->arena, &ret, &err), 0);
	return strstr(ret.ir, in->llvm) != NULL;
}

static void check_row(const struct row *row, struct tally *sum)
{
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	struct hn_quick *quick = hn_quick_new();
	struct run_args want;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(row->text, &a);

	form_answer(dag, &want);
	for (uint64_t i = 0; i < N_HISTORY; i++) {
		const struct hn_state *s = history(dag, row, i, &a);
		const struct hn_looptree *t;
		struct hn_err err;
		struct history h = { row->text, dag,
				     s->trace,	i,
				     &want,	in->sum == HN_I32 ? 0 : tolerance_of(dag),
				     &a };

		assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
		if (hn_quick_legal(quick, t, NULL)) {
			check_form_one(&h, sum->f);
			sum->n++;
			sum->by_instruction += calls(t, sum->f, in);
		}
	}
	run_args_free(&want);
	hn_quick_free(quick);
	hn_arena_fini(&a);
}

static void all_rows(struct fixture *f, struct tally *ret)
{
	*ret = (struct tally){ .f = f };
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		check_row(&rows[i], ret);
	}
	print_message("%u histories, %u by an instruction\n", ret->n,
		      ret->by_instruction);
	assert_true(ret->n > N_HISTORY * HN_COUNT_OF(rows) / 2);
}

static void right_on_this_machine(void **state)
{
	struct tally t;

	all_rows(*state, &t);
	const struct hn_target *host = &((struct fixture *)*state)->host;

	if (hn_target_has(host, "avx512vnni") && hn_target_has(host, "avx512bf16")) {
		assert_true(t.by_instruction > t.n / 4);
		return;
	}
	print_message("this processor lacks VNNI or BF16: some ran as loops\n");
}

#ifdef LOWER_FORMS_X86
static int setup_baseline(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-baseline -vector_unit_bytes=16");
}

static int setup_masked(void **state)
{
	return setup_on(state, "cpu -mattr=");
}

static void right_without_instructions(void **state)
{
	struct tally t;

	all_rows(*state, &t);
	assert_int_equal(t.by_instruction, 0);
}

/* How often `word` stands in the machine code of the first histories of the first row. */
static uint32_t count_code(struct fixture *f, const char *word)
{
	struct hn_emit_options o = { .symbol = "k", .want_asm = true };
	const struct hn_dag *dag = dag_open(rows[0].text, &f->arena);
	struct hn_artefact ret;
	uint32_t n = 0;

	for (uint64_t i = 0; i < N_HISTORY; i++) {
		const struct hn_looptree *t;
		struct hn_err err;

		assert_int_equal(hn_looptree_build(history(dag, &rows[0], i, &f->arena), &f->arena,
						   &t, &err), 0);
		assert_int_equal(hn_emit(f->em, t, &o, &f->arena, &ret, &err), 0);
		for (const char *s = strstr(ret.assembly, word); s != NULL;
		     s = strstr(s + 1, word)) {
			n++;
		}
	}
	return n;
}

/* LLVM is told, so that it does not find by itself what is masked off. */
static void masked_off_is_told(void **state)
{
	struct fixture *f = *state;
	const char *features = hn_emitter_facts(f->em, &f->arena).features;
	struct hn_target host;
	char word[80];

	hn_target_host(&f->arena, &host);
	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		snprintf(word, sizeof word, ",-%s", hn_target_feature_name(i));
		if (host.features >> i & 1) {
			assert_non_null(strstr(features, word));
		}
	}
}

static void masked_off_is_not_made(void **state)
{
	assert_int_equal(count_code(*state, "vpdpbusd"), 0);
}

/* AVX-VNNI is for 32 bytes at most: wider vectors stay loops. */
static int setup_narrow(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -vector_unit_bytes=32 -mattr=+avxvnni");
}

static int setup_too_wide(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -vector_unit_bytes=64 -mattr=+avxvnni");
}

static void narrow_by_instruction(void **state)
{
	assert_true(count_code(*state, "vpdpbusd") > 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(right_on_this_machine, setup, teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(right_without_instructions,
						setup_baseline, teardown),
		cmocka_unit_test_setup_teardown(masked_off_is_told, setup_masked, teardown),
		cmocka_unit_test_setup_teardown(masked_off_is_not_made, setup_masked, teardown),
		cmocka_unit_test_setup_teardown(narrow_by_instruction, setup_narrow, teardown),
		cmocka_unit_test_setup_teardown(masked_off_is_not_made, setup_too_wide, teardown),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
