/* Warpgroups' products on the machine for PTX, against plain sums, with matrices laid out by hand as
 * the ISA draws them: all swizzles, along the sum and across it, several steps of the sum; and what a
 * kernel may forget is said, or is seen in the values.  All numbers are small integers: sums are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/half.h"
#include "base/rng.h"
#include "tests/lib/ptx_try.h"

#define GROUP 128
#define IMAGE (160 * 1024)

enum type { BF16, F16, TF32, S8, U8 };

static const char *const type_name[] = { "bf16", "f16", "tf32", "s8", "u8" };
static const uint32_t type_bytes[] = { 2, 2, 4, 1, 1 };

/* A matrix in shared memory: its rows' (columns') place and the sum's. */
struct layout {
	uint32_t span, bytes, leading, stride, at;
	uint32_t base; /* of the pattern, which begins at no multiple of its size: in 128 bytes */
	bool across;
};

/* Byte of an element, from where the matrix begins.  In a swizzled row of the pattern, eight rows of
 * `span` bytes, chunks of 16 bytes stand at their number xor that of the 128 bytes they are in. */
static uint32_t place(const struct layout *l, uint32_t row, uint32_t k)
{
	uint32_t turn[] = { 0, k % 8 / 4, k % 8 / 2, 0, k % 8 }, each = l->span / 2;
	uint32_t byte = k * l->bytes, turned = turn[l->span / 32];

	if (l->across) {
		if (!l->span) {
			return row / 8 * l->stride + k / 8 * l->leading + k % 8 * 16 + row % 8 * 2;
		}
		return row / each * l->leading + k / 8 * l->stride + k % 8 * l->span +
		       ((row % each / 8) ^ turned) * 16 + row % 8 * 2;
	}
	if (!l->span) {
		return row / 8 * l->stride + byte / 16 * l->leading + row % 8 * 16 + byte % 16;
	}
	turned = l->span == 128 ? row % 8 : l->span == 64 ? row % 8 / 2 : row % 8 / 4;
	return row / 8 * l->stride + row % 8 * l->span + ((byte / 16) ^ turned) * 16 + byte % 16;
}

/* Rows of a matrix that has `steps` instructions' sums side by side, with gaps wherever there may be
 * one. */
static struct layout layout(uint32_t span, bool across, uint32_t bytes, uint32_t steps, uint32_t at,
			    uint32_t base)
{
	struct layout l = { .span = span, .bytes = bytes, .across = across, .at = at + base * 128,
			    .base = span ? base : 0 };

	if (across && span) {
		l.stride = 8 * span * 2;
		l.leading = steps * 2 * l.stride + 1024;
	} else if (across) {
		l.stride = 144;		   /* between eights of rows */
		l.leading = 32 * 144 + 16; /* between eights of the sum */
	} else if (span) {
		l.stride = 8 * span * 2;
		l.leading = 48; /* not looked at */
	} else {
		l.stride = steps * 2 * 128 + 64;
		l.leading = 128;
	}
	return l;
}

/* From one instruction's start to the next one's. */
static uint32_t step(const struct layout *l)
{
	return l->across ? 2 * (l->span ? l->stride : l->leading) : l->span ? 32 : 2 * l->leading;
}

static uint64_t descriptor(const struct layout *l)
{
	uint64_t mode = l->span == 128 ? 1 : l->span == 64 ? 2 : l->span == 32 ? 3 : 0;

	return l->at >> 4 | (uint64_t)(l->leading >> 4) << 16 | (uint64_t)(l->stride >> 4) << 32 |
	       (uint64_t)l->base << 49 | mode << 62;
}

static void put(unsigned char *image, const struct layout *l, uint32_t row, uint32_t k,
		enum type type, int32_t v)
{
	uint32_t bits = type == BF16   ? hn_bfloat_of_float((float)v)
			: type == F16  ? hn_half_of_float((float)v)
			: type == TF32 ? hn_float_bits((float)v) | (row * 977 + k * 31) % 8192
				       : (uint32_t)v;

	assert_true(l->at + place(l, row, k) + l->bytes <= IMAGE);
	memcpy(image + l->at + place(l, row, k), &bits, l->bytes);
}

static void put_names(struct hn_buf *s, const char *kind, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(s, "%s%s%u", i ? "," : "{", kind, i);
	}
	hn_buf_puts(s, "}");
}

struct form {
	enum type a, b;
	const char *sum;
	uint32_t n, span_a, span_b, steps, base;
	bool across_a, across_b, add, in_registers;
	int32_t sign_a, sign_b;
};

static const char *const to_descriptor =
	"shr.u32 %r5, %a, 4;\ncvt.u64.u32 %y0, %r5;\nadd.s64 %y1, %w0, %y0;\nadd.s64 %y2, %w1, %y0;\n"
	"setp.ne.u32 %p1, 0, 1;\nsetp.ne.u32 %p0, 0, 0;\n";

static void write_products(struct hn_buf *s, const struct form *f, uint32_t n_sum, uint32_t step_a,
			   uint32_t step_b)
{
	uint32_t k = 32 / type_bytes[f->a];

	for (uint32_t i = 0; i < f->steps; i++) {
		hn_buf_printf(s, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s ", f->n, k, f->sum,
			      type_name[f->a], type_name[f->b]);
		put_names(s, "%o", n_sum);
		if (f->in_registers) {
			hn_buf_printf(s, ", {%%i%u,%%i%u,%%i%u,%%i%u}", n_sum, n_sum + 1, n_sum + 2,
				      n_sum + 3);
		} else {
			hn_buf_puts(s, ", %y1");
		}
		hn_buf_printf(s, ", %%y2, %%p%u", f->add || i ? 1 : 0);
		if (f->a <= TF32) {
			hn_buf_printf(s, ", %d, %d", f->sign_a, f->sign_b);
		}
		if (f->a < TF32) {
			hn_buf_puts(s, f->in_registers ? "" : f->across_a ? ", 1" : ", 0");
			hn_buf_puts(s, f->across_b ? ", 1" : ", 0");
		}
		hn_buf_printf(s, ";\nadd.s64 %%y1, %%y1, %u;\nadd.s64 %%y2, %%y2, %u;\n", step_a >> 4,
			      step_b >> 4);
	}
}

struct bench {
	unsigned char image[IMAGE];
	uint32_t in[132 * GROUP], out[128 * GROUP];
	int32_t a[64][128], b[256][128], d[64][256];
};

/* The product by the machine and by sums; the body's `fences` and `waits` may be left out. */
static int run(struct bench *m, const struct form *f, uint64_t seed, const char *before,
	       const char *after, struct hn_err *err)
{
	struct hn_rng r = hn_rng_stream(seed, 1, 0, 0);
	uint32_t bytes = type_bytes[f->a], k = f->steps * 32 / bytes, half = !strcmp(f->sum, "f16");
	uint32_t n_sum = half ? f->n / 4 : f->n / 2, n_in = n_sum + (f->in_registers ? 4 : 0);
	struct layout a = layout(f->span_a, f->across_a, bytes, f->steps, 0, f->base);
	struct layout b = layout(f->span_b, f->across_b, bytes, f->steps, 48 * 1024, f->base / 2);
	uint64_t wide[2] = { descriptor(&a), descriptor(&b) };
	struct ptx_try t = { .threads = GROUP, .n_in = n_in, .n_out = n_sum, .in = m->in,
			     .out = m->out, .n_wide = 2, .wide = wide, .shared = m->image,
			     .n_shared = IMAGE };
	struct hn_buf s;
	int rc;

	memset(m->image, 0x7f, sizeof m->image); /* not a number, or large */
	memset(m->in, 0, sizeof m->in);
	for (uint32_t i = 0; i < 64 + f->n; i++) {
		for (uint32_t j = 0; j < k; j++) {
			enum type type = i < 64 ? f->a : f->b;
			int32_t v = type == S8	 ? (int32_t)hn_rng_below(&r, 256) - 128
				    : type == U8 ? (int32_t)hn_rng_below(&r, 256)
						 : (int32_t)hn_rng_below(&r, 9) - 4;

			*(i < 64 ? &m->a[i][j] : &m->b[i - 64][j]) = v;
			put(m->image, i < 64 ? &a : &b, i < 64 ? i : i - 64, j, type, v);
		}
	}
	for (uint32_t thread = 0; thread < GROUP; thread++) {
		uint32_t row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;

		for (uint32_t i = 0; i < f->n / 2; i++) { /* d_i of the ISA's figure */
			int32_t *d = &m->d[row + i / 2 % 2 * 8][i / 4 * 8 + column + (i & 1)];

			*d = (int32_t)hn_rng_below(&r, 200) - 100;
			m->in[(half ? i / 2 : i) * GROUP + thread] |=
				half	       ? (uint32_t)hn_half_of_float((float)*d) << (i % 2 * 16)
				: *f->sum == 's' ? (uint32_t)*d
						 : hn_float_bits((float)*d);
		}
		for (uint32_t i = 0; f->in_registers && i < 16 / bytes; i++) { /* as of mma.sync */
			uint32_t reg = i * bytes / 4, per = 4 / bytes, bits;
			int32_t v = m->a[row + reg % 2 * 8]
					[reg / 2 * 4 * per + thread % 4 * per + i % per];

			bits = f->a == BF16   ? hn_bfloat_of_float((float)v)
			       : f->a == F16  ? hn_half_of_float((float)v)
			       : f->a == TF32 ? hn_float_bits((float)v)
					      : (uint32_t)v & 0xff;
			m->in[(n_sum + reg) * GROUP + thread] |= bits << (i * bytes % 4 * 8);
		}
	}
	hn_buf_init(&s);
	for (uint32_t i = 0; i < n_sum; i++) {
		hn_buf_printf(&s, "mov.b32 %%o%u, %%i%u;\n", i, i);
	}
	hn_buf_puts(&s, to_descriptor);
	hn_buf_puts(&s, before);
	write_products(&s, f, n_sum, step(&a), step(&b));
	hn_buf_puts(&s, after);
	rc = ptx_try(&t, s.s, seed, err);
	hn_buf_fini(&s);
	return rc;
}

/* How many elements of the sum differ. */
static uint32_t differ(const struct bench *m, const struct form *f)
{
	bool half = !strcmp(f->sum, "f16");
	uint32_t n = 0, k = f->steps * 32 / type_bytes[f->a];

	for (uint32_t thread = 0; thread < GROUP; thread++) {
		for (uint32_t i = 0; i < f->n / 2; i++) {
			uint32_t row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
			uint32_t column = i / 4 * 8 + thread % 4 * 2 + (i & 1);
			uint32_t got = m->out[(half ? i / 2 : i) * GROUP + thread];
			int32_t want = 0;

			for (uint32_t j = 0; j < k; j++) {
				want += m->a[row][j] * m->b[column][j];
			}
			want = want * f->sign_a * f->sign_b + (f->add ? m->d[row][column] : 0);
			n += *f->sum == 's' ? (int32_t)got != want
			     : half ? hn_half_to_float((uint16_t)(got >> (i % 2 * 16))) != (float)want
				    : hn_float_of_bits(got) != (float)want;
		}
	}
	return n;
}

#define BEFORE "fence.proxy.async.shared::cta;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n"
#define AFTER "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"

static struct bench bench;

static void is_right(const struct form *f, uint64_t seed)
{
	struct hn_err err;
	uint32_t n;

	if (run(&bench, f, seed, BEFORE, AFTER, &err) != 0) {
		fail_msg("n %u, %s, spans %u, %u, across %d, %d: %s", f->n, type_name[f->a],
			 f->span_a, f->span_b, f->across_a, f->across_b, err.msg);
	}
	n = differ(&bench, f);
	if (n) {
		fail_msg("n %u, %s, spans %u, %u, across %d, %d: %u of %u elements are wrong", f->n,
			 type_name[f->a], f->span_a, f->span_b, f->across_a, f->across_b, n, 64 * f->n);
	}
}

static const uint32_t spans[] = { 0, 32, 64, 128 };

static void all_layouts(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		struct form f = { .a = i & 1 ? BF16 : F16, .b = i & 1 ? BF16 : F16, .sum = "f32",
				  .span_a = spans[i % 4], .span_b = spans[i / 4 % 4],
				  .across_a = i / 16 % 2, .across_b = i / 32, .add = i % 3,
				  .sign_a = 1, .sign_b = 1, .n = i % 5 == 0 ? 136 : 64 };
		uint32_t most = 4;

		most = !f.across_a && f.span_a && f.span_a / 32 < most ? f.span_a / 32 : most;
		most = !f.across_b && f.span_b && f.span_b / 32 < most ? f.span_b / 32 : most;
		f.base = i % 7 == 0 ? i % 8 : 0;
		f.steps = most < 2 ? most : i % 2 ? 2 : most;
		is_right(&f, i);
	}
}

static void all_types(void **state)
{
	static const struct form forms[] = {
		{ .a = F16, .b = F16, .sum = "f16", .n = 8 },
		{ .a = F16, .b = F16, .sum = "f16", .n = 256, .add = true },
		{ .a = BF16, .b = BF16, .sum = "f32", .n = 256 },
		{ .a = TF32, .b = TF32, .sum = "f32", .n = 8 },
		{ .a = TF32, .b = TF32, .sum = "f32", .n = 104, .add = true },
		{ .a = S8, .b = S8, .sum = "s32", .n = 24, .add = true },
		{ .a = U8, .b = S8, .sum = "s32", .n = 64 },
		{ .a = S8, .b = U8, .sum = "s32", .n = 256, .add = true },
		{ .a = U8, .b = U8, .sum = "s32", .n = 48 },
		{ .a = BF16, .b = BF16, .sum = "f32", .n = 40, .in_registers = true },
		{ .a = F16, .b = F16, .sum = "f32", .n = 40, .in_registers = true, .across_b = true },
		{ .a = TF32, .b = TF32, .sum = "f32", .n = 16, .in_registers = true },
		{ .a = S8, .b = S8, .sum = "s32", .n = 16, .in_registers = true },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		for (uint32_t span = 0; span < 4; span++) {
			struct form f = forms[i];

			f.sign_a = f.a <= TF32 && i % 2 ? -1 : 1;
			f.sign_b = f.a <= TF32 && span % 2 ? -1 : 1;
			f.span_a = f.span_b = spans[span];
			f.steps = f.in_registers || span < 2 ? 1 : spans[span] / 32;
			is_right(&f, i);
		}
	}
}

/* -- what a kernel may forget ----------------------------------------------------------------- */

static const struct form plain = { .a = BF16, .b = BF16, .sum = "f32", .n = 32, .span_a = 128,
				   .span_b = 128, .steps = 2, .add = true, .sign_a = 1, .sign_b = 1 };

static void is_said(const char *before, const char *after, const char *why)
{
	struct hn_err err;
	bool said = false;

	for (uint64_t seed = 0; seed < PTX_TRY_SEEDS && !said; seed++) {
		said = run(&bench, &plain, seed, before, after, &err) != 0;
	}
	if (!said || !strstr(err.msg, why)) {
		fail_msg("'%s' is not said, but '%s'", why, err.msg);
	}
}

static void forgotten_fences_are_said(void **state)
{
	(void)state;
	is_said("bar.sync 0;\nwgmma.fence.sync.aligned;\n", AFTER, "behind no fence");
	is_said("bar.sync 0;\nfence.proxy.async.global;\nwgmma.fence.sync.aligned;\n", AFTER,
		"behind no fence");
	is_said("fence.proxy.async;\nbar.sync 0;\n", AFTER, "no wgmma.fence");
	/* one warp's threads alone hand over what they wrote */
	is_said("setp.lt.u32 %p2, %t, 32;\n@%p2 fence.proxy.async;\nbar.sync 0;\n"
		"wgmma.fence.sync.aligned;\n",
		AFTER, "behind no fence");
	is_said(BEFORE,
		AFTER "mov.b32 %o3, 0;\n"
		      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%o0,%o1,%o2,%o3,%o4,%o5,"
		      "%o6,%o7,%o8,%o9,%o10,%o11,%o12,%o13,%o14,%o15}, %y1, %y2, %p1, 1, 1, 0, 0;\n"
		AFTER,
		"accumulators changed");
}

/* The sums are read too early: for some seed they are old ones. */
static void forgotten_waits_are_seen(void **state)
{
	static const char *const after[] = {
		"wgmma.commit_group.sync.aligned;\nmov.b32 %r9, %o3;\nwgmma.wait_group.sync.aligned 0;\n"
		"mov.b32 %o3, %r9;\n",
		"wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\nmov.b32 %r9, "
		"%o3;\nwgmma.wait_group.sync.aligned 0;\nmov.b32 %o3, %r9;\n",
		/* not committed: nothing is waited for */
		"wgmma.wait_group.sync.aligned 0;\nmov.b32 %r9, %o3;\nwgmma.commit_group.sync.aligned;\n"
		"wgmma.wait_group.sync.aligned 0;\nmov.b32 %o3, %r9;\n",
	};
	struct hn_err err;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t wrong = 0;

		for (uint64_t seed = 0; seed < PTX_TRY_SEEDS; seed++) {
			if (run(&bench, &plain, seed, BEFORE, after[i], &err) != 0) {
				fail_msg("%s", err.msg);
			}
			wrong += differ(&bench, &plain) > 0;
		}
		assert_true(wrong > 0);
	}
	is_said(BEFORE, "wgmma.commit_group.sync.aligned;\n", "nobody waits");
}

/* The factors are written over before the product has come: for some seed it is of the new ones. */
static void written_over_too_early_is_seen(void **state)
{
	struct hn_err err;
	uint32_t wrong = 0;

	(void)state;
	for (uint64_t seed = 0; seed < PTX_TRY_SEEDS; seed++) {
		if (run(&bench, &plain, seed, BEFORE,
			"wgmma.commit_group.sync.aligned;\nmov.b32 %r9, 0;\nmad.lo.u32 %r10, %t, 4, %a;\n"
			"st.shared.b32 [%r10], %r9;\nfence.proxy.async;\nwgmma.wait_group.sync.aligned "
			"0;\n",
			&err) != 0) {
			assert_non_null(strstr(err.msg, "behind no fence")); /* another warp's view */
			wrong++;
			continue;
		}
		wrong += differ(&bench, &plain) > 0;
	}
	assert_true(wrong > 0);
}

static void other_faults_are_said(void **state)
{
	(void)state;
	is_said(BEFORE "add.s64 %y2, %y2, 8192;\n", AFTER, "shared memory");
	is_said(BEFORE "add.s64 %y1, %y1, 8;\n", AFTER, "begins within a pattern");
	is_said(BEFORE "cvt.u64.u32 %y3, %t;\nadd.s64 %y1, %y1, %y3;\n", AFTER, "in all lanes");
	is_said(BEFORE "shr.u32 %r9, %t, 5;\nshl.b32 %r9, %r9, 6;\ncvt.u64.u32 %y3, %r9;\n"
		       "add.s64 %y1, %y1, %y3;\n",
		AFTER, "other operands");
	is_said(BEFORE "setp.lt.u32 %p2, %t, 96;\n@!%p2 bra $away;\n", AFTER "$away:\n", "has ended");
	is_said(BEFORE "setp.lt.u32 %p2, %t, 16;\n@%p2 bra $away;\n", AFTER "$away:\n", "lanes");
}

/* -- setmaxnreg ------------------------------------------------------------------------------- */

static int registers(uint32_t at_first, const char *body, struct hn_err *err)
{
	static uint32_t out[256];
	struct ptx_try t = { .threads = 256, .n_out = 1, .out = out, .maxnreg = at_first };

	return ptx_try(&t, body, 3, err);
}

static void registers_move(void **state)
{
	struct hn_err err;

	(void)state;
	assert_int_equal(registers(128,
				   "mov.u32 %o0, 0;\nsetp.lt.u32 %p0, %t, 128;\n@%p0 bra $less;\n"
				   "setmaxnreg.inc.sync.aligned.u32 216;\nbra $end;\n$less:\n"
				   "setmaxnreg.dec.sync.aligned.u32 40;\n$end:\n",
				   &err),
			 0);
	assert_int_not_equal(registers(128,
				       "mov.u32 %o0, 0;\nsetp.lt.u32 %p0, %t, 128;\n@%p0 bra $less;\n"
				       "setmaxnreg.inc.sync.aligned.u32 224;\nbra $end;\n$less:\n"
				       "setmaxnreg.dec.sync.aligned.u32 40;\n$end:\n",
				       &err),
			     0);
	assert_non_null(strstr(err.msg, "hangs"));
	/* by one warp of four, the last that goes on */
	assert_int_not_equal(registers(128,
				       "mov.u32 %o0, 0;\nbar.sync 0;\nsetp.lt.u32 %p0, %t, 224;\n@%p0 bra "
				       "$end;\nsetmaxnreg.dec.sync.aligned.u32 40;\n$end:\nbar.sync 0;\n",
				       &err),
			     0);
	assert_non_null(strstr(err.msg, "of its group came to other"));
	assert_int_not_equal(registers(128, "mov.u32 %o0, 0;\nsetmaxnreg.dec.sync.aligned.u32 42;\n",
				       &err),
			     0);
	assert_non_null(strstr(err.msg, "multiple of 8"));
	assert_int_not_equal(registers(128, "mov.u32 %o0, 0;\nsetmaxnreg.dec.sync.aligned.u32 136;\n",
				       &err),
			     0);
	assert_non_null(strstr(err.msg, "the warp has 128"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_layouts),
		cmocka_unit_test(all_types),
		cmocka_unit_test(forgotten_fences_are_said),
		cmocka_unit_test(forgotten_waits_are_seen),
		cmocka_unit_test(written_over_too_early_is_seen),
		cmocka_unit_test(other_faults_are_said),
		cmocka_unit_test(registers_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
