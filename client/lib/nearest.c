/* client/lib/nearest.c -- see nearest.h. */
#include "client/lib/nearest.h"

#include <math.h>
#include <string.h>

#define MOST_LISTED 5

static bool is_hex(const char *s)
{
	return s[strspn(s, "0123456789abcdef")] == '\0';
}

/* Up to MOST_LISTED keys that begin with the word; *ret is how many there are, or one more. */
static int candidates(const struct hn_snapshot *s, const char *word, char key[65],
		      struct hn_buf *list, uint32_t *ret, struct hn_err *err)
{
	uint32_t i, n = 0;
	int rc = hn_snapshot_lower(s, word, &i, err);

	for (; rc == 0 && i < hn_snapshot_count(s) && n <= MOST_LISTED; i++) {
		struct hn_snapshot_entry e;

		rc = hn_snapshot_get(s, i, &e, err);
		if (rc != 0 || strncmp(e.workload.key, word, strlen(word)) != 0) {
			break;
		}
		if (strlen(e.workload.key) > 64 || (n > 0 && strcmp(e.workload.key, key) == 0)) {
			continue; /* a key's targets are neighbours */
		}
		strcpy(key, e.workload.key);
		if (n++ < MOST_LISTED) {
			hn_buf_printf(list, "%s%.16s (%.40s)", n > 1 ? ", " : "", key,
				      e.workload.name);
		}
	}
	*ret = n;
	return rc;
}

int hn_nearest_key(const struct hn_snapshot *s, const char *word, char key[65],
		   struct hn_err *err)
{
	size_t length = strlen(word);
	struct hn_buf list;
	uint32_t n = 0;
	int rc;

	if (length == 64 && is_hex(word)) {
		strcpy(key, word);
		return 0;
	}
	if (length < HN_PREFIX_LEAST || length > 64 || !is_hex(word)) {
		return hn_fail(err, HONE_E_INVALID,
			       "key: \"%.64s\" is not the beginning of one: at least %d digits "
			       "from 0 to f",
			       word, HN_PREFIX_LEAST);
	}
	hn_buf_init(&list);
	rc = candidates(s, word, key, &list, &n, err);
	if (rc == 0 && n == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND,
			     "key: none begins with %s; `hone ls` lists what is stored", word);
	} else if (rc == 0 && n > 1) {
		rc = hn_fail(err, HONE_E_INVALID, "key: %s is ambiguous: %s%s", word, list.s,
			     n > MOST_LISTED ? ", ..." : "");
	}
	hn_buf_fini(&list);
	return rc;
}

_Static_assert(HN_N_NUMBER <= 64, "a bit for each");

const char *hn_nearest_name(uint32_t i)
{
	return i < HN_N_PARAM ? hn_param_name((enum hn_param)i)
			      : hn_target_feature_name(i - HN_N_PARAM);
}

int64_t hn_nearest_number(const struct hn_target *t, uint32_t i)
{
	return i < HN_N_PARAM ? t->param[i] : t->features >> (i - HN_N_PARAM) & 1;
}

/* Below 0: what runs best there says nothing of here. */
static double distance(const struct hn_target *have, const struct hn_target *asked,
		       uint64_t *ret_differs)
{
	double sum = 0;

	if (strcmp(have->kind, asked->kind) != 0 || strcmp(have->isa, asked->isa) != 0 ||
	    !hn_target_runs_on(have, asked)) {
		return -1;
	}
	*ret_differs = 0;
	for (uint32_t i = 0; i < HN_N_NUMBER; i++) {
		double x = (double)hn_nearest_number(have, i);
		double y = (double)hn_nearest_number(asked, i);

		if (x != y) {
			*ret_differs |= UINT64_C(1) << i;
			sum += i < HN_N_PARAM ? fabs(log2(fmax(x, 1) / fmax(y, 1))) : 1;
		}
	}
	return sum;
}

bool hn_nearest_serves(const char *line, const struct hn_target *asked, struct hn_arena *a)
{
	struct hn_target have;
	uint64_t differs;

	return hn_target_parse_on(asked, line, a, &have, NULL) == 0 && distance(&have, asked, &differs) >= 0;
}

static int missing(const struct hn_snapshot *s, const char *key, const char *asked_for,
		   const char *others, bool unproved, struct hn_err *err)
{
	if (unproved) {
		return hn_fail(err, HONE_E_NOT_FOUND,
			       "workload %.12s: its best record has no certificate of legality; "
			       "stop honed and run `hone verify`",
			       key);
	}
	if (*others != '\0') {
		return hn_fail(err, HONE_E_NOT_FOUND,
			       "workload %.12s: tuned for %s, not for %s; name one with --target",
			       key, others, asked_for);
	}
	return hn_fail(err, HONE_E_NOT_FOUND,
		       hn_snapshot_count(s) == 0
			      ? "workload %.12s: not tuned yet; nothing is"
			      : "workload %.12s: not tuned yet; `hone ls` lists what is",
		       key);
}

/* What a target that is too far away is made of joins the list, once. */
static void add_other(struct hn_buf *others, const struct hn_target *have)
{
	struct hn_buf isa;

	hn_buf_init(&isa);
	hn_target_print_isa(have, &isa);
	if (strstr(others->s, isa.s) == NULL) {
		hn_buf_printf(others, "%s%s", others->n > 0 ? ", " : "", isa.s);
	}
	hn_buf_fini(&isa);
}

static int find_near(const struct hn_snapshot *s, const char *key,
		     const struct hn_target *asked, struct hn_arena *a, struct hn_nearest *ret,
		     struct hn_err *err)
{
	struct hn_buf others, asked_for;
	double least = INFINITY;
	bool unproved = false;
	uint32_t i, n;
	int rc = hn_snapshot_range(s, key, &i, &n, err);

	hn_buf_init(&others);
	hn_buf_init(&asked_for);
	hn_buf_puts(&others, "");
	for (n += i; rc == 0 && i < n; i++) {
		struct hn_snapshot_entry e;
		struct hn_target have;
		uint64_t differs = 0;
		double d;

		rc = hn_snapshot_get(s, i, &e, err);
		if (rc != 0) {
			break;
		}
		unproved |= e.best.median_ns > 0 && *e.best.certificate == '\0';
		if (*e.best.certificate == '\0' ||
		    hn_target_parse_on(asked, e.best.target, a, &have, NULL) != 0) {
			continue;
		}
		d = distance(&have, asked, &differs);
		if (d < 0) {
			add_other(&others, &have);
		} else if (d < least) {
			least = d;
			*ret = (struct hn_nearest){
				.entry = e, .differs = differs, .have = have
			};
		}
	}
	if (rc == 0 && isinf(least)) {
		hn_target_print_isa(asked, &asked_for);
		rc = missing(s, key, asked_for.s, others.s, unproved, err);
	}
	hn_buf_fini(&asked_for);
	hn_buf_fini(&others);
	return rc;
}

/* What there is for that very target while nothing is measured. */
static bool find_automatic(const struct hn_snapshot *s, const char *key, const char *line,
			   struct hn_snapshot_entry *ret)
{
	uint32_t i, n;
	bool sound = hn_snapshot_range(s, key, &i, &n, NULL) == 0;

	for (n += i; sound && i < n; i++) {
		struct hn_snapshot_entry e;

		sound = hn_snapshot_get(s, i, &e, NULL) == 0;
		if (sound && e.best.median_ns == 0 && strcmp(e.best.target, line) == 0) {
			*ret = e;
			return true;
		}
	}
	return false;
}

int hn_nearest_find(const struct hn_snapshot *s, const char *key, const struct hn_target *target,
		    const char *line, struct hn_arena *a, struct hn_nearest *ret,
		    struct hn_err *err)
{
	int rc;

	*ret = (struct hn_nearest){ .match = HN_MATCH_EXACT, .have = *target };
	rc = hn_snapshot_find(s, key, line, &ret->entry, err);
	if (rc != -HONE_E_NOT_FOUND) {
		return rc;
	}
	rc = find_near(s, key, target, a, ret, err);
	if (rc == 0) {
		ret->match = ret->differs >> HN_N_PARAM == 0 ? HN_MATCH_CLASS : HN_MATCH_NEAREST;
	} else if (rc == -HONE_E_NOT_FOUND && find_automatic(s, key, line, &ret->entry)) {
		ret->match = HN_MATCH_AUTOMATIC;
		ret->differs = 0;
		ret->have = *target;
		rc = 0;
	}
	return rc;
}

void hn_nearest_print(const struct hn_nearest *n, const struct hn_target *asked, struct hn_buf *b)
{
	const char *sep = "";

	for (uint32_t i = 0; i < HN_N_NUMBER; i++) {
		if (n->differs >> i & 1) {
			hn_buf_printf(b, "%s%s %lld, here %lld", sep, hn_nearest_name(i),
				      (long long)hn_nearest_number(&n->have, i),
				      (long long)hn_nearest_number(asked, i));
			sep = "; ";
		}
	}
}
