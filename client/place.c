/* client/place.c -- see place.h. */
#include "client/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"

#define MOST_JSON ((size_t)256 << 20)
#define MOST_NAME 40 /* of a file in it, with the slash */

static int check_folder(const char *dir, struct hn_err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int rc;

	if (strlen(dir) >= sizeof(path) - MOST_NAME || *dir == '\0') {
		return hn_fail(err, HONE_E_INVALID, "compile: -o: %s",
			       *dir == '\0' ? "an empty name" : "path too long");
	}
	snprintf(path, sizeof(path), "%s", dir);
	while ((rc = stat(path, &st)) != 0 && errno == ENOENT) {
		char *slash = strrchr(path, '/');

		if (slash == NULL || slash == path) {
			snprintf(path, sizeof(path), "%s", slash == NULL ? "." : "/");
		} else {
			*slash = '\0';
		}
	}
	if (rc == 0 && S_ISDIR(st.st_mode)) {
		return access(path, W_OK) == 0
			       ? 0
			       : hn_fail(err, HONE_E_PERMISSION, "%s: %s", dir, strerror(errno));
	}
	return hn_fail(err, HONE_E_IO, "%s: %s", dir, strerror(rc == 0 ? ENOTDIR : errno));
}

/* Whether hone wrote a network there: model.json is its own. */
static bool is_ours(const char *dir)
{
	char path[PATH_MAX];
	struct hn_json *v = NULL;
	const char *format = NULL;
	struct hn_buf b;

	snprintf(path, sizeof(path), "%.*s/" HN_PLACE_FILE ".json", PATH_MAX - MOST_NAME, dir);
	hn_buf_init(&b);
	if (hn_file_read(path, MOST_JSON, &b, NULL) == 0 &&
	    hn_json_parse(path, b.s, b.n, NULL, &v, NULL) == 0) {
		format = hn_json_string(hn_json_get(v, "format"));
	}
	bool ret = format != NULL && strcmp(format, HN_PLACE_FORMAT) == 0;

	hn_json_free(v);
	hn_buf_fini(&b);
	return ret;
}

static int check_files(const char *dir, struct hn_err *err)
{
	static const char *const name[] = { HN_PLACE_FILE ".json",    HN_PLACE_FILE ".h",
					    HN_PLACE_FILE ".o",	      "lib" HN_PLACE_FILE ".so",
					    HN_PLACE_FILE ".weights", HN_PLACE_FILE ".parts" };
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < HN_COUNT_OF(name); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - MOST_NAME, dir, name[i]);
		if (lstat(path, &st) == 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "%.300s: there already, and not of a network that hone compiled; give "
				       "another -o DIR, or replace it with --force",
				       path);
		}
	}
	return 0;
}

int hn_place_check(const char *dir, bool force, struct hn_err *err)
{
	int rc = check_folder(dir, err);

	return rc || force || is_ours(dir) ? rc : check_files(dir, err);
}
