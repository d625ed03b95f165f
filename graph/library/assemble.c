/* graph/library/assemble.c -- the table of a compiled network, from a graph. */
#include "graph/library/assemble.h"

#include <string.h>

#include "base/name.h"
#include "graph/plan/plan.h"

#define NOWHERE UINT32_MAX

/* Where each value's memory is; by its root. */
struct place {
	uint32_t place; /* enum hone_model_place; NOWHERE: not met yet */
	uint32_t index; /* of the input, output, weight or plan's tensor */
};

struct work {
	const struct hn_net *net;
	struct hn_arena *a;
	struct place *at; /* [n_value] */
	uint64_t *bytes; /* [n_value] of roots: what is kept for it */
	struct hn_weight *weight;
	struct hn_plan_tensor *tensor;
	uint32_t n_weight, n_tensor;
};

static const struct hn_gvalue *value(const struct work *w, int32_t v)
{
	return &w->net->g->value[v];
}

static void place_ends(struct work *w)
{
	const struct hn_graph *g = w->net->g;

	for (uint32_t v = 0; v < g->n_value; v++) {
		w->at[v].place = NOWHERE;
	}
	for (uint32_t i = 0; i < g->n_input; i++) {
		w->at[g->input[i]] = (struct place){ HONE_MODEL_INPUT, i };
	}
	for (uint32_t i = 0; i < g->n_output; i++) {
		w->at[w->net->part.place[g->output[i]].root] =
			(struct place){ HONE_MODEL_OUTPUT, i };
	}
}

static void add_weight(struct work *w, int32_t v)
{
	const struct hn_gvalue *c = value(w, v);
	uint32_t unit = hn_dtype_bytes(c->dtype);
	uint64_t element = 0;

	if (c->fill) {
		memcpy(&element, c->data, unit); /* little endian */
	}
	w->at[v] = (struct place){ HONE_MODEL_WEIGHTS, w->n_weight };
	w->weight[w->n_weight++] = (struct hn_weight){ c->fill ? NULL : c->data,
						       hn_gvalue_bytes(c), unit, element };
}

/* Where an argument's rows lie apart. */
static struct hn_model_rows rows_of(const struct work *w, int32_t v)
{
	struct hn_grows rows = hn_gplace_rows(value(w, v), &w->net->part.place[v]);
	uint64_t unit = hn_dtype_bytes(value(w, v)->dtype);

	return rows.n == 1 ? (struct hn_model_rows){ 0 }
			   : (struct hn_model_rows){ (uint64_t)rows.n, (uint64_t)rows.length * unit,
						     (uint64_t)rows.pitch * unit };
}

/* From its first element to its last. */
static uint64_t bytes_of(const struct work *w, int32_t v)
{
	struct hn_model_rows rows = rows_of(w, v);

	return rows.n > 0 ? hn_model_rows_span(&rows) : hn_gvalue_bytes(value(w, v));
}

/* Argument i as its kernel takes it: one for a range that has larger sizes than this network's may
 * be told of more memory than its value has. */
static uint64_t arg_bytes(const struct work *w, const struct hn_gstep *step, uint32_t i)
{
	const struct hn_gtask *task = &w->net->task[step->task];
	uint64_t least = bytes_of(w, step->arg[i]), most = 0;
	uint32_t out = 0;

	if (!task->sized) {
		return least;
	}
	for (uint32_t k = 0; k < i; k++) {
		out += task->dag->arg[k] == task->dag->arg[i];
	}
	most = (uint64_t)hn_op_bytes(task->dag->op[task->dag->arg[i]], out);
	return most > least ? most : least;
}

static void find_bytes(struct work *w)
{
	for (uint32_t v = 0; v < w->net->g->n_value; v++) {
		w->bytes[v] = hn_gvalue_bytes(value(w, (int32_t)v));
	}
	for (uint32_t s = 0; s < w->net->n_step; s++) {
		const struct hn_gstep *step = &w->net->step[s];

		for (uint32_t i = 0; i < step->n_arg; i++) {
			const struct hn_gplace *lies = &w->net->part.place[step->arg[i]];
			uint64_t at = (uint64_t)lies->at * hn_dtype_bytes(value(w, step->arg[i])->dtype);
			uint64_t end = at + arg_bytes(w, step, i);

			w->bytes[lies->root] = end > w->bytes[lies->root] ? end : w->bytes[lies->root];
		}
	}
}

/* Tensors between the steps, with the steps that they live through. */
static void place_values(struct work *w)
{
	for (uint32_t s = 0; s < w->net->n_step; s++) {
		const struct hn_gstep *step = &w->net->step[s];

		for (uint32_t i = 0; i < step->n_arg; i++) {
			int32_t v = w->net->part.place[step->arg[i]].root;

			if (w->at[v].place == NOWHERE && value(w, v)->data != NULL) {
				add_weight(w, v);
			} else if (w->at[v].place == NOWHERE) {
				w->at[v] = (struct place){ HONE_MODEL_ARENA, w->n_tensor };
				w->tensor[w->n_tensor++] = (struct hn_plan_tensor){
					.bytes = w->bytes[v], .first = s
				};
			}
			if (w->at[v].place == HONE_MODEL_ARENA) {
				w->tensor[w->at[v].index].last = s;
			}
		}
	}
}

static struct hone_model_arg arg_of(const struct work *w, int32_t v, const struct hn_plan *plan)
{
	const struct hn_gplace *lies = &w->net->part.place[v];
	struct place p = w->at[lies->root];
	uint64_t at = (uint64_t)lies->at * hn_dtype_bytes(value(w, v)->dtype);

	return p.place == HONE_MODEL_ARENA
		       ? (struct hone_model_arg){ p.place, 0, plan->offset[p.index] + at }
		       : (struct hone_model_arg){ p.place, p.index, at };
}

const char *hn_assemble_label(struct hn_arena *a, const char *name)
{
	char shown[HN_MODEL_MAX_LABEL + 1];

	hn_shown(shown, sizeof(shown), name, strlen(name));
	return hn_arena_strdup(a, shown);
}

static const struct hn_model_tensor *describe(struct work *w, uint32_t n, const int32_t *v,
					      const char *const *name)
{
	struct hn_model_tensor *t = HN_NEW_ARRAY(w->a, struct hn_model_tensor, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_gvalue *of = value(w, v[i]);

		t[i] = (struct hn_model_tensor){ hn_assemble_label(w->a, name != NULL ? name[i] : of->name),
						 of->dtype, of->rank, of->shape, NULL };
	}
	return t;
}

/* A kernel, by the arguments of one of its steps: they are alike. */
static void add_kernel(struct work *w, const struct hn_gstep *step,
		       const struct hn_kernel_facts *facts, struct hn_model_kernel *ret)
{
	uint64_t *bytes = HN_NEW_ARRAY(w->a, uint64_t, step->n_arg);
	struct hn_model_rows *rows = HN_NEW_ARRAY(w->a, struct hn_model_rows, step->n_arg);
	bool *constant = HN_NEW_ARRAY(w->a, bool, step->n_in);

	for (uint32_t i = 0; i < step->n_arg; i++) {
		rows[i] = rows_of(w, step->arg[i]);
		bytes[i] = arg_bytes(w, step, i);
		if (i < step->n_in) {
			constant[i] = value(w, step->arg[i])->data != NULL;
		}
	}
	*ret = (struct hn_model_kernel){ .symbol = facts->symbol,
					 .name = w->net->kernel[step->kernel].name,
					 .n_in = step->n_in,
					 .n_arg = step->n_arg,
					 .arg_bytes = bytes,
					 .rows = rows,
					 .constant = constant,
					 .prepared_bytes = facts->prepared_bytes,
					 .workspace_bytes = facts->workspace_bytes,
					 .worker_bytes = facts->worker_bytes,
					 .init = facts->init,
					 .sized = w->net->task[step->task].sized };
}

static void add_steps(struct work *w, const struct hn_kernel_facts *facts,
		      const struct hn_plan *plan, struct hn_model *m)
{
	struct hn_model_kernel *kernel =
		HN_NEW_ARRAY(w->a, struct hn_model_kernel, w->net->n_kernel);
	struct hn_model_step *to = HN_NEW_ARRAY(w->a, struct hn_model_step, w->net->n_step);

	for (uint32_t s = 0; s < w->net->n_step; s++) {
		const struct hn_gstep *step = &w->net->step[s];
		struct hone_model_arg *arg = HN_NEW_ARRAY(w->a, struct hone_model_arg, step->n_arg);

		for (uint32_t i = 0; i < step->n_arg; i++) {
			arg[i] = arg_of(w, step->arg[i], plan);
		}
		to[s] = (struct hn_model_step){ .name = hn_assemble_label(w->a, step->name),
						.kernel = step->kernel,
						.arg = arg };
		if (kernel[step->kernel].symbol == NULL) {
			add_kernel(w, step, &facts[step->kernel], &kernel[step->kernel]);
		}
	}
	m->n_kernel = w->net->n_kernel;
	m->kernel = kernel;
	m->n_step = w->net->n_step;
	m->step = to;
}

static uint32_t count_args(const struct hn_net *net)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < net->n_step; s++) {
		n += net->step[s].n_arg;
	}
	return n;
}

int hn_assemble(const struct hn_net *net, const char *name, const struct hn_kernel_facts *facts,
		struct hn_arena *a, struct hn_assembly *ret, struct hn_err *err)
{
	const struct hn_graph *g = net->g;
	uint32_t n_arg = count_args(net);
	struct work w = { .net = net,
			  .a = a,
			  .at = HN_NEW_ARRAY(a, struct place, g->n_value),
			  .bytes = HN_NEW_ARRAY(a, uint64_t, g->n_value),
			  .weight = HN_NEW_ARRAY(a, struct hn_weight, n_arg),
			  .tensor = HN_NEW_ARRAY(a, struct hn_plan_tensor, n_arg) };
	struct hn_plan plan;
	int rc;

	place_ends(&w);
	find_bytes(&w);
	place_values(&w);
	rc = hn_plan_make(w.tensor, w.n_tensor, a, &plan, err);
	if (rc != 0) {
		return rc;
	}
	*ret = (struct hn_assembly){ .n_weight = w.n_weight,
				     .weight = w.weight,
				     .arena_bound = plan.bound_bytes };
	ret->model = (struct hn_model){ .name = name,
					.n_input = g->n_input,
					.n_output = g->n_output,
					.input = describe(&w, g->n_input, g->input, NULL),
					.output = describe(&w, g->n_output, g->output,
							   g->output_name),
					.arena_bytes = plan.peak_bytes };
	add_steps(&w, facts, &plan, &ret->model);
	return 0;
}
