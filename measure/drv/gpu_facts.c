/* gpu_facts.c -- what a device says of itself: made printable, told to people, and held against a
 * target line. */
#include "measure/drv/gpu_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/target.h"

#define GPU_WARP 32 /* threads in step, of a GPU that does not say */

const char *gpu_print(char *to, size_t n, const char *from, size_t from_bytes)
{
	size_t k = 0;

	for (size_t i = 0; i < from_bytes && from[i] != '\0' && k + 1 < n; i++) {
		bool blank = isspace((unsigned char)from[i]);

		if (!blank || (k > 0 && to[k - 1] != ' ')) {
			to[k++] = blank		   ? ' '
				  : from[i] >= ' ' && from[i] <= '~' ? from[i]
								      : '?';
		}
	}
	k -= k > 0 && to[k - 1] == ' ';
	to[k] = '\0';
	return to;
}

int gpu_check_target(const char *line, const struct gpu_facts *f, struct hn_err *err)
{
	struct hn_target t;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_target_parse(line, &a, &t, err);
	const struct {
		enum hn_param param;
		int64_t most;
	} rows[] = {
		{HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK, f->shared_bytes},
		{HN_PARAM_MAX_THREADS_PER_BLOCK, f->threads},
	};

	/* "sm_80" runs on a device of sm_90; "sm_90a" only on its own */
	if (rc == 0 && f->isa[0] != '\0') {
		int asked = 0, has = 0;
		char own = '\0';

		(void)sscanf(f->isa, "sm_%d", &has);
		if (sscanf(t.isa, "sm_%d%c", &asked, &own) < 1 || asked > has ||
		    (own != '\0' && asked != has)) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "target: the device cannot run code of isa %s, it has %s (%s)",
				     t.isa, f->isa, f->name);
		}
	}
	for (size_t i = 0; rc == 0 && i < HN_COUNT_OF(rows); i++) {
		if (t.param[rows[i].param] > rows[i].most) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "target: -%s=%" PRId64 " is more than the device has, %" PRId64
				     " (%s)",
				     hn_param_name(rows[i].param), t.param[rows[i].param],
				     rows[i].most, f->name);
		}
	}
	hn_arena_fini(&a);
	return rc;
}

/* A line of the kind as far as the device bears it: its isa where such a row exists, and numbers
 * that are less than the row's. */
static void suggest(const char *kind, const struct gpu_facts *f, char *to, size_t n)
{
	const struct {
		enum hn_param param;
		int64_t most;
	} rows[] = {
		{HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK, f->static_shared_bytes},
		{HN_PARAM_MAX_THREADS_PER_BLOCK, f->threads},
	};
	struct hn_target t;
	struct hn_arena a;
	size_t at;

	hn_arena_init(&a, 0);
	snprintf(to, n, f->isa[0] != '\0' ? "%s -isa=%s" : "%s", kind, f->isa);
	if (hn_target_parse(to, &a, &t, NULL) != 0) {
		snprintf(to, n, "%s", kind);
	}
	if (hn_target_parse(to, &a, &t, NULL) == 0) {
		at = strlen(to);
		for (size_t i = 0; i < HN_COUNT_OF(rows) && at < n; i++) {
			if (rows[i].most < t.param[rows[i].param]) {
				at += (size_t)snprintf(to + at, n - at, " -%s=%" PRId64,
						       hn_param_name(rows[i].param), rows[i].most);
			}
		}
		if (!f->host && t.param[HN_PARAM_WARP_SIZE] <= 1 && at < n) {
			snprintf(to + at, n - at, " -warp_size=%d", GPU_WARP);
		}
	}
	hn_arena_fini(&a);
}

int gpu_board_find(const struct gpu_ops *ops, uint32_t index, struct hn_board_device *ret,
		   struct hn_err *err)
{
	struct gpu_facts f;
	void *dev;
	int rc = ops->open(index, &dev, &f, err);

	if (rc != 0) {
		return rc;
	}
	*ret = (struct hn_board_device){.cores = f.cores,
					.threads = f.threads,
					.shared_bytes = f.shared_bytes,
					.memory_bytes = f.memory_bytes,
					.cache_bytes = f.cache_bytes,
					.clock_mhz = f.clock_mhz};
	memcpy(ret->name, f.name, sizeof ret->name);
	memcpy(ret->driver, f.driver, sizeof ret->driver);
	suggest(ops->kind, &f, ret->target, sizeof ret->target);
	ops->close(dev);
	return 0;
}
