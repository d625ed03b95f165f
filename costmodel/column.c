/* costmodel/column.c -- columns as Markdown. */
#include "costmodel/column.h"

#include <string.h>

void hn_columns_print(const struct hn_column *column, size_t n, struct hn_buf *buf)
{
	const char *group = "";

	for (size_t i = 0; i < n; i++) {
		if (strcmp(group, column[i].group) != 0) {
			group = column[i].group;
			hn_buf_printf(buf,
				      "\n## %s\n\n| name | unit | source | what it is "
				      "|\n|---|---|---|---|\n",
				      group);
		}
		hn_buf_printf(buf, "| %s | %s | %s | %s |\n", column[i].name, column[i].unit,
			      column[i].source, column[i].text);
	}
}
