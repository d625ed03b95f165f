/* gpu_facts.c -- what a device says of itself: made printable, told to people, and held against a
 * target line. */
#include "measure/drv/gpu_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/target.h"

#define WIDE 64 /* bytes: who has such vectors has 32 registers of them */

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
	int asked = 0, has = 0;

	if (rc == 0 && sscanf(f->isa, "sm_%d", &has) == 1) {
		char own = '\0';

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

static bool is_power_of_two(int64_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

/* What the device says, in a target's numbers; what it does not say stays.  Its cores are this
 * machine's: so are their caches. */
static void fit(const struct gpu_facts *f, struct hn_target *t, struct hn_arena *a)
{
	int64_t *p = t->param;
	struct hn_target host;

	if (f->cores >= 1 && f->cores <= 4096) {
		p[HN_PARAM_NUM_CORES] = f->cores;
	}
	if (p[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] > 0 && f->shared_bytes <= 1 << 30) {
		p[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] = f->shared_bytes;
	}
	if (f->threads < p[HN_PARAM_MAX_THREADS_PER_BLOCK]) {
		p[HN_PARAM_MAX_THREADS_PER_BLOCK] = f->threads;
	}
	if (!f->host) {
		return;
	}
	if (is_power_of_two(f->vector_bytes) && f->vector_bytes >= 8 && f->vector_bytes <= 256) {
		p[HN_PARAM_VECTOR_UNIT_BYTES] = f->vector_bytes;
		p[HN_PARAM_VECTOR_REGISTERS] = f->vector_bytes >= WIDE ? 32 : 16;
	}
	hn_target_host(a, &host);
	for (int i = HN_PARAM_L1_BYTES; i <= HN_PARAM_L3_BYTES; i++) {
		p[i] = host.param[i];
	}
}

/* A line of the kind that fits the device: its isa where such a row exists, and the numbers that are
 * other than the row's. */
static void suggest(const char *kind, const struct gpu_facts *f, char *to, size_t n)
{
	struct hn_target row, t;
	struct hn_arena a;
	size_t at;

	hn_arena_init(&a, 0);
	snprintf(to, n, f->isa[0] != '\0' ? "%s -isa=%s" : "%s", kind, f->isa);
	if (hn_target_parse(to, &a, &row, NULL) != 0) {
		snprintf(to, n, "%s", kind);
	}
	if (hn_target_parse(to, &a, &row, NULL) == 0) {
		t = row;
		fit(f, &t, &a);
		at = strlen(to);
		for (int i = 0; i < HN_N_PARAM && at < n; i++) {
			if (t.param[i] != row.param[i]) {
				at += (size_t)snprintf(to + at, n - at, " -%s=%" PRId64,
						       hn_param_name((enum hn_param)i), t.param[i]);
			}
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
