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
#include <unistd.h>

#include "base/file.h"
#include "client/crew.h"
#include "client/interrupt.h"
#include "client/netcheck.h"

struct work {
	const struct hn_opts *o;
	struct hn_netcheck *check;
	char dir[64]; /* temporary */
};

static enum hn_netcheck_result result_of(const struct hn_check *c, int rc)
{
	return c->wrong != NULL ? HN_NETCHECK_WRONG
	       : rc != 0	? HN_NETCHECK_FAILED
	       : c->why != NULL ? HN_NETCHECK_NOT_RUN
				: HN_NETCHECK_RIGHT;
}

static bool check_one(void *ctx, uint32_t i, struct hn_arena *a)
{
	struct work *w = ctx;
	struct hn_netcheck_kernel *k = &w->check->kernel[i];
	struct hn_opts one = hn_network_task(w->o, k->task);
	char symbol[32], path[128];
	int rc;

	if (hn_interrupted()) {
		return false;
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

static int check(struct work *w, struct hn_network *n, struct hn_err *err)
{
	struct hn_netcheck *c = w->check;
	struct hn_crew crew;
	int rc;

	c->kernel = HN_NEW_ARRAY(&n->arena, struct hn_netcheck_kernel, n->net.n_task);
	for (uint32_t i = 0; i < n->net.n_task; i++) {
		c->kernel[i].task = &n->net.task[i];
	}
	hn_crew_open(&crew);
	hn_crew_run(&crew, n->net.n_task, check_one, w);
	rc = hn_interrupted() ? hn_fail(err, HONE_E_CANCELLED, "check: stopped") : 0;
	rc = rc ? rc : hn_net_numbers(&n->net, &c->step, &c->why_no_step, err);
	if (rc == 0) {
		count(c);
		(w->o->json ? hn_netcheck_json : hn_netcheck_table)(c);
		rc = judge(c, err);
	}
	hn_crew_close(&crew);
	return rc;
}

int cmd_check(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_network net;
	struct hn_netcheck answer = { .net = &net };
	struct work w = { .o = o, .check = &answer, .dir = "/tmp/hone-check-XXXXXX" };
	int rc = hn_network_open(o, &net, err);

	if (rc == 0 && mkdtemp(w.dir) == NULL) {
		rc = hn_fail(err, HONE_E_IO, "%s: no temporary folder", w.dir);
	} else if (rc == 0) {
		hn_interrupt_catch();
		rc = check(&w, &net, err);
		hn_file_remove_tree(w.dir);
	}
	hn_network_close(&net);
	return rc;
}
