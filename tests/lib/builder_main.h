/* tests/lib/builder_main.h -- what a test that stands for a builder does as one. */
#ifndef HN_TESTS_LIB_BUILDER_MAIN_H
#define HN_TESTS_LIB_BUILDER_MAIN_H

#include "proto/frame.h"

/* Greet, then answer the n-th request, n = 0, 1, ..., until honed has gone. */
static int builder_main(void (*answer)(const struct hn_frame *f, int n))
{
	struct hn_frame f = {.type = HN_FRAME_HELLO, .json = "{}", .json_bytes = 2};
	struct hn_buf in;
	int n = 0;

	hn_buf_init(&in);
	if (hn_frame_send(1, &f, NULL) != 0) {
		return 1;
	}
	while (hn_frame_recv(0, &in, &f, NULL) == 0) {
		answer(&f, n++);
	}
	hn_buf_fini(&in);
	return 0;
}

#endif
