/* base/arena.h -- memory that dies together.
 *
 * A pointer may only point into its own or a longer-lived arena.  Any function that
 * allocates says where: its arena argument, right after the inputs.  Not thread-safe: one
 * arena, one owner at a time.  Under ASan a reset poisons what was handed out.
 */
#ifndef HN_BASE_ARENA_H
#define HN_BASE_ARENA_H

#include "base/cdefs.h"

struct hn_arena_block;

#define HN_ARENA_ALIGN ((size_t)16)

struct hn_arena {
	char *at, *end;               /* of the newest block, what is free: zero, aligned */
	struct hn_arena_block *block; /* newest first */
	size_t used_bytes;            /* handed out since init or reset */
	size_t budget_bytes;          /* 0 = none; see hn_arena_over */
};

void hn_arena_init(struct hn_arena *a, size_t budget_bytes);
void hn_arena_fini(struct hn_arena *a);

/* Forget everything handed out; keeps the largest block. */
void hn_arena_reset(struct hn_arena *a);

/* hn_arena_alloc where the newest block has no room, or may have none. */
void *hn_arena_alloc_slow(struct hn_arena *a, size_t bytes);

/* Zeroed, 16-byte aligned, never NULL: a true out-of-memory aborts (crash-only; every
 * measurement is committed before it is used).  bytes may be 0. */
static inline void *hn_arena_alloc(struct hn_arena *a, size_t bytes)
{
	char *p = a->at;

	if (bytes >= (size_t)(a->end - p)) {
		return hn_arena_alloc_slow(a, bytes);
	}
	bytes = (bytes + HN_ARENA_ALIGN - 1) & ~(HN_ARENA_ALIGN - 1);
	a->at = p + bytes;
	a->used_bytes += bytes;
	return p;
}

/* n elements of `size` bytes, zeroed; aborts if the product overflows. */
static inline void *hn_arena_array(struct hn_arena *a, size_t n, size_t size)
{
	size_t bytes;

	hn_assert(!__builtin_mul_overflow(n, size, &bytes));
	return hn_arena_alloc(a, bytes);
}

/* An array of *cap elements, n of them in use, with room for one more: itself, or a copy
 * with twice the room (at least 16; the rest zeroed).  NULL with *cap 0 = none yet. */
void *hn_arena_grow(struct hn_arena *a, void *array, uint32_t n, uint32_t *cap,
		    size_t size);

#define HN_NEW(a, type) ((type *)hn_arena_alloc((a), sizeof(type)))
#define HN_NEW_ARRAY(a, type, n) ((type *)hn_arena_array((a), (n), sizeof(type)))

char *hn_arena_strdup(struct hn_arena *a, const char *s);
char *hn_arena_strndup(struct hn_arena *a, const char *s, size_t n);
char *hn_arena_printf(struct hn_arena *a, const char *fmt, ...) HN_PRINTF(2, 3);

/* Whether more than the budget is in use: asked at safe points, so that a hostile or huge
 * job fails alone. */
int hn_arena_over(const struct hn_arena *a);

#endif
