/* measure/board/network_int.h -- networks in the child: network_mix.c, for network.c. */
#ifndef HN_MEASURE_BOARD_NETWORK_INT_H
#define HN_MEASURE_BOARD_NETWORK_INT_H

#include "base/arena.h"
#include "base/err.h"
#include "hone/model.h"

struct hn_netlib {
	const struct hone_model *model;
	const void *weights;
};

/* Open DIR's library of the network `name`, and map its weights. */
int hn_netlib_open(const char *dir, const char *name, struct hn_netlib *ret,
		   struct hn_err *err) HN_NODISCARD;

/* A network that is ready to run; all memory is its own. */
struct hn_netmix {
	struct hone_model model;
	const void *weights;
	const void **in;
	void **out;
	void *prepared, *arena;
};

/* Kernel i is library from[i]'s; n of them.  HONE_E_INVALID where these have other steps. */
int hn_netmix_make(const struct hn_netlib *lib, const uint32_t *from, uint32_t n, int32_t n_workers,
		   struct hn_arena *a, struct hn_netmix *ret, struct hn_err *err) HN_NODISCARD;

#endif
