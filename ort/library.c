/* ort/library.c -- see library.h. */
#include "ort/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "target/target.h"

#define FORMAT "hone-network/1"
#define MANIFEST_MAX ((size_t)64 << 20)
#define LIBRARY_MAX ((size_t)1 << 30)

int ort_library_type(const struct hone_model_tensor *t)
{
	static const struct {
		const char *name;
		int type;
	} rows[] = {
		{ "float32", 1 }, { "uint8", 2 },  { "int8", 3 },     { "uint16", 4 },
		{ "int16", 5 },	  { "int32", 6 },  { "int64", 7 },    { "bool", 9 },
		{ "float16", 10 }, { "float64", 11 }, { "uint32", 12 }, { "uint64", 13 },
		{ "bfloat16", 16 },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].name, t->dtype) == 0) {
			return rows[i].type;
		}
	}
	return 0;
}

/* Whether this machine can run what the manifest says that it was made for. */
static int check_target(const char *path, const char *line, struct hn_err *err)
{
	struct hn_target target, host;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = line == NULL ? hn_fail(err, HONE_E_INVALID, "%s: no target", path)
			      : hn_target_parse(line, &a, &target, err);

	hn_target_host(&a, &host);
	if (rc == 0 && !hn_target_runs_on(&target, &host)) {
		struct hn_buf isa;

		hn_buf_init(&isa);
		hn_target_print_isa(&target, &isa);
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s: made for %s, which this processor is not",
			     path, isa.s);
		hn_buf_fini(&isa);
	}
	hn_arena_fini(&a);
	return rc;
}

/* *ret_name: what the functions' names begin with. */
static int read_manifest(const char *dir, struct ort_library *l, char ret_name[128],
			 struct hn_err *err)
{
	const struct hn_json_limits deep = { .max_depth = 1000, .max_bytes = MANIFEST_MAX };
	struct hn_json *v = NULL;
	char path[PATH_MAX];
	struct hn_buf b;

	hn_buf_init(&b);
	snprintf(path, sizeof(path), "%.4000s/model.json", dir);
	int rc = hn_file_read_kept(path, MANIFEST_MAX, &b, err);

	rc = rc ? rc : hn_json_parse(path, b.s, b.n, &deep, &v, err);
	if (rc == 0) {
		const char *format = hn_json_string(hn_json_get(v, "format"));
		const char *name = hn_json_string(hn_json_get(v, "name"));
		const char *onnx = hn_json_string(hn_json_get(v, "onnx"));
		const char *library = hn_json_string(hn_json_get(v, "library"));

		if (format == NULL || strcmp(format, FORMAT) != 0 || name == NULL ||
		    strlen(name) > 100 || onnx == NULL || strlen(onnx) != HN_SHA256_HEX - 1 ||
		    library == NULL || strlen(library) != HN_SHA256_HEX - 1) {
			rc = hn_fail(err, HONE_E_INVALID, "%s: no manifest of a network as hone %s "
							  "makes it: compile it again",
				     path, HONE_VERSION);
		} else {
			snprintf(ret_name, 128, "%s", name);
			memcpy(l->onnx, onnx, HN_SHA256_HEX);
			memcpy(l->binary, library, HN_SHA256_HEX);
			rc = check_target(path, hn_json_string(hn_json_get(v, "target")), err);
		}
	}
	hn_json_free(v);
	hn_buf_fini(&b);
	return rc;
}

static void *function(struct ort_library *l, const char *name, const char *behind)
{
	char symbol[160];

	snprintf(symbol, sizeof(symbol), "%s%s", name, behind);
	return dlsym(l->handle, symbol);
}

/* The file is as long as the network says, so that no read of it ends in a SIGBUS. */
static int map_weights(const char *dir, struct ort_library *l, struct hn_err *err)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%.4000s/model.weights", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* no pipe is waited for */

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size != l->model->weights_bytes) {
		if (fd >= 0) {
			close(fd);
		}
		return hn_fail(err, HONE_E_INVALID, "%s: not the network's weights, %llu bytes: "
						    "compile it again, without --embed",
			       path, (unsigned long long)l->model->weights_bytes);
	}
	l->weights_bytes = (size_t)st.st_size;
	l->weights = l->weights_bytes == 0 ? NULL
					   : mmap(NULL, l->weights_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (l->weights == MAP_FAILED) {
		l->weights = NULL;
		return hn_fail(err, HONE_E_IO, "%s: cannot be mapped", path);
	}
	return 0;
}

/* -- the code ----------------------------------------------------------------------------------- */

/* A file in memory that is these bytes and nobody changes; -1: the system has none. */
static int copy_to_memory(const struct hn_buf *b)
{
	int fd = memfd_create("hone-network", MFD_CLOEXEC);
	size_t at = 0;

	while (fd >= 0 && at < b->n) {
		ssize_t n = write(fd, b->s + at, b->n - at);

		if (n < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	return fd;
}

/* The loader trusts what it maps, and knows a file by its name: one that was compiled again would be
 * the old one as long as a session has that.  So what was hashed is loaded, under a name that is
 * nobody else's while the descriptor is open. */
static int open_binary(const char *path, struct ort_library *l, struct hn_err *err)
{
	char hex[HN_SHA256_HEX], name[40];
	struct hn_buf b;

	hn_buf_init(&b);
	int rc = hn_file_read_kept(path, LIBRARY_MAX, &b, err);

	if (rc == 0) {
		hn_sha256_hex(b.s, b.n, hex);
		rc = strcmp(hex, l->binary) == 0
			     ? 0
			     : hn_fail(err, HONE_E_CORRUPT,
				       "%s is not the file that was made with the manifest: compile it "
				       "again",
				       path);
	}
	if (rc == 0) {
		l->copy = copy_to_memory(&b);
		snprintf(name, sizeof(name), "/proc/self/fd/%d", l->copy);
		l->handle = l->copy >= 0 ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
		l->handle = l->handle != NULL ? l->handle : dlopen(path, RTLD_NOW | RTLD_LOCAL);
		rc = l->handle != NULL ? 0 : hn_fail(err, HONE_E_INVALID, "%.500s", dlerror());
	}
	hn_buf_fini(&b);
	return rc;
}

static void *block(uint64_t bytes)
{
	return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

/* -- arenas: one for each run at a time ---------------------------------------------------------- */

static void *take_arena(struct ort_library *l)
{
	void *arena = NULL;

	pthread_mutex_lock(&l->lock);
	if (l->n_arena > 0) {
		arena = l->arena[--l->n_arena];
	}
	pthread_mutex_unlock(&l->lock);
	return arena != NULL ? arena
			     : block(hone_model_arena_bytes(l->model, hone_pool_threads(l->pool)));
}

static void give_arena(struct ort_library *l, void *arena)
{
	pthread_mutex_lock(&l->lock);
	if (l->n_arena < ORT_ARENAS) {
		l->arena[l->n_arena++] = arena;
		arena = NULL;
	}
	pthread_mutex_unlock(&l->lock);
	free(arena);
}

static int load(const char *dir, const char *name, struct ort_library *l, struct hn_err *err)
{
	int32_t (*prepare)(const void *, void *, void *, const struct hone_env *);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/libmodel.so", dir);
	int rc = open_binary(path, l, err);

	if (rc != 0) {
		return rc;
	}
	l->model = function(l, name, "_model");
	*(void **)&l->run = function(l, name, "_run");
	*(void **)&prepare = function(l, name, "_prepare");
	if (l->model == NULL || l->run == NULL || prepare == NULL ||
	    l->model->abi != HONE_MODEL_ABI || l->model->n_sizes != 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "%s: no network of version %d with sizes that are numbers", path,
			       HONE_MODEL_ABI);
	}
	rc = map_weights(dir, l, err);
	if (rc != 0) {
		return rc;
	}
	const struct hone_env *env = hone_pool_env(l->pool, 0);
	void *arena = take_arena(l);

	l->env = env != NULL ? *env : (struct hone_env){ .abi = HONE_KERNEL_ABI, .n_workers = 1 };
	l->prepared = block(l->model->prepared_bytes);
	if (arena == NULL || l->prepared == NULL) {
		free(arena);
		return hn_fail(err, HONE_E_NOMEM, "no memory for the network in %s", dir);
	}
	rc = prepare(l->weights, l->prepared, arena, &l->env);
	give_arena(l, arena);
	return rc == 0 ? 0
		       : hn_fail(err, HONE_E_INVALID, "%s: the network refuses its weights (%d)", dir,
				 rc);
}

int ort_library_open(const char *dir, const char *model, struct hone_pool *pool,
		     struct ort_library *ret, struct hn_err *err)
{
	char name[128], hex[HN_SHA256_HEX];
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	ret->pool = pool;
	ret->copy = -1;
	pthread_mutex_init(&ret->lock, NULL);
	if (stat(dir, &st) != 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "%s is not there: `hone compile %s -o %s` makes it",
			       dir, model != NULL ? model : "FILE.onnx", dir);
	}
	int rc = read_manifest(dir, ret, name, err);

	rc = rc || model == NULL ? rc : hn_file_sha256(model, ORT_FILE_MOST, hex, err);
	if (rc == 0 && model != NULL && strcmp(hex, ret->onnx) != 0) {
		rc = hn_fail(err, HONE_E_INVALID, "%s was made of another file than %s is now: compile "
						  "it again",
			     dir, model);
	}
	rc = rc ? rc : load(dir, name, ret, err);
	if (rc != 0) {
		ort_library_close(ret);
	}
	return rc;
}

void ort_library_close(struct ort_library *l)
{
	if (l->weights != NULL) {
		munmap(l->weights, l->weights_bytes);
	}
	free(l->prepared);
	while (l->n_arena > 0) {
		free(l->arena[--l->n_arena]);
	}
	if (l->handle != NULL) {
		dlclose(l->handle);
	}
	if (l->copy >= 0) {
		close(l->copy);
	}
	pthread_mutex_destroy(&l->lock);
	memset(l, 0, sizeof(*l));
}

int32_t ort_library_run(struct ort_library *l, const void *const *in, void *const *out,
			const struct hone_env *env)
{
	void *arena = take_arena(l);
	int32_t rc = HONE_KERNEL_NOMEM;

	if (arena != NULL) {
		rc = l->run(l->weights, l->prepared, in, out, arena,
			    env != NULL ? env : &l->env);
		give_arena(l, arena);
	}
	return rc;
}
