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

int hn_npu_explain(const char *dag_json, const char *steps, const char *target_line, bool picture,
		   struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	struct hn_npu_record made;
	struct hn_npu_result r;
	int rc;

	hn_buf_init(&made.text);
	rc = hn_npu_of_record("explain", dag_json, steps, target_line, a, &made, err);
	rc = rc ? rc : hn_npu_show(made.p, &made.m, a, &r, picture ? b : NULL, err);
	if (rc == 0 && !picture) {
		hn_buf_putc(b, '\n');
		hn_npu_put_table(made.p, &made.m, &r, b);
	}
	hn_buf_fini(&made.text);
	return rc;
}
