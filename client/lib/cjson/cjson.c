/* client/lib/cjson/cjson.c -- cJSON for libhone, which opens it when the first JSON comes.
 *
 * Who asks for a stored schedule of a computation in the text notation needs no JSON, and so no
 * library but libc.  These two functions stand where cJSON's own are linked in hone's programs; they
 * are called from any thread.  Without cJSON a document does not parse: hn_json_parse says that
 * there is no memory, and what is missing is told on standard error, once.
 */
#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define CJSON "libcjson.so.1"

static cJSON *(*parse)(const char *text, size_t n);
static void (*delete)(cJSON *root);

static void open_cjson(void)
{
	void *library = dlopen(CJSON, RTLD_NOW | RTLD_LOCAL);
	void *symbol[2] = { NULL, NULL };

	if (library) {
		symbol[0] = dlsym(library, "cJSON_ParseWithLength");
		symbol[1] = dlsym(library, "cJSON_Delete");
	}
	if (!symbol[0] || !symbol[1]) {
		fprintf(stderr, "libhone: no %s, which reads JSON (Debian: libcjson1)\n", CJSON);
		return;
	}
	/* the way from a symbol to a function that POSIX gives */
	*(void **)&parse = symbol[0];
	*(void **)&delete = symbol[1];
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

cJSON *cJSON_ParseWithLength(const char *text, size_t n)
{
	pthread_once(&once, open_cjson);
	return parse ? parse(text, n) : NULL;
}

void cJSON_Delete(cJSON *root)
{
	if (root) {
		delete(root);
	}
}
