/* tests/fuzz/npu.c -- programs of the NPU: what is read is written the same, and the machine does
 * with it what it may, in order and as drawn: no other fault, and no other answer. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "target/npu/npu_launch.h"
#include "target/npu/npu_run.h"

#define MOST_BYTES (1 << 20) /* of buffers */
#define MOST_WORK 200000

static void reads_back(const struct hn_npu_program *p, struct hn_arena *a)
{
	const struct hn_npu_program *again;
	struct hn_buf text, second;

	hn_buf_init(&text);
	hn_buf_init(&second);
	hn_npu_print(p, &text);
	if (hn_npu_parse("fuzz", text.s, text.n, a, &again, NULL) != 0) {
		abort();
	}
	hn_npu_print(again, &second);
	if (strcmp(text.s, second.s) != 0) {
		abort();
	}
	hn_buf_fini(&text);
	hn_buf_fini(&second);
}

static int run(const struct hn_npu_program *p, uint64_t seed, void **gm, struct hn_arena *a,
	       struct hn_npu_result *ret)
{
	struct hn_npu_options o = { .gm = gm, .judge = true, .seed = seed, .most = MOST_WORK };
	struct hn_npu_profile m;

	if (hn_npu_profile_of("tiny", &m, NULL) != 0) {
		abort();
	}
	for (uint32_t i = 0; i < p->n_buffer; i++) {
		gm[i] = hn_arena_alloc(a, (size_t)p->buffer[i].bytes);
	}
	return hn_npu_run(p, &m, &o, a, ret, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	void *gm[HN_NPU_MOST_BUFFERS], *other[HN_NPU_MOST_BUFFERS];
	const struct hn_npu_program *p;
	struct hn_npu_result r, drawn;
	struct hn_arena a;
	int64_t bytes = 0, value[HN_NPU_MOST_SIZES];

	hn_arena_init(&a, 0);
	if (hn_npu_parse("fuzz", (const char *)data, n, &a, &p, NULL) == 0) {
		reads_back(p, &a);
		for (uint32_t i = 0; i < p->n_size; i++) { /* sizes near the least of their ranges */
			value[i] = p->size[i].lo + (p->size[i].lo < p->size[i].hi ? (int64_t)n % 2 : 0);
		}
		if (p->n_size > 0 && hn_npu_launch(p, value, &a, &p, NULL) != 0) {
			hn_arena_fini(&a);
			return 0;
		}
		for (uint32_t i = 0; i < p->n_buffer + p->n_scratch; i++) {
			bytes += p->buffer[i].bytes;
		}
		if (bytes <= MOST_BYTES && run(p, 0, gm, &a, &r) == 0) {
			if (run(p, n + 1, other, &a, &drawn) != 0 || drawn.cycles != r.cycles) {
				abort();
			}
			for (uint32_t i = 0; i < p->n_buffer; i++) {
				if (memcmp(gm[i], other[i], (size_t)p->buffer[i].bytes) != 0) {
					abort();
				}
			}
		}
	}
	hn_arena_fini(&a);
	return 0;
}
