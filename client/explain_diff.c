/* client/explain_diff.c -- the differences between two histories, in sentences.
 *
 * Sentences name loops and tensors, not numbers of stages. So one more step leaves the others
 * equal. The longest common subsequence is unchanged. A removed step and an added step count as
 * one changed step if at least half of the sentence is equal from its beginning.
 */
#include <string.h>

#include "client/explain.h"

#define MOST_CELLS (1 << 20) /* of the table; longer histories are told less well */

struct diff {
	const struct hn_sentences *from, *to;
	struct hn_arena *a;
	bool *kept_from, *kept_to; /* [n] part of what is common */
	bool *gone;		   /* [from->n] told already */
	const char **out;
	uint32_t n;
};

static bool same(const struct diff *d, uint32_t i, uint32_t k)
{
	return strcmp(d->from->text[i], d->to->text[k]) == 0;
}

/* The common subsequence of [from, from + m) and [to, to + k). */
static void common(struct diff *d, uint32_t from, uint32_t m, uint32_t to, uint32_t k)
{
	if ((uint64_t)(m + 1) * (k + 1) > MOST_CELLS) {
		return;
	}
	uint32_t w = k + 1;
	uint16_t *len = HN_NEW_ARRAY(d->a, uint16_t, (size_t)(m + 1) * w);

	for (uint32_t i = m; i-- > 0;) {
		for (uint32_t j = k; j-- > 0;) {
			uint16_t down = len[(i + 1) * w + j], right = len[i * w + j + 1];

			len[i * w + j] = same(d, from + i, to + j)
						 ? (uint16_t)(len[(i + 1) * w + j + 1] + 1)
					 : down > right ? down
							: right;
		}
	}
	for (uint32_t i = 0, j = 0; i < m && j < k;) {
		if (same(d, from + i, to + j)) {
			d->kept_from[from + i++] = d->kept_to[to + j++] = true;
		} else if (len[(i + 1) * w + j] >= len[i * w + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
}

static size_t common_start(const char *x, const char *y)
{
	size_t n = 0;

	while (x[n] != '\0' && x[n] == y[n]) {
		n++;
	}
	return n;
}

/* The sentence that went and is most like this new one; from->n when none is. */
static uint32_t like(const struct diff *d, const char *text)
{
	uint32_t best = d->from->n;
	size_t most = strlen(text) / 2;

	for (uint32_t i = 0; i < d->from->n; i++) {
		size_t n = common_start(d->from->text[i], text);

		if (!d->kept_from[i] && !d->gone[i] && n > most &&
		    n > strlen(d->from->text[i]) / 2) {
			most = n;
			best = i;
		}
	}
	return best;
}

/* "the rest x [16 x 4 -> 8 x 8]": what is common at both ends, in whole words, once. */
static const char *changed(const char *from, const char *to, struct hn_arena *a)
{
	size_t head = common_start(from, to), tail = 0;
	size_t m = strlen(from), n = strlen(to);

	while (head > 0 && from[head - 1] != ' ') {
		head--;
	}
	for (size_t k = 1; k <= m - head && k <= n - head && from[m - k] == to[n - k]; k++) {
		tail = from[m - k] == ' ' ? k : tail;
	}
	return hn_arena_printf(a, "%.*s[%.*s -> %.*s]%s", (int)head, from,
			       (int)(m - head - tail), from + head, (int)(n - head - tail),
			       to + head, to + n - tail);
}

static void tell(struct diff *d)
{
	for (uint32_t k = 0; k < d->to->n; k++) {
		const char *text = d->to->text[k];

		if (!d->kept_to[k]) {
			uint32_t i = like(d, text);

			if (i < d->from->n) {
				d->gone[i] = true;
				d->out[d->n++] = changed(d->from->text[i], text, d->a);
			} else {
				d->out[d->n++] = hn_arena_printf(d->a, "+ %s", text);
			}
		}
	}
	for (uint32_t i = 0; i < d->from->n; i++) {
		if (!d->kept_from[i] && !d->gone[i]) {
			d->out[d->n++] = hn_arena_printf(d->a, "- %s", d->from->text[i]);
		}
	}
}

struct hn_sentences hn_explain_diff(const struct hn_sentences *from,
				    const struct hn_sentences *to, struct hn_arena *a)
{
	struct diff d = { .from = from,
			  .to = to,
			  .a = a,
			  .kept_from = HN_NEW_ARRAY(a, bool, from->n),
			  .kept_to = HN_NEW_ARRAY(a, bool, to->n),
			  .gone = HN_NEW_ARRAY(a, bool, from->n),
			  .out = HN_NEW_ARRAY(a, const char *, from->n + to->n) };
	uint32_t head = 0, m = from->n, n = to->n;

	while (head < m && head < n && same(&d, head, head)) {
		d.kept_from[head] = d.kept_to[head] = true;
		head++;
	}
	while (m > head && n > head && same(&d, m - 1, n - 1)) {
		d.kept_from[--m] = d.kept_to[--n] = true;
	}
	common(&d, head, m - head, head, n - head);
	tell(&d);
	return (struct hn_sentences){ d.n, d.out };
}
