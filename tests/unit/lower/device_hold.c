/* Sums held while their terms go by: what is held, what is not and why, and that the numbers are the
 * same to the bit, by the device interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower/device/device_hold.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "tests/lib/device_args.h"

#define FUEL 1000000
#define MOST 2048

#define HEAD                                                                                       \
	"device/1\nglobal A float32[320] arg 0\nglobal B float32[640] arg 1\n"                     \
	"global C float32[200] arg 2\n"
#define SUM "C[((v7 * 16) + v8)] + (A[((v7 * 32) + v6)] * B[((v6 * 16) + v8)])"

static const struct program {
	const char *what, *text;
	const char *has, *lacks; /* in what becomes of it; NULL: anything */
} programs[] = {
	{ "a tile of results is held",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 32 {\n    for v7 8 {\n"
	       "      for v8 16 lanes {\n        C[((v7 * 16) + v8)] = (" SUM ")\n"
	       "      }\n    }\n  }\n}\n",
	  "local C.sum3 float32[128]", NULL },
	{ "a tile at the end is summed in memory, in loops",
	  HEAD "kernel k0 grid 3 1 1 block 1 1 1 {\n  for v6 32 {\n    for v7 4 {\n"
	       "      if (((block.x * 4) + v7) < 10) {\n        for v8 16 lanes {\n"
	       "          C[((((block.x * 4) + v7) * 16) + v8)] = (C[((((block.x * 4) + v7) * 16) + v8)] + "
	       "(A[((((block.x * 4) + v7) * 32) + v6)] * B[((v6 * 16) + v8)]))\n"
	       "        }\n      }\n    }\n  }\n}\n",
	  "roll", NULL },
	{ "conditions of terms stay inside",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 32 {\n    if (v6 < 30) {\n"
	       "      for v7 8 {\n        for v8 16 lanes {\n"
	       "          C[((v7 * 16) + v8)] = (" SUM ")\n        }\n      }\n    }\n  }\n}\n",
	  "if (v11 < 30)", NULL },
	{ "a condition of both is two",
	  HEAD "kernel k0 grid 3 1 1 block 1 1 1 {\n  for v6 32 {\n    for v7 4 {\n"
	       "      if and((v6 < 30), (((block.x * 4) + v7) < 10)) {\n        for v8 16 lanes {\n"
	       "          C[((((block.x * 4) + v7) * 16) + v8)] = (C[((((block.x * 4) + v7) * 16) + v8)] + "
	       "(A[((((block.x * 4) + v7) * 32) + v6)] * B[((v6 * 16) + v8)]))\n"
	       "        }\n      }\n    }\n  }\n}\n",
	  "if ((block.x * 4) < 7)", NULL },
	{ "of two loops over terms the outer one",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 4 {\n    for v7 8 {\n      for v8 5 {\n"
	       "        C[v7] = (C[v7] + A[((v6 * 40) + ((v7 * 5) + v8))])\n      }\n    }\n  }\n}\n",
	  "local C.sum3 float32[8]", NULL },
	{ "results that lie in one place are none of a tile",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 4 {\n    for v7 8 {\n      for v8 5 {\n"
	       "        C[(v7 + v8)] = (C[(v7 + v8)] + A[((v6 * 40) + v8)])\n      }\n    }\n  }\n}\n",
	  NULL, "C.sum3 float32[40]" },
	{ "what is read elsewhere is not held",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 4 {\n    for v7 8 {\n"
	       "      C[v7] = (C[v7] + C[((v6 * 8) + v7)])\n    }\n  }\n}\n",
	  NULL, "C.sum" },
	{ "what does not go on from turn to turn is not held",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 4 {\n    for v7 8 {\n"
	       "      C[v7] = A[((v6 * 8) + v7)]\n    }\n  }\n}\n",
	  NULL, "C.sum" },
	{ "a tile larger than the registers is held in parts",
	  HEAD "global D float32[1200] arg 3\nkernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 4 {\n"
	       "    for v7 2 {\n      for v8 5 {\n        for v9 500 {\n"
	       "          D[((v7 * 600) + v9)] = (D[((v7 * 600) + v9)] + A[((v6 * 5) + v8)])\n"
	       "        }\n      }\n    }\n  }\n}\n",
	  "local D.sum4 float32[500]", NULL },
};

static void print(const struct hn_device *d, struct hn_buf *b)
{
	hn_buf_init(b);
	hn_device_print(d, b);
}

static void judge(const struct program *p)
{
	const struct hn_device *d, *held, *again;
	struct hn_err err = { 0 };
	struct args want, got;
	struct hn_arena a;
	struct hn_buf text;

	hn_arena_init(&a, 0);
	if (hn_device_parse("t", p->text, strlen(p->text), &a, &d, &err) != 0) {
		fail_msg("%s: %s", p->what, err.msg);
	}
	held = hn_device_hold_sums(d, MOST, &a);
	print(held, &text);
	if (hn_device_verify(held, NULL, 0, &err) != 0 ||
	    hn_device_parse("held", text.s, text.n, &a, &again, &err) != 0) {
		fail_msg("%s: %s\n%s", p->what, err.msg, text.s);
	}
	make_args(d, &want);
	make_args(d, &got);
	if (hn_device_interpret(d, want.at, 0, FUEL, &err) != 0 ||
	    hn_device_interpret(held, got.at, 0, FUEL, &err) != 0) {
		fail_msg("%s: %s\n%s", p->what, err.msg, text.s);
	}
	for (uint32_t i = 0; i < want.n; i++) {
		if (memcmp(want.at[i], got.at[i], want.bytes[i]) != 0) {
			fail_msg("%s: other numbers\n%s", p->what, text.s);
		}
	}
	if ((p->has != NULL && strstr(text.s, p->has) == NULL) ||
	    (p->lacks != NULL && strstr(text.s, p->lacks) != NULL)) {
		fail_msg("%s: wants \"%s\", no \"%s\"\n%s", p->what, p->has ? p->has : "",
			 p->lacks ? p->lacks : "", text.s);
	}
	hn_buf_fini(&text);
	free_args(&want);
	free_args(&got);
	hn_arena_fini(&a);
}

static void sums_are_held(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		judge(&programs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sums_are_held) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
