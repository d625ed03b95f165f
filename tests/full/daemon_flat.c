/* daemon_flat.c -- honed's memory does not follow the number of jobs and connections it has seen.
 *
 *     daemon_flat [JOBS]
 *
 * A honed on two fake boards is given small jobs, and clients of all manners.  Its resident
 * memory is read after some, which fill what is kept on purpose (64 ended jobs, caches), and after
 * as many again: what one job or connection leaves behind would show as many times.  JOBS: how
 * many in each half; of connections, four times as many.
 */
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "proto/addr.h"
#include "proto/msg.h"

#define ALLOWED_KB 3000	     /* between two halves; the store's own growth is a part of it */
#define CROWD_KB (120 << 10) /* while clients do not read: 64 MiB, and a reply in the making */
#define CROWD 100

extern char **environ;

static int n_half = 100;
static pid_t honed;
static char dir[64], path[96];

struct client {
	int fd;
	struct hn_lines in;
};

static struct client open_client(void)
{
	struct client c;
	struct hn_err err;

	if (hn_addr_connect(path, &c.fd, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_lines_init(&c.in, HN_LIMIT_REPLY_BYTES);
	return c;
}

static void close_client(struct client *c)
{
	close(c->fd);
	hn_lines_fini(&c->in);
}

static void say(struct client *c, const char *method, const char *params)
{
	char line[1000];
	int n = snprintf(line, sizeof line,
			 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":%s}\n",
			 method, params);

	assert_int_equal(send(c->fd, line, (size_t)n, MSG_NOSIGNAL), n);
}

/* The next line that is an answer. */
static struct hn_json *hear(struct client *c)
{
	struct hn_json *v;
	const char *line;
	struct hn_err err;
	size_t n;

	for (;;) {
		ssize_t k;

		while (hn_lines_next(&c->in, &line, &n, &err) == 1) {
			assert_int_equal(hn_json_parse("line", line, n, NULL, &v, &err), 0);
			if (hn_json_get(v, "id") != NULL) {
				return v;
			}
			hn_json_free(v);
		}
		k = recv(c->fd, hn_lines_room(&c->in, 65536), 65536, 0);
		assert_true(k > 0);
		hn_lines_commit(&c->in, (size_t)k);
	}
}

/* The answer's member as text; "" when it is a fault. */
static void ask(struct client *c, const char *method, const char *params, const char *member,
		char ret[64])
{
	struct hn_json *v;
	const char *s;

	say(c, method, params);
	v = hear(c);
	s = hn_json_string(hn_json_get(hn_json_get(v, "result"), member));
	snprintf(ret, 64, "%s", s != NULL ? s : "");
	hn_json_free(v);
}

static void greet(struct client *c)
{
	char boot[64];

	ask(c, "hello", "{\"protocol\":[1,1]}", "boot", boot);
	assert_int_equal(strlen(boot), 16);
}

static long resident_kb(void)
{
	char name[64], line[200];
	long kb = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/status", (int)honed);
	f = fopen(name, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL) {
		sscanf(line, "VmRSS: %ld", &kb);
	}
	fclose(f);
	assert_true(kb > 0);
	return kb;
}

/* What was freed has gone back to the system. */
static long settled_kb(void)
{
	usleep(1500000);
	return resident_kb();
}

static void tune(int rows, int columns, int64_t trials)
{
	struct client c = open_client();
	char params[600], job[64], state[64];

	greet(&c);
	snprintf(params, sizeof params,
		 "{\"trials\":%lld,\"text\":\"mm(float32 A[%d,8], float32 B[8,%d]) -> C { C(i,j) "
		 "+=! A(i,k) * B(k,j) }\"}",
		 (long long)trials, rows, columns);
	ask(&c, "submit", params, "job", job);
	snprintf(params, sizeof params, "{\"job\":\"%s\",\"deadline_ms\":600000}", job);
	ask(&c, "job.wait", params, "state", state);
	assert_string_equal(state, "done");
	close_client(&c);
}

static void is_flat(const char *what, int n, long first, long second)
{
	print_message("%s: %ld kB after %d, %ld kB after %d\n", what, first, n, second, 2 * n);
	assert_in_range(second, 1, first + ALLOWED_KB);
}

static void jobs_of_many_workloads(void **state)
{
	long kb[2];

	(void)state;
	for (int i = 0; i < 2 * n_half; i++) {
		tune(4 + i % 64, 4 + i / 64, 4);
		if ((i + 1) % n_half == 0) {
			kb[i / n_half] = settled_kb();
		}
	}
	is_flat("jobs of many workloads", n_half, kb[0], kb[1]);
}

/* Each begins with all records of those before it. */
static void jobs_of_one_workload(void **state)
{
	int n = n_half < 250 ? n_half : 250;
	long kb[2];

	(void)state;
	tune(96, 96, 300);
	for (int i = 0; i < 2 * n; i++) {
		tune(96, 96, 300 + 2 * i);
		if ((i + 1) % n == 0) {
			kb[i / n] = settled_kb();
		}
	}
	is_flat("jobs of one workload", n, kb[0], kb[1]);
}

/* Clients come and go: politely, with half a line, with a long one, without a word, without
 * hearing their answers. */
static void connections(void **state)
{
	static char half[40000];
	struct client keep[16];
	long kb[2];

	(void)state;
	memset(half, 'x', sizeof half - 1);
	for (int i = 0; i < 16; i++) {
		keep[i] = open_client();
	}
	for (int i = 0; i < 8 * n_half; i++) {
		struct client *c = &keep[i * 7 % 16];
		char text[64];

		close_client(c);
		*c = open_client();
		if (i % 5 != 0) {
			greet(c);
			ask(c, "job.list", "{}", "nothing", text);
		}
		if (i % 3 == 0) {
			send(c->fd, half, i % 2 ? 100 : strlen(half), MSG_NOSIGNAL);
		} else if (i % 7 == 0) {
			say(c, "rpc.discover", "{}");
		}
		if ((i + 1) % (4 * n_half) == 0) {
			kb[i / (4 * n_half)] = settled_kb();
		}
	}
	for (int i = 0; i < 16; i++) {
		close_client(&keep[i]);
	}
	is_flat("connections (times 4)", n_half, kb[0], kb[1]);
}

/* They ask and never read: what waits for them is bounded, and gone when they are. */
static void clients_that_never_read(void **state)
{
	struct client c[CROWD], honest = open_client();
	long before = settled_kb(), most = 0;
	char text[64];

	(void)state;
	greet(&honest);
	for (int i = 0; i < CROWD; i++) {
		c[i] = open_client();
		greet(&c[i]);
	}
	for (int k = 0; k < 20; k++) {
		for (int i = 0; i < CROWD; i++) {
			static const char line[] =
				"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}\n";

			for (int n = 0; n < 50; n++) {
				send(c[i].fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
			}
		}
		ask(&honest, "hello", "{\"protocol\":[1,1]}", "boot", text);
		assert_int_equal(strlen(text), 16);
		most = resident_kb() > most ? resident_kb() : most;
	}
	for (int i = 0; i < CROWD; i++) {
		close_client(&c[i]);
	}
	close_client(&honest);
	print_message("clients that never read: %ld kB before, %ld kB at most, %ld kB after\n",
		      before, most, settled_kb());
	assert_in_range(most, before + 5000, before + CROWD_KB);
	assert_in_range(settled_kb(), 1, before + ALLOWED_KB);
}

/* Requests that take long are bounded in number, whoever sends them. */
static void measures_are_counted(void **state)
{
	struct client c[2] = { open_client(), open_client() };
	int busy = 0, done = 0;

	(void)state;
	greet(&c[0]);
	greet(&c[1]);
	for (int i = 0; i < 78; i++) {
		say(&c[i % 2], "measure", "{\"record\":1}");
	}
	for (int i = 0; i < 78; i++) {
		struct hn_json *v = hear(&c[i % 2]);
		int64_t code = 0;

		hn_json_int(hn_json_get(hn_json_get(v, "error"), "code"), &code);
		busy += code == HONE_E_BUSY;
		done += hn_json_get(v, "result") != NULL;
		hn_json_free(v);
	}
	assert_int_equal(busy + done, 78);
	assert_in_range(busy, 1, 78 - HN_LIMIT_MEASURES);
	close_client(&c[0]);
	close_client(&c[1]);
}

static int start(void **state)
{
	char home[96], log[96], *const argv[] = { (char *)"honed",    (char *)"--socket", path,
						  (char *)"--home",   home,
						  (char *)"--log",    log,
						  (char *)"--board",  (char *)"fake",
						  (char *)"--boards", (char *)"2", NULL };
	struct hn_err err;
	int fd, rc = -1;

	(void)state;
	strcpy(dir, "/tmp/hone-flat-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/s", dir);
	snprintf(home, sizeof home, "%s/home", dir);
	snprintf(log, sizeof log, "%s/log", dir);
	assert_int_equal(
		posix_spawn(&honed, HONE_BIN_DIR "/honed", NULL, NULL, argv, environ), 0);
	for (int i = 0; rc != 0 && i < 500; i++) {
		usleep(20000);
		rc = hn_addr_connect(path, &fd, &err);
	}
	if (rc != 0) {
		fail_msg("%s", err.msg);
	}
	close(fd);
	return 0;
}

static int stop(void **state)
{
	char command[128];
	int status;

	(void)state;
	kill(honed, SIGTERM);
	waitpid(honed, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_many_workloads),
		cmocka_unit_test(jobs_of_one_workload),
		cmocka_unit_test(measures_are_counted),
		cmocka_unit_test(connections),
		cmocka_unit_test(clients_that_never_read),
	};

#if defined(__SANITIZE_ADDRESS__)
	return 77; /* it keeps what is freed */
#endif
	n_half = argc > 1 ? atoi(argv[1]) : n_half;
	return cmocka_run_group_tests(tests, start, stop);
}
