/* target/cpu/fingerprint.h -- whether two histories make the same program, or the same code.
 *
 * Many histories differ only in things without effect: a loop that runs once, an unroll limit
 * that its loop does not reach, the name and the number of a loop. The fingerprint is a hash of
 * a loop tree without these.
 *
 * The code generator also makes the same code of many different loop trees. For example, these
 * have no effect: the place of a loop whose points are all in the register tile, a hint that the
 * tile does not follow, and a prefetch that is not made. Given the target, nests are hashed by
 * their tiles (target/cpu/tile.h). So a search can find such trees before they are built.
 * `full/all_fingerprint` compiles programs of one fingerprint and finds one machine code.
 *
 * The converse is not promised: different fingerprints may compile to the same code.
 */
#ifndef HN_TARGET_CPU_FINGERPRINT_H
#define HN_TARGET_CPU_FINGERPRINT_H

#include "loopstate/nest/looptree.h"
#include "target/target.h"

/* target NULL: equal for trees that are equal but for loops of one iteration, names and numbers
 * of loops, and unroll limits that do not cover their loop; a microsecond.  Else equal also for
 * those of which the code generator makes the same for that target; some ten microseconds, most
 * of them for the choice of tiles.  64 bits; stable within a version only.  Pure; some hundred
 * bytes a loop in the arena. */
uint64_t hn_fingerprint(const struct hn_looptree *t, const struct hn_target *target,
			struct hn_arena *a);

#endif
