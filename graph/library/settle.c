/* graph/library/settle.c -- see settle.h. */
#include "graph/library/settle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settling {
	const struct hn_model *m;
	const struct hn_weight *weight;
	uint32_t n_weight;
	const struct hn_weights *plan;
	struct hn_arena *a;
	struct hn_err *err;
};

static int settle_arg(const struct settling *x, uint32_t step, uint32_t i, uint64_t bytes,
		      struct hone_model_arg *arg)
{
	if (arg->place != HONE_MODEL_WEIGHTS) {
		return 0;
	}
	if (arg->index >= x->n_weight) {
		return hn_fail(x->err, HONE_E_INVALID,
			       "steps[%u].args[%u]: there is no weight %u", step, i,
			       arg->index);
	}
	uint64_t in = x->weight[arg->index].n_bytes;

	if (bytes > in || arg->offset > in - bytes) {
		return hn_fail(x->err, HONE_E_INVALID,
			       "steps[%u].args[%u]: %" PRIu64 " bytes at %" PRIu64
			       " go past the end of weight %u, %" PRIu64 " bytes long",
			       step, i, bytes, arg->offset, arg->index, in);
	}
	arg->offset += x->plan->offset[arg->index];
	arg->index = 0;
	return 0;
}

static int settle_step(const struct settling *x, uint32_t i, struct hn_model_step *s)
{
	if (s->kernel >= x->m->n_kernel) {
		return hn_fail(x->err, HONE_E_INVALID,
			       "steps[%u].kernel: there is no kernel %u", i, s->kernel);
	}
	const struct hn_model_kernel *k = &x->m->kernel[s->kernel];
	struct hone_model_arg *arg = HN_NEW_ARRAY(x->a, struct hone_model_arg, k->n_arg);
	int rc = 0;

	memcpy(arg, s->arg, k->n_arg * sizeof *arg);
	for (uint32_t n = 0; n < k->n_arg && rc == 0; n++) {
		rc = settle_arg(x, i, n, k->arg_bytes[n], &arg[n]);
	}
	s->arg = arg;
	if (rc == 0 && s->stored && s->prepared >= x->n_weight) {
		rc = hn_fail(x->err, HONE_E_INVALID, "steps[%u].prepared: there is no weight %u", i,
			     (unsigned)s->prepared);
	}
	s->prepared = rc == 0 && s->stored ? x->plan->offset[s->prepared] : 0;
	return rc;
}

/* -- prepared blocks ------------------------------------------------------------------ */

struct user {
	const struct hn_model_kernel *kernel;
	const struct hn_model_step *s;
	uint32_t step;
};

static int order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* By what decides the block. */
static int by_block(const void *p, const void *q)
{
	const struct user *x = p, *y = q;
	int c = order(x->s->kernel, y->s->kernel);

	for (uint32_t i = 0; c == 0 && i < x->kernel->n_in; i++) {
		c = x->kernel->constant[i]
			    ? order(x->s->arg[i].offset, y->s->arg[i].offset)
			    : 0;
	}
	return c;
}

static int by_block_and_step(const void *p, const void *q)
{
	const struct user *x = p, *y = q;
	int c = by_block(p, q);

	return c ? c : order(x->step, y->step);
}

/* Blocks lie in the order of their first steps. */
static void settle_prepared(struct hn_model *m, struct hn_model_step *step,
			    struct hn_arena *a)
{
	struct user *user = HN_NEW_ARRAY(a, struct user, m->n_step);
	uint32_t *first =
		HN_NEW_ARRAY(a, uint32_t, m->n_step); /* step whose block it is */
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_step; i++) {
		first[i] = i;
		if (m->kernel[step[i].kernel].prepared_bytes > 0 && !step[i].stored) {
			user[n++] =
				(struct user){ &m->kernel[step[i].kernel], &step[i], i };
		}
	}
	qsort(user, n, sizeof *user, by_block_and_step);
	for (uint32_t i = 1; i < n; i++) {
		if (by_block(&user[i - 1], &user[i]) == 0) {
			first[user[i].step] = first[user[i - 1].step];
		}
	}
	m->prepared_bytes = 0;
	for (uint32_t i = 0; i < m->n_step; i++) {
		uint64_t bytes = m->kernel[step[i].kernel].prepared_bytes;

		if (step[i].stored) {
			continue;
		}
		step[i].prepared =
			first[i] < i ? step[first[i]].prepared : m->prepared_bytes;
		if (bytes > 0 && first[i] == i &&
		    m->prepared_bytes <= HN_MODEL_MAX_BYTES) {
			m->prepared_bytes += (bytes + HN_MODEL_ALIGN - 1) /
					     HN_MODEL_ALIGN * HN_MODEL_ALIGN;
		}
	}
}

int hn_library_settle(const struct hn_model *m, const struct hn_weight *weight,
		      uint32_t n_weight, const struct hn_weights *plan,
		      struct hn_arena *a, struct hn_model *ret, struct hn_err *err)
{
	const struct settling x = { m, weight, n_weight, plan, a, err };
	struct hn_model made = *m;
	int rc = 0;

	if (m->n_step > HN_MODEL_MAX_STEPS) {
		return hn_fail(err, HONE_E_QUOTA, "steps: %u, more than %u", m->n_step,
			       HN_MODEL_MAX_STEPS);
	}
	struct hn_model_step *step = HN_NEW_ARRAY(a, struct hn_model_step, m->n_step);

	for (uint32_t i = 0; i < m->n_step && rc == 0; i++) {
		step[i] = m->step[i];
		rc = settle_step(&x, i, &step[i]);
	}
	if (rc != 0) {
		return rc;
	}
	made.step = step;
	made.weights_bytes = plan->n_bytes;
	made.stamp = plan->stamp;
	settle_prepared(&made, step, a);
	rc = hn_model_check(&made, err);
	if (rc == 0) {
		*ret = made;
	}
	return rc;
}
