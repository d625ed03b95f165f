/* network_make.c -- a network of three steps put together by hand (tests/lib/model_small.h), of
 * kernels that `hone replay` wrote, as a library: for network.sh.
 *
 *     network_make DIR FILE NAME TARGET KERNELS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "client/library.h"
#include "tests/lib/model_small.h"

#define MOST_OBJECT ((size_t)64 << 20)

static struct hn_arena arena;

static void die(const struct hn_err *err)
{
	fprintf(stderr, "network_make: %s\n", err->msg);
	exit(1);
}

static void read_file(const char *path, struct hn_buf *ret)
{
	struct hn_err err = { 0 };

	hn_buf_init(ret);
	if (hn_file_read(path, MOST_OBJECT, ret, &err) != 0) {
		die(&err);
	}
}

/* The i-th UINT64_C(..) behind the macro in a kernel's header. */
static uint64_t number(const char *header, const char *macro, int i)
{
	const char *at = strstr(header, macro);

	while (at && i-- >= 0) {
		at = strstr(at, "UINT64_C(");
		at = at ? at + strlen("UINT64_C(") : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

static void read_kernel(const char *dir, struct hn_model_kernel *k,
			struct hn_library_object *ret)
{
	struct hn_buf object, header;

	read_file(hn_arena_printf(&arena, "%s/%s.o", dir, k->symbol), &object);
	read_file(hn_arena_printf(&arena, "%s/%s.h", dir, k->symbol), &header);
	k->workspace_bytes = number(header.s, "_WORKSPACE_BYTES(", 0);
	k->worker_bytes = number(header.s, "_WORKSPACE_BYTES(", 1);
	k->prepared_bytes = number(header.s, "_PREPARED_BYTES UINT64", 0);
	k->init = strstr(header.s, "_init(void)") != NULL;
	*ret = (struct hn_library_object){ object.s, object.n, NULL };
}

/* Small whole numbers, so that every sum is exact; the same in network_run.c. */
static void fill(float *w, int seed)
{
	for (int i = 0; i < MS_N * MS_N; i++) {
		w[i] = (float)((i * 7 + seed * 3 + i / 5) % 5 - 2);
	}
}

static void say(const char *path)
{
	puts(path);
}

int main(int argc, char **argv)
{
	static float w[2][MS_N * MS_N];
	const struct hn_weight weight[2] = { { w[0], MS_ALL, 4, 0 },
					     { w[1], MS_ALL, 4, 0 } };
	struct hn_library_object object[2];
	char note[HN_LIBRARY_NOTE];
	struct hn_err err = { 0 };
	struct ms s;

	if (argc != 6) {
		return 2;
	}
	hn_arena_init(&arena, 0);
	ms_make(&s, 0);
	s.m.name = argv[3];
	s.arg[2][1] = (struct hone_model_arg){ .place = HONE_MODEL_WEIGHTS, .index = 1 };
	for (int i = 0; i < 2; i++) {
		fill(w[i], i);
		s.kernel[i].symbol = hn_arena_printf(&arena, "%s_k%d", argv[3], i);
		read_kernel(argv[5], &s.kernel[i], &object[i]);
	}
	const struct hn_library l = { .file = argv[2],
				      .target_line = argv[4],
				      .model = &s.m,
				      .n_weight = 2,
				      .weight = weight,
				      .object = object };

	if (hn_library_write("make", &l, argv[1], say, note, &err) != 0) {
		die(&err);
	}
	if (*note != '\0') {
		fprintf(stderr, "%s\n", note);
	}
	hn_arena_fini(&arena);
	return 0;
}
