/* The NPU's programs as text: what is read is printed the same, each instruction is in it and in
 * the documents, and what is wrong is told in one line with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "target/npu/npu_insn.h"
#include "target/target.h"

/* Each shape with all that it can say; as hn_npu_print writes it. */
static const char all[] =
	"hnpu/1\n"
	"gm A float16[4096]\n"
	"gm B.x float32[16]\n"
	"scratch W float32[1024]\n"
	"cores 0 2 {\n"
	"  core r0\n"
	"  mov r1 7\n"
	"  add r2 r0 r1+3\n"
	"  sub r2 r2 1\n"
	"  mul r2 r2 r2\n"
	"  div r3 r2 2\n"
	"  mod r3 r3 3\n"
	"  min r3 r3 9\n"
	"  max r3 r3 -9\n"
	"  loop r4 3\n"
	"    if r4 2\n"
	"      load ub[r4+64] A[r2-8] n 3 burst 62 from 128 to 64\n"
	"    end\n"
	"    set MTE2 V r4+1\n"
	"    wait MTE2 V 3\n"
	"  end\n"
	"  nd2nz.f16 l1[0] A[0] rows 20 cols 40 from 128 height 48\n"
	"  store A[0] ub[0] burst 1\n"
	"  ub2l1 l1[0] ub[0] burst 64\n"
	"  l12ub ub[0] l1[0] burst 64\n"
	"  load2d.f16 l0a[512] l1[1024] n 4 from 2 to 3 trans 1\n"
	"  load2d.s8 l0b[0] l1[0]\n"
	"  fmatrix h 14 w 15 kh 3 kw 2 sh 2 sw 3 dh 2 dw 4 pt 1 pb 2 pl 3 pr 4\n"
	"  load3d.f16 l0a[0] l1[0] m0 16 k0 3 m 2 k 4\n"
	"  mmad.s8 l0c[1024] l0a[512] l0b[1024] m 17 k 33 n 1 init 1\n"
	"  vdrain.f16.f32 ub[0] l0c[0] n 2 from 3 to 4 relu 1\n"
	"  vadd.f32 ub[0] ub[32] ub[64] rep 8 mask 10 bd 2 b0 0 b1 3 sd 4 s0 0 s1 1\n"
	"  vsub.f16 ub[0] ub[0] ub[0] bits 85 bits2 -1\n"
	"  vmul.s32 ub[0] ub[0] ub[0]\n"
	"  vdiv.f32 ub[0] ub[0] ub[0]\n"
	"  vmax.f32 ub[0] ub[0] ub[0]\n"
	"  vmin.f32 ub[0] ub[0] ub[0]\n"
	"  vabs.f32 ub[0] ub[0] rep 255\n"
	"  vexp.f16 ub[0] ub[0]\n"
	"  vln.f16 ub[0] ub[0]\n"
	"  vsqrt.f16 ub[0] ub[0]\n"
	"  vrsqrt.f16 ub[0] ub[0]\n"
	"  vrec.f16 ub[0] ub[0]\n"
	"  vrelu.f16 ub[0] ub[0]\n"
	"  vcopy.s8 ub[0] ub[0]\n"
	"  vadds.f32 ub[0] ub[0] 0.1\n"
	"  vmuls.f32 ub[0] ub[0] -inf\n"
	"  vmaxs.f32 ub[0] ub[0] 1e-07\n"
	"  vmins.f32 ub[0] ub[0] nan\n"
	"  vdup.f32 ub[0] 0\n"
	"  vconv.f16.f32 ub[0] ub[0] rep 2\n"
	"  vcadd.f32 ub[4] ub[0] sd 2\n"
	"  vcmax.f32 ub[4] ub[0]\n"
	"  vcmin.f32 ub[4] ub[0]\n"
	"  vcgadd.f32 ub[0] ub[0]\n"
	"  vcgmax.f32 ub[0] ub[0]\n"
	"  vcgmin.f32 ub[0] ub[0]\n"
	"  vbrcb.f32 ub[256] ub[0]\n"
	"  vcmpeq.f32 ub[0] ub[32] ub[64]\n"
	"  vcmpne.f32 ub[0] ub[32] ub[64]\n"
	"  vcmplt.f32 ub[0] ub[32] ub[64]\n"
	"  vcmple.f32 ub[0] ub[32] ub[64]\n"
	"  vcmpgt.f32 ub[0] ub[32] ub[64]\n"
	"  vcmpge.f32 ub[0] ub[32] ub[64]\n"
	"  vsel.f32 ub[0] ub[32] ub[64] ub[96] s2 2\n"
	"  vtrans.f16 ub[0] ub[512] n 2\n"
	"  barrier V\n"
	"  barrier all\n"
	"}\n"
	"cores 2 1 {\n"
	"}\n";

static int parse(const char *text, struct hn_arena *a, const struct hn_npu_program **ret,
		 struct hn_err *err)
{
	return hn_npu_parse("t", text, strlen(text), a, ret, err);
}

static void text_reads_back(void **state)
{
	const struct hn_npu_program *p;
	bool seen[HN_NPU_N_OP] = { false };
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	if (parse(all, &a, &p, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_npu_print(p, &b);
	for (size_t i = 0; i < sizeof(all); i++) {
		if (b.s[i] != all[i]) {
			fail_msg("%.40s\nis not\n%.40s", b.s + i, all + i);
		}
	}
	for (uint32_t i = 0; i < p->section[0].n_insn; i++) {
		seen[p->section[0].insn[i].op] = true;
		assert_int_equal(p->section[0].insn[i].line, i + 6);
	}
	for (int i = 0; i < HN_NPU_N_OP; i++) {
		if (!seen[i]) {
			fail_msg("%s is not in the text of this test", hn_npu_op[i].word);
		}
	}
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

static void comments_and_blanks_are_nothing(void **state)
{
	static const char text[] = "# first\n\nhnpu/1 # form\n \n# x\ngm A float32[8]\n\ncores 0 1 {"
				   "\t# go\n\n\tbarrier all #end\n\n}\n# last";
	const struct hn_npu_program *p;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	if (parse(text, &a, &p, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(p->section[0].insn[0].line, 10);
	hn_arena_fini(&a);
}

#define HEAD "hnpu/1\ngm A float32[8]\ncores 0 1 {\n"

static const struct {
	const char *text, *expected;
} refused[] = {
	{ "", "t:1: expected 'hnpu/1', not ''" },
	{ "hnpu/2\n", "t:1: expected 'hnpu/1', not 'hnpu/2'" },
	{ "hnpu/1\n", "t:2: no core has any code" },
	{ "hnpu/1\nhello\n", "t:2: 'hello' is none of size, where, gm, scratch and cores" },
	{ "hnpu/1\ngm A\x01 float32[8]\n", "t:1: byte 11 is no printed ASCII" },
	{ "hnpu/1\ngm ub float32[8]\n", "t:2: 'ub' is a memory, and no name for a buffer" },
	{ "hnpu/1\ngm 'A float32[8]\n", "t:2: ''A' is no name" },
	{ "hnpu/1\ngm A float32[8]\ngm A float32[8]\n", "t:3: two buffers are called 'A'" },
	{ "hnpu/1\ngm A float33[8]\n", "t:2: 'float33' is no type" },
	{ "hnpu/1\ngm A float32[0]\n", "t:2: 0 elements" },
	{ "hnpu/1\ngm A float32[1000000000000000000]\n", "t:2: 1000000000000000000 elements" },
	{ "hnpu/1\ngm A float32[99999999999999999999]\n",
	  "t:2: '99999999999999999999' is no integer" },
	{ "hnpu/1\nscratch A int8[268435457]\n", "t:2: scratch of 268435457 bytes: a program has 268435456" },
	{ "hnpu/1\nscratch A int8[268435456]\nscratch B int8[1]\n", "t:3: scratch of 268435457 bytes" },
	{ "hnpu/1\nscratch A float32[8]\ngm B float32[8]\n", "t:3: an argument behind scratch" },
	{ "hnpu/1\ngm A float32[8]\nscratch A float32[8]\n", "t:3: two buffers are called 'A'" },
	{ "hnpu/1\ncores 0 0 {\n}\n", "t:2: 0 cores from 0 on" },
	{ "hnpu/1\ncores 1000 100 {\n}\n", "t:2: 100 cores from 1000 on" },
	{ "hnpu/1\ncores -1 1 {\n}\n", "t:2: -1: cores are 0 to 1023" },
	{ "hnpu/1\ncores 0 2 {\n}\ncores 1 1 {\n}\n", "t:4: another section has some of these cores" },
	{ HEAD, "t:4: the text ends before '}'" },
	{ HEAD "end\n}\n", "t:4: no loop and no if is open" },
	{ HEAD "loop r1 4\n}\n", "t:5: the loop or if of line 4 has no end" },
	{ HEAD "mov r32 0\n}\n", "t:4: 'r32': registers are r0 to r31" },
	{ HEAD "mov r99999999999999999999 0\n}\n", "t:4: 'r99999999999999999999': registers are" },
	{ HEAD "mov 7 0\n}\n", "t:4: '7' is no register" },
	{ HEAD "mov r1 0x10\n}\n", "t:4: '0x10' is no integer" },
	{ HEAD "mov r1 r2*3\n}\n", "t:4: 'r2*3' is no number" },
	{ HEAD "mov r1 +3\n}\n", "t:4: '+3' is no integer" },
	{ HEAD "mov r1\n}\n", "t:4: the line ends too early" },
	{ HEAD "mov r1 1 2\n}\n", "t:4: '2' stands behind what the line says" },
	{ HEAD "vad.f32 ub[0] ub[0] ub[0]\n}\n",
	  "t:4: there is no instruction 'vad'; did you mean vadd" },
	{ HEAD "vadd.f64 ub[0] ub[0] ub[0]\n}\n", "t:4: vadd of which type?" },
	{ HEAD "vadd ub[0] ub[0] ub[0]\n}\n", "t:4: vadd of which type?" },
	{ HEAD "vadd.f32.f16 ub[0] ub[0] ub[0]\n}\n", "t:4: '.f16' stands behind vadd" },
	{ HEAD "vadd.f32 l1[0] ub[0] ub[0]\n}\n", "t:4: 'l1' cannot stand here" },
	{ HEAD "ub2l1 ub[0] l1[0] burst 32\n}\n", "t:4: 'ub' cannot stand here" },
	{ HEAD "vadd.f32 B[0] ub[0] ub[0]\n}\n", "t:4: 'B' is no memory and no buffer" },
	{ HEAD "vadd.f32 ub[0] ub[0] ub[0] rep 256\n}\n", "t:4: rep 256 is not in 1 to 255" },
	{ HEAD "vadd.f32 ub[0] ub[0] ub[0] rep 1 rep 1\n}\n", "t:4: 'rep': vadd has no such number" },
	{ HEAD "vadd.f32 ub[0] ub[0] ub[0] trans 1\n}\n", "t:4: 'trans': vadd has no such number" },
	{ HEAD "load ub[0] A[0]\n}\n", "t:4: load wants burst" },
	{ HEAD "vadds.f32 ub[0] ub[0] one\n}\n", "t:4: 'one' is no number" },
	{ HEAD "set V V 0\n}\n", "t:4: a flag is between two pipes" },
	{ HEAD "set S V 0\n}\n", "t:4: a flag is between two pipes" },
	{ HEAD "set VV M 0\n}\n", "t:4: 'VV' is no pipe" },
	{ HEAD "barrier S\n}\n", "t:4: S has no barrier" },
	{ HEAD "mov r1 1234567890123456789012345678901234567890123456789012345678901234567890123456789"
	       "012345678901234567890123456789012345678901234567890\n}\n", "t:4: a word of 130 bytes" },
};

static void what_is_wrong_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		const struct hn_npu_program *p;
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		assert_int_equal(parse(refused[i].text, &a, &p, &err), -HONE_E_INVALID);
		if (strncmp(err.msg, refused[i].expected, strlen(refused[i].expected)) != 0) {
			fail_msg("%s\nis not\n%s", err.msg, refused[i].expected);
		}
		hn_arena_fini(&a);
	}
}

static void nesting_is_bounded(void **state)
{
	const struct hn_npu_program *p;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	hn_buf_puts(&b, HEAD);
	for (int i = 0; i < 100000; i++) {
		hn_buf_puts(&b, "loop r1 4\n");
	}
	assert_int_equal(parse(b.s, &a, &p, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg, "t:20: nested more than 16 deep");
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

/* Bytes changed at random: read, or refused with a line; never anything else. */
static void spoiled_text_is_refused_or_read(void **state)
{
	struct hn_rng rng = hn_rng_stream(1, 0, 0, 0);
	unsigned n_read = 0, n_refused = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		const struct hn_npu_program *p;
		struct hn_err err = { 0 };
		char text[sizeof(all)];
		struct hn_arena a;

		memcpy(text, all, sizeof(all));
		for (uint64_t k = hn_rng_below(&rng, 2); k < 2; k++) {
			text[hn_rng_below(&rng, sizeof(all) - 1)] =
				"0 9r[]{}\n-+.#avz"[hn_rng_below(&rng, 16)];
		}
		hn_arena_init(&a, 0);
		if (parse(text, &a, &p, &err) == 0) {
			n_read++;
		} else {
			assert_int_equal(strncmp(err.msg, "t:", 2), 0);
			n_refused++;
		}
		hn_arena_fini(&a);
	}
	print_message("%u read, %u refused\n", n_read, n_refused);
	assert_true(n_read > 100 && n_refused > 100);
}

static void words_are_documented(void **state)
{
	struct hn_err err = { 0 };
	char want[40];
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	assert_int_equal(hn_file_read(HONE_SOURCE_DIR "/docs/npu.md", 1 << 20, &b, &err), 0);
	for (int i = 0; i < HN_NPU_N_OP + HN_NPU_N_NUMERAL; i++) {
		snprintf(want, sizeof(want), "`%s`", i < HN_NPU_N_OP
				? hn_npu_op[i].word : hn_npu_numeral[i - HN_NPU_N_OP].word);
		if (strstr(b.s, want) == NULL) {
			fail_msg("docs/npu.md does not say %s", want);
		}
	}
	hn_buf_fini(&b);
}

/* Each profile is a row of targets.def, with its numbers; a line may say less, and no more. */
static void targets_are_profiles(void **state)
{
	static const struct {
		const char *line, *words;
	} bad[] = {
		{ "npu -num_cores=33", "'-num_cores=33': dv910 has 32" },
		{ "npu -isa=tiny -num_cores=-1", "'-num_cores=-1': tiny has 2" },
		{ "npu -isa=tiny -l1_bytes=65537", "'-l1_bytes=65537': tiny has 65536" },
		{ "npu -l2_bytes=32", "'-l2_bytes=32': dv910 has 1048576, and a line may say 512" },
		{ "cpu -isa=generic", "no profile of the NPU" },
	};
	struct hn_npu_profile row, m;
	struct hn_target t;
	struct hn_err err = { 0 };
	struct hn_arena a;
	char line[100];

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; hn_npu_profile_at(i, &row); i++) {
		snprintf(line, sizeof(line), "npu -isa=%s", row.name);
		assert_int_equal(hn_target_parse(line, &a, &t, &err), 0);
		assert_int_equal(hn_npu_profile_of_target(&t, &m, &err), 0);
		assert_memory_equal(&m, &row, sizeof(m));
	}
	assert_int_equal(hn_target_parse("npu -num_cores=3 -l1_bytes=4096", &a, &t, &err), 0);
	assert_int_equal(hn_npu_profile_of_target(&t, &m, &err), 0);
	assert_true(m.cores == 3 && m.ub_bytes == 4096 && m.l1_bytes == 1048576);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		assert_int_equal(hn_target_parse(bad[i].line, &a, &t, &err), 0);
		assert_int_equal(hn_npu_profile_of_target(&t, &m, &err), -HONE_E_INVALID);
		if (strstr(err.msg, bad[i].words) == NULL) {
			fail_msg("%s: %s", bad[i].line, err.msg);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_reads_back),
		cmocka_unit_test(comments_and_blanks_are_nothing),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(spoiled_text_is_refused_or_read),
		cmocka_unit_test(words_are_documented),
		cmocka_unit_test(targets_are_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
