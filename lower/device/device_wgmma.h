/* lower/device/device_wgmma.h -- products of matrices that a warpgroup makes, from shared memory.
 *
 * A warpgroup is 128 threads whose numbers follow each other, four warps.  It adds the product of
 * 64 rows and 8 to 256 columns to what its threads hold: thread t, which is lane l of warp w of the
 * four, has of each 8 columns the elements e = 0 .. 3 of
 *
 *   row 16 w + l / 4 + 8 (e / 2), column 2 (l mod 4) + e mod 2
 *
 * side by side, those of the next 8 columns behind them.
 *
 * Both factors lie in shared memory, as rows of `width` bytes, 8 of which begin at a multiple of
 * 8 * width bytes.  `along` terms: a row (of the left factor; of the right one a column) has a row
 * of `width` bytes, the next row the next one.  `across`: a term has one, which holds as many rows
 * (columns) as fit, the next term the next one; the rows (columns) that come then lie `next` bytes
 * further.  In each such row chunks of 16 bytes change places: the chunk's number is XORed with
 * bits 7 to 9 of the address, as many of them as it has bits itself.
 *
 * Of the terms a node takes `steps` times the instruction's, one after the other; along terms that
 * is within the row's width.
 *
 * An open node is not waited for: the hardware goes on reading and adding, until a `settle` of the
 * same results in the same list.  Only copies to shared memory stand between.  In a loop that does
 * nothing else, a node may be open to the next turn: `settle ... but last` directly behind it waits
 * for the turn before, and a settle behind the loop for the last one.
 *
 * The hardware reads shared memory by a way of its own (a proxy).  Before a barrier behind which a
 * warpgroup reads what threads have written there, each of them has a fence.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA, "Asynchronous Warpgroup Level Matrix
 * Instructions": register fragments, shared memory matrix layout, matrix descriptor, async proxy;
 * the layouts are those that CUTLASS (mma_sm90_desc.hpp) calls canonical.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_WGMMA_H
#define HN_LOWER_DEVICE_DEVICE_WGMMA_H

#include "lower/device/device_warp.h"

#define HN_WARPGROUP 128
#define HN_WGMMA_COLUMNS 256 /* at most */
#define HN_WGMMA_STEPS 16    /* at most: one piece of code */
#define HN_WGMMA_ROWS 8	     /* rows of `width` bytes after which the places of chunks repeat */
#define HN_WGMMA_ALIGN 1024  /* bytes; a buffer that is read so begins at a multiple */

/* Threads that do it together. */
static inline int64_t hn_warp_threads(const struct hn_intrin *in)
{
	return hn_intrin_is_warpgroup(in) ? HN_WARPGROUP : HN_WARP;
}

/* Bytes from the first of the matrix to the element of that row (column) and term, of elements of
 * so many bytes: its place, chunks moved. */
int64_t hn_wgmma_place(const struct hn_device_matrix *m, int64_t bytes, int64_t side,
		       int64_t term);

/* Bytes that one step is further than the one before. */
int64_t hn_wgmma_step(const struct hn_device_matrix *m, const struct hn_intrin *in);

/* The matrix is `*ret` runs of this many bytes, `next` bytes apart: what a node may read. */
int64_t hn_wgmma_run(const struct hn_device_warp *w, int i, int64_t *ret);

/* The descriptor without its address, which is bits 0 to 13 in 16 bytes. */
uint64_t hn_wgmma_descriptor(const struct hn_device_matrix *m);

/* Whether such a product is possible; else a static sentence. */
const char *hn_wgmma_why_not(const struct hn_device *d, const struct hn_device_node *n);

/* Whether the node may stand between an open product and its settling: it stores to shared memory
 * what is no thread's own, and waits for nothing. */
bool hn_wgmma_may_pass(const struct hn_device *d, const struct hn_device_node *n);

/* Whether open products in the node's list are settled, and what is settled is open; else a static
 * sentence.  Its children have their forms. */
const char *hn_wgmma_why_open(const struct hn_device *d, const struct hn_device_node *n);

/* The loop's product that is open to the next turn; NULL: there is none. */
const struct hn_device_node *hn_wgmma_open_in(const struct hn_device_node *loop);

#endif
