/* Products of small matrices and ldmatrix on the machine for PTX, against plain sums: where elements
 * lie is written here as the ISA lists it, for each shape by itself.  All numbers are small integers,
 * so that every sum is exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/half.h"
#include "base/rng.h"
#include "tests/lib/ptx_try.h"

enum type { BF16, F16, TF32, S8, U8 };

static const char *const type_name[] = { "bf16", "f16", "tf32", "s8", "u8" };
static const uint32_t type_bytes[] = { 2, 2, 4, 1, 1 };

/* The i-th element of a lane, counted through its registers. */
static void a_place(uint32_t k, uint32_t bytes, uint32_t lane, uint32_t i, uint32_t *row,
		    uint32_t *column)
{
	uint32_t g = lane >> 2, t = lane % 4;

	if (bytes == 4) { /* m16n8k4: a0, a1; m16n8k8: a0 to a3 */
		*row = i == 0 || i == 2 ? g : g + 8;
		*column = i < 2 ? t : t + 4;
	} else if (bytes == 2 && k == 8) {
		*row = i < 2 ? g : g + 8;
		*column = t * 2 + (i & 1);
	} else if (bytes == 2) {
		*row = i < 2 || (4 <= i && i < 6) ? g : g + 8;
		*column = t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
	} else if (k == 16) {
		*row = i < 4 ? g : g + 8;
		*column = t * 4 + (i & 3);
	} else {
		*row = i < 4 || (8 <= i && i < 12) ? g : g + 8;
		*column = t * 4 + (i & 3) + (i >= 8 ? 16 : 0);
	}
}

static void b_place(uint32_t bytes, uint32_t lane, uint32_t i, uint32_t *row, uint32_t *column)
{
	uint32_t g = lane >> 2, t = lane % 4;

	*column = g;
	if (bytes == 4) {
		*row = i == 0 ? t : t + 4;
	} else if (bytes == 2) {
		*row = t * 2 + (i & 1) + (i >= 2 ? 8 : 0);
	} else {
		*row = t * 4 + (i & 3) + (i >= 4 ? 16 : 0);
	}
}

static void c_place(uint32_t lane, uint32_t i, uint32_t *row, uint32_t *column)
{
	*row = i < 2 ? lane >> 2 : (lane >> 2) + 8;
	*column = lane % 4 * 2 + (i & 1);
}

static uint32_t bits_of(enum type type, int32_t v, struct hn_rng *r)
{
	switch (type) {
	case BF16:
		return hn_bfloat_of_float((float)v);
	case F16:
		return hn_half_of_float((float)v);
	case TF32: /* what is below its ten bits does not count */
		return hn_float_bits((float)v) | (uint32_t)hn_rng_below(r, 1 << 13);
	default:
		return (uint32_t)v & 0xff;
	}
}

static int32_t some(enum type type, struct hn_rng *r)
{
	switch (type) {
	case S8:
		return (int32_t)hn_rng_below(r, 256) - 128;
	case U8:
		return (int32_t)hn_rng_below(r, 256);
	default:
		return (int32_t)hn_rng_below(r, 17) - 8;
	}
}

static void add_element(uint32_t *reg, uint32_t lane, uint32_t i, uint32_t bytes, uint32_t bits)
{
	reg[i * bytes / 4 * 32 + lane] |= bits << (i * bytes % 4 * 8);
}

static const struct form {
	const char *shape, *sum;
	uint32_t k;
	enum type a, b;
} forms[] = {
	{ "m16n8k16", "f32", 16, BF16, BF16 }, { "m16n8k16", "f32", 16, F16, F16 },
	{ "m16n8k16", "f16", 16, F16, F16 },   { "m16n8k8", "f32", 8, BF16, BF16 },
	{ "m16n8k8", "f32", 8, F16, F16 },     { "m16n8k8", "f16", 8, F16, F16 },
	{ "m16n8k8", "f32", 8, TF32, TF32 },   { "m16n8k4", "f32", 4, TF32, TF32 },
	{ "m16n8k32", "s32", 32, S8, S8 },     { "m16n8k32", "s32", 32, U8, S8 },
	{ "m16n8k32", "s32", 32, S8, U8 },     { "m16n8k32", "s32", 32, U8, U8 },
	{ "m16n8k16", "s32", 16, S8, S8 },     { "m16n8k16", "s32", 16, U8, S8 },
};

static void put_names(struct hn_buf *s, const char *kind, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(s, "%s%s%u", i ? ", " : "{", kind, from + i);
	}
	hn_buf_puts(s, "}");
}

static void form_is_right(const struct form *f, uint64_t seed)
{
	struct hn_rng r = hn_rng_stream(seed, 0, 0, 0);
	uint32_t bytes = type_bytes[f->a], n_a = f->k * bytes / 8, n_b = n_a / 2;
	bool half = !strcmp(f->sum, "f16");
	uint32_t n_c = half ? 2 : 4, in[16 * 32] = { 0 }, out[4 * 32], row, column;
	uint32_t *a_reg = in, *b_reg = in + n_a * 32, *c_reg = b_reg + n_b * 32;
	int32_t a[16][32], b[32][8], c[16][8];
	struct ptx_try t = { .threads = 32, .n_in = n_a + n_b + n_c, .n_out = n_c, .in = in, .out = out };
	struct hn_err err;
	struct hn_buf s;

	for (uint32_t lane = 0; lane < 32; lane++) {
		for (uint32_t i = 0; i < n_a * 4 / bytes; i++) {
			a_place(f->k, bytes, lane, i, &row, &column);
			a[row][column] = some(f->a, &r);
			add_element(a_reg, lane, i, bytes, bits_of(f->a, a[row][column], &r));
		}
		for (uint32_t i = 0; i < n_b * 4 / bytes; i++) {
			b_place(bytes, lane, i, &row, &column);
			b[row][column] = some(f->b, &r);
			add_element(b_reg, lane, i, bytes, bits_of(f->b, b[row][column], &r));
		}
		for (uint32_t i = 0; i < 4; i++) {
			c_place(lane, i, &row, &column);
			c[row][column] = (int32_t)hn_rng_below(&r, 1000) - 500;
			add_element(c_reg, lane, i, half ? 2 : 4,
				    half ? hn_half_of_float((float)c[row][column])
				    : *f->sum == 's' ? (uint32_t)c[row][column]
						     : hn_float_bits((float)c[row][column]));
		}
	}
	hn_buf_init(&s);
	hn_buf_printf(&s, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s ", f->shape, f->sum,
		      type_name[f->a], type_name[f->b], f->sum);
	put_names(&s, "%o", 0, n_c);
	hn_buf_puts(&s, ", ");
	put_names(&s, "%i", 0, n_a);
	hn_buf_puts(&s, ", ");
	put_names(&s, "%i", n_a, n_b);
	hn_buf_puts(&s, ", ");
	put_names(&s, "%i", n_a + n_b, n_c);
	hn_buf_puts(&s, ";\n");
	if (ptx_try(&t, s.s, seed, &err) != 0) {
		fail_msg("%s: %s", s.s, err.msg);
	}
	for (uint32_t lane = 0; lane < 32; lane++) {
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t got = out[half ? i / 2 * 32 + lane : i * 32 + lane];
			int32_t want, is;

			c_place(lane, i, &row, &column);
			want = c[row][column];
			for (uint32_t k = 0; k < f->k; k++) {
				want += a[row][k] * b[k][column];
			}
			is = half ? (int32_t)hn_half_to_float((uint16_t)(got >> (i % 2 * 16)))
			     : *f->sum == 's' ? (int32_t)got
					      : (int32_t)hn_float_of_bits(got);
			if (is != want) {
				fail_msg("%s: row %u, column %u: %d, not %d", s.s, row, column, is, want);
			}
		}
	}
	hn_buf_fini(&s);
}

static void products_are_sums(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		for (uint64_t seed = 0; seed < 4; seed++) {
			form_is_right(&forms[i], seed);
		}
	}
}

/* An accumulator may be its own product, as loops have it. */
static void product_onto_itself(void **state)
{
	uint32_t in[8 * 32], out[4 * 32];
	struct ptx_try t = { .threads = 32, .n_in = 8, .n_out = 4, .in = in, .out = out };
	struct hn_err err;

	(void)state;
	for (uint32_t i = 0; i < 8 * 32; i++) {
		in[i] = 0x3f803f80; /* ones */
	}
	assert_int_equal(ptx_try(&t,
				 "mov.b32 %o0, 0;\nmov.b32 %o1, 0;\nmov.b32 %o2, 0;\nmov.b32 %o3, 0;\n"
				 "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%o0,%o1,%o2,%o3}, "
				 "{%i0,%i1,%i2,%i3}, {%i4,%i5}, {%o0,%o1,%o2,%o3};\n"
				 "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%o0,%o1,%o2,%o3}, "
				 "{%i0,%i1,%i2,%i3}, {%i4,%i5}, {%o0,%o1,%o2,%o3};\n",
				 1, &err),
			 0);
	for (uint32_t i = 0; i < 4 * 32; i++) {
		assert_int_equal(hn_float_bits(32), out[i]);
	}
}

static void is_refused(const char *body, const char *why)
{
	static uint32_t memory[64 * 32];
	struct ptx_try t = { .threads = 32, .n_in = 16, .n_out = 4, .in = memory,
			     .out = memory + 32 * 32, .n_shared = 1024 };
	struct hn_err err;

	assert_int_not_equal(ptx_try(&t, body, 1, &err), 0);
	if (!strstr(err.msg, why)) {
		fail_msg("%s: %s", body, err.msg);
	}
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	is_refused("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%o0,%o1,%o2,%o3}, "
		   "{%i0,%i1,%i2,%i3}, {%i4,%i5}, {%i6,%i7,%i8,%i9};\n",
		   "has no 'mma");
	is_refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%o0,%o1,%o2,%o3}, "
		   "{%i0,%i1,%i2,%i3}, {%i4,%i5}, {%i6,%i7,%i8,%i9};\n",
		   "has no 'mma");
	is_refused("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%o0,%o1,%o2,%o3}, "
		   "{%i0,%i1,%i2,%i3}, {%i4,%i5}, {%i6,%i7,%i8,%i9};\n",
		   "registers");
	is_refused("mov.u32 %o3, %laneid;\nsetp.lt.u32 %p0, %o3, 16;\n@%p0 bra $away;\n"
		   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%a];\n$away:\n",
		   "lanes ffff0000 alone");
	is_refused("add.s32 %r5, %a, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%r5];\n",
		   "no multiple of 16");
	is_refused("add.s32 %r5, %a, 1016;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%r5];\n",
		   "shared memory");
}

/* -- ldmatrix --------------------------------------------------------------------------------- */

static void matrices_are_loaded(uint32_t n, bool trans)
{
	uint16_t image[64 * 8]; /* rows anywhere, in an order of their own */
	uint32_t address[32], out[4 * 32] = { 0 };
	struct ptx_try t = { .threads = 32, .n_in = 1, .n_out = n, .in = address, .out = out,
			     .shared = image, .n_shared = sizeof image };
	char body[200];
	struct hn_err err;

	for (uint32_t i = 0; i < 64 * 8; i++) {
		image[i] = (uint16_t)(i * 40503);
	}
	for (uint32_t lane = 0; lane < 32; lane++) { /* nobody asks lanes from 8 n on */
		address[lane] = lane < 8 * n ? lane * 37 % 64 * 16 : 0xfffffff1;
	}
	snprintf(body, sizeof body,
		 "bar.sync 0;\nadd.s32 %%r5, %%a, %%i0;\n"
		 "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, [%%r5];\n",
		 n, trans ? ".trans" : "",
		 n == 1	  ? "{%o0}"
		 : n == 2 ? "{%o0, %o1}"
			  : "{%o0, %o1, %o2, %o3}");
	if (ptx_try(&t, body, n, &err) != 0) {
		fail_msg("%s: %s", body, err.msg);
	}
	for (uint32_t m = 0; m < n; m++) {
		for (uint32_t lane = 0; lane < 32; lane++) {
			for (uint32_t e = 0; e < 2; e++) {
				uint32_t row = trans ? lane % 4 * 2 + e : lane / 4;
				uint32_t column = trans ? lane / 4 : lane % 4 * 2 + e;
				uint16_t want = image[(8 * m + row) * 37 % 64 * 8 + column];

				assert_int_equal((uint16_t)(out[m * 32 + lane] >> (16 * e)), want);
			}
		}
	}
}

static void ldmatrix_brings_rows(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 4; n *= 2) {
		matrices_are_loaded(n, false);
		matrices_are_loaded(n, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_sums),
		cmocka_unit_test(product_onto_itself),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(ldmatrix_brings_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
