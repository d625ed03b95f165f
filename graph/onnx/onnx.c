/* graph/onnx/onnx.c -- see onnx.h: a file opened, its model, its tensors' bytes. */
#include "graph/onnx/onnx.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name.h"
#include "graph/onnx/external.h"
#include "graph/onnx/onnx_int.h"

struct hn_onnx {
	struct hn_arena arena;
	const char *name; /* in messages */
	const struct hn_onnx_model *model;
	struct hn_wire bytes; /* it was read from */
	struct onnx_map file; /* nothing of one that was parsed */
	int folder;	      /* the model's, or -1 */
	struct onnx_map *external;
	uint32_t n_external, external_cap;
};

static uint64_t most_bytes(uint64_t file_bytes)
{
	uint64_t most = HN_ONNX_MOST_BYTES;

	if (file_bytes < (HN_ONNX_MOST_BYTES - HN_ONNX_FREE_BYTES) / HN_ONNX_PER_BYTE) {
		most = HN_ONNX_FREE_BYTES + file_bytes * HN_ONNX_PER_BYTE;
	}
	return most;
}

static struct hn_onnx *new_onnx(const char *name)
{
	struct hn_onnx *o = calloc(1, sizeof *o);

	if (o) {
		hn_arena_init(&o->arena, 0);
		o->name = hn_arena_strdup(&o->arena, name);
		o->folder = -1;
	}
	return o;
}

static int no_memory(const char *name, struct hn_err *err)
{
	return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", name);
}

static int read_model(struct hn_onnx *o, const void *bytes, size_t n, struct hn_err *err)
{
	struct hn_err own = { 0 };
	struct onnx_reader r = { .arena = &o->arena,
				 .most_bytes = most_bytes(n),
				 .base = bytes,
				 .file_bytes = n,
				 .err = err ? err : &own };
	struct hn_onnx_model *m = HN_NEW(&o->arena, struct hn_onnx_model);
	int rc = onnx_read(&r, ONNX_MODEL, hn_wire_of(bytes, n), m);

	hn_assert(o->arena.used_bytes <= r.most_bytes + HN_ARENA_ALIGN);
	o->model = m;
	o->bytes = hn_wire_of(bytes, n);
	return rc == 0 ? 0 : hn_err_within(r.err, "%s", o->name);
}

int hn_onnx_parse(const char *name, const void *bytes, size_t n, struct hn_onnx **ret,
		  struct hn_err *err)
{
	struct hn_onnx *o = new_onnx(name);
	int rc = o ? read_model(o, bytes, n, err) : no_memory(name, err);

	if (rc == 0) {
		*ret = o;
	} else {
		hn_onnx_close(o);
	}
	return rc;
}

/* The folder that a path is in. */
static int open_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	return fd;
}

static int map_model(struct hn_onnx *o, const char *path, struct hn_err *err)
{
	int fd = hn_file_open(path, err);
	int rc = fd < 0 ? fd : onnx_map_fd(fd, path, &o->file, err);

	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

int hn_onnx_open(const char *path, struct hn_onnx **ret, struct hn_err *err)
{
	struct hn_onnx *o = new_onnx(path);
	int rc = o ? map_model(o, path, err) : no_memory(path, err);

	if (rc == 0) {
		o->folder = open_folder(path);
		rc = read_model(o, o->file.at, o->file.n, err);
	}
	if (rc == 0) {
		*ret = o;
	} else {
		hn_onnx_close(o);
	}
	return rc;
}

void hn_onnx_close(struct hn_onnx *o)
{
	if (!o) {
		return;
	}
	for (uint32_t i = 0; i < o->n_external; i++) {
		onnx_unmap(&o->external[i]);
	}
	onnx_unmap(&o->file);
	if (o->folder >= 0) {
		close(o->folder);
	}
	hn_arena_fini(&o->arena);
	free(o);
}

const struct hn_onnx_model *hn_onnx_model(const struct hn_onnx *o)
{
	return o->model;
}

struct hn_wire onnx_file(const struct hn_onnx *o)
{
	return o->bytes;
}

size_t hn_onnx_memory(const struct hn_onnx *o)
{
	return o->arena.used_bytes;
}

/* ---- external data ---- */

static const struct onnx_map *find_map(const struct hn_onnx *o, const char *location)
{
	for (uint32_t i = 0; i < o->n_external; i++) {
		if (strcmp(o->external[i].location, location) == 0) {
			return &o->external[i];
		}
	}
	return NULL;
}

static int map_external(struct hn_onnx *o, const char *location,
			const struct onnx_map **ret, struct hn_err *err)
{
	struct onnx_map m;
	int rc;

	*ret = find_map(o, location);
	if (*ret) {
		return 0;
	}
	if (o->folder < 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "external data, and no folder to look in");
	}
	rc = onnx_map_below(o->folder, location, &m, err);
	if (rc == 0) {
		o->external = hn_arena_grow(&o->arena, o->external, o->n_external,
					    &o->external_cap, sizeof *o->external);
		o->external[o->n_external] = m;
		*ret = &o->external[o->n_external++];
	}
	return rc;
}

static int external_bytes(struct hn_onnx *o, const struct hn_onnx_tensor *t,
			  struct hn_onnx_bytes *ret, struct hn_err *err)
{
	const struct hn_onnx_external *e = t->external;
	const struct onnx_map *m;
	char place[100];
	int rc = map_external(o, e->location, &m, err);

	if (rc != 0) {
		return rc;
	}
	hn_shown(place, sizeof place, e->location, strlen(e->location));
	if (e->offset > m->n || t->n_bytes > m->n - e->offset) {
		return hn_fail(
			err, HONE_E_INVALID,
			"%s holds %zu bytes, and the tensor is %llu from byte %llu on",
			e->location, m->n, (unsigned long long)t->n_bytes,
			(unsigned long long)e->offset);
	}
	*ret = (struct hn_onnx_bytes){ t->n_bytes > 0 ? m->at + e->offset : NULL,
				       t->n_bytes };
	return 0;
}

int hn_onnx_tensor_bytes(struct hn_onnx *o, const struct hn_onnx_tensor *t,
			 struct hn_onnx_bytes *ret, struct hn_err *err)
{
	char name[100];
	int rc;

	if (!t->external) {
		*ret = t->raw_data;
		return 0;
	}
	rc = external_bytes(o, t, ret, err);
	hn_shown(name, sizeof name, t->name, strlen(t->name));
	return rc == 0 || !err ? rc
			       : hn_err_within(err, "%s: tensor \"%s\"", o->name, name);
}

/* ---- words ---- */

const char *hn_onnx_attr_type_name(int32_t type)
{
	static const char *const names[] = {
#define ATTR(number, name, field) [number] = #name,
#include "graph/onnx/attrs.def"
#undef ATTR
	};

	return type > 0 && type < (int32_t)HN_COUNT_OF(names) ? names[type] : "?";
}

bool hn_onnx_bytes_are(struct hn_onnx_bytes b, const char *text)
{
	return strlen(text) == b.n && (b.n == 0 || memcmp(b.at, text, b.n) == 0);
}
