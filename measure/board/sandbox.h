/* measure/board/sandbox.h -- what a kernel may ask of the machine: memory and time, nothing else.
 *
 * Four layers, each used where the machine has it; the set in force is reported with the
 * probe and stored with every record, because nothing here is assumed of a machine:
 *
 *   rlimits     no core, files of 1 MiB, 64 descriptors, an 8 MiB stack (child.c)
 *   namespaces  users, network, IPC of its own and no capability: nothing to connect to
 *   landlock    no path can be opened, no process outside can be signalled (Linux 5.13,
 *               6.12 for signals)
 *   seccomp     only system calls that compute; any other, and any by another interface
 *               of the machine (i386's, x32's), ends the process with SIGSYS, which is the
 *               verdict SANDBOX with the call's name
 *
 * Relies on libseccomp for the filter and on the kernel's own interface for the rest.
 */
#ifndef HN_MEASURE_BOARD_SANDBOX_H
#define HN_MEASURE_BOARD_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

enum {
	HN_SANDBOX_RLIMITS = 1,
	HN_SANDBOX_NAMESPACES = 2,
	HN_SANDBOX_LANDLOCK = 4,
	HN_SANDBOX_SECCOMP = 8,
	HN_SANDBOX_ALL = 15,
};

/* For a process without threads that will fork all those who run kernels.  Returns the
 * layers among `want` now in force (NAMESPACES or nothing). */
unsigned hn_sandbox_enter_process(unsigned want);

/* In a child, after everything that opens, maps code or starts threads: for all of its
 * threads and for good.  Returns the layers among `want` now in force (LANDLOCK,
 * SECCOMP). */
unsigned hn_sandbox_enter_kernel(unsigned want);

/* The layers hn_sandbox_enter_kernel would bring, found out in a child. */
unsigned hn_sandbox_try(void);

/* "rlimits landlock seccomp", or "none", into text; returns text. */
const char *hn_sandbox_print(unsigned layers, char *text, size_t text_bytes);

/* Name of system call `number` of an audit architecture (siginfo's si_arch) into text: "openat",
 * or its number; "getpid by i386's interface" where that is not this machine's own. Returns
 * text. */
const char *hn_sandbox_call_name(uint32_t arch, int number, char *text, size_t text_bytes);

#endif
