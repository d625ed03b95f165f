/* Whether a derived dag computes what the task's does: right ones are shown, and by which rule;
 * each way of being wrong is refused with its reason; and of dags that steps made, with any one
 * of their numbers changed, all that answer differently are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/options.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/state/inline.h"
#include "lower/prove/equal.h"
#include "lower/lower.h"

struct fixture {
	struct hn_arena arena;
	isl_ctx *ctx;
	struct hn_equal equal;
	struct hn_err err;
};

static void open_fixture(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	hn_arena_init(&f->arena, 0);
	f->ctx = isl_ctx_alloc();
	isl_options_set_on_error(f->ctx, ISL_ON_ERROR_CONTINUE);
}

static void close_fixture(struct fixture *f)
{
	isl_ctx_free(f->ctx); /* says so when anything of it is left */
	hn_arena_fini(&f->arena);
}

static const struct hn_dag *parse(struct fixture *f, const char *text)
{
	const struct hn_dag *dag;

	if (hn_dag_parse_sized("test", text, strlen(text), 0, &f->arena, &dag, &f->err)) {
		fail_msg("%s\n%s", f->err.msg, text);
	}
	return dag;
}

static bool equal(struct fixture *f, const struct hn_dag *given, const struct hn_dag *derived)
{
	f->err.msg[0] = '\0';
	return hn_equal_dags(given, derived, f->ctx, &f->arena, &f->equal, &f->err);
}

/* What is derived from given by hand; why: in the refusal, NULL = it is right. */
struct by_hand {
	const char *given, *derived, *why;
};

#define MM "mm(float32 A[6,9], float32 B[9,8]) -> C { "
#define MM_GIVEN MM "C(i,j) +=! A(i,k) * B(k,j) }"
#define MM_PACK                                                                                  \
	MM "P(b,k,l) = B(k, b*4 + l) where b in 0:2, k in 0:9, l in 0:4\n"                       \
	   "C(i,j) +=! A(i,k) * P(j/4, k, j%4) where i in 0:6, j in 0:8, k in 0:9 }"
#define SUM "s(int32 A[10]) -> C { "
#define SUM_GIVEN SUM "C +=! A(k) }"
#define BODY "b(float32 A[8]) -> C { B(i) = A(i) + 2.0\n C(i) = B(i) * B(i) }"
#define PAD "p(float32 A[8]) -> C { P(i) = i >= 2 && i < 10 ? A(i-2) : 0 where i in 0:12\n"
#define INTS "n(int32 A[8]) -> C { "

static const struct by_hand cases[] = {
	/* copies */
	{ MM_GIVEN, MM "S(k,j) = B(k,j)\n C(i,j) +=! A(i,k) * S(k,j) }", NULL },
	{ MM_GIVEN, MM "L(i,j) +=! A(i,k) * B(k,j)\n C(i,j) = L(i,j) }", NULL },
	{ "t(float32 B[9,9]) -> C { C(i,j) = B(i,j) + 1.0 }",
	  "t(float32 B[9,9]) -> C { S(i,j) = B(j,i)\n C(i,j) = S(i,j) + 1.0 }", "stage 2 (C)" },
	{ "t(float32 B[9,9]) -> C { C(i,j) = B(i,j) + 1.0 }",
	  "t(float32 B[9,9]) -> C { S(i,j) = B(j,i)\n C(i,j) = S(j,i) + 1.0 }", NULL },
	{ MM_GIVEN, MM "L(i,j) +=! A(i,k) * B(k,j) * 2.0\n C(i,j) = L(i,j) }", "stage 2 (L)" },
	{ MM_GIVEN, MM "L(i,j) +=! A(i,k) * B(k,j)\n C(i,j) = L(i,j) + 0.0 }", "stage 3 (C)" },
	{ MM_GIVEN, MM "L(i,j) max=! A(i,k) * B(k,j)\n C(i,j) = L(i,j) }", "combiner" },
	{ MM_GIVEN, MM "C(i,j) +=! A(i,k) * B(k,j) where k in 0:8 }", "reduction axes" },
	/* panels */
	{ MM_GIVEN, MM_PACK, NULL },
	{ MM_GIVEN,
	  MM "P(b,k,l) = B(k, b*4 + 3 - l) where b in 0:2, k in 0:9, l in 0:4\n"
	     "C(i,j) +=! A(i,k) * P(j/4, k, j%4) where i in 0:6, j in 0:8, k in 0:9 }",
	  "stands where the program has" },
	{ MM_GIVEN,
	  MM "P(b,k,l) = B(k, b*4 + l) where b in 0:2, k in 0:9, l in 0:4\n"
	     "C(i,j) +=! A(i,k) * P(j/4, k, (j+1)%4) where i in 0:6, j in 0:8, k in 0:9 }",
	  "stands where the program has" },
	{ "c(float32 A[10]) -> C { C(i) = A(i) * 3.0 }",
	  "c(float32 A[10]) -> C { P(b,l) = b*4 + l < 10 ? A(b*4 + l) : 0 where b in 0:3, l in 0:4\n"
	  "C(i) = P(i/4, i%4) * 3.0 where i in 0:10 }",
	  NULL },
	{ "c(float32 A[10]) -> C { C(i) = A(i) * 3.0 }",
	  "c(float32 A[10]) -> C { P(b,l) = b*4 + l < 9 ? A(b*4 + l) : 0 where b in 0:3, l in 0:4\n"
	  "C(i) = P(i/4, i%4) * 3.0 where i in 0:10 }",
	  "stands where the program has" },
	/* bodies put into their readers */
	{ BODY, "b(float32 A[8]) -> C { C(i) = (A(i) + 2.0) * (A(i) + 2.0) }", NULL },
	{ BODY, "b(float32 A[8]) -> C { C(i) = (A(i) + 2.0) * (A(i) + 3.0) }", "3" },
	{ BODY, "b(float32 A[8]) -> C { C(i) = (A(i) + 2.0) * (2.0 + A(i)) }",
	  "stands where the program has" },
	{ BODY, "b(float32 A[8]) -> C { C(i) = (A(i) + 2.0) * (A(7 - i) + 2.0) }",
	  "stands where the program has" },
	{ PAD "C(i) = P(i + 1) }", "p(float32 A[8]) -> C { C(i) = i + 1 >= 2 && i < 9 ? A(i - 1) : 0"
				   " where i in 0:11 }",
	  NULL },
	{ PAD "C(i) = P(i + 1) }", "p(float32 A[8]) -> C { C(i) = i >= 2 && i < 9 ? A(i - 1) : 0"
				   " where i in 0:11 }",
	  "stands where the program has" },
	{ PAD "C(i) = P(i + 3) where i in 0:7 }", "p(float32 A[8]) -> C { C(i) = A(i + 1) }", NULL },
	{ PAD "C(i) = P(i + 3) where i in 0:8 }", "p(float32 A[8]) -> C { C(i) = A(i) }",
	  "stands where the program has" },
	{ "l(float32 A[8]) -> C { B(i) = let x = A(i) * 2.0 in x * x\n"
	  "C(i) = let x = B(i) + 1.0 in x * B(7 - i) }",
	  "l(float32 A[8]) -> C { C(i) = let x = (let y = A(i) * 2.0 in y * y) + 1.0 in "
	  "x * (let z = A(7 - i) * 2.0 in z * z) }",
	  NULL },
	{ "l(float32 A[8]) -> C { B(i) = let x = A(i) * 2.0 in x * x\n"
	  "C(i) = let x = B(i) + 1.0 in x * B(7 - i) }",
	  "l(float32 A[8]) -> C { C(i) = let x = (let y = A(i) * 2.0 in y * y) + 1.0 in "
	  "x * (let z = A(7 - i) * 2.0 in z * x) }",
	  "stands where the program has" },
	/* laws of data */
	{ INTS "B(i) = A(i) * 1 + 5\n C(i) = B(i) - 2 + i*0 }", INTS "C(i) = A(i) + 3 }", NULL },
	{ INTS "B(i) = A(i) / 65536\n C(i) = B(i) / 65536 }", INTS "C(i) = A(i) / 2147483647 }",
	  "stands where the program has" },
	{ INTS "B(i) = A(i) * 6\n C(i) = B(i) / 3 }", INTS "C(i) = A(i) * 2 }",
	  "stands where the program has" },
	{ INTS "B(i) = A(i) + 1000000000\n C(i) = min(B(i), A(i)) }", INTS "C(i) = A(i) }",
	  "stands where the program has" },
	{ "n(float32 A[8]) -> C { B(i) = A(i) * 1.0\n C(i) = B(i) + 0.0 }",
	  "n(float32 A[8]) -> C { C(i) = A(i) }", "stands where the program has" },
	{ "n(float32 A[8]) -> C { B(i) = A(i) + 1.0\n C(i) = B(i) + 2.0 }",
	  "n(float32 A[8]) -> C { C(i) = A(i) + 3.0 }", "stands where the program has" },
	{ "n(float32 A[8]) -> C { B(i) = A(i)\n C(i) = B(i) == A(i) ? 1.0 : 2.0 }",
	  "n(float32 A[8]) -> C { C(i) = 1.0 where i in 0:8 }", "stands where the program has" },
	{ "n(int32 A[8]) -> C { B(i) = A(i)\n C(i) = B(i) == A(i) ? 1.0 : 2.0 }",
	  "n(int32 A[8]) -> C { C(i) = 1.0 where i in 0:8 }", NULL },
	{ "n(float32 A[64]) -> C { B(i) = float32(i/8 + i%8) * A(i)\n C(i,j) = B(i*8 + j) "
	  "where i in 0:8, j in 0:8 }",
	  "n(float32 A[64]) -> C { C(i,j) = float32(i + j) * A(i*8 + j) where i in 0:8, j in 0:8 }",
	  NULL },
	{ "n(float32 A[64]) -> C { B(i) = float32(i/8 + i%8) * A(i)\n C(i,j) = B(i*8 + j) "
	  "where i in 0:8, j in 0:8 }",
	  "n(float32 A[64]) -> C { C(i,j) = float32(i + i) * A(i*8 + j) where i in 0:8, j in 0:8 }",
	  "stands where the program has" },
	/* what is loaded as an index */
	{ "g(int32 X[8], float32 A[8]) -> C { Y(i) = X(7 - i)\n C(i) = A(max(min(Y(i), 7), 0)) }",
	  "g(int32 X[8], float32 A[8]) -> C { C(i) = A(max(min(X(7 - i), 7), 0)) }", NULL },
	{ "g(int32 X[8], float32 A[8]) -> C { Y(i) = X(7 - i)\n C(i) = A(max(min(Y(i), 7), 0)) }",
	  "g(int32 X[8], float32 A[8]) -> C { C(i) = A(max(min(X(i), 7), 0)) }",
	  "stands where the program has" },
	{ "g(int32 X[8], float32 A[8]) -> C { Y(i) = min(X(i), 9)\n C(i) = A(max(min(Y(i), 7), 0)) }",
	  "g(int32 X[8], float32 A[8]) -> C { C(i) = A(max(min(min(X(i), 9), 7), 0)) }", NULL },
	/* an int32 product ends at its type, an index does not */
	{ "g(int32 X[8], float32 A[8]) -> C { Y(i) = X(i) * 1000003\n"
	  "C(i) = A(max(min(Y(i), 7), 0)) }",
	  "g(int32 X[8], float32 A[8]) -> C { C(i) = A(max(min(X(i) * 1000003, 7), 0)) }",
	  "stands where the program has" },
	/* a changed type */
	{ "n(int32 A[8], int32 B[8]) -> C { S(i) = A(i) + B(i)\n C(i) = int64(S(i)) }",
	  "n(int32 A[8], int32 B[8]) -> C { C(i) = int64(A(i)) + int64(B(i)) }",
	  "stands where the program has" },
	{ "n(int32 A[8]) -> C { C(i) = A(i) }", "n(int32 A[8]) -> C { C(i) = int64(A(i)) }",
	  "it is of int64, not of int32" },
	{ "n(int32 A[8]) -> C { C(i) = A(i) }", "n(int32 A[9]) -> C { C(i) = A(i) where i in 0:8 }",
	  "stage 0 (A)" },
	{ "n(int32 A[8], B[8]) -> C { C(i) = A(i) - B(i) }",
	  "n(int32 B[8], A[8]) -> C { C(i) = A(i) - B(i) }", "stage 2 (C)" },
	/* parts of a reduction */
	{ SUM_GIVEN, SUM "R(a) +=! A(a*5 + b) where a in 0:2, b in 0:5\n C +=! R(a) }", NULL },
	{ SUM_GIVEN,
	  SUM "R(a) +=! a*4 + b < 10 ? A(a*4 + b) where a in 0:3, b in 0:4\n C +=! R(a) }", NULL },
	{ SUM_GIVEN,
	  SUM "R(a) +=! a*4 + b < 9 ? A(a*4 + b) where a in 0:3, b in 0:4\n C +=! R(a) }",
	  "is in none of its parts" },
	{ SUM_GIVEN, SUM "R(a) +=! A(a*4 + b) where a in 0:2, b in 0:5\n C +=! R(a) }",
	  "is in two of its parts" },
	{ SUM_GIVEN, SUM "R(a) +=! A(a*5 + b) where a in 0:2, b in 0:4\n C +=! R(a) }",
	  "is in none of its parts" },
	{ SUM_GIVEN, SUM "R(a) +=! A(a*5 + b) where a in 0:2, b in 0:5\n C max=! R(a) }",
	  "its combiner or identity is another one" },
	{ SUM_GIVEN, SUM "R(a) max=! A(a*5 + b) where a in 0:2, b in 0:5\n C +=! R(a) }",
	  "its parts have another combiner or identity" },
	{ SUM_GIVEN, SUM "R(a) +=! A(a*5 + b) where a in 0:2, b in 0:5\n C +=! R(1 - a) }", NULL },
	{ SUM_GIVEN, SUM "R(a) +=! A(a*5 + b) where a in 0:2, b in 0:5\n C +=! R(a) * 2 }",
	  "its reduction axes are others" },
	{ SUM "C +=! A(k) + k }",
	  SUM "R(a) +=! A(a*5 + b) + (a*5 + b) where a in 0:2, b in 0:5\n C +=! R(a) }", NULL },
	{ SUM "C +=! A(k) + k }",
	  SUM "R(a) +=! A(a*5 + b) + (a*5 + a) where a in 0:2, b in 0:5\n C +=! R(a) }",
	  "stands where the program has" },
	{ "s(int32 A) -> C { C +=! [k] A where k in 0:10 }",
	  "s(int32 A) -> C { R(a) +=! [b] A where a in 0:2, b in 0:5\n C +=! R(a) }", NULL },
	{ "s(int32 A) -> C { C +=! [k] A where k in 0:10 }",
	  "s(int32 A) -> C { R(a) +=! [b] A where a in 0:3, b in 0:5\n C +=! R(a) }",
	  "what is no point of the reduction is in its parts" },
	{ "s(int32 A[6,4]) -> C { C +=! A(j,k) }",
	  "s(int32 A[6,4]) -> C { R(a) +=! A((a*8+b)/4, (a*8+b)%4) where a in 0:3, b in 0:8\n"
	  "C +=! R(a) }",
	  NULL },
	{ "s(int32 A[6,4]) -> C { C +=! A(j,k) }",
	  "s(int32 A[6,4]) -> C { R(a) +=! A((a*8+b)/4, (a*8+b)%3) where a in 0:3, b in 0:8\n"
	  "C +=! R(a) }",
	  "in two of its parts" },
	{ "s(int32 A[10], bool M[10]) -> C { C +=! M(k) ? A(k) }",
	  "s(int32 A[10], bool M[10]) -> C { R(a) +=! a*4+b < 10 ? (M(a*4+b) ? A(a*4+b) : 0) "
	  "where a in 0:3, b in 0:4\n C +=! R(a) }",
	  "stands where the program has" },
	/* laws of combiners */
	{ "s(int32 A[10]) -> C { C reduce=! A(k) by (x), (y) -> x - y from 0 }",
	  "s(int32 A[10]) -> C { R(a) reduce=! A(a*5 + b) by (x), (y) -> x - y from 0 "
	  "where a in 0:2, b in 0:5\n C reduce=! R(a) by (x), (y) -> x - y from 0 }",
	  "may not be reduced in parts" },
	{ "s(int32 A[10]) -> C { C reduce=! A(k) by (x), (y) -> x + y from 5 }",
	  "s(int32 A[10]) -> C { R(a) reduce=! A(a*5 + b) by (x), (y) -> x + y from 5 "
	  "where a in 0:2, b in 0:5\n C reduce=! R(a) by (x), (y) -> x + y from 5 }",
	  "not neutral" },
	{ "s(int32 A[10]) -> C { C reduce=! A(k) by (x), (y) -> x + y from 0 }",
	  "s(int32 A[10]) -> C { R(a) reduce=! A(a*5 + b) by (x), (y) -> x + y from 5 "
	  "where a in 0:2, b in 0:5\n C reduce=! R(a) by (x), (y) -> x + y from 0 }",
	  "its parts have another combiner or identity" },
	{ "s(float32 A[10]) -> C { @bitwise C +=! A(k) }",
	  "s(float32 A[10]) -> C { @bitwise R(a) +=! A(a*5 + b) where a in 0:2, b in 0:5\n"
	  "@bitwise C +=! R(a) }",
	  "the task forbids reassociation" },
	{ "s(float32 A[10]) -> C { @no_contraction C(i) = A(i) * 2.0 }",
	  "s(float32 A[10]) -> C { C(i) = A(i) * 2.0 }", "forgets what the task forbids" },
	/* sizes */
	{ "z(N in [1, 64], float32 A[N]) -> C { B(i) = A(i) + 1.0\n C(i) = B(N - 1 - i) where i in 0:N }",
	  "z(N in [1, 64], float32 A[N]) -> C { C(i) = A(N - 1 - i) + 1.0 where i in 0:N }", NULL },
	{ "z(N in [2, 64], float32 A[N]) -> C { B(i) = A(i) + 1.0\n C(i) = B(N - 1 - i) where i in 0:N }",
	  "z(N in [2, 64], float32 A[N]) -> C { C(i) = A(i) + 1.0 where i in 0:N }",
	  "stands where the program has" },
	{ "z(N in [1, 64], float32 A[N]) -> C { C +=! A(k) }",
	  "z(N in [1, 64], float32 A[N]) -> C { S(i) = A(i)\n C +=! S(k) }", NULL },
};

static void judges(void **state)
{
	uint32_t n_bad = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		const struct by_hand *k = &cases[i];
		struct fixture f;

		open_fixture(&f);
		bool same = equal(&f, parse(&f, k->given), parse(&f, k->derived));

		if (same != !k->why || (k->why && !strstr(f.err.msg, k->why))) {
			print_error("%s\n%s\nwanted %s, got: %s\n\n", k->given, k->derived,
				    k->why ? k->why : "equal", same ? "equal" : f.err.msg);
			n_bad++;
		}
		close_fixture(&f);
	}
	assert_int_equal(n_bad, 0);
}

/* Dags that steps make: rows of `stage is op: rule (by)`. */
struct by_steps {
	const char *text, *steps, *rows;
};

static const struct by_steps made[] = {
	{ "mm(int32 A[6,10], int32 B[10,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  "[[\"CHR\", 1, \"shared\", [2]], [\"CHW\", 3, \"local\"]]",
	  "B.shared is B: copy ()\nC.local is C: unfolding ()\n" },
	{ "mm(int32 A[6,10], int32 B[10,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  "[[\"PK\", 1, [10, 3]]]",
	  "B.pack is part: unfolding ()\nC is C: unfolding (of B.pack)\n" },
	{ "mm(int32 A[6,10], int32 B[10,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  "[[\"SP\", 2, 2, 10, [4], 1], [\"RF\", 2, 2, 2]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of int32 by law; with C.rf unfolded)\n" },
	{ "mm(float32 A[6,10], B[10,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  "[[\"CHW\", 2, \"local\"], [\"SP\", 2, 2, 10, [4], 1], [\"RF\", 2, 3, 0]]",
	  "C.local.rf is part: unfolding ()\nC.local.repl is C: partition (of k; sum of float32 by "
	  "liberty reassociation; with C.local.rf unfolded)\n" },
	{ "s(int32 A[6,10]) -> C { P(i,j) = A(i,j) + i*j\n C +=! P(i,j) }",
	  "[[\"CI\", 1], [\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 60, [7], 1], [\"RF\", 2, 1, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of i, j; sum of int32 by law; with P, C.rf unfolded)\n" },
	{ "s(int32 A[37]) -> C { C +=! A(k) }",
	  "[[\"SP\", 1, 0, 37, [5], 1], [\"RF\", 1, 0, 0], [\"SP\", 1, 1, 5, [2], 1], "
	  "[\"RF\", 1, 1, 0]]",
	  "C.rf.rf is part: unfolding ()\nC.rf.repl is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of int32 by law; with C.rf.rf, C.rf.repl unfolded)\n" },
	/* what is summed tells nothing of where it is read; nothing of one axis */
	{ "n(int32 A[3,2]) -> C { Z(i,j) = A(i,j) < A(i,j)\n C +=! int32(Z(k,l)) }",
	  "[[\"CI\", 1], [\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 6, [3], 1], [\"RF\", 2, 0, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k, l; sum of int32 by law; with Z, C.rf unfolded)\n" },
	/* quotients and remainders that were simplified to less than their point */
	{ "n(int32 A[5], int32 B) -> C { P(i) = i % 2 == 0 ? A(i / 2) : 0 where i in 0:9\n"
	  "C(i) +=! P(2*i + k) * B where i in 0:4, k in 0:3 }",
	  "[[\"SP\", 3, 1, 3, [4], 1], [\"RF\", 3, 2, 1], [\"CI\", 2]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of int32 by law; with P, C.rf unfolded)\n" },
	/* two axes in one index */
	{ "n(int32 A[16]) -> C { P(i,q) = A(i*2 + q) where i in 0:8, q in 0:2\n C +=! P(k,l) }",
	  "[[\"SP\", 2, 0, 8, [2], 1], [\"RF\", 2, 1, 0], [\"CI\", 1]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k, l; sum of int32 by law; with P, C.rf unfolded)\n" },
	/* an axis of one point, which needs no part of what the others leave */
	{ "n(int32 A[5,3,1,3]) -> C { C +=! A(i,j,k,l) }",
	  "[[\"FU\", 1, [0, 1, 2, 3]], [\"SP\", 1, 0, 45, [15], 1], [\"RF\", 1, 0, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of i, j, k, l; sum of int32 by law; with C.rf unfolded)\n" },
	/* a quotient of data; two axes of one extent, of which one has a guard */
	{ "n(int32 A[3,3], B[3,3]) -> C { C +=! A(k,l) / max(B(k,l), 1) }",
	  "[[\"SP\", 2, 1, 3, [2], 1], [\"RF\", 2, 2, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k, l; sum of int32 by law; with C.rf unfolded)\n" },
	{ "n(int32 A[3,4]) -> C { Z(i,j) = A(i,j) < A(i,j)\n C +=! k % 2 == 0 ? int32(Z(k,l)) }",
	  "[[\"CI\", 1], [\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 12, [6], 1], [\"RF\", 2, 0, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k, l; sum of int32 by law; with Z, C.rf unfolded)\n" },
	{ "a(int32 A[4,9]) -> V, I { V(i), I(i) reduce=! A(i,k), k by (v, i), (w, j) -> "
	  "max(v, w), select(v > w, i, select(w > v, j, min(i, j))) from -2147483648, 2147483647 }",
	  "[[\"SP\", 1, 1, 9, [4], 1], [\"RF\", 1, 1, 1]]",
	  "V_I.rf is part: unfolding ()\n"
	  "V_I.repl is V_I: partition (of k; combiner of int32 by law; with V_I.rf unfolded)\n" },
	{ "f(float32 A[37]) -> C { @no_contraction C +=! A(k) }",
	  "[[\"SP\", 1, 0, 37, [5], 1], [\"RF\", 1, 0, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of float32 by liberty reassociation; with C.rf unfolded)\n" },
	{ "m(int32 A[5], bool M[5]) -> C { C +=! M(k) ? A(k) }",
	  "[[\"SP\", 2, 0, 5, [2], 1], [\"RF\", 2, 0, 0]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of int32 by law; with C.rf unfolded)\n" },
	{ "m(int32 A[5,5], bool M[5]) -> C { C(i) +=! M(k) ? A(i,k) }", "[[\"CHW\", 2, \"local\"]]",
	  "C.local is C: unfolding ()\n" },
	{ "d(int32 A[9]) -> C { Q(i), R(i) = A(i) / 7, A(i) % 7\n C(i) = Q(i) * 10 + R(8 - i) }",
	  "[[\"CI\", 1]]", "C is C: unfolding (of Q_R)\n" },
	/* the copy is the first output of what reads it, and the second needs it, too */
	{ "d(int64 A[4]) -> X, Y { S(i) = A(i) + 1\n X(i), Y(i) = S(i), S(i) * 3 }",
	  "[[\"CHR\", 1, \"local\", [2]], [\"CI\", 1]]",
	  "S.local is X_Y: unfolding (of S)\nX_Y is X_Y: unfolding (of S, S.local)\n" },
	/* a remainder of which less than the point is left; without another trace, too */
	{ "s(int32 A[13], int32 B[25]) -> C { P(i) = i % 2 == 0 ? A(i / 2) : 0 where i in 0:25\n"
	  "C +=! P(k) * B(k) where k in 0:25 }",
	  "[[\"SP\", 3, 0, 25, [4], 1], [\"RF\", 3, 0, 0], [\"CI\", 2]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of int32 by law; with P, C.rf unfolded)\n" },
	{ "s(int32 A[13]) -> C { P(i) = i % 2 == 0 ? A(i / 2) : 0 where i in 0:25\n"
	  "C +=! P(k) where k in 0:25 }",
	  "[[\"SP\", 2, 0, 25, [4], 1], [\"RF\", 2, 0, 0], [\"CI\", 1]]",
	  "C.rf is part: unfolding ()\n"
	  "C.repl is C: partition (of k; sum of int32 by law; with P, C.rf unfolded)\n" },
	/* the index is a name; the inlined body has one of its own, in the same slot */
	{ "l(int32 A[8]) -> C { B(i) = let x = A(i) * 2 in x * A(i)\n"
	  "C(i) = let q = 7 - i in B(q) + q where i in 0:8 }",
	  "[[\"CI\", 1]]", "C is C: unfolding (of B)\n" },
	/* a name of an index, where its blocks are taken */
	{ "l(int32 A[13]) -> C { P(i) = let t = i + 1 in A(t) - A(i) * t where i in 0:12\n"
	  "C(i) = let t = 11 - i in P(t) where i in 0:11 }",
	  "[[\"PK\", 1, [7]], [\"CI\", 1]]",
	  "P.pack is part: unfolding ()\nC is C: unfolding (of P, P.pack)\n" },
	{ "p(int32 A[7,9], const int32 W[3,3]) -> C { P(y,x) = y >= 1 && y < 8 && x >= 1 && x < 10 ? "
	  "A(y-1,x-1) : 0 where y in 0:9, x in 0:11\n C(y,x) +=! P(y+r,x+s) * W(r,s) }",
	  "[[\"CI\", 2], [\"CHR\", 0, \"shared\", [2]], [\"PK\", 2, [3, 2]], [\"CHW\", 5, \"local\"]]",
	  NULL },
};

/* The dag that the steps make, inlined. */
static const struct hn_dag *derive(struct fixture *f, const struct hn_dag *given,
				   const char *steps)
{
	const struct hn_state *s = hn_state_init(given, &f->arena);
	const struct hn_trace *trace;
	const struct hn_dag *dag;

	if (hn_trace_parse("steps", steps, strlen(steps), &f->arena, &trace, &f->err) ||
	    hn_state_replay(given, trace, &f->arena, &s, &f->err) ||
	    hn_inline_dag(s, &f->arena, &dag, &f->err)) {
		fail_msg("%s: %s", steps, f->err.msg);
	}
	return dag;
}

static void says_how(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(made); i++) {
		const struct hn_dag *given, *dag;
		struct fixture f;
		struct hn_buf text;

		open_fixture(&f);
		hn_buf_init(&text);
		given = parse(&f, made[i].text);
		dag = derive(&f, given, made[i].steps);
		if (!equal(&f, given, dag)) {
			fail_msg("%s: %s: %s", made[i].text, made[i].steps, f.err.msg);
		}
		for (uint32_t k = 0; k < f.equal.n; k++) {
			const struct hn_equal_row *row = &f.equal.row[k];

			hn_buf_printf(&text, "%s is %s: %s (%s)\n", row->stage,
				      row->is ? row->is : "part", row->rule, row->by);
		}
		if (made[i].rows) {
			assert_string_equal(text.s, made[i].rows);
		}
		hn_buf_fini(&text);
		close_fixture(&f);
	}
}

/* What a stage computes wraps at its type, an index does not: inlining may not make one of it. */
static void refuses_index_of_data(void **state)
{
	static const char *const programs[] = {
		"g(int32 X[8], float32 A[8]) -> C { Y(i) = X(i) * 1000003\n"
		"C(i) = A(max(min(Y(i), 7), 0)) }",
		"g(int32 X[8], float32 A[8]) -> C { Y(i) = max(X(i) + 1, 0)\n"
		"C(i) = A(max(min(Y(i), 7), 0)) }",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		const struct hn_state *s;
		const struct hn_dag *dag;
		struct fixture f;

		open_fixture(&f);
		s = hn_state_init(parse(&f, programs[i]), &f.arena);
		assert_int_equal(hn_compute_inline(s, 2, &f.arena, &s, &f.err), 0);
		assert_int_equal(hn_inline_dag(s, &f.arena, &dag, &f.err), -HONE_E_UNSUPPORTED);
		assert_non_null(strstr(f.err.msg, "would become an index"));
		close_fixture(&f);
	}
}

/* -- one number changed ------------------------------------------------------------------- */

struct change {
	uint32_t at, n; /* which number of the dag, how many were seen */
	int64_t by;
	const struct hn_expr *seen[4096]; /* shared nodes are met again, and changed alike */
	const struct hn_expr *made;
};

static const struct hn_expr *change_number(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	struct change *x = ctx;

	if ((e->op != HN_EXPR_INT && e->op != HN_EXPR_VAR) || e->dtype == HN_BOOL ||
	    e->ref >= HN_SLOT_LHS || x->n++ != x->at) {
		return e;
	}
	if (e->op == HN_EXPR_INT) {
		return hn_expr_int(e->u.i + x->by, (enum hn_dtype)e->dtype, a);
	}
	return hn_expr_var(e->ref ^ 1, (enum hn_dtype)e->dtype, NULL, a); /* another axis */
}

static const struct hn_expr *const *change_all(const struct hn_expr *const *e, uint32_t n,
					       struct change *x, struct hn_arena *a)
{
	const struct hn_expr **r = HN_NEW_ARRAY(a, const struct hn_expr *, n);

	for (uint32_t k = 0; k < n; k++) {
		r[k] = hn_expr_map(e[k], change_number, x, a);
	}
	return r;
}

static const struct hn_dag *changed(const struct hn_dag *dag, struct change *x,
				    struct hn_arena *a)
{
	struct hn_dag *copy = HN_NEW(a, struct hn_dag);
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		struct hn_op *o = HN_NEW(a, struct hn_op);

		*o = *dag->op[i];
		if (o->reduce) {
			struct hn_reduce *r = HN_NEW(a, struct hn_reduce);

			*r = *o->reduce;
			r->source = change_all(r->source, r->n, x, a);
			r->identity = change_all(r->identity, r->n, x, a);
			r->condition = r->condition ? *change_all(&r->condition, 1, x, a) : NULL;
			o->reduce = r;
		} else if (o->body) {
			o->body = change_all(o->body, o->n_out, x, a);
		}
		op[i] = o;
	}
	*copy = *dag;
	copy->op = op;
	return copy;
}

/* What the dag answers, all outputs one behind the other. */
static int64_t *answer(const struct hn_dag *dag, int64_t *ret_n)
{
	void *arg[16];
	int64_t n = 0, at = 0;
	int64_t *all;
	struct hn_err err = { 0 };

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		uint32_t out = hn_dag_arg_out(dag, i);
		int64_t m = hn_op_elements(op);
		uint32_t bytes = hn_dtype_bytes(op->dtype[out]);

		arg[i] = calloc((size_t)m, bytes);
		for (int64_t k = 0; k < m && i < dag->n_input; k++) {
			uint32_t v = (uint32_t)(k * 2654435761u + i * 40503u) >> 3;

			if (bytes == 1) {
				((uint8_t *)arg[i])[k] = v % 3 != 0;
			} else if (hn_dtype_class(op->dtype[out]) == HN_CLASS_FLOAT) {
				((float *)arg[i])[k] = (float)(int32_t)(v % 200) - 100;
			} else {
				((int32_t *)arg[i])[k] = (int32_t)v - 100000000;
			}
		}
		n += i < dag->n_input ? 0 : m;
	}
	assert_int_equal(hn_interpret(dag, arg, &err), 0);
	all = calloc((size_t)n, sizeof(*all));
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		int64_t m = hn_op_elements(dag->op[dag->arg[i]]);

		for (int64_t k = 0; k < m && i >= dag->n_input; k++) {
			all[at++] = ((int32_t *)arg[i])[k];
		}
		free(arg[i]);
	}
	*ret_n = n;
	return all;
}

static void finds_changes(void **state)
{
	uint32_t n_changed = 0, n_invalid = 0, n_same = 0, n_missed = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(made); i++) {
		struct fixture f;
		int64_t n, m;

		open_fixture(&f);
		const struct hn_dag *given = parse(&f, made[i].text);
		const struct hn_dag *right = derive(&f, given, made[i].steps);
		int64_t *want = answer(right, &n);
		struct change x = { .by = 1 };
		bool more = true;

		for (uint32_t at = 0; more; at++) {
			x.at = at / 2;
			x.n = 0;
			x.by = at % 2 ? -1 : 1;
			const struct hn_dag *dag = changed(right, &x, &f.arena);

			more = x.n > x.at;
			if (!more || hn_dag_check("changed", dag, 0, &f.err)) {
				n_invalid += more;
				continue;
			}
			int64_t *got = answer(dag, &m);

			assert_int_equal(n, m);
			bool same = memcmp(want, got, (size_t)n * sizeof(*got)) == 0;

			free(got);
			n_changed += !same;
			n_same += same;
			if (!same && equal(&f, given, dag)) {
				print_error("%s: %s: number %u\n", made[i].text, made[i].steps,
					    x.at);
				n_missed++;
			}
		}
		free(want);
		close_fixture(&f);
	}
	print_message("%u changes that show, %u that do not, %u that no dag may have\n", n_changed,
		      n_same, n_invalid);
	assert_int_equal(n_missed, 0);
	assert_true(n_changed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges),
		cmocka_unit_test(says_how),
		cmocka_unit_test(refuses_index_of_data),
		cmocka_unit_test(finds_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
