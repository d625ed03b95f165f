/* measure/board/network.h -- whole compiled networks, run in turn: hone-board --network.
 *
 * A kernel that is faster alone may be slower between other steps, where the caches hold other
 * data.  So networks are timed as they run, all in one process and in turn: each round runs each
 * of them a few times, so that the machine's drift falls on all alike.
 *
 * A network that runs takes each of its kernels from one of several libraries (libmodel.so of
 * `hone compile`, which have the same steps): kernels are tried together in any mixture, and
 * nothing is linked anew.  It runs in a child in the sandbox, on all threads that are asked for.
 * Inputs are numbers in [0, 1), and zeros where they are integers.
 */
#ifndef HN_MEASURE_BOARD_NETWORK_H
#define HN_MEASURE_BOARD_NETWORK_H

#include "base/buf.h"
#include "base/err.h"

#define HN_NETWORK_LIBRARIES 64
#define HN_NETWORK_ROUNDS 32  /* at most */
#define HN_NETWORK_LEAST 8    /* rounds, whatever they take */

/* Do what the file asks for:
 *
 *   {"name": "net", "threads": 2, "clock": "wall", "gpu": false, "seconds": 4,
 *    "steps": 20,                     the most that a run has
 *    "libraries": ["DIR", ...],       folders with libmodel.so and model.weights
 *    "runs": [[0, 0, 1], ...]}        for each kernel of the network the library it is from
 *
 * and append
 *
 *   {"verdict": "OK", "detail": "",
 *    "runs": [{"ns": [a round, ...], "steps": [[a round, ...], ...]}, ...]}
 *
 * with the least time of a call in each round, and of each step.  Round i of all runs was at one
 * time.  The clock "cpu" is that of the calling thread's time on a processor, for one thread on a busy
 * machine; of a driver's threads, too, where `gpu` says that libraries are a GPU's.  These open the
 * driver, so the child is in no sandbox, and a run is of one library.  Another verdict has no runs, and
 * detail says why.  HONE_E_INVALID, HONE_E_IO for a file that is none. */
int hn_network_run(const char *path, struct hn_buf *json, struct hn_err *err) HN_NODISCARD;

#endif
