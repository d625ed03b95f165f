/* client/records.h -- what `hone records` does, by its first word. */
#ifndef HN_CLIENT_RECORDS_H
#define HN_CLIENT_RECORDS_H

#include "client/cmd.h"

/* Print the best record of the computation, or of each of --dag MAP, as a line of a log. */
int hn_records_export(const struct hn_opts *o, struct hn_err *err) HN_NODISCARD;

/* Measure the log's records here, and keep them in the store (import.h). */
int hn_records_import(const struct hn_opts *o, struct hn_err *err) HN_NODISCARD;

#endif
