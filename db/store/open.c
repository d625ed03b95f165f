/* db/store/open.c -- which kind of store a place is of: opening and closing it. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/name.h"
#include "db/snapshot/snapshot.h"
#include "db/store/ops.h"

#define STORE(scheme, name) extern const struct hn_db_ops hn_db_##name;
#include "db/store/stores.def"
#undef STORE

static const struct {
	const char *scheme;
	const struct hn_db_ops *ops;
} stores[] = {
#define STORE(scheme, name) {scheme, &hn_db_##name},
#include "db/store/stores.def"
#undef STORE
};

static int find_ops(const char *place, const struct hn_db_ops **ret, struct hn_err *err)
{
	size_t n = hn_scheme_length(place);
	struct hn_buf known;
	int rc;

	for (size_t i = 0; i < HN_COUNT_OF(stores); i++) {
		if (strlen(stores[i].scheme) == n && strncmp(stores[i].scheme, place, n) == 0) {
			*ret = stores[i].ops;
			return 0;
		}
	}
	hn_buf_init(&known);
	for (size_t i = 0; i < HN_COUNT_OF(stores); i++) {
		if (*stores[i].scheme != '\0') {
			hn_buf_printf(&known, " or %s://", stores[i].scheme);
		}
	}
	/* not the rest of it: that may hold a password */
	rc = hn_fail(err, HONE_E_UNSUPPORTED,
		     "%.*s://: hone has no such store; give a directory on this machine%s",
		     (int)(n < 40 ? n : 40), place, known.s);
	hn_buf_fini(&known);
	return rc;
}

int hn_db_open_with(const struct hn_db_ops *ops, const char *place, struct hn_db **ret,
		    struct hn_err *err)
{
	struct hn_db *db = calloc(1, ops->bytes);
	int rc;

	if (db == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", place);
	}
	db->ops = ops;
	rc = ops->open(db, place, err);
	if (rc != 0) {
		hn_db_close(db);
		return rc;
	}
	*ret = db;
	return 0;
}

int hn_db_open(const char *place, struct hn_db **ret, struct hn_err *err)
{
	const struct hn_db_ops *ops;
	int rc = find_ops(place, &ops, err);

	return rc != 0 ? rc : hn_db_open_with(ops, place, ret, err);
}

void hn_db_close(struct hn_db *db)
{
	if (db == NULL) {
		return;
	}
	db->ops->close(db);
	hn_snapshot_close(db->witness);
	hn_db_forget_damage(db);
	free(db->dir);
	free(db);
}
