/* client/npu_record.c -- what a history is on the simulated NPU: hone-build makes its program, the
 * machine, which is part of this program, judges and counts.
 */
#include "client/builder.h"
#include "client/npu.h"

bool hn_npu_is(const struct hn_target *t)
{
	return (t->caps & HN_CAP_BUFFERS) != 0;
}

int hn_npu_of_record(const char *verb, const char *dag_json, const char *steps, const char *target_line,
		     struct hn_arena *a, struct hn_npu_record *ret, struct hn_err *err)
{
	char *words[] = { "--target", (char *)(uintptr_t)target_line, "--emit-asm", NULL };
	struct hn_target target;
	int rc = hn_target_parse(target_line, a, &target, err);

	rc = rc ? rc : hn_npu_profile_of_target(&target, &ret->m, err);
	rc = rc ? rc : hn_builder_ask(verb, dag_json, steps, words, &ret->text, err);
	return rc ? rc : hn_npu_parse("program", ret->text.s, ret->text.n, a, &ret->p, err);
}

void hn_npu_explain(const char *dag_json, const char *steps, const char *target_line, bool picture,
		    struct hn_arena *a, struct hn_npu_explained *ret)
{
	int rc;

	*ret = (struct hn_npu_explained){ .refused = { .code = 0 } };
	hn_buf_init(&ret->made.text);
	hn_buf_init(&ret->svg);
	rc = hn_npu_of_record("explain", dag_json, steps, target_line, a, &ret->made, &ret->refused);
	rc = rc ? rc : hn_npu_show(ret->made.p, &ret->made.m, a, &ret->r, picture ? &ret->svg : NULL,
				   &ret->refused);
	ret->refused.code = -rc;
}

void hn_npu_explained_close(struct hn_npu_explained *e)
{
	hn_buf_fini(&e->made.text);
	hn_buf_fini(&e->svg);
}

void hn_npu_explain_text(const struct hn_npu_explained *e, bool pipes, struct hn_buf *b)
{
	hn_buf_putc(b, '\n');
	if (e->refused.code != 0) {
		hn_buf_printf(b, "no program for the NPU: %s\n", e->refused.msg);
	} else if (pipes) {
		hn_npu_put_table(e->made.p, &e->made.m, &e->r, b);
	} else {
		hn_buf_printf(b, "what the program takes of %s (simulated by a model, docs/npu.md)\n", e->made.m.name);
		hn_npu_put_room(e->made.p, &e->made.m, &e->r, b);
	}
}

void hn_npu_explain_json(const struct hn_npu_explained *e, struct hn_jw *w)
{
	if (e->refused.code != 0) {
		hn_jw_str(w, "refused", e->refused.msg);
		return;
	}
	hn_jw_object(w, "npu");
	hn_npu_put_members(&e->made.m, &e->r, w);
	hn_npu_put_room_members(e->made.p, &e->made.m, &e->r, w);
	hn_jw_end(w);
}
