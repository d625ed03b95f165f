/* kept.c -- the objects of those that may enter a final: built once, run many times.  The
 * least recently used goes first; where the depot is full, the least recently used of all
 * workloads. */
#include "measure/host/measurer_int.h"

#include <stdlib.h>
#include <string.h>

static struct kept *find(struct workload *w, const char *steps)
{
	for (uint32_t i = 0; i < HN_KEPT; i++) {
		struct kept *k = &w->kept[i];

		if (k->program.steps != NULL && strcmp(k->program.steps, steps) == 0) {
			return k;
		}
	}
	return NULL;
}

static void drop(struct hn_measurer *m, struct kept *k)
{
	hn_artefact_drop(m, &k->program.artefact);
	free(k->program.steps);
	*k = (struct kept){.used = 0};
}

bool hn_kept_find(struct hn_measurer *m, struct workload *w, struct program *p)
{
	struct kept *k = find(w, p->steps);

	if (k == NULL) {
		return false;
	}
	k->used = ++m->next_request;
	hn_artefact_share(m, &k->program.artefact, &p->artefact);
	return true;
}

void hn_kept_put(struct hn_measurer *m, struct workload *w, const struct program *p)
{
	struct kept *oldest = &w->kept[0];

	for (uint32_t i = 1; i < HN_KEPT; i++) {
		if (w->kept[i].used < oldest->used) {
			oldest = &w->kept[i];
		}
	}
	drop(m, oldest);
	oldest->program.steps = strdup(p->steps);
	hn_assert(oldest->program.steps != NULL);
	hn_artefact_share(m, &p->artefact, &oldest->program.artefact);
	oldest->used = ++m->next_request;
}

void hn_kept_drop(struct hn_measurer *m, struct workload *w, const char *steps)
{
	struct kept *k;

	while (steps != NULL && (k = find(w, steps)) != NULL) {
		drop(m, k);
	}
}

bool hn_kept_make_room(struct hn_measurer *m)
{
	struct kept *oldest = NULL;

	for (struct workload *w = m->workload; w != NULL; w = w->next) {
		for (uint32_t i = 0; i < HN_KEPT; i++) {
			struct kept *k = &w->kept[i];

			if (k->program.artefact.slot != 0 &&
			    (oldest == NULL || k->used < oldest->used)) {
				oldest = k;
			}
		}
	}
	if (oldest != NULL) {
		drop(m, oldest);
	}
	return oldest != NULL;
}

void hn_kept_free(struct hn_measurer *m, struct workload *w)
{
	for (uint32_t i = 0; i < HN_KEPT; i++) {
		drop(m, &w->kept[i]);
	}
}
