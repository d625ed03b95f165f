/* Programs for the NPU's vector unit: numbers against the interpreter of dags, in every way of making
 * them; what each way is worth; that each flag is needed, and that no order of the pipes matters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_insn.h"
#include "target/npu/npu_run.h"
#include "tests/lib/npu_spoiled.h"

struct bed {
	struct hn_arena a;
	struct hn_npu_profile m;
	const struct hn_dag *dag;
	const struct hn_npu_program *p;
	struct hn_npu_vector_facts facts;
	struct hn_npu_result r;
	struct hn_err err;
	void *gm[32], *want[32];
};

static const char softmax[] =
	"s(float32 X[R,C]) -> Y { M(i) max=! X(i,j) E(i,j) = exp(X(i,j) - M(i)) S(i) +=! E(i,j) "
	"Y(i,j) = E(i,j) / S(i) }";
static const char norm[] =
	"n(float32 X[R,C], float32 G[C], float32 B[C]) -> Y { S(i) +=! X(i,j) M(i) = S(i) / C.0 "
	"D(i,j) = X(i,j) - M(i) V(i) +=! D(i,j) * D(i,j) "
	"Y(i,j) = D(i,j) * rsqrt(V(i) / C.0 + 0.00001) * G(j) + B(j) }";
static const char halves[] =
	"h(float16 X[R,C], float16 B[C]) -> Y { Y(i,j) = max(X(i,j) * float16(2.0) + B(j), float16(0.0)) }";
static const char mixed[] =
	"m(float16 X[R,C]) -> Y { E(i,j) = exp(float32(X(i,j))) S(i) +=! E(i,j) "
	"Y(i,j) = float16(E(i,j) / S(i)) }";
static const char chosen[] =
	"c(float32 X[R,C], float32 Z[R,C]) -> Y { Y(i,j) = select(X(i,j) > Z(i,j), X(i,j), "
	"0.5 * Z(i,j)) }";
static const char curve[] =
	"t(float32 X[R,C]) -> Y { Y(i,j) = 0.5 * X(i,j) * (1.0 + tanh(0.7978845 * X(i,j))) }";
/* computing takes about as long as loading, and needs what was loaded to its end */
static const char even[] =
	"e(float32 X[R,C]) -> Y { Y(i,j) = exp(exp(X(i,j) * 0.5) * 0.1) * X(i,j) }";
static const char number[] =
	"o(float32 X[R,C], float32 W[1]) -> Y { Y(i,j) = X(i,j) * W(0) + W(0) }";
static const char rows[] =
	"r(float32 X[R,C], float32 W[R]) -> S { P(i,j) = abs(X(i,j)) * W(i) S(i) +=! P(i,j) }";
static const char two[] =
	"w(float32 X[R,C]) -> (Y, S) { S(i) max=! X(i,j) Y(i,j) = X(i,j) - S(i) }";

/* R and C as numbers. */
static void dag_of(struct bed *b, const char *text, int64_t r, int64_t c)
{
	struct hn_buf t;

	hn_buf_init(&t);
	for (; *text != '\0'; text++) {
		bool alone = (text[1] == ',' || text[1] == ']' || text[1] == '.') &&
			     (text[-1] == '[' || text[-1] == ',' || text[-1] == ' ');

		if (alone && (*text == 'R' || *text == 'C')) {
			hn_buf_printf(&t, "%lld", (long long)(*text == 'R' ? r : c));
		} else {
			hn_buf_putc(&t, *text);
		}
	}
	if (hn_dag_from_text("t", t.s, t.n, 0, &b->a, &b->dag, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, t.s);
	}
	hn_buf_fini(&t);
}

static enum hn_dtype type_of(const struct bed *b, uint32_t i)
{
	return (enum hn_dtype)b->dag->op[b->dag->arg[i]]->dtype[0];
}

static void arguments(struct bed *b)
{
	struct hn_rng rng = hn_rng_stream(7, 0, 0, 0);

	for (uint32_t i = 0; i < b->dag->n_arg; i++) {
		const struct hn_op *op = b->dag->op[b->dag->arg[i]];
		int64_t n = hn_op_elements(op);

		b->gm[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		b->want[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		for (int64_t k = 0; k < n && i < b->dag->n_input; k++) {
			float v = (float)hn_rng_unit(&rng) * 4 - 2;

			if (type_of(b, i) == HN_F16) {
				((uint16_t *)b->gm[i])[k] = ((uint16_t *)b->want[i])[k] = hn_half_of_float(v);
			} else {
				((float *)b->gm[i])[k] = ((float *)b->want[i])[k] = v;
			}
		}
	}
	assert_int_equal(hn_interpret(b->dag, b->want, &b->err), 0);
}

static void begin(struct bed *b, const char *profile, const char *text, int64_t r, int64_t c)
{
	*b = (struct bed){ 0 };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &b->m, &b->err), 0);
	dag_of(b, text, r, c);
	arguments(b);
}

static void make(struct bed *b, struct hn_npu_plan plan)
{
	if (hn_npu_vector(b->dag, &b->m, &plan, &b->a, &b->p, &b->facts, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
}

static void run(struct bed *b, struct hn_npu_options o)
{
	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg && o.gm != NULL; i++) {
		memset(b->gm[i], 0xff, (size_t)b->p->buffer[i].bytes);
	}
	if (hn_npu_run(b->p, &b->m, &o, &b->a, &b->r, &b->err) != 0) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_npu_print(b->p, &text);
		print_message("%.6000s\n", text.s);
		fail_msg("%s", b->err.msg);
	}
}

static void compare(const struct bed *b, const char *what)
{
	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		bool half = type_of(b, i) == HN_F16;

		for (int64_t k = 0; k < b->p->buffer[i].n_elem; k++) {
			float got = half ? hn_half_to_float(((uint16_t *)b->gm[i])[k]) : ((float *)b->gm[i])[k];
			float want = half ? hn_half_to_float(((uint16_t *)b->want[i])[k])
					  : ((float *)b->want[i])[k];

			if (!(fabsf(got - want) <= (half ? 2e-3f : 2e-5f) * (1 + fabsf(want)))) {
				fail_msg("%s: result %u, element %lld: %g, not %g", what, i, (long long)k,
					 (double)got, (double)want);
			}
		}
	}
}

static const struct hn_npu_plan plans[] = {
	{ .order = HN_NPU_BARRIERS, .slots = 1 }, { .order = HN_NPU_FLAGS, .slots = 1 }, { .order = HN_NPU_FLAGS, .slots = 1, .reuse = true },
	{ .order = HN_NPU_FLAGS, .slots = 2 },	 { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true },	{ .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .tile = 16 },
};

static void numbers_are_the_interpreters(void **state)
{
	static const char *const texts[] = { softmax, norm, halves, mixed, chosen, curve, even, number, rows, two };
	static const int64_t sizes[][2] = { { 64, 64 }, { 100, 33 }, { 40, 200 }, { 1, 70 }, { 300, 8 } };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts) * HN_COUNT_OF(sizes); i++) {
		const char *text = texts[i / HN_COUNT_OF(sizes)];
		const int64_t *size = sizes[i % HN_COUNT_OF(sizes)];
		struct bed b;

		begin(&b, "tiny", text, size[0], size[1]);
		for (size_t k = 0; k < HN_COUNT_OF(plans); k++) {
			char what[40];

			snprintf(what, sizeof(what), "%c %lldx%lld plan %zu", text[0], (long long)size[0],
				 (long long)size[1], k);
			make(&b, plans[k]);
			run(&b, (struct hn_npu_options){ .gm = b.gm, .judge = true });
			compare(&b, what);
		}
		hn_arena_fini(&b.a);
	}
}

static int64_t cycles_of(struct bed *b, struct hn_npu_plan plan)
{
	make(b, plan);
	run(b, (struct hn_npu_options){ 0 });
	return b->r.core_cycles;
}

/* What flags and slots are each worth, of the same tiles.  Cycles are the model's, and so exact. */
static void each_way_is_worth_something(void **state)
{
	static const char *const texts[] = { softmax, norm, halves, curve, even };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		int64_t naive, flags, slots, tile;
		struct bed b;

		begin(&b, "dv910", texts[i], 4096, 512);
		tile = texts[i] == curve || texts[i] == even ? 8192 : 16; /* elements, or rows */
		naive = cycles_of(&b, (struct hn_npu_plan){ .order = HN_NPU_BARRIERS, .slots = 1, .reuse = true, .tile = tile });
		flags = cycles_of(&b, (struct hn_npu_plan){ .order = HN_NPU_FLAGS, .slots = 1, .reuse = true, .tile = tile });
		slots = cycles_of(&b, (struct hn_npu_plan){ .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .tile = tile });
		print_message("%c 4096x512: barriers %lld, flags %lld, two slots "
			      "%lld\n", texts[i][0], (long long)naive, (long long)flags, (long long)slots);
		assert_true(slots <= flags && flags < naive);
		assert_true(texts[i] != even || slots * 14 < flags * 10);
		hn_arena_fini(&b.a);
	}
}

static void shared_memory_gives_larger_tiles(void **state)
{
	struct bed b;
	int64_t alone, shared;

	(void)state;
	begin(&b, "dv910", norm, 4096, 2048);
	alone = cycles_of(&b, (struct hn_npu_plan){ .order = HN_NPU_BARRIERS, .slots = 1 });
	print_message("%lld rows, %lld cycles; ", (long long)b.facts.rows, (long long)alone);
	shared = cycles_of(&b, (struct hn_npu_plan){ .order = HN_NPU_BARRIERS, .slots = 1, .reuse = true });
	print_message("shared: %lld rows, %lld cycles\n", (long long)b.facts.rows, (long long)shared);
	assert_true(shared < alone);
	hn_arena_fini(&b.a);
}

static void no_order_matters(void **state)
{
	struct bed b;

	(void)state;
	begin(&b, "tiny", softmax, 96, 64);
	make(&b, (struct hn_npu_plan){ .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .tile = 16 });
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		run(&b, (struct hn_npu_options){ .gm = b.gm, .seed = seed, .judge = seed % 100 == 0 });
		compare(&b, "drawn order");
	}
	hn_arena_fini(&b.a);
}

static void each_flag_is_needed(void **state)
{
	static const char *const texts[] = { softmax, norm, halves, chosen };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		struct bed b;
		uint32_t n;

		begin(&b, "tiny", texts[i], 160, 64);
		make(&b, (struct hn_npu_plan){ .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .tile = 16 });
		n = npu_each_flag_is_needed(b.p, &b.m);
		print_message("%c: each of %u flags is needed\n", texts[i][0], n);
		assert_true(n > 5);
		hn_arena_fini(&b.a);
	}
}

/* Never slower than by rule, and right. */
static void the_machine_chooses(void **state)
{
	static const char *const texts[] = { softmax, halves, even,
		"p(float16 A[R,64], float16 B[64,C]) -> Y { Y(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }" };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		const struct hn_npu_plan rule = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
		int64_t cycles;
		struct bed b;

		begin(&b, "tiny", texts[i], 320, 64);
		assert_int_equal(hn_npu_program(b.dag, &b.m, &rule, &b.a, &b.p, &b.err), 0);
		run(&b, (struct hn_npu_options){ 0 });
		cycles = b.r.cycles;
		assert_int_equal(hn_npu_tuned(b.dag, &b.m, &b.a, &b.p, &b.err), 0);
		run(&b, (struct hn_npu_options){ .gm = b.gm, .judge = true });
		compare(&b, "tuned");
		run(&b, (struct hn_npu_options){ 0 }); /* timed alone, as the rule's is */
		print_message("%c: by rule %lld cycles, tuned %lld\n", texts[i][0], (long long)cycles,
			      (long long)b.r.cycles);
		assert_true(b.r.cycles <= cycles);
		hn_arena_fini(&b.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_interpreters),
		cmocka_unit_test(each_way_is_worth_something),
		cmocka_unit_test(shared_memory_gives_larger_tiles),
		cmocka_unit_test(no_order_matters),
		cmocka_unit_test(each_flag_is_needed),
		cmocka_unit_test(the_machine_chooses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
