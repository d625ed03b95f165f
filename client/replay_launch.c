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
	"	X(Synchronize, \"cuCtxSynchronize\", (void)) \\\n"
	"	MAP_FUNCTIONS(X)\n"
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
	"ADD_MAPS"
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
	"	void *parameter[N_BUFFERS + N_MAPS];\n"
	"	size_t i, k;\n"
	"\n"
	"	for (i = 0; i < N_BUFFERS; i++)\n"
	"		at[i] = buffers[i].arg < 0 ? workspace[i] : args[buffers[i].arg];\n"
	"	for (i = 0; i < N_LAUNCHES; i++) {\n"
	"		const unsigned *g = launches[i].grid, *b = launches[i].block;\n"
	"\n"
	"		for (k = 0; k < launches[i].n; k++)\n"
	"			parameter[k] = &at[launches[i].buffer[k]];\n"
	"		if (!add_maps(i, at, &parameter[k]))\n"
	"			return \"the driver makes no tensor map\";\n"
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

/* What stands for MAP_FUNCTIONS, N_MAPS and ADD_MAPS. */
static const char without_maps[] =
	"#define MAP_FUNCTIONS(X)\n"
	"#define N_MAPS 0\n";

static const char with_maps[] =
	"#define MAP_FUNCTIONS(X) \\\n"
	"	X(EncodeMap, \"cuTensorMapEncodeTiled\", (void *, int, unsigned, void *, const uint64_t *, \\\n"
	"		const uint64_t *, const unsigned *, const unsigned *, int, int, int, int))\n"
	"#define N_MAPS (sizeof maps / sizeof maps[0])\n";

static const char adds_nothing[] =
	"static int add_maps(size_t launch, const uint64_t *at, void **parameter)\n"
	"{\n"
	"	(void)launch;\n"
	"	(void)at;\n"
	"	(void)parameter;\n"
	"	return 1;\n"
	"}\n"
	"\n";

static const char adds_maps[] =
	"static unsigned char room[(N_MAPS + 1) * 128]; /* each is 128 bytes, at a multiple of as many */\n"
	"\n"
	"/* Types are numbers of 1, 2, 4 and 8 bytes; swizzles of 32, 64 and 128 bytes; what lies outside is\n"
	" * 0. */\n"
	"static int add_maps(size_t launch, const uint64_t *at, void **parameter)\n"
	"{\n"
	"	static const unsigned each[5] = { 1, 1, 1, 1, 1 };\n"
	"	unsigned char *map = room + 128 - (uintptr_t)room % 128;\n"
	"	size_t k;\n"
	"\n"
	"	for (k = 0; k < launches[launch].n_map; k++) {\n"
	"		unsigned i = launches[launch].map[k], e = maps[i].elem, s = maps[i].swizzle;\n"
	"\n"
	"		if (driver.EncodeMap(map + 128 * i, e == 1 ? 0 : e == 2 ? 1 : e == 4 ? 2 : 4,\n"
	"				     maps[i].dims, (void *)(uintptr_t)at[maps[i].buffer],\n"
	"				     maps[i].size, maps[i].stride, maps[i].box, each, 0,\n"
	"				     s == 0 ? 0 : s == 32 ? 1 : s == 64 ? 2 : 3, 2, 0) != 0)\n"
	"			return 0;\n"
	"		parameter[k] = map + 128 * i;\n"
	"	}\n"
	"	return 1;\n"
	"}\n"
	"\n";

static void put(struct hn_buf *b, const char *text, const char *name, bool maps)
{
	for (const char *p = text; *p != '\0';) {
		if (strncmp(p, "ADD_MAPS", 8) == 0) {
			hn_buf_puts(b, maps ? adds_maps : adds_nothing);
			p += 8;
		} else if (strncmp(p, "NAME", 4) == 0) {
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

static void put_tables(struct hn_buf *b, const struct hn_gpu_module *m, struct hn_arena *a)
{
	uint32_t most = 1, most_maps = 1;

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		most = m->kernel[i].n_arg > most ? m->kernel[i].n_arg : most;
		most_maps = m->kernel[i].n_map > most_maps ? m->kernel[i].n_map : most_maps;
	}
	hn_buf_puts(b, "/* arg: the argument's number; -1: workspace */\n"
		       "static const struct {\n	int arg;\n	size_t bytes;\n} buffers[] = {\n");
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		hn_buf_printf(b, "	{ %d, %" PRId64 " },\n", m->buffer[i].arg, m->buffer[i].bytes);
	}
	hn_buf_printf(b,
		      "};\n\n/* shared: bytes that the launch asks for; buffer: its parameters */\n"
		      "static const struct {\n	const char *name;\n	unsigned grid[3], block[3], shared;\n"
		      "	size_t n;\n	unsigned buffer[%u];\n%s} launches[] = {\n",
		      most,
		      m->n_map == 0 ? ""
				    : hn_arena_printf(a, "	size_t n_map;\n	unsigned map[%u];\n",
						      most_maps));
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_gpu_kernel *k = &m->kernel[i];

		hn_buf_printf(b, "	{ \"%s\", ", k->name);
		put_three(b, k->grid);
		put_three(b, k->block);
		hn_buf_printf(b, "%" PRId64 ", %u, { ", k->dynamic_shared, k->n_arg);
		for (uint32_t j = 0; j < k->n_arg || j == 0; j++) {
			hn_buf_printf(b, "%s%u", j > 0 ? ", " : "", j < k->n_arg ? k->arg[j] : 0);
		}
		hn_buf_puts(b, " }");
		if (m->n_map > 0) {
			hn_buf_printf(b, ", %u, { ", k->n_map);
			for (uint32_t j = 0; j < k->n_map || j == 0; j++) {
				hn_buf_printf(b, "%s%u", j > 0 ? ", " : "", j < k->n_map ? k->map[j] : 0);
			}
			hn_buf_puts(b, " }");
		}
		hn_buf_puts(b, " },\n");
	}
	hn_buf_puts(b, "};\n\n");
}

/* Dimensions as the driver counts them: from the one whose elements lie side by side. */
static void put_map_numbers(struct hn_buf *b, const int64_t *v, uint32_t n, uint32_t from)
{
	hn_buf_puts(b, "{ ");
	for (uint32_t i = from; i < n || i == from; i++) {
		hn_buf_printf(b, "%s%" PRId64, i > from ? ", " : "", i < n ? v[n - 1 - i] : 0);
	}
	hn_buf_puts(b, " }");
}

static void put_maps(struct hn_buf *b, const struct hn_gpu_module *m)
{
	hn_buf_puts(b, "/* Tensor maps, of buffers: bytes of an element; sizes and boxes in elements, from the\n"
		       " * dimension whose elements lie side by side; bytes from one to the next of the others */\n"
		       "static const struct {\n	unsigned buffer, elem, dims, swizzle;\n"
		       "	uint64_t size[5], stride[5];\n	unsigned box[5];\n} maps[] = {\n");
	for (uint32_t i = 0; i < m->n_map; i++) {
		const struct hn_gpu_map *x = &m->map[i];

		hn_buf_printf(b, "	{ %u, %" PRId64 ", %u, %" PRId64 ", ", x->buffer, x->elem,
			      x->n_dim, x->swizzle);
		put_map_numbers(b, x->size, x->n_dim, 0);
		hn_buf_puts(b, ", ");
		put_map_numbers(b, x->stride, x->n_dim, 1);
		hn_buf_puts(b, ", ");
		put_map_numbers(b, x->box, x->n_dim, 0);
		hn_buf_puts(b, " },\n");
	}
	hn_buf_puts(b, "};\n\n");
}

void hn_replay_launcher(const struct hn_gpu_module *m, const char *symbol, struct hn_buf *ret)
{
	struct hn_arena a;
	bool maps = m->n_map > 0;

	hn_arena_init(&a, 0);
	put(ret, head, symbol, maps);
	put_tables(ret, m, &a);
	if (maps) {
		put_maps(ret, m);
	}
	hn_buf_puts(ret, maps ? with_maps : without_maps);
	put(ret, body, symbol, maps);
	hn_arena_fini(&a);
}
