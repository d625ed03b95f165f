/* client/lib/kernel.c -- libhone: a kernel out of its file.
 *
 * The file is hostile until its seal is right, and careless after: what it says of itself is read
 * as any text is, and the loader checks every offset.  The order counts.  Nothing of it runs before
 * all is known to fit this machine.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/seal.h"
#include "client/lib/kernel_load.h"
#include "loopstate/read/dag_read.h"
#include "target/target.h"

#define MOST_BYTES ((size_t)64 << 20)

typedef void (*any_fn)(void);

int hn_lib_give(int rc, const struct hn_err *err, struct hone_error *error)
{
	if (rc != 0 && error != NULL) {
		error->code = rc;
		snprintf(error->text, sizeof(error->text), "%s", err->msg);
	}
	return rc;
}

/* -- the manifest ----------------------------------------------------------------------- */

struct manifest {
	char symbol[256], key[65], target[4096], object[PATH_MAX];
	char dag_key[65]; /* of the computation that it has */
};

static int differs(const char *path, const char *member, struct hn_err *err)
{
	return hn_fail(err, HONE_E_INVALID,
		       "%s: its %s is not what the object beside it says: one of the two was "
		       "changed; replay it anew",
		       path, member);
}

static bool take(const struct hn_json *root, const char *member, char *ret, size_t bytes)
{
	const char *s = hn_json_string(hn_json_get(root, member));

	return s != NULL && (size_t)snprintf(ret, bytes, "%s", s) < bytes;
}

static int read_members(const char *path, const struct hn_json *root, struct manifest *m,
			struct hn_err *err)
{
	const char *format = hn_json_string(hn_json_get(root, "format")), *slash;
	const struct hn_json *dag = hn_json_get(root, "dag");
	const struct hn_dag *parsed;
	struct hn_arena a;
	struct hn_buf text;
	char object[256];
	int rc;

	if (format == NULL || strncmp(format, "hone-kernel/", 12) != 0 ||
	    !take(root, "symbol", m->symbol, sizeof m->symbol) ||
	    !take(root, "key", m->key, sizeof m->key) || dag == NULL ||
	    !take(root, "target", m->target, sizeof m->target) ||
	    !take(root, "object", object, sizeof object) || strchr(object, '/') != NULL) {
		return hn_fail(err, HONE_E_INVALID, "%s: no manifest of a kernel", path);
	}
	slash = strrchr(path, '/');
	if (snprintf(m->object, sizeof m->object, "%.*s%s", slash ? (int)(slash - path) + 1 : 0,
		     path, object) >= (int)sizeof m->object) {
		return hn_fail(err, HONE_E_INVALID, "%s: the name is too long", path);
	}
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_json_write(dag, &text);
	rc = hn_dag_parse_sized("dag", text.s, text.n, 0, &a, &parsed, err);
	if (rc == 0) {
		hn_dag_key(parsed, m->dag_key);
	} else {
		hn_err_within(err, "%s", path);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}

static int read_manifest(const char *path, struct manifest *m, struct hn_err *err)
{
	const struct hn_json_limits deep = { .max_depth = UINT32_MAX }; /* as dags are */
	struct hn_json *root;
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	rc = hn_file_read_kept(path, MOST_BYTES, &b, err);
	rc = rc ? rc : hn_json_parse(path, b.s, b.n, &deep, &root, err);
	if (rc == 0) {
		rc = read_members(path, root, m, err);
		hn_json_free(root);
	}
	hn_buf_fini(&b);
	return rc;
}

static int compare(const char *path, const struct manifest *m, const struct hn_kernel_info *info,
		   struct hn_err *err)
{
	return strcmp(m->symbol, info->symbol) != 0  ? differs(path, "symbol", err)
	       : strcmp(m->key, info->key) != 0	     ? differs(path, "key", err)
	       : strcmp(m->target, info->target) != 0 ? differs(path, "target", err)
	       : strcmp(m->dag_key, info->key) != 0  ? differs(path, "computation", err)
						     : 0;
}

/* -- the object ------------------------------------------------------------------------- */

static int check_machine(const char *path, const char *line, struct hn_arena *a, struct hn_err *err)
{
	struct hn_buf theirs, ours;
	struct hn_target t, host;
	int rc = 0;

	hn_target_host(a, &host);
	if (hn_target_parse_on(&host, line, a, &t, NULL) == 0 &&
	    hn_target_runs_on(&t, &host)) {
		return 0;
	}
	hn_buf_init(&theirs);
	hn_buf_init(&ours);
	if (hn_target_parse_on(&host, line, a, &t, NULL) == 0) {
		hn_target_print_isa(&t, &theirs);
	} else {
		hn_buf_printf(&theirs, "%.200s", line);
	}
	hn_target_print_isa(&host, &ours);
	rc = hn_fail(err, HONE_E_UNSUPPORTED,
		     "%s: made for %s, and this machine has %s: replay it here", path, theirs.s,
		     ours.s);
	hn_buf_fini(&theirs);
	hn_buf_fini(&ours);
	return rc;
}

static any_fn find(const struct hone_kernel *k, const char *ending)
{
	char name[256];

	snprintf(name, sizeof name, "%s%s", k->info.symbol, ending);
	return hn_lib_function(k, name);
}

/* Its functions, and the system's leave for its registers. */
static int find_functions(const char *path, struct hone_kernel *k, struct hn_err *err)
{
	any_fn packed = find(k, "_packed"), init = find(k, "_init");

	if (packed == NULL || (k->info.init && init == NULL)) {
		return hn_fail(err, HONE_E_CORRUPT, "%s: it lacks the function %s_packed", path,
			       k->info.symbol);
	}
	k->packed = k->info.n_size == 0 ? (hn_packed_fn)packed : NULL;
	k->sized = k->info.n_size > 0 ? (hn_sized_fn)packed : NULL;
	k->prepare = k->info.prepared_bytes > 0 ? (hn_prepare_fn)find(k, "_prepare_packed") : NULL;
	if (k->info.init && ((int32_t(*)(void))init)() != 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "%s: it needs tile registers, which the system does not give to "
			       "this process",
			       path);
	}
	return 0;
}

static int load_file(const char *path, struct hone_kernel *k, struct hn_err *err)
{
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	rc = hn_file_read_kept(path, MOST_BYTES, &b, err);
	rc = rc ? rc : hn_lib_load(path, b.s, b.n, k, err);
	rc = rc ? rc : check_machine(path, k->info.target, &k->arena, err);
	rc = rc ? rc : find_functions(path, k, err);
	hn_buf_fini(&b);
	return rc;
}

static bool ends_in(const char *s, const char *ending)
{
	size_t n = strlen(s), m = strlen(ending);

	return n > m && strcmp(s + n - m, ending) == 0;
}

static int open_kernel(const char *path, const char *workload, struct hone_kernel *k,
		       struct hn_err *err)
{
	struct manifest m;
	bool by_manifest = ends_in(path, ".json");
	int rc = by_manifest ? read_manifest(path, &m, err) : 0;

	rc = rc ? rc : load_file(by_manifest ? m.object : path, k, err);
	if (rc == 0 && by_manifest) {
		rc = compare(path, &m, &k->info, err);
	}
	if (rc == 0 && workload != NULL && strcmp(workload, k->info.key) != 0) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: of workload %.16s, not of %.16s", path,
			     k->info.key, workload);
	}
	return rc;
}

int hone_kernel_open(const char *path, const char *workload, struct hone_kernel **ret,
		     struct hone_error *error)
{
	struct hone_kernel *k = calloc(1, sizeof(*k));
	struct hn_err err = { 0 };
	int rc;

	if (k == NULL) {
		return hn_lib_give(hn_fail(&err, HONE_E_NOMEM, "out of memory"), &err, error);
	}
	hn_arena_init(&k->arena, 0);
	hn_lib_pool_hold();
	rc = open_kernel(path, workload, k, &err);
	if (rc != 0) {
		hone_kernel_close(k);
		return hn_lib_give(rc, &err, error);
	}
	*ret = k;
	return 0;
}

void hone_kernel_close(struct hone_kernel *k)
{
	if (k != NULL) {
		hn_lib_pool_release();
		hn_lib_unload(k);
		hn_arena_fini(&k->arena);
		free(k);
	}
}

/* -- calls ------------------------------------------------------------------------------ */

const char *hone_kernel_info(const struct hone_kernel *k)
{
	return k->text;
}

uint64_t hone_kernel_workspace_bytes(const struct hone_kernel *k, int32_t n_workers)
{
	return k->info.workspace_bytes +
	       k->info.worker_bytes * (uint64_t)(n_workers > 1 ? n_workers : 1);
}

uint64_t hone_kernel_prepared_bytes(const struct hone_kernel *k)
{
	return k->info.prepared_bytes;
}

int32_t hone_kernel_call(const struct hone_kernel *k, const int64_t *sizes, void *const *args,
			 const struct hone_env *env)
{
	return k->packed != NULL ? k->packed(args, env) : k->sized(sizes, args, env);
}

int32_t hone_kernel_prepare(const struct hone_kernel *k, void *const *args, void *prepared,
			    const struct hone_env *env)
{
	return k->prepare != NULL ? k->prepare(args, prepared, env) : 0;
}

int hone_target_check(const char *target, struct hone_error *error)
{
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = check_machine("it", target, &a, &err);

	hn_arena_fini(&a);
	return hn_lib_give(rc, &err, error);
}

int hone_file_check(const char *path, struct hone_error *error)
{
	struct hn_err err = { 0 };

	return hn_lib_give(hn_seal_check_file(path, &err), &err, error);
}
