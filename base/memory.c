/* base/memory.c -- see memory.h. */
#include "base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_TEXT_BYTES ((size_t)1 << 20)
#define MAX_PATH 4096

/* What one version calls its files and their lines. */
struct version {
	const char *type, *controller; /* of /proc/self/mountinfo and cgroup; "": all in one */
	const char *limit[2], *usage;
	const char *cached[3]; /* lines of memory.stat: can be had back */
	const char *events;    /* its line oom_kill counts */
};

static const struct version versions[] = {
	{"cgroup",
	 "memory",
	 {"memory.limit_in_bytes", NULL},
	 "memory.usage_in_bytes",
	 {"total_inactive_file", "total_active_file", NULL},
	 "memory.oom_control"},
	{"cgroup2",
	 "",
	 {"memory.max", "memory.high"},
	 "memory.current",
	 {"inactive_file", "active_file", "slab_reclaimable"},
	 "memory.events"},
};

/* A file's text, to be freed; NULL when there is none. */
static char *text_of(const char *root, const char *folder, const char *name)
{
	char path[MAX_PATH];
	char *text = NULL;
	struct hn_buf b;

	hn_buf_init(&b);
	if (snprintf(path, sizeof path, "%s%s/%s", root, folder, name) < (int)sizeof path &&
	    hn_file_read(path, MAX_TEXT_BYTES, &b, NULL) == 0) {
		text = strdup(b.s);
	}
	hn_buf_fini(&b);
	return text;
}

/* The number behind a word that begins a line ("" = the first of all); -1: none. */
static int64_t number_behind(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, word, n) == 0) {
			char *end;
			long long v = strtoll(at + n, &end, 10);

			if (end > at + n && v >= 0 && (n == 0 || strchr(" :\t", at[n]))) {
				return v;
			}
		}
	}
	return -1;
}

static int64_t number_in(const char *root, const char *folder, const char *name,
			 const char *word)
{
	char *text = text_of(root, folder, name);
	int64_t v = text != NULL ? number_behind(text, word) : -1;

	free(text);
	return v;
}

static void take_limit(struct hn_memory *m, int64_t bytes, const char *by)
{
	if (bytes >= 0 && bytes < m->limit) {
		m->limit = bytes;
		m->limit_by = by;
	}
}

static void take_available(struct hn_memory *m, int64_t bytes, const char *by)
{
	bytes = bytes > 0 ? bytes : 0;
	if (bytes < m->available) {
		m->available = bytes;
		m->available_by = by;
	}
}

/* One cgroup. */
static void take_group(const char *root, const struct version *v, const char *folder,
		       struct hn_memory *m)
{
	int64_t usage = number_in(root, folder, v->usage, ""), cached = 0;

	for (size_t i = 0; i < 3 && v->cached[i] != NULL; i++) {
		int64_t n = number_in(root, folder, "memory.stat", v->cached[i]);

		cached += n > 0 ? n : 0;
	}
	for (size_t i = 0; i < 2 && v->limit[i] != NULL; i++) {
		int64_t limit = number_in(root, folder, v->limit[i], "");

		take_limit(m, limit, "of its cgroup");
		if (limit >= 0 && usage >= 0) {
			take_available(m, limit - usage + cached, "free in its cgroup");
		}
	}
}

/* Whether a comma-separated list has the word. */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; *at != '\0'; at += *at == ',') {
		size_t len = strcspn(at, ", \n");

		if (len == n && strncmp(at, word, n) == 0) {
			return true;
		}
		at += len;
		if (*at != ',') {
			break;
		}
	}
	return false;
}

/* The process's path among a version's cgroups, from /proc/self/cgroup. */
static bool own_path(const char *text, const struct version *v, char ret[MAX_PATH])
{
	for (const char *at = text; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
		char who[300];
		int n = 0;

		at += *at == '\n';
		if (sscanf(at, "%*d:%n", &n) != EOF && n > 0) {
			size_t len = strcspn(at + n, ":\n");

			snprintf(who, sizeof who, "%.*s", (int)len, at + n);
			if (at[n + (int)len] == ':' &&
			    (*v->controller == '\0' ? len == 0 : lists(who, v->controller))) {
				at += n + (int)len + 1;
				snprintf(ret, MAX_PATH, "%.*s", (int)strcspn(at, "\n"), at);
				return true;
			}
		}
	}
	return false;
}

/* Where a version's cgroups are mounted, and which of them is the top of that mount. */
static bool mounted_at(const char *text, const struct version *v, char top[MAX_PATH],
		       char at[MAX_PATH])
{
	char line[2 * MAX_PATH], type[64], options[MAX_PATH];

	for (const char *from = text; from != NULL && *from != '\0';
	     from = strchr(from, '\n')) {
		const char *dash;

		from += *from == '\n';
		snprintf(line, sizeof line, "%.*s", (int)strcspn(from, "\n"), from);
		dash = strstr(line, " - ");
		if (dash != NULL && sscanf(line, "%*s %*s %*s %4095s %4095s", top, at) == 2 &&
		    sscanf(dash, " - %63s %*s %4095s", type, options) == 2 &&
		    strcmp(type, v->type) == 0 &&
		    (*v->controller == '\0' || lists(options, v->controller))) {
			return true;
		}
	}
	return false;
}

/* From this process's own cgroup up to the highest that can be seen. */
static void take_groups(const char *root, const struct version *v, struct hn_memory *m)
{
	char *groups = text_of(root, "/proc/self", "cgroup");
	char *mounts = text_of(root, "/proc/self", "mountinfo");
	char path[MAX_PATH], top[MAX_PATH], folder[2 * MAX_PATH];
	size_t n_top;
	int64_t killed;

	if (groups == NULL || mounts == NULL || !own_path(groups, v, path) ||
	    !mounted_at(mounts, v, top, folder)) {
		free(groups);
		free(mounts);
		return;
	}
	free(groups);
	free(mounts);
	/* the mount may show only a part of the tree, with the path given from its true top */
	n_top = strcmp(top, "/") == 0 ? 0 : strlen(top);
	if (strncmp(path, top, n_top) != 0 || strstr(path, "/..") != NULL) {
		path[n_top = 0] = '\0';
	}
	size_t base = strlen(folder);

	snprintf(folder + base, sizeof folder - base, "%s", path + n_top);
	killed = number_in(root, folder, v->events, "oom_kill");
	m->n_killed += killed > 0 ? killed : 0;
	for (;;) {
		size_t n = strlen(folder);

		while (n > base && folder[n - 1] == '/') {
			folder[--n] = '\0';
		}
		take_group(root, v, folder, m);
		if (n <= base) {
			return;
		}
		*strrchr(folder, '/') = '\0';
	}
}

int64_t hn_memory_mapped(void)
{
	int64_t pages = number_in("", "/proc/self", "statm", "");

	return pages > 0 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

void hn_memory_read(const char *root, struct hn_memory *ret)
{
	int64_t kb = number_in(root, "/proc", "meminfo", "MemTotal:"), killed;
	struct rlimit r;

	*ret = (struct hn_memory){.limit = INT64_MAX,
				  .available = INT64_MAX,
				  .limit_by = "of this machine",
				  .available_by = "free in this machine"};
	take_limit(ret,
		   kb > 0 ? kb * 1024
			  : (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		   "of this machine");
	kb = number_in(root, "/proc", "meminfo", "MemAvailable:");
	take_available(ret, kb >= 0 ? kb * 1024 : ret->limit, "free in this machine");
	killed = number_in(root, "/proc", "vmstat", "oom_kill");
	ret->n_killed = killed > 0 ? killed : 0;
	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		take_groups(root, &versions[i], ret);
	}
	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY) {
		take_limit(ret, (int64_t)r.rlim_cur, "of its RLIMIT_AS");
		take_available(ret, (int64_t)r.rlim_cur - hn_memory_mapped(),
			       "left of its RLIMIT_AS");
	}
}

const char *hn_memory_print(int64_t bytes, char *text, size_t text_bytes)
{
	double mb = (double)bytes / 1e6;

	if (mb >= 1e3) {
		snprintf(text, text_bytes, "%.1f GB", mb / 1e3);
	} else {
		snprintf(text, text_bytes, "%.0f MB", mb);
	}
	return text;
}
