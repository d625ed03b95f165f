/* Arenas: zeroed, aligned, apart from each other, and poisoned where ASan can see it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

static int is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != 0) {
			return 0;
		}
	}
	return 1;
}

static void pieces_are_zeroed_aligned_and_disjoint(void **state)
{
	struct hn_arena a;
	char *piece[300];

	(void)state;
	hn_arena_init(&a, 0);
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < HN_COUNT_OF(piece); i++) {
			piece[i] = hn_arena_alloc(&a, i * 7);
			assert_non_null(piece[i]);
			assert_int_equal((uintptr_t)piece[i] % 16, 0);
			assert_true(is_zero(piece[i], i * 7));
			memset(piece[i], (int)(i % 100) + 1, i * 7);
		}
		for (size_t i = 0; i < HN_COUNT_OF(piece); i++) {
			for (size_t j = 0; j < i * 7; j++) {
				assert_int_equal(piece[i][j], (int)(i % 100) + 1);
			}
		}
		hn_arena_reset(&a);
		assert_int_equal(a.used_bytes, 0);
	}
	hn_arena_fini(&a);
}

static void a_large_piece_fits_and_its_block_is_kept(void **state)
{
	struct hn_arena a;
	struct hn_arena_block *large;
	char *p;

	(void)state;
	hn_arena_init(&a, 0);
	hn_arena_alloc(&a, 10);
	p = hn_arena_alloc(&a, 5 << 20);
	p[(5 << 20) - 1] = 1;
	large = a.block;
	hn_arena_reset(&a);
	assert_ptr_equal(a.block, large);
	p = hn_arena_alloc(&a, 5 << 20);
	assert_ptr_equal(a.block, large);
	assert_true(is_zero(p, 5 << 20));
	hn_arena_fini(&a);
	assert_null(a.block);
}

static void an_array_grows_and_keeps_what_it_holds(void **state)
{
	struct hn_arena a;
	uint32_t *v = NULL, *before = NULL, n = 0, cap = 0, moved = 0;

	(void)state;
	hn_arena_init(&a, 0);
	for (; n < 1000; n++) {
		v = hn_arena_grow(&a, v, n, &cap, sizeof(*v));
		moved += v != before;
		before = v;
		assert_true(n < cap);
		assert_int_equal(v[n], 0);
		v[n] = n + 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(v[i], i + 1);
	}
	assert_int_equal(moved, 7); /* 16, 32, .. 1024 */
	hn_arena_fini(&a);
}

static void the_budget_is_seen(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 1000);
	hn_arena_alloc(&a, 900);
	assert_false(hn_arena_over(&a));
	hn_arena_alloc(&a, 200);
	assert_true(hn_arena_over(&a));
	hn_arena_reset(&a);
	assert_false(hn_arena_over(&a));
	hn_arena_fini(&a);
}

static void strings_are_copied(void **state)
{
	struct hn_arena a;
	char *s;

	(void)state;
	hn_arena_init(&a, 0);
	assert_string_equal(hn_arena_strdup(&a, "hone"), "hone");
	assert_string_equal(hn_arena_strndup(&a, "hone", 2), "ho");
	assert_string_equal(hn_arena_strndup(&a, "hone", 20), "hone");
	s = hn_arena_printf(&a, "%0*d", 10000, 7);
	assert_int_equal(strlen(s), 10000);
	assert_int_equal(s[9999], '7');
	hn_arena_fini(&a);
}

static void what_was_handed_out_is_poisoned_by_reset(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__)
	struct hn_arena a;
	char *p;

	hn_arena_init(&a, 0);
	p = hn_arena_alloc(&a, 100);
	assert_false(__asan_address_is_poisoned(p + 99));
	assert_true(__asan_address_is_poisoned(p + 100));
	hn_arena_reset(&a);
	assert_true(__asan_address_is_poisoned(p));
	hn_arena_fini(&a);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_aligned_and_disjoint),
		cmocka_unit_test(a_large_piece_fits_and_its_block_is_kept),
		cmocka_unit_test(an_array_grows_and_keeps_what_it_holds),
		cmocka_unit_test(the_budget_is_seen),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(what_was_handed_out_is_poisoned_by_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
