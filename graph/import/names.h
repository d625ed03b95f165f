/* graph/import/names.h -- values by the names that a model gives them. */
#ifndef HN_GRAPH_IMPORT_NAMES_H
#define HN_GRAPH_IMPORT_NAMES_H

#include "base/arena.h"

struct hn_names {
	struct hn_name_entry *entry; /* open addressing */
	uint32_t n, cap;	     /* cap: a power of two */
};

struct hn_name_entry {
	const char *name; /* the caller's; NULL: free */
	int32_t value;
};

void hn_names_init(struct hn_names *t, uint32_t most, struct hn_arena *a);

/* The entry of that name, new with *value = `otherwise` where there is none.  No more than `most`
 * may be asked for. */
int32_t *hn_names_at(struct hn_names *t, const char *name, int32_t otherwise);

#endif
