/* measure/board/fault.h -- how a kernel's process ended, in one word and one line.
 *
 * The child arms a handler on an alternate stack, which writes what the kernel of the
 * machine knows of a signal (number, code, address, stack pointer) into shared memory and
 * lets the signal kill the process.  The parent reads the note and the wait status.
 */
#ifndef HN_MEASURE_BOARD_FAULT_H
#define HN_MEASURE_BOARD_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cdefs.h"
#include "base/verdict.h"
#include "measure/process.h"

/* In memory shared by parent and child; zero before the fork. */
struct hn_fault_note {
	int32_t signal; /* 0 = no fault seen */
	int32_t code;	/* si_code */
	uint64_t address;
	uint64_t stack; /* stack pointer of the thread at fault */
	uint8_t write;	/* 1 = write, 0 = read or unknown */
	uint8_t foreign; /* 1 = another process sent it */
	uint8_t armed;	 /* 1 = faults are noted from here on; no kernel has run before */
	int32_t call;	/* of SIGSYS: the system call's number ... */
	uint32_t arch;	/* ... by which interface: an audit architecture */
};

/* Address ranges with a meaning: a buffer and the redzones around it. */
struct hn_fault_range {
	uint64_t begin, end;	       /* redzones included */
	uint64_t data_begin, data_end; /* the buffer's own bytes */
	const char *name;
	bool read_only;
	bool storage; /* not a buffer but static storage of the kernel's */
};

struct hn_fault_end {
	bool timed_out; /* killed by us at its deadline: */
	enum hn_overrun overrun;
	int64_t cpu_ns, wall_ns; /* until then */
	int status;	/* of waitpid */
	bool no_memory; /* meanwhile the system killed for want of memory */
};

/* In the child: handle fatal signals on a stack of their own; for the first thread. */
void hn_fault_arm(struct hn_fault_note *note);

/* In every further thread of the child. */
void hn_fault_arm_thread(void);

/* The verdict, and a line for people into text. Never OK: a child that ended well is
 * judged by what it reported.  RUN_LOST where the end shows somebody else's doing: what a
 * kernel cannot send to itself (sandbox.h), or a time limit that passed while it was stopped. */
enum hn_verdict hn_fault_classify(const struct hn_fault_end *end,
				  const struct hn_fault_note *note, uint32_t n_range,
				  const struct hn_fault_range *range, char *text,
				  size_t text_bytes);

#endif
