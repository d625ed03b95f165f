/* Random dags with sizes on the simulated NPU: one or two sizes in front of rows that are computed and
 * reduced in many ways, arguments with and without them, and products of such rows.  One program serves all sizes: at each of those
 * that are looked at it is judged, and its numbers are the interpreter's.
 *
 *     full_lower_npu_sized [DAGS [FIRST]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "loopstate/read/dag_read.h"
#include "tests/lib/npu_sized_bed.h"

#define AXES 6
#define MOST_POINTS 40000

static uint64_t dags = 300, first;

struct tensor {
	char name[8];
	uint32_t n, axis[AXES];
	bool half;
};

struct gen {
	struct hn_rng rng;
	int64_t size[AXES]; /* the greatest, of those that are sizes */
	bool sized[AXES];
	uint32_t n_axis, n_size, n_tensor, last_sized;
	int terms; /* the size that is summed over; -1: none is */
	struct tensor t[24];
	struct hn_buf args, body;
};

static uint32_t below(struct gen *g, uint32_t n)
{
	return (uint32_t)hn_rng_below(&g->rng, n);
}

/* Numbers and sizes in front, at least one of these; then numbers that rows are made of. */
static void axes(struct gen *g)
{
	static const int64_t some[] = { 2, 3, 5, 8, 16, 17, 24, 32, 33, 64, 77, 128 };
	static const int64_t most[] = { 1, 2, 7, 16, 33, 100, 300, 700 };
	uint32_t front = 1 + below(g, 3), behind = below(g, 3);
	int64_t points = MOST_POINTS;

	g->n_axis = front + behind;
	for (uint32_t d = 0; d < g->n_axis; d++) {
		bool is_last = d + 1 == front;

		g->sized[d] = d < front && g->n_size < 2 && (is_last ? g->n_size == 0 || below(g, 3) > 0 : below(g, 2) == 0);
		g->n_size += g->sized[d];
		g->last_sized = g->sized[d] ? d : g->last_sized;
		do {
			g->size[d] = g->sized[d] ? most[below(g, HN_COUNT_OF(most))] : some[below(g, HN_COUNT_OF(some))];
		} while (g->size[d] > points);
		points = points / g->size[d] > 2 ? points / g->size[d] : 2;
	}
}

/* A size that is summed over: behind those of rows; or in front, and of all others one may be a size. */
static void terms(struct gen *g)
{
	static const int64_t most[] = { 1, 2, 7, 16, 33, 100, 300 };
	bool outside = below(g, 3) == 0, one = below(g, 2) == 0;

	g->terms = outside ? 0 : (int)g->last_sized + 1;
	for (uint32_t d = g->n_axis; d > (uint32_t)g->terms; d--) {
		g->size[d] = g->size[d - 1];
		g->sized[d] = g->sized[d - 1] && (!outside || (one && d - 1 == g->last_sized));
	}
	g->n_axis++;
	g->last_sized += outside;
	g->size[g->terms] = most[below(g, HN_COUNT_OF(most))];
	g->sized[g->terms] = true;
	for (uint32_t d = 0; d < g->n_axis; d++) { /* rows of few numbers, so that a tile holds them */
		g->size[d] = (int)d != g->terms && g->size[d] > 33 ? 33 : g->size[d];
	}
}

static void put_size(struct gen *g, struct hn_buf *b, uint32_t d)
{
	if (g->sized[d]) {
		hn_buf_printf(b, "M%u", d);
	} else {
		hn_buf_printf(b, "%lld", (long long)g->size[d]);
	}
}

static void indices(struct hn_buf *b, const struct tensor *t)
{
	for (uint32_t k = 0; k < t->n; k++) {
		hn_buf_printf(b, "%si%u", k > 0 ? "," : "(", t->axis[k]);
	}
	hn_buf_puts(b, t->n > 0 ? ")" : t->name[0] == 'A' ? "(0)" : "()");
}

static void input(struct gen *g, bool all)
{
	struct tensor *t = &g->t[g->n_tensor];

	snprintf(t->name, sizeof(t->name), "A%u", g->n_tensor++);
	t->half = below(g, 4) == 0;
	t->n = 0;
	for (uint32_t d = 0; d < g->n_axis; d++) {
		if (all || below(g, 3) != 0) {
			t->axis[t->n++] = d;
		}
	}
	hn_buf_printf(&g->args, ", %s %s[", t->half ? "float16" : "float32", t->name);
	for (uint32_t k = 0; k < t->n; k++) {
		hn_buf_puts(&g->args, k > 0 ? "," : "");
		put_size(g, &g->args, t->axis[k]);
	}
	hn_buf_puts(&g->args, t->n == 0 ? "1]" : "]");
}

static void operand(struct hn_buf *b, const struct tensor *t)
{
	hn_buf_printf(b, "%s%s", t->half ? "float32(" : "", t->name);
	indices(b, t);
	hn_buf_puts(b, t->half ? ")" : "");
}

static void expression(struct gen *g, struct hn_buf *b, const struct tensor *x, const struct tensor *y, bool both)
{
	static const char *const infix[] = { " + ", " - ", " * " };
	uint32_t what = both ? 1 + below(g, 5) : below(g, 6);

	if (what == 0) {
		hn_buf_puts(b, "tanh(");
		operand(b, x);
		hn_buf_puts(b, ")");
		return;
	}
	hn_buf_puts(b, what == 1 ? "max(" : "");
	operand(b, x);
	hn_buf_puts(b, what == 1 ? ", " : infix[below(g, 3)]);
	operand(b, y);
	hn_buf_puts(b, what == 1 ? ")" : "");
}

static bool has(const struct tensor *t, uint32_t d)
{
	for (uint32_t k = 0; k < t->n; k++) {
		if (t->axis[k] == d) {
			return true;
		}
	}
	return false;
}

/* Over the axes of both; sums are over axes that are no sizes.  The last has all axes of sizes. */
static void stage(struct gen *g, bool last)
{
	struct tensor *t = &g->t[g->n_tensor];
	const struct tensor *x = &g->t[g->n_tensor - 1], *y = &g->t[last ? 0 : below(g, g->n_tensor)];
	uint32_t summed = g->terms >= 0 && below(g, 2) == 0 ? (uint32_t)g->terms : g->last_sized + 1 + below(g, AXES);
	bool sums = (has(x, summed) || has(y, summed)) && below(g, 2) == 0, any = false;

	snprintf(t->name, sizeof(t->name), "T%u", g->n_tensor);
	t->half = !sums && below(g, 5) == 0;
	t->n = 0;
	for (uint32_t d = 0; d < g->n_axis; d++) {
		bool stays = d <= g->last_sized && (int)d != g->terms;

		stays = stays || (d != summed && (below(g, 2) == 0 || (int)d == g->terms));
		if ((has(x, d) || has(y, d)) && (!sums || stays)) {
			t->axis[t->n++] = d;
		}
	}
	hn_buf_printf(&g->body, "%s", t->name);
	indices(&g->body, t);
	hn_buf_puts(&g->body, sums ? below(g, 2) == 0 ? " +=! " : " max=! " : " = ");
	hn_buf_puts(&g->body, t->half ? "float16(" : "");
	expression(g, &g->body, x, y, last);
	if (below(g, 6) == 0) {
		hn_buf_printf(&g->body, " / float32(M%u)", g->terms >= 0 ? (uint32_t)g->terms : g->last_sized);
	}
	hn_buf_puts(&g->body, t->half ? ")" : "");
	any = false;
	for (uint32_t d = 0; d < g->n_axis; d++) {
		if (has(x, d) || has(y, d)) {
			hn_buf_printf(&g->body, "%s i%u in 0:", any ? "," : "  where", d);
			put_size(g, &g->body, d);
			any = true;
		}
	}
	hn_buf_puts(&g->body, "\n");
	g->n_tensor++;
}

/* A product whose rows are a size, or rows and a batch. */
static void product(struct gen *g, struct hn_buf *text)
{
	static const int64_t some[] = { 8, 16, 17, 32, 48, 77, 128, 256 };
	int64_t k = some[below(g, HN_COUNT_OF(some))], n = some[below(g, HN_COUNT_OF(some))];
	bool bytes = below(g, 4) == 0;
	const char *type = bytes ? "int8" : "float16", *wide = bytes ? "int32" : "float32";

	hn_buf_reset(text);
	if (below(g, 3) == 0) {
		hn_buf_printf(text, "p(M0 in [1, 4], M1 in [1, 90], %s A[M0,M1,%lld], %s B[M0,%lld,%lld]) -> C { C(b,i,j) +=! "
			      "%s(A(b,i,k)) * %s(B(b,k,j)) }", type, (long long)k, type, (long long)k, (long long)n, wide,
			      wide);
		return;
	}
	hn_buf_printf(text, "p(M0 in [1, 300], %s A[M0,%lld], %s B[%lld,%lld], float32 Z[%lld]) -> D { C(i,j) +=! "
		      "%s(A(i,k)) * %s(B(k,j)) ", type, (long long)k, type, (long long)k, (long long)n, (long long)n, wide,
		      wide);
	hn_buf_puts(text, bytes ? "D(i,j) = max(C(i,j), 0) }" : "D(i,j) = max(C(i,j) + Z(j), 0.0) }");
}

static void text_of(struct gen *g, uint64_t seed, struct hn_buf *text)
{
	uint32_t n_input, n_stage;

	*g = (struct gen){ .rng = hn_rng_stream(41, seed, 0, 0), .terms = -1 };
	if (seed % 6 == 5) {
		product(g, text);
		return;
	}
	hn_buf_init(&g->args);
	hn_buf_init(&g->body);
	axes(g);
	if (seed % 2 == 0) {
		terms(g);
	}
	n_input = 1 + below(g, 3);
	n_stage = 1 + below(g, 5);
	for (uint32_t i = 0; i < n_input; i++) {
		input(g, i == 0);
	}
	for (uint32_t i = 0; i < n_stage; i++) {
		stage(g, i + 1 == n_stage);
	}
	hn_buf_reset(text);
	hn_buf_puts(text, "r(");
	for (uint32_t d = 0, n = 0; d < g->n_axis; d++) {
		if (g->sized[d]) {
			hn_buf_printf(text, "%sM%u in [1, %lld]", n++ > 0 ? ", " : "", d, (long long)g->size[d]);
		}
	}
	hn_buf_printf(text, "%s) -> T%u {\n%s}\n", g->args.s, g->n_tensor - 1, g->body.s);
	hn_buf_fini(&g->args);
	hn_buf_fini(&g->body);
}

struct count {
	uint32_t dags, made, runs, conditional, second, outside;
};

/* The least, what is around tiles and blocks, and the largest. */
static int64_t drawn(struct gen *g, int64_t most, uint32_t k)
{
	static const int64_t near[] = { 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65 };
	int64_t v = k == 0 ? 1 : k == 1 ? most : below(g, 2) == 0 ? near[below(g, HN_COUNT_OF(near))]
								   : 1 + (int64_t)hn_rng_below(&g->rng, (uint64_t)most);

	return v > most ? most : v;
}

static void runs(struct gen *g, struct npu_sized_bed *b, uint64_t seed, const char *text, struct count *c)
{
	const struct hn_sizes *sizes = b->dag->sizes;
	const struct hn_npu_program *p;
	int64_t value[3] = { 0, 0, 0 };
	struct hn_arena a;

	for (uint32_t k = 0; k < 12; k++) {
		int kernel;

		for (uint32_t i = 0; i < sizes->n; i++) {
			value[i] = drawn(g, sizes->size[i].hi, k);
		}
		kernel = npu_sized_run(b, value, k % 4 == 3 ? 1 + seed : 0, NULL);
		if (kernel < 0) {
			fail_msg("%llu at %lld, %lld, %lld: %s\n%s", (unsigned long long)seed, (long long)value[0],
				 (long long)value[1], (long long)value[2], b->err.msg, text);
		}
		c->second += kernel > 0;
		c->runs++;
	}
	hn_arena_init(&a, 0);
	for (uint32_t i = 0; i < sizes->n; i++) { /* one too small, one too large */
		for (int k = 0; k < 2; k++) {
			value[i] = k == 0 ? 0 : sizes->size[i].hi + 1;
			assert_int_equal(hn_npu_launch_first(b->p, b->n, value, &a, &p, &b->err), -HONE_E_INVALID);
			c->outside++;
		}
		value[i] = 1;
	}
	hn_arena_fini(&a);
}

static void one(uint64_t seed, struct count *c)
{
	const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = seed % 4 == 0 ? 1 : 2,
					  .reuse = seed % 5 != 0 };
	struct npu_sized_bed b;
	struct hn_npu_profile m;
	const struct hn_dag *dag;
	struct hn_err err;
	struct hn_buf text;
	struct hn_arena a;
	struct gen g;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	text_of(&g, seed, &text);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	m.cores = 1 + (int64_t)(seed % 7);
	m.ub_bytes = seed % 3 == 0 && g.terms < 0 ? 16384 : m.ub_bytes; /* a row's terms are in a tile */
	if (hn_dag_from_text("r", text.s, text.n, 0, &a, &dag, &err) == 0 && dag->sizes != NULL) {
		c->dags++;
		if (npu_sized_open(&b, dag, &m, &plan, &a) != 0) {
			print_message("%llu: %s\n%s", (unsigned long long)seed, b.err.msg, text.s);
		} else {
			c->made++;
			c->conditional += b.n > 1;
			runs(&g, &b, seed, text.s, c);
		}
	} else {
		print_message("%llu: not read: %s\n%s", (unsigned long long)seed, err.msg, text.s);
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
	print_message("%u of %u dags are programs, %u of them with a condition; %u launches, %u of another program than the first, "
		      "%u refused as outside\n", c.made, c.dags, c.conditional, c.runs, c.second, c.outside);
	assert_true(c.dags * 10 >= dags * 9 && c.made * 10 >= c.dags * 9 && c.conditional > 0 && c.second > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_interpreters),
	};

	dags = argc > 1 ? strtoull(argv[1], NULL, 10) : dags;
	first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	return cmocka_run_group_tests_name("random dags with sizes on the NPU", tests, NULL, NULL);
}
