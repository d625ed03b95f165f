/* lower/cpu/emit_header.c -- the C header of a kernel: what a person needs to call it. */
#include "loopstate/dag/constant.h"
#include "loopstate/dag/size.h"
#include "lower/cpu/emit_int.h"
#include "lower/names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_NAME 160 /* an id has at most 128 bytes */

/* What the header itself uses, and what compilers and their headers define as macros without an
 * underscore in front. */
static const char *const ours[] = {
	"env", "args", "prepared", "sizes", "NULL", "EOF", "linux", "unix", "i386", "arm", "sun",
};

static bool begins_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Whether a name is a C identifier that cannot clash with a keyword, a type, a macro or a
 * parameter of ours. */
static bool is_plain(const char *name)
{
	size_t n = strlen(name);
	bool plain = isalpha((unsigned char)name[0]) && !hn_name_is_taken(name) &&
		     !begins_with(name, "arg_") && !begins_with(name, "size_") &&
		     !begins_with(name, "hone_") && !begins_with(name, "HONE_") &&
		     (n < 2 || strcmp(name + n - 2, "_t") != 0);

	for (size_t i = 0; i < HN_COUNT_OF(ours) && plain; i++) {
		plain = strcmp(name, ours[i]) != 0;
	}
	for (const char *c = name; *c && plain; c++) {
		plain = isalnum((unsigned char)*c) || *c == '_';
	}
	return plain;
}

/* The name of argument i after its op: id, or id_v0, id_v1, ... of an op with several outputs;
 * false where that is no name for C. */
static bool own_name(const struct hn_dag *dag, uint32_t i, char name[MOST_NAME])
{
	const struct hn_op *op = dag->op[dag->arg[i]];

	if (op->n_out == 1) {
		snprintf(name, MOST_NAME, "%s", op->id);
	} else {
		snprintf(name, MOST_NAME, "%s_v%u", op->id, hn_dag_arg_out(dag, i));
	}
	return is_plain(name);
}

static bool is_size(const struct hn_dag *dag, const char *name)
{
	for (uint32_t k = 0; dag->sizes && k < dag->sizes->n; k++) {
		if (strcmp(dag->sizes->size[k].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void put_name(const struct hn_dag *dag, uint32_t i, struct hn_buf *buf)
{
	char name[MOST_NAME], other[MOST_NAME];
	bool fits = own_name(dag, i, name) && !is_size(dag, name);

	for (uint32_t k = 0; k < dag->n_arg && fits; k++) {
		fits = k == i || !own_name(dag, k, other) || strcmp(name, other) != 0;
	}
	if (fits) {
		hn_buf_puts(buf, name);
	} else {
		hn_buf_printf(buf, "arg_%u", i);
	}
}

static void put_size_name(const struct hn_dag *dag, uint32_t k, struct hn_buf *buf)
{
	if (is_plain(dag->sizes->size[k].name)) {
		hn_buf_puts(buf, dag->sizes->size[k].name);
	} else {
		hn_buf_printf(buf, "size_%u", k);
	}
}

static uint32_t n_size(const struct hn_dag *dag)
{
	return dag->sizes ? dag->sizes->n : 0;
}

static void put_params(const struct hn_dag *dag, bool constant_only, struct hn_buf *buf)
{
	for (uint32_t k = 0; k < n_size(dag) && !constant_only; k++) {
		hn_buf_puts(buf, "int64_t ");
		put_size_name(dag, k, buf);
		hn_buf_puts(buf, ", ");
	}
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		if (constant_only && !hn_dag_arg_is_constant(dag, i)) {
			continue;
		}
		hn_buf_printf(buf, "%s%s *", i < dag->n_input ? "const " : "",
			      hn_dtype_c_name(op->dtype[hn_dag_arg_out(dag, i)]));
		put_name(dag, i, buf);
		hn_buf_puts(buf, ", ");
	}
}

static void put_shapes(const struct hn_dag *dag, struct hn_buf *buf)
{
	for (uint32_t k = 0; k < n_size(dag); k++) {
		hn_buf_puts(buf, " *   ");
		put_size_name(dag, k, buf);
		hn_buf_printf(buf, ": from %" PRId64 " to %" PRId64 "\n",
			      dag->sizes->size[k].lo, dag->sizes->size[k].hi);
	}
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		hn_buf_puts(buf, " *   ");
		put_name(dag, i, buf);
		hn_buf_printf(buf, ": %s %s[", i < dag->n_input ? "in " : "out",
			      hn_dtype_name(op->dtype[hn_dag_arg_out(dag, i)]));
		for (uint32_t d = 0; d < op->n_dim; d++) {
			hn_buf_puts(buf, d ? ", " : "");
			if (hn_op_extent(op, d)) {
				hn_expr_print(hn_op_extent(op, d), NULL, buf);
			} else {
				hn_buf_printf(buf, "%" PRId64, op->shape[d]);
			}
		}
		hn_buf_puts(buf, "]\n");
	}
}

static void put_prepare(const struct hn_dag *dag, const char *symbol, struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "\n/* Fill %s_PREPARED_BYTES at `prepared`, 64-byte aligned, for "
		      "hone_env.prepared. */\n"
		      "int32_t %s_prepare(",
		      symbol, symbol);
	put_params(dag, /* constant_only= */ true, buf);
	hn_buf_printf(buf,
		      "void *prepared, const struct hone_env *env);\n"
		      "int32_t %s_prepare_packed(void *const *args, void *prepared, "
		      "const struct hone_env *env);\n",
		      symbol);
}

void hn_emit_header(const struct hn_dag *dag, const char *symbol,
		    const struct hn_artefact *artefact, struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "/* %s: a kernel made by hone. See hone/kernel.h for how to call "
		      "it, and\n * hone/pool.h for threads to run it on.\n *\n",
		      symbol);
	put_shapes(dag, buf);
	hn_buf_printf(buf,
		      " */\n#ifndef HONE_KERNEL_%s_H\n#define HONE_KERNEL_%s_H\n\n"
		      "#include \"hone/kernel.h\"\n\n"
		      "/* Bytes of scratch that hone_env.workspace should have. */\n"
		      "#define %s_WORKSPACE_BYTES(n_workers) \\\n"
		      "\t(UINT64_C(%" PRIu64
		      ") + (uint64_t)(n_workers) * UINT64_C(%" PRIu64 "))\n\n"
		      "/* Bytes of what the constant inputs alone decide; 0 = nothing to "
		      "prepare. */\n"
		      "#define %s_PREPARED_BYTES UINT64_C(%" PRIu64 ")\n\n"
		      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
		      "int32_t %s(",
		      symbol, symbol, symbol, artefact->shared_bytes,
		      artefact->per_worker_bytes, symbol, artefact->prepared_bytes,
		      symbol);
	put_params(dag, /* constant_only= */ false, buf);
	hn_buf_printf(
		buf,
		"const struct hone_env *env);\n"
		"int32_t %s_packed(%svoid *const *args, const struct hone_env *env);\n",
		symbol, dag->sizes ? "const int64_t *sizes, " : "");
	if (artefact->prepared_bytes > 0) {
		put_prepare(dag, symbol, buf);
	}
	if (artefact->tiles) {
		hn_buf_printf(buf,
			      "\n/* Ask the system for tile registers (AMX), once in the process, "
			      "before the first call:\n * 0, or -errno where it refuses, and a call "
			      "would be an illegal instruction. */\n"
			      "int32_t %s_init(void);\n",
			      symbol);
	}
	if (artefact->chosen) {
		hn_buf_printf(buf,
			      "\n/* NULL, or in one line why none of its kernels runs on this "
			      "processor. */\nconst char *%s_why(void);\n",
			      symbol);
	}
	hn_buf_puts(buf, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
