/* tensor.c -- arguments from the wire. */
#include "measure/board/tensor.h"

#include "base/arith.h"

int hn_tensors_of(uint32_t n, const struct hn_frame_argument *args, struct hn_arena *a,
		  struct hn_tensor **ret, struct hn_err *err)
{
	struct hn_tensor *t = HN_NEW_ARRAY(a, struct hn_tensor, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_frame_argument *arg = &args[i];

		t[i] = (struct hn_tensor){ .name = arg->name,
					   .elem = arg->dtype,
					   .n_dim = arg->shape.n,
					   .shape = arg->shape.at,
					   .output = arg->output,
					   .n_elem = 1 };
		for (uint32_t d = 0; d < arg->shape.n; d++) {
			t[i].n_elem = hn_mul_sat(t[i].n_elem, arg->shape.at[d]);
		}
		t[i].bytes = hn_mul_sat(t[i].n_elem, hn_dtype_bytes(arg->dtype));
		if (t[i].bytes > HN_TENSOR_MAX_BYTES) {
			return hn_fail(err, HONE_E_INVALID, "args[%u]: %s: larger than memory",
				       (unsigned)i, arg->name);
		}
	}
	*ret = t;
	return 0;
}
