/* search/screen.h -- draft, then verify: the analytic model judges every program, and the
 * learned model only those that remain.
 *
 * The learned model takes longer for a program than all steps before it. And a program that the
 * analytic model puts last among its kind is hardly ever the best. A program is compared only
 * with programs of its own sketch, because the error of the analytic model differs from sketch
 * to sketch. So no sketch is ruled out as a whole. Source of the idea: Pruner (ASPLOS 2025),
 * draft-then-verify.
 */
#ifndef HN_SEARCH_SCREEN_H
#define HN_SEARCH_SCREEN_H

#include "search/search_int.h"

/* How many programs to draw for each that is to be ranked: 1 as long as the task's model has not
 * learned, since then it is the screen. */
uint32_t hn_screen_share(const struct hn_space *sp);

/* Move the better of each sketch's programs, one in hn_screen_share, rounded up, to the front of
 * x[n]; returns how many they are. */
uint32_t hn_screen(const struct hn_space *sp, struct hn_indiv *x, uint32_t n);

#endif
