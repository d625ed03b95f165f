/* target/cpu/fingerprint.h -- whether two histories make the same program, or the same code.
 *
 * Many histories differ in what nothing reads: a loop that runs once, an unroll limit that its
 * loop does not reach, the name and the number of a loop.  The fingerprint is a hash of a loop
 * tree without all that.  And many loop trees are one to the code generator: where a loop stands
 * whose points are all in the register tile, what a history hints that the tile does not follow,
 * what a loop fetches that is not made.  Given the target, nests are hashed by their tiles
 * (target/cpu/tile.h), so that a search can tell these too before they are built:
 * `full/all_fingerprint` compiles programs of one fingerprint and finds one machine code.
 * The converse is not promised: different trees may compile to the same code.
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
