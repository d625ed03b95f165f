/* graph/library/header.c -- see header.h. */
#include "graph/library/header.h"

#include <inttypes.h>
#include <string.h>

/* Text of the network's author, inside of a comment: it neither ends it nor begins another. */
static void put_text(struct hn_buf *b, const char *s)
{
	for (char before = '\0'; *s != '\0'; before = *s++) {
		if ((before == '*' && *s == '/') || (before == '/' && *s == '*')) {
			hn_buf_putc(b, ' ');
		}
		hn_buf_putc(b, *s);
	}
}

static void put_tensors(struct hn_buf *b, const char *what,
			const struct hn_model_tensor *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(b, " *   %s[%u]: %s[", what, i, hn_dtype_name(t[i].dtype));
		for (uint32_t d = 0; d < t[i].n_dim; d++) {
			hn_buf_puts(b, d > 0 ? ", " : "");
			if (t[i].form != NULL && t[i].form[d] != NULL) {
				put_text(b, t[i].form[d]);
			} else {
				hn_buf_printf(b, "%" PRId64, t[i].dim[d]);
			}
		}
		hn_buf_puts(b, "]  \"");
		put_text(b, t[i].name);
		hn_buf_puts(b, "\"\n");
	}
}

/* Sizes that the caller chooses, in the order in which NAME_run_sized takes them. */
static void put_ranges(struct hn_buf *b, const struct hn_model *m)
{
	for (uint32_t i = 0; i < m->n_size; i++) {
		hn_buf_printf(b, " *   sizes[%u]: \"", i);
		put_text(b, m->size[i].name);
		hn_buf_printf(b, "\", from %" PRId64 " to %" PRId64, m->size[i].least,
			      m->size[i].most);
		if (m->size[i].step > 1) {
			hn_buf_printf(b, ", a multiple of %" PRId64, m->size[i].step);
		}
		hn_buf_puts(b, "\n");
	}
}

static void put_sizes(struct hn_buf *b, const char *name, const char *what,
		      const struct hn_model_tensor *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(b, "#define %s_%s_%u_BYTES UINT64_C(%" PRIu64 ")\n", name,
			      what, i, hn_model_tensor_bytes(&t[i]));
	}
}

static void put_arena(struct hn_buf *b, const struct hn_model *m)
{
	uint64_t fixed = 0, worker = 0;

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_model_kernel *k = &m->kernel[i];

		fixed = k->workspace_bytes > fixed ? k->workspace_bytes : fixed;
		worker = k->worker_bytes > worker ? k->worker_bytes : worker;
	}
	hn_buf_printf(b,
		      "/* Bytes of the arena that serve so many workers, at least 1; "
		      "%s_arena_bytes may say less. */\n"
		      "#define %s_ARENA_BYTES(n_workers) \\\n"
		      "\t(UINT64_C(%" PRIu64
		      ") + (uint64_t)(n_workers) * UINT64_C(%" PRIu64 "))\n\n",
		      m->name, m->name, m->arena_bytes + fixed, worker);
}

static void put_functions(struct hn_buf *b, const char *name, bool gpu)
{
	static const struct {
		bool gpu; /* of a network for a GPU alone */
		const char *word, *returns, *takes;
	} rows[] = {
#define ENTRY(word, function, letters, returns, takes) { false, #word, returns, takes },
#include "proto/model_entries.def"
#undef ENTRY
#define ENTRY(word, function, letters, returns, takes) { true, #word, returns, takes },
#include "proto/gpu_entries.def"
#undef ENTRY
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows) && (gpu || !rows[i].gpu); i++) {
		if (*rows[i].returns == '\0') {
			hn_buf_printf(b, "extern const struct hone_model %s_%s;\n", name,
				      rows[i].word);
		} else {
			bool pointer = rows[i].returns[strlen(rows[i].returns) - 1] == '*';

			hn_buf_printf(b, "%s%s%s_%s(%s);\n", rows[i].returns, pointer ? "" : " ", name,
				      rows[i].word, rows[i].takes);
		}
	}
}

static void put_head(struct hn_buf *b, const struct hn_model *m, const char *file, bool embedded)
{
	hn_buf_printf(b,
		      "/* %s: a network compiled by hone, %u steps of %u kernels.  See "
		      "hone/model.h "
		      "for how to\n * run it, and hone/pool.h for threads.\n *\n",
		      m->name, m->n_step, m->n_kernel);
	put_tensors(b, "in", m->input, m->n_input);
	put_tensors(b, "out", m->output, m->n_output);
	put_ranges(b, m);
	if (embedded) {
		hn_buf_printf(b, " *\n * Its weights are %s_weights.\n", m->name);
	} else {
		hn_buf_printf(b, " *\n * Its weights are the file %s.weights.\n", file);
	}
	hn_buf_printf(b,
		      " */\n#ifndef HONE_COMPILED_%s_H\n#define HONE_COMPILED_%s_H\n\n"
		      "#include \"hone/model.h\"\n\n",
		      m->name, m->name);
}

void hn_model_header(const struct hn_model *m, const char *file, bool embedded, bool gpu,
		     struct hn_buf *b)
{
	put_head(b, m, file, embedded);
	hn_buf_printf(b,
		      "#define %s_N_INPUTS %u\n#define %s_N_OUTPUTS %u\n#define "
		      "%s_N_STEPS %u\n\n",
		      m->name, m->n_input, m->name, m->n_output, m->name, m->n_step);
	put_sizes(b, m->name, "INPUT", m->input, m->n_input);
	put_sizes(b, m->name, "OUTPUT", m->output, m->n_output);
	hn_buf_printf(b,
		      "#define %s_WEIGHTS_BYTES UINT64_C(%" PRIu64 ")\n"
		      "#define %s_PREPARED_BYTES UINT64_C(%" PRIu64 ")\n\n",
		      m->name, m->weights_bytes, m->name, m->prepared_bytes);
	if (gpu) {
		hn_buf_printf(b, "#define %s_ARENA_BYTES(n_workers) UINT64_C(0) /* all is on the device */\n\n",
			      m->name);
	} else {
		put_arena(b, m);
	}
	hn_buf_puts(b, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	if (embedded) {
		hn_buf_printf(b, "extern const unsigned char %s_weights[]; /* [%s_WEIGHTS_BYTES] */\n",
			      m->name, m->name);
	}
	put_functions(b, m->name, gpu);
	hn_buf_puts(b, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
