/* cuda_driver.c -- a driver of CUDA's without a device, for tests of the board: what goes wrong with
 * devices goes wrong here on purpose.
 *
 * Its memory is this machine's, and launches run at once.  A module's code is text; the word behind
 * "mock:" says what a launch does with the arguments A, B and C, 64 x 64 floats each: "matmul" is
 * right, and the others are the rows of `kinds`.  $MOCK_CUDA says what is wrong with the device
 * itself: "none" (there is none), "init" (it cannot be used).  $MOCK_CUDA_STATE is a file that
 * remembers, over processes, that a device was lost once.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cdefs.h"
#include "measure/drv/cuda_api.h"

#define X(name, symbol, parameters) cuda_result symbol parameters;
CUDA_FUNCTIONS(X)
NVML_FUNCTIONS(X)
#undef X

#define N 64
#define MOST_BYTES ((size_t)1 << 30) /* of a buffer */
#define MOST_CAPTURED 100000
#define ERROR_UNKNOWN 999
#define ERROR_NO_DEVICE 100

struct cuda_object {
	char what[32]; /* of a module, and its function */
	double ns;     /* of an event */
	uint32_t n;    /* of a graph: launches */
	cuda_id function;
	void *arg[4];
	unsigned int shared;
	int most_shared;
};

static cuda_result sticky; /* what each call says from now on */
static cuda_id capture;	   /* not NULL: launches go into it */
static unsigned launches;

static cuda_id new_object(void)
{
	cuda_id o = calloc(1, sizeof *o);

	return o;
}

/* -- what launches do --------------------------------------------------------------------- */

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
	return ERROR_UNKNOWN;
}

static cuda_result lost_once(float *const *arg)
{
	const char *path = getenv("MOCK_CUDA_STATE");
	FILE *f = path != NULL && access(path, F_OK) != 0 ? fopen(path, "w") : NULL;

	(void)arg;
	if (f != NULL) {
		fclose(f);
		return ERROR_UNKNOWN;
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

static cuda_result run(cuda_id function, void **value, unsigned int shared)
{
	float *arg[3];

	if (shared > 49152 && (int)shared > function->most_shared) {
		return CUDA_E_INVALID_VALUE;
	}
	launches++;
	for (int i = 0; i < 3; i++) {
		cuda_address a = *(cuda_address *)value[i];

		arg[i] = (float *)(uintptr_t)a;
	}
	matmul(arg);
	for (size_t i = 0; i < HN_COUNT_OF(kinds); i++) {
		if (strcmp(kinds[i].word, function->what) == 0) {
			sticky = kinds[i].then(arg);
		}
	}
	return 0; /* the stream's wait says it */
}

/* -- the driver --------------------------------------------------------------------------- */

static bool is(const char *word)
{
	const char *s = getenv("MOCK_CUDA");

	return s != NULL && strcmp(s, word) == 0;
}

cuda_result cuInit(unsigned int flags)
{
	return flags != 0 || is("init") ? ERROR_UNKNOWN : 0;
}

cuda_result cuDriverGetVersion(int *v)
{
	*v = 12080;
	return 0;
}

/* Words of a driver that nobody tested. */
cuda_result cuGetErrorName(cuda_result code, const char **text)
{
	return cuGetErrorString(code, text);
}

cuda_result cuGetErrorString(cuda_result code, const char **text)
{
	(void)code;
	*text = "\033[31mmock\n\n  error \x80";
	return 0;
}

cuda_result cuDeviceGetCount(int *n)
{
	*n = is("none") ? 0 : 1;
	return 0;
}

cuda_result cuDeviceGet(cuda_device *d, int i)
{
	*d = i;
	return i == 0 ? 0 : ERROR_NO_DEVICE;
}

cuda_result cuDeviceGetName(char *to, int n, cuda_device d)
{
	static const char name[] = "mock\033[2J \"device\"\n; rm -rf";

	(void)d;
	for (int i = 0; i < n; i++) {
		to[i] = name[i % (int)(sizeof name - 1)]; /* and no end */
	}
	return 0;
}

cuda_result cuDeviceGetPCIBusId(char *to, int n, cuda_device d)
{
	(void)d;
	snprintf(to, (size_t)n, "0000:00:00.0");
	return 0;
}

cuda_result cuDeviceGetAttribute(int *v, int what, cuda_device d)
{
	static const struct {
		int what, value;
	} rows[] = {
		{CUDA_ATTRIBUTE_MAX_THREADS, 1024}, {CUDA_ATTRIBUTE_MAX_BLOCK_X, 1024},
		{CUDA_ATTRIBUTE_MAX_BLOCK_Y, 1024}, {CUDA_ATTRIBUTE_MAX_BLOCK_Z, 64},
		{CUDA_ATTRIBUTE_SHARED, 49152},	    {CUDA_ATTRIBUTE_SHARED_OPTIN, 232448},
		{CUDA_ATTRIBUTE_WARP, 32},	    {CUDA_ATTRIBUTE_CORES, 132},
		{CUDA_ATTRIBUTE_L2, 1 << 20},	    {CUDA_ATTRIBUTE_MAJOR, 9},
		{CUDA_ATTRIBUTE_MINOR, 0},
	};

	(void)d;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (rows[i].what == what) {
			*v = rows[i].value;
			return 0;
		}
	}
	return CUDA_E_INVALID_VALUE;
}

cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_device d)
{
	(void)d;
	*bytes = (size_t)80 << 30;
	return 0;
}

cuda_result cuDevicePrimaryCtxRetain(cuda_id *c, cuda_device d)
{
	(void)d;
	*c = new_object();
	return sticky;
}

cuda_result cuCtxSetCurrent(cuda_id c)
{
	(void)c;
	return sticky;
}

cuda_result cuStreamCreate(cuda_id *s, unsigned int flags)
{
	(void)flags;
	*s = new_object();
	return sticky;
}

cuda_result cuStreamSynchronize(cuda_id s)
{
	(void)s;
	return sticky;
}

cuda_result cuMemAlloc_v2(cuda_address *a, size_t bytes)
{
	void *p = sticky == 0 && bytes <= MOST_BYTES ? aligned_alloc(256, (bytes + 255) / 256 * 256)
						     : NULL;

	*a = (cuda_address)(uintptr_t)p;
	return sticky != 0 ? sticky : p == NULL ? CUDA_E_OUT_OF_MEMORY : 0;
}

cuda_result cuMemFree_v2(cuda_address a)
{
	free((void *)(uintptr_t)a);
	return sticky;
}

cuda_result cuMemcpyHtoD_v2(cuda_address to, const void *from, size_t n)
{
	memcpy((void *)(uintptr_t)to, from, n);
	return sticky;
}

cuda_result cuMemcpyDtoH_v2(void *to, cuda_address from, size_t n)
{
	memcpy(to, (const void *)(uintptr_t)from, n);
	return sticky;
}

cuda_result cuMemsetD8Async(cuda_address a, unsigned char byte, size_t n, cuda_id s)
{
	(void)s;
	memset((void *)(uintptr_t)a, byte, n);
	return sticky;
}

cuda_result cuModuleLoadDataEx(cuda_id *m, const void *image, unsigned int n, unsigned int *option,
			       void **value)
{
	const char *word = strstr(image, "mock:");

	if (word == NULL && strstr(image, ".entry canary(") != NULL) {
		*m = new_object();
		return sticky;
	}
	if (word == NULL) {
		for (unsigned int i = 0; i + 1 < n; i++) {
			if (option[i] == CUDA_JIT_ERROR_LOG_BUFFER) {
				memset(value[i], '\033', (size_t)(uintptr_t)value[i + 1]);
			}
		}
		return CUDA_E_INVALID_PTX;
	}
	*m = new_object();
	snprintf((*m)->what, sizeof (*m)->what, "%.*s", (int)strcspn(word + 5, "\n"), word + 5);
	if (strcmp((*m)->what, "serial") == 0) {
		snprintf(value[0], 100, "wgmma.mma_async instructions are serialized");
	}
	return sticky;
}

cuda_result cuModuleUnload(cuda_id m)
{
	free(m);
	return sticky;
}

cuda_result cuModuleGetFunction(cuda_id *f, cuda_id m, const char *name)
{
	if (strcmp(name, "k") != 0 && strcmp(name, "canary") != 0) {
		return CUDA_E_NOT_FOUND;
	}
	*f = new_object();
	snprintf((*f)->what, sizeof (*f)->what, "%s", strcmp(name, "k") == 0 ? m->what : "canary");
	return sticky;
}

cuda_result cuFuncSetAttribute(cuda_id f, int what, int value)
{
	if (what != CUDA_FUNC_MAX_DYNAMIC_SHARED || value > 232448) {
		return CUDA_E_INVALID_VALUE;
	}
	f->most_shared = value;
	return sticky;
}

cuda_result cuLaunchKernel(cuda_id f, unsigned int gx, unsigned int gy, unsigned int gz,
			   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			   cuda_id s, void **arg, void **extra)
{
	(void)s;
	if (sticky != 0 || extra != NULL || (uint64_t)gx * gy * gz == 0 || bx * by * bz > 1024) {
		return sticky != 0 ? sticky : CUDA_E_INVALID_VALUE;
	}
	if (bx * by * bz > 512 && strcmp(f->what, "registers") == 0) {
		return CUDA_E_LAUNCH_OUT_OF_RESOURCES;
	}
	if (strcmp(f->what, "canary") == 0) {
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		return 0;
	}
	if (capture != NULL) {
		capture->function = f;
		capture->shared = shared;
		memcpy(capture->arg, arg, 3 * sizeof *arg);
		return ++capture->n <= MOST_CAPTURED ? 0 : CUDA_E_INVALID_VALUE;
	}
	return run(f, arg, shared);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

cuda_result cuEventCreate(cuda_id *e, unsigned int flags)
{
	(void)flags;
	*e = new_object();
	return sticky;
}

cuda_result cuEventRecord(cuda_id e, cuda_id s)
{
	(void)s;
	e->ns = now_ns();
	return sticky;
}

cuda_result cuEventSynchronize(cuda_id e)
{
	(void)e;
	return sticky;
}

cuda_result cuEventElapsedTime(float *ms, cuda_id from, cuda_id to)
{
	*ms = (float)((to->ns - from->ns) * 1e-6);
	return sticky;
}

cuda_result cuStreamBeginCapture_v2(cuda_id s, int mode)
{
	(void)s;
	(void)mode;
	capture = new_object();
	return sticky;
}

cuda_result cuStreamEndCapture(cuda_id s, cuda_id *graph)
{
	(void)s;
	*graph = capture;
	capture = NULL;
	return sticky;
}

cuda_result cuGraphInstantiateWithFlags(cuda_id *ready, cuda_id graph, unsigned long long flags)
{
	(void)flags;
	*ready = new_object();
	**ready = *graph;
	return sticky;
}

cuda_result cuGraphLaunch(cuda_id graph, cuda_id s)
{
	cuda_result code = sticky;

	(void)s;
	for (uint32_t i = 0; i < graph->n && code == 0; i++) {
		code = run(graph->function, graph->arg, graph->shared);
	}
	return code;
}

cuda_result cuGraphExecDestroy(cuda_id graph)
{
	free(graph);
	return sticky;
}

cuda_result cuGraphDestroy(cuda_id graph)
{
	free(graph);
	return sticky;
}

/* -- the management library --------------------------------------------------------------- */

cuda_result nvmlInit_v2(void)
{
	return 0;
}

cuda_result nvmlDeviceGetHandleByPciBusId_v2(const char *bus, cuda_id *d)
{
	*d = new_object();
	return strcmp(bus, "0000:00:00.0") == 0 ? 0 : ERROR_UNKNOWN;
}

cuda_result nvmlDeviceGetClockInfo(cuda_id d, int what, unsigned int *mhz)
{
	(void)d;
	*mhz = what == 1 ? 1980 : 2619;
	return 0;
}

cuda_result nvmlDeviceGetPowerUsage(cuda_id d, unsigned int *milliwatts)
{
	(void)d;
	*milliwatts = 412345;
	return 0;
}

cuda_result nvmlDeviceGetTemperature(cuda_id d, int what, unsigned int *celsius)
{
	(void)d;
	*celsius = 54;
	return what == 0 ? 0 : ERROR_UNKNOWN;
}
