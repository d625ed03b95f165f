/* client/best.c -- queries answered from disk, without a daemon. */
#include "client/best.h"

#include <stdio.h>
#include <string.h>

#include "proto/addr.h"

int hn_best_target(const struct hn_opts *o, struct hn_arena *a, struct hn_target *ret,
		   const char **ret_line, struct hn_err *err)
{
	struct hn_buf line, home;
	int rc;

	hn_buf_init(&home);
	rc = hn_addr_home(o->home, &home, err);
	rc = rc != 0 ? rc
		     : hn_target_parse_at(home.s, o->target != NULL ? o->target : "native", a,
					  ret, err);
	hn_buf_fini(&home);
	if (rc != 0) {
		return -err->code; /* it begins with "target" */
	}
	hn_buf_init(&line);
	hn_target_print(ret, &line);
	*ret_line = hn_arena_strdup(a, line.s);
	hn_buf_fini(&line);
	return 0;
}

int hn_best_store(const struct hn_opts *o, struct hn_buf *home, struct hn_err *err)
{
	int rc = hn_addr_home(o->home, home, err);

	if (rc == 0 && !hn_snapshot_has_store(home->s)) {
		rc = hn_fail(err, HONE_E_NOT_FOUND,
			     "%s: no store there; nothing was tuned here yet", home->s);
	}
	return rc;
}

static int find(const char *word, struct hn_arena *a, struct hn_best *ret, struct hn_err *err)
{
	struct hn_nearest n;
	struct hn_buf near;
	char key[HN_KEY_BYTES];
	int rc = hn_nearest_key(ret->snapshot, word, key, err);

	rc = rc != 0 ? rc : hn_nearest_find(ret->snapshot, key, &ret->asked, ret->asked_line, a, &n,
					    err);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&near);
	hn_nearest_print(&n, &ret->asked, &near);
	ret->entry = n.entry;
	ret->target = n.have;
	ret->target_line = n.match == HN_MATCH_EXACT || n.match == HN_MATCH_AUTOMATIC ? ret->asked_line : n.entry.best.target;
	ret->differs = n.differs;
	ret->near = hn_arena_strndup(a, near.n > 0 ? near.s : "", near.n);
	hn_buf_fini(&near);
	return 0;
}

int hn_best_open(const struct hn_opts *o, struct hn_snapshot **ret, struct hn_err *err)
{
	struct hn_buf home;
	int rc;

	hn_buf_init(&home);
	rc = hn_addr_home(o->home, &home, err);
	rc = rc != 0 ? rc : hn_snapshot_open_fresh(home.s, ret, err);
	hn_buf_fini(&home);
	return rc;
}

int hn_best_find(const struct hn_opts *o, const char *key, struct hn_arena *a,
		 struct hn_best *ret, struct hn_err *err)
{
	int rc = hn_best_target(o, a, &ret->asked, &ret->asked_line, err);

	rc = rc != 0 ? rc : hn_best_open(o, &ret->snapshot, err);
	if (rc != 0) {
		return rc;
	}
	rc = find(key, a, ret, err);
	if (*hn_snapshot_notice(ret->snapshot) != '\0' && (rc != 0 || ret->entry.best.in_doubt)) {
		fprintf(stderr, "hone: warning: %s\n", hn_snapshot_notice(ret->snapshot));
	}
	if (rc != 0) {
		hn_snapshot_close(ret->snapshot);
		ret->snapshot = NULL;
	}
	return rc;
}

void hn_best_close(struct hn_best *b)
{
	hn_snapshot_close(b->snapshot);
}

void hn_best_write_near(const struct hn_best *best, struct hn_jw *w)
{
	if (best->differs == 0) {
		hn_jw_null(w, "near");
		return;
	}
	hn_jw_list(w, "near");
	for (uint32_t i = 0; i < HN_N_NUMBER; i++) {
		if (best->differs >> i & 1) {
			hn_jw_object(w, NULL);
			hn_jw_str(w, "parameter", hn_nearest_name(i));
			hn_jw_int(w, "there", hn_nearest_number(&best->target, i));
			hn_jw_int(w, "here", hn_nearest_number(&best->asked, i));
			hn_jw_end(w);
		}
	}
	hn_jw_end(w);
}
