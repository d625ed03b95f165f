/* Compiled networks as text: what is written reads back as it was, what makes no sense is refused
 * with its place, and no text crashes the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "tests/lib/model_small.h"

static void comes_back(void **state)
{
	const struct hn_model *back;
	struct hn_err err = { 0 };
	struct hn_buf text, again;
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	hn_buf_init(&again);
	ms_make(&s, MS_ALL);
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	hn_model_write(&s.m, &text);
	if (hn_model_read("t", text.s, text.n, &a, &back, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_model_write(back, &again);
	assert_string_equal(text.s, again.s);
	assert_int_equal(back->step[2].prepared, MS_ALL);
	assert_true(back->kernel[0].constant[1] && !back->kernel[0].constant[0]);
	assert_string_equal(back->output[0].name, "the answer");
	const bool *prepares = hn_model_prepares(back, &a);

	assert_true(prepares[0] && !prepares[1] && prepares[2]);
	hn_buf_fini(&text);
	hn_buf_fini(&again);
	hn_arena_fini(&a);
}

/* Each takes a right model and makes it wrong. */
static void name_of_hone(struct ms *s)
{
	s->m.name = "hone_x";
}
static void name_empty(struct ms *s)
{
	s->m.name = "";
}
static void name_odd(struct ms *s)
{
	s->m.name = "a-b";
}
static void symbol_twice(struct ms *s)
{
	s->kernel[1].symbol = "small_k0";
}
static void symbol_nested(struct ms *s)
{
	s->kernel[1].symbol = "small_k0_packed";
}
static void symbol_ours(struct ms *s)
{
	s->kernel[1].symbol = "small_run";
}
static void symbol_is_weights(struct ms *s)
{
	s->kernel[0].symbol = "small_weights";
}
static void symbol_is_name(struct ms *s)
{
	s->kernel[1].symbol = "small";
}
static void label_acts(struct ms *s)
{
	s->step[1].name = "a\nb";
}
static void dim_zero(struct ms *s)
{
	s->dim[1] = 0;
}
static void dim_huge(struct ms *s)
{
	s->dim[1] = INT64_MAX;
}
static void no_kernel(struct ms *s)
{
	s->step[1].kernel = 2;
}
static void past_arena(struct ms *s)
{
	s->arg[0][2].offset = 64;
}
static void past_weights(struct ms *s)
{
	s->arg[0][1].offset = UINT64_MAX - 8;
}
static void past_input(struct ms *s)
{
	s->matmul_bytes[0]++;
}
static void no_output(struct ms *s)
{
	s->arg[2][2].index = 1;
}
static void no_place(struct ms *s)
{
	s->arg[2][2].place = HONE_MODEL_N_PLACES;
}
static void arena_numbered(struct ms *s)
{
	s->arg[1][0].index = 1;
}
static void writes_weights(struct ms *s)
{
	s->arg[0][2] = ms_at(HONE_MODEL_WEIGHTS, 0);
}
static void writes_input(struct ms *s)
{
	s->arg[0][2] = ms_at(HONE_MODEL_INPUT, 0);
}
static void constant_in_arena(struct ms *s)
{
	s->arg[0][1] = ms_at(HONE_MODEL_ARENA, 0);
}
static void prepared_odd(struct ms *s)
{
	s->step[0].prepared = 32;
	s->step[2].prepared = 32 + MS_ALL;
}
static void prepared_overlaps(struct ms *s)
{
	s->step[2].prepared = 64;
}
static void prepared_past(struct ms *s)
{
	s->step[2].prepared = 2 * MS_ALL;
}
static void stored_odd(struct ms *s)
{
	s->step[0].stored = true;
	s->step[0].prepared = 32;
}
static void stored_past(struct ms *s)
{
	s->step[0].stored = true;
	s->step[0].prepared = MS_ALL + 64;
}
static void stored_nothing(struct ms *s)
{
	s->step[1].stored = true;
}
static void nowhere_but_made(struct ms *s)
{
	s->arg[0][1] = ms_at(HONE_MODEL_NOWHERE, 0);
}
static void nowhere_but_varies(struct ms *s)
{
	s->step[0].stored = true;
	s->arg[0][0] = ms_at(HONE_MODEL_NOWHERE, 0);
}
static void writes_nowhere(struct ms *s)
{
	s->step[0].stored = true;
	s->arg[0][2] = ms_at(HONE_MODEL_NOWHERE, 0);
}
static void prepared_shared(struct ms *s)
{
	s->step[2].prepared = 0;
}
static void arena_odd(struct ms *s)
{
	s->m.arena_bytes += 8;
}
static void too_large(struct ms *s)
{
	s->kernel[0].worker_bytes = HN_MODEL_MAX_BYTES + 1;
}
static void no_outputs(struct ms *s)
{
	s->kernel[1].n_in = 2;
}

static void overlaps(struct ms *s)
{
	s->m.arena_bytes += 64;
	s->arg[1][1].offset = 64;
}

/* The step at arg[1] reads the left halves of rows, and writes their right halves. */
static struct hn_model_rows halves[2];

static void make_halves(struct ms *s)
{
	for (uint32_t i = 0; i < 2; i++) {
		halves[i] = (struct hn_model_rows){ 64, 128, 256 };
		s->relu_bytes[i] = 63 * 256 + 128;
	}
	s->kernel[1].rows = halves;
	s->arg[1][1].offset = 128;
}
static void halves_cross(struct ms *s)
{
	make_halves(s);
	s->arg[1][1].offset = 64;
}
static void half_in_whole(struct ms *s)
{
	make_halves(s);
	halves[0].n = 0;
}
static void half_in_place(struct ms *s)
{
	make_halves(s);
	s->arg[1][1].offset = 0;
	halves[0] = (struct hn_model_rows){ 32, 128, 512 };
	s->relu_bytes[0] = 31 * 512 + 128;
}
static void rows_overlap(struct ms *s)
{
	make_halves(s);
	halves[1].pitch = 127;
}
static void rows_empty(struct ms *s)
{
	make_halves(s);
	halves[1].bytes = 0;
	s->relu_bytes[1] = 63 * 256;
}

static const struct {
	void (*spoil)(struct ms *s);
	const char *says;
} spoilt[] = {
	{ name_of_hone, "name: \"hone_x\" is no C name" },
	{ name_empty, "name: \"\" is no C name" },
	{ name_odd, "name: \"a-b\" is no C name" },
	{ symbol_twice, "kernels: two functions would have the name small_k0" },
	{ symbol_nested, "kernels: two functions would have the name small_k0_packed" },
	{ symbol_ours, "kernels: two functions would have the name small_run" },
	{ symbol_is_weights, "kernels: two functions would have the name small_weights" },
	{ symbol_is_name, "kernels: two functions would have the name small_prepare" },
	{ label_acts, "steps[1].name: not one line" },
	{ dim_zero, "inputs[0].shape[1]: 0 is below 1" },
	{ dim_huge, "inputs[0]: more than 2^50 bytes" },
	{ no_kernel, "steps[1].kernel: there is no kernel 2" },
	{ past_arena,
	  "steps[0].args[2]: 16384 bytes at 64 go past the end of arena, 16384" },
	{ past_weights, "steps[0].args[1]: 16384 bytes at 18446744073709551607 go past" },
	{ past_input, "steps[0].args[0]: 16385 bytes at 0 go past the end of input" },
	{ no_output, "steps[2].args[2]: there is no output 1" },
	{ no_place, "steps[2].args[2]: there is no ?" },
	{ arena_numbered, "steps[1].args[0]: there is no arena 1" },
	{ writes_weights, "steps[0].args[2]: weights is only read" },
	{ writes_input, "steps[0].args[2]: input is only read" },
	{ constant_in_arena, "steps[0].args[1]: is constant, so it lies in weights" },
	{ overlaps, "steps[1].args[1]: overlaps args[0]" },
	{ halves_cross, "steps[1].args[1]: overlaps args[0]" },
	{ half_in_whole, "steps[1].args[1]: overlaps args[0]" },
	{ half_in_place, "steps[1].args[1]: overlaps args[0]" },
	{ rows_overlap, "kernels[1]: rows of argument 1 are empty, or overlap" },
	{ rows_empty, "kernels[1]: rows of argument 1 are empty, or overlap" },
	{ prepared_odd, "steps[0].prepared: not a multiple of 64" },
	{ prepared_overlaps, "steps[2].prepared: overlaps another block" },
	{ prepared_past, "steps[2].prepared: goes past prepared_bytes" },
	{ prepared_shared, "steps[2].prepared: overlaps another block" },
	{ stored_odd, "steps[0].prepared: not a multiple of 64" },
	{ stored_past, "steps[0].prepared: goes past weights_bytes" },
	{ stored_nothing, "steps[1].stored: it prepares nothing" },
	{ nowhere_but_made, "steps[0].args[1]: only a constant input of a step whose" },
	{ nowhere_but_varies, "steps[0].args[0]: only a constant input of a step whose" },
	{ writes_nowhere, "steps[0].args[2]: only a constant input of a step whose" },
	{ arena_odd, "arena_bytes: not a multiple of 64" },
	{ too_large, "kernels[0].worker_bytes: more than 2^50 bytes" },
	{ no_outputs, "kernels[1]: not 1 to 64 outputs" },
};

static void nonsense_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(spoilt); i++) {
		struct hn_err err = { 0 };
		struct ms s;

		ms_make(&s, MS_ALL);
		spoilt[i].spoil(&s);
		assert_int_not_equal(hn_model_check(&s.m, &err), 0);
		if (strstr(err.msg, spoilt[i].says) != err.msg) {
			fail_msg("\"%s\", not \"%s\"", err.msg, spoilt[i].says);
		}
	}
}

/* The same constant argument, the same kernel: one block for two steps. */
static void blocks_are_shared(void **state)
{
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	ms_make(&s, MS_ALL);
	s.step[2].prepared = 0;
	s.arg[2][1].offset = 0;
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	const bool *prepares = hn_model_prepares(&s.m, &a);

	assert_true(prepares[0] && !prepares[1] && !prepares[2]);
	hn_arena_fini(&a);
}

/* Rows between each other's are no overlap; the text has them. */
static void rows_lie_side_by_side(void **state)
{
	const struct hn_model *back;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf text;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	ms_make(&s, 0);
	make_halves(&s);
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	s.arg[1][0].offset = 128;
	s.arg[1][1].offset = 0;
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	hn_model_write(&s.m, &text);
	assert_non_null(strstr(text.s, "\"inputs\":[[64,128,256]],\"outputs\":[[64,128,256]]"));
	assert_int_equal(hn_model_read("t", text.s, text.n, &a, &back, &err), 0);
	assert_int_equal(back->kernel[1].rows[1].pitch, 256);
	assert_int_equal(back->kernel[1].arg_bytes[1], 63 * 256 + 128);
	assert_int_equal(back->kernel[0].rows[0].n, 0);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

/* A block in weights is nobody's to make, may lie anywhere in them, and comes back from text. */
static void blocks_are_stored(void **state)
{
	struct hn_err err = { 0 };
	const struct hn_model *back;
	struct hn_arena a;
	struct hn_buf text;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	ms_make(&s, MS_ALL - 64);
	s.m.prepared_bytes = 0;
	s.m.stamp = UINT64_C(0x8000000000000001);
	for (uint32_t i = 0; i < 3; i += 2) {
		s.step[i].stored = true;
		s.step[i].prepared = MS_ALL + 64;
		s.arg[i][1] = ms_at(HONE_MODEL_NOWHERE, 0);
	}
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	assert_false(hn_model_prepares(&s.m, &a)[0]);
	hn_model_write(&s.m, &text);
	assert_int_equal(hn_model_read("t", text.s, text.n, &a, &back, &err), 0);
	assert_true(back->stamp == s.m.stamp && back->step[2].stored);
	assert_int_equal(back->step[2].prepared, MS_ALL + 64);
	assert_int_equal(back->step[2].arg[1].place, HONE_MODEL_NOWHERE);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

/* A word of the right text replaced by another. */
static const struct {
	const char *from, *to, *says;
} edits[] = {
	{ "hone-model/2", "hone-model/1", "t: format: must be hone-model/2" },
	{ "\"name\":\"small\"", "\"name\":7", "t: name: must be a string" },
	{ "\"arena_bytes\"", "\"arena\"", "t: arena: no such member" },
	{ "\"arena_bytes\"", "\"format name\"", "t: format name: no such member" },
	{ "\"arena_bytes\":16384", "\"arena_bytes\":-1",
	  "t: arena_bytes: must be a whole number" },
	{ "\"arena_bytes\":16384", "\"arena_bytes\":1.5",
	  "t: arena_bytes: must be a whole number" },
	{ "float32", "float33", "t: inputs[0].dtype: must be a type" },
	{ "\"shape\":[64,64]", "\"shape\":64", "t: inputs[0].shape: must be a list" },
	{ "\"constant\":[1]", "\"constant\":[2]",
	  "t: kernels[0].constant: must be a whole number" },
	{ "\"constant\":[1]", "\"constant\":[1,1]",
	  "t: kernels[0].constant: must be numbers of" },
	{ "\"init\":false", "\"init\":0", "t: kernels[0].init: must be true or false" },
	{ "\"kernel\":1", "\"kernel\":2",
	  "t: steps[1].kernel: must be the number of a kernel" },
	{ "[\"input\",0,0]", "[\"input\",0]", "t: steps[0].args[0]: must be [" },
	{ "[\"input\",0,0]", "[\"inputs\",0,0]", "t: steps[0].args[0]: must be [" },
	{ "[\"input\",0,0]", "{}", "t: steps[0].args[0]: must be [" },
	{ "[\"arena\",0],", "", "t: steps[1].args: must be as many as" },
	{ "\"prepared\":0", "\"prepared\":null",
	  "t: steps[0].prepared: must be a whole" },
	{ "[\"arena\",0]]}", "[\"arena\",0]],\"prepared\":0}",
	  "t: steps[1].prepared: must be left" },
	{ "\"inputs\":[16384,", "\"inputs\":[[64,256],",
	  "t: kernels[0].inputs: must be of bytes, or of [rows, bytes, pitch]" },
	{ "\"inputs\":[16384,", "\"inputs\":[[0,256,256],",
	  "t: kernels[0].inputs: must be of at least one row" },
	{ "\"inputs\":[16384,", "\"inputs\":[[1,-256,256],",
	  "t: kernels[0].inputs: must be a whole number" },
	{ "\"stored\":false", "\"stored\":0", "t: steps[0].stored: must be true or" },
	{ "[\"arena\",0]]}", "[\"arena\",0]],\"stored\":true}",
	  "t: steps[1].stored: must be left" },
	{ "\"stamp\":\"0", "\"stamp\":\"", "t: stamp: must be 16 digits" },
	{ "\"stamp\":\"0", "\"stamp\":\"-", "t: stamp: must be 16 digits" },
	{ "[\"input\",0,0]", "[\"nowhere\",0]", "t: steps[0].args[0]: must be [" },
	{ "[{\"name\":\"x\"", "[7,{\"name\":\"x\"", "t: inputs[0]: must be an object" },
};

static char *edited(const char *text, const char *from, const char *to,
		    struct hn_arena *a)
{
	const char *at = strstr(text, from);

	assert_non_null(at);
	return hn_arena_printf(a, "%.*s%s%s", (int)(at - text), text, to,
			       at + strlen(from));
}

static void wrong_texts_are_refused(void **state)
{
	struct hn_arena a;
	struct hn_buf text;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	ms_make(&s, MS_ALL);
	hn_model_write(&s.m, &text);
	for (size_t i = 0; i < HN_COUNT_OF(edits); i++) {
		const struct hn_model *m = NULL;
		struct hn_err err = { 0 };
		char *wrong = edited(text.s, edits[i].from, edits[i].to, &a);

		assert_int_not_equal(
			hn_model_read("t", wrong, strlen(wrong), &a, &m, &err), 0);
		assert_null(m);
		if (strstr(err.msg, edits[i].says) != err.msg) {
			fail_msg("\"%s\", not \"%s\"", err.msg, edits[i].says);
		}
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

/* The page's example is right, and small changes of it are what the page says is refused. */
static void the_page_is_right(void **state)
{
	static const char begin[] = "```json\n";
	const struct hn_model *m;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf page;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&page);
	assert_int_equal(hn_file_read(HONE_SOURCE_DIR "/docs/model-library.md", 1 << 20,
				      &page, &err),
			 0);
	char *text = strstr(page.s, begin) + strlen(begin);

	*strstr(text, "```") = '\0';
	if (hn_model_read("page", text, strlen(text), &a, &m, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(m->n_step, 2);
	char *wrong = edited(text, "[\"arena\", 0]]}", "[\"arena\", 64]]}", &a);

	assert_int_not_equal(hn_model_read("page", wrong, strlen(wrong), &a, &m, &err),
			     0);
	assert_string_equal(err.msg,
			    "page: steps[0].args[2]: 64 bytes at 64 go past the end of "
			    "arena, 64 bytes long");
	hn_buf_fini(&page);
	hn_arena_fini(&a);
}

/* Bytes changed at random: refused, or a model that passes its check. */
static void no_text_crashes(void **state)
{
	struct hn_rng rng = hn_rng_stream(1, 0, 0, 0);
	unsigned n_read = 0;
	struct hn_arena a;
	struct hn_buf text;
	struct ms s;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	ms_make(&s, MS_ALL);
	hn_model_write(&s.m, &text);
	for (int i = 0; i < 20000; i++) {
		static const char bytes[] = "0123456789-[]{},:\"atx";
		const struct hn_model *m;
		struct hn_err err = { 0 };
		char *copy = hn_arena_strndup(&a, text.s, text.n);

		for (uint64_t k = 1 + hn_rng_below(&rng, 2); k > 0; k--) {
			copy[hn_rng_below(&rng, text.n)] =
				bytes[hn_rng_below(&rng, sizeof bytes - 1)];
		}
		if (hn_model_read("t", copy, text.n, &a, &m, &err) == 0) {
			assert_int_equal(hn_model_check(m, &err), 0);
			n_read++;
		}
		hn_arena_reset(&a);
	}
	print_message("%u of 20000 changed texts were still right\n", n_read);
	assert_in_range(n_read, 100, 19000);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(rows_lie_side_by_side),
		cmocka_unit_test(blocks_are_shared),
		cmocka_unit_test(blocks_are_stored),
		cmocka_unit_test(wrong_texts_are_refused),
		cmocka_unit_test(the_page_is_right),
		cmocka_unit_test(no_text_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
