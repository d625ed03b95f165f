/* graph/op/dtype.c -- ONNX's numbers of element types. */
#include "graph/op/dtype.h"

/* By TensorProto.DataType; 0 is undefined, 8 a string, 14 and 15 complex, 17 and more 8 bits and
 * less. */
static const uint8_t types[] = { HN_N_DTYPE, HN_F32, HN_U8,  HN_I8,	 HN_U16,     HN_I16,
				 HN_I32,     HN_I64, HN_N_DTYPE, HN_BOOL, HN_F16,    HN_F64,
				 HN_U32,     HN_U64, HN_N_DTYPE, HN_N_DTYPE, HN_BF16 };

enum hn_dtype hn_dtype_of_onnx(int64_t t)
{
	return t >= 0 && t < (int64_t)HN_COUNT_OF(types) ? (enum hn_dtype)types[t] : HN_N_DTYPE;
}

int32_t hn_dtype_to_onnx(enum hn_dtype t)
{
	int32_t i = 0;

	while (i < (int32_t)HN_COUNT_OF(types) - 1 && types[i] != t) {
		i++;
	}
	return i;
}
