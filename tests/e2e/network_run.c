/* network_run.c -- what a user writes around a compiled network: weights mapped, prepared once, run
 * by two threads at a time, held against plain loops.  For network.sh; NAME is the network's, and
 * with SHARED it is loaded from the library that the first word names.
 *
 *     network_run [LIBRARY] WEIGHTS
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include HEADER
#include "hone/pool.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define OF(word) PASTE(NAME, word)

#define N 64
#ifndef RUNS
#define RUNS 100
#endif

static const void *weights;
static void *prepared;
static float w[2][N * N];

#ifdef SHARED
static int32_t (*run)(const void *, const void *, const void *const *, void *const *, void *, const struct hone_env *);
static int32_t (*prepare)(const void *, void *, void *, const struct hone_env *);
static uint64_t (*arena_bytes)(int32_t);
static const struct hone_model *model;

static void *find(void *library, const char *name)
{
	void *p = dlsym(library, name);

	if (p == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return p;
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	*(void **)&run = find(library, TEXT(NAME) "_run");
	*(void **)&prepare = find(library, TEXT(NAME) "_prepare");
	*(void **)&arena_bytes = find(library, TEXT(NAME) "_arena_bytes");
	model = find(library, TEXT(NAME) "_model");
	if (dlsym(library, TEXT(NAME) "_k0_packed") != NULL || dlsym(library, "hone_model_run_4") != NULL) {
		printf("the library shows more than the network\n");
		exit(1);
	}
}
#else
#define run OF(_run)
#define prepare OF(_prepare)
#define arena_bytes OF(_arena_bytes)
static const struct hone_model *model = &OF(_model);
#endif

static void *memory(uint64_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
}

static void fill(float *to, int seed)
{
	for (int i = 0; i < N * N; i++) {
		to[i] = (float)((i * 7 + seed * 3 + i / 5) % 5 - 2);
	}
}

static void product(const float *a, const float *b, float *c)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < N; k++) {
				sum += a[i * N + k] * b[k * N + j];
			}
			c[i * N + j] = sum;
		}
	}
}

static void expect(const float *x, float *y)
{
	static _Thread_local float t[N * N];

	product(x, w[0], t);
	for (int i = 0; i < N * N; i++) {
		t[i] = t[i] > 0 ? t[i] : 0;
	}
	product(t, w[1], y);
}

/* One thread's runs, with a pool, an arena and answers of its own. */
static void *run_often(void *arg)
{
	struct hone_pool *pool = hone_pool_create(2);
	const struct hone_env *env = hone_pool_env(pool, 0);
	float *x = memory(N * N * 4), *y = memory(N * N * 4), *want = memory(N * N * 4);
	void *arena = memory(arena_bytes(hone_pool_threads(pool)));
	const void *const in[] = { x };
	void *const out[] = { y };
	const char *wrong = NULL;

	for (int i = 0; i < RUNS && wrong == NULL; i++) {
		fill(x, *(int *)arg + i % 3);
		expect(x, want);
		memset(y, 0xff, N * N * 4);
		if (run(weights, i % 2 ? prepared : NULL, in, out, arena, env) != 0) {
			wrong = "a run failed";
		} else if (memcmp(y, want, N * N * 4) != 0) {
			wrong = "wrong numbers";
		}
	}
	hone_pool_destroy(pool);
	free(x);
	free(y);
	free(want);
	free(arena);
	return (void *)wrong;
}

static int describes_itself(void)
{
	return model->abi == HONE_MODEL_ABI && strcmp(model->name, TEXT(NAME)) == 0 &&
	       model->n_inputs == OF(_N_INPUTS) && model->n_steps == OF(_N_STEPS) &&
	       strcmp(model->outputs[0].name, "the answer") == 0 &&
	       strcmp(model->outputs[0].dtype, "float32") == 0 && model->outputs[0].rank == 2 &&
	       model->outputs[0].dims[1] == N && model->outputs[0].bytes == OF(_OUTPUT_0_BYTES) &&
	       model->weights_bytes == OF(_WEIGHTS_BYTES) &&
	       model->prepared_bytes == OF(_PREPARED_BYTES) &&
	       arena_bytes(2) <= OF(_ARENA_BYTES)(2) && strcmp(model->kernels[1].name, "relu") == 0;
}

int main(int argc, char **argv)
{
	int seed[2] = { 11, 23 }, fd = open(argv[argc - 1], O_RDONLY);
	pthread_t thread[2];
	void *said[2], *arena;

#ifdef SHARED
	load(argv[1]);
#endif
	weights = mmap(NULL, OF(_WEIGHTS_BYTES), PROT_READ, MAP_PRIVATE, fd, 0);
	prepared = memory(OF(_PREPARED_BYTES));
	arena = memory(arena_bytes(1));
	fill(w[0], 0);
	fill(w[1], 1);
	if (weights == MAP_FAILED || !describes_itself()) {
		printf("not what the header says\n");
		return 1;
	}
	if (prepare(weights, prepared, arena, NULL) != 0) {
		printf("not prepared\n");
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread[i], NULL, run_often, &seed[i]);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &said[i]);
		if (said[i] != NULL) {
			printf("%s\n", (const char *)said[i]);
			return 1;
		}
	}
	printf("right\n");
	free(prepared);
	free(arena);
	return 0;
}
