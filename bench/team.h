/* bench/team.h -- OpenMP's threads, for contenders that use them. */
#ifndef HN_BENCH_TEAM_H
#define HN_BENCH_TEAM_H

#include <stdint.h>

/* From now on OpenMP has n threads, each on a core of its own; nothing where hone-bench was built
 * without OpenMP.  Thread 0 is the caller, which is pinned too. */
void hn_team_pin(int32_t n);

#endif
