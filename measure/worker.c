/* worker.c -- one child process and its four handles.
 *
 * Invariants: (1) the struct is freed when n_handle falls to 0 and not before; (2) after
 * `gone` is set no call into the owner but `closed` is made; (3) the process handle is
 * closed only after the exit was seen, so no zombie is left.
 */
#include "measure/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "proto/slot.h"

#define READ_BYTES 65536
#define MAX_ARG 4

struct hn_worker {
	uv_process_t process;
	uv_pipe_t to, from;
	uv_timer_t timer;
	int n_handle; /* open */
	bool spawned, greeted, gone, stopped;
	struct hn_buf in; /* received, not yet taken */
	struct hn_worker_owner owner;
};

struct sending {
	uv_write_t req;
	struct hn_buf bytes;
};

static void on_closed(uv_handle_t *h)
{
	struct hn_worker *w = h->data;
	struct hn_worker_owner owner = w->owner;

	if (--w->n_handle > 0) {
		return;
	}
	hn_buf_fini(&w->in);
	free(w);
	owner.closed(owner.closed_ctx);
}

static void close_handle(uv_handle_t *h)
{
	if (!uv_is_closing(h)) {
		uv_close(h, on_closed);
	}
}

/* The end of it, whatever the reason; safe to call again. */
static void leave(struct hn_worker *w, bool late, const char *why)
{
	if (w->gone) {
		return;
	}
	w->gone = true;
	if (uv_is_active((uv_handle_t *)&w->process)) {
		uv_process_kill(&w->process, SIGKILL);
	} else {
		close_handle((uv_handle_t *)&w->process);
	}
	close_handle((uv_handle_t *)&w->to);
	close_handle((uv_handle_t *)&w->from);
	close_handle((uv_handle_t *)&w->timer);
	if (!w->stopped) {
		w->owner.gone(w->owner.ctx, late, why);
	}
}

static void on_ended(uv_process_t *p, int64_t status, int signal)
{
	struct hn_worker *w = p->data;

	(void)status;
	(void)signal;
	leave(w, /* late: */ false, "the process ended");
	close_handle((uv_handle_t *)p);
}

static void on_late(uv_timer_t *t)
{
	leave(t->data, /* late: */ true, "no answer within its time limit");
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct hn_worker *w = h->data;

	(void)suggested;
	/* reserve behind what is there: grow, then take the growth back */
	if (w->in.cap - w->in.n < READ_BYTES + 1) {
		static const char zeros[READ_BYTES];
		size_t n = w->in.n;

		hn_buf_add(&w->in, zeros, READ_BYTES);
		if (w->in.failed) {
			*ret = uv_buf_init(NULL, 0);
			return;
		}
		w->in.n = n;
	}
	*ret = uv_buf_init(w->in.s + w->in.n, READ_BYTES);
}

/* The first frame must be HELLO; all others go to the owner. */
static bool take(struct hn_worker *w, const struct hn_frame *f)
{
	if (!w->greeted) {
		w->greeted = f->type == HN_FRAME_HELLO;
		return w->greeted;
	}
	if (f->type == HN_FRAME_HELLO) {
		return false;
	}
	w->owner.frame(w->owner.ctx, f);
	return true;
}

static void take_all(struct hn_worker *w)
{
	size_t at = 0;

	while (!w->gone) {
		struct hn_frame f;
		struct hn_err err;
		size_t need;
		int64_t n = hn_frame_read(w->in.s + at, w->in.n - at, &f, &need, &err);

		if (n < 0) {
			leave(w, false, err.msg);
			return;
		}
		if (n == 0) {
			break;
		}
		at += (size_t)n;
		if (!take(w, &f)) {
			leave(w, false, "a frame out of order");
			return;
		}
	}
	memmove(w->in.s, w->in.s + at, w->in.n - at);
	w->in.n -= at;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct hn_worker *w = s->data;

	(void)buf;
	if (n < 0) {
		leave(w, false,
		      n == UV_EOF ? "the process closed its connection"
				  : uv_strerror((int)n));
	} else if (n > 0 && !w->gone) {
		w->in.n += (size_t)n;
		w->in.s[w->in.n] = '\0';
		take_all(w);
	}
}

static void on_sent(uv_write_t *req, int status)
{
	struct sending *s = (struct sending *)req;

	(void)status; /* a broken pipe is also an end of file, which on_read sees */
	hn_buf_fini(&s->bytes);
	free(s);
}

void hn_worker_send(struct hn_worker *w, const struct hn_frame *f)
{
	struct sending *s;
	uv_buf_t b;

	if (w->gone) {
		return;
	}
	s = calloc(1, sizeof *s);
	hn_assert(s != NULL);
	hn_buf_init(&s->bytes);
	hn_frame_write(f, &s->bytes);
	hn_assert(!s->bytes.failed);
	b = uv_buf_init(s->bytes.s, (unsigned)s->bytes.n);
	if (uv_write(&s->req, (uv_stream_t *)&w->to, &b, 1, on_sent) != 0) {
		on_sent(&s->req, 0);
	}
}

void hn_worker_deadline(struct hn_worker *w, int64_t limit_ms)
{
	if (w->gone) {
		return;
	}
	if (limit_ms > 0) {
		uv_timer_start(&w->timer, on_late, (uint64_t)limit_ms, 0);
	} else {
		uv_timer_stop(&w->timer);
	}
}

void hn_worker_stop(struct hn_worker *w)
{
	if (w != NULL && !w->gone) {
		w->stopped = true;
		leave(w, false, "stopped");
	}
}

int hn_worker_pid(const struct hn_worker *w)
{
	return w->process.pid;
}

static int spawn(struct hn_worker *w, uv_loop_t *loop, const struct hn_worker_program *p)
{
	char *argv[MAX_ARG + 2] = {(char *)p->path};
	uv_stdio_container_t stdio[HN_SLOT_FD + 1] = {
		{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
		 .data.stream = (uv_stream_t *)&w->to},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
		 .data.stream = (uv_stream_t *)&w->from},
		{.flags = UV_INHERIT_FD, .data.fd = 2},
		[HN_SLOT_FD] = {.flags = UV_INHERIT_FD, .data.fd = p->slot_fd},
	};
	uv_process_options_t o = {.file = p->path,
				  .args = argv,
				  .exit_cb = on_ended,
				  .stdio = stdio,
				  .stdio_count = p->slot_fd >= 0 ? HN_SLOT_FD + 1 : HN_SLOT_FD};

	for (int i = 0; p->args != NULL && p->args[i] != NULL; i++) {
		hn_assert(i < MAX_ARG);
		argv[i + 1] = (char *)p->args[i];
	}
	return uv_spawn(loop, &w->process, &o);
}

int hn_worker_start(struct uv_loop_s *loop, const struct hn_worker_program *program,
		    const struct hn_worker_owner *owner, struct hn_worker **ret,
		    struct hn_err *err)
{
	struct hn_worker *w = calloc(1, sizeof *w);
	int rc;

	hn_assert(w != NULL);
	hn_buf_init(&w->in);
	w->owner = *owner;
	uv_pipe_init(loop, &w->to, 0);
	uv_pipe_init(loop, &w->from, 0);
	uv_timer_init(loop, &w->timer);
	w->process.data = w->to.data = w->from.data = w->timer.data = w;
	w->n_handle = 4;
	rc = spawn(w, loop, program);
	if (rc == 0) {
		rc = uv_read_start((uv_stream_t *)&w->from, on_alloc, on_read);
	}
	if (rc != 0) {
		/* the process handle was initialised by uv_spawn even when it failed */
		hn_worker_stop(w);
		return hn_fail(err, rc == UV_ENOENT ? HONE_E_NOT_FOUND : HONE_E_IO,
			       "%s: %s", program->path, uv_strerror(rc));
	}
	if (program->nice > 0) {
		setpriority(PRIO_PROCESS, (id_t)w->process.pid, program->nice);
	}
	*ret = w;
	return 0;
}
