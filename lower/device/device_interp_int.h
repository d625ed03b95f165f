/* lower/device/device_interp_int.h -- what the parts of running a device program share. */
#ifndef HN_LOWER_DEVICE_DEVICE_INTERP_INT_H
#define HN_LOWER_DEVICE_DEVICE_INTERP_INT_H

#include "lower/device/device_interp.h"
#include "lower/interp/interp_priv.h"

#define MANY (-2) /* threads */
#define TOGETHER (-3) /* threads of a warp */

/* Phases count from 1; 0 = never. */
struct seen {
	int64_t wrote, wrote_by;
	int64_t read, read_by;
	int64_t read_before; /* the last phase of another block in which it was read */
	int64_t fences;	     /* SHARED: that the thread which wrote it had had then */
	bool flies;	     /* a copy to it has begun, and has not been waited for */
};

struct flight {
	int64_t thread, group, at;
	int32_t buffer;
	union hn_value v;
};

/* A product that the hardware may still be at: of which node, by which warpgroup, since when. */
struct open_product {
	const struct hn_device_warp *w;
	int64_t first, phase, at[2];
};

struct memory {
	void *data;	   /* LOCAL: of all threads, one after the other */
	struct seen *seen; /* [elements] unless LOCAL */
	uint8_t *filled;   /* LOCAL: [elements * threads] whether written */
	bool owned;
	bool by_roles; /* words of roles judge what touches it */
};

struct roles;

struct run {
	const struct hn_device *d;
	struct hn_arena arena;
	struct memory *memory; /* [n_buffer] */
	const struct hn_device_kernel *k;
	int64_t n_thread, thread; /* of the block; the one that runs */
	union hn_value **frame;	  /* [n_thread] */
	int64_t phase, block_began, kernel_began;
	int64_t fuel;
	uint32_t order;
	int64_t *committed; /* [n_thread] groups */
	int64_t *fences, *fenced; /* [n_thread] so far; before the last barrier */
	bool in_product;	  /* it is one that touches memory */
	uint32_t n_open, cap_open; /* products of warpgroups that are not settled, in order */
	struct open_product *open;
	double *factor[2];	  /* of a warpgroup's product, as they were read */
	struct flight *flight; /* in the order they began */
	uint32_t n_flight, cap_flight;
	int64_t **arrivals; /* [n_buffer] of each mbarrier, in a phase; NULL: it has none */
	struct roles *roles; /* device_roles.h: room that all blocks use */
	char fault[300];
};

/* A compiled node. */
struct op {
	const struct hn_device_node *n;
	const struct hn_cell *e, *at, *from_at, *warp_at[2], *mbarrier_at,
		*from[HN_DEVICE_MAP_DIM]; /* of a bulk copy */
	bool waits; /* a barrier is in it, or what a warp does together */
	bool steps; /* hn_role_is_step: it is, or one is in it */
	const struct op **child;
};

/* The element's place in memory; -1 when it may not be touched. */
int64_t hn_interp_reach(struct run *r, int32_t buffer, int64_t at, bool write);

/* device_interp_warp.c: n elements of the thread's own, from the index on; the nodes, by the 32 threads from `first` on. */
void hn_interp_fetch(struct run *r, int32_t buffer, const struct hn_cell *at, int64_t n, void *to);
void hn_interp_mma(struct run *r, const struct op *o, int64_t first);
void hn_interp_ldmatrix(struct run *r, const struct op *o, int64_t first);

/* device_interp_wgmma.c: the same by 128 threads. */
void hn_interp_wgmma(struct run *r, const struct op *o, int64_t first);
void hn_interp_settle(struct run *r, const struct op *o, int64_t first);

/* What the run ends with, unless it has failed before. */
HN_PRINTF(2, 3) void hn_interp_fault(struct run *r, const char *fmt, ...);

#endif
