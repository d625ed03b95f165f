/* db/store/damage.c -- what was found damaged or missing, as long as the store is open.
 *
 * As long as something of it is unsettled, every answer out of the store says so (hn_db_notice).
 */
#include <stdlib.h>
#include <string.h>

#include "db/store/ops.h"

#define MOST_NOTED 1000 /* more are only counted */
#define MOST_NAMED 3	/* in a notice */

bool hn_db_is_noted(const struct hn_db *db, const char *place)
{
	for (uint32_t i = 0; i < db->n_damage; i++) {
		if (strcmp(db->damage[i].place, place) == 0) {
			return true;
		}
	}
	return false;
}

void hn_db_note(struct hn_db *db, const char *place, const char *detail, enum hn_db_noted how)
{
	struct hn_db_damage *more;

	db->n_unsettled += how != HN_DB_SETTLED;
	if (db->n_damage < MOST_NOTED) {
		more = realloc(db->damage, (db->n_damage + 1) * sizeof(*more));
		if (more) {
			db->damage = more;
			more[db->n_damage++] = (struct hn_db_damage){
				.place = strdup(place), .detail = strdup(detail), .how = how };
			hn_assert(more[db->n_damage - 1].place && more[db->n_damage - 1].detail);
		}
	}
	if (how == HN_DB_FOUND && db->on_damage) {
		db->on_damage(db->on_damage_ctx, place, detail);
	}
}

bool hn_db_has_found(const struct hn_db *db)
{
	for (uint32_t i = 0; i < db->n_damage; i++) {
		if (db->damage[i].how == HN_DB_FOUND) {
			return true;
		}
	}
	return false;
}

void hn_db_forget_damage(struct hn_db *db)
{
	for (uint32_t i = 0; i < db->n_damage; i++) {
		free(db->damage[i].place);
		free(db->damage[i].detail);
	}
	free(db->damage);
	db->damage = NULL;
	db->n_damage = 0;
	db->n_unsettled = 0;
}

void hn_db_damage(struct hn_db *db, hn_db_damage_fn each, void *ctx)
{
	for (uint32_t i = 0; i < db->n_damage; i++) {
		if (db->damage[i].how != HN_DB_SETTLED) {
			each(ctx, db->damage[i].place, db->damage[i].detail);
		}
	}
}

void hn_db_on_damage(struct hn_db *db, hn_db_damage_fn each, void *ctx)
{
	db->on_damage = each;
	db->on_damage_ctx = ctx;
}

uint32_t hn_db_notice(const struct hn_db *db, struct hn_buf *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < db->n_damage; i++) {
		const struct hn_db_damage *d = &db->damage[i];

		if (d->how == HN_DB_FOUND || d->how == HN_DB_KEPT) {
			if (n < MOST_NAMED) {
				hn_buf_printf(ret, "%s%s: %s", n > 0 ? "; " : "the store is damaged: ",
					      d->place, d->detail);
			}
			n++;
		}
	}
	if (n > MOST_NAMED) {
		hn_buf_printf(ret, "; and %u more", n - MOST_NAMED);
	}
	if (n > 0) {
		hn_buf_puts(ret, " (`hone verify`, while honed is stopped, lists and settles it)");
	}
	return n;
}

int hn_db_settle(struct hn_db *db, struct hn_err *err)
{
	return db->ops->settle(db, err);
}
