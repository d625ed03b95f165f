/* fault.c -- signals noted and classified.
 *
 * The one global, `the_note`, is the handler's only way to reach its note; it is written
 * once per child, before any kernel runs.
 */
#include "measure/board/fault.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "measure/board/sandbox.h"
#include "measure/board/tiles.h"

#define ALT_STACK_BYTES ((size_t)65536)
#define NEAR_STACK 131072u /* below the stack pointer */

static struct hn_fault_note *the_note;

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

static void machine_state(const ucontext_t *u, struct hn_fault_note *n)
{
#if defined(__x86_64__)
	n->stack = (uint64_t)u->uc_mcontext.gregs[REG_RSP];
	n->write = (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
	n->stack = u->uc_mcontext.sp;
#else
	(void)u;
	(void)n;
#endif
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct hn_fault_note *n = the_note;

	if (n != NULL && n->signal == 0) {
		n->code = info->si_code;
		n->address = (uint64_t)(uintptr_t)info->si_addr;
		n->foreign = info->si_code <= 0 && info->si_pid != getpid();
		machine_state(context, n);
		n->call = signal == SIGSYS ? info->si_syscall : 0;
		n->arch = signal == SIGSYS ? info->si_arch : 0;
		n->signal = signal;
	}
	/* SA_RESETHAND: a fault repeats and kills; one sent by somebody, or instead of a
	 * system call, is sent again */
	if (info->si_code <= 0 || signal == SIGSYS) {
		raise(signal);
	}
}

void hn_fault_arm_thread(void)
{
	stack_t s = {.ss_size = ALT_STACK_BYTES};

	s.ss_sp = mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s.ss_sp != MAP_FAILED) {
		sigaltstack(&s, NULL);
	}
}

void hn_fault_arm(struct hn_fault_note *note)
{
	struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND |
					    SA_NODEFER};
	sigset_t none;

	the_note = note;
	hn_fault_arm_thread();
	act.sa_sigaction = on_signal;
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < HN_COUNT_OF(caught); i++) {
		sigaction(caught[i], &act, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	note->armed = 1;
}

static const struct hn_fault_range *range_of(uint64_t address, uint32_t n,
					     const struct hn_fault_range *range)
{
	for (uint32_t i = 0; i < n; i++) {
		if (address >= range[i].begin && address < range[i].end) {
			return &range[i];
		}
	}
	return NULL;
}

static enum hn_verdict at_redzone(const struct hn_fault_note *note,
				const struct hn_fault_range *r, char *text, size_t n)
{
	const char *how = note->write ? "write" : "read";

	if (note->address >= r->data_end) {
		snprintf(text, n, "%s %" PRIu64 " bytes past the end of %.60s", how,
			 note->address - r->data_end, r->name);
	} else if (note->address < r->data_begin) {
		snprintf(text, n, "%s %" PRIu64 " bytes before the start of %.60s", how,
			 r->data_begin - note->address, r->name);
	} else {
		snprintf(text, n, "%s to %.60s, %s, at byte %" PRIu64, how, r->name,
			 r->read_only ? "an input" : "not mapped",
			 note->address - r->data_begin);
	}
	return HN_VERDICT_SEGV_GUARD;
}

static enum hn_verdict at_segv(const struct hn_fault_note *note, uint32_t n_range,
			       const struct hn_fault_range *range, char *text, size_t n)
{
	const struct hn_fault_range *r = range_of(note->address, n_range, range);

	if (note->code == SI_KERNEL) {
		snprintf(text, n,
			 "invalid address, or a vector access at an unaligned one");
		return HN_VERDICT_SEGV;
	}
	if (note->code <= 0) {
		snprintf(text, n, "a SIGSEGV was sent to the kernel's process");
		return HN_VERDICT_SEGV;
	}
	if (r != NULL && r->storage) {
		snprintf(text, n, "write to static storage, at byte %" PRIu64
			 ": a kernel keeps nothing between calls",
			 note->address - r->data_begin);
		return HN_VERDICT_SEGV;
	}
	if (r != NULL) {
		return at_redzone(note, r, text, n);
	}
	/* a mapped stack does not fault: an address this near to it is past its limit */
	if (note->address + NEAR_STACK >= note->stack &&
	    note->address < note->stack + 4096) {
		snprintf(text, n, "stack overflow at address 0x%" PRIx64, note->address);
		return HN_VERDICT_STACK_OVERFLOW;
	}
	snprintf(text, n, "%s at address 0x%" PRIx64 "%s", note->write ? "write" : "read",
		 note->address, note->address < 65536 ? " (null pointer)" : "");
	return HN_VERDICT_SEGV;
}

static const struct {
	int signal;
	enum hn_verdict verdict;
	const char *text;
} rows[] = {
	{SIGFPE, HN_VERDICT_FPE, "integer division by zero or overflow"},
	{SIGILL, HN_VERDICT_ILL, "illegal instruction"},
	{SIGTRAP, HN_VERDICT_ILL, "trap instruction"},
	{SIGBUS, HN_VERDICT_BUS, "bus error"},
	{SIGSYS, HN_VERDICT_SANDBOX, "forbidden system call"},
	{SIGXFSZ, HN_VERDICT_SANDBOX, "wrote a file beyond the size limit"},
	{SIGXCPU, HN_VERDICT_HANG, "processor time limit"},
	{SIGABRT, HN_VERDICT_EXIT, "the kernel called abort()"},
};

static enum hn_verdict at_deadline(const struct hn_fault_end *end, char *text, size_t n)
{
	static const char *const why[] = {
		[HN_OVERRUN_OWN] = "did not end within its time limit",
		[HN_OVERRUN_STOPPED] = "was stopped from outside until its time was over",
		[HN_OVERRUN_STARVED] = "was kept from running until its time was over",
	};

	snprintf(text, n, "%s: %.2f s of processor time in %.2f s", why[end->overrun],
		 (double)end->cpu_ns * 1e-9, (double)end->wall_ns * 1e-9);
	return end->overrun == HN_OVERRUN_OWN ? HN_VERDICT_HANG : HN_VERDICT_RUN_LOST;
}

enum hn_verdict hn_fault_classify(const struct hn_fault_end *end,
				  const struct hn_fault_note *note, uint32_t n_range,
				  const struct hn_fault_range *range, char *text,
				  size_t text_bytes)
{
	int signal;

	if (end->timed_out) {
		return at_deadline(end, text, text_bytes);
	}
	if (!WIFSIGNALED(end->status)) {
		snprintf(text, text_bytes, "the kernel ended its process with status %d",
			 WEXITSTATUS(end->status));
		return HN_VERDICT_EXIT;
	}
	signal = WTERMSIG(end->status);
	if (!note->armed || (note->signal == signal && note->foreign)) {
		snprintf(text, text_bytes, "signal %d was sent to its process from outside",
			 signal);
		return HN_VERDICT_RUN_LOST;
	}
	if (signal == SIGSEGV) {
		if (note->signal == SIGSEGV) {
			return at_segv(note, n_range, range, text, text_bytes);
		}
		snprintf(text, text_bytes, "segmentation fault, place unknown");
		return HN_VERDICT_SEGV;
	}
	if (signal == SIGSYS && note->signal == SIGSYS) {
		char call[64];

		snprintf(text, text_bytes, "forbidden system call %s",
			 hn_sandbox_call_name(note->arch, note->call, call, sizeof call));
		return HN_VERDICT_SANDBOX;
	}
	int error;

	if (signal == SIGILL && hn_tiles_answer(&error) == HN_TILES_REFUSED) {
		snprintf(text, text_bytes,
			 "illegal instruction: the system refuses tile registers (AMX): %s",
			 strerror(error));
		return HN_VERDICT_NO_PERMISSION;
	}
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (rows[i].signal == signal) {
			snprintf(text, text_bytes, "%s", rows[i].text);
			return rows[i].verdict;
		}
	}
	snprintf(text, text_bytes, "its process was killed from outside by signal %d%s", signal,
		 end->no_memory ? ": the system ran out of memory" : "");
	return HN_VERDICT_RUN_LOST;
}
