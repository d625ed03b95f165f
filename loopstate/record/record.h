/* loopstate/record/record.h -- Ansor's log files: one JSON object a line, v0.1 to v0.6.
 *
 *     {"i": [[key, target, hardware, host, layout, inputs], [[], steps]],
 *      "r": [[cost, ...], error, all_cost, timestamp], "v": "v0.6"}
 *
 * (docs/records.md).  A log is hostile input: a line is bad alone, the reader goes on
 * with the next, and no line takes more than bounded memory.  What was read and is
 * written again is the same line: numbers are kept as they were spelled, members that an
 * older version did not have stay absent, members keep their order.
 */
#ifndef HN_LOOPSTATE_RECORD_RECORD_H
#define HN_LOOPSTATE_RECORD_RECORD_H

#include <stdio.h>

#include "loopstate/state/trace.h"

#define HN_RECORD_MAX_LINE ((size_t)4 << 20) /* bytes; a longer line is bad */
#define HN_RECORD_MAX_COSTS 4096
#define HN_RECORD_MAX_INPUTS 256
#define HN_RECORD_N_HARDWARE 8 /* in the order of target/params.def */

enum hn_record_member { HN_RECORD_INPUT, HN_RECORD_RESULT, HN_RECORD_VERSION };

/* A number and its spelling; text NULL = print `value` as Ansor would (%g). */
struct hn_record_number {
	double value;
	const char *text;
};

struct hn_log_record {
	const char *workload_key, *target;
	uint32_t n_hardware; /* 0 (before v0.3) or HN_RECORD_N_HARDWARE */
	int64_t hardware[HN_RECORD_N_HARDWARE];
	const char *host; /* NULL = absent; "" = none */
	int32_t layout;	  /* layout_rewrite_option 0..2; -1 = absent */
	bool has_inputs;  /* since v0.6 */
	uint32_t n_input;
	const char *const *input; /* names */
	const struct hn_trace *trace;
	uint32_t n_cost;
	const struct hn_record_number *cost; /* seconds, one a repeat, >= 0 */
	int32_t error_no;		     /* 0 = none, 1..8 */
	struct hn_record_number all_cost;    /* seconds */
	struct hn_record_number timestamp;   /* Unix seconds */
	const char *version;		     /* NULL = absent */
	uint8_t n_member;
	uint8_t member[3]; /* enum hn_record_member, in the line's order */
};

/* Read one line (n bytes, no newline).  HONE_E_INVALID or HONE_E_QUOTA with
 * "what:line:column: ..."; columns count bytes from 1. */
int hn_record_parse(const char *what, uint64_t line, const char *text, size_t n,
		    struct hn_arena *a, const struct hn_log_record **ret,
		    struct hn_err *err) HN_NODISCARD;

/* Append the line, without newline. */
void hn_record_write(const struct hn_log_record *r, struct hn_buf *buf);

struct hn_record_reader {
	FILE *file;	    /* borrowed */
	const char *what;   /* its name */
	uint64_t line;	    /* of the last item, from 1 */
	struct hn_buf text; /* that line */
	struct hn_arena arena;
};

enum hn_record_item { HN_RECORD_END, HN_RECORD_RECORD, HN_RECORD_COMMENT };

void hn_record_reader_init(struct hn_record_reader *r, FILE *file, const char *what);
void hn_record_reader_fini(struct hn_record_reader *r);

/* The next record or comment (a line that begins with `#` or a blank; its text is in
 * r->text); empty lines are passed over.  Returns an enum hn_record_item, or an error:
 * HONE_E_IO is the file's and final, any other is one bad line's and the next call goes
 * on behind it. *ret lives until the next call. */
int hn_record_next(struct hn_record_reader *r, const struct hn_log_record **ret,
		   struct hn_err *err) HN_NODISCARD;

#endif
