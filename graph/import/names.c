/* graph/import/names.c -- a table of names. */
#include "graph/import/names.h"

#include <string.h>

#include "base/arith.h"

void hn_names_init(struct hn_names *t, uint32_t most, struct hn_arena *a)
{
	t->n = 0;
	t->cap = hn_pow2_ceil(2 * (int64_t)most + 2);
	t->entry = HN_NEW_ARRAY(a, struct hn_name_entry, t->cap);
}

/* FNV-1a; a model that makes names collide only slows its own import down. */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s != '\0'; s++) {
		h = (h ^ (unsigned char)*s) * 16777619u;
	}
	return h ^ (h >> 15);
}

int32_t *hn_names_at(struct hn_names *t, const char *name, int32_t otherwise)
{
	uint32_t i = hash(name) & (t->cap - 1);

	while (t->entry[i].name != NULL) {
		if (strcmp(t->entry[i].name, name) == 0) {
			return &t->entry[i].value;
		}
		i = (i + 1) & (t->cap - 1);
	}
	hn_assert(++t->n < t->cap);
	t->entry[i] = (struct hn_name_entry){ name, otherwise };
	return &t->entry[i].value;
}
