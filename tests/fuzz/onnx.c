/* tests/fuzz/onnx.c -- ONNX files. */
#include "fuzz.h"

#include "tests/lib/onnx_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hn_onnx *o;
	struct hn_buf text;

	hn_buf_init(&text);
	if (hn_onnx_parse("fuzz", data, n, &o, NULL) == 0) {
		hn_assert(hn_onnx_memory(o) <= n * HN_ONNX_PER_BYTE + HN_ONNX_FREE_BYTES);
		dump_model(&text, hn_onnx_model(o));
		hn_onnx_close(o);
	}
	hn_buf_fini(&text);
	return 0;
}
