/* record.c -- records written, and logs read line by line. */
#include "loopstate/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Ansor's escapes, and JSON's for what it would have written raw. */
static void write_string(const char *s, struct hn_buf *buf)
{
	static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";

	hn_buf_putc(buf, '"');
	for (; *s != '\0'; s++) {
		const char *at = strchr(from, *s);

		if (at != NULL) {
			hn_buf_putc(buf, '\\');
			hn_buf_putc(buf, to[at - from]);
		} else {
			hn_buf_putc(buf, *s);
		}
	}
	hn_buf_putc(buf, '"');
}

static void write_number(const struct hn_record_number *n, struct hn_buf *buf)
{
	if (n->text != NULL) {
		hn_buf_puts(buf, n->text);
	} else {
		hn_buf_printf(buf, "%g", n->value);
	}
}

static void write_task(const struct hn_log_record *r, struct hn_buf *buf)
{
	hn_buf_putc(buf, '[');
	write_string(r->workload_key, buf);
	hn_buf_puts(buf, ", ");
	write_string(r->target, buf);
	for (uint32_t i = 0; i < r->n_hardware; i++) {
		hn_buf_printf(buf, "%s%" PRId64, i == 0 ? ", [" : ", ", r->hardware[i]);
	}
	hn_buf_puts(buf, r->n_hardware > 0 ? "]" : "");
	if (r->host != NULL) {
		hn_buf_puts(buf, ", ");
		write_string(r->host, buf);
	}
	if (r->layout >= 0) {
		hn_buf_printf(buf, ", %d", (int)r->layout);
	}
	if (r->has_inputs) {
		hn_buf_puts(buf, ", [");
		for (uint32_t i = 0; i < r->n_input; i++) {
			hn_buf_puts(buf, i > 0 ? ", " : "");
			write_string(r->input[i], buf);
		}
		hn_buf_putc(buf, ']');
	}
	hn_buf_putc(buf, ']');
}

static void write_result(const struct hn_log_record *r, struct hn_buf *buf)
{
	hn_buf_puts(buf, "\"r\": [[");
	for (uint32_t i = 0; i < r->n_cost; i++) {
		hn_buf_puts(buf, i > 0 ? ", " : "");
		write_number(&r->cost[i], buf);
	}
	hn_buf_printf(buf, "], %d, ", (int)r->error_no);
	write_number(&r->all_cost, buf);
	hn_buf_puts(buf, ", ");
	if (r->timestamp.text != NULL) {
		hn_buf_puts(buf, r->timestamp.text);
	} else {
		hn_buf_printf(buf, "%" PRId64, (int64_t)r->timestamp.value);
	}
	hn_buf_putc(buf, ']');
}

void hn_record_write(const struct hn_log_record *r, struct hn_buf *buf)
{
	for (uint8_t i = 0; i < r->n_member; i++) {
		hn_buf_puts(buf, i == 0 ? "{" : ", ");
		switch ((enum hn_record_member)r->member[i]) {
		case HN_RECORD_INPUT:
			hn_buf_puts(buf, "\"i\": [");
			write_task(r, buf);
			hn_buf_puts(buf, ", [[], ");
			hn_trace_write(r->trace, buf);
			hn_buf_puts(buf, "]]");
			break;
		case HN_RECORD_RESULT:
			write_result(r, buf);
			break;
		case HN_RECORD_VERSION:
			hn_buf_puts(buf, "\"v\": ");
			write_string(r->version, buf);
			break;
		}
	}
	hn_buf_putc(buf, '}');
}

void hn_record_reader_init(struct hn_record_reader *r, FILE *file, const char *what)
{
	*r = (struct hn_record_reader){ .file = file, .what = what };
	hn_buf_init(&r->text);
	hn_arena_init(&r->arena, 0);
}

void hn_record_reader_fini(struct hn_record_reader *r)
{
	hn_buf_fini(&r->text);
	hn_arena_fini(&r->arena);
}

/* The next line into r->text, without its newline: 1, 0 at the end, or an error.  A line
 * over the limit is read to its end and forgotten. */
static int read_line(struct hn_record_reader *r, struct hn_err *err)
{
	size_t n = 0;
	int c;

	hn_buf_reset(&r->text);
	while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
		if (n++ < HN_RECORD_MAX_LINE) {
			hn_buf_putc(&r->text, (char)c);
		}
	}
	if (ferror(r->file)) {
		return hn_fail(err, HONE_E_IO, "%s: %s", r->what, strerror(errno));
	}
	if (c == EOF && n == 0) {
		return 0;
	}
	r->line++;
	if (n > HN_RECORD_MAX_LINE || r->text.failed) {
		return hn_fail(
			err, HONE_E_QUOTA,
			"%s:%" PRIu64 ":%zu: a line of %zu bytes; %zu is the limit",
			r->what, r->line, HN_RECORD_MAX_LINE + 1, n, HN_RECORD_MAX_LINE);
	}
	return 1;
}

int hn_record_next(struct hn_record_reader *r, const struct hn_log_record **ret,
		   struct hn_err *err)
{
	int rc;

	do {
		rc = read_line(r, err);
	} while (rc == 1 && (r->text.n == 0 || strcmp(r->text.s, "\r") == 0));
	if (rc != 1) {
		return rc;
	}
	if (r->text.s[0] == '#' || r->text.s[0] == ' ') {
		return HN_RECORD_COMMENT;
	}
	hn_arena_reset(&r->arena);
	rc = hn_record_parse(r->what, r->line, r->text.s, r->text.n, &r->arena, ret, err);
	return rc != 0 ? rc : HN_RECORD_RECORD;
}
