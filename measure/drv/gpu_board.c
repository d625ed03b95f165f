/* gpu_board.c -- the board of a device: references by this machine's cores (cpu.c), candidates by
 * the child that has the device (gpu_child.c).
 *
 * The child is started anew when it is gone, and when it is asked about a workload that was made
 * after its fork.  What its death says is tried again a few times; when no child can open the
 * device, the board is lost.
 */
#include "measure/drv/gpu_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arith.h"
#include "base/clock.h"
#include "base/memory.h"

#define TRIES 4
#define FIRST_PAUSE_NS 5000000 /* between them, doubled each time */

struct gpu_board {
	const struct gpu_ops *ops;
	struct hn_board_place at;
	struct cpu_board *host;
	struct gpu_child child;
	struct gpu_facts facts;
};

static void answer(struct hn_board_answer *ret, enum hn_verdict v, const char *text)
{
	ret->verdict = v;
	ret->n_sample = 0;
	snprintf(ret->detail, sizeof ret->detail, "%.390s", text);
}

static enum hn_verdict start(struct gpu_board *b, char *text, size_t n)
{
	gpu_child_stop(&b->child);
	return gpu_child_start(&b->child, b->ops, &b->at, b->host->requests, &b->facts, text, n);
}

/* There is a child that knows what was made up to then. */
static enum hn_verdict have_child(struct gpu_board *b, uint64_t made, char *text, size_t n)
{
	enum hn_verdict v = HN_VERDICT_OK;

	if (b->child.pid > 0 && b->child.since >= made) {
		return v;
	}
	for (int i = 0; i < TRIES; i++) {
		if (i > 0) {
			nanosleep(&(struct timespec){.tv_nsec = FIRST_PAUSE_NS << i}, NULL);
		}
		v = start(b, text, n);
		if (v == HN_VERDICT_OK || v == HN_VERDICT_BOARD_LOST) {
			break;
		}
	}
	return v == HN_VERDICT_OK ? v : HN_VERDICT_BOARD_LOST;
}

int gpu_board_open(const struct gpu_ops *ops, const struct hn_board_place *at, void **ret,
		   struct hn_err *err)
{
	struct gpu_board *b = calloc(1, sizeof *b);
	char text[400];
	int rc;

	if (b == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "board: out of memory");
	}
	b->ops = ops;
	b->at = *at;
	b->child.report = mmap(NULL, sizeof *b->child.report, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b->child.report == MAP_FAILED) {
		free(b);
		return hn_fail(err, HONE_E_NOMEM, "board: out of memory");
	}
	rc = hn_cpu_open(&b->host, err);
	if (rc == 0 && have_child(b, 0, text, sizeof text) != HN_VERDICT_OK) {
		rc = hn_fail(err, HONE_E_NO_BOARD, "%.390s", text);
	}
	if (rc != 0) {
		gpu_board_close(b);
		return rc;
	}
	*ret = b;
	return 0;
}

void gpu_board_close(void *board)
{
	struct gpu_board *b = board;

	gpu_child_stop(&b->child);
	munmap(b->child.report, sizeof *b->child.report);
	if (b->host != NULL) {
		hn_board_cpu.close(b->host);
	}
	free(b);
}

void gpu_board_workload(void *board, const struct hn_board_workload *w,
			struct hn_board_answer *ret)
{
	struct gpu_board *b = board;
	char text[300], need[32], have[32];
	int64_t sum = 0, most = 0;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		sum = hn_add_sat(sum, w->tensor[i].bytes + 2 * GPU_GUARD);
		most = w->tensor[i].bytes > most ? w->tensor[i].bytes : most;
	}
	if (sum > b->facts.memory_bytes / 4 * 3 || most > b->facts.buffer_bytes - 2 * GPU_GUARD) {
		hn_memory_print(sum, need, sizeof need);
		hn_memory_print(b->facts.memory_bytes, have, sizeof have);
		snprintf(text, sizeof text,
			 "arguments take %s; the board may use three quarters of the device's %s",
			 need, have);
		answer(ret, HN_VERDICT_OOM, text);
		return;
	}
	hn_board_cpu.workload(b->host, w, ret);
}

static void take(const struct gpu_report *r, bool duel, struct hn_board_answer *ret)
{
	uint32_t most = duel ? HN_PAIRS : HN_STATS_MAX_SAMPLE;

	ret->verdict = r->body.verdict;
	snprintf(ret->detail, sizeof ret->detail, "%s", r->body.detail);
	ret->rivals = r->side == 1;
	ret->thorough = r->body.thorough;
	ret->kernel_ns = r->body.kernel_ns;
	snprintf(ret->state, sizeof ret->state, "%.*s", HN_FRAME_STATE, r->body.state);
	ret->n_sample = r->body.n_sample <= most ? r->body.n_sample : 0;
	memcpy(ret->sample_ns, r->body.sample_ns, ret->n_sample * sizeof(double));
	if (duel) {
		memcpy(ret->rival_ns, r->body.rival_ns, sizeof ret->rival_ns);
	}
}

void gpu_board_measure(void *board, const struct hn_board_request *r,
		       struct hn_board_answer *ret)
{
	struct gpu_board *b = board;
	const void *const module[2] = {r->kernel.object, r->rival.object};
	struct cpu_workload *w = hn_cpu_find(b->host, r->key);
	int64_t begin = hn_clock_ns();
	struct gpu_ask ask = {.what = GPU_WHAT_MEASURE,
			      .w = w,
			      .best_ns = r->best_ns,
			      .limit_ns = hn_mul_sat(r->kernel.limit_ms, 1000000),
			      .bytes = {r->kernel.object_bytes,
					r->rival.object != NULL ? r->rival.object_bytes : 0}};
	char text[400];

	if (w == NULL) {
		answer(ret, HN_VERDICT_NONE, "workload not known");
		return;
	}
	w->used = ++b->host->requests;
	for (int i = 0; i < TRIES; i++) {
		if (have_child(b, w->made, text, sizeof text) != HN_VERDICT_OK) {
			answer(ret, HN_VERDICT_BOARD_LOST, text);
			return;
		}
		ask.token = (uint64_t)hn_clock_ns();
		ret->n_sample = 0;
		if (gpu_child_ask(&b->child, &ask, module, ret)) {
			take(b->child.report, ask.bytes[1] > 0, ret);
		}
		if (ret->verdict != HN_VERDICT_RUN_LOST || hn_clock_ns() - begin >= ask.limit_ns) {
			break;
		}
	}
	ret->run_ns = hn_clock_ns() - begin;
}

int gpu_board_probe(void *board, struct hn_probe *ret, struct hn_err *err)
{
	(void)board;
	(void)err;
	*ret = (struct hn_probe){.n_level = 0}; /* the device's own figures are its line's */
	return 0;
}

int gpu_board_canary(void *board, struct hn_canary *ret, struct hn_err *err)
{
	static const void *const none[2] = {NULL, NULL};
	struct gpu_board *b = board;
	struct gpu_ask ask = {.what = GPU_WHAT_CANARY,
			      .limit_ns = INT64_C(5000000000),
			      .token = (uint64_t)hn_clock_ns()};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};
	char text[400];

	for (int i = 0; i < 2; i++) { /* one that died while nobody looked is no loss */
		if (have_child(b, 0, text, sizeof text) != HN_VERDICT_OK) {
			return hn_fail(err, HONE_E_NO_BOARD, "%.390s", text);
		}
		if (b->facts.host) {
			*ret = hn_cpu_canary(&b->host->canary);
			return 0;
		}
		if (gpu_child_ask(&b->child, &ask, none, &a)) {
			break;
		}
	}
	if (b->child.pid == 0) {
		return hn_fail(err, HONE_E_NO_BOARD, "%.390s", a.detail);
	}
	if (b->child.report->body.verdict != HN_VERDICT_OK) {
		return hn_fail(err, HONE_E_NO_BOARD, "%.390s", b->child.report->body.detail);
	}
	*ret = (struct hn_canary){.ns = b->child.report->body.canary_ns, .wander = b->ops->wander};
	return 0;
}
