/* Dags as tasks of the NPU's cube: random products and convolutions against the interpreter of dags,
 * in all layouts, with batches and what follows the sums; judged, and in drawn orders of the pipes. */
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
#include "lower/npu/task.h"
#include "target/npu/npu_run.h"

struct bed {
	struct hn_arena a;
	struct hn_npu_profile m;
	struct hn_rng rng;
	struct hn_buf text;
	const struct hn_dag *dag;
	const struct hn_npu_program *p;
	struct hn_npu_result r;
	struct hn_err err;
	void *gm[16], *want[16];
};

static void begin(struct bed *b, const char *profile, uint64_t seed)
{
	*b = (struct bed){ 0 };
	hn_arena_init(&b->a, 0);
	hn_buf_init(&b->text);
	b->rng = hn_rng_stream(seed, 0, 0, 0);
	assert_int_equal(hn_npu_profile_of(profile, &b->m, &b->err), 0);
}

static void end(struct bed *b)
{
	hn_buf_fini(&b->text);
	hn_arena_fini(&b->a);
}

static int64_t draw(struct bed *b, int64_t least, int64_t most)
{
	return least + (int64_t)hn_rng_below(&b->rng, (uint64_t)(most - least + 1));
}

static enum hn_dtype type_of(const struct bed *b, uint32_t i)
{
	return (enum hn_dtype)b->dag->op[b->dag->arg[i]]->dtype[0];
}

/* Small quarters, so that sums are exact. */
static void put(enum hn_dtype t, void *to, int64_t i, int64_t v)
{
	if (t == HN_I8) {
		((int8_t *)to)[i] = (int8_t)(v * 25);
	} else if (t == HN_I32) {
		((int32_t *)to)[i] = (int32_t)v * 1000;
	} else {
		hn_float_put(t, to, i, (double)v / 4);
	}
}

static void read_dag(struct bed *b)
{
	if (hn_dag_from_text("t", b->text.s, b->text.n, 0, &b->a, &b->dag, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, b->text.s);
	}
}

static void arguments(struct bed *b)
{
	for (uint32_t i = 0; i < b->dag->n_arg; i++) {
		const struct hn_op *op = b->dag->op[b->dag->arg[i]];

		b->gm[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		b->want[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		for (int64_t k = 0; k < hn_op_elements(op) && i < b->dag->n_input; k++) {
			int64_t v = draw(b, -5, 5);

			put(type_of(b, i), b->gm[i], k, v);
			put(type_of(b, i), b->want[i], k, v);
		}
	}
	assert_int_equal(hn_interpret(b->dag, b->want, &b->err), 0);
}

static void compare(const struct bed *b)
{
	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		enum hn_dtype t = type_of(b, i);

		for (int64_t k = 0; k < hn_op_elements(b->dag->op[b->dag->arg[i]]); k++) {
			bool exact = t == HN_I32;
			double got = exact ? ((int32_t *)b->gm[i])[k] : hn_float_get(t, b->gm[i], k);
			double want = exact ? ((int32_t *)b->want[i])[k] : hn_float_get(t, b->want[i], k);
			double room = exact ? 0 : (t == HN_F16 ? 2e-3 : 2e-6) * (1 + fabs(want));

			if (!(fabs(got - want) <= room)) {
				fail_msg("result %u, element %lld: %g, not %g, of\n%s", i, (long long)k, got, want,
					 b->text.s);
			}
		}
	}
}

static void make(struct bed *b)
{
	const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	struct hn_npu_product p;
	const char *why;

	if (!hn_npu_task_of(b->dag, &b->a, &p, &why)) {
		fail_msg("%s\n%s", why ? why : "no product", b->text.s);
	}
	if (hn_npu_program(b->dag, &b->m, &plan, &b->a, &b->p, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, b->text.s);
	}
}

static void run(struct bed *b, uint64_t seed)
{
	struct hn_npu_options o = { .gm = b->gm, .judge = true, .seed = seed };

	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) { /* nothing is left of a run before */
		memset(b->gm[i], 0x5a, (size_t)hn_op_bytes(b->dag->op[b->dag->arg[i]], 0));
	}
	if (hn_npu_run(b->p, &b->m, &o, &b->a, &b->r, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, b->text.s);
	}
}

/* No plan of the list is refused, and all of them are clean. */
static void all_plans_are_clean(struct bed *b)
{
	struct hn_npu_product p, plans[HN_NPU_MOST_PLANS];
	const struct hn_npu_options judged = { .judge = true };
	const char *why;
	uint32_t n;

	assert_true(hn_npu_task_of(b->dag, &b->a, &p, &why));
	p.order = HN_NPU_FLAGS;
	n = hn_npu_product_plans(&b->m, &p, HN_NPU_MOST_PLANS, plans);
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		if (hn_npu_product(&plans[i], &b->m, &b->a, &b->p, NULL, &b->err) != 0 ||
		    hn_npu_run(b->p, &b->m, &judged, &b->a, &b->r, &b->err) != 0) {
			fail_msg("plan %u: %s\n%s", i, b->err.msg, b->text.s);
		}
	}
}

static uint32_t n_drawn, n_met, n_sums;

/* Splits that no rule would choose: right and clean, or refused. */
static void drawn_splits_are_clean(struct bed *b)
{
	struct hn_npu_product p;
	const char *why;

	assert_true(hn_npu_task_of(b->dag, &b->a, &p, &why));
	hn_npu_product_plan(&b->m, &p);
	p.order = HN_NPU_FLAGS;
	p.edges = true;
	for (int i = 0; i < 10; i++) {
		int64_t cores = b->m.cores < 12 ? b->m.cores : 12; /* each has memory of its own */

		p.cores_m = draw(b, 1, cores < 4 ? cores : 4);
		p.cores_n = draw(b, 1, cores / p.cores_m < 4 ? cores / p.cores_m : 4);
		p.cores_b = cores / (p.cores_m * p.cores_n) > 1 ? draw(b, 1, 2) : 1;
		p.cores_k = i % 2 ? draw(b, 1, cores / (p.cores_m * p.cores_n * p.cores_b)) : 1;
		if (hn_npu_product(&p, &b->m, &b->a, &b->p, NULL, &b->err) != 0) {
			continue;
		}
		n_drawn++;
		n_met += b->p->n_scratch > 0 && p.cores_k == 1;
		n_sums += b->p->n_scratch > 0 && p.cores_k > 1;
		run(b, (uint64_t)i % 2 * (uint64_t)draw(b, 1, 1000));
		compare(b);
	}
}

static void right_and_clean(struct bed *b, uint64_t seed)
{
	read_dag(b);
	arguments(b);
	make(b);
	run(b, 0);
	compare(b);
	if (seed % 8 == 0) {
		run(b, seed + 1);
		compare(b);
	}
	if (seed % 8 == 3) {
		all_plans_are_clean(b);
	}
	if (seed % 3 == 0) {
		drawn_splits_are_clean(b);
	}
}

/* -- products --------------------------------------------------------------------------- */

/* What follows the sums P at indices `at`: operands, and the statements.  n: columns. */
static void put_after(struct bed *b, const char *at, const char *row, const char *column, const char *shape,
		      int64_t m, int64_t n, struct hn_buf *args, struct hn_buf *body)
{
	const char *t = draw(b, 0, 1) ? "float16" : "float32";
	bool half = strcmp(t, "float16") == 0;

	switch (draw(b, 0, 10)) {
	case 0:
		hn_buf_printf(body, "Y(%s) = float16(P(%s))", at, at);
		return;
	case 1:
		hn_buf_printf(args, ", %s Z[%lld]", t, (long long)n);
		hn_buf_printf(body, "Y(%s) = max(%s(P(%s)) + Z(%s), %s(0.0))", at, t, at, column, t);
		return;
	case 2:
		hn_buf_printf(args, ", %s Z[%s], float32 W[%lld]", t, shape, (long long)m);
		hn_buf_printf(body, "Y(%s) = float16(P(%s) * W(%s) + float32(Z(%s)))", at, at, row, at);
		return;
	case 3:
		hn_buf_printf(args, ", float32 Z[1]");
		hn_buf_printf(body, "Q(%s) = P(%s) * Z(0) Y(%s) = float16(Q(%s) / (1.0 + exp(-Q(%s))))", at, at, at,
			      at, at);
		return;
	case 4:
		hn_buf_printf(args, ", %s Z[%lld], %s W[%lld]", t, (long long)m, t, (long long)n);
		hn_buf_printf(body, "Y(%s) = %s(P(%s)) + Z(%s) * W(%s)", at, t, at, row, column);
		return;
	case 5:
		hn_buf_printf(args, ", float16 Z[%lld]", (long long)n);
		hn_buf_printf(body, "X(%s) = P(%s) + float32(Z(%s)) * 0.5 "
			      "Y(%s) = 0.5 * X(%s) * (1.0 + tanh(0.75 * X(%s)))", at, at, column, at, at, at);
		return;
	case 6:
		hn_buf_printf(args, ", %s Z[%s]", t, shape);
		hn_buf_printf(body, "Y(%s) = min(%s(P(%s)) - Z(%s), %s(2.0)) / %s(4.0)", at, t, at, at, t, t);
		return;
	case 8:
		hn_buf_printf(body, "Y(%s) = P(%s) * 0.5 * (1.0 + erf(P(%s) * 0.5))", at, at, at);
		return;
	case 9:
		hn_buf_printf(args, ", %s Z[%lld]", t, (long long)n);
		hn_buf_printf(body, "X(%s) = %s(P(%s)) + Z(%s) Y(%s) = select(X(%s) > %s(0.0), X(%s), %s(0.0))", at, t, at,
			      column, at, at, t, at, t);
		return;
	case 7:
		hn_buf_printf(args, ", float32 Z[%lld]", (long long)n);
		hn_buf_printf(body, "Y(%s) = float16(P(%s) + (Z(%s) - 1.0))", at, at, column);
		return;
	default:
		hn_buf_printf(body, half ? "Y(%s) = P(%s) * 0.5" : "Y(%s) = float16(2.0 - P(%s))", at, at);
	}
}

static int64_t size(struct bed *b, int64_t most)
{
	return draw(b, 0, 3) == 0 ? draw(b, 1, 4) : draw(b, 0, 2) == 0 ? draw(b, 1, most / 16) * 16 : draw(b, 1, most);
}

/* int8, in all four layouts. */
static void put_bytes(struct bed *b, int64_t most)
{
	static const char *const a[2] = { "i,k", "k,i" }, *const r[2] = { "k,j", "j,k" };
	long long m = (long long)size(b, most), n = (long long)size(b, most), k = (long long)size(b, 4 * most);
	long long x = (long long)draw(b, 1, 3);
	bool ta = draw(b, 0, 1), tb = draw(b, 0, 1);

	hn_buf_printf(&b->text, "p(int8 A[%lld,%lld,%lld], int8 B[%lld,%lld]) -> Y { P(b,i,j) +=! int32(A(b,%s)) * "
		      "int32(B(%s)) Y(b,i,j) = %s }", x, ta ? k : m, ta ? m : k, tb ? n : k, tb ? k : n,
		      a[ta], r[tb],
		      k % 2 ? "float16(float32(max(P(b,i,j), 0)) * 0.0001)" : "P(b,i,j) + 1");
}

static void put_product(struct bed *b, int64_t most)
{
	static const char *const a[2] = { "i,k", "k,i" }, *const r[2] = { "k,j", "j,k" };
	long long m = (long long)size(b, most), n = (long long)size(b, most), k = (long long)size(b, 2 * most);
	long long x = (long long)draw(b, 1, 3), y = (long long)draw(b, 1, 3);
	bool ta = draw(b, 0, 1), tb = draw(b, 0, 1);
	long long a0 = ta ? k : m, a1 = ta ? m : k, b0 = tb ? n : k, b1 = tb ? k : n;
	char at[20], shape[60];
	struct hn_buf args, body;

	hn_buf_init(&args);
	hn_buf_init(&body);
	switch (draw(b, 0, 4)) {
	case 0: /* no batch */
		hn_buf_printf(&args, "float16 A[%lld,%lld], float16 B[%lld,%lld]", a0, a1, b0, b1);
		hn_buf_printf(&body, "P(i,j) +=! float32(A(%s)) * float32(B(%s)) ", a[ta], r[tb]);
		snprintf(at, sizeof(at), "i,j");
		snprintf(shape, sizeof(shape), "%lld,%lld", m, n);
		break;
	case 1: /* two axes, both have both */
		hn_buf_printf(&args, "float16 A[%lld,%lld,%lld,%lld], float16 B[%lld,%lld,%lld,%lld]", x, y, a0, a1,
			      x, y, b0, b1);
		hn_buf_printf(&body, "P(b,h,i,j) +=! float32(A(b,h,%s)) * float32(B(b,h,%s)) ", a[ta], r[tb]);
		snprintf(at, sizeof(at), "b,h,i,j");
		snprintf(shape, sizeof(shape), "%lld,%lld,%lld,%lld", x, y, m, n);
		break;
	case 2: /* weights for all */
		hn_buf_printf(&args, "float16 A[%lld,%lld,%lld], float16 B[%lld,%lld]", x, a0, a1, b0, b1);
		hn_buf_printf(&body, "P(b,i,j) +=! float32(A(b,%s)) * float32(B(%s)) ", a[ta], r[tb]);
		snprintf(at, sizeof(at), "b,i,j");
		snprintf(shape, sizeof(shape), "%lld,%lld,%lld", x, m, n);
		break;
	case 3: /* heads between rows and columns, in one factor and the result */
		hn_buf_printf(&args, "float16 A[%lld,%lld,%lld,%lld], float16 B[%lld,%lld,%lld,%lld]", x, m, y, k, x,
			      y, b0, b1);
		hn_buf_printf(&body, "P(b,i,h,j) +=! float32(A(b,i,h,k)) * float32(B(b,h,%s)) ", r[tb]);
		snprintf(at, sizeof(at), "b,i,h,j");
		snprintf(shape, sizeof(shape), "%lld,%lld,%lld,%lld", x, m, y, n);
		break;
	default: /* rows of two axes, and one factor is the second */
		hn_buf_printf(&args, "float16 B[%lld,%lld], float16 A[%lld,%lld,%lld]", b0, b1, m, x, k);
		hn_buf_printf(&body, "P(i,u,j) +=! float32(B(%s)) * float32(A(i,u,k)) ", r[tb]);
		snprintf(at, sizeof(at), "i,u,j");
		snprintf(shape, sizeof(shape), "%lld,%lld,%lld", m, x, n);
	}
	put_after(b, at, "i", "j", shape, m, n, &args, &body);
	hn_buf_printf(&b->text, "p(%s) -> Y { %s }", args.s, body.s);
	hn_buf_fini(&args);
	hn_buf_fini(&body);
}

static void products_are_right(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct bed b;

		begin(&b, seed % 2 ? "tiny" : "dv910", seed);
		if (seed % 5 == 4) {
			put_bytes(&b, seed % 3 ? 40 : 110);
		} else {
			put_product(&b, seed % 3 ? 40 : 110);
		}
		right_and_clean(&b, seed);
		end(&b);
	}
	print_message("%u drawn splits, %u with edges, %u with terms over cores\n", n_drawn, n_met, n_sums);
	assert_true(n_met > 30 && n_sums > 50);
}

/* -- fractals and bytes ----------------------------------------------------------------- */

/* Layouts as AKG's files have them; int8 with its terms next to each other. */
static void fractals_and_bytes_are_right(void **state)
{
	static const char *const texts[] = {
		"f(float16 A[3,2,16,16], float16 B[5,3,16,16]) -> Y { P(c,a,b,d) +=! float32(A(p,a,b,q)) * "
		"float32(B(c,p,q,d)) Y(c,a,b,d) = float16(P(c,a,b,d)) }",
		"f(float16 A[3,2,16,16], float16 B[5,2,16,16]) -> P { P(c,a,b,d) +=! float32(A(a,p,q,b)) * "
		"float32(B(c,p,q,d)) }",
		"f(float16 A[3,2,16,16], float16 B[3,5,16,16], float16 Z[5,1,1,16]) -> Y { P(c,a,b,d) +=! "
		"float32(A(p,a,b,q)) * float32(B(p,c,d,q)) Y(c,a,b,d) = float16(P(c,a,b,d)) + Z(c,0,0,d) }",
		"f(float16 A[2,3,2,16,16], float16 B[2,5,3,16,16], float16 Z[2,5,2,16,16]) -> Y { P(n,c,a,b,d) +=! "
		"float32(A(n,p,a,b,q)) * float32(B(n,c,p,q,d)) "
		"Y(n,c,a,b,d) = float16(P(n,c,a,b,d)) + Z(n,c,a,b,d) }",
		"f(float16 A[3,21,16], float16 B[37,48]) -> P { P(a,d) +=! float32(A(p,a,q)) * float32(B(d,p * 16 + q)) "
		"where p in 0:3, q in 0:16 }",
		"f(int8 A[35,70], int8 B[41,70]) -> P { P(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
		"f(int8 A[3,35,64], int8 B[48,64], int32 Z[48]) -> Y { P(b,i,j) +=! int32(A(b,i,k)) * int32(B(j,k)) "
		"Y(b,i,j) = float32(P(b,i,j) + Z(j)) * 0.001 }",
		"f(int8 A[35,96], int8 B[48,96], float32 Z[48]) -> Y { P(i,j) +=! int32(A(i,k)) * int32(B(j,k)) "
		"Y(i,j) = float16(float32(P(i,j)) * 0.0001 * Z(j)) }",
		"f(float16 A[20,30], float16 B[30,40]) -> (P, Y) { P(i,j) +=! float32(A(i,k)) * float32(B(k,j)) "
		"Y(i,j) = float16(max(P(i,j), 0.0)) }",
		"f(float16 A[20,30], float16 B[30,40]) -> Y { P(i,j) +=! float32(A(i,k)) * float32(B(k,j)) "
		"Y(j,i) = float16(P(i,j)) }",
		"f(float16 A[40,30], float16 B[30,50], float16 Z[50,40]) -> Y { P(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) Y(i,j) = float16(P(i,j)) + Z(j,i) }",
		"f(float16 X[2,6,7,2,24], float16 W[3,3,2,24,20]) -> P { P(n,h,w,g,f) +=! float32(X(n,h + r,w + s,g,c)) * "
		"float32(W(r,s,g,c,f)) }",
		"f(float16 X[1,6,7,5], float16 W[3,3,5]) -> P { P(n,h,w,c) +=! float32(X(n,h + r,w + s,c)) * "
		"float32(W(r,s,c)) }",
		"f(float16 X[3,5,50], float16 W[4,5,7]) -> Y { P(n,w,f) +=! float32(X(n,c,w * 2 + s)) * "
		"float32(W(f,c,s)) Y(n,f,w) = float16(P(n,w,f)) }",
		"f(float16 A[40,30], float16 X[30]) -> P { P(i) +=! float32(A(i,k)) * float32(X(k)) }",
		"f(float16 A[30], float16 X[30]) -> P { P() +=! float32(A(k)) * float32(X(k)) }",
		"f(float16 A[7,40,30], float16 B[7,30,6]) -> P { P(i,j,b) +=! float32(A(b,i,k)) * float32(B(b,k,j)) }",
		"f(float16 X[2,12,14,40], float16 W[40,24]) -> Y { P(n,h,w,f) +=! float32(X(n,h * 2,w * 2,c)) * "
		"float32(W(c,f)) where h in 0:6, w in 0:7 Y(n,h,w,f) = float16(P(n,h,w,f)) }",
		"f(float16 X[2,3,29,9,16], float16 W[3,2,16,16]) -> P { P(n,g,h,w,e) +=! float32(X(n,c,h * 2,w * 2,d)) * "
		"float32(W(c,g,e,d)) where h in 0:15, w in 0:5 }",
		"f(float16 X[2,24,7,5], float16 W[40,24]) -> Y { P(n,f,h,w) +=! float32(W(f,c)) * float32(X(n,c,h,w)) "
		"Y(n,f,h,w) = float16(P(n,f,h,w)) }",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts) * 2; i++) {
		struct bed b;

		begin(&b, i % 2 ? "tiny" : "dv910", i);
		hn_buf_puts(&b.text, texts[i / 2]);
		right_and_clean(&b, 0);
		end(&b);
	}
}

/* -- convolutions ----------------------------------------------------------------------- */

struct window {
	long long n, c, h, w, f, kh, kw, sh, sw, dh, dw, top, left, below, right, oh, ow;
};

static bool draw_window(struct bed *b, bool blocks, struct window *w)
{
	*w = (struct window){ .n = draw(b, 1, 3), .c = size(b, 40), .h = draw(b, 1, 12), .w = draw(b, 1, 14),
			      .f = size(b, 50), .kh = draw(b, 1, 3), .kw = draw(b, 1, 4), .sh = draw(b, 1, 3),
			      .sw = draw(b, 1, 2), .dh = draw(b, 1, 2), .dw = draw(b, 1, 2) };
	if (blocks) {
		w->c = draw(b, 1, 3) * 16;
		w->f = draw(b, 1, 4) * 16;
	}
	w->top = draw(b, 0, (w->kh - 1) * w->dh);
	w->left = draw(b, 0, (w->kw - 1) * w->dw);
	w->below = draw(b, 0, (w->kh - 1) * w->dh);
	w->right = draw(b, 0, (w->kw - 1) * w->dw);
	w->oh = (w->h + w->top + w->below - (w->kh - 1) * w->dh - 1) / w->sh + 1;
	w->ow = (w->w + w->left + w->right - (w->kw - 1) * w->dw - 1) / w->sw + 1;
	if (w->h + w->top + w->below < (w->kh - 1) * w->dh + 1 || w->w + w->left + w->right < (w->kw - 1) * w->dw + 1) {
		return false;
	}
	/* the last window ends where the padding does, and it slides */
	return (w->h + w->top + w->below - (w->kh - 1) * w->dh - 1) % w->sh == 0 && w->oh > 1 && w->ow > 1 &&
	       (w->w + w->left + w->right - (w->kw - 1) * w->dw - 1) % w->sw == 0 &&
	       (w->oh - 1) * w->sh - w->top < w->h && (w->ow - 1) * w->sw - w->left < w->w &&
	       w->kh + w->sh > 2 && w->kw + w->sw > 2 && (w->kh > 1 || w->kw > 1);
}

/* Images as rows of points, or as blocks of 16 channels; weights with results, or channels, innermost,
 * or as fractals. */
static void put_window(struct bed *b, const struct window *w, bool blocks)
{
	const char *at = blocks ? "n,g,h,w,e" : "n,h,w,f", *to = at;
	long long c1 = w->c / 16, f1 = w->f / 16;
	int layout = (int)draw(b, 0, 2);
	bool planes = draw(b, 0, 2) == 0; /* NCHW, padded to NHWC */
	struct hn_buf args, body;

	hn_buf_init(&args);
	hn_buf_init(&body);
	if (blocks) {
		hn_buf_printf(&args, "float16 X[%lld,%lld,%lld,%lld,16], float16 W[%lld,%lld,%lld,%lld,16,16]", w->n, c1,
			      w->h, w->w, c1, w->kh, w->kw, f1);
		hn_buf_printf(&body, "D(n,c,y,x,d) = y >= %lld && y < %lld && x >= %lld && x < %lld ? X(n,c,y - %lld,x - "
			      "%lld,d) : float16(0.0) where n in 0:%lld, c in 0:%lld, y in 0:%lld, x in 0:%lld, d in 0:16 "
			      "P(n,g,h,w,e) +=! float32(D(n,c,h * %lld + r * %lld,w * %lld + s * %lld,d)) * "
			      "float32(W(c,r,s,g,e,d)) where h in 0:%lld, w in 0:%lld ", w->top, w->top + w->h, w->left,
			      w->left + w->w, w->top, w->left, w->n, c1, w->h + w->top + w->below,
			      w->w + w->left + w->right, w->sh, w->dh, w->sw, w->dw, w->oh, w->ow);
	} else {
		const char *weights = layout == 0 ? "f,r,s,c" : layout == 1 ? "r,s,c,f" : "f,c,r,s";

		hn_buf_printf(&args, "float16 X[%lld,%lld,%lld,%lld], float16 W[%lld,%lld,%lld,%lld]", w->n,
			      planes ? w->c : w->h, planes ? w->h : w->w, planes ? w->w : w->c,
			      layout == 1 ? w->kh : w->f, layout == 1 ? w->kw : layout == 0 ? w->kh : w->c,
			      layout == 1 ? w->c : layout == 0 ? w->kw : w->kh,
			      layout == 1 ? w->f : layout == 0 ? w->c : w->kw);
		hn_buf_printf(&body, "D(n,y,x,c) = y >= %lld && y < %lld && x >= %lld && x < %lld ? X(n,%sy - %lld,x - %lld%s)"
			      " : float16(0.0) where n in 0:%lld, y in 0:%lld, x in 0:%lld, c in 0:%lld "
			      "P(n,h,w,f) +=! float32(D(n,h * %lld + r * %lld,w * %lld + s * %lld,c)) * float32(W(%s)) "
			      "where h in 0:%lld, w in 0:%lld ", w->top, w->top + w->h, w->left, w->left + w->w,
			      planes ? "c," : "", w->top, w->left, planes ? "" : ",c", w->n, w->h + w->top + w->below, w->w + w->left + w->right, w->c, w->sh, w->dh,
			      w->sw, w->dw, weights, w->oh, w->ow);
	}
	switch (draw(b, 0, 2)) {
	case 0:
		to = blocks || draw(b, 0, 1) ? at : "n,f,h,w";
		hn_buf_printf(&body, "Y(%s) = float16(P(%s))", to, at);
		break;
	case 1:
		to = blocks || draw(b, 0, 1) ? at : "n,f,h,w";
		if (!blocks && draw(b, 0, 1)) {
			hn_buf_printf(&args, ", float16 Z[%lld,%lld,%lld,%lld]", w->n, w->f, w->oh, w->ow);
			hn_buf_printf(&body, "Y(n,f,h,w) = float16(P(n,h,w,f)) + Z(n,f,h,w)");
			break;
		}
		hn_buf_printf(&args, blocks ? ", float16 Z[%lld,16]" : ", float16 Z[%lld]", blocks ? f1 : w->f);
		hn_buf_printf(&body, "Y(%s) = max(float16(P(%s)) + Z(%s), float16(0.0))", to, at, blocks ? "g,e" : "f");
		break;
	default:
		hn_buf_printf(&args, blocks ? ", float32 Z[%lld,%lld,%lld,%lld,16]" : ", float32 Z[%lld,%lld,%lld,%lld]",
			      w->n, blocks ? f1 : w->oh, blocks ? w->oh : w->ow, blocks ? w->ow : w->f);
		hn_buf_printf(&body, "Y(%s) = max(P(%s) + Z(%s), 0.0)", at, at, at);
	}
	hn_buf_printf(&b->text, "c(%s) -> Y { %s }", args.s, body.s);
	hn_buf_fini(&args);
	hn_buf_fini(&body);
}

static void convolutions_are_right(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		bool blocks = seed % 3 == 0;
		struct window w;
		struct bed b;

		begin(&b, seed % 2 ? "tiny" : "dv910", 1000 + seed);
		while (!draw_window(&b, blocks, &w)) {
		}
		put_window(&b, &w, blocks);
		right_and_clean(&b, seed);
		end(&b);
	}
}

static void what_has_no_form_is_told(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "f(int8 A[32,32], int8 B[32,32]) -> Y { P(i,j) +=! int32(A(i,k)) * int32(B(k,j)) "
		  "Y(i,j) = int8(min(max(P(i,j), -128), 127)) }",
		  "a cast behind the sums to another type" },
		{ "f(float16 X[1,8,8,16], float16 W[3,3,16,16]) -> P { D(n,y,x,c) = y >= 2 && y < 9 && x >= 1 && x < 9 ? "
		  "X(n,y - 1,x - 1,c) : float16(0.0) where y in 0:10, x in 0:10 "
		  "P(n,h,w,f) +=! float32(D(n,h + r,w + s,c)) * float32(W(r,s,c,f)) }",
		  "zero where its tensor is not left" },
		{ "f(float16 X[1,16,8,8], float16 W[16,16,3,3]) -> P { "
		  "P(n,f,h,w) +=! float32(X(n,c,h + r,w + s)) * float32(W(f,c,r,s)) }",
		  "neither rows nor columns are next to each other" },
		{ "f(float16 A[16,16], float16 B[16,16]) -> Y { P(i,j) +=! float32(A(i,k)) * float32(B(k,j)) "
		  "Y(i,j) = sin(P(i,j)) }",
		  "a function behind the sums that has no instruction" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		struct hn_npu_product p;
		const char *why;
		struct bed b;

		begin(&b, "tiny", i);
		hn_buf_puts(&b.text, cases[i].text);
		read_dag(&b);
		assert_false(hn_npu_task_of(b.dag, &b.a, &p, &why));
		if (why == NULL || strstr(why, cases[i].why) == NULL) {
			fail_msg("%s", why ? why : "no reason");
		}
		end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right),
		cmocka_unit_test(fractals_and_bytes_are_right),
		cmocka_unit_test(convolutions_are_right),
		cmocka_unit_test(what_has_no_form_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
