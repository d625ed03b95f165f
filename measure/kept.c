/* kept.c -- the objects of those that may enter a final: built once, run many times.  The
 * least recently used goes first. */
#include "measure/measurer_int.h"

#include <stdlib.h>
#include <string.h>

static struct artefact copy_of(const struct artefact *a)
{
	struct artefact copy = *a;

	copy.object = malloc(a->object_bytes);
	hn_assert(copy.object != NULL);
	memcpy(copy.object, a->object, a->object_bytes);
	return copy;
}

bool hn_kept_find(struct hn_measurer *m, struct ticket *t)
{
	for (uint32_t i = 0; i < HN_KEPT; i++) {
		struct kept *k = &t->w->kept[i];

		if (k->steps != NULL && strcmp(k->steps, t->steps) == 0) {
			k->used = ++m->next_request;
			t->artefact = copy_of(&k->artefact);
			return true;
		}
	}
	return false;
}

void hn_kept_put(struct hn_measurer *m, const struct ticket *t)
{
	struct kept *oldest = &t->w->kept[0];

	for (uint32_t i = 1; i < HN_KEPT; i++) {
		if (t->w->kept[i].used < oldest->used) {
			oldest = &t->w->kept[i];
		}
	}
	free(oldest->steps);
	free(oldest->artefact.object);
	oldest->steps = strdup(t->steps);
	hn_assert(oldest->steps != NULL);
	oldest->artefact = copy_of(&t->artefact);
	oldest->used = ++m->next_request;
}

void hn_kept_free(struct workload *w)
{
	for (uint32_t i = 0; i < HN_KEPT; i++) {
		free(w->kept[i].steps);
		free(w->kept[i].artefact.object);
	}
}
