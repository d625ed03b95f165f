/* lower/npu/sized_pick.c -- which length of a tile is taken for how many rows of a core.
 *
 * Longer tiles for more rows: so what is to be found are the ends of the lengths' ranges.  Numbers of
 * rows are looked at, all small ones and fewer and fewer of the large; the ends are those that lose the
 * least, in sum, against the best length for each number by itself.  Lengths that are best nowhere
 * have no code.
 */
#include <math.h>

#include "base/arith.h"
#include "lower/npu/sized.h"

#define ALL_UP_TO 64	/* numbers of rows */
#define SAMPLES 700
#define A_LENGTH 0.05	/* of a number's time: what one more length has to save, in sum */

static double cycles(const struct sized_tile *t, int64_t rows)
{
	int64_t tiles = hn_ceildiv(rows, t->rows), turns = hn_ceildiv(tiles, t->slots);

	if (rows < t->rows) {
		return HUGE_VAL;
	}
	return tiles == 1 && t->slots > 1 ? t->alone : t->first + (double)(turns - 1) * t->next;
}

static uint32_t samples(const struct sized *s, int64_t *ret)
{
	uint32_t n = 0;

	for (int64_t rows = 1; rows < s->most_rows && n + 1 < SAMPLES;
	     rows += rows < ALL_UP_TO ? 1 : rows / ALL_UP_TO) {
		ret[n++] = rows;
	}
	ret[n++] = s->most_rows;
	return n;
}

void sized_pick(struct sized *s)
{
	int64_t *rows = HN_NEW_ARRAY(s->a, int64_t, SAMPLES);
	uint32_t n = samples(s, rows), at = s->n_tile - 1;
	/* loss[k * n + i]: the least of the first i + 1 numbers, the last of which takes length k */
	double *loss = HN_NEW_ARRAY(s->a, double, (size_t)n * s->n_tile), least = HUGE_VAL;
	uint32_t *from = HN_NEW_ARRAY(s->a, uint32_t, (size_t)n * s->n_tile);

	for (uint32_t i = 0; i < n; i++) {
		double best = HUGE_VAL;

		for (uint32_t k = 0; k < s->n_tile; k++) {
			best = fmin(best, cycles(&s->tile[k], rows[i]));
		}
		for (uint32_t k = 0; k < s->n_tile; k++) {
			double own = cycles(&s->tile[k], rows[i]) / best - 1, before = i == 0 ? 0 : HUGE_VAL;

			for (uint32_t j = 0; j <= k && i > 0; j++) {
				double l = loss[j * n + i - 1] + (j == k ? 0 : A_LENGTH);

				if (l < before) {
					before = l;
					from[k * n + i] = j;
				}
			}
			loss[k * n + i] = own + before;
		}
	}
	for (uint32_t k = 0; k < s->n_tile; k++) {
		if (loss[k * n + n - 1] < least) {
			least = loss[k * n + n - 1];
			at = k;
		}
	}
	for (uint32_t i = n; i-- > 0;) {
		struct sized_tile *t = &s->tile[at];

		t->to = t->to == 0 ? (i + 1 < n ? rows[i + 1] : INT64_MAX) : t->to;
		t->from = rows[i];
		at = from[at * n + i];
	}
}

double sized_cycles(const struct sized *s, int64_t rows)
{
	double least = HUGE_VAL;

	for (uint32_t k = 0; k < s->n_tile; k++) {
		const struct sized_tile *t = &s->tile[k];

		if (rows >= t->from && rows < t->to) {
			least = fmin(least, cycles(t, rows));
		}
	}
	return least;
}
