/* costmodel/column.h -- the rows of features.def and ansor.def as tables for people. */
#ifndef HN_COSTMODEL_COLUMN_H
#define HN_COSTMODEL_COLUMN_H

#include "base/buf.h"

struct hn_column { /* one number of a program */
	const char *group, *name, *unit, *source, *text;
};

/* A table a group, with a heading. */
void hn_columns_print(const struct hn_column *column, size_t n, struct hn_buf *buf);

#endif
