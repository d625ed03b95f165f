/* lower/npu/plant.c -- faults that tests plant into a program for the NPU (enum hn_plant), to show that
 * its board finds them.  They are lines of its text, at the begin or the end of the first section.
 */
#include <inttypes.h>
#include <string.h>

#include "lower/lower.h"
#include "lower/npu/npu.h"

/* Lines that order pipes. */
static bool orders(const char *line)
{
	line += strspn(line, " ");
	return strncmp(line, "set ", 4) == 0 || strncmp(line, "wait ", 5) == 0 ||
	       strncmp(line, "barrier ", 8) == 0;
}

static void without_order(const char *text, struct hn_buf *ret)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		n += text[n] == '\n';
		if (!orders(text)) {
			hn_buf_add(ret, text, n);
		}
		text += n;
	}
}

/* The lines of `body`, behind where `at` is found and `skip` bytes more. */
static void put_at(const char *text, const char *at, size_t skip, const char *body, struct hn_buf *ret)
{
	hn_buf_add(ret, text, (size_t)(at - text) + skip);
	hn_buf_puts(ret, body);
	hn_buf_puts(ret, at + skip);
}

int hn_npu_plant(const struct hn_npu_program *p, const char *text, int plant, struct hn_buf *ret,
		 struct hn_err *err)
{
	const char *begin = strstr(text, "{\n"), *end = strstr(text, "\n}\n");
	const struct hn_npu_buffer *last = &p->buffer[p->n_buffer - 1];
	struct hn_buf body;

	if (begin == NULL || end == NULL) {
		return hn_fail(err, HONE_E_INVALID, "plant: the program has no section");
	}
	hn_buf_init(&body);
	switch ((enum hn_plant)plant) {
	case HN_PLANT_HANG:
		put_at(text, begin, 2, "  loop r31 1000000000000000\n  end\n", ret);
		break;
	case HN_PLANT_OUT_OF_BOUNDS:
		hn_buf_printf(&body, "  load ub[0] %s[%" PRId64 "] burst 32\n  barrier all\n", last->name,
			      last->bytes);
		put_at(text, begin, 2, body.s, ret);
		break;
	case HN_PLANT_DIVIDE_BY_ZERO:
		put_at(text, begin, 2, "  div r31 1 r31\n", ret);
		break;
	case HN_PLANT_WRONG_RESULT: /* the core whose own the result's begin is spoils it */
		hn_buf_printf(&body, "  core r31\n  if r31 1\n    barrier all\n    vdup.f32 ub[0] 12345\n"
			      "    barrier all\n    store %s[0] ub[0] burst %" PRId64 "\n"
			      "    barrier all\n  end\n", last->name, last->bytes < 4 ? last->bytes : 4);
		put_at(text, end, 1, body.s, ret);
		break;
	case HN_PLANT_NO_BARRIER:
		without_order(text, ret);
		break;
	case HN_PLANT_NONE:
		hn_buf_puts(ret, text);
		break;
	}
	hn_buf_fini(&body);
	return 0;
}
