/* db/snapshot/snapshot_find.c -- searching best.snapshot, where what is read of it is sound. */
#include <string.h>

#include "db/snapshot/snapshot_int.h"

int hn_snapshot_get(const struct hn_snapshot *s, uint32_t i, struct hn_snapshot_entry *ret,
		    struct hn_err *err)
{
	struct hn_snapshot_entry e = {0};
	const char *at, *numbers;
	int rc;

	hn_assert(i < s->n_entry);
	rc = hn_snapshot_check_entry(s, i, err);
	if (rc != 0) {
		return rc;
	}
	at = hn_snapshot_entry(s, i);
	numbers = at + HN_SNAPSHOT_AT_NUMBERS;
#define TEXT(field)                                                                      \
	e.field = s->map + hn_snapshot_u32(at);                                                    \
	at += HN_SNAPSHOT_TEXT_BYTES;
	HN_SNAPSHOT_TEXTS(TEXT)
#undef TEXT
	e.best.workload = e.workload.key;
	e.best.origin = e.best.descent.changes = e.best.descent.model = "";
	e.workload.flops = hn_snapshot_double(numbers);
	e.best.median_ns = hn_snapshot_double(numbers + 8);
	e.best.verdict = HN_VERDICT_OK;
	e.best.proved = e.best.median_ns > 0;
	e.naive.ns = hn_snapshot_double(numbers + 16);
	e.best.id = (int64_t)hn_snapshot_u64(numbers + 24);
	e.best.build_ns = (int64_t)hn_snapshot_u64(numbers + 32);
	e.best.run_ns = (int64_t)hn_snapshot_u64(numbers + 40);
	e.best.unix_ms = (int64_t)hn_snapshot_u64(numbers + 48);
	e.n_trial = hn_snapshot_u32(numbers + 56);
	e.n_failed = hn_snapshot_u32(numbers + 60);
	e.best.in_doubt = hn_snapshot_u32(numbers + 64) != 0;
	e.naive.share = hn_snapshot_u32(numbers + 68) / HN_SNAPSHOT_SHARE;
	*ret = e;
	return 0;
}

void hn_snapshot_at(const struct hn_snapshot *s, uint32_t i, struct hn_snapshot_entry *ret)
{
	int rc = hn_snapshot_get(s, i, ret, NULL);

	hn_assert(rc == 0);
}

int hn_snapshot_lower(const struct hn_snapshot *s, const char *word, uint32_t *ret,
		      struct hn_err *err)
{
	uint32_t from = 0, to = s->n_entry;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		int rc = hn_snapshot_check_entry(s, middle, err);

		if (rc != 0) {
			return rc;
		}
		if (strcmp(hn_snapshot_text(s, middle, HN_SNAPSHOT_KEY), word) < 0) {
			from = middle + 1;
		} else {
			to = middle;
		}
	}
	*ret = from;
	return 0;
}

/* Where nothing is in a cache a search is the sum of its misses, one after the other.  These are of
 * what comes next whatever is found. */
static void ask_for(const struct hn_snapshot *s, uint32_t i)
{
	const char *entry = hn_snapshot_entry(s, i);

	__builtin_prefetch((const void *)&s->sound[i / 32]);
	for (size_t at = 0; at < HN_SNAPSHOT_ENTRY_BYTES; at += 64) {
		__builtin_prefetch(entry + at);
	}
}

/* The first entry of the key; n_entry when there is none. */
static int find_first(const struct hn_snapshot *s, const char *workload, uint32_t *ret,
		      struct hn_err *err)
{
	uint64_t h = hn_snapshot_hash(workload);

	*ret = s->n_entry;
	for (uint32_t probe = 0; probe < s->n_slot; probe++) {
		uint64_t slot = (h + probe) & (s->n_slot - 1);
		uint32_t number = hn_snapshot_u32(s->slot + slot * HN_SNAPSHOT_SLOT_BYTES);
		int rc;

		if (number == 0) {
			return 0;
		}
		ask_for(s, number - 1);
		rc = hn_snapshot_check_entry(s, number - 1, err);
		if (rc == 0) {
			for (size_t at = 0; at < 512; at += 64) { /* about as long as lines are */
				__builtin_prefetch(
					hn_snapshot_text(s, number - 1, HN_SNAPSHOT_TARGET) + at);
			}
		}
		if (rc != 0) {
			return rc;
		}
		if (strcmp(hn_snapshot_text(s, number - 1, HN_SNAPSHOT_KEY), workload) == 0) {
			*ret = number - 1;
			return 0;
		}
	}
	return 0;
}

int hn_snapshot_range(const struct hn_snapshot *s, const char *workload, uint32_t *ret_first,
		      uint32_t *ret_n, struct hn_err *err)
{
	uint32_t i;
	int rc = find_first(s, workload, ret_first, err);

	for (i = *ret_first; rc == 0 && i < s->n_entry; i++) {
		rc = hn_snapshot_check_entry(s, i, err);
		if (rc == 0 && strcmp(hn_snapshot_text(s, i, HN_SNAPSHOT_KEY), workload) != 0) {
			break;
		}
	}
	*ret_n = rc == 0 ? i - *ret_first : 0;
	return rc;
}

static int no_certificate(const char *workload, struct hn_err *err)
{
	return hn_fail(err, HONE_E_NOT_FOUND,
		       "workload %.16s: its best record has no certificate of legality; stop honed "
		       "and run `hone verify`",
		       workload);
}

int hn_snapshot_find(const struct hn_snapshot *s, const char *workload,
		     const char *target, struct hn_snapshot_entry *ret,
		     struct hn_err *err)
{
	uint32_t i;
	int rc = find_first(s, workload, &i, err);

	for (; rc == 0 && i < s->n_entry; i++) {
		rc = hn_snapshot_check_entry(s, i, err);
		if (rc != 0 || strcmp(hn_snapshot_text(s, i, HN_SNAPSHOT_KEY), workload) != 0) {
			break;
		}
		if (strcmp(hn_snapshot_text(s, i, HN_SNAPSHOT_TARGET), target) == 0) {
			rc = hn_snapshot_get(s, i, ret, err);
			if (rc != 0 || ret->best.median_ns == 0) {
				break;
			}
			return *ret->best.certificate == '\0' ? no_certificate(workload, err) : 0;
		}
	}
	return rc != 0 ? rc
		       : hn_fail(err, HONE_E_NOT_FOUND,
				 "workload %.16s was not tuned for this target", workload);
}
