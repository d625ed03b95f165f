/* db/snapshot/snapshot_write.c -- the bests as bytes. The same entries give the same bytes. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "db/snapshot/snapshot_int.h"

static void put32(struct hn_buf *b, uint32_t v)
{
	v = htole32(v);
	hn_buf_add(b, &v, sizeof(v));
}

static void put64(struct hn_buf *b, uint64_t v)
{
	v = htole64(v);
	hn_buf_add(b, &v, sizeof(v));
}

static void put_double(struct hn_buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put64(b, bits);
}

uint64_t hn_snapshot_hash(const char *workload)
{
	return hn_hash64(workload, strlen(workload), 0);
}

uint64_t hn_snapshot_checksum(const char *file, size_t n)
{
	static const char zero[8];
	uint64_t slots = (uint64_t)hn_snapshot_u32(file + HN_SNAPSHOT_AT_N_SLOT) * HN_SNAPSHOT_SLOT_BYTES;
	uint64_t end = HN_SNAPSHOT_HEADER_BYTES + slots;
	uint64_t notice = hn_snapshot_u32(file + HN_SNAPSHOT_AT_NOTICE);
	uint64_t h = hn_hash64(file, HN_SNAPSHOT_AT_CHECKSUM, 0);

	end = end < n ? end : n; /* whoever forged it */
	notice = notice < n ? notice : n;
	h = hn_hash64(zero, sizeof(zero), h);
	h = hn_hash64(file + HN_SNAPSHOT_AT_CHECKSUM + 8, end - HN_SNAPSHOT_AT_CHECKSUM - 8, h);
	return hn_hash64(file + notice, n - notice, h);
}

uint64_t hn_snapshot_entry_checksum(const char *file, const char *entry)
{
	uint64_t h = hn_hash64(entry, HN_SNAPSHOT_AT_ENTRY_CHECKSUM, 0);

	for (uint32_t t = 0; t < HN_SNAPSHOT_N_TEXT; t++) {
		const char *text = entry + (size_t)t * HN_SNAPSHOT_TEXT_BYTES;

		h = hn_hash64(file + hn_snapshot_u32(text), (size_t)hn_snapshot_u32(text + 4) + 1, h);
	}
	return h;
}

/* By key, then by target: a key's entries are neighbours. */
static int by_pair(const void *a, const void *b)
{
	const struct hn_snapshot_entry *x = *(const struct hn_snapshot_entry *const *)a;
	const struct hn_snapshot_entry *y = *(const struct hn_snapshot_entry *const *)b;
	int order = strcmp(x->workload.key, y->workload.key);

	order = order != 0 ? order : strcmp(x->best.target, y->best.target);
	return order != 0 ? order : (x > y) - (x < y);
}

static void write_slots(const struct hn_snapshot_entry *const *entry, uint32_t n,
			uint32_t n_slot, struct hn_buf *buf)
{
	size_t from = buf->n;
	char *slot;

	for (uint32_t i = 0; i < n_slot; i++) {
		put32(buf, 0);
	}
	for (uint32_t i = 0; i < n && !buf->failed; i++) {
		const char *key = entry[i]->workload.key;
		uint64_t h = hn_snapshot_hash(key);
		uint32_t used, value = htole32(i + 1);

		if (i > 0 && strcmp(entry[i - 1]->workload.key, key) == 0) {
			continue;
		}
		do {
			slot = buf->s + from +
			       (h++ & (n_slot - 1)) * HN_SNAPSHOT_SLOT_BYTES;
			memcpy(&used, slot, sizeof(used));
		} while (used != 0);
		memcpy(slot, &value, sizeof(value));
	}
}

/* The texts follow the entries; *at is where the next one will lie. */
static void write_entry(const struct hn_snapshot_entry *e, uint64_t *at,
			struct hn_buf *buf)
{
#define TEXT(field)                                                                      \
	put32(buf, (uint32_t)*at);                                                       \
	put32(buf, (uint32_t)strlen(e->field ? e->field : ""));                          \
	*at += strlen(e->field ? e->field : "") + 1;
	HN_SNAPSHOT_TEXTS(TEXT)
#undef TEXT
	put_double(buf, e->workload.flops);
	put_double(buf, e->best.median_ns);
	put_double(buf, e->naive.ns);
	put64(buf, (uint64_t)e->best.id);
	put64(buf, (uint64_t)e->best.build_ns);
	put64(buf, (uint64_t)e->best.run_ns);
	put64(buf, (uint64_t)e->best.unix_ms);
	put32(buf, e->n_trial);
	put32(buf, e->n_failed);
	put32(buf, e->best.in_doubt);
	put32(buf, (uint32_t)(fmin(e->naive.share, 1) * HN_SNAPSHOT_SHARE));
	put64(buf, 0);
}

static void write_texts(const struct hn_snapshot_entry *e, struct hn_buf *buf)
{
#define TEXT(field)                                                                      \
	hn_buf_puts(buf, e->field ? e->field : "");                                      \
	hn_buf_putc(buf, '\0');
	HN_SNAPSHOT_TEXTS(TEXT)
#undef TEXT
}

static void set64(char *at, uint64_t v)
{
	v = htole64(v);
	memcpy(at, &v, sizeof(v));
}

static void write_mark(const struct hn_mark *mark, char *file)
{
	set64(file + HN_SNAPSHOT_AT_STORE, mark->store);
	set64(file + HN_SNAPSHOT_AT_COMMIT, (uint64_t)mark->commit);
	set64(file + HN_SNAPSHOT_AT_ANSWERS, hn_mark_answers(mark));
	set64(file + HN_SNAPSHOT_AT_N_RECORD, (uint64_t)mark->of[HN_MARK_record].n_row);
	set64(file + HN_SNAPSHOT_AT_LAST, (uint64_t)mark->of[HN_MARK_record].last);
}

static void write_sorted(const struct hn_snapshot_entry *const *entry, uint32_t n,
			 const struct hn_mark *mark, const char *notice, struct hn_buf *buf)
{
	size_t from = buf->n, bytes, entries;
	uint32_t n_slot = 2;
	uint64_t at;

	while (n_slot < n * (uint64_t)2) {
		n_slot *= 2;
	}
	at = HN_SNAPSHOT_HEADER_BYTES + (uint64_t)n_slot * HN_SNAPSHOT_SLOT_BYTES +
	     (uint64_t)n * HN_SNAPSHOT_ENTRY_BYTES;
	hn_buf_puts(buf, HN_SNAPSHOT_MAGIC);
	put32(buf, HN_SNAPSHOT_VERSION);
	put32(buf, n);
	put64(buf, 0);
	put64(buf, 0);
	put32(buf, n_slot);
	while (buf->n - from < HN_SNAPSHOT_HEADER_BYTES && !buf->failed) {
		put32(buf, 0);
	}
	write_slots(entry, n, n_slot, buf);
	entries = buf->n;
	for (uint32_t i = 0; i < n; i++) {
		write_entry(entry[i], &at, buf);
	}
	for (uint32_t i = 0; i < n; i++) {
		write_texts(entry[i], buf);
	}
	at = buf->n - from;
	hn_buf_puts(buf, notice);
	hn_buf_putc(buf, '\0');
	bytes = buf->n - from;
	if (buf->failed || bytes >= HN_SNAPSHOT_MAX_BYTES) {
		buf->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		char *e = buf->s + entries + (size_t)i * HN_SNAPSHOT_ENTRY_BYTES;

		set64(e + HN_SNAPSHOT_AT_ENTRY_CHECKSUM,
		      hn_snapshot_entry_checksum(buf->s + from, e));
	}
	if (mark) {
		write_mark(mark, buf->s + from);
	}
	set64(buf->s + from + HN_SNAPSHOT_AT_NOTICE, at | (uint64_t)strlen(notice) << 32);
	set64(buf->s + from + HN_SNAPSHOT_AT_BYTES, bytes);
	set64(buf->s + from + HN_SNAPSHOT_AT_CHECKSUM,
	      hn_snapshot_checksum(buf->s + from, bytes));
}

void hn_snapshot_write(const struct hn_snapshot_entry *entry, uint32_t n,
		       const struct hn_mark *mark, const char *notice, struct hn_buf *buf)
{
	const struct hn_snapshot_entry **sorted = calloc((size_t)n + 1, sizeof(*sorted));

	if (sorted == NULL) {
		buf->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = &entry[i];
	}
	qsort(sorted, n, sizeof(*sorted), by_pair);
	write_sorted(sorted, n, mark, notice, buf);
	free(sorted);
}
