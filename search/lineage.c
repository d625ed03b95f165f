/* search/lineage.c -- the origin of a candidate, in a few words that are copied with it.
 *
 * A measured program is remembered as the beginning of its line (search/evolve.c), so a new line
 * begins at each of them. Programs between two measured ones are named only by the changes.
 */
#include "search/search_int.h"

/* Records are found by the hashes of their histories, not of their programs. */
static uint64_t beginning(const struct hn_indiv *x)
{
	return x->lineage.parent[0] ? x->lineage.parent[0]
				    : hn_trace_hash(x->features.trace);
}

struct hn_lineage hn_lineage_from(const struct hn_indiv *x)
{
	struct hn_lineage l = x->lineage;

	l.parent[0] = beginning(x);
	return l;
}

void hn_lineage_add(struct hn_lineage *l, const char *change)
{
	if (l->n < HN_LINEAGE_CHANGES) {
		l->change[l->n] = change;
	}
	l->n++;
}

void hn_lineage_mate(struct hn_lineage *l, const struct hn_indiv *other)
{
	l->parent[1] = beginning(other);
}

void hn_lineage_write(const struct hn_lineage *l, struct hn_buf *buf)
{
	for (uint32_t i = 0; i < l->n && i < HN_LINEAGE_CHANGES; i++) {
		hn_buf_puts(buf, i > 0 ? " " : "");
		hn_buf_puts(buf, l->change[i]);
	}
	if (l->n > HN_LINEAGE_CHANGES) {
		hn_buf_printf(buf, " +%u", l->n - HN_LINEAGE_CHANGES);
	}
}
