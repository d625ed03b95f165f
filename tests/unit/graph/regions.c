/* The regions of random networks with nodes that hone refuses: every node that it takes is in one, no
 * region waits for itself through others, none could take in its neighbour, and each cut out is a
 * model of its own with the same inputs and outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "graph/import/regions.h"
#include "graph/onnx/cut.h"
#include "graph/op/dtype.h"
#include "tests/lib/onnx_writer.h"

#define MOST 40

struct node {
	uint32_t in[2], n_in; /* 0: the model's input; k: the result of node k - 1 */
	bool refused, unknown; /* unknown: nobody says the shape of its result */
	bool left;	       /* or reads what is unknown */
	bool read;
};

struct network {
	struct node node[MOST];
	uint32_t n;
};

static struct network draw(struct hn_rng *rng)
{
	struct network net = { .n = 2 + (uint32_t)hn_rng_below(rng, MOST - 2) };

	for (uint32_t i = 0; i < net.n; i++) {
		struct node *n = &net.node[i];

		n->refused = hn_rng_below(rng, 5) == 0;
		n->unknown = n->refused && hn_rng_below(rng, 4) == 0;
		n->left = n->refused;
		n->n_in = 1 + (uint32_t)hn_rng_below(rng, 2);
		for (uint32_t k = 0; k < n->n_in; k++) {
			uint32_t back = (uint32_t)hn_rng_below(rng, i + 1 < 6 ? i + 1 : 6);

			n->in[k] = i - back;
			if (n->in[k] > 0) {
				net.node[n->in[k] - 1].read = true;
				n->left = n->left || net.node[n->in[k] - 1].unknown;
			}
		}
		n->unknown = n->unknown || (n->left && !n->refused);
	}
	return net;
}

static const char *name_of(uint32_t value)
{
	static char text[4][16];
	static int at;

	at = (at + 1) % 4;
	snprintf(text[at], sizeof(text[at]), value == 0 ? "x" : "v%u", value - 1);
	return text[at];
}

static void put_shape(struct hn_buf *b, uint32_t field, const char *name)
{
	char text[100];
	const char *at = text;

	snprintf(text, sizeof(text), "%u{ 1'%s' 2{ 1{ 1:1 2{ 1{ 1:4 } } } } }", field, name);
	put_items(b, &at);
}

static void write_model(const struct network *net, struct hn_buf *b)
{
	const char *opset = "1:8 8{ 2:17 } 8{ 1'test' 2:1 }";
	size_t graph;

	put_items(b, &opset);
	graph = put_begin(b, 7);
	for (uint32_t i = 0; i < net->n; i++) {
		const struct node *n = &net->node[i];
		size_t begin = put_begin(b, 1);

		for (uint32_t k = 0; k < n->n_in; k++) {
			put_text(b, 1, name_of(n->in[k]));
		}
		put_text(b, 2, name_of(i + 1));
		/* no two nodes are alike, and none undoes another */
		put_text(b, 4, n->refused ? "Odd" : n->n_in == 2 ? "Add" : "Tanh");
		put_text(b, 7, n->refused ? "test" : "");
		put_end(b, begin);
		if (n->refused && !n->unknown) {
			put_shape(b, 13, name_of(i + 1));
		}
	}
	put_shape(b, 11, "x");
	for (uint32_t i = 0; i < net->n; i++) {
		if (!net->node[i].read && !net->node[i].unknown) {
			put_shape(b, 12, name_of(i + 1));
		}
	}
	put_end(b, graph);
}

/* -- what is asked of regions ------------------------------------------------------------------- */

struct judged {
	const struct network *net;
	uint32_t unit[MOST]; /* of a node: its region, or one of its own */
};

static bool reaches(const struct judged *j, uint32_t from, uint32_t to, uint32_t without, bool *seen)
{
	/* from one unit to another over one edge or more; `without`: not straight there */
	for (uint32_t i = 0; i < j->net->n; i++) {
		const struct node *n = &j->net->node[i];

		for (uint32_t k = 0; k < n->n_in; k++) {
			if (n->in[k] == 0 || j->unit[n->in[k] - 1] != from || j->unit[i] == from) {
				continue;
			}
			if (j->unit[i] == to) {
				if (from != without) {
					return true;
				}
			} else if (!seen[j->unit[i]]) {
				seen[j->unit[i]] = true;
				if (reaches(j, j->unit[i], to, without, seen)) {
					return true;
				}
			}
		}
	}
	return false;
}

static bool path(const struct judged *j, uint32_t from, uint32_t to, uint32_t without)
{
	bool seen[3 * MOST] = { false };

	return reaches(j, from, to, without, seen);
}

static void check_units(const struct network *net, const struct hn_regions *regions)
{
	struct judged j = { .net = net };
	bool is_taken[MOST] = { false };

	for (uint32_t i = 0; i < net->n; i++) {
		j.unit[i] = MOST + i;
	}
	for (uint32_t r = 0; r < regions->n; r++) {
		for (uint32_t k = 0; k < regions->region[r].n_node; k++) {
			uint32_t n = regions->region[r].node[k];

			assert_false(is_taken[n]);
			is_taken[n] = true;
			j.unit[n] = r;
		}
	}
	for (uint32_t i = 0; i < net->n; i++) {
		assert_int_equal(is_taken[i], !net->node[i].left);
		assert_false(path(&j, j.unit[i], j.unit[i], UINT32_MAX));
		for (uint32_t k = 0; k < net->node[i].n_in; k++) {
			uint32_t from = net->node[i].in[k];

			if (from > 0 && is_taken[i] && is_taken[from - 1] &&
			    j.unit[i] != j.unit[from - 1]) {
				assert_true(path(&j, j.unit[from - 1], j.unit[i], j.unit[from - 1]));
			}
		}
	}
}

/* whole: nothing was done to the model, so what is cut out of it is a network. */
static void check_cut(struct hn_onnx *o, const struct hn_graph *from, const struct hn_region *r,
		      bool whole)
{
	struct hn_onnx_cut_value in[3 * MOST], out[3 * MOST];
	const struct hn_onnx_cut cut = { .node = r->node,
					 .n_node = r->n_node,
					 .input = in,
					 .n_input = r->n_input,
					 .output = out,
					 .n_output = r->n_output };
	struct hn_import im = { 0 };
	struct hn_onnx *part = NULL;
	struct hn_graph g;
	struct hn_arena a;
	struct hn_err err;
	struct hn_buf b;

	for (uint32_t i = 0; i < r->n_input + r->n_output; i++) {
		const struct hn_region_value *v =
			i < r->n_input ? &r->input[i] : &r->output[i - r->n_input];
		const struct hn_gvalue *of = &from->value[v->value];

		*(i < r->n_input ? &in[i] : &out[i - r->n_input]) =
			(struct hn_onnx_cut_value){
				v->name, of->shape, of->rank,
				hn_dtype_to_onnx((enum hn_dtype)of->dtype), NULL, 0
			};
	}
	hn_buf_init(&b);
	hn_arena_init(&a, 0);
	assert_int_equal(hn_onnx_cut(o, &cut, &b, &err), 0);
	if (hn_onnx_parse("part", b.s, b.n, &part, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_graph_init(&g, &a, "part", &err);
	if (hn_graph_import(part, &im, &g, &err) == 0) {
		assert_int_equal(g.n_input, r->n_input);
		assert_int_equal(g.n_output, r->n_output);
	} else if (whole) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(hn_onnx_model(part)->graph->n_node, r->n_node);
	hn_onnx_close(part);
	hn_arena_fini(&a);
	hn_buf_fini(&b);
}

/* A model that is read, and what is found in it. */
struct reading {
	struct hn_import im;
	struct hn_regions regions;
	struct hn_onnx *o;
	struct hn_graph g;
	struct hn_arena a;
	struct hn_err err;
	struct hn_buf b; /* the model */
};

static void begin(struct reading *r)
{
	*r = (struct reading){ 0 };
	hn_buf_init(&r->b);
	hn_arena_init(&r->a, 0);
}

static int find(struct reading *r)
{
	hn_graph_init(&r->g, &r->a, "net", &r->err);
	return hn_graph_regions(r->o, &r->im, &r->g, &r->regions, &r->err);
}

static void end(struct reading *r)
{
	hn_onnx_close(r->o);
	hn_arena_fini(&r->a);
	hn_buf_fini(&r->b);
}

static void random_networks_are_cut_well(void **state)
{
	struct hn_rng rng;
	uint32_t n_several = 0;

	(void)state;
	rng = hn_rng_stream(11, 0, 0, 0);
	for (int round = 0; round < 300; round++) {
		struct network net = draw(&rng);
		struct reading r;

		begin(&r);
		write_model(&net, &r.b);
		assert_int_equal(hn_onnx_parse("net", r.b.s, r.b.n, &r.o, &r.err), 0);
		if (find(&r) != 0) {
			fail_msg("round %d: %s", round, r.err.msg);
		}
		check_units(&net, &r.regions);
		for (uint32_t i = 0; i < r.regions.n; i++) {
			check_cut(r.o, &r.g, &r.regions.region[i], true);
		}
		n_several += r.regions.n > 2;
		end(&r);
	}
	assert_true(n_several > 50);
}

/* Bytes and digits of names changed. */
static void damage(struct hn_buf *b, struct hn_rng *rng)
{
	for (uint64_t n = 1 + hn_rng_below(rng, 3); n > 0; n--) {
		size_t at = hn_rng_below(rng, b->n);

		while (hn_rng_below(rng, 8) != 0 && !isdigit((unsigned char)b->s[at])) {
			at = hn_rng_below(rng, b->n); /* rather another's name than no model */
		}
		b->s[at] = isdigit((unsigned char)b->s[at]) ? (char)('0' + hn_rng_below(rng, 10))
							    : (char)hn_rng_below(rng, 256);
	}
}

/* Refused, or cut into models that can be read. */
static void damaged_networks_are_cut_or_refused(void **state)
{
	struct hn_rng rng = hn_rng_stream(12, 0, 0, 0);
	uint32_t n_cut = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct network net = draw(&rng);
		struct reading r;

		begin(&r);
		write_model(&net, &r.b);
		damage(&r.b, &rng);
		if (hn_onnx_parse("net", r.b.s, r.b.n, &r.o, &r.err) == 0 && find(&r) == 0) {
			for (uint32_t i = 0; i < r.regions.n; i++) {
				check_cut(r.o, &r.g, &r.regions.region[i], false);
			}
			n_cut += r.regions.n > 0;
		}
		end(&r);
	}
	assert_in_range(n_cut, 300, 2900); /* neither all nor none: else it would say little */
}

/* A name that is there twice means nothing. */
static void a_result_twice_is_refused(void **state)
{
	const char *text = "1:8 8{ 2:17 } 7{ 1{ 1'x' 2'y' 4'Tanh' } 1{ 1'x' 2'y' 4'Odd' } "
			   "11{ 1'x' 2{ 1{ 1:1 2{ 1{ 1:4 } } } } } 12{ 1'y' 2{ 1{ 1:1 2{ 1{ 1:4 } } } } } }";
	struct reading r;

	(void)state;
	begin(&r);
	put_items(&r.b, &text);
	assert_int_equal(hn_onnx_parse("net", r.b.s, r.b.n, &r.o, &r.err), 0);
	assert_int_equal(find(&r), -HONE_E_INVALID);
	assert_non_null(strstr(r.err.msg, "result y is there already"));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_networks_are_cut_well),
		cmocka_unit_test(damaged_networks_are_cut_or_refused),
		cmocka_unit_test(a_result_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
