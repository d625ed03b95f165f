/* cuda_launch.c -- what a launch of the mock does: the right answer, and behind it what its word
 * says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cdefs.h"
#include "tests/mock/cuda_mock.h"

#define N 64

cuda_result mock_sticky;
struct mock_seen mock_seen;

static unsigned launches;

static void matmul(float *const *arg)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			float s = 0;

			for (int k = 0; k < N; k++) {
				s += arg[0][i * N + k] * arg[1][k * N + j];
			}
			arg[2][i * N + j] = s;
		}
	}
}

static cuda_result wrong(float *const *arg)
{
	arg[2][77] += 1;
	return 0;
}

static cuda_result rare(float *const *arg)
{
	arg[2][77] += launches % 100 == 50 ? 1 : 0;
	return 0;
}

static cuda_result past(float *const *arg)
{
	arg[2][N * N] = 1;
	return 0;
}

static cuda_result input(float *const *arg)
{
	arg[1][3] = 0;
	return 0;
}

static _Noreturn cuda_result endless(float *const *arg)
{
	(void)arg;
	for (;;) {
		pause();
	}
}

static cuda_result crash(float *const *arg)
{
	(void)arg;
	raise(SIGSEGV);
	return 0;
}

static cuda_result lost(float *const *arg)
{
	(void)arg;
	return MOCK_UNKNOWN;
}

static cuda_result lost_once(float *const *arg)
{
	const char *path = getenv("MOCK_CUDA_STATE");
	FILE *f = path != NULL && access(path, F_OK) != 0 ? fopen(path, "w") : NULL;

	(void)arg;
	if (f != NULL) {
		fclose(f);
		return MOCK_UNKNOWN;
	}
	return 0;
}

/* The driver's word for it, from now on. */
#define SAYS(name, code)                                                                 \
	static cuda_result name(float *const *arg)                                       \
	{                                                                                \
		(void)arg;                                                               \
		return code;                                                             \
	}
SAYS(illegal, CUDA_E_ILLEGAL_ADDRESS)
SAYS(misaligned, CUDA_E_MISALIGNED_ADDRESS)
SAYS(trap, CUDA_E_ILLEGAL_INSTRUCTION)
SAYS(late, CUDA_E_LAUNCH_TIMEOUT)
#undef SAYS

static const struct {
	const char *word;
	cuda_result (*then)(float *const *arg); /* after the right answer is there */
} kinds[] = {
	{"wrong", wrong},	{"rare", rare},	      {"past", past},	      {"input", input},
	{"endless", endless},	{"crash", crash},     {"lost", lost},	      {"lost-once", lost_once},
	{"illegal", illegal},	{"misaligned", misaligned}, {"trap", trap},   {"late", late},
};

cuda_result mock_run(const struct mock_launch *l)
{
	float *arg[3];

	if (l->shared > 49152 && (int)l->shared > l->function->most_shared) {
		return CUDA_E_INVALID_VALUE;
	}
	launches++;
	if (mock_seen.n < MOCK_SEEN) {
		mock_seen.launch[mock_seen.n++] = *l;
	}
	if (l->function->ptx != NULL) {
		mock_sticky = mock_ptx_run(l);
		return 0;
	}
	if (strcmp(l->function->what, "nothing") == 0) {
		return 0;
	}
	for (int i = 0; i < 3; i++) {
		arg[i] = (float *)(uintptr_t)l->value[i];
	}
	matmul(arg);
	for (size_t i = 0; i < HN_COUNT_OF(kinds); i++) {
		if (strcmp(kinds[i].word, l->function->what) == 0) {
			mock_sticky = kinds[i].then(arg);
		}
	}
	return 0; /* the stream's wait says it */
}
