/* gpu_lib.c -- see gpu_lib.h. */
#include "measure/drv/gpu_lib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int gpu_lib_open(const char *file, const char *variable, const char *what, void **ret,
		 struct hn_err *err)
{
	const char *hooks = getenv("HONE_TEST_HOOKS"), *other = getenv(variable);

	if (hooks != NULL && strcmp(hooks, "1") == 0 && other != NULL && *other != '\0') {
		file = other;
	}
	*ret = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	return *ret != NULL ? 0
			    : hn_fail(err, HONE_E_NO_BOARD,
				      "%.100s cannot be loaded: %s is not installed", file, what);
}

int gpu_lib_find(void *lib, const char *file, const char *name, void *ret, struct hn_err *err)
{
	void *at = dlsym(lib, name);

	memcpy(ret, &at, sizeof at);
	return at != NULL ? 0
			  : hn_fail(err, HONE_E_NO_BOARD,
				    "%s has no %s: its driver is too old", file, name);
}
