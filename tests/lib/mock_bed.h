/* mock_bed.h -- CUDA's mock driver (tests/mock) for tests of networks on a GPU: what it has seen, that all is
 * given back, and several threads at once. */
#ifndef HN_TESTS_MOCK_BED_H
#define HN_TESTS_MOCK_BED_H

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "proto/gpu_table.h"
#include "tests/mock/cuda_mock.h"

static struct mock_seen *seen;

/* Opens the driver as a program that runs a network does; false: it cannot be opened. */
static inline bool mock_open(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	seen = lib != NULL ? dlsym(lib, "mock_seen") : NULL;
	if (seen == NULL) {
		print_error("%s\n", dlerror());
	}
	return seen != NULL;
}

/* The network's last error is one line, and has that text. */
static inline void assert_says(const struct hone_gpu *gpu, const char *text)
{
	const char *line = hone_gpu_error(gpu);

	if (strstr(line, text) == NULL) {
		fail_msg("\"%s\" does not say \"%s\"", line, text);
	}
	assert_null(strpbrk(line, "\n\033\x80"));
}

static inline void assert_nothing_left(void)
{
	assert_int_equal(seen->allocations, 0);
	assert_int_equal(seen->modules, 0);
	assert_int_equal(seen->streams, 0);
	assert_int_equal(seen->graphs, 0);
	assert_int_equal(seen->contexts, 0);
	assert_int_equal(seen->pushed, 0);
}

/* Three threads at once; each gives NULL, or how often it was wrong. */
static inline void assert_right_in_threads(void *(*run)(void *), void *arg)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&thread[i], NULL, run, arg), 0);
	}
	for (int i = 0; i < 3; i++) {
		void *wrong;

		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

#endif
