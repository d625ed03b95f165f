/* Heuristics of machines with blocks of threads: how many kernels a program is. */
#include "tests/lib/heuristic_bed.h"

#define SM90 "cuda -isa=sm_90 -num_cores=132"

/* The least kernels that any of its heuristics has. */
static uint32_t kernels_of(const char *program)
{
	struct heuristics x;
	uint32_t least = UINT32_MAX;

	heuristics_open(&x, SM90, program);
	for (uint32_t k = 0; k < x.n; k++) {
		uint32_t n = heuristics_tree(&x, k)->n_child;

		least = n < least ? n : least;
	}
	heuristics_end(&x);
	return least;
}

#define NORMALIZED(shape, at, rows)                                                                  \
	"norm(float32 A[" shape ",768]) -> Y {\n"                                                   \
	"\tM(" at ") +=! A(" at ", k)  where " rows ", k in 0:768\n"                                \
	"\tD(" at ", j) = A(" at ", j) - M(" at ") / float32(768)  where " rows ", j in 0:768\n"    \
	"\tV(" at ") +=! D(" at ", k) * D(" at ", k)  where " rows ", k in 0:768\n"                 \
	"\tY(" at ", j) = D(" at ", j) / sqrt(V(" at "))  where " rows ", j in 0:768\n}\n"

/* A batch of one does not keep sums from their rows. */
static void rows_of_one_batch_are_one_kernel(void **state)
{
	(void)state;
	assert_int_equal(kernels_of(NORMALIZED("128", "i", "i in 0:128")), 1);
	assert_int_equal(kernels_of(NORMALIZED("1,128", "b, i", "b in 0:1, i in 0:128")), 1);
	assert_int_equal(kernels_of(NORMALIZED("1,1,128", "a, b, i", "a in 0:1, b in 0:1, i in 0:128")), 1);
}

static void short_rows_are_one_kernel(void **state)
{
	static const char softmax[] = "softmax(float32 A[64,16]) -> Y {\n\tM(i) max=! A(i, k)\n"
				      "\tE(i, j) = exp(A(i, j) - M(i))\n\tS(i) +=! E(i, k)\n"
				      "\tY(i, j) = E(i, j) / S(i)\n}\n";

	(void)state;
	assert_int_equal(kernels_of(softmax), 1);
}

#define PADDED(number, sum)                                                                          \
	"f(float32 A[56,56,64], float32 W[64,3,3]) -> Y {\n"                                        \
	"\tP(y, x, c) = y >= 1 && y < 57 && x >= 1 && x < 57 ? A(y - 1, x - 1, c) : " number         \
	"  where y in 0:58, x in 0:58, c in 0:64\n"                                                 \
	"\tY(y, x, c) " sum "  where y in 0:56, x in 0:56, c in 0:64, r in 0:3, s in 0:3\n}\n"

/* A window of few terms pads by itself; so does the largest of a window. */
static void windows_pad_by_themselves(void **state)
{
	(void)state;
	assert_int_equal(kernels_of(PADDED("float32(0)", "+=! P(y + r, x + s, c) * W(c, r, s)")), 1);
	assert_int_equal(kernels_of(PADDED("(-float32(9))", "max=! P(y + r, x + s, c) + W(c, r, s)")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_one_batch_are_one_kernel),
		cmocka_unit_test(short_rows_are_one_kernel),
		cmocka_unit_test(windows_pad_by_themselves),
	};

	return cmocka_run_group_tests_name("sketch simt", tests, NULL, NULL);
}
