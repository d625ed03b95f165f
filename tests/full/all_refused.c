/* Candidates that are refused after they were drawn, for devices of drivers, of all cases: while
 * lengths are drawn and afterwards.  What a block has room for is known before, so few are (docs say
 * how many). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower/device/device_hold.h"
#include "lower/device/device_verify.h"
#include "sketch/sketch.h"
#include "tests/lib/each_case.h"

#define FILLS 60

struct counts {
	struct hn_target target;
	uint32_t drawn, in_fill, after, sketches;
};

static bool is_placed(const struct hn_state *s, const struct hn_target *target, struct hn_err *err)
{
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	bool ok = hn_looptree_build(s, &a, &t, err) == 0 && hn_device_place_for(t, target, &a, &d, err) == 0 &&
		  hn_device_check(d, target, err) == 0;

	hn_arena_fini(&a);
	return ok;
}

static void draw(struct hn_emitter *em, const struct hn_target *host, const struct each *e, void *ctx)
{
	struct counts *n = ctx;
	struct hn_sketches all;
	struct hn_err err = { 0 };
	struct hn_arena a;
	uint32_t refused = 0, late = 0;

	(void)em;
	(void)host;
	if (e->dag->sizes != NULL) {
		return;
	}
	hn_arena_init(&a, 0);
	assert_int_equal(hn_sketch_generate(e->dag, &n->target, &a, &all, &err), 0);
	for (uint32_t i = 0; i < FILLS; i++) {
		struct hn_rng rng = hn_rng_stream(17, i, 0, 0);
		const struct hn_state *s = NULL;

		n->drawn++;
		if (hn_sketch_fill(&all.sketch[i % all.n], &n->target, &rng, &a, &s) != HN_VERDICT_OK) {
			refused++;
		} else if (!is_placed(s, &n->target, &err)) {
			late++;
			print_message("%s: sketch %u: %s\n", e->name, i % all.n, err.msg);
		}
	}
	if (refused + late > 0) {
		print_message("%s: %u sketches: %u of %u refused, %u later\n", e->name, all.n, refused,
			      FILLS, late);
	}
	n->in_fill += refused;
	n->after += late;
	hn_arena_fini(&a);
}

static void few_candidates_are_refused(void **state)
{
	static const char *const lines[] = { "cuda -isa=sm_80", "opencl", "opencl -isa=opencl-cpu -num_cores=2" };
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(lines); i++) {
		struct counts n = { 0 };

		assert_int_equal(hn_target_parse(lines[i], &a, &n.target, &err), 0);
		each_case(draw, &n);
		print_message("%s: of %u drawn %u were refused at once, %u later\n", lines[i], n.drawn,
			      n.in_fill, n.after);
		assert_true(1000 * (n.in_fill + n.after) < 5 * n.drawn);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(few_candidates_are_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
