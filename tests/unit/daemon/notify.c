/* Events to subscribers: order, resumption, gaps, waits; a job that is only a ring, a
 * daemon that is only a server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "daemon/daemon.h"

static struct hn_daemon d;
static struct hn_served served = { .daemon = &d, .name = "native" };
static struct hn_job job;
static struct hn_session *session;
static char dir[64], path[96], text[1 << 20];
static int fd;

static void on_request(void *ctx, struct hn_session *s, enum hn_method m,
		       const struct hn_msg *msg)
{
	(void)ctx;
	(void)m;
	(void)msg;
	session = s;
	s->greeted = true;
}

static void on_closed(void *ctx, struct hn_session *s)
{
	hn_notify_forget(ctx, s, NULL);
}

static void on_drained(void *ctx, struct hn_session *s)
{
	hn_notify_drained(ctx, s);
}

static const struct hn_session_ops ops = { on_request, on_closed, on_drained };

static void spin(int ms)
{
	int64_t end = hn_clock_ns() + (int64_t)ms * 1000000;

	/* on a busy machine the time passes without the loop having had a turn */
	for (int i = 0; i < 20 || hn_clock_ns() < end; i++) {
		uv_run(&d.loop, UV_RUN_NOWAIT);
		usleep(200);
	}
}

/* What came since the last call. */
static const char *hear(void)
{
	size_t n = 0;
	ssize_t k;

	spin(15);
	while ((k = recv(fd, text + n, sizeof(text) - 1 - n, MSG_DONTWAIT)) > 0) {
		n += (size_t)k;
	}
	text[n] = '\0';
	return text;
}

static int set_up(void **state)
{
	struct hn_session_limits limits = hn_session_limits_default();
	static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\","
				    "\"params\":{\"protocol\":[1,1]}}\n";
	struct hn_err err;

	(void)state;
	limits.drop_bytes = 300000;
	strcpy(dir, "/tmp/hone-note-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	memset(&d, 0, sizeof(d));
	memset(&job, 0, sizeof(job));
	d.log.fd = 2;
	assert_int_equal(uv_loop_init(&d.loop), 0);
	assert_int_equal(
		hn_server_open(&d.server, &d.loop, path, &limits, &ops, &d, &err), 0);
	job.daemon = &d;
	job.served = &served;
	job.state = HN_JOB_SEARCH;
	job.name = job.target_line = "x";
	strcpy(job.id, "j1");
	hn_ring_init(&job.ring, 4);
	assert_int_equal(hn_addr_connect(path, &fd, &err), 0);
	assert_int_equal(send(fd, hello, strlen(hello), 0), strlen(hello));
	session = NULL;
	for (int i = 0; i < 100 && session == NULL; i++) { /* a busy machine takes its time */
		spin(20);
	}
	assert_non_null(session);
	return 0;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	close(fd);
	hn_server_stop_listening(&d.server);
	hn_server_end_sessions(&d.server, /* at_once= */ true);
	uv_run(&d.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&d.loop), 0);
	assert_null(d.subscriptions); /* went with the session */
	assert_null(d.waits);
	hn_server_fini(&d.server);
	hn_ring_fini(&job.ring);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void test_events_and_resume(void **state)
{
	uint64_t first, second;

	(void)state;
	hn_notify_event(&job, HN_EVENT_progress, "{\"a\":1}");
	hn_notify_event(&job, HN_EVENT_best, "{\"a\":2}");
	assert_string_equal(hear(), ""); /* nobody had subscribed */
	first = hn_notify_subscribe(&d, session, &job);
	hn_notify_replay(&d, first, 0);
	hear();
	assert_non_null(
		strstr(text, "\"seq\":1,\"type\":\"progress\",\"data\":{\"a\":1}"));
	assert_true(strstr(text, "\"seq\":2,\"type\":\"best\"") >
		    strstr(text, "\"seq\":1,"));
	hn_notify_event(&job, HN_EVENT_progress, "{\"a\":3}");
	assert_non_null(strstr(hear(), "\"seq\":3,"));
	second = hn_notify_subscribe(&d, session, &job);
	assert_int_not_equal(first, second);
	hn_notify_replay(&d, second, 2);
	assert_non_null(strstr(hear(), "\"seq\":3,"));
	assert_null(strstr(text, "\"seq\":2,"));
	assert_true(hn_notify_unsubscribe(&d, session, first));
	assert_false(hn_notify_unsubscribe(&d, session, first));
	assert_true(hn_notify_unsubscribe(&d, session, second));
	hn_notify_event(&job, HN_EVENT_progress, "{}");
	assert_string_equal(hear(), "");
}

/* What the ring has lost is told once, as a range. */
static void test_resume_with_gap(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++) {
		hn_notify_event(&job, HN_EVENT_progress, "{}");
	}
	hn_notify_replay(&d, hn_notify_subscribe(&d, session, &job), 1);
	hear();
	assert_non_null(strstr(text, "\"type\":\"gap\",\"data\":{\"from\":2,\"to\":3}"));
	assert_null(strstr(text, "\"seq\":2,"));
	assert_non_null(strstr(text, "\"seq\":4,\"type\":\"progress\""));
	assert_non_null(strstr(text, "\"seq\":7,\"type\":\"progress\""));
}

/* A client that does not read loses progress, never a best, and hears of the gap. */
static void test_slow_subscriber(void **state)
{
	struct hn_buf big;
	int lost = 0;

	(void)state;
	hn_buf_init(&big);
	hn_buf_puts(&big, "{\"x\":\"");
	while (big.n < 60000) {
		hn_buf_puts(&big, "0123456789");
	}
	hn_buf_puts(&big, "\"}");
	hn_notify_subscribe(&d, session, &job);
	for (int i = 0; i < 40; i++) {
		hn_notify_event(&job, HN_EVENT_progress, big.s);
		lost += d.subscriptions->lost_from != 0;
	}
	assert_in_range(lost, 1, 39);
	hn_notify_event(&job, HN_EVENT_best, "{\"kept\":1}");
	for (int i = 0, seen = 0; i < 200 && seen < 2; i++) {
		hear();
		seen += strstr(text, "{\"kept\":1}") != NULL;
		seen += strstr(text, "\"type\":\"gap\"") != NULL;
		assert_true(i < 199);
	}
	assert_int_equal(d.subscriptions->lost_from, 0);
	hn_buf_fini(&big);
}

static void test_waits(void **state)
{
	int64_t now = hn_clock_ns();

	(void)state;
	hn_notify_wait(&d, session, &job, "7", now + 1000000000);
	hn_notify_wait(&d, session, &job, "8", now - 1);
	hn_notify_tick(&d, now);
	assert_non_null(strstr(hear(), "\"id\":8,\"error\""));
	assert_null(strstr(text, "\"id\":7"));
	job.state = HN_JOB_DONE;
	hn_notify_ended(&job);
	assert_non_null(
		strstr(hear(), "\"id\":7,\"result\":{\"job\":\"j1\",\"state\":\"done\""));
	hn_notify_wait(&d, session, &job, "9",
		       now + 1000000000); /* freed with the session */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_events_and_resume, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_resume_with_gap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_slow_subscriber, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
