/* Buffers whose chunks change places (SW): the map is one to one on whatever sizes it is taken
 * for, all its forms agree, kernels and device programs compute the same through it, and what is no
 * such map is refused, and seen when it is run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "lower/device/device_banks.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "tests/lib/lower_forms.h"
#include "tests/lib/lower_judged.h"

#define LIMIT_MS JUDGED_MS
#define FUEL 20000000
#define N_HISTORIES 60

/* ---- the map */

static struct hn_buffer buffer_of(const int64_t *extent, int64_t *stride,
				  struct hn_swizzle z)
{
	stride[1] = 1;
	stride[0] = extent[1];
	return (struct hn_buffer){ .lifetime = HN_LIFETIME_KERNEL,
				   .n_dim = 2,
				   .extent = extent,
				   .stride = stride,
				   .swizzle = z };
}

/* By trying all elements. */
static bool is_one_to_one(const struct hn_buffer *b)
{
	int64_t n = b->extent[0] * b->extent[1];
	char *seen = calloc(1, (size_t)n);
	bool ok = true;

	for (int64_t i = 0; i < n && ok; i++) {
		int64_t x[2] = { i / b->extent[1], i % b->extent[1] };
		int64_t at = hn_layout_place(b, x);

		ok = at >= 0 && at < n && seen[at]++ == 0;
	}
	free(seen);
	return ok;
}

static void what_is_taken_is_one_to_one(void **state)
{
	int n_taken = 0, n_refused = 0;

	(void)state;
	for (int64_t rows = 1; rows <= 9; rows += 2) {
		for (int64_t columns = 1; columns <= 48; columns++) {
			for (int z = 0; z < 4 * 4 * 4 * 3; z++) {
				const int64_t extent[2] = { rows, columns };
				struct hn_swizzle how = { .unit = z % 4,
							  .bits = 1 + z / 4 % 4,
							  .shift = z / 16 % 4,
							  .row_dim = z / 64 };
				int64_t stride[2];
				struct hn_buffer b = buffer_of(extent, stride, how);

				if (how.row_dim == 0 && hn_layout_why_not(&b) == NULL) {
					assert_true(is_one_to_one(&b));
					n_taken++;
				} else {
					assert_non_null(hn_layout_why_not(&b));
					n_refused++;
				}
			}
		}
	}
	assert_true(n_taken > 1000 && n_refused > 1000);
}

/* A number of what is on the way is as good as a value. */
static void *number(void *ctx, int64_t v)
{
	int64_t *to = hn_arena_alloc(ctx, sizeof(*to));

	*to = v;
	return to;
}

static void *place(void *ctx, uint32_t op, void *x, void *y, int32_t depth)
{
	int64_t u = *(int64_t *)x, v = *(int64_t *)y;

	(void)depth;
	switch (op) {
	case HN_LINEAR_ADD:
		return number(ctx, u + v);
	case HN_LINEAR_MUL:
		return number(ctx, u * v);
	case HN_LINEAR_XOR:
		assert_true(u >= 0 && v >= 0);
		return number(ctx, u ^ v);
	case HN_LINEAR_DIV:
		assert_true(u >= 0);
		return number(ctx, u / v);
	default:
		assert_int_equal(op, HN_LINEAR_EXPR + HN_EXPR_FLOORDIV);
		return number(ctx, hn_floordiv(u, v));
	}
}

static int64_t sum_of(const struct hn_linear *x)
{
	int64_t sum = x->c;

	for (uint32_t i = 0; i < x->n; i++) {
		sum += x->t[i].coef * *(int64_t *)x->t[i].v;
	}
	return sum;
}

/* A form of up to three terms with values in their ranges. */
static struct hn_linear draw_form(struct hn_rng *r, struct hn_arena *a)
{
	struct hn_linear x = { .c = (int64_t)hn_rng_below(r, 50) };

	x.n = (uint32_t)hn_rng_below(r, 4);
	for (uint32_t i = 0; i < x.n; i++) {
		int64_t hi = (int64_t)hn_rng_below(r, 20) + 1;

		x.t[i] = (struct hn_linear_term){
			.v = number(a, (int64_t)hn_rng_below(r, (uint64_t)hi + 1)),
			.coef = hn_rng_below(r, 2) ? 1 << hn_rng_below(r, 6)
						   : 1 + (int64_t)hn_rng_below(r, 7),
			.hi = hi,
		};
	}
	return x;
}

static void all_forms_agree(void **state)
{
	static const struct hn_linear_maker_ops ops = { .number = number,
							.place = place };
	struct hn_rng r = hn_rng_stream(1, 2, 3, 4);
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_linear_maker f = { .ops = &ops, .ctx = &a };

	for (int i = 0; i < 20000; i++) {
		struct hn_swizzle z = { .unit = (uint8_t)hn_rng_below(&r, 4),
					.bits = 1 + (uint8_t)hn_rng_below(&r, 4),
					.shift = (uint8_t)hn_rng_below(&r, 3) };
		const int64_t extent[2] = { 100, 1024 };
		int64_t stride[2];
		struct hn_buffer b = buffer_of(extent, stride, z);
		struct hn_linear x[2] = { draw_form(&r, &a), draw_form(&r, &a) }, got;
		const int64_t at[2] = { sum_of(&x[0]), sum_of(&x[1]) };
		const struct hn_expr *value[2] = { hn_expr_int(at[0], HN_I32, &a),
						   hn_expr_int(at[1], HN_I32, &a) };
		const struct hn_expr *e = hn_layout_expr(&z, value[0], value[1], &a);

		hn_layout_linear(&f, &b, x, &got);
		assert_int_equal(sum_of(&got), hn_layout_place(&b, at));
		assert_int_equal(e->op, HN_EXPR_INT);
		assert_int_equal(e->u.i, hn_layout_turned(&z, at[0], at[1]));
	}
	hn_arena_fini(&a);
}

/* ---- kernels */

static const char *const programs[] = {
	"f(float32 A[24,64], float32 B[64,32]) -> C { P(i,k) = A(i,k) * 2"
	" C(i,j) +=! P(i,k) * B(k,j) }",
	"f(float32 A[9,16], float32 B[16,48]) -> D { C(i,j) +=! A(i,k) * B(k,j)"
	" D(i,j) = max(C(i,j), 0) }",
	/* columns of what is made in rows */
	"f(float32 A[32,32]) -> C { P(i,j) = A(i,j) + 1 C(i,j) = P(j,i) }",
	"f(float64 A[7,3,16]) -> C { P(n,i,j) = A(n,i,j) * A(n,i,j) C(n,i) max=! "
	"P(n,i,k) }",
	"f(int8 A[16,64], B[64,16]) -> C { P(i,k) = A(i,k) + 1"
	" C(i,j) +=! int32(P(i,k)) * int32(B(k,j)) }",
	"f(float32 X[1,10,10,16], W[3,3,16,20]) -> Y { P(n,h,w,c) = max(X(n,h,w,c), 0)"
	" Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) where h in 0:8, w in 0:8 }",
};

struct used {
	struct fixture *f;
	uint32_t n;
};

static void when_swizzled(const struct history *h, void *ctx)
{
	struct used *u = ctx;
	bool any = false;

	for (uint32_t i = 0; h->trace != NULL && i < h->trace->n_step; i++) {
		any = any || h->trace->step[i]->kind == HN_STEP_swizzle;
	}
	if (any) {
		check_history(u->f->em, h, /* scalar= */ false,
			      /* parallel= */ u->n % 2 == 0);
		u->n++;
	}
}

static void kernels_give_the_answer(void **state)
{
	struct used u = { .f = *state };

	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		u.n = 0;
		each_history(programs[i], N_HISTORIES, when_swizzled, &u);
		if (u.n < 5) {
			fail_msg("%s: %u histories", programs[i], u.n);
		}
	}
}

#ifdef LOWER_FORMS_X86
/* How many elements of vectors are put in one by one. */
static uint32_t single_elements(struct fixture *f, const char *steps)
{
	const struct hn_emit_options o = { .symbol = "k", .want_ir = true };
	const struct hn_dag *dag;
	const struct hn_looptree *t = tree_of("f(float32 A[32,64]) -> C { P(i,j) = "
					      "A(i,j) * 2 C(i,j) = P(i,j) + P(31-i,j) }",
					      steps, &f->arena, &dag);
	struct hn_artefact ret;
	struct hn_err err;
	uint32_t n = 0;

	assert_int_equal(hn_emit(f->em, t, &o, &f->arena, &ret, &err), 0);
	for (const char *at = ret.ir;
	     (at = strstr(at, "insertelement <16 x float> %")) != NULL; at++) {
		n++;
	}
	return n;
}

/* A chunk of a vector's length is moved as a vector; shorter ones are not. */
static void chunks_are_moved_as_vectors(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(single_elements(f, "[[\"AN\", 1, 1, 2], [\"AN\", 2, 1, 2]]"), 0);
	assert_int_equal(single_elements(f, "[[\"AN\", 1, 1, 2], [\"AN\", 2, 1, 2],"
					    " [\"SW\", 1, 0, 4, 2, 0]]"),
			 0);
	assert_true(single_elements(f, "[[\"AN\", 1, 1, 2], [\"AN\", 2, 1, 2],"
				       " [\"SW\", 1, 0, 2, 2, 0]]") > 16);
}

static int setup_wide(void **state)
{
	return setup_on(state,
			"cpu -isa=x86-64-avx512 -num_cores=2 -vector_unit_bytes=64");
}
#endif

/* ---- what is refused */

static const char columns[] =
	"f(float32 A[18,24]) -> C { P(i,j) = A(i,j) + 1 C(j,i) = P(i,j) }";

static void no_other_map_is_taken(void **state)
{
	static const struct {
		struct hn_swizzle z;
		const char *why;
	} bad[] = {
		{ { 0, 0, 4, 0 }, "no multiple of the chunks" }, /* 16 of 24 */
		{ { 0, 3, 2, 0 }, "no multiple of the chunks" },
		{ { 1, 0, 3, 0 }, "no dimension before the last" }, /* of itself */
		{ { 1, 1, 2, 1 }, "no dimension before the last" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_dag *dag;
		const struct hn_looptree *t =
			tree_of(columns, "[[\"SW\", 1, 0, 0, 3, 0]]", &a, &dag);
		struct hn_buffer *buffer = HN_NEW_ARRAY(&a, struct hn_buffer, dag->n_op);
		struct hn_looptree edited = *t;

		judged(t, dag, true, NULL);
		memcpy(buffer, t->buffer, dag->n_op * sizeof(*buffer));
		buffer[1].swizzle = bad[i].z;
		edited.buffer = buffer;
		judged(&edited, dag, false, bad[i].why);
	}
	hn_arena_fini(&a);
}

/* What an attached stage holds at once need be no whole period, where all of it is. */
static void the_part_that_is_held_decides(void **state)
{
	const struct hn_trace *trace;
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (int len = 3; len <= 8; len++) {
		char *steps =
			hn_arena_printf(&a,
					"[[\"SP\", 2, 0, 24, [%d], 1], [\"CA\", 1, 2, 0],"
					" [\"SW\", 1, 0, 0, 2, 0]]",
					len);

		assert_int_equal(
			hn_trace_parse("t", steps, strlen(steps), &a, &trace, &err), 0);
		assert_int_equal(
			hn_state_replay(dag_open(columns, &a), trace, &a, &s, &err), 0);
		int rc = hn_looptree_build(s, &a, &t, &err);

		assert_int_equal(rc, len % 4 == 0 ? 0 : -HONE_E_INVALID);
		if (rc != 0) {
			assert_string_equal(
				err.msg,
				"stage 1 (P): its buffer can not be swizzled: its last "
				"dimension is no multiple of the chunks that change "
				"places");
		}
	}
	hn_arena_fini(&a);
}

/* ---- devices */

static const char transpose[] = "f(float32 A[64,64]) -> C { C(i,j) = A(j,i) + 1 }";

/* A block of 32 x 32 threads turns a tile of 32 x 32 in shared memory. */
static const char tile[] =
	"[[\"CHR\", 0, \"shared\", [1]],"
	" [\"SP\", 2, 0, 64, [32], 1], [\"SP\", 2, 2, 64, [32], 1],"
	" [\"RE\", 2, [0, 2, 1, 3]], [\"AN\", 2, 0, 7], [\"AN\", 2, 1, 5],"
	" [\"AN\", 2, 2, 8], [\"AN\", 2, 3, 6], [\"CA\", 1, 2, 1],"
	" [\"AN\", 1, 0, 8], [\"AN\", 1, 1, 6]%s]";

static void a_column_costs_one_turn(void **state)
{
	static const struct {
		const char *steps;
		int64_t ways;
	} row[] = {
		{ "", 32 },
		{ ", [\"SW\", 1, 0, 0, 5, 0]", 1 },
		{ ", [\"SW\", 1, 0, 0, 3, 0]", 4 }, /* 8 banks */
		{ ", [\"SW\", 1, 0, 2, 3, 0]", 4 }, /* the same, in chunks of 16 bytes */
		{ ", [\"SW\", 1, 0, 0, 5, 1]", 2 }, /* every other row */
	};
	struct hn_target gpu;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda", &a, &gpu, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag;
		const struct hn_looptree *t = tree_of(
			transpose, hn_arena_printf(&a, tile, row[i].steps), &a, &dag);
		const struct hn_device *d;
		struct hn_device_banks banks;
		struct run_args want, got;
		int32_t shared = 0;

		form_answer(dag, &want);
		run_args_make(dag, 11, &got);
		if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK ||
		    hn_device_place(t, &a, &d, &err) ||
		    hn_device_verify(d, &gpu, LIMIT_MS, &err) ||
		    hn_device_interpret(d, got.at, 1, FUEL, &err)) {
			fail_msg("%s: %s", row[i].steps, err.msg);
		}
		assert_true(run_difference(&want, &got) == 0);
		while (d->buffer[shared].memory != HN_MEMORY_SHARED) {
			shared++;
		}
		hn_device_count_banks(d, shared, &banks);
		assert_int_equal(banks.n_access, 2); /* rows in, columns out */
		assert_int_equal(banks.ways, row[i].ways);
		assert_true(banks.mean == (double)(1 + row[i].ways) / 2);
		run_args_free(&want);
		run_args_free(&got);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_is_one_to_one),
		cmocka_unit_test(all_forms_agree),
		cmocka_unit_test_setup_teardown(kernels_give_the_answer, setup, teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(chunks_are_moved_as_vectors, setup_wide,
						teardown),
#endif
		cmocka_unit_test(no_other_map_is_taken),
		cmocka_unit_test(the_part_that_is_held_decides),
		cmocka_unit_test(a_column_costs_one_turn),
	};

	return cmocka_run_group_tests_name("lower_layout", tests, NULL, NULL);
}
