/* client/cmd_sketch.c -- `hone sketch`: the structures that search begins from, as
 * previews in the order in which the rules derive them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "client/best.h"
#include "client/cmd.h"
#include "sketch/sketch.h"

/* Ansor's words for targets, as target lines; the isa does not matter to its rules. */
static const struct {
	const char *word, *line;
} ansor_target[] = {
	{ "llvm", "cpu -isa=generic" },
	{ "cuda", "cuda" },
};

#define N_HARDWARE 8

/* "4,64,64,0,..." as words of the target line: " -num_cores=4 ...". */
static int put_hardware(const char *text, struct hn_buf *line, struct hn_err *err)
{
	const char *p = text;

	for (int i = 0; i < N_HARDWARE; i++) {
		char *end;

		errno = 0;
		long long v = strtoll(p, &end, 10);

		if (end == p || errno != 0 || *end != (i + 1 < N_HARDWARE ? ',' : '\0')) {
			return hn_fail(err, HONE_E_INVALID,
				       "--hardware: \"%.80s\" is not a list of %d whole "
				       "numbers, such as 4,64,64,0,0,0,0,0",
				       text, N_HARDWARE);
		}
		hn_buf_printf(line, " -%s=%lld", hn_param_name((enum hn_param)i), v);
		p = end + 1;
	}
	return 0;
}

static int find_target(const struct hn_opts *o, struct hn_arena *a, struct hn_target *ret,
		       struct hn_err *err)
{
	const char *known = NULL;
	struct hn_buf line;
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(ansor_target) && o->target != NULL; i++) {
		if (strcmp(o->target, ansor_target[i].word) == 0) {
			known = ansor_target[i].line;
		}
	}
	if (known == NULL) {
		rc = hn_best_target(o, a, ret, &known, err);
	}
	hn_buf_init(&line);
	if (rc == 0) {
		hn_buf_puts(&line, known);
		rc = o->hardware != NULL ? put_hardware(o->hardware, &line, err) : 0;
	}
	if (rc == 0) {
		rc = hn_target_parse(line.s, a, ret, err);
		rc = rc != 0 ? hn_err_within(err, "--target, --hardware") : 0;
	}
	hn_buf_fini(&line);
	return rc;
}

static void put_sketches(const struct hn_sketches *all, bool json, struct hn_buf *b)
{
	struct hn_buf preview;
	struct hn_jw w;

	hn_buf_init(&preview);
	hn_jw_init(&w, b);
	if (json) {
		hn_jw_list(&w, NULL);
	}
	for (uint32_t i = 0; i < all->n; i++) {
		const struct hn_sketch *sketch = &all->sketch[i];

		hn_buf_reset(&preview);
		hn_state_print(sketch->state, /* delete_trivial_loops= */ true, &preview);
		if (json) {
			hn_jw_str(&w, NULL, preview.s);
		} else {
			hn_buf_printf(b, "%ssketch %u%s%s\n%s", i > 0 ? "\n" : "", (unsigned)i,
				      sketch->rules[0] != '\0' ? ": " : "", sketch->rules,
				      preview.s);
		}
	}
	if (json) {
		hn_jw_end(&w);
		hn_buf_putc(b, '\n');
	}
	hn_buf_fini(&preview);
}

int cmd_sketch(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_sketches sketches;
	struct hn_target target;
	struct hn_arena a;
	struct hn_input in;
	struct hn_buf b;
	int rc;

	bool own = o->rules != NULL && strcmp(o->rules, "hone") == 0;

	if (o->rules != NULL && !own && strcmp(o->rules, "ansor") != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "--rules: \"%.40s\" is unknown; known: ansor, hone",
			       o->rules);
	}
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	rc = hn_input_read(o, &a, &in, err);
	rc = rc != 0 ? rc : find_target(o, &a, &target, err);
	if (rc == 0) {
		rc = own ? hn_sketch_generate_own(in.dag, &target, &a, &sketches, err)
			 : hn_sketch_generate(in.dag, &target, &a, &sketches, err);
	}
	if (rc == 0) {
		put_sketches(&sketches, o->json, &b);
		fwrite(b.s, 1, b.n, stdout);
	}
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	return rc;
}
