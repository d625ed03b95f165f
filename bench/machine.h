/* bench/machine.h -- a machine that is arithmetic: how long it takes for a program, without
 * compiling or running it.  What the curves of searches are taken on (bench/curves.c).
 *
 * It is not the analytic cost model in other words.  It runs a loop tree, as far as addresses go,
 * for a few thousand points of each statement: through registers, two small caches with sets and
 * ways and least-recently-used lines, and memory; and multiplies by how often that is run.  Beside
 * that it counts what a loop's turn costs, lanes that do nothing, cores that wait, and the
 * start of a parallel loop.  Every program then takes up to a tenth more or less, by its
 * fingerprint and a seed, which nobody can predict, and every measurement up to a fiftieth more.
 *
 * (measure/drv/fake.c, the fake board, answers by a hash of the history, from which no model
 * could learn: it is for what goes wrong with boards.)
 */
#ifndef HN_BENCH_MACHINE_H
#define HN_BENCH_MACHINE_H

#include "loopstate/nest/looptree.h"
#include "target/target.h"

/* ns; `visit` names the measurement.  Same arguments, same bits.  Scratch in the arena. */
double hn_machine_ns(const struct hn_looptree *t, const struct hn_target *target,
		     uint64_t seed, uint64_t visit, struct hn_arena *a);

#endif
