/* measure/process.h -- what a process that does not answer is doing. This is the evidence when a
 * time limit is over: is the program to blame, or whoever kept it from running?
 *
 * A program that hangs computes, or sleeps by its own will. A process that was stopped, frozen
 * or starved by others has hardly used the processor, and says nothing about the program. A
 * process that waits for the end of its child is judged by the child.
 */
#ifndef HN_MEASURE_PROCESS_H
#define HN_MEASURE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hn_overrun {
	HN_OVERRUN_OWN,	    /* it used half of its time on a processor, or sleeps */
	HN_OVERRUN_STOPPED, /* by a signal or a debugger */
	HN_OVERRUN_STARVED, /* it would run, if it were let */
};

/* Time that the process's first thread has spent on a processor, nanoseconds; of all threads
 * where the system does not tell them apart.  0: there is no such process. */
int64_t hn_process_cpu_ns(int pid);

/* Why it has not ended or answered by now, limit_ns after it was asked; cpu_ns: of that time on
 * a processor.  May take 20 ms. */
enum hn_overrun hn_process_overrun(int pid, int64_t cpu_ns, int64_t limit_ns);

/* Until there is something to read in fd, or, of a pidfd, the process has ended: true.  False: the
 * deadline (hn_clock_ns) came first. */
bool hn_process_wait(int fd, int64_t deadline_ns);

/* Have it killed before others where memory ends: what it holds is had again by doing its work
 * once more.  Nothing where the system does not let us. */
void hn_process_expendable(int pid);

#endif
