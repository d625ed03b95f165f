/* bench/limit_dot.c -- what the machine's instructions for sums of narrow products reach at most:
 * independent accumulators in registers or tiles, nothing is moved.
 *
 * The first row of the table that this machine has for the case's types is the limit.  Operations
 * are counted as useful work is: two for each product.
 */
#include "bench/limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST_ROUNDS 64

/* 12 accumulators: as many as latency times width of the machines that have them.  Factors are
 * zero, and so are the sums: no value is slower than others. */
#define DOT(text, reg, to) text " %%" reg "12, %%" reg "13, %%" reg to "\n\t"
#define DOTS(text, reg)                                                                  \
	DOT(text, reg, "0")                                                              \
	DOT(text, reg, "1")                                                              \
	DOT(text, reg, "2")                                                              \
	DOT(text, reg, "3")                                                              \
	DOT(text, reg, "4")                                                              \
	DOT(text, reg, "5")                                                              \
	DOT(text, reg, "6")                                                              \
	DOT(text, reg, "7")                                                              \
	DOT(text, reg, "8")                                                              \
	DOT(text, reg, "9")                                                              \
	DOT(text, reg, "10")                                                             \
	DOT(text, reg, "11")

#define VECTOR_LOOP(name, text, reg)                                                     \
	static void name(int n)                                                          \
	{                                                                                \
		__asm__ volatile("vzeroall\n"                                            \
				 "1:\n\t" DOTS(text, reg) "decl %0\n\t"                  \
							  "jnz 1b\n\t"                   \
							  "vzeroupper"                   \
				 : "+r"(n)                                               \
				 :                                                       \
				 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
				   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",     \
				   "xmm12", "xmm13", "xmm14", "xmm15");                  \
	}

VECTOR_LOOP(busd_512, "vpdpbusd", "zmm")
VECTOR_LOOP(busd_256, "%{vex%} vpdpbusd", "ymm")
VECTOR_LOOP(bf16_512, "vdpbf16ps", "zmm")

/* Four tiles of sums; tiles of 16 rows of 64 bytes. */
#define TILE_LOOP(name, text)                                                            \
	static void name(int n)                                                          \
	{                                                                                \
		static const struct {                                                    \
			uint8_t palette, start, unused[14];                              \
			uint16_t bytes[16];                                              \
			uint8_t rows[16];                                                \
		} config = { 1,                                                          \
			     0,                                                          \
			     { 0 },                                                      \
			     { 64, 64, 64, 64, 64, 64, 64, 64 },                         \
			     { 16, 16, 16, 16, 16, 16, 16, 16 } };                       \
		__asm__ volatile("ldtilecfg %1\n" /* tiles are zero now */               \
				 "1:\n\t" text " %%tmm6, %%tmm4, %%tmm0\n\t" text        \
				 " %%tmm7, %%tmm4, %%tmm1\n\t" text                      \
				 " %%tmm6, %%tmm5, %%tmm2\n\t" text                      \
				 " %%tmm7, %%tmm5, %%tmm3\n\t"                           \
				 "decl %0\n\t"                                           \
				 "jnz 1b\n\t"                                            \
				 "tilerelease"                                           \
				 : "+r"(n)                                               \
				 : "m"(config)                                           \
				 : "cc");                                                \
	}

TILE_LOOP(tile_busd, "tdpbusd")
TILE_LOOP(tile_bf16, "tdpbf16ps")

enum feature { VNNI_512, VNNI_256, BF16_512, TILE_I8, TILE_BF16 };

/* The kernel wants to be asked once for a thread's tiles. */
static bool may_use_tiles(void)
{
	enum { REQUEST = 0x1023, TILE_DATA = 18 };

	return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}

static bool has(enum feature f)
{
	unsigned a = 0, b = 0, c = 0, d = 0;

	switch (f) {
	case VNNI_512:
		return __builtin_cpu_supports("avx512vnni");
	case BF16_512:
		return __builtin_cpu_supports("avx512bf16");
	case VNNI_256:
		return __builtin_cpu_supports("avx2") &&
		       __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
	case TILE_I8:
	case TILE_BF16:
		return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1) &&
		       (d >> (f == TILE_I8 ? 25 : 22) & 1) && may_use_tiles();
	}
	return false;
}

static const struct unit {
	const char *name;
	enum hn_suite_type type;
	enum feature needs;
	bool tile;
	double flops; /* of a round */
	void (*loop)(int rounds);
} units[] = {
	{ "limit-tdpbusd", HN_SUITE_U8S8, TILE_I8, true, 4 * 16 * 16 * 64 * 2,
	  tile_busd },
	{ "limit-vpdpbusd", HN_SUITE_U8S8, VNNI_512, false, 12 * 64 * 2, busd_512 },
	{ "limit-vpdpbusd-256", HN_SUITE_U8S8, VNNI_256, false, 12 * 32 * 2, busd_256 },
	{ "limit-tdpbf16ps", HN_SUITE_BF16, TILE_BF16, true, 4 * 16 * 16 * 32 * 2,
	  tile_bf16 },
	{ "limit-vdpbf16ps", HN_SUITE_BF16, BF16_512, false, 12 * 32 * 2, bf16_512 },
};

static const struct unit *unit_of(enum hn_suite_type type, bool tiles)
{
	for (size_t i = 0; i < HN_COUNT_OF(units); i++) {
		if (units[i].type == type && (tiles || !units[i].tile) &&
		    has(units[i].needs)) {
			return &units[i];
		}
	}
	return NULL;
}

struct dots {
	const struct hn_contest *contest;
	const struct unit *unit;
	int rounds; /* of each thread */
};

static void body(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	const struct dots *d = closure;

	(void)worker;
	for (int64_t i = begin; i < end; i++) {
		d->unit->loop(d->rounds);
	}
}

static void call(void *ctx)
{
	struct dots *d = ctx;

	hone_pool_run(d->contest->pool, body, d, d->contest->n_threads);
}

bool hn_limit_dot(struct hn_contest *t, bool tiles)
{
	const struct unit *unit = unit_of(t->row->type, tiles);
	double flops = hn_suite_useful_flops(t->row), round;
	struct hn_contender *c;
	struct dots *d;

	if (unit == NULL) {
		return false;
	}
	round = unit->flops * t->n_threads;
	d = malloc(sizeof(*d));
	hn_assert(d != NULL);
	/* a call does the case's work: other programs on the cores fall on both alike */
	*d = (struct dots){ t, unit, LEAST_ROUNDS + (int)(flops / round) };
	c = hn_contest_add(t, unit->name);
	c->ctx = d;
	c->call = call;
	c->close = free;
	c->limit = true;
	c->amount = flops / (round * d->rounds);
	c->n_range = 0;
	return true;
}
#else
bool hn_limit_dot(struct hn_contest *t, bool tiles)
{
	(void)t;
	(void)tiles;
	return false;
}
#endif
