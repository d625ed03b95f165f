/* bench/row.c -- what every benchmark prints. */
#include <stdio.h>

#include "base/buf.h"
#include "bench/bench.h"

void hn_bench_row(const char *name, double value, const char *unit, const char *context)
{
	struct hn_buf line;

	hn_buf_init(&line);
	hn_buf_printf(&line, "{\"name\": \"%s\", \"value\": ", name);
	hn_buf_double(&line, value);
	hn_buf_printf(&line, ", \"unit\": \"%s\"%s%s}", unit, *context ? ", " : "",
		      context);
	puts(line.s);
	fflush(stdout);
	hn_buf_fini(&line);
}
