/* The text notation out: every dag is read back to one of the same key, and written again to the
 * same bytes.  Examples, the forms of other tests, random programs, and random dags of the JSON
 * form in which everything occurs that it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/random_dags.h"

static void assert_text(const char *what, const struct hn_dag *dag, struct hn_arena *a)
{
	char key[HN_KEY_BYTES], again[HN_KEY_BYTES];
	const struct hn_dag *copy = NULL;
	struct hn_err err = { 0 };
	struct hn_buf once, twice;

	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_dag_write_text(dag, what, &once);
	if (hn_dag_from_text("text", once.s, once.n, 0, a, &copy, &err) != 0) {
		fail_msg("%s: %s\n%s", what, err.msg, once.s);
	}
	hn_dag_key(dag, key);
	hn_dag_key(copy, again);
	hn_dag_write_text(copy, what, &twice);
	if (strcmp(key, again) != 0 || strcmp(once.s, twice.s) != 0) {
		fail_msg("%s: another dag\n%s\n%s", what, once.s, twice.s);
	}
	assert_true(hn_dag_flops(dag) == hn_dag_flops(copy));
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
}

static unsigned each_file(const char *folder)
{
	char path[1000];
	DIR *d;
	unsigned n = 0;

	snprintf(path, sizeof(path), "%s/examples/%s", HONE_SOURCE_DIR, folder);
	d = opendir(path);
	assert_non_null(d);
	for (struct dirent *f = readdir(d); f != NULL; f = readdir(d)) {
		const struct hn_dag *dag;
		struct hn_buf text;
		struct hn_arena a;

		if (strstr(f->d_name, ".json") == NULL && strstr(f->d_name, ".txt") == NULL &&
		    strstr(f->d_name, ".dag") == NULL) {
			continue;
		}
		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		snprintf(path, sizeof(path), "%s/examples/%s/%s", HONE_SOURCE_DIR, folder, f->d_name);
		assert_int_equal(hn_file_read(path, 1 << 20, &text, NULL), 0);
		dag = NULL;
		assert_int_equal(hn_dag_parse(path, text.s, text.n, 0, &a, &dag, NULL), 0);
		assert_text(f->d_name, dag, &a);
		hn_buf_fini(&text);
		hn_arena_fini(&a);
		n++;
	}
	closedir(d);
	return n;
}

static void examples(void **state)
{
	(void)state;
	assert_true(each_file(".") >= 4);
	assert_true(each_file("polybench") >= 10);
}

static void forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		assert_text(dag_forms[i].name, dag_form_open(dag_forms[i].name, dag_forms[i].json, &a),
			    &a);
		hn_arena_fini(&a);
	}
}

static void random_programs(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		uint32_t tape[RD_TAPE];
		struct hn_buf text;
		struct hn_arena a;
		bool inexact;

		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		rd_tape(seed, tape);
		rd_program(tape, RD_TAPE, &text, &inexact);
		assert_text("random", dag_open(text.s, &a), &a);
		hn_buf_fini(&text);
		hn_arena_fini(&a);
	}
}

/* What people write, and what it is printed as. */
static const char *const same[] = {
	"mm(float32 A[4,6], const B[6,5]) -> C {\n\tC(i,j) +=! A(i, k) * B(k, j)\n}\n",
	"am(float32 A[4,6]) -> V, I {\n\tV(i), I(i) argmax=! A(i, k), k\n}\n",
	"am(float32 A[4,6]) -> V, I {\n\tV(i), I(i) argmin=! k != 3 ? A(i, k) * 2.0, int64(k)\n}\n",
	"s(float32 A[6]) -> P {\n\tP +=! [k] A(i) * float32(k)  where k in 2:5\n}\n",
	"s(float32 A[6]) -> P {\n\tP +=! [k,i] A(i) * float32(k)  where k in 0:5\n}\n",
	"g(float32 A[6]) -> L {\n\tL reduce=! A(k)  by (x), (y) -> "
	"let m = max(x, y) in m + log(exp(x - m) + exp(y - m)) from -1e+30\n}\n",
	"two(int32 A[6]) -> Q, R {\n\tQ(i), R(i) = A(i) / 3, A(i) % 3\n}\n",
	"in_between(float32 A[6], B[6]) -> D {\n\tC(i) = A(i) * 2.0\n\tinput B\n"
	"\tD(i) = C(i) + B(i)\n}\n",
	"hints(float32 A[6]) -> D {\n\t@auto_scheduler_no_split_at_inner(i) @bitwise @FLOP(100) "
	"D(i) = A(i) * 2.0\n}\n",
	"types(int64 A[6]) -> D {\n\tD(i) = (A(i) + -9223372036854775808) * "
	"int64(int32(3)) + div(A(i), 7) - truncmod(A(i), 7) - (A(i) > 3 ? int64(1) : 0)\n}\n",
	"flags(float32 A[6]) -> D {\n\tD(i) = !(A(i) > nan || A(i) == -inf) && true\n}\n",
};

static void as_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(same); i++) {
		size_t n = strcspn(same[i], "(");
		struct hn_buf text;
		struct hn_arena a;
		char name[40];

		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		snprintf(name, sizeof(name), "%.*s", (int)n, same[i]);
		hn_dag_write_text(dag_open(same[i], &a), name, &text);
		if (i != 3) { /* an order that is that of first use need not be said */
			assert_string_equal(text.s, same[i]);
		}
		assert_text(name, dag_open(same[i], &a), &a);
		hn_buf_fini(&text);
		hn_arena_fini(&a);
	}
}

/* The signs for the best and its place are this combiner and these identities. */
static void argmax_is_spelled_out(void **state)
{
	static const char *const pairs[][2] = {
		{ "f(float64 A[4,6]) -> V, I { V(i), I(i) argmax=! A(i,k), k }",
		  "f(float64 A[4,6]) -> V, I { V(i), I(i) reduce=! A(i,k), k by (v, i), (w, j) -> "
		  "select(w > v, w, v), select(w > v, j, i) from -inf, 0 }" },
		{ "f(int8 A[4,6]) -> V, I { V(i), I(i) argmin=! A(i,k), k }",
		  "f(int8 A[4,6]) -> V, I { V(i), I(i) reduce=! A(i,k), k by (a, b), (c, d) -> "
		  "select(c < a, c, a), select(c < a, d, b) from 127, 0 }" },
		{ "f(float32 A[4,6]) -> S { S(i) +=! A(i,k) }",
		  "f(float32 A[4,6]) -> S { S(i) reduce=! A(i,k) by (x), (y) -> x + y from 0 }" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(pairs); i++) {
		char key[2][HN_KEY_BYTES];
		struct hn_arena a;

		hn_arena_init(&a, 0);
		for (int k = 0; k < 2; k++) {
			hn_dag_key(dag_open(pairs[i][k], &a), key[k]);
		}
		assert_string_equal(key[0], key[1]);
		hn_arena_fini(&a);
	}
}

/* -- random dags in JSON: tensors of [6,4], [6] and [], every node, every type */

struct made {
	struct hn_rng rng;
	struct hn_buf json;
	char id[16][24]; /* of tensors so far, outputs by themselves */
	uint32_t rank[16];
	const char *dtype[16];
	uint32_t n, n_let;
	bool reduces, combines;
	const char *let[8], *let_type[8];
	uint32_t n_scope, rank_now;
};

static const char *const types[] = { "float32", "float64", "int8", "int32", "int64", "uint8", "uint16" };
static const char *const names[] = { "A", "max", "p-1", "input", "float32", "1st", "exp", "x.y" };

static uint32_t draw(struct made *m, uint32_t n)
{
	return (uint32_t)(hn_rng_u64(&m->rng) >> 33) % n;
}

static bool is_float(const char *t)
{
	return t[0] == 'f';
}

static void put_number(struct made *m, const char *t)
{
	static const char *const real[] = { "0", "1.5", "-0.1", "1e30", "\"inf\"", "\"-inf\"", "\"nan\"" };
	static const char *const whole[] = { "0", "1", "7", "100" };

	if (is_float(t)) {
		hn_buf_printf(&m->json, "[\"float\",%s,\"%s\"]", real[draw(m, 7)], t);
	} else if (strcmp(t, "int64") == 0 && draw(m, 3) == 0) {
		hn_buf_puts(&m->json, "[\"int\",\"-9223372036854775808\",\"int64\"]");
	} else {
		hn_buf_printf(&m->json, "[\"int\",%s,\"%s\"]", whole[draw(m, 4)], t);
	}
}

static void put_expr(struct made *m, const char *t, int depth);

static void put_index(struct made *m, int extent)
{
	const char *own = extent == 6 ? "i" : "j";
	bool has = m->rank_now >= (extent == 6 ? 1u : 2u);

	switch (draw(m, 4)) {
	case 0:
		hn_buf_printf(&m->json, "[\"int\",%d,\"%s\"]", (int)draw(m, 4),
			      draw(m, 2) ? "int32" : "int64");
		return;
	case 1:
		if (m->reduces && extent == 6) {
			hn_buf_puts(&m->json, "[\"var\",\"a.b\"]");
			return;
		}
		/* fallthrough */
	default:
		if (has) {
			hn_buf_printf(&m->json, "[\"var\",\"%s\"]", own);
		} else {
			hn_buf_puts(&m->json, "[\"int\",0,\"int32\"]");
		}
	}
}

/* A tensor of that type, a number where there is none. */
static void put_load(struct made *m, const char *t)
{
	uint32_t first = draw(m, m->n + 1);

	for (uint32_t i = 0; i < m->n && !m->combines; i++) {
		uint32_t k = (first + i) % m->n;

		if (strcmp(m->dtype[k], t) == 0) {
			hn_buf_printf(&m->json, "[\"load\",\"%s\"", m->id[k]);
			for (uint32_t d = 0; d < m->rank[k]; d++) {
				hn_buf_putc(&m->json, ',');
				put_index(m, d == 0 ? 6 : 4);
			}
			hn_buf_putc(&m->json, ']');
			return;
		}
	}
	put_number(m, t);
}

static void put_bool(struct made *m, int depth)
{
	static const char *const compare[] = { "eq", "ne", "lt", "le", "gt", "ge" };
	const char *t = types[draw(m, 7)];

	switch (depth > 0 ? draw(m, 5) : 4) {
	case 0:
		hn_buf_printf(&m->json, "[\"%s\",", draw(m, 2) ? "and" : "or");
		put_bool(m, depth - 1);
		hn_buf_putc(&m->json, ',');
		put_bool(m, depth - 1);
		break;
	case 1:
		hn_buf_puts(&m->json, "[\"not\",");
		put_bool(m, depth - 1);
		break;
	case 2:
	case 3:
		hn_buf_printf(&m->json, "[\"%s\",", compare[draw(m, 6)]);
		put_expr(m, t, depth - 1);
		hn_buf_putc(&m->json, ',');
		put_expr(m, t, depth - 1);
		break;
	default:
		hn_buf_printf(&m->json, "[\"int\",%d,\"bool\"", (int)draw(m, 2));
	}
	hn_buf_putc(&m->json, ']');
}

static void put_let(struct made *m, const char *t, int depth)
{
	static const char *const let_name[] = { "t", "float32", "let", "x" };
	const char *own = types[draw(m, 7)], *name = let_name[draw(m, 4)];

	hn_buf_printf(&m->json, "[\"let\",\"%s\",", name);
	put_expr(m, own, depth - 1);
	hn_buf_putc(&m->json, ',');
	m->let[m->n_scope] = name;
	m->let_type[m->n_scope++] = own;
	put_expr(m, t, depth - 1);
	m->n_scope--;
	hn_buf_putc(&m->json, ']');
}

static void put_two(struct made *m, const char *t, int depth)
{
	static const char *const both[] = { "add", "sub", "mul", "min", "max", "div" };
	static const char *const whole[] = { "floordiv", "floormod", "truncmod", "div" };
	uint32_t k = draw(m, 8);

	if (!is_float(t) && k >= 5) {
		hn_buf_printf(&m->json, "[\"%s\",", whole[draw(m, 4)]);
		put_expr(m, t, depth - 1);
		hn_buf_printf(&m->json, ",[\"int\",%d,\"%s\"]]", 1 + (int)draw(m, 5), t);
		return;
	}
	if (k >= 6) {
		hn_buf_printf(&m->json, "[\"call\",\"%s\",\"%s\",", k == 6 ? "pow" : "fmod", t);
	} else {
		hn_buf_printf(&m->json, "[\"%s\",", both[is_float(t) ? k : k % 5]);
	}
	put_expr(m, t, depth - 1);
	hn_buf_putc(&m->json, ',');
	put_expr(m, t, depth - 1);
	hn_buf_putc(&m->json, ']');
}

static void put_expr(struct made *m, const char *t, int depth)
{
	static const char *const call[] = { "exp", "abs", "sigmoid" };

	if (m->n_scope > 0 && draw(m, 3) == 0) {
		const char *name = m->let[m->n_scope - 1];

		if (strcmp(m->let_type[m->n_scope - 1], t) == 0) {
			hn_buf_printf(&m->json, "[\"var\",\"%s\"]", name);
			return;
		}
	}
	if (strcmp(t, "int32") == 0 && m->rank_now > 0 && !m->combines && m->n_scope == 0 &&
	    draw(m, 4) == 0) {
		hn_buf_puts(&m->json, "[\"var\",\"i\"]");
		return;
	}
	switch (depth > 0 ? draw(m, 8) : 7 + draw(m, 2)) {
	case 0:
	case 1:
	case 2:
		put_two(m, t, depth);
		return;
	case 3:
	case 4:
		hn_buf_printf(&m->json, "[\"%s\",", draw(m, 2) ? "select" : "if");
		put_bool(m, depth - 1);
		hn_buf_putc(&m->json, ',');
		put_expr(m, t, depth - 1);
		hn_buf_putc(&m->json, ',');
		put_expr(m, t, depth - 1);
		hn_buf_putc(&m->json, ']');
		return;
	case 5:
		hn_buf_printf(&m->json, "[\"cast\",\"%s\",", t);
		put_expr(m, types[draw(m, 7)], depth - 1);
		hn_buf_putc(&m->json, ']');
		return;
	case 6:
		if (m->n_scope < 8 && draw(m, 2)) {
			put_let(m, t, depth);
			return;
		}
		if (is_float(t)) {
			hn_buf_printf(&m->json, "[\"call\",\"%s\",\"%s\",", call[draw(m, 3)], t);
			put_expr(m, t, depth - 1);
			hn_buf_putc(&m->json, ']');
			return;
		}
		/* fallthrough */
	case 7:
		put_load(m, t);
		return;
	default:
		put_number(m, t);
	}
}

static void put_shape(struct made *m, uint32_t rank)
{
	hn_buf_printf(&m->json, "\"shape\":%s", rank == 2 ? "[6,4]" : rank == 1 ? "[6]" : "[]");
}

static void put_side(struct made *m, const char *key, char letter, uint32_t n)
{
	hn_buf_printf(&m->json, "\"%s\":[", key);
	for (uint32_t k = 0; k < n; k++) {
		hn_buf_printf(&m->json, "%s\"%c%u\"", k ? "," : "", letter, k);
	}
	hn_buf_puts(&m->json, "],");
}

static void put_result(struct made *m, uint32_t k, uint32_t kind)
{
	static const char *const op[] = { "add", "mul", "max", "min", "sub" };

	if (kind < 5) {
		hn_buf_printf(&m->json, "[\"%s\",[\"var\",\"x%u\"],[\"var\",\"y%u\"]]", op[kind], k, k);
	} else if (kind == 5) {
		hn_buf_printf(&m->json, "[\"add\",[\"var\",\"y%u\"],[\"var\",\"x%u\"]]", k, k);
	} else {
		hn_buf_printf(&m->json,
			      "[\"select\",[\"gt\",[\"var\",\"y0\"],[\"var\",\"x0\"]],"
			      "[\"var\",\"y%u\"],[\"let\",\"t\",[\"var\",\"x%u\"],[\"var\",\"t\"]]]",
			      k, k);
	}
}

static void put_exprs(struct made *m, const char *key, const char *const *t, uint32_t n, uint32_t kind)
{
	hn_buf_printf(&m->json, "\"%s\":[", key);
	for (uint32_t k = 0; k < n; k++) {
		hn_buf_puts(&m->json, k ? "," : "");
		if (key[0] == 'r') {
			put_result(m, k, kind);
		} else if (key[0] == 'i') {
			if (is_float(t[k])) {
				hn_buf_printf(&m->json, "[\"float\",0,\"%s\"]", t[k]);
			} else {
				hn_buf_printf(&m->json, "[\"int\",0,\"%s\"]", t[k]);
			}
		} else {
			put_expr(m, t[k], 4);
		}
	}
	hn_buf_putc(&m->json, ']');
}

static void put_reduce(struct made *m, const char *const *t, uint32_t n)
{
	uint32_t kind = draw(m, 7);
	struct hn_buf entry, all = m->json;

	hn_buf_init(&entry);
	m->json = entry;
	hn_buf_puts(&m->json, "{\"reduce\":{");
	put_side(m, "lhs", 'x', n);
	put_side(m, "rhs", 'y', n);
	put_exprs(m, "result", t, n, kind);
	hn_buf_putc(&m->json, ',');
	put_exprs(m, "identity", t, n, 0);
	hn_buf_puts(&m->json, "},");
	if (draw(m, 2)) {
		hn_buf_puts(&m->json, "\"condition\":");
		put_bool(m, 2);
		hn_buf_putc(&m->json, ',');
	}
	put_exprs(m, "source", t, n, 0);
	hn_buf_putc(&m->json, '}');
	entry = m->json;
	m->json = all;
	for (uint32_t k = 0; k < n; k++) {
		hn_buf_printf(&m->json, "%s%s", k ? "," : "", entry.s);
	}
	hn_buf_fini(&entry);
}

static void put_compute(struct made *m, uint32_t number)
{
	static const char *const reduced[] = { "[[\"a.b\",0,6],[\"max\",1,3]]", "[[\"max\",2,2],[\"a.b\",0,6]]",
					       "[[\"k\",0,3]]", "[[\"a.b\",0,6]]" };
	static const char *const hints[] = { "", "", "\"bitwise\":true", "\"FLOP\":12",
					     "\"auto_scheduler_no_split_at_inner\":[\"i\"]" };
	uint32_t n_out = 1 + draw(m, 4) / 3, rank = m->rank_now = draw(m, 3), hint = draw(m, 5);
	const char *t[2] = { types[draw(m, 7)], types[draw(m, 7)] };
	uint32_t red = draw(m, 8);

	m->reduces = red < 4 && red != 2; /* the one called "a.b" is there */
	hn_buf_printf(&m->json, ",{\"kind\":\"compute\",\"id\":\"%s%u\",\"name\":\"%s\",",
		      names[draw(m, 8)], number, names[draw(m, 8)]);
	put_shape(m, rank);
	hn_buf_printf(&m->json, ",\"dtype\":[\"%s\"", t[0]);
	hn_buf_printf(&m->json, n_out > 1 ? ",\"%s\"]" : "]", t[1]);
	hn_buf_printf(&m->json, ",\"axes\":%s,\"reduce_axes\":%s",
		      rank == 2	  ? "[[\"i\",0,6],[\"j\",0,4]]"
		      : rank == 1 ? "[[\"i\",0,6]]"
				  : "[]",
		      red < 4 ? reduced[red] : "[]");
	if (hint > 1 && (hint < 4 || rank > 0)) {
		hn_buf_printf(&m->json, ",\"attrs\":{%s,\"mine\":[1]}", hints[hint]);
	}
	hn_buf_puts(&m->json, ",\"body\":[");
	if (red < 4) {
		put_reduce(m, t, n_out);
	} else {
		for (uint32_t k = 0; k < n_out; k++) {
			hn_buf_puts(&m->json, k ? "," : "");
			put_expr(m, t[k], 5);
		}
	}
	hn_buf_puts(&m->json, "]}");
	m->reduces = false;
	/* found again by its beginning: names are drawn inside the text */
	const char *id = strstr(m->json.s, "");

	for (const char *at = m->json.s; (at = strstr(at, "\"id\":\"")) != NULL; at++) {
		id = at + 6;
	}
	for (uint32_t k = 0; k < n_out; k++) {
		snprintf(m->id[m->n], sizeof(m->id[0]), n_out > 1 ? "%.*s.v%u" : "%.*s",
			 (int)strcspn(id, "\""), id, k);
		m->rank[m->n] = rank;
		m->dtype[m->n++] = t[k];
	}
}

static void put_input(struct made *m, uint32_t number)
{
	uint32_t rank = draw(m, 3);
	const char *t = types[draw(m, 7)];

	snprintf(m->id[m->n], sizeof(m->id[0]), "%s%u", names[draw(m, 8)], number);
	hn_buf_printf(&m->json, "%s{\"kind\":\"placeholder\",\"id\":\"%s\",\"name\":\"n\",\"dtype\":\"%s\",",
		      number > 0 ? "," : "", m->id[m->n], t);
	put_shape(m, rank);
	hn_buf_putc(&m->json, '}');
	m->rank[m->n] = rank;
	m->dtype[m->n++] = t;
}

/* Inputs and what is computed, mingled; all of it is listed. */
static void make(struct made *m)
{
	bool input[8];
	uint32_t n = 2 + draw(m, 5), first[9];

	hn_buf_puts(&m->json, "{\"format\":\"compute-dag/1\",\"ops\":[");
	for (uint32_t i = 0; i < n; i++) {
		first[i] = m->n;
		input[i] = i == 0 || draw(m, 3) == 0;
		if (input[i]) {
			put_input(m, i);
		} else {
			put_compute(m, i);
		}
	}
	first[n] = m->n;
	hn_buf_puts(&m->json, "],\"inputs_outputs\":[");
	const char *sep = "";

	for (int outputs = 0; outputs < 2; outputs++) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t j = outputs ? i : n - 1 - i; /* the other way round */

			for (uint32_t k = first[j]; k < first[j + 1] && input[j] != (outputs == 1); k++) {
				hn_buf_printf(&m->json, "%s\"%s\"", sep, m->id[k]);
				sep = ",";
			}
		}
	}
	hn_buf_puts(&m->json, "]}");
}

static void random_dags(void **state)
{
	uint32_t n_read = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct made m = { .rng = hn_rng_stream(seed, 5, 0, 0) };
		const struct hn_dag *dag;
		struct hn_arena a;
		struct hn_err err = { 0 };

		hn_arena_init(&a, 0);
		hn_buf_init(&m.json);
		make(&m);
		if (hn_dag_parse("made", m.json.s, m.json.n, 0, &a, &dag, &err) == 0) {
			assert_text("made", dag, &a);
			n_read++;
		} else if (strstr(err.msg, "no output") == NULL &&
			   strstr(err.msg, "inputs_outputs") == NULL) {
			fail_msg("%s\n%s", err.msg, m.json.s);
		}
		hn_buf_fini(&m.json);
		hn_arena_fini(&a);
	}
	assert_true(n_read > 1500);
}

/* Lists that name an op by its name, whose id is another, and lists of nothing. */
static void attributes_by_name(void **state)
{
	static const char *const attrs[] = {
		"\"layout_free_placeholders\":[\"weight\"]",
		"\"layout_free_placeholders\":[\"weight\",\"a:b\"]",
		"\"layout_free_placeholders\":[]",
		"\"auto_scheduler_simplify_const_tensor_indices\":[]",
		"\"auto_scheduler_simplify_const_tensor_indices\":[\"i@1\"],\"cold\":1",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(attrs); i++) {
		struct hn_err err = { 0 };
		const struct hn_dag *dag;
		struct hn_arena a;
		const char *json;

		hn_arena_init(&a, 0);
		json = hn_arena_printf(
			&a,
			"{\"format\":\"compute-dag/1\",\"ops\":[{\"kind\":\"placeholder\","
			"\"id\":\"a:b\",\"name\":\"weight\",\"shape\":[5],\"dtype\":\"int32\"},"
			"{\"kind\":\"compute\",\"id\":\"C\",\"shape\":[5],\"dtype\":[\"int32\"],"
			"\"axes\":[[\"i@1\",0,5]],\"reduce_axes\":[],\"body\":[[\"load\",\"a:b\","
			"[\"var\",\"i@1\"]]],\"attrs\":{%s}}],\"inputs_outputs\":[\"a:b\",\"C\"]}",
			attrs[i]);
		if (hn_dag_parse("named", json, strlen(json), 0, &a, &dag, &err) != 0) {
			fail_msg("%s\n%s", err.msg, json);
		}
		assert_text("named", dag, &a);
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples),	    cmocka_unit_test(forms),
		cmocka_unit_test(random_programs),  cmocka_unit_test(as_written),
		cmocka_unit_test(argmax_is_spelled_out), cmocka_unit_test(random_dags),
		cmocka_unit_test(attributes_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
