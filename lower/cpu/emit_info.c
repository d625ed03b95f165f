/* lower/cpu/emit_info.c -- what a kernel says of itself: SYMBOL_info, one line of JSON in the
 * object (docs/libhone.md).
 *
 * A program that loads kernels learns from it what to call them with, and for which machine they
 * are, without the header, which is for compilers.  It is text: it is read once, is checked as all
 * text is, and a later version may say more.
 */
#include <string.h>

#include "base/jw.h"
#include "hone/kernel.h"
#include "loopstate/dag/constant.h"
#include "loopstate/dag/size.h"
#include "lower/cpu/emit_int.h"

static void put_sizes(const struct hn_dag *dag, struct hn_jw *w)
{
	hn_jw_list(w, "sizes");
	for (uint32_t k = 0; dag->sizes && k < dag->sizes->n; k++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", dag->sizes->size[k].name);
		hn_jw_int(w, "least", dag->sizes->size[k].lo);
		hn_jw_int(w, "most", dag->sizes->size[k].hi);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

/* Extents are numbers, or expressions over the sizes. */
static void put_shape(const struct hn_op *op, struct hn_jw *w)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_jw_list(w, "shape");
	for (uint32_t d = 0; d < op->n_dim; d++) {
		if (hn_op_extent(op, d)) {
			hn_buf_reset(&text);
			hn_expr_print(hn_op_extent(op, d), NULL, &text);
			hn_jw_str(w, NULL, text.s);
		} else {
			hn_jw_int(w, NULL, op->shape[d]);
		}
	}
	hn_jw_end(w);
	hn_buf_fini(&text);
}

static void put_args(const struct hn_dag *dag, struct hn_jw *w)
{
	hn_jw_list(w, "args");
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", op->name);
		hn_jw_str(w, "dtype", hn_dtype_name(op->dtype[hn_dag_arg_out(dag, i)]));
		put_shape(op, w);
		hn_jw_bool(w, "output", i >= dag->n_input);
		hn_jw_bool(w, "constant", hn_dag_arg_is_constant(dag, i));
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static void put_info(const struct emit *e, struct hn_buf *text)
{
	const struct hn_dag *task = e->t->state->root_dag;
	char key[HN_KEY_BYTES];
	struct hn_buf target;
	struct hn_jw w;

	hn_buf_init(&target);
	hn_target_print(&e->em->target, &target);
	hn_dag_key(task, key);
	hn_jw_init(&w, text);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", "hone-kernel-info/1");
	hn_jw_int(&w, "abi", HONE_KERNEL_ABI);
	hn_jw_str(&w, "symbol", e->opt->symbol);
	hn_jw_str(&w, "key", key);
	hn_jw_str(&w, "target", target.s);
	put_sizes(task, &w);
	put_args(task, &w);
	hn_jw_uint(&w, "workspace_bytes", e->shared_bytes);
	hn_jw_uint(&w, "worker_bytes", e->worker_bytes);
	hn_jw_uint(&w, "prepared_bytes", e->prepared_bytes);
	hn_jw_bool(&w, "init", e->tiles);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_fini(&target);
}

void hn_emit_info(struct emit *e)
{
	struct hn_buf text;

	hn_buf_init(&text);
	put_info(e, &text);
	LLVMValueRef v = LLVMConstStringInContext2(e->ctx, text.s, text.n, 0);
	LLVMValueRef global = LLVMAddGlobal(e->mod, LLVMTypeOf(v),
					    hn_arena_printf(e->a, "%s_info", e->opt->symbol));

	LLVMSetInitializer(global, v);
	LLVMSetGlobalConstant(global, 1);
	hn_buf_fini(&text);
}
