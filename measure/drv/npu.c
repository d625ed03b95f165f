/* npu.c -- boards of the simulated NPU (docs/npu.md): references by this machine's cores (cpu.c),
 * candidates by the simulator, each in a child of its own.
 *
 * The simulator is part of this program and its times are a model's, so there is nothing to warm up,
 * to repeat or to be disturbed, and no canary.  A result has one sample.  The child is there because a
 * program is anybody's: it may be endless, or find a fault of the simulator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arith.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "measure/board/child.h"
#include "measure/board/sandbox.h"
#include "measure/drv/npu_int.h"
#include "target/target.h"

#define TRIES 4
#define FIRST_PAUSE_NS 5000000 /* between them, doubled each time */

struct npu_board {
	struct hn_npu_profile m;
	struct cpu_board *host;
	struct npu_report *report; /* shared memory */
	unsigned sandbox;	   /* layers that programs are simulated in */
};

static void answer(struct hn_board_answer *ret, enum hn_verdict v, const char *text)
{
	ret->verdict = v;
	ret->n_sample = 0;
	snprintf(ret->detail, sizeof ret->detail, "%.390s", text);
}

static void npu_close(void *board)
{
	struct npu_board *b = board;

	if (b->report != MAP_FAILED) {
		munmap(b->report, sizeof *b->report);
	}
	if (b->host != NULL) {
		hn_board_cpu.close(b->host);
	}
	free(b);
}

static int npu_open(const struct hn_board_place *at, void **ret, struct hn_err *err)
{
	struct npu_board *b = calloc(1, sizeof *b);
	struct hn_target t;
	struct hn_arena a;
	int rc;

	if (b == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "board: out of memory");
	}
	hn_arena_init(&a, 0);
	b->report = mmap(NULL, sizeof *b->report, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rc = b->report == MAP_FAILED ? hn_fail(err, HONE_E_NOMEM, "board: out of memory") : 0;
	rc = rc ? rc : hn_target_parse(at->target, &a, &t, err);
	rc = rc ? rc : hn_npu_profile_of_target(&t, &b->m, err);
	rc = rc ? rc : hn_cpu_open(&b->host, err);
	hn_arena_fini(&a);
	if (rc != 0) {
		npu_close(b);
		return rc;
	}
	b->sandbox = HN_SANDBOX_RLIMITS | hn_sandbox_try();
	*ret = b;
	return 0;
}

static void npu_workload(void *board, const struct hn_board_workload *w, struct hn_board_answer *ret)
{
	struct npu_board *b = board;
	char text[200], need[32], have[32];
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		sum = hn_add_sat(sum, w->tensor[i].bytes);
	}
	if (sum > HN_NPU_MOST_JUDGED) {
		hn_memory_print(sum, need, sizeof need);
		hn_memory_print(HN_NPU_MOST_JUDGED, have, sizeof have);
		snprintf(text, sizeof text, "arguments take %s; the simulator looks for races in %s at "
			 "most", need, have);
		answer(ret, HN_VERDICT_OOM, text);
		return;
	}
	hn_board_cpu.workload(b->host, w, ret);
}

/* How the child ended that told nothing. */
static void judge_end(const struct npu_report *r, const struct hn_fault_end *end,
		      struct hn_board_answer *ret)
{
	static const char *const phases[] = {"while it was read", "in its run", "on further inputs"};
	uint32_t phase = r->phase < HN_COUNT_OF(phases) ? r->phase : NPU_PHASE_READ;
	char text[300];

	ret->verdict = hn_fault_classify(end, &r->note, 0, NULL, text, sizeof text);
	snprintf(ret->detail, sizeof ret->detail, "the simulator: %.300s, %s", text, phases[phase]);
}

static void run_once(struct npu_board *b, struct npu_run *run, int64_t limit_ns,
		     struct hn_board_answer *ret)
{
	const struct hn_child_limits limits = {.ns = limit_ns};
	struct npu_report *r = b->report;
	struct hn_fault_end end;
	struct hn_err err;

	memset(r, 0, sizeof *r);
	run->token = (uint64_t)hn_clock_ns();
	if (hn_child_run(npu_run_all, run, &limits, &r->note, &end, &err) != 0) {
		answer(ret, HN_VERDICT_RUN_LOST, err.msg);
		return;
	}
	ret->rivals = r->side == 1;
	ret->n_sample = 0;
	if (end.timed_out || end.status != 0 || r->seal != npu_seal(r, run->token) ||
	    r->body.verdict >= HN_N_VERDICT) {
		judge_end(r, &end, ret);
		return;
	}
	r->body.detail[sizeof r->body.detail - 1] = '\0';
	answer(ret, r->body.verdict, r->body.detail);
	if (ret->verdict == HN_VERDICT_OK) {
		ret->n_sample = 1;
		ret->sample_ns[0] = npu_ns(&b->m, r->body.cycles[0]);
		ret->rival_ns[0] = npu_ns(&b->m, r->body.cycles[1]);
		ret->thorough = r->body.thorough;
		snprintf(ret->state, sizeof ret->state, "%lld MHz, simulated: %lld cycles, counted once",
			 (long long)b->m.mhz, (long long)r->body.cycles[0]);
	}
}

/* What all of it may take. */
static int64_t limit_of(const struct cpu_workload *w, int64_t limit_ms)
{
	int64_t bytes = 0, times;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		bytes = hn_add_sat(bytes, w->tensor[i].bytes);
	}
	times = 1 + bytes / HN_PROGRAM_BYTES;
	return hn_mul_sat(limit_ms, 1000000 * (times < HN_PROGRAM_TIMES ? times : HN_PROGRAM_TIMES));
}

static void npu_measure(void *board, const struct hn_board_request *r, struct hn_board_answer *ret)
{
	struct npu_board *b = board;
	struct npu_run run = {.m = &b->m,
			      .w = hn_cpu_find(b->host, r->key),
			      .kernel = &r->kernel,
			      .rival = r->rival.object != NULL ? &r->rival : NULL,
			      .report = b->report,
			      .best_ns = r->best_ns};
	int64_t begin = hn_clock_ns(), limit_ns;

	if (run.w == NULL) {
		answer(ret, HN_VERDICT_NONE, "workload not known");
		return;
	}
	limit_ns = limit_of(run.w, r->kernel.limit_ms);
	hn_cpu_find(b->host, r->key)->used = ++b->host->requests;
	for (int i = 0; i < TRIES; i++) { /* what is killed from outside says nothing */
		if (i > 0) {
			nanosleep(&(struct timespec){.tv_nsec = FIRST_PAUSE_NS << i}, NULL);
		}
		run_once(b, &run, limit_ns, ret);
		if (ret->verdict != HN_VERDICT_RUN_LOST || hn_clock_ns() - begin >= limit_ns) {
			break;
		}
	}
	ret->run_ns = hn_clock_ns() - begin;
}

static int npu_probe(void *board, struct hn_probe *ret, struct hn_err *err)
{
	const struct npu_board *b = board;

	(void)err;
	*ret = (struct hn_probe){.sandbox = b->sandbox}; /* the machine's figures are its line's */
	return 0;
}

static int npu_find(uint32_t index, struct hn_board_device *ret, struct hn_err *err)
{
	struct hn_npu_profile m;

	if (!hn_npu_profile_at(index, &m)) {
		return hn_fail(err, HONE_E_NO_BOARD, "there are %u profiles", index);
	}
	*ret = (struct hn_board_device){.cores = m.cores,
					.cache_bytes = m.l2_bytes,
					.clock_mhz = m.mhz};
	snprintf(ret->name, sizeof ret->name, "simulated: %.100s", m.text);
	snprintf(ret->driver, sizeof ret->driver, "simulator " HONE_VERSION);
	snprintf(ret->target, sizeof ret->target, "npu -isa=%.60s", m.name);
	return 0;
}

const struct hn_board_ops hn_board_npu = {.name = "npu",
					  .open = npu_open,
					  .close = npu_close,
					  .workload = npu_workload,
					  .measure = npu_measure,
					  .probe = npu_probe,
					  .find = npu_find};
