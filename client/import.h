/* client/import.h -- `hone records import`: what its parts share.
 *
 * MAP names computations (import_map.c), the log's lines are sorted by them (records_import.c), a
 * job of honed measures the lines of each, and what the store has then is told line by line
 * (import_told.c).
 */
#ifndef HN_CLIENT_IMPORT_H
#define HN_CLIENT_IMPORT_H

#include "client/cmd.h"
#include "client/link.h"
#include "target/target.h"

/* A line of the log that is to be imported. */
struct hn_import_line {
	uint64_t line, hash; /* of the program (search/logline.h) */
	double there_ns;     /* by the log */
	uint64_t as;	     /* the line before it that has the same program; 0 = none */
	int64_t record;	     /* of the store; 0 = none */
	bool before;	     /* it was there before this run */
	double here_ns;	     /* 0: not right, see failure */
	const char *failure; /* "WRONG_RESULT: ...", "" */
};

/* A computation of MAP. */
struct hn_import_task {
	const char *key; /* of the log's lines */
	struct hn_input in;
	uint64_t place; /* line of MAP */
	uint32_t n, cap;
	struct hn_import_line *line; /* in the log's order */
	uint32_t n_right; /* records of the store that are right; rank among their times, sorted */
	double *right_ns;
	int64_t last;	     /* number of the latest record that was looked at */
	double ours_ns;	     /* the fastest that was not imported; 0 = none */
	int64_t ours;	     /* its record, */
	const char *origin;  /* and how it was found */
	const char *message; /* why its job failed; NULL */
};

struct hn_import {
	struct hn_arena a;
	uint32_t n, cap;
	struct hn_import_task *task; /* by key */
	struct hn_target target;
	const char *target_line, *log;
	uint64_t n_line, n_bad, n_left_out;
};

/* Read MAP (o->map).  All in im->a. */
int hn_import_map(const struct hn_opts *o, struct hn_import *im, struct hn_err *err) HN_NODISCARD;
struct hn_import_task *hn_import_find(const struct hn_import *im, const char *key);

/* Look at what the store has of the task since t->last, and note it in the lines.  `before`: as
 * having been there before this run. */
int hn_import_look(struct hn_import *im, struct hn_import_task *t, struct hn_link *link, bool before,
		   struct hn_err *err) HN_NODISCARD;

/* How many programs of the task are in no record yet. */
uint32_t hn_import_missing(const struct hn_import_task *t);

/* A line of standard output for each line of the task, and one for the task. */
void hn_import_tell(const struct hn_import *im, struct hn_import_task *t, int64_t best);

/* One for the whole log. */
void hn_import_tell_all(const struct hn_import *im);

#endif
