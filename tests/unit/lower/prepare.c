/* Prepared data: what constant inputs alone decide, computed before the first call or in
 * it, against the reference interpreter. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/nest/prepare.h"
#include "tests/lib/lower_forms.h"

typedef int32_t (*prepare_fn)(void *const *args, void *prepared,
			      const struct hone_env *env);

#define N_HISTORIES 14

struct program {
	const char *text;
	bool prepares; /* under its plain loops */
};

static const struct program programs[] = {
	/* a scaled weight, odd extents */
	{ "f(float32 A[7,29], const float32 W[29,23]) -> C {"
	  " P(k,j) = W(k,j) * 2 + 1 C(i,j) +=! A(i,k) * P(k,j) }",
	  true },
	/* several constants, and a chain of stages with a reduction in it */
	{ "f(float32 A[5,13], const float32 W[13,19], const float32 s[13], const float32 b[19])"
	  " -> D { P(k,j) = W(k,j) * s(k) n(j) max=! P(k,j) Q(k,j) = P(k,j) - n(j)"
	  " C(i,j) +=! A(i,k) * Q(k,j) D(i,j) = C(i,j) + b(j) + n(j) where i in 0:5 }",
	  true },
	/* a constant between two inputs, one stage of each kind */
	{ "f(float32 A[9,9], const float32 W[3,3], float32 B[7,7]) -> C {"
	  " V(r,s) = W(2-r,2-s) where r in 0:3, s in 0:3 X(y,x) = A(y,x) * 0.5"
	  " C(y,x) +=! X(y+r,x+s) * V(r,s) * B(y,x) }",
	  true },
	/* an output decided by constants is computed in the call; what it reads is not */
	{ "f(const float32 W[17,3]) -> C { P(i,j) = W(i,j) * 3 C(i) +=! P(i,j) }", true },
	{ "f(const float32 W[17]) -> C { C(i) = W(i) * 3 }", false },
	/* nothing is constant; a constant is, but nothing depends on it alone */
	{ "f(float32 A[7,9], float32 W[9,5]) -> C {"
	  " P(k,j) = W(k,j) * 2 C(i,j) +=! A(i,k) * P(k,j) }",
	  false },
	{ "f(float32 A[7,9], const float32 W[9,5]) -> C {"
	  " P(i,k) = A(i,k) * W(k,0) C(i,j) +=! P(i,k) * W(k,j) }",
	  false },
	/* a scalar, and a stage that reads nothing */
	{ "f(float32 A[11], const float32 w) -> C { v() = w * w t(i) = float32(i) * 2"
	  " where i in 0:11 C(i) = A(i) * v() + t(i) }",
	  true },
};

/* An environment of the first ABI ends where `prepared` begins now: what lies behind it is
 * somebody else's. */
static void old_env(struct hone_env *env, void *junk)
{
	*env = (struct hone_env){ .abi = 1,
				  .n_workers = 1,
				  .prepared = junk,
				  .prepared_bytes = UINT64_MAX };
}

static prepare_fn prepare_of(const struct run_kernel *k)
{
	LLVMOrcExecutorAddress at;
	LLVMErrorRef e = LLVMOrcLLJITLookup(k->jit, &at, "k_prepare_packed");

	if (e) {
		LLVMConsumeError(e);
		return NULL;
	}
	return (prepare_fn)(uintptr_t)at;
}

/* The block, made from the constant inputs alone, ending where its pages do. */
static void *prepared_block(const struct run_kernel *k, const struct hn_dag *dag,
			    const struct hone_env *env)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = k->artefact.prepared_bytes;
	size_t inside = (n + page - 1) / page * page;
	char *at = mmap(NULL, inside + page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct run_args from;

	assert_true(at != MAP_FAILED && mprotect(at + inside, page, PROT_NONE) == 0);
	memset(at, 0xa5, inside);
	run_args_make(dag, 11, &from);
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const char *id = dag->op[dag->arg[i]]->id;
		bool constant = i < dag->n_input &&
				(id[0] == 'W' || id[0] == 's' || id[0] == 'b' ||
				 id[0] == 'w');

		from.at[i] = constant ? from.at[i] : NULL;
	}
	assert_int_equal(prepare_of(k)(from.at, at + inside - n, env), 0);
	for (char *c = at; c < at + inside - n; c++) {
		assert_int_equal((unsigned char)*c, 0xa5);
	}
	assert_int_equal(mprotect(at, inside, PROT_READ), 0);
	run_args_free(&from);
	return at + inside - n;
}

static void check_each_way(const struct history *h, const struct run_kernel *k)
{
	uint64_t bytes = k->artefact.prepared_bytes;
	struct hone_env env = two_workers();
	struct hone_env first;

	assert_int_equal(prepare_of(k) != NULL, bytes > 0);
	check_call(h, k, NULL, "no environment");
	check_call(h, k, &env, "nothing prepared");
	old_env(&first, &env);
	check_call(h, k, &first, "an environment of the first ABI");
	if (bytes == 0) {
		return;
	}
	env.prepared = prepared_block(k, h->dag, &env);
	env.prepared_bytes = bytes - 1;
	check_call(h, k, &env, "a block too small");
	env.prepared_bytes = bytes;
	check_call(h, k, &env, "prepared data");
	check_call(h, k, &env, "prepared data, once more");
}

struct tally {
	struct fixture *f;
	const struct program *program;
	uint32_t n_prepared, n_unread;
};

/* The loop tree of a history. */
static const struct hn_looptree *tree_of(const struct history *h)
{
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err = { 0 };

	assert_int_equal(hn_state_replay(h->dag, h->trace, h->a, &s, &err), 0);
	assert_int_equal(hn_looptree_build(s, h->a, &t, &err), 0);
	return t;
}

/* Inputs that a call does not read beside the prepared block need not be there.  Returns how many
 * there are. */
static uint32_t call_without_them(const struct history *h, const struct run_kernel *k)
{
	struct hone_env env = two_workers();
	bool *reads = HN_NEW_ARRAY(h->a, bool, h->dag->n_input);
	void **was = HN_NEW_ARRAY(h->a, void *, h->dag->n_input);
	struct run_args got;
	uint32_t n = 0;

	hn_prepare_reads(tree_of(h), h->a, reads);
	env.prepared = prepared_block(k, h->dag, &env);
	env.prepared_bytes = k->artefact.prepared_bytes;
	run_args_make(h->dag, 11, &got);
	for (uint32_t i = 0; i < h->dag->n_input; i++) {
		was[i] = got.at[i];
		got.at[i] = reads[i] ? was[i] : NULL;
		n += !reads[i];
	}
	assert_int_equal(k->fn(got.at, &env), 0);
	memcpy(got.at, was, h->dag->n_input * sizeof *was);
	assert_true(run_difference(h->want, &got) <= h->tolerance);
	run_args_free(&got);
	return n;
}

static void each_way_of_one(const struct history *h, void *ctx)
{
	struct tally *t = ctx;
	struct hn_err err = { 0 };
	struct run_kernel k;

	if (run_build(t->f->em, h->dag, h->trace, false, h->a, &k, &err)) {
		fail_msg("%s: %s", h->text, err.msg);
	}
	if (h->number == 0 && (k.artefact.prepared_bytes > 0) != t->program->prepares) {
		fail_msg("%s: prepares %d bytes", h->text, (int)k.artefact.prepared_bytes);
	}
	check_each_way(h, &k);
	t->n_prepared += k.artefact.prepared_bytes > 0;
	t->n_unread += k.artefact.prepared_bytes > 0 ? call_without_them(h, &k) : 0;
	run_unload(&k);
}

static void each_way_gives_the_answer(void **state)
{
	struct tally t = { .f = *state };

	for (size_t p = 0; p < HN_COUNT_OF(programs); p++) {
		t.program = &programs[p];
		each_history(programs[p].text, N_HISTORIES, each_way_of_one, &t);
	}
	print_message("%u of the histories prepare, and leave %u inputs unread\n", t.n_prepared,
		      t.n_unread);
	assert_true(t.n_prepared > 20 && t.n_unread > 20);
}

/* The kernel of a program's plain loops, or its naive one's. */
static const struct hn_dag *kernel_of(struct fixture *f, const char *text, bool scalar,
				      struct run_kernel *ret)
{
	const struct hn_dag *dag = dag_open(text, &f->arena);
	struct hn_err err = { 0 };

	assert_int_equal(run_build(f->em, dag, NULL, scalar, &f->arena, ret, &err), 0);
	return dag;
}

/* A kernel that is given prepared data computes it no more: other weights change nothing. */
static void what_is_prepared_is_not_computed_again(void **state)
{
	static const char text[] = "f(float32 A[7,9], const float32 W[9,5]) -> C {"
				   " P(k,j) = W(k,j) * 2 C(i,j) +=! A(i,k) * P(k,j) }";
	struct run_args want, got;
	struct run_kernel k;
	const struct hn_dag *dag = kernel_of(*state, text, /* scalar= */ false, &k);
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = 1,
				.prepared = prepared_block(&k, dag, NULL),
				.prepared_bytes = k.artefact.prepared_bytes };

	form_answer(dag, &want);
	run_args_make(dag, 11, &got);
	memset(got.at[1], 0, got.bytes[1]);
	assert_int_equal(k.fn(got.at, &env), 0);
	assert_true(run_difference(&want, &got) < 1e-5);
	assert_int_equal(k.fn(got.at, NULL), 0);
	assert_true(run_difference(&want, &got) > 0.5);
	run_args_free(&got);
	run_args_free(&want);
	run_unload(&k);
}

/* The typed form takes the constant inputs alone, in order. */
static void the_typed_form_makes_the_same(void **state)
{
	static const char text[] = "f(const float32 W[9,5], float32 A[7,9], const float32 s[5])"
				   " -> C { P(k,j) = W(k,j) * s(j)"
				   " C(i,j) +=! A(i,k) * P(k,j) }";
	int32_t (*typed)(const void *w, const void *s, void *prepared,
			 const struct hone_env *env);
	_Alignas(64) float a[64] = { 0 }, b[64] = { 0 };
	LLVMOrcExecutorAddress at;
	struct run_args args;
	struct run_kernel k;
	const struct hn_dag *dag = kernel_of(*state, text, /* scalar= */ false, &k);

	assert_int_equal(k.artefact.prepared_bytes, 192);
	run_must(LLVMOrcLLJITLookup(k.jit, &at, "k_prepare"));
	memcpy(&typed, &at, sizeof(typed));
	run_args_make(dag, 11, &args);
	assert_int_equal(prepare_of(&k)(args.at, a, NULL), 0);
	assert_int_equal(typed(args.at[0], args.at[2], b, NULL), 0);
	assert_memory_equal(a, b, 45 * sizeof(float));
	assert_true(a[44] != 0);
	run_args_free(&args);
	run_unload(&k);
}

/* The naive program is the whole program: the board's reference. */
static void the_naive_program_prepares_nothing(void **state)
{
	static const char text[] = "f(float32 A[7], const float32 W[7]) -> C {"
				   " P(j) = W(j) * 2 C(i) = A(i) * P(i) }";
	struct run_kernel k;

	kernel_of(*state, text, /* scalar= */ true, &k);
	assert_int_equal(k.artefact.prepared_bytes, 0);
	assert_null(prepare_of(&k));
	run_unload(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_way_gives_the_answer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_prepared_is_not_computed_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_typed_form_makes_the_same, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_naive_program_prepares_nothing, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("lower prepare", tests, NULL, NULL);
}
