/* target/host.c -- this machine, read from the machine: instruction sets from the CPU's
 * own feature bits (features: host_features.c), cores from the scheduler's affinity mask, caches
 * from sysfs or sysconf.
 *
 * Nothing is cached: callers keep the struct.  What cannot be read keeps its row's value.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "target/target.h"
#include "target/target_int.h"

static int64_t usable_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
		return CPU_COUNT(&set);
	}
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (n < 4096 ? n : 4096) : 1;
}

/* One line of a file, without its newline; false when it cannot be read. */
static bool read_line(const char *path, char *line, size_t cap)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, (int)cap, f);

	if (f) {
		fclose(f);
	}
	if (ok) {
		line[strcspn(line, "\n")] = 0;
	}
	return ok;
}

/* Size of cpu0's data or unified cache of that level by sysfs; 0 when not told. */
static int64_t sysfs_cache(int level)
{
	for (int i = 0; i < 8; i++) {
		char path[96], line[64];
		snprintf(path, sizeof path,
			 "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
		if (!read_line(path, line, sizeof line) || atoi(line) != level) {
			continue;
		}
		snprintf(path, sizeof path,
			 "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
		if (!read_line(path, line, sizeof line) ||
		    strcmp(line, "Instruction") == 0) {
			continue;
		}
		snprintf(path, sizeof path,
			 "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		if (read_line(path, line, sizeof line)) {
			char *end;
			int64_t n = strtol(line, &end, 10);
			return n * (*end == 'K' ? 1024 : *end == 'M' ? 1048576 : 1);
		}
	}
	return 0;
}

static void set_cache(struct hn_target *t, enum hn_param p, int level, int sysconf_name)
{
	int64_t n = sysfs_cache(level);

	if (n <= 0) {
		n = sysconf(sysconf_name);
	}
	if (n > 0 && n <= (1 << 30)) {
		t->param[p] = n;
	}
}

#if defined(__x86_64__)
static const char *isa_of_cpu(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
		return "x86-64-avx512";
	}
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		return "x86-64-avx2";
	}
	return "x86-64-baseline";
}

/* Zen 4 runs a 512-bit FMA in two halves: one starts each cycle. */
static void refine(struct hn_target *t)
{
	unsigned a = 0, b = 0, c = 0, d = 0;

	if (t->param[HN_PARAM_VECTOR_UNIT_BYTES] == 64 &&
	    __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx &&
	    __get_cpuid(1, &a, &b, &c, &d)) {
		unsigned family = ((a >> 8) & 15) + ((a >> 20) & 255);
		if (family == 0x19) {
			t->param[HN_PARAM_FMA_PER_CYCLE] = 1;
		}
	}
}
#elif defined(__aarch64__)
static const char *isa_of_cpu(void)
{
	return "aarch64-neon";
}

static void refine(struct hn_target *t)
{
	(void)t;
}
#else
static const char *isa_of_cpu(void)
{
	return "generic";
}

static void refine(struct hn_target *t)
{
	(void)t;
}
#endif

void hn_target_host(struct hn_arena *a, struct hn_target *ret)
{
	bool known = hn_target_of_isa(isa_of_cpu(), ret);

	hn_assert(known);
	refine(ret);
	ret->features = hn_target_features_host() & hn_target_features_of_isa(ret->isa);
	ret->kind = hn_arena_strdup(a, ret->kind);
	ret->isa = hn_arena_strdup(a, ret->isa);
	ret->param[HN_PARAM_NUM_CORES] = usable_cores();
	long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
	if (line > 0 && line <= 4096) {
		ret->param[HN_PARAM_CACHE_LINE_BYTES] = line;
	}
	set_cache(ret, HN_PARAM_L1_BYTES, 1, _SC_LEVEL1_DCACHE_SIZE);
	set_cache(ret, HN_PARAM_L2_BYTES, 2, _SC_LEVEL2_CACHE_SIZE);
	set_cache(ret, HN_PARAM_L3_BYTES, 3, _SC_LEVEL3_CACHE_SIZE);
}
