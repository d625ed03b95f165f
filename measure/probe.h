/* measure/probe.h -- what this machine can do at most, measured.
 *
 * Multiply-adds in float32 with independent accumulators in the widest vectors the CPU
 * has, and a streaming read of more memory than the caches hold.  About 0.4 s; starts
 * threads, so it belongs in a child.
 */
#ifndef HN_MEASURE_PROBE_H
#define HN_MEASURE_PROBE_H

#include "base/err.h"

struct hn_probe {
	double fma_gflops_one; /* float32, one core */
	double fma_gflops_all; /* float32, n_workers cores at once */
	double memory_gb_s;    /* read, n_workers cores at once */
};

int hn_probe_run(int32_t n_workers, struct hn_probe *ret,
		 struct hn_err *err) HN_NODISCARD;

#endif
