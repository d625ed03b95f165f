/* measure_depot.c -- objects in shared memory: slots are counted, whatever becomes of builders;
 * what a builder does to them harms nobody; and no kernel gets near.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>

#include "measure/host/measurer_int.h"
#include "tests/lib/measurer_bed.h"

#define N_SLOT (HN_DEPOT_SLOTS - 1) /* 0 is none */

/* ---- the slots alone ---- */

static void slots_are_counted(void **state)
{
	static bool seen[HN_DEPOT_SLOTS];
	struct hn_depot d;
	uint32_t slot;

	(void)state;
	hn_depot_init(&d);
	for (int i = 0; i < N_SLOT; i++) {
		slot = hn_depot_take(&d);
		assert_in_range(slot, 1, N_SLOT);
		assert_false(seen[slot]);
		seen[slot] = true;
	}
	assert_int_equal(hn_depot_take(&d), 0);
	hn_depot_hold(&d, 7);
	hn_depot_let_go(&d, 7);
	assert_int_equal(hn_depot_take(&d), 0); /* one holder is left */
	hn_depot_let_go(&d, 7);
	hn_depot_let_go(&d, 9);
	hn_depot_let_go(&d, 0);
	assert_int_equal(hn_depot_take(&d), 9); /* its memory is warm */
	assert_int_equal(hn_depot_take(&d), 7);
	assert_int_equal(hn_depot_take(&d), 0);
	hn_depot_fini(&d);
	assert_int_equal(hn_depot_take(&d), 0);
}

/* Neither can make it larger or smaller; boards can only read. */
static void who_may_do_what(void **state)
{
	struct hn_depot d;
	struct stat st;
	int fds = count_fds();

	(void)state;
	hn_depot_init(&d);
	assert_int_equal(fstat(d.boards_fd, &st), 0);
	for (off_t size = 0; size <= 2 * st.st_size; size += 2 * st.st_size) {
		assert_int_equal(ftruncate(d.builders_fd, size), -1);
		assert_int_equal(ftruncate(d.boards_fd, size), -1);
	}
	assert_int_equal(pwrite(d.builders_fd, "x", 1, st.st_size), -1);
	assert_int_equal(pwrite(d.boards_fd, "x", 1, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, d.boards_fd, 0),
			 MAP_FAILED);
	assert_int_equal(errno, EACCES);
	hn_depot_fini(&d);
	assert_int_equal(count_fds(), fds);
}

static void what_is_read_is_what_was_announced(void **state)
{
	static char back[HN_SLOT_BYTES + 1], huge[HN_SLOT_BYTES + 1];
	char hash[HN_SHA256_HEX], other[HN_SHA256_HEX];
	struct hn_depot d;
	struct hn_err err;
	uint32_t slot;

	(void)state;
	hn_depot_init(&d);
	slot = hn_depot_take(&d);
	assert_true(hn_slot_write(d.builders_fd, slot, "one", 3, hash));
	assert_int_equal(hn_slot_read(d.boards_fd, slot, 3, hash, back, &err), 0);
	assert_memory_equal(back, "one", 3);
	/* more, less, elsewhere */
	assert_int_equal(hn_slot_read(d.boards_fd, slot, 4, hash, back, &err),
			 -HONE_E_CORRUPT);
	assert_int_equal(hn_slot_read(d.boards_fd, slot, 2, hash, back, &err),
			 -HONE_E_CORRUPT);
	assert_int_equal(hn_slot_read(d.boards_fd, slot + 1, 3, hash, back, &err),
			 -HONE_E_CORRUPT);
	/* the slot's next object is not taken for this one */
	hn_depot_let_go(&d, slot);
	assert_int_equal(hn_depot_take(&d), slot);
	assert_true(hn_slot_write(d.builders_fd, slot, "two", 3, other));
	assert_int_equal(hn_slot_read(d.boards_fd, slot, 3, hash, back, &err),
			 -HONE_E_CORRUPT);
	assert_int_equal(hn_slot_read(d.boards_fd, slot, 3, other, back, &err), 0);
	/* bounds */
	assert_false(hn_slot_write(d.builders_fd, slot, huge, sizeof huge, hash));
	assert_true(hn_slot_write(d.builders_fd, N_SLOT, huge, HN_SLOT_BYTES, hash));
	assert_int_equal(hn_slot_read(d.boards_fd, N_SLOT, HN_SLOT_BYTES, hash, back, &err), 0);
	assert_false(hn_slot_write(d.builders_fd, N_SLOT + 1, "x", 1, hash));
	assert_int_equal(hn_slot_read(d.boards_fd, slot, 0, hash, back, &err), -HONE_E_INVALID);
	assert_int_equal(hn_slot_read(d.boards_fd, slot, sizeof back, hash, back, &err),
			 -HONE_E_INVALID);
	assert_int_equal(hn_slot_read(d.boards_fd, UINT32_MAX, 3, hash, back, &err),
			 -HONE_E_IO);
	/* no such memory */
	assert_false(hn_slot_write(-1, slot, "x", 1, hash));
	assert_int_equal(hn_slot_read(-1, slot, 1, hash, back, &err), -HONE_E_IO);
	hn_depot_fini(&d);
}

/* ---- through builders and board ---- */

static uint32_t n_held(void)
{
	return N_SLOT - m->depot.n_free;
}

/* With nothing open, holders are the kept ones. */
static void nothing_leaks(void)
{
	uint32_t holders = 0, kept = 0;

	for (uint32_t i = 0; i < HN_DEPOT_SLOTS; i++) {
		holders += m->depot.n_holder[i];
	}
	for (const struct workload *w = m->workload; w != NULL; w = w->next) {
		for (int i = 0; i < HN_KEPT; i++) {
			kept += w->kept[i].program.artefact.slot != 0;
		}
	}
	assert_int_equal(holders, kept);
	assert_in_range(n_held(), 0, kept);
}

static void candidates_go_through_it(void **state)
{
	struct waiting w;

	(void)state;
	make_workload("w", &w);
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	assert_int_equal(n_held(), 0); /* a naive program is sent, and stays where it is */
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
	assert_int_equal(n_held(), 1);
	assert_int_equal(run("[\"+wrong\"]").verdict, HN_VERDICT_WRONG_RESULT);
	assert_int_equal(n_held(), 1); /* a wrong one is not kept */
	assert_int_equal(undisturbed("[\"+good\", 1]", "[\"+good\", 2]").verdict,
			 HN_VERDICT_OK);
	assert_int_equal(m->n_by_frame, 0);
	nothing_leaks();
}

static void builders_that_lie_are_caught(void **state)
{
	static const char *const lies[][2] = {
		{"[\"+boasts\"]", "BUILT: object: larger than a slot"},
		{"[\"+scrawls\"]", "BUILT: object.hash: not a SHA-256 in hexadecimal digits"},
		{"[\"+strays\"]", "BUILT: object: neither the blob nor in the slot"},
		{"[\"die\"]", "the process crashed"},
		{"[\"lie\"]", "BUILT: object: missing"},
		{"[\"babble\"]", "frame: version "},
	};
	struct waiting w;
	uint64_t before;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(lies); i++) {
		w = run(lies[i][0]);
		assert_int_equal(w.verdict, HN_VERDICT_BUILD_FAIL);
		if (strstr(w.detail, lies[i][1]) == NULL) {
			fail_msg("%s: %s", lies[i][0], w.detail);
		}
		nothing_leaks();
	}
	before = m->next_request;
	w = run("[\"+changes\"]");
	assert_in_range(m->next_request - before, 4, 15); /* built and run twice; canaries */
	assert_int_equal(w.verdict, HN_VERDICT_BUILDER_LOST);
	assert_non_null(strstr(w.detail, "not those that were announced"));
	assert_int_equal(run("[\"+overstates\"]").verdict, HN_VERDICT_BUILDER_LOST);
	w = undisturbed("[\"+good\"]", "[\"+changes\"]");
	assert_int_equal(w.verdict, HN_VERDICT_BUILDER_LOST);
	nothing_leaks();
	assert_int_equal(run("[\"+good\"]").verdict, HN_VERDICT_OK);
}

/* What it overwrites is built once more. */
static void spoilt_objects_are_built_again(void **state)
{
	struct waiting w = undisturbed("[\"+good\", 1]", "[\"+good\", 2]");

	(void)state;
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	w = undisturbed("[\"+good\", 1]", "[\"+good\", 2]");
	assert_int_equal(w.build_ns, 0);
	assert_int_equal(run("[\"+spoils\"]").verdict, HN_VERDICT_OK);
	w = (struct waiting){.open = 1};
	hn_measurer_duel(m, "w", "[\"+good\", 1]", "[\"+good\", 2]", on_result, &w);
	wait_for(&w);
	assert_true(w.verdict == HN_VERDICT_OK || w.verdict == HN_VERDICT_NOISY);
	assert_int_equal(w.build_ns, 5);
	nothing_leaks();
}

static void a_full_depot_is_gone_around(void **state)
{
	static uint32_t slot[HN_DEPOT_SLOTS];
	uint32_t n = 0;
	struct waiting w;

	(void)state;
	assert_true(n_held() > 1);
	while ((slot[n] = hn_depot_take(&m->depot)) != 0) {
		n++;
	}
	/* the kept give way */
	while (n_held() == N_SLOT && m->n_by_frame == 0) {
		assert_int_equal(run("[\"+wrong\"]").verdict, HN_VERDICT_WRONG_RESULT);
		if (m->depot.n_free > 0) {
			slot[n++] = hn_depot_take(&m->depot);
		}
	}
	assert_int_equal(m->n_by_frame, 1);
	assert_int_equal(n, N_SLOT);
	assert_int_equal(run("[\"+good\", \"framed\"]").verdict, HN_VERDICT_OK);
	assert_true(m->n_by_frame >= 2);
	while (n > 0) {
		hn_depot_let_go(&m->depot, slot[--n]);
	}
	/* one from here, one from there */
	w = undisturbed("[\"+good\", \"framed\"]", "[\"+good\", 1]");
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	w = undisturbed("[\"+good\", 1]", "[\"+good\", \"framed\"]");
	assert_int_equal(w.verdict, HN_VERDICT_OK);
	nothing_leaks();
}

static void a_thousand_builds_leak_nothing(void **state)
{
	static const char *const mix[] = {"[\"good\"]", "[\"illegal\"]"};
	struct waiting w = {.open = 16}, drop = {.open = 20};
	int fds, n_children, pid[64];

	(void)state;
	assert_int_equal(run("[\"good\"]").verdict, HN_VERDICT_OK); /* known from here on */
	for (int i = 0; i < 16; i++) { /* work for every builder: those that died are back */
		hn_measurer_submit(m, "w", mix[0], 0, on_result, &w);
	}
	wait_for(&w);
	run_for_ms(500);
	w = (struct waiting){.open = 1000};
	fds = count_fds();
	n_children = children(pid, 64);
	for (int i = 0; i < 1000; i++) {
		hn_measurer_submit(m, "w",
				   i % 100 == 0	  ? "[\"die\"]"
				   : i % 100 == 50 ? "[\"+changes\"]"
						   : mix[i % 2],
				   0, on_result, &w);
		if (i % 50 == 0) {
			hn_measurer_submit(m, "w", "[\"+good\"]", 0, on_result, &drop);
		}
	}
	while (w.open > 500) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	hn_measurer_cancel(m, &drop);
	wait_for(&w);
	wait_for(&drop);
	assert_int_equal(w.count[HN_VERDICT_BUILD_FAIL], 10);
	assert_int_equal(w.count[HN_VERDICT_BUILDER_LOST], 10);
	assert_int_equal(w.count[HN_VERDICT_ILLEGAL], 500);
	assert_int_equal(w.count[HN_VERDICT_OK], 480);
	nothing_leaks();
	nothing_stays_behind(fds, n_children);
}

/* Every descriptor it could have is tried: what can be mapped can be read and written. */
static void kernels_find_no_depot(void **state)
{
	struct waiting w = run("[\"+maps\"]");

	(void)state;
	if (w.verdict != HN_VERDICT_OK) {
		fail_msg("%s: %s", hn_verdict_name(w.verdict), w.detail);
	}
	w = run("[\"+preads\"]");
	assert_true(w.verdict == HN_VERDICT_SANDBOX || w.verdict == HN_VERDICT_OK);
}

static void closing_frees_all(void **state)
{
	struct waiting w = {.open = 1};

	(void)state;
	hn_measurer_submit(m, "w", "[\"stall\"]", 0, on_result, &w);
	hn_measurer_close(m, on_closed, NULL);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_true(is_closed);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static int start_all(void **state)
{
	(void)state;
	return start("", 15000); /* builders are slow on a busy machine */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_counted),
		cmocka_unit_test(who_may_do_what),
		cmocka_unit_test(what_is_read_is_what_was_announced),
		cmocka_unit_test(candidates_go_through_it),
		cmocka_unit_test(builders_that_lie_are_caught),
		cmocka_unit_test(spoilt_objects_are_built_again),
		cmocka_unit_test(a_full_depot_is_gone_around),
		cmocka_unit_test(a_thousand_builds_leak_nothing),
		cmocka_unit_test(kernels_find_no_depot),
		cmocka_unit_test(closing_frees_all),
	};

	signal(SIGPIPE, SIG_IGN); /* as honed does: workers die while written to */
	if (argc > 0 && strstr(argv[0], "/hone-build") != NULL) {
		return builder_main(build);
	}
	return cmocka_run_group_tests(tests, start_all, stop);
}
