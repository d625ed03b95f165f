/* daemon/served.h -- a target that honed serves: its boards and builders, and what is known of them.
 *
 * The first one is this machine, or what --board says, and is meant where a task names none.  The
 * others are the rows of HOME/targets (target/named.h).  Each has a measurer of its own, from its
 * first job on, and a queue of its own: jobs of two targets wait for each other nowhere but for
 * the processor.
 *
 * One loop owns all of it.
 */
#ifndef HN_DAEMON_SERVED_H
#define HN_DAEMON_SERVED_H

#include "base/jw.h"
#include "measure/measure.h"
#include "target/target.h"

#define HN_SERVED_MORE 16 /* of devices, that tasks ask for and no file names */

struct hn_daemon;
struct hn_job;

enum hn_probe_state { HN_PROBE_NONE, HN_PROBE_OPEN, HN_PROBE_KNOWN, HN_PROBE_FAILED };

/* Strings are the daemon's arena's. */
struct hn_served {
	struct hn_daemon *daemon;
	const char *name; /* what people call it; of the first "native", or --board's words */
	struct hn_target target;
	const char *line;	/* its canonical line, the key in the store */
	const char *board_name; /* of the machine, for records */
	const char *board_stamp; /* board_name, and the sandbox once it is known */
	bool measured_parameters; /* not all are what the machine says (machine.c) */
	uint32_t n_boards, n_builders; /* builders: 0 = one for each core */
	struct hn_measurer *measurer;  /* NULL until the first job */
	enum hn_probe_state probe_state;
	struct hn_probe_result probe;
	struct hn_job *turn; /* whose turn to measure it was last */
};

/* Read which there are into d->served. The line of the first error names option or file. */
int hn_served_read(struct hn_daemon *d, struct hn_err *err) HN_NODISCARD;

/* The one that `text` names, by name or target line; NULL and "native" are the first.
 * HONE_E_NO_BOARD, or what is wrong with the line, with a list of those there are. */
int hn_served_find(struct hn_daemon *d, const char *text, struct hn_served **ret,
		   struct hn_err *err) HN_NODISCARD;

/* The canonical line that a text stands for, whether it is served or not, onto `line`. */
int hn_served_line(const struct hn_daemon *d, const char *text, struct hn_buf *line,
		   struct hn_err *err) HN_NODISCARD;

/* The one that is this machine; where none is, the first. */
struct hn_served *hn_served_machine(struct hn_daemon *d);

/* Start its builders and boards if there are none yet. */
int hn_served_start(struct hn_served *s, struct hn_err *err) HN_NODISCARD;

/* End them all; `closed` is called when the last is gone, at once where there are none. */
void hn_served_stop(struct hn_daemon *d, void (*closed)(struct hn_daemon *d));

/* boards.c: the members "probe" of stats' answer; "targets" and "boards", and what goes with
 * them. */
void hn_board_write_probe(const struct hn_probe_result *p, struct hn_jw *w);
void hn_board_write_all(const struct hn_daemon *d, struct hn_jw *w);

#endif
