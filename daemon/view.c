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
	put_string(b, "cache", j->workload.cold ? "cold" : "warm");
	put_string(b, "message", j->message);
	if (j->state == HN_JOB_FAILED) {
		hn_buf_printf(b, ",\"error\":%d", j->error);
	}
	if (j->set != NULL) {
		put_string(b, "set", j->set->id);
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
	if (j->naive_share > 0 && j->naive_share < 1) {
		put_number(b, "naive_share", j->naive_share);
	}
	if (j->inputs != NULL) {
		put_string(b, "inputs", j->inputs);
	}
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
	put_string(b, "records", j->records);
	hn_buf_printf(b, ",\"trials\":%lld,\"seed\":\"%llu\"",
		      (long long)j->budget.trials, (unsigned long long)j->budget.seed);
	put_number(b, "seconds", j->budget.seconds);
	put_string(b, "state", hn_job_state_name(j->state));
	put_string(b, "message", j->message);
	put_string(b, "workload", j->key);
	put_number(b, "measured", (double)j->n_trial);
	put_number(b, "best_ns", j->best_ns);
	hn_buf_puts(b, "}");
}

/* Weighted sum of the times, of the naive programs or of the best there is; 0 while one is not
 * known but of jobs that ended without. */
static double weighted_ns(const struct hn_set *s, bool naive)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct hn_job *j = s->member[i].job;
		double ns = !naive && j->best_ns > 0 ? j->best_ns : j->naive_ns;

		if (ns == 0 && !hn_job_ended(j)) {
			return 0;
		}
		sum += s->member[i].weight * ns;
	}
	return sum;
}

static void put_budget(struct hn_buf *b, const struct hn_taskset_budget *budget)
{
	hn_buf_printf(b, "\"trials\":%lld", (long long)budget->trials);
	put_number(b, "seconds", budget->seconds);
	put_number(b, "stop_gain", 100 * budget->stop_gain);
}

void hn_set_write(const struct hn_set *s, struct hn_buf *b)
{
	int64_t n_trial = 0, n_warm = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		n_trial += s->member[i].job->n_trial;
		n_warm += s->member[i].job->n_warm;
	}
	hn_buf_printf(b, "{\"set\":\"%s\",\"state\":\"%s\"", s->id,
		      hn_job_state_name(s->state));
	put_string(b, "message", s->message);
	put_string(b, "strategy", s->rule.strategy->name);
	hn_buf_printf(b, ",\"trials\":%lld,\"warm\":%lld,\"elapsed_ms\":%lld,\"budget\":{",
		      (long long)n_trial, (long long)n_warm,
		      (long long)(hn_set_seconds(s, hn_clock_ns()) * 1000));
	put_budget(b, &s->rule.budget);
	hn_buf_puts(b, "}");
	put_number(b, "naive_ns", weighted_ns(s, /* naive= */ true));
	put_number(b, "best_ns", weighted_ns(s, /* naive= */ false));
	put_number(b, "expected_gain", 100 * hn_taskset_gain(&s->rule));
	hn_buf_puts(b, ",\"tasks\":[");
	for (uint32_t i = 0; i < s->n; i++) {
		hn_buf_printf(b, "%s{\"rounds\":%u", i > 0 ? "," : "",
			      s->rule.task[i].n_round);
		put_number(b, "weight", s->member[i].weight);
		hn_buf_puts(b, ",\"job\":");
		hn_job_write(s->member[i].job, b);
		hn_buf_puts(b, "}");
	}
	hn_buf_puts(b, "]}");
}

void hn_set_write_request(const struct hn_set *s, struct hn_buf *b)
{
	const struct hn_job *first = s->member[0].job; /* all have the same of what follows */

	hn_buf_printf(b, "{\"id\":\"%s\"", s->id);
	put_string(b, "target", first->target_line);
	put_string(b, "policy", first->policy_name);
	put_string(b, "model", first->model_name);
	put_string(b, "strategy", s->rule.strategy->name);
	hn_buf_printf(b, ",\"seed\":\"%llu\",", (unsigned long long)first->budget.seed);
	put_budget(b, &s->rule.budget);
	put_number(b, "spent", hn_set_seconds(s, hn_clock_ns()));
	put_string(b, "state", hn_job_state_name(s->state));
	put_string(b, "message", s->message);
	hn_buf_puts(b, ",\"tasks\":[");
	for (uint32_t i = 0; i < s->n; i++) {
		const struct hn_job *j = s->member[i].job;
		bool cancelled = s->member[i].cancelled || j->state == HN_JOB_CANCELLED;

		hn_buf_printf(b, "%s{\"job\":\"%s\"", i > 0 ? "," : "", j->id);
		put_string(b, "name", j->name);
		put_string(b, "text", j->dag_json);
		put_number(b, "weight", s->member[i].weight);
		hn_buf_puts(b, cancelled ? ",\"cancelled\":true}" : "}");
	}
	hn_buf_puts(b, "]}");
}
