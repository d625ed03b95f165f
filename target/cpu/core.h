/* target/cpu/core.h -- a core as those see it who choose or judge blocks of results that are held
 * in registers: how many fit, and how many cycles one iteration of their reduction takes.
 *
 * Four ask: the code generator's plan (tile.c), the sketch of contractions
 * (sketch/heuristic/contraction.c), the draw of a register tile (sketch/fill/tile.c) and the
 * analytic cost model (costmodel/compute.c).  Sketches leave a block that the plan then takes; the
 * cost model guesses at the plan without making it.  What each adds for its loops' ends is there.
 *
 * What a core differs in is in the target's line (target/params.def).  What the cores of today
 * have in common is here: the line is the key of a store, and another word in it would part all
 * records from their machine.
 */
#ifndef HN_TARGET_CPU_CORE_H
#define HN_TARGET_CPU_CORE_H

#include "target/target.h"

/* Vector loads that hit the first cache, and instructions issued, a cycle: Haswell (2013), Zen
 * (2017), Neoverse N1 (2019) and what came after them; A. Fog, "The microarchitecture of Intel,
 * AMD and VIA CPUs". */
#define HN_CORE_LOADS 2.0
#define HN_CORE_PANEL_LOADS 1.5 /* of packed panels: 28 rows by a vector ran at 0.7 of the peak */
#define HN_CORE_TERM_LOADS 1.0 /* of the factors of an instruction that makes several terms at once:
				* a broadcast is a load of its own.  Of 512 bits, on a Zen 4, 30
				* rows by a vector ran at 0.7 of the peak, 12 by two at 0.97 */
#define HN_CORE_ISSUE 4.0

/* Iterations of a reduction that pay for loading and storing its accumulators. */
#define HN_CORE_ENOUGH_TRIPS 16

/* A reduction's body is unrolled to at most so many points, twice as many where the history says
 * `unroll`. */
#define HN_CORE_UNROLLED 48

/* What the readers count differently.  One number for all would draw other programs, or plan other
 * code: it is to be changed with new measurements only.
 *
 *                    plan    sketch  model
 *   loads a cycle    2.0     1.5     2.0    the sketch's operands are panels from the second cache;
 *                                           1.0 for all three where an instruction makes the terms
 *   cycles a loop    0.5     0.5     1.5    the model's loops include addresses and counters: it
 *                                           also judges nests that the plan does not tile
 *   unrolled points  48, 96  -       96     the model does not ask for `unroll`
 *   vectors kept     operands               the plan and the sketch know them; the model takes one
 *                                           where it looks for the loop, and counts them in blocks
 */
#define HN_CORE_LOOP_CYCLES 0.5
#define HN_CORE_LOOP_CYCLES_MODEL 1.5
#define HN_CORE_UNROLLED_MODEL (2.0 * HN_CORE_UNROLLED)

struct hn_core {
	int64_t registers;     /* of vectors */
	int64_t fma_per_cycle; /* vector FMAs started a cycle */
	int64_t fma_latency;   /* cycles until a result may be used */
};

static inline struct hn_core hn_core_of(const struct hn_target *t)
{
	int64_t registers = t->param[HN_PARAM_VECTOR_REGISTERS];

	return (struct hn_core){ .registers = registers < 8 ? 8 : registers,
				 .fma_per_cycle = t->param[HN_PARAM_FMA_PER_CYCLE],
				 .fma_latency = t->param[HN_PARAM_FMA_LATENCY] };
}

/* Results that fit beside `operands` vectors; one more register is for what is broadcast. */
static inline int64_t hn_core_results(const struct hn_core *c, int64_t operands)
{
	return c->registers - 1 - operands;
}

/* Cycles of a body without its loop: `arith` FMAs or the like, each on a result of its own, and
 * `loads`, of which so many a cycle come in. */
static inline double hn_core_cycles(const struct hn_core *c, double arith, double loads,
				    double loads_per_cycle)
{
	double cycles = arith / (double)c->fma_per_cycle, in = loads / loads_per_cycle;
	double issued = (arith + loads + 1) / HN_CORE_ISSUE, chain = (double)c->fma_latency;

	cycles = cycles > in ? cycles : in;
	cycles = cycles > issued ? cycles : issued;
	return cycles > chain ? cycles : chain;
}

#endif
