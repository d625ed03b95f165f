/* opencl_kept.c -- the last programs that were compiled, each with its text.
 *
 * In the duels of a final (daemon/final.c) the same few candidates come again and again, and a
 * driver takes longer to compile one than to run it: PoCL a second, a duel a few milliseconds.  A
 * program that leaves is released.  Kernels that were made of it hold it until they go.
 */
#include <stdlib.h>
#include <string.h>

#include "measure/drv/opencl_int.h"

static void let_go(struct opencl_device *d, struct opencl_kept *k)
{
	d->api.ReleaseProgram(k->program);
	d->kept_bytes -= k->bytes;
	free(k->text);
	*k = (struct opencl_kept){.program = NULL};
}

opencl_id opencl_kept_find(struct opencl_device *d, const char *text, size_t bytes)
{
	for (uint32_t i = 0; i < OPENCL_MOST_KEPT; i++) {
		struct opencl_kept *k = &d->kept[i];

		if (k->program != NULL && k->bytes == bytes && memcmp(k->text, text, bytes) == 0) {
			k->used = ++d->kept_clock;
			return k->program;
		}
	}
	return NULL;
}

/* A free place, or that of who was used longest ago. */
static struct opencl_kept *oldest(struct opencl_device *d, bool used)
{
	struct opencl_kept *ret = NULL;

	for (uint32_t i = 0; i < OPENCL_MOST_KEPT; i++) {
		struct opencl_kept *k = &d->kept[i];

		if ((!used || k->program != NULL) && (ret == NULL || k->used < ret->used)) {
			ret = k;
		}
	}
	return ret;
}

bool opencl_keep(struct opencl_device *d, opencl_id program, const char *text, size_t bytes)
{
	char *copy = malloc(bytes > 0 ? bytes : 1);
	struct opencl_kept *k;

	if (copy == NULL) {
		return false;
	}
	memcpy(copy, text, bytes);
	while (d->kept_bytes > 0 && d->kept_bytes + bytes > OPENCL_MOST_KEPT_BYTES) {
		let_go(d, oldest(d, true));
	}
	k = oldest(d, false);
	if (k->program != NULL) {
		let_go(d, k);
	}
	*k = (struct opencl_kept){program, copy, bytes, ++d->kept_clock};
	d->kept_bytes += bytes;
	return true;
}
