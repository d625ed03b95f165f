/* client/lib/kernel_info.c -- see kernel_info.h. */
#include <string.h>

#include "base/json.h"
#include "client/lib/kernel_info.h"
#include "hone/kernel.h"

#define FORMAT "hone-kernel-info/"

struct reading {
	const char *what;
	struct hn_arena *a;
	struct hn_kernel_info *info;
	struct hn_err *err;
};

static int wrong(const struct reading *r, const char *member)
{
	return hn_fail(r->err, HONE_E_CORRUPT,
		       "%s: what it says of itself makes no sense (%s); make it anew", r->what,
		       member);
}

static const char *text_of(const struct reading *r, const struct hn_json *o, const char *name)
{
	const char *s = hn_json_string(hn_json_get(o, name));

	return s ? hn_arena_strdup(r->a, s) : NULL;
}

static bool bytes_of(const struct hn_json *o, const char *name, uint64_t *ret)
{
	int64_t n;

	if (!hn_json_int(hn_json_get(o, name), &n) || n < 0) {
		return false;
	}
	*ret = (uint64_t)n;
	return true;
}

static bool is_list(const struct hn_json *v, uint32_t most)
{
	return v != NULL && hn_json_kind(v) == HN_JSON_ARRAY && hn_json_count(v) <= most;
}

static int read_sizes(const struct reading *r, const struct hn_json *list)
{
	struct hn_kernel_info *info = r->info;

	if (!is_list(list, HN_KERNEL_MAX_SIZES)) {
		return wrong(r, "sizes");
	}
	info->size = HN_NEW_ARRAY(r->a, struct hn_kernel_size, hn_json_count(list));
	for (const struct hn_json *v = hn_json_first(list); v; v = hn_json_next(v)) {
		struct hn_kernel_size *s = &info->size[info->n_size++];

		s->name = text_of(r, v, "name");
		if (!s->name || !hn_json_int(hn_json_get(v, "least"), &s->least) ||
		    !hn_json_int(hn_json_get(v, "most"), &s->most) || s->least < 1 ||
		    s->most < s->least) {
			return wrong(r, "sizes");
		}
	}
	return 0;
}

static bool read_extent(const struct reading *r, const struct hn_json *v,
			struct hn_kernel_extent *ret)
{
	const char *text = hn_json_string(v);

	*ret = (struct hn_kernel_extent){ .n = -1, .size = -1 };
	if (text == NULL) {
		return hn_json_int(v, &ret->n) && ret->n >= 1;
	}
	ret->text = hn_arena_strdup(r->a, text);
	for (uint32_t k = 0; k < r->info->n_size; k++) {
		if (strcmp(r->info->size[k].name, text) == 0) {
			ret->size = (int32_t)k;
		}
	}
	return r->info->n_size > 0;
}

static bool read_arg(const struct reading *r, const struct hn_json *v, struct hn_kernel_arg *ret)
{
	const struct hn_json *shape = hn_json_get(v, "shape");
	const char *dtype = hn_json_string(hn_json_get(v, "dtype"));

	ret->name = text_of(r, v, "name");
	ret->dtype = dtype ? hn_dtype_of(dtype) : HN_N_DTYPE;
	if (!ret->name || ret->dtype == HN_N_DTYPE || !is_list(shape, HN_KERNEL_MAX_RANK) ||
	    !hn_json_bool(hn_json_get(v, "output"), &ret->output)) {
		return false;
	}
	ret->extent = HN_NEW_ARRAY(r->a, struct hn_kernel_extent, hn_json_count(shape));
	for (const struct hn_json *e = hn_json_first(shape); e; e = hn_json_next(e)) {
		if (!read_extent(r, e, &ret->extent[ret->rank++])) {
			return false;
		}
	}
	return true;
}

static int read_args(const struct reading *r, const struct hn_json *list)
{
	struct hn_kernel_info *info = r->info;

	if (!is_list(list, HN_KERNEL_MAX_ARGS)) {
		return wrong(r, "args");
	}
	info->arg = HN_NEW_ARRAY(r->a, struct hn_kernel_arg, hn_json_count(list));
	for (const struct hn_json *v = hn_json_first(list); v; v = hn_json_next(v)) {
		if (!read_arg(r, v, &info->arg[info->n_arg++])) {
			return wrong(r, "args");
		}
	}
	return 0;
}

static int check_format(const struct reading *r, const struct hn_json *root)
{
	const char *format = hn_json_string(hn_json_get(root, "format"));
	int64_t abi;

	if (!format || strncmp(format, FORMAT, strlen(FORMAT)) != 0 ||
	    !hn_json_int(hn_json_get(root, "abi"), &abi)) {
		return wrong(r, "format");
	}
	if (strcmp(format, FORMAT "1") != 0 || abi != HONE_KERNEL_ABI) {
		return hn_fail(r->err, HONE_E_VERSION,
			       "%s: %.40s, ABI %lld: this libhone reads " FORMAT "1, ABI %d; use the "
			       "one that came with it, or make it anew",
			       r->what, format, (long long)abi, HONE_KERNEL_ABI);
	}
	return 0;
}

static int read_root(const struct reading *r, const struct hn_json *root)
{
	struct hn_kernel_info *info = r->info;
	int rc = check_format(r, root);

	if (rc != 0) {
		return rc;
	}
	info->symbol = text_of(r, root, "symbol");
	info->key = text_of(r, root, "key");
	info->target = text_of(r, root, "target");
	if (!info->symbol || strlen(info->symbol) > 200 || !info->key ||
	    strlen(info->key) != 64 || !info->target) {
		return wrong(r, "symbol, key, target");
	}
	if (!bytes_of(root, "workspace_bytes", &info->workspace_bytes) ||
	    !bytes_of(root, "worker_bytes", &info->worker_bytes) ||
	    !bytes_of(root, "prepared_bytes", &info->prepared_bytes) ||
	    !hn_json_bool(hn_json_get(root, "init"), &info->init)) {
		return wrong(r, "bytes");
	}
	rc = read_sizes(r, hn_json_get(root, "sizes"));
	return rc ? rc : read_args(r, hn_json_get(root, "args"));
}

int hn_kernel_info_read(const char *what, const char *text, size_t n, struct hn_arena *a,
			struct hn_kernel_info *ret, struct hn_err *err)
{
	const struct reading r = { .what = what, .a = a, .info = ret, .err = err };
	struct hn_json *root;
	int rc;

	*ret = (struct hn_kernel_info){ 0 };
	if (hn_json_parse(what, text, n, NULL, &root, NULL) != 0) {
		return wrong(&r, "no JSON");
	}
	rc = read_root(&r, root);
	hn_json_free(root);
	return rc;
}
