/* graph/net/largest.c -- see largest.h. */
#include "graph/net/largest.h"

#include <string.h>

#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"

static int put_numbers(const struct hn_net_range *r, struct hn_arena *a, struct hn_gtask *t,
		       struct hn_err *err)
{
	struct hn_buf b;
	int rc = hn_dag_instantiate(t->dag, r->most, a, &t->dag, err);

	if (rc != 0) {
		return hn_err_within(err, "%s", t->name);
	}
	hn_buf_init(&b);
	hn_dag_write_text(t->dag, t->name, &b);
	if (b.failed) {
		rc = hn_fail(err, HONE_E_NOMEM, "no memory for the text of %s", t->name);
	} else {
		t->text = hn_arena_strndup(a, b.s, b.n);
		t->flops = hn_dag_flops(t->dag);
		t->sized = false;
	}
	hn_buf_fini(&b);
	return rc;
}

int hn_range_largest(const struct hn_net_range *r, struct hn_arena *a, struct hn_net *ret,
		     struct hn_err *err)
{
	struct hn_gtask *task = HN_NEW_ARRAY(a, struct hn_gtask, r->net.n_task + 1);
	int rc = 0;

	*ret = r->net;
	for (uint32_t i = 0; rc == 0 && i < ret->n_task; i++) {
		task[i] = r->net.task[i];
		rc = task[i].sized ? put_numbers(r, a, &task[i], err) : 0;
	}
	ret->task = task;
	return rc;
}

bool hn_range_has_other(const struct hn_ranges *all, uint32_t k, uint32_t i)
{
	const struct hn_gtask *t = &all->range[k].net.task[i];
	bool found = false;

	for (uint32_t m = 0; m < k && !found; m++) {
		const struct hn_net *net = &all->range[m].net;

		for (uint32_t u = 0; u < net->n_task && !found; u++) {
			found = strcmp(t->text + strlen(t->name),
				       net->task[u].text + strlen(net->task[u].name)) == 0;
		}
	}
	return found;
}
