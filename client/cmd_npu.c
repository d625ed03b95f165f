/* client/cmd_npu.c -- `hone npu`: a program on the simulated NPU: how long it takes, what its pipes
 * do, and what is wrong with it.
 *
 * A computation becomes a program in hone-build; the machine is part of this program
 * (target/npu/npu_run.h).  Cycles are a model's: the answer says so each time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/jw.h"
#include "client/builder.h"
#include "client/network.h"
#include "client/npu.h"
#include "target/npu/npu_launch.h"

#define MOST_BYTES ((size_t)64 << 20)
#define MOST_PROGRAMS 16 /* for parts of a range of sizes */

/* Whether the text is a program's: its first line that says something. */
static bool is_program(const char *s)
{
	while (*s == '#' || *s == '\n' || *s == ' ' || *s == '\t') {
		s += *s == '#' ? strcspn(s, "\n") : 1;
	}
	return strncmp(s, "hnpu/", 5) == 0;
}

int hn_npu_made(const struct hn_opts *o, const char *profile, struct hn_arena *a, const char **name,
		struct hn_buf *text, struct hn_err *err)
{
	char plan[100], *words[] = { "--npu", plan, NULL };
	const char *order = o->order ? o->order : "flags";
	struct hn_input in;
	int rc = hn_input_read_sized(o, a, &in, err);

	if (rc != 0) {
		return rc;
	}
	*name = in.name;
	snprintf(plan, sizeof(plan), "%.40s %.20s %" PRId64, profile, order, o->slots > 0 ? o->slots : 2);
	hn_buf_reset(text);
	return hn_builder_ask("npu", in.json, "[]", words, text, err);
}

static int read_programs(const struct hn_opts *o, const char *profile, struct hn_arena *a,
			 const struct hn_npu_program *ret[MOST_PROGRAMS], uint32_t *ret_n, struct hn_err *err)
{
	const char *name = o->arg;
	struct hn_opts at = *o;
	struct hn_buf text;
	int rc = 0;

	hn_buf_init(&text);
	if (o->arg != NULL) {
		rc = hn_file_read(o->arg, MOST_BYTES, &text, err);
	}
	if (rc == 0 && is_program(text.s)) {
		rc = hn_npu_check_options(o, HN_NPU_PROGRAM, err);
	} else if (rc == 0) {
		if (o->arg != NULL && strcmp(o->arg, "-") == 0 && o->text == NULL) { /* it is read already */
			at.text = hn_arena_strndup(a, text.s, text.n);
			at.arg = NULL;
		}
		rc = hn_npu_check_options(o, HN_NPU_COMPUTATION, err);
		rc = rc ? rc : hn_npu_made(&at, profile, a, &name, &text, err);
	}
	rc = rc ? rc : hn_npu_parse_kernels(name, text.s, text.n, MOST_PROGRAMS, a, ret, ret_n, err);
	if (rc == 0 && *ret_n > 1 && ret[0]->n_size == 0) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: %u programs without sizes: one is wanted", name, *ret_n);
	}
	hn_buf_fini(&text);
	return rc;
}

static void put_json(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		     const struct hn_npu_result *r, struct hn_buf *b)
{
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", p->what);
	hn_npu_put_members(m, r, &w);
	hn_npu_put_room_members(p, m, r, &w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

/* One program, or the one of a launch, in the form that is asked for. */
static int one_program(const struct hn_opts *o, const struct hn_npu_profile *m, const struct hn_npu_program *p,
		       struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	bool picture = o->as != NULL && strcmp(o->as, "picture") == 0;
	struct hn_npu_result r;
	int rc = hn_npu_show(p, m, a, &r, picture ? b : NULL, err);

	if (rc == 0 && o->json && !picture) {
		put_json(p, m, &r, b);
	} else if (rc == 0 && !picture) {
		hn_npu_put_table(p, m, &r, b);
	}
	return rc;
}

static int programs(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_arena *a,
		    struct hn_buf *b, struct hn_err *err)
{
	const char *form = o->as != NULL ? o->as : "table";
	const struct hn_npu_program *p[MOST_PROGRAMS], *at;
	int64_t value[HN_NPU_MOST_SIZES];
	uint32_t n, n_given = 0;
	int rc;

	rc = read_programs(o, m->name, a, p, &n, err);
	rc = rc ? rc : hn_npu_sizes_given(o, p[0], value, &n_given, err);
	if (rc != 0) {
		return rc;
	}
	if (strcmp(form, "text") == 0 && n_given > 0) {
		return hn_fail(err, HONE_E_INVALID, "npu: --as text is the program for all sizes: leave out --dim");
	}
	if (strcmp(form, "text") == 0) {
		for (uint32_t i = 0; i < n; i++) {
			hn_npu_print(p[i], b);
		}
		return 0;
	}
	if (p[0]->n_size > 0 && n_given == 0) {
		return strcmp(form, "picture") != 0
			       ? hn_npu_sizes_show(o, p, n, m, b, err)
			       : hn_fail(err, HONE_E_INVALID, "npu: a picture is of one launch: --dim %s=.. says which",
					 p[0]->size[0].name);
	}
	rc = hn_npu_launch_first(p, n, value, a, &at, err);
	return rc ? rc : one_program(o, m, at, a, b, err);
}

int cmd_npu(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_npu_profile m;
	struct hn_arena a;
	struct hn_buf b;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	rc = hn_npu_check_words(o, err);
	rc = rc ? rc : hn_npu_profile_of(o->profile ? o->profile : "dv910", &m, err);
	rc = rc			     ? rc
	     : hn_network_is(o->arg) ? hn_npu_network(o, &m, &b, err)
				     : programs(o, &m, &a, &b, err);
	fwrite(b.s, 1, b.n, stdout);
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	return rc;
}
