/* Socket addresses: names, limits, locks, stale sockets, unsafe directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/addr.h"

static char dir[64], path[96];

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hone-addr-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s/honed.sock", dir);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void test_path_rules(void **state)
{
	char deep[200];
	struct hn_buf b;
	struct hn_err err;

	(void)state;
	hn_buf_init(&b);
	setenv("HONE_SOCKET", "/a/env.sock", 1);
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_int_equal(hn_addr_path("/a/given.sock", &b, &err), 0);
	assert_string_equal(b.s, "/a/given.sock");
	assert_int_equal(hn_addr_path(NULL, &b, &err), 0);
	assert_string_equal(b.s, "/a/env.sock");
	unsetenv("HONE_SOCKET");
	assert_int_equal(hn_addr_path(NULL, &b, &err), 0);
	assert_string_equal(b.s, "/run/user/7/hone/honed.sock");
	assert_int_equal(hn_addr_path("", &b, &err), -HONE_E_INVALID);
	assert_int_equal(hn_addr_path("/a/", &b, &err), -HONE_E_INVALID);
	memset(deep, 'x', sizeof(deep));
	deep[0] = '/';
	deep[107] = '\0';
	assert_int_equal(hn_addr_path(deep, &b, &err), 0);
	deep[107] = 'x';
	deep[108] = '\0';
	assert_int_equal(hn_addr_path(deep, &b, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "108 bytes"));
	assert_non_null(strstr(err.msg, "107"));
	hn_buf_fini(&b);
}

static void test_listen_connect(void **state)
{
	struct hn_addr_listener l, second;
	struct stat st;
	struct hn_err err;
	uid_t uid;
	pid_t pid;
	int fd;

	(void)state;
	assert_int_equal(hn_addr_connect(path, &fd, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_addr_listen(path, &l, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	snprintf(dir + strlen(dir), 4, "/s");
	assert_int_equal(stat(dir, &st), 0);
	dir[strlen(dir) - 2] = '\0';
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(hn_addr_connect(path, &fd, &err), 0);
	assert_int_equal(hn_addr_peer(fd, &uid, &pid, &err), 0);
	assert_int_equal(uid, geteuid());
	assert_int_equal(pid, getpid());
	close(fd);
	assert_int_equal(hn_addr_listen(path, &second, &err), -HONE_E_BUSY);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(hn_addr_connect(path, &fd, &err),
			 0); /* the loser left it alone */
	close(fd);
	hn_addr_close(&l);
	assert_int_not_equal(stat(path, &st), 0);
}

/* A killed daemon leaves its socket; the next one takes the name over. */
static void test_stale(void **state)
{
	struct hn_addr_listener l, next;
	struct hn_err err;
	int fd;

	(void)state;
	assert_int_equal(hn_addr_listen(path, &l, &err), 0);
	free(l.name);
	l.name = NULL; /* as kill -9 does: nothing is unlinked */
	hn_addr_close(&l);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(hn_addr_connect(path, &fd, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(hn_addr_listen(path, &next, &err), 0);
	assert_int_equal(hn_addr_connect(path, &fd, &err), 0);
	close(fd);
	hn_addr_close(&next);
}

static void test_longest_path(void **state)
{
	struct hn_addr_listener l;
	char longest[HN_ADDR_MAX + 1];
	struct hn_err err;
	int fd;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, dir, strlen(dir));
	longest[strlen(dir)] = '/';
	longest[HN_ADDR_MAX] = '\0';
	assert_int_equal(hn_addr_listen(longest, &l, &err), 0);
	assert_int_equal(hn_addr_connect(longest, &fd, &err), 0);
	close(fd);
	hn_addr_close(&l);
}

static void test_unsafe(void **state)
{
	struct hn_addr_listener l;
	struct hn_err err;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/honed.sock", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(hn_addr_listen(path, &l, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "not a socket"));
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(hn_addr_listen(path, &l, &err), -HONE_E_PERMISSION);
	assert_non_null(strstr(err.msg, "others may write"));
}

static void test_home(void **state)
{
	struct hn_buf b;
	struct hn_err err;

	(void)state;
	hn_buf_init(&b);
	setenv("HONE_HOME", "/h", 1);
	assert_int_equal(hn_addr_home(NULL, &b, &err), 0);
	assert_string_equal(b.s, "/h");
	unsetenv("HONE_HOME");
	setenv("XDG_DATA_HOME", "/d", 1);
	assert_int_equal(hn_addr_home(NULL, &b, &err), 0);
	assert_string_equal(b.s, "/d/hone");
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "/u", 1);
	assert_int_equal(hn_addr_home(NULL, &b, &err), 0);
	assert_string_equal(b.s, "/u/.local/share/hone");
	unsetenv("HOME");
	assert_int_equal(hn_addr_home(NULL, &b, &err), -HONE_E_INVALID);
	assert_int_equal(hn_addr_home("x", &b, &err), 0);
	assert_int_equal(b.s[0], '/');
	hn_buf_fini(&b);
}

/* A socket that a service manager listens on for us is taken, and stays when we go; one of another
 * name, or for another process, is not. */
static void test_given(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct hn_addr_listener l;
	struct hn_err err;
	char text[32], folder[sizeof(dir) + 2], other[sizeof(path) + 2];
	int client = -1, kept = dup(3), manager = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	snprintf(folder, sizeof(folder), "%s/s", dir);
	snprintf(other, sizeof(other), "%s2", path);
	strcpy(addr.sun_path, path);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(bind(manager, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(manager, 1), 0);
	assert_int_equal(dup2(manager, 3), 3);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("LISTEN_PID", text, 1);
	setenv("LISTEN_FDS", "1", 1);
	assert_int_equal(hn_addr_listen(other, &l, &err), 0);
	assert_int_not_equal(l.fd, 3);
	hn_addr_close(&l);
	assert_int_equal(hn_addr_listen(path, &l, &err), 0);
	assert_int_equal(l.fd, 3);
	assert_int_equal(hn_addr_connect(path, &client, &err), 0);
	close(client);
	l.fd = -1; /* 3 is the manager's */
	hn_addr_close(&l);
	assert_int_equal(access(path, F_OK), 0);
	setenv("LISTEN_PID", "1", 1);
	assert_int_equal(hn_addr_listen(path, &l, &err), 0);
	assert_int_not_equal(l.fd, 3);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	hn_addr_close(&l);
	close(manager);
	if (kept >= 0) {
		dup2(kept, 3);
		close(kept);
	} else {
		close(3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_rules),
		cmocka_unit_test_setup_teardown(test_listen_connect, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stale, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_longest_path, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unsafe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_given, set_up, tear_down),
		cmocka_unit_test(test_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
