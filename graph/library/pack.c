/* graph/library/pack.c -- see pack.h. */
#include "graph/library/pack.h"

#define NOWHERE UINT32_MAX

struct packing {
	const struct hn_model *m, *settled;
	const struct hn_weight *weight;
	const char *prepared;
	const bool *const *reads;
	struct hn_arena *a;
	uint32_t *number; /* [n_weight] among those that stay; NOWHERE: not met yet */
	struct hn_weight *kept;
	uint32_t n_kept;
};

static bool has_block(const struct packing *x, uint32_t step)
{
	return x->m->kernel[x->m->step[step].kernel].prepared_bytes > 0;
}

static bool is_read(const struct packing *x, uint32_t step, uint32_t i)
{
	uint32_t kernel = x->m->step[step].kernel;

	return !has_block(x, step) || x->reads[kernel][i];
}

/* The step's arguments, by the numbers of the weights that stay. */
static const struct hone_model_arg *pack_args(struct packing *x, uint32_t step)
{
	const struct hn_model_step *s = &x->m->step[step];
	uint32_t n = x->m->kernel[s->kernel].n_arg;
	struct hone_model_arg *arg = HN_NEW_ARRAY(x->a, struct hone_model_arg, n);

	for (uint32_t i = 0; i < n; i++) {
		arg[i] = s->arg[i];
		if (arg[i].place == HONE_MODEL_WEIGHTS && !is_read(x, step, i)) {
			arg[i] = (struct hone_model_arg){ .place = HONE_MODEL_NOWHERE };
		} else if (arg[i].place == HONE_MODEL_WEIGHTS) {
			uint32_t *number = &x->number[arg[i].index];

			if (*number == NOWHERE) {
				*number = x->n_kept;
				x->kept[x->n_kept++] = x->weight[arg[i].index];
			}
			arg[i].index = *number;
		}
	}
	return arg;
}

/* The number of the weight that is the step's block.  Steps that share one add it once each:
 * hn_weights_plan stores equal weights once. */
static uint64_t pack_block(struct packing *x, uint32_t step)
{
	x->kept[x->n_kept] = (struct hn_weight){
		.bytes = x->prepared + x->settled->step[step].prepared,
		.n_bytes = x->m->kernel[x->m->step[step].kernel].prepared_bytes
	};
	return x->n_kept++;
}

void hn_library_pack(const struct hn_model *m, const struct hn_weight *weight, uint32_t n_weight,
		     const struct hn_model *settled, const void *prepared,
		     const bool *const *reads, struct hn_arena *a, struct hn_packed *ret)
{
	struct hn_model_step *step = HN_NEW_ARRAY(a, struct hn_model_step, m->n_step);
	struct packing x = { .m = m,
			     .settled = settled,
			     .weight = weight,
			     .prepared = prepared,
			     .reads = reads,
			     .a = a,
			     .number = HN_NEW_ARRAY(a, uint32_t, n_weight),
			     .kept = HN_NEW_ARRAY(a, struct hn_weight, n_weight + m->n_step) };

	for (uint32_t i = 0; i < n_weight; i++) {
		x.number[i] = NOWHERE;
	}
	for (uint32_t i = 0; i < m->n_step; i++) {
		step[i] = m->step[i];
		step[i].arg = pack_args(&x, i);
		if (has_block(&x, i)) {
			step[i].prepared = pack_block(&x, i);
			step[i].stored = true;
		}
	}
	*ret = (struct hn_packed){ .model = *m, .n_weight = x.n_kept, .weight = x.kept };
	ret->model.step = step;
}
