/* lower/cpu/emit_model.c -- the table of a compiled network (include/hone/model.h), and the
 * functions of proto/model_entries.def, which call the run time with it.
 *
 * The table is constant data that points to kernels by their symbols.  Its structs are laid out
 * by LLVM for the target; each is held against what this compiler makes of the header, so that
 * the two cannot drift apart.  Kernels are declared hidden: a shared library does not show them.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lower/cpu/emit_int.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

struct field {
	size_t at; /* offset in C */
	LLVMValueRef v;
};

struct table {
	struct emit *e;
	const struct hn_model *m;
	LLVMTargetDataRef layout;
	LLVMValueRef model; /* the global */
};

static LLVMValueRef word(const struct table *t, uint64_t v)
{
	return LLVMConstInt(t->e->i32, v, 0);
}

static LLVMValueRef size(const struct table *t, uint64_t v)
{
	return LLVMConstInt(t->e->i64, v, 0);
}

static LLVMValueRef constant(const struct table *t, LLVMValueRef v)
{
	LLVMValueRef global = LLVMAddGlobal(t->e->mod, LLVMTypeOf(v), "");

	LLVMSetInitializer(global, v);
	LLVMSetGlobalConstant(global, 1);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
	return global;
}

static LLVMValueRef text(const struct table *t, const char *s)
{
	return constant(t, LLVMConstStringInContext2(t->e->ctx, s, strlen(s), 0));
}

/* A pointer to v[0..n), all of one type; null for none. */
static LLVMValueRef array(const struct table *t, LLVMValueRef *v, uint32_t n)
{
	return n == 0 ? LLVMConstNull(t->e->ptr)
		      : constant(t, LLVMConstArray2(LLVMTypeOf(v[0]), v, n));
}

static LLVMValueRef structure(const struct table *t, const struct field *f, uint32_t n,
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

#define AT(type, member, value)                                                          \
	{                                                                                \
		offsetof(struct type, member), value                                     \
	}
#define STRUCTURE(t, type, fields)                                                       \
	structure(t, fields, HN_COUNT_OF(fields), sizeof(struct type))

static LLVMValueRef tensors(const struct table *t, const struct hn_model_tensor *x,
			    uint32_t n)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, n), dim[HN_MODEL_MAX_RANK];

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t d = 0; d < x[i].n_dim; d++) {
			dim[d] = size(t, (uint64_t)x[i].dim[d]);
		}
		const struct field f[] = {
			AT(hone_model_tensor, name, text(t, x[i].name)),
			AT(hone_model_tensor, dtype, text(t, hn_dtype_name(x[i].dtype))),
			AT(hone_model_tensor, dims, array(t, dim, x[i].n_dim)),
			AT(hone_model_tensor, bytes,
			   size(t, hn_model_tensor_bytes(&x[i]))),
			AT(hone_model_tensor, rank, word(t, x[i].n_dim)),
		};

		v[i] = STRUCTURE(t, hone_model_tensor, f);
	}
	return array(t, v, n);
}

/* A function of somebody else's object, by its symbol. */
static LLVMValueRef function(const struct table *t, const char *symbol,
			     const char *ending)
{
	char *name = hn_arena_printf(t->e->a, "%s%s", symbol, ending);
	LLVMValueRef f =
		LLVMAddFunction(t->e->mod, name, LLVMFunctionType(t->e->i32, NULL, 0, 0));

	LLVMSetVisibility(f, LLVMHiddenVisibility);
	return f;
}

static LLVMValueRef kernels(const struct table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_kernel);
	LLVMValueRef null = LLVMConstNull(t->e->ptr);

	for (uint32_t i = 0; i < t->m->n_kernel; i++) {
		const struct hn_model_kernel *k = &t->m->kernel[i];
		const struct field f[] = {
			AT(hone_model_kernel, name, text(t, k->name)),
			AT(hone_model_kernel, packed,
			   k->sized ? null : function(t, k->symbol, "_packed")),
			AT(hone_model_kernel, prepare_packed,
			   k->prepared_bytes ? function(t, k->symbol, "_prepare_packed")
					     : null),
			AT(hone_model_kernel, init,
			   k->init ? function(t, k->symbol, "_init") : null),
			AT(hone_model_kernel, prepared_bytes, size(t, k->prepared_bytes)),
			AT(hone_model_kernel, workspace_bytes,
			   size(t, k->workspace_bytes)),
			AT(hone_model_kernel, worker_bytes, size(t, k->worker_bytes)),
			AT(hone_model_kernel, sized,
			   k->sized ? function(t, k->symbol, "_packed") : null),
		};

		v[i] = STRUCTURE(t, hone_model_kernel, f);
	}
	return array(t, v, t->m->n_kernel);
}

static uint32_t n_args(const struct hn_model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_step; i++) {
		n += m->kernel[m->step[i].kernel].n_arg;
	}
	return n;
}

static LLVMValueRef args(const struct table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, n_args(t->m));
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->m->n_step; i++) {
		const struct hn_model_step *s = &t->m->step[i];

		for (uint32_t k = 0; k < t->m->kernel[s->kernel].n_arg; k++) {
			const struct field f[] = {
				AT(hone_model_arg, place, word(t, s->arg[k].place)),
				AT(hone_model_arg, index, word(t, s->arg[k].index)),
				AT(hone_model_arg, offset, size(t, s->arg[k].offset)),
			};

			v[n++] = STRUCTURE(t, hone_model_arg, f);
		}
	}
	return array(t, v, n);
}

static LLVMValueRef steps(const struct table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_step);
	const bool *prepares = hn_model_prepares(t->m, t->e->a);
	uint32_t first = 0;

	for (uint32_t i = 0; i < t->m->n_step; i++) {
		const struct hn_model_step *s = &t->m->step[i];
		const struct hn_model_kernel *k = &t->m->kernel[s->kernel];
		const struct field f[] = {
			AT(hone_model_step, name, text(t, s->name)),
			AT(hone_model_step, kernel, word(t, s->kernel)),
			AT(hone_model_step, first_arg, word(t, first)),
			AT(hone_model_step, n_args, word(t, k->n_arg)),
			AT(hone_model_step, prepares,
			   word(t, s->stored     ? HONE_MODEL_STORED
				   : prepares[i] ? HONE_MODEL_PREPARE
						 : HONE_MODEL_NOTHING)),
			AT(hone_model_step, prepared,
			   size(t, k->prepared_bytes ? s->prepared : 0)),
		};

		v[i] = STRUCTURE(t, hone_model_step, f);
		first += k->n_arg;
	}
	return array(t, v, t->m->n_step);
}

static LLVMValueRef sizes(const struct table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_size);

	for (uint32_t i = 0; i < t->m->n_size; i++) {
		const struct hn_model_size *s = &t->m->size[i];
		const struct field f[] = {
			AT(hone_model_size, name, text(t, s->name)),
			AT(hone_model_size, least, size(t, (uint64_t)s->least)),
			AT(hone_model_size, most, size(t, (uint64_t)s->most)),
			AT(hone_model_size, step, size(t, (uint64_t)s->step)),
		};

		v[i] = STRUCTURE(t, hone_model_size, f);
	}
	return array(t, v, t->m->n_size);
}

static LLVMValueRef bounds(const struct table *t, const int64_t *x)
{
	LLVMValueRef v[HN_MODEL_MAX_SIZES];

	for (uint32_t i = 0; i < t->m->n_size; i++) {
		v[i] = size(t, (uint64_t)x[i]);
	}
	return array(t, v, t->m->n_size);
}

static LLVMValueRef ranges(const struct table *t)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_range);

	for (uint32_t i = 0; i < t->m->n_range; i++) {
		const struct hn_model_range *r = &t->m->range[i];
		const struct field f[] = {
			AT(hone_model_range, least, bounds(t, r->least)),
			AT(hone_model_range, most, bounds(t, r->most)),
			AT(hone_model_range, first_step, word(t, r->first)),
			AT(hone_model_range, n_steps, word(t, r->n)),
		};

		v[i] = STRUCTURE(t, hone_model_range, f);
	}
	return array(t, v, t->m->n_range);
}

static void emit_table(struct table *t)
{
	const struct hn_model *m = t->m;
	const struct field f[] = {
		AT(hone_model, abi, word(t, HONE_MODEL_ABI)),
		AT(hone_model, n_inputs, word(t, m->n_input)),
		AT(hone_model, n_outputs, word(t, m->n_output)),
		AT(hone_model, n_kernels, word(t, m->n_kernel)),
		AT(hone_model, n_steps, word(t, m->n_step)),
		AT(hone_model, n_args, word(t, n_args(m))),
		AT(hone_model, name, text(t, m->name)),
		AT(hone_model, inputs, tensors(t, m->input, m->n_input)),
		AT(hone_model, outputs, tensors(t, m->output, m->n_output)),
		AT(hone_model, kernels, kernels(t)),
		AT(hone_model, steps, steps(t)),
		AT(hone_model, args, args(t)),
		AT(hone_model, weights_bytes, size(t, m->weights_bytes)),
		AT(hone_model, prepared_bytes, size(t, m->prepared_bytes)),
		AT(hone_model, arena_bytes, size(t, m->arena_bytes)),
		AT(hone_model, stamp, size(t, m->stamp)),
		AT(hone_model, n_sizes, word(t, m->n_size)),
		AT(hone_model, n_ranges, word(t, m->n_range)),
		AT(hone_model, sizes, sizes(t)),
		AT(hone_model, ranges, ranges(t)),
	};
	LLVMValueRef v = STRUCTURE(t, hone_model, f);
	char *name = hn_arena_printf(t->e->a, "%s_model", m->name);

	t->model = LLVMAddGlobal(t->e->mod, LLVMTypeOf(v), name);
	LLVMSetInitializer(t->model, v);
	LLVMSetGlobalConstant(t->model, 1);
}

static LLVMTypeRef type_of(const struct table *t, char letter)
{
	return letter == 'p' ? t->e->ptr : letter == 'q' ? t->e->i64 : t->e->i32;
}

/* NAME_word: `does` with the table in front of the same parameters. */
static void emit_entry(const struct table *t, const char *entry, const char *does,
		       const char *letters)
{
	struct emit *e = t->e;
	uint32_t n = (uint32_t)strlen(letters + 1);
	LLVMTypeRef type[16] = { e->ptr }, ret = type_of(t, letters[0]);
	LLVMValueRef arg[16] = { t->model };
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

static void emit_entries(const struct table *t)
{
	static const struct {
		const char *word, *function, *letters;
	} rows[] = {
#define ENTRY(word, function, letters, returns, takes) { #word, TEXT(function), letters },
#include "proto/model_entries.def"
#undef ENTRY
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (rows[i].letters[0] != '\0') {
			emit_entry(t, rows[i].word, rows[i].function, rows[i].letters);
		}
	}
}

/* NAME_weights: the bytes of the file, on pages of their own, so that processes share them.  The
 * assembler puts them into the object as they are: they never become data of LLVM's. */
static int emit_weights(const struct table *t, const char *path, struct hn_err *err)
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
	struct table t = { .e = &e,
			   .m = m,
			   .layout = LLVMCreateTargetDataLayout(em->tm) };

	em->diagnostic[0] = '\0';
	e.mod = LLVMModuleCreateWithNameInContext(m->name, e.ctx);
	LLVMSetTarget(e.mod, em->triple);
	LLVMSetDataLayout(e.mod, em->layout);
	e.b = LLVMCreateBuilderInContext(e.ctx);
	hn_emit_make_types(&e);
	emit_table(&t);
	emit_entries(&t);
	int rc = weights != NULL ? emit_weights(&t, weights, err) : 0;

	rc = rc ? rc : hn_emit_object(&e, ret);
	LLVMDisposeBuilder(e.b);
	LLVMDisposeModule(e.mod);
	LLVMDisposeTargetData(t.layout);
	return rc;
}
