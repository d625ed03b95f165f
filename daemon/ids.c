/* daemon/ids.c -- jobs and sets by their ids, or by the beginning of one. */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon.h"

#define LEAST 4	      /* letters that a beginning has */
#define MOST_LISTED 5 /* of those that one could be */

struct match {
	const char *word;
	uint32_t n;
	struct hn_buf list;
};

static bool take(struct match *m, const char *id, const char *name)
{
	if (strncmp(id, m->word, strlen(m->word)) != 0) {
		return false;
	}
	if (m->n++ < MOST_LISTED) {
		hn_buf_printf(&m->list, "%s%s (%.40s)", m->n > 1 ? ", " : "", id, name);
	}
	return true;
}

/* Whether it is one; else what it is. */
static bool is_one(struct match *m, const char *what, struct hn_err *err)
{
	if (m->n == 0) {
		hn_fail(err, HONE_E_NOT_FOUND, "%s: there is none called \"%.64s\"", what, m->word);
	} else if (m->n > 1) {
		hn_fail(err, HONE_E_INVALID, "%s: %s is ambiguous: %s%s", what, m->word, m->list.s,
			m->n > MOST_LISTED ? ", ..." : "");
	}
	hn_buf_fini(&m->list);
	return m->n == 1;
}

struct hn_job *hn_ids_job(struct hn_daemon *d, const char *word, struct hn_err *err)
{
	struct hn_job *found = hn_jobs_find(d, word);
	struct match m = { .word = word };

	if (found != NULL) {
		return found;
	}
	hn_buf_init(&m.list);
	for (struct hn_job *j = d->jobs; j != NULL && strlen(word) >= LEAST; j = j->next) {
		found = take(&m, j->id, j->name) ? j : found;
	}
	return is_one(&m, "job", err) ? found : NULL;
}

struct hn_set *hn_ids_set(struct hn_daemon *d, const char *word, struct hn_err *err)
{
	struct hn_set *found = hn_sets_find(d, word);
	struct match m = { .word = word };

	if (found != NULL) {
		return found;
	}
	hn_buf_init(&m.list);
	for (struct hn_set *s = d->sets; s != NULL && strlen(word) >= LEAST; s = s->next) {
		char name[32];

		snprintf(name, sizeof name, "%u tasks", s->n);
		found = take(&m, s->id, name) ? s : found;
	}
	return is_one(&m, "set", err) ? found : NULL;
}
