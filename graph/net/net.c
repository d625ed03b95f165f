/* graph/net/net.c -- tasks and steps of a network. */
#include "graph/net/net.h"

#include <ctype.h>
#include <string.h>

#include "graph/ir/op.h"
#include "graph/ir/text.h"
#include "graph/net/layout.h"
#include "graph/net/outputs.h"
#include "graph/net/widen.h"

#define PROGRAM "task" /* what every text is called until its task has a name */
#define NAMED_OPS 4

/* The node that a group is there for. */
static const struct hn_gnode *heaviest(const struct hn_graph *g, const struct hn_ggroup *group)
{
	const struct hn_gnode *best = &g->node[group->node[0]];

	for (uint32_t i = 1; i < group->n_node; i++) {
		const struct hn_gnode *n = &g->node[group->node[i]];

		best = n->op->class > best->op->class ? n : best;
	}
	return best;
}

/* "k07_conv_add_relu": operators in order, an equal one behind another once. */
static const char *name_of(const struct hn_graph *g, const struct hn_ggroup *group, uint32_t number)
{
	const char *before = "";
	struct hn_buf b;
	const char *name;

	hn_buf_init(&b);
	hn_buf_printf(&b, "k%02u", number);
	for (uint32_t i = 0, n = 0; i < group->n_node && n < NAMED_OPS; i++) {
		const char *op = g->node[group->node[i]].op->name;

		if (strcmp(op, before) != 0) {
			hn_buf_putc(&b, '_');
			for (const char *p = op; *p != '\0'; p++) {
				hn_buf_putc(&b, (char)tolower((unsigned char)*p));
			}
			n++;
		}
		before = op;
	}
	name = hn_arena_strndup(g->arena, b.s, b.n);
	hn_buf_fini(&b);
	return name;
}

/* The task of that text; n_task: a new one. */
static uint32_t find_task(const struct hn_net *net, const char *text)
{
	uint32_t i = 0;

	while (i < net->n_task && strcmp(net->task[i].text, text) != 0) {
		i++;
	}
	return i;
}

/* "0:256,1;2:512,1": where the step's arguments are strided; NULL: nowhere. */
static const char *strides_of(const struct hn_net *net, const struct hn_gtext *t)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < t->n_arg; i++) {
		const struct hn_gplace *p = &net->part.place[t->arg[i]];

		for (uint32_t k = 0; p->stride != NULL && k < net->g->value[t->arg[i]].rank; k++) {
			if (k == 0) {
				text = hn_arena_printf(net->g->arena, "%s%s%u", text != NULL ? text : "",
						       text != NULL ? ";" : "", i);
			}
			text = hn_arena_printf(net->g->arena, "%s%c%lld", text, k == 0 ? ':' : ',',
					       (long long)p->stride[k]);
		}
	}
	return text;
}

/* The kernel of that task with these strides; a new one where there is none. */
static uint32_t find_kernel(struct hn_net *net, uint32_t task, const char *strides)
{
	const char *want = strides != NULL ? strides : "";

	for (uint32_t i = 0; i < net->n_kernel; i++) {
		const char *is = net->kernel[i].strides != NULL ? net->kernel[i].strides : "";

		if (net->kernel[i].task == task && strcmp(is, want) == 0) {
			return i;
		}
	}
	net->kernel[net->n_kernel] = (struct hn_gkernel){ .task = task, .strides = strides };
	return net->n_kernel++;
}

static void name_kernels(struct hn_net *net)
{
	uint32_t *n = HN_NEW_ARRAY(net->g->arena, uint32_t, net->n_task);

	for (uint32_t i = 0; i < net->n_kernel; i++) {
		struct hn_gkernel *k = &net->kernel[i];

		k->name = net->task[k->task].name;
		if (k->strides != NULL) {
			k->name = hn_arena_printf(net->g->arena, "%s_s%u", k->name, ++n[k->task]);
		}
	}
}

static int add_step(struct hn_net *net, const struct hn_ggroup *group, struct hn_err *err)
{
	const struct hn_gnode *main = heaviest(net->g, group);
	struct hn_gstep *step = &net->step[net->n_step];
	struct hn_gtask *task;
	struct hn_gtext t;
	int rc = hn_graph_text(net->g, PROGRAM, group->n_node, group->node, group->n_out,
			       group->out, net->g->arena, &t, err);

	if (rc != 0) {
		return rc;
	}
	*step = (struct hn_gstep){ find_task(net, t.text), 0, t.n_arg, t.n_in, t.arg, main->name };
	step->kernel = find_kernel(net, step->task, strides_of(net, &t));
	task = &net->task[step->task];
	if (step->task == net->n_task) {
		if (hn_graph_dag(&t, main->name, net->g->arena, &task->dag, err) != 0) {
			return hn_err_within(err, "%s (%s)", main->name, main->op->name);
		}
		task->text = t.text;
		task->name = name_of(net->g, group, net->n_task);
		task->flops = hn_dag_flops(task->dag);
		net->n_task++;
	}
	task->n_step++;
	net->kernel[step->kernel].n_step++;
	net->n_step++;
	return 0;
}

int hn_net_make_by(struct hn_graph *g, const struct hn_net_choice *choice, struct hn_net *ret,
		   struct hn_err *err)
{
	int rc = 0;

	*ret = (struct hn_net){ .g = g };
	hn_outputs_settle(g);
	if (g->failed) {
		return -err->code;
	}
	hn_graph_sweep(g);
	hn_widen_in_readers(g);
	hn_layout_choose(g, choice != NULL && choice->row_major,
			 choice != NULL ? choice->plain : NULL);
	hn_partition_make(g, choice, &ret->part);
	ret->task = HN_NEW_ARRAY(g->arena, struct hn_gtask, ret->part.n_group);
	ret->kernel = HN_NEW_ARRAY(g->arena, struct hn_gkernel, ret->part.n_group);
	ret->step = HN_NEW_ARRAY(g->arena, struct hn_gstep, ret->part.n_group);
	for (uint32_t i = 0; rc == 0 && i < ret->part.n_group; i++) {
		rc = add_step(ret, &ret->part.group[i], err);
	}
	name_kernels(ret);
	/* names last: until here equal texts were equal tasks */
	for (uint32_t i = 0; rc == 0 && i < ret->n_task; i++) {
		ret->task[i].text = hn_arena_printf(g->arena, "%s%s", ret->task[i].name,
						    ret->task[i].text + strlen(PROGRAM));
	}
	return rc;
}

int hn_net_make(struct hn_graph *g, struct hn_net *ret, struct hn_err *err)
{
	return hn_net_make_by(g, NULL, ret, err);
}
