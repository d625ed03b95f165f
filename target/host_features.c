/* target/host_features.c -- which features of features.def this processor has, and lets this process
 * use.  Nothing is asked of the system but what it would allow: tiles must still be requested by who
 * runs code that uses them. */
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "target/target_int.h"

enum word { CPUID_7_0_ECX, CPUID_7_0_EDX, CPUID_7_1_EAX, ARM_HWCAP, ARM_HWCAP2, N_WORD };

#define XCR0_TILES (3u << 17) /* TILECFG and TILEDATA */

static const struct {
	enum word word;
	uint32_t bit;
	uint64_t os;
} rows[] = {
#define FEATURE(name, family, level, bytes, needs, word, bit, os) { word, bit, os },
#include "target/features.def"
#undef FEATURE
};

#if defined(__x86_64__)
#define ARCH_GET_XCOMP_SUPP 0x1021 /* Linux 5.16 */
#define OSXSAVE (1u << 27)

static void read_words(uint64_t ret[N_WORD])
{
	unsigned a, b, c, d, most;

	if (!__get_cpuid_count(7, 0, &most, &b, &c, &d)) {
		return;
	}
	ret[CPUID_7_0_ECX] = c;
	ret[CPUID_7_0_EDX] = d;
	if (most >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
		ret[CPUID_7_1_EAX] = a;
	}
}

/* The states that processor and kernel let this process use, or ask for. */
static uint64_t read_states(void)
{
	unsigned a, b, c, d;
	uint64_t mask = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) ||
	    syscall(SYS_arch_prctl, ARCH_GET_XCOMP_SUPP, &mask) != 0) {
		return 0;
	}
	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return mask & ((uint64_t)d << 32 | a);
}
#elif defined(__aarch64__)
static void read_words(uint64_t ret[N_WORD])
{
	ret[ARM_HWCAP] = getauxval(AT_HWCAP);
	ret[ARM_HWCAP2] = getauxval(AT_HWCAP2);
}

static uint64_t read_states(void)
{
	return 0;
}
#else
static void read_words(uint64_t ret[N_WORD])
{
	(void)ret;
}

static uint64_t read_states(void)
{
	return 0;
}
#endif

uint32_t hn_target_features_host(void)
{
	uint64_t word[N_WORD] = { 0 };
	uint32_t found = 0;

	read_words(word);
	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		if ((word[rows[i].word] >> rows[i].bit & 1) &&
		    (rows[i].os == 0 || (read_states() & rows[i].os) == rows[i].os)) {
			found |= 1u << i;
		}
	}
	return hn_target_features_whole(found);
}
