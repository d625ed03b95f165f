/* Fused operators of AKG, damaged: bytes changed, pieces taken out or doubled, ends cut off, numbers
 * and words exchanged for worse ones.  Each is imported, or refused in one line; and memory keeps to
 * what akg.h says.  `full_graph_akg_damaged N`: N damages (20,000); a fourth of them on the cases of
 * others where -DHONE_CASES names a folder of some. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "tests/lib/akg_seeds.h"
#include "tests/lib/akg_text.h"
#include "tests/lib/akg_try.h"

#define N_DAMAGE 20000
#define MOST_FILES 100
#define MOST_PIECE 40 /* bytes that are moved at once */
#define FILE_MAX_BYTES 20000

struct text {
	char *s;
	size_t n, cap;
};

static struct hn_rng rng;
static uint64_t n_damage = N_DAMAGE;

static size_t below(size_t n)
{
	return (size_t)hn_rng_below(&rng, n > 0 ? n : 1);
}

/* ---- damages, of a text that has bytes ---- */

static void replace(struct text *t, size_t at, size_t n, const char *by, size_t n_by)
{
	char piece[4096];

	if (n_by > sizeof piece || t->n - n + n_by > t->cap) {
		return;
	}
	memcpy(piece, by, n_by);
	memmove(t->s + at + n_by, t->s + at + n, t->n - at - n);
	memcpy(t->s + at, piece, n_by);
	t->n += n_by - n;
}

static void change_byte(struct text *t)
{
	static const char odd[] = "{}[]\",:-019.eE\\nu \x01\x80\xff";

	t->s[below(t->n)] = below(2) ? odd[below(sizeof odd - 1)] : (char)below(256);
}

static void cut_off(struct text *t)
{
	t->n = below(t->n);
}

static void take_out(struct text *t)
{
	size_t at = below(t->n), n = 1 + below(MOST_PIECE);

	replace(t, at, n < t->n - at ? n : t->n - at, "", 0);
}

static void double_piece(struct text *t)
{
	size_t from = below(t->n), n = 1 + below(MOST_PIECE);

	replace(t, below(t->n), 0, t->s + from, n < t->n - from ? n : t->n - from);
}

/* A number or a word in quotes somewhere behind a place: where it is, how long. */
static bool find_token(const struct text *t, bool word, size_t *ret_at, size_t *ret_n)
{
	const char *of = word ? "\"" : "-0123456789";
	size_t at = below(t->n), end;

	while (at < t->n && memchr(of, t->s[at], strlen(of)) == NULL) {
		at++;
	}
	end = at + 1;
	while (end < t->n && (word ? t->s[end - 1] != '"' || end == at + 1
				   : memchr("-+.eE0123456789", t->s[end], 15) != NULL)) {
		end++;
	}
	*ret_at = at;
	*ret_n = end - at;
	return at < t->n && end <= t->n;
}

static void worse_number(struct text *t)
{
	static const char *const worse[] = { "0",	   "-1",     "1",	   "2",
					     "7",	   "16",     "2147483648", "1000000000000000000",
					     "\"9223372036854775807\"", "-9007199254740991",
					     "1e300",	   "0.5",    "null",	   "true",
					     "[]",	   "[1,-1]", "{}",	   "\"x\"" };
	const char *by = worse[below(HN_COUNT_OF(worse))];
	size_t at, n;

	if (find_token(t, false, &at, &n)) {
		replace(t, at, n, by, strlen(by));
	}
}

/* Another word of the file, or one that means something. */
static void other_word(struct text *t)
{
	static const char *const words[] = {
		"\"complex64\"",   "\"float16\"",	  "\"bool\"",	 "\"uint32\"",
		"\"FRACTAL_NZ\"",  "\"value\"",		  "\"Reshape\"", "\"BroadcastTo\"",
		"\"InplaceAssign\"", "\"AddN\"",	  "\"Tile\"",	 "\"Concat\"",
		"\"TensorScatterAdd\"", "\"UnsortedSegmentSum\"", "\"OneHot\"", "\"Custom\"",
		"\"StridedSlice\"", "\"Conv2D\"",	  "\"Pool2D\"",	 "\"a\\nb\"",
	};
	size_t at, n, from, n_from;

	if (!find_token(t, true, &at, &n)) {
		return;
	}
	if (below(2) == 0 && find_token(t, true, &from, &n_from)) {
		replace(t, at, n, t->s + from, n_from);
	} else {
		const char *by = words[below(HN_COUNT_OF(words))];

		replace(t, at, n, by, strlen(by));
	}
}

/* What is no JSON any more is refused at once, so most are others. */
static void (*const damage[])(struct text *t) = {
	worse_number, worse_number, worse_number, worse_number, other_word, other_word,
	other_word,   other_word,   change_byte,  cut_off,	take_out,   double_piece,
};

/* ---- and what becomes of it ---- */

static bool is_one_line(const char *s)
{
	return *s != '\0' && strpbrk(s, "\n\r\t") == NULL;
}

/* Whether it is imported.  The bytes stand at the end of what is allocated, for sanitizers. */
static bool import_damaged(const struct text *t)
{
	struct hn_import_dim dim[] = { { .name = "batch", .value = 3 } };
	char *exact = malloc(t->n > 0 ? t->n : 1);
	struct hn_err err = { 0 };
	int rc;

	assert_non_null(exact);
	memcpy(exact, t->s, t->n);
	hn_akg_is(exact, t->n);
	rc = akg_try(exact, t->n, dim, strstr(t->s, "\"batch\"") != NULL, &err);
	if (rc != 0 && (!is_one_line(err.msg) || err.code != -rc)) {
		fail_msg("%d: %s", rc, err.msg);
	}
	free(exact);
	return rc == 0;
}

static bool try_once(const char *s, size_t n, uint64_t index)
{
	struct text t = { .n = n, .cap = 2 * n + 4096 };
	bool is_read;

	rng = hn_rng_stream(7, 0, 0, index);
	t.s = calloc(1, t.cap + 1);
	assert_non_null(t.s);
	memcpy(t.s, s, n);
	for (size_t k = 1 + below(2) * below(3); k > 0 && t.n > 0; k--) {
		damage[below(HN_COUNT_OF(damage))](&t);
	}
	memset(t.s + t.n, 0, t.cap + 1 - t.n);
	is_read = import_damaged(&t);
	free(t.s);
	return is_read;
}

static void tell(const char *what, uint64_t n, uint64_t n_read)
{
	print_message("%llu damages of %s: %llu imported, %llu refused\n", (unsigned long long)n, what,
		      (unsigned long long)n_read, (unsigned long long)(n - n_read));
}

static void damaged_seeds(void **state)
{
	uint64_t n_read = 0;

	(void)state;
	for (uint64_t i = 0; i < n_damage; i++) {
		const char *s = akg_seeds[i % HN_COUNT_OF(akg_seeds)];

		n_read += try_once(s, strlen(s), i);
	}
	tell("small kernels", n_damage, n_read);
	/* neither all nor nothing: else the damages would say little */
	assert_true(n_read * 20 > n_damage && n_read * 10 < n_damage * 9);
}

/* One kernel of each operator, that no rule trusts its operands and attributes. */
static void damaged_operators(void **state)
{
	static const struct {
		const char *op, *attr, *in, *out;
	} rows[] = {
#define CASE(op, attr, in, out) { op, attr, in, out },
#include "tests/unit/graph/akg_ops.def"
#undef CASE
	};
	struct hn_buf whole[HN_COUNT_OF(rows)];
	uint64_t n_read = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		hn_buf_init(&whole[i]);
		put_akg(&whole[i], rows[i].op, rows[i].attr, rows[i].in, rows[i].out);
	}
	for (uint64_t i = 0; i < n_damage; i++) {
		const struct hn_buf *b = &whole[i % HN_COUNT_OF(rows)];

		n_read += try_once(b->s, b->n, i);
	}
	tell("kernels of one operator", n_damage, n_read);
	assert_true(n_read * 20 > n_damage && n_read * 10 < n_damage * 9);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		hn_buf_fini(&whole[i]);
	}
}

static void damaged_cases(void **state)
{
	struct hn_buf whole[MOST_FILES];
	uint64_t n_read = 0;
	glob_t files = { 0 };
	size_t n = 0;

	(void)state;
	if (glob(HONE_CASES_DIR "/akg/*info*", 0, NULL, &files) != 0) {
		assert_int_not_equal(access(HONE_CASES_DIR, F_OK), 0); /* a folder of cases has some */
		print_message("no cases here; -DHONE_CASES=DIR names a folder with akg/ in it\n");
		skip();
	}
	for (size_t i = 0; i < files.gl_pathc && n < MOST_FILES; i++) {
		hn_buf_init(&whole[n]);
		if (hn_file_read(files.gl_pathv[i], FILE_MAX_BYTES, &whole[n], NULL) == 0) {
			n++;
		} else {
			hn_buf_fini(&whole[n]);
		}
	}
	assert_true(n > 0);
	for (uint64_t i = 0; i < n_damage / 4; i++) {
		n_read += try_once(whole[i % n].s, whole[i % n].n, i);
	}
	tell("cases of the folder", n_damage / 4, n_read);
	for (size_t i = 0; i < n; i++) {
		hn_buf_fini(&whole[i]);
	}
	globfree(&files);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_seeds),
		cmocka_unit_test(damaged_operators),
		cmocka_unit_test(damaged_cases),
	};

	if (argc > 1) {
		n_damage = strtoull(argv[1], NULL, 10);
	}
	return cmocka_run_group_tests_name("damaged kernels of AKG", tests, NULL, NULL);
}
