/* Sessions under hostile and slow clients: a real server on a real socket, in one loop
 * with the test; the handler echoes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "daemon/server.h"

static uv_loop_t loop;
static struct hn_server server;
static char dir[64], path[96];
static uint32_t n_request, n_closed, n_drained;
static struct hn_session *last;
static bool hold; /* the handler answers nothing */
static const char *answer = "{}";

static void on_request(void *ctx, struct hn_session *s, enum hn_method m,
		       const struct hn_msg *msg)
{
	(void)ctx;
	n_request++;
	last = s;
	if (m == HN_METHOD_hello) {
		s->greeted = true;
	}
	if (!hold || m == HN_METHOD_hello) {
		hn_session_reply(s, msg->id, answer);
	}
}

static void on_closed(void *ctx, struct hn_session *s)
{
	(void)ctx;
	last = last == s ? NULL : last;
	n_closed++;
}

static void on_drained(void *ctx, struct hn_session *s)
{
	(void)ctx;
	(void)s;
	n_drained++;
}

static const struct hn_session_ops ops = { on_request, on_closed, on_drained };

static void open_server(struct hn_session_limits limits)
{
	struct hn_err err;

	strcpy(dir, "/tmp/hone-sess-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	n_request = n_closed = n_drained = 0;
	hold = false;
	last = NULL;
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(hn_server_open(&server, &loop, path, &limits, &ops, NULL, &err),
			 0);
}

static void close_server(void)
{
	hn_server_stop_listening(&server);
	hn_server_end_sessions(&server, /* at_once= */ true);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0); /* no handle is left behind */
	hn_server_fini(&server);
	unlink(path);
	snprintf(path, sizeof(path), "%s/s.lock", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void spin(int ms)
{
	int64_t end = hn_clock_ns() + (int64_t)ms * 1000000;

	/* on a busy machine the time passes without the loop having had a turn */
	for (int i = 0; i < 20 || hn_clock_ns() < end; i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
		usleep(500);
	}
}

/* A busy machine takes longer to tell of the end of a connection. */
static void all_leave(void)
{
	for (int i = 0; i < 100 && server.n_session > 0; i++) {
		spin(20);
	}
	assert_int_equal(server.n_session, 0);
}

static int client(void)
{
	struct hn_err err;
	int fd;

	assert_int_equal(hn_addr_connect(path, &fd, &err), 0);
	return fd;
}

static void say(int fd, const char *s)
{
	assert_int_equal(send(fd, s, strlen(s), MSG_NOSIGNAL), strlen(s));
}

#define HELLO                                                                            \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\",\"params\":{\"protocol\":["  \
	"1,1]}}\n"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"

/* All that came, after letting the loop run; "" when nothing did. */
static const char *hear(int fd, char *text, size_t cap)
{
	ssize_t n;

	spin(20);
	n = recv(fd, text, cap - 1, MSG_DONTWAIT);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static bool at_end(int fd)
{
	char c;
	ssize_t n;

	while ((n = recv(fd, &c, 1, MSG_DONTWAIT)) > 0) {
	}
	return n == 0;
}

static void test_hello_first(void **state)
{
	char text[4096];
	int fd;

	(void)state;
	open_server(hn_session_limits_default());
	fd = client();
	say(fd, PING);
	assert_non_null(strstr(hear(fd, text, sizeof(text)), "must be hello"));
	assert_true(at_end(fd));
	assert_int_equal(n_request, 0);
	close(fd);
	fd = client();
	say(fd, HELLO PING);
	hear(fd, text, sizeof(text));
	assert_non_null(strstr(text, "\"id\":0,\"result\""));
	assert_non_null(strstr(text, "\"id\":1,\"result\""));
	close(fd);
	close_server();
}

/* Nonsense is answered and forgiven; the session serves on. */
static void test_nonsense(void **state)
{
	static const struct {
		const char *line, *says;
	} row[] = {
		{ "{\"jsonrpc\":\"2.0\",\n", "-32700" },
		{ "\xff\xfe\n", "-32700" },
		{ "[1,2]\n", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"no.such\"}\n", "-32601" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"job.get\"}\n", "-32602" },
	};
	char text[4096];
	int fd;

	(void)state;
	open_server(hn_session_limits_default());
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		say(fd, row[i].line);
		assert_non_null(strstr(hear(fd, text, sizeof(text)), row[i].says));
	}
	say(fd, "\n\r\n" PING);
	assert_non_null(strstr(hear(fd, text, sizeof(text)), "\"result\""));
	assert_int_equal(n_request, 2);
	close(fd);
	close_server();
}

static void test_long_line(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[4096], junk[3000];
	int fd;

	(void)state;
	limits.line_bytes = 2000;
	open_server(limits);
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	memset(junk, ' ', sizeof(junk));
	junk[sizeof(junk) - 1] = '\0';
	say(fd, junk);
	assert_non_null(strstr(hear(fd, text, sizeof(text)), "longer than 2000 bytes"));
	assert_true(at_end(fd));
	close(fd);
	close_server();
}

/* A byte at a time is as good as all at once. */
static void test_slow_writer(void **state)
{
	static const char all[] = HELLO PING;
	char text[4096] = "", one[2] = "";
	int fd;

	(void)state;
	open_server(hn_session_limits_default());
	fd = client();
	for (size_t i = 0; i + 1 < sizeof(all); i++) {
		one[0] = all[i];
		say(fd, one);
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	hear(fd, text, sizeof(text));
	assert_non_null(strstr(text, "\"id\":1,\"result\""));
	assert_int_equal(n_request, 2);
	close(fd);
	close_server();
}

static void test_in_flight(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[4096];
	int fd;

	(void)state;
	limits.in_flight = 2;
	open_server(limits);
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	hold = true;
	say(fd, PING PING);
	assert_string_equal(hear(fd, text, sizeof(text)), "");
	say(fd, PING);
	assert_non_null(strstr(hear(fd, text, sizeof(text)), "HONE_E_BUSY"));
	assert_int_equal(n_request, 3);
	close(fd);
	close_server();
}

static void test_connections(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[4096];
	int fd[3];

	(void)state;
	limits.connections = 2;
	open_server(limits);
	for (int i = 0; i < 3; i++) {
		fd[i] = client();
	}
	assert_non_null(strstr(hear(fd[2], text, sizeof(text)), "too many connections"));
	assert_true(at_end(fd[2]));
	say(fd[1], HELLO);
	assert_non_null(strstr(hear(fd[1], text, sizeof(text)), "\"result\""));
	assert_int_equal(server.n_session, 2);
	for (int i = 0; i < 3; i++) {
		close(fd[i]);
	}
	spin(20);
	assert_int_equal(server.n_session, 0);
	close_server();
}

static void test_stranger(void **state)
{
	char text[4096];
	int fd;

	(void)state;
	open_server(hn_session_limits_default());
	server.uid = geteuid() + 1;
	fd = client();
	send(fd, HELLO, strlen(HELLO), MSG_NOSIGNAL);
	assert_non_null(strstr(hear(fd, text, sizeof(text)), "HONE_E_PERMISSION"));
	assert_int_equal(n_request, 0);
	assert_int_equal(n_closed, 1);
	close(fd);
	close_server();
}

static void test_no_hello(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[4096];
	int fd;

	(void)state;
	limits.hello_ms = 50;
	open_server(limits);
	fd = client();
	spin(200);
	assert_non_null(strstr(hear(fd, text, sizeof(text)), "no hello came"));
	assert_true(at_end(fd));
	close(fd);
	close_server();
}

static void fill(struct hn_buf *b, size_t n)
{
	hn_buf_init(b);
	while (b->n < n) {
		hn_buf_puts(b, "0123456789abcdef0123456789abcdef");
	}
}

/* A client that does not read: events are dropped, then told of when it has caught up. */
static void test_lossy(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[65536];
	struct hn_buf b;
	int fd, sent = 0;

	(void)state;
	limits.drop_bytes = 400000;
	open_server(limits);
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	fill(&b, 50000);
	while (sent < 200 && hn_session_event(last, &b, /* droppable= */ true)) {
		sent++;
	}
	assert_in_range(sent, 8, 100);
	assert_true(hn_session_event(last, &b, /* droppable= */ false));
	assert_false(hn_session_event(last, &b, /* droppable= */ true));
	assert_int_equal(n_drained, 0);
	for (int i = 0; i < 500 && n_drained == 0; i++) {
		while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0) {
		}
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	assert_int_equal(n_drained, 1);
	assert_true(hn_session_event(last, &b, /* droppable= */ true));
	hn_buf_fini(&b);
	close(fd);
	close_server();
}

/* Reading stops while too much output waits, and goes on after. */
static void test_read_stop(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[65536];
	struct hn_buf b;
	int fd;

	(void)state;
	limits.read_stop_bytes = 300000;
	open_server(limits);
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	fill(&b, 1000000);
	hn_session_event(last, &b, /* droppable= */ false);
	assert_true(last->paused);
	say(fd, PING);
	spin(20);
	assert_int_equal(n_request, 1);
	for (int i = 0; i < 2000 && n_request < 2; i++) {
		while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0) {
		}
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	assert_int_equal(n_request, 2);
	hn_buf_fini(&b);
	close(fd);
	close_server();
}

/* More than it may hold, or nothing taken for too long: the client is closed, not honed.
 */
static void test_closed_when_stuck(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	char text[4096];
	struct hn_buf b;
	int fd;

	(void)state;
	limits.close_bytes = 2000000;
	limits.stall_ms = 100;
	open_server(limits);
	fill(&b, 1000000);
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	for (int i = 0; i < 4; i++) {
		hn_session_event(last, &b, /* droppable= */ false);
	}
	assert_int_equal(n_closed, 0); /* never while the sender is at work */
	spin(20);
	assert_int_equal(n_closed, 1);
	close(fd);
	fd = client();
	say(fd, HELLO);
	hear(fd, text, sizeof(text));
	hn_session_event(last, &b, /* droppable= */ false);
	spin(400);
	assert_int_equal(n_closed, 2);
	hn_buf_fini(&b);
	close(fd);
	close_server();
}

#define CROWD 30
#define TOGETHER 1000000

static void all_hold_little(void)
{
	size_t sum = 0;

	for (const struct hn_session *s = server.session; s != NULL; s = s->next) {
		sum += s->doomed ? 0 : s->held_bytes;
	}
	assert_int_equal(server.held_bytes, sum);
	assert_in_range(sum, 0, TOGETHER);
}

/* What a crowd holds is bounded for all together, whether they take no output or end no line;
 * who takes his answers gets them. */
static void crowd_says(const char *words, int times)
{
	int fd[CROWD], honest = client();
	char text[65536];

	say(honest, HELLO);
	hear(honest, text, sizeof(text));
	for (int i = 0; i < CROWD; i++) {
		fd[i] = client();
		say(fd[i], HELLO);
	}
	spin(20);
	for (int k = 0; k < times; k++) {
		for (int i = 0; i < CROWD; i++) {
			send(fd[i], words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
			uv_run(&loop, UV_RUN_NOWAIT);
			all_hold_little();
		}
		say(honest, PING);
		for (int i = 0; i < 100 && strchr(hear(honest, text, sizeof(text)), '\n') == NULL;
		     i++) {
		}
		assert_non_null(strchr(text, '\n'));
		all_hold_little();
	}
	for (int i = 0; i < CROWD; i++) {
		close(fd[i]);
	}
	close(honest);
	all_leave();
	assert_int_equal(server.held_bytes, 0);
}

static void test_all_together(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	struct hn_buf b, line;

	(void)state;
	limits.held_bytes = TOGETHER;
	open_server(limits);
	fill(&b, 30000);
	hn_buf_init(&line);
	hn_buf_json_string(&line, b.s);
	answer = line.s;
	crowd_says(PING PING PING PING PING, 12);
	crowd_says(b.s, 6);
	answer = "{}";
	hn_buf_fini(&line);
	hn_buf_fini(&b);
	close_server();
}

static void test_vanishing_clients(void **state)
{
	(void)state;
	open_server(hn_session_limits_default());
	for (int i = 0; i < 200; i++) {
		int fd = client();

		say(fd, i % 3 == 0 ? HELLO : i % 3 == 1 ? HELLO PING "{\"js" : "");
		if (i % 2 == 0) {
			uv_run(&loop, UV_RUN_NOWAIT);
		}
		close(fd);
	}
	all_leave();
	assert_int_equal(n_closed, 200);
	close_server();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello_first),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_slow_writer),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_no_hello),
		cmocka_unit_test(test_lossy),
		cmocka_unit_test(test_read_stop),
		cmocka_unit_test(test_closed_when_stuck),
		cmocka_unit_test(test_all_together),
		cmocka_unit_test(test_vanishing_clients),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
