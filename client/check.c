/* client/check.c -- see check.h. */
#include "client/check.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "client/prove.h"
#include "target/target.h"

#define ANSWER_MAX ((size_t)1 << 20)

int hn_check_open(const char *verb, const struct hn_opts *o, const char *target_line,
		  struct hn_arena *a, struct hn_check *ret, struct hn_err *err)
{
	struct hn_target target, host;
	int rc;

	*ret = (struct hn_check){ .file.fd = -1, .cases = "[]" };
	if (o->unchecked) {
		ret->why = "--unchecked";
		return 0;
	}
	rc = hn_target_parse(target_line, a, &target, err);
	if (rc == 0 && (target.caps & (HN_CAP_MODULES | HN_CAP_BUFFERS)) != 0) {
		ret->why = (target.caps & HN_CAP_MODULES) != 0
				   ? "a GPU's is compared where it is measured (hone tune)"
				   : "the NPU's is compared where it is measured (hone tune)";
		return 0;
	}
	hn_target_host(a, &host);
	if (rc == 0 && !hn_target_runs_on(&target, &host)) {
		struct hn_buf theirs, ours;

		hn_buf_init(&theirs);
		hn_buf_init(&ours);
		hn_target_print_isa(&target, &theirs);
		hn_target_print_isa(&host, &ours);
		ret->why = hn_arena_printf(a, "it is made for %s, and this machine is %s",
					   theirs.s, ours.s);
		hn_buf_fini(&ours);
		hn_buf_fini(&theirs);
		return 0;
	}
	rc = rc ? rc : hn_memory_file_open(verb, "", &ret->file, err);
	ret->words[0] = "--check";
	ret->words[1] = ret->file.path;
	return rc;
}

void hn_check_close(struct hn_check *c)
{
	hn_memory_file_close(&c->file);
}

/* hone-board's answer. */
static int read_answer(const char *verb, const struct hn_json *answer, struct hn_check *c,
		       struct hn_arena *a, struct hn_err *err)
{
	const char *verdict = hn_prover_word(answer, "verdict");
	const struct hn_json *cases = hn_json_get(answer, "cases");
	struct hn_buf b;

	if (strcmp(verdict, "OK") != 0) {
		c->wrong = hn_arena_printf(a, "%s: %s", verdict, hn_prover_word(answer, "detail"));
		return hn_fail(err, HONE_E_INTERNAL,
			       "%s: the kernel is wrong, and is not given out: %s", verb, c->wrong);
	}
	hn_buf_init(&b);
	hn_json_write(cases, &b);
	c->cases = hn_arena_strndup(a, b.s, b.n);
	hn_buf_fini(&b);
	c->n = hn_json_count(cases);
	for (const struct hn_json *v = hn_json_first(cases); v != NULL; v = hn_json_next(v)) {
		c->n_compared += hn_show_number(v, "elements");
		c->n_element += hn_show_number(v, "of");
		c->error = fmax(c->error, hn_show_number(v, "error"));
		c->allowed = fmax(c->allowed, hn_show_number(v, "allowed"));
	}
	c->why = c->n == 0 ? hn_arena_strdup(a, hn_prover_word(answer, "why")) : NULL;
	return 0;
}

int hn_check_kernel(const char *verb, struct hn_check *c, struct hn_arena *a, struct hn_err *err)
{
	char *argv[] = { "hone-board", "--check", c->file.path, NULL };
	struct hn_memory_file answer = { .fd = -1 };
	struct hn_json *json = NULL;
	struct hn_buf b;
	int rc;

	if (c->words[0] == NULL) {
		return 0;
	}
	hn_buf_init(&b);
	rc = hn_memory_file_open(verb, "", &answer, err);
	rc = rc ? rc : hn_builder_run(verb, argv, answer.fd, err);
	rc = rc ? rc : hn_file_read(answer.path, ANSWER_MAX, &b, err);
	rc = rc ? rc : hn_json_parse("hone-board", b.s, b.n, NULL, &json, err);
	rc = rc ? rc : read_answer(verb, json, c, a, err);
	hn_json_free(json);
	hn_buf_fini(&b);
	hn_memory_file_close(&answer);
	return rc;
}

void hn_check_json(const struct hn_check *c, struct hn_jw *w)
{
	hn_jw_object(w, "check");
	hn_jw_uint(w, "inputs", c->n);
	hn_jw_str(w, "why", c->why);
	hn_jw_written(w, "cases", c->cases);
	hn_jw_end(w);
}

void hn_check_text(const struct hn_check *c, struct hn_buf *b)
{
	if (c->none != NULL) {
		hn_buf_printf(b, "none for this target: %s", c->none);
	} else if (c->why != NULL) {
		hn_buf_printf(b, "not run: %s", c->why);
	} else {
		hn_buf_printf(b, "run here, right on %u input%s: %.0f of %.0f elements compared",
			      c->n, c->n == 1 ? "" : "s", c->n_compared, c->n_element);
	}
}
