/* bench/peer/onednn.c -- sequences of primitives: making, running, dropping.  See
 * onednn.h. */
#include "bench/peer/onednn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/team.h"

bool hn_dnn_ok(struct hn_dnn *d, dnnl_status_t s)
{
	d->failed = d->failed || s != dnnl_success;
	return !d->failed;
}

static void run(void *ctx)
{
	struct hn_dnn *d = ctx;

	for (uint32_t i = 0; i < d->n_step; i++) {
		dnnl_primitive_execute(d->step[i].primitive, d->stream, d->step[i].n_arg,
				       d->step[i].arg);
	}
	dnnl_stream_wait(d->stream);
}

/* Copy between layouts, now. */
static void reorder(struct hn_dnn *d, dnnl_memory_t from, dnnl_memory_t to)
{
	const_dnnl_memory_desc_t from_md, to_md;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t p = NULL;

	if (d->failed || !hn_dnn_ok(d, dnnl_memory_get_memory_desc(from, &from_md)) ||
	    !hn_dnn_ok(d, dnnl_memory_get_memory_desc(to, &to_md)) ||
	    !hn_dnn_ok(d, dnnl_reorder_primitive_desc_create(&pd, from_md, d->engine,
							     to_md, d->engine, NULL))) {
		return;
	}
	if (hn_dnn_ok(d, dnnl_primitive_create(&p, pd))) {
		dnnl_exec_arg_t arg[] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, to } };

		hn_dnn_ok(d, dnnl_primitive_execute(p, d->stream, 2, arg));
		dnnl_stream_wait(d->stream);
		dnnl_primitive_destroy(p);
	}
	dnnl_primitive_desc_destroy(pd);
}

static void fetch(void *ctx)
{
	struct hn_dnn *d = ctx;
	void *at = d->contest->arg[d->contest->dag->n_arg - 1];
	dnnl_memory_t plain;

	if (dnnl_memory_create(&plain, d->out_plain, d->engine, at) == dnnl_success) {
		reorder(d, d->out, plain);
		dnnl_memory_destroy(plain);
	}
}

static void finish(void *ctx)
{
	struct hn_dnn *d = ctx;

	for (uint32_t i = 0; i < d->n_step; i++) {
		dnnl_primitive_destroy(d->step[i].primitive);
		dnnl_primitive_desc_destroy(d->step[i].pd);
	}
	for (uint32_t i = 0; i < d->n_memory; i++) {
		dnnl_memory_destroy(d->memory[i]);
	}
	for (uint32_t i = 0; i < d->n_desc; i++) {
		dnnl_memory_desc_destroy(d->desc[i]);
	}
	dnnl_stream_destroy(d->stream);
	dnnl_engine_destroy(d->engine);
	free(d);
}

struct hn_dnn *hn_dnn_begin(struct hn_contest *t, const char *name)
{
	struct hn_dnn *d = calloc(1, sizeof(*d));

	hn_assert(d != NULL);
	hn_team_pin(t->n_threads); /* oneDNN's threads are OpenMP's */
	d->contest = t;
	d->contender = hn_contest_add(t, name);
	d->contender->ctx = d;
	d->contender->call = run;
	d->contender->close = finish;
	if (hn_dnn_ok(d, dnnl_engine_create(&d->engine, dnnl_cpu, 0))) {
		hn_dnn_ok(d, dnnl_stream_create(&d->stream, d->engine,
						dnnl_stream_default_flags));
	}
	return d;
}

void hn_dnn_done(struct hn_dnn *d)
{
	if (d->out != NULL) {
		d->contender->fetch = fetch;
	}
	if (d->failed) {
		fprintf(stderr, "hone-bench: %s: oneDNN has no \"%s\" for it\n",
			d->contest->row->name, d->contender->name);
		d->contest->n--;
		finish(d);
	}
}

/* The sequence's next descriptor; NULL when it has failed. */
static dnnl_memory_desc_t *next_desc(struct hn_dnn *d)
{
	d->failed = d->failed || d->n_desc == HN_DNN_MAX_DESC;
	return d->failed ? NULL : &d->desc[d->n_desc];
}

static const_dnnl_memory_desc_t keep_desc(struct hn_dnn *d, dnnl_status_t made)
{
	return hn_dnn_ok(d, made) ? d->desc[d->n_desc++] : NULL;
}

const_dnnl_memory_desc_t hn_dnn_strided_of(struct hn_dnn *d, dnnl_data_type_t type,
					   int n_dim, const int64_t *dims,
					   const int64_t *strides)
{
	dnnl_memory_desc_t *md = next_desc(d);

	return md == NULL ? NULL
			  : keep_desc(d, dnnl_memory_desc_create_with_strides(
						 md, n_dim, dims, type, strides));
}

const_dnnl_memory_desc_t hn_dnn_plain_of(struct hn_dnn *d, dnnl_data_type_t type,
					 int n_dim, const int64_t *dims)
{
	int64_t strides[DNNL_MAX_NDIMS], s = 1;

	for (int i = n_dim - 1; i >= 0; s *= dims[i], i--) {
		strides[i] = s;
	}
	return hn_dnn_strided_of(d, type, n_dim, dims, strides);
}

const_dnnl_memory_desc_t hn_dnn_any_of(struct hn_dnn *d, dnnl_data_type_t type, int n_dim,
				       const int64_t *dims)
{
	dnnl_memory_desc_t *md = next_desc(d);

	return md == NULL
		       ? NULL
		       : keep_desc(d,
				   dnnl_memory_desc_create_with_tag(md, n_dim, dims, type,
								    dnnl_format_tag_any));
}

const_dnnl_memory_desc_t hn_dnn_strided(struct hn_dnn *d, int n_dim, const int64_t *dims,
					const int64_t *strides)
{
	return hn_dnn_strided_of(d, dnnl_f32, n_dim, dims, strides);
}

const_dnnl_memory_desc_t hn_dnn_plain(struct hn_dnn *d, int n_dim, const int64_t *dims)
{
	return hn_dnn_plain_of(d, dnnl_f32, n_dim, dims);
}

const_dnnl_memory_desc_t hn_dnn_any(struct hn_dnn *d, int n_dim, const int64_t *dims)
{
	return hn_dnn_any_of(d, dnnl_f32, n_dim, dims);
}

dnnl_memory_t hn_dnn_memory(struct hn_dnn *d, const_dnnl_memory_desc_t md, void *at)
{
	dnnl_memory_t m = NULL;
	void *own;

	if (d->failed || d->n_memory == HN_DNN_MAX_MEMORY ||
	    !hn_dnn_ok(d, dnnl_memory_create(&m, md, d->engine,
					     at != NULL ? at : DNNL_MEMORY_ALLOCATE))) {
		d->failed = true;
		return NULL;
	}
	d->memory[d->n_memory++] = m;
	if (at == NULL && dnnl_memory_get_data_handle(m, &own) == dnnl_success) {
		memset(own, 0, dnnl_memory_desc_get_size(md));
		hn_contender_range(d->contender, own, dnnl_memory_desc_get_size(md));
	}
	return m;
}

dnnl_memory_t hn_dnn_input(struct hn_dnn *d, const_dnnl_memory_desc_t have,
			   const_dnnl_memory_desc_t want, void *at)
{
	dnnl_memory_t there = hn_dnn_memory(d, have, at), copy;

	if (d->failed || dnnl_memory_desc_equal(have, want)) {
		return there;
	}
	copy = hn_dnn_memory(d, want, NULL);
	reorder(d, there, copy);
	return copy;
}

dnnl_memory_t hn_dnn_output(struct hn_dnn *d, const_dnnl_memory_desc_t plain,
			    const_dnnl_memory_desc_t want)
{
	void *at = d->contest->arg[d->contest->dag->n_arg - 1];

	if (d->failed || dnnl_memory_desc_equal(plain, want)) {
		return hn_dnn_memory(d, plain, at);
	}
	d->out_plain = plain;
	d->out = hn_dnn_memory(d, want, NULL);
	return d->out;
}

struct hn_dnn_step *hn_dnn_step(struct hn_dnn *d)
{
	hn_assert(d->n_step < HN_DNN_MAX_STEP);
	return &d->step[d->n_step];
}

void hn_dnn_made(struct hn_dnn *d, struct hn_dnn_step *s, dnnl_status_t status)
{
	bool made = status == dnnl_success;

	if (hn_dnn_ok(d, status) &&
	    hn_dnn_ok(d, dnnl_primitive_create(&s->primitive, s->pd))) {
		d->n_step++;
	} else if (made) {
		dnnl_primitive_desc_destroy(s->pd);
	}
}

void hn_dnn_arg(struct hn_dnn_step *s, int which, dnnl_memory_t memory)
{
	hn_assert(s->n_arg < HN_DNN_MAX_ARG);
	s->arg[s->n_arg++] = (dnnl_exec_arg_t){ which, memory };
}

const_dnnl_memory_desc_t hn_dnn_layout(struct hn_dnn *d, const struct hn_dnn_step *s,
				       dnnl_query_t what)
{
	const_dnnl_memory_desc_t md =
		d->failed ? NULL : dnnl_primitive_desc_query_md(s->pd, what, 0);

	d->failed = d->failed || md == NULL;
	return md;
}

void hn_dnn_copy(struct hn_dnn *d, dnnl_memory_t from, dnnl_memory_t to)
{
	struct hn_dnn_step *s = hn_dnn_step(d);
	const_dnnl_memory_desc_t from_md, to_md;

	if (!d->failed && hn_dnn_ok(d, dnnl_memory_get_memory_desc(from, &from_md)) &&
	    hn_dnn_ok(d, dnnl_memory_get_memory_desc(to, &to_md))) {
		hn_dnn_made(d, s,
			    dnnl_reorder_primitive_desc_create(&s->pd, from_md, d->engine,
							       to_md, d->engine, NULL));
		hn_dnn_arg(s, DNNL_ARG_FROM, from);
		hn_dnn_arg(s, DNNL_ARG_TO, to);
	}
}

void hn_dnn_eltwise(struct hn_dnn *d, dnnl_alg_kind_t kind, float alpha, float beta,
		    dnnl_memory_t y)
{
	struct hn_dnn_step *s = hn_dnn_step(d);
	const_dnnl_memory_desc_t md;

	if (!d->failed && hn_dnn_ok(d, dnnl_memory_get_memory_desc(y, &md))) {
		hn_dnn_made(d, s,
			    dnnl_eltwise_forward_primitive_desc_create(
				    &s->pd, d->engine, dnnl_forward_inference, kind, md,
				    md, alpha, beta, NULL));
		hn_dnn_arg(s, DNNL_ARG_SRC, y);
		hn_dnn_arg(s, DNNL_ARG_DST, y);
	}
}

void hn_dnn_binary(struct hn_dnn *d, dnnl_alg_kind_t kind, dnnl_memory_t y,
		   dnnl_memory_t r)
{
	struct hn_dnn_step *s = hn_dnn_step(d);
	const_dnnl_memory_desc_t y_md, r_md;

	if (!d->failed && hn_dnn_ok(d, dnnl_memory_get_memory_desc(y, &y_md)) &&
	    hn_dnn_ok(d, dnnl_memory_get_memory_desc(r, &r_md))) {
		hn_dnn_made(d, s,
			    dnnl_binary_primitive_desc_create(&s->pd, d->engine, kind,
							      y_md, r_md, y_md, NULL));
		hn_dnn_arg(s, DNNL_ARG_SRC_0, y);
		hn_dnn_arg(s, DNNL_ARG_SRC_1, r);
		hn_dnn_arg(s, DNNL_ARG_DST, y);
	}
}

void hn_peer_onednn(struct hn_contest *t)
{
	struct hn_conv c;

	if (t->row->type != HN_SUITE_F32) {
		hn_dnn_low(t);
	} else if (hn_suite_conv(t->row, &c)) {
		hn_dnn_conv(t, &c);
	} else {
		hn_dnn_products(t);
		hn_dnn_rows(t);
	}
}
