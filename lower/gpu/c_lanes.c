/* lower/gpu/c_lanes.c -- vectors of OpenCL C: float16 is 16 float32. */
#include "lower/gpu/c_int.h"

#include <inttypes.h>

static const char *vector_type(struct gpu *g, enum hn_dtype t, uint32_t n)
{
	(void)hn_gpu_c_type(g, t); /* doubles are an extension */
	return hn_gpu_c_text(g, "%s%u", t == HN_F64 ? "double" : "float", n);
}

static gpu_val spread(struct gpu *g, enum hn_dtype t, uint32_t n, gpu_val v)
{
	return hn_gpu_c_text(g, "((%s)(%s))", vector_type(g, t, n), (const char *)v);
}

static gpu_val gather(struct gpu *g, enum hn_dtype t, uint32_t n, const gpu_val *v)
{
	const char *all = v[0];

	for (uint32_t i = 1; i < n; i++) {
		all = hn_gpu_c_text(g, "%s, %s", all, (const char *)v[i]);
	}
	return hn_gpu_c_text(g, "((%s)(%s))", vector_type(g, t, n), all);
}

/* The variable that holds these elements and no others; NULL: they are in several. */
static const char *variable(struct gpu *g, const struct gpu_at *at, uint32_t n)
{
	return g->kept[at->buffer] && g->vector[at->buffer] == n && at->c % n == 0
		       ? hn_gpu_c_variable(g, at->buffer, at->c / n)
		       : NULL;
}

static struct gpu_at next(const struct gpu_at *at, uint32_t i)
{
	struct gpu_at ret = *at;

	ret.c += i;
	return ret;
}

static gpu_val load(struct gpu *g, const struct gpu_at *at, uint32_t n)
{
	const char *one = variable(g, at, n);
	gpu_val v[16] = { NULL };

	if (one != NULL) {
		return one;
	}
	if (!g->kept[at->buffer]) {
		return hn_gpu_c_text(g, "vload%u(0, &%s)", n, hn_gpu_c_place(g, at));
	}
	for (uint32_t i = 0; i < n; i++) {
		struct gpu_at x = next(at, i);

		v[i] = hn_gpu_c_place(g, &x);
	}
	return gather(g, (enum hn_dtype)g->d->buffer[at->buffer].dtype, n, v);
}

static const char *name(struct gpu *g, enum hn_dtype t, uint32_t n, gpu_val v)
{
	const char *ret = hn_gpu_c_new_name(g);

	hn_gpu_c_line(g, "const %s %s = %s;", vector_type(g, t, n), ret, (const char *)v);
	return ret;
}

static void store(struct gpu *g, const struct gpu_at *at, uint32_t n, gpu_val v)
{
	const char *one = variable(g, at, n);

	if (one != NULL) {
		hn_gpu_c_line(g, "%s = %s;", one, (const char *)v);
		return;
	}
	if (!g->kept[at->buffer]) {
		hn_gpu_c_line(g, "vstore%u(%s, 0, &%s);", n, (const char *)v, hn_gpu_c_place(g, at));
		return;
	}
	const char *all = name(g, (enum hn_dtype)g->d->buffer[at->buffer].dtype, n, v);

	for (uint32_t i = 0; i < n; i++) {
		struct gpu_at x = next(at, i);

		hn_gpu_c_line(g, "%s = %s.s%x;", hn_gpu_c_place(g, &x), all, i);
	}
}

/* As the scalar functions of the prelude: the second operand unless the first is less, or greater. */
static gpu_val pick(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, uint32_t n, gpu_val x,
		    gpu_val y)
{
	const char *a = name(g, t, n, x), *b = name(g, t, n, y);

	return hn_gpu_c_text(g, "select(%s, %s, %s %s %s)", b, a, a,
			     op == HN_EXPR_MIN ? "<" : ">", b);
}

static gpu_val grow(struct gpu *g, enum hn_dtype t, uint32_t n, gpu_val v)
{
	const char *ret = hn_gpu_c_new_name(g);

	hn_gpu_c_line(g, "%s %s = %s;", vector_type(g, t, n), ret, (const char *)v);
	return ret;
}

static void set(struct gpu *g, gpu_val to, gpu_val v)
{
	hn_gpu_c_line(g, "%s = %s;", (const char *)to, (const char *)v);
}

/* Half by half. */
static gpu_val fold(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, uint32_t n, gpu_val v)
{
	for (n /= 2; n > 0; n /= 2) {
		const char *lo = hn_gpu_c_text(g, "%s.lo", (const char *)v);
		const char *hi = hn_gpu_c_text(g, "%s.hi", (const char *)v);
		bool picks = n > 1 && (op == HN_EXPR_MIN || op == HN_EXPR_MAX);
		gpu_val both = picks ? pick(g, op, t, n, lo, hi)
				     : hn_gpu_c_binary(g, op, t, lo, hi, false);

		v = n > 1 ? name(g, t, n, both) : both;
	}
	return v;
}

const struct gpu_vector_lang hn_gpu_opencl_vectors = { spread, gather, load, store,
						       pick,   grow,   set,  fold };
