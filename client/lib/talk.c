/* client/lib/talk.c -- see talk.h. */
#include "client/lib/talk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jw.h"
#include "proto/addr.h"

#define HELLO_MS 5000

static int went_away(struct hn_err *err)
{
	return hn_fail(err, HONE_E_IO,
		       "honed went away; results so far are stored, run the same "
		       "command again to go on");
}

static int send_all(int fd, const char *s, size_t n, struct hn_err *err)
{
	while (n > 0) {
		ssize_t k = send(fd, s, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR) {
			continue;
		}
		if (k < 0) {
			return went_away(err);
		}
		s += k;
		n -= (size_t)k;
	}
	return 0;
}

int hn_talk_send(struct hn_talk *l, const char *method, const char *params,
		 struct hn_err *err)
{
	struct hn_buf b;
	char id[24];
	int rc;

	snprintf(id, sizeof(id), "%llu", (unsigned long long)++l->n_request);
	hn_buf_init(&b);
	hn_msg_write_request(&b, id, method, params);
	if (b.n > HN_LIMIT_LINE_BYTES) {
		rc = hn_fail(err, HONE_E_QUOTA,
			     "%s: %zu bytes, the limit of a request is %d", method, b.n,
			     HN_LIMIT_LINE_BYTES);
	} else {
		rc = send_all(l->fd, b.s, b.n, err);
	}
	hn_buf_fini(&b);
	return rc;
}

static int take(struct hn_talk *l, struct hn_json **ret_doc, struct hn_msg *ret,
		struct hn_err *err)
{
	const char *line;
	size_t n;
	int rpc, rc = hn_lines_next(&l->in, &line, &n, err);

	if (rc <= 0) {
		return rc == 0 ? 1
			       : hn_fail(err, HONE_E_CORRUPT,
					 "honed: a line without end");
	}
	if (hn_msg_read(line, n, HN_LIMIT_REPLY_BYTES, ret_doc, ret, &rpc, err) != 0) {
		return hn_fail(err, HONE_E_CORRUPT, "honed: unreadable message");
	}
	return 0;
}

int hn_talk_next(struct hn_talk *l, int timeout_ms, struct hn_json **ret_doc,
		 struct hn_msg *ret, struct hn_err *err)
{
	int64_t deadline = hn_clock_ns() + (int64_t)timeout_ms * 1000000;
	int rc;

	while ((rc = take(l, ret_doc, ret, err)) == 1) {
		struct pollfd p = { .fd = l->fd, .events = POLLIN };
		int64_t left_ms = (deadline - hn_clock_ns()) / 1000000;
		ssize_t n;

		if (poll(&p, 1, left_ms > 0 ? (int)left_ms : 0) <= 0) {
			return 1;
		}
		n = read(l->fd, hn_lines_room(&l->in, 65536), 65536);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			return went_away(err);
		}
		hn_lines_commit(&l->in, n > 0 ? (size_t)n : 0);
	}
	return rc;
}

int hn_talk_fault(const struct hn_msg *m, struct hn_err *err)
{
	int code = m->fault_code > 0 && m->fault_code < 64 ? (int)m->fault_code
							   : HONE_E_INVALID;

	return hn_fail(err, code, "%s", m->fault_text);
}

int hn_talk_call(struct hn_talk *l, const char *method, const char *params,
		 int timeout_ms, struct hn_json **ret_doc,
		 const struct hn_json **ret_result, struct hn_err *err)
{
	int64_t deadline = hn_clock_ns() + (int64_t)timeout_ms * 1000000;
	int rc = hn_talk_send(l, method, params, err);
	struct hn_json *doc;
	struct hn_msg m;
	char id[24];

	snprintf(id, sizeof(id), "%llu", (unsigned long long)l->n_request);
	while (rc == 0) {
		int64_t left_ms = (deadline - hn_clock_ns()) / 1000000;

		if (left_ms <= 0) {
			return hn_fail(err, HONE_E_TIMEOUT,
				       "%s: honed did not answer within %d ms", method,
				       timeout_ms);
		}
		rc = hn_talk_next(l, (int)left_ms, &doc, &m, err);
		if (rc == 1) {
			rc = 0;
			continue;
		}
		if (rc != 0) {
			break;
		}
		if (m.kind == HN_MSG_RESULT && strcmp(m.id, id) == 0) {
			*ret_doc = doc;
			*ret_result = m.result;
			return 0;
		}
		if (m.kind == HN_MSG_FAULT &&
		    (strcmp(m.id, id) == 0 || strcmp(m.id, "null") == 0)) {
			rc = hn_talk_fault(&m, err);
		}
		hn_json_free(doc);
	}
	return rc;
}

int hn_talk_greet(struct hn_talk *l, const char *name, struct hn_json **ret_doc,
		  const struct hn_json **ret_result, struct hn_err *err)
{
	struct hn_buf params;
	struct hn_jw w;
	int rc;

	hn_buf_init(&params);
	hn_jw_init(&w, &params);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "protocol");
	hn_jw_int(&w, NULL, HN_LIMIT_PROTOCOL);
	hn_jw_int(&w, NULL, HN_LIMIT_PROTOCOL);
	hn_jw_end(&w);
	hn_jw_object(&w, "client");
	hn_jw_str(&w, "name", name);
	hn_jw_str(&w, "version", HONE_VERSION);
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = hn_talk_call(l, "hello", params.s, HELLO_MS, ret_doc, ret_result, err);
	hn_buf_fini(&params);
	return rc == -HONE_E_IO ? hn_fail(err, HONE_E_NOT_FOUND, "honed ended") : rc;
}

int hn_talk_open(const char *path, struct hn_talk *ret, struct hn_err *err)
{
	int rc = hn_addr_connect(path, &ret->fd, err);

	ret->n_request = 0;
	if (rc == 0) {
		hn_lines_init(&ret->in, HN_LIMIT_REPLY_BYTES);
	} else {
		ret->fd = -1;
	}
	return rc;
}

void hn_talk_close(struct hn_talk *l)
{
	if (l->fd >= 0) {
		close(l->fd);
		hn_lines_fini(&l->in);
		l->fd = -1;
	}
}
