/* measure/process.c -- /proc/PID, read. */
#include "measure/process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "base/clock.h"

#define LOOK_AGAIN_NS 20000000
#define GENERATIONS 4 /* of children: more than hone has */

static FILE *open_of(int pid, const char *name, const char *mode)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	return fopen(path, mode);
}

int64_t hn_process_cpu_ns(int pid)
{
	FILE *f = open_of(pid, "schedstat", "re");
	struct timespec t;
	clockid_t clock;
	int64_t ns = 0;
	int n = 0;

	if (f != NULL) {
		n = fscanf(f, "%" SCNd64, &ns);
		fclose(f);
	}
	if (n == 1 && ns > 0) {
		return ns;
	}
	return clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0
		       ? t.tv_sec * INT64_C(1000000000) + t.tv_nsec
		       : 0;
}

/* The letter of proc(5): R runs, S sleeps, T and t are stopped; 0 = not known. */
static int state_of(int pid)
{
	FILE *f = open_of(pid, "stat", "re");
	char line[512], *end;
	size_t n;

	if (f == NULL) {
		return 0;
	}
	n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = '\0';
	end = strrchr(line, ')'); /* of its name, which may hold anything */
	return end != NULL && end[1] == ' ' ? end[2] : 0;
}

/* The child that its first thread started last; 0 = none. */
static int child_of(int pid)
{
	char name[32];
	int child = 0, next;
	FILE *f;

	snprintf(name, sizeof name, "task/%d/children", pid);
	f = open_of(pid, name, "re");
	while (f != NULL && fscanf(f, "%d", &next) == 1) {
		child = next;
	}
	if (f != NULL) {
		fclose(f);
	}
	return child;
}

static enum hn_overrun overrun(int pid, int64_t cpu_ns, int64_t limit_ns, int depth)
{
	int64_t before = hn_process_cpu_ns(pid);
	int state = state_of(pid), child;

	if (cpu_ns >= limit_ns / 2) {
		return HN_OVERRUN_OWN;
	}
	if (state == 'T' || state == 't') {
		return HN_OVERRUN_STOPPED;
	}
	if (state != 'S') {
		return HN_OVERRUN_STARVED;
	}
	child = depth > 0 ? child_of(pid) : 0;
	if (child != 0) {
		return overrun(child, hn_process_cpu_ns(child), limit_ns, depth - 1);
	}
	nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NS}, NULL);
	return state_of(pid) == 'S' && hn_process_cpu_ns(pid) == before ? HN_OVERRUN_OWN
									: HN_OVERRUN_STARVED;
}

enum hn_overrun hn_process_overrun(int pid, int64_t cpu_ns, int64_t limit_ns)
{
	return overrun(pid, cpu_ns, limit_ns, GENERATIONS);
}

void hn_process_expendable(int pid)
{
	FILE *f = open_of(pid, "oom_score_adj", "we");

	if (f != NULL) {
		fputs("1000", f);
		fclose(f);
	}
}

/* Looked at once more after the deadline: who waits may have been stopped itself. */
bool hn_process_wait(int fd, int64_t deadline_ns)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = deadline_ns - hn_clock_ns();
		struct timespec t = {0};
		int n;

		if (left > 0) {
			t = (struct timespec){left / 1000000000, left % 1000000000};
		}
		n = ppoll(&p, 1, &t, NULL);
		if (n > 0) {
			return true;
		}
		if (left <= 0 || (n < 0 && errno != EINTR)) {
			return false;
		}
	}
}
