/* Memory plans: right for any tensors, by a judge that plays the program; near what no plan can
 * go below for programs shaped like networks; the same for the same input; and refused where the
 * input makes no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tests/lib/plan_judge.h"
#include "tests/lib/plan_nets.h"

static struct pn net;

static const struct family {
	const char *name;
	void (*make)(struct pn *x, uint32_t n);
	uint32_t n;	/* at most, of what it is made of */
	double at_most; /* of its plans, nine in ten are this near the bound; all that are at it */
} families[] = {
	{ "chain", pn_chain, 40, 1.0 },	  { "residual", pn_residual, 12, 1.05 },
	{ "dense", pn_dense, 5, 1.05 },	  { "inception", pn_inception, 9, 1.05 },
	{ "ladder", pn_ladder, 6, 1.05 }, { "transformer", pn_transformer, 6, 1.05 },
	{ "any", pn_any, 60, INFINITY },  { "crowd", pn_crowd, 80, INFINITY },
};

static void draw(const struct family *f, uint64_t seed)
{
	net.n = net.step = 0;
	net.rng = hn_rng_stream(seed, (uint64_t)(f - families), 0, 0);
	f->make(&net, pn_draw(&net, 1, f->n));
}

static void judge(struct hn_arena *a, struct hn_plan *ret)
{
	struct hn_err err = { 0 };
	char why[200];

	if (hn_plan_make(net.t, net.n, a, ret, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	if (!pj_judge(net.t, net.n, ret, why)) {
		fail_msg("%s", why);
	}
	if (ret->peak_bytes < ret->bound_bytes) {
		fail_msg("%llu bytes, below what none can be below, %llu",
			 (unsigned long long)ret->peak_bytes,
			 (unsigned long long)ret->bound_bytes);
	}
}

static void plans_are_right_and_small(void **state)
{
	enum { SEEDS = 300 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t k = 0; k < HN_COUNT_OF(families); k++) {
		const struct family *f = &families[k];
		double sum = 0, worst = 1;
		unsigned near = 0;

		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct hn_plan p;

			draw(f, seed);
			judge(&a, &p);
			double ratio = p.bound_bytes ? (double)p.peak_bytes /
							       (double)p.bound_bytes
						     : 1;

			sum += log(ratio);
			worst = ratio > worst ? ratio : worst;
			near += ratio <= f->at_most;
			hn_arena_reset(&a);
		}
		print_message("%-12s peak / bound: mean %.4f, worst %.3f\n", f->name,
			      exp(sum / SEEDS), worst);
		assert_true(near * 10 >= SEEDS * (f->at_most > 1.0 ? 9 : 10));
	}
	hn_arena_fini(&a);
}

/* Two tensors with bytes, of different roots, alive at one step, neither in the other's place. */
static bool can_clash(const struct hn_plan *p, uint32_t i, uint32_t k)
{
	const struct hn_plan_tensor *x = &net.t[i], *y = &net.t[k];

	return i != k && x->alias != HN_PLAN_SLICE && y->alias != HN_PLAN_SLICE &&
	       x->bytes > 0 && y->bytes > 0 && x->first <= y->last &&
	       y->first <= x->last && !(p->in_place[i] && x->of == k) &&
	       !(p->in_place[k] && y->of == i);
}

/* The judge has teeth: of each plan, a tensor moved onto another. */
static void planted_overlaps_are_found(void **state)
{
	unsigned planted = 0;
	struct hn_arena a;
	char why[200];

	(void)state;
	hn_arena_init(&a, 0);
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct hn_plan p;

		draw(&families[seed % HN_COUNT_OF(families)], seed);
		judge(&a, &p);
		p.peak_bytes *= 2;
		for (uint32_t i = 0; i < 4 * net.n; i++) {
			uint32_t k = pn_draw(&net, 0, net.n - 1), of = i % net.n;
			uint64_t was = p.offset[of];

			if (can_clash(&p, of, k) && was != p.offset[k]) {
				p.offset[of] = p.offset[k];
				assert_false(pj_judge(net.t, net.n, &p, why));
				p.offset[of] = was;
				planted++;
			}
		}
		hn_arena_reset(&a);
	}
	print_message("%u overlaps planted, all found\n", planted);
	assert_true(planted > 500);
	hn_arena_fini(&a);
}

static void the_same_again(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct hn_plan p, q;

		draw(&families[seed % HN_COUNT_OF(families)], seed);
		judge(&a, &p);
		judge(&a, &q);
		assert_memory_equal(p.offset, q.offset, net.n * sizeof *p.offset);
		assert_true(p.peak_bytes == q.peak_bytes && p.order == q.order);
		hn_arena_reset(&a);
	}
	hn_arena_fini(&a);
}

/* Aliases do what they are for. */
static void aliases_share(void **state)
{
	static const struct hn_plan_tensor chain[] = {
		{ 640, 0, 1, HN_PLAN_OWN, 0, 0 },
		{ 640, 1, 2, HN_PLAN_IN_PLACE, 0, 0 },
		{ 640, 2, 3, HN_PLAN_IN_PLACE, 1, 0 },
	}, alive[] = {
		{ 640, 0, 2, HN_PLAN_OWN, 0, 0 }, /* read by step 2 as well */
		{ 640, 1, 2, HN_PLAN_IN_PLACE, 0, 0 },
	}, read_by_slice[] = {
		{ 640, 0, 0, HN_PLAN_OWN, 0, 0 },
		{ 320, 0, 1, HN_PLAN_SLICE, 0, 320 },
		{ 640, 0, 1, HN_PLAN_SLICE, 0, 0 },
		{ 320, 1, 2, HN_PLAN_IN_PLACE, 1, 0 }, /* tensor 2 is read by this step, too */
	}, split[] = {
		{ 640, 0, 0, HN_PLAN_OWN, 0, 0 },
		{ 320, 0, 1, HN_PLAN_SLICE, 0, 0 },
		{ 320, 0, 3, HN_PLAN_SLICE, 0, 320 },
		{ 320, 1, 3, HN_PLAN_IN_PLACE, 1, 0 },
	}, dead[] = {
		{ 640, 0, 0, HN_PLAN_OWN, 0, 0 }, /* read by nobody */
		{ 640, 1, 2, HN_PLAN_IN_PLACE, 0, 0 },
	};
	static const struct {
		const struct hn_plan_tensor *t;
		uint32_t n;
		uint64_t peak;
		bool last_in_place;
	} rows[] = {
		{ chain, 3, 640, true },	  { alive, 2, 1280, false },
		{ read_by_slice, 4, 960, false }, { split, 4, 640, true },
		{ dead, 2, 640, false },	  { NULL, 0, 0, false },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_plan p;

		net.n = rows[i].n;
		if (net.n > 0) {
			memcpy(net.t, rows[i].t, net.n * sizeof *net.t);
		}
		judge(&a, &p);
		assert_int_equal(p.peak_bytes, rows[i].peak);
		assert_int_equal(p.bound_bytes, rows[i].peak);
		assert_true(net.n == 0 || p.in_place[net.n - 1] == rows[i].last_in_place);
	}
	hn_arena_fini(&a);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		struct hn_plan_tensor t[2];
		const char *says;
	} rows[] = {
		{ { { 64, 3, 2, HN_PLAN_OWN, 0, 0 } }, "tensor 0: dies at step 2" },
		{ { { 64, 0, 1, HN_PLAN_SLICE, 2, 0 } },
		  "tensor 0: there is no tensor 2" },
		{ { { 64, 0, 1, HN_PLAN_IN_PLACE, 9, 0 } },
		  "tensor 0: there is no tensor 9" },
		{ { { 64, 0, 1, HN_PLAN_SLICE, 1, 0 },
		    { 64, 0, 1, HN_PLAN_SLICE, 0, 0 } },
		  "tensor 0: is a slice of itself" },
		{ { { 64, 0, 1, HN_PLAN_SLICE, 1, 1 }, { 64, 0, 1, HN_PLAN_OWN, 0, 0 } },
		  "tensor 0: is no part of tensor 1" },
		{ { { 128, 0, 1, HN_PLAN_SLICE, 1, 0 }, { 64, 0, 1, HN_PLAN_OWN, 0, 0 } },
		  "tensor 0: is no part of tensor 1" },
		{ { { 64, 0, 1, HN_PLAN_SLICE, 1, UINT64_MAX },
		    { 64, 0, 1, HN_PLAN_OWN, 0, 0 } },
		  "tensor 0: is no part of tensor 1" },
		{ { { UINT64_MAX, 0, 1, HN_PLAN_OWN, 0, 0 } },
		  "tensor 0: more than 2^62" },
		{ { { 1ull << 62, 0, 1, HN_PLAN_OWN, 0, 0 },
		    { 64, 0, 1, HN_PLAN_OWN, 0, 0 } },
		  "the tensors have more than 2^62 bytes" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_plan p = { .peak_bytes = 77 };
		struct hn_err err = { 0 };

		assert_int_not_equal(hn_plan_make(rows[i].t, 2, &a, &p, &err), 0);
		assert_non_null(strstr(err.msg, rows[i].says));
		assert_int_equal(p.peak_bytes, 77);
	}
	hn_arena_fini(&a);
}

/* Ten thousand tensors, in a network and with all of them alive for long. */
static void many_are_planned(void **state)
{
	struct hn_err err = { 0 };
	struct hn_plan p;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	net.n = net.step = 0;
	net.rng = hn_rng_stream(5, 0, 0, 0);
	pn_residual(&net, 1400);
	assert_in_range(net.n, 9000, 13000);
	assert_int_equal(hn_plan_make(net.t, net.n, &a, &p, &err), 0);
	print_message("residual, %u tensors: peak / bound %.4f, %s\n", net.n,
		      (double)p.peak_bytes / (double)p.bound_bytes, p.order);
	for (net.n = 0; net.n < 10000; net.n++) {
		uint32_t first = pn_draw(&net, 0, 9999);

		net.t[net.n] =
			(struct hn_plan_tensor){ .bytes = 64ull * pn_draw(&net, 1, 999),
						 .first = first,
						 .last = first + pn_draw(&net, 0, 5000) };
	}
	assert_int_equal(hn_plan_make(net.t, net.n, &a, &p, &err), 0);
	print_message("any, %u tensors: peak / bound %.4f, %s\n", net.n,
		      (double)p.peak_bytes / (double)p.bound_bytes, p.order);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_right_and_small),
		cmocka_unit_test(planted_overlaps_are_found),
		cmocka_unit_test(the_same_again),
		cmocka_unit_test(aliases_share),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(many_are_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
