/* loopstate/fingerprint.h -- whether two histories make the same program.
 *
 * Many histories differ in what nothing reads: a loop that runs once, an unroll limit that its
 * loop does not reach, the name and the number of a loop.  The fingerprint is a hash of a loop
 * tree without all that, so that a search can tell them before they are built:
 * `full/all_fingerprint` compiles programs of one fingerprint and finds one machine code.
 * The converse is not promised: different trees may compile to the same code.
 */
#ifndef HN_LOOPSTATE_FINGERPRINT_H
#define HN_LOOPSTATE_FINGERPRINT_H

#include "loopstate/looptree.h"

/* Equal for trees that are equal but for loops of one iteration, names and numbers of loops,
 * and unroll limits that do not cover their loop.  64 bits; stable within a version only.
 * Pure; one number a loop in the arena. */
uint64_t hn_fingerprint(const struct hn_looptree *t, struct hn_arena *a);

#endif
