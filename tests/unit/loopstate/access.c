/* Access analysis against the assertions of TVM's C++ test on conv2d_bn_relu(1, 224, 224,
 * 3, 64, 7, 2, 3), and its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "loopstate/dag/access.h"
#include "loopstate/read/dag_read.h"

struct fixture {
	struct hn_arena a;
	const struct hn_dag *dag;
	const struct hn_access *acc;
};

static void load(struct fixture *f, const char *text)
{
	struct hn_err err = { 0 };

	hn_arena_init(&f->a, 0);
	if (hn_dag_parse("t", text, strlen(text), 0, &f->a, &f->dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	f->acc = hn_access_analyze(f->dag, &f->a);
}

#define IN(t)                                                                            \
	"{\"kind\":\"placeholder\",\"id\":\"" t "\",\"dtype\":\"float32\",\"shape\":"
#define OUT(t, s)                                                                        \
	"{\"kind\":\"compute\",\"id\":\"" t "\",\"dtype\":[\"float32\"],\"shape\":" s
#define AX4 "\"axes\":[[\"i\",0,1],[\"j\",0,64],[\"k\",0,112],[\"l\",0,112]],"
#define IJKL "[\"var\",\"i\"],[\"var\",\"j\"],[\"var\",\"k\"],[\"var\",\"l\"]"
#define PER_J "[\"var\",\"j\"],[\"int\",0,\"int32\"],[\"int\",0,\"int32\"]"
#define WITH(t, node, prev, param)                                                       \
	OUT(t, "[1,64,112,112],")                                                        \
	AX4 "\"body\":[[\"" node "\",[\"load\",\"" prev "\"," IJKL                       \
	    "],[\"load\",\"" param "\"," PER_J "]]]},"

static const char conv[] =
	"{\"format\":\"compute-dag/1\",\"ops\":[" IN("Data") "[1,3,224,224]}," OUT(
		"pad",
		"[1,3,230,230],") "\"axes\":[[\"i0\",0,1],[\"i1\",0,3],[\"i2\",0,230],["
				  "\"i3\",0,230]],"
				  "\"body\":[[\"if\",[\"and\",[\"and\",[\"and\",[\"ge\",["
				  "\"var\",\"i2\"],[\"int\",3,\"int32\"]],"
				  "[\"lt\",[\"var\",\"i2\"],[\"int\",227,\"int32\"]]],["
				  "\"ge\",[\"var\",\"i3\"],[\"int\",3,\"int32\"]]],"
				  "[\"lt\",[\"var\",\"i3\"],[\"int\",227,\"int32\"]]],["
				  "\"load\",\"Data\",[\"var\",\"i0\"],[\"var\",\"i1\"],"
				  "[\"sub\",[\"var\",\"i2\"],[\"int\",3,\"int32\"]],["
				  "\"sub\",[\"var\",\"i3\"],[\"int\",3,\"int32\"]]],"
				  "[\"float\",0,\"float32\"]]]}," IN(
					  "Kernel") "[64,3,7,7]}," OUT("conv",
								       "[1,64,"
								       "112,112]"
								       ",") "\"ax"
									    "es\""
									    ":[["
									    "\"nn"
									    "\","
									    "0,1]"
									    ",["
									    "\"ff"
									    "\","
									    "0,"
									    "64],"
									    "[\"y"
									    "y\","
									    "0,"
									    "112]"
									    ",["
									    "\"xx"
									    "\","
									    "0,"
									    "112]"
									    "],"
									    "\"re"
									    "duce"
									    "_axe"
									    "s\":"
									    "[["
									    "\"rc"
									    "\","
									    "0,3]"
									    ",["
									    "\"ry"
									    "\","
									    "0,7]"
									    ",["
									    "\"rx"
									    "\","
									    "0,7]"
									    "],"
									    "\"bo"
									    "dy\""
									    ":[{"
									    "\"re"
									    "duce"
									    "\":{"
									    "\"lh"
									    "s\":"
									    "[\"x"
									    "\"],"
									    "\"rh"
									    "s\":"
									    "[\"y"
									    "\"],"
									    "\"re"
									    "sult"
									    "\":["
									    "[\"a"
									    "dd\""
									    ",["
									    "\"va"
									    "r\","
									    "\"x"
									    "\"],"
									    "[\"v"
									    "ar\""
									    ",\"y"
									    "\"]]"
									    "],"
									    "\"id"
									    "enti"
									    "ty\""
									    ":[["
									    "\"fl"
									    "oat"
									    "\","
									    "0,"
									    "\"fl"
									    "oat3"
									    "2\"]"
									    "]},"
									    "\"so"
									    "urce"
									    "\":["
									    "[\"m"
									    "ul\""
									    ",["
									    "\"lo"
									    "ad\""
									    ",\"p"
									    "ad\""
									    ",["
									    "\"va"
									    "r\","
									    "\"nn"
									    "\"],"
									    "[\"v"
									    "ar\""
									    ",\"r"
									    "c\"]"
									    ",["
									    "\"ad"
									    "d\","
									    "[\"m"
									    "ul\""
									    ","
									    "[\"v"
									    "ar\""
									    ",\"y"
									    "y\"]"
									    ",["
									    "\"in"
									    "t\","
									    "2,"
									    "\"in"
									    "t32"
									    "\"]]"
									    ",["
									    "\"va"
									    "r\","
									    "\"ry"
									    "\"]]"
									    ",["
									    "\"ad"
									    "d\","
									    "[\"m"
									    "ul\""
									    ",["
									    "\"va"
									    "r\","
									    "\"xx"
									    "\"],"
									    "[\"i"
									    "nt\""
									    ",2,"
									    "\"in"
									    "t32"
									    "\"]]"
									    ",["
									    "\"va"
									    "r\","
									    "\"rx"
									    "\"]]"
									    "],["
									    "\"lo"
									    "ad\""
									    ",\"K"
									    "erne"
									    "l\","
									    "[\"v"
									    "ar\""
									    ",\"f"
									    "f\"]"
									    ",["
									    "\"va"
									    "r\","
									    "\"rc"
									    "\"],"
									    "[\"v"
									    "ar\""
									    ",\"r"
									    "y\"]"
									    ",["
									    "\"va"
									    "r\","
									    "\"rx"
									    "\"]]"
									    "]],"
									    "\"co"
									    "ndit"
									    "ion"
									    "\":["
									    "\"in"
									    "t\","
									    "1,"
									    "\"bo"
									    "ol\""
									    "],"
									    "\"in"
									    "it\""
									    ":[],"
									    "\"va"
									    "lue_"
									    "inde"
									    "x\":"
									    "0}]}"
									    "," IN("Bias") "[64,1,1]}," WITH(
										    "Bias"
										    "_ad"
										    "d",
										    "add",
										    "con"
										    "v",
										    "Bia"
										    "s")
										    IN("B"
										       "n"
										       "_"
										       "s"
										       "c"
										       "a"
										       "l"
										       "e") "[64,1,1]}," WITH(
											    "Bn_mul",
											    "mul",
											    "Bias_add",
											    "Bn_scale")
											    IN("Bn_offset") "[64,1,1]}," WITH(
												    "Bn_add",
												    "add",
												    "Bn_mul",
												    "Bn_offset")
												    OUT("compute",
													"[1,64,112,112],")
													    AX4
	"\"body\":[[\"max\",[\"load\",\"Bn_add\"," IJKL
	"],[\"float\",0,\"float32\"]]]}],\"inputs_outputs\":[\"Data\",\"Kernel\","
	"\"Bias\",\"Bn_scale\","
	"\"Bn_offset\",\"compute\"]}";

static bool among(const int32_t *list, uint32_t n, int32_t x)
{
	for (uint32_t i = 0; i < n; i++) {
		if (list[i] == x) {
			return true;
		}
	}
	return false;
}

static void classify_conv(void **state)
{
	static const int32_t inlineable[] = { 5, 7, 9, 10 };
	struct fixture f;

	(void)state;
	load(&f, conv);
	assert_int_equal(f.acc->n_op, 11);
	for (int32_t i = 0; i < 11; i++) {
		const struct hn_op_access *x = &f.acc->op[i];

		assert_int_equal(x->needs_multi_level_tiling, i == 3);
		assert_int_equal(x->simple_access, i != 3);
		assert_int_equal(x->strictly_inlineable, among(inlineable, 4, i));
		assert_int_equal(x->output, i == 10);
		assert_int_equal(x->has_branch, i == 1);
	}
	hn_arena_fini(&f.a);
}

static void relate_conv(void **state)
{
	static const int32_t producers[11][3] = {
		{ -1, -1 }, { 0, -1 }, { -1, -1 }, { 1, 2 }, { -1, -1 }, { 3, 4 },
		{ -1, -1 }, { 5, 6 },  { -1, -1 }, { 7, 8 }, { 9, -1 },
	};
	struct fixture f;

	(void)state;
	load(&f, conv);
	assert_int_equal(hn_access_common_outer(f.dag, f.acc, 3, 5), 4);
	assert_int_equal(hn_access_common_outer(f.dag, f.acc, 3, 10), 4);
	assert_int_equal(hn_access_common_outer(f.dag, f.acc, 0, 10), 1);
	assert_int_equal(hn_access_common_outer(f.dag, f.acc, 0, 2), 0);
	assert_int_equal(hn_access_common_outer(f.dag, f.acc, 10, 3), 0);
	assert_true(hn_access_elementwise_match(f.dag, f.acc, 3, 5));
	assert_true(hn_access_elementwise_match(f.dag, f.acc, 3, 10));
	assert_false(hn_access_elementwise_match(f.dag, f.acc, 0, 1));
	for (int32_t i = 0; i < 11; i++) {
		const struct hn_op_access *x = &f.acc->op[i];

		for (uint32_t k = 0; k < 2; k++) {
			assert_int_equal(k < x->n_producer ? x->producer[k] : -1,
					 producers[i][k]);
		}
		for (uint32_t k = 0; k < x->n_producer; k++) {
			const struct hn_op_access *p = &f.acc->op[x->producer[k]];

			assert_true(among(p->consumer, p->n_consumer, i));
		}
	}
	assert_int_equal(f.acc->op[3].n_consumer, 1);
	assert_int_equal(f.acc->op[3].consumer[0], 5);
	hn_arena_fini(&f.a);
}

static void see_patterns(void **state)
{
	struct fixture f;

	(void)state;
	/* 0 A, 1 T transposed, 2 D diagonal, 3 E exp, 4 K constant, 5 M matmul, 6 R
	 * broadcast */
	load(&f, "f(float32 A[8,8]) -> (D, E, K, R) { T(i,j) = A(j,i) D(i) = A(i,i)"
		 " E(i,j) = exp(A(i,j)) K(i,j) = 1.0 where i in 0:8, j in 0:8"
		 " M(i,j) +=! A(i,k) * T(k,j) R(i,j) = M(i,j) + A(i,3) }");
	const struct hn_op_access *x = f.acc->op;

	assert_true(x[1].simple_access && !x[1].strictly_inlineable);
	assert_true(x[2].simple_access && !x[2].strictly_inlineable);
	assert_true(x[3].simple_access && !x[3].strictly_inlineable &&
		    x[3].has_expensive);
	assert_true(x[4].strictly_inlineable);
	assert_true(x[5].needs_multi_level_tiling && !x[5].simple_access);
	assert_true(x[6].strictly_inlineable && !x[6].needs_multi_level_tiling);
	assert_int_equal(x[6].n_read, 2);
	assert_int_equal(x[0].n_consumer, 5);
	assert_false(hn_access_elementwise_match(f.dag, f.acc, 0, 6));
	assert_true(hn_access_elementwise_match(f.dag, f.acc, 5, 6));
	assert_true(hn_access_elementwise_match(f.dag, f.acc, 5, 5));
	hn_arena_fini(&f.a);

	/* an outer product reuses both sides; a row of one needs no tiling */
	load(&f, "f(float32 a[8], b[8]) -> P { P(i,j) = a(i) * b(j) }");
	assert_true(f.acc->op[2].needs_multi_level_tiling);
	hn_arena_fini(&f.a);
	load(&f, "f(float32 a[8], b[8], c[1]) -> P { P(i,j) = a(i) * c(j) }");
	assert_false(f.acc->op[3].needs_multi_level_tiling);
	hn_arena_fini(&f.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classify_conv),
		cmocka_unit_test(relate_conv),
		cmocka_unit_test(see_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
