/* Weights in a file: each where it is said to be, aligned; equal ones and fills once; the same
 * bytes twice; and a full disk said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "graph/library/weights.h"

static void read_back(const struct hn_weights *w, struct hn_buf *ret)
{
	char dir[] = "/tmp/hone-weights-XXXXXX", path[64];
	struct hn_err err = { 0 };

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/w", dir);
	if (hn_weights_write(w, path, false, &err) != 0 ||
	    hn_file_read(path, 1 << 28, ret, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(ret->n, w->n_bytes);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* What the weight is, byte by byte. */
static unsigned char byte_of(const struct hn_weight *w, uint64_t i)
{
	return w->bytes ? ((const unsigned char *)w->bytes)[i]
			: (unsigned char)(w->element >> (8 * (i % w->unit)));
}

static void check(const struct hn_weight *w, uint32_t n, const struct hn_weights *p)
{
	struct hn_buf file;

	hn_buf_init(&file);
	read_back(p, &file);
	assert_int_equal(p->n_bytes % HN_WEIGHTS_PAGE, 0);
	if (n > 0) {
		uint64_t stamp;

		assert_memory_equal(file.s, HN_WEIGHTS_WORD, 8);
		memcpy(&stamp, file.s + 8, 8); /* little endian */
		assert_int_equal(stamp, p->stamp);
	}
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(p->offset[i] % HN_WEIGHTS_ALIGN, 0);
		for (uint64_t k = 0; k < w[i].n_bytes; k++) {
			if ((unsigned char)file.s[p->offset[i] + k] !=
			    byte_of(&w[i], k)) {
				fail_msg("weight %u, byte %llu", i,
					 (unsigned long long)k);
			}
		}
	}
	hn_buf_fini(&file);
}

static void each_is_stored_once(void **state)
{
	static const float ramp[40] = { 1, 2, 3 }, other[40] = { 1, 2, 3 },
			   ones[3] = { 1, 1, 1 };
	static const char zeros[300];
	static const struct hn_weight w[] = {
		{ ramp, 160, 4, 0 },	 { other, 160, 4, 0 },
		{ ones, 12, 4, 0 },	 { NULL, 100004, 4, 0x3f800000 },
		{ zeros, 300, 1, 0 },	 { NULL, 512, 8, 0 },
		{ ramp, 4, 4, 0 }, /* 1.0f alone */
		{ NULL, 0, 4, 7 },	 { ramp, 156, 4, 0 },
		{ NULL, 64, 2, 0x1234 },
	};
	struct hn_err err = { 0 };
	struct hn_weights p;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_weights_plan(w, HN_COUNT_OF(w), &a, &p, &err), 0);
	check(w, HN_COUNT_OF(w), &p);
	assert_int_equal(p.offset[0], p.offset[1]);
	assert_int_equal(p.offset[2], p.offset[3]);
	assert_int_equal(p.offset[6], p.offset[3]);
	assert_int_equal(p.offset[4], p.offset[5]);
	assert_int_equal(
		p.n_entry,
		6); /* ramp, ones, zeros, sevens of no length, shorter ramp, 0x1234 */
	assert_int_equal(p.n_bytes, 25 * 4096); /* 100004 and little else */
	hn_arena_fini(&a);
}

static void any_weights_come_back(void **state)
{
	struct hn_rng rng = hn_rng_stream(3, 0, 0, 0);
	static unsigned char pool[4096];
	struct hn_weight w[60];
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < sizeof pool; i++) {
		pool[i] = i < 2048 ? (unsigned char)(i % 4)
				   : (unsigned char)hn_rng_below(&rng, 256);
	}
	for (int round = 0; round < 200; round++) {
		uint32_t n = (uint32_t)hn_rng_below(&rng, HN_COUNT_OF(w) + 1);
		struct hn_err err = { 0 };
		struct hn_weights p;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t unit = 1u << hn_rng_below(&rng, 4);
			bool fill = hn_rng_below(&rng, 2);

			w[i] = (struct hn_weight){
				fill ? NULL : pool + 8 * hn_rng_below(&rng, 400),
				unit * hn_rng_below(&rng, 100), unit,
				hn_rng_below(&rng, 3)
			};
		}
		assert_int_equal(hn_weights_plan(w, n, &a, &p, &err), 0);
		check(w, n, &p);
		hn_arena_reset(&a);
	}
	hn_arena_fini(&a);
}

static uint64_t stamp_of(const float *x, uint64_t n, uint64_t n_ones)
{
	const struct hn_weight w[] = { { x, 4 * n, 4, 0 }, { NULL, 4 * n_ones, 4, 0x3f800000 } };
	struct hn_err err = { 0 };
	struct hn_weights p;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_weights_plan(w, HN_COUNT_OF(w), &a, &p, &err), 0);
	hn_arena_fini(&a);
	return p.stamp;
}

/* Whatever changes in the file changes its stamp, and nothing else does. */
static void the_stamp_is_of_the_bytes(void **state)
{
	static float x[8] = { 1, 2 }, y[8] = { 1, 2 };
	uint64_t stamp = stamp_of(x, 8, 5);

	(void)state;
	assert_int_not_equal(stamp, 0);
	assert_int_equal(stamp_of(y, 8, 5), stamp);
	assert_int_not_equal(stamp_of(x, 7, 5), stamp);
	assert_int_not_equal(stamp_of(x, 8, 6), stamp);
	y[7] = -1e-30F;
	assert_int_not_equal(stamp_of(y, 8, 5), stamp);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		struct hn_weight w;
		const char *says;
	} rows[] = {
		{ { NULL, 9, 4, 0 }, "weight 0: a fill of 9 bytes by elements of 4" },
		{ { NULL, 9, 3, 0 }, "weight 0: a fill" },
		{ { NULL, 9, 0, 0 }, "weight 0: a fill" },
		{ { "", UINT64_MAX, 1, 0 }, "weight 0: more than 2^50 bytes" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_weights p;
		struct hn_err err = { 0 };

		assert_int_not_equal(hn_weights_plan(&rows[i].w, 1, &a, &p, &err), 0);
		assert_non_null(strstr(err.msg, rows[i].says));
	}
	hn_arena_fini(&a);
}

static void trouble_is_said(void **state)
{
	static const struct hn_weight w = { NULL, 4096, 4, 1 };
	struct hn_err err = { 0 };
	struct hn_weights p;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_weights_plan(&w, 1, &a, &p, &err), 0);
	assert_int_equal(hn_weights_write(&p, "/nowhere/w", true, &err), -HONE_E_IO);
	assert_non_null(strstr(err.msg, "/nowhere/w: "));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_stored_once),
		cmocka_unit_test(any_weights_come_back),
		cmocka_unit_test(the_stamp_is_of_the_bytes),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(trouble_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
