/* lower/c/c_entry.c -- what the file defines for others (hone/kernel.h): checks sizes, finds
 * memory, calls the parts. */
#include <inttypes.h>

#include "hone/kernel.h"
#include "loopstate/dag/constant.h"
#include "lower/c/c_int.h"

static void put_sizes_checked(struct c *c, struct hn_buf *b)
{
	for (uint32_t k = 0; k < c_n_size(c); k++) {
		const struct hn_size *s = &c->t->dag->sizes->size[k];

		hn_buf_printf(b,
			      "\tif (sizes[%u] < %" PRId64 " || sizes[%u] > %" PRId64
			      ") {\n\t\treturn HONE_KERNEL_SIZE;\n\t}\n",
			      k, s->lo, k, s->hi);
	}
}

/* Scratch: env's where it is enough, else our own. */
static void put_workspace(struct c *c, bool prepares, struct hn_buf *b)
{
	hn_buf_printf(b,
		      "\tuint64_t workers = env != NULL && env->n_workers > 1 ? "
		      "(uint64_t)env->n_workers : 1;\n"
		      "\tuint64_t need = workers * %" PRIu64 " + %" PRIu64 ";\n",
		      c->places.worker_bytes, c->places.shared_bytes);
	if (prepares) {
		hn_buf_printf(b,
			      "\tneed += call.prepared == NULL ? %" PRIu64 " : 0;\n",
			      c->places.prepared_bytes);
	}
	hn_buf_puts(b, "\tchar *own = NULL, *space = NULL;\n\n"
		       "\tif (env != NULL && env->workspace_bytes >= need) {\n"
		       "\t\tspace = env->workspace;\n\t}\n"
		       "\tif (space == NULL && need > 0) {\n"
		       "\t\tspace = own = aligned_alloc(64, need);\n\t}\n"
		       "\tif (space == NULL && need > 0) {\n\t\treturn HONE_KERNEL_NOMEM;\n\t}\n");
}

static bool has_workspace(const struct c *c)
{
	return c->places.shared_bytes + c->places.worker_bytes > 0;
}

static void put_packed(struct c *c, struct hn_buf *b)
{
	bool sized = c_n_size(c) > 0, prepares = c->places.prepared_bytes > 0;
	bool memory = has_workspace(c) || prepares;

	hn_buf_printf(b,
		      "int32_t %s_packed(%svoid *const *args, const struct hone_env *env)\n{\n",
		      c->symbol, sized ? "const int64_t *sizes, " : "");
	put_sizes_checked(c, b);
	hn_buf_printf(b, "\tstruct %s_call call = { .args = args, .env = env%s };\n", c->symbol,
		      sized ? ", .sizes = sizes" : "");
	if (prepares) {
		hn_buf_printf(b,
			      "\tif (env != NULL && env->abi >= 2 && env->prepared_bytes >= %" PRIu64
			      ") {\n\t\tcall.prepared = (char *)(uintptr_t)env->prepared;\n\t}\n",
			      c->places.prepared_bytes);
	}
	if (memory) {
		put_workspace(c, prepares, b);
	}
	if (prepares) {
		hn_buf_printf(b,
			      "\tif (call.prepared == NULL) {\n\t\tcall.prepared = space;\n"
			      "\t\tspace += %" PRIu64 ";\n"
			      "\t\tcall.workers = space + %" PRIu64 ";\n\t\t%s_prep(&call);\n\t}\n",
			      c->places.prepared_bytes, c->places.shared_bytes, c->symbol);
	}
	if (memory) {
		hn_buf_printf(b,
			      "\tcall.shared = space;\n\tcall.workers = space + %" PRIu64 ";\n",
			      c->places.shared_bytes);
	}
	hn_buf_printf(b, "\t%s_main(&call);\n%s\treturn 0;\n}\n\n", c->symbol,
		      memory ? "\tfree(own);\n" : "");
}

static void put_prepare_packed(struct c *c, struct hn_buf *b)
{
	bool memory = c->places.worker_bytes > 0;

	hn_buf_printf(b,
		      "int32_t %s_prepare_packed(void *const *args, void *prepared, "
		      "const struct hone_env *env)\n{\n"
		      "\tstruct %s_call call = { .args = args, .env = env, .prepared = prepared };\n",
		      c->symbol, c->symbol);
	if (memory) {
		put_workspace(c, /* prepares= */ false, b);
		hn_buf_puts(b, "\tcall.workers = space;\n");
	}
	hn_buf_printf(b, "\t%s_prep(&call);\n%s\treturn 0;\n}\n\n", c->symbol,
		      memory ? "\tfree(own);\n" : "");
}

/* The function of the arguments one by one: of all, or to prepare of the constant ones. */
static void put_typed(struct c *c, bool prepare, struct hn_buf *b)
{
	const struct hn_dag *dag = c->t->dag, *task = c->t->state->root_dag;
	uint32_t n_size = prepare ? 0 : c_n_size(c);
	const char *what = prepare ? "_prepare" : "";

	hn_buf_printf(b, "int32_t %s%s(", c->symbol, what);
	for (uint32_t k = 0; k < n_size; k++) {
		hn_buf_printf(b, "int64_t size_%u, ", k);
	}
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		enum hn_dtype t = (enum hn_dtype)op->dtype[hn_dag_arg_out(dag, i)];

		if (!prepare || hn_dag_arg_is_constant(task, i)) {
			hn_buf_printf(b, "%s%s *arg_%u, ", i < dag->n_input ? "const " : "",
				      hn_dtype_c_name(t), i);
		}
	}
	hn_buf_printf(b, "%sconst struct hone_env *env)\n{\n",
		      prepare ? "void *prepared, " : "");
	if (n_size > 0) {
		hn_buf_puts(b, "\tconst int64_t sizes[] = { ");
		for (uint32_t k = 0; k < n_size; k++) {
			hn_buf_printf(b, "size_%u, ", k);
		}
		hn_buf_puts(b, "};\n");
	}
	hn_buf_puts(b, "\tvoid *const args[] = {\n");
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		bool there = !prepare || hn_dag_arg_is_constant(task, i);

		hn_buf_printf(b, there ? "\t\t(void *)(uintptr_t)arg_%u,\n" : "\t\tNULL,\n", i);
	}
	hn_buf_printf(b, "\t};\n\n\treturn %s%s_packed(%sargs, %senv);\n}\n", c->symbol, what,
		      n_size > 0 ? "sizes, " : "", prepare ? "prepared, " : "");
}

void hn_c_entries(struct c *c, const struct hn_artefact *made, struct hn_buf *ret)
{
	put_packed(c, ret);
	put_typed(c, /* prepare= */ false, ret);
	if (c->places.prepared_bytes > 0) {
		hn_buf_puts(ret, "\n");
		put_prepare_packed(c, ret);
		put_typed(c, /* prepare= */ true, ret);
	}
	if (made->tiles) {
		hn_buf_printf(ret, "\n/* It uses no tile registers. */\nint32_t %s_init(void)\n{\n"
				   "\treturn 0;\n}\n",
			      c->symbol);
	}
}
