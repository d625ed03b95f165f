/* client/replay_launch.c -- a C file that loads a GPU's kernel and launches it by NVIDIA's driver, for
 * people who take kernels out of hone.  It needs the C library alone, and no toolkit. */
#include <inttypes.h>
#include <string.h>

#include "client/replay.h"

/* NAME stands for the kernel's name. */
static const char head[] =
	"/* NAME_launch.c -- loads NAME.ptx or NAME.cubin and launches it; written by hone.\n"
	" *\n"
	" *     const char *why = NAME_load(\"NAME.ptx\");   NULL, or what went wrong\n"
	" *     why = NAME_run(args);                      device pointers of the arguments, in order\n"
	" *     NAME_unload();\n"
	" *\n"
	" * The calling thread gets the first device's primary context, which programs share.  NAME_run\n"
	" * returns when all is done.  Not for several threads at a time.  Link with -ldl where the C\n"
	" * library wants that. */\n"
	"#include <dlfcn.h>\n"
	"#include <stdint.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"\n"
	"const char *NAME_load(const char *path);\n"
	"const char *NAME_run(const uint64_t *args);\n"
	"void NAME_unload(void);\n"
	"\n";

static const char body[] =
	"#define N_BUFFERS (sizeof buffers / sizeof buffers[0])\n"
	"#define N_LAUNCHES (sizeof launches / sizeof launches[0])\n"
	"#define MAX_FILE (64L << 20)\n"
	"\n"
	"#define FUNCTIONS(X) \\\n"
	"	X(Init, \"cuInit\", (unsigned)) \\\n"
	"	X(DeviceGet, \"cuDeviceGet\", (int *, int)) \\\n"
	"	X(Retain, \"cuDevicePrimaryCtxRetain\", (void **, int)) \\\n"
	"	X(SetCurrent, \"cuCtxSetCurrent\", (void *)) \\\n"
	"	X(LoadData, \"cuModuleLoadData\", (void **, const void *)) \\\n"
	"	X(Unload, \"cuModuleUnload\", (void *)) \\\n"
	"	X(GetFunction, \"cuModuleGetFunction\", (void **, void *, const char *)) \\\n"
	"	X(SetAttribute, \"cuFuncSetAttribute\", (void *, int, int)) \\\n"
	"	X(Alloc, \"cuMemAlloc_v2\", (uint64_t *, size_t)) \\\n"
	"	X(Free, \"cuMemFree_v2\", (uint64_t)) \\\n"
	"	X(Launch, \"cuLaunchKernel\", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, \\\n"
	"		unsigned, unsigned, void *, void **, void **)) \\\n"
	"	X(Synchronize, \"cuCtxSynchronize\", (void))\n"
	"\n"
	"static struct {\n"
	"#define X(name, symbol, parameters) int (*name) parameters;\n"
	"	FUNCTIONS(X)\n"
	"#undef X\n"
	"} driver;\n"
	"\n"
	"static void *module, *function[N_LAUNCHES];\n"
	"static uint64_t workspace[N_BUFFERS];\n"
	"\n"
	"static const char *open_driver(void)\n"
	"{\n"
	"	void *lib = dlopen(\"libcuda.so.1\", RTLD_NOW), *context;\n"
	"	int device;\n"
	"\n"
	"	if (lib == NULL)\n"
	"		return \"there is no libcuda.so.1\";\n"
	"#define X(name, symbol, parameters) \\\n"
	"	*(void **)&driver.name = dlsym(lib, symbol); \\\n"
	"	if (driver.name == NULL) \\\n"
	"		return \"the driver has no \" symbol;\n"
	"	FUNCTIONS(X)\n"
	"#undef X\n"
	"	if (driver.Init(0) != 0 || driver.DeviceGet(&device, 0) != 0 ||\n"
	"	    driver.Retain(&context, device) != 0 || driver.SetCurrent(context) != 0)\n"
	"		return \"there is no device, or it cannot be used\";\n"
	"	return NULL;\n"
	"}\n"
	"\n"
	"static const char *load_code(const char *path)\n"
	"{\n"
	"	FILE *f = fopen(path, \"rb\");\n"
	"	char *code = NULL;\n"
	"	long n = 0;\n"
	"	int rc = 1;\n"
	"\n"
	"	if (f == NULL)\n"
	"		return \"the file of the code cannot be opened\";\n"
	"	if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) > 0 && n <= MAX_FILE)\n"
	"		code = calloc(1, (size_t)n + 1);\n"
	"	rewind(f);\n"
	"	if (code != NULL && fread(code, 1, (size_t)n, f) == (size_t)n)\n"
	"		rc = driver.LoadData(&module, code);\n"
	"	free(code);\n"
	"	fclose(f);\n"
	"	return rc == 0 ? NULL : \"the driver does not take the code\";\n"
	"}\n"
	"\n"
	"const char *NAME_load(const char *path)\n"
	"{\n"
	"	const char *why = open_driver();\n"
	"	size_t i;\n"
	"\n"
	"	why = why != NULL ? why : load_code(path);\n"
	"	for (i = 0; i < N_LAUNCHES && why == NULL; i++) {\n"
	"		if (driver.GetFunction(&function[i], module, launches[i].name) != 0 ||\n"
	"		    (launches[i].shared > 0 &&\n"
	"		     driver.SetAttribute(function[i], 8, (int)launches[i].shared) != 0))\n"
	"			why = \"a kernel is not there, or asks for too much shared memory\";\n"
	"	}\n"
	"	for (i = 0; i < N_BUFFERS && why == NULL; i++) {\n"
	"		if (buffers[i].arg < 0 && driver.Alloc(&workspace[i], buffers[i].bytes) != 0)\n"
	"			why = \"there is no memory for the workspace\";\n"
	"	}\n"
	"	return why;\n"
	"}\n"
	"\n"
	"const char *NAME_run(const uint64_t *args)\n"
	"{\n"
	"	uint64_t at[N_BUFFERS];\n"
	"	void *parameter[N_BUFFERS];\n"
	"	size_t i, k;\n"
	"\n"
	"	for (i = 0; i < N_BUFFERS; i++)\n"
	"		at[i] = buffers[i].arg < 0 ? workspace[i] : args[buffers[i].arg];\n"
	"	for (i = 0; i < N_LAUNCHES; i++) {\n"
	"		const unsigned *g = launches[i].grid, *b = launches[i].block;\n"
	"\n"
	"		for (k = 0; k < launches[i].n; k++)\n"
	"			parameter[k] = &at[launches[i].buffer[k]];\n"
	"		if (driver.Launch(function[i], g[0], g[1], g[2], b[0], b[1], b[2],\n"
	"				  launches[i].shared, NULL, parameter, NULL) != 0)\n"
	"			return \"a launch failed\";\n"
	"	}\n"
	"	return driver.Synchronize() == 0 ? NULL : \"a kernel failed\";\n"
	"}\n"
	"\n"
	"void NAME_unload(void)\n"
	"{\n"
	"	size_t i;\n"
	"\n"
	"	for (i = 0; i < N_BUFFERS; i++) {\n"
	"		if (workspace[i] != 0)\n"
	"			driver.Free(workspace[i]);\n"
	"		workspace[i] = 0;\n"
	"	}\n"
	"	if (module != NULL)\n"
	"		driver.Unload(module);\n"
	"	module = NULL;\n"
	"}\n";

static void put(struct hn_buf *b, const char *text, const char *name)
{
	for (const char *p = text; *p != '\0';) {
		if (strncmp(p, "NAME", 4) == 0) {
			hn_buf_puts(b, name);
			p += 4;
		} else {
			hn_buf_putc(b, *p++);
		}
	}
}

static void put_three(struct hn_buf *b, const int64_t v[3])
{
	hn_buf_printf(b, "{ %" PRId64 ", %" PRId64 ", %" PRId64 " }, ", v[0], v[1], v[2]);
}

static void put_tables(struct hn_buf *b, const struct hn_gpu_module *m)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		most = m->kernel[i].n_arg > most ? m->kernel[i].n_arg : most;
	}
	hn_buf_puts(b, "/* arg: the argument's number; -1: workspace */\n"
		       "static const struct {\n	int arg;\n	size_t bytes;\n} buffers[] = {\n");
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		hn_buf_printf(b, "	{ %d, %" PRId64 " },\n", m->buffer[i].arg, m->buffer[i].bytes);
	}
	hn_buf_printf(b,
		      "};\n\n/* shared: bytes that the launch asks for; buffer: its parameters */\n"
		      "static const struct {\n	const char *name;\n	unsigned grid[3], block[3], shared;\n"
		      "	size_t n;\n	unsigned buffer[%u];\n} launches[] = {\n",
		      most);
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_gpu_kernel *k = &m->kernel[i];

		hn_buf_printf(b, "	{ \"%s\", ", k->name);
		put_three(b, k->grid);
		put_three(b, k->block);
		hn_buf_printf(b, "%" PRId64 ", %u, { ", k->dynamic_shared, k->n_arg);
		for (uint32_t j = 0; j < k->n_arg || j == 0; j++) {
			hn_buf_printf(b, "%s%u", j > 0 ? ", " : "", j < k->n_arg ? k->arg[j] : 0);
		}
		hn_buf_puts(b, " } },\n");
	}
	hn_buf_puts(b, "};\n\n");
}

void hn_replay_launcher(const struct hn_gpu_module *m, const char *symbol, struct hn_buf *ret)
{
	put(ret, head, symbol);
	put_tables(ret, m);
	put(ret, body, symbol);
}
