/* tests/ptx/ptx_mbarrier.h -- an mbarrier as numbers, for its instructions and for bulk copies. */
#ifndef HN_TESTS_PTX_PTX_MBARRIER_H
#define HN_TESTS_PTX_PTX_MBARRIER_H

#include <stdbool.h>

#include "tests/ptx/ptx_int.h"

struct ptx_mbarrier {
	uint32_t phase, pending, expected;
	int32_t bytes; /* that are still to come; negative: that came before they were expected */
};

/* Whether one is in these eight bytes of that shared address. */
bool ptx_mbarrier_read(const struct ptx_block *b, uint64_t address, const void *memory,
		       struct ptx_mbarrier *m);

/* The mbarrier at that address; NULL: a fault was said. */
void *ptx_mbarrier_at(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t lane,
		      uint64_t address, struct ptx_mbarrier *m);

/* `arrivals` of those pending, and bytes to be expected, or, negative, that came. */
enum ptx_did ptx_mbarrier_count(const struct ptx_warp *w, const struct ptx_insn *in,
				uint32_t lane, uint64_t address, uint32_t arrivals,
				int64_t bytes);

ptx_do ptx_mbarrier_init;
ptx_do ptx_mbarrier_inval;
ptx_do ptx_mbarrier_arrive;
ptx_do ptx_mbarrier_wait;

#endif
