/* measurer_bed.h -- a measurer on a real hone-board, with this program as hone-build.
 *
 * Started under the name "hone-build" a program that uses this answers BUILD frames: a
 * candidate's steps say what to do, e.g. ["good"], ["null"], ["die"].  Objects are made
 * beforehand by the compiler of this build, one symbol each, and read from the folder named in
 * HONE_TEST_OBJECTS.
 */
#ifndef HN_TESTS_MEASURER_BED_H
#define HN_TESTS_MEASURER_BED_H

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <uv.h>

#include "base/clock.h"
#include "measure/measure.h"
#include "measure/board/pairs.h"
#include "tests/lib/builder_main.h"
#include "tests/lib/measure_cc.h"
#include "tests/lib/open_fds.h"

static const char *const objects[][2] = {
	{ "naive",
	  "for (int i = 0; i < 1003; i++) C[i] = 2 * A[i] + 1; __asm__(\"nop\");" },
	{ "good", "for (int i = 0; i < 1003; i++) C[i] = 2 * A[i] + 1;" },
	{ "null", "*(volatile float *)0 = 1;" },
	{ "past", "for (int i = 0; i < 1004; i++) C[i] = 2 * A[i < 1003 ? i : 0] + 1;" },
	{ "wrong", "for (int i = 0; i < 1003; i++) C[i] = 2 * A[i];" },
	{ "hang", "for (;;) { __asm__ volatile(\"\"); }" },
	/* any shared memory there is a descriptor of, by x86-64's mmap; pread of the depot */
	{ "maps", "for (long fd = 0; fd < 64; fd++) if (sys(9, 0, 4096, 1, 1, fd) > 0) return 7; "
		  "for (int i = 0; i < 1003; i++) C[i] = 2 * A[i] + 1;" },
	{ "preads", "char x[8]; if (sys(17, 3, (long)x, 8, 4096 * 64, 0) > 0) return 7; "
		    "for (int i = 0; i < 1003; i++) C[i] = 2 * A[i] + 1;" },
};

static const char system_call[] =
	"static inline long sys(long n, long a, long b, long c, long d, long e) { long r = -1;\n"
	"#ifdef __x86_64__\n"
	"register long r10 __asm__(\"r10\") = d, r8 __asm__(\"r8\") = e, r9 __asm__(\"r9\") = 0;"
	"__asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c), "
	"\"r\"(r10), \"r\"(r8), \"r\"(r9) : \"rcx\", \"r11\", \"memory\");\n"
	"#endif\n"
	"return r; }\n";

/* ---- as hone-build ---- */

/* Hand the object over as hone-build does, in the slot if there is one. */
static void deliver(const struct hn_frame *f, uint32_t slot, const char *word,
		    const struct hn_buf *o)
{
	struct hn_frame_object object = { .bytes = (int64_t)o->n };
	const struct hn_frame_built v = { .verdict = HN_VERDICT_OK,
					  .build_ns = 5,
					  .prove_ns = 6,
					  .codegen = "test/LLVM 1.2",
					  .object = &object };
	char hash[HN_SHA256_HEX];

	if (slot == 0 || !hn_slot_write(HN_SLOT_FD, slot, o->s, o->n, hash)) {
		builder_answer(f, &v, o);
		return;
	}
	if (strcmp(word, "spoils") == 0) { /* what all the others have built */
		for (uint32_t i = 0; i < 1024; i++) {
			if (i != slot &&
			    pwrite(HN_SLOT_FD, "spoilt", 6, (off_t)i * HN_SLOT_BYTES) != 6) {
				exit(5);
			}
		}
	} else if (strcmp(word, "changes") == 0 &&
		   pwrite(HN_SLOT_FD, "changed", 7, (off_t)slot * HN_SLOT_BYTES) != 7) {
		exit(6);
	}
	object.bytes = strcmp(word, "boasts") == 0	 ? HN_SLOT_BYTES + 1
		       : strcmp(word, "overstates") == 0 ? (int64_t)o->n + 1
							 : (int64_t)o->n;
	object.slot = strcmp(word, "strays") == 0 ? slot + 1 : slot;
	object.hash = strcmp(word, "scrawls") == 0 ? "../../etc/passwd" : hash;
	builder_answer(f, &v, NULL);
}

/* The file of a word that is about how it is handed over. */
static const char *object_of(const char *word)
{
	static const char *const hostile[] = { "spoils", "changes", "boasts", "overstates",
					       "scrawls", "strays" };

	for (size_t i = 0; i < HN_COUNT_OF(hostile); i++) {
		if (strcmp(word, hostile[i]) == 0) {
			return "good";
		}
	}
	return word;
}

/* The first of the steps, a string. */
static const char *word_of(const struct hn_frame_build *v, struct hn_arena *a)
{
	struct hn_json *steps;
	const char *word;

	if (v->naive || *v->plant != '\0') {
		return v->naive ? "naive" : v->plant;
	}
	if (hn_json_parse("steps", v->steps, strlen(v->steps), NULL, &steps, NULL) != 0) {
		exit(2);
	}
	word = hn_arena_strdup(a, hn_json_string(hn_json_first(steps)));
	hn_json_free(steps);
	return word;
}

static void build(const struct hn_frame *f, int n)
{
	struct hn_frame_build v;
	struct hn_arena a;
	struct hn_buf o;
	char path[300];
	const char *word;

	hn_arena_init(&a, 0);
	if (hn_frame_decode_build(f, &a, &v, NULL) != 0) {
		exit(2);
	}
	word = word_of(&v, &a);
	hn_buf_init(&o);
	if (strcmp(word, "die") == 0) {
		abort();
	} else if (strcmp(word, "stall") == 0) {
		pause();
	} else if (strcmp(word, "spin") == 0) {
		for (;;) {
			__asm__ volatile("");
		}
	} else if (strcmp(word, "killed") == 0) { /* as if by somebody else */
		kill(getpid(), SIGKILL);
	} else if (strcmp(word, "stopped") == 0) {
		kill(getpid(), SIGSTOP);
	} else if (strcmp(word, "quits") == 0) {
		exit(4);
	} else if (strcmp(word, "babble") == 0) {
		if (write(1, "this is not a frame at all, is it?", 34) == 34) {
			pause();
		}
	} else if (strcmp(word, "lie") == 0) {
		builder_answer(f, &(struct hn_frame_built){ .verdict = HN_VERDICT_OK }, NULL);
	} else if (strcmp(word, "illegal") == 0) {
		builder_answer(f,
			       &(struct hn_frame_built){ .verdict = HN_VERDICT_ILLEGAL,
							 .detail = "loop i carries a dependence" },
			       NULL);
	} else {
		bool fresh = word[0] == '+'; /* other bytes, same code */

		snprintf(path, sizeof path, "%s/%s.o", getenv("HONE_TEST_OBJECTS"),
			 object_of(word + fresh));
		if (hn_file_read(path, 1 << 20, &o, NULL) != 0) {
			exit(3);
		}
		if (fresh) {
			hn_buf_printf(&o, "%d %d", getpid(), n);
		}
		deliver(f, (uint32_t)v.slot, word + fresh, &o);
	}
	hn_buf_fini(&o);
	hn_arena_fini(&a);
}

/* ---- as the test ---- */

static uv_loop_t loop;
static struct hn_measurer *m;
static char dir[200];
static bool is_closed;

struct waiting {
	int open;
	enum hn_verdict verdict;
	char detail[400], codegen[100];
	uint32_t n_sample;
	double median_ns;
	int64_t build_ns, kernel_ns;
	bool pairs, rivals;
	int count[HN_N_VERDICT];
};

static void on_result(void *ctx, const struct hn_measure_result *r)
{
	struct waiting *w = ctx;

	w->open--;
	w->verdict = r->verdict;
	w->count[r->verdict]++;
	w->n_sample = r->n_sample;
	w->median_ns = r->median_ns;
	w->build_ns = r->build_ns;
	w->kernel_ns = r->kernel_ns;
	w->pairs = r->rival_ns != NULL;
	w->rivals = r->rivals;
	for (uint32_t i = 0; w->pairs && i < r->n_sample; i++) {
		assert_true(r->rival_ns[i] > 0);
	}
	snprintf(w->detail, sizeof w->detail, "%s", r->detail);
	snprintf(w->codegen, sizeof w->codegen, "%s", r->codegen);
}

static void on_tick(uv_timer_t *t)
{
	(void)t;
}

static void wait_for(struct waiting *w)
{
	static uv_timer_t tick; /* UV_RUN_ONCE may fire a timer and then sleep for ever */

	uv_timer_init(&loop, &tick);
	uv_timer_start(&tick, on_tick, 1, 1);
	while (w->open > 0) {
		assert_int_not_equal(uv_run(&loop, UV_RUN_ONCE), 0);
	}
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

static void make_workload(const char *key, struct waiting *w)
{
	static const int64_t shape[] = { 1003 };
	static const struct hn_measure_arg args[] = {
		{ "A", "float32", 1, shape, false }, { "C", "float32", 1, shape, true }
	};
	struct hn_workload wl = { .key = key,
				  .dag_json = "{\"x\":1}",
				  .n_arg = 2,
				  .arg = args,
				  .needed_flops = 2006,
				  .tolerance = 1e-6,
				  .seed = 11 };

	*w = (struct waiting){ .open = 1 };
	hn_measurer_workload(m, &wl, on_result, w);
	wait_for(w);
}

/* No answer, or one with a warning. */
static bool disturbed(const struct waiting *w)
{
	return w->verdict == HN_VERDICT_NOISY || strstr(w->detail, "kept from running") != NULL ||
	       (w->verdict == HN_VERDICT_OK && *w->detail != '\0');
}

/* What other programs on this machine disturb is no answer here: once more, but not for
 * ever. */
static struct waiting undisturbed(const char *steps, const char *rival)
{
	struct waiting w = { .verdict = HN_VERDICT_NOISY };

	for (int i = 0; i < 20 && disturbed(&w); i++) {
		w = (struct waiting){ .open = 1 };
		if (rival != NULL) {
			hn_measurer_duel(m, "w", steps, rival, on_result, &w);
		} else {
			hn_measurer_submit(m, "w", steps, 0, on_result, &w);
		}
		wait_for(&w);
	}
	return w;
}

static struct waiting run(const char *steps)
{
	return undisturbed(steps, NULL);
}

/* Processes whose parent we are; pids into pid. */
static int children(int *pid, int max)
{
	char path[64], word[64];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	while (n < max && fscanf(f, "%60s", word) == 1) {
		pid[n++] = atoi(word);
	}
	fclose(f);
	return n;
}

/* Workers are replaced in their own time: a count is fair once the loop had time to do
 * so. */
static void run_for_ms(int ms)
{
	int64_t end = hn_clock_ns() + ms * INT64_C(1000000);

	while (hn_clock_ns() < end) {
		uv_run(&loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
}

/* Fewer is fine: a recycled builder comes back only when there is work for it. */
static void nothing_stays_behind(int fds, int n_children)
{
	int pid[64];

	for (int i = 0; i < 50 && (count_fds() > fds || children(pid, 64) > n_children);
	     i++) {
		run_for_ms(100);
	}
	assert_true(count_fds() <= fds);
	assert_true(children(pid, 64) <= n_children);
}

static void on_closed(void *ctx)
{
	(void)ctx;
	is_closed = true;
}

static int start(const char *plant, int64_t build_limit_ms)
{
	static char builder[300];
	struct hn_measurer_config c = { .builder_path = builder,
					.board_path = HONE_BIN_DIR "/hone-board",
					.target = "cpu -isa=any",
					.n_builders = 2,
					.build_limit_ms = build_limit_ms,
					.run_limit_ms = 300,
					.builds_per_process = 40,
					.plant = plant };
	struct hn_err err = { 0 };
	char self[300] = "", path[400];

	strcpy(dir, "/tmp/hone-measurer-XXXXXX");
	if (access(c.board_path, X_OK) != 0 || mkdtemp(dir) == NULL) {
		exit(77);
	}
	setenv("HONE_TEST_OBJECTS", dir, 1);
	for (size_t i = 0; i < HN_COUNT_OF(objects); i++) {
		char source[1200];

		snprintf(source, sizeof source,
			 "%sint hone_kernel_packed(void *const *args, const void *env) { "
			 "const float *A "
			 "= args[0]; volatile float *C = args[1]; %s return 0; }\n",
			 system_call, objects[i][1]);
		snprintf(path, sizeof path, "%s/%s.o", dir, objects[i][0]);
		cc_object(source, path);
	}
	snprintf(builder, sizeof builder, "%s/hone-build", dir);
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	assert_int_equal(symlink(self, builder), 0);
	assert_int_equal(uv_loop_init(&loop), 0);
	if (hn_measurer_new(&loop, &c, &m, &err) != 0) {
		print_message("%s\n", err.msg);
		return -1;
	}
	assert_int_equal(hn_measurer_depth(m), 6);
	return 0;
}

static int stop(void **state)
{
	char path[400];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(objects); i++) {
		snprintf(path, sizeof path, "%s/%s.o", dir, objects[i][0]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/hone-build", dir);
	unlink(path);
	return rmdir(dir);
}


#endif
