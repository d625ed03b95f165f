/* measure_board.c -- the CPU board against kernels that misbehave in every way.
 *
 * One object holds them all, made by the compiler of this build; each is measured as a
 * candidate of the same workload, C = 2 A + 1 on 1003 floats (no multiple of a cache
 * line, prime-ish), and a good one after each must still be good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/board/child.h"
#include "measure/drv/cpu_int.h"
#include "measure/board/sandbox.h"
#include "tests/lib/cpu_board.h"
#include "tests/lib/open_fds.h"

#define N 1003

static const char prologue[] =
	"#include <stdint.h>\n"
	"#include \"" HONE_SOURCE_DIR "/include/hone/kernel.h\"\n"
	"#define N 1003\n"
	"static long sys(long n, long a, long b, long c) { long r;\n"
	" __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), "
	"\"d\"(c) : "
	"\"rcx\", \"r11\", \"memory\"); return r; }\n"
	"#define KERNEL(name) static int32_t name##_do(const float *A, volatile float "
	"*C, const "
	"struct hone_env *env); int32_t name##_packed(void *const *args, const struct "
	"hone_env "
	"*env) { return name##_do(args[0], args[1], env); } static int32_t "
	"name##_do(const float "
	"*A, volatile float *C, const struct hone_env *env)\n"
	"static int32_t good(const float *A, volatile float *C) { for (int i = 0; i < N; "
	"i++) C[i] "
	"= 2 * A[i] + 1; return 0; }\n"
	"struct both { const float *A; volatile float *C; };\n"
	"static void part(void *c, int64_t b, int64_t e, int32_t w) { struct both *x = "
	"c; for "
	"(int64_t i = b; i < e; i++) x->C[i] = 2 * x->A[i] + 1; }\n"
	"static void bad_part(void *c, int64_t b, int64_t e, int32_t w) { struct both *x "
	"= c; part(c, "
	"b, e, w); if (e == N) *(volatile int *)8 = 1; }\n"
	CC_KEPT
	"#define other (*(volatile int *)(kept() + 2))\n"
	"static void open_part(void *c, int64_t b, int64_t e, int32_t w) { part(c, b, e, "
	"w); if (w) { other = 1; sys(2, (long)\"/\", 0, 0); } while (!other) { } }\n"
	"static int deep(volatile char *p) { volatile char a[4000]; a[0] = *p; return "
	"deep(a) + a[0]; "
	"}\n"
	"static void deep_part(void *c, int64_t b, int64_t e, int32_t w) { part(c, b, e, "
	"w); char z = "
	"0; if (e == N) deep(&z); }\n"
	"static volatile int zero;\n#define runs (kept()[0])\n#define prepares (kept()[1])\n"
	"#define PREPARE(name) int32_t name##_prepare_packed(void *const *args, float "
	"*p, const struct hone_env *env)\n"
	"static int32_t twice(const float *A, float *p) { for (int i = 0; i < N; i++) "
	"p[i] = 2 * A[i]; return prepares++ >= 7; }\n" /* once for each contents of inputs */
	"static int32_t plus_one(const struct hone_env *env, volatile float *C) { const "
	"float *p = env->prepared; if (env->prepared_bytes != 4012 || ((uintptr_t)p & 63)) "
	"return 7; for (int i = 0; i < N; i++) C[i] = p[i] + 1; return 0; }\n"
	"PREPARE(k_prepared) { return twice(args[0], p); }\n"
	"PREPARE(k_prepared_write) { return twice(args[0], p); }\n"
	"PREPARE(k_prepared_past) { p[1008] = 1; return 0; }\n"
	"PREPARE(k_prepared_poor) { return -1; }\n"
	"PREPARE(k_prepared_half) { p[0] = 2 * *(float *)args[0]; return 0; }\n";

static const struct {
	const char *name, *body;
	enum hn_verdict verdict;
	const char *says; /* part of the detail; of SANDBOX: the system call */
} kernels[] = {
	{"good", "return good(A, C);", HN_VERDICT_OK, ""},
	{"null", "*(volatile float *)0 = 1; return 0;", HN_VERDICT_SEGV, "null pointer"},
	{"wild", "*(volatile float *)0x123456789000 = 1; return 0;", HN_VERDICT_SEGV,
	 "write at address 0x123456789000"},
	{"strange", "return *(volatile int *)0x8000000000000000;", HN_VERDICT_SEGV,
	 "invalid address"},
	{"past", "good(A, C); C[N] = 0; return 0;", HN_VERDICT_SEGV_GUARD,
	 "write 0 bytes past the end of C"},
	{"reads_past", "good(A, C); return (int)(0 * *(volatile float *)(A + N));",
	 HN_VERDICT_SEGV_GUARD, "read 0 bytes past the end of A"},
	{"before", "good(A, C); C[-1] = 0; return 0;", HN_VERDICT_SEGV_GUARD, "beside C"},
	{"page_before", "good(A, C); C[-1024] = 0; return 0;", HN_VERDICT_SEGV_GUARD,
	 "before the start of C"},
	/* A's and C's lines end at 1008; while timing, what is behind them may be read */
	{"reads_past_later",
	 "if (runs++ == 1) (void)*(volatile int *)(A + 1008); return good(A, C);",
	 HN_VERDICT_OK, ""},
	{"past_later", "if (runs++ == 1) C[1008] = 1; return good(A, C);",
	 HN_VERDICT_SEGV_GUARD, "beside C, within two pages of it, while timing"},
	{"page_before_later", "if (runs++ == 1) C[-1024] = 1; return good(A, C);",
	 HN_VERDICT_SEGV_GUARD, "beside C, within two pages of it, while timing"},
	{"scratch_past_later",
	 "volatile char *s = env->workspace; if (runs++ == 1) s[4032] = 1; return good(A, C);",
	 HN_VERDICT_SEGV_GUARD, "beside its own memory"},
	{"input", "good(A, C); ((volatile float *)A)[3] = 0; return 0;",
	 HN_VERDICT_SEGV_GUARD, "an input"},
	{"unprotect",
	 "sys(10, (long)A & -4096, 4096, 3); ((volatile float *)A)[3] = 0; return "
	 "good(A, C);",
	 HN_VERDICT_SEGV_GUARD, "an input"},
	{"hang", "for (;;) { __asm__ volatile(\"\"); }", HN_VERDICT_HANG,
	 "in the first run"},
	{"late_hang",
	 "if (runs++ == 3) for (;;) { __asm__ volatile(\"\"); } return good(A, C);",
	 HN_VERDICT_HANG, "while timing"},
	{"stops", "sys(234, sys(39, 0, 0, 0), sys(186, 0, 0, 0), 19); return good(A, C);",
	 HN_VERDICT_SANDBOX, "tgkill"},
	{"kills_itself", "sys(234, sys(39, 0, 0, 0), sys(186, 0, 0, 0), 9); return good(A, C);",
	 HN_VERDICT_SANDBOX, "tgkill"},
	/* asleep for ever, by its own will: it waits for what nobody does */
	{"waits_for_ever",
	 "register long r10 __asm__(\"r10\") = 0; long r; for (;;) __asm__ volatile(\"syscall\" "
	 ": \"=a\"(r) : \"a\"(202), \"D\"(&zero), \"S\"(0), \"d\"(0), \"r\"(r10) : \"rcx\", "
	 "\"r11\", \"memory\");",
	 HN_VERDICT_HANG, "s of processor time in"},
	{"divides", "C[0] = 7 / zero; return good(A, C);", HN_VERDICT_FPE, "division"},
	{"deep", "char z = 0; deep(&z); return good(A, C);", HN_VERDICT_STACK_OVERFLOW,
	 ""},
	{"exits", "good(A, C); sys(231, 0, 0, 0); return 0;", HN_VERDICT_EXIT,
	 "status 0"},
	{"exits3", "good(A, C); sys(231, 3, 0, 0); return 0;", HN_VERDICT_EXIT,
	 "status 3"},
	{"aborts", "sys(234, sys(39, 0, 0, 0), sys(186, 0, 0, 0), 6); return 0;",
	 HN_VERDICT_EXIT, "abort"},
	{"kills", "sys(234, sys(39, 0, 0, 0), sys(186, 0, 0, 0), 11); return 0;",
	 HN_VERDICT_SEGV, "sent"},
	{"illegal", "__asm__ volatile(\"ud2\"); return 0;", HN_VERDICT_ILL, ""},
	{"wrong", "good(A, C); C[500] += 0.01f; return 0;", HN_VERDICT_WRONG_RESULT,
	 "C[500]: got "},
	{"short", "for (int i = 0; i < N - 1; i++) C[i] = 2 * A[i] + 1; return 0;",
	 HN_VERDICT_WRONG_RESULT, "C[1002]: got "},
	{"lazy", "return 0;", HN_VERDICT_WRONG_RESULT, "1003 of 1003"},
	{"stale", "if (runs++ == 0) good(A, C); return 0;", HN_VERDICT_NONDETERMINISTIC,
	 "right at first"},
	{"flips", "good(A, C); if (runs++ > 2) C[7] = 9; return 0;",
	 HN_VERDICT_NONDETERMINISTIC, "C[7]: got 9"},
	/* asked of the system: a sanitizer's malloc would write a warning */
	{"poor", "return sys(12, 1L << 46, 0, 0) == 1L << 46 ? 0 : -1;", HN_VERDICT_OOM,
	 "memory"},
	{"odd", "good(A, C); return 5;", HN_VERDICT_WRONG_RESULT, "unknown code"},
	{"forks",
	 "if (runs++ == 0 && sys(57, 0, 0, 0) == 0) for (;;) sys(34, 0, 0, 0); return "
	 "good(A, C);",
	 HN_VERDICT_SANDBOX, "fork"},
	{"escapes",
	 "if (runs++ == 0 && sys(57, 0, 0, 0) == 0) { sys(112, 0, 0, 0); for (;;) "
	 "sys(34, 0, 0, "
	 "0); } return good(A, C);",
	 HN_VERDICT_SANDBOX, "fork"},
	{"flushes",
	 "unsigned m = 0x9fc0; __asm__ volatile(\"ldmxcsr %0\" : : \"m\"(m)); return "
	 "good(A, C);",
	 HN_VERDICT_OK, ""},
	{"threads",
	 "struct both x = {A, C}; env->parallel_for(env->ctx, part, &x, N); return 0;",
	 HN_VERDICT_OK, ""},
	{"thread_null",
	 "struct both x = {A, C}; env->parallel_for(env->ctx, bad_part, &x, N); "
	 "return 0;",
	 HN_VERDICT_SEGV, "null pointer"},
	{"thread_deep",
	 "struct both x = {A, C}; env->parallel_for(env->ctx, deep_part, &x, N); "
	 "return 0;",
	 HN_VERDICT_STACK_OVERFLOW, ""},
	{"scratch",
	 "float *s = env->workspace; if (env->workspace_bytes < 4012 || ((uintptr_t)s & "
	 "63)) return 7; for (int i = 0; i < N; i++) s[i] = A[i]; for (int i = 0; i < "
	 "N; i++) C[i] = 2 * s[i] + 1; return 0;",
	 HN_VERDICT_OK, ""},
	{"scratch_past",
	 "volatile char *s = env->workspace; good(A, C); s[(env->workspace_bytes + "
	 "63) / 64 * 64] = 0; return 0;",
	 HN_VERDICT_SEGV, "write at"},
	{"dirty_scratch",
	 "float *s = env->workspace; for (int i = 0; i < N; i++) C[i] = 2 * A[i] + "
	 "1 + s[i]; return 0;",
	 HN_VERDICT_WRONG_RESULT, ""},
	{"slow",
	 "long a[2], b[2]; sys(228, 1, (long)a, 0); do sys(228, 1, (long)b, 0); while ((b[0] "
	 "- a[0]) * 1000000000L + b[1] - a[1] < 1100000000); return runs++ ? 0 : good(A, C);",
	 HN_VERDICT_HANG, "in the first run"},
	/* its first call leaves no time for timed ones: no answer is no wrong answer */
	{"slow_at_first",
	 "long a[2], b[2]; sys(228, 1, (long)a, 0); if (runs++ == 0) do sys(228, 1, (long)b, 0); while "
	 "((b[0] - a[0]) * 1000000000L + b[1] - a[1] < 150000000); return good(A, C);",
	 HN_VERDICT_OK, ""},
	{"prepared", "return plus_one(env, C);", HN_VERDICT_OK, ""},
	{"prepared_write",
	 "plus_one(env, C); *(volatile float *)env->prepared = 0; return 0;",
	 HN_VERDICT_SEGV, "write at"},
	{"prepared_past", "return good(A, C);", HN_VERDICT_SEGV, "write at"},
	{"prepared_poor", "return good(A, C);", HN_VERDICT_OOM, "memory"},
	{"prepared_half", "return plus_one(env, C);", HN_VERDICT_WRONG_RESULT, "C["},
	{"prepared_missing", "return good(A, C);", HN_VERDICT_LOAD_FAIL, "not in it"},
	{"sleeps", "long t[2] = {1, 0}; sys(35, (long)t, 0, 0); return good(A, C);",
	 HN_VERDICT_SANDBOX, "nanosleep"},
	/* what a kernel has no business with */
	{"opens", "sys(2, (long)\"/etc/passwd\", 0, 0); return good(A, C);",
	 HN_VERDICT_SANDBOX, "open"},
	{"fills", "sys(257, -100, (long)\"/tmp\", 0x410002); return good(A, C);",
	 HN_VERDICT_SANDBOX, "openat"},
	{"memfd", "sys(319, (long)\"x\", 0, 0); return good(A, C);", HN_VERDICT_SANDBOX, "memfd_create"},
	{"writes", "sys(1, 2, (long)\"\", 0); return good(A, C);", HN_VERDICT_SANDBOX, "write"},
	{"connects", "sys(41, 2, 1, 0); return good(A, C);", HN_VERDICT_SANDBOX, "socket"},
	{"traces", "sys(101, 16, 1, 0); return good(A, C);", HN_VERDICT_SANDBOX, "ptrace"},
	{"execs", "sys(59, (long)\"/\", 0, 0); return good(A, C);", HN_VERDICT_SANDBOX, "execve"},
	{"signals", "sys(234, 1, 1, 0); return good(A, C);", HN_VERDICT_SANDBOX, "tgkill"},
	{"kills_all", "sys(62, -1, 0, 0); return good(A, C);", HN_VERDICT_SANDBOX, "kill"},
	{"frees_itself", "sys(157, 4, 1, 0); return good(A, C);", HN_VERDICT_SANDBOX, "prctl"},
	{"deafens", "sys(13, 31, 0, 0); return good(A, C);", HN_VERDICT_SANDBOX, "rt_sigaction"},
	{"makes_code", "sys(10, (long)&zero & -4096, 4096, 7); return good(A, C);",
	 HN_VERDICT_SANDBOX, "mprotect"},
	{"thread_opens",
	 "struct both x = {A, C}; env->parallel_for(env->ctx, open_part, &x, N); return 0;",
	 HN_VERDICT_SANDBOX, "open"},
	{"missing", NULL, HN_VERDICT_LOAD_FAIL, "not in it"},
};


static struct hn_board_kernel kernel(const char *name, int64_t limit_ms)
{
	return (struct hn_board_kernel){.object = object.s,
					.object_bytes = object.n,
					.symbol = name,
					.shared_bytes = 4012,
					.prepared_bytes =
						strncmp(name, "k_prepared", 10) ? 0 : 4012,
					.limit_ms = limit_ms};
}

static struct hn_board_answer make_workload(const char *key, const char *name)
{
	static const int64_t shape[] = {N};
	static const struct hn_tensor args[] = {
		{"A", HN_F32, 1, shape, false, N, N * 4},
		{"C", HN_F32, 1, shape, true, N, N * 4},
	};
	struct hn_board_workload w = {.key = key,
				      .n_tensor = 2,
				      .tensor = args,
				      .seed = 1,
				      .tolerance = 1e-6,
				      .naive = kernel(name, 5000)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	return a;
}

static struct hn_board_answer measure(const char *key, const char *name, double best_ns)
{
	struct hn_board_request r = {.key = key,
				     .best_ns = best_ns,
				     .n_workers = 0,
				     .kernel = kernel(name, 300)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->measure(board, &r, &a);
	return a;
}

/* Steps of a clock that follows its neighbours are ordinary, one far above them is not. */
static void the_canary_learns_how_far_it_wanders(void **state)
{
	struct cpu_canary c = {0};
	struct hn_canary first, next;
	double ns = 1000;

	(void)state;
	assert_true(hn_cpu_wander(&c) > 0);
	for (int i = 0; i < 1000; i++) {
		hn_cpu_canary_note(&c, ns);
	}
	assert_true(hn_cpu_wander(&c) < 0.01);
	for (int i = 0; i < 64; i++) {
		ns = i % 3 == 0 ? 1036 : i == 40 ? 2000 : 1000;
		hn_cpu_canary_note(&c, ns);
	}
	assert_true(hn_cpu_wander(&c) > 0.07 && hn_cpu_wander(&c) < 0.08);
	for (int i = 0; i < 65; i++) {
		hn_cpu_canary_note(&c, 1000); /* what was long ago is forgotten */
	}
	assert_true(hn_cpu_wander(&c) < 0.01);
	/* and through the driver */
	assert_int_equal(ops->canary(board, &first, NULL), 0);
	assert_int_equal(ops->canary(board, &next, NULL), 0);
	assert_true(first.ns > 100 && next.ns > 100 && next.wander > 0);
}

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	hn_buf_puts(&source, prologue);
	for (size_t i = 0; i < HN_COUNT_OF(kernels); i++) {
		if (kernels[i].body != NULL) {
			hn_buf_printf(&source, "KERNEL(k_%s) { %s }\n", kernels[i].name,
				      kernels[i].body);
		}
	}
	return open_cpu_board(&source);
}

static void every_fault_has_its_class(void **state)
{
	struct hn_board_answer a = make_workload("w", "k_good");
	bool filtered = (hn_sandbox_try() & HN_SANDBOX_SECCOMP) != 0;
	int wrong = 0;

	(void)state;
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	print_message("system calls are %sfiltered on this machine\n",
		      filtered ? "" : "not ");
	for (size_t i = 0; i < HN_COUNT_OF(kernels); i++) {
		enum hn_verdict want = kernels[i].verdict;
		bool denied = want == HN_VERDICT_SANDBOX;
		int64_t begin = hn_clock_ns();
		char name[40], says[80];

		snprintf(name, sizeof name, "k_%s", kernels[i].name);
		snprintf(says, sizeof says, denied ? "forbidden system call %s," : "%s",
			 kernels[i].says);
		a = measure("w", name, 0);
		if (denied && !filtered) {
			/* harmless by the other layers, whatever it says */
			assert_true(a.verdict == HN_VERDICT_OK || a.verdict == HN_VERDICT_HANG ||
				    !hn_verdict_blames_kernel(a.verdict));
		} else if (a.verdict == HN_VERDICT_NOISY && want == HN_VERDICT_OK) {
			assert_true(a.n_sample > 0); /* other programs run here */
		} else if (a.verdict != want || strstr(a.detail, says) == NULL) {
			print_message("%s: %s (%s), expected %s (%s)\n", name,
				      hn_verdict_name(a.verdict), a.detail,
				      hn_verdict_name(want), says);
			wrong++;
		}
		assert_true(hn_clock_ns() - begin < 10000000000);
		assert_int_equal(a.n_sample > 0, a.verdict == HN_VERDICT_OK ||
							 a.verdict == HN_VERDICT_NOISY);
		a = measure("w", "k_good", 1);
		assert_int_equal(a.verdict, HN_VERDICT_OK);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child left at all */
}

/* Somebody who sends a signal to each of our children that run kernels, as soon as he sees one,
 * until he has sent n of them.  A thread, for what is a child of ours does not outlive a run; it
 * asks nothing of malloc, whose locks a fork may catch. */
static _Atomic int n_send, to_send;

static int send_to_children(void *arg)
{
	int last = 0;

	(void)arg;
	while (n_send > 0) {
		char path[64], text[200], *at = text;
		ssize_t n;
		int fd, child;

		snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		while ((child = (int)strtol(at, &at, 10)) > 0) {
			if (child != last && kill(child, to_send) == 0) {
				last = child;
				n_send--;
				break;
			}
		}
		usleep(1000);
	}
	return 0;
}

static thrd_t begin_to_send(int signal, int n)
{
	thrd_t t;

	to_send = signal;
	n_send = n;
	assert_int_equal(thrd_create(&t, send_to_children, NULL), thrd_success);
	return t;
}

static void assert_right(const struct hn_board_answer *a)
{
	if (a->verdict != HN_VERDICT_OK && a->verdict != HN_VERDICT_NOISY) {
		fail_msg("%s: %s", hn_verdict_name(a->verdict), a->detail);
	}
}

/* It says nothing about the kernel, which runs again. */
static void who_is_killed_from_outside_runs_again(void **state)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGUSR1};

	(void)state;
	signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on in the child */
	for (size_t i = 0; i < HN_COUNT_OF(signals); i++) {
		thrd_t t = begin_to_send(signals[i], 3);
		struct hn_board_answer a = make_workload("w", "k_good");

		assert_right(&a);
		do {
			a = measure("w", "k_good", 0);
			assert_right(&a);
		} while (n_send > 0);
		thrd_join(t, NULL);
	}
}

/* ... or, where that goes on and on, or it was stopped for all of its time, it is lost. */
static void who_is_stopped_from_outside_does_not_hang(void **state)
{
	thrd_t t = begin_to_send(SIGSTOP, 1);
	struct hn_board_answer a = measure("w", "k_hang", 0);

	(void)state;
	assert_int_equal(a.verdict, HN_VERDICT_RUN_LOST);
	assert_non_null(strstr(a.detail, "stopped from outside"));
	thrd_join(t, NULL);
	t = begin_to_send(SIGKILL, INT_MAX);
	a = measure("w", "k_hang", 0);
	n_send = 0;
	thrd_join(t, NULL);
	assert_int_equal(a.verdict, HN_VERDICT_RUN_LOST);
	assert_non_null(strstr(a.detail, "from outside"));
	assert_false(hn_verdict_blames_kernel(a.verdict));
	a = measure("w", "k_good", 0);
	assert_right(&a);
}

static struct hn_board_answer duel(const char *name, const char *rival)
{
	struct hn_board_request r = {
		.key = "w", .kernel = kernel(name, 300), .rival = kernel(rival, 0)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->measure(board, &r, &a);
	return a;
}

/* The faulty one of two is named, whichever it is and whenever it fails. */
static void a_duel_has_two_sides(void **state)
{
	static const struct {
		const char *name;
		enum hn_verdict verdict;
	} bad[] = {{"k_null", HN_VERDICT_SEGV},
		   {"k_late_hang", HN_VERDICT_HANG},
		   {"k_short", HN_VERDICT_WRONG_RESULT},
		   {"k_prepared_half", HN_VERDICT_WRONG_RESULT},
		   {"k_missing", HN_VERDICT_LOAD_FAIL}};
	struct hn_board_answer a = duel("k_scratch", "k_prepared");

	(void)state;
	assert_true(a.verdict == HN_VERDICT_OK || a.verdict == HN_VERDICT_NOISY);
	assert_in_range(a.n_sample, 1, HN_PAIRS);
	for (uint32_t i = 0; i < a.n_sample; i++) {
		assert_true(a.sample_ns[i] > 0 && a.rival_ns[i] > 0);
	}
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		a = duel("k_good", bad[i].name);
		assert_int_equal(a.verdict, bad[i].verdict);
		assert_true(a.rivals && a.n_sample == 0);
		a = duel(bad[i].name, "k_good");
		assert_int_equal(a.verdict, bad[i].verdict);
		assert_false(a.rivals);
	}
	/* right at first, wrong at last */
	assert_true(duel("k_good", "k_stale").verdict != HN_VERDICT_OK);
	assert_true(duel("k_stale", "k_good").verdict != HN_VERDICT_OK);
}

static void objects_that_do_not_load(void **state)
{
	struct hn_board_request r = {.key = "w", .kernel = {"junk", 4, "k", 0, 0, 0, 300}};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	(void)state;
	ops->measure(board, &r, &a);
	assert_int_equal(a.verdict, HN_VERDICT_LOAD_FAIL);
	a = measure("nobody", "k_good", 0);
	assert_int_equal(a.verdict, HN_VERDICT_NONE);
}

static void references_of_the_latest(void **state)
{
	const int n = HN_BOARD_WORKLOADS + 12;
	int fds = count_fds();
	char key[8];

	(void)state;
	for (int i = 0; i < n; i++) {
		snprintf(key, sizeof key, "k%d", i);
		assert_int_equal(make_workload(key, "k_good").verdict, HN_VERDICT_OK);
	}
	for (int i = 0; i < n; i++) {
		snprintf(key, sizeof key, "k%d", i);
		assert_int_equal(measure(key, "k_good", 1).verdict,
				 i < n - HN_BOARD_WORKLOADS ? HN_VERDICT_NONE : HN_VERDICT_OK);
	}
	assert_int_equal(make_workload("bad", "k_hang").verdict, HN_VERDICT_HANG);
	assert_int_equal(measure("bad", "k_good", 0).verdict, HN_VERDICT_NONE);
	assert_true(count_fds() <= fds);
}

/* A second run of k_slow would spoil the reference. */
static void a_slow_naive_program_runs_once(void **state)
{
	struct hn_board_answer a = make_workload("slow", "k_slow");

	(void)state;
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_int_equal(a.n_sample, 1);
	assert_true(a.sample_ns[0] > 1e9);
	assert_int_equal(measure("slow", "k_good", 1).verdict, HN_VERDICT_OK);
	assert_int_equal(measure("slow", "k_wrong", 0).verdict, HN_VERDICT_WRONG_RESULT);
}

static void hopeless_ones_are_left_early(void **state)
{
	struct hn_board_answer a;

	(void)state;
	assert_int_equal(make_workload("w", "k_good").verdict, HN_VERDICT_OK);
	a = measure("w", "k_good", 1);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	assert_int_equal(a.n_sample, 1);
	assert_true(measure("w", "k_good", 1e6).n_sample >= 3);
}

static void two_hundred_leave_nothing_behind(void **state)
{
	int fds = count_fds();
	int64_t begin = hn_clock_ns(), spent = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct hn_board_answer a =
			measure("w", i % 4 == 3 ? "k_null" : "k_good", 1);

		assert_int_equal(a.verdict, i % 4 == 3 ? HN_VERDICT_SEGV : HN_VERDICT_OK);
		spent += a.run_ns;
	}
	print_message("a short measurement takes %.2f ms, timing included\n",
		      (double)(hn_clock_ns() - begin) / 200e6);
	begin = hn_clock_ns();
	for (int i = 0; i < 50; i++) {
		assert_int_equal(measure("w", "k_wrong", 1).verdict,
				 HN_VERDICT_WRONG_RESULT);
	}
	print_message("fork, load, run once, compare, reap: %.2f ms\n",
		      (double)(hn_clock_ns() - begin) / 50e6);
	assert_true(spent > 0);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_canary_learns_how_far_it_wanders),
		cmocka_unit_test(every_fault_has_its_class),
		cmocka_unit_test(who_is_killed_from_outside_runs_again),
		cmocka_unit_test(who_is_stopped_from_outside_does_not_hang),
		cmocka_unit_test(a_duel_has_two_sides),
		cmocka_unit_test(objects_that_do_not_load),
		cmocka_unit_test(references_of_the_latest),
		cmocka_unit_test(a_slow_naive_program_runs_once),
		cmocka_unit_test(hopeless_ones_are_left_early),
		cmocka_unit_test(two_hundred_leave_nothing_behind),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
