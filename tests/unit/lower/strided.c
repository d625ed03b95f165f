/* Arguments that are parts of larger tensors: rows further apart than they are long. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/nest/strided.h"
#include "tests/lib/lower_forms.h"

static const char *const forms[] = {
	"f(float32 X[9,32], Z[9,32]) -> Y { Y(i,j) = X(i,j) + Z(i,j) }",
	"f(float32 X[5,3,7]) -> Y { Y(i,j,k) = max(X(i,j,k), 0.0) }",
	"f(float32 X[13,40], Z[40,18]) -> Y { Y(i,j) +=! X(i,k) * Z(k,j) }",
	"f(float32 X[13,40], const float32 Z[40,33]) -> Y { Y(i,j) +=! X(i,k) * Z(k,j) }",
	"f(float32 X[1,9,8,16], const float32 W[3,3,16,24], b[24]) -> Y {"
	" P(n,h,w,c) = h >= 1 && h < 10 && w >= 1 && w < 9 ? X(n,h-1,w-1,c) : 0.0"
	" where h in 0:11, w in 0:10\n"
	" C(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f)\n"
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0.0) }",
	"f(float32 X[6,20]) -> S, Y { S(i) +=! X(i,j)\n Y(i,j) = X(i,j) / S(i) }",
	"f(float32 X[3,50]) -> Y { Y(i,j) +=! X(i,3*j+s) where j in 0:16, s in 0:5 }",
	"f(float32 X[19,25]) -> Y { Y(i,j) = X(j,i) * 2.0 }",
	"f(uint8 X[5,70]) -> Y { Y(i,j) = X(i,2*j) > 1 where j in 0:35 }",
	"f(float64 X[4,1,11]) -> Y { Y(i,j,k) = X(i,j,k) * X(i,j,10-k) }",
	"f(float32 X[7]) -> Y { Y(i) = X(i) }",
	"f(float32 X[4,9]) -> Y { Y() max=! X(i,j) }",
};

/* "0:40,1;2:..": each dimension but the last a little longer than it is; by the number, another
 * argument each time keeps its rows together. */
static const char *strides_of(const struct hn_dag *dag, uint64_t number, struct hn_arena *a)
{
	const char *text = "";

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		int64_t stride[HN_DAG_MAX_RANK], step = 1;

		for (uint32_t d = op->n_dim; d-- > 0;) {
			stride[d] = step;
			step *= op->shape[d] + ((number + i) % 3 == 0 ? 0 : 1 + (int64_t)(d + number) % 4 * 5);
		}
		for (uint32_t d = 0; d < op->n_dim; d++) {
			text = d > 0 ? text
				     : hn_arena_printf(a, "%s%s%u", text, *text != '\0' ? ";" : "", i);
			text = hn_arena_printf(a, "%s%c%lld", text, d == 0 ? ':' : ',',
					       (long long)stride[d]);
		}
	}
	return text;
}

struct rows {
	const struct hn_buffer *buffer[RUN_MAX_ARGS];
	struct run_args args;
};

/* The arguments `from` where the tree has them; 0xff between their rows, and in outputs. */
static void spread(const struct hn_looptree *t, const struct run_args *from, struct rows *ret)
{
	*ret = (struct rows){ .args = { .n = from->n } };
	for (uint32_t i = 0; i < from->n; i++) {
		const struct hn_buffer *b = &t->buffer[t->dag->arg[i]];
		size_t unit = hn_dtype_bytes(from->dtype[i]);

		ret->buffer[i] = b;
		ret->args.bytes[i] = (size_t)hn_strided_span(b) * unit;
		run_arg_map(&ret->args, i);
		memset(ret->args.at[i], 0xff, ret->args.bytes[i]);
		for (size_t k = 0; !from->output[i] && k < from->bytes[i] / unit; k++) {
			memcpy((char *)ret->args.at[i] + (size_t)hn_strided_place(b, (int64_t)k) * unit,
			       (const char *)from->at[i] + k * unit, unit);
		}
	}
}

/* Outputs in a row again, with 0xff in their place; so only what lies between is left. */
static void gather(struct rows *x, struct run_args *to)
{
	for (uint32_t i = 0; i < to->n; i++) {
		size_t unit = hn_dtype_bytes(to->dtype[i]);

		for (size_t k = 0; k < to->bytes[i] / unit; k++) {
			char *at = (char *)x->args.at[i] +
				   (size_t)hn_strided_place(x->buffer[i], (int64_t)k) * unit;

			memcpy((char *)to->at[i] + k * unit, at, to->output[i] ? unit : 0);
			memset(at, 0xff, unit);
		}
	}
}

static bool is_untouched(const struct rows *x)
{
	for (uint32_t i = 0; i < x->args.n; i++) {
		for (size_t k = 0; k < x->args.bytes[i]; k++) {
			if (((const unsigned char *)x->args.at[i])[k] != 0xff) {
				return false;
			}
		}
	}
	return run_redzones_hold(&x->args);
}

static void check_strided(const struct history *h, void *ctx)
{
	struct hn_emit_options o = { .symbol = "k" };
	const struct hn_state *s = hn_state_init(h->dag, h->a);
	const char *text = strides_of(h->dag, h->number, h->a);
	struct fixture *f = ctx;
	struct hone_env env = two_workers();
	const struct hn_looptree *t;
	struct run_kernel k = { 0 };
	struct run_args got;
	struct rows rows;
	struct hn_err err;
	double d;

	if ((h->number > 0 && hn_state_replay(h->dag, h->trace, h->a, &s, &err) != 0) ||
	    hn_looptree_build(s, h->a, &t, &err) != 0 ||
	    hn_looptree_stride(t, text, h->a, &t, &err) != 0 ||
	    hn_emit(f->em, t, &o, h->a, &k.artefact, &err) != 0) {
		fail_msg("%s, history %d: %s", h->text, (int)h->number, err.msg);
	}
	run_load(&k, "k");
	run_args_make(h->dag, 11, &got);
	spread(t, &got, &rows);
	assert_int_equal(k.fn(rows.args.at, &env), 0);
	gather(&rows, &got);
	d = run_difference(h->want, &got);
	if (d > h->tolerance || !is_untouched(&rows)) {
		fail_msg("%s, history %d, strides %s: differs by %g, what lies between is %s", h->text,
			 (int)h->number, text, d, is_untouched(&rows) ? "kept" : "changed");
	}
	run_args_free(&rows.args);
	run_args_free(&got);
	run_unload(&k);
}

static void histories(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		each_history(forms[i], 12, check_strided, *state);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "3:1,1", "strides: want ARG:STRIDE,.. with one of 3 arguments at ':1,1'" },
		{ "x", "strides: want ARG:STRIDE,.. with one of 3 arguments at 'x'" },
		{ "0", "strides: want ARG:STRIDE,.. with one of 3 arguments at ''" },
		{ "0:32", "strides: argument 0 has 2 dimensions" },
		{ "0:32,1,1", "strides: argument 0 has 2 dimensions" },
		{ "0:32,1x", "strides: argument 0 has 2 dimensions" },
		{ "1:40,1;0:31,1", "strides: two elements of argument 0 would share a place" },
		{ "2:32,0", "strides: two elements of argument 2 would share a place" },
		{ "0:4611686018427387904,1", "strides: two elements of argument 0 would share a place" },
		{ "0:9223372036854775808,1", "strides: argument 0 has 2 dimensions" },
	};
	struct fixture *f = *state;
	const struct hn_dag *dag = dag_open(forms[0], &f->arena);
	const struct hn_looptree *t, *strided;
	struct hn_err err = { 0 };

	assert_int_equal(hn_looptree_build(hn_state_init(dag, &f->arena), &f->arena, &t, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		assert_int_equal(hn_looptree_stride(t, bad[i].text, &f->arena, &strided, &err),
				 -HONE_E_INVALID);
		assert_string_equal(err.msg, bad[i].says);
	}
}

static void elements_lie_where_the_text_says(void **state)
{
	struct fixture *f = *state;
	const struct hn_dag *dag = dag_open(forms[0], &f->arena);
	const struct hn_looptree *t, *strided;
	struct hn_err err = { 0 };

	assert_int_equal(hn_looptree_build(hn_state_init(dag, &f->arena), &f->arena, &t, &err), 0);
	assert_int_equal(hn_looptree_stride(t, "", &f->arena, &strided, &err), 0);
	assert_int_equal(hn_strided_span(&strided->buffer[0]), 9 * 32);
	assert_int_equal(hn_looptree_stride(t, "2:40,1;0:64,2", &f->arena, &strided, &err), 0);
	assert_int_equal(hn_strided_span(&strided->buffer[0]), 8 * 64 + 31 * 2 + 1);
	assert_int_equal(hn_strided_place(&strided->buffer[0], 33), 64 + 2);
	assert_int_equal(hn_strided_place(&strided->buffer[1], 33), 33);
	assert_int_equal(hn_strided_place(&strided->buffer[2], 33), 40 + 1);
	assert_int_equal(hn_strided_place(&t->buffer[2], 33), 33);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(elements_lie_where_the_text_says, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
	};

	return cmocka_run_group_tests_name("lower strided", tests, NULL, NULL);
}
