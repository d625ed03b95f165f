/* Kernels for a machine that need not be this one, with their inputs, and whether its answers are
 * right (cross.sh):
 *
 *     cross_kernels make LINE DIR     DIR/k0.o, ..; DIR/table.c, what cross_run.c includes;
 *                                     DIR/inputs
 *     cross_kernels check LINE DIR    DIR/outputs against the interpreter
 *
 * Programs under their plain loops, the target's automatic schedules, and random histories; sums of
 * products under random histories that give them to instructions.  Both commands draw the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "loopstate/dag/tolerance.h"
#include "loopstate/nest/quick.h"
#include "search/answer.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/lower_groups.h"
#include "tests/lib/lower_run.h"

#define N_AUTOMATIC 3
#define N_HISTORY 9
#define N_GIVEN 20 /* of a sum whose instruction the machine has */
#define N_ANSWER 3 /* of cross_run.c: alone, on its pool, with prepared data */

static const char *const programs[] = {
	"f(float32 A[23,31], const B[31,29]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float32 X[9,7,5], const W[3,3,5,18]) -> Y {\n"
	"  P(y,x,c) = y >= 1 && y < 10 && x >= 1 && x < 8 ? X(y-1,x-1,c) : 0.0"
	"  where y in 0:11, x in 0:9\n"
	"  C(y,x,f) +=! P(y+r,x+s,c) * W(r,s,c,f)\n  Y(y,x,f) = max(C(y,x,f), 0) }",
	"f(float32 A[13,37]) -> C { M(i) max=! A(i,k)  E(i,k) = exp(A(i,k) - M(i))\n"
	"  S(i) +=! E(i,k)  C(i,k) = E(i,k) / S(i) }",
	"f(float32 A[41]) -> B { B(i) = tanh(A(i)) + sigmoid(A(i)) * erf(A(i)) + "
	"log(A(i) * A(i) + 1) }",
	"f(uint8 A[13,36], const int8 B[36,21], const int32 z[21], const float32 s[21]) "
	"-> Y {\n"
	"  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	"  Y(i,j) = uint8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, 0), "
	"255)) }",
	"f(int8 A[7,36], const int8 B[36,19], const float32 s[19]) -> Y {\n"
	"  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	"  Y(i,j) = int8(nearbyint(float32(C(i,j)) * s(j))) }",
	"f(bfloat16 A[11,33], const bfloat16 B[33,20]) -> C {\n"
	"  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))  C(i,j) = bfloat16(S(i,j)) }",
	"f(float16 A[11,33], const float16 B[33,20]) -> C {\n"
	"  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))  C(i,j) = float16(S(i,j)) }",
	"f(float16 A[29]) -> B { B(i) = A(i) * A(i) + exp(A(i)) }",
	"f(float64 A[5,19]) -> B { B(i) +=! A(i,k) * A(i,k) }",
	"f(float32 A[17,6]) -> B, S { B(j,i) = A(i,j)  S(j) min=! A(i,j) }",
	"f(int32 A[33], int64 B[33]) -> C, D { C(i) = floordiv(A(i), 3) + A(i) % 5  D(i) "
	"= B(32 - i) * 7 }",
	"f(float32 A[1,1]) -> C { C(i,j) = A(i,j) }",
	"f(int32 I[9], float32 A[4,11]) -> C { C(i,j) = A(I(i) % 4, j) }",
};

enum { N_PROGRAM = HN_COUNT_OF(programs), N_GROUP = HN_COUNT_OF(group_rows) };

struct kernel {
	const char *text;
	const struct hn_dag *dag;
	const struct hn_looptree *tree;
	uint32_t program, history;
	const struct hn_intrin *in; /* one that its history names */
};

static uint32_t n_program(void)
{
	return N_PROGRAM + N_GROUP;
}

/* The plain loops, then automatic schedules, then random histories; NULL: one that does not replay. */
static const struct hn_state *draw_state(const struct hn_target *target,
					 const struct hn_dag *dag,
					 const struct group_row *row, uint32_t history,
					 struct hn_arena *a)
{
	const struct hn_state *s = hn_state_init(dag, a);
	struct hn_answers all;
	struct hn_err err;

	hn_answers_find(dag, target, a, &all);
	if (history == 0) {
		return s;
	}
	if (history <= all.n && history <= N_AUTOMATIC) {
		return hn_state_replay(dag, all.at[history - 1].trace, a, &s, &err) == 0
			       ? s
			       : NULL;
	}
	return row ? group_history(dag, row, history, a)
		   : random_history(dag, history, a);
}

/* Kernel `history` of a program; false where that history is not legal. */
static bool draw_kernel(const struct hn_target *target, uint32_t program,
			uint32_t history, struct hn_quick *quick, struct hn_arena *a,
			struct kernel *ret)
{
	const struct group_row *row =
		program < N_PROGRAM ? NULL : &group_rows[program - N_PROGRAM];
	const struct hn_state *s;
	struct hn_err err;

	*ret = (struct kernel){ .text = row ? row->text : programs[program],
				.program = program,
				.history = history,
				.in = row ? hn_intrin_of(row->intrin) : NULL };
	ret->dag = dag_open(ret->text, a);
	s = draw_state(target, ret->dag, row, history, a);
	return s && hn_looptree_build(s, a, &ret->tree, &err) == 0 &&
	       hn_quick_legal(quick, ret->tree, NULL);
}

static uint32_t histories_of(const struct hn_target *target, uint32_t program)
{
	if (program < N_PROGRAM) {
		return N_HISTORY;
	}
	const struct group_row *row = &group_rows[program - N_PROGRAM];

	return hn_target_has_intrin(target, hn_intrin_of(row->intrin)) ? N_GIVEN : 4;
}

/* f of each kernel, with its number; the arena is its own. */
static void each(const struct hn_target *target,
		 void (*f)(const struct kernel *, uint32_t, struct hn_arena *, void *),
		 void *ctx)
{
	struct hn_quick *quick = hn_quick_new();
	uint32_t n = 0;

	for (uint32_t p = 0; p < n_program(); p++) {
		for (uint32_t h = 0; h < histories_of(target, p); h++) {
			struct hn_arena a;
			struct kernel k;

			hn_arena_init(&a, 0);
			if (draw_kernel(target, p, h, quick, &a, &k)) {
				f(&k, n++, &a, ctx);
			}
			hn_arena_fini(&a);
		}
	}
	hn_quick_free(quick);
}

/* -- make --------------------------------------------------------------------------------- */

struct make {
	struct hn_emitter *em;
	const struct hn_target *target;
	const char *dir;
	FILE *table;
	uint32_t n, by_row[N_GROUP]; /* kernels that call the row's instruction */
};

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
	char path[4200];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(hn_file_replace(path, bytes, n, NULL), 0);
}

static void make_kernel(const struct kernel *k, uint32_t i, struct hn_arena *a, void *ctx)
{
	struct make *m = ctx;
	struct hn_emit_options o = { .want_ir = true };
	struct hn_artefact made;
	struct hn_err err;
	char symbol[32], name[40];

	snprintf(symbol, sizeof symbol, "k%u", i);
	snprintf(name, sizeof name, "%s.o", symbol);
	o.symbol = symbol;
	if (hn_emit(m->em, k->tree, &o, a, &made, &err) != 0) {
		fail_msg("%s, history %u: %s", k->text, k->history, err.msg);
	}
	write_file(m->dir, name, made.object, made.object_bytes);
	fprintf(m->table, "KERNEL(%u, %s, %u, %llu, %llu, %llu)\n", i,
		made.prepared_bytes > 0 ? "PREPARES" : "PLAIN", k->program,
		(unsigned long long)made.shared_bytes,
		(unsigned long long)made.per_worker_bytes,
		(unsigned long long)made.prepared_bytes);
	m->n++;
	if (k->in != NULL) {
		m->by_row[k->program - N_PROGRAM] += strstr(made.ir, k->in->llvm) != NULL;
	}
}

/* For each program the number of its arguments; their bytes, whether they are outputs, and what is
 * in them. */
static void write_inputs(const char *dir)
{
	struct hn_buf b;

	hn_buf_init(&b);
	for (uint32_t p = 0; p < n_program(); p++) {
		struct run_args x;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		run_args_make(dag_open(p < N_PROGRAM ? programs[p]
						     : group_rows[p - N_PROGRAM].text,
				       &a),
			      11, &x);
		hn_buf_add(&b, &x.n, sizeof x.n);
		for (uint32_t i = 0; i < x.n; i++) {
			uint32_t head[2] = { (uint32_t)x.bytes[i], x.output[i] };

			hn_buf_add(&b, head, sizeof head);
			hn_buf_add(&b, x.at[i], x.bytes[i]);
		}
		run_args_free(&x);
		hn_arena_fini(&a);
	}
	write_file(dir, "inputs", b.s, b.n);
	hn_buf_fini(&b);
}

static int make(const struct hn_target *target, const char *dir)
{
	struct make m = { .target = target, .dir = dir };
	char path[4200];
	struct hn_err err;

	snprintf(path, sizeof path, "%s/table.c", dir);
	m.table = fopen(path, "we");
	if (m.table == NULL || hn_emitter_new(target, &m.em, &err) != 0) {
		fprintf(stderr, "cross_kernels: %s\n", m.table == NULL ? path : err.msg);
		return 1;
	}
	each(target, make_kernel, &m);
	fclose(m.table);
	hn_emitter_free(m.em);
	write_inputs(dir);
	printf("%u kernels", m.n);
	for (uint32_t i = 0; i < N_GROUP; i++) {
		if (m.by_row[i] > 0) {
			printf(", %u by %s", m.by_row[i], group_rows[i].intrin);
		}
	}
	puts("");
	return 0;
}

/* -- check -------------------------------------------------------------------------------- */

/* As for this machine's kernels (tests/lib/lower_forms.h). */
static double tolerance_of(const struct hn_dag *dag)
{
	enum hn_dtype t = (enum hn_dtype)dag->op[dag->arg[dag->n_arg - 1]]->dtype[0];

	return hn_dtype_is_narrow(t) ? hn_dag_tolerance(dag) : t == HN_F64 ? 1e-12 : 1e-5;
}

struct check {
	FILE *outputs;
	uint32_t n, n_wrong;
};

/* Its answers are the next ones in the file. */
static void check_kernel(const struct kernel *k, uint32_t i, struct hn_arena *a,
			 void *ctx)
{
	struct check *c = ctx;
	struct run_args want, got;
	struct hn_err err;

	(void)a;
	run_args_make(k->dag, 11, &want);
	assert_int_equal(hn_interpret(k->dag, want.at, &err), 0);
	for (uint32_t n = 0; n < N_ANSWER; n++) {
		bool whole = true;
		double d;

		run_args_make(k->dag, 11, &got);
		for (uint32_t j = 0; j < got.n; j++) {
			whole = whole &&
				(!got.output[j] || fread(got.at[j], 1, got.bytes[j],
							 c->outputs) == got.bytes[j]);
		}
		d = run_difference(&want, &got);
		c->n++;
		if (!whole || d > tolerance_of(k->dag)) {
			fprintf(stderr,
				"k%u, answer %u: %s: %s, differs by %g\nhistory %u\n", i,
				n, whole ? "wrong" : "missing", k->text, d, k->history);
			c->n_wrong++;
		}
		run_args_free(&got);
	}
	run_args_free(&want);
}

static int check(const struct hn_target *target, const char *dir)
{
	struct check c = { 0 };
	char path[4200];

	snprintf(path, sizeof path, "%s/outputs", dir);
	c.outputs = fopen(path, "re");
	if (c.outputs == NULL) {
		fprintf(stderr, "cross_kernels: %s: not there\n", path);
		return 1;
	}
	each(target, check_kernel, &c);
	bool more = fgetc(c.outputs) != EOF;

	fclose(c.outputs);
	printf("%u answers, %u wrong%s\n", c.n, c.n_wrong,
	       more ? ", and more than asked for" : "");
	return c.n_wrong > 0 || more;
}

int main(int argc, char **argv)
{
	struct hn_target target;
	struct hn_arena a;
	struct hn_err err;
	int rc;

	if (argc != 4) {
		fputs("usage: cross_kernels make|check LINE DIR\n", stderr);
		return 2;
	}
	hn_arena_init(&a, 0);
	rc = hn_target_parse(argv[2], &a, &target, &err);
	if (rc != 0) {
		fprintf(stderr, "cross_kernels: %s\n", err.msg);
	} else {
		rc = strcmp(argv[1], "make") == 0 ? make(&target, argv[3])
						  : check(&target, argv[3]);
	}
	hn_arena_fini(&a);
	return rc != 0;
}
