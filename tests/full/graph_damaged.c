/* Models, damaged: bits flipped, bytes changed, taken out, put in, doubled, lengths changed, ends
 * cut off.  Each is read, with everything in it, or refused in one line; and memory keeps to what
 * onnx.h says.  `full_graph_damaged N`: N damages (20,000); a fourth of them on real models where
 * -DHONE_MODELS names a folder of some. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "graph/onnx/wire.h"
#include "tests/lib/onnx_dump.h"
#include "tests/lib/onnx_seeds.h"
#include "tests/lib/onnx_writer.h"

#define N_DAMAGE 20000
#define MODEL_MAX_BYTES 100000
#define MOST_MODELS 100
#define MOST_PIECE 40 /* bytes that are moved at once */

struct model {
	uint8_t *bytes;
	size_t n, cap;
};

static struct hn_rng rng;

static size_t below(size_t n)
{
	return (size_t)hn_rng_below(&rng, n > 0 ? n : 1);
}

/* ---- damages, of a model that has bytes ---- */

static void flip_bit(struct model *m)
{
	m->bytes[below(m->n)] ^= (uint8_t)(1u << below(8));
}

static void change_byte(struct model *m)
{
	static const uint8_t odd[] = { 0, 1, 0x7f, 0x80, 0xff, 0x08, 0x0a, 0x12, 0x3a };

	m->bytes[below(m->n)] = below(2) ? odd[below(sizeof odd)] : (uint8_t)below(256);
}

static void cut_off(struct model *m)
{
	m->n = below(m->n);
}

static void take_out(struct model *m)
{
	size_t at = below(m->n), n = 1 + below(MOST_PIECE);

	n = n < m->n - at ? n : m->n - at;
	memmove(m->bytes + at, m->bytes + at + n, m->n - at - n);
	m->n -= n;
}

/* A piece of it, somewhere else once more. */
static void double_piece(struct model *m)
{
	uint8_t piece[MOST_PIECE];
	size_t from = below(m->n), at = below(m->n), n = 1 + below(MOST_PIECE);

	n = n < m->n - from ? n : m->n - from;
	n = n < m->cap - m->n ? n : m->cap - m->n;
	memcpy(piece, m->bytes + from, n);
	memmove(m->bytes + at + n, m->bytes + at, m->n - at);
	memcpy(m->bytes + at, piece, n);
	m->n += n;
}

/* The tag of a field with bytes, of a message within messages; false when there is none. */
static bool find_tag(const struct model *m, size_t *ret_at)
{
	struct hn_wire w = hn_wire_of(m->bytes, m->n);
	size_t most_deep = 1 + below(8);
	bool found = false;

	for (size_t deep = 0; deep < most_deep; deep++) {
		struct hn_wire in = w;
		struct hn_wire_field f;
		unsigned n_seen = 0;

		while (hn_wire_more(&in) && hn_wire_next(&in, &f, NULL) == 0) {
			bool has_bytes =
				f.type == HN_WIRE_BYTES && hn_wire_more(&f.inside);

			if (has_bytes && below(++n_seen) == 0) {
				*ret_at = f.at;
				w = f.inside;
				found = true;
			}
		}
		if (n_seen == 0) {
			break;
		}
	}
	return found;
}

/* Another field of the same message, or another kind of value. */
static void change_tag(struct model *m)
{
	size_t at = 0;

	if (find_tag(m, &at) && m->bytes[at] < 0x80) {
		m->bytes[at] = (uint8_t)(below(4) ? below(16) << 3 | 2 : below(128));
	}
}

static void change_length(struct model *m)
{
	size_t at = 0;

	if (find_tag(m, &at) && m->bytes[at] < 0x80) {
		uint8_t *length = &m->bytes[at + 1];
		size_t low = below(2) ? *length + (below(2) ? 1u : 127u) : below(128);

		*length = (uint8_t)(below(8) ? (*length & 0x80) | (low & 0x7f)
					     : low | 0x80);
	}
}

/* What ends in the middle is refused nearly always, so most are others. */
static void (*const damage[])(struct model *m) = { flip_bit,	  flip_bit,   change_byte,
						   change_byte,	  change_tag, change_tag,
						   change_length, cut_off,    take_out,
						   double_piece };

/* ---- and what becomes of it ---- */

static bool is_one_line(const char *s)
{
	return strncmp(s, "m: ", 3) == 0 && s[3] != '\0' && strpbrk(s, "\n\r\t") == NULL;
}

/* Whether it is read.  The bytes stand at the end of what is allocated, for sanitizers. */
static bool read_damaged(const struct model *m)
{
	uint8_t *exact = malloc(m->n > 0 ? m->n : 1);
	struct hn_onnx *o = NULL;
	struct hn_err err = { 0 };
	struct hn_buf text;
	int rc;

	assert_non_null(exact);
	memcpy(exact, m->bytes, m->n);
	rc = hn_onnx_parse("m", exact, m->n, &o, &err);
	hn_buf_init(&text);
	if (rc == 0) {
		assert_true(hn_onnx_memory(o) <=
			    m->n * HN_ONNX_PER_BYTE + HN_ONNX_FREE_BYTES);
		dump_model(&text, hn_onnx_model(o));
	} else if (!is_one_line(err.msg) || err.code != -rc) {
		fail_msg("%d: %s", rc, err.msg);
	}
	hn_buf_fini(&text);
	hn_onnx_close(o);
	free(exact);
	return rc == 0;
}

static bool try_once(const struct hn_buf *whole, uint64_t index)
{
	struct model m = { .n = whole->n, .cap = whole->n + MOST_PIECE };
	bool is_read;

	rng = hn_rng_stream(7, 0, 0, index);
	m.bytes = malloc(m.cap);
	assert_non_null(m.bytes);
	memcpy(m.bytes, whole->s, m.n);
	for (size_t n = 1 + below(2) * below(3); n > 0 && m.n > 0; n--) {
		damage[below(HN_COUNT_OF(damage))](&m);
	}
	is_read = read_damaged(&m);
	free(m.bytes);
	return is_read;
}

static uint64_t n_damage = N_DAMAGE;

static bool has_models(void)
{
	return HONE_MODELS_DIR[0] != '\0';
}

/* n damages of these in turn; how many were read. */
static uint64_t try_all(const char *what, const struct hn_buf *whole, size_t n_whole,
			uint64_t n)
{
	uint64_t n_read = 0;

	for (uint64_t i = 0; i < n; i++) {
		n_read += try_once(&whole[i % n_whole], i);
	}
	print_message("%llu damages of %zu %s: %llu read, %llu refused\n",
		      (unsigned long long)n, n_whole, what, (unsigned long long)n_read,
		      (unsigned long long)(n - n_read));
	return n_read;
}

static void damaged_seeds(void **state)
{
	struct hn_buf whole[HN_COUNT_OF(onnx_seeds)];
	uint64_t n = has_models() ? n_damage - n_damage / 4 : n_damage, n_read;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(onnx_seeds); i++) {
		hn_buf_init(&whole[i]);
		put_notation(&whole[i], onnx_seeds[i]);
	}
	n_read = try_all("small models", whole, HN_COUNT_OF(onnx_seeds), n);
	for (size_t i = 0; i < HN_COUNT_OF(onnx_seeds); i++) {
		hn_buf_fini(&whole[i]);
	}
	/* neither all nor nothing: else the damages would say little */
	assert_true(n_read * 10 > n && n_read * 10 < n * 9);
}

/* The small ones of the folder. */
static void damaged_models(void **state)
{
	struct hn_buf whole[MOST_MODELS];
	glob_t files = { 0 };
	size_t n_whole = 0;

	(void)state;
	if (!has_models()) {
		print_message(
			"no models here; -DHONE_MODELS=DIR names a folder of them\n");
		skip();
	}
	assert_int_equal(glob(HONE_MODELS_DIR "/*.onnx", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc && n_whole < MOST_MODELS; i++) {
		hn_buf_init(&whole[n_whole]);
		if (hn_file_read(files.gl_pathv[i], MODEL_MAX_BYTES, &whole[n_whole],
				 NULL) == 0) {
			n_whole++;
		}
	}
	assert_true(n_whole > 0);
	try_all("models of the folder", whole, n_whole, n_damage / 4);
	for (size_t i = 0; i < n_whole; i++) {
		hn_buf_fini(&whole[i]);
	}
	globfree(&files);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_seeds),
		cmocka_unit_test(damaged_models),
	};

	if (argc > 1) {
		n_damage = strtoull(argv[1], NULL, 10);
	}
	return cmocka_run_group_tests_name("damaged onnx models", tests, NULL, NULL);
}
