/* daemon/view.c -- a job as JSON: for clients, and for the store. */
#include "daemon/daemon.h"

#include "base/clock.h"

static void put_failures(struct hn_jw *w, const struct hn_job *j)
{
	hn_jw_object(w, "failures");
	for (int v = 0; v < HN_N_VERDICT; v++) {
		if (v != HN_VERDICT_OK && j->n_verdict[v] > 0) {
			hn_jw_int(w, hn_verdict_name((enum hn_verdict)v), j->n_verdict[v]);
		}
	}
	hn_jw_end(w);
}

static uint32_t queue_position(const struct hn_job *j)
{
	uint32_t n = 0;

	for (const struct hn_job *k = j->daemon->jobs; k != NULL && k != j; k = k->next) {
		n += k->served == j->served && k->state == HN_JOB_NEW;
	}
	return n;
}

/* Of a final that had something to decide. */
static void put_final(struct hn_jw *w, const struct hn_final_told *t)
{
	if (t->n_field < 2) {
		return;
	}
	hn_jw_object(w, "final");
	hn_jw_uint(w, "entrants", t->n_field);
	hn_jw_uint(w, "duels", t->n_duel);
	hn_jw_bool(w, "decided", t->decided);
	hn_jw_bool(w, "changed", t->changed);
	hn_jw_double(w, "gain_lo", t->gain_lo);
	hn_jw_double(w, "gain_hi", t->gain_hi);
	hn_jw_double(w, "before_ns", t->before_ns);
	hn_jw_double(w, "median_ns", t->median_ns);
	hn_jw_end(w);
}

void hn_naive_write_share(double share, struct hn_jw *w)
{
	if (share > 0 && share < 1) {
		hn_jw_double(w, "naive_share", share);
	}
}

void hn_job_write(const struct hn_job *j, struct hn_jw *w, const char *name)
{
	int64_t from = j->started_ns != 0 ? j->started_ns : j->submitted_ns;
	int64_t to = j->ended_ns != 0 ? j->ended_ns : hn_clock_ns();
	const struct hn_daemon *d = j->daemon;
	const struct hn_served *at = j->served;
	bool timed = j->best_ns > 0;

	hn_jw_object(w, name);
	hn_jw_str(w, "job", j->id);
	hn_jw_str(w, "state", hn_job_state_name(j->state));
	hn_jw_str(w, "workload", j->key);
	hn_jw_str(w, "name", j->name);
	hn_jw_str(w, "target", j->target_line);
	hn_jw_str(w, "target_name", at->name);
	hn_jw_str(w, "cache", j->workload.cold ? "cold" : "warm");
	hn_jw_str(w, "message", j->message);
	if (hn_stall_on(d) && !hn_job_ended(j)) {
		char why[500];

		hn_stall_why(d, why, sizeof(why));
		hn_jw_str(w, "paused", why);
	}
	if (j->state == HN_JOB_FAILED) {
		hn_jw_int(w, "error", j->error);
	}
	if (j->set != NULL) {
		hn_jw_str(w, "set", j->set->id);
	}
	if (j->state == HN_JOB_NEW) {
		hn_jw_uint(w, "queue_position", queue_position(j));
	}
	hn_jw_int(w, "trials", j->n_trial);
	hn_jw_int(w, "warm", j->n_warm);
	hn_jw_int(w, "ok", j->n_verdict[HN_VERDICT_OK]);
	hn_jw_int(w, "elapsed_ms", (to - from) / 1000000);
	if (j->first_ns > 0) {
		hn_jw_int(w, "first_ms", (j->first_ns - from) / 1000000);
	}
	hn_jw_int(w, "noisy", j->n_noisy);
	hn_jw_int(w, "kernel_ms", j->kernel_ns / 1000000);
	hn_jw_object(w, "budget");
	hn_jw_int(w, "trials", j->budget.trials);
	hn_jw_double(w, "seconds", j->budget.seconds);
	hn_jw_end(w);
	hn_jw_double(w, "flops", j->workload.flops);
	hn_jw_double(w, "needed_flops", j->workload.needed_flops);
	hn_jw_double(w, "naive_ns", j->naive_ns);
	hn_naive_write_share(j->naive_share, w);
	if (j->inputs != NULL) {
		hn_jw_str(w, "inputs", j->inputs);
		hn_jw_bool(w, "in_part", j->sampled != NULL);
	}
	hn_jw_double(w, "guard_ns", j->heuristic_ns);
	hn_jw_double(w, "best_ns", j->best_ns);
	hn_jw_double(w, "gflops", timed ? j->workload.flops / j->best_ns : 0);
	hn_jw_double(w, "speedup", timed ? j->naive_ns / j->best_ns : 0);
	/* the peak that is measured is float32's; what computes in another type has another */
	hn_jw_double(w, "peak_gflops",
		     at->probe_state == HN_PROBE_KNOWN && j->workload.float32
			     ? at->probe.fma_gflops_all
			     : 0);
	put_final(w, &j->final.told);
	put_failures(w, j);
	hn_jw_end(w);
}

void hn_job_write_request(const struct hn_job *j, enum hn_job_state state, const char *message,
			  struct hn_buf *b)
{
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "id", j->id);
	hn_jw_str(&w, "text", j->dag_json);
	hn_jw_str(&w, "name", j->name);
	hn_jw_str(&w, "target", j->target_line);
	hn_jw_str(&w, "policy", j->policy_name);
	hn_jw_str(&w, "model", j->model_name);
	hn_jw_str(&w, "records", j->records);
	hn_jw_str(&w, "records_key", j->records_key);
	hn_jw_int(&w, "trials", j->budget.trials);
	hn_jw_strf(&w, "seed", "%llu", (unsigned long long)j->budget.seed);
	hn_jw_double(&w, "seconds", j->budget.seconds);
	hn_jw_str(&w, "state", hn_job_state_name(state));
	hn_jw_str(&w, "message", message);
	hn_jw_str(&w, "workload", j->key);
	hn_jw_int(&w, "measured", j->n_trial);
	hn_jw_double(&w, "best_ns", j->best_ns);
	hn_crashes_write(&j->crashes, state != HN_JOB_NEW && state < HN_JOB_DONE, &w);
	hn_jw_end(&w);
	hn_jw_done(&w);
}

/* Weighted sum of the times, of the naive programs or of the best there is; 0 while one is not
 * known, but of jobs that ended without any. */
static double weighted_ns(const struct hn_set *s, bool naive)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct hn_job *j = s->member[i].job;
		double ns = !naive && j->best_ns > 0 ? j->best_ns : j->naive_ns;

		if (ns == 0 && (j->best_ns > 0 || !hn_job_ended(j))) {
			return 0;
		}
		sum += s->member[i].weight * ns;
	}
	return sum;
}

static void put_budget(struct hn_jw *w, const struct hn_taskset_budget *budget)
{
	hn_jw_int(w, "trials", budget->trials);
	hn_jw_double(w, "seconds", budget->seconds);
	hn_jw_double(w, "stop_gain", 100 * budget->stop_gain);
}

void hn_set_write(const struct hn_set *s, struct hn_jw *w, const char *name)
{
	int64_t n_trial = 0, n_warm = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		n_trial += s->member[i].job->n_trial;
		n_warm += s->member[i].job->n_warm;
	}
	hn_jw_object(w, name);
	hn_jw_str(w, "set", s->id);
	hn_jw_str(w, "state", hn_job_state_name(s->state));
	hn_jw_str(w, "message", s->message);
	hn_jw_str(w, "strategy", s->rule.strategy->name);
	hn_jw_int(w, "trials", n_trial);
	hn_jw_int(w, "warm", n_warm);
	hn_jw_int(w, "elapsed_ms", (int64_t)(hn_set_seconds(s, hn_clock_ns()) * 1000));
	hn_jw_object(w, "budget");
	put_budget(w, &s->rule.budget);
	hn_jw_end(w);
	hn_jw_double(w, "naive_ns", weighted_ns(s, /* naive= */ true));
	hn_jw_double(w, "best_ns", weighted_ns(s, /* naive= */ false));
	hn_jw_double(w, "expected_gain", 100 * hn_taskset_gain(&s->rule));
	hn_jw_list(w, "tasks");
	for (uint32_t i = 0; i < s->n; i++) {
		hn_jw_object(w, NULL);
		hn_jw_uint(w, "rounds", s->rule.task[i].n_round);
		hn_jw_double(w, "weight", s->member[i].weight);
		hn_job_write(s->member[i].job, w, "job");
		hn_jw_end(w);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

void hn_set_write_request(const struct hn_set *s, enum hn_job_state state, struct hn_buf *b)
{
	const struct hn_job *first = s->member[0].job; /* all have the same of what follows */
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "id", s->id);
	hn_jw_str(&w, "target", first->target_line);
	hn_jw_str(&w, "policy", first->policy_name);
	hn_jw_str(&w, "model", first->model_name);
	hn_jw_str(&w, "strategy", s->rule.strategy->name);
	hn_jw_strf(&w, "seed", "%llu", (unsigned long long)first->budget.seed);
	put_budget(&w, &s->rule.budget);
	hn_jw_double(&w, "spent", hn_set_seconds(s, hn_clock_ns()));
	hn_jw_str(&w, "state", hn_job_state_name(state));
	hn_jw_str(&w, "message", s->message);
	hn_crashes_write(&s->crashes, state != HN_JOB_NEW && state < HN_JOB_DONE, &w);
	hn_jw_list(&w, "tasks");
	for (uint32_t i = 0; i < s->n; i++) {
		const struct hn_job *j = s->member[i].job;

		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "job", j->id);
		hn_jw_str(&w, "name", j->name);
		hn_jw_str(&w, "text", j->dag_json);
		hn_jw_double(&w, "weight", s->member[i].weight);
		if (s->member[i].cancelled || j->state == HN_JOB_CANCELLED ||
		    (j->end.begun && j->end.state == HN_JOB_CANCELLED)) {
			hn_jw_bool(&w, "cancelled", true);
		}
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
}
