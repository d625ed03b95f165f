/* flush.c -- see flush.h. */
#include "measure/board/flush.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define LINE ((uintptr_t)64)

/* The lines that a range lies in: from *ret_begin to *ret_end, both at a line's start. */
static size_t lines_of(const struct hn_flush_range *r, uintptr_t *ret_begin,
		       uintptr_t *ret_end)
{
	uintptr_t at = (uintptr_t)r->at;

	*ret_begin = at & ~(LINE - 1);
	*ret_end = r->bytes > 0 ? (at + r->bytes + LINE - 1) & ~(LINE - 1) : *ret_begin;
	return (*ret_end - *ret_begin) / LINE;
}

#if defined(__x86_64__)
static bool has_clflushopt(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

__attribute__((target("clflushopt"))) static void flush_weakly(uintptr_t at, uintptr_t end)
{
	for (; at < end; at += LINE) {
		_mm_clflushopt((void *)at);
	}
}

static void flush_in_order(uintptr_t at, uintptr_t end)
{
	for (; at < end; at += LINE) {
		_mm_clflush((const void *)at);
	}
}

size_t hn_flush(const struct hn_flush_range *range, size_t n)
{
	bool weakly = has_clflushopt();
	uintptr_t begin, end;
	size_t lines = 0;

	_mm_mfence(); /* what was stored before is flushed too */
	for (size_t i = 0; i < n; i++) {
		lines += lines_of(&range[i], &begin, &end);
		(weakly ? flush_weakly : flush_in_order)(begin, end);
	}
	_mm_mfence();
	return lines;
}
#else
#define STREAM_BYTES ((size_t)256 << 20) /* twice the last level of what is not a large server */

size_t hn_flush(const struct hn_flush_range *range, size_t n)
{
	static volatile char other[STREAM_BYTES];
	uintptr_t begin, end;
	size_t lines = 0;

	for (size_t i = 0; i < n; i++) {
		lines += lines_of(&range[i], &begin, &end);
	}
	for (size_t i = 0; lines > 0 && i < STREAM_BYTES; i += LINE) {
		other[i]++;
	}
	return lines;
}
#endif
