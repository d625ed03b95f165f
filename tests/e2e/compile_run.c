/* compile_run.c -- a program around the network of compile_net.h: runs it with two threads, and
 * compares with plain loops.  The words are the weights' file, and the batch: the network's, or a size
 * of its range. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "compile_net.h"
#include "hone/pool.h"
#include "model.h"

static float conv(const float *x, int f, int h, int w)
{
	float s = weight(1, f);

	for (int c = 0; c < CI; c++) {
		for (int r = 0; r < 9; r++) {
			int y = h + r / 3 - 1, z = w + r % 3 - 1;

			if (y >= 0 && y < IN && z >= 0 && z < IN) {
				s += x[(c * IN + y) * IN + z] * weight(0, (f * CI + c) * 9 + r);
			}
		}
	}
	return s > 0 ? s : 0;
}

static void naive(const float *x, float *y)
{
	float sum = 0;

	for (int k = 0; k < CLASSES; k++) {
		float s = weight(3, k);

		for (int i = 0; i < FLAT; i++) {
			int f = i / (POOLED * POOLED), h = i / POOLED % POOLED, w = i % POOLED;
			float most = 0;

			for (int r = 0; r < 9; r++) {
				most = fmaxf(most, conv(x, f, 2 * h + r / 3, 2 * w + r % 3));
			}
			s += most * weight(2, i * CLASSES + k);
		}
		y[k] = expf(s);
		sum += y[k];
	}
	for (int k = 0; k < CLASSES; k++) {
		y[k] /= sum;
	}
}

int main(int argc, char **argv)
{
	struct hone_pool *pool = hone_pool_create(2);
	const struct hone_env *env = hone_pool_env(pool, 0);
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1, batch = argc == 3 ? atoi(argv[2]) : 0;
	const void *weights = mmap(NULL, small_WEIGHTS_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	void *prepared = aligned_alloc(64, small_PREPARED_BYTES + 64);
	void *arena = aligned_alloc(64, small_ARENA_BYTES(2) + 64);
	float *x = calloc(4 * CI * IN * IN, sizeof *x), y[4 * CLASSES], want[CLASSES];
	const void *in[] = { x };
	void *out[] = { y };

	if (weights == MAP_FAILED || x == NULL || batch < 1 || batch > 4 ||
	    (small_model.n_sizes == 0 && small_OUTPUT_0_BYTES != 4u * CLASSES * (unsigned)batch)) {
		printf("no weights, or another size\n");
		return 1;
	}
	for (int i = 0; i < batch * CI * IN * IN; i++) {
		x[i] = (float)(i * 29 % 31 - 15) / 64;
	}
	if (small_prepare(weights, prepared, arena, env) != 0 ||
	    (small_model.n_sizes == 0
		     ? small_run(weights, prepared, in, out, arena, env)
		     : small_run_sized((int64_t[]){ batch }, weights, prepared, in, out, arena, env)) !=
		    0) {
		printf("failed\n");
		return 1;
	}
	for (int b = 0; b < batch; b++) {
		naive(x + b * CI * IN * IN, want);
		for (int k = 0; k < CLASSES; k++) {
			if (!(fabsf(y[b * CLASSES + k] - want[k]) <= 1e-5f)) {
				printf("image %d, class %d: %g, not %g\n", b, k,
				       (double)y[b * CLASSES + k], (double)want[k]);
				return 1;
			}
		}
	}
	hone_pool_destroy(pool);
	printf("right\n");
	return 0;
}
