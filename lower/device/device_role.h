/* lower/device/device_role.h -- warpgroups of a block that do different things, and how they wait for
 * each other.
 *
 * A kernel with roles ends in them: all run at once, each by the warpgroups that its condition names
 * with thread.y.  The last warpgroup is the producer; one thread of it does what the role says.  It
 * begins bulk copies, and computes nothing.  All others are consumers.  Between roles there is no
 * barrier, there are mbarriers: elements of shared buffers of int64 that nothing else touches.
 *
 *     map A.map of A size 512 256 stride 256 1 box 128 64 swizzle 128
 *     for v6 4 {
 *       mbarrier full[v6] count 1         before the roles, and a fence and a barrier behind
 *       mbarrier empty[v6] count 8
 *     }
 *     fence
 *     barrier
 *     role producer registers 40 (thread.y >= 2) {
 *       for v7 16 {
 *         await empty[floormod(v7, 4)] parity ...
 *         expect full[floormod(v7, 4)] bytes 32768
 *         bulk A.shared[...] from A.map[(block.x * 128), (v7 * 64)] on full[floormod(v7, 4)]
 *       }
 *     }
 *     role consumer registers 232 (thread.y < 2) {
 *
 * An mbarrier goes from phase to phase.  One ends when `count` arrivals and all bytes that were
 * expected have come.  `expect` is an arrival that says how many bytes bulk copies of this phase
 * bring.  `arrive` is one arrival of each warp of the role.  `await parity p` goes on when the last
 * phase that ended has that parity; phases count from 0, and before the first ends the last one has
 * parity 1.
 *
 * A bulk copy fills a stage: a shared buffer of the map's type that only bulk copies write and only
 * products of warpgroups read.  What lies outside of the map is filled with 0.  Rows of the box
 * follow each other.  Chunks of 16 bytes change places as in device_wgmma.h: so a box begins at a
 * multiple of 8 rows, and the buffer is placed accordingly.
 *
 * Registers: the block begins with as many for each thread; roles take more and give back.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA, "mbarrier", "cp.async.bulk.tensor", "setmaxnreg";
 * CUDA Driver API, cuTensorMapEncodeTiled (limits of maps).
 */
#ifndef HN_LOWER_DEVICE_DEVICE_ROLE_H
#define HN_LOWER_DEVICE_DEVICE_ROLE_H

#include "lower/device/device_wgmma.h"

enum hn_device_role { HN_DEVICE_PRODUCER, HN_DEVICE_CONSUMER, HN_DEVICE_N_ROLE };

extern const char *const hn_device_role_word[HN_DEVICE_N_ROLE];

#define HN_ROLE_WARPS 4	    /* of a warpgroup: each arrives */
#define HN_ROLE_MOST 8	    /* warpgroups of a block with roles, at most */
#define HN_MAP_BYTES 128    /* of a map, where code is given it */
#define HN_MAP_PARAMETER 64 /* bytes; where one lies */
#define HN_MAP_BOX 256	    /* elements of a box in a dimension, at most */
#define HN_MAP_ALIGN 16	    /* bytes: the buffer, and strides, are multiples */
#define HN_MAP_PLACE 128    /* bytes; where a box without swizzle begins */
#define HN_ROLE_MBARRIERS 128 /* of a kernel, at most */
#define HN_MAP_SIZE (INT64_C(1) << 32)	 /* elements of a dimension, at most */
#define HN_MAP_STRIDE (INT64_C(1) << 40) /* bytes of a stride, less */

/* Whether the node is a word of roles; whether it is, or a warpgroup's product. */
bool hn_role_is_word(const struct hn_device_node *n);
bool hn_role_is_step(const struct hn_device_node *n);

/* Whether the kernel has roles; then its nodes and buffers are as above, else a static sentence. */
bool hn_role_any(const struct hn_device_kernel *k);
const char *hn_role_why_not(const struct hn_device *d, const struct hn_device_kernel *k);

/* Whether the condition is of loops' turns and the block's number alone: all threads have the same.
 * named: [n_slot] as below. */
bool hn_role_is_of_block(const bool *named, const struct hn_expr *e);

/* Whether such a map can be; else a static sentence. */
const char *hn_map_why_not(const struct hn_device *d, const struct hn_device_map *m);
int64_t hn_map_box(const struct hn_device_map *m); /* elements */

/* What is done with a buffer. */
enum {
	HN_ROLE_FILLS = 1,   /* bulk copies fill it */
	HN_ROLE_COUNTS = 2,  /* it has mbarriers */
	HN_ROLE_OWNS = 4,    /* one of these: roles judge it */
	HN_ROLE_TOUCHES = 8, /* threads read or write it for themselves */
	HN_ROLE_WRITES = 16  /* threads do write it */
};

struct hn_role_use {
	uint8_t *buffer; /* [n_buffer] of the above; 0 in a kernel without roles */
	bool *named;	 /* [n_slot] a scalar's name */
	bool words;	 /* words of roles stand in it */
};

/* device_role_use.c: one walk through the kernel. */
struct hn_role_use hn_role_use_of(const struct hn_device *d, const struct hn_device_kernel *k,
				  struct hn_arena *a);

/* device_judge_role.c: whether roles wait for each other as they have to, in every order: all
 * words are gone through, without numbers, of one block of each kind. */
int hn_role_judge(const struct hn_device *d, const struct hn_device_kernel *k,
		  struct hn_err *err) HN_NODISCARD;

#endif
