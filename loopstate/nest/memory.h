/* loopstate/nest/memory.h -- which memories there are, and who has a copy of what lies in one.
 *
 * One row of memories.def each.  A stage's scope names one; where it names none, bounds inference
 * chooses (bounds_scope.h).  How long a buffer lives is another matter (hn_lifetime, looptree.h).
 */
#ifndef HN_LOOPSTATE_NEST_MEMORY_H
#define HN_LOOPSTATE_NEST_MEMORY_H

#include <stdbool.h>

enum hn_memory {
#define MEMORY(name, keyword, copies, in_device, param) HN_MEMORY_##name,
#include "loopstate/nest/memories.def"
#undef MEMORY
	HN_N_MEMORY
};

/* Who has a copy: from all together to each alone. */
enum hn_copies { HN_COPIES_GRID, HN_COPIES_BLOCK, HN_COPIES_WARP, HN_COPIES_THREAD };

struct hn_memory_row {
	const char *keyword;
	enum hn_copies copies;
	bool in_device; /* device programs may use it (lower/device/device.h) */
};

extern const struct hn_memory_row hn_memory_rows[HN_N_MEMORY];

/* The memory that a stage's scope names; HN_N_MEMORY: none that is known, or NULL. */
enum hn_memory hn_memory_of_scope(const char *scope);

/* The memory of that very keyword which device programs know; HN_N_MEMORY: none. */
enum hn_memory hn_memory_of_device(const char *keyword);

#endif
