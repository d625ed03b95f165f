/* bench/contest.h -- one case of the suite, ready to be run by anybody.
 *
 * Sources of contenders take the same buffers: hone's own kernel (contest_hone.c), the
 * machine's limits (limit.h), and libraries (peer/), which are rows of peers.def
 * where CMake found them.
 */
#ifndef HN_BENCH_CONTEST_H
#define HN_BENCH_CONTEST_H

#include <sched.h>

#include "bench/race.h"
#include "bench/suite.h"
#include "loopstate/dag/dag.h"
#include "measure/board/pool.h"

struct hn_contest {
	const struct hn_suite_row *row;
	const struct hn_dag *dag;
	void **arg; /* the dag's arguments, outputs last */
	int32_t n_threads;
	uint32_t how; /* enum hn_race_how, of races among hone's own */
	struct hone_pool *pool; /* of n_threads */
	cpu_set_t cores; /* the caller's, while the pool is there */
	uint32_t n;
	struct hn_contender contender[HN_RACE_MAX_CONTENDER];
};

/* Arguments of t->dag, page-aligned and filled as a board fills those that it times
 * (measure/board/inputs.h); the list is in `a`. */
void hn_contest_arguments(struct hn_contest *t, struct hn_arena *a);
void hn_contest_drop_arguments(struct hn_contest *t);

/* A pool of t->n_threads.  Pools, hone's and OpenMP's, pin this thread, and whatever is started
 * next would inherit that: dropping it gives the cores back. */
int hn_contest_pool(struct hn_contest *t, struct hn_err *err) HN_NODISCARD;
void hn_contest_drop_pool(struct hn_contest *t);

/* Close all contenders. */
void hn_contest_close(struct hn_contest *t);

/* Type, elements and bytes of argument i; bytes of all arguments. */
enum hn_dtype hn_contest_type(const struct hn_contest *t, uint32_t i);
int64_t hn_contest_elements(const struct hn_contest *t, uint32_t i);
size_t hn_contest_arg_bytes(const struct hn_contest *t, uint32_t i);
size_t hn_contest_bytes(const struct hn_contest *t);

/* The next free place, with the arguments as its ranges. */
struct hn_contender *hn_contest_add(struct hn_contest *t, const char *name);

/* Add what the library has for this case; nothing when it has nothing. */
typedef void (*hn_peer_fn)(struct hn_contest *t);

/* Called before anything else with the program's own argument vector; it may start the
 * program anew, when a library reads its environment only while it is loaded. */
typedef void (*hn_peer_prepare_fn)(char **argv);

/* NULL where CMake did not find the library, and so did not build the file (and _prepare
 * where nothing has to be prepared). */
#define PEER(name)                                                                       \
	__attribute__((weak)) void hn_peer_##name(struct hn_contest *t);                 \
	__attribute__((weak)) void hn_peer_##name##_prepare(char **argv);
#include "bench/peers.def"
#undef PEER

/* hone's kernel from steps in record form, as the next contender; the name is borrowed. 0,
 * or an error in one line. */
struct hn_emitter;
int hn_contest_hone(struct hn_contest *t, struct hn_emitter *emitter, const char *name,
		    const char *steps, struct hn_err *err) HN_NODISCARD;

/* The same for a dag with size parameters, of which t->dag is the instance for these sizes
 * (borrowed). */
int hn_contest_sized(struct hn_contest *t, struct hn_emitter *emitter, const char *name,
		     const struct hn_dag *dag, const int64_t *sizes, const char *steps,
		     struct hn_err *err) HN_NODISCARD;

#endif
