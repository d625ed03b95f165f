/* base/typo.h -- the known word that somebody probably meant who wrote an unknown one. */
#ifndef HN_BASE_TYPO_H
#define HN_BASE_TYPO_H

#include <stddef.h>

/* Letters to be put in, left out, changed or swapped with the next, to make b of a. */
unsigned hn_typo_distance(const char *a, const char *b);

/* The one of `known` that `word` is most likely to be: begun and not ended, or few slips away.
 * NULL when none is. */
const char *hn_typo_nearest(const char *word, const char *const *known, size_t n);

#endif
