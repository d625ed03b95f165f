/* artefact.c -- who keeps an object: in a slot of the depot, which is shared, or on the heap. */
#include "measure/host/measurer_int.h"

#include <stdlib.h>
#include <string.h>

void hn_artefact_set(struct artefact *a, const void *bytes, uint32_t n)
{
	hn_assert(a->slot == 0);
	free(a->object);
	a->object = malloc((size_t)n + 1);
	hn_assert(a->object != NULL);
	memcpy(a->object, bytes, n);
	a->object_bytes = n;
	hn_sha256_hex(bytes, n, a->hash);
}

void hn_artefact_share(struct hn_measurer *m, const struct artefact *from, struct artefact *to)
{
	*to = *from;
	hn_depot_hold(&m->depot, to->slot);
	if (from->object != NULL) {
		to->object = malloc((size_t)from->object_bytes + 1);
		hn_assert(to->object != NULL);
		memcpy(to->object, from->object, from->object_bytes);
	}
}

void hn_artefact_drop(struct hn_measurer *m, struct artefact *a)
{
	hn_depot_let_go(&m->depot, a->slot);
	free(a->object);
	*a = (struct artefact){.slot = 0};
}
