/* bench/npu_products.c -- how near products of all kinds of sizes come to what the machine allows: square,
 * odd, thin, with long sums and with few results, batched, transposed, of bytes, with operations behind.
 *
 * The bound of a product is its launch and the greater of two: the cube's cycles on all cores, and its
 * arguments' bytes at the rate of the memory, each once.
 */
#include <math.h>
#include <stdio.h>

#include "base/arith.h"
#include "bench/bench.h"
#include "bench/npu.h"
#include "loopstate/read/dag_read.h"
#include "target/npu/npu_run.h"

struct form {
	const char *name, *text;
};

enum { PLAIN, RESULT32, RIGHT_TURNED, LEFT_TURNED, BATCH, BIAS, BYTES };

/* In brackets 1 is m, 2 n, 3 k and 4 the batch. */
static const struct form forms[] = {
	[PLAIN] = { "float16", "p(float16 A[1,3], float16 B[3,2]) -> Y { P(i,j) +=! float32(A(i,k)) * float32(B(k,j)) "
			       "Y(i,j) = float16(P(i,j)) }" },
	[RESULT32] = { "results of float32", "p(float16 A[1,3], float16 B[3,2]) -> P { P(i,j) +=! float32(A(i,k)) * "
					     "float32(B(k,j)) }" },
	[RIGHT_TURNED] = { "right factor transposed", "p(float16 A[1,3], float16 B[2,3]) -> Y { P(i,j) +=! "
						      "float32(A(i,k)) * float32(B(j,k)) Y(i,j) = float16(P(i,j)) }" },
	[LEFT_TURNED] = { "left factor transposed", "p(float16 A[3,1], float16 B[3,2]) -> Y { P(i,j) +=! "
						    "float32(A(k,i)) * float32(B(k,j)) Y(i,j) = float16(P(i,j)) }" },
	[BATCH] = { "batch", "p(float16 A[4,1,3], float16 B[4,3,2]) -> Y { P(b,i,j) +=! float32(A(b,i,k)) * "
			     "float32(B(b,k,j)) Y(b,i,j) = float16(P(b,i,j)) }" },
	[BIAS] = { "bias and relu", "p(float16 A[1,3], float16 B[3,2], float32 Z[2]) -> Y { P(i,j) +=! "
				    "float32(A(i,k)) * float32(B(k,j)) Y(i,j) = float16(max(P(i,j) + Z(j), 0.0)) }" },
	[BYTES] = { "int8", "p(int8 A[1,3], int8 B[2,3]) -> P { P(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }" },
};

static const struct size {
	int form;
	int64_t d[4];
} sizes[] = {
#define PRODUCT(form, m, n, k, batch) { form, { m, n, k, batch } },
#include "bench/npu_products.def"
};

static void put_text(const struct size *s, struct hn_buf *text)
{
	const char *at = forms[s->form].text;

	for (bool in = false; *at != '\0'; at++) {
		in = *at == '[' || (in && *at != ']');
		if (in && *at >= '1' && *at <= '4') {
			hn_buf_printf(text, "%lld", (long long)s->d[*at - '1']);
		} else {
			hn_buf_putc(text, *at);
		}
	}
}

static double bound_of(const struct size *s, const struct hn_dag *dag, const struct hn_npu_profile *m, double *ret_cube)
{
	double c0 = s->form == BYTES ? 32 : 16, bytes = 0, memory;

	*ret_cube = (double)s->d[0] * (double)s->d[1] * (double)s->d[2] * (double)s->d[3] / (256 * c0) / (double)m->cores;
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		bytes += (double)hn_op_bytes(dag->op[dag->arg[i]], 0);
	}
	memory = bytes / (double)m->chip_rate;
	return (double)m->launch + (memory > *ret_cube ? memory : *ret_cube);
}

static int one(const struct size *s, const struct hn_npu_profile *m, double *ret_part, struct hn_err *err)
{
	const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	const struct hn_dag *dag;
	struct hn_npu_result r;
	struct hn_arena a;
	struct hn_buf text;
	char context[300];
	double cube;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	put_text(s, &text);
	rc = hn_dag_from_text("product", text.s, text.n, 0, &a, &dag, err);
	rc = rc ? rc : hn_npu_program(dag, m, &plan, &a, &p, err);
	rc = rc ? rc : hn_npu_run(p, m, &o, &a, &r, err);
	if (rc == 0) {
		*ret_part = bound_of(s, dag, m, &cube) / (double)r.cycles;
		snprintf(context, sizeof(context), "\"case\": \"%lld x %lld x %lld x %lld\", \"form\": \"%s\", "
			 "\"cycles\": %lld, \"of_peak\": %.3f", (long long)s->d[3], (long long)s->d[0],
			 (long long)s->d[1], (long long)s->d[2], forms[s->form].name, (long long)r.cycles,
			 cube / (double)r.cycles);
		hn_bench_row("npu", *ret_part, "of the bound", context);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}

int hn_bench_npu_products(const struct hn_npu_profile *m, struct hn_err *err)
{
	double sum = 0;
	char context[60];
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(sizes) && rc == 0; i++) {
		double part = 1;

		rc = one(&sizes[i], m, &part, err);
		sum += log(part);
	}
	if (rc == 0) {
		snprintf(context, sizeof(context), "\"n\": %zu", HN_COUNT_OF(sizes));
		hn_bench_row("npu", exp(sum / (double)HN_COUNT_OF(sizes)), "of the bound, geometric mean", context);
	}
	return rc;
}
