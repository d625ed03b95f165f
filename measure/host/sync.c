/* sync.c -- the loop runs as long as somebody waits. */
#include "measure/host/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "measure/stats.h"

#define TICK_MS 20 /* UV_RUN_ONCE may fire a timer and then sleep for ever */

struct hn_sync {
	uv_loop_t loop;
	uv_timer_t tick;
	struct hn_measurer *m;
	bool waiting;
	struct hn_sync_result result;
};

static void on_tick(uv_timer_t *t)
{
	(void)t;
}

static void on_result(void *ctx, const struct hn_measure_result *r)
{
	struct hn_sync *s = ctx;

	s->waiting = false;
	s->result = (struct hn_sync_result){.verdict = r->verdict,
					    .median_ns = r->median_ns,
					    .run_ns = r->run_ns,
					    .kernel_ns = r->kernel_ns};
	snprintf(s->result.detail, sizeof s->result.detail, "%s", r->detail);
	if (r->rival_ns != NULL && r->n_sample > 0) {
		s->result.rival_median_ns = hn_stats_median(r->rival_ns, r->n_sample);
		s->result.log_ratio =
			hn_stats_log_ratio(r->sample_ns, r->rival_ns, r->n_sample);
	}
}

static struct hn_sync_result wait_for(struct hn_sync *s)
{
	while (s->waiting) {
		uv_run(&s->loop, UV_RUN_ONCE);
	}
	return s->result;
}

int hn_sync_open(const struct hn_measurer_config *config, struct hn_sync **ret,
		 struct hn_err *err)
{
	struct hn_sync *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL || uv_loop_init(&s->loop) != 0) {
		free(s);
		return hn_fail(err, HONE_E_NOMEM, "event loop: cannot be made");
	}
	uv_timer_init(&s->loop, &s->tick);
	uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
	rc = hn_measurer_new(&s->loop, config, &s->m, err);
	if (rc != 0) {
		s->m = NULL;
		hn_sync_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

struct hn_sync_result hn_sync_workload(struct hn_sync *s, const struct hn_workload *w)
{
	s->waiting = true;
	hn_measurer_workload(s->m, w, on_result, s);
	return wait_for(s);
}

struct hn_sync_result hn_sync_submit(struct hn_sync *s, const char *workload_key,
				     const char *steps, double best_ns)
{
	s->waiting = true;
	hn_measurer_submit(s->m, workload_key, steps, best_ns, on_result, s);
	return wait_for(s);
}

struct hn_sync_result hn_sync_duel(struct hn_sync *s, const char *workload_key,
				   const char *steps, const char *rival_steps)
{
	s->waiting = true;
	hn_measurer_duel(s->m, workload_key, steps, rival_steps, on_result, s);
	return wait_for(s);
}

void hn_sync_close(struct hn_sync *s)
{
	if (s == NULL) {
		return;
	}
	uv_close((uv_handle_t *)&s->tick, NULL);
	if (s->m != NULL) {
		hn_measurer_close(s->m, NULL, NULL);
	}
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
	free(s);
}
