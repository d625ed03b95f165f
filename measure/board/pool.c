/* measure/board/pool.c -- hone/pool.h as boards use it. */
#include "measure/board/pool.h"

int hn_kernel_pool_new(int32_t n_workers, void (*each)(void *ctx), void *ctx,
		       struct hone_pool **ret, struct hn_err *err)
{
	const struct hone_pool_options options = { .n_threads = n_workers,
						   .pin_caller = 1,
						   .start = each,
						   .ctx = ctx };
	struct hone_pool *p;

	hn_assert(n_workers >= 1);
	p = hone_pool_create_with(&options);
	if (p == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "kernel threads: out of memory");
	}
	if (hone_pool_threads(p) < n_workers) {
		int32_t got = hone_pool_threads(p);

		hone_pool_destroy(p);
		return hn_fail(err, HONE_E_NOMEM, "kernel threads: %d of %d could be started",
			       got, n_workers);
	}
	*ret = p;
	return 0;
}
