/* lower/cpu/emit_model.c -- the table of a compiled network (include/hone/model.h), and the
 * functions of proto/model_entries.def, which call the run time with it.
 *
 * The table is constant data that points to kernels by their symbols, which are declared hidden: a
 * shared library does not show them.  A GPU's kernels are no functions (emit_model_gpu.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lower/cpu/emit_model_int.h"
#include "proto/gpu_table.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

LLVMValueRef hn_table_word(const struct hn_table *t, uint64_t v)
{
	return LLVMConstInt(t->e->i32, v, 0);
}

LLVMValueRef hn_table_size(const struct hn_table *t, uint64_t v)
{
	return LLVMConstInt(t->e->i64, v, 0);
}

LLVMValueRef hn_table_words(const struct hn_table *t, const int64_t v[3])
{
	LLVMValueRef word[3] = { hn_table_word(t, (uint64_t)v[0]), hn_table_word(t, (uint64_t)v[1]),
				 hn_table_word(t, (uint64_t)v[2]) };

	return LLVMConstArray2(t->e->i32, word, 3);
}

static LLVMValueRef constant(const struct hn_table *t, LLVMValueRef v)
{
	LLVMValueRef global = LLVMAddGlobal(t->e->mod, LLVMTypeOf(v), "");

	LLVMSetInitializer(global, v);
	LLVMSetGlobalConstant(global, 1);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
	return global;
}

LLVMValueRef hn_table_bytes(const struct hn_table *t, const void *bytes, size_t n)
{
	return constant(t, LLVMConstStringInContext2(t->e->ctx, bytes, n, 0));
}

LLVMValueRef hn_table_text(const struct hn_table *t, const char *s)
{
	return hn_table_bytes(t, s, strlen(s));
}

LLVMValueRef hn_table_array(const struct hn_table *t, LLVMValueRef *v, uint32_t n)
{
	return n == 0 ? LLVMConstNull(t->e->ptr)
		      : constant(t, LLVMConstArray2(LLVMTypeOf(v[0]), v, n));
}

LLVMValueRef hn_table_struct(const struct hn_table *t, const struct hn_table_field *f, uint32_t n,
			     size_t bytes)
{
	LLVMValueRef v[20];

	hn_assert(n <= HN_COUNT_OF(v));
	for (uint32_t i = 0; i < n; i++) {
		v[i] = f[i].v;
	}
	LLVMValueRef ret = LLVMConstStructInContext(t->e->ctx, v, n, 0);

	for (uint32_t i = 0; i < n; i++) {
		hn_assert(LLVMOffsetOfElement(t->layout, LLVMTypeOf(ret), i) == f[i].at);
	}
	hn_assert(LLVMABISizeOfType(t->layout, LLVMTypeOf(ret)) == bytes);
	return ret;
}

LLVMValueRef hn_table_global(const struct hn_table *t, const char *name, LLVMValueRef v)
{
	LLVMValueRef ret = LLVMAddGlobal(t->e->mod, LLVMTypeOf(v), name);

	LLVMSetInitializer(ret, v);
	LLVMSetGlobalConstant(ret, 1);
	return ret;
}

static LLVMValueRef tensors(const struct hn_table *t, const struct hn_model_tensor *x,
			    uint32_t n)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, n), dim[HN_MODEL_MAX_RANK];

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t d = 0; d < x[i].n_dim; d++) {
			dim[d] = hn_table_size(t, (uint64_t)x[i].dim[d]);
		}
		const struct hn_table_field f[] = {
			AT(hone_model_tensor, name, hn_table_text(t, x[i].name)),
			AT(hone_model_tensor, dtype, hn_table_text(t, hn_dtype_name(x[i].dtype))),
			AT(hone_model_tensor, dims, hn_table_array(t, dim, x[i].n_dim)),
			AT(hone_model_tensor, bytes,
			   hn_table_size(t, hn_model_tensor_bytes(&x[i]))),
			AT(hone_model_tensor, rank, hn_table_word(t, x[i].n_dim)),
		};

		v[i] = STRUCTURE(t, hone_model_tensor, f);
	}
	return hn_table_array(t, v, n);
}

/* A function of somebody else's object, by its symbol. */
static LLVMValueRef function(const struct hn_table *t, const char *symbol,
			     const char *ending)
{
	char *name = hn_arena_printf(t->e->a, "%s%s", symbol, ending);
	LLVMValueRef f =
		LLVMAddFunction(t->e->mod, name, LLVMFunctionType(t->e->i32, NULL, 0, 0));

	LLVMSetVisibility(f, LLVMHiddenVisibility);
	return f;
}

static LLVMValueRef kernels(const struct hn_table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_kernel);
	LLVMValueRef null = LLVMConstNull(t->e->ptr);

	for (uint32_t i = 0; i < t->m->n_kernel; i++) {
		const struct hn_model_kernel *k = &t->m->kernel[i];
		const struct hn_table_field f[] = {
			AT(hone_model_kernel, name, hn_table_text(t, k->name)),
			AT(hone_model_kernel, packed,
			   k->sized || t->m->module ? null : function(t, k->symbol, "_packed")),
			AT(hone_model_kernel, prepare_packed,
			   k->prepared_bytes ? function(t, k->symbol, "_prepare_packed")
					     : null),
			AT(hone_model_kernel, init,
			   k->init ? function(t, k->symbol, "_init") : null),
			AT(hone_model_kernel, prepared_bytes, hn_table_size(t, k->prepared_bytes)),
			AT(hone_model_kernel, workspace_bytes,
			   hn_table_size(t, k->workspace_bytes)),
			AT(hone_model_kernel, worker_bytes, hn_table_size(t, k->worker_bytes)),
			AT(hone_model_kernel, sized,
			   k->sized ? function(t, k->symbol, "_packed") : null),
		};

		v[i] = STRUCTURE(t, hone_model_kernel, f);
	}
	return hn_table_array(t, v, t->m->n_kernel);
}

static uint32_t n_args(const struct hn_model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_step; i++) {
		n += m->kernel[m->step[i].kernel].n_arg;
	}
	return n;
}

static LLVMValueRef args(const struct hn_table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, n_args(t->m));
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->m->n_step; i++) {
		const struct hn_model_step *s = &t->m->step[i];

		for (uint32_t k = 0; k < t->m->kernel[s->kernel].n_arg; k++) {
			const struct hn_table_field f[] = {
				AT(hone_model_arg, place, hn_table_word(t, s->arg[k].place)),
				AT(hone_model_arg, index, hn_table_word(t, s->arg[k].index)),
				AT(hone_model_arg, offset, hn_table_size(t, s->arg[k].offset)),
			};

			v[n++] = STRUCTURE(t, hone_model_arg, f);
		}
	}
	return hn_table_array(t, v, n);
}

static LLVMValueRef steps(const struct hn_table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_step);
	const bool *prepares = hn_model_prepares(t->m, t->e->a);
	uint32_t first = 0;

	for (uint32_t i = 0; i < t->m->n_step; i++) {
		const struct hn_model_step *s = &t->m->step[i];
		const struct hn_model_kernel *k = &t->m->kernel[s->kernel];
		const struct hn_table_field f[] = {
			AT(hone_model_step, name, hn_table_text(t, s->name)),
			AT(hone_model_step, kernel, hn_table_word(t, s->kernel)),
			AT(hone_model_step, first_arg, hn_table_word(t, first)),
			AT(hone_model_step, n_args, hn_table_word(t, k->n_arg)),
			AT(hone_model_step, prepares,
			   hn_table_word(t, s->stored     ? HONE_MODEL_STORED
				   : prepares[i] ? HONE_MODEL_PREPARE
						 : HONE_MODEL_NOTHING)),
			AT(hone_model_step, prepared,
			   hn_table_size(t, k->prepared_bytes ? s->prepared : 0)),
		};

		v[i] = STRUCTURE(t, hone_model_step, f);
		first += k->n_arg;
	}
	return hn_table_array(t, v, t->m->n_step);
}

static LLVMValueRef sizes(const struct hn_table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_size);

	for (uint32_t i = 0; i < t->m->n_size; i++) {
		const struct hn_model_size *s = &t->m->size[i];
		const struct hn_table_field f[] = {
			AT(hone_model_size, name, hn_table_text(t, s->name)),
			AT(hone_model_size, least, hn_table_size(t, (uint64_t)s->least)),
			AT(hone_model_size, most, hn_table_size(t, (uint64_t)s->most)),
			AT(hone_model_size, step, hn_table_size(t, (uint64_t)s->step)),
		};

		v[i] = STRUCTURE(t, hone_model_size, f);
	}
	return hn_table_array(t, v, t->m->n_size);
}

static LLVMValueRef bounds(const struct hn_table *t, const int64_t *x)
{
	LLVMValueRef v[HN_MODEL_MAX_SIZES];

	for (uint32_t i = 0; i < t->m->n_size; i++) {
		v[i] = hn_table_size(t, (uint64_t)x[i]);
	}
	return hn_table_array(t, v, t->m->n_size);
}

static LLVMValueRef ranges(const struct hn_table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_range);

	for (uint32_t i = 0; i < t->m->n_range; i++) {
		const struct hn_model_range *r = &t->m->range[i];
		const struct hn_table_field f[] = {
			AT(hone_model_range, least, bounds(t, r->least)),
			AT(hone_model_range, most, bounds(t, r->most)),
			AT(hone_model_range, first_step, hn_table_word(t, r->first)),
			AT(hone_model_range, n_steps, hn_table_word(t, r->n)),
		};

		v[i] = STRUCTURE(t, hone_model_range, f);
	}
	return hn_table_array(t, v, t->m->n_range);
}

static void emit_table(struct hn_table *t)
{
	const struct hn_model *m = t->m;
	const struct hn_table_field f[] = {
		AT(hone_model, abi, hn_table_word(t, HONE_MODEL_ABI)),
		AT(hone_model, n_inputs, hn_table_word(t, m->n_input)),
		AT(hone_model, n_outputs, hn_table_word(t, m->n_output)),
		AT(hone_model, n_kernels, hn_table_word(t, m->n_kernel)),
		AT(hone_model, n_steps, hn_table_word(t, m->n_step)),
		AT(hone_model, n_args, hn_table_word(t, n_args(m))),
		AT(hone_model, name, hn_table_text(t, m->name)),
		AT(hone_model, inputs, tensors(t, m->input, m->n_input)),
		AT(hone_model, outputs, tensors(t, m->output, m->n_output)),
		AT(hone_model, kernels, kernels(t)),
		AT(hone_model, steps, steps(t)),
		AT(hone_model, args, args(t)),
		AT(hone_model, weights_bytes, hn_table_size(t, m->weights_bytes)),
		AT(hone_model, prepared_bytes, hn_table_size(t, m->prepared_bytes)),
		AT(hone_model, arena_bytes, hn_table_size(t, m->arena_bytes)),
		AT(hone_model, stamp, hn_table_size(t, m->stamp)),
		AT(hone_model, n_sizes, hn_table_word(t, m->n_size)),
		AT(hone_model, n_ranges, hn_table_word(t, m->n_range)),
		AT(hone_model, sizes, sizes(t)),
		AT(hone_model, ranges, ranges(t)),
	};
	char *name = hn_arena_printf(t->e->a, "%s_model", m->name);

	t->entry = t->model = hn_table_global(t, name, STRUCTURE(t, hone_model, f));
}

static LLVMTypeRef type_of(const struct hn_table *t, char letter)
{
	return letter == 'p' ? t->e->ptr : letter == 'q' ? t->e->i64 : t->e->i32;
}

/* NAME_word: `does` with t->entry in front of the same parameters. */
static void emit_entry(const struct hn_table *t, const char *entry, const char *does,
		       const char *letters)
{
	struct emit *e = t->e;
	uint32_t n = (uint32_t)strlen(letters + 1);
	LLVMTypeRef type[16] = { e->ptr }, ret = type_of(t, letters[0]);
	LLVMValueRef arg[16] = { t->entry };
	char *name = hn_arena_printf(e->a, "%s_%s", t->m->name, entry);

	hn_assert(n < HN_COUNT_OF(type));
	for (uint32_t i = 0; i < n; i++) {
		type[1 + i] = type_of(t, letters[1 + i]);
	}
	LLVMTypeRef whole = LLVMFunctionType(ret, type, n + 1, 0);
	LLVMValueRef callee = LLVMAddFunction(e->mod, does, whole);
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, name, LLVMFunctionType(ret, type + 1, n, 0));

	LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->ctx, fn, ""));
	for (uint32_t i = 0; i < n; i++) {
		arg[1 + i] = LLVMGetParam(fn, i);
	}
	LLVMBuildRet(e->b, LLVMBuildCall2(e->b, whole, callee, arg, n + 1, ""));
}

struct entry {
	const char *word, *function, *letters;
};

static void emit_rows(const struct hn_table *t, const struct entry *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (row[i].letters[0] != '\0') {
			emit_entry(t, row[i].word, row[i].function, row[i].letters);
		}
	}
}

static void emit_entries(const struct hn_table *t)
{
#define ENTRY(word, function, letters, returns, takes) { #word, TEXT(function), letters },
	static const struct entry rows[] = {
#include "proto/model_entries.def"
	};
#undef ENTRY
#define ENTRY(word, function, letters, returns, takes) { #word, TEXT(hone_gpu_##word), letters },
	static const struct entry gpu_rows[] = {
#include "proto/gpu_entries.def"
#include "proto/model_entries.def"
	};
#undef ENTRY

	if (t->m->module != NULL) {
		emit_rows(t, gpu_rows, HN_COUNT_OF(gpu_rows));
	} else {
		emit_rows(t, rows, HN_COUNT_OF(rows));
	}
}

/* NAME_weights: the bytes of the file, on pages of their own, so that processes share them.  The
 * assembler puts them into the object as they are: they never become data of LLVM's. */
static int emit_weights(const struct hn_table *t, const char *path, struct hn_err *err)
{
	char text[700];
	int n = snprintf(text, sizeof text,
			 "\t.section .rodata.%s_weights,\"a\",@progbits\n\t.balign %d\n"
			 "\t.globl %s_weights\n\t.type %s_weights,@object\n%s_weights:\n"
			 "\t.incbin \"%s\"\n"
			 "\t.size %s_weights, %" PRIu64 "\n\t.text\n",
			 t->m->name, HN_MODEL_PAGE, t->m->name, t->m->name, t->m->name, path,
			 t->m->name, t->m->weights_bytes);

	if (strpbrk(path, "\"\\\n") != NULL || n < 0 || (size_t)n >= sizeof text) {
		return hn_fail(err, HONE_E_INVALID, "%.200s: no name for the assembler", path);
	}
	LLVMSetModuleInlineAsm2(t->e->mod, text, (size_t)n);
	return 0;
}

int hn_emit_llvm_model(void *state, const struct hn_model *m, const char *weights,
		       struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err)
{
	struct hn_llvm *em = state;
	const struct hn_emit_options options = { .symbol = m->name };
	struct emit e = { .em = em, .opt = &options, .a = a, .err = err, .ctx = em->ctx };
	struct hn_table t = { .e = &e,
			   .m = m,
			   .layout = LLVMCreateTargetDataLayout(em->tm) };

	em->diagnostic[0] = '\0';
	e.mod = LLVMModuleCreateWithNameInContext(m->name, e.ctx);
	LLVMSetTarget(e.mod, em->triple);
	LLVMSetDataLayout(e.mod, em->layout);
	e.b = LLVMCreateBuilderInContext(e.ctx);
	hn_emit_make_types(&e);
	emit_table(&t);
	if (m->module != NULL) {
		hn_table_gpu(&t);
	}
	emit_entries(&t);
	int rc = weights != NULL ? emit_weights(&t, weights, err) : 0;

	rc = rc ? rc : hn_emit_object(&e, ret);
	LLVMDisposeBuilder(e.b);
	LLVMDisposeModule(e.mod);
	LLVMDisposeTargetData(t.layout);
	return rc;
}
