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

bool hn_kept_find(struct hn_measurer *m, struct workload *w, struct program *p)
{
	for (uint32_t i = 0; i < HN_KEPT; i++) {
		struct kept *k = &w->kept[i];

		if (k->program.steps != NULL && strcmp(k->program.steps, p->steps) == 0) {
			k->used = ++m->next_request;
			p->artefact = copy_of(&k->program.artefact);
			return true;
		}
	}
	return false;
}

void hn_kept_put(struct hn_measurer *m, struct workload *w, const struct program *p)
{
	struct kept *oldest = &w->kept[0];

	for (uint32_t i = 1; i < HN_KEPT; i++) {
		if (w->kept[i].used < oldest->used) {
			oldest = &w->kept[i];
		}
	}
	free(oldest->program.steps);
	free(oldest->program.artefact.object);
	oldest->program.steps = strdup(p->steps);
	hn_assert(oldest->program.steps != NULL);
	oldest->program.artefact = copy_of(&p->artefact);
	oldest->used = ++m->next_request;
}

void hn_kept_free(struct workload *w)
{
	for (uint32_t i = 0; i < HN_KEPT; i++) {
		free(w->kept[i].program.steps);
		free(w->kept[i].program.artefact.object);
	}
}
