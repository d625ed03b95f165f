/* graph/library/weights.c -- see weights.h. */
#include "graph/library/weights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

#define MOST_BYTES ((uint64_t)1 << 50)
#define CHUNK 65536 /* of a fill, a multiple of its pattern */

struct planner {
	struct hn_weights_entry *entry; /* [n] */
	uint32_t n_entry;
	uint32_t *slot;	 /* [n_slot] entry number plus 1; 0: free */
	uint32_t n_slot; /* a power of two */
	uint64_t *hash;	 /* [n] of each entry */
};

static bool is_unit(uint32_t unit)
{
	return unit == 1 || unit == 2 || unit == 4 || unit == 8;
}

/* Eight bytes of elements like this one, as they lie in memory. */
static uint64_t repeated(const void *element, uint32_t unit)
{
	unsigned char bytes[8];
	uint64_t ret;

	for (uint32_t i = 0; i < 8; i++) {
		bytes[i] = ((const unsigned char *)element)[i % unit];
	}
	memcpy(&ret, bytes, 8);
	return ret;
}

/* The weight as an entry; whether it is a fill is found out. */
static struct hn_weights_entry entry_of(const struct hn_weight *w)
{
	struct hn_weights_entry e = { .bytes = w->bytes, .n_bytes = w->n_bytes };
	unsigned char low[8];

	if (w->bytes == NULL) {
		for (uint32_t i = 0; i < 8; i++) {
			low[i] = (unsigned char)(w->element >> (8 * i));
		}
		e.pattern = repeated(low, w->unit);
	} else if (is_unit(w->unit) && w->n_bytes > 0 && w->n_bytes % w->unit == 0 &&
		   memcmp(w->bytes, (const char *)w->bytes + w->unit,
			  w->n_bytes - w->unit) == 0) {
		e.bytes = NULL;
		e.pattern = repeated(w->bytes, w->unit);
	}
	return e;
}

static uint64_t hash_of(const struct hn_weights_entry *e)
{
	return e->bytes == NULL ? hn_hash64_word(e->pattern, 1)
				: hn_hash64(e->bytes, e->n_bytes, e->n_bytes);
}

static bool same(const struct hn_weights_entry *x, const struct hn_weights_entry *y)
{
	if (x->bytes == NULL || y->bytes == NULL) {
		return x->bytes == y->bytes && x->pattern == y->pattern;
	}
	return x->n_bytes == y->n_bytes && memcmp(x->bytes, y->bytes, x->n_bytes) == 0;
}

/* The number of the entry that serves e, a new one if there is none. */
static uint32_t find(struct planner *p, const struct hn_weights_entry *e)
{
	uint64_t hash = hash_of(e);
	uint32_t at = (uint32_t)hash & (p->n_slot - 1);

	for (; p->slot[at] != 0; at = (at + 1) & (p->n_slot - 1)) {
		struct hn_weights_entry *old = &p->entry[p->slot[at] - 1];

		if (p->hash[p->slot[at] - 1] == hash && same(old, e)) {
			old->n_bytes =
				e->n_bytes > old->n_bytes ? e->n_bytes : old->n_bytes;
			return p->slot[at] - 1;
		}
	}
	p->entry[p->n_entry] = *e;
	p->hash[p->n_entry] = hash;
	p->slot[at] = ++p->n_entry;
	return p->n_entry - 1;
}

static int check(const struct hn_weight *w, uint32_t i, struct hn_err *err)
{
	if (w->n_bytes > MOST_BYTES) {
		return hn_fail(err, HONE_E_QUOTA, "weight %u: more than 2^50 bytes", i);
	}
	if (w->bytes == NULL && (!is_unit(w->unit) || w->n_bytes % w->unit != 0)) {
		return hn_fail(err, HONE_E_INVALID,
			       "weight %u: a fill of %llu bytes by elements of %u", i,
			       (unsigned long long)w->n_bytes, w->unit);
	}
	return 0;
}

static uint64_t rounded(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* Of all bytes of the file; never 0. */
static uint64_t stamp_of(const struct planner *p)
{
	uint64_t ret = p->n_entry;

	for (uint32_t i = 0; i < p->n_entry; i++) {
		ret = hn_hash64_word(p->hash[i], ret);
		ret = hn_hash64_word(p->entry[i].n_bytes, ret);
	}
	return ret != 0 ? ret : 1;
}

/* Entries in the order in which they are first used. */
static int lay_out(struct planner *p, struct hn_weights *ret, struct hn_err *err)
{
	uint64_t at = p->n_entry > 0 ? HN_WEIGHTS_HEAD : 0;

	for (uint32_t i = 0; i < p->n_entry; i++) {
		p->entry[i].at = at;
		at += rounded(p->entry[i].n_bytes, HN_WEIGHTS_ALIGN);
		if (at > MOST_BYTES) {
			return hn_fail(err, HONE_E_QUOTA,
				       "weights: more than 2^50 bytes");
		}
	}
	ret->n_bytes = rounded(at, HN_WEIGHTS_PAGE);
	ret->stamp = p->n_entry > 0 ? stamp_of(p) : 0;
	ret->n_entry = p->n_entry;
	ret->entry = p->entry;
	return 0;
}

int hn_weights_plan(const struct hn_weight *weight, uint32_t n, struct hn_arena *a,
		    struct hn_weights *ret, struct hn_err *err)
{
	struct planner p = { .n_slot = 16 };
	struct hn_weights made = { .offset = HN_NEW_ARRAY(a, uint64_t, n) };
	uint32_t *entry = HN_NEW_ARRAY(a, uint32_t, n);

	if (n > HN_WEIGHTS_MAX) {
		return hn_fail(err, HONE_E_QUOTA, "%u weights: at most %u", n,
			       HN_WEIGHTS_MAX);
	}
	while (p.n_slot < 2 * n) {
		p.n_slot *= 2;
	}
	p.slot = HN_NEW_ARRAY(a, uint32_t, p.n_slot);
	p.entry = HN_NEW_ARRAY(a, struct hn_weights_entry, n);
	p.hash = HN_NEW_ARRAY(a, uint64_t, n);
	for (uint32_t i = 0; i < n; i++) {
		int rc = check(&weight[i], i, err);

		if (rc != 0) {
			return rc;
		}
		struct hn_weights_entry e = entry_of(&weight[i]);

		entry[i] = find(&p, &e);
	}
	int rc = lay_out(&p, &made, err);

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		made.offset[i] = p.entry[entry[i]].at;
	}
	if (rc == 0) {
		*ret = made;
	}
	return rc;
}

/* -- the file ------------------------------------------------------------------------- */

static bool put(int fd, const void *bytes, uint64_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, bytes, n < (1u << 30) ? n : 1u << 30);

		if (k < 0 && errno != EINTR) {
			return false;
		}
		bytes = (const char *)bytes + (k > 0 ? k : 0);
		n -= k > 0 ? (uint64_t)k : 0;
	}
	return true;
}

static bool put_fill(int fd, uint64_t pattern, uint64_t n)
{
	char chunk[CHUNK];
	bool good = true;

	for (size_t i = 0; i < sizeof chunk; i += 8) {
		memcpy(chunk + i, &pattern, 8);
	}
	for (; n > 0 && good; n -= n < CHUNK ? n : CHUNK) {
		good = put(fd, chunk, n < CHUNK ? n : CHUNK);
	}
	return good;
}

static bool put_head(const struct hn_weights *w, int fd)
{
	unsigned char head[HN_WEIGHTS_HEAD] = HN_WEIGHTS_WORD;

	for (uint32_t i = 0; i < 8; i++) {
		head[8 + i] = (unsigned char)(w->stamp >> (8 * i));
	}
	return put(fd, head, sizeof head);
}

static bool put_all(const struct hn_weights *w, int fd)
{
	uint64_t at = w->n_entry > 0 ? HN_WEIGHTS_HEAD : 0;

	if (at > 0 && !put_head(w, fd)) {
		return false;
	}
	for (uint32_t i = 0; i < w->n_entry; i++) {
		const struct hn_weights_entry *e = &w->entry[i];

		if (!put_fill(fd, 0, e->at - at) ||
		    !(e->bytes ? put(fd, e->bytes, e->n_bytes)
			       : put_fill(fd, e->pattern, e->n_bytes))) {
			return false;
		}
		at = e->at + e->n_bytes;
	}
	return put_fill(fd, 0, w->n_bytes - at);
}

int hn_weights_write(const struct hn_weights *w, const char *path, bool lasting,
		     struct hn_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool good = fd >= 0 && put_all(w, fd) && (!lasting || fsync(fd) == 0);
	int why = errno;

	if (fd >= 0 && close(fd) != 0 && good) {
		good = false;
		why = errno;
	}
	return good ? 0
		    : hn_fail(err,
			      why == ENOSPC || why == EDQUOT ? HONE_E_DISK_FULL
							     : HONE_E_IO,
			      "%s: %s", path, strerror(why));
}
