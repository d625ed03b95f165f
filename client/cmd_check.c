/* client/cmd_check.c -- `hone check`: whether a network's kernels, as they would be compiled now,
 * have the numbers of the reference interpreter.
 *
 * Each kernel is made and run on a few inputs in hone-board's sandbox (check.h), one that is
 * stored as well as one that is scheduled now.  A wrong one does not stop the others: all are
 * told.  That shows kernels to be right, each against its own program.  That these programs are the
 * model is shown by the interpreter: layouts and fusion keep the numbers of each step
 * (graph/net/numbers.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "client/crew.h"
#include "client/interrupt.h"
#include "client/netcheck.h"
#include "graph/net/largest.h"

struct work {
	const struct hn_opts *o;
	struct hn_netcheck *check; /* of the range that is looked at */
	const struct hn_netcheck *before; /* [n_before] of the ranges before it */
	uint32_t n_before;
	char dir[64]; /* temporary */
};

static enum hn_netcheck_result result_of(const struct hn_check *c, int rc)
{
	return c->wrong != NULL ? HN_NETCHECK_WRONG
	       : rc != 0	? HN_NETCHECK_FAILED
	       : c->why != NULL ? HN_NETCHECK_NOT_RUN
				: HN_NETCHECK_RIGHT;
}

/* The same kernel in a range before; NULL: there is none. */
static const struct hn_netcheck_kernel *find_known(const struct work *w, const struct hn_gtask *t)
{
	for (uint32_t r = 0; r < w->n_before; r++) {
		const struct hn_netcheck *c = &w->before[r];

		for (uint32_t i = 0; i < c->n_kernel; i++) {
			const struct hn_gtask *u = c->kernel[i].task;

			if (strcmp(u->text + strlen(u->name), t->text + strlen(t->name)) == 0) {
				return &c->kernel[i];
			}
		}
	}
	return NULL;
}

static bool check_one(void *ctx, uint32_t i, struct hn_arena *a)
{
	struct work *w = ctx;
	struct hn_netcheck_kernel *k = &w->check->kernel[i];
	const struct hn_netcheck_kernel *known = find_known(w, k->task);
	struct hn_opts one = hn_network_task(w->o, k->task);
	char symbol[32], path[128];
	int rc;

	if (known != NULL) {
		*k = *known;
	}
	if (known != NULL || hn_interrupted()) {
		return known != NULL;
	}
	rc = hn_kernel_choose(&one, hn_netchoice_declined(&w->check->net->choice, k->task->name), a,
			      &k->kernel, &k->err);
	snprintf(symbol, sizeof(symbol), "kernel%u", i);
	k->kernel.run_record = true;
	rc = rc ? rc : hn_kernel_make("check", &one, w->dir, symbol, a, &k->kernel, &k->err);
	k->result = result_of(&k->kernel.check, rc);
	snprintf(path, sizeof(path), "%s/%s.o", w->dir, symbol);
	unlink(path);
	return true;
}

bool hn_netcheck_step_wrong(const struct hn_step_numbers *s)
{
	return s->error > s->allowed;
}

static void count(struct hn_netcheck *c)
{
	for (uint32_t i = 0; c->step != NULL && i < c->net->net.n_step; i++) {
		c->n_step_wrong += hn_netcheck_step_wrong(&c->step[i]);
	}
	for (uint32_t i = 0; i < c->net->net.n_task; i++) {
		const struct hn_netcheck_kernel *k = &c->kernel[i];

		c->count[k->result]++;
		if (k->result == HN_NETCHECK_RIGHT &&
		    (c->worst == NULL || k->kernel.check.error > c->worst->kernel.check.error)) {
			c->worst = k;
		}
	}
}

/* The verb's own: 0 unless something is wrong or was not made. */
static int judge(const struct hn_netcheck *c, struct hn_err *err)
{
	uint32_t wrong = c->count[HN_NETCHECK_WRONG], failed = c->count[HN_NETCHECK_FAILED];

	if (wrong > 0) {
		return hn_fail(err, HONE_E_INTERNAL, "check: %u of %u kernels %s wrong", wrong,
			       c->net->net.n_task, wrong == 1 ? "is" : "are");
	}
	if (c->n_step_wrong > 0) {
		return hn_fail(err, HONE_E_INTERNAL,
			       "check: %u of %u steps have other numbers than their nodes",
			       c->n_step_wrong, c->net->net.n_step);
	}
	return failed == 0 ? 0
			   : hn_fail(err, HONE_E_INTERNAL, "check: %u of %u kernels cannot be made",
				     failed, c->net->net.n_task);
}

/* Steps at the largest sizes.  Parts that a range was cut into have the same ones. */
static int compute_steps(struct hn_netcheck *c, struct hn_network *n, const struct hn_net_range *r,
			 struct hn_err *err)
{
	struct hn_net net = n->net;
	int rc = 0;

	for (uint32_t i = 0; r != NULL && &n->ranges.range[i] != r; i++) {
		if (n->ranges.range[i].net.g == r->net.g) {
			c->why_no_step = "they are those of the largest sizes";
			return 0;
		}
	}
	rc = r != NULL ? hn_range_largest(r, &n->arena, &net, err) : 0;
	return rc ? rc : hn_net_numbers(&net, &c->step, &c->why_no_step, err);
}

/* The network, or range r of it. */
static int check(struct work *w, struct hn_network *n, const struct hn_net_range *r,
		 struct hn_crew *crew, struct hn_err *err)
{
	struct hn_netcheck *c = w->check;
	int rc;

	c->n_kernel = n->net.n_task;
	c->kernel = HN_NEW_ARRAY(&n->arena, struct hn_netcheck_kernel, c->n_kernel);
	for (uint32_t i = 0; i < c->n_kernel; i++) {
		c->kernel[i].task = &n->net.task[i];
	}
	hn_crew_run(crew, c->n_kernel, check_one, w);
	rc = hn_interrupted() ? hn_fail(err, HONE_E_CANCELLED, "check: stopped") : 0;
	rc = rc ? rc : compute_steps(c, n, r, err);
	if (rc == 0) {
		if (r != NULL && !w->o->json) {
			printf("%s%s\n", w->n_before > 0 ? "\n" : "",
			       hn_network_range(n, r, &n->arena));
		}
		count(c);
		(w->o->json ? hn_netcheck_json : hn_netcheck_table)(c);
		rc = judge(c, err);
	}
	return rc;
}

/* All ranges, whatever is wrong in one; the first of what is wrong is the answer. */
static int check_ranges(struct work *w, struct hn_network *n, struct hn_err *err)
{
	uint32_t n_range = n->ranges.n > 0 ? n->ranges.n : 1;
	struct hn_netcheck *all = HN_NEW_ARRAY(&n->arena, struct hn_netcheck, n_range);
	struct hn_crew crew;
	int rc = 0;

	hn_crew_open(&crew);
	w->before = all;
	for (uint32_t i = 0; i < n_range && !hn_interrupted(); i++) {
		const struct hn_net_range *r = n->ranges.n > 0 ? &n->ranges.range[i] : NULL;
		struct hn_err wrong = { 0 };

		if (r != NULL) {
			n->net = r->net;
			n->graph = *r->net.g;
		}
		all[i].net = n;
		w->check = &all[i];
		w->n_before = i;
		if (check(w, n, r, &crew, &wrong) != 0 && rc == 0) {
			*err = wrong;
			rc = -err->code;
		}
	}
	hn_crew_close(&crew);
	return rc;
}

int cmd_check(const struct hn_opts *o, struct hn_err *err)
{
	struct work w = { .o = o, .dir = "/tmp/hone-check-XXXXXX" };
	struct hn_network net;
	int rc = hn_network_open_ranges(o, &net, err);

	if (rc == 0 && net.fused) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "check: --target %s: this machine runs no kernel of it; `hone "
			     "tune` holds each of its programs against the task", o->target);
	}
	if (rc == 0 && mkdtemp(w.dir) == NULL) {
		rc = hn_fail(err, HONE_E_IO, "%s: no temporary folder", w.dir);
	} else if (rc == 0) {
		hn_interrupt_catch();
		rc = check_ranges(&w, &net, err);
		hn_file_remove_tree(w.dir);
	}
	hn_network_close(&net);
	return rc;
}
