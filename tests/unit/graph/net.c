/* Layouts and fusion: what becomes one kernel, and that the numbers stay, on networks drawn at
 * random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "graph/ir/op.h"
#include "graph/net/layout.h"
#include "tests/lib/net_eval.h"
#include "tests/lib/graph_bed.h"

#define N_NETS 150
#define N_NODES 14

static int32_t weights(struct hn_rng *r, uint32_t rank, const int64_t *shape)
{
	struct hn_gvalue v = { .rank = rank, .shape = shape };
	int64_t n = hn_gvalue_elements(&v), *dims = HN_NEW_ARRAY(&arena, int64_t, rank);
	float *w = HN_NEW_ARRAY(&arena, float, (size_t)n);

	memcpy(dims, shape, rank * sizeof(*dims));
	for (int64_t i = 0; i < n; i++) {
		w[i] = (float)hn_rng_unit(r) - 0.5f;
	}
	return hn_graph_const(&g, "w", HN_F32, rank, dims, w, false);
}

static void end_with(uint32_t n, const int32_t *output)
{
	static const char *const names[] = { "out0", "out1", "out2", "out3" };

	g.output = HN_NEW_ARRAY(&arena, int32_t, n);
	g.output_name = (const char **)names;
	memcpy(g.output, output, n * sizeof(*output));
	g.n_output = n;
}

/* "conv,Add,Relu pool" */
static const char *groups(const struct hn_net *net)
{
	struct hn_buf b;
	const char *s;

	hn_buf_init(&b);
	for (uint32_t i = 0; i < net->part.n_group; i++) {
		const struct hn_ggroup *group = &net->part.group[i];

		for (uint32_t k = 0; k < group->n_node; k++) {
			hn_buf_printf(&b, "%s%s", k > 0 ? "," : i > 0 ? " " : "",
				      net->g->node[group->node[k]].op->name);
		}
	}
	s = hn_arena_strdup(&arena, b.s);
	hn_buf_fini(&b);
	return s;
}

static int32_t conv(struct hn_rng *r, int32_t x, int64_t channels, int64_t kernel)
{
	int64_t half = kernel / 2, pads[] = { half, half, half, half };
	int64_t shape[] = { channels, g.value[x].shape[1], kernel, kernel };
	int32_t in[] = { x, weights(r, 4, shape), weights(r, 1, &channels) };
	struct hn_gattr attr = hn_gattr_of_ints("pads", 4, pads);

	return hn_graph_add(&g, "Conv", 3, in, 1, &attr);
}

/* A block of ResNet: 1x1 convolutions around one of 3x3, and a shortcut. */
static void a_residual_block_is_four_kernels(void **state)
{
	static const int64_t image[] = { 1, 8, 6, 6 };
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), in, y;

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	in = hn_graph_1(&g, "Relu", conv(&r, x, 8, 1));
	y = hn_graph_1(&g, "Relu", conv(&r, in, 4, 1));
	y = hn_graph_1(&g, "Relu", conv(&r, y, 4, 3));
	y = hn_graph_2(&g, "Add", conv(&r, y, 8, 1), in);
	y = hn_graph_1(&g, "Relu", y);
	y = hn_graph_1(&g, "GlobalAveragePool", y);
	end_with(1, &y);
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu conv,Add,Relu conv,Add,Relu "
					  "conv,Add,Add,Relu reduce,Mul");
}

static int32_t dense(struct hn_rng *r, int32_t x, int64_t n)
{
	int64_t shape[] = { g.value[x].shape[g.value[x].rank - 1], n };

	return hn_graph_2(&g, "Add", hn_graph_2(&g, "MatMul", x, weights(r, 2, shape)),
			  weights(r, 1, &n));
}

static int32_t reshape(int32_t x, uint32_t rank, const int64_t *shape)
{
	struct hn_gattr attr = hn_gattr_of_ints("shape", rank, shape);

	return hn_graph_add(&g, "reshape", 1, &x, 1, &attr);
}

static int32_t transpose(int32_t x, uint32_t rank, const int64_t *perm)
{
	struct hn_gattr attr = hn_gattr_of_ints("perm", rank, perm);

	return hn_graph_add(&g, "Transpose", 1, &x, 1, &attr);
}

/* Heads are split and merged without a copy; scale and mask join the product. */
static void attention_moves_nothing(void **state)
{
	static const int64_t in[] = { 1, 6, 8 }, split[] = { 1, 6, 2, 4 }, merged[] = { 1, 6, 8 },
			     heads[] = { 0, 2, 1, 3 }, keys[] = { 0, 2, 3, 1 }, mask[] = { 1, 1, 1, 6 };
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 3, in), q, k, v, s;
	int32_t m = hn_graph_input(&g, "mask", HN_F32, 4, mask);

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	q = transpose(reshape(dense(&r, x, 8), 4, split), 4, heads);
	k = transpose(reshape(dense(&r, x, 8), 4, split), 4, keys);
	v = transpose(reshape(dense(&r, x, 8), 4, split), 4, heads);
	s = hn_graph_2(&g, "Mul", hn_graph_2(&g, "MatMul", q, k), hn_graph_scalar(&g, HN_F32, 0.5));
	s = hn_graph_1(&g, "Softmax", hn_graph_2(&g, "Add", s, m));
	s = reshape(transpose(hn_graph_2(&g, "MatMul", s, v), 4, heads), 3, merged);
	s = hn_graph_2(&g, "Add", dense(&r, s, 8), x);
	end_with(1, &s);
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "matmul,Add matmul,Add matmul,Add matmul,Mul,Add softmax "
					  "matmul matmul,Add,Add");
	assert_int_equal(net.n_task, 5); /* q, k, v are one */
}

/* For machines of buffers: attention's products stay apart, all between them is one kernel. */
static void all_but_products_is_fused(void **state)
{
	static const int64_t in[] = { 6, 8 };
	const struct hn_net_choice by = { .rival = hn_rival_fused(), .whole = true };
	struct hn_gattr keep = hn_gattr_of_int(&arena, "axis", 1);
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, in), e, s;

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	x = dense(&r, x, 8);
	x = hn_graph_add(&g, "Softmax", 1, &x, 1, &keep);
	e = hn_graph_1(&g, "Exp", x);
	s = hn_graph_2(&g, "Mul", e, hn_graph_1(&g, "Sqrt", e)); /* e is read twice */
	s = dense(&r, transpose(s, 2, (int64_t[]){ 1, 0 }), 4);
	end_with(1, &s);
	assert_int_equal(hn_net_make_by(&g, &by, &net, &err), 0);
	assert_string_equal(groups(&net), "matmul,Add softmax,Exp,Sqrt,Mul,transpose matmul,Add");
}

/* ShuffleNet: channels are split into groups where they lie, and put together in another order. */
static void a_channel_shuffle_is_one_copy(void **state)
{
	static const int64_t image[] = { 1, 3, 4, 5 }, split[] = { 1, 2, 4, 4, 5 },
			     merged[] = { 1, 8, 4, 5 }, swap[] = { 0, 2, 1, 3, 4 };
	static const uint8_t last[] = { 0, 2, 3, 1 };
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), y, shuffled;

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	y = hn_graph_1(&g, "Relu", conv(&r, x, 8, 1));
	shuffled = reshape(transpose(reshape(y, 5, split), 5, swap), 4, merged);
	y = conv(&r, shuffled, 4, 3);
	end_with(1, &y);
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu reshape conv Add");
	assert_memory_equal(g.value[shuffled].order, last, 4);
}

/* The window runs over channels where they lie: the squares, and one kernel for all else. */
static void a_local_response_norm_is_two_kernels(void **state)
{
	static const int64_t image[] = { 1, 3, 4, 5 };
	struct hn_rng r;
	struct hn_net net;
	struct hn_gattr size = hn_gattr_of_int(&arena, "size", 5);
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), y;

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	y = hn_graph_1(&g, "Relu", conv(&r, x, 8, 3));
	y = conv(&r, hn_graph_add(&g, "LRN", 1, &y, 1, &size), 4, 1);
	y = hn_graph_1(&g, "GlobalAveragePool", y);
	end_with(1, &y);
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu Mul pool,Mul,Mul,Add,Sqrt,Sqrt,Mul,div "
					  "conv,Add reduce,Mul");
}

/* A vision transformer: the places of an image are rows of a matrix, and back. */
static void an_image_is_rows_without_a_copy(void **state)
{
	static const int64_t image[] = { 1, 3, 4, 5 }, places[] = { 1, 8, 20 }, square[] = { 1, 8, 4, 5 },
			     turn[] = { 0, 2, 1 };
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), y;

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	y = transpose(reshape(conv(&r, x, 8, 1), 3, places), 3, turn);
	y = reshape(transpose(hn_graph_1(&g, "Relu", dense(&r, y, 8)), 3, turn), 4, square);
	y = hn_graph_1(&g, "GlobalAveragePool", y);
	end_with(1, &y);
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add matmul,Add,Relu reduce,Mul");
}

static int32_t with_scale(const char *op, int32_t x)
{
	int32_t in[] = { x, hn_graph_scalar(&g, HN_F32, 0.1), hn_graph_scalar(&g, HN_U8, 7) };

	return hn_graph_add(&g, op, 3, in, 0, NULL);
}

/* Bytes that two kernels read lie in memory, not the floats that they are. */
static void floats_are_made_where_they_are_read(void **state)
{
	static const int64_t image[] = { 1, 8, 6, 6 };
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), y, out[2];

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	y = with_scale("DequantizeLinear", with_scale("QuantizeLinear", conv(&r, x, 8, 1)));
	out[0] = hn_graph_2(&g, "Add", conv(&r, x, 8, 3), y);
	out[0] = hn_graph_1(&g, "GlobalAveragePool", out[0]);
	out[1] = hn_graph_1(&g, "GlobalMaxPool", hn_graph_1(&g, "Softmax", y));
	end_with(2, out);
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,div,quantize,cast conv,Add,dequantize,Add "
					  "reduce,Mul dequantize,softmax reduce");
}

/* -- random networks ---------------------------------------------------------------------- */

/* The first, or the last, elements along a dimension. */
static int32_t part(struct hn_rng *r, int32_t x)
{
	uint32_t axis = hn_rng_below(r, 3) ? 1 : 2;
	int64_t n = g.value[x].shape[axis], cut = n > 1 ? 1 + (int64_t)hn_rng_below(r, (uint64_t)n - 1) : 1;
	bool last = hn_rng_below(r, 2);
	int32_t in[] = { x, hn_graph_ints(&g, 1, (int64_t[]){ last ? n - cut : 0 }),
			 hn_graph_ints(&g, 1, (int64_t[]){ last ? n : cut }),
			 hn_graph_ints(&g, 1, (int64_t[]){ axis }) };

	return hn_graph_add(&g, "Slice", 4, in, 0, NULL);
}

/* One behind the other in channels, either first. */
static int32_t join(struct hn_rng *r, int32_t x, int32_t y)
{
	struct hn_gattr axis = hn_gattr_of_int(&arena, "axis", 1);
	bool swap = hn_rng_below(r, 2);

	return hn_graph_add(&g, "Concat", 2, (int32_t[]){ swap ? y : x, swap ? x : y }, 1, &axis);
}

/* Whether they are alike, but for that dimension. */
static bool alike(const struct hn_gvalue *p, const struct hn_gvalue *q, uint32_t except)
{
	bool same = p->rank == q->rank;

	for (uint32_t d = 0; same && d < p->rank; d++) {
		same = d == except || p->shape[d] == q->shape[d];
	}
	return same;
}

static int32_t image_node(struct hn_rng *r, int32_t x)
{
	static const char *const unary[] = { "Relu", "Tanh", "Abs", "Sigmoid" };
	static const int64_t perm[] = { 0, 2, 3, 1 }, window[] = { 2, 2 };
	const struct hn_gvalue *v = &g.value[x];
	struct hn_gattr kernel = hn_gattr_of_ints("kernel_shape", 2, window);
	int64_t flat[] = { v->shape[0], v->shape[1], v->shape[2] * v->shape[3] };

	switch (hn_rng_below(r, 11)) {
	case 0:
		return conv(r, x, 1 + hn_rng_below(r, 5), 3);
	case 1:
		return conv(r, x, 1 + hn_rng_below(r, 5), 1);
	case 2:
		return v->shape[2] < 2 || v->shape[3] < 2
			       ? x
			       : hn_graph_add(&g, hn_rng_below(r, 2) ? "MaxPool" : "AveragePool", 1,
					      &x, 1, &kernel);
	case 3:
		return transpose(x, 4, perm);
	case 4:
		return hn_graph_1(&g, "Softmax", x);
	case 5:
		return hn_graph_add(&g, "Concat", 2, (int32_t[]){ x, x }, 0, NULL);
	case 6:
		return reshape(x, 3, flat);
	case 7:
		return part(r, x);
	case 8:
		return join(r, conv(r, x, 1 + hn_rng_below(r, 5), 3), conv(r, x, 1 + hn_rng_below(r, 5), 1));
	case 9: /* the same roundings with layouts and without */
		return with_scale("DequantizeLinear", with_scale("QuantizeLinear", x));
	default:
		return hn_graph_1(&g, unary[hn_rng_below(r, 4)], x);
	}
}

static int32_t matrix_node(struct hn_rng *r, int32_t x)
{
	static const int64_t perm[] = { 0, 2, 1 };
	const struct hn_gvalue *v = &g.value[x];
	int64_t four[] = { v->shape[0], v->shape[1], 1, v->shape[2] };

	switch (hn_rng_below(r, 7)) {
	case 6:
		return part(r, x);
	case 0:
		return dense(r, x, 1 + hn_rng_below(r, 6));
	case 1:
		return transpose(x, 3, perm);
	case 2:
		return reshape(x, 4, four);
	case 3:
		return hn_graph_2(&g, "MatMul", x, transpose(x, 3, perm));
	case 4:
		return hn_graph_1(&g, "Softmax", x);
	default:
		return hn_graph_1(&g, "Tanh", x);
	}
}

/* A node on one of the last values; or two that are alike, added or joined. */
static int32_t random_node(struct hn_rng *r, const int32_t *made, uint32_t n)
{
	int32_t x = made[n - 1 - hn_rng_below(r, n < 4 ? n : 4)];
	int32_t y = made[n - 1 - hn_rng_below(r, n < 4 ? n : 4)];
	const struct hn_gvalue *p = &g.value[x], *q = &g.value[y];

	uint32_t axis = hn_rng_below(r, 3) ? 1 : 2;
	struct hn_gattr attr = hn_gattr_of_int(&arena, "axis", axis);

	if (hn_rng_below(r, 2) && alike(p, q, 8)) {
		return hn_graph_2(&g, "Add", x, y);
	}
	if (hn_rng_below(r, 2) && alike(p, q, axis) && p->shape[axis] + q->shape[axis] < 40) {
		return hn_graph_add(&g, "Concat", 2, (int32_t[]){ x, y }, 1, &attr);
	}
	return p->rank == 4 ? image_node(r, x) : matrix_node(r, x);
}

static void fill(struct memory *m, struct hn_rng *r)
{
	for (uint32_t i = 0; i < g.n_input; i++) {
		float *at = memory_of(m, g.input[i]);

		for (int64_t k = 0; k < hn_gvalue_elements(&g.value[g.input[i]]); k++) {
			at[k] = (float)hn_rng_unit(r) - 0.5f;
		}
	}
}

static void compare(struct memory *want, const int32_t *was, struct memory *got,
		    const struct hn_net *net, uint32_t number)
{
	for (uint32_t i = 0; i < g.n_output; i++) {
		const float *p = memory_of(want, was[i]);
		const float *q = memory_of(got, net->part.place[g.output[i]].root);

		for (int64_t k = 0; k < hn_gvalue_elements(&g.value[was[i]]); k++) {
			if (!(fabsf(p[k] - q[k]) <= 1e-5f * (1 + fabsf(p[k])))) {
				fail_msg("network %u, output %u, element %lld: %g, not %g\n%s",
					 number, i, (long long)k, (double)q[k], (double)p[k],
					 groups(net));
			}
		}
	}
}

/* A network drawn at random, in an arena of its own, and its numbers node by node. */
struct drawn {
	struct memory want;
	int32_t was[2]; /* outputs */
	struct hn_rng inputs;
	uint32_t number;
};

static void draw(void **state, uint32_t number, struct drawn *ret)
{
	int32_t made[N_NODES + 1];
	struct hn_rng r;
	int64_t *image;

	tear_down(state);
	set_up(state);
	image = HN_NEW_ARRAY(&arena, int64_t, 4);
	image[0] = 1 + number % 2;
	image[1] = 1 + number % 4;
	image[2] = 2 + number % 5;
	image[3] = 3;
	r = hn_rng_stream(number, 0, 0, 0);
	made[0] = hn_graph_input(&g, "x", HN_F32, 4, image);
	g.input = HN_NEW_ARRAY(&arena, int32_t, 1);
	g.input[0] = made[0];
	g.n_input = 1;
	for (uint32_t i = 1; i <= N_NODES; i++) {
		made[i] = random_node(&r, made, i);
		assert_false(g.failed);
	}
	*ret = (struct drawn){ { &g, NULL }, { made[N_NODES], made[N_NODES - 3] }, r, number };
	end_with(2, ret->was);
	hn_graph_sweep(&g);
	ret->want.at = calloc(g.n_value + 8, sizeof(void *)); /* and of copies of outputs */
	fill(&ret->want, &r);
	assert_int_equal(run_nodes(&ret->want, &err), 0);
}

/* Run by the choice; it has to be right.  False: no kernels can be made of it. */
static bool run_by(struct drawn *d, const struct hn_net_choice *by, struct hn_net *ret)
{
	struct memory got = { &g, calloc(g.n_value + 8, sizeof(void *)) };
	struct hn_rng r = d->inputs;
	bool made = hn_net_make_by(&g, by, ret, &err) == 0;

	if (made) {
		fill(&got, &r);
		if (run_steps(ret, &got, &err) != 0) {
			fail_msg("network %u: %s", d->number, err.msg);
		}
		compare(&d->want, d->was, &got, ret, d->number);
	}
	memory_free(&got);
	return made;
}

static void random_networks_keep_their_numbers(void **state)
{
	uint32_t fused = 0, aliases = 0, joined = 0, cut = 0, strided = 0;

	for (uint32_t number = 0; number < N_NETS; number++) {
		struct drawn d;
		struct hn_net net;

		draw(state, number, &d);
		if (!run_by(&d, NULL, &net)) {
			fail_msg("network %u: %s", number, err.msg);
		}
		fused += g.n_node - net.part.n_group;
		for (uint32_t i = 0; i < g.n_node; i++) {
			const struct hn_gplace *p = &net.part.place[g.node[i].out[0]];

			bool is_slice = strcmp(g.node[i].op->name, "slice") == 0;
			bool own = p->root == g.node[i].out[0], alias = hn_layout_is_alias(&g, &g.node[i]);

			aliases += alias;
			cut += is_slice && !own;
			joined += !own && !is_slice && !alias;
			strided += p->stride != NULL;
		}
		memory_free(&d.want);
	}
	assert_true(fused > N_NETS * 2);
	assert_true(aliases > N_NETS / 2);
	assert_true(cut > N_NETS / 8);
	assert_true(joined > N_NETS / 4);
	assert_true(strided > N_NETS / 2);
}

static uint32_t count_said(const struct hn_net *net)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g.n_value; v++) {
		n += net->part.said[v] != HN_NET_RULE;
	}
	return n;
}

/* Rivals of the rules, row-major images, some or all, and anything said of any value. */
static void choices_keep_the_numbers(void **state)
{
	uint32_t differs[HN_RIVALS_MAX] = { 0 }, drawn = 0, unmade = 0, all = 0, shared = 0;

	for (uint32_t number = 0; number < N_NETS; number++) {
		struct drawn d;
		struct hn_net net;
		struct hn_rng r = hn_rng_stream(number, 1, 0, 0);

		draw(state, number, &d);
		assert_true(run_by(&d, NULL, &net)); /* after this g has all its values */
		for (uint32_t i = 0; hn_rival_at(i) != NULL; i++) {
			const struct hn_net_choice by = { .rival = hn_rival_at(i) };

			if (run_by(&d, &by, &net)) {
				differs[i] += count_said(&net);
			} else {
				unmade++;
			}
		}
		const struct hn_net_choice fused = { .rival = hn_rival_fused(), .whole = true };

		assert_true(run_by(&d, &fused, &net));
		all += net.part.n_group;
		shared += count_said(&net);
		uint8_t *say = HN_NEW_ARRAY(&arena, uint8_t, g.n_value);
		uint8_t *plain = HN_NEW_ARRAY(&arena, uint8_t, g.n_value);

		for (uint32_t v = 0; v < g.n_value; v++) {
			say[v] = (uint8_t)hn_rng_below(&r, 3);
			plain[v] = (uint8_t)hn_rng_below(&r, 2);
		}
		const struct hn_net_choice by = { .say = say,
						  .row_major = number % 4 == 0,
						  .plain = number % 2 == 1 ? plain : NULL };

		if (run_by(&d, &by, &net)) {
			drawn += count_said(&net);
		} else {
			unmade++;
		}
		memory_free(&d.want);
	}
	for (uint32_t i = 0; hn_rival_at(i) != NULL; i++) {
		print_message("%s: %u values\n", hn_rival_at(i)->name, differs[i]);
		assert_true(differs[i] > 0);
	}
	print_message("fused: %u values; %u kernels of %u networks\n", shared, all, (uint32_t)N_NETS);
	assert_true(shared > N_NETS);
	print_message("drawn: %u values; %u networks not made\n", drawn, unmade);
	assert_true(drawn > N_NETS);
	assert_true(unmade < N_NETS / 2);
}

/* A residual's sum leaves the convolution and goes where it is told. */
static void a_rival_cuts_where_paths_meet(void **state)
{
	static const int64_t image[] = { 1, 8, 6, 6 };
	const struct hn_net_choice by = { .rival = hn_rival_at(0) };
	struct hn_net_choice again = { 0 };
	struct hn_rng r;
	struct hn_net net;
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), in, y;

	(void)state;
	r = hn_rng_stream(1, 0, 0, 0);
	in = hn_graph_1(&g, "Relu", conv(&r, x, 8, 1));
	y = hn_graph_2(&g, "Add", conv(&r, in, 8, 3), in);
	y = hn_graph_1(&g, "Relu", y);
	y = hn_graph_1(&g, "GlobalAveragePool", y);
	end_with(1, &y);
	assert_string_equal(by.rival->name, "meetings");
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu conv,Add,Add,Relu reduce,Mul");
	assert_int_equal(hn_net_make_by(&g, &by, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu conv,Add Add,Relu reduce,Mul");
	assert_int_equal(count_said(&net), 1); /* others read the other path, too */
	again.say = net.part.said;
	assert_int_equal(hn_net_make_by(&g, &again, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu conv,Add Add,Relu reduce,Mul");
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_string_equal(groups(&net), "conv,Add,Relu conv,Add,Add,Relu reduce,Mul");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_residual_block_is_four_kernels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(attention_moves_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_but_products_is_fused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_channel_shuffle_is_one_copy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_image_is_rows_without_a_copy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(floats_are_made_where_they_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_local_response_norm_is_two_kernels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(random_networks_keep_their_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(choices_keep_the_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rival_cuts_where_paths_meet, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
