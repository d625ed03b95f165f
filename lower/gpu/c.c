/* lower/gpu/c.c -- kernels as OpenCL C 1.2 and as CUDA C.
 *
 * OpenCL C is what any driver takes; CUDA C is a cross-check of the PTX that hone makes itself, and
 * what a person can read.  So nvcc is asked to write loops out.  Drivers of OpenCL cannot be relied
 * on for that: PoCL keeps arrays of a thread in memory, and makes vectors only of variables.
 */
#include "lower/gpu/c_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *opencl, *cuda;
} words[GPU_C_N_WORD] = {
#define WORD(name, opencl, cuda) { opencl, cuda },
#include "lower/gpu/c_words.def"
#undef WORD
};

const char *hn_gpu_c_word(const struct gpu *g, enum gpu_c_word w)
{
	const struct gpu_c *c = g->own;

	return c->cuda ? words[w].cuda : words[w].opencl;
}

gpu_val hn_gpu_c_text(struct gpu *g, const char *fmt, ...)
{
	va_list ap;
	struct hn_buf b;

	hn_buf_init(&b);
	va_start(ap, fmt);
	hn_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	const char *ret = hn_arena_strndup(g->a, b.s, b.n);

	hn_buf_fini(&b);
	return ret;
}

void hn_gpu_c_line(struct gpu *g, const char *fmt, ...)
{
	struct gpu_c *c = g->own;
	va_list ap;

	for (uint32_t i = 0; i < c->depth; i++) {
		hn_buf_putc(&c->code, '\t');
	}
	va_start(ap, fmt);
	hn_buf_vprintf(&c->code, fmt, ap);
	va_end(ap);
	hn_buf_putc(&c->code, '\n');
}

static const char *name_of(struct gpu *g, int32_t buffer)
{
	char *ret = hn_arena_printf(g->a, "b%d_%s", buffer, g->d->buffer[buffer].name);

	for (char *p = ret; *p != '\0'; p++) {
		*p = *p == '.' ? '_' : *p;
	}
	return ret;
}

static void begin(struct gpu *g, bool cuda)
{
	struct gpu_c *c = calloc(1, sizeof(*c));

	hn_assert(c != NULL);
	g->own = c;
	c->cuda = cuda;
	g->has_async = cuda && g->target->isa[0] == 's' && atoi(g->target->isa + 3) >= 80;
	hn_buf_init(&c->code);
}

static void begin_opencl(struct gpu *g)
{
	begin(g, false);
}

static void begin_cuda(struct gpu *g)
{
	begin(g, true);
}

/* Whether each element is a variable: where the walk writes loops out. */
static bool is_kept(const struct gpu *g, int32_t buffer)
{
	return g->lang->unrolls && g->kept[buffer];
}

static void put_variables(struct gpu *g, int32_t i)
{
	const struct hn_device_buffer *b = &g->d->buffer[i];
	const char *type = hn_gpu_c_stored(g, (enum hn_dtype)b->dtype), *name = name_of(g, i);

	if (g->vector[i] > 1) {
		type = hn_gpu_c_text(g, "%s%u", b->dtype == HN_F64 ? "double" : "float", g->vector[i]);
	}
	for (int64_t j = 0; j < b->n_elem / g->vector[i]; j++) {
		hn_gpu_c_line(g, "%s %s_%" PRId64 ";", type, name, j);
	}
}

static void put_array(struct gpu *g, const char *memory, int32_t i)
{
	const struct hn_device_buffer *b = &g->d->buffer[i];

	hn_gpu_c_line(g, "%s%s %s[%" PRId64 "];", memory,
		      hn_gpu_c_stored(g, (enum hn_dtype)b->dtype), name_of(g, i), b->n_elem);
}

/* All that a block shares is one block of memory, whose size the launch says. */
static void put_part(struct gpu *g, int32_t i)
{
	const char *type = hn_gpu_c_stored(g, (enum hn_dtype)g->d->buffer[i].dtype);

	hn_gpu_c_line(g, "%s *const %s = (%s *)(hn_shared + %" PRId64 ");", type, name_of(g, i),
		      type, g->offset[i]);
}

static void put_arrays(struct gpu *g)
{
	const struct gpu_c *c = g->own;
	bool at_launch = c->cuda && g->shared_bytes > HN_GPU_STATIC_SHARED;

	if (at_launch) {
		hn_gpu_c_line(g, "extern __shared__ __align__(%d) u8 hn_shared[];",
			      HN_GPU_SHARED_ALIGN);
	}
	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		uint8_t memory = g->d->buffer[i].memory;

		if (!g->used[i] || memory == HN_MEMORY_GLOBAL) {
			continue;
		}
		if (is_kept(g, (int32_t)i)) {
			put_variables(g, (int32_t)i);
		} else if (memory == HN_MEMORY_LOCAL) {
			put_array(g, c->cuda ? "__align__(16) " : "", (int32_t)i);
		} else if (at_launch) {
			put_part(g, (int32_t)i);
		} else {
			put_array(g, hn_gpu_c_word(g, GPU_C_SHARED), (int32_t)i);
		}
	}
}

static void put_numbers(struct gpu *g)
{
	static const char *const name[] = { "block_x",	"block_y",  "block_z",
					    "thread_x", "thread_y", "thread_z" };
	const struct gpu_c *c = g->own;

	for (int32_t s = 0; s < HN_DEVICE_FIRST; s++) {
		if (g->span[s].hi == 0) {
			g->var[s] = "0";
			continue;
		}
		bool block = s < HN_DEVICE_THREAD;

		if (c->cuda) {
			hn_gpu_c_line(g, "const i32 %s = (i32)%s.%c;", name[s],
				      block ? "blockIdx" : "threadIdx", 'x' + s % 3);
		} else {
			hn_gpu_c_line(g, "const i32 %s = (i32)%s(%d);", name[s],
				      block ? "get_group_id" : "get_local_id", s % 3);
		}
		g->var[s] = name[s];
	}
}

static void begin_kernel(struct gpu *g)
{
	struct gpu_c *c = g->own;
	bool first = true;
	const int64_t *t = g->k->block;

	if (c->cuda) {
		hn_buf_printf(&c->code, "\nextern \"C\" __global__ __launch_bounds__(%" PRId64 ")\nvoid %s(",
			      t[0] * t[1] * t[2], g->k->name);
	} else {
		hn_buf_printf(&c->code,
			      "\n__kernel __attribute__((reqd_work_group_size(%" PRId64 ", %" PRId64
			      ", %" PRId64 ")))\nvoid %s(",
			      t[0], t[1], t[2], g->k->name);
	}
	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &g->d->buffer[i];

		if (g->used[i] && b->memory == HN_MEMORY_GLOBAL) {
			hn_buf_printf(&c->code, "%s%s%s%s *%s %s", first ? "" : ", ",
				      hn_gpu_c_word(g, GPU_C_GLOBAL), g->stored[i] ? "" : "const ",
				      hn_gpu_c_stored(g, (enum hn_dtype)b->dtype),
				      hn_gpu_c_word(g, GPU_C_RESTRICT), name_of(g, (int32_t)i));
			first = false;
		}
	}
	hn_buf_puts(&c->code, ")\n{\n");
	c->depth = 1;
	c->n_name = 0;
	put_arrays(g);
	put_numbers(g);
}

static void end_kernel(struct gpu *g)
{
	struct gpu_c *c = g->own;

	c->depth = 0;
	hn_gpu_c_line(g, "}");
}

static void end(struct gpu *g, struct hn_gpu_module *ret)
{
	const struct gpu_c *c = g->own;
	struct hn_buf all;

	hn_buf_init(&all);
	hn_gpu_c_prelude(g, c->code.s, &all);
	hn_buf_add(&all, c->code.s, c->code.n);
	ret->code = hn_arena_strndup(g->a, all.s, all.n);
	ret->code_bytes = all.n;
	hn_buf_fini(&all);
}

static void close_c(struct gpu *g)
{
	struct gpu_c *c = g->own;

	hn_buf_fini(&c->code);
	free(c);
}

/* ---- statements */

const char *hn_gpu_c_new_name(struct gpu *g)
{
	struct gpu_c *c = g->own;

	return hn_gpu_c_text(g, "t%u", c->n_name++);
}

static gpu_val name(struct gpu *g, enum hn_dtype t, gpu_val v)
{
	gpu_val ret = hn_gpu_c_new_name(g);

	hn_gpu_c_line(g, "const %s %s = %s;", hn_gpu_c_type(g, t), (const char *)ret,
		      (const char *)v);
	return ret;
}

static void begin_if(struct gpu *g, gpu_val c)
{
	hn_gpu_c_line(g, "if (%s) {", (const char *)c);
	((struct gpu_c *)g->own)->depth++;
}

static void end_block(struct gpu *g)
{
	((struct gpu_c *)g->own)->depth--;
	hn_gpu_c_line(g, "}");
}

static void *choose(struct gpu *g, enum hn_dtype t, gpu_val c)
{
	gpu_val v = hn_gpu_c_new_name(g);

	hn_gpu_c_line(g, "%s %s;", hn_gpu_c_type(g, t), (const char *)v);
	begin_if(g, c);
	return (void *)(uintptr_t)v;
}

static void otherwise(struct gpu *g, void *choice, gpu_val x)
{
	struct gpu_c *c = g->own;

	hn_gpu_c_line(g, "%s = %s;", (const char *)choice, (const char *)x);
	c->depth--;
	hn_gpu_c_line(g, "} else {");
	c->depth++;
}

static gpu_val chosen(struct gpu *g, void *choice, gpu_val y)
{
	hn_gpu_c_line(g, "%s = %s;", (const char *)choice, (const char *)y);
	end_block(g);
	return choice;
}

const char *hn_gpu_c_variable(struct gpu *g, int32_t buffer, int64_t i)
{
	return hn_gpu_c_text(g, "%s_%" PRId64, name_of(g, buffer), i);
}

const char *hn_gpu_c_place(struct gpu *g, const struct gpu_at *at)
{
	const char *b = name_of(g, at->buffer), *base = at->base;

	if (is_kept(g, at->buffer)) {
		int64_t n = g->vector[at->buffer];

		return n > 1 ? hn_gpu_c_text(g, "%s_%" PRId64 ".s%x", b, at->c / n,
					     (unsigned)(at->c % n))
			     : hn_gpu_c_variable(g, at->buffer, at->c);
	}
	if (base == NULL) {
		return hn_gpu_c_text(g, "%s[%" PRId64 "]", b, at->c);
	}
	if (at->c == 0) {
		return hn_gpu_c_text(g, "%s[%s]", b, base);
	}
	return hn_gpu_c_text(g, "%s[%s %c %" PRId64 "]", b, base, at->c < 0 ? '-' : '+',
			     at->c < 0 ? -at->c : at->c);
}

static gpu_val load(struct gpu *g, const struct gpu_at *at)
{
	enum hn_dtype t = (enum hn_dtype)g->d->buffer[at->buffer].dtype;

	if (t == HN_BOOL) {
		return hn_gpu_c_text(g, "(%s != 0)", hn_gpu_c_place(g, at));
	}
	return hn_dtype_is_narrow(t)
		       ? hn_gpu_c_text(g, "hn_get_%s(%s)", hn_gpu_c_type(g, t), hn_gpu_c_place(g, at))
		       : hn_gpu_c_place(g, at);
}

static void store(struct gpu *g, const struct gpu_at *at, gpu_val v)
{
	enum hn_dtype t = (enum hn_dtype)g->d->buffer[at->buffer].dtype;

	if (hn_dtype_is_narrow(t)) {
		hn_gpu_c_line(g, "%s = hn_put_%s(%s);", hn_gpu_c_place(g, at), hn_gpu_c_type(g, t),
			      (const char *)v);
	} else {
		hn_gpu_c_line(g, "%s = %s;", hn_gpu_c_place(g, at), (const char *)v);
	}
}

static void copy(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from, uint32_t bytes)
{
	hn_gpu_c_line(g,
		      "asm volatile(\"cp.async.%s.shared.global [%%0], [%%1], %u;\" :: "
		      "\"r\"((u32)__cvta_generic_to_shared(&%s)), \"l\"(&%s) : \"memory\");",
		      bytes == 16 ? "cg" : "ca", bytes, hn_gpu_c_place(g, to), hn_gpu_c_place(g, from));
}

static void commit(struct gpu *g)
{
	if (g->has_async) {
		hn_gpu_c_line(g, "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
	}
}

static void wait(struct gpu *g, int64_t n)
{
	if (g->has_async) {
		hn_gpu_c_line(g, "asm volatile(\"cp.async.wait_group %" PRId64 ";\" ::: \"memory\");",
			      n);
	}
}

static void barrier(struct gpu *g)
{
	hn_gpu_c_line(g, "%s", hn_gpu_c_word(g, GPU_C_BARRIER));
}

static void begin_loop(struct gpu *g, int32_t slot, int64_t extent, bool written_out)
{
	const char *v = hn_gpu_c_text(g, "v%d", slot);

	if (written_out) {
		hn_gpu_c_line(g, "#pragma unroll");
	}
	hn_gpu_c_line(g, "for (i32 %s = 0; %s < %" PRId64 "; %s++) {", v, v, extent, v);
	((struct gpu_c *)g->own)->depth++;
	g->var[slot] = v;
}

static void end_loop(struct gpu *g, int32_t slot, int64_t extent)
{
	(void)slot;
	(void)extent;
	end_block(g);
}

#define LANG(first, writes_out, vectors, ld, product)                                                     \
	{                                                                                        \
		.unrolls = writes_out, .most_written = 2048, .most_unrolled = 512, .most_short = 256, .begin = first, .begin_kernel = begin_kernel, .end_kernel = end_kernel,          \
		.end = end, .close = close_c, .number = hn_gpu_c_number, .real = hn_gpu_c_real,  \
		.binary = hn_gpu_c_binary, .not = hn_gpu_c_not, .cast = hn_gpu_c_cast,           \
		.round = hn_gpu_c_round, .call = hn_gpu_c_call, .select = hn_gpu_c_select,       \
		.choose = choose, .otherwise = otherwise, .chosen = chosen, .load = load,        \
		.name = name, .store = store, .copy = copy, .commit = commit, .wait = wait,      \
		.barrier = barrier, .begin_loop = begin_loop, .end_loop = end_loop,              \
		.begin_if = begin_if, .end_if = end_block, .ldmatrix = ld, .mma = product,       \
		.vector = vectors,                                                                \
	}

const struct gpu_lang hn_gpu_opencl = LANG(begin_opencl, true, &hn_gpu_opencl_vectors, NULL, NULL);
const struct gpu_lang hn_gpu_cuda =
	LANG(begin_cuda, false, NULL, hn_gpu_c_ldmatrix, hn_gpu_c_mma);
