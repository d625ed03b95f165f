/* tests/fuzz/frames.c -- frames between honed and its workers: the first word of the input is the
 * frame's name, the rest its JSON. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/frames_rows.h"

/* What was taken is within its limits, and is read back as it was. */
static void check(enum hn_shape s, const void *v, struct hn_arena *a)
{
	enum hn_frame_type type = hn_frame_shape[s].type;
	void *copy = hn_arena_alloc(a, hn_frame_shape[s].bytes);
	struct hn_frame f;
	struct hn_err err;
	struct hn_buf b;

	hn_assert(frames_within(s, v));
	hn_buf_init(&b);
	hn_frame_encode(type, v, &b);
	f = hn_frame_of(type, 0, &b);
	if (hn_frame_decode(type, &f, a, copy, &err) != 0) {
		fprintf(stderr, "%s\n%s\n", err.msg, b.s);
		hn_assert(!"the frame is not read back");
	}
	hn_assert(frames_equal(s, v, copy));
	hn_buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data, *end = n > 0 ? memchr(text, ' ', n) : NULL;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	for (unsigned type = 1; type < HN_N_FRAME && end != NULL; type++) {
		const char *name = hn_frame_name(type);
		enum hn_shape s = hn_frame_shape_of((enum hn_frame_type)type);

		if (strlen(name) == (size_t)(end - text) && memcmp(name, text, strlen(name)) == 0) {
			const struct hn_frame f = { .type = (uint16_t)type,
						    .json = end + 1,
						    .json_bytes = (uint32_t)(text + n - end - 1) };
			void *v = hn_arena_alloc(&a, hn_frame_shape[s].bytes);

			if (hn_frame_decode((enum hn_frame_type)type, &f, &a, v, NULL) == 0) {
				check(s, v, &a);
			}
		}
	}
	hn_arena_fini(&a);
	return 0;
}
