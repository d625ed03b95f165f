/* akg_try.h -- bytes as a fused operator of AKG: read, and imported where they are one. */
#ifndef HN_TESTS_AKG_TRY_H
#define HN_TESTS_AKG_TRY_H

#include "graph/akg/import.h"

/* 0, or the error; the structure stays within what akg.h says. */
static inline int akg_try(const void *bytes, size_t n, struct hn_import_dim *dim, uint32_t n_dim,
			  struct hn_err *err)
{
	struct hn_import im = { .dim = dim, .n_dim = n_dim };
	struct hn_akg *k = NULL;
	struct hn_arena a;
	struct hn_graph g;
	int rc = hn_akg_parse("m", bytes, n, &k, err);

	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "m", err);
	if (rc == 0) {
		hn_assert(hn_akg_memory(k) <= n * HN_AKG_PER_BYTE + HN_AKG_FREE_BYTES);
		rc = hn_akg_import(k, &im, &g, err);
	}
	hn_arena_fini(&a);
	hn_akg_close(k);
	return rc;
}

#endif
