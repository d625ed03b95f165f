/* graph/library/assemble_ranges.c -- the table of a network for ranges of sizes: the steps of each
 * range one after the other.  They share weights, prepared data, kernels that are the same, and the
 * memory between steps, for one range runs at a time. */
#include <string.h>

#include "graph/library/assemble.h"

struct joining {
	const struct hn_ranges *ranges;
	struct hn_arena *a;
	struct hn_assembly part; /* of the range that is being added */
	uint32_t *kernel;	 /* [n_kernel of it] their numbers in the whole */
	uint32_t *weight;	 /* [n_weight of it] likewise */
	struct hn_weight *weights;
	struct hn_model_kernel *kernels;
	struct hn_model_step *steps;
	struct hn_model_range *range;
	uint32_t n_weight, cap_weight, n_kernel, cap_kernel, n_step, cap_step;
};

static void join_kernels(struct joining *x)
{
	const struct hn_model *m = &x->part.model;

	x->kernel = HN_NEW_ARRAY(x->a, uint32_t, m->n_kernel);
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		uint32_t k = 0;

		while (k < x->n_kernel && strcmp(x->kernels[k].symbol, m->kernel[i].symbol) != 0) {
			k++;
		}
		if (k == x->n_kernel) {
			x->kernels = hn_arena_grow(x->a, x->kernels, x->n_kernel, &x->cap_kernel,
						   sizeof(*x->kernels));
			x->kernels[x->n_kernel++] = m->kernel[i];
		}
		x->kernel[i] = k;
	}
}

/* Weights lie in the model's file: the same place is the same weight. */
static void join_weights(struct joining *x)
{
	x->weight = HN_NEW_ARRAY(x->a, uint32_t, x->part.n_weight);
	for (uint32_t i = 0; i < x->part.n_weight; i++) {
		const struct hn_weight *w = &x->part.weight[i];
		uint32_t k = 0;

		while (k < x->n_weight && (w->bytes == NULL || x->weights[k].bytes != w->bytes ||
					   x->weights[k].n_bytes != w->n_bytes)) {
			k++;
		}
		if (k == x->n_weight) {
			x->weights = hn_arena_grow(x->a, x->weights, x->n_weight, &x->cap_weight,
						   sizeof(*x->weights));
			x->weights[x->n_weight++] = *w;
		}
		x->weight[i] = k;
	}
}

static void join_steps(struct joining *x)
{
	const struct hn_model *m = &x->part.model;

	for (uint32_t i = 0; i < m->n_step; i++) {
		uint32_t n_arg = m->kernel[m->step[i].kernel].n_arg;
		struct hone_model_arg *arg = HN_NEW_ARRAY(x->a, struct hone_model_arg, n_arg);

		for (uint32_t k = 0; k < n_arg; k++) {
			arg[k] = m->step[i].arg[k];
			arg[k].index = arg[k].place == HONE_MODEL_WEIGHTS ? x->weight[arg[k].index]
									  : arg[k].index;
		}
		x->steps = hn_arena_grow(x->a, x->steps, x->n_step, &x->cap_step,
					 sizeof(*x->steps));
		x->steps[x->n_step] = m->step[i];
		x->steps[x->n_step].kernel = x->kernel[m->step[i].kernel];
		x->steps[x->n_step++].arg = arg;
	}
}

static void add_forms(struct hn_model_tensor *t, uint32_t n, const char *const *const *form)
{
	for (uint32_t i = 0; i < n; i++) {
		t[i].form = form[i];
	}
}

static void add_sizes(struct joining *x, struct hn_model *m)
{
	struct hn_model_size *s = HN_NEW_ARRAY(x->a, struct hn_model_size, x->ranges->n_size);

	for (uint32_t k = 0; k < x->ranges->n_size; k++) {
		const struct hn_net_size *from = &x->ranges->size[k];

		s[k] = (struct hn_model_size){ hn_assemble_label(x->a, from->name),
					       from->least * from->step,
					       from->most * from->step, from->step };
	}
	m->n_size = x->ranges->n_size;
	m->size = s;
	add_forms((struct hn_model_tensor *)(uintptr_t)m->input, m->n_input,
		  x->ranges->range[0].input);
	add_forms((struct hn_model_tensor *)(uintptr_t)m->output, m->n_output,
		  x->ranges->range[0].output);
}

/* Sizes that are counted in steps, as the caller says them. */
static const int64_t *in_units(const struct joining *x, const int64_t *size)
{
	int64_t *v = HN_NEW_ARRAY(x->a, int64_t, x->ranges->n_size);

	for (uint32_t k = 0; k < x->ranges->n_size; k++) {
		v[k] = size[k] * x->ranges->size[k].step;
	}
	return v;
}

int hn_assemble_ranges(const struct hn_ranges *ranges, const char *name,
		       const struct hn_kernel_facts *const *facts, struct hn_arena *a,
		       struct hn_assembly *ret, struct hn_err *err)
{
	struct joining x = { .ranges = ranges, .a = a };

	x.range = HN_NEW_ARRAY(a, struct hn_model_range, ranges->n);
	for (uint32_t i = 0; i < ranges->n; i++) {
		const struct hn_net_range *r = &ranges->range[i];
		uint32_t first = x.n_step;
		int rc = hn_assemble(&r->net, name, facts[i], a, &x.part, err);

		if (rc != 0) {
			return rc;
		}
		if (i == 0) { /* of the largest sizes: inputs and outputs are its */
			*ret = x.part;
		}
		join_kernels(&x);
		join_weights(&x);
		join_steps(&x);
		x.range[i] = (struct hn_model_range){ in_units(&x, r->least), in_units(&x, r->most),
						      first, x.n_step - first };
		ret->model.arena_bytes = x.part.model.arena_bytes > ret->model.arena_bytes
						 ? x.part.model.arena_bytes
						 : ret->model.arena_bytes;
		ret->arena_bound = x.part.arena_bound > ret->arena_bound ? x.part.arena_bound
									 : ret->arena_bound;
	}
	ret->n_weight = x.n_weight;
	ret->weight = x.weights;
	ret->model.n_kernel = x.n_kernel;
	ret->model.kernel = x.kernels;
	ret->model.n_step = x.n_step;
	ret->model.step = x.steps;
	ret->model.n_range = ranges->n;
	ret->model.range = x.range;
	add_sizes(&x, &ret->model);
	return 0;
}
