/* Heuristics of what memory bounds: rows that boil down to a number, and columns. */
#include "tests/lib/heuristic_bed.h"

#define SOFTMAX(rows, columns)                                                           \
	"softmax(float32 A[" rows "," columns "]) -> Y {\n\tM(i) max=! A(i, k)\n"        \
	"\tE(i, j) = exp(A(i, j) - M(i))\n\tS(i) +=! E(i, k)\n"                          \
	"\tY(i, j) = E(i, j) / S(i)\n}\n"

/* What a row boils down to is made for as many rows as the first cache holds; the rest of a
 * row with them, when that fits too, else row by row. */
static void short_rows_go_in_blocks(void **state)
{
	static const struct {
		const char *text, *steps;
	} of[] = {
		{ SOFTMAX("1536", "128"),
		  "[[\"SP\", 4, 0, 1536, [16], 1], [\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], "
		  "[\"CA\", 2, 4, 0], [\"CA\", 1, 4, 0]]" },
		{ SOFTMAX("128", "700"),
		  "[[\"SP\", 4, 0, 128, [8], 1], [\"AN\", 4, 0, 3], [\"CA\", 3, 4, 1], "
		  "[\"CA\", 2, 4, 1], [\"CA\", 1, 4, 0]]" },
		{ SOFTMAX("128", "5000"),
		  "[[\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], [\"CA\", 2, 4, 0], "
		  "[\"CA\", 1, 4, 0]]" },
		{ SOFTMAX("15", "900"),
		  "[[\"AN\", 4, 0, 3], [\"CA\", 3, 4, 0], [\"CA\", 2, 4, 0], "
		  "[\"CA\", 1, 4, 0]]" },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_begin(&x, AVX512);
		x.on.param[HN_PARAM_L1_BYTES] = 49152;
		x.on.param[HN_PARAM_NUM_CORES] = 2;
		heuristics_of(&x, of[i].text);
		assert_string_equal(heuristics_steps(&x, 0), of[i].steps);
		heuristics_end(&x);
	}
}

/* Long columns: a strip as wide as a core's share, some rows at a time, is all that is read in
 * between; and what reads the sums element by element joins the strip.  A strip too narrow to
 * be fetched ahead is none: four cores would have 256 numbers each. */
static void long_columns_go_in_strips(void **state)
{
	static const struct {
		const char *text;
		bool strips;
	} of[] = {
		{ "f(float32 A[1900,2100], t[1900]) -> Y { Y(j) +=! A(i,j) * t(i) }",
		  true },
		{ "f(float32 A[1900,2100], t[1900], b[2100]) -> Y {"
		  " S(j) +=! A(i,j) * t(i)  Y(j) = S(j) + b(j) }",
		  true },
		{ "f(float32 A[1900,1024], t[1900]) -> Y { Y(j) +=! A(i,j) * t(i) }",
		  false },
		{ "f(float32 A[60,2100], t[60]) -> Y { Y(j) +=! A(i,j) * t(i) }", false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		struct heuristics x;

		heuristics_open(&x, AVX512, of[i].text);
		const struct hn_node *root = heuristics_tree(&x, 0);
		/* 1900 = 119 parts of 16; 2100 = 4 strips of 17 vectors by two */
		bool parts = loops_of_length(root, HN_ITER_REDUCE, 119) == 1 &&
			     loops_of_length(root, HN_ITER_REDUCE, 16) == 1;
		bool strips = loops_of_length(root, HN_ITER_SPATIAL, 4) == 1 &&
			      loops_of_length(root, HN_ITER_SPATIAL, 17) == 1;

		if (parts != of[i].strips || strips != of[i].strips) {
			fail_msg("%s", of[i].text);
		}
		heuristics_end(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_rows_go_in_blocks),
		cmocka_unit_test(long_columns_go_in_strips),
	};

	return cmocka_run_group_tests_name("sketch heuristic rows", tests, NULL, NULL);
}
