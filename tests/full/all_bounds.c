/* tests/full/all_bounds.c -- the tolerance against the truth: programs of narrow types are evaluated
 * in float64, without any rounding to fewer bits.  The interpreter's answer, and that of kernels
 * under fills of the sketches (some of them by instructions) and random histories, has to lie within
 * the tolerance that honed states (loopstate/dag/tolerance.h); integers are those of the interpreter.
 * On every kind of inputs that boards have (measure/board/inputs.h), extremes, ties and subnormal
 * numbers among them.
 *
 * And the other way round: some answer needs a fair part of the tolerance, so that it is not far too
 * wide. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/dag/magnitude.h"
#include "loopstate/dag/tolerance.h"
#include "measure/board/inputs.h"
#include "measure/board/verify.h"
#include "tests/lib/random_pairs.h"
#include "tests/lib/random_products.h"

static uint64_t n_programs = 60;

#define KERNELS 4 /* of a program */

static const char *const others[] = {
	"s(bfloat16 A[8,50]) -> C { M(i) max=! A(i,k)\n"
	" E(i,k) = bfloat16(exp(float32(A(i,k)) - float32(M(i))))\n"
	" S(i) +=! float32(E(i,k))\n C(i,k) = bfloat16(float32(E(i,k)) / S(i)) }",
	"s(float16 A[8,50]) -> C { M(i) max=! A(i,k)\n"
	" E(i,k) = float16(exp(float32(A(i,k)) - float32(M(i))))\n"
	" S(i) +=! float32(E(i,k))\n C(i,k) = float16(float32(E(i,k)) / S(i)) }",
	"w(float32 A[9,60], const int8 B[60,21], float32 s[21]) -> C {\n"
	" C(i,j) +=! float32(A(i,k)) * (float32(B(k,j)) * float32(s(j))) }",
	"n(bfloat16 X[6,64], g[64]) -> Y {\n M(i) +=! float32(X(i,k))\n"
	" V(i) +=! (float32(X(i,k)) - M(i) / 64) * (float32(X(i,k)) - M(i) / 64)\n"
	" Y(i,k) = bfloat16((float32(X(i,k)) - M(i) / 64) * rsqrt(V(i) / 64 + 1e-3) * "
	"float32(g(k))) }",
	"m(float16 A[9,300], const float16 B[300,33]) -> C {\n"
	" S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n C(i,j) = float16(S(i,j)) }",
	"m(bfloat16 A[5,700], const bfloat16 B[700,33]) -> C {\n"
	" S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n C(i,j) = S(i,j) }",
};

struct bed {
	struct rp_bench bench;
	uint64_t n_answer, n_exact, n_kernel, n_by_group;
	double worst, worst_kernel; /* errors, as parts of the tolerance */
	char worst_of[400];
};

/* A program with one kind of inputs. */
struct one {
	struct bed *bed;
	const char *text;
	const struct hn_dag *dag, *wide;
	struct hn_inputs inputs;
	struct run_args want, truth; /* by the interpreter; in float64 */
	double tolerance;
	bool used;
};

#define N_KIND (HN_INPUTS_TINY + 1)

/* Every conversion to a float is one to float64. */
static void write_wide(const char *text, struct hn_buf *b)
{
	static const char *const casts[] = { "bfloat16(", "float16(", "float32(" };

	while (*text) {
		size_t n = 0;

		for (size_t i = 0; i < HN_COUNT_OF(casts) && n == 0; i++) {
			n = strncmp(text, casts[i], strlen(casts[i])) == 0
				    ? strlen(casts[i])
				    : 0;
		}
		if (n > 0) {
			hn_buf_puts(b, "float64(");
			text += n;
		} else {
			hn_buf_putc(b, *text++);
		}
	}
}

static struct hn_tensor tensor_of(const struct hn_dag *dag, uint32_t i)
{
	const struct hn_op *op = dag->op[dag->arg[i]];

	return (struct hn_tensor){ .name = op->id,
				   .elem = (enum hn_dtype)op->dtype[0],
				   .n_dim = op->n_dim,
				   .shape = op->shape,
				   .output = i >= dag->n_input,
				   .n_elem = hn_op_elements(op),
				   .bytes = hn_op_bytes(op, 0) };
}

static void make_args(const struct one *o, const struct hn_dag *dag, struct run_args *ret)
{
	run_args_make(dag, 1, ret);
	for (uint32_t i = 0; i < dag->n_input; i++) {
		struct hn_tensor t = tensor_of(dag, i);

		hn_inputs_fill(&o->inputs, &t, i, ret->at[i]);
	}
}

/* The largest error of an output, as a part of the tolerance; INFINITY: an integer differs. */
static double error_of(const struct one *o, const struct run_args *got)
{
	double worst = 0;

	for (uint32_t i = o->dag->n_input; i < o->dag->n_arg; i++) {
		struct hn_tensor t = tensor_of(o->dag, i), w = tensor_of(o->wide, i);
		bool is_float = hn_dtype_class(t.elem) == HN_CLASS_FLOAT;
		double scale = hn_verify_scale(&w, o->truth.at[i]);
		double unit = hn_dtype_is_narrow(t.elem) ? hn_dtype_least(t.elem) : 0;

		for (int64_t k = 0; k < t.n_elem; k++) {
			double x = run_element(got->at[i], t.elem, (size_t)k);
			double y = run_element(is_float ? o->truth.at[i] : o->want.at[i],
					       is_float ? w.elem : t.elem, (size_t)k);
			double most = fmax(o->tolerance * fmax(fabs(y), scale), unit);

			if (!is_float && x != y) {
				return INFINITY;
			}
			if (is_float && x != y) {
				worst = fmax(worst, fabs(x - y) / most);
			}
		}
	}
	return worst;
}

static void note(struct one *o, double e, const char *who, double *worst)
{
	char kind[80];

	hn_inputs_print(&o->inputs, kind, sizeof kind);
	if (!(e <= 1)) {
		fail_msg("%s, %s: %g of the tolerance %g\n%s", who, kind, e, o->tolerance,
			 o->text);
	}
	if (e > *worst) {
		*worst = e;
		snprintf(o->bed->worst_of, sizeof o->bed->worst_of, "%s, %s: %.200s", who,
			 kind, o->text);
	}
}

static bool has_group(const struct hn_state *s)
{
	bool ret = false;

	for (uint32_t i = 0; i < s->n_stage; i++) {
		ret |= s->stage[i]->intrin != NULL;
	}
	return ret;
}

/* The kernel of a history, on each kind of inputs. */
static void check_kernel(struct one *of, const struct hn_state *s, struct hn_arena *a)
{
	struct bed *bed = of[0].bed;
	const struct hn_looptree *t;
	struct run_kernel k = { 0 };
	struct hn_emit_options e = { .symbol = "k" };
	struct hn_err err;

	if (hn_looptree_build(s, a, &t, &err) != 0 ||
	    !hn_quick_legal(bed->bench.quick, t, NULL)) {
		return;
	}
	bed->n_by_group += has_group(s);
	if (hn_emit(bed->bench.em, t, &e, a, &k.artefact, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	run_load(&k, "k");
	for (int i = 0; i < N_KIND; i++) {
		struct run_args got;

		if (of[i].used) {
			make_args(&of[i], of[i].dag, &got);
			assert_int_equal(k.fn(got.at, NULL), 0);
			note(&of[i], error_of(&of[i], &got), "a kernel",
			     &bed->worst_kernel);
			run_args_free(&got);
		}
	}
	bed->n_kernel++;
	run_unload(&k);
}

/* A fill of a sketch; group: of one that tensorizes, if some draw is. */
static const struct hn_state *fill(struct rp_bench *b, struct rp_program *p, bool group,
				   struct hn_rng *rng, struct hn_arena *a)
{
	const struct hn_state *s = NULL;

	for (int i = 0; i < 30; i++) {
		const struct hn_sketch *sketch;

		s = rp_fill_sketch(b, p, rng, &sketch, a);
		if (s == NULL || !group || has_group(s)) {
			break;
		}
	}
	return s;
}

static void check_kernels(struct one *of, struct rp_program *p, uint64_t seed)
{
	struct rp_bench *bench = &of[0].bed->bench;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	for (uint64_t i = 0; i < KERNELS; i++) {
		struct hn_rng rng = hn_rng_stream(seed, 51, i, 0);
		const struct hn_state *s = i + 1 < KERNELS
						   ? fill(bench, p, i % 2 == 0, &rng, &a)
						   : random_history(p->dag, seed, &a);

		if (s != NULL) {
			check_kernel(of, s, &a);
		}
		hn_arena_reset(&a);
	}
	hn_arena_fini(&a);
}

/* Whether what is compared has a value that all have: no overflow on the way. */
static bool is_finite(const struct one *o)
{
	bool ret = true;

	for (uint32_t i = o->dag->n_input; i < o->dag->n_arg; i++) {
		struct hn_tensor t = tensor_of(o->dag, i), w = tensor_of(o->wide, i);

		for (int64_t k = 0; k < t.n_elem; k++) {
			ret &= isfinite(run_element(o->want.at[i], t.elem, (size_t)k)) &&
			       isfinite(run_element(o->truth.at[i], w.elem, (size_t)k));
		}
	}
	return ret;
}

static void check_inputs(struct one *o)
{
	struct hn_err err;

	make_args(o, o->dag, &o->want);
	make_args(o, o->wide, &o->truth);
	assert_int_equal(hn_interpret(o->dag, o->want.at, &err), 0);
	assert_int_equal(hn_interpret(o->wide, o->truth.at, &err), 0);
	o->used = is_finite(o);
	if (o->used) {
		note(o, error_of(o, &o->want), "the interpreter", &o->bed->worst);
		o->bed->n_answer++;
		o->bed->n_exact += o->tolerance == 0;
	}
}

static void check_program(struct bed *bed, const char *text, uint64_t seed)
{
	struct one of[N_KIND] = { { .bed = bed } };
	struct rd_kind kind = { .family = RD_BITS };
	struct hn_tensor tensor[RUN_MAX_ARGS];
	const struct hn_dag *dag;
	struct rp_program p;
	struct hn_buf wide;
	struct hn_err err;

	if (rp_open(&bed->bench, text, &kind, true, &p) != 0) {
		fail_msg("%s\n%s", bed->bench.note, text);
	}
	hn_buf_init(&wide);
	write_wide(text, &wide);
	if (hn_dag_parse("wide", wide.s, wide.n, 0, &p.a, &dag, &err) != 0) {
		fail_msg("%s\n%s", err.msg, wide.s);
	}
	for (uint32_t i = 0; i < p.dag->n_arg; i++) {
		tensor[i] = tensor_of(p.dag, i);
	}
	for (int k = 0; k < N_KIND; k++) {
		of[k] = (struct one){
			.bed = bed,
			.text = text,
			.dag = p.dag,
			.wide = dag,
			.tolerance = hn_dag_tolerance(p.dag),
			.inputs = { .kind = (enum hn_inputs_kind)k,
				    .seed = seed,
				    .magnitude = hn_dag_magnitude(p.dag),
				    .subnormals = !hn_dag_may_flush(p.dag) },
		};
		if (hn_inputs_serve((enum hn_inputs_kind)k, p.dag->n_arg, tensor)) {
			check_inputs(&of[k]);
		}
	}
	check_kernels(of, &p, seed);
	for (int k = 0; k < N_KIND; k++) {
		run_args_free(&of[k].want);
		run_args_free(&of[k].truth);
	}
	hn_buf_fini(&wide);
	rp_close(&p);
}

static void within_the_tolerance(void **state)
{
	struct bed *bed = calloc(1, sizeof *bed);

	(void)state;
	rp_bench_open(&bed->bench);
	for (size_t i = 0; i < HN_COUNT_OF(others); i++) {
		check_program(bed, others[i], i);
	}
	for (uint64_t seed = 0; seed < n_programs; seed++) {
		const struct hn_intrin *in;
		struct hn_buf text;

		hn_buf_init(&text);
		random_product(seed, &text, &in);
		check_program(bed, text.s, seed);
		hn_buf_fini(&text);
	}
	print_message(
		"%llu answers, %llu of them of integers alone; the interpreter is off by "
		"%.3g of "
		"the tolerance at most, %llu kernels (%llu with a group) by %.3g: %s\n",
		(unsigned long long)bed->n_answer, (unsigned long long)bed->n_exact,
		bed->worst, (unsigned long long)bed->n_kernel,
		(unsigned long long)bed->n_by_group, bed->worst_kernel, bed->worst_of);
	assert_true(bed->n_exact > n_programs);
	assert_true(bed->worst_kernel > 0.1);
	rp_bench_close(&bed->bench);
	free(bed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(within_the_tolerance) };

	n_programs = argc > 1 ? strtoull(argv[1], NULL, 10) : n_programs;
	return cmocka_run_group_tests_name("bounds of narrow types", tests, NULL, NULL);
}
