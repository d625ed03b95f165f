/* gpu_child.c -- the process that has the device: one, from candidate to candidate.
 *
 * It is a fork of the board, which itself never touches the driver: no driver survives a fork.  So
 * it has the workloads of that moment at the same addresses; for a later one the board starts
 * another (gpu_board.c).  Requests come through a socket, answers through shared memory with a seal
 * and one byte through the socket.  Who does not answer in time is killed.
 */
#include "measure/drv/gpu_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "measure/process.h"
#include "proto/slot.h"

#define OPEN_NS INT64_C(60000000000)
#define OVERTIME_NS INT64_C(8000000000) /* for one that others keep from running */
#define LOOK_NS 10000000
#define DYING_NS INT64_C(2000000000) /* from closing its socket to its end */

static uint64_t seal_of(const struct gpu_report *r, uint64_t token)
{
	return hn_hash64(&r->body, sizeof r->body, token);
}

/* -- in the child ------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t n)
{
	uint8_t *at = to;

	while (n > 0) {
		ssize_t got = read(fd, at, n);

		if (got <= 0 && !(got < 0 && errno == EINTR)) {
			return false;
		}
		at += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
	return true;
}

static void answer(struct gpu_report *r, uint64_t token, int fd)
{
	r->seal = seal_of(r, token);
	if (write(fd, "", 1) != 1 || r->body.ends) {
		_exit(0);
	}
}

static void restrain(pid_t parent, int fd)
{
	const struct rlimit no_core = {0, 0};

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		_exit(127);
	}
	setrlimit(RLIMIT_CORE, &no_core);
	/* the frames' descriptors, and the depot's, are no driver's; what it prints is nobody's, its
	 * compiler's log is read by its functions */
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(fd, STDIN_FILENO);
	dup2(nowhere >= 0 ? nowhere : STDERR_FILENO, STDOUT_FILENO);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	if (close_range(STDERR_FILENO + 1, ~0u, 0) != 0) {
		close(HN_SLOT_FD);
	}
}

static void measure(struct gpu_run *run, const struct gpu_ask *ask, int fd)
{
	void *module[2] = {NULL, NULL};
	bool there = true;

	for (int i = 0; i < 2 && there; i++) {
		if (ask->bytes[i] > 0) {
			module[i] = malloc(ask->bytes[i]);
			there = module[i] != NULL && read_all(fd, module[i], ask->bytes[i]);
		}
	}
	if (!there) {
		_exit(0);
	}
	run->w = ask->w;
	run->best_ns = ask->best_ns;
	run->limit_ns = ask->limit_ns;
	gpu_run_all(run, (const void *const *)module, ask->bytes);
	free(module[0]);
	free(module[1]);
}

static _Noreturn void serve(const struct gpu_ops *ops, const struct hn_board_place *at,
			    struct gpu_report *r, uint64_t token)
{
	static struct gpu_facts facts;
	struct gpu_run run = {.ops = ops, .facts = &facts, .report = r};
	struct hn_err err = {0};
	struct gpu_ask ask;
	int fd = STDIN_FILENO;

	memset(&r->body, 0, sizeof r->body);
	r->body.verdict = HN_VERDICT_OK;
	if (ops->open(at->index, &run.dev, &facts, &err) != 0 ||
	    gpu_check_target(at->target, &facts, &err) != 0) {
		r->body.verdict = HN_VERDICT_BOARD_LOST;
		r->body.ends = true;
		snprintf(r->body.detail, sizeof r->body.detail, "%.390s", err.msg);
	}
	r->body.facts = facts;
	run.held = gpu_held_new(ops, run.dev);
	answer(r, token, fd);
	for (;;) {
		r->phase = GPU_PHASE_IDLE;
		if (!read_all(fd, &ask, sizeof ask)) {
			_exit(0);
		}
		memset(&r->body, 0, sizeof r->body);
		if (ask.what == GPU_WHAT_CANARY) {
			r->phase = GPU_PHASE_CANARY;
			r->body.verdict = ops->canary(run.dev, &r->body.canary_ns, &err);
			r->body.ends = r->body.verdict != HN_VERDICT_OK;
			snprintf(r->body.detail, sizeof r->body.detail, "%.390s",
				 r->body.ends ? err.msg : "");
		} else {
			measure(&run, &ask, fd);
		}
		answer(r, ask.token, fd);
	}
}

/* -- in the board ------------------------------------------------------------------------- */

static void reap(struct gpu_child *c, int *status)
{
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, status, 0) < 0 && errno == EINTR) {
	}
	if (c->pidfd >= 0) {
		close(c->pidfd);
	}
	close(c->fd);
	c->pid = 0;
}

void gpu_child_stop(struct gpu_child *c)
{
	int status;

	if (c->pid > 0) {
		reap(c, &status);
	}
}

/* What has a time of its own: compiling; the first run, where compiling may go on; the rest. */
static int stage_of(uint32_t phase)
{
	return phase <= GPU_PHASE_LOAD ? 0 : phase == GPU_PHASE_FIRST ? 1 : 2;
}

static int64_t limit_of(const struct gpu_child *c, int stage, int64_t limit_ns)
{
	bool compiles = stage == 0 || (stage == 1 && c->lazy);

	return compiles && c->report->phase >= GPU_PHASE_LOAD ? HN_GPU_COMPILE_TIMES * limit_ns
							      : limit_ns;
}

/* Processor time of all its threads: the driver's compile, and on this machine's cores kernels run. */
static int64_t busy_ns(const struct gpu_child *c)
{
	struct timespec t;
	clockid_t clock;

	return clock_getcpuclockid(c->pid, &clock) == 0 && clock_gettime(clock, &t) == 0
		       ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec
		       : 0;
}

/* It computes, but has had less than half of a processor: others have them. */
static bool is_crowded(const struct gpu_child *c, int64_t since_ns, int64_t wall_ns)
{
	int64_t before = busy_ns(c);

	nanosleep(&(struct timespec){.tv_nsec = 10 * LOOK_NS}, NULL);
	return c->lazy && busy_ns(c) > before && before - since_ns < wall_ns / 2;
}

/* Until it answers; false when the time is over, and *end says how it was spent. */
static bool wait_for(const struct gpu_child *c, int64_t limit_ns, struct hn_fault_end *end)
{
	int64_t begin = hn_clock_ns(), cpu_ns = hn_process_cpu_ns(c->pid), busy = busy_ns(c);
	int64_t over_ns = 0;
	int stage = 0;

	while (!hn_process_wait(c->fd, hn_clock_ns() + LOOK_NS)) {
		int64_t now = hn_clock_ns(), limit = limit_of(c, stage, limit_ns);

		if (stage_of(c->report->phase) != stage) {
			stage = stage_of(c->report->phase);
			begin = now;
			cpu_ns = hn_process_cpu_ns(c->pid);
			busy = busy_ns(c);
			over_ns = 0;
			continue;
		}
		if (now - begin < limit + over_ns ||
		    (now - begin < HN_GPU_CROWDED_TIMES * limit &&
		     is_crowded(c, busy, now - begin))) {
			continue;
		}
		end->wall_ns = now - begin;
		end->cpu_ns = hn_process_cpu_ns(c->pid) - cpu_ns;
		end->overrun = hn_process_overrun(c->pid, end->cpu_ns, limit);
		over_ns = now - begin - limit + LOOK_NS;
		if (end->overrun != HN_OVERRUN_STARVED || over_ns >= OVERTIME_NS) {
			end->timed_out = true;
			return false;
		}
	}
	return true;
}

static const struct {
	const char *when;
	bool kernel; /* the kernel runs, or may */
} phases[] = {
	[GPU_PHASE_OPEN] = {"while the device was opened", false},
	[GPU_PHASE_IDLE] = {"while nothing was asked of it", false},
	[GPU_PHASE_CANARY] = {"in the canary", false},
	[GPU_PHASE_LOAD] = {"while the driver compiled it", true},
	[GPU_PHASE_FIRST] = {"in the first run", true},
	[GPU_PHASE_TIMING] = {"while timing", true},
	[GPU_PHASE_SETS] = {"on further inputs", true},
	[GPU_PHASE_AGAIN] = {"when run again and again", true},
	[GPU_PHASE_LAST] = {"in the last run", true},
};

/* Whose fault it is that there is no answer. */
static void judge(const struct gpu_report *r, const struct hn_fault_end *end,
		  struct hn_board_answer *ret)
{
	uint32_t phase = r->phase < HN_COUNT_OF(phases) ? r->phase : GPU_PHASE_IDLE;
	char text[300];

	ret->verdict = hn_fault_classify(end, &r->note, 0, NULL, text, sizeof text);
	if (!phases[phase].kernel) {
		ret->verdict = HN_VERDICT_RUN_LOST;
	} else if (phase == GPU_PHASE_LOAD && ret->verdict != HN_VERDICT_RUN_LOST) {
		ret->verdict = HN_VERDICT_LOAD_FAIL;
	}
	ret->rivals = r->side == 1;
	snprintf(ret->detail, sizeof ret->detail, "%s, %s", text, phases[phase].when);
}

/* Wait for what answers the token; false: it is gone, or killed, and ret says why. */
static bool take_answer(struct gpu_child *c, uint64_t token, int64_t limit_ns,
			struct hn_board_answer *ret)
{
	struct hn_fault_end end = {0};
	bool answered = false;
	char byte;

	if (wait_for(c, limit_ns, &end)) {
		answered = read_all(c->fd, &byte, 1);
		if (!answered) {
			hn_process_wait(c->pidfd, hn_clock_ns() + DYING_NS); /* or its end is ours */
		}
	}
	if (answered && c->report->seal == seal_of(c->report, token) &&
	    c->report->body.verdict < HN_N_VERDICT) {
		return true;
	}
	reap(c, &end.status);
	judge(c->report, &end, ret);
	if (answered) {
		ret->verdict = HN_VERDICT_SEGV;
		snprintf(ret->detail, sizeof ret->detail,
			 "wrote to memory of the process that has the device");
	}
	return false;
}

enum hn_verdict gpu_child_start(struct gpu_child *c, const struct gpu_ops *ops,
				const struct hn_board_place *at, uint64_t since,
				struct gpu_facts *facts, char *text, size_t n)
{
	struct hn_board_answer lost = {.verdict = HN_VERDICT_NONE};
	uint64_t token = (uint64_t)hn_clock_ns();
	struct gpu_report *r = c->report;
	pid_t parent = getpid();
	int fd[2];

	memset(r, 0, sizeof *r);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0) {
		snprintf(text, n, "socketpair: %s", strerror(errno));
		return HN_VERDICT_RUN_LOST;
	}
	c->pid = fork();
	if (c->pid == 0) {
		restrain(parent, fd[1]);
		hn_fault_arm(&r->note);
		serve(ops, at, r, token);
	}
	close(fd[1]);
	c->fd = fd[0];
	if (c->pid < 0) {
		close(fd[0]);
		c->pid = 0;
		snprintf(text, n, "fork: %s", strerror(errno));
		return HN_VERDICT_RUN_LOST;
	}
	setpgid(c->pid, c->pid);
	c->pidfd = pidfd_open(c->pid, 0);
	c->lazy = ops->lazy;
	c->since = since;
	if (!take_answer(c, token, OPEN_NS, &lost)) {
		snprintf(text, n, "%s", lost.detail);
		return HN_VERDICT_RUN_LOST;
	}
	snprintf(text, n, "%.*s", (int)sizeof r->body.detail - 1, r->body.detail);
	*facts = r->body.facts;
	facts->name[sizeof facts->name - 1] = facts->driver[sizeof facts->driver - 1] = '\0';
	facts->isa[sizeof facts->isa - 1] = '\0';
	if (r->body.ends) {
		gpu_child_stop(c);
	}
	return r->body.verdict;
}

static bool send_all(int fd, const void *from, size_t n)
{
	const uint8_t *at = from;

	while (n > 0) {
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR) {
			return false;
		}
		at += sent > 0 ? sent : 0;
		n -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

bool gpu_child_ask(struct gpu_child *c, const struct gpu_ask *ask, const void *const module[2],
		   struct hn_board_answer *ret)
{
	struct gpu_report *r = c->report;
	bool good;

	/* who is gone already is found by the wait */
	(void)(send_all(c->fd, ask, sizeof *ask) &&
	       (ask->bytes[0] == 0 || send_all(c->fd, module[0], ask->bytes[0])) &&
	       (ask->bytes[1] == 0 || send_all(c->fd, module[1], ask->bytes[1])));
	good = take_answer(c, ask->token, ask->limit_ns, ret);
	if (good) {
		r->body.detail[sizeof r->body.detail - 1] = '\0';
		r->body.state[sizeof r->body.state - 1] = '\0';
	}
	if (good && r->body.ends) {
		gpu_child_stop(c);
	}
	return good;
}
