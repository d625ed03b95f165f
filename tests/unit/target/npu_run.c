/* The NPU runs: numbers of each kind of instruction against plain loops, cycles by hand, faults of
 * each kind with their line, and orders of the pipes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "target/npu/npu_run.h"

struct bench {
	struct hn_arena a;
	struct hn_npu_profile m;
	const struct hn_npu_program *p;
	struct hn_npu_options o;
	struct hn_npu_result r;
	struct hn_err err;
	void *gm[4];
};

static void read_text(struct bench *b, const char *text)
{
	*b = (struct bench){ .o.judge = true };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &b->m, &b->err), 0);
	if (hn_npu_parse("t", text, strlen(text), &b->a, &b->p, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, text);
	}
	for (uint32_t i = 0; i < b->p->n_buffer; i++) {
		b->gm[i] = hn_arena_alloc(&b->a, (size_t)b->p->buffer[i].bytes);
	}
	b->o.gm = b->gm;
}

static void run(struct bench *b)
{
	if (hn_npu_run(b->p, &b->m, &b->o, &b->a, &b->r, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
}

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

/* ---- cycles, by hand from profiles.def */

static int64_t core_cycles(const char *code)
{
	char text[2000];
	struct bench b;

	snprintf(text, sizeof(text), "hnpu/1\ngm A float16[65536]\ncores 0 1 {\n%s}\n", code);
	read_text(&b, text);
	b.o.judge = false;
	b.o.gm = NULL;
	run(&b);
	hn_arena_fini(&b.a);
	return b.r.core_cycles;
}

static void cycles_are_those_of_the_model(void **state)
{
	(void)state;
	assert_int_equal(core_cycles(""), 0);
	/* given at 2; 2 to begin, 2 a repeat */
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\n"), 2 + 2 + 20);
	assert_int_equal(core_cycles("vexp.f16 ub[0] ub[0] rep 10\n"), 2 + 2 + 40);
	/* short: latency and burst; long: rate */
	assert_int_equal(core_cycles("load ub[0] A[0] burst 640\n"), 2 + 130 + 10);
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\n"), 2 + 1024);
	assert_int_equal(core_cycles("load ub[0] A[0] n 4 burst 8192\n"), 2 + 1024 + 3);
	/* 4 x 2 x 3 fractals, and the cube's beginning once */
	assert_int_equal(core_cycles("mmad.f16 l0c[0] l0a[0] l0b[0] m 64 k 32 n 48 init 1\n"),
			 2 + 20 + 24);
	assert_int_equal(core_cycles("mmad.f16 l0c[0] l0a[0] l0b[0] m 64 k 32 n 48 init 1\n"
				     "mmad.f16 l0c[0] l0a[0] l0b[0] m 64 k 32 n 48\n"), 2 + 20 + 48);
	/* a load and a vector, one after the other and at the same time */
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\nbarrier all\n"
				     "vadd.f32 ub[0] ub[0] ub[0] rep 100\n"), 2 + 1024 + 2 + 202);
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\n"
				     "vadd.f32 ub[32768] ub[32768] ub[32768] rep 100\n"), 2 + 1024);
	/* a barrier of all lets V finish as its own does; a second one has nothing to wait for */
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier V\n"), 24 + 14);
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier all\n"), 24 + 14);
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier all\nbarrier all\n"), 24 + 14);
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier V\nbarrier all\n"), 24 + 14);
	/* the queue is full: the 33rd waits until the first has begun, the 34th for the second */
	assert_int_equal(core_cycles("loop r1 34\nload2d.f16 l0a[0] l1[0] n 100 to 0\nend\n"),
			 1 + 2 + 34 * 200);
}

/* Hundredths of the tables' cycles, of a part of one as well. */
static void cycles_are_scaled_by_the_profile(void **state)
{
	struct hn_npu_profile plain, fitted;
	struct hn_err err = { 0 };
	struct bench b;

	(void)state;
	read_text(&b, "hnpu/1\ncores 0 1 {\nvabs.f32 ub[0] ub[0] rep 3\nload2d.f16 l0b[0] l1[0] n 1\n}\n");
	b.o = (struct hn_npu_options){ 0 };
	b.m.vector_percent = 150;
	b.m.l0_percent = 130;
	run(&b);
	assert_int_equal(b.r.busy[HN_NPU_V], 2 + 5);
	assert_int_equal(b.r.busy[HN_NPU_MTE1], 6);
	hn_arena_fini(&b.a);
	assert_int_equal(hn_npu_profile_of("dv910", &plain, &err), 0);
	assert_int_equal(hn_npu_profile_of("dv910fit", &fitted, &err), 0);
	assert_int_equal(plain.ub_bytes, fitted.ub_bytes);
	assert_true(fitted.vector_percent > plain.vector_percent);
}

/* Time alone: of the slowest core, whether one stands for all or not. */
static void cores_that_differ_are_all_looked_at(void **state)
{
	static const char *const code[] = {
		"core r0\nadd r1 r0 1\nloop r2 r1\nload ub[0] A[0] burst 640\nend\n",
		"core r0\nmul r1 r0 3\nif r1 2\nload ub[0] A[0] burst 640\nend\nload ub[0] A[0] burst 640\n",
		"core r0\nadd r3 r0 1\nload ub[0] A[0] n r3 burst 6400 to 0\n",
		/* it is known behind the loop's end alone */
		"mov r1 1\nloop r2 2\nload ub[0] A[0] n r1 burst 6400 to 0\ncore r0\nadd r1 r0 1\nend\n",
		/* these are alike */
		"core r0\nmul r1 r0 2048\nloop r2 3\nmul r3 r2 512\nadd r3 r3 r1\nload ub[0] A[r3] burst 512\nend\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
		struct hn_npu_result timed;
		char text[400];
		struct bench b;

		snprintf(text, sizeof(text), "hnpu/1\ngm A float16[65536]\ncores 0 2 {\n%s}\n", code[i]);
		read_text(&b, text);
		b.o.judge = true;
		run(&b);
		timed = b.r;
		b.o = (struct hn_npu_options){ 0 };
		run(&b);
		assert_int_equal(b.r.core_cycles, timed.core_cycles);
		assert_int_equal(b.r.read_bytes, timed.read_bytes);
		assert_true((b.r.n_insn < timed.n_insn) == (i == 4));
		hn_arena_fini(&b.a);
	}
}

/* Each core stores its sum, all wait, and each adds up all sums; three times, as the next round's
 * sums are of what the last one made. */
static const char meeting[] =
	"hnpu/1\ngm A float32[128]\ngm P float32[16]\ngm B float32[128]\ncores 0 2 {\ncore r0\n"
	"mul r1 r0 256\nmul r2 r0 32\nload ub[0] A[r1] burst 256\nbarrier all\nloop r3 3\n"
	"vcadd.f32 ub[1024] ub[0]\nbarrier all\nstore P[r2] ub[1024] burst 4\n"
	"barrier cores\n"
	"load ub[2048] P[0] n 2 burst 4 from 32\nbarrier all\nvadd.f32 ub[3072] ub[2048] ub[2080] mask 1\n"
	"barrier all\nvadd.f32 ub[0] ub[0] ub[3072] mask 1\nbarrier cores\nend\nstore B[r1] ub[0] burst 256\n}\n";

static void cores_wait_for_each_other(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct bench b;
		float want[2] = { 0, 0 }, first[2] = { 0, 64 };

		read_text(&b, meeting);
		b.o.seed = seed;
		for (int i = 0; i < 128; i++) {
			((float *)b.gm[0])[i] = (float)i;
			want[i / 64] += (float)i;
		}
		for (int i = 0; i < 3; i++) {
			float all = want[0] + want[1];

			for (int k = 0; k < 2; k++) {
				first[k] += all;
				want[k] += all;
			}
		}
		run(&b);
		assert_float_equal(((float *)b.gm[2])[0], first[0], 0);
		assert_float_equal(((float *)b.gm[2])[64], first[1], 0);
		assert_float_equal(((float *)b.gm[2])[65], 65, 0);
		hn_arena_fini(&b.a);
	}
}

/* Either meeting is needed: without it one core may write what another one reads. */
static void each_meeting_is_needed(void **state)
{
	(void)state;
	for (int which = 0; which < 2; which++) {
		char text[sizeof(meeting)], *at;
		struct bench b;

		memcpy(text, meeting, sizeof(text));
		at = strstr(text, "barrier cores");
		at = which == 0 ? at : strstr(at + 1, "barrier cores");
		memcpy(at, "barrier all  ", 13);
		read_text(&b, text);
		assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
		assert_int_equal(b.r.fault, HN_NPU_F_RACE);
		hn_arena_fini(&b.a);
	}
}

static void the_latest_core_says_when(void **state)
{
	static const char text[] =
		"hnpu/1\ngm A float16[65536]\ncores 0 1 {\nload ub[0] A[0] burst 640\nbarrier cores\n"
		"load ub[0] A[0] burst 640\n}\ncores 1 1 {\nload ub[0] A[0] burst 32768\nbarrier cores\n}\n";
	struct bench b;

	(void)state;
	read_text(&b, text);
	b.o.gm = NULL;
	run(&b);
	assert_int_equal(b.r.core_cycles, 2 + 1024 + 260 + 2 + 130 + 10);
	hn_arena_fini(&b.a);
	/* of a core that is alone, and of one that the others wait for in vain */
	read_text(&b, "hnpu/1\ncores 0 1 {\nbarrier cores\n}\n");
	run(&b);
	assert_int_equal(b.r.core_cycles, 260);
	hn_arena_fini(&b.a);
	read_text(&b, "hnpu/1\ncores 0 2 {\ncore r0\nif r0 1\nbarrier cores\nend\n}\n");
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_int_equal(b.r.fault, HN_NPU_F_DEADLOCK);
	assert_int_equal(b.r.line, 5);
	hn_arena_fini(&b.a);
}

/* Meetings of large buffers are work. */
static void meetings_end(void **state)
{
	struct bench b;

	(void)state;
	read_text(&b, "hnpu/1\ngm A int8[67108864]\ncores 0 2 {\nloop r1 1000000\nbarrier cores\nend\n}\n");
	b.o.gm = NULL;
	b.o.most = 1 << 20;
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_int_equal(b.r.fault, HN_NPU_F_BUDGET);
	hn_arena_fini(&b.a);
}

/* 131,072 bytes, read so often by so many cores, with a second cache of so many bytes. */
static int64_t reading(int times, int cores, int64_t cache)
{
	char text[300];
	struct bench b;

	snprintf(text, sizeof(text), "hnpu/1\ngm A float16[65536]\ncores 0 %d {\nloop r1 %d\n"
		 "load ub[0] A[0] n 4 burst 32768 to 0\nend\n}\n", cores, times);
	read_text(&b, text);
	b.o = (struct hn_npu_options){ 0 };
	b.m.l2_bytes = cache;
	run(&b);
	hn_arena_fini(&b.a);
	return b.r.core_cycles;
}

static void what_is_read_again_comes_from_the_cache(void **state)
{
	/* half of it at 32 bytes a cycle, half at 110 */
	int64_t half = 131072 / 64 + 131072 / 220 + 3;

	(void)state;
	assert_int_equal(reading(1, 1, 1 << 25), 1 + 2 + 4096 + 3);
	assert_int_equal(reading(2, 1, 1 << 25), 1 + 2 + 2 * half);
	assert_int_equal(reading(1, 2, 1 << 25), 1 + 2 + half);
	/* too large for it: once for both cores, but twice for one that reads it twice */
	assert_int_equal(reading(2, 1, 1000), 1 + 2 + 2 * 4099);
	assert_int_equal(reading(1, 2, 1000), 1 + 2 + half);
	assert_int_equal(reading(2, 2, 1000), 1 + 2 + 2 * half);
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
	       "barrier V\nend\n}\n", HN_NPU_F_BUDGET, 8, "256 bytes for each" },
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
		cmocka_unit_test(cycles_are_those_of_the_model),
		cmocka_unit_test(cores_that_differ_are_all_looked_at),
		cmocka_unit_test(cores_wait_for_each_other),
		cmocka_unit_test(each_meeting_is_needed),
		cmocka_unit_test(the_latest_core_says_when),
		cmocka_unit_test(meetings_end),
		cmocka_unit_test(cycles_are_scaled_by_the_profile),
		cmocka_unit_test(what_is_read_again_comes_from_the_cache),
		cmocka_unit_test(faults_are_told_with_their_line),
		cmocka_unit_test(too_many_cores_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
