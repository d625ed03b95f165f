/* measure_soak.c -- crash kernels of 14 kinds mixed with good ones through the whole
 * measurer and a real CPU board: `full_measure_soak [N]`, N of each kind (10; the label
 * slow runs 100, which is 1,400 crashes).
 *
 * Held at the end against the start: the processes (none was replaced), their
 * descriptors, the board's memory, zombies.  Started under the name "hone-build" this
 * program answers BUILD frames from objects made beforehand; bytes differ each time, so
 * that nothing is answered from memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <uv.h>

#include "measure/measure.h"
#include "measure/board/sandbox.h"
#include "tests/lib/builder_main.h"
#include "tests/lib/measure_cc.h"

#define GOOD "for (int i = 0; i < 1003; i++) C[i] = 2 * A[i] + 1; "

static const struct {
	const char *name, *code;
	enum hn_verdict verdict;
} kind[] = {
	{"good", GOOD, HN_VERDICT_OK},
	{"null", "*(volatile float *)0 = 1;", HN_VERDICT_SEGV},
	{"past", GOOD "C[1003] = 0;", HN_VERDICT_SEGV_GUARD},
	{"deep", "char z = 0; deep(&z);" GOOD, HN_VERDICT_STACK_OVERFLOW},
	{"illegal", "__asm__ volatile(\"ud2\");", HN_VERDICT_ILL},
	{"divide", "C[0] = 7 / zero;" GOOD, HN_VERDICT_FPE},
	{"bus", "sys(234, sys(39, 0, 0, 0), sys(186, 0, 0, 0), 7);" GOOD, HN_VERDICT_BUS},
	{"poor", GOOD "return -1;", HN_VERDICT_OOM},
	{"hang", "for (;;) { __asm__ volatile(\"\"); }", HN_VERDICT_HANG},
	{"exit", GOOD "sys(231, 3, 0, 0);", HN_VERDICT_EXIT},
	{"opens", "sys(2, (long)\"/etc/passwd\", 0, 0);" GOOD, HN_VERDICT_SANDBOX},
	{"missing", NULL, HN_VERDICT_LOAD_FAIL},
	{"wrong", GOOD "C[500] += 1;", HN_VERDICT_WRONG_RESULT},
	{"flips", GOOD "if (runs++ > 2) C[7] = 9;", HN_VERDICT_NONDETERMINISTIC},
	{"thread", "env->parallel_for(env->ctx, part, (void *)C, 1003);" GOOD,
	 HN_VERDICT_SEGV},
};

#define N_KIND HN_COUNT_OF(kind)

static const char prologue[] =
	"#include <stdint.h>\n"
	"#include \"" HONE_SOURCE_DIR "/include/hone/kernel.h\"\n"
	"static volatile int zero;\n"
	CC_KEPT
	"#define runs (*kept())\n"
	"static long sys(long n, long a, long b, long c) { long r; __asm__ volatile("
	"\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c) : \"rcx\", "
	"\"r11\", \"memory\"); return r; }\n"
	"static int deep(volatile char *p) { volatile char a[4000]; a[0] = *p; return "
	"deep(a) + a[0]; }\n"
	"static void part(void *c, int64_t b, int64_t e, int32_t w) { if (e == 1003) "
	"*(volatile int *)8 = 1; }\n"
	"void *const used[] = {(void *)sys, (void *)deep, (void *)part, (void *)&zero, (void *)kept};\n";

/* ---- as hone-build ---- */

static void answer(const struct hn_frame *f, int n)
{
	char path[300], name[20] = "good", hash[HN_SHA256_HEX];
	struct hn_frame_object object = {.bytes = 0};
	const struct hn_frame_built said = {.verdict = HN_VERDICT_OK,
					    .build_ns = 5,
					    .prove_ns = 6,
					    .object = &object};
	struct hn_frame_build v;
	struct hn_arena a;
	struct hn_buf o;

	hn_arena_init(&a, 0);
	if (hn_frame_decode_build(f, &a, &v, NULL) != 0 ||
	    (!v.naive && sscanf(v.steps, "[\"%19[a-z]", name) != 1)) {
		exit(2);
	}
	snprintf(path, sizeof path, "%s/%s.o", getenv("HONE_TEST_OBJECTS"), name);
	hn_buf_init(&o);
	if (hn_file_read(path, 1 << 20, &o, NULL) != 0) {
		exit(3);
	}
	hn_buf_printf(&o, "%d %d", getpid(), n); /* other bytes, same code */
	object.bytes = (int64_t)o.n;
	if (v.slot != 0 && hn_slot_write(HN_SLOT_FD, (uint32_t)v.slot, o.s, o.n, hash)) {
		object.slot = v.slot;
		object.hash = hash;
	}
	builder_answer(f, &said, object.slot == 0 ? &o : NULL);
	hn_buf_fini(&o);
	hn_arena_fini(&a);
}

/* ---- as the test ---- */

static int each = 10;
static uv_loop_t loop;
static struct hn_measurer *m;
static char dir[100], builder[200];

struct shot {
	int *open;
	enum hn_verdict verdict;
	char detail[200];
};

static void on_result(void *ctx, const struct hn_measure_result *r)
{
	struct shot *s = ctx;

	s->verdict = r->verdict;
	snprintf(s->detail, sizeof s->detail, "%.190s", r->detail);
	--*s->open;
}

static void on_tick(uv_timer_t *t)
{
	(void)t;
}

static void wait_for(const int *open)
{
	uv_timer_t tick;

	uv_timer_init(&loop, &tick);
	uv_timer_start(&tick, on_tick, 1, 1);
	while (*open > 0) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

static int count_fds(int pid)
{
	char path[64];
	DIR *d;
	int n = 0;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d) != NULL) {
		n++;
	}
	closedir(d);
	return n;
}

/* A number of /proc/PID/status, 0 when it is not there. */
static long status_of(int pid, const char *key)
{
	char path[64], line[200];
	long v = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		if (strncmp(line, key, strlen(key)) == 0) {
			v = strncmp(key, "State", 5) == 0 ? line[strlen(key) + 2]
							  : atol(line + strlen(key) + 1);
		}
	}
	if (f != NULL) {
		fclose(f);
	}
	return v;
}

struct census {
	int n, pid[64], fds[64], own_fds;
	long rss_kb[64];
};

static struct census take_census(void)
{
	struct census c = {.own_fds = count_fds(getpid())};
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	while (c.n < 64 && fscanf(f, "%d", &c.pid[c.n]) == 1) {
		assert_int_not_equal(status_of(c.pid[c.n], "State:"), 'Z');
		c.fds[c.n] = count_fds(c.pid[c.n]);
		c.rss_kb[c.n] = status_of(c.pid[c.n], "VmRSS:");
		c.n++;
	}
	fclose(f);
	return c;
}

static int run_round(int n, bool crash)
{
	int total = n * 2 * (int)(N_KIND - 1), open = total, wrong = 0;
	struct shot *shot = calloc((size_t)total, sizeof *shot);
	bool filtered = (hn_sandbox_try() & HN_SANDBOX_SECCOMP) != 0;

	assert_non_null(shot);
	for (int i = 0; i < total; i++) {
		size_t k = crash && i % 2 ? 1 + (size_t)(i / 2) % (N_KIND - 1) : 0;
		char steps[40];

		shot[i].open = &open;
		snprintf(steps, sizeof steps, "[\"%s\"]", kind[k].name);
		hn_measurer_submit(m, "w", steps, 1, on_result, &shot[i]);
	}
	wait_for(&open);
	for (int i = 0; i < total; i++) {
		size_t k = crash && i % 2 ? 1 + (size_t)(i / 2) % (N_KIND - 1) : 0;
		bool right = shot[i].verdict == kind[k].verdict ||
			     (kind[k].verdict == HN_VERDICT_SANDBOX && !filtered);

		if (!right && wrong++ < 10) {
			print_message("%s: %s (%s), expected %s\n", kind[k].name,
				      hn_verdict_name(shot[i].verdict), shot[i].detail,
				      hn_verdict_name(kind[k].verdict));
		}
	}
	free(shot);
	return wrong;
}

static void crashes_change_nothing(void **state)
{
	struct census before, after;

	(void)state;
	assert_int_equal(run_round(1, true), 0); /* whatever is made once is made */
	before = take_census();
	assert_int_equal(run_round(each, true), 0);
	after = take_census();
	print_message("%d crashes of %d kinds, as many good ones\n",
		      each * (int)(N_KIND - 1), (int)(N_KIND - 1));
	assert_int_equal(after.n, before.n);
	assert_int_equal(after.own_fds, before.own_fds);
	for (int i = 0; i < before.n; i++) {
		assert_int_equal(after.pid[i], before.pid[i]); /* nobody was replaced */
		assert_int_equal(after.fds[i], before.fds[i]);
		print_message("process %d: %ld KiB before, %ld after\n", before.pid[i],
			      before.rss_kb[i], after.rss_kb[i]);
		assert_true(after.rss_kb[i] <= before.rss_kb[i] + 1024);
	}
	assert_int_equal(run_round(1, false), 0);
}

static int set_up(void **state)
{
	static const int64_t shape[] = {1003};
	static const struct hn_measure_arg args[] = {{"A", "float32", 1, shape, false},
						     {"C", "float32", 1, shape, true}};
	struct hn_workload w = {.key = "w",
				.dag_json = "{}",
				.n_arg = 2,
				.arg = args,
				.tolerance = 1e-6,
				.seed = 3};
	struct hn_measurer_config c = {.builder_path = builder,
				       .board_path = HONE_BIN_DIR "/hone-board",
				       .target = "cpu -isa=any",
				       .n_builders = 2,
				       .run_limit_ms = 200,
				       .builds_per_process = 1 << 20};
	char self[300] = "", path[300];
	int open = 1;
	struct shot s = {.open = &open};
	struct hn_err err;

	(void)state;
	strcpy(dir, "/tmp/hone-soak-XXXXXX");
	if (access(c.board_path, X_OK) != 0 || mkdtemp(dir) == NULL) {
		exit(77);
	}
	setenv("HONE_TEST_OBJECTS", dir, 1);
	for (size_t i = 0; i < N_KIND; i++) {
		char source[3000];

		snprintf(source, sizeof source,
			 "%s int32_t %s(void *const *args, const struct hone_env *env) { "
			 "const float *A = args[0]; volatile float *C = args[1]; (void)env; "
			 "%s return 0; }\n",
			 prologue,
			 kind[i].code != NULL ? "hone_kernel_packed" : "other_packed",
			 kind[i].code != NULL ? kind[i].code : GOOD);
		snprintf(path, sizeof path, "%s/%s.o", dir, kind[i].name);
		cc_object(source, path);
	}
	snprintf(builder, sizeof builder, "%s/hone-build", dir);
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	assert_int_equal(symlink(self, builder), 0);
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(hn_measurer_new(&loop, &c, &m, &err), 0);
	hn_measurer_workload(m, &w, on_result, &s);
	wait_for(&open);
	return s.verdict == HN_VERDICT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
	char path[300];

	(void)state;
	hn_measurer_close(m, NULL, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (size_t i = 0; i < N_KIND; i++) {
		snprintf(path, sizeof path, "%s/%s.o", dir, kind[i].name);
		unlink(path);
	}
	unlink(builder);
	return uv_loop_close(&loop) != 0 ? -1 : rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(crashes_change_nothing)};

	signal(SIGPIPE, SIG_IGN);
	if (argc > 0 && strstr(argv[0], "/hone-build") != NULL) {
		return builder_main(answer);
	}
	each = argc > 1 ? atoi(argv[1]) : each;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
