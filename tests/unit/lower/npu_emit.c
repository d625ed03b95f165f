/* The emitter of the NPU: a history's program as text that its machine runs and finds nothing in, the
 * naive program without flags, what is refused, and faults that tests plant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "loopstate/dag/mark.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "lower/lower.h"
#include "target/npu/npu_run.h"

static const char softmax[] =
	"s(float32 X[64,256]) -> Y { M(i) max=! X(i,j) E(i,j) = exp(X(i,j) - M(i)) S(i) +=! E(i,j) "
	"Y(i,j) = E(i,j) / S(i) }";
static const char product[] = "g(float16 A[64,64], float16 B[64,64]) -> C "
			      "{ C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }";

struct bed {
	struct hn_arena a;
	struct hn_target target;
	struct hn_npu_profile m;
	struct hn_emitter *e;
	struct hn_artefact made;
	struct hn_npu_result r;
	struct hn_err err;
};

static void open_bed(struct bed *b, const char *line)
{
	*b = (struct bed){ 0 };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_target_parse(line, &b->a, &b->target, &b->err), 0);
	assert_int_equal(hn_npu_profile_of_target(&b->target, &b->m, &b->err), 0);
	assert_int_equal(hn_emitter_new(&b->target, &b->e, &b->err), 0);
}

static void close_bed(struct bed *b)
{
	hn_emitter_free(b->e);
	hn_arena_fini(&b->a);
}

static int emit(struct bed *b, const char *text, const struct hn_emit_options *o)
{
	const struct hn_looptree *t;
	const struct hn_dag *dag;

	assert_int_equal(hn_dag_from_text("t", text, strlen(text), 0, &b->a, &dag, &b->err), 0);
	assert_int_equal(hn_looptree_build(hn_state_init(dag, &b->a), &b->a, &t, &b->err), 0);
	return hn_emit(b->e, t, o, &b->a, &b->made, &b->err);
}

/* Judged on the machine; the fault it has. */
static enum hn_npu_fault judged(struct bed *b)
{
	const struct hn_npu_options o = { .judge = true, .most = 1 << 20 };
	const struct hn_npu_program *p;

	if (hn_npu_parse("made", b->made.object, b->made.object_bytes, &b->a, &p, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
	int rc = hn_npu_run(p, &b->m, &o, &b->a, &b->r, &b->err);

	if ((rc == 0) != (b->r.fault == HN_NPU_FINE)) {
		fail_msg("%s", b->err.msg);
	}
	return b->r.fault;
}

static void programs_are_clean_text(void **state)
{
	static const char *const lines[] = { "npu", "npu -isa=tiny", "npu -num_cores=1 -l1_bytes=16384" };
	static const char *const texts[] = { softmax, product };
	char codegen[HN_CODEGEN_BYTES];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(lines) * HN_COUNT_OF(texts); i++) {
		const char *text = texts[i % HN_COUNT_OF(texts)];
		struct hn_emit_options o = { .symbol = "k", .want_asm = true };
		struct bed b;

		open_bed(&b, lines[i / HN_COUNT_OF(texts)]);
		assert_string_equal(hn_emitter_codegen(b.e, codegen), "npu/hnpu/1");
		assert_int_equal(emit(&b, text, &o), 0);
		assert_int_equal(b.made.form, HN_ARTEFACT_NPU);
		assert_string_equal(b.made.assembly, b.made.object);
		assert_int_equal(judged(&b), HN_NPU_FINE);
		assert_non_null(strstr(b.made.object, "set "));
		o.scalar = true;
		assert_int_equal(emit(&b, text, &o), 0);
		assert_int_equal(judged(&b), HN_NPU_FINE);
		assert_null(strstr(b.made.object, "set "));
		close_bed(&b);
	}
}

static void what_it_has_no_form_for_is_refused(void **state)
{
	static const struct {
		const char *text;
		struct hn_emit_options o;
		const char *words;
	} bad[] = {
		{ "f(float64 X[64]) -> Y { Y(i) = X(i) + X(i) }", { .symbol = "k" }, "float64" },
		{ softmax, { .symbol = "k", .n_beside = 1 }, "nothing goes beside it" },
		{ softmax, { .symbol = "k", .form = "ptx" }, "of the NPU there is npu" },
		{ softmax, { .symbol = "k", .want_ir = true }, "no LLVM IR" },
	};
	struct hn_target t;
	struct hn_emitter *e;
	struct bed b;

	(void)state;
	open_bed(&b, "npu -isa=tiny");
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		assert_true(emit(&b, bad[i].text, &bad[i].o) < 0);
		if (strstr(b.err.msg, bad[i].words) == NULL) {
			fail_msg("%s", b.err.msg);
		}
	}
	assert_int_equal(hn_target_parse("npu -isa=tiny -num_cores=3", &b.a, &t, &b.err), 0);
	assert_int_equal(hn_emitter_new(&t, &e, &b.err), -HONE_E_INVALID);
	close_bed(&b);
}

/* What a task forbids is used, or is not. */
static void forbidden_liberties_are_refused(void **state)
{
	static const struct {
		const char *text, *words; /* NULL: it has a program */
	} rows[] = {
		{ "f(float32 X[64,64]) -> Y { Y(i) +=! X(i,j) }", "Y: the task forbids reassociation" },
		{ "f(float32 X[64,64]) -> Y { Y(i) max=! X(i,j) }", "Y: the task forbids minmax: of a NaN" },
		{ "f(int8 X[64,64]) -> Y { Y(i) max=! X(i,j) }", NULL }, /* any order gives the same */
		{ "f(int8 X[64,64], int8 Z[64,64]) -> Y { Y(i,j) +=! int32(X(i,k)) * int32(Z(k,j)) }", NULL },
		{ "f(float32 X[64]) -> Y { Y(i) = exp(X(i)) }", "Y: the task forbids functions" },
		{ "f(float32 X[64]) -> Y { Y(i) = 1.0 / X(i) }", "Y: the task forbids reciprocal" },
		{ "f(float32 X[64]) -> Y { Y(i) = X(i) * 2.0 + 1.0 }", NULL },
	};
	const struct hn_emit_options o = { .symbol = "k" };
	const struct hn_looptree *t;
	const struct hn_dag *dag;
	struct bed b;

	(void)state;
	open_bed(&b, "npu");
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		const char *text = rows[i].text;
		int rc;

		assert_int_equal(hn_dag_from_text("t", text, strlen(text), 0, &b.a, &dag, &b.err), 0);
		dag = hn_dag_mark(dag, HN_MARK_BITWISE, &b.a);
		assert_int_equal(hn_looptree_build(hn_state_init(dag, &b.a), &b.a, &t, &b.err), 0);
		rc = hn_emit(b.e, t, &o, &b.a, &b.made, &b.err);
		if ((rc == 0) != (rows[i].words == NULL) ||
		    (rc != 0 && strstr(b.err.msg, rows[i].words) == NULL)) {
			fail_msg("%s: %s", text, rc == 0 ? "taken" : b.err.msg);
		}
	}
	close_bed(&b);
}

static void planted_faults_are_there(void **state)
{
	static const struct {
		enum hn_plant plant;
		enum hn_npu_fault fault;
	} rows[] = {
		{ HN_PLANT_HANG, HN_NPU_F_BUDGET },
		{ HN_PLANT_OUT_OF_BOUNDS, HN_NPU_F_BOUNDS },
		{ HN_PLANT_DIVIDE_BY_ZERO, HN_NPU_F_NUMBER },
		{ HN_PLANT_WRONG_RESULT, HN_NPU_FINE }, /* its numbers are wrong */
		{ HN_PLANT_NO_BARRIER, HN_NPU_F_RACE },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_emit_options o = { .symbol = "k" };
		size_t bytes;
		struct bed b;

		open_bed(&b, "npu -isa=tiny");
		assert_int_equal(emit(&b, softmax, &o), 0);
		bytes = b.made.object_bytes;
		o.plant = rows[i].plant;
		assert_int_equal(emit(&b, softmax, &o), 0);
		assert_int_not_equal(b.made.object_bytes, bytes);
		assert_int_equal(judged(&b), rows[i].fault);
		close_bed(&b);
	}
}

/* The naive program's time on the machine; nothing of what has no form, or on no machine. */
static void naive_programs_are_counted(void **state)
{
	static const char large[] = "s(float32 X[1024,1024]) -> Y { M(i) max=! X(i,j) "
				    "E(i,j) = exp(X(i,j) - M(i)) S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }";
	static const struct {
		const char *text, *line;
		double least, most;
	} rows[] = {
		{ softmax, "npu", 3500, 1e5 },
		{ softmax, "npu -isa=tiny", 3500, 1e6 },
		{ large, "npu", 3500, 1e7 },
		{ product, "npu", 3500, 1e5 },
		{ "f(float64 X[64]) -> Y { Y(i) = X(i) + X(i) }", "npu", 0, 0 },
		{ softmax, "npu -num_cores=33", 0, 0 },
		{ softmax, "cpu -isa=generic", 0, 0 },
		{ softmax, "nothing", 0, 0 },
	};
	const struct hn_dag *dag;
	struct hn_err err;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		double ns;

		assert_int_equal(hn_dag_from_text("t", rows[i].text, strlen(rows[i].text), 0, &a, &dag,
						  &err), 0);
		ns = hn_build_counted(rows[i].line, dag);
		if (!(ns >= rows[i].least && ns <= rows[i].most)) {
			fail_msg("%s on %s: %.0f ns", rows[i].text, rows[i].line, ns);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_clean_text),
		cmocka_unit_test(what_it_has_no_form_for_is_refused),
		cmocka_unit_test(forbidden_liberties_are_refused),
		cmocka_unit_test(planted_faults_are_there),
		cmocka_unit_test(naive_programs_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
