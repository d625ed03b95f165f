/* base/typo.c -- see typo.h.  Optimal string alignment, three rows of the table at a time. */
#include "base/typo.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 64 /* no word of ours is longer */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned hn_typo_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[3][LONGEST + 1];

	if (n > LONGEST || m > LONGEST) {
		return UINT32_MAX;
	}
	for (size_t j = 0; j <= m; j++) {
		row[0][j] = (unsigned)j;
	}
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(least(last[j] + 1, now[j - 1] + 1),
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				now[j] = least(now[j], before[j - 2] + 1);
			}
		}
	}
	return row[n % 3][m];
}

const char *hn_typo_nearest(const char *word, const char *const *known, size_t n)
{
	size_t length = strlen(word);
	unsigned best = 1 + (unsigned)(length / 4); /* slips that a word of this length bears */
	const char *nearest = NULL;

	for (size_t i = 0; i < n && length > 1; i++) {
		unsigned d = hn_typo_distance(word, known[i]);

		if (strncmp(known[i], word, length) == 0) {
			d = 0;
		}
		if (d < best + (nearest == NULL) && d < strlen(known[i])) {
			best = d;
			nearest = known[i];
		}
	}
	return nearest;
}
