/* graph/ir/text.c -- some nodes as one computation. */
#include "graph/ir/text.h"

#include <string.h>

#include "graph/ir/op.h"
#include "loopstate/read/dag_read.h"

struct writer {
	struct hn_say say;
	uint32_t *name; /* of each value of the graph; 0 = none */
	uint32_t n_name;
	int32_t *arg;
	uint32_t n_arg;
};

static uint32_t name_it(struct writer *w, int32_t v)
{
	if (w->name[v] == 0) {
		w->name[v] = ++w->n_name;
	}
	return w->name[v];
}

/* Numbers are written where they are used (say.c). */
static bool is_number(const struct hn_gvalue *v)
{
	return v->data != NULL && !v->operand && hn_gvalue_elements(v) == 1;
}

/* Parameters: what nodes read and none of them has made before. */
static void find_args(struct writer *w, const struct hn_gnode *n)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		int32_t v = n->in[i];

		if (v >= 0 && w->name[v] == 0 && !is_number(&w->say.g->value[v])) {
			name_it(w, v);
			w->arg[w->n_arg++] = v;
		}
	}
	for (uint32_t k = 0; k < n->n_out; k++) {
		name_it(w, n->out[k]);
	}
}

static void put_param(struct writer *w, int32_t v, bool first)
{
	const struct hn_gvalue *value = &w->say.g->value[v];

	hn_say_text(&w->say, "%s%s%s T%u", first ? "" : ", ", value->data != NULL ? "const " : "",
		    hn_dtype_name(value->dtype), w->name[v]);
	for (uint32_t k = 0; k < value->rank; k++) {
		uint32_t d = value->order != NULL ? value->order[k] : k;

		hn_say_text(&w->say, "%s%lld", k == 0 ? "[" : ",", (long long)value->shape[d]);
	}
	hn_say_text(&w->say, "%s", value->rank > 0 ? "]" : "");
}

static void put_head(struct writer *w, const char *name, uint32_t n_in)
{
	hn_say_text(&w->say, "%s(", name);
	for (uint32_t i = 0; i < n_in; i++) {
		put_param(w, w->arg[i], i == 0);
	}
	hn_say_text(&w->say, ") -> ");
	for (uint32_t i = n_in; i < w->n_arg; i++) {
		hn_say_text(&w->say, "%sT%u", i == n_in ? (w->n_arg - n_in > 1 ? "(" : "") : ", ",
			    w->name[w->arg[i]]);
	}
	hn_say_text(&w->say, "%s {\n", w->n_arg - n_in > 1 ? ")" : "");
}

static uint32_t count_operands(const struct hn_graph *g, uint32_t n_node, const uint32_t *node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_node; i++) {
		n += g->node[node[i]].n_in;
	}
	return n;
}

int hn_graph_text(const struct hn_graph *g, const char *name, uint32_t n_node,
		  const uint32_t *node, uint32_t n_out, const int32_t *out, struct hn_arena *a,
		  struct hn_gtext *ret, struct hn_err *err)
{
	struct hn_buf b;
	struct writer w = { .say = { .g = g, .b = &b },
			    .name = HN_NEW_ARRAY(a, uint32_t, g->n_value) };
	int rc = 0;

	hn_buf_init(&b);
	w.say.name = w.name;
	w.arg = HN_NEW_ARRAY(a, int32_t, count_operands(g, n_node, node) + n_out);
	for (uint32_t i = 0; i < n_node; i++) {
		find_args(&w, &g->node[node[i]]);
	}
	ret->n_in = w.n_arg;
	for (uint32_t i = 0; i < n_out; i++) {
		w.arg[w.n_arg++] = out[i];
	}
	put_head(&w, name, ret->n_in);
	for (uint32_t i = 0; i < n_node; i++) {
		g->node[node[i]].op->say(&w.say, &g->node[node[i]]);
	}
	hn_buf_puts(&b, "}\n");
	if (b.failed) {
		rc = hn_fail(err, HONE_E_NOMEM, "%s: no memory for its text", name);
	}
	ret->text = hn_arena_strndup(a, b.s, b.n);
	ret->n_arg = w.n_arg;
	ret->arg = w.arg;
	hn_buf_fini(&b);
	return rc;
}

int hn_graph_dag(const struct hn_gtext *t, const char *what, struct hn_arena *a,
		 const struct hn_dag **ret, struct hn_err *err)
{
	return hn_dag_parse(what, t->text, strlen(t->text), 0, a, ret, err);
}
