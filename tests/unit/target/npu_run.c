/* The NPU runs: numbers of each kind of instruction against plain loops, faults of each kind with
 * their line, and orders of the pipes. */
#include <math.h>
#include <stdlib.h>

#include "tests/lib/npu_bench.h"

static uint16_t half(float v)
{
	return hn_half_of_float(v);
}

/* ---- numbers */

/* Two loops over slots: what a program by hand looks like. */
static const char two_slots[] =
	"hnpu/1\n"
	"gm A float32[4096]\n"
	"gm B float32[4096]\n"
	"cores 0 2 {\n"
	"  core r0\n"
	"  mul r0 r0 8192\n"
	"  set V MTE2 0\n"
	"  set V MTE2 1\n"
	"  set MTE3 V 0\n"
	"  set MTE3 V 1\n"
	"  loop r1 16\n"
	"    mod r2 r1 2\n"
	"    mul r3 r2 512\n"
	"    mul r4 r1 512\n"
	"    add r4 r4 r0\n"
	"    wait V MTE2 r2\n"
	"    load ub[r3] A[r4] burst 512\n"
	"    set MTE2 V r2\n"
	"    wait MTE2 V r2\n"
	"    wait MTE3 V r2\n"
	"    vadds.f32 ub[r3+4096] ub[r3] 0.5 rep 2\n"
	"    set V MTE2 r2\n"
	"    set V MTE3 r2\n"
	"    wait V MTE3 r2\n"
	"    store B[r4] ub[r3+4096] burst 512\n"
	"    set MTE3 V r2\n"
	"  end\n"
	"  wait V MTE2 0\n"
	"  wait V MTE2 1\n"
	"  wait MTE3 V 0\n"
	"  wait MTE3 V 1\n"
	"}\n";

static void fill(struct bench *b)
{
	for (int i = 0; i < 4096; i++) {
		((float *)b->gm[0])[i] = (float)i;
	}
}

static void loops_and_slots_compute(void **state)
{
	struct bench b;

	(void)state;
	read_text(&b, two_slots);
	fill(&b);
	run(&b);
	for (int i = 0; i < 4096; i++) {
		assert_float_equal(((float *)b.gm[1])[i], (float)i + 0.5f, 0);
	}
	hn_arena_fini(&b.a);
}

/* The same numbers and the same cycles in every order; with the queue's length, too. */
static void orders_agree(void **state)
{
	struct bench b;
	int64_t cycles;

	(void)state;
	read_text(&b, two_slots);
	fill(&b);
	run(&b);
	cycles = b.r.cycles;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		b.o.seed = seed;
		memset(b.gm[1], 0, 4096 * 4);
		run(&b);
		assert_int_equal(b.r.cycles, cycles);
		assert_float_equal(((float *)b.gm[1])[4095], 4095.5f, 0);
	}
	hn_arena_fini(&b.a);
}

/* Each flag in turn is left out, its set and its wait: something is found each time. */
static void each_flag_is_needed(void **state)
{
	static const char *const lines[][2] = {
		{ "set MTE2 V r2\n", "wait MTE2 V r2\n" }, { "set V MTE3 r2\n", "wait V MTE3 r2\n" },
	};
	static const char *const turns[][4] = {
		{ "    set V MTE2 r2\n", "    wait V MTE2 r2\n", "set V MTE2 ", "  wait V MTE2 " },
		{ "    set MTE3 V r2\n", "    wait MTE3 V r2\n", "set MTE3 V ", "  wait MTE3 V " },
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		char text[sizeof(two_slots) + 10];
		struct bench b;

		memcpy(text, two_slots, sizeof(two_slots));
		for (int k = 0; k < (i < 2 ? 2 : 4); k++) {
			const char *what = i < 2 ? lines[i][k] : turns[i - 2][k];
			char *at;

			while ((at = strstr(text, what)) != NULL) {
				*at = '#';
			}
		}
		read_text(&b, text);
		assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
		if (b.r.fault != HN_NPU_F_RACE && b.r.fault != HN_NPU_F_TWICE) {
			fail_msg("%s", b.err.msg);
		}
		hn_arena_fini(&b.a);
	}
}

/* A product by hand, 32 x 48 x 20, through all memories of the cube. */
static void the_cube_multiplies(void **state)
{
	static const char text[] =
		"hnpu/1\n"
		"gm A float16[1536]\n" /* 32 x 48 */
		"gm B float16[960]\n"  /* 48 x 20 */
		"gm C float32[640]\n"
		"cores 0 1 {\n"
		"  nd2nz.f16 l1[0] A[0] rows 32 cols 48\n"
		"  nd2nz.f16 l1[8192] B[0] rows 48 cols 20\n"
		"  barrier all\n"
		"  load2d.f16 l0a[0] l1[0] n 3 from 2\n"
		"  load2d.f16 l0a[1536] l1[512] n 3 from 2\n"
		"  load2d.f16 l0b[0] l1[8192] n 2 from 3 trans 1\n"
		"  load2d.f16 l0b[1024] l1[8704] n 2 from 3 trans 1\n"
		"  load2d.f16 l0b[2048] l1[9216] n 2 from 3 trans 1\n"
		"  barrier all\n"
		"  mmad.f16 l0c[0] l0a[0] l0b[0] m 32 k 48 n 20 init 1\n"
		"  barrier all\n"
		"  vdrain.f32.f32 ub[0] l0c[0] n 4\n"
		"  barrier all\n"
		"  store C[0] ub[0] n 32 burst 64 from 64 to 80\n"
		"  store C[64] ub[2048] n 32 burst 16 from 64 to 80\n"
		"}\n";
	struct bench b;

	(void)state;
	read_text(&b, text);
	for (int i = 0; i < 1536; i++) {
		((uint16_t *)b.gm[0])[i] = half((float)(i * 7 % 31) - 15);
	}
	for (int i = 0; i < 960; i++) {
		((uint16_t *)b.gm[1])[i] = half((float)(i * 5 % 23) - 11);
	}
	run(&b);
	for (int i = 0; i < 640; i++) {
		float sum = 0;

		for (int k = 0; k < 48; k++) {
			sum += hn_half_to_float(((uint16_t *)b.gm[0])[i / 20 * 48 + k]) *
			       hn_half_to_float(((uint16_t *)b.gm[1])[k * 20 + i % 20]);
		}
		assert_float_equal(((float *)b.gm[2])[i], sum, 0);
	}
	hn_arena_fini(&b.a);
}

/* A convolution of 1 x 32 channels x 6 x 5, window 3 x 3, stride 2 and 1, padded. */
static void windows_are_multiplied(void **state)
{
	static const char text[] =
		"hnpu/1\n"
		"gm X float16[960]\n" /* (C1 = 2, 6, 5, 16) */
		"gm W float16[4608]\n" /* 288 points x 16 */
		"gm C float32[256]\n"
		"cores 0 1 {\n"
		"  load l1[0] X[0] burst 1920\n"
		"  nd2nz.f16 l1[4096] W[0] rows 288 cols 16\n"
		"  barrier all\n"
		"  fmatrix h 6 w 5 kh 3 kw 3 sh 2 pt 1 pb 1 pl 1 pr 1\n"
		"  load3d.f16 l0a[0] l1[0] m 1 k 18\n"
		"  load2d.f16 l0b[0] l1[4096] n 18 trans 1\n"
		"  barrier all\n"
		"  mmad.f16 l0c[0] l0a[0] l0b[0] m 15 k 288 n 16 init 1\n"
		"  barrier all\n"
		"  vdrain.f32.f32 ub[0] l0c[0]\n"
		"  barrier all\n"
		"  store C[0] ub[0] burst 1024\n"
		"}\n";
	const uint16_t *x, *w;
	struct bench b;

	(void)state;
	read_text(&b, text);
	for (int i = 0; i < 960; i++) {
		((uint16_t *)b.gm[0])[i] = half((float)(i * 7 % 13) - 6);
	}
	for (int i = 0; i < 4608; i++) {
		((uint16_t *)b.gm[1])[i] = half((float)(i * 5 % 11) - 5);
	}
	run(&b);
	x = b.gm[0];
	w = b.gm[1];
	for (int i = 0; i < 15 * 16; i++) { /* 3 x 5 windows, 16 results */
		int oy = i / 16 / 5, ox = i / 16 % 5;
		float sum = 0;

		for (int k = 0; k < 288; k++) {
			int c1 = k / 144, kh = k / 48 % 3, kw = k / 16 % 3, y = oy * 2 - 1 + kh,
			    xx = ox - 1 + kw;

			if (y >= 0 && y < 6 && xx >= 0 && xx < 5) {
				sum += hn_half_to_float(x[((c1 * 6 + y) * 5 + xx) * 16 + k % 16]) *
				       hn_half_to_float(w[k * 16 + i % 16]);
			}
		}
		assert_float_equal(((float *)b.gm[2])[i], sum, 0);
	}
	hn_arena_fini(&b.a);
}

static void bytes_are_multiplied(void **state)
{
	static const char text[] =
		"hnpu/1\ngm A int8[512]\ngm B int8[512]\ngm C int32[256]\ncores 0 1 {\n"
		"nd2nz.s8 l1[0] A[0] rows 16 cols 32\nload l1[512] B[0] burst 512\nbarrier all\n"
		"load2d.s8 l0a[0] l1[0]\nload2d.s8 l0b[0] l1[512]\nbarrier all\n"
		"mmad.s8 l0c[0] l0a[0] l0b[0] m 16 k 32 n 16 init 1\n"
		"mmad.s8 l0c[0] l0a[0] l0b[0] m 16 k 32 n 16\nbarrier all\n"
		"vdrain.s32.s32 ub[0] l0c[0] relu 1\nbarrier all\nstore C[0] ub[0] burst 1024\n}\n";
	struct bench b;

	(void)state;
	read_text(&b, text);
	for (int i = 0; i < 512; i++) {
		((int8_t *)b.gm[0])[i] = (int8_t)(i * 37);
		((int8_t *)b.gm[1])[i] = (int8_t)(i * 91);
	}
	run(&b);
	for (int i = 0; i < 256; i++) {
		int32_t sum = 0;

		for (int k = 0; k < 32; k++) {
			sum += 2 * ((int8_t *)b.gm[0])[i / 16 * 32 + k] *
			       ((int8_t *)b.gm[1])[i % 16 * 32 + k];
		}
		assert_int_equal(((int32_t *)b.gm[2])[i], sum < 0 ? 0 : sum);
	}
	hn_arena_fini(&b.a);
}

/* One instruction between a load of X to ub[0] and ub[1024], and a store of ub[2048]. */
static void one(struct bench *b, const char *insn, const char *type)
{
	char text[600];

	snprintf(text, sizeof(text), "hnpu/1\ngm X %s[64]\ngm Y %s[64]\ngm Z float32[64]\ncores 0 1 {\n"
		 "load ub[0] X[0] burst 256\nload ub[1024] Y[0] burst 256\nbarrier all\n"
		 "vdup.s32 ub[2048] 0\nbarrier V\n%s\nbarrier all\nstore Z[0] ub[2048] burst 256\n}\n",
		 type, type, insn);
	read_text(b, text);
	for (int i = 0; i < 64 && type[0] == 'f'; i++) {
		((float *)b->gm[0])[i] = (float)(i % 9) - 4;
		((float *)b->gm[1])[i] = (float)(i % 5) + 1;
	}
	run(b);
}

static void vectors_compute(void **state)
{
	struct bench b;
	const float *z;

	(void)state;
	one(&b, "vdiv.f32 ub[2048] ub[0] ub[1024] mask 10", "float32");
	z = b.gm[2];
	assert_float_equal(z[9], (9 % 9 - 4) / 5.0f, 0);
	assert_float_equal(z[10], 0, 0);
	hn_arena_fini(&b.a);
	one(&b, "vadd.f32 ub[2048] ub[0] ub[1024] bits 5", "float32");
	z = b.gm[2];
	assert_float_equal(z[0] + z[1] + z[2], (-4 + 1) + 0 + (-2 + 3), 0);
	hn_arena_fini(&b.a);
	one(&b, "vmul.f32 ub[2048] ub[0] ub[1024] b1 0", "float32"); /* a block for all */
	z = b.gm[2];
	assert_float_equal(z[17], (17 % 9 - 4) * (1 % 5 + 1), 0);
	hn_arena_fini(&b.a);
	one(&b, "vexp.f32 ub[2048] ub[0] mask 4", "float32");
	assert_float_equal(((float *)b.gm[2])[1], expf(-3), 0);
	hn_arena_fini(&b.a);
	one(&b, "vcadd.f32 ub[2052] ub[1024] mask 7", "float32");
	z = b.gm[2];
	assert_float_equal(z[1], 1 + 2 + 3 + 4 + 5 + 1 + 2, 0);
	hn_arena_fini(&b.a);
	one(&b, "vcgmax.f32 ub[2048] ub[0]", "float32");
	z = b.gm[2];
	assert_float_equal(z[0], 3, 0);
	assert_float_equal(z[1], 4, 0);
	assert_float_equal(z[8], 0, 0);
	hn_arena_fini(&b.a);
	one(&b, "vbrcb.f32 ub[2048] ub[0]", "float32");
	z = b.gm[2];
	assert_float_equal(z[15], -3, 0);
	assert_float_equal(z[63], 3, 0);
	hn_arena_fini(&b.a);
	one(&b, "vcmplt.f32 ub[512] ub[0] ub[1024]\nbarrier V\nvsel.f32 ub[2048] ub[0] ub[1024] ub[512]",
	    "float32");
	z = b.gm[2];
	assert_float_equal(z[0], -4, 0);
	assert_float_equal(z[5], 1, 0); /* 1 < 1 is not */
	assert_float_equal(z[45], -4, 0);
	hn_arena_fini(&b.a);
	/* a repeat is read before it is written: a block moves by one, not the first one everywhere */
	one(&b, "vcopy.f32 ub[32] ub[0]\nbarrier V\nvcopy.f32 ub[2048] ub[0]", "float32");
	z = b.gm[2];
	assert_float_equal(z[7], 3, 0);
	assert_float_equal(z[63], -3, 0);
	hn_arena_fini(&b.a);
	one(&b, "vconv.f16.f32 ub[512] ub[0]\nbarrier V\nvconv.f32.f16 ub[2048] ub[512]", "float32");
	assert_float_equal(((float *)b.gm[2])[63], -4, 0);
	hn_arena_fini(&b.a);
}

static void integers_saturate_and_wrap(void **state)
{
	struct bench b;
	const int32_t *z;

	(void)state;
	one(&b, "vadds.f32 ub[0] ub[1024] 3e9\nbarrier V\nvconv.s32.f32 ub[2048] ub[0]", "float32");
	assert_int_equal(((int32_t *)b.gm[2])[5], INT32_MAX);
	hn_arena_fini(&b.a);
	one(&b, "vdup.s32 ub[0] 2147483647\nbarrier V\nvadd.s32 ub[2048] ub[0] ub[0]", "int32");
	z = b.gm[2];
	assert_int_equal(z[7], -2);
	hn_arena_fini(&b.a);
}

/* ---- faults */

#define HEAD "hnpu/1\ngm A float32[64]\ngm B float32[64]\n"
#define CODE HEAD "cores 0 1 {\n"

static const struct {
	const char *text;
	enum hn_npu_fault fault;
	uint32_t line;
	const char *says;
} faults[] = {
	{ CODE "load ub[0] A[0] burst 257\n}\n", HN_NPU_F_BOUNDS, 5, "A[0] to 257, of 256 bytes" },
	{ CODE "mov r1 65536\nload ub[r1-32] A[0] burst 64\n}\n", HN_NPU_F_BOUNDS, 6, "ub[65504]" },
	{ CODE "mov r1 -32\nload ub[r1] A[0] burst 64\n}\n", HN_NPU_F_BOUNDS, 6, "address -32" },
	{ CODE "mov r1 9223372036854775807\nload ub[r1+1] A[0] burst 64\n}\n", HN_NPU_F_BOUNDS, 6,
	  "address" },
	{ CODE "load ub[16] A[0] burst 64\n}\n", HN_NPU_F_ALIGN, 5, "ub[16] is no multiple of 32" },
	{ CODE "load ub[0] A[0] n 2 burst 8 to 8\n}\n", HN_NPU_F_ALIGN, 5, "no multiple of 32" },
	{ CODE "load2d.f16 l0a[0] l1[32]\n}\n", HN_NPU_F_ALIGN, 5, "l1[32] is no multiple of 512" },
	{ CODE "mov r1 256\nvadd.f32 ub[0] ub[0] ub[0] rep r1\n}\n", HN_NPU_F_NUMBER, 6, "rep 256" },
	{ CODE "vdup.f32 ub[0] 1 mask 65\n}\n", HN_NPU_F_NUMBER, 5, "lane 64 of 64" },
	{ CODE "vdup.f32 ub[0] 1 bits2 1\n}\n", HN_NPU_F_NUMBER, 5, "lane 64 of 64" },
	{ CODE "mov r1 4\nset V MTE2 r1\n}\n", HN_NPU_F_NUMBER, 6, "flag 4 of 4" },
	{ CODE "mov r1 0\ndiv r2 1 r1\n}\n", HN_NPU_F_NUMBER, 6, "division by 0" },
	{ CODE "load2d.s8 l0b[0] l1[0] trans 1\n}\n", HN_NPU_F_NUMBER, 5, "float16 alone" },
	{ CODE "load3d.f16 l0a[0] l1[0] m 1 k 1\n}\n", HN_NPU_F_UNWRITTEN, 5, "no fmatrix" },
	{ CODE "fmatrix h 2 w 2 kh 3\nload3d.f16 l0a[0] l1[0] m 1 k 1\n}\n", HN_NPU_F_NUMBER, 6,
	  "larger than the image" },
	{ CODE "vabs.f32 ub[0] ub[512]\n}\n", HN_NPU_F_UNWRITTEN, 5, "reads block 16 of ub" },
	{ CODE "load ub[0] A[0] burst 256\nvabs.f32 ub[0] ub[0]\n}\n", HN_NPU_F_RACE, 6,
	  "reads block 0 of ub, which MTE2 writes" },
	{ CODE "vdup.f32 ub[0] 1\nvabs.f32 ub[0] ub[0]\n}\n", HN_NPU_F_RACE, 6, "which V writes" },
	{ CODE "vdup.f32 ub[0] 1\nset V MTE3 0\nwait V MTE3 0\nstore B[0] ub[0] burst 256\n"
	       "vdup.f32 ub[224] 2 mask 8\n}\n", HN_NPU_F_RACE, 9, "block 7 of ub, which V writes" },
	{ CODE "vdup.f32 ub[0] 1\nset V MTE3 0\nwait V MTE3 0\nstore B[0] ub[0] burst 256\nbarrier V\n"
	       "vdup.f32 ub[224] 2 mask 8\n}\n", HN_NPU_F_RACE, 10, "block 7 of ub, which MTE3 reads" },
	{ HEAD "cores 0 2 {\nvdup.f32 ub[0] 1\nbarrier all\nstore B[0] ub[0] burst 8\n}\n",
	  HN_NPU_F_RACE, 7, "another core" },
	{ CODE "set V MTE2 0\nset V MTE2 0\nwait V MTE2 0\nwait V MTE2 0\n}\n", HN_NPU_F_TWICE, 6,
	  "flag V MTE2 0 is set again" },
	{ CODE "set V MTE2 0\nwait V MTE2 0\nset V MTE2 0\nwait V MTE2 0\n}\n", HN_NPU_F_TWICE, 7,
	  "wait for line 5's" },
	{ CODE "barrier V\nset V MTE2 3\n}\n", HN_NPU_F_LEFT, 6, "nobody waits for flag V MTE2 3" },
	{ CODE "wait V MTE2 0\n}\n", HN_NPU_F_DEADLOCK, 5, "MTE2 waits for flag V MTE2 0" },
	{ CODE "wait V MTE2 0\nset MTE2 V 0\nwait MTE2 V 0\nset V MTE2 0\n}\n", HN_NPU_F_DEADLOCK, 7,
	  "V waits for flag MTE2 V 0" },
	{ CODE "wait V MTE2 0\nbarrier all\nset V MTE2 0\n}\n", HN_NPU_F_DEADLOCK, 5, "MTE2 waits" },
	{ CODE "wait V MTE2 0\nloop r1 40\nload ub[0] A[0] burst 32\nend\nset V MTE2 0\n}\n",
	  HN_NPU_F_DEADLOCK, 5, "MTE2 waits" },
	{ CODE "loop r1 1000000000000000000\nend\n}\n", HN_NPU_F_BUDGET, 6, "more than 100000" },
	{ CODE "vdup.f32 ub[0] 1\nbarrier V\nloop r1 1000\nvcopy.f32 ub[0] ub[0] rep 255 sd 0 s0 0\n"
	       "barrier V\nend\n}\n", HN_NPU_F_BUDGET, 8, "that touch 256 bytes each" },
};

static void faults_are_told_with_their_line(void **state)
{
	bool seen[HN_NPU_N_FAULT] = { true };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(faults) * 2; i++) {
		struct bench b;

		read_text(&b, faults[i / 2].text);
		b.o.most = 100000;
		b.o.seed = i % 2; /* in order, and as drawn */
		assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
		if (b.o.seed != 0 && faults[i / 2].fault == HN_NPU_F_RACE) {
			/* the reader may come first, and find nothing */
			assert_true(b.r.fault == HN_NPU_F_RACE || b.r.fault == HN_NPU_F_UNWRITTEN);
		} else if (b.r.fault != faults[i / 2].fault || b.r.line != faults[i / 2].line ||
		    strstr(b.err.msg, faults[i / 2].says) == NULL) {
			fail_msg("%s\nis not %s of line %u, %s, in\n%s", b.err.msg,
				 hn_npu_fault_word(faults[i / 2].fault), faults[i / 2].line,
				 faults[i / 2].says, faults[i / 2].text);
		}
		seen[b.r.fault] = true;
		hn_arena_fini(&b.a);
	}
	for (int i = 0; i < HN_NPU_N_FAULT; i++) {
		assert_true(seen[i]);
	}
}

static void too_many_cores_are_refused(void **state)
{
	struct bench b;

	(void)state;
	read_text(&b, "hnpu/1\ncores 1 2 {\n}\n");
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_string_equal(b.err.msg, "t: code for core 2, and tiny has 2");
	hn_arena_fini(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_and_slots_compute),
		cmocka_unit_test(orders_agree),
		cmocka_unit_test(each_flag_is_needed),
		cmocka_unit_test(the_cube_multiplies),
		cmocka_unit_test(windows_are_multiplied),
		cmocka_unit_test(bytes_are_multiplied),
		cmocka_unit_test(vectors_compute),
		cmocka_unit_test(integers_saturate_and_wrap),
		cmocka_unit_test(faults_are_told_with_their_line),
		cmocka_unit_test(too_many_cores_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
