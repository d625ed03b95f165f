/* lower/device/device_warp.h -- what the threads of a warp do together: products of matrices, and
 * loads of their parts.
 *
 * A matrix that a product takes or adds to lies in local memory, a part in each thread: its
 * fragment.  So what else is done with it is ordinary code of each thread.  A warp is 32 threads
 * whose numbers follow each other, and thread t has lane t modulo 32.  With g = lane / 4, t = lane
 * modulo 4 and p = 4 / (bytes of a factor's element), a lane holds
 *
 *   left,  16 rows x 8p terms:    4p elements; element e: row g + 8 (e / p mod 2),
 *                                 term t p + e mod p + 4p (e / 2p)
 *   right, 8p terms x 8 columns:  2p elements; element e: term t p + e mod p + 4p (e / p), column g
 *   sum,   16 rows x 8 columns:   4 elements; element e: row g + 8 (e / 2), column 2t + e mod 2
 *
 * (of a warpgroup, device_wgmma.h: its four warps have 16 rows each of the sum)
 *
 * `mma` reads these elements behind its three indices, and writes those of the sum.
 *
 * `ldmatrix` reads, for each i of 1, 2 or 4, 8 rows of 16 bytes: row r is where lane 8i + r says.
 * Each lane gets 4 bytes of each: those at 4t of row g; transposed, which elements of 2 bytes can
 * be, column g of rows 2t and 2t + 1.  Rows lie at multiples of 16 bytes.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA, "Matrix Fragments for mma.m16n8k16", ".m16n8k8",
 * ".m16n8k32", and "ldmatrix".
 */
#ifndef HN_LOWER_DEVICE_DEVICE_WARP_H
#define HN_LOWER_DEVICE_DEVICE_WARP_H

#include "lower/device/device.h"

#define HN_WARP 32
#define HN_WARP_ROW 16 /* bytes of a matrix's row that ldmatrix reads */
#define HN_WARP_MOST 16 /* elements that a lane holds of one matrix */

enum hn_fragment { HN_FRAGMENT_LEFT, HN_FRAGMENT_RIGHT, HN_FRAGMENT_SUM };

/* Elements of one type that 4 bytes hold: p above. */
static inline int64_t hn_warp_packed(enum hn_dtype factor)
{
	return 4 / (int64_t)hn_dtype_bytes(factor);
}

/* Elements that a lane holds. */
int64_t hn_warp_elements(const struct hn_intrin *in, enum hn_fragment which);

/* Where a lane's element e is: row and column; of a factor the terms are one of both. */
void hn_warp_element(const struct hn_intrin *in, enum hn_fragment which, int64_t lane, int64_t e,
		     int64_t *row, int64_t *column);

/* sum += left * right, of all lanes: sums are taken in double (integers: exactly) and rounded
 * once.  Parts of factors (tf32x3) are taken as the instruction takes them. */
struct hn_warp_lane {
	union {
		double f;
		int64_t i;
	} left[HN_WARP_MOST], right[HN_WARP_MOST], sum[HN_WARP_MOST];
};
void hn_warp_mma(const struct hn_intrin *in, struct hn_warp_lane lane[HN_WARP]);

/* The nearest number of 11 bits; of two the one that is larger in size. */
double hn_warp_tf32(double x);

/* Of matrix i that ldmatrix loads, which row's byte is the first of 4 (or, transposed, which row's
 * element: two rows' follow each other). */
static inline int64_t hn_warp_lane_of_row(int64_t i, int64_t row)
{
	return 8 * i + row;
}

/* Whether the index is a multiple of n whatever its variables are. */
bool hn_warp_is_multiple(const struct hn_expr *e, int64_t n);

/* Whether what the node says of a warp is possible; else a static sentence. */
const char *hn_warp_why_not(const struct hn_device *d, const struct hn_device_node *n);

#endif
