/* tests/lib/builder_main.h -- what a test that stands for a builder does as one. */
#ifndef HN_TESTS_LIB_BUILDER_MAIN_H
#define HN_TESTS_LIB_BUILDER_MAIN_H

#include <stdlib.h>

#include "proto/frames.h"

static inline void builder_say(const struct hn_frame *f)
{
	if (hn_frame_send(1, f, NULL) != 0) {
		exit(1);
	}
}

static void builder_greet(void)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_frame_encode_hello(&(struct hn_frame_hello){ .worker = "hone-build",
							.version = "0",
							.target = "cpu" },
			      &json);
	builder_say(&(struct hn_frame){ .type = HN_FRAME_HELLO,
					.json = json.s,
					.json_bytes = (uint32_t)json.n });
	hn_buf_fini(&json);
}

/* Answer the request with v, and the blob, if any, behind it. */
static void builder_answer(const struct hn_frame *request, const struct hn_frame_built *v,
			   const struct hn_buf *blob)
{
	struct hn_frame f;
	struct hn_buf json;

	hn_buf_init(&json);
	hn_frame_encode_built(v, &json);
	f = hn_frame_of(HN_FRAME_BUILT, request->request, &json);
	if (blob != NULL) {
		f.blob = blob->s;
		f.blob_bytes = (uint32_t)blob->n;
	}
	builder_say(&f);
	hn_buf_fini(&json);
}

/* Greet, then answer the n-th request, n = 0, 1, ..., until honed has gone. */
static int builder_main(void (*answer)(const struct hn_frame *f, int n))
{
	struct hn_frame f;
	struct hn_buf in;
	int n = 0;

	hn_buf_init(&in);
	builder_greet();
	while (hn_frame_recv(0, &in, &f, NULL) == 0) {
		answer(&f, n++);
	}
	hn_buf_fini(&in);
	return 0;
}

#endif
