/* client/cmd_dag.c -- `hone dag`: check a computation and say what it is. */
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "client/cmd.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/state.h"

static const char *kind_of(const struct hn_op *op)
{
	return op->kind == HN_OP_PLACEHOLDER ? "placeholder" : "compute";
}

static void put_shape(const struct hn_op *op, struct hn_buf *b)
{
	hn_buf_putc(b, '[');
	for (uint32_t d = 0; d < op->n_dim; d++) {
		hn_buf_printf(b, "%s%lld", d > 0 ? "," : "", (long long)op->shape[d]);
	}
	hn_buf_putc(b, ']');
}

static void put_stage(const struct hn_op *op, struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "id", op->id);
	hn_jw_str(w, "name", op->name);
	hn_jw_str(w, "kind", kind_of(op));
	hn_jw_str(w, "dtype", hn_dtype_name(op->dtype[0]));
	hn_jw_list(w, "shape");
	for (uint32_t d = 0; d < op->n_dim; d++) {
		hn_jw_int(w, NULL, op->shape[d]);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

static void put_json(const struct hn_input *in, const char *preview, struct hn_buf *b)
{
	struct hn_buf text;
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", in->name);
	hn_jw_str(&w, "key", in->key);
	hn_jw_double(&w, "flops", hn_dag_flops(in->dag));
	hn_jw_uint(&w, "arg_bytes", hn_dag_arg_bytes(in->dag));
	hn_jw_uint(&w, "temp_bytes", hn_dag_temp_bytes(in->dag));
	hn_jw_list(&w, "stages");
	for (uint32_t i = 0; i < in->dag->n_op; i++) {
		put_stage(in->dag->op[i], &w);
	}
	hn_jw_end(&w);
	hn_buf_init(&text);
	hn_dag_write_text(in->dag, in->name, &text);
	hn_jw_str(&w, "text", text.s);
	hn_buf_fini(&text);
	hn_jw_str(&w, "loops", preview);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

static void put_text(const struct hn_input *in, const char *preview, struct hn_buf *b)
{
	hn_buf_printf(b,
		      "%s\n  key    %s\n  FLOPs  %.0f\n  bytes  %llu in arguments, %llu "
		      "between\n%s",
		      in->name, in->key, hn_dag_flops(in->dag),
		      (unsigned long long)hn_dag_arg_bytes(in->dag),
		      (unsigned long long)hn_dag_temp_bytes(in->dag),
		      in->dag->sizes != NULL ? "  sizes  parameters; the figures are of the "
					       "largest\n"
					     : "");
	for (uint32_t i = 0; i < in->dag->n_op; i++) {
		const struct hn_op *op = in->dag->op[i];

		hn_buf_printf(b, "  stage  %-12s %-11s %s", op->id, kind_of(op),
			      hn_dtype_name(op->dtype[0]));
		put_shape(op, b);
		hn_buf_putc(b, '\n');
	}
	hn_buf_putc(b, '\n');
	hn_dag_write_text(in->dag, in->name, b);
	hn_buf_printf(b, "\n%s", preview);
}

/* What --as names; NULL: failed. */
static const char *form_of(const struct hn_opts *o, struct hn_err *err)
{
	static const char *const form[] = { "all", "text", "json" };

	for (size_t i = 0; i < HN_COUNT_OF(form); i++) {
		if (o->as == NULL || strcmp(o->as, form[i]) == 0) {
			return form[i];
		}
	}
	hn_fail(err, HONE_E_INVALID, "--as: \"%.60s\" is none of all, text, json", o->as);
	return NULL;
}

int cmd_dag(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_arena a;
	struct hn_input in;
	struct hn_buf preview, b;
	const char *form = form_of(o, err);
	int rc;

	if (form == NULL) {
		return -err->code;
	}
	hn_arena_init(&a, 0);
	rc = hn_input_read_sized(o, &a, &in, err);
	if (rc == 0) {
		hn_buf_init(&preview);
		hn_buf_init(&b);
		hn_state_print(hn_state_init(in.dag, &a),
			       /* delete_trivial_loops= */ true, &preview);
		if (strcmp(form, "text") == 0) {
			hn_dag_write_text(in.dag, in.name, &b);
		} else if (strcmp(form, "json") == 0) {
			hn_dag_write_json(in.dag, &b);
			hn_buf_putc(&b, '\n');
		} else if (o->json) {
			put_json(&in, preview.s, &b);
		} else {
			put_text(&in, preview.s, &b);
		}
		fwrite(b.s, 1, b.n, stdout);
		hn_buf_fini(&preview);
		hn_buf_fini(&b);
	}
	hn_arena_fini(&a);
	return rc;
}
