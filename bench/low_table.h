/* bench/low_table.h -- what `hone-bench low` says of its cases: rows, a table, means. */
#ifndef HN_BENCH_LOW_TABLE_H
#define HN_BENCH_LOW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct hn_low_line {
	const char *name;
	const char *by;	   /* where hone's schedule is from */
	const char *peer;  /* the fastest right one; "" */
	const char *limit; /* the instruction whose peak it is; "" */
	double gops, auto_gops, peer_gops;
	double ratio, auto_ratio; /* to the peer; 0 without one */
	double peak, peer_peak;	  /* shares of the peak; 0 without one */
	double other; /* the other log's schedule, its time over hone's; 0 without one */
};

struct hn_low_table {
	uint32_t n;
	struct hn_low_line *line; /* malloc */
};

/* One more; its rows are printed, and its line of the table on standard error. */
void hn_low_add(struct hn_low_table *t, const struct hn_low_line *line, int32_t threads);

/* Geometric means of each class, the name up to its last dash, and of all. */
void hn_low_summary(const struct hn_low_table *t, int32_t threads);

#endif
