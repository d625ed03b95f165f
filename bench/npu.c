/* bench/npu.c -- the simulated NPU: instructions simulated in a second of this machine's CPU, and
 * what programs for it come to in its cycles.
 *
 * The programs are a product of 2048^3 float16 on 32 cores, of which one core is simulated when
 * time alone is asked for, and a loop over vectors.  Cycles are a model's, never a real machine's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/npu.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"

#define SECONDS 0.5 /* of CPU at least, each row */

static const char loop[] =
	"hnpu/1\ngm A float32[4096]\ncores 0 1 {\n"
	"loop r1 50000\nmod r2 r1 2\nmul r3 r2 8192\nload ub[r3] A[0] burst 2048\nset MTE2 V r2\n"
	"wait MTE2 V r2\nvadds.f32 ub[r3+16384] ub[r3] 0.5 rep 8\nvmuls.f32 ub[r3+32768] ub[r3] 2 rep 8\n"
	"barrier V\nvadd.f32 ub[r3+49152] ub[r3+16384] ub[r3+32768] rep 8\nset V MTE2 r2\nwait V MTE2 r2\n"
	"end\n}\n";

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int speed(const char *what, const char *how, const struct hn_npu_program *p,
		 const struct hn_npu_profile *m, const struct hn_npu_options *o, struct hn_err *err)
{
	double begun = cpu_seconds(), took = 0;
	uint64_t n = 0;
	char context[200];

	while (took < SECONDS) {
		struct hn_npu_result r;
		struct hn_arena a;
		int rc;

		hn_arena_init(&a, 0);
		rc = hn_npu_run(p, m, o, &a, &r, err);
		hn_arena_fini(&a);
		if (rc != 0) {
			return rc;
		}
		n += r.n_insn;
		took = cpu_seconds() - begun;
	}
	snprintf(context, sizeof(context), "\"case\": \"%s\", \"how\": \"%s\"", what, how);
	hn_bench_row("npu", (double)n / took / 1e6, "M instructions/s of CPU", context);
	return 0;
}

static int product(const struct hn_npu_profile *m, struct hn_arena *a, int64_t size,
		   enum hn_npu_order order, const struct hn_npu_program **ret, struct hn_err *err)
{
	struct hn_npu_product p = { .m = size, .n = size, .k = size, .result = HN_F16, .order = order };

	hn_npu_product_plan(m, &p);
	return hn_npu_product(&p, m, a, ret, NULL, err);
}

/* Of the cube's peak. */
static int peak(const struct hn_npu_profile *m, int64_t size, enum hn_npu_order order, struct hn_err *err)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	struct hn_npu_result r;
	struct hn_arena a;
	char context[100];
	int rc;

	hn_arena_init(&a, 0);
	rc = product(m, &a, size, order, &p, err);
	rc = rc ? rc : hn_npu_run(p, m, &o, &a, &r, err);
	if (rc == 0) {
		snprintf(context, sizeof(context), "\"case\": \"float16:%lld^3\", \"order\": \"%s\", "
			 "\"cycles\": %lld", (long long)size, order == HN_NPU_FLAGS ? "flags" : "barriers",
			 (long long)r.cycles);
		hn_bench_row("npu", (double)(size * size * size) / 4096 / (double)m->cores /
			     (double)r.cycles, "of the cube's peak", context);
	}
	hn_arena_fini(&a);
	return rc;
}

/* One part of it, by its word. */
static int only(const struct hn_bench_args *args, const struct hn_npu_profile *m,
		const struct hn_npu_profile *fitted, struct hn_err *err)
{
	const char *word = args->argv[0];
	int rc;

	if (strcmp(word, "fit") == 0) {
		return hn_bench_npu_fit(m, err);
	}
	if (strcmp(word, "tiles") == 0) {
		return hn_bench_npu_tiles(fitted, err);
	}
	if (strcmp(word, "products") == 0) {
		return hn_bench_npu_products(m, err);
	}
	if (strcmp(word, "sizes") == 0) {
		return hn_bench_npu_sizes(m, err);
	}
	if (strcmp(word, "naive") != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "%.40s: there are fit, tiles, products, sizes and naive, or nothing for the rest", word);
	}
	rc = hn_bench_npu_naive(m, args->cases, err);
	return rc ? rc : hn_bench_npu_naive(fitted, args->cases, err);
}

extern int hn_bench_npu(const struct hn_bench_args *args);

int hn_bench_npu(const struct hn_bench_args *args)
{
	const struct hn_npu_options timed = { 0 }, judged = { .judge = true };
	const struct hn_npu_program *loops, *straight;
	struct hn_npu_profile m, fitted;
	struct hn_err err = { 0 };
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_profile_of("dv910", &m, &err);
	rc = rc ? rc : hn_npu_profile_of("dv910fit", &fitted, &err);
	if (rc == 0 && args->argc > 0) {
		rc = only(args, &m, &fitted, &err);
		goto out;
	}
	rc = rc ? rc : hn_npu_parse("loop", loop, strlen(loop), &a, &loops, &err);
	rc = rc ? rc : product(&m, &a, 2048, HN_NPU_FLAGS, &straight, &err);
	rc = rc ? rc : speed("loop", "timed", loops, &m, &timed, &err);
	rc = rc ? rc : speed("loop", "judged", loops, &m, &judged, &err);
	rc = rc ? rc : speed("float16:2048^3", "timed", straight, &m, &timed, &err);
	rc = rc ? rc : speed("float16:2048^3", "judged", straight, &m, &judged, &err);
	for (int64_t size = 512; size <= 4096 && rc == 0; size *= 2) {
		rc = peak(&m, size, HN_NPU_BARRIERS, &err);
		rc = rc ? rc : peak(&m, size, HN_NPU_FLAGS, &err);
	}
	rc = rc ? rc : hn_bench_npu_published(&m, &err);
	rc = rc ? rc : hn_bench_npu_published(&fitted, &err);
out:
	hn_arena_fini(&a);
	if (rc != 0) {
		fprintf(stderr, "hone-bench npu: %s\n", err.msg);
	}
	return rc != 0;
}
