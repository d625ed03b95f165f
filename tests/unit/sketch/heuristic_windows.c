/* Heuristics of windows: convolutions plain, padded, transposed and by channel. */
#include "tests/lib/heuristic_bed.h"

/* The zeros between the elements of a transposed convolution are read where they are
 * multiplied, in nests of one remainder each: rows and taps are split by the stride. */
static void remainders_get_nests_of_their_own(void **state)
{
	const char *text =
		"f(float32 X[1,8,8,64], W[9,9,64,48]) -> Y {"
		" P(n,h,w,c) = h >= 6 && h < 30 && (h-6)%3==0 && w >= 6 && w < 30 &&"
		"   (w-6)%3==0 ? X(n,(h-6)/3,(w-6)/3,c) : 0 where h in 0:32, w in 0:32"
		" Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(8-r,8-s,c,f)"
		"   where h in 0:24, w in 0:24 }";
	struct heuristics x;

	(void)state;
	heuristics_open(&x, AVX512, text);
	assert_true(x.n > 1);
	assert_true(has_step(x.g[0], HN_STEP_compute_inline));
	const struct hn_node *root = heuristics_tree(&x, 0);
	/* 9 taps each way: 3 remainders of 3 */
	assert_int_equal(loops_of_length(root, HN_ITER_REDUCE, 9), 0);
	assert_int_equal(loops_of_length(root, HN_ITER_REDUCE, 3), 4);
	heuristics_end(&x);
}

/* An axis that is split by remainders meets no pads of its own: a tile has several rows of it. */
static void remainders_have_tiles_of_rows(void **state)
{
	const char *text =
		"f(float32 X[1,4,4,512], const W[4,4,512,256]) -> Y {"
		" P(n,h,w,c) = h >= 2 && h < 9 && (h-2)%2==0 && w >= 2 && w < 9 &&"
		"   (w-2)%2==0 ? X(n,(h-2)/2,(w-2)/2,c) : 0 where h in 0:11, w in 0:11"
		" Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(3-r,3-s,c,f)"
		"   where h in 0:8, w in 0:8 }";
	struct heuristics x;

	(void)state;
	heuristics_begin(&x, AVX512);
	x.on.param[HN_PARAM_FMA_PER_CYCLE] = 1;
	heuristics_of(&x, text);
	/* remainders, n, panels, the reduction, 4 x 4 pixels of a remainder by a vector */
	const char *steps = heuristics_steps(&x, 0);

	if (!strstr(steps, "[2, 4, 0, 5, 8, 10, 7, 9, 11, 1, 3, 6]")) {
		fail_msg("%s", steps);
	}
	heuristics_end(&x);
}

/* Weights that no cache of a core holds go by once: the padding of a small image is not
 * made a block of rows at a time inside of a loop over the weights. */
static void large_weights_stream_once(void **state)
{
	static const struct {
		const char *text;
		bool attached;
	} of[] = {
		{ "f(float32 X[1,7,7,512], W[3,3,512,512]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 8 && w >= 1 && w < 8 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:9, w in 0:9"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) }",
		  false },
		{ "f(float32 X[1,56,56,64], W[3,3,64,64]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 57 && w >= 1 && w < 57 ? X(n,h-1,w-1,c) : "
		  "0"
		  "   where h in 0:58, w in 0:58"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) }",
		  true },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		uint32_t k = 0;

		while (k < x.n && has_step(x.g[k], HN_STEP_compute_inline)) {
			k++;
		}
		assert_true(k < x.n);
		assert_int_equal(has_step(x.g[k], HN_STEP_compute_at), of[i].attached);
		heuristics_end(&x);
	}
}

/* The reduction loops down to the statement, outside in; how many. */
static uint32_t reduction_of(const struct hn_node *n, int64_t *extent)
{
	uint32_t k = 0;

	for (; n->kind != HN_NODE_STMT; n = n->child[n->n_child - 1]) {
		if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE) {
			extent[k++] = n->extent;
		}
	}
	return k;
}

/* Channels in parts whose weights a second cache holds, the window inside, the pads read
 * where they are multiplied: one of the heuristics of a convolution. */
static void channels_in_parts_around_the_window(void **state)
{
	static const char text[] =
		"f(float32 X[1,14,14,256], W[3,3,256,256]) -> Y {"
		" P(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? X(n,h-1,w-1,c) : 0"
		"   where h in 0:16, w in 0:16"
		" Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f) }";
	struct heuristics x;
	bool any = false;

	(void)state;
	heuristics_begin(&x, AVX512);
	x.on.param[HN_PARAM_L2_BYTES] = 2 << 20;
	heuristics_of(&x, text);

	for (uint32_t k = 0; k < x.n; k++) {
		int64_t e[8] = { 0 };

		const struct hn_node *root = heuristics_tree(&x, k);

		any = any || (has_step(x.g[k], HN_STEP_compute_inline) &&
			      reduction_of(root, e) == 4 && e[0] == 4 && e[1] == 3 &&
			      e[2] == 3 && e[3] == 64);
	}
	assert_true(any);
	heuristics_end(&x);
}

/* Eight sums hide an addition's latency: neighbours whose windows overlap, times vectors of
 * channels where those leave nothing over; more where no fewer divide the row.  A window's
 * rows that the first cache does not hold are gone through in strips. */
static void windows_have_eight_sums(void **state)
{
	static const struct {
		const char *text, *split, *neighbours, *order;
	} of[] = {
		{ "d(float32 x[1,114,114,64], w[3,3,64]) -> Y { Y(n,h,w1,c) +=! "
		  "x(n,h+r,w1+s,c) * w(r,s,c) where h in 0:112, w1 in 0:112 }",
		  "[\"SP\", 2, 5, 64, [32], 1]", "112, [4], 1]", "[0, 1, 3, 2, " },
		{ "d(float32 x[1,114,114,67], w[3,3,67]) -> Y { Y(n,h,w1,c) +=! "
		  "x(n,h+r,w1+s,c) * w(r,s,c) where h in 0:112, w1 in 0:112 }",
		  "[\"SP\", 2, 5, 67, [16], 1]", "112, [8], 1]", "[0, 1, 3, 2, " },
		{ "d(float32 x[1,57,59,67], w[3,3,67]) -> Y { Y(n,h,w1,c) +=! "
		  "x(n,h+r,w1+s,c) * w(r,s,c) where h in 0:55, w1 in 0:57 }",
		  ", 67, [16], 1]", ", 19], 1]", "" },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		const char *steps = heuristics_steps(&x, 0);

		if (!strstr(steps, of[i].split) || !strstr(steps, of[i].neighbours) ||
		    !strstr(steps, of[i].order)) {
			fail_msg("%s", steps);
		}
		heuristics_end(&x);
	}
}

/* A network's filters lie channel by channel, so neighbouring channels' taps are apart: constants
 * are packed before the first call, and lanes run over channels as where they lie so.  Windows
 * two apart overlap as well: neighbours are held together. */
static void filters_of_channels_are_packed(void **state)
{
	static const struct {
		const char *text;
		bool packed;
	} of[] = {
		{ "d(float32 X[1,16,16,384], const float32 W[384,1,3,3]) -> Y { Y(n,h,w,c) +=! "
		  "X(n,h+r,w+s,c) * W(c,0,r,s) where h in 0:14, w in 0:14 }",
		  true },
		{ "d(float32 X[1,29,29,384], const float32 W[384,1,3,3]) -> Y { Y(n,h,w,c) +=! "
		  "X(n,h*2+r,w*2+s,c) * W(c,0,r,s) where h in 0:14, w in 0:14 }",
		  true },
		{ "d(float32 X[1,16,16,384], float32 W[384,1,3,3]) -> Y { Y(n,h,w,c) +=! "
		  "X(n,h+r,w+s,c) * W(c,0,r,s) where h in 0:14, w in 0:14 }",
		  false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);
		const char *steps = heuristics_steps(&x, 0);

		if (has_step(x.g[0], HN_STEP_pack) != of[i].packed) {
			fail_msg("%s", steps);
		}
		/* seven neighbours by two vectors of channels */
		if (of[i].packed && (!strstr(steps, ", 384, [32], 1]") ||
				     !strstr(steps, ", 14, [7], 1]"))) {
			fail_msg("%s", steps);
		}
		heuristics_end(&x);
	}
}

/* Pads that are read where they are multiplied are settled for the points of one row: a register
 * tile has no second one, and the whole row where it fits.  Without pads it may have two. */
static void padded_rows_are_tiles_alone(void **state)
{
	static const struct {
		const char *text, *split;
		bool there;
	} of[] = {
		{ "f(float32 X[1,14,7,256], const float32 W[256,256,3,3]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 8 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:16, w in 0:9"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(f,c,r,s) }",
		  ", 14, [2], 1]", false },
		{ "f(float32 X[1,16,9,256], const float32 W[256,256,3,3]) -> Y {"
		  " Y(n,h,w,f) +=! X(n,h+r,w+s,c) * W(f,c,r,s) where h in 0:14, w in 0:7 }",
		  ", 14, [2], 1]", true },
		/* nor pixels of several images */
		{ "f(float32 X[16,56,56,64], const float32 W[3,3,16,128]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 57 && w >= 1 && w < 57 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:58, w in 0:58"
		  " Y(n,h,w,f) +=! P(n,h*2+r,w*2+s,f/32*16+c) * W(r,s,c,f)"
		  "   where h in 0:28, w in 0:28 }",
		  ", 0, 16, [", false },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_begin(&x, AVX512);
		x.on.param[HN_PARAM_FMA_PER_CYCLE] = 1;
		heuristics_of(&x, of[i].text);
		const char *steps = heuristics_steps(&x, 0);

		if ((strstr(steps, of[i].split) != NULL) != of[i].there) {
			fail_msg("%s", steps);
		}
		heuristics_end(&x);
	}
}

/* The ends of a padded row are tiles of a point where a tile is a part of the row: the whole row is
 * one, then, though a panel is narrower for it. */
static void padded_rows_are_not_cut(void **state)
{
	static const struct {
		const char *text;
		bool cut;
	} of[] = {
		{ "f(float32 X[1,28,28,128], const float32 W[128,128,3,3]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 29 && w >= 1 && w < 29 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:30, w in 0:30"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(f,c,r,s) }",
		  false },
		{ "f(float32 X[1,30,30,128], const float32 W[128,128,3,3]) -> Y {"
		  " Y(n,h,w,f) +=! X(n,h+r,w+s,c) * W(f,c,r,s) where h in 0:28, w in 0:28 }",
		  true },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_begin(&x, AVX512);
		x.on.param[HN_PARAM_FMA_PER_CYCLE] = 1;
		heuristics_of(&x, of[i].text);
		const char *steps = heuristics_steps(&x, 0);

		if ((strstr(steps, ", 28, [") != NULL) != of[i].cut) {
			fail_msg("%s", steps);
		}
		heuristics_end(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remainders_get_nests_of_their_own),
		cmocka_unit_test(remainders_have_tiles_of_rows),
		cmocka_unit_test(large_weights_stream_once),
		cmocka_unit_test(channels_in_parts_around_the_window),
		cmocka_unit_test(windows_have_eight_sums),
		cmocka_unit_test(filters_of_channels_are_packed),
		cmocka_unit_test(padded_rows_are_tiles_alone),
		cmocka_unit_test(padded_rows_are_not_cut),
	};

	return cmocka_run_group_tests_name("sketch heuristic windows", tests, NULL, NULL);
}
