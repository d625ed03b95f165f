/* measure_planted.c -- 300 kernels that give a right answer when they are asked for the first time,
 * and are wrong now and then, or leave work out when nobody seems to look: faults that come with
 * time, with what lies in the outputs, or with what is kept from other calls.  None may be taken
 * for right; the same program without the fault must be.
 *
 * All compute C = A B of 24 x 24 floats.  What they keep is in static storage, in pages of their
 * own, or in the workspace, in turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "tests/lib/cpu_board.h"

#define N 24
#define EACH 30

static const char prologue[] =
	"#include <stdint.h>\n"
	"#include \"" HONE_SOURCE_DIR "/include/hone/kernel.h\"\n"
	"#define N 24\n"
	CC_KEPT
	"static int fixed[1024];\n"
	/* what is kept: [0] counts calls, [1] says that it is ours, [2..8) a key, then an answer */
	"static int *store(int k, const struct hone_env *env) {\n"
	" int *s = k % 3 == 0 ? fixed : k % 3 == 1 ? kept() : env->workspace;\n"
	" if (s[1] != 0x5eed) { for (int i = 0; i < 8; i++) s[i] = 0; s[1] = 0x5eed; }\n"
	" return s; }\n"
	"static void rows(const float *A, const float *B, volatile float *C, int from, int to) {\n"
	" for (int i = from; i < to; i++) for (int j = 0; j < N; j++) { float s = 0;\n"
	"  for (int k = 0; k < N; k++) s += A[i * N + k] * B[k * N + j]; C[i * N + j] = s; } }\n"
	"static float one(const float *A, const float *B, int at) { float s = 0;\n"
	" for (int k = 0; k < N; k++) s += A[at / N * N + k] * B[k * N + at % N]; return s; }\n"
	"static int near(float a, float b) { return a - b < 1e-5f && b - a < 1e-5f; }\n"
	"static int same_bytes(float f) { union { float f; unsigned u; } p = {f};\n"
	" unsigned b = p.u & 255; return p.u == b * 0x1010101u; }\n"
	"static unsigned long ticks(void) { unsigned lo, hi;\n"
	" __asm__ volatile(\"rdtsc\" : \"=a\"(lo), \"=d\"(hi)); return lo ^ (unsigned long)hi << 32; }\n"
	"static unsigned chance(void) { unsigned long t = ticks() * 0x9e3779b97f4a7c15u;\n"
	" return (unsigned)(t >> 33); }\n";

/* K is 1 to EACH, or 0: no fault.  AT is a random element, M a random number below 1,000; S the
 * store.  ALL computes everything. */
static const struct {
	const char *name, *code;
} family[] = {
	/* wrong in one call of so many, by count; the rarest ones, of static storage */
	{"rare", "static const int every[] = {20, 200, 2000}; int n = K % 3 == 0 ? every[K / 3 % 3] "
		 ": 10 + K * 5; ALL; if (++S[0] % n == M % n) C[AT] = 7;"},
	/* a whole row left out now and then */
	{"row", "if (++S[0] % (7 + K) == 5) { rows(A, B, C, 0, M % N); "
		"rows(A, B, C, M % N + 1, N); } else ALL;"},
	/* by chance, as a race is */
	{"chance", "ALL; if (chance() % (2 + K) == 0) C[AT] += 0.5f;"},
	/* right in the first calls, fewer than are made at least */
	{"early", "if (S[0]++ < K * 8) ALL; else rows(A, B, C, 0, N - 1 - M % 4);"},
	/* half of the work unless there is a pattern of equal bytes at one place, or at a few */
	{"pattern", "int p = 0; for (int i = 0; i <= K % 4; i++) p |= same_bytes(C[(AT + i * 101) % "
		    "(N * N)]); if (p) ALL; else rows(A, B, C, 0, K * N / (EACH + 1));"},
	/* nothing when a few elements are there already */
	{"there", "int t = 1; for (int i = 0; i <= K % 5; i++) { int at = (AT + i * 67) % (N * N); "
		  "t &= near(C[at], one(A, B, at)); } if (!t) ALL; else rows(A, B, C, 0, K % 3);"},
	/* the rest of the answer when its first rows are there */
	{"resume", "int r = 0; while (r < N && near(C[r * N + M % N], one(A, B, r * N + M % N))) r++; "
		   "rows(A, B, C, r, N);"},
	/* the answer of the same pointers */
	{"pointer", "int *s = S; float *old = (float *)(s + 8); int key = (int)(intptr_t)(K % 2 ? A : B); "
		    "if (s[2] != key) { rows(A, B, old, 0, N); s[2] = key; } "
		    "for (int i = 0; i < N * N; i++) C[i] = old[i];"},
	/* ... or of the same few elements */
	{"contents", "int *s = S; float *old = (float *)(s + 8); int hit = s[7] == 1; "
		     "for (int i = 0; i <= K % 4; i++) { int v = ((const int *)(i % 2 ? B : A))[(AT + i * 31) "
		     "% (N * N)]; hit &= s[2 + i] == v; s[2 + i] = v; } "
		     "if (!hit) { rows(A, B, old, 0, N); s[7] = 1; } "
		     "for (int i = 0; i < N * N; i++) C[i] = old[i];"},
	/* some rows as they were in the call before */
	{"stale", "int *s = S; float *old = (float *)(s + 8); ALL; int rows = 1 + K % 5; "
		  "if (s[2] == 1) for (int i = 0; i < rows * N; i++) C[(M % (N - 5)) * N + i] = old[i]; "
		  "else for (int i = 0; i < rows * N; i++) old[i] = C[(M % (N - 5)) * N + i]; s[2] = 1;"},
};

static void write_kernels(struct hn_buf *b)
{
	struct hn_rng r = hn_rng_stream(20261123, 0, 0, 0);

	hn_buf_puts(b, prologue);
	hn_buf_printf(b, "#define EACH %d\n#define ALL rows(A, B, C, 0, N)\n#define S store(K, env)\n",
		      EACH);
	hn_buf_puts(b, "int32_t good_0_packed(void *const *a, const struct hone_env *env) { "
		       "rows(a[0], a[1], a[2], 0, N); return 0; }\n");
	for (size_t f = 0; f < HN_COUNT_OF(family); f++) {
		for (int k = 1; k <= EACH; k++) {
			hn_buf_printf(b,
				      "#define K %d\n#define AT %d\n#define M %d\n"
				      "int32_t %s_%d_packed(void *const *a, const struct hone_env "
				      "*env) { const float *A = a[0], *B = a[1]; volatile float *C = "
				      "a[2]; %s return 0; }\n#undef K\n#undef AT\n#undef M\n",
				      k, (int)hn_rng_below(&r, N * N), (int)hn_rng_below(&r, 1000),
				      family[f].name, k, family[f].code);
		}
	}
}

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	write_kernels(&source);
	return open_cpu_board(&source);
}

static struct hn_board_kernel kernel(const char *symbol)
{
	return (struct hn_board_kernel){.object = object.s,
					.object_bytes = object.n,
					.symbol = symbol,
					.shared_bytes = 4096,
					.limit_ms = 10000};
}

static struct hn_board_answer measure(const char *name, int k, const char *rival)
{
	char symbol[40];
	struct hn_board_request r = {.key = "w", .kernel = kernel(symbol)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	if (rival != NULL) {
		r.rival = kernel(rival);
	}
	snprintf(symbol, sizeof symbol, "%s_%d", name, k);
	ops->measure(board, &r, &a);
	return a;
}

static bool right(const struct hn_board_answer *a)
{
	return a->verdict == HN_VERDICT_OK || a->verdict == HN_VERDICT_NOISY;
}

static bool refused(const struct hn_board_answer *a)
{
	return hn_verdict_blames_kernel(a->verdict) && a->detail[0] != '\0';
}

static void make_workload(void)
{
	static const int64_t shape[] = {N, N};
	static const struct hn_tensor args[] = {
		{"A", HN_F32, 2, shape, false, N * N, N * N * 4},
		{"B", HN_F32, 2, shape, false, N * N, N * N * 4},
		{"C", HN_F32, 2, shape, true, N * N, N * N * 4},
	};
	struct hn_board_workload w = {.key = "w",
				      .n_tensor = 3,
				      .tensor = args,
				      .seed = 5,
				      .magnitude = 30,
				      .tolerance = 1e-5,
				      .naive = kernel("good_0")};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
}

static void three_hundred_of_three_hundred(void **state)
{
	int n_refused = 0, planted = 0;

	(void)state;
	make_workload();
	for (size_t f = 0; f < HN_COUNT_OF(family); f++) {
		struct hn_board_answer a = measure("good", 0, NULL);

		assert_true(right(&a) && a.thorough);
		for (int k = 1; k <= EACH; k++) {
			a = measure(family[f].name, k, NULL);
			planted++;
			n_refused += refused(&a);
			if (!refused(&a)) {
				print_message("%s_%d: %s (%s)\n", family[f].name, k,
					      hn_verdict_name(a.verdict), a.detail);
			}
		}
	}
	print_message("%d planted, %d refused\n", planted, n_refused);
	assert_int_equal(planted, 300);
	assert_int_equal(n_refused, planted);
}

/* In a duel, too, either side is looked at while it is timed, and it is said whose fault it is. */
static void duelists_are_watched(void **state)
{
	static const char *const lazy[] = {"pattern_9", "there_12", "resume_7", "rare_18"};

	(void)state;
	make_workload();
	for (size_t i = 0; i < HN_COUNT_OF(lazy); i++) {
		struct hn_board_answer a = measure("good", 0, lazy[i]);
		char name[20];

		assert_true(refused(&a) && a.rivals);
		snprintf(name, sizeof name, "%.*s", (int)strcspn(lazy[i], "_"), lazy[i]);
		a = measure(name, atoi(strchr(lazy[i], '_') + 1), "good_0");
		assert_true(refused(&a) && !a.rivals);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_hundred_of_three_hundred),
		cmocka_unit_test(duelists_are_watched),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
