/* Programs of the NPU with sizes: read and printed, run for each size of a range, and refused in one
 * line where the text or the sizes are wrong. */
#include <stdlib.h>

#include "target/npu/npu_launch.h"
#include "tests/lib/npu_bench.h"

/* B = 2 A: each core has blocks of 8 numbers, a transfer of which ends where the numbers do. */
static const char twice[] = "hnpu/1\n"
			    "size M r30 1..2000\n"
			    "gm A float32[M]\n"
			    "gm B float32[M]\n"
			    "cores 0 2 {\n"
			    "  core r0\n"
			    "  add r1 r30 15\n"
			    "  div r1 r1 16\n"
			    "  mul r1 r1 8\n"
			    "  mul r2 r0 r1\n"
			    "  sub r3 r30 r2\n"
			    "  min r3 r3 r1\n"
			    "  mul r2 r2 4\n"
			    "  mul r3 r3 4\n"
			    "  if 0 r3\n"
			    "    load ub[0] A[r2] burst r3\n"
			    "    barrier all\n"
			    "    vmuls.f32 ub[0] ub[0] 2 rep 255\n"
			    "    barrier all\n"
			    "    store B[r2] ub[0] burst r3\n"
			    "  end\n"
			    "}\n";

static void same_text(const char *text)
{
	struct hn_buf out;
	struct bench b;

	read_text(&b, text);
	hn_buf_init(&out);
	hn_npu_print(b.p, &out);
	assert_string_equal(out.s, text);
	hn_buf_fini(&out);
	hn_arena_fini(&b.a);
}

static void read_and_printed(void **state)
{
	(void)state;
	same_text(twice);
	same_text("hnpu/1\nsize M r31 1..64\nsize _n r3 0..7\nwhere M%16 == 0\nwhere M*_n <= 2*M+5\n"
		  "where (M+1)/2-(_n-3) >= -4\ngm A int8[(M+15)/16*16*(2*_n+1)]\ngm B int8[7]\ncores 0 1 {\n}\n");
}

/* vmuls touches more than was loaded: what is behind is never stored, but has to be there. */
static int run_of(struct bench *b, int64_t m, struct hn_arena *a, float **in, float **out)
{
	const struct hn_npu_program *at;
	void *gm[2];
	int rc = hn_npu_launch(b->p, &m, a, &at, &b->err);

	if (rc != 0) {
		return rc;
	}
	assert_int_equal(at->buffer[0].bytes, 4 * m);
	for (int i = 0; i < 2; i++) {
		gm[i] = hn_arena_alloc(a, (size_t)at->buffer[i].bytes);
	}
	*in = gm[0];
	*out = gm[1];
	for (int64_t i = 0; i < m; i++) {
		(*in)[i] = (float)i;
	}
	b->o.gm = gm;
	b->o.judge = false;
	return hn_npu_run(at, &b->m, &b->o, a, &b->r, &b->err);
}

static void each_size(void **state)
{
	static const int64_t sizes[] = { 1, 7, 8, 9, 15, 16, 17, 1000, 1999, 2000 };
	struct bench b;

	(void)state;
	read_text(&b, twice);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct hn_arena a;
		float *in = NULL, *out = NULL;

		hn_arena_init(&a, 0);
		if (run_of(&b, sizes[k], &a, &in, &out) != 0) {
			fail_msg("%lld: %s", (long long)sizes[k], b.err.msg);
		}
		for (int64_t i = 0; i < sizes[k]; i++) {
			assert_true(out[i] == 2 * in[i]);
		}
		hn_arena_fini(&a);
	}
	hn_arena_fini(&b.a);
}

static void refused_sizes(void **state)
{
	static const struct {
		int64_t m;
		const char *says;
	} rows[] = {
		{ 0, "M is 0, and it is for 1 to 2000" },
		{ -5, "M is -5, and it is for 1 to 2000" },
		{ 2001, "M is 2001, and it is for 1 to 2000" },
		{ INT64_MAX, "M is 9223372036854775807, and it is for 1 to 2000" },
	};
	struct bench b;

	(void)state;
	read_text(&b, twice);
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		float *in, *out;

		assert_int_equal(run_of(&b, rows[k].m, &b.a, &in, &out), -HONE_E_INVALID);
		assert_non_null(strstr(b.err.msg, rows[k].says));
	}
	/* none at all */
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_non_null(strstr(b.err.msg, "a launch gives its sizes: M is 1 to 2000"));
	hn_arena_fini(&b.a);
}

/* A condition, a length that these sizes have none of, and of several programs the first that fits. */
static void conditions(void **state)
{
	static const char *const texts[] = {
		"hnpu/1\nsize M r31 1..64\nwhere M%16 == 0\nwhere M >= 32\ngm A int8[M]\ncores 0 1 {\n}\n",
		"hnpu/1\nsize M r31 1..64\nwhere M%8 == 0\ngm A int8[M]\ncores 0 1 {\n}\n",
		"hnpu/1\nsize M r31 1..64\ngm A int8[M-4]\ncores 0 1 {\n}\n",
	};
	const struct hn_npu_program *p[3], *at;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(hn_npu_parse("t", texts[i], strlen(texts[i]), &a, &p[i], &err), 0);
	}
	assert_int_equal(hn_npu_launch(p[0], (int64_t[]){ 17 }, &a, &at, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg, "t: it is for sizes where M%16 == 0, which does not hold of M 17");
	assert_int_equal(hn_npu_launch(p[0], (int64_t[]){ 16 }, &a, &at, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg, "t: it is for sizes where M >= 32, which does not hold of M 16");
	assert_int_equal(hn_npu_launch(p[2], (int64_t[]){ 4 }, &a, &at, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "of these sizes buffer A has no length"));
	for (int64_t m = 1; m <= 64; m++) {
		int rc = hn_npu_launch_first(p, 3, &m, &a, &at, &err);

		assert_int_equal(rc, m > 4 || m % 8 == 0 ? 0 : -HONE_E_INVALID);
		if (rc == 0) {
			assert_int_equal(at->n_where, m % 16 == 0 && m >= 32 ? 2 : m % 8 == 0 ? 1 : 0);
			assert_int_equal(at->buffer[0].n_elem, at->n_where > 0 ? m : m - 4);
		}
	}
	hn_arena_fini(&a);
}

static void refused_texts(void **state)
{
	static const struct {
		const char *lines, *says;
	} rows[] = {
		{ "size M r31 1..1000000000000000000\ngm A int8[M]", "elements of the largest sizes: a buffer has" },
		{ "size M r31 1..1000000000000000000\ngm A int8[M*M]", "beyond all numbers" },
		{ "size M r31 1..99999999999999999999", "is no integer" },
		{ "size M r31 -4..4", "the first is the least, and not below 0" },
		{ "size M r31 4..1", "the first is the least" },
		{ "size M r31 4", "a size has a range, as 1..4096" },
		{ "size M 1..4", "'1..4' is no register" },
		{ "size M r32 1..4", "registers are r0 to r31" },
		{ "size 4 r31 1..4", "the name of a size" },
		{ "size M r31 1..4\nsize M r30 1..4", "there is a size M in r31 already" },
		{ "size M r31 1..4\nsize N r31 1..4", "there is a size M in r31 already" },
		{ "gm A int8[M]", "'M' is no size of this program" },
		{ "gm A int8[4]\nsize M r31 1..4", "sizes stand before all else" },
		{ "gm A int8[4]\nwhere 1 == 1", "stands behind them, before buffers and code" },
		{ "size M r31 1..4\nwhere M%0 == 0", "'%' is by a number of 1 or more" },
		{ "size M r31 1..4\nwhere 4/M == 0", "'/' is by a number of 1 or more" },
		{ "size M r31 1..4\nwhere M/-2 == 0", "'/' is by a number of 1 or more" },
		{ "size M r31 1..4\nwhere M < 3", "a condition has ==, <= or >=" },
		{ "size M r31 1..4\nwhere M", "a condition has ==, <= or >=" },
		{ "size M r31 1..4\nwhere (M == 3", "a bracket is not closed" },
		{ "size M r31 1..4\nwhere M == ", "here stands a size, a number" },
		{ "size M r31 1..4\nwhere ((((((((((((((((((((((((((M))))))))))))))))))))))))))", "of more than 24 terms or brackets" },
		{ "where 1 == 2", "a condition is on sizes, and there are none" },
		{ "scratch W float32[8]\nsize M r31 1..4", "sizes stand before all else" },
		{ "size M r31 1..4\nscratch W float32[8]\nwhere M == 3", "stands behind them, before buffers and code" },
		{ "size M r31 1..4\nwhere M == 3 4", "'4' stands behind what the line says" },
		{ "size M r31 1..4\ncores 0 1 {\nmov r31 7\n}", "r31 is the size M: no code writes to it" },
		{ "size M r31 1..4\ncores 0 1 {\ncore r31\n}", "r31 is the size M" },
		{ "size M r31 1..4\ncores 0 1 {\nloop r31 7\nend\n}", "r31 is the size M" },
		{ "sizes M r31 1..4", "'sizes' is none of size, where, gm, scratch and cores" },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		const struct hn_npu_program *p;
		char text[400];
		struct hn_arena a;
		struct hn_err err;

		hn_arena_init(&a, 0);
		snprintf(text, sizeof(text), "hnpu/1\n%s\n%s", rows[k].lines,
			 strstr(rows[k].lines, "cores") != NULL ? "" : "cores 0 1 {\n}\n");
		if (hn_npu_parse("t", text, strlen(text), &a, &p, &err) == 0 ||
		    strstr(err.msg, rows[k].says) == NULL || strchr(err.msg, '\n') != NULL) {
			fail_msg("%s\n%s", text, err.msg);
		}
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_and_printed), cmocka_unit_test(each_size), cmocka_unit_test(refused_sizes),
		cmocka_unit_test(conditions),	    cmocka_unit_test(refused_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
