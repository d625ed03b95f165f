/* base/arena.c -- see arena.h.
 *
 * Blocks grow geometrically, so a job of any size costs O(log) calls of calloc.  Under
 * ASan the free part of a block is poisoned and a gap follows each allocation, so that an
 * overrun and a pointer kept over a reset both die at once.
 *
 * Invariant: what is free of a block is zero (a reset clears what was used, at one go), and only
 * the newest block has anything free: the arena's at .. end, of which ASan builds leave nothing
 * to the header's fast path.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define ARENA_POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define ARENA_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define ARENA_GAP 16
#else
#define ARENA_POISON(p, n) ((void)(p), (void)(n))
#define ARENA_UNPOISON(p, n) ((void)(p), (void)(n))
#define ARENA_GAP 0
#endif

#define ARENA_FIRST_BYTES ((size_t)4096)
#define ARENA_GROWTH_MAX_BYTES ((size_t)64 << 20) /* blocks stop doubling here */

struct hn_arena_block {
	struct hn_arena_block *older;
	size_t size_bytes; /* of the data */
	size_t used_bytes; /* up to date in older blocks, and where ARENA_GAP > 0 */
	size_t unused;	   /* keeps the data aligned */
	_Alignas(HN_ARENA_ALIGN) char data[];
};

void hn_arena_init(struct hn_arena *a, size_t budget_bytes)
{
	*a = (struct hn_arena){.budget_bytes = budget_bytes};
}

static void free_blocks(struct hn_arena_block *b, const struct hn_arena_block *but)
{
	while (b) {
		struct hn_arena_block *older = b->older;

		if (b != but) {
			free(b);
		}
		b = older;
	}
}

void hn_arena_fini(struct hn_arena *a)
{
	free_blocks(a->block, NULL);
	*a = (struct hn_arena){0};
}

/* Between the newest block and the header's fast path, which knows at and end alone. */
static void close_block(struct hn_arena *a)
{
	if (a->block && ARENA_GAP == 0) {
		a->block->used_bytes = (size_t)(a->at - a->block->data);
	}
}

static void open_block(struct hn_arena *a, struct hn_arena_block *b)
{
	a->block = b;
	a->at = b ? b->data + b->used_bytes : NULL;
	a->end = b && ARENA_GAP == 0 ? b->data + b->size_bytes : a->at;
}

void hn_arena_reset(struct hn_arena *a)
{
	struct hn_arena_block *largest = a->block;

	close_block(a);
	for (struct hn_arena_block *b = a->block; b; b = b->older) {
		largest = b->size_bytes > largest->size_bytes ? b : largest;
	}
	free_blocks(a->block, largest);
	if (largest) {
		ARENA_UNPOISON(largest->data, largest->used_bytes);
		memset(largest->data, 0, largest->used_bytes);
		largest->older = NULL;
		largest->used_bytes = 0;
		ARENA_POISON(largest->data, largest->size_bytes);
	}
	open_block(a, largest);
	a->used_bytes = 0;
}

static void push_block(struct hn_arena *a, size_t need)
{
	size_t size = a->block ? a->block->size_bytes * 2 : ARENA_FIRST_BYTES;
	struct hn_arena_block *b;

	size = size > ARENA_GROWTH_MAX_BYTES ? ARENA_GROWTH_MAX_BYTES : size;
	size = size < need ? need : size;
	b = calloc(1, sizeof(*b) + size);
	if (!b) {
		fprintf(stderr, "hone: out of memory (%zu bytes)\n", size);
		abort();
	}
	b->older = a->block;
	b->size_bytes = size;
	ARENA_POISON(b->data, size);
	close_block(a);
	open_block(a, b);
}

void *hn_arena_alloc_slow(struct hn_arena *a, size_t bytes)
{
	size_t rounded, take;
	char *p;

	hn_assert(bytes <= PTRDIFF_MAX / 2);
	rounded = (bytes + HN_ARENA_ALIGN - 1) / HN_ARENA_ALIGN * HN_ARENA_ALIGN;
	take = rounded + ARENA_GAP;
	close_block(a);
	if (!a->block || a->block->size_bytes - a->block->used_bytes < take) {
		push_block(a, take);
	}
	p = a->block->data + a->block->used_bytes;
	a->block->used_bytes += take;
	open_block(a, a->block);
	a->used_bytes += rounded;
	ARENA_UNPOISON(p, bytes);
	return p;
}

void *hn_arena_grow(struct hn_arena *a, void *array, uint32_t n, uint32_t *cap,
		    size_t size)
{
	void *grown;

	if (n < *cap) {
		return array;
	}
	hn_assert(*cap <= UINT32_MAX / 2);
	*cap = *cap ? 2 * *cap : 16;
	grown = hn_arena_array(a, *cap, size);
	if (n > 0) {
		memcpy(grown, array, n * size);
	}
	return grown;
}

char *hn_arena_strndup(struct hn_arena *a, const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = hn_arena_alloc(a, length + 1);

	memcpy(copy, s, length);
	return copy;
}

char *hn_arena_strdup(struct hn_arena *a, const char *s)
{
	return hn_arena_strndup(a, s, strlen(s));
}

char *hn_arena_printf(struct hn_arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	hn_assert(n >= 0);
	s = hn_arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

int hn_arena_over(const struct hn_arena *a)
{
	return a->budget_bytes > 0 && a->used_bytes > a->budget_bytes;
}
