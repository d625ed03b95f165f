/* lower/llvm_start.c -- see llvm_start.h.  Errors that LLVM calls fatal end the process with one line
 * (the builder is expendable). */
#include "lower/llvm_start.h"

#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cdefs.h"

static void on_fatal(const char *reason)
{
	char line[300];
	int n = snprintf(line, sizeof(line), "hone: LLVM gave up: %.200s\n", reason);

	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) {
		_exit(71);
	}
	_exit(70);
}

/* LLVM's own options are process-wide, and may be set once only.  Loop strength reduction
 * finds nothing to do on addresses that are a pointer and a constant, and takes half the
 * compile time (measured: 512-matmul 41 ms with it, 20 ms without, same speed).  Long
 * blocks of loads and shuffles cost the square of their length where the combiner puts
 * their chains of memory operations into one, and where it looks for neighbouring stores
 * to merge: ours are vectors already (a softmax of 64 unrolled steps 130 ms, 52 without;
 * a pooling 72 and 57; the same code). */
static void start(void)
{
	static const char *const option[] = { "hone", "-disable-lsr",
					      "-combiner-tokenfactor-inline-limit=64",
					      "-combiner-store-merging=0" };

	LLVMParseCommandLineOptions(HN_COUNT_OF(option), option, NULL);
	LLVMResetFatalErrorHandler();
	LLVMInstallFatalErrorHandler(on_fatal);
}

static pthread_once_t started = PTHREAD_ONCE_INIT;

void hn_llvm_start(void)
{
	pthread_once(&started, start);
}
