/* client/explain_asm.c -- `hone explain --asm`: the machine code of the inner loops, of the
 * listing that hone-build makes. */
#include "client/explain_asm.h"

#include <string.h>

#include "client/asm.h"
#include "client/builder.h"

#define LOOPS_SHOWN 3
#define LINES_SHOWN 120

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
	char *words[] = { "--target", (char *)target_line, "--emit-asm", NULL };
	struct hn_buf listing;
	int rc;

	hn_buf_init(&listing);
	rc = hn_builder_ask("explain", dag_json, steps, words, &listing, err);
	if (rc == 0) {
		print_loops(listing.s, a, b);
	}
	hn_buf_fini(&listing);
	return rc;
}
