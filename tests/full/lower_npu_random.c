/* Random dags on the simulated NPU: axes in any order, sums over some of them, what lacks axes, what is
 * read twice and shifted, several results, several types, bytes among them, sizes that nothing divides.
 * Each program is judged, some run in drawn orders, and every number is the interpreter's.
 *
 *     full_lower_npu_random [DAGS [FIRST]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "loopstate/read/dag_read.h"
#include "tests/lib/npu_bed.h"

#define MOST_POINTS 60000
#define AXES 4

static const char *const bytes[] = { "int8", "uint8", "bool" };
static uint64_t dags = 1200, first;

struct tensor {
	char name[8];
	uint32_t n, axis[AXES]; /* which of the space's it has, in its order */
	const char *type;
};

struct gen {
	struct hn_rng rng;
	int64_t size[AXES];
	uint32_t n_axis, n_tensor;
	bool has_bytes;
	struct tensor t[24];
	struct hn_buf args, body;
};

static uint32_t below(struct gen *g, uint32_t n)
{
	return (uint32_t)hn_rng_below(&g->rng, n);
}

static void sizes(struct gen *g)
{
	static const int64_t some[] = { 1, 2, 3, 5, 7, 8, 13, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100, 128, 200, 257,
					1000, 4099 };
	int64_t points = MOST_POINTS;

	g->n_axis = 1 + below(g, AXES);
	for (uint32_t d = 0; d < g->n_axis; d++) {
		do {
			g->size[d] = some[below(g, HN_COUNT_OF(some))];
		} while (g->size[d] > points);
		points /= g->size[d];
	}
}

/* Some of the axes in some order. */
static void shape(struct gen *g, struct tensor *t, bool all)
{
	bool mixed = below(g, 3) == 0;

	t->n = 0;
	for (uint32_t d = 0; d < g->n_axis; d++) {
		if (all || below(g, 4) != 0) {
			t->axis[t->n++] = d;
		}
	}
	for (uint32_t k = 0; k + 1 < t->n && mixed; k++) {
		uint32_t other = k + below(g, t->n - k), axis = t->axis[k];

		t->axis[k] = t->axis[other];
		t->axis[other] = axis;
	}
}

static void indices(struct gen *g, struct hn_buf *b, const struct tensor *t, uint32_t turned)
{
	(void)g;
	hn_buf_puts(b, "(");
	for (uint32_t k = 0; k < t->n; k++) {
		hn_buf_printf(b, "%s%s%u", k > 0 ? "," : "", k == turned ? "n" : "i", t->axis[k]);
	}
	hn_buf_puts(b, ")");
}

static bool is_byte(const struct tensor *t)
{
	return strcmp(t->type, "float16") != 0 && strcmp(t->type, "float32") != 0;
}

/* Bytes that do not lie in a row have no form. */
static void in_order(struct tensor *t)
{
	for (uint32_t k = 1; k < t->n; k++) {
		for (uint32_t i = k; i > 0 && t->axis[i - 1] > t->axis[i]; i--) {
			uint32_t axis = t->axis[i];

			t->axis[i] = t->axis[i - 1];
			t->axis[i - 1] = axis;
		}
	}
}

static void input(struct gen *g)
{
	struct tensor *t = &g->t[g->n_tensor];

	snprintf(t->name, sizeof(t->name), "A%u", g->n_tensor++);
	t->type = below(g, 4) == 0 ? "float16" : g->has_bytes && below(g, 8) == 0 ? bytes[below(g, HN_COUNT_OF(bytes))] : "float32";
	shape(g, t, below(g, 2) == 0);
	if (is_byte(t)) {
		in_order(t);
	}
	hn_buf_printf(&g->args, "%s%s %s[", g->args.n > 0 ? ", " : "", t->type, t->name);
	for (uint32_t k = 0; k < t->n; k++) {
		hn_buf_printf(&g->args, "%s%lld", k > 0 ? "," : "", (long long)g->size[t->axis[k]]);
	}
	if (t->n == 0) {
		hn_buf_puts(&g->args, "1");
	}
	hn_buf_puts(&g->args, "]");
}

/* A read of a tensor, as float32; its axis of a length from the far end, now and then. */
static void operand(struct gen *g, struct hn_buf *b, const struct tensor *t)
{
	bool cast = strcmp(t->type, "float32") != 0;

	hn_buf_printf(b, "%s%s", cast ? "float32(" : "", t->name);
	if (t->n == 0 && t->name[0] == 'A') {
		hn_buf_puts(b, "(0)");
	} else if (t->n > 0 && below(g, 12) == 0) {
		uint32_t far = below(g, t->n);

		hn_buf_puts(b, "(");
		for (uint32_t k = 0; k < t->n; k++) {
			if (k == far) {
				hn_buf_printf(b, "%s%lld - i%u", k > 0 ? "," : "",
					      (long long)g->size[t->axis[k]] - 1, t->axis[k]);
			} else {
				hn_buf_printf(b, "%si%u", k > 0 ? "," : "", t->axis[k]);
			}
		}
		hn_buf_puts(b, ")");
	} else {
		indices(g, b, t, UINT32_MAX);
	}
	hn_buf_puts(b, cast ? ")" : "");
}

static void expression(struct gen *g, struct hn_buf *b, const struct tensor *x, const struct tensor *y)
{
	static const char *const infix[] = { " + ", " - ", " * " };

	switch (below(g, 6)) {
	case 0:
		hn_buf_puts(b, "max(");
		operand(g, b, x);
		hn_buf_puts(b, ", ");
		operand(g, b, y);
		hn_buf_puts(b, ")");
		return;
	case 1:
		hn_buf_puts(b, "tanh(");
		operand(g, b, x);
		hn_buf_puts(b, ")");
		return;
	case 2:
		hn_buf_puts(b, "select(");
		operand(g, b, x);
		hn_buf_puts(b, " > ");
		operand(g, b, y);
		hn_buf_puts(b, ", "); /* the same of both where they are alike: rounding decides nothing */
		operand(g, b, x);
		hn_buf_puts(b, ", ");
		operand(g, b, y);
		hn_buf_puts(b, ")");
		return;
	default:
		operand(g, b, x);
		hn_buf_puts(b, infix[below(g, 3)]);
		operand(g, b, y);
	}
}

/* Where its axes are, for those that no read tells. */
static void where(struct gen *g, const struct tensor *t, const struct tensor *x, const struct tensor *y)
{
	bool any = false;

	for (uint32_t d = 0; d < g->n_axis; d++) {
		bool has = false;

		for (uint32_t k = 0; k < t->n; k++) {
			has = has || t->axis[k] == d;
		}
		for (uint32_t k = 0; k < x->n; k++) {
			has = has || x->axis[k] == d;
		}
		for (uint32_t k = 0; k < y->n; k++) {
			has = has || y->axis[k] == d;
		}
		if (has) {
			hn_buf_printf(&g->body, "%s i%u in 0:%lld", any ? "," : "  where", d, (long long)g->size[d]);
			any = true;
		}
	}
	hn_buf_puts(&g->body, "\n");
}

/* Element by element over the axes of both, or a sum over some of them. */
static void stage(struct gen *g)
{
	struct tensor *t = &g->t[g->n_tensor];
	/* the tensor before is read, so that none is for nothing */
	const struct tensor *x = &g->t[g->n_tensor - 1], *y = &g->t[below(g, g->n_tensor)];
	bool sums = below(g, 3) == 0, spread;
	uint32_t has = 0;

	snprintf(t->name, sizeof(t->name), "T%u", g->n_tensor);
	t->type = !sums && below(g, 5) == 0 ? "float16" : "float32";
	t->n = 0;
	for (uint32_t k = 0; k < x->n; k++) {
		has |= 1u << x->axis[k];
	}
	for (uint32_t k = 0; k < y->n; k++) {
		has |= 1u << y->axis[k];
	}
	shape(g, t, true);
	for (uint32_t k = 0, n = t->n; k < n; k++) {
		bool keeps = (has >> t->axis[k] & 1) != 0 && (!sums || below(g, 2) == 0);

		t->n = k == 0 ? 0 : t->n;
		if (keeps) {
			t->axis[t->n++] = t->axis[k];
		}
	}
	spread = !sums && x->name[0] == 'A' && is_byte(x) && y->n > 0 && below(g, 2) == 0;
	if (spread) { /* as it is, over more axes */
		t->type = x->type;
		in_order(t);
	}
	hn_buf_puts(&g->body, t->name);
	indices(g, &g->body, t, UINT32_MAX);
	hn_buf_puts(&g->body, !sums ? " = " : below(g, 2) == 0 ? " +=! " : " max=! ");
	if (spread) {
		hn_buf_puts(&g->body, x->name);
		indices(g, &g->body, x, UINT32_MAX);
		where(g, t, x, y);
		g->n_tensor++;
		return;
	}
	hn_buf_puts(&g->body, strcmp(t->type, "float16") == 0 ? "float16(" : "");
	expression(g, &g->body, x, y);
	hn_buf_puts(&g->body, strcmp(t->type, "float16") == 0 ? ")" : "");
	where(g, t, x, y);
	g->n_tensor++;
}

static void text_of(struct gen *g, uint64_t seed, struct hn_buf *text)
{
	uint32_t n_input, n_stage, results;

	*g = (struct gen){ .rng = hn_rng_stream(77, seed, 0, 0), .has_bytes = seed % 4 != 0 };
	hn_buf_init(&g->args);
	hn_buf_init(&g->body);
	sizes(g);
	n_input = 1 + below(g, 3);
	n_stage = 1 + below(g, 6);
	for (uint32_t i = 0; i < n_input; i++) {
		input(g);
	}
	for (uint32_t i = 0; i < n_stage; i++) {
		stage(g);
	}
	results = 1 + below(g, 2);
	hn_buf_reset(text);
	hn_buf_printf(text, "r(%s) -> T%u", g->args.s, g->n_tensor - 1);
	for (uint32_t i = 1; i < results && i < n_stage; i++) {
		hn_buf_printf(text, ", T%u", g->n_tensor - 1 - i);
	}
	hn_buf_printf(text, " {\n%s}\n", g->body.s);
	hn_buf_fini(&g->args);
	hn_buf_fini(&g->body);
}

struct count {
	uint32_t dags, made, runs, apart; /* apart: bytes that do not lie in a row, which have no form */
};

static void one(uint64_t seed, struct count *c)
{
	struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 1 + seed % 2, .reuse = seed % 5 != 0,
				    .tile = seed % 3 == 0 ? (int64_t)(seed % 40) : 0 };
	struct hn_npu_profile m;
	const struct hn_npu_program *p;
	const struct hn_dag *dag;
	struct hn_npu_result r;
	struct hn_err err;
	struct hn_buf text;
	struct hn_arena a;
	struct npu_bed b;
	struct gen g;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	text_of(&g, seed, &text);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	m.cores = 1 + (int64_t)(seed % 7);
	m.ub_bytes = seed % 4 == 0 ? 16384 : m.ub_bytes;
	if (hn_dag_from_text("r", text.s, text.n, 0, &a, &dag, &err) != 0) {
		/* a sum over what one does not have, say: not many are lost */
		hn_buf_fini(&text);
		hn_arena_fini(&a);
		return;
	}
	c->dags++;
	if (hn_npu_vector(dag, &m, &plan, &a, &p, NULL, &err) != 0) {
		print_message("%llu: %s\n", (unsigned long long)seed, err.msg);
		c->apart += strstr(err.msg, "do not lie in a row") != NULL;
	} else {
		c->made++;
		assert_int_equal(npu_bed_open(&b, dag, &m, seed), 0);
		for (uint64_t order = 0; order < (seed % 8 == 0 ? 5 : 1); order++) {
			if (npu_bed_run(&b, p, order, order == 0, &a, &r) != 0 || npu_bed_compare(&b) < 0) {
				fail_msg("%llu, order %llu: %s\n%s", (unsigned long long)seed, (unsigned long long)order,
					 b.err.msg, text.s);
			}
			c->runs++;
		}
		npu_bed_close(&b);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

static void numbers_are_the_interpreters(void **state)
{
	struct count c = { 0 };

	(void)state;
	for (uint64_t i = first; i < first + dags; i++) {
		one(i, &c);
	}
	print_message("%u of %u dags are programs, %u have bytes apart; %u runs\n", c.made, c.dags, c.apart, c.runs);
	assert_true(c.dags * 2 >= dags && c.made * 100 >= (c.dags - c.apart) * 95 && c.apart * 20 < c.dags);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_interpreters),
	};

	dags = argc > 1 ? strtoull(argv[1], NULL, 10) : dags;
	first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	return cmocka_run_group_tests_name("random dags on the NPU", tests, NULL, NULL);
}
