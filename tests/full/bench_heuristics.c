/* bench_heuristics.c -- right kernels pass: the heuristic schedules of the suite's cases, built and
 * measured as a job would, are equal to the naive program on every set of inputs
 * (measure/board/inputs.h), and none is faster than the machine is said to be
 * (measure/board/plausible.h).
 *
 * Cases of more than 0.03 GFLOP are left out, as their naive programs take long, and of each
 * two heuristics are measured; all heuristics of those up to 0.3 are slow/bench_heuristics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <string.h>

#include "bench/history.h"
#include "bench/suite.h"
#include "daemon/workload.h"
#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"
#include "measure/board/plausible.h"
#include "measure/board/pool.h"
#include "measure/host/sync.h"
#include "target/target.h"

#define FLOPS 3e7
#define SLOW_FLOPS 3e8

static double most_flops = FLOPS;
static uint32_t most_heuristics = 2;

struct counts {
	int n_case, n_heuristic, n_wrong;
	int n_full;	/* cases with all sets, at full extremes */
	double nearest; /* of all heuristics: the bound over the time */
};

static void judge(struct hn_sync *m, const struct hn_probe *probe, const char *name,
		  const struct hn_workload *w, const struct hn_histories *heuristics,
		  struct counts *n)
{
	const struct hn_need need = {w->needed_flops, w->read_bytes, w->written_bytes};
	double least = hn_plausible_least_ns(probe, hone_pool_cpus(), &need), best = 0;

	for (uint32_t i = 0; i < heuristics->n && i < most_heuristics; i++) {
		struct hn_sync_result r = hn_sync_submit(m, w->key, heuristics->steps[i], 0);

		n->n_heuristic++;
		if (r.verdict != HN_VERDICT_OK) {
			print_message("%s, heuristic %u: %s (%s)\n", name, i,
				      hn_verdict_name(r.verdict), r.detail);
			n->n_wrong++;
			continue;
		}
		best = best == 0 ? r.median_ns : fmin(best, r.median_ns);
	}
	if (best > 0) {
		n->nearest = fmax(n->nearest, least / best);
		print_message("%s: %.1f us, at least %.1f\n", name, best * 1e-3, least * 1e-3);
	}
}

static void one_case(struct hn_sync *m, const struct hn_target *target,
		     const struct hn_probe *probe, const struct hn_suite_row *row,
		     struct counts *n)
{
	struct hn_histories heuristics;
	const struct hn_dag *dag;
	struct hn_buf text, json;
	char key[HN_KEY_BYTES];
	struct hn_workload w;
	struct hn_sync_result r;
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_buf_init(&json);
	hn_suite_text(row, &text);
	assert_int_equal(hn_dag_parse(row->name, text.s, text.n, 0, &a, &dag, &err), 0);
	if (hn_dag_flops(dag) <= most_flops) {
		hn_dag_key(dag, key);
		hn_dag_write_json(dag, &json);
		w = hn_workload_of(dag, key, hn_arena_strdup(&a, json.s), &a);
		r = hn_sync_workload(m, &w);
		if (r.verdict != HN_VERDICT_OK) {
			fail_msg("%s: %s (%s)", row->name, hn_verdict_name(r.verdict), r.detail);
		}
		print_message("%s: %s\n", row->name, r.detail);
		n->n_case++;
		n->n_full += strstr(r.detail, "left out") == NULL;
		hn_history_of_heuristics(dag, target, &a, &heuristics);
		judge(m, probe, row->name, &w, &heuristics, n);
	}
	hn_buf_fini(&text);
	hn_buf_fini(&json);
	hn_arena_fini(&a);
}

static void right_kernels_pass(void **state)
{
	struct hn_target target;
	struct hn_sync *m;
	struct hn_probe probe;
	struct hn_buf line;
	struct hn_err err = {0};
	struct hn_arena a;
	struct counts n = {0};

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	hn_arena_init(&a, 0);
	hn_buf_init(&line);
	hn_target_host(&a, &target);
	hn_target_print(&target, &line);
	assert_int_equal(hn_probe_run(hone_pool_cpus(), &probe, &err), 0);
	if (hn_sync_open(&(struct hn_measurer_config){.builder_path = HONE_BIN_DIR "/hone-build",
						      .board_path = HONE_BIN_DIR "/hone-board",
						      .target = line.s},
			 &m, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		one_case(m, &target, &probe, &hn_suite[i], &n);
	}
	print_message("%d cases, %d with all input sets; %d heuristics, %d refused; the nearest "
		      "to its bound: %.2f of the time\n",
		      n.n_case, n.n_full, n.n_heuristic, n.n_wrong, n.nearest);
	hn_sync_close(m);
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	assert_true(n.n_case > 0);
	assert_int_equal(n.n_wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(right_kernels_pass)};

	if (argc > 1 && strcmp(argv[1], "slow") == 0) {
		most_flops = SLOW_FLOPS;
		most_heuristics = HN_HISTORY_MAX;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
