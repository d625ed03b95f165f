/* client/show.h -- a job's or a set's progress on standard error, and its table at the end. */
#ifndef HN_CLIENT_SHOW_H
#define HN_CLIENT_SHOW_H

#include "base/buf.h"
#include "client/cmd.h"

struct hn_show {
	bool tty; /* one line, rewritten; otherwise a line every few seconds */
	bool quiet;
	bool line_open; /* a rewritten line stands on the terminal */
	int64_t shown_ns;
};

void hn_show_init(struct hn_show *s, bool quiet);

/* Of the terminal at fd, or what COLUMNS says; 80 where neither does. */
int hn_show_columns(int fd);

/* The first words, before honed knows of `what`: starting it may take a while. */
void hn_show_begin(struct hn_show *s, const char *what);

/* `job` is job.get's object (progress events carry it), or set.get's. `force`: do not wait for the
 * next turn. */
void hn_show_progress(struct hn_show *s, const struct hn_json *job, bool force);

/* Any other line on standard error. */
void hn_show_note(struct hn_show *s, const char *text);

/* Finish the rewritten line. */
void hn_show_end(struct hn_show *s);

/* The final table. */
void hn_show_table(const struct hn_json *job, struct hn_buf *b);

/* show_set.c: the same of a set. */
void hn_show_set_line(const struct hn_json *set, struct hn_buf *b);
void hn_show_set_table(const struct hn_json *set, struct hn_buf *b);

/* "12/60 s  160/600 trials", of a job or a set. */
void hn_show_clock(const struct hn_json *job, struct hn_buf *b);

/* The member "probe" of a board on standard output; NULL: that it is not there. */
void hn_show_probe(const struct hn_json *probe);

#endif
