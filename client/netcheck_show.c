/* client/netcheck_show.c -- the answer of `hone check`, for people and for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "base/name.h"
#include "client/netcheck.h"

const char *hn_netcheck_word(enum hn_netcheck_result r)
{
	static const char *const words[] = {
#define X(name, word) word,
		HN_NETCHECK_RESULTS(X)
#undef X
	};

	return words[r];
}

/* What there is to say of a result that is not simply right; "" of others. */
static const char *reason(const struct hn_netcheck_kernel *k)
{
	switch (k->result) {
	case HN_NETCHECK_WRONG:
		return k->kernel.check.wrong;
	case HN_NETCHECK_NOT_RUN:
		return k->kernel.check.why;
	case HN_NETCHECK_FAILED:
		return k->err.msg;
	default:
		return "";
	}
}

/* The largest difference of the steps that kernel i is run in; below 0: nobody knows. */
static double step_error(const struct hn_netcheck *c, uint32_t i)
{
	double worst = -1;

	for (uint32_t k = 0; c->step != NULL && k < c->net->net.n_step; k++) {
		if (c->net->net.step[k].task == i && c->step[k].computed) {
			worst = fmax(worst, c->step[k].error);
		}
	}
	return worst;
}

/* "2.1e-07"; "-" for what nobody knows. */
static const char *share_text(bool known, double v, char text[16])
{
	if (known && v > 0) {
		snprintf(text, 16, "%.1e", v);
	} else {
		snprintf(text, 16, "%s", known ? "0" : "-");
	}
	return text;
}

static void print_row(const struct hn_netcheck *c, uint32_t i, int width)
{
	const struct hn_netcheck_kernel *k = &c->kernel[i];
	const struct hn_check *ran = &k->kernel.check;
	const char *why = reason(k);
	char from[32] = "automatic", compared[48] = "-", error[16], allowed[16], fused[16];

	if (k->kernel.record != 0) {
		snprintf(from, sizeof(from), "record %lld", (long long)k->kernel.record);
	}
	if (ran->n > 0) {
		snprintf(compared, sizeof(compared), "%.0f of %.0f", ran->n_compared,
			 ran->n_element);
	}
	printf("%-*s  %4u  %-12s  %6u  %20s  %7s  %7s  %7s  %s%s%s\n", width, k->task->name,
	       k->task->n_step, from, ran->n, compared, share_text(ran->n > 0, ran->error, error),
	       share_text(ran->n > 0, ran->allowed, allowed),
	       share_text(step_error(c, i) >= 0, step_error(c, i), fused), hn_netcheck_word(k->result),
	       *why != '\0' ? ": " : "", why);
}

/* "[3,0]" of the element of flat index at. */
static const char *place_text(const struct hn_gvalue *v, int64_t at, struct hn_arena *a)
{
	int64_t index[HN_GRAPH_MAX_RANK];

	for (uint32_t d = v->rank; d-- > 0;) {
		index[d] = at % v->shape[d];
		at /= v->shape[d];
	}
	return hn_shape_text(a, v->rank, index);
}

static void print_wrong_step(const struct hn_netcheck *c, uint32_t i)
{
	const struct hn_gstep *step = &c->net->net.step[i];
	const struct hn_step_numbers *s = &c->step[i];
	const struct hn_gvalue *v = &c->net->graph.value[s->value];
	struct hn_arena *a = (struct hn_arena *)&c->net->arena;
	char node[81], value[81];

	hn_shown(node, sizeof(node), step->name, strlen(step->name));
	hn_shown(value, sizeof(value), v->name, strlen(v->name));
	printf("step %u, %s, node %s: %s%s: fused %.9g, node by node %.9g\n", i,
	       c->net->net.task[step->task].name, node, value, place_text(v, s->at, a), s->got,
	       s->want);
}

static void print_steps(const struct hn_netcheck *c)
{
	uint32_t computed = 0, all = c->net->net.n_step;
	double worst = 0;
	char text[16];

	if (c->step == NULL) {
		printf("layouts and fusion: not computed: %s\n", c->why_no_step);
		return;
	}
	for (uint32_t i = 0; i < all; i++) {
		if (hn_netcheck_step_wrong(&c->step[i])) {
			print_wrong_step(c, i);
		}
		worst = fmax(worst, c->step[i].error);
		computed += c->step[i].computed;
	}
	printf("layouts and fusion: %u of %u steps have their nodes' numbers, largest difference "
	       "%s\n",
	       computed - c->n_step_wrong, computed, share_text(true, worst, text));
	if (computed < all) {
		printf("the other %u take the interpreter too long\n", all - computed);
	}
}

static int name_width(const struct hn_netcheck *c)
{
	int width = (int)strlen("kernel");

	for (uint32_t i = 0; i < c->net->net.n_task; i++) {
		int length = (int)strlen(c->kernel[i].task->name);

		width = length > width ? length : width;
	}
	return width;
}

void hn_netcheck_table(const struct hn_netcheck *c)
{
	int width = name_width(c);
	char text[16];

	printf("%-*s  %4s  %-12s  %6s  %20s  %7s  %7s  %7s  %s\n", width, "kernel", "runs",
	       "schedule", "inputs", "compared", "error", "allowed", "fused", "result");
	for (uint32_t i = 0; i < c->net->net.n_task; i++) {
		print_row(c, i, width);
	}
	printf("\n%u steps of %u kernels:", c->net->net.n_step, c->net->net.n_task);
	for (uint32_t r = 0; r < HN_NETCHECK_N; r++) {
		if (c->count[r] > 0 || r == HN_NETCHECK_RIGHT) {
			printf(" %u %s,", c->count[r], hn_netcheck_word(r));
		}
	}
	if (c->worst != NULL) {
		printf(" largest error %s of %s (%.1e is allowed)\n",
		       share_text(true, c->worst->kernel.check.error, text), c->worst->task->name,
		       c->worst->kernel.check.allowed);
	} else {
		printf(" no error is known\n");
	}
	print_steps(c);
}

static void put_kernel(const struct hn_netcheck_kernel *k, struct hn_jw *w)
{
	const struct hn_check *c = &k->kernel.check;
	const char *why = reason(k);

	hn_jw_object(w, NULL);
	hn_jw_str(w, "name", k->task->name);
	hn_jw_str(w, "key", k->kernel.key);
	hn_jw_uint(w, "runs", k->task->n_step);
	hn_jw_str(w, "result", hn_netcheck_word(k->result));
	hn_jw_str(w, "why", *why != '\0' ? why : NULL);
	if (k->kernel.record != 0) {
		hn_jw_int(w, "record", k->kernel.record);
	} else {
		hn_jw_null(w, "record");
	}
	hn_jw_uint(w, "inputs", c->n);
	hn_jw_double(w, "compared", c->n_compared);
	hn_jw_double(w, "of", c->n_element);
	hn_jw_double(w, "error", c->n > 0 ? c->error : NAN);
	hn_jw_double(w, "allowed", c->n > 0 ? c->allowed : NAN);
	hn_jw_end(w);
}

static void put_step(const struct hn_netcheck *c, uint32_t i, struct hn_jw *w)
{
	const struct hn_gstep *step = &c->net->net.step[i];
	const struct hn_step_numbers *s = &c->step[i];
	bool differs = s->value >= 0;

	hn_jw_object(w, NULL);
	hn_jw_str(w, "kernel", c->net->net.task[step->task].name);
	hn_jw_str(w, "node", step->name);
	hn_jw_bool(w, "computed", s->computed);
	hn_jw_bool(w, "right", s->computed && !hn_netcheck_step_wrong(s));
	hn_jw_double(w, "error", s->computed ? s->error : NAN);
	hn_jw_double(w, "allowed", s->computed ? s->allowed : NAN);
	hn_jw_str(w, "value", differs ? c->net->graph.value[s->value].name : NULL);
	hn_jw_double(w, "element", differs ? (double)s->at : NAN);
	hn_jw_double(w, "got", differs ? s->got : NAN);
	hn_jw_double(w, "want", differs ? s->want : NAN);
	hn_jw_end(w);
}

/* Members "steps" and "why_no_steps". */
static void put_steps(const struct hn_netcheck *c, struct hn_jw *w)
{
	hn_jw_str(w, "why_no_steps", c->why_no_step);
	hn_jw_list(w, "steps");
	for (uint32_t i = 0; c->step != NULL && i < c->net->net.n_step; i++) {
		put_step(c, i, w);
	}
	hn_jw_end(w);
}

void hn_netcheck_json(const struct hn_netcheck *c)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", c->net->name);
	hn_jw_uint(&w, "n_steps", c->net->net.n_step);
	hn_jw_uint(&w, "right", c->count[HN_NETCHECK_RIGHT]);
	hn_jw_uint(&w, "wrong", c->count[HN_NETCHECK_WRONG]);
	hn_jw_uint(&w, "not_run", c->count[HN_NETCHECK_NOT_RUN]);
	hn_jw_uint(&w, "failed", c->count[HN_NETCHECK_FAILED]);
	hn_jw_list(&w, "kernels");
	for (uint32_t i = 0; i < c->net->net.n_task; i++) {
		put_kernel(&c->kernel[i], &w);
	}
	hn_jw_end(&w);
	put_steps(c, &w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	puts(b.s);
	hn_buf_fini(&b);
}
