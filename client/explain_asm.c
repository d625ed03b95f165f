/* client/explain_asm.c -- `hone explain --asm`: the machine code of the inner loops.
 *
 * hone-build makes the listing; the computation, the steps and the listing pass through
 * memory files, so that nothing has to be cleaned up. */
#include "client/explain_asm.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "client/asm.h"
#include "client/builder.h"

#define LISTING_MAX ((size_t)64 << 20)
#define LOOPS_SHOWN 3
#define LINES_SHOWN 120

struct memory_file {
	int fd;
	char path[40];
};

/* A file that exists while it is open, by a path that a child can open too. */
static int memory_file(const char *text, struct memory_file *ret, struct hn_err *err)
{
	ret->fd = memfd_create("hone", 0);
	if (ret->fd < 0 || write(ret->fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		return hn_fail(err, HONE_E_IO, "explain: no memory for a listing");
	}
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
	return 0;
}

static void print_loop(const struct hn_asm_loop *loop, uint32_t number, struct hn_buf *b)
{
	const char *at = loop->text, *end = at + loop->n_bytes;

	hn_buf_printf(b, "\nloop %u: ", number);
	hn_asm_print_mix(loop, b);
	hn_buf_putc(b, '\n');
	for (uint32_t i = 0; at < end; i++) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		line_end = line_end ? line_end : end;
		if (i == LINES_SHOWN) {
			hn_buf_puts(b, "  ...\n");
			return;
		}
		hn_buf_printf(b, "  %.*s\n", (int)(line_end - at), at);
		at = line_end + (line_end < end);
	}
}

static void print_loops(const char *listing, struct hn_arena *a, struct hn_buf *b)
{
	struct hn_asm_loop *loop;
	uint32_t n = hn_asm_loops(listing, a, &loop);

	hn_buf_printf(b, "\n%u inner loop%s in the machine code%s\n", n,
		      n == 1 ? "" : "s",
		      n > LOOPS_SHOWN ? ", those with most arithmetic:" : "");
	for (uint32_t i = 0; i < n && i < LOOPS_SHOWN; i++) {
		print_loop(&loop[i], i + 1, b);
	}
}

int hn_explain_asm(const char *dag_json, const char *steps, const char *target_line,
		   struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	struct memory_file file[3] = { { .fd = -1 }, { .fd = -1 }, { .fd = -1 } };
	char *argv[] = { "hone-build",	      "--dag",	    file[0].path,
			 "--steps",	      file[1].path, "--target",
			 (char *)target_line, "--emit-asm", NULL };
	struct hn_buf listing;
	int rc;

	hn_buf_init(&listing);
	rc = memory_file(dag_json, &file[0], err);
	if (rc == 0) {
		rc = memory_file(steps, &file[1], err);
	}
	if (rc == 0) {
		rc = memory_file("", &file[2], err);
	}
	if (rc == 0) {
		rc = hn_builder_run("explain", argv, file[2].fd, err);
	}
	if (rc == 0) {
		rc = hn_file_read(file[2].path, LISTING_MAX, &listing, err);
	}
	if (rc == 0) {
		print_loops(listing.s, a, b);
	}
	for (size_t i = 0; i < HN_COUNT_OF(file); i++) {
		if (file[i].fd >= 0) {
			close(file[i].fd);
		}
	}
	hn_buf_fini(&listing);
	return rc;
}
