/* client/lib/tensor.c -- libhone: a call with tensors, each of which is looked at first. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/kernel_load.h"

/* DLPack's numbers of what hone's element types are. */
enum { CPU = 1, INT = 0, UINT = 1, FLOAT = 2, BFLOAT = 4, BOOL = 6 };

struct call {
	const struct hn_kernel_info *info;
	int64_t size[HN_KERNEL_MAX_SIZES]; /* 0: not known yet */
	void *pointer[HN_KERNEL_MAX_ARGS];
	uint64_t bytes[HN_KERNEL_MAX_ARGS];
	struct hn_err *err;
};

static int code_of(enum hn_dtype t)
{
	switch (hn_dtype_class(t)) {
	case HN_CLASS_BOOL:
		return BOOL;
	case HN_CLASS_SIGNED:
		return INT;
	case HN_CLASS_UNSIGNED:
		return UINT;
	default:
		return t == HN_BF16 ? BFLOAT : FLOAT;
	}
}

static const char *code_name(int code)
{
	static const char *const name[] = { "int", "uint", "float", "handle", "bfloat", "complex",
					    "bool" };

	return code < (int)HN_COUNT_OF(name) ? name[code] : "type ";
}

HN_PRINTF(3, 4)
static int refuse(const struct call *c, uint32_t i, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return hn_fail(c->err, HONE_E_INVALID, "%s: argument %u (%.60s): %s", c->info->symbol, i,
		       c->info->arg[i].name, why);
}

static int check_type(const struct call *c, uint32_t i, const struct hone_tensor *t)
{
	enum hn_dtype want = c->info->arg[i].dtype;
	uint32_t bits = want == HN_BOOL ? 8 : 8 * hn_dtype_bytes(want);

	if (t->device_type != CPU) {
		return refuse(c, i, "it lies on device %d:%d, not in this machine's memory",
			      t->device_type, t->device_id);
	}
	if (t->code != code_of(want) || t->bits != bits || t->lanes != 1) {
		return refuse(c, i, "elements are %s%u%s, not %s", code_name(t->code), t->bits,
			      t->lanes == 1 ? "" : " in vectors", hn_dtype_name(want));
	}
	return 0;
}

/* The extent that dimension d must have; the first tensor that has a size says what it is. */
static int want_extent(struct call *c, uint32_t i, uint32_t d, int64_t n, int64_t *ret)
{
	const struct hn_kernel_extent *e = &c->info->arg[i].extent[d];
	const struct hn_kernel_size *s;

	*ret = e->n;
	if (e->n >= 0) {
		return 0;
	}
	if (e->size < 0) {
		return refuse(c, i, "dimension %u is %s long, which only a call with sizes can "
				    "tell (hone_kernel_call)",
			      d, e->text);
	}
	s = &c->info->size[e->size];
	if (c->size[e->size] == 0) {
		if (n < s->least || n > s->most) {
			return refuse(c, i,
				      "dimension %u is %" PRId64 ", and %s is from %" PRId64
				      " to %" PRId64,
				      d, n, s->name, s->least, s->most);
		}
		c->size[e->size] = n;
	}
	*ret = c->size[e->size];
	return 0;
}

static int check_shape(struct call *c, uint32_t i, const struct hone_tensor *t)
{
	const struct hn_kernel_arg *arg = &c->info->arg[i];
	int64_t stride = 1;
	int rc = 0;

	if (t->ndim != (int32_t)arg->rank) {
		return refuse(c, i, "it has %d dimensions, not %u", t->ndim, arg->rank);
	}
	if (t->shape == NULL && arg->rank > 0) {
		return refuse(c, i, "no shape");
	}
	for (uint32_t d = 0; d < arg->rank && rc == 0; d++) {
		int64_t want;

		rc = want_extent(c, i, d, t->shape[d], &want);
		if (rc == 0 && t->shape[d] != want) {
			return refuse(c, i, "dimension %u is %" PRId64 ", not %" PRId64, d,
				      t->shape[d], want);
		}
	}
	for (uint32_t d = arg->rank; d-- > 0 && rc == 0;) {
		if (t->strides != NULL && t->shape[d] != 1 && t->strides[d] != stride) {
			return refuse(c, i,
				      "dimension %u has stride %" PRId64 ", not %" PRId64
				      ": it is not in rows without gaps; copy it",
				      d, t->strides[d], stride);
		}
		if (__builtin_mul_overflow(stride, t->shape[d], &stride)) {
			return refuse(c, i, "more elements than there can be");
		}
	}
	c->bytes[i] = (uint64_t)stride * hn_dtype_bytes(arg->dtype);
	return rc;
}

static int check_place(struct call *c, uint32_t i, const struct hone_tensor *t)
{
	uint32_t align = hn_dtype_bytes(c->info->arg[i].dtype);
	uintptr_t at;

	if (t->data == NULL) {
		return refuse(c, i, "no data");
	}
	at = (uintptr_t)t->data + t->byte_offset;
	if (at % align != 0) {
		return refuse(c, i, "its data is not aligned to the %u bytes of an element", align);
	}
	c->pointer[i] = (void *)at;
	return 0;
}

static int check_overlap(const struct call *c)
{
	for (uint32_t i = 0; i < c->info->n_arg; i++) {
		for (uint32_t k = 0; k < c->info->n_arg; k++) {
			uintptr_t x = (uintptr_t)c->pointer[i], y = (uintptr_t)c->pointer[k];

			if (i != k && c->info->arg[i].output && x < y + c->bytes[k] &&
			    y < x + c->bytes[i]) {
				return refuse(c, i, "it lies over argument %u (%.60s)", k,
					      c->info->arg[k].name);
			}
		}
	}
	return 0;
}

static int check_all(struct call *c, const struct hone_tensor *const *tensors, int32_t n)
{
	int rc = 0;

	if (n != (int32_t)c->info->n_arg) {
		return hn_fail(c->err, HONE_E_INVALID, "%s: %d tensors, and it takes %u",
			       c->info->symbol, n, c->info->n_arg);
	}
	for (uint32_t i = 0; i < c->info->n_arg && rc == 0; i++) {
		const struct hone_tensor *t = tensors != NULL ? tensors[i] : NULL;

		rc = t == NULL ? refuse(c, i, "no tensor") : check_type(c, i, t);
		rc = rc ? rc : check_shape(c, i, t);
		rc = rc ? rc : check_place(c, i, t);
	}
	for (uint32_t k = 0; k < c->info->n_size && rc == 0; k++) {
		if (c->size[k] == 0) {
			rc = hn_fail(c->err, HONE_E_INVALID,
				     "%s: no tensor tells what %s is (hone_kernel_call)",
				     c->info->symbol, c->info->size[k].name);
		}
	}
	return rc ? rc : check_overlap(c);
}

int hone_kernel_check_dlpack(const struct hone_kernel *k, const struct hone_tensor *const *tensors,
			     int32_t n, struct hone_error *error)
{
	struct hn_err err = { 0 };
	struct call c;

	c.info = &k->info;
	c.err = &err;
	memset(c.size, 0, sizeof c.size);
	return hn_lib_give(check_all(&c, tensors, n), &err, error);
}

int hone_kernel_call_dlpack(const struct hone_kernel *k, const struct hone_tensor *const *tensors,
			    int32_t n, const struct hone_env *env, struct hone_error *error)
{
	struct hn_err err;
	struct call c;
	int32_t answer;
	int rc;

	c.info = &k->info;
	c.err = &err;
	memset(c.size, 0, sizeof c.size);
	rc = check_all(&c, tensors, n);
	if (rc != 0) {
		return hn_lib_give(rc, &err, error);
	}
	answer = env != NULL ? hone_kernel_call(k, c.size, c.pointer, env)
			     : hn_lib_pool_call(k, c.size, c.pointer);
	if (answer != 0) {
		rc = hn_fail(&err, answer == HONE_KERNEL_NOMEM ? HONE_E_NOMEM : HONE_E_INTERNAL,
			     answer == HONE_KERNEL_NOMEM ? "%s: no memory for its workspace"
							 : "%s: it refused the sizes",
			     k->info.symbol);
	}
	return hn_lib_give(rc, &err, error);
}
