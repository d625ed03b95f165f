/* lower/build/build_worker.c -- hone-build as a worker: frames on descriptors 0 and 1
 * (docs/frames.md), one request at a time, HELLO first, until the other side closes.
 *
 * Wall clock and memory are the parent's to limit; isl is bounded by hn_legal_check's own
 * clock.  A crash is held against the request; so a fault's signal that another process sent
 * ends this one as SIGKILL would, which is held against nobody (measure/host/worker.c).
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lower/build/build.h"
#include "proto/frames.h"

#define ARENA_BYTES ((size_t)1 << 30)

static struct hn_build_request request_of(const struct hn_frame_build *v)
{
	return (struct hn_build_request){
		.dag = v->dag,
		.dag_bytes = strlen(v->dag),
		.steps = v->steps,
		.steps_bytes = strlen(v->steps),
		.target = v->target,
		.symbol = v->symbol,
		.plant = v->plant,
		.wide = v->wide,
		.wide_steps = v->wide_steps,
		.refer = v->refer,
		.refer_steps = v->refer_steps,
		.slices = v->slices,
		.samples = v->samples,
		.brackets = v->brackets,
		.bracket_steps = v->bracket_steps,
		.counts = v->counts,
		.naive = v->naive,
		.prove = v->prove,
		.no_emit = v->no_emit,
		.any_form = true, /* the board knows what it takes */
	};
}

/* Into the slot, when there is one and it has room. */
static bool put_in_slot(const struct hn_artefact *a, uint32_t slot, char hash[HN_SHA256_HEX])
{
	return slot != 0 && hn_slot_write(HN_SLOT_FD, slot, a->object, a->object_bytes, hash);
}

static int send_answer(uint64_t request, const struct hn_build_answer *ans, uint32_t slot)
{
	bool good = ans->verdict == HN_VERDICT_OK, made = good && ans->artefact.object != NULL;
	const struct hn_artefact *a = &ans->artefact;
	struct hn_frame_slice slice[HN_SLICE_MAX];
	char hash[HN_SHA256_HEX] = "";
	struct hn_buf json;
	struct hn_frame f;
	struct hn_err err;

	bool in_slot = made && put_in_slot(a, slot, hash);
	const struct hn_frame_object object = {
		.bytes = (int64_t)a->object_bytes,
		.shared_bytes = (int64_t)a->shared_bytes,
		.per_worker_bytes = (int64_t)a->per_worker_bytes,
		.prepared_bytes = (int64_t)a->prepared_bytes,
		.slot = in_slot ? slot : 0,
		.hash = hash,
	};

	for (uint32_t i = 0; i < ans->more.n_slice; i++) {
		slice[i] = (struct hn_frame_slice){ ans->more.points[i], ans->more.of[i] };
	}
	hn_buf_init(&json);
	hn_frame_encode_built(
		&(struct hn_frame_built){ .verdict = ans->verdict,
					  .detail = ans->why.msg,
					  .build_ns = ans->build_ns,
					  .prove_ns = ans->prove_ns,
					  .certificate = ans->certificate,
					  .codegen = ans->codegen,
					  .object = made ? &object : NULL,
					  .slices = { good ? ans->more.n_slice : 0, slice },
					  .counted_ns = good ? ans->counted_ns : 0 },
		&json);
	f = hn_frame_of(HN_FRAME_BUILT, request, &json);
	if (made && !in_slot) {
		f.blob = a->object;
		f.blob_bytes = (uint32_t)a->object_bytes;
	}
	int rc = hn_frame_send(STDOUT_FILENO, &f, &err);

	hn_buf_fini(&json);
	return rc;
}

static int serve_frame(struct hn_builder *b, const struct hn_frame *f)
{
	struct hn_build_answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct hn_frame_build v = { .slot = 0 };
	struct hn_arena a;

	hn_arena_init(&a, ARENA_BYTES);
	if (hn_frame_decode_build(f, &a, &v, &ans.why) == 0) {
		const struct hn_build_request r = request_of(&v);

		hn_build(b, &r, &a, &ans);
	}
	if (ans.artefact.object_bytes > HN_FRAME_MAX_BLOB) {
		ans.verdict = HN_VERDICT_OVER_LIMIT;
		hn_fail(&ans.why, HONE_E_QUOTA, "the object is larger than %u bytes",
			HN_FRAME_MAX_BLOB);
	}
	int rc = send_answer(f->request, &ans, (uint32_t)v.slot);

	hn_arena_fini(&a);
	return rc;
}

#if defined(__SANITIZE_ADDRESS__)
/* The sanitizer says where. */
static void watch_faults(void)
{
}
#else
static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 && info->si_pid != getpid()) {
		kill(getpid(), SIGKILL);
	}
	raise(signal); /* SA_RESETHAND: it is final now */
}

static void watch_faults(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER };

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < HN_COUNT_OF(faults); i++) {
		sigaction(faults[i], &act, NULL);
	}
}
#endif

static int say_hello(struct hn_err *err)
{
	struct hn_buf json, line;
	struct hn_target host;
	struct hn_frame f;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	hn_buf_init(&line);
	hn_target_host(&a, &host);
	hn_target_print(&host, &line);
	hn_frame_encode_hello(&(struct hn_frame_hello){ .worker = "hone-build",
							.version = HONE_VERSION,
							.target = line.s },
			      &json);
	f = hn_frame_of(HN_FRAME_HELLO, 0, &json);
	int rc = hn_frame_send(STDOUT_FILENO, &f, err);

	hn_buf_fini(&json);
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	return rc;
}

int hn_build_serve(struct hn_builder *b)
{
	struct hn_err err = { 0 };
	struct hn_buf buf;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a compile under way outlives nobody */
	watch_faults();
	rc = say_hello(&err);
	hn_buf_init(&buf);
	while (rc == 0) {
		struct hn_frame f;

		hn_buf_reset(&buf);
		rc = hn_frame_recv(STDIN_FILENO, &buf, &f, &err);
		rc = rc ? rc : serve_frame(b, &f);
	}
	hn_buf_fini(&buf);
	if (rc < 0 && rc != -HONE_E_IO) {
		fprintf(stderr, "hone-build: %s\n", err.msg);
	}
	return rc == 1 ? 0 : 1;
}
