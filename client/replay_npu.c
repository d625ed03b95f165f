/* client/replay_npu.c -- `hone replay` for the simulated NPU: the program as text, and a manifest with
 * what the machine says of it.  It is judged before it is given out; that its numbers are right was
 * found by the board that measured it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "client/npu.h"
#include "client/replay.h"

static const char *in_work(const struct hn_replay *r, struct hn_arena *a, const char *behind)
{
	return hn_arena_printf(a, "%s/out%s", r->work, behind);
}

/* `in` is in front of each file's name. */
static void put_head(const struct hn_replay *r, const char *in, const struct hn_npu_profile *m,
		     const struct hn_npu_result *run, struct hn_jw *w)
{
	hn_replay_put_head(r, w);
	hn_jw_strf(w, "program", "%s%s.hnpu", in, r->symbol);
	if (hn_replay_has(r, HN_REPLAY_picture)) {
		hn_jw_strf(w, "picture", "%s%s.svg", in, r->symbol);
	}
	hn_npu_put_members(m, run, w);
}

static int write_manifest(const struct hn_replay *r, const char *path, const struct hn_npu_profile *m,
			  const struct hn_npu_result *run, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", "hone-npu-kernel/1");
	put_head(r, "", m, run, &w);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_json(&w, "steps", r->kernel[0].steps);
	hn_jw_json(&w, "dag", r->in->json);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	rc = hn_file_replace(path, b.s, b.n, err);
	hn_buf_fini(&b);
	return rc;
}

static int put_in_place(const struct hn_replay *r, struct hn_arena *a, const char *behind,
			struct hn_err *err)
{
	const char *to = hn_arena_printf(a, "%s/%s%s", r->dir, r->symbol, behind);

	if (rename(in_work(r, a, behind), to) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", to, strerror(errno));
	}
	if (!r->json) {
		printf("%s\n", to);
	}
	return 0;
}

static void print_answer(const struct hn_replay *r, struct hn_arena *a, const struct hn_npu_profile *m,
			 const struct hn_npu_result *run)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	put_head(r, hn_arena_printf(a, "%s/", r->dir), m, run, &w);
	hn_jw_strf(&w, "manifest", "%s/%s.json", r->dir, r->symbol);
	hn_jw_end(&w);
	hn_jw_done(&w);
	puts(b.s);
	hn_buf_fini(&b);
}

int hn_replay_make_npu(struct hn_replay *r, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_replay_kernel *k = &r->kernel[0];
	bool picture = hn_replay_has(r, HN_REPLAY_picture);
	struct hn_npu_record made;
	struct hn_npu_result run;
	struct hn_buf svg;
	int rc;

	hn_buf_init(&made.text);
	hn_buf_init(&svg);
	rc = hn_npu_of_record("replay", r->in->json, k->steps, k->target_line, a, &made, err);
	rc = rc ? rc : hn_npu_show(made.p, &made.m, a, &run, picture ? &svg : NULL, err);
	rc = rc ? rc : hn_file_replace(in_work(r, a, ".hnpu"), made.text.s, made.text.n, err);
	rc = rc ? rc : write_manifest(r, in_work(r, a, ".json"), &made.m, &run, err);
	rc = rc || !picture ? rc : hn_file_replace(in_work(r, a, ".svg"), svg.s, svg.n, err);
	rc = rc ? rc : put_in_place(r, a, ".hnpu", err);
	rc = rc ? rc : put_in_place(r, a, ".json", err);
	rc = rc || !picture ? rc : put_in_place(r, a, ".svg", err);
	if (rc == 0 && r->json) {
		print_answer(r, a, &made.m, &run);
	}
	hn_buf_fini(&made.text);
	hn_buf_fini(&svg);
	return rc;
}
