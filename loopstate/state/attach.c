/* attach.c -- edits of the attach map.
 *
 * The table is copied whole when it changes: it has a handful of rows, and steps that
 * touch it are rare beside splits.
 */
#include "loopstate/state/attach.h"

#include <string.h>

#include "loopstate/state/state_int.h"

const struct hn_attached *hn_state_attached_at(const struct hn_state *s, int32_t stage,
					       int32_t iter)
{
	for (uint32_t i = 0; i < s->n_attached; i++) {
		if (s->attached[i].stage == stage && s->attached[i].iter == iter) {
			return &s->attached[i];
		}
	}
	return NULL;
}

bool hn_attach_any(const struct hn_state *s, int32_t stage, int32_t first)
{
	for (uint32_t i = 0; i < s->n_attached; i++) {
		if (s->attached[i].stage == stage && s->attached[i].iter >= first) {
			return true;
		}
	}
	return false;
}

static struct hn_attached *own_table(struct hn_state *n, uint32_t n_room,
				     struct hn_arena *a)
{
	struct hn_attached *table = HN_NEW_ARRAY(a, struct hn_attached, n_room);

	if (n->n_attached > 0) {
		memcpy(table, n->attached, n->n_attached * sizeof(*table));
	}
	n->attached = table;
	return table;
}

static void drop_child(struct hn_attached *at, int32_t stage, struct hn_arena *a)
{
	int32_t *child = HN_NEW_ARRAY(a, int32_t, at->n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < at->n; i++) {
		if (at->child[i] != stage) {
			child[n++] = at->child[i];
		}
	}
	at->child = child;
	at->n = n;
}

void hn_attach_remove(struct hn_state *n, int32_t stage, struct hn_arena *a)
{
	const struct hn_stage *old = n->stage[stage];

	if (old->at != HN_AT_ITER) {
		return;
	}
	struct hn_attached *table = own_table(n, n->n_attached, a);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->n_attached; i++) {
		if (table[i].stage == old->at_stage) {
			drop_child(&table[i], stage, a);
		}
		if (table[i].n > 0) {
			table[kept++] = table[i];
		}
	}
	n->n_attached = kept;

	struct hn_stage *st = hn_state_own_stage(n, stage, a);

	st->at = HN_AT_ROOT;
	st->at_stage = 0;
	st->at_iter = 0;
}

static void add_child(struct hn_attached *at, int32_t stage, struct hn_arena *a)
{
	int32_t *child = HN_NEW_ARRAY(a, int32_t, at->n + 1);

	if (at->n > 0) {
		memcpy(child, at->child, at->n * sizeof(*child));
	}
	child[at->n++] = stage;
	at->child = child;
}

void hn_attach_set(struct hn_state *n, int32_t stage, int32_t target, int32_t iter,
		   struct hn_arena *a)
{
	hn_attach_remove(n, stage, a);

	struct hn_attached *table = own_table(n, n->n_attached + 1, a);
	uint32_t i = 0;

	while (i < n->n_attached &&
	       !(table[i].stage == target && table[i].iter == iter)) {
		i++;
	}
	if (i == n->n_attached) {
		table[n->n_attached++] =
			(struct hn_attached){ .stage = target, .iter = iter };
	}
	add_child(&table[i], stage, a);

	struct hn_stage *st = hn_state_own_stage(n, stage, a);

	st->at = HN_AT_ITER;
	st->at_stage = target;
	st->at_iter = iter;
}

void hn_attach_renumber(struct hn_state *n, int32_t target, const int32_t *to,
			struct hn_arena *a)
{
	if (!hn_attach_any(n, target, 0)) {
		return;
	}
	struct hn_attached *table = own_table(n, n->n_attached, a);

	hn_attach_follow(n, target, to, a);
	for (uint32_t i = 0; i < n->n_attached; i++) {
		if (table[i].stage == target) {
			table[i].iter = to[table[i].iter];
		}
	}
}

void hn_attach_follow(struct hn_state *n, int32_t target, const int32_t *to,
		      struct hn_arena *a)
{
	for (uint32_t i = 0; i < n->n_attached; i++) {
		const struct hn_attached *at = &n->attached[i];

		for (uint32_t k = 0; at->stage == target && k < at->n; k++) {
			int32_t iter = n->stage[at->child[k]]->at_iter;

			if (to[iter] != iter) {
				hn_state_own_stage(n, at->child[k], a)->at_iter =
					to[iter];
			}
		}
	}
}

void hn_attach_shift(struct hn_state *n, int32_t at, struct hn_arena *a)
{
	if (n->n_attached == 0) {
		return;
	}
	struct hn_attached *table = own_table(n, n->n_attached, a);

	for (uint32_t i = 0; i < n->n_attached; i++) {
		int32_t *child = HN_NEW_ARRAY(a, int32_t, table[i].n);
		bool moved = table[i].stage >= at;

		table[i].stage += moved;
		for (uint32_t k = 0; k < table[i].n; k++) {
			child[k] = table[i].child[k] + (table[i].child[k] >= at);
			if (moved) {
				hn_state_own_stage(n, child[k], a)->at_stage =
					table[i].stage;
			}
		}
		table[i].child = child;
	}
}
