/* Sketches for targets with threads: the goldens and thresholds of TVM's rules, hints of
 * front ends, readers of every kind; which capability bits select a recipe. */
#include "tests/lib/sketch_util.h"

#define MATMUL(n, m, k)                                                                  \
	"t(float32 A[" #n "," #k "], B[" #k "," #m                                       \
	"]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"
#define TILED "add_cache_write,tile_fuse,add_cache_read,add_cache_read"
#define FUSED "tile_fuse,add_cache_read,add_cache_read"
#define NO_SPLIT "auto_scheduler_no_split_at_inner"
#define CONST_TENSOR "auto_scheduler_simplify_const_tensor_indices"

struct fixture {
	struct hn_arena a;
	struct hn_target cuda, cpu;
};

static int set_up(void **state)
{
	static struct fixture f;

	hn_arena_init(&f.a, 0);
	f.cuda = target_of(&f.a, "cuda");
	f.cpu = target_of(&f.a, "cpu -isa=x86-64-avx2 -num_cores=4");
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	hn_arena_fini(&f->a);
	return 0;
}

/* Rules that made each sketch, in order; the last entry is NULL. */
static void check_rules(struct fixture *f, const struct hn_dag *dag,
			const struct hn_target *t, const char *const *want)
{
	struct hn_sketches s = sketches_of(dag, t, &f->a);
	uint32_t n = 0;

	for (; want[n]; n++) {
		if (n >= s.n) {
			fail_msg("%u sketches; want [%s] next", s.n, want[n]);
		}
		assert_string_equal(s.sketch[n].rules, want[n]);
	}
	assert_int_equal(s.n, n);
}

static void matmul_is_tiled_as_ansor_does(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s =
		sketches_of(dag_text(&f->a, MATMUL(512, 512, 512)), &f->cuda, &f->a);

	assert_int_equal(s.n, 1);
	check_stages(s.sketch[0].state, "A A.shared B B.shared C.local C");
	check_steps(s.sketch[0].state,
		    "[[\"CHW\", 2, \"local\"], "
		    "[\"SP\", 2, 0, 512, [null, null, null, null], 1], "
		    "[\"SP\", 2, 5, 512, [null, null, null, null], 1], "
		    "[\"SP\", 2, 10, 512, [null, null], 1], "
		    "[\"RE\", 2, [0, 5, 1, 6, 2, 7, 10, 11, 3, 8, 12, 4, 9]], "
		    "[\"FSP\", 3, 0, 1, 3], [\"FSP\", 3, 4, 2, 3], "
		    "[\"RE\", 3, [0, 4, 1, 5, 2, 6, 3, 7]], [\"CA\", 2, 3, 5], "
		    "[\"CHR\", 1, \"shared\", [2]], [\"CA\", 2, 3, 6], "
		    "[\"CHR\", 0, \"shared\", [3]], [\"CA\", 1, 4, 6]]");
}

static void reductions_are_shared_out_past_a_warp(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *dag;
		const char *rules[5];
	} want[] = {
		{ MATMUL(8, 8, 1024), { "cross_thread_reduction", TILED } },
		{ MATMUL(8, 8, 65), { "cross_thread_reduction", TILED } },
		{ MATMUL(8, 8, 64), { TILED } }, /* as many results as terms */
		{ MATMUL(32, 32, 1025), { "cross_thread_reduction", TILED } },
		{ MATMUL(25, 41, 2048), { TILED } }, /* 1025 results fill a block */
		{ "t(float32 A[10,33]) -> B { B(i) min=! A(i,k) }",
		  { "cross_thread_reduction", "" } },
		{ "t(float32 A[10,32]) -> B { B(i) min=! A(i,k) }", { "" } },
		{ "t(float32 A[3,11,2]) -> B { B(i) min=! A(i,k,r) }",
		  { "" } }, /* 22 terms */
		{ "t(float32 A[3,17,2]) -> B { B(i) min=! A(i,k,r) }",
		  { "cross_thread_reduction", "" } },
		{ "t(float32 A[128]) -> B { B +=! A(k) }",
		  { "cross_thread_reduction", "" } },
		/* each thread would have a part of the sum, in an order of its own */
		{ "t(float32 A[128]) -> B { @bitwise B +=! A(k) }", { "" } },
		{ "t(float32 A[64,64]) -> B { B(i,j) = exp(A(j,i)) }", { "" } },
		{ "t(float32 A[1,1], B[1,1]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  { "" } },
	};

	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		check_rules(f, dag_text(&f->a, want[i].dag), &f->cuda, want[i].rules);
	}
}

static void a_reader_is_split_for_the_reduction(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s = sketches_of(
		dag_text(&f->a, "t(float32 A[1,2048], B[10,2048], b[10]) -> D {"
				" C(i,j) +=! A(i,k) * B(j,k)"
				" D(i,j) = C(i,j) + b(j) }"),
		&f->cuda, &f->a);

	assert_int_equal(s.n, 2);
	check_steps(s.sketch[0].state,
		    "[[\"SP\", 4, 1, 10, [32], 1], [\"AN\", 4, 2, 6], "
		    "[\"FSP\", 3, 2, 0, 1], [\"AN\", 3, 3, 6], [\"CA\", 3, 4, 1]]");
	assert_string_equal(s.sketch[1].rules, FUSED);
}

static void several_reduction_axes_are_fused_first(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s = sketches_of(
		dag_text(&f->a, "t(float32 A[1,7,7,2048]) -> D {"
				" S(n,c) +=! A(n,y,x,c) D(n,c) = S(n,c) / 49 }"),
		&f->cuda, &f->a);

	assert_int_equal(s.n, 2);
	check_steps(s.sketch[0].state,
		    "[[\"FU\", 1, [2, 3]], [\"SP\", 2, 1, 2048, [32], 1], "
		    "[\"AN\", 2, 2, 6], [\"FSP\", 1, 2, 1, 1], [\"AN\", 1, 3, 6], "
		    "[\"CA\", 1, 2, 1]]");
}

/* Softmax: two reductions, the first of which has two readers with one root. */
static void readers_with_one_root_share_a_kernel(void **state)
{
	struct fixture *f = *state;
	static const char *const want[] = {
		"cross_thread_reduction,always_inline,cross_thread_reduction",
		"cross_thread_reduction,always_inline",
		"always_inline,cross_thread_reduction", "always_inline", NULL
	};
	const struct hn_dag *dag =
		dag_text(&f->a, "t(float32 A[2,1024]) -> N { M(i) max=! A(i,k)"
				" E(i,j) = exp(A(i,j) - M(i)) S(i) +=! E(i,k)"
				" N(i,j) = E(i,j) / S(i) }");

	check_rules(f, dag, &f->cuda, want);
	check_steps(sketches_of(dag, &f->cuda, &f->a).sketch[0].state,
		    "[[\"SP\", 4, 1, 1024, [32], 1], [\"AN\", 4, 2, 6], "
		    "[\"FSP\", 3, 1, 0, 1], [\"AN\", 3, 2, 6], [\"CA\", 3, 4, 0], "
		    "[\"CI\", 2], [\"FSP\", 1, 1, 0, 1], [\"AN\", 1, 2, 6], "
		    "[\"CA\", 1, 4, 0]]");
}

/* A reader that reduces and is not split has no threads to follow. */
static void a_reader_that_cannot_be_followed_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s =
		sketches_of(dag_text(&f->a, "t(float32 X[8,16,512]) -> Q {"
					    " R(i,j) +=! X(i,j,k) Q(i) +=! R(i,k) }"),
			    &f->cuda, &f->a);

	assert_int_equal(s.n, 2);
	check_steps(s.sketch[0].state,
		    "[[\"SP\", 1, 2, 512, [32], 1], [\"AN\", 1, 3, 6]]");
}

/* Two dense layers of one row: neither may be computed in the other's tiles. */
static void a_reader_with_tiles_of_its_own_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s = sketches_of(
		dag_text(&f->a, "t(float32 A[1,2048], B[512,2048], W[100,512]) -> D {"
				" C(i,j) +=! A(i,k) * B(j,k)"
				" D(i,j) +=! C(i,k) * W(j,k) }"),
		&f->cuda, &f->a);

	check_steps(s.sketch[0].state,
		    "[[\"SP\", 4, 2, 512, [32], 1], [\"AN\", 4, 3, 6], "
		    "[\"SP\", 3, 2, 2048, [32], 1], [\"AN\", 3, 3, 6]]");
}

static void each_tiled_reader_gets_a_copy(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s = sketches_of(
		dag_text(&f->a, "t(float32 A[128,128], B[128,128], C[128,128]) -> F, G {"
				" D(i,j) +=! A(i,k) * B(k,j)"
				" E(i,j) +=! A(i,k) * C(k,j)"
				" F(i,j) = max(D(i,j), 0) G(i,j) = max(E(i,j), 0) }"),
		&f->cuda, &f->a);

	assert_int_equal(s.n, 1);
	check_stages(s.sketch[0].state,
		     "A A.d.shared A.shared B B.shared C C.shared D E F G");
}

/* TVM stops the program where a tiled stage's source also has a reader that does not
 * reduce; that reader goes on reading the source. */
static void a_reader_without_reduction_reads_the_source(void **state)
{
	struct fixture *f = *state;
	struct hn_sketches s =
		sketches_of(dag_text(&f->a, "t(float32 A[64,64], B[64,64]) -> D {"
					    " C(i,j) +=! A(i,k) * B(k,j)"
					    " D(i,j) = C(i,j) + A(i,j) }"),
			    &f->cuda, &f->a);

	assert_int_equal(s.n, 1);
	assert_string_equal(s.sketch[0].rules, FUSED);
	check_stages(s.sketch[0].state, "A A.shared B B.shared C D");
	assert_int_equal(s.sketch[0].state->access->op[0].n_consumer, 2);
}

static void what_is_padded_for_a_tile_is_read_through_its_copy(void **state)
{
	struct fixture *f = *state;
	static const char *const want[] = {
		"tile_fuse,add_cache_read,always_inline,add_cache_read", NULL
	};

	check_rules(f,
		    dag_text(&f->a, "t(float32 X[14,14,16], W[3,3,16,32], b[32]) -> Y {"
				    " P(h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15"
				    " ? X(h-1,w-1,c) : 0 where h in 0:16, w in 0:16"
				    " C(h,w,f) +=! P(h+r,w+s,c) * W(r,s,c,f)"
				    " Y(h,w,f) = max(C(h,w,f) + b(f), 0) }"),
		    &f->cuda, want);
}

/* Two consumers: no epilogue can be followed, so the stage writes to local memory. */
static void two_readers_need_a_cache(void **state)
{
	struct fixture *f = *state;
	static const char *const gpu[] = { TILED, NULL };
	static const char *const cpu[] = { "tile", "add_cache_write,tile_fuse",
					   "add_cache_write,tile_fuse", NULL };
	const struct hn_dag *dag =
		dag_text(&f->a, "t(float32 A[64,64], B[64,64]) -> D, E {"
				" C(i,j) +=! A(i,k) * B(k,j)"
				" D(i,j) = max(C(i,j), 0) E(i,j) = C(i,j) * 2 }");

	check_rules(f, dag, &f->cuda, gpu);
	check_rules(f, dag, &f->cpu, cpu);
}

static void axes_not_to_split_stay_whole(void **state)
{
	struct fixture *f = *state;
	static const char *const axis[] = { "i" };
	const struct hn_dag *dag =
		dag_text(&f->a, "t(float32 A[4,512,64], B[4,64,512]) -> D {"
				" C(b,i,j) +=! A(b,i,k) * B(b,k,j)"
				" D(b,i,j) = max(C(b,i,j), 0) }");

	dag = dag_hint(&f->a, dag, "C", NO_SPLIT, axis, 1);
	dag = dag_hint(&f->a, dag, "D", NO_SPLIT, axis, 1);
	/* Innermost level: first of all where tiled, in axis order where followed. */
	check_steps(sketches_of(dag, &f->cpu, &f->a).sketch[0].state,
		    "[[\"SP\", 2, 0, 4, [null, null, null], 1], "
		    "[\"SP\", 2, 5, 512, [null, null, null], 1], "
		    "[\"SP\", 2, 9, 64, [null], 1], "
		    "[\"RE\", 2, [0, 5, 1, 6, 9, 2, 7, 10, 4, 3, 8]], "
		    "[\"FSP\", 3, 0, 0, 1], [\"FSP\", 3, 3, 1, 1], "
		    "[\"RE\", 3, [0, 3, 1, 2, 4]], [\"CA\", 2, 3, 1]]");
	struct hn_sketches s = sketches_of(dag, &f->cuda, &f->a);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.sketch[0].rules, FUSED);
}

/* A cache's axes are "i_c": the hint on i is not about them, nor about the copy out. */
static void hints_do_not_reach_copies(void **state)
{
	struct fixture *f = *state;
	static const char *const spatial[] = { "i" };
	const struct hn_dag *dag = dag_text(&f->a, MATMUL(64, 64, 64));
	struct hn_sketches plain = sketches_of(dag, &f->cuda, &f->a);
	struct hn_buf text;

	hn_buf_init(&text);
	hn_state_print(plain.sketch[0].state, true, &text);
	dag = dag_hint(&f->a, dag, "C", NO_SPLIT, spatial, 1);
	check_text(sketches_of(dag, &f->cuda, &f->a).sketch[0].state, text.s);
	hn_buf_fini(&text);
}

/* The copy stands where all reduction axes that are split have begun. */
static void copies_stand_behind_the_split_reductions(void **state)
{
	struct fixture *f = *state;
	static const char *const one[] = { "r" }, *const both[] = { "r", "k" };
	static const char *const conv =
		"t(float32 X[34,64], W[3,64,32]) -> Y"
		" { Y(i,j) +=! X(i+r,k) * W(r,k,j) where i in 0:32 }";
	const struct hn_dag *dag = dag_text(&f->a, conv);
	struct hn_sketches s = sketches_of(dag, &f->cuda, &f->a);
	const struct hn_stage *copy = s.sketch[0].state->stage[1];

	/* Y.local: i_c.0 j_c.0 i_c.1 j_c.1 i_c.2 j_c.2 r.0 k.0 ... */
	assert_int_equal(copy->at_iter, 7);
	dag = dag_hint(&f->a, dag, "Y", NO_SPLIT, one, 1);
	s = sketches_of(dag, &f->cuda, &f->a);
	copy = s.sketch[0].state->stage[1];
	/* ... k.0 k.1 i_c.3 j_c.3 r k.2 i_c.4 j_c.4 */
	assert_int_equal(copy->at_iter, 6);
	assert_string_equal(s.sketch[0].state->stage[copy->at_stage]->iter[6].name,
			    "k.0");
	dag = dag_hint(&f->a, dag, "Y", NO_SPLIT, both, 2);
	s = sketches_of(dag, &f->cuda, &f->a);
	copy = s.sketch[0].state->stage[1];
	assert_string_equal(
		s.sketch[0].state->stage[copy->at_stage]->iter[copy->at_iter].name, "r");
}

/* As in Winograd: padding feeds a transform by constants, which feeds products. */
static void a_stage_before_a_constant_transform_is_computed_in_it(void **state)
{
	struct fixture *f = *state;
	static const char *const axis[] = { "e", "r" };
	const struct hn_dag *dag =
		dag_text(&f->a, "t(float32 X[4,49], M[4,6]) -> T {"
				" P(r,p) = p < 49 ? X(r,p) : 0 where p in 0:52"
				" T(e,p) +=! P(r,p) * M(r,e) }");

	dag = dag_hint(&f->a, dag, "T", CONST_TENSOR, axis, 2);
	check_text(sketches_of(dag, &f->cuda, &f->a).sketch[0].state,
		   "Placeholder: X, M\n"
		   "for p.0 (None)\n"
		   "  for p.1 (None)\n"
		   "    for r (None)\n"
		   "      for p (None)\n"
		   "        P = ...\n"
		   "    unroll e (0,6)\n"
		   "      unroll r (0,4)\n"
		   "        T = ...\n");
	static const char *const cpu[] = { "simplify_const_tensor", NULL };
	check_rules(f, dag, &f->cpu, cpu);
}

/* Threads, but no memory that a block shares: the rules of a CPU, the tiles of a GPU. */
static void bits_select_the_recipe(void **state)
{
	struct fixture *f = *state;
	const struct hn_dag *dag = dag_text(&f->a, MATMUL(8, 8, 512));
	struct hn_target t = f->cuda;
	static const char *const plain[] = { "add_rfactor", "add_rfactor",
					     "add_cache_write,tile_fuse", NULL };

	t.kind = "some_gpu";
	t.isa = "some_gpu";
	static const char *const gpu[] = { "cross_thread_reduction", TILED, NULL };
	check_rules(f, dag, &t, gpu);
	t.caps &= ~(uint32_t)HN_CAP_SHARED;
	t.param[HN_PARAM_NUM_CORES] = 4;
	check_rules(f, dag, &t, plain);
	struct hn_sketches s = sketches_of(dag, &t, &f->a);
	assert_int_equal(s.sketch[2].hole[0].n_len, 4);
}

/* Limits are the target's parameters. */
static void parameters_set_the_limits(void **state)
{
	struct fixture *f = *state;
	const struct hn_dag *dag =
		dag_text(&f->a, "t(float32 A[10,64]) -> B { B(i) min=! A(i,k) }");
	struct hn_target t = f->cuda;

	assert_int_equal(sketches_of(dag, &t, &f->a).n, 2);
	t.param[HN_PARAM_WARP_SIZE] = 64;
	assert_int_equal(sketches_of(dag, &t, &f->a).n, 1);
	t.param[HN_PARAM_WARP_SIZE] = 32;
	t.param[HN_PARAM_MAX_THREADS_PER_BLOCK] = 63;
	dag = dag_text(&f->a, MATMUL(8, 8, 1024));
	assert_int_equal(sketches_of(dag, &t, &f->a).n, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(matmul_is_tiled_as_ansor_does),
		TEST(reductions_are_shared_out_past_a_warp),
		TEST(a_reader_is_split_for_the_reduction),
		TEST(several_reduction_axes_are_fused_first),
		TEST(readers_with_one_root_share_a_kernel),
		TEST(a_reader_that_cannot_be_followed_is_left_alone),
		TEST(a_reader_with_tiles_of_its_own_is_left_alone),
		TEST(each_tiled_reader_gets_a_copy),
		TEST(a_reader_without_reduction_reads_the_source),
		TEST(what_is_padded_for_a_tile_is_read_through_its_copy),
		TEST(two_readers_need_a_cache),
		TEST(axes_not_to_split_stay_whole),
		TEST(hints_do_not_reach_copies),
		TEST(copies_stand_behind_the_split_reductions),
		TEST(a_stage_before_a_constant_transform_is_computed_in_it),
		TEST(bits_select_the_recipe),
		TEST(parameters_set_the_limits),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
