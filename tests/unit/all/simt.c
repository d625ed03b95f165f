/* Automatic schedules for machines with blocks of threads: whatever the form of the nest, each is
 * legal, has no races, and computes what the dag says; sums and what reads them are one kernel; a
 * product's inner loop has no conditions, whatever its lengths are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/dag/tolerance.h"
#include "loopstate/nest/quick.h"
#include "loopstate/read/dag_read.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "search/auto.h"
#include "tests/lib/lower_run.h"

#define FUEL 400000000
#define LIMIT_MS 60000
#define MOST 2 /* schedules of each form; full/all_simt runs all of them */

struct bed {
	struct hn_target gpu;
	struct hn_arena a;
	struct hn_quick *quick;
};

/* kernels of the first schedule; 0: any number */
struct form {
	const char *name, *text;
	uint32_t kernels;
};

static const struct form forms[] = {
	{ "product", "f(float32 A[64,96], float32 B[96,128]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0 },
	{ "primes", "f(float32 A[61,37], float32 B[37,67]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0 },
	{ "right operand in rows",
	  "f(float32 A[64,96], float32 B[64,96]) -> C { C(i,j) +=! A(i,k) * B(j,k) }", 0 },
	{ "left operand in columns",
	  "f(float32 A[96,64], float32 B[96,64]) -> C { C(i,j) +=! A(k,i) * B(k,j) }", 0 },
	{ "batches", "f(float32 A[3,40,48], float32 B[3,48,40]) -> C { C(b,i,j) +=! A(b,i,k) * B(b,k,j) }",
	  0 },
	{ "bias and relu",
	  "f(float32 A[64,64], float32 B[64,64], float32 b[64]) -> D { C(i,j) +=! A(i,k) * B(k,j)"
	  " D(i,j) = max(C(i,j) + b(j), 0) }",
	  1 },
	{ "long sum", "f(float32 A[16,2048], float32 B[2048,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0 },
	{ "both operands one",
	  "f(float32 A[32,40]) -> C { C(i,j) +=! A(i,k) * A(j,k) }", 1 },
	{ "one row", "f(float32 A[1,512], float32 B[96,512]) -> C { C(i,j) +=! A(i,k) * B(j,k) }", 0 },
	{ "convolution, channels last",
	  "f(float32 X[2,7,7,16], float32 W[3,3,16,32], float32 b[32]) -> Y {"
	  " P(n,h,w,c) = h >= 1 && h < 8 && w >= 1 && w < 8 ? X(n,h-1,w-1,c) : 0"
	  " where h in 0:9, w in 0:9"
	  " C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f) where h in 0:7, w in 0:7"
	  " Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }",
	  1 },
	{ "convolution, channels first",
	  "f(float32 X[2,16,8,8], float32 W[32,16,3,3]) -> C {"
	  " P(n,c,h,w) = h >= 1 && h < 9 && w >= 1 && w < 9 ? X(n,c,h-1,w-1) : 0"
	  " where h in 0:10, w in 0:10"
	  " C(n,f,h,w) +=! P(n,c,h+r,w+t) * W(f,c,r,t) where h in 0:8, w in 0:8 }",
	  0 },
	{ "convolution of every second pixel",
	  "f(float32 X[1,15,15,16], float32 W[3,3,16,24]) -> C {"
	  " C(n,h,w,f) +=! X(n,2*h+r,2*w+t,c) * W(r,t,c,f) where h in 0:7, w in 0:7 }",
	  0 },
	{ "convolution of few channels",
	  "f(float32 X[1,20,20,3], float32 W[7,7,3,16]) -> C {"
	  " C(n,h,w,f) +=! X(n,2*h+r,2*w+t,c) * W(r,t,c,f) where h in 0:7, w in 0:7 }",
	  0 },
	{ "softmax",
	  "f(float32 X[6,300]) -> Y { m(i) max=! X(i,k) e(i,j) = exp(X(i,j) - m(i))"
	  " s(i) +=! e(i,k) Y(i,j) = e(i,j) / s(i) }",
	  1 },
	{ "normalisation",
	  "f(float32 X[5,384], float32 g[384]) -> Y { s(i) +=! X(i,k) m(i) = s(i) / 384"
	  " v(i) +=! (X(i,k) - m(i)) * (X(i,k) - m(i))"
	  " Y(i,j) = (X(i,j) - m(i)) * rsqrt(v(i) / 384 + 0.00001) * g(j) }",
	  1 },
	{ "rows", "f(float32 X[40,333]) -> s { s(i) +=! X(i,k) }", 1 },
	{ "columns", "f(float32 X[333,40]) -> s { s(j) +=! X(i,j) }", 0 },
	{ "all", "f(float32 X[64,1000]) -> s { s() +=! X(i,j) }", 0 },
	{ "elementwise", "f(float32 X[33,64], float32 Y[64]) -> Z { Z(i,j) = max(X(i,j), 0) + Y(j) }", 1 },
	{ "one number", "f(float32 X[1]) -> Z { Z(i) = X(i) + 1 }", 1 },
	{ "transposition", "f(float32 X[48,65]) -> Z { Z(i,j) = X(j,i) }", 1 },
	{ "pooling",
	  "f(float32 X[2,9,9,20]) -> Z { Z(n,h,w,c) max=! X(n,2*h+r,2*w+s,c)"
	  " where h in 0:4, w in 0:4, r in 0:3, s in 0:3 }",
	  1 },
	{ "pooling of one image with a border, whose windows are no row of one block",
	  "f(float32 X[1,40,40,8]) -> Z {"
	  " P(n,h,w,c) = h >= 1 && h < 41 && w >= 1 && w < 41 ? X(n,h-1,w-1,c) : -1000"
	  " where h in 0:42, w in 0:42"
	  " Z(n,h,w,c) max=! P(n,2*h+r,2*w+s,c) where h in 0:20, w in 0:20, r in 0:3, s in 0:3 }",
	  1 }, /* it pads by itself */
	{ "depthwise",
	  "f(float32 X[2,9,9,20], float32 W[3,3,20]) -> Z { Z(n,h,w,c) +=! X(n,h+r,w+s,c) * W(r,s,c)"
	  " where h in 0:7, w in 0:7 }",
	  1 },
	{ "integers",
	  "f(int32 A[40,24], int32 B[24,40]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0 },
};

static int set_up(void **state)
{
	static struct bed b;
	struct hn_err err;

	hn_arena_init(&b.a, 0);
	assert_int_equal(hn_target_parse("cuda -isa=sm_90", &b.a, &b.gpu, &err), 0);
	b.quick = hn_quick_new();
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *b = *state;

	hn_quick_free(b->quick);
	hn_arena_fini(&b->a);
	return 0;
}

static const struct hn_dag *dag_of(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse("test", text, strlen(text), 0, a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void fail_with(const char *what, const char *why, const struct hn_device *d)
{
	struct hn_buf text;

	hn_buf_init(&text);
	if (d != NULL) {
		hn_device_print(d, &text);
		fputs(text.s, stderr); /* cmocka cuts long texts */
	}
	fail_msg("%s: %s", what, why);
}

/* The schedule's device program: legal, verified. */
static const struct hn_device *device_of(struct bed *b, const struct hn_dag *dag,
					 const struct hn_trace *trace, const char *name,
					 struct hn_arena *a)
{
	const struct hn_looptree *t;
	const struct hn_device *d = NULL;
	const struct hn_state *s;
	struct hn_err err = { 0 };

	if (hn_state_replay(dag, trace, a, &s, &err) || hn_looptree_build(s, a, &t, &err) ||
	    !hn_quick_legal(b->quick, t, &err) || hn_device_place(t, a, &d, &err) ||
	    hn_device_verify(d, &b->gpu, LIMIT_MS, &err)) {
		fail_with(name, err.msg, d);
	}
	return d;
}

static void check_form(struct bed *b, const struct form *f)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	struct run_args want, got;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_of(f->text, &a);
	uint32_t n = hn_auto(dag, &b->gpu, &a, trace);

	assert_true(n > 0);
	run_args_make(dag, 7, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	for (uint32_t i = 0; i < n && i < MOST; i++) {
		const struct hn_device *d = device_of(b, dag, trace[i], f->name, &a);

		run_args_make(dag, 7, &got);
		if (hn_device_interpret(d, got.at, i, FUEL, &err) != 0) {
			fail_with(f->name, err.msg, d);
		}
		if (!(run_difference(&want, &got) <= hn_dag_tolerance(dag))) {
			fail_with(f->name, "other numbers", d);
		}
		if (f->kernels > 0 && i == 0) {
			assert_int_equal(d->n_kernel, f->kernels);
		}
		run_args_free(&got);
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

static void every_form_has_schedules(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		check_form(*state, &forms[i]);
	}
}

/* ---- the loop that multiplies */

struct seen {
	uint32_t updates;    /* sums of products in a thread's own memory */
	uint32_t under;	     /* of them: under a condition */
	uint32_t async, wide; /* copies; of them as vectors */
	uint32_t narrow_loads; /* from shared memory, but by vectors, into a thread's own */
};

static void look(const struct hn_device *d, const struct hn_device_node *n, bool condition,
		 bool lanes, struct seen *ret)
{
	if (n->kind == HN_DEVICE_STORE) {
		bool own = d->buffer[n->buffer].memory == HN_MEMORY_LOCAL;
		bool update = own && n->e->op == HN_EXPR_ADD && n->e->arg[1]->op == HN_EXPR_MUL;

		ret->updates += update;
		ret->under += update && condition;
		ret->async += n->async;
		ret->wide += n->async && lanes;
		ret->narrow_loads += own && !lanes && n->e->op == HN_EXPR_LOAD &&
				     d->buffer[n->e->ref].memory == HN_MEMORY_SHARED;
	}
	condition = condition || n->kind == HN_DEVICE_IF;
	lanes = lanes || (n->kind == HN_DEVICE_LOOP && n->how == HN_DEVICE_LANES);
	for (uint32_t i = 0; i < n->n_child; i++) {
		look(d, n->child[i], condition, lanes, ret);
	}
}

static struct seen look_at(struct bed *b, const char *text, const struct hn_device **ret)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	struct seen s = { 0 };
	const struct hn_dag *dag = dag_of(text, &b->a);
	uint32_t n = hn_auto(dag, &b->gpu, &b->a, trace);

	assert_true(n > 0);
	const struct hn_device *d = device_of(b, dag, trace[0], text, &b->a);

	for (uint32_t k = 0; k < d->n_kernel; k++) {
		look(d, d->kernel[k].body, false, false, &s);
	}
	*ret = d;
	return s;
}

static void large_products_are_vectors_and_copies(void **state)
{
	const struct hn_device *d;
	struct seen s = look_at(*state,
				"f(float32 A[4096,4096], float32 B[4096,4096]) -> C {"
				" C(i,j) +=! A(i,k) * B(k,j) }",
				&d);

	assert_int_equal(d->n_kernel, 1);
	assert_true(d->kernel[0].block[0] >= 128);
	assert_true(s.updates > 0);
	assert_int_equal(s.under, 0);
	assert_true(s.async > 0 && s.wide > 0);
	assert_int_equal(s.narrow_loads, 0);
}

static void lengths_that_do_not_divide_cost_no_conditions(void **state)
{
	static const char *const texts[] = {
		"f(float32 A[1000,1000], float32 B[1000,1000]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		"f(float32 A[1023,1021], float32 B[1021,1019]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		/* one tile has all rows, and some that are none */
		"f(float32 A[256,13], float32 B[256,2048]) -> C { C(i,j) +=! A(k,i) * B(k,j) }",
	};

	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		const struct hn_device *d;
		struct seen s = look_at(*state, texts[i], &d);

		if (s.updates == 0 || s.under > 0 || s.async == 0) {
			fail_with(texts[i], "conditions around products", d);
		}
	}
}

/* Of what is written out much LLVM once said that it finds no end, and ended the process. */
static void large_convolutions_have_ptx(void **state)
{
	struct hn_gpu_options how = { .contracts = true };
	struct hn_gpu_module m;
	const struct hn_device *d;
	struct bed *b = *state;
	struct hn_err err = { 0 };
	struct seen s = look_at(b,
				"f(float32 X[16,14,14,256], float32 W[3,3,256,256]) -> C {"
				" P(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? X(n,h-1,w-1,c) : 0"
				" where h in 0:16, w in 0:16"
				" C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f)"
				" where h in 0:14, w in 0:14 }",
				&d);

	assert_true(s.async > 0 && s.under == 0);
	if (hn_gpu_print(d, HN_GPU_PTX, &b->gpu, &how, &b->a, &m, &err) != 0) {
		fail_with("PTX", err.msg, d);
	}
	assert_non_null(strstr(m.code, "cp.async"));
}

/* Without this each thread takes four bytes of the 32 that memory gives. */
static void transposes_take_neighbours_across(void **state)
{
	struct hn_gpu_options how = { 0 };
	struct hn_gpu_module m;
	const struct hn_device *d;
	struct bed *b = *state;
	struct hn_err err = { 0 };

	(void)look_at(b, "f(float32 X[4096,4096]) -> Z { Z(i,j) = X(j,i) }", &d);
	if (hn_gpu_print(d, HN_GPU_PTX, &b->gpu, &how, &b->a, &m, &err) != 0) {
		fail_with("PTX", err.msg, d);
	}
	assert_non_null(strstr(m.code, "ld.global.nc.v4"));
}

/* All multiprocessors have several blocks of the parts, and their sum is not cut again. */
static void sums_of_columns_are_cut_once(void **state)
{
	const struct hn_device *d;
	struct bed *b = *state;

	(void)look_at(b, "f(float32 X[8192,8192]) -> s { s(j) +=! X(i,j) }", &d);
	assert_int_equal(d->n_kernel, 2);
	assert_true(d->kernel[0].grid[0] >= 4 * 132);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_has_schedules),
		cmocka_unit_test(large_products_are_vectors_and_copies),
		cmocka_unit_test(lengths_that_do_not_divide_cost_no_conditions),
		cmocka_unit_test(large_convolutions_have_ptx),
		cmocka_unit_test(transposes_take_neighbours_across),
		cmocka_unit_test(sums_of_columns_are_cut_once),
	};

	return cmocka_run_group_tests_name("all_simt", tests, set_up, tear_down);
}
