/* worker.c -- one child process and its four handles.
 *
 * Invariants: (1) the struct is freed when n_handle falls to 0 and not before; (2) after
 * `gone` is set no call into the owner but `closed` is made; (3) the process handle is
 * closed only after the exit was seen, so no zombie is left.
 *
 * Who closes its end of the pipe is killed, and judged when its exit is seen: only that says
 * whether it crashed or was killed.
 */
#include "measure/host/worker.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "base/clock.h"
#include "measure/process.h"
#include "proto/frames.h"

#define READ_BYTES 65536
#define MAX_ARG 4
#define EXTENSIONS 8
#define READ_FIRST_MS 1000

struct hn_worker {
	uv_process_t process;
	uv_pipe_t to, from;
	uv_timer_t timer;
	int n_handle; /* open */
	bool greeted, gone, stopped;
	bool closed_early; /* its end of the pipe */
	bool unread;	   /* at its deadline its answer was in the pipe */
	int64_t limit_ms, asked_ns, cpu_ns; /* of the deadline; cpu: used until it was set */
	int n_extended;
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
static void leave(struct hn_worker *w, enum hn_worker_fault fault, const char *why)
{
	struct hn_worker_end end = {.fault = fault};

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
		snprintf(end.why, sizeof end.why, "%.190s", why);
		w->owner.gone(w->owner.ctx, &end);
	}
}

/* Signals that a process brings upon itself; those somebody sent it turns into SIGKILL where
 * it matters (build_worker.c). */
static bool own_fault(int signal)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP,
				  SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ};

	for (size_t i = 0; i < HN_COUNT_OF(own); i++) {
		if (own[i] == signal) {
			return true;
		}
	}
	return false;
}

static void on_ended(uv_process_t *p, int64_t status, int signal)
{
	struct hn_worker *w = p->data;
	char why[80];

	if (signal == SIGKILL && w->closed_early) {
		leave(w, HN_WORKER_LOST, "the process closed its connection");
	} else if (signal != 0) {
		snprintf(why, sizeof why, "the process %s signal %d",
			 own_fault(signal) ? "crashed:" : "was killed from outside by", signal);
		leave(w, own_fault(signal) ? HN_WORKER_CRASHED : HN_WORKER_LOST, why);
	} else {
		snprintf(why, sizeof why, "the process ended with status %d", (int)status);
		leave(w, HN_WORKER_CRASHED, why);
	}
	close_handle((uv_handle_t *)p);
}

/* Something of it has arrived, while we were stopped, or too busy to look. */
static bool has_sent(const struct hn_worker *w)
{
	struct pollfd p = {.events = POLLIN};

	return uv_fileno((const uv_handle_t *)&w->from, &p.fd) == 0 && poll(&p, 1, 0) > 0;
}

static void on_late(uv_timer_t *t)
{
	static const char *const why[] = {
		[HN_OVERRUN_OWN] = "no answer within its time limit",
		[HN_OVERRUN_STOPPED] = "stopped from outside until its time was over",
		[HN_OVERRUN_STARVED] = "kept from running until its time was over",
	};
	struct hn_worker *w = t->data;
	int64_t cpu_ns = hn_process_cpu_ns(w->process.pid) - w->cpu_ns;
	enum hn_overrun o;
	char text[160];

	if (has_sent(w) && !w->unread) {
		w->unread = true;
		uv_timer_start(t, on_late, READ_FIRST_MS, 0);
		return;
	}
	o = hn_process_overrun(w->process.pid, cpu_ns, w->limit_ms * 1000000);
	if (o == HN_OVERRUN_STARVED && ++w->n_extended < EXTENSIONS) {
		uv_timer_start(t, on_late, (uint64_t)w->limit_ms, 0);
		return;
	}
	snprintf(text, sizeof text, "%s: %.2f s of processor time in %.2f s", why[o],
		 (double)cpu_ns * 1e-9, (double)(hn_clock_ns() - w->asked_ns) * 1e-9);
	leave(w, o == HN_OVERRUN_OWN ? HN_WORKER_LATE : HN_WORKER_LOST, text);
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

static int greet(const struct hn_frame *f, struct hn_err *err)
{
	struct hn_frame_hello v;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_frame_decode_hello(f, &a, &v, err);

	hn_arena_fini(&a);
	return rc;
}

/* The first frame must be HELLO; all others go to the owner. */
static int take(struct hn_worker *w, const struct hn_frame *f, struct hn_err *err)
{
	if (!w->greeted) {
		w->greeted = true;
		return greet(f, err);
	}
	if (f->type == HN_FRAME_HELLO) {
		return hn_fail(err, HONE_E_CORRUPT, "HELLO: said twice");
	}
	w->owner.frame(w->owner.ctx, f);
	return 0;
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
			leave(w, HN_WORKER_CRASHED, err.msg);
			return;
		}
		if (n == 0) {
			break;
		}
		at += (size_t)n;
		if (take(w, &f, &err) != 0) {
			leave(w, HN_WORKER_CRASHED, err.msg);
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
		w->closed_early = true;
		uv_read_stop(s);
		uv_process_kill(&w->process, SIGKILL); /* on_ended follows */
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
	w->unread = false;
	w->n_extended = 0;
	if (limit_ms > 0) {
		w->limit_ms = limit_ms;
		w->asked_ns = hn_clock_ns();
		w->cpu_ns = hn_process_cpu_ns(w->process.pid);
		uv_timer_start(&w->timer, on_late, (uint64_t)limit_ms, 0);
	} else {
		uv_timer_stop(&w->timer);
	}
}

void hn_worker_stop(struct hn_worker *w)
{
	if (w != NULL && !w->gone) {
		w->stopped = true;
		leave(w, HN_WORKER_LOST, "stopped");
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

/* It yields to others: its time, and where memory ends, its life. */
static void restrain(int pid, const struct hn_worker_program *p)
{
	hn_process_expendable(pid);
	if (p->nice > 0) {
		setpriority(PRIO_PROCESS, (id_t)pid, p->nice);
	}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit r;

	if (p->most_bytes > 0 && prlimit(pid, RLIMIT_DATA, NULL, &r) == 0 &&
	    r.rlim_max > (rlim_t)p->most_bytes) {
		r.rlim_cur = r.rlim_max = (rlim_t)p->most_bytes;
		prlimit(pid, RLIMIT_DATA, &r, NULL);
	}
#endif
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
	restrain(w->process.pid, program);
	*ret = w;
	return 0;
}
