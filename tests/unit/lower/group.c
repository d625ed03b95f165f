/* Reduction loops given to instructions (step TE): the interpreter's bits under random histories,
 * tails, borders and layouts that no group fits among them; with the instruction where this
 * processor has it, and as loops on lesser ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"
#include "tests/lib/lower_groups.h"

#define N_HISTORY 12

struct tally {
	struct fixture *f;
	uint32_t n, n_drawn, by_instruction;
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

static void check_row(const struct group_row *row, struct tally *sum)
{
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	struct hn_quick *quick = hn_quick_new();
	struct run_args want;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(row->text, &a);

	uint64_t most = hn_target_has_intrin(&sum->f->host, in) ? N_HISTORY : N_HISTORY / 3;

	form_answer(dag, &want);
	sum->n_drawn += (uint32_t)most;
	for (uint64_t i = 0; i < most; i++) {
		const struct hn_state *s = group_history(dag, row, i, &a);
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
	for (size_t i = 0; i < HN_COUNT_OF(group_rows); i++) {
		check_row(&group_rows[i], ret);
	}
	print_message("%u histories, %u by an instruction\n", ret->n,
		      ret->by_instruction);
	assert_true(ret->n > ret->n_drawn / 2);
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
	const struct hn_dag *dag = dag_open(group_rows[0].text, &f->arena);
	struct hn_artefact ret;
	uint32_t n = 0;

	for (uint64_t i = 0; i < N_HISTORY; i++) {
		const struct hn_looptree *t;
		struct hn_err err;

		assert_int_equal(hn_looptree_build(group_history(dag, &group_rows[0], i, &f->arena), &f->arena,
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

static int setup_arm(void **state)
{
	return setup_on(state, "cpu -isa=aarch64-neon -mattr=+dotprod,+i8mm,+bf16");
}

/* Another family's instructions, which tests/e2e/cross.sh runs. */
static void other_families_have_theirs(void **state)
{
	struct fixture *f = *state;
	uint32_t n = 0;

	for (size_t i = 0; i < HN_COUNT_OF(group_rows); i++) {
		const struct group_row *row = &group_rows[i];
		const struct hn_intrin *in = hn_intrin_of(row->intrin);
		const struct hn_dag *dag = dag_open(row->text, &f->arena);
		uint32_t by_instruction = 0;

		uint64_t most = hn_target_has_intrin(&f->host, in) > 0 ? N_HISTORY : 2;

		for (uint64_t k = 0; k < most; k++) {
			const struct hn_looptree *t;
			struct hn_err err;

			assert_int_equal(hn_looptree_build(group_history(dag, row, k, &f->arena),
							   &f->arena, &t, &err),
					 0);
			by_instruction += calls(t, f, in);
		}
		n += by_instruction > 0;
		assert_true((by_instruction > 0) ==
			    (hn_target_has_intrin(&f->host, in) > 0));
	}
	assert_int_equal(n, 4);
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
		cmocka_unit_test_setup_teardown(other_families_have_theirs, setup_arm, teardown),
		cmocka_unit_test_setup_teardown(narrow_by_instruction, setup_narrow, teardown),
		cmocka_unit_test_setup_teardown(masked_off_is_not_made, setup_too_wide, teardown),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
