/* client/explain_gpu.c -- what kernels of blocks of threads ask of a multiprocessor, by the analytic
 * model: a GPU has shared memory and registers where a processor has caches.
 */
#include "client/explain.h"
#include "target/target.h"

void hn_explain_kernels_text(const struct hn_explain_cost *c, struct hn_buf *b)
{
	const int64_t *param = c->target->param;

	hn_buf_printf(b, "\nwhat kernels ask of %lld multiprocessors: registers of a thread, bytes and cycles of a "
		      "block\na block has at most %lld threads and %lld bytes of shared memory\n", (long long)param[HN_PARAM_NUM_CORES],
		      (long long)param[HN_PARAM_MAX_THREADS_PER_BLOCK],
		      (long long)param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK]);
	hn_buf_printf(b, "  %-24s %9s %7s %9s %8s %7s %9s %9s %9s %9s %9s\n", "kernel, up to", "blocks", "threads",
		      "registers", "shared", "at once", "waves", "compute", "shared", "transfers", "waits");
	for (uint32_t i = 0; i < c->features.n_kernel; i++) {
		const struct hn_features_kernel *k = &c->features.kernel[i];

		hn_buf_printf(b, "  %-24s %9.0f %7.0f %9.0f %8.0f %7.0f %9.3g %9.4g %9.4g %9.4g %9.4g\n",
			      c->statement[k->first + k->n - 1], k->blocks, k->threads, k->registers, k->shared,
			      k->resident, k->waves, k->issue, k->turns, k->transfers, k->waits);
	}
}

void hn_explain_kernels_json(const struct hn_explain_cost *c, struct hn_jw *w)
{
	hn_jw_list(w, "kernels");
	for (uint32_t i = 0; i < c->features.n_kernel; i++) {
		const struct hn_features_kernel *k = &c->features.kernel[i];

		hn_jw_object(w, NULL);
		hn_jw_str(w, "last", c->statement[k->first + k->n - 1]);
		hn_jw_uint(w, "statements", k->n);
		hn_jw_double(w, "blocks", k->blocks);
		hn_jw_double(w, "threads", k->threads);
		hn_jw_double(w, "registers", k->registers);
		hn_jw_double(w, "shared_bytes", k->shared);
		hn_jw_double(w, "resident", k->resident);
		hn_jw_double(w, "waves", k->waves);
		hn_jw_double(w, "compute", k->issue);
		hn_jw_double(w, "shared", k->turns);
		hn_jw_double(w, "transfers", k->transfers);
		hn_jw_double(w, "waits", k->waits);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}
