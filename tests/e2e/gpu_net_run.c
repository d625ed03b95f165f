/* gpu_net_run.c -- a program around a network for a GPU: runs it twice, or says what went wrong, as the
 * network's NAME_error says it.  The word is the weights' file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "model.h"

static int tell(const char *what, int rc)
{
	printf("%s %d: %s\n", what, rc, small_error());
	return 1;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	const void *weights = mmap(NULL, small_WEIGHTS_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	void *prepared = aligned_alloc(64, small_PREPARED_BYTES);
	const void *in[] = { calloc(1, small_INPUT_0_BYTES) };
	void *out[] = { calloc(1, small_OUTPUT_0_BYTES) };
	int rc = weights != MAP_FAILED ? small_prepare(weights, prepared, NULL, NULL) : 1;

	if (rc != 0) {
		return tell("prepare", rc);
	}
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = small_run(weights, prepared, in, out, NULL, NULL);
	}
	if (rc != 0) {
		return tell("run", rc);
	}
	small_release(prepared);
	puts("ran twice");
	return 0;
}
