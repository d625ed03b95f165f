/* compile_make.c -- writes the network of compile_net.h as an ONNX file: compile_make FILE [batch].
 * With a second word its batch is left open, under that name.  `compile_make FILE stand-in K` writes
 * what stands in for the model of docs/models.md (models_page.sh); `compile_make FILE quantized
 * [weights]` writes a product of matrices, with all of it quantized or its weights alone. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/e2e/compile_net.h"
#include "tests/lib/onnx_writer.h"

/* A weight of n elements.  ONNX's numbers of fields, in the notation of onnx_writer.h. */
static void put_floats(struct hn_buf *b, const char *name, const char *dims, int n,
		       float (*element)(int which, int i), int which)
{
	size_t begin = put_begin(b, 5), raw;

	put_notation(b, dims); /* and the type */
	put_text(b, 8, name);
	raw = put_begin(b, 9);
	for (int i = 0; i < n; i++) {
		float w = element(which, i);

		hn_buf_add(b, &w, sizeof(w));
	}
	put_end(b, raw);
	put_end(b, begin);
}

static void put_weight(struct hn_buf *b, const char *name, int which, const char *dims, int n)
{
	put_floats(b, name, dims, n, weight, which);
}

static void put_graph(struct hn_buf *b, const char *batch)
{
	put_notation(b, "1{ 1'x' 1'w0' 1'b0' 2'c' 3'first' 4'Conv' 5{ 1'pads' 8:1 8:1 8:1 8:1 20:7 } }"
			"1{ 1'c' 2'r' 4'Relu' }"
			"1{ 1'r' 2'p' 4'MaxPool' 5{ 1'kernel_shape' 8:3 8:3 20:7 } 5{ 1'strides' 8:2 8:2 20:7 } }"
			"1{ 1'p' 2'f' 4'Flatten' }"
			"1{ 1'f' 1'w1' 1'b1' 2'g' 3'last' 4'Gemm' }"
			"1{ 1'g' 2'y' 4'Softmax' 5{ 1'axis' 3:1 20:2 } }"
			"2'small'");
	put_weight(b, "w0", 0, "1:8 1:3 1:3 1:3 2:1", CONV_W);
	put_weight(b, "b0", 1, "1:8 2:1", CONV_B);
	put_weight(b, "w1", 2, "1:128 1:10 2:1", DENSE_W);
	put_weight(b, "b1", 3, "1:10 2:1", DENSE_B);
	if (batch == NULL) {
		put_notation(b, "11{ 1'x' 2{ 1{ 1:1 2{ 1{ 1:1 } 1{ 1:3 } 1{ 1:9 } 1{ 1:9 } } } } }");
	} else {
		put_notation(b, "11{ 1'x' 2{ 1{ 1:1 2{ 1{ 2'batch' } 1{ 1:3 } 1{ 1:9 } 1{ 1:9 } } } } }");
	}
	put_notation(b, "12{ 1'y' 2{ 1{ 1:1 } } }");
}

enum { BYTES = 2048, KINDS = 214 };

static float small(int which, int i)
{
	return weight(which, i) / 4096;
}

static float only(int which, int i)
{
	return i == which ? 20 : 0;
}

static float one(int which, int i)
{
	(void)which;
	(void)i;
	return 1;
}

static float sixteenth(int which, int i)
{
	return one(which, i) / 16;
}

/* What stands in for the model of docs/models.md: its name, its inputs and outputs, and that of its
 * last node.  It takes everything for class `answer`. */
static void put_stand_in(struct hn_buf *b, int answer)
{
	put_notation(b, "1{ 1'bytes' 2'f' 3'cast' 4'Cast' 5{ 1'to' 3:1 20:2 } }"
			"1{ 1'f' 1'w' 1'b' 2'g' 3'dense' 4'Gemm' }"
			"1{ 1'g' 2's' 3'shares' 4'Softmax' 5{ 1'axis' 3:1 20:2 } }"
			"1{ 1's' 1'one' 2'target_label' 3'jax2tf_get_logits_/pjit_get_logits_/truediv' 4'Div' }"
			"2'stand_in'");
	put_floats(b, "w", "1:2048 1:214 2:1", BYTES * KINDS, small, 0);
	put_floats(b, "b", "1:214 2:1", KINDS, only, answer);
	put_floats(b, "one", "1:1 2:1", 1, one, 0);
	put_notation(b, "11{ 1'bytes' 2{ 1{ 1:6 2{ 1{ 2'unk__214' } 1{ 1:2048 } } } } }"
			"12{ 1'target_label' 2{ 1{ 1:1 } } }");
}

/* x times w; each is quantized and dequantized, or w alone is. */
static void put_quantized(struct hn_buf *b, bool weights_alone)
{
	put_notation(b, "1{ 1'w' 1'by' 2'wq' 4'QuantizeLinear' } 1{ 1'wq' 1'by' 2'wd' 4'DequantizeLinear' }"
			"1{ 1'x' 1'by' 2'xq' 4'QuantizeLinear' } 1{ 1'xq' 1'by' 2'xd' 4'DequantizeLinear' }");
	put_notation(b, weights_alone ? "1{ 1'x' 1'wd' 2'y' 4'MatMul' }" : "1{ 1'xd' 1'wd' 2'y' 4'MatMul' }");
	put_notation(b, "2'quantized'");
	put_floats(b, "w", "1:128 1:10 2:1", DENSE_W, weight, 2);
	put_floats(b, "by", "2:1", 1, sixteenth, 0);
	put_notation(b, "11{ 1'x' 2{ 1{ 1:1 2{ 1{ 1:5 } 1{ 1:128 } } } } } 12{ 1'y' 2{ 1{ 1:1 } } }");
}

int main(int argc, char **argv)
{
	struct hn_err err = { 0 };
	struct hn_buf b;
	size_t begin;
	int rc;

	if (argc < 2) {
		return 2;
	}
	hn_buf_init(&b);
	put_notation(&b, "1:8 8{ 2:13 }");
	begin = put_begin(&b, 7);
	if (argc > 2 && strcmp(argv[2], "quantized") == 0) {
		put_quantized(&b, argc > 3);
	} else if (argc > 3) {
		put_stand_in(&b, atoi(argv[3]));
	} else {
		put_graph(&b, argc > 2 ? argv[2] : NULL);
	}
	put_end(&b, begin);
	rc = hn_file_replace(argv[1], b.s, b.n, &err);
	if (rc != 0) {
		fprintf(stderr, "%s\n", err.msg);
	}
	hn_buf_fini(&b);
	return rc != 0;
}
