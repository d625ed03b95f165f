/* Results stored past the caches: right wherever an argument begins, and only where the
 * kernel's data exceeds the caches and nobody reads them again. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

/* This machine, with caches that hold next to nothing. */
static int setup_small(void **state)
{
	struct hn_err err;
	struct fixture *f;

	if (setup(state) != 0) {
		return -1;
	}
	f = *state;
	hn_emitter_free(f->em);
	f->host.param[HN_PARAM_L2_BYTES] = 64;
	return hn_emitter_new(&f->host, &f->em, &err);
}

/* Arguments end where a page does: those of whole lines begin on one, the others do not. */
static const char *const forms[] = {
	"f(float32 X[13,64], Z[13,64]) -> Y { Y(i,j) = X(i,j) + Z(i,j) }",
	"f(float32 X[1003], Z[1003]) -> Y { Y(i) = max(X(i) + Z(i), 0) }",
	"f(float32 X[13,67]) -> Y { Y(i,j) = X(i,j) * 2.0 }",
	"f(float64 X[9,40]) -> Y { Y(i,j) = X(i,j) * X(i,j) }",
	"f(int8 X[7,192]) -> Y { Y(i,j) = X(i,j) + 1 }",
	"f(float32 X[9,9,48]) -> Y { Y(i,j,c) max=! X(i+r,j+s,c)"
	" where i in 0:7, j in 0:7, r in 0:3, s in 0:3 }",
	"f(float32 X[300,32]) -> Y { Y(i) +=! X(k,i) }",
	"f(float32 X[32,48]) -> Y { Y(i,j) = X(j,i) where i in 0:48, j in 0:32 }",
	"f(float32 X[6,128]) -> Y { Y(i,j) = exp(X(i,j)) }",
	"f(float32 X[5,64]) -> Y, Z { Y(i,j) = X(i,j) + 1.0\n Z(i,j) = Y(i,j) * 2.0 }",
};

static void histories(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		check_form(*state, forms[i], 12);
	}
}

#ifdef LOWER_FORMS_X86
#define WIDE "cpu -isa=x86-64-avx512 -num_cores=2 -vector_unit_bytes=64 -l2_bytes="

static int setup_wide_small(void **state)
{
	return setup_on(state, WIDE "64");
}

static int setup_wide_large(void **state)
{
	return setup_on(state, WIDE "16777216");
}

static void whole_lines_go_past(void **state)
{
	const char *text = ir_of(*state, forms[0]);

	assert_non_null(strstr(text, "!nontemporal"));
	assert_non_null(strstr(text, "sfence"));
	assert_non_null(strstr(ir_of(*state, forms[5]), "!nontemporal"));
	/* rows of 67 begin anywhere */
	assert_null(strstr(ir_of(*state, forms[2]), "!nontemporal"));
	/* too long a reduction for its results to matter */
	assert_null(strstr(ir_of(*state, forms[6]), "!nontemporal"));
}

/* By another kernel: it is in the cache that the cores share, unless that is small as well. */
static void what_is_read_soon_stays(void **state)
{
	const struct hn_emit_options soon = { .symbol = "k", .want_ir = true, .read_soon = true };
	struct fixture *f = *state;
	struct hn_err err;

	assert_null(strstr(ir_with(f, forms[0], soon), "!nontemporal"));
	hn_emitter_free(f->em);
	f->host.param[HN_PARAM_L3_BYTES] = 4096;
	assert_int_equal(hn_emitter_new(&f->host, &f->em, &err), 0);
	assert_non_null(strstr(ir_with(f, forms[0], soon), "!nontemporal"));
}

static void what_is_read_again_stays(void **state)
{
	const char *text = ir_of(*state, forms[9]), *at = text;
	int stores = 0;

	while ((at = strstr(at, "!nontemporal")) != NULL) {
		at++;
		stores++;
	}
	/* Z's rows of 64: one tile of four vectors; none of Y's */
	assert_int_equal(stores, 4);
}

static void what_the_caches_hold_stays(void **state)
{
	assert_null(strstr(ir_of(*state, forms[0]), "!nontemporal"));
	assert_null(strstr(ir_of(*state, forms[0]), "sfence"));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup_small, teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(whole_lines_go_past, setup_wide_small,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_read_soon_stays, setup_wide_small,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_read_again_stays,
						setup_wide_small, teardown),
		cmocka_unit_test_setup_teardown(what_the_caches_hold_stays,
						setup_wide_large, teardown),
#endif
	};

	return cmocka_run_group_tests_name("lower past", tests, NULL, NULL);
}
