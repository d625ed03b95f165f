/* Histories as Python schedule calls: every step by hand, and all stored records against
 * what TVM prints (skipped without a folder of cases). */
#include "loopstate/state/te_text.h"

#include "loopstate/read/dag_read.h"
#include "tests/lib/state_util.h"

static void put_te(const struct hn_dag *dag, const char *steps, enum hn_replay_mode mode,
		   struct hn_arena *a, struct hn_buf *buf)
{
	struct hn_state start = *hn_state_init(dag, a);
	struct hn_err err = { 0 };

	start.mode = (uint8_t)mode;
	if (hn_te_print(&start, trace_of_text(steps, a), a, buf, &err) != 0) {
		fail_msg("%s: %s", steps, err.msg);
	}
}

static void assert_te(const struct hn_dag *dag, const char *steps, const char *want,
		      struct hn_arena *a)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	put_te(dag, steps, HN_REPLAY_RIGHT, a, &buf);
	assert_string_equal(buf.s, want);
	hn_buf_fini(&buf);
}

#define MATMUL                                                                           \
	"C_i, C_j, C_k = tuple(C.op.axis) + tuple(C.op.reduce_axis)\n"                   \
	"D_i, D_j = tuple(D.op.axis) + tuple(D.op.reduce_axis)\n"

static void loops(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(512, 512, 512, &a);

	assert_te(dag, "[]", MATMUL, &a);
	assert_te(dag, "[[\"SP\", 2, 0, 512, [4, 2], 1], [\"SP\", 2, 3, 512, [8, 4], 0]]",
		  MATMUL "C_i_o_i, C_i_i = s[C].split(C_i, factor=2)\n"
			 "C_i_o_o, C_i_o_i = s[C].split(C_i_o_i, factor=4)\n"
			 "C_j_o, C_j_i_o = s[C].split(C_j, nparts=8)\n"
			 "C_j_i_o, C_j_i_i = s[C].split(C_j_i_o, nparts=4)\n",
		  &a);
	assert_te(dag,
		  "[[\"SP\", 2, 0, 512, [4, 2], 1], [\"FSP\", 3, 0, 0, 1], "
		  "[\"SP\", 2, 3, 512, [8, 4], 1], [\"FU\", 3, [0, 1, 2]], "
		  "[\"FFSP\", 3, 0, [0, 2], 1, 0], [\"RE\", 3, [1, 0]], "
		  "[\"SA\", 2, 1, 8, 4]]",
		  MATMUL
		  "C_i_o_i, C_i_i = s[C].split(C_i, factor=2)\n"
		  "C_i_o_o, C_i_o_i = s[C].split(C_i_o_i, factor=4)\n"
		  "D_i_o, D_i_i = s[D].split(D_i, factor=8)\n"
		  "C_j_o_i, C_j_i = s[C].split(C_j, factor=4)\n"
		  "C_j_o_o, C_j_o_i = s[C].split(C_j_o_i, factor=8)\n"
		  "D_i_o_i_i_fused_j_fused = s[D].fuse(D_i_o, D_i_i, D_j)\n"
		  "D_i_o_i_i_fused_j_fused_o, D_i_o_i_i_fused_j_fused_i = "
		  "s[D].split(D_i_o_i_i_fused_j_fused, nparts=8)\n"
		  "s[D].reorder(D_i_o_i_i_fused_j_fused_i, D_i_o_i_i_fused_j_fused_o)\n"
		  "s[C].storage_align(C_i_o_i, 8, 4)\n",
		  &a);
	assert_te(dag,
		  "[[\"AN\", 2, 2, 1], [\"AN\", 2, 1, 2], [\"AN\", 2, 0, 3], "
		  "[\"AN\", 3, 0, 4], [\"AN\", 3, 1, 10], "
		  "[\"PR\", 3, 0, \"auto_unroll_max_step$16\"]]",
		  MATMUL "s[C].unroll(C_k)\n"
			 "s[C].vectorize(C_j)\n"
			 "s[C].parallel(C_i)\n"
			 "s[D].bind(D_i, te.thread_axis(\"vthread\"))\n"
			 "s[D].bind(D_j, te.thread_axis(\"threadIdx.z\"))\n"
			 "s[D].pragma(D_i, \"auto_unroll_max_step\", 16)\n"
			 "s[D].pragma(D_i, \"unroll_explicit\", True)\n",
		  &a);
	hn_arena_fini(&a);
}

static void stages(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(64, 64, 64, &a);

	assert_te(dag,
		  "[[\"CHW\", 2, \"local\"], [\"CA\", 2, 3, 1], [\"CR\", 3], "
		  "[\"CHR\", 0, \"shared\", [2]], [\"CHR\", 0, \"shared\", [1]], "
		  "[\"CI\", 1]]",
		  MATMUL "C_local, = s.cache_write([C], \"local\")\n"
			 "C_local_i_c, C_local_j_c, C_local_k = tuple(C_local.op.axis) + "
			 "tuple(C_local.op.reduce_axis)\n"
			 "s[C_local].compute_at(s[C], C_j)\n"
			 "s[C].compute_root()\n"
			 "A_shared = s.cache_read(A, \"shared\", [C_local])\n"
			 "A_shared_ax0, A_shared_ax1 = tuple(A_shared.op.axis)\n"
			 "A_d_shared = s.cache_read(A, \"shared\", [A_shared])\n"
			 "A_d_shared_ax0, A_d_shared_ax1 = tuple(A_d_shared.op.axis)\n"
			 "s[A_d_shared].compute_inline()\n",
		  &a);
	assert_te(row_sum(8, 4, 6, &a),
		  "[[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 24, [3], 1], [\"RF\", 1, 2, 1]]",
		  "B_i, B_p, B_q = tuple(B.op.axis) + tuple(B.op.reduce_axis)\n"
		  "B_p_q_fused = s[B].fuse(B_p, B_q)\n"
		  "B_p_q_fused_o, B_p_q_fused_i = s[B].split(B_p_q_fused, factor=3)\n"
		  "B_rf = s.rfactor(B, p_q_fused_i, 1)\n"
		  "B_rf_i, B_rf_p_q_fused_i, B_rf_p_q_fused_o = tuple(B_rf.op.axis) + "
		  "tuple(B_rf.op.reduce_axis)\n"
		  "B_repl_ax0, B_repl_p_q_fused_i_v = tuple(s[B_repl].op.axis) + "
		  "tuple(s[B_repl].op.reduce_axis)\n",
		  &a);
	assert_te(rank0_sum(128, &a), "[[\"FU\", 1, []], [\"AN\", 1, 0, 6]]",
		  "B_k = tuple(B.op.axis) + tuple(B.op.reduce_axis)\n"
		  "B_singleton = s[B].fuse()\n"
		  "s[B].bind(B_singleton, te.thread_axis(\"threadIdx.x\"))\n",
		  &a);
	hn_arena_fini(&a);
}

/* As TVM v0.18 prints it: a stage is factored by the name of its first tensor. */
static void factored_again(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_te(row_sum(8, 4, 6, &a),
		  "[[\"SP\", 1, 1, 4, [4], 1], [\"RF\", 1, 2, 1], "
		  "[\"SP\", 2, 1, 4, [2], 1], [\"RF\", 2, 2, 1], "
		  "[\"SP\", 2, 2, 2, [1], 1], [\"RF\", 2, 2, 0]]",
		  "B_i, B_p, B_q = tuple(B.op.axis) + tuple(B.op.reduce_axis)\n"
		  "B_p_o, B_p_i = s[B].split(B_p, factor=4)\n"
		  "B_rf = s.rfactor(B, p_i, 1)\n"
		  "B_rf_i, B_rf_p_i, B_rf_q, B_rf_p_o = tuple(B_rf.op.axis) + "
		  "tuple(B_rf.op.reduce_axis)\n"
		  "B_repl_ax0, B_repl_p_i_v = tuple(s[B_repl].op.axis) + "
		  "tuple(s[B_repl].op.reduce_axis)\n"
		  "B_repl_p_i_v_o, B_repl_p_i_v_i = "
		  "s[B_repl].split(B_repl_p_i_v, factor=2)\n"
		  "B_repl_rf = s.rfactor(B, p_i_v_i, 1)\n"
		  "B_repl_rf_ax0, B_repl_rf_p_i_v_i, B_repl_rf_p_i_v_o = "
		  "tuple(B_repl_rf.op.axis) + tuple(B_repl_rf.op.reduce_axis)\n"
		  "B_repl_repl_ax0, B_repl_repl_p_i_v_i_v = "
		  "tuple(s[B_repl_repl].op.axis) + "
		  "tuple(s[B_repl_repl].op.reduce_axis)\n"
		  "B_repl_rf_p_i_v_o_o, B_repl_rf_p_i_v_o_i = "
		  "s[B_repl_rf].split(B_repl_rf_p_i_v_o, factor=1)\n"
		  "B_repl_rf_rf = s.rfactor(B_repl_rf, p_i_v_o_o, 0)\n"
		  "B_repl_rf_rf_p_i_v_o_o, B_repl_rf_rf_ax0, "
		  "B_repl_rf_rf_p_i_v_i, B_repl_rf_rf_p_i_v_o_i = "
		  "tuple(B_repl_rf_rf.op.axis) + tuple(B_repl_rf_rf.op.reduce_axis)\n"
		  "B_repl_rf_repl_ax0, B_repl_rf_repl_ax1, "
		  "B_repl_rf_repl_p_i_v_o_o_v = tuple(s[B_repl_rf_repl].op.axis) "
		  "+ tuple(s[B_repl_rf_repl].op.reduce_axis)\n",
		  &a);
	hn_arena_fini(&a);
}

/* Fusing what was fused, and splitting it again, doubles names: refused, not suffered. */
static void names_do_not_explode(void **state)
{
	struct hn_err err = { 0 };
	struct hn_buf steps, buf;
	struct hn_arena a;
	int rc;

	(void)state;
	hn_arena_init(&a, (size_t)256 << 20);
	hn_buf_init(&steps);
	hn_buf_init(&buf);
	const struct hn_dag *dag = matmul_relu(8, 8, 8, &a);

	hn_buf_puts(&steps, "[[\"CR\", 3]");
	for (int i = 0; i < 4000; i++) {
		hn_buf_puts(&steps, i % 2 == 0 ? ", [\"FU\", 3, [0, 1]]"
					       : ", [\"SP\", 3, 0, 64, [2], 1]");
	}
	hn_buf_puts(&steps, "]");
	rc = hn_te_print(hn_state_init(dag, &a), trace_of_text(steps.s, &a), &a, &buf,
			 &err);
	assert_true(rc == -HONE_E_QUOTA || rc == -HONE_E_INVALID);
	assert_true(buf.n < 2 * HN_TE_MAX_BYTES);
	hn_buf_fini(&buf);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
}

static void a_bad_step_is_named(void **state)
{
	struct hn_err err = { 0 };
	struct hn_buf buf;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&buf);
	const struct hn_dag *dag = matmul_relu(8, 8, 8, &a);
	const struct hn_trace *t = trace_of_text("[[\"CR\", 3], [\"AN\", 3, 7, 3]]", &a);

	assert_int_equal(hn_te_print(hn_state_init(dag, &a), t, &a, &buf, &err),
			 -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "step 1: AN stage 3 (D) iter 7"));
	hn_buf_fini(&buf);
	hn_arena_fini(&a);
}

struct count {
	unsigned n, bad;
};

static void compare(const char *name, const struct hn_dag *dag,
		    const struct hn_json *entry, struct count *count, struct hn_arena *a)
{
	const char *line = hn_json_string(hn_json_get(entry, "record"));
	const char *want = hn_json_string(hn_json_get(entry, "python"));
	struct hn_err err = { 0 };
	struct hn_json *json;
	const struct hn_trace *trace;
	struct hn_state start = *hn_state_init(dag, a);
	struct hn_buf buf;

	hn_buf_init(&buf);
	if (hn_json_parse(name, line, strlen(line), NULL, &json, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	const struct hn_json *task = hn_json_first(hn_json_get(json, "i"));
	const struct hn_json *steps = hn_json_next(hn_json_first(hn_json_next(task)));

	start.mode = HN_REPLAY_ANSOR;
	if (hn_trace_from_json(name, steps, a, &trace, &err) != 0 ||
	    hn_te_print(&start, trace, a, &buf, &err) != 0) {
		fail_msg("%s: %s", name, err.msg);
	}
	count->n++;
	if (strcmp(buf.s, want) != 0 && count->bad++ == 0) {
		print_message("%s:\n%s--- want\n%s", name, buf.s, want);
	}
	hn_json_free(json);
	hn_buf_fini(&buf);
}

static void compare_case(const char *name, void *ctx)
{
	static const char *const file[] = { "llvm.json", "cuda.json" };
	struct hn_json *dag_json = case_json(name, "dag.json");
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_from_json(name, dag_json, 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	for (size_t i = 0; i < HN_COUNT_OF(file); i++) {
		struct hn_json *json = case_json(name, file[i]);
		const struct hn_json *e = hn_json_first(hn_json_get(json, "states"));

		for (; e != NULL; e = hn_json_next(e)) {
			compare(name, dag, e, ctx, &a);
		}
		hn_json_free(json);
	}
	hn_json_free(dag_json);
	hn_arena_fini(&a);
}

static void stored_records(void **state)
{
	struct count count = { 0 };

	(void)state;
	need_cases();
	for_each_case(compare_case, &count);
	print_message("%u records\n", count.n);
	assert_true(count.n > 0);
	assert_int_equal(count.bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops),
		cmocka_unit_test(stages),
		cmocka_unit_test(factored_again),
		cmocka_unit_test(names_do_not_explode),
		cmocka_unit_test(a_bad_step_is_named),
		cmocka_unit_test(stored_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
