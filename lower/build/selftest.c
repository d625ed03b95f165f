/* lower/build/selftest.c -- see selftest.h. */
#include "lower/build/selftest.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/jw.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/check.h"

extern char **environ;

#define MOST_ANSWER ((size_t)1 << 16)
#define ROW(n) " s" #n "(i) = A(i) * 2 + 1 where i in 0:" #n
#define LANES(stage, n) "[\"AN\", " #stage ", 0, 2]" n

static const struct {
	const char *name, *dag, *steps;
} kernels[] = {
	{ "a narrowing store of one lane",
	  "t(int64 A[1,17], int32 C[3,17]) -> B, D { B(i,j) = int32(A(i,j)) D(i,j) = int8(C(i,j)) }",
	  "[[\"SP\", 2, 1, 17, [2], 1], [\"AN\", 3, 1, 2]]" },
	{ "tails of every width",
	  "t(float32 A[17]) -> s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15, "
	  "s16, s17 {" ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)
		  ROW(11) ROW(12) ROW(13) ROW(14) ROW(15) ROW(16) ROW(17) " }",
	  "[" LANES(2, ",") LANES(3, ",") LANES(4, ",") LANES(5, ",") LANES(6, ",") LANES(7, ",")
		  LANES(8, ",") LANES(9, ",") LANES(10, ",") LANES(11, ",") LANES(12, ",")
		  LANES(13, ",") LANES(14, ",") LANES(15, ",") LANES(16, ",") LANES(17, "") "]" },
	{ "a masked load wider than a register, at the end of its rows",
	  "t(float32 X[16,17]) -> Y { Y(i,j) = exp(X(i,j)) }", "[[\"SP\", 1, 0, 16, [6], 1]]" },
	{ "masked loads of types of many widths",
	  "t(int8 A[37], bool M[37], int64 C[37]) -> B, D { B(i) = M(i) ? int64(A(i)) : 3 "
	  "D(i) = i >= 2 && i < 35 ? int64(A(i - 2)) + C(i - 2) : 0 where i in 0:37 }",
	  "[[\"AN\", 3, 0, 2], [\"AN\", 4, 0, 2]]" },
	{ "a reduction of narrow numbers with uneven tiles",
	  "t(int16 A[7,19], int16 B[19,21]) -> C, D { C(i,j) +=! A(i,k) * B(k,j) "
	  "D(i) max=! k >= i ? A(i,k) where k in 0:19 }",
	  "[[\"SP\", 2, 2, 19, [4], 1], [\"RE\", 2, [0, 2, 3, 1]], [\"AN\", 2, 3, 2]]" },
	{ "sizes that come with the call",
	  "t(M in [1, 9], N in [1, 37], float32 A[M,N], float32 B[N]) -> C, D { "
	  "C(i) +=! A(i,k) * B(k) D(i,k) = A(i,k) + B(k) }",
	  "[[\"SP\", 2, 1, 37, [5], 1], [\"SP\", 3, 1, 37, [8], 1], [\"AN\", 3, 2, 2]]" },
};

/* "LLVM 22.1.0 on znver3" and what else decides which code is made. */
struct key {
	char llvm[40], hex[17];
	const char *cpu;
};

static struct key key_of(const struct hn_emitter *em, struct hn_arena *a)
{
	const struct hn_emitter_facts f = hn_emitter_facts(em, a);
	struct key ret = { .cpu = f.processor };
	uint64_t h = hn_hash64(HONE_VERSION, strlen(HONE_VERSION), 1);
	const char *const text[] = { ret.llvm, f.triple, f.processor, f.features };
	const char *number = strrchr(f.version, ' ');

	snprintf(ret.llvm, sizeof ret.llvm, "%s", number != NULL ? number + 1 : f.version);
	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		h = hn_hash64(text[i], strlen(text[i]), h);
	}
	for (size_t i = 0; i < HN_COUNT_OF(kernels); i++) {
		h = hn_hash64(kernels[i].dag, strlen(kernels[i].dag), h);
		h = hn_hash64(kernels[i].steps, strlen(kernels[i].steps), h);
	}
	snprintf(ret.hex, sizeof ret.hex, "%016llx", (unsigned long long)h);
	return ret;
}

static int write_kernel(struct hn_emitter *em, size_t i, const char *path, struct hn_arena *a,
			struct hn_err *err)
{
	struct hn_emit_options o = { .symbol = "hone_selftest" };
	const char *steps = kernels[i].steps, *dag_text = kernels[i].dag;
	const struct hn_looptree *t;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_artefact made;
	int rc = hn_dag_parse_sized("selftest", dag_text, strlen(dag_text), 0, a, &dag, err);

	rc = rc ? rc : hn_trace_parse("selftest", steps, strlen(steps), a, &trace, err);
	rc = rc ? rc : hn_state_replay(dag, trace, a, &s, err);
	rc = rc ? rc : hn_looptree_build(s, a, &t, err);
	rc = rc ? rc : hn_emit(em, t, &o, a, &made, err);
	return rc ? rc : hn_check_write(path, dag, NULL, o.symbol, &made, err);
}

/* A file without a name, and the name under which a program that inherits it opens it. */
struct scratch {
	int fd;
	char path[32];
};

static int scratch_open(struct scratch *s, struct hn_err *err)
{
	s->fd = memfd_create("hone-selftest", 0);
	snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
	return s->fd >= 0 ? 0 : hn_fail(err, HONE_E_NOMEM, "selftest: %s", strerror(errno));
}

static void scratch_close(struct scratch *s)
{
	if (s->fd >= 0) {
		close(s->fd);
	}
}

/* Runs the kernel's cases; what the program prints is in out and said.  Its exit status. */
static int run_board(const char *board, const struct scratch *in, const struct scratch *out,
		     const struct scratch *said, int *ret_status, struct hn_err *err)
{
	char *argv[] = { "hone-board", "--check", (char *)in->path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out->fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said->fd, STDERR_FILENO);
	int rc = posix_spawn(&pid, board, &actions, NULL, argv, environ);

	posix_spawn_file_actions_destroy(&actions);
	while (rc == 0 && waitpid(pid, ret_status, 0) < 0) {
		rc = errno == EINTR ? 0 : errno;
	}
	return rc == 0 ? 0
		       : hn_fail(err, HONE_E_NOT_FOUND, "%s: cannot be started: %s", board,
				 strerror(rc));
}

/* Its verdict: 0, or HONE_E_INTERNAL with it; other errors where there is none. */
static int judge(const char *text, size_t i, const struct key *k, struct hn_err *err)
{
	struct hn_json *json = NULL;
	int rc = hn_json_parse("hone-board", text, strlen(text), NULL, &json, err);
	const char *verdict = rc ? NULL : hn_json_string(hn_json_get(json, "verdict"));
	const char *detail = rc ? NULL : hn_json_string(hn_json_get(json, "detail"));

	if (rc == 0 && verdict != NULL && strcmp(verdict, "OK") == 0) {
		rc = hn_json_count(hn_json_get(json, "cases")) > 0
			     ? 0
			     : hn_fail(err, HONE_E_UNSUPPORTED, "%s",
				       hn_json_string(hn_json_get(json, "why")));
	} else if (rc == 0) {
		rc = hn_fail(err, HONE_E_INTERNAL,
			     "LLVM %s makes wrong code for %s, so that nothing is made with it: "
			     "hone's own test, %s: %s: %.200s",
			     k->llvm, k->cpu, kernels[i].name, verdict ? verdict : "no answer",
			     detail ? detail : "");
	}
	hn_json_free(json);
	return rc;
}

static int test_kernel(struct hn_emitter *em, const char *board, size_t i, const struct key *k,
		       struct hn_err *err)
{
	struct scratch in = { .fd = -1 }, out = { .fd = -1 }, said = { .fd = -1 };
	struct hn_arena a;
	struct hn_buf text;
	int status = 0;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	int rc = scratch_open(&in, err);

	rc = rc ? rc : scratch_open(&out, err);
	rc = rc ? rc : scratch_open(&said, err);
	rc = rc ? rc : write_kernel(em, i, in.path, &a, err);
	rc = rc ? rc : run_board(board, &in, &out, &said, &status, err);
	if (rc == 0 && status != 0) {
		int code = WIFEXITED(status) ? WEXITSTATUS(status) - 10 : 0;

		rc = hn_file_read(said.path, MOST_ANSWER, &text, err);
		rc = rc ? rc : hn_fail(err, code > 0 ? code : HONE_E_IO, "%.*s",
				       text.n > 0 ? (int)strcspn(text.s, "\n") : 0,
				       text.n > 0 ? text.s : "");
	}
	rc = rc ? rc : hn_file_read(out.path, MOST_ANSWER, &text, err);
	rc = rc ? rc : judge(text.n > 0 ? text.s : "", i, k, err);
	scratch_close(&in);
	scratch_close(&out);
	scratch_close(&said);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}

/* What was found, for the next time; best effort. */
static void keep(const char *folder, const char *path, const struct key *k, const char *why,
		 int64_t ms)
{
	struct hn_err err = { 0 };
	struct hn_buf json;
	struct hn_jw w;

	hn_buf_init(&json);
	hn_jw_init(&w, &json);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "llvm", k->llvm);
	hn_jw_str(&w, "cpu", k->cpu);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_str(&w, "verdict", why != NULL ? "NOT RUN" : "OK");
	hn_jw_str(&w, "why", why);
	hn_jw_int(&w, "ms", ms);
	hn_jw_end(&w);
	hn_buf_puts(&json, "\n");
	int rc = json.failed ? -HONE_E_NOMEM : hn_file_mkdirs(folder, 0700, &err);

	rc = rc ? rc : hn_file_replace(path, json.s, json.n, &err);
	hn_buf_fini(&json);
}

static int test_all(struct hn_emitter *em, const char *board, const struct key *k,
		    struct hn_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(kernels) && rc == 0; i++) {
		rc = test_kernel(em, board, i, k, err);
	}
	return rc;
}

int hn_selftest(struct hn_emitter *em, const struct hn_selftest_place *at, struct hn_err *err)
{
	struct hn_err why = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	struct key k = key_of(em, &a);
	const char *folder = hn_arena_printf(&a, "%s/codegen", at->home);
	const char *path = hn_arena_printf(&a, "%s/%s.json", folder, k.hex);
	int64_t begin = hn_clock_ns();
	int rc = 0;

	if (access(path, F_OK) != 0) {
		rc = test_all(em, at->board, &k, &why);
		bool for_good = rc == 0 || rc == -HONE_E_UNSUPPORTED;

		if (rc == -HONE_E_INTERNAL) {
			rc = hn_fail(err, HONE_E_INTERNAL, "%s", why.msg);
		} else if (rc != 0) {
			fprintf(stderr, "hone-build: LLVM %s for %s is not tested here: %s\n",
				k.llvm, k.cpu, why.msg);
			rc = 0;
		}
		if (for_good) {
			keep(folder, path, &k, why.msg[0] ? why.msg : NULL,
			     (hn_clock_ns() - begin) / 1000000);
		}
	}
	hn_arena_fini(&a);
	return rc;
}
