/* models/first.c -- for bench/models/first.py: one cold process of a compiled network: how long from mapping the weights
 * to the first answer, and how a warm run divides into kernels and what is around them.
 *
 *     cc -DNAME=net -Iout first.c out/model.o out/hone_pool.o -lm -lpthread -o first
 *     first WEIGHTS THREADS SECONDS wall|cpu [populate]
 *
 * Prints one line of JSON, in nanoseconds of the wall clock, or of the process's own.  `first` is from
 * before open(2) to the end of the first run, of which `map` and `prepare` are parts; `warm` and
 * `kernels` are the least of all runs, of which every second one is timed by its steps.  Short runs
 * are timed many together: `warm` is of one.  What the clock takes is not in `kernels`.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "hone/pool.h"
#include "model.h"

#define SHORT 100000 /* ns */
#define BATCH 1000

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define OF(word) JOIN(NAME, word)

static clockid_t the_clock;

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return clock_of(the_clock);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of asking the clock once. */
static uint64_t clock_cost(void)
{
	uint64_t cost = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t begin = now();

		for (int k = 1; k < BATCH; k++) {
			now();
		}
		cost = least(cost, (now() - begin) / BATCH);
	}
	return cost;
}

/* Zeros, 64-byte aligned; large ones come untouched from the system, as a program's would. */
static void *memory(uint64_t n)
{
	void *p = mmap(NULL, n + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

struct net {
	const void *weights;
	void *prepared, *arena;
	const void **in;
	void **out;
	const struct hone_env *env;
};

static void judge(int32_t rc, const char *verb)
{
	if (rc != 0) {
		fprintf(stderr, "%s returned %d\n", verb, rc);
		exit(1);
	}
}

static void run(const struct net *n)
{
	judge(OF(_run)(n->weights, n->prepared, n->in, n->out, n->arena, n->env), "run");
}

/* The sum of the steps of one run. */
static uint64_t run_by_steps(const struct net *n, uint64_t *time)
{
	uint64_t sum = 0;

	memset(time, 0, OF(_N_STEPS) * sizeof *time);
	judge(OF(_run_timed)(n->weights, n->prepared, n->in, n->out, n->arena, n->env, now, time),
	      "run_timed");
	for (uint32_t i = 0; i < OF(_N_STEPS); i++) {
		sum += time[i];
	}
	return sum;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: first WEIGHTS THREADS SECONDS wall|cpu [populate]\n");
		return 2;
	}
	the_clock = strcmp(argv[4], "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;

	int threads = atoi(argv[2]), populate = argc > 5 ? MAP_POPULATE : 0;
	double seconds = atof(argv[3]);
	struct hone_pool *pool = threads > 1 ? hone_pool_create(threads) : NULL;
	struct net n = { .env = pool != NULL ? hone_pool_env(pool, 0) : NULL };
	uint64_t *time = calloc(OF(_N_STEPS), sizeof *time);

	n.in = calloc(OF(_model).n_inputs + 1, sizeof *n.in);
	n.out = calloc(OF(_model).n_outputs + 1, sizeof *n.out);
	for (uint32_t i = 0; i < OF(_model).n_inputs; i++) {
		n.in[i] = memory(OF(_model).inputs[i].bytes);
	}
	for (uint32_t i = 0; i < OF(_model).n_outputs; i++) {
		n.out[i] = memory(OF(_model).outputs[i].bytes);
	}

	uint64_t begin = now();
	int fd = open(argv[1], O_RDONLY);

	n.weights = OF(_WEIGHTS_BYTES) > 0 ? mmap(NULL, OF(_WEIGHTS_BYTES), PROT_READ,
						  MAP_PRIVATE | populate, fd, 0)
					   : NULL;
	if (n.weights == MAP_FAILED) {
		perror("weights");
		return 1;
	}
	uint64_t mapped = now();

	n.prepared = memory(OF(_PREPARED_BYTES));
	n.arena = memory(OF(_ARENA_BYTES)((uint64_t)threads));
	judge(OF(_prepare)(n.weights, n.prepared, n.arena, n.env), "prepare");
	uint64_t prepared = now();

	run(&n);
	uint64_t first = now(), warm = UINT64_MAX, kernels = UINT64_MAX, count = 0;
	uint64_t asking = OF(_N_STEPS) * clock_cost();
	uint64_t batch = first - prepared < SHORT ? BATCH : 1;

	while (count < 10 || (double)(now() - first) < 1e9 * seconds) {
		uint64_t t = now();

		for (uint64_t i = 0; i < batch; i++) {
			run(&n);
		}
		warm = least(warm, (now() - t) / batch);
		kernels = least(kernels, run_by_steps(&n, time));
		count++;
	}
	printf("{\"steps\": %u, \"threads\": %d, \"runs\": %" PRIu64 ", \"map\": %" PRIu64
	       ", \"prepare\": %" PRIu64 ", \"first\": %" PRIu64 ", \"warm\": %" PRIu64
	       ", \"kernels\": %" PRIu64 "}\n",
	       (unsigned)OF(_N_STEPS), threads, count, mapped - begin, prepared - mapped,
	       first - begin, warm, kernels > asking ? kernels - asking : 0);
	return 0;
}
