/* cuda_driver.c -- a driver of CUDA's without a device, for tests of the board: what goes wrong with
 * devices goes wrong here on purpose.
 *
 * Its memory is this machine's, and launches run at once.  A module's code is text; the word behind
 * "mock:" says what a launch does with the arguments A, B and C, 64 x 64 floats each: "matmul" is
 * right, and the others are the rows of `kinds` (cuda_launch.c).  $MOCK_CUDA says what is wrong with the device
 * itself: "none" (there is none), "init" (it cannot be used), "no-graphs".  $MOCK_CUDA_STATE is a file that
 * remembers, over processes, that a device was lost once.
 *
 * Modules without such a word, as hone makes them, do what $MOCK_CUDA_WORDS says, "wrong,illegal,...":
 * the n-th that is loaded the n-th word, "matmul" after the last.  $MOCK_CUDA_COUNT is a file that
 * counts them over processes.
 *
 * Where $MOCK_CUDA_PTX is set, such modules really run (cuda_ptx.c), and a fault is an illegal address.
 *
 * mock_seen (cuda_mock.h) says what there is and what was launched, and which call is to fail.  A module's text may say how many
 * parameters its kernels have: "params 2".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cdefs.h"
#include "tests/mock/cuda_mock.h"
#include "tests/ptx/ptx.h"

#define X(name, symbol, parameters) cuda_result symbol parameters;
CUDA_FUNCTIONS(X)
CUDA_LATER_FUNCTIONS(X)
NVML_FUNCTIONS(X)
#undef X

#define MOST_BYTES ((size_t)1 << 30) /* of a buffer */
#define MOST_CAPTURED 100000

static cuda_id capture; /* not NULL: launches go into it */

/* What a call says: that the device was lost, or what the test asked for of its n-th call. */
static cuda_result said(void)
{
	mock_seen.calls++;
	return mock_seen.calls == mock_seen.fail_at ? mock_seen.fail_with : mock_sticky;
}

static cuda_id new_object(void)
{
	return calloc(1, sizeof(struct cuda_object));
}

/* -- the driver --------------------------------------------------------------------------- */

static bool is(const char *word)
{
	const char *s = getenv("MOCK_CUDA");

	return s != NULL && strcmp(s, word) == 0;
}

cuda_result cuInit(unsigned int flags)
{
	return flags != 0 || is("init") ? MOCK_UNKNOWN : said();
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
	return said();
}

cuda_result cuDeviceGet(cuda_device *d, int i)
{
	*d = i;
	return i == 0 ? said() : MOCK_NO_DEVICE;
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
			return said();
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
	static struct cuda_object context;
	cuda_result code = said();

	(void)d;
	*c = &context;
	mock_seen.contexts += code == 0;
	return code;
}

cuda_result cuCtxSetCurrent(cuda_id c)
{
	(void)c;
	return mock_sticky;
}

cuda_result cuStreamCreate(cuda_id *s, unsigned int flags)
{
	cuda_result code = said();

	(void)flags;
	*s = code == 0 ? new_object() : NULL;
	mock_seen.streams += code == 0;
	return code;
}

/* The last one takes the context with it, and what was wrong with it. */
cuda_result cuDevicePrimaryCtxRelease_v2(cuda_device d)
{
	cuda_result code = said();

	(void)d;
	if (--mock_seen.contexts == 0) {
		mock_sticky = 0;
	}
	return code;
}

cuda_result cuCtxPushCurrent_v2(cuda_id c)
{
	cuda_result code = said();

	(void)c;
	mock_seen.pushed += code == 0;
	return code;
}

cuda_result cuCtxPopCurrent_v2(cuda_id *c)
{
	*c = NULL;
	mock_seen.pushed--;
	return said();
}

cuda_result cuStreamDestroy_v2(cuda_id s)
{
	free(s);
	mock_seen.streams--;
	return said();
}

cuda_result cuStreamSynchronize(cuda_id s)
{
	(void)s;
	return said();
}

cuda_result cuMemAlloc_v2(cuda_address *a, size_t bytes)
{
	cuda_result code = said();
	void *p = code == 0 && bytes <= MOST_BYTES ? aligned_alloc(256, (bytes + 255) / 256 * 256)
						   : NULL;

	*a = (cuda_address)(uintptr_t)p;
	mock_seen.allocations += p != NULL;
	mock_ptx_memory(p, bytes);
	return code != 0 ? code : p == NULL ? CUDA_E_OUT_OF_MEMORY : 0;
}

cuda_result cuMemFree_v2(cuda_address a)
{
	mock_ptx_forget((void *)(uintptr_t)a);
	free((void *)(uintptr_t)a);
	mock_seen.allocations--;
	return said();
}

cuda_result cuMemcpyHtoD_v2(cuda_address to, const void *from, size_t n)
{
	memcpy((void *)(uintptr_t)to, from, n);
	mock_seen.uploads++;
	return said();
}

cuda_result cuMemcpyDtoH_v2(void *to, cuda_address from, size_t n)
{
	memcpy(to, (const void *)(uintptr_t)from, n);
	mock_seen.downloads++;
	return said();
}

cuda_result cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t n, cuda_id s)
{
	(void)s;
	return cuMemcpyHtoD_v2(to, from, n);
}

cuda_result cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t n, cuda_id s)
{
	(void)s;
	return cuMemcpyDtoH_v2(to, from, n);
}

cuda_result cuMemsetD8Async(cuda_address a, unsigned char byte, size_t n, cuda_id s)
{
	(void)s;
	memset((void *)(uintptr_t)a, byte, n);
	return mock_sticky;
}

/* How many modules were loaded before, in all processes. */
static long count_module(void)
{
	const char *path = getenv("MOCK_CUDA_COUNT");
	FILE *f = path != NULL ? fopen(path, "a") : NULL;
	long n = 0;

	if (f != NULL) {
		n = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
		fputc('.', f);
		fclose(f);
	}
	return n;
}

/* Of the first kernel of a module that hone made. */
static uint32_t count_parameters(const char *image)
{
	const char *entry = strstr(image, ".entry ");
	uint32_t n = 0;

	for (const char *end = entry + strcspn(entry, ")"); entry < end; n++) {
		const char *next = strstr(entry, ".param ");

		if (next == NULL || next > end) {
			break;
		}
		entry = next + 1;
	}
	return n;
}

/* What a module that hone made is to do; false: they are refused. */
static bool choose_word(const char *image, char word[32])
{
	const char *words = getenv("MOCK_CUDA_WORDS");
	uint32_t parameters;
	long n;

	if (words == NULL || strstr(image, ".entry ") == NULL) {
		return false;
	}
	n = count_module();
	parameters = count_parameters(image);
	for (; n > 0 && *words != '\0'; n--) {
		words += strcspn(words, ",");
		words += *words == ',';
	}
	snprintf(word, 32, "%.*s", (int)strcspn(words, ","), words);
	if (word[0] == '\0' || parameters != 3) {
		snprintf(word, 32, parameters == 3 ? "matmul" : "nothing");
	}
	return true;
}

static uint32_t parameters_of(const char *image)
{
	const char *said = strstr(image, "params ");
	uint32_t n = said != NULL			  ? (uint32_t)atoi(said + 7)
		     : strstr(image, ".entry ") != NULL ? count_parameters(image)
							  : 3;

	return n < MOCK_ARGS ? n : MOCK_ARGS;
}

/* A module that really runs. */
static cuda_result load_ptx(cuda_id *m, const char *image, unsigned int n, const unsigned int *option,
			    void *const *value)
{
	char why[1000] = "";
	struct mock_ptx *p = mock_ptx_load(image, why, sizeof why);

	for (unsigned int i = 0; p == NULL && i + 1 < n; i++) {
		if (option[i] == CUDA_JIT_ERROR_LOG_BUFFER) {
			snprintf(value[i], (size_t)(uintptr_t)value[i + 1], "%s", why);
		}
	}
	if (p == NULL) {
		return CUDA_E_INVALID_PTX;
	}
	*m = new_object();
	(*m)->ptx = p;
	mock_seen.modules++;
	return said();
}

cuda_result cuModuleLoadDataEx(cuda_id *m, const void *image, unsigned int n, unsigned int *option,
			       void **value)
{
	const char *word = strstr(image, "mock:");
	char chosen[40] = "mock:";
	cuda_result code;

	if (word == NULL && strstr(image, ".entry canary(") != NULL) {
		*m = new_object();
		return mock_sticky;
	}
	if (word == NULL && getenv("MOCK_CUDA_PTX") != NULL) {
		return load_ptx(m, image, n, option, value);
	}
	if (word == NULL && choose_word(image, chosen + 5)) {
		word = chosen;
	}
	if (word == NULL) {
		for (unsigned int i = 0; i + 1 < n; i++) {
			if (option[i] == CUDA_JIT_ERROR_LOG_BUFFER) {
				memset(value[i], '\033', (size_t)(uintptr_t)value[i + 1]);
			}
		}
		return CUDA_E_INVALID_PTX;
	}
	code = said();
	if (code != 0) {
		return code;
	}
	*m = new_object();
	mock_seen.modules++;
	(*m)->n_arg = parameters_of(image);
	snprintf((*m)->what, sizeof (*m)->what, "%.*s", (int)strcspn(word + 5, "\n"), word + 5);
	if (strcmp((*m)->what, "serial") == 0) {
		snprintf(value[0], 100, "wgmma.mma_async instructions are serialized");
	}
	return 0;
}

cuda_result cuModuleUnload(cuda_id m)
{
	while (m != NULL) {
		cuda_id next = m->next;

		if (next == NULL && m->ptx != NULL) {
			mock_ptx_free(m->ptx);
		}
		free(m);
		m = next;
	}
	mock_seen.modules--;
	return said();
}

cuda_result cuModuleGetFunction(cuda_id *f, cuda_id m, const char *name)
{
	cuda_result code = said();

	if (code != 0) {
		return code;
	}
	if (name[0] != 'k' && strcmp(name, "canary") != 0) {
		return CUDA_E_NOT_FOUND;
	}
	*f = new_object();
	(*f)->next = m->next;
	m->next = *f;
	(*f)->n_arg = m->n_arg;
	(*f)->ptx = m->ptx;
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	snprintf((*f)->what, sizeof (*f)->what, "%s", name[0] == 'k' ? m->what : "canary");
	return 0;
}

/* What the driver asks of a map; its first bytes are the address, as a launch sees it. */
cuda_result cuTensorMapEncodeTiled(struct cuda_map *to, int type, uint32_t rank, void *at,
				   const uint64_t *size, const uint64_t *stride,
				   const uint32_t *box, const uint32_t *each, int interleave,
				   int swizzle, int l2, int fill)
{
	static const uint32_t bytes[] = {1, 2, 4, 4, 8}, row[] = {0, 32, 64, 128};
	cuda_address address = (cuda_address)(uintptr_t)at;
	bool ok = (uintptr_t)to % 64 == 0 && address % 16 == 0 && rank >= 1 && rank <= 5 &&
		  type >= 0 && type <= 4 && swizzle >= 0 && swizzle <= 3 && interleave == 0 &&
		  l2 >= 0 && l2 <= 3 && fill == 0;

	for (uint32_t i = 0; i < rank && ok; i++) {
		uint64_t below = i == 0 ? bytes[type] : i == 1 ? size[0] * bytes[type]
							       : stride[i - 2] * size[i - 1];

		ok = size[i] >= 1 && size[i] <= (uint64_t)1 << 32 && box[i] >= 1 && box[i] <= 256 &&
		     each[i] == 1 &&
		     (i == 0 || (stride[i - 1] % 16 == 0 && stride[i - 1] < (uint64_t)1 << 40 &&
				 stride[i - 1] >= below));
	}
	ok = ok && box[0] * bytes[type] % 16 == 0 &&
	     (swizzle == 0 || box[0] * bytes[type] <= row[swizzle]);
	if (!ok) {
		return CUDA_E_INVALID_VALUE;
	}
	struct ptx_map *map = (struct ptx_map *)(void *)to;

	memset(to, 0x5a, sizeof *to);
	*map = (struct ptx_map){.at = at, .rank = (uint8_t)rank, .bytes = (uint8_t)bytes[type],
				.swizzle = (uint8_t)row[swizzle]};
	for (uint32_t i = 0; i < rank; i++) {
		map->size[i] = size[i];
		map->box[i] = (uint16_t)box[i];
		if (i > 0) {
			map->stride[i - 1] = stride[i - 1];
		}
	}
	mock_seen.maps++;
	return mock_sticky;
}

cuda_result cuFuncSetAttribute(cuda_id f, int what, int value)
{
	if (what != CUDA_FUNC_MAX_DYNAMIC_SHARED || value > 232448) {
		return CUDA_E_INVALID_VALUE;
	}
	f->most_shared = value;
	return said();
}

static cuda_result capture_launch(const struct mock_launch *l)
{
	struct mock_launch *all = NULL;

	if (capture->n < MOST_CAPTURED) {
		all = realloc(capture->launch, (capture->n + 1) * sizeof *all);
	}
	if (all == NULL) {
		return CUDA_E_INVALID_VALUE;
	}
	all[capture->n++] = *l;
	capture->launch = all;
	return 0;
}

cuda_result cuLaunchKernel(cuda_id f, unsigned int gx, unsigned int gy, unsigned int gz,
			   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			   cuda_id s, void **arg, void **extra)
{
	struct mock_launch l = {.function = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared};

	cuda_result code = said();

	(void)s;
	if (code != 0 || extra != NULL || (uint64_t)gx * gy * gz == 0 || bx * by * bz > 1024) {
		return code != 0 ? code : CUDA_E_INVALID_VALUE;
	}
	if (bx * by * bz > 512 && strcmp(f->what, "registers") == 0) {
		return CUDA_E_LAUNCH_OUT_OF_RESOURCES;
	}
	if (strcmp(f->what, "canary") == 0) {
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		return 0;
	}
	if (f->ptx != NULL && !mock_ptx_keep(&l, arg)) {
		return CUDA_E_INVALID_VALUE;
	}
	for (uint32_t i = 0; i < f->n_arg; i++) {
		l.value[i] = *(cuda_address *)arg[i];
	}
	return capture != NULL ? capture_launch(&l) : mock_run(&l);
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
	return mock_sticky;
}

cuda_result cuEventRecord(cuda_id e, cuda_id s)
{
	(void)s;
	e->ns = now_ns();
	return mock_sticky;
}

cuda_result cuEventSynchronize(cuda_id e)
{
	(void)e;
	return mock_sticky;
}

cuda_result cuEventElapsedTime(float *ms, cuda_id from, cuda_id to)
{
	*ms = (float)((to->ns - from->ns) * 1e-6);
	return mock_sticky;
}

cuda_result cuStreamBeginCapture_v2(cuda_id s, int mode)
{
	(void)s;
	(void)mode;
	cuda_result code = said();

	if (code != 0 || is("no-graphs")) {
		return code != 0 ? code : CUDA_E_INVALID_VALUE;
	}
	capture = new_object();
	return 0;
}

cuda_result cuStreamEndCapture(cuda_id s, cuda_id *graph)
{
	cuda_result code = said();

	(void)s;
	*graph = capture;
	capture = NULL;
	mock_seen.graphs++;
	if (code != 0) {
		cuGraphDestroy(*graph);
		*graph = NULL;
	}
	return code;
}

cuda_result cuGraphInstantiateWithFlags(cuda_id *ready, cuda_id graph, unsigned long long flags)
{
	cuda_result code = said();

	(void)flags;
	if (code != 0) {
		return code;
	}
	*ready = new_object();
	(*ready)->n = graph->n;
	(*ready)->launch = calloc(graph->n + 1, sizeof *graph->launch);
	memcpy((*ready)->launch, graph->launch, graph->n * sizeof *graph->launch);
	mock_seen.graphs++;
	return 0;
}

cuda_result cuGraphLaunch(cuda_id graph, cuda_id s)
{
	cuda_result code = said();

	(void)s;
	mock_seen.graph_launches++;
	for (uint32_t i = 0; i < graph->n && code == 0; i++) {
		code = mock_run(&graph->launch[i]);
	}
	return code;
}

cuda_result cuGraphExecDestroy(cuda_id graph)
{
	return cuGraphDestroy(graph);
}

cuda_result cuGraphDestroy(cuda_id graph)
{
	mock_seen.graphs--;
	free(graph->launch);
	free(graph);
	return said();
}

/* -- the management library --------------------------------------------------------------- */

cuda_result nvmlInit_v2(void)
{
	return 0;
}

cuda_result nvmlDeviceGetHandleByPciBusId_v2(const char *bus, cuda_id *d)
{
	*d = new_object();
	return strcmp(bus, "0000:00:00.0") == 0 ? 0 : MOCK_UNKNOWN;
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
	return what == 0 ? 0 : MOCK_UNKNOWN;
}
