/* daemon/view.c -- a job as JSON: for clients, and for the store. */
#include "daemon/daemon.h"

#include "base/clock.h"

static void put_number(struct hn_buf *b, const char *key, double v)
{
	hn_buf_printf(b, ",\"%s\":", key);
	hn_buf_double(b, v);
}

static void put_string(struct hn_buf *b, const char *key, const char *s)
{
	hn_buf_printf(b, ",\"%s\":", key);
	hn_buf_json_string(b, s);
}

static void put_failures(struct hn_buf *b, const struct hn_job *j)
{
	const char *comma = "";

	hn_buf_puts(b, ",\"failures\":{");
	for (int v = 0; v < HN_N_VERDICT; v++) {
		if (v != HN_VERDICT_OK && j->n_verdict[v] > 0) {
			hn_buf_printf(b, "%s\"%s\":%lld", comma,
				      hn_verdict_name((enum hn_verdict)v),
				      (long long)j->n_verdict[v]);
			comma = ",";
		}
	}
	hn_buf_puts(b, "}");
}

static uint32_t queue_position(const struct hn_job *j)
{
	uint32_t n = 0;

	for (const struct hn_job *k = j->daemon->jobs; k != NULL && k != j; k = k->next) {
		n += k->state == HN_JOB_NEW;
	}
	return n;
}

void hn_job_write(const struct hn_job *j, struct hn_buf *b)
{
	int64_t from = j->started_ns != 0 ? j->started_ns : j->submitted_ns;
	int64_t to = j->ended_ns != 0 ? j->ended_ns : hn_clock_ns();
	const struct hn_daemon *d = j->daemon;

	hn_buf_printf(b, "{\"job\":\"%s\",\"state\":\"%s\",\"workload\":\"%s\"", j->id,
		      hn_job_state_name(j->state), j->key);
	put_string(b, "name", j->name);
	put_string(b, "target", j->target_line);
	put_string(b, "message", j->message);
	if (j->state == HN_JOB_FAILED) {
		hn_buf_printf(b, ",\"error\":%d", j->error);
	}
	if (j->state == HN_JOB_NEW) {
		hn_buf_printf(b, ",\"queue_position\":%u", queue_position(j));
	}
	hn_buf_printf(b, ",\"trials\":%lld,\"warm\":%lld,\"ok\":%lld,\"elapsed_ms\":%lld",
		      (long long)j->n_trial, (long long)j->n_warm,
		      (long long)j->n_verdict[HN_VERDICT_OK],
		      (long long)((to - from) / 1000000));
	hn_buf_printf(b, ",\"noisy\":%lld", (long long)j->n_noisy);
	hn_buf_printf(b, ",\"kernel_ms\":%lld", (long long)(j->kernel_ns / 1000000));
	hn_buf_printf(b, ",\"budget\":{\"trials\":%lld,\"seconds\":",
		      (long long)j->budget.trials);
	hn_buf_double(b, j->budget.seconds);
	hn_buf_puts(b, "}");
	put_number(b, "flops", j->workload.flops);
	put_number(b, "needed_flops", j->workload.needed_flops);
	put_number(b, "naive_ns", j->naive_ns);
	put_number(b, "guard_ns", j->guard_ns);
	put_number(b, "best_ns", j->best_ns);
	put_number(b, "gflops", j->best_ns > 0 ? j->workload.flops / j->best_ns : 0);
	put_number(b, "speedup", j->best_ns > 0 ? j->naive_ns / j->best_ns : 0);
	put_number(b, "peak_gflops",
		   d->probe_state == HN_PROBE_KNOWN ? d->probe.fma_gflops_all : 0);
	put_failures(b, j);
	hn_buf_puts(b, "}");
}

void hn_job_write_request(const struct hn_job *j, struct hn_buf *b)
{
	hn_buf_printf(b, "{\"id\":\"%s\"", j->id);
	put_string(b, "text", j->dag_json);
	put_string(b, "name", j->name);
	put_string(b, "target", j->target_line);
	put_string(b, "policy", j->policy_name);
	put_string(b, "model", j->model_name);
	hn_buf_printf(b, ",\"trials\":%lld,\"seed\":\"%llu\"",
		      (long long)j->budget.trials, (unsigned long long)j->budget.seed);
	put_number(b, "seconds", j->budget.seconds);
	put_string(b, "state", hn_job_state_name(j->state));
	put_string(b, "message", j->message);
	hn_buf_puts(b, "}");
}
