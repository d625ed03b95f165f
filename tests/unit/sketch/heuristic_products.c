/* Heuristics of products: tiles from the registers, operands packed, prepared or fetched ahead by
 * where their elements lie; chains of products by blocks of rows. */
#include "tests/lib/heuristic_bed.h"

/* Product of the lengths of the spatial loops inside the last reduction loop. */
static int64_t tile_points(const struct hn_node *n)
{
	int64_t points = 1;

	while (n->kind != HN_NODE_STMT) {
		if (n->kind == HN_NODE_LOOP) {
			points = n->iter_kind == HN_ITER_REDUCE ? 1 : points * n->extent;
		}
		n = n->child[n->n_child - 1];
	}
	return points;
}

/* A product's sums fill the registers of the machine and never pass them. */
static void tiles_follow_the_registers(void **state)
{
	static const struct {
		const char *target;
		int64_t lanes, registers;
	} machine[] = { { AVX512, 16, 32 }, { AVX2, 8, 16 } };
	const char *text = "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * "
			   "B(k,j) }";
	struct heuristics x;

	(void)state;
	for (size_t t = 0; t < HN_COUNT_OF(machine); t++) {
		heuristics_open(&x, machine[t].target, text);

		for (uint32_t i = 0; i + 1 < x.n; i++) { /* the last is the plain one */
			const struct hn_node *root = heuristics_tree(&x, i);
			int64_t points = tile_points(root);

			assert_in_range(points, machine[t].lanes * 8,
					machine[t].lanes * (machine[t].registers - 2));
			assert_true(has_parallel(root));
		}
		heuristics_end(&x);
	}
}

/* Rows of an operand that is left in place are fetched ahead when they are far apart. */
static void far_rows_are_fetched_ahead(void **state)
{
	static const struct {
		const char *text;
		bool far;
	} of[] = {
		{ "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  true },
		{ "f(float32 A[512,512], B[512,128]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  false },
		/* computed inside of what adds the bias */
		{ "f(float32 A[512,512], B[512,512], c[512]) -> D {"
		  " C(i,j) +=! A(i,k) * B(k,j) D(i,j) = C(i,j) + c(j) }",
		  true },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);

		for (uint32_t k = 0; k < x.n; k++) {
			assert_false(has_step(x.g[k], HN_STEP_prefetch) &&
				     has_step(x.g[k], HN_STEP_pack));
		}
		assert_int_equal(any_has_step(&x, HN_STEP_prefetch), of[i].far);
		heuristics_end(&x);
	}
}

/* Constant operands are packed in every heuristic but those that ask for the reverse, and what is
 * computed from constants alone stays a stage at root. */
static void constants_are_prepared(void **state)
{
	static const struct {
		const char *text;
		bool packed, inlined;
	} of[] = {
		{ "f(float32 A[64,64], B[64,128]) -> C { P(k,j) = B(k,j) * 2"
		  " C(i,j) +=! A(i,k) * P(k,j) }",
		  false, true },
		{ "f(float32 A[64,64], const B[64,128]) -> C { P(k,j) = B(k,j) * 2"
		  " C(i,j) +=! A(i,k) * P(k,j) }",
		  true, false },
		/* one panel is the whole row: it lies in order */
		{ "f(float32 A[64,64], const B[64,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) "
		  "}",
		  false, false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		assert_int_equal(has_step(x.g[0], HN_STEP_pack), of[i].packed);
		assert_int_equal(any_has_step(&x, HN_STEP_compute_inline), of[i].inlined);
		heuristics_end(&x);
	}
}

/* Panels that share out evenly over the cores are packed in the loop over them, and not
 * where they are constant, transposed or too few. */
static void panels_are_packed_in_turn(void **state)
{
	static const struct {
		const char *text;
		bool in_turn;
	} cases[] = {
		{ "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  true },
		{ "f(float32 A[509,503], B[503,1021]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) "
		  "}",
		  true },
		/* 34 for four cores, then 5 */
		{ "f(float32 A[512,512], B[512,1088]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  true },
		{ "f(float32 A[512,512], B[512,400]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  false },
		{ "f(float32 A[512,512], const B[512,512]) -> C {"
		  " C(i,j) +=! A(i,k) * B(k,j) }",
		  false },
		{ "f(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! "
		  "A(i,k) * B(j,k) }",
		  false },
		{ "f(float32 A[512,512], B[512,80]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		struct heuristics x;
		bool any = false;

		heuristics_open(&x, AVX512, cases[i].text);
		for (uint32_t k = 0; k < x.n; k++) {
			any = any || (has_step(x.g[k], HN_STEP_pack) &&
				      has_step(x.g[k], HN_STEP_compute_at));
		}
		assert_int_equal(any, cases[i].in_turn);
		heuristics_end(&x);
	}
}

/* Products of rows with keys, their softmax and the product with values: one nest, as many rows
 * at a time as leave the second cache half empty, the first product in tiles. */
static void attention_goes_by_blocks_of_rows(void **state)
{
	static const char text[] =
		"f(float32 Q[8,2048,64], K[8,2048,64], V[8,2048,64]) -> O {"
		" S(h,i,j) +=! Q(h,i,d) * K(h,j,d) M(h,i) max=! S(h,i,j)"
		" E(h,i,j) = exp(S(h,i,j) - M(h,i)) Z(h,i) +=! E(h,i,j)"
		" P(h,i,j) = E(h,i,j) / Z(h,i) O(h,i,d) +=! P(h,i,j) * V(h,j,d) }";
	static const int64_t rows[] = { 16, 32 };
	struct heuristics x;

	(void)state;
	for (size_t m = 0; m < HN_COUNT_OF(rows); m++) {
		bool any = false;

		heuristics_begin(&x, AVX512);
		x.on.param[HN_PARAM_L2_BYTES] = rows[m] << 16;
		heuristics_of(&x, text);

		for (uint32_t k = 0; k < x.n; k++) {
			const struct hn_node *root = heuristics_tree(&x, k);
			/* the packed keys, and the rest */
			any = any ||
			      (root->n_child == 2 &&
			       loops_of_length(root, HN_ITER_SPATIAL, 2048 / rows[m]) >
				       0 &&
			       loops_of_length(root, HN_ITER_SPATIAL, rows[m]) >= 4 &&
			       loops_of_length(root, HN_ITER_REDUCE, 64) == 1);
		}
		assert_true(any);
		heuristics_end(&x);
	}
}

/* Where, outside in, the first spatial loop of that length stands; -1 = there is none. */
static int32_t depth_of(const struct hn_node *n, int64_t extent)
{
	for (int32_t k = 0; n->kind != HN_NODE_STMT; n = n->child[n->n_child - 1], k++) {
		if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_SPATIAL &&
		    n->extent == extent) {
			return k;
		}
	}
	return -1;
}

/* Weights that the first cache holds: pixels go by once, all of their results are made; else
 * the weights go by once. */
static void small_weights_stay(void **state)
{
	static const struct {
		const char *text;
		int64_t pixels, channels; /* lengths of the loops over them */
		bool stay;
	} of[] = {
		{ "f(float32 X[57,56,32], W[32,96]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(c,f) }",
		  57, 2, true },
		{ "f(float32 X[57,28,512], W[512,96]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(c,f) }",
		  57, 3, false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512_OF("1"), of[i].text);
		assert_true(x.n > 1);
		const struct hn_node *root = heuristics_tree(&x, 0);
		int32_t pixels = depth_of(root, of[i].pixels);
		int32_t channels = depth_of(root, of[i].channels);

		assert_true(pixels >= 0 && channels >= 0);
		assert_int_equal(pixels < channels, of[i].stay);
		heuristics_end(&x);
	}
}

/* Rows that the second cache does not hold by far are cut into blocks that it does, and all panels
 * go by inside; not where the blocks do not share out over the cores. */
static void streamed_rows_are_blocked(void **state)
{
	static const struct {
		const char *target, *text;
		int64_t blocks, panels; /* lengths of the loops over them */
		bool blocked;
	} of[] = {
		{ AVX512_OF("1"),
		  "f(float32 A[1792,1000], const B[1000,128]) -> C {"
		  " C(i,j) +=! A(i,k) * B(k,j) }",
		  32, 4, true },
		{ AVX512_OF("4"),
		  "f(float32 A[1792,1000], const B[1000,128]) -> C {"
		  " C(i,j) +=! A(i,k) * B(k,j) }",
		  32, 4, true },
		{ AVX512_OF("24"),
		  "f(float32 A[1792,1000], const B[1000,128]) -> C {"
		  " C(i,j) +=! A(i,k) * B(k,j) }",
		  32, 4, false },
		{ AVX512_OF("1"),
		  "f(float32 A[896,1000], const B[1000,128]) -> C {"
		  " C(i,j) +=! A(i,k) * B(k,j) }",
		  16, 4, false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, of[i].target, of[i].text);
		const struct hn_node *root = heuristics_tree(&x, 0);
		int32_t blocks = depth_of(root, of[i].blocks);
		int32_t panels = depth_of(root, of[i].panels);

		assert_int_equal(blocks >= 0 && blocks < panels, of[i].blocked);
		heuristics_end(&x);
	}
}

/* What tiles broadcast is fetched ahead where it comes from beyond the second cache in short
 * pieces, and there are few sums for each line of it. */
static void short_pieces_are_fetched_ahead(void **state)
{
	static const struct {
		const char *text;
		bool ahead;
	} of[] = {
		/* 64 channels of a pixel */
		{ "f(float32 X[16,56,56,64], const W[64,64]) -> Y {"
		  " Y(n,h,w,f) +=! X(n,h,w,c) * W(c,f) }",
		  true },
		/* 16 of 64, a group's, of every second pixel */
		{ "f(float32 X[16,57,57,64], const W[3,3,16,128]) -> Y {"
		  " Y(n,h,w,f) +=! X(n, h * 2 + r, w * 2 + s, f / 32 * 16 + c) * W(r,s,c,f)"
		  " where h in 0:28, w in 0:28 }",
		  true },
		/* the second cache holds it */
		{ "f(float32 X[1,56,56,64], const W[64,64]) -> Y {"
		  " Y(n,h,w,f) +=! X(n,h,w,c) * W(c,f) }",
		  false },
		/* long pieces */
		{ "f(float32 X[16,28,28,1024], const W[1024,64]) -> Y {"
		  " Y(n,h,w,f) +=! X(n,h,w,c) * W(c,f) }",
		  false },
		/* 392 sums for a line */
		{ "f(float32 X[16,118,118,16], const W[7,7,16,128]) -> Y {"
		  " Y(n,h,w,f) +=! X(n, h + r, w + s, c) * W(r,s,c,f)"
		  " where h in 0:112, w in 0:112 }",
		  false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		assert_int_equal(has_step(x.g[0], HN_STEP_prefetch), of[i].ahead);
		heuristics_end(&x);
	}
}

/* A residual behind the sums, which lies as the results do; a bias does not, nor does one image for
 * all, and without any there is nothing to fetch. */
static void residuals_are_fetched_ahead(void **state)
{
	static const struct {
		const char *text;
		bool ahead;
	} of[] = {
		{ "f(float32 X[56,56,64], const W[64,256], R[56,56,256]) -> Y {"
		  " C(h,w,f) +=! X(h,w,c) * W(c,f)"
		  " Y(h,w,f) = max(C(h,w,f) + R(h,w,f), 0) }",
		  true },
		{ "f(float32 X[56,56,64], const W[64,256], R[256]) -> Y {"
		  " C(h,w,f) +=! X(h,w,c) * W(c,f)"
		  " Y(h,w,f) = max(C(h,w,f) + R(f), 0) }",
		  false },
		{ "f(float32 X[56,56,64], const W[64,256], R[56,256]) -> Y {"
		  " C(h,w,f) +=! X(h,w,c) * W(c,f)"
		  " Y(h,w,f) = max(C(h,w,f) + R(w,f), 0) }",
		  false },
		{ "f(float32 X[56,56,64], const W[64,256]) -> Y {"
		  " C(h,w,f) +=! X(h,w,c) * W(c,f)"
		  " Y(h,w,f) = max(C(h,w,f), 0) }",
		  false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		assert_int_equal(has_step(x.g[0], HN_STEP_prefetch), of[i].ahead);
		heuristics_end(&x);
	}
}

/* A product with one row reads weights that were packed before, in both orders; a matrix that is no
 * constant is read as it lies. */
static void one_row_reads_packed_weights(void **state)
{
	static const struct {
		const char *text;
		bool packs;
	} of[] = {
		{ "f(float32 X[1,768], const W[768,768]) -> Y { Y(i,f) +=! X(i,k) * W(f,k) }", true },
		{ "f(float32 X[1,768], const W[768,3072]) -> Y { Y(i,f) +=! X(i,k) * W(k,f) }", true },
		{ "f(float32 X[1,768], W[768,3072]) -> Y { Y(i,f) +=! X(i,k) * W(k,f) }", false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		assert_int_equal(has_step(x.g[0], HN_STEP_pack), of[i].packs);
		heuristics_end(&x);
	}
}

/* Rows of 1024 channels begin in one set of the first cache: no more of them than it has ways. */
static void rows_of_a_tile_have_sets_of_their_own(void **state)
{
	static const struct {
		const char *text;
		bool split;
	} of[] = {
		{ "f(float32 X[14,14,1024], const float32 W[256,1024]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(f,c) }",
		  true },
		{ "f(float32 X[14,14,960], const float32 W[256,960]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(f,c) }",
		  false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_begin(&x, AVX512);
		x.on.param[HN_PARAM_L1_BYTES] = 32768;
		x.on.param[HN_PARAM_FMA_PER_CYCLE] = 1;
		heuristics_of(&x, of[i].text);
		const char *steps = heuristics_steps(&x, 0);

		if ((strstr(steps, ", 14, [") != NULL) != of[i].split) {
			fail_msg("%s", steps);
		}
		heuristics_end(&x);
	}
}

/* A short reduction to results that the second cache does not hold: tiles of whole runs of
 * channels, and all panels for a row before the next one. */
static void many_results_are_written_in_runs(void **state)
{
	static const struct {
		const char *text;
		bool runs;
	} of[] = {
		{ "f(float32 X[56,56,64], const float32 W[256,64]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(f,c) }",
		  true },
		{ "f(float32 X[14,14,64], const float32 W[256,64]) -> Y {"
		  " Y(h,w,f) +=! X(h,w,c) * W(f,c) }",
		  false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_begin(&x, AVX512_OF("1"));
		x.on.param[HN_PARAM_FMA_PER_CYCLE] = 1;
		heuristics_of(&x, of[i].text);
		const struct hn_node *root = heuristics_tree(&x, 0);
		int32_t panels = depth_of(root, of[i].runs ? 4 : 8);

		if ((strstr(heuristics_steps(&x, 0), ", 256, [64], 1]") != NULL) !=
			    of[i].runs ||
		    panels < 0 || (depth_of(root, of[i].runs ? 56 : 14) < panels) != of[i].runs) {
			fail_msg("%s", heuristics_steps(&x, 0));
		}
		heuristics_end(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_follow_the_registers),
		cmocka_unit_test(far_rows_are_fetched_ahead),
		cmocka_unit_test(constants_are_prepared),
		cmocka_unit_test(panels_are_packed_in_turn),
		cmocka_unit_test(attention_goes_by_blocks_of_rows),
		cmocka_unit_test(small_weights_stay),
		cmocka_unit_test(streamed_rows_are_blocked),
		cmocka_unit_test(short_pieces_are_fetched_ahead),
		cmocka_unit_test(residuals_are_fetched_ahead),
		cmocka_unit_test(one_row_reads_packed_weights),
		cmocka_unit_test(rows_of_a_tile_have_sets_of_their_own),
		cmocka_unit_test(many_results_are_written_in_runs),
	};

	return cmocka_run_group_tests_name("sketch heuristic products", tests, NULL,
					   NULL);
}
