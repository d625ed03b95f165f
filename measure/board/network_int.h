/* measure/board/network_int.h -- networks in the child: network_mix.c, for network.c. */
#ifndef HN_MEASURE_BOARD_NETWORK_INT_H
#define HN_MEASURE_BOARD_NETWORK_INT_H

#include "base/arena.h"
#include "base/err.h"
#include "hone/model.h"

/* The functions of a network for a GPU (include/hone/model.h), which opens the driver by itself. */
struct hn_netcalls {
	int32_t (*prepare)(const void *weights, void *prepared, void *arena,
			   const struct hone_env *env);
	int32_t (*run)(const void *weights, const void *prepared, const void *const *in,
		       void *const *out, void *arena, const struct hone_env *env);
	int32_t (*run_timed)(const void *weights, const void *prepared, const void *const *in,
			     void *const *out, void *arena, const struct hone_env *env,
			     uint64_t (*now)(void), uint64_t *time);
	const char *(*error)(void);
};

struct hn_netlib {
	const struct hone_model *model;
	const void *weights;
	struct hn_netcalls gpu; /* NULL of a network for a processor */
};

/* Open DIR's library of the network `name`, and map its weights. */
int hn_netlib_open(const char *dir, const char *name, struct hn_netlib *ret,
		   struct hn_err *err) HN_NODISCARD;

/* A network that is ready to run; all memory is its own. */
struct hn_netmix {
	struct hone_model model;
	const struct hn_netcalls *gpu; /* NULL: the run time here runs it */
	const void *weights;
	const void **in;
	void **out;
	void *prepared, *arena;
};

/* Kernel i is library from[i]'s; n of them, which for a GPU are of one.  HONE_E_INVALID where these
 * have other steps. */
int hn_netmix_make(const struct hn_netlib *lib, const uint32_t *from, uint32_t n, int32_t n_workers,
		   struct hn_arena *a, struct hn_netmix *ret, struct hn_err *err) HN_NODISCARD;

/* Each as a network's own functions do. */
int32_t hn_netmix_prepare(struct hn_netmix *x, const struct hone_env *env);

/* *ret_ns: of the whole; step_ns[n_steps] grows by that of each step.  A GPU's are of two runs: in
 * one nobody waits between the steps. */
int32_t hn_netmix_run(const struct hn_netmix *x, const struct hone_env *env, uint64_t (*now)(void),
		      uint64_t *ret_ns, uint64_t *step_ns);

/* A line of what prepare or run returned. */
const char *hn_netmix_why(const struct hn_netmix *x, int32_t rc, struct hn_arena *a);

#endif
