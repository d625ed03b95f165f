/* Products on the NPU's cube: numbers against plain loops, in every way of making them; what flags
 * and slots are worth; how near to the cube's peak a large one comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_insn.h"
#include "target/npu/npu_run.h"
#include "tests/lib/npu_spoiled.h"

struct bed {
	struct hn_arena a;
	struct hn_npu_profile m;
	const struct hn_npu_program *p;
	struct hn_npu_order_facts facts;
	struct hn_npu_result r;
	struct hn_err err;
	void *gm[3];
};

static struct hn_npu_product plan(struct bed *b, const char *profile, int64_t m, int64_t n, int64_t k)
{
	struct hn_npu_product p = { .m = m, .n = n, .k = k, .result = HN_F16, .order = HN_NPU_FLAGS };

	*b = (struct bed){ 0 };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &b->m, &b->err), 0);
	hn_npu_product_plan(&b->m, &p);
	return p;
}

static void make(struct bed *b, const struct hn_npu_product *p)
{
	if (hn_npu_product(p, &b->m, &b->a, &b->p, &b->facts, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
}

static void run(struct bed *b, struct hn_npu_options o)
{
	if (hn_npu_run(b->p, &b->m, &o, &b->a, &b->r, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
}

static void fill(struct bed *b)
{
	for (int i = 0; i < 3; i++) {
		b->gm[i] = hn_arena_alloc(&b->a, (size_t)b->p->buffer[i].bytes);
	}
	for (int i = 0; i < 2; i++) {
		for (int64_t k = 0; k < b->p->buffer[i].n_elem; k++) {
			((uint16_t *)b->gm[i])[k] = hn_half_of_float((float)(k * (i + 3) % 7 - 3) / 4);
		}
	}
}

/* All sums here are exact. */
static void compare(const struct bed *b, const struct hn_npu_product *p)
{
	const uint16_t *x = b->gm[0], *y = b->gm[1];

	for (int64_t i = 0; i < p->m * p->n; i++) {
		float sum = 0, got = p->result == HN_F16 ? hn_half_to_float(((uint16_t *)b->gm[2])[i])
							 : ((float *)b->gm[2])[i];

		for (int64_t k = 0; k < p->k; k++) {
			sum += hn_half_to_float(x[i / p->n * p->k + k]) *
			       hn_half_to_float(y[k * p->n + i % p->n]);
		}
		sum = p->result == HN_F16 ? hn_half_to_float(hn_half_of_float(sum)) : sum;
		if (got != sum) {
			fail_msg("element %lld: %g, not %g", (long long)i, (double)got, (double)sum);
		}
	}
}

static void numbers_are_right(void **state)
{
	static const int64_t sizes[][3] = { { 64, 64, 64 }, { 96, 32, 48 }, { 32, 160, 80 }, { 128, 128, 256 },
					    { 16, 16, 16 } };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(sizes) * 4; i++) {
		const int64_t *s = sizes[i / 4];
		struct bed b;
		struct hn_npu_product p = plan(&b, "tiny", s[0], s[1], s[2]);

		p.result = i % 2 == 0 ? HN_F16 : HN_F32;
		p.order = i % 4 < 2 ? HN_NPU_FLAGS : HN_NPU_BARRIERS;
		make(&b, &p);
		fill(&b);
		run(&b, (struct hn_npu_options){ .gm = b.gm, .judge = true });
		compare(&b, &p);
		hn_arena_fini(&b.a);
	}
}

static void no_order_matters(void **state)
{
	struct bed b;
	struct hn_npu_product p = plan(&b, "tiny", 64, 64, 64);

	(void)state;
	p.m0 = p.n0 = p.k0 = 16;
	p.k1 = 32;
	p.slots_l0c = 2;
	make(&b, &p);
	fill(&b);
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		run(&b, (struct hn_npu_options){ .gm = b.gm, .seed = seed, .judge = seed % 50 == 0 });
		if (seed % 50 == 0) {
			compare(&b, &p);
		}
	}
	hn_arena_fini(&b.a);
}

static void each_flag_is_needed(void **state)
{
	struct bed b;
	struct hn_npu_product p = plan(&b, "tiny", 64, 64, 64);
	uint32_t n;

	(void)state;
	p.m0 = p.n0 = p.k0 = 16;
	p.k1 = 32;
	p.slots_l0c = 2;
	make(&b, &p);
	n = npu_each_flag_is_needed(b.p, &b.m);
	print_message("each of %u flags is needed\n", n);
	assert_true(n > 20);
	hn_arena_fini(&b.a);
}

/* Cycles are the model's, and so exact. */
static void slots_and_flags_are_worth_something(void **state)
{
	struct bed b;
	struct hn_npu_product p = plan(&b, "dv910", 2048, 2048, 2048);
	int64_t cycles[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		p.order = i == 0 ? HN_NPU_BARRIERS : HN_NPU_FLAGS;
		p.slots_l0 = p.slots_l1 = i == 2 ? 2 : 1;
		make(&b, &p);
		run(&b, (struct hn_npu_options){ 0 });
		cycles[i] = b.r.core_cycles;
	}
	print_message("2048^3: barriers %lld, flags %lld, two slots %lld\n", (long long)cycles[0],
		      (long long)cycles[1], (long long)cycles[2]);
	assert_true(cycles[0] > cycles[1] && cycles[1] * 10 > cycles[2] * 13);
	hn_arena_fini(&b.a);
}

static void a_large_product_is_near_the_peak(void **state)
{
	struct bed b;
	struct hn_npu_product p = plan(&b, "dv910", 4096, 4096, 4096);
	double peak = 4096.0 * 4096 * 4096 / 4096 / 32, part;

	(void)state;
	make(&b, &p);
	run(&b, (struct hn_npu_options){ 0 });
	part = peak / (double)b.r.cycles;
	print_message("4096^3 on %lld x %lld cores, tiles %lld x %lld x %lld of %lld: %lld cycles, %.3f of "
		      "the peak; %u flags, %u barriers\n", (long long)p.cores_m, (long long)p.cores_n,
		      (long long)p.m0, (long long)p.n0, (long long)p.k0, (long long)p.k1,
		      (long long)b.r.cycles, part, b.facts.n_flag, b.facts.n_whole);
	print_message("busy: V %lld M %lld MTE1 %lld MTE2 %lld MTE3 %lld\n", (long long)b.r.busy[1],
		      (long long)b.r.busy[2], (long long)b.r.busy[3], (long long)b.r.busy[4],
		      (long long)b.r.busy[5]);
	assert_true(part >= 0.85 && part <= 1);
	assert_int_equal(b.facts.n_whole, 0);
	hn_arena_fini(&b.a);
}

static void what_does_not_fit_is_told(void **state)
{
	struct bed b;
	struct hn_npu_product p = plan(&b, "tiny", 64, 64, 64);

	(void)state;
	p.k0 = 24;
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(b.err.msg, "64 x 64 x 64"));
	assert_non_null(strstr(b.err.msg, "tiles are whole fractals"));
	p = (struct hn_npu_product){ .m = 64, .n = 64, .k = 64, .result = HN_I8 };
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_INVALID);
	p = (struct hn_npu_product){ .m = 1024, .n = 1024, .k = 64, .result = HN_F32, .cores_m = 1,
				     .cores_n = 1, .m0 = 512, .n0 = 512, .k0 = 16, .k1 = 16,
				     .slots_l0 = 1, .slots_l1 = 1, .slots_l0c = 1 };
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(b.err.msg, "do not fit into the buffers"));
	p.m = INT64_MAX;
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(b.err.msg, "sizes are 1 to"));
	hn_arena_fini(&b.a);
	p = plan(&b, "tiny", 64, 63, 64);
	p.cores_n = 2;
	p.cores_m = p.cores_b = 1;
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(b.err.msg, "two cores would write to one block"));
	hn_arena_fini(&b.a);
	p = plan(&b, "tiny", 16384, 16384, 16384);
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_UNSUPPORTED);
	p.m0 = p.n0 = p.k0 = p.k1 = 16;
	p.cores_m = p.cores_n = p.slots_l0 = p.slots_l1 = p.slots_l0c = 1;
	assert_int_equal(hn_npu_product(&p, &b.m, &b.a, &b.p, NULL, &b.err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(b.err.msg, "too many for one program"));
	hn_arena_fini(&b.a);
}

/* Whatever the sizes: no plan of the list is refused, and all of them are judged clean. */
static void all_plans_make_programs(void **state)
{
	struct hn_rng rng = hn_rng_stream(5, 0, 0, 0);
	uint32_t made = 0;

	(void)state;
	for (int i = 0; i < 240; i++) {
		struct hn_npu_product plans[HN_NPU_MOST_PLANS];
		int64_t s[3];
		struct bed b;

		for (int k = 0; k < 3; k++) {
			s[k] = 1 + (int64_t)hn_rng_below(&rng, i % 3 == 0 ? 300 : 60);
			s[k] = hn_rng_below(&rng, 3) == 0 ? (s[k] + 15) / 16 * 16 : s[k];
		}
		struct hn_npu_product p = plan(&b, i % 8 ? "tiny" : "dv910", s[0], s[1], s[2]);
		uint32_t n = hn_npu_product_plans(&b.m, &p, HN_NPU_MOST_PLANS, plans);

		assert_true(n > 0);
		for (uint32_t k = 0; k < n; k++, made++) {
			make(&b, &plans[k]);
			run(&b, (struct hn_npu_options){ .judge = true });
		}
		hn_arena_fini(&b.a);
	}
	print_message("%u plans of 240 sizes made\n", made);
}

static void odd_sizes_are_right(void **state)
{
	static const int64_t sizes[][3] = { { 1, 1, 1 }, { 77, 30, 51 }, { 17, 48, 5 }, { 100, 100, 100 }, { 1, 200, 33 },
					    { 65, 1, 20 } };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(sizes) * 4; i++) {
		const int64_t *s = sizes[i / 4];
		struct bed b;
		struct hn_npu_product p = plan(&b, i % 2 ? "tiny" : "dv910", s[0], s[1], s[2]);

		p.result = i % 4 < 2 ? HN_F16 : HN_F32;
		hn_npu_product_plan(&b.m, &p);
		make(&b, &p);
		fill(&b);
		run(&b, (struct hn_npu_options){ .gm = b.gm, .judge = true });
		compare(&b, &p);
		hn_arena_fini(&b.a);
	}
}

static void code_that_grew_too_long_is_refused(void **state)
{
	const struct hn_npu_program *made;
	struct hn_npu_profile tiny;
	struct hn_buf text;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	assert_int_equal(hn_npu_profile_of("tiny", &tiny, &err), 0);
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	text.max_bytes = 64;
	hn_buf_printf(&text, "%0100d", 0);
	assert_int_equal(hn_npu_order_text(&text, &tiny, HN_NPU_FLAGS, &a, &made, NULL, &err),
			 -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "too many tiles for one program"));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_right),
		cmocka_unit_test(odd_sizes_are_right),
		cmocka_unit_test(all_plans_make_programs),
		cmocka_unit_test(no_order_matters),
		cmocka_unit_test(each_flag_is_needed),
		cmocka_unit_test(slots_and_flags_are_worth_something),
		cmocka_unit_test(a_large_product_is_near_the_peak),
		cmocka_unit_test(what_does_not_fit_is_told),
		cmocka_unit_test(code_that_grew_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
