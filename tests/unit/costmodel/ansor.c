/* Ansor's numbers: of programs that can be worked out by hand, and of programs that TVM v0.18 was
 * asked about (tests/data/ansor/, printed as hn_ansor_print prints: the dag, its steps, a line a
 * number). */
#include "tests/lib/search_dags.h"
#include "tests/lib/dag_form.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "costmodel/ansor.h"
#include "loopstate/state/trace.h"

#define TARGET "cpu -num_cores=2 -cache_line_bytes=64"
#define ROWS_MAX_BYTES (1 << 20)

struct expected {
	uint32_t row;
	enum hn_ansor_column column;
	double value; /* before it is scaled */
};

#define F(row, name, value) {row, HN_ANSOR_##name, value}

static const struct hn_looptree *tree_of(const struct hn_dag *dag, const char *steps,
					 struct hn_arena *a)
{
	const struct hn_trace *t;
	const struct hn_state *s;
	const struct hn_looptree *tree;
	struct hn_err err = {0};

	if (hn_trace_parse("trace", steps, strlen(steps), a, &t, &err) < 0 ||
	    hn_state_replay(dag, t, a, &s, &err) < 0 ||
	    hn_looptree_build(s, a, &tree, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return tree;
}

static struct hn_ansor ansor_of(const struct hn_looptree *tree, enum hn_ansor_defects defects,
				struct hn_arena *a)
{
	struct hn_target target;
	struct hn_ansor f;
	struct hn_err err;

	assert_int_equal(hn_target_parse(TARGET, a, &target, &err), 0);
	assert_true(hn_ansor_of(tree, &target, defects, a, &f));
	return f;
}

static void compare(const struct hn_ansor *f, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x = exp2((double)f->x[(size_t)e[i].row * HN_N_ANSOR + e[i].column]) - 1;

		if (fabs(x - e[i].value) > 1e-4 * fmax(1, e[i].value)) {
			fail_msg("row %u, %s: %g, should be %g", e[i].row,
				 hn_ansor_name(e[i].column), x, e[i].value);
		}
	}
}

static void check(const char *text, const char *steps, uint32_t n_row, const struct expected *e,
		  size_t n)
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	struct hn_ansor f = ansor_of(tree_of(dag_open(text, &a), steps, &a), HN_ANSOR_CORRECTED,
				     &a);
	assert_int_equal(f.n, n_row);
	compare(&f, e, n);
	hn_arena_fini(&a);
}

/* The example of TVM's own test: i by 16, j by 8.  A and C take a line a point; of two that are
 * equal the store is the last. */
static void a_tiled_matmul(void **state)
{
	static const struct expected e[] = {
		F(0, float_addsub, 512.0 * 512 * 512), F(0, float_mul, 512.0 * 512 * 512),
		F(0, float_mad, 0), F(0, vec_num, 1), F(0, vec_len, 8), F(0, vec_type_kPosNone, 0),
		F(0, vec_type_kPosMixed, 1), F(0, unroll_num, 1), F(0, unroll_len, 512),
		F(0, parallel_num, 2), F(0, parallel_prod, 512.0 * 512 / 16 / 8),
		F(0, parallel_len, 64), F(0, B1_acc_type_kReadWrite, 1),
		F(0, B1_bytes, 512.0 * 512 * 512 * 4), F(0, B1_unique_bytes, 512 * 512 * 4),
		F(0, B1_reuse_type_kLoopMultipleRead, 1), F(0, B1_reuse_dis_iter, 8 * 16),
		F(0, B1_reuse_dis_bytes, (8 * 16 + 8 + 16) * 4), F(0, B1_reuse_ct, 512),
		F(0, B1_bytes_d_reuse_ct, 512.0 * 512 * 4), F(0, alloc_size, 512 * 512 * 4),
		F(0, B2_unique_bytes, 512 * 512 * 4), F(0, B2_stride, 0),
		F(0, num_loops, 5), F(0, is_gpu, 0), F(0, threadIdx_x_len, 1),
	};

	(void)state;
	check("mm(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	      "[[\"SP\", 2, 0, 512, [16], 1], [\"SP\", 2, 2, 512, [8], 1],"
	      " [\"RE\", 2, [0, 2, 4, 3, 1]], [\"AN\", 2, 0, 3], [\"AN\", 2, 1, 3],"
	      " [\"AN\", 2, 2, 1], [\"AN\", 2, 3, 2]]",
	      1, e, HN_COUNT_OF(e));
}

/* B is made element by element where C reads it: one store, then another, in a loop of 32. */
static void a_buffer_that_two_stores_touch(void **state)
{
	static const struct expected e[] = {
		F(0, B0_reuse_type_kNoReuse, 1), F(0, B0_reuse_ct, 0),
		F(0, B0_bytes_d_reuse_ct, 64 * 32 * 4 * 2), F(0, alloc_size, 4),
		F(0, alloc_outer_prod, 64 * 32), F(0, alloc_inner_prod, 1),
		F(1, B0_acc_type_kRead, 1), F(1, B0_reuse_type_kSerialMultipleReadWrite, 1),
		F(1, B0_reuse_dis_iter, 1), F(1, B0_reuse_dis_bytes, 16), F(1, B0_reuse_ct, 1),
		F(1, B1_acc_type_kWrite, 1), F(1, B1_reuse_type_kNoReuse, 1), F(1, alloc_outer_prod, 1),
	};

	(void)state;
	check("f(float32 A[64,32]) -> C { B(i,j) = A(i,j) * 2  C(i,j) = B(i,j) + 1 }",
	      "[[\"CA\", 1, 2, 1]]", 2, e, HN_COUNT_OF(e));
}

/* Of the 64 x 5 x 3 points, B stays where it is for 5 x 3: 64 x 4 bytes in lines of 64 bytes.
 * Ansor divides by 3 twice.  Of A's dimensions the last is touched in full, runs of 12 bytes;
 * Ansor takes B's region for A's, whose first dimension is full then. */
static void both_defects(void **state)
{
	static const struct expected corrected[] = {
		F(0, B0_lines, 960.0 * 4 / 64), F(0, B0_unique_lines, 3840.0 / 12),
		F(0, B0_unique_lines_d_reuse_ct, 2 * 3840.0 / 12), F(0, B1_lines, 960.0 / 15 * 4 / 64),
		F(0, B1_lines_d_reuse_ct, 960.0 / 15 * 4 / 64 / 3), F(0, B1_unique_lines, 4),
	};
	static const struct expected defects[] = {
		F(0, B0_lines, 960.0 * 4 / 64), F(0, B0_unique_lines, 3840.0 / 64),
		F(0, B0_unique_lines_d_reuse_ct, 2 * 3840.0 / 64), F(0, B1_lines, 960.0 / 9 * 4 / 64),
		F(0, B1_lines_d_reuse_ct, 960.0 / 9 * 4 / 64 / 3), F(0, B1_unique_lines, 4),
	};
	uint32_t differ = 0;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_looptree *tree =
		tree_of(dag_open("f(float32 A[64,5,3]) -> B { B(i) +=! A(i,j,k) }", &a), "[]", &a);
	struct hn_ansor x = ansor_of(tree, HN_ANSOR_CORRECTED, &a);
	struct hn_ansor y = ansor_of(tree, HN_ANSOR_DEFECTS, &a);

	compare(&x, corrected, HN_COUNT_OF(corrected));
	compare(&y, defects, HN_COUNT_OF(defects));
	for (int i = 0; i < HN_N_ANSOR; i++) {
		differ += x.x[i] != y.x[i];
	}
	assert_int_equal(differ, 4); /* lines of B1, unique_lines of B0, and both / reuse_ct */
	hn_arena_fini(&a);
}

/* A pad reads one element past each end: 9 of 7.  The tail of 9 by 4 is a whole tile. */
static void pads_and_tails(void **state)
{
	static const struct expected e[] = {
		F(0, outer_prod, 12), F(0, num_loops, 2), F(0, float_mathfunc, 12),
		F(0, int_mathfunc, 0), F(0, bool_op, 12), F(0, int_cmp, 2 * 12),
		F(0, B0_unique_bytes, 12 * 4), F(0, B0_bytes, 12 * 4), F(0, B0_stride, 1),
		F(0, B0_lines, 1), F(0, alloc_size, 9 * 4),
	};

	(void)state;
	check("f(float32 A[7]) -> P { P(i) = i >= 1 && i < 8 ? A(i-1) : 0 where i in 0:9 }",
	      "[[\"SP\", 1, 0, 9, [4], 1]]", 1, e, HN_COUNT_OF(e));
}

/* Every third element: 12 bytes on, of a line of 64.  An index that is data may be any. */
static void strides_and_data(void **state)
{
	static const struct expected third[] = {
		F(0, B0_stride, 3), F(0, B0_lines, 100.0 * 12 / 64), F(0, B1_stride, 1),
		F(0, B0_unique_bytes, 298 * 4), F(0, B0_unique_lines, 298), F(0, int_mul, 100),
	};
	static const struct expected data[] = {
		F(0, B2_acc_type_kWrite, 1), F(0, B0_unique_bytes, 300 * 4), F(0, B0_stride, 1),
		F(0, B1_unique_bytes, 100 * 4),
	};

	(void)state;
	check("f(float32 A[300]) -> B { B(i) = A(i*3) where i in 0:100 }", "[]", 1, third,
	      HN_COUNT_OF(third));
	check("f(float32 A[300], int32 I[100]) -> B { "
	      "B(i) = I(i) >= 0 && I(i) < 300 ? A(I(i)) : 0 }", "[]", 1,
	      data, HN_COUNT_OF(data));
}

static void rank_0(void **state)
{
	static const struct expected reduced[] = {
		F(0, float_addsub, 10), F(0, outer_prod, 10), F(0, num_loops, 1),
		F(0, B0_acc_type_kRead, 1), F(0, B0_unique_bytes, 40),
		F(0, B1_acc_type_kReadWrite, 1), F(0, B1_unique_bytes, 4), F(0, B1_stride, 1),
		F(0, B1_reuse_type_kLoopMultipleRead, 1), F(0, B1_reuse_ct, 10),
		F(0, B1_reuse_dis_bytes, 8),
		F(0, arith_intensity_curve_0, 10.0 / 44), F(0, arith_intensity_curve_9, 10.0 / 44),
	};
	static const struct expected none[] = {
		F(0, float_addsub, 1), F(0, float_mul, 1), F(0, float_divmod, 0), F(0, outer_prod, 1), F(0, num_loops, 0), F(0, B0_bytes, 4),
		F(0, B0_unique_bytes, 4), F(0, B0_lines, 1), F(0, B0_unique_lines, 1),
		F(0, B0_reuse_type_kNoReuse, 1), F(0, B0_stride, 0), F(0, B1_bytes, 4),
		F(0, B2_bytes, 0), F(0, arith_intensity_curve_0, 0),
	};

	(void)state;
	check("f(float32 A[10]) -> S { S() +=! A(i) }", "[]", 1, reduced, HN_COUNT_OF(reduced));
	check("f(float32 A[1]) -> S { S() = A(0) / 3 + 1 }", "[]", 1, none, HN_COUNT_OF(none));
}

/* Panels of 16 of B's 37 columns: 37 = 3 panels with a rest.  Packed in the kernel it is a
 * buffer like another; of a constant input it is made before, and is read like an argument. */
#define PACKED(B)                                                                                  \
	"mm(float32 A[5,7], " B " W[7,37]) -> C { C(i,j) +=! A(i,k) * W(k,j) }"
#define PACK "[[\"PK\", 1, [7, 16]]]"

static void a_packed_operand(void **state)
{
	static const struct expected inside[] = {
		F(0, outer_prod, 3 * 7 * 16), F(0, alloc_size, 3 * 7 * 16 * 4),
		F(0, alloc_outer_prod, 1), F(0, float_mathfunc, 3 * 7 * 16),
		F(1, outer_prod, 5 * 37 * 7), F(1, B0_stride, 16), F(1, B0_acc_type_kRead, 1),
		F(1, B0_lines, 5.0 * 37 * 7),
	};
	static const struct expected before[] = {
		F(0, outer_prod, 5 * 37 * 7), F(0, B0_stride, 16),
	};

	(void)state;
	check(PACKED("float32"), PACK, 2, inside, HN_COUNT_OF(inside));
	check(PACKED("const float32"), PACK, 1, before, HN_COUNT_OF(before));
}

/* A transform's matrix, inlined: Ansor has a 1 in its place, no choice and no load. */
static void an_inlined_constant_matrix(void **state)
{
	static const struct expected e[] = {
		F(0, select_op, 0), F(0, int_cmp, 0), F(0, float_mul, 0), F(0, float_addsub, 36),
		F(0, B0_unique_bytes, 24), F(0, B2_bytes, 0),
	};

	(void)state;
	check("{'format':'compute-dag/1','ops':["
	      "{'kind':'placeholder','id':'A','shape':[6],'dtype':'float32'},"
	      "{'kind':'compute','id':'M','shape':[6,6],'dtype':['float32'],'attrs':"
	      "{'const_matrix':true},'axes':[['i',0,6],['j',0,6]],'reduce_axes':[],'body':["
	      "['select',['eq',['var','i'],['var','j']],['float',2,'float32'],"
	      "['float',3,'float32']]]},"
	      "{'kind':'compute','id':'B','shape':[6],'dtype':['float32'],'axes':[['i',0,6]],"
	      "'reduce_axes':[['k',0,6]],'body':[{'reduce':{'lhs':['x'],'rhs':['y'],'result':"
	      "[['add',['var','x'],['var','y']]],'identity':[['float',0,'float32']]},'source':"
	      "[['mul',['load','A',['var','k']],['load','M',['var','i'],['var','k']]]],"
	      "'condition':['int',1,'bool'],'init':[],'value_index':0}]}],"
	      "'inputs_outputs':['A','B']}",
	      "[[\"CI\", 1]]", 1, e, HN_COUNT_OF(e));
}

/* One line less; returns it. */
static char *next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	assert_non_null(end);
	*end = '\0';
	*text = end + 1;
	return line;
}

/* Word by word; numbers have six digits, and TVM works in floats. */
static void same_numbers(const char *name, char *ours, char *tvm)
{
	char *x, *y, *at_x, *at_y;

	for (x = strtok_r(ours, " \n", &at_x), y = strtok_r(tvm, " \n", &at_y); x && y;
	     x = strtok_r(NULL, " \n", &at_x), y = strtok_r(NULL, " \n", &at_y)) {
		char *end;
		double a = strtod(x, &end), b = strtod(y, NULL);
		bool number = *end == '\0';

		if (number ? fabs(a - b) > 1e-4 * fmax(1, fabs(b)) : strcmp(x, y) != 0) {
			fail_msg("%s: %s, TVM has %s", name, x, y);
		}
	}
	assert_true(!x && !y);
}

static void tvm_gives_the_same(void **state)
{
	glob_t files;

	(void)state;
	assert_int_equal(glob(HONE_SOURCE_DIR "/tests/data/ansor/*.txt", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct hn_buf page, ours;
		struct hn_arena a;
		struct hn_err err;

		hn_arena_init(&a, 0);
		hn_buf_init(&page);
		hn_buf_init(&ours);
		assert_int_equal(
			hn_file_read(files.gl_pathv[i], ROWS_MAX_BYTES, &page, &err), 0);
		char *rest = page.s, *json = next_line(&rest), *steps = next_line(&rest);
		const struct hn_looptree *tree = tree_of(dag_open(json, &a), steps, &a);
		struct hn_ansor f = ansor_of(tree, HN_ANSOR_DEFECTS, &a);

		hn_ansor_print(&f, tree->dag, &ours);
		same_numbers(files.gl_pathv[i], ours.s, rest);
		hn_buf_fini(&ours);
		hn_buf_fini(&page);
		hn_arena_fini(&a);
	}
	globfree(&files);
}

static void the_page_is_printed_from_the_table(void **state)
{
	struct hn_buf page, doc;
	struct hn_err err;

	(void)state;
	hn_buf_init(&page);
	hn_buf_init(&doc);
	assert_int_equal(hn_file_read(HONE_SOURCE_DIR "/docs/features-ansor.md", 1 << 20, &page,
				      &err),
			 0);
	hn_ansor_doc(&doc);
	if (strcmp(page.s, doc.s) != 0) {
		fail_msg("docs/features-ansor.md: print it anew with "
			 "hone-bench model --features ansor");
	}
	assert_int_equal(HN_N_ANSOR, 164);
	hn_buf_fini(&doc);
	hn_buf_fini(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tiled_matmul),
		cmocka_unit_test(a_buffer_that_two_stores_touch),
		cmocka_unit_test(both_defects),
		cmocka_unit_test(pads_and_tails),
		cmocka_unit_test(strides_and_data),
		cmocka_unit_test(rank_0),
		cmocka_unit_test(a_packed_operand),
		cmocka_unit_test(an_inlined_constant_matrix),
		cmocka_unit_test(tvm_gives_the_same),
		cmocka_unit_test(the_page_is_printed_from_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
