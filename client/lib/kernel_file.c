/* client/lib/kernel_file.c -- the two forms of a kernel's file: an object, which libhone loads itself,
 * and a shared library, which the system loads, from a copy of the bytes that were checked. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/seal.h"
#include "client/lib/kernel_load.h"

static bool is_library(const char *bytes, size_t n)
{
	Elf64_Ehdr h;

	if (n < sizeof h) {
		return false;
	}
	memcpy(&h, bytes, sizeof h);
	return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_type == ET_DYN;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, bytes, n);

		if (k <= 0) {
			return false;
		}
		bytes += k;
		n -= (size_t)k;
	}
	return true;
}

static int load_library(const char *path, const char *bytes, size_t n, struct hone_kernel *k,
			struct hn_err *err)
{
	int fd = memfd_create("hone-kernel", MFD_CLOEXEC);
	char copy[40];
	int rc = 0;

	if (fd < 0 || !write_all(fd, bytes, n)) {
		rc = hn_fail(err, HONE_E_IO, "%s: no copy of it in memory: %s", path,
			     strerror(errno));
	}
	if (rc == 0) {
		snprintf(copy, sizeof copy, "/proc/self/fd/%d", fd);
		k->library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
		rc = k->library ? 0
				: hn_fail(err, HONE_E_UNSUPPORTED, "%s: %.300s", path, dlerror());
	}
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

/* What a library is named for: lib mm .so */
static void name_of(const char *path, char name[200])
{
	const char *slash = strrchr(path, '/'), *s = slash ? slash + 1 : path;

	s += strncmp(s, "lib", 3) == 0 ? 3 : 0;
	snprintf(name, 200, "%.*s", (int)strcspn(s, "."), s);
}

static const char *find_text(const char *path, const struct hone_kernel *k, size_t *ret_bytes)
{
	char name[200], symbol[210];
	const char *text;

	if (k->library == NULL) {
		return hn_object_constant(k->object, "_info", ret_bytes);
	}
	name_of(path, name);
	snprintf(symbol, sizeof symbol, "%s_info", name);
	text = dlsym(k->library, symbol);
	*ret_bytes = text ? strlen(text) + 1 : 0;
	return text;
}

int hn_lib_load(const char *path, const char *bytes, size_t n, struct hone_kernel *k,
		struct hn_err *err)
{
	size_t length, text_bytes;
	int rc = hn_seal_check(path, bytes, n, &length, err);

	if (rc != 0) {
		return rc;
	}
	if (is_library(bytes, length)) {
		rc = load_library(path, bytes, n, k, err);
	} else {
		rc = hn_object_load(bytes, length, &k->object, err);
		rc = rc ? hn_err_within(err, "%s", path) : 0;
	}
	if (rc != 0) {
		return rc;
	}
	k->text = find_text(path, k, &text_bytes);
	if (k->text == NULL || text_bytes == 0 || k->text[text_bytes - 1] != '\0') {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "%s: no kernel that says what it is: replay it with this hone, for "
			       "one target",
			       path);
	}
	return hn_kernel_info_read(path, k->text, text_bytes - 1, &k->arena, &k->info, err);
}

void (*hn_lib_function(const struct hone_kernel *k, const char *name))(void)
{
	void *at;
	void (*ret)(void);

	if (k->library == NULL) {
		return hn_object_function(k->object, name);
	}
	at = dlsym(k->library, name);
	memcpy(&ret, &at, sizeof ret);
	return ret;
}

void hn_lib_unload(struct hone_kernel *k)
{
	hn_object_free(k->object);
	if (k->library != NULL) {
		dlclose(k->library);
	}
}
