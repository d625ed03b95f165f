/* sketch/heuristic/sets.c -- points of a register tile whose operands fall into one set of the
 * first cache.
 *
 * The reduction reads a row for each point of the tile, a number of each row in turn. Where rows
 * begin at multiples of a power of two, they share few sets. A set that is asked for more lines
 * than it has ways loses each of them before the next number of its row is read. 14 pixels of 1024
 * channels (one set) by two vectors ran at 0.75 of what 7 pixels by three ran at.
 */
#include <string.h>

#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define LINE 64
#define WAY_BYTES 4096 /* of a first cache that is indexed by addresses within a page */
#define SETS (WAY_BYTES / LINE)

int64_t hn_heuristic_lost_lines(const struct hn_heuristic_job *g,
				const struct hn_heuristic_read *r, uint32_t n,
				const uint32_t *axis, const int64_t *tile)
{
	int64_t ways = g->target->param[HN_PARAM_L1_BYTES] / WAY_BYTES, lost = 0;
	int64_t unit = hn_dtype_bytes((enum hn_dtype)hn_stage_op(g->c.s, r->producer)->dtype[0]);
	int64_t in_set[SETS] = { 0 }, at[HN_DAG_MAX_ITERS] = { 0 };
	uint32_t k = 0;

	while (k < n) { /* each point, the first axis innermost */
		int64_t offset = 0;

		for (uint32_t i = 0; i < n; i++) {
			int64_t s = r->stride[axis[i]];

			offset += at[i] * (s == HN_HEURISTIC_ODD ? LINE : s) * unit;
		}
		in_set[hn_floormod(offset, WAY_BYTES) / LINE]++;
		for (k = 0; k < n && ++at[k] == tile[k]; k++) {
			at[k] = 0;
		}
	}
	for (uint32_t i = 0; i < SETS; i++) {
		lost += in_set[i] > ways ? in_set[i] : 0;
	}
	return lost;
}
