/* Sums given to instructions on tiles (step TE): the interpreter's bits, of all sizes that divide
 * and that do not, under random histories; with the instructions done by a model of them in C
 * (tests/lib/amx_model.h), and what code they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/syscall.h>

#include "loopstate/state/intrin.h"
#include "tests/lib/amx_model.h"
#include "tests/lib/lower_forms.h"

/* A sum: its instruction; the operand that is packed in groups of 4, in which blocks; which of its
 * axes are rows, columns and terms. */
struct row {
	const char *intrin, *text;
	int32_t operand;
	int64_t len[4];
	uint32_t axis[3];
};

#define BYTES                                                                            \
	1, { 4, 1 },                                                                     \
	{                                                                                \
		0, 1, 2                                                                  \
	}
#define HALVES                                                                           \
	1, { 2, 1 },                                                                     \
	{                                                                                \
		0, 1, 2                                                                  \
	}

static const struct row rows[] = {
	{ "tdpbusd",
	  "f(uint8 A[32,128], int8 B[128,64]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  BYTES },
	{ "tdpbsud",
	  "f(int8 A[37,61], uint8 B[61,70]) -> C"
	  " { C(i,j) +=! int32(B(k,j)) * int32(A(i,k)) }",
	  BYTES },
	{ "tdpbssd",
	  "f(int8 A[17,259], int8 B[259,33]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  BYTES },
	{ "tdpbuud",
	  "f(uint8 A[5,130], uint8 B[130,19]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  BYTES },
	{ "tdpbf16ps",
	  "f(bfloat16 A[40,64], B[64,48]) -> C"
	  " { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	  HALVES },
	{ "tdpbf16ps",
	  "f(bfloat16 A[33,67], B[67,35]) -> C {\n"
	  "  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n"
	  "  C(i,j) = bfloat16(max(S(i,j), 0)) }",
	  HALVES },
	{ "tdpbusd", /* requantization behind the sum */
	  "f(uint8 A[21,96], int8 B[96,40], int32 z[40], float32 s[40]) -> Y {\n"
	  "  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	  "  Y(i,j) = int8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, -128), "
	  "127)) }",
	  BYTES },
	{ "tdpbusd", /* the weights' other order */
	  "f(uint8 A[18,72], int8 B[33,72]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
	  1,
	  { 16, 4 },
	  { 0, 1, 2 } },
	{ "tdpbssd", /* a window: three reductions, and rows that lie apart */
	  "f(int8 X[9,11,24], int8 W[3,3,24,20]) -> C"
	  " { C(y,x,f) +=! int32(X(y+r,x+s,c)) * int32(W(r,s,c,f)) }",
	  1,
	  { 1, 1, 4, 1 },
	  { 1, 2, 5 } },
	{ "tdpbusd", /* what lies as no tile does: rows side by side */
	  "f(uint8 A[64,9], int8 B[64,20]) -> C"
	  " { C(i,j) +=! int32(A(k,i)) * int32(B(k,j)) }",
	  BYTES },
};

static int32_t sum_of(const struct hn_state *s, const struct hn_intrin *in)
{
	const struct hn_expr *factor[2];

	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->dag->op[i]->kind == HN_OP_COMPUTE &&
		    hn_intrin_factors(in, s->dag->op[i], factor)) {
			return (int32_t)i;
		}
	}
	return -1;
}

static void pack_operand(struct draw *d, const struct row *row)
{
	const struct hn_state *next;
	struct hn_step step = { .kind = HN_STEP_pack,
				.stage = row->operand,
				.n_list = d->s->dag->op[row->operand]->n_dim,
				.list = row->len };

	keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
}

/* Its rows are in pieces, which no tile reads. */
static void swizzle_operand(struct draw *d, const struct row *row)
{
	const struct hn_state *next;
	struct hn_step step = { .kind = HN_STEP_swizzle, .stage = row->operand + 1 };

	step.a[HN_SW_BITS] = 1 + (int32_t)draw(d, 2);
	keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
}

/* Results stay in registers. */
static void hold(struct draw *d, int32_t stage)
{
	struct hn_step step = { .kind = HN_STEP_fragment,
				.stage = stage,
				.text = "tile" };
	const struct hn_state *next;

	keep(d, hn_state_apply(d->s, &step, d->a, &next, NULL), &next);
}

/* Where the parts of the axes are after the splits. */
struct parts {
	uint32_t n_axis, first[HN_DAG_MAX_ITERS], n[HN_DAG_MAX_ITERS];
};

/* Rows and columns are cut twice, terms three times. */
static struct parts split_axes(struct draw *d, const struct row *row, int32_t stage)
{
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	struct parts p = { .n_axis = d->s->stage[stage]->n_iter };
	uint32_t at = 0;

	for (uint32_t i = 0; i < p.n_axis; i++) {
		int64_t len[3] = { 1 + draw(d, 4), draw(d, 2) ? 16 : 1 + draw(d, 16), 0 };

		p.first[i] = at;
		p.n[i] = 1;
		for (uint32_t k = 0; k < 3; k++) {
			if (row->axis[k] == i) {
				p.n[i] = k < 2 ? 3 : 4;
				len[2] = hn_intrin_terms(in);
				assert_int_equal(hn_split(d->s, stage, (int32_t)at, len,
							  p.n[i] - 1, true, d->a, &d->s,
							  NULL),
						 0);
			}
		}
		at += p.n[i];
	}
	return p;
}

static void shuffle(struct draw *d, int64_t *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)draw(d, i);
		int64_t t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

/* The tile's loops innermost, the block's around them in the reduction, everything else at
 * random; seldom all of it. */
static void order_loops(struct draw *d, const struct row *row, int32_t stage,
			const struct parts *p, bool tidy)
{
	int64_t order[64];
	const uint32_t *x = row->axis;
	const struct hn_state *next;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_axis; i++) {
		order[n++] = p->first[i];
	}
	shuffle(d, order, n);
	order[n++] = p->first[x[2]] + 1;
	order[n++] = p->first[x[0]] + 1;
	order[n++] = p->first[x[1]] + 1;
	if (!tidy && draw(d, 2)) {
		shuffle(d, order, n);
	}
	order[n++] = p->first[x[0]] + 2;
	order[n++] = p->first[x[1]] + 2;
	order[n++] = p->first[x[2]] + 2;
	order[n++] = p->first[x[2]] + 3;
	shuffle(d, order + n - 4, 4);
	if (!tidy && draw(d, 8) == 0) {
		shuffle(d, order, n);
	}
	keep(d, hn_reorder(d->s, stage, order, n, d->a, &next, NULL), &next);
}

static const struct hn_state *history(const struct hn_dag *dag, const struct row *row,
				      uint64_t seed, struct hn_arena *a)
{
	struct draw d = { hn_state_init(dag, a), hn_rng_stream(seed, 7, 1, 0), a };
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	const struct hn_state *next;
	bool tidy = draw(&d, 2);
	int32_t reader;

	if (tidy || draw(&d, 4) > 0) {
		pack_operand(&d, row);
		if (draw(&d, 4) == 0) {
			swizzle_operand(&d, row);
		}
	}
	if (draw(&d, 3) == 0) {
		keep(&d, hn_cache_write(d.s, sum_of(d.s, in), "local", a, &next, NULL),
		     &next);
	}
	int32_t stage = sum_of(d.s, in);

	assert_true(stage >= 0);
	struct parts p = split_axes(&d, row, stage);
	const uint32_t *x = row->axis;
	int64_t loop[4] = { p.first[x[0]] + 2, p.first[x[1]] + 2, p.first[x[2]] + 2,
			    p.first[x[2]] + 3 };
	struct hn_step give = { .kind = HN_STEP_tensorize,
				.stage = stage,
				.n_list = 4,
				.list = loop,
				.text = in->name };

	assert_int_equal(hn_state_apply(d.s, &give, a, &d.s, NULL), 0);
	if (tidy || draw(&d, 4) > 0) {
		hold(&d, stage);
	}
	order_loops(&d, row, stage, &p, tidy);
	if (hn_state_consumers(d.s, stage, &reader, 1) == 1) {
		split_all(&d, reader);
		if (draw(&d, 3)) {
			int32_t at = (int32_t)draw(&d, d.s->stage[reader]->n_iter);

			keep(&d, hn_compute_at(d.s, stage, reader, at, a, &next, NULL),
			     &next);
		}
		annotate_loops(&d, reader);
	}
	if (draw(&d, 2)) {
		keep(&d, hn_annotate(d.s, stage, 0, HN_ANN_PARALLEL, a, &next, NULL),
		     &next);
	}
	return d.s;
}

#define N_HISTORY 20

static void check_row(struct fixture *f, const struct row *row, uint32_t *n,
		      uint32_t *n_tiled)
{
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	struct hn_quick *quick = hn_quick_new();
	struct run_args want;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(row->text, &a);

	form_answer(dag, &want);
	for (uint64_t i = 0; i < N_HISTORY; i++) {
		const struct hn_state *s = history(dag, row, i, &a);
		const struct hn_looptree *t;
		struct hn_err err;
		struct history h = { row->text, dag,
				     s->trace,	i,
				     &want,	in->sum == HN_I32 ? 0 : tolerance_of(dag),
				     &a };

		assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
		if (hn_quick_legal(quick, t, NULL)) {
			amx.n_sum = 0;
			check_form_one(&h, f);
			assert_false(amx.configured);
			*n += 1;
			*n_tiled += amx.n_sum > 0;
		}
	}
	run_args_free(&want);
	hn_quick_free(quick);
	hn_arena_fini(&a);
}

static void histories_give_the_answer(void **state)
{
	uint32_t n = 0, n_tiled = 0;

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		uint32_t before = n_tiled, were = n;

		check_row(*state, &rows[i], &n, &n_tiled);
		print_message("%s: %u histories, %u by tiles\n", rows[i].intrin, n - were,
			      n_tiled - before);
	}
	assert_true(n > N_HISTORY * HN_COUNT_OF(rows) / 2);
	assert_true(n_tiled > n / 2);
}

/* A history that people would write: blocks of mt x nt tiles inside the loop over the terms. */
static const struct hn_state *by_hand(const struct hn_dag *dag, const struct row *row,
				      int64_t mt, int64_t nt, struct hn_arena *a)
{
	struct draw d = { hn_state_init(dag, a), hn_rng_stream(1, 1, 1, 0), a };
	const struct hn_intrin *in = hn_intrin_of(row->intrin);
	int64_t m[2] = { mt, 16 }, n[2] = { nt, 16 }, k[2] = { 16, hn_intrin_terms(in) };
	static const int64_t order[] = { 0, 3, 6, 1, 4, 2, 5, 7, 8 },
			     loop[] = { 2, 5, 7, 8 };

	if (row->operand >= 0) {
		pack_operand(&d, row);
	}
	int32_t stage = sum_of(d.s, in);
	struct hn_step give = { .kind = HN_STEP_tensorize,
				.stage = stage,
				.n_list = 4,
				.list = loop,
				.text = in->name };

	if (hn_split(d.s, stage, 2, k, 2, true, a, &d.s, NULL) ||
	    hn_split(d.s, stage, 1, n, 2, true, a, &d.s, NULL) ||
	    hn_split(d.s, stage, 0, m, 2, true, a, &d.s, NULL) ||
	    hn_state_apply(d.s, &give, a, &d.s, NULL) ||
	    hn_reorder(d.s, stage, order, 9, a, &d.s, NULL)) {
		fail_msg("%s: a step is refused", row->text);
	}
	hold(&d, stage);
	return d.s;
}

static const struct {
	const char *intrin, *left, *right, *sum;
} types[] = {
	{ "tdpbf16ps", "bfloat16", "bfloat16", "float32" },
	{ "tdpbssd", "int8", "int8", "int32" },
	{ "tdpbsud", "int8", "uint8", "int32" },
	{ "tdpbusd", "uint8", "int8", "int32" },
	{ "tdpbuud", "uint8", "uint8", "int32" },
};

static const int64_t blocks[][2] = { { 2, 2 }, { 2, 3 }, { 3, 2 }, { 1, 6 }, { 1, 4 },
				     { 4, 1 }, { 3, 1 }, { 1, 3 }, { 1, 1 } };

/* M x K times K x N of types[i], by blocks[b]. */
static void check_size(struct fixture *f, uint32_t i, uint32_t b, int64_t m, int64_t n,
		       int64_t k, const int fill[2])
{
	struct row row = { types[i].intrin, NULL, 1, { i == 0 ? 2 : 4, 1 }, { 0, 1, 2 } };
	struct run_kernel kernel;
	struct run_args want, got;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	row.text = hn_arena_printf(&a,
				   "f(%s A[%d,%d], %s B[%d,%d]) -> C"
				   " { C(i,j) +=! %s(A(i,k)) * %s(B(k,j)) }",
				   types[i].left, (int)m, (int)k, types[i].right, (int)k,
				   (int)n, types[i].sum, types[i].sum);
	const struct hn_dag *dag = dag_open(row.text, &a);
	const struct hn_state *s = by_hand(dag, &row, blocks[b][0], blocks[b][1], &a);

	if (run_build(f->em, dag, s->trace, false, &a, &kernel, &err)) {
		fail_msg("%s: %s", row.text, err.msg);
	}
	run_args_make(dag, 11, &want);
	run_args_make(dag, 11, &got);
	for (int x = 0; x < 2 && fill; x++) {
		memset(want.at[x], fill[x], want.bytes[x]);
		memset(got.at[x], fill[x], got.bytes[x]);
	}
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	amx.n_sum = 0;
	assert_int_equal(kernel.fn(got.at, NULL), 0);
	if (run_difference(&want, &got) > (i == 0 ? tolerance_of(dag) : 0) ||
	    !run_redzones_hold(&got)) {
		fail_msg("%s, blocks of %d x %d: differs by %g", row.text,
			 (int)blocks[b][0], (int)blocks[b][1],
			 run_difference(&want, &got));
	}
	/* fewer terms than a group has are no group */
	if ((amx.n_sum == 0 && k >= (i == 0 ? 2 : 4)) || amx.configured) {
		fail_msg("%s: %s", row.text,
			 amx.configured ? "tiles are kept" : "no tiles");
	}
	run_args_free(&want);
	run_args_free(&got);
	run_unload(&kernel);
	hn_arena_fini(&a);
}

static int setup_model(void **state)
{
	run_model_tiles = true;
	run_define = amx_define;
	return setup(state);
}

static int teardown_model(void **state)
{
	run_model_tiles = false;
	run_define = NULL;
	return teardown(state);
}

/* Sizes that divide and that do not, those of less than one tile, one term more or less. */
static void all_sizes(void **state)
{
	for (uint32_t i = 0; i < 80; i++) {
		int64_t m = 1 + i % 40, n = 1 + i * 11 % 70, k = 1 + i * 29 % 150;

		check_size(*state, i % HN_COUNT_OF(types), i / 5 % HN_COUNT_OF(blocks), m,
			   n, k, NULL);
	}
	for (uint32_t b = 0; b < HN_COUNT_OF(blocks); b++) {
		check_size(*state, b % HN_COUNT_OF(types), b, 96, 96, 128, NULL);
	}
}

/* The largest products there are; sums of them that wrap. */
static void extremes(void **state)
{
	static const int fill[][2] = { { 0x80, 0x80 }, { 0xff, 0x80 }, { 0x80, 0xff },
				       { 0xff, 0xff }, { 0x7f, 0x80 }, { 0x00, 0xff } };

	for (uint32_t i = 1; i < HN_COUNT_OF(types); i++) {
		for (uint32_t k = 0; k < HN_COUNT_OF(fill); k++) {
			check_size(*state, i, 0, 33, 34, 133, fill[k]);
		}
	}
	check_size(*state, 4, 0, 16, 16, 40000, fill[3]);
}

/* A block is loaded and stored once for the whole reduction where FR says so, and else at every
 * step of it. */
static void fragments_stay_in_registers(void **state)
{
	static const struct row row = { "tdpbusd",
					"f(uint8 A[32,512], int8 B[512,32]) -> C"
					" { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
					BYTES };
	static const struct {
		bool held;
		uint64_t n_load, n_sum;
	} want[] = { { true, 8 * 4, 8 * 4 }, { false, 8 * 4 * 3, 8 * 4 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		struct run_args args;
		struct run_kernel k;
		struct hn_err err;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag = dag_open(row.text, &a);
		struct hn_trace t = *by_hand(dag, &row, 2, 2, &a)->trace;

		t.n_step -= !want[i].held;
		run_args_make(dag, 11, &args);
		assert_int_equal(run_build(f->em, dag, &t, false, &a, &k, &err), 0);
		amx.n_load = amx.n_sum = 0;
		assert_int_equal(k.fn(args.at, NULL), 0);
		assert_int_equal(amx.n_load, want[i].n_load);
		assert_int_equal(amx.n_sum, want[i].n_sum);
		run_args_free(&args);
		run_unload(&k);
		hn_arena_fini(&a);
	}
}

/* Rows whose chunks have changed places are no rows of a tile. */
static void swizzled_rows_are_loops(void **state)
{
	static const struct row row = { "tdpbusd",
					"f(uint8 A[32,64], int8 B[64,32]) -> C"
					" { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
					BYTES };
	struct fixture *f = *state;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(row.text, &a);
	const struct hn_state *s = by_hand(dag, &row, 2, 2, &a);
	struct hn_step swap = { .kind = HN_STEP_swizzle,
				.stage = 2,
				.a = { [HN_SW_ROW_DIM] = 1, [HN_SW_BITS] = 1 } };
	struct run_args want;

	if (hn_state_apply(s, &swap, &a, &s, NULL) != 0) {
		fail_msg("the swizzle is refused");
	}
	form_answer(dag, &want);
	struct history h = { row.text, dag, s->trace, 0, &want, 0, &a };

	amx.n_sum = 0;
	check_history(f->em, &h, false, false);
	assert_int_equal(amx.n_sum, 0);
	run_args_free(&want);
	hn_arena_fini(&a);
}

/* An argument in groups, which ends where its page does (lower_run.h): its last tile has few columns,
 * and a last group of one term. */
static void nothing_is_read_past_an_argument(void **state)
{
	static const struct row row = { "tdpbusd",
					"f(uint8 A[16,61], int8 B[16,19,4]) -> C"
					" { C(i,j) +=! int32(A(i,k)) * int32(B(k/4,j,k%4)) }",
					-1,
					{ 0 },
					{ 0, 1, 2 } };
	struct fixture *f = *state;
	struct run_args want;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(row.text, &a);
	const struct hn_state *s = by_hand(dag, &row, 1, 1, &a);
	struct history h = { row.text, dag, s->trace, 0, &want, 0, &a };

	form_answer(dag, &want);
	amx.n_sum = 0;
	check_history(f->em, &h, false, false);
	assert_true(amx.n_sum > 0);
	run_args_free(&want);
	hn_arena_fini(&a);
}

/* The header of a kernel that uses tiles declares what asks for them, and that is there. */
static void a_kernel_asks_for_its_tiles(void **state)
{
	static const struct row row = { "tdpbusd",
					"f(uint8 A[32,64], int8 B[64,32]) -> C"
					" { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
					BYTES };
	struct fixture *f = *state;
	struct hn_err err = { 0 };
	struct run_kernel k;
	struct hn_buf header;
	LLVMOrcExecutorAddress at;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&header);
	const struct hn_dag *dag = dag_open(row.text, &a);

	assert_int_equal(run_build(f->em, dag, NULL, false, &a, &k, &err), 0);
	hn_emit_header(dag, "k", &k.artefact, &header);
	assert_false(k.artefact.tiles);
	assert_null(strstr(header.s, "k_init"));
	run_unload(&k);
	assert_int_equal(run_build(f->em, dag, by_hand(dag, &row, 2, 2, &a)->trace, false,
				   &a, &k, &err),
			 0);
	hn_buf_reset(&header);
	hn_emit_header(dag, "k", &k.artefact, &header);
	assert_true(k.artefact.tiles);
	assert_non_null(strstr(header.s, "int32_t k_init(void);"));
	run_must(LLVMOrcLLJITLookup(k.jit, &at, "k_init"));
#if defined(__x86_64__)
	int32_t want = syscall(SYS_arch_prctl, 0x1023, 18L) == 0 ? 0 : -errno;

	assert_int_equal(((int32_t(*)(void))(uintptr_t)at)(), want);
#endif
	run_unload(&k);
	hn_buf_fini(&header);
	hn_arena_fini(&a);
}

#ifdef LOWER_FORMS_X86
static int setup_amx(void **state)
{
	return setup_on(state,
			"cpu -isa=x86-64-avx512 -mattr=+amx-tile,+amx-int8,+amx-bf16");
}

static uint32_t count(const char *from, const char *to, const char *word)
{
	uint32_t n = 0;

	for (const char *p = from; (p = strstr(p, word)) != NULL && p < to; p++) {
		n++;
	}
	return n;
}

/* The code itself, of the machine that this one need not be: a block of 2 x 2 is four loads and
 * four sums, in a loop that touches the stack as little as it calls anybody. */
static void code_is_loads_and_sums(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < HN_COUNT_OF(types); i++) {
		struct row row = {
			types[i].intrin, NULL, 1, { i == 0 ? 2 : 4, 1 }, { 0, 1, 2 }
		};
		struct hn_emit_options o = { .symbol = "k", .want_asm = true };
		const struct hn_looptree *t;
		struct hn_artefact ret;
		struct hn_err err = { 0 };
		struct hn_arena a;
		char sum[32];

		hn_arena_init(&a, 0);
		row.text = hn_arena_printf(&a,
					   "f(%s A[128,512], %s B[512,128]) -> C"
					   " { C(i,j) +=! %s(A(i,k)) * %s(B(k,j)) }",
					   types[i].left, types[i].right, types[i].sum,
					   types[i].sum);
		const struct hn_dag *dag = dag_open(row.text, &a);

		if (hn_looptree_build(by_hand(dag, &row, 2, 2, &a), &a, &t, &err) ||
		    hn_emit(f->em, t, &o, &a, &ret, &err)) {
			fail_msg("%s: %s", row.text, err.msg);
		}
		const char *first = strstr(ret.assembly, "tileloadd"), *begin, *end;

		assert_non_null(first);
		for (begin = first; strncmp(begin, "\n.LBB", 5) != 0; begin--) {
		}
		end = strstr(first, "\tj");
		assert_non_null(end);
		snprintf(sum, sizeof sum, "\t%s\t", types[i].intrin);
		assert_int_equal(count(begin, end, "\ttileloadd\t"), 4);
		assert_int_equal(count(begin, end, sum), 4);
		assert_int_equal(count(begin, end, "rsp"), 0);
		assert_int_equal(count(begin, end, "tilestored"), 0);
		assert_int_equal(count(ret.assembly, ret.assembly + strlen(ret.assembly),
				       "\tldtilecfg\t"),
				 1);
		assert_int_equal(count(ret.assembly, ret.assembly + strlen(ret.assembly),
				       "\ttilerelease"),
				 1);
		hn_arena_fini(&a);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories_give_the_answer, setup_model,
						teardown_model),
		cmocka_unit_test_setup_teardown(all_sizes, setup_model, teardown_model),
		cmocka_unit_test_setup_teardown(extremes, setup_model, teardown_model),
		cmocka_unit_test_setup_teardown(nothing_is_read_past_an_argument, setup_model,
						teardown_model),
		cmocka_unit_test_setup_teardown(fragments_stay_in_registers, setup_model,
						teardown_model),
		cmocka_unit_test_setup_teardown(swizzled_rows_are_loops, setup_model,
						teardown_model),
		cmocka_unit_test_setup_teardown(a_kernel_asks_for_its_tiles, setup_model,
						teardown_model),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(code_is_loads_and_sums, setup_amx,
						teardown),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
