/* akg_seeds.h -- kernels of several operators, which damages and fuzzing begin with. */
#ifndef HN_TESTS_AKG_SEEDS_H
#define HN_TESTS_AKG_SEEDS_H

#define AKG_T(name, dtype, shape) \
	"{\"tensor_name\":\"" name "\",\"data_type\":\"" dtype "\",\"shape\":" shape ",\"format\":\"DefaultFormat\"}"
#define AKG_L(name, dtype, value)                                                        \
	"{\"tensor_name\":\"" name "\",\"data_type\":\"" dtype "\",\"shape\":[1],\"value\":" value "}"
#define AKG_OP(name, attr, in, out)                                                      \
	"{\"name\":\"" name "\",\"attr\":" attr ",\"impl_path\":\"\",\"input_desc\":[" in \
	"],\"output_desc\":[" out "]}"
#define AKG_KERNEL(in, out, ops)                                                         \
	"{\"composite\":true,\"op\":\"Fused_seed\",\"process\":\"cuda\",\"platform\":\"AKG\"," \
	"\"input_desc\":[" in "],\"output_desc\":[" out "],\"op_desc\":[" ops "]}"

static const char *const akg_seeds[] = {
	/* a softmax */
	AKG_KERNEL("[" AKG_T("x", "float16", "[4,8]") "]", AKG_T("y", "float16", "[4,8]"),
		   AKG_OP("ReduceMax",
			  "[{\"name\":\"axis\",\"value\":[-1],\"data_type\":\"listInt\"},"
			  "{\"name\":\"keep_dims\",\"value\":true}]",
			  "[" AKG_T("x", "float16", "[4,8]") "]", AKG_T("m", "float16", "[4,1]")) ","
		   AKG_OP("Sub", "null",
			  "[" AKG_T("x", "float16", "[4,8]") "],[" AKG_T("m", "float16", "[4,1]") "]",
			  AKG_T("d", "float16", "[4,8]")) ","
		   AKG_OP("Exp", "null", "[" AKG_T("d", "float16", "[4,8]") "]",
			  AKG_T("e", "float16", "[4,8]")) ","
		   AKG_OP("ReduceSum", "{\"axis\":1,\"keep_dims\":true}",
			  "[" AKG_T("e", "float16", "[4,8]") "]", AKG_T("s", "float16", "[4,1]")) ","
		   AKG_OP("RealDiv", "null",
			  "[" AKG_T("e", "float16", "[4,8]") "],[" AKG_T("s", "float16", "[4,1]") "]",
			  AKG_T("y", "float16", "[4,8]"))),
	/* an open size, literals, and an operand that is written */
	AKG_KERNEL("[{\"tensor_name\":\"x\",\"data_type\":\"float32\",\"shape\":[-1,4],"
		   "\"symbolic_shape\":[\"batch\",\"4\"]}],[" AKG_T("w", "float32", "[1]") "]",
		   AKG_T("y", "float32", "[-1,4]"),
		   AKG_OP("Greater", "null",
			  "[" AKG_T("x", "float32", "[-1,4]") "],[" AKG_L("c", "float32", "0.5") "]",
			  AKG_T("g", "bool", "[-1,4]")) ","
		   AKG_OP("Select", "null",
			  "[" AKG_T("g", "bool", "[-1,4]") "],[" AKG_T("x", "float32", "[-1,4]") "],["
			  AKG_L("o", "float32", "1") "]", AKG_T("y", "float32", "[-1,4]")) ","
		   AKG_OP("ReduceSum", "[]", "[" AKG_T("y", "float32", "[-1,4]") "]",
			  AKG_T("s", "float32", "[1]")) ","
		   AKG_OP("InplaceAssign", "[{\"name\":\"fake_output\",\"value\":true}]",
			  "[" AKG_T("w", "float32", "[1]") "],[" AKG_T("s", "float32", "[1]") "],["
			  AKG_T("y", "float32", "[-1,4]") "]", AKG_T("f", "float32", "[-1,4]"))),
	/* places, shapes, products, complex numbers */
	AKG_KERNEL("[" AKG_T("x", "float32", "[6,2]") "],[" AKG_T("i", "int32", "[3]") "],["
		   AKG_T("z", "complex64", "[2]") "]",
		   AKG_T("y", "float32", "[3,3]") "," AKG_T("p", "complex64", "[2]"),
		   AKG_OP("Gather", "[{\"name\":\"axis\",\"value\":0}]",
			  "[" AKG_T("x", "float32", "[6,2]") "],[" AKG_T("i", "int32", "[3]") "]",
			  AKG_T("g", "float32", "[3,2]")) ","
		   AKG_OP("Transpose", "[{\"name\":\"perm\",\"value\":[1,0]}]",
			  "[" AKG_T("g", "float32", "[3,2]") "]", AKG_T("t", "float32", "[2,3]")) ","
		   AKG_OP("MatMul", "{\"transpose_b\":false}",
			  "[" AKG_T("g", "float32", "[3,2]") "],[" AKG_T("t", "float32", "[2,3]") "]",
			  AKG_T("y", "float32", "[3,3]")) ","
		   AKG_OP("Mul", "null",
			  "[" AKG_T("z", "complex64", "[2]") "],[" AKG_T("z", "complex64", "[2]") "]",
			  AKG_T("p", "complex64", "[2]"))),
	/* slices, pads, joins */
	AKG_KERNEL("[" AKG_T("x", "int32", "[4,6]") "]", AKG_T("y", "int32", "[4,14]"),
		   AKG_OP("StridedSlice",
			  "{\"begin\":[0,1],\"end\":[4,5],\"strides\":[1,2],\"begin_mask\":1}",
			  "[" AKG_T("x", "int32", "[4,6]") "]", AKG_T("s", "int32", "[4,2]")) ","
		   AKG_OP("PadAkg", "{\"head\":[0,0],\"tail\":[0,4],\"pad_val\":0}",
			  "[" AKG_T("s", "int32", "[4,2]") "]", AKG_T("p", "int32", "[4,6]")) ","
		   AKG_OP("Concat", "{\"axis\":1}",
			  "[" AKG_T("x", "int32", "[4,6]") "," AKG_T("s", "int32", "[4,2]") ","
			  AKG_T("p", "int32", "[4,6]") "]", AKG_T("y", "int32", "[4,14]"))),
};

#endif
