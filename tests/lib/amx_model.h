/* AMX in C, for machines without it: each instruction on tiles as a function that does what
 * Intel's Software Developer's Manual says of it, and ends the test where the machine would fault.
 * The emitter calls these where it is told to (lower.h, model_tiles). */
#ifndef HN_TESTS_AMX_MODEL_H
#define HN_TESTS_AMX_MODEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/lower_run.h"

struct amx_tile {
	uint32_t rows, bytes; /* 0 = it has no shape */
	uint8_t row[16][64];
};

static struct {
	bool configured;
	struct amx_tile tile[8];
	uint64_t n_config, n_load, n_sum; /* since they were last set to 0 */
} amx;

static void amx_fault(const char *what)
{
	fprintf(stderr, "amx: %s\n", what);
	abort();
}

static struct amx_tile *amx_tile(int32_t t)
{
	if (t < 0 || t > 7 || amx.tile[t].rows == 0 || amx.tile[t].bytes == 0) {
		amx_fault("a tile without a shape");
	}
	return &amx.tile[t];
}

static void amx_ldtilecfg(const uint8_t *c)
{
	if (c[0] != 1 || c[1] != 0) {
		amx_fault("palette or start row");
	}
	amx.configured = true;
	amx.n_config++;
	memset(amx.tile, 0, sizeof amx.tile);
	for (uint32_t t = 0; t < 16; t++) {
		uint32_t bytes = c[16 + 2 * t] | (uint32_t)c[17 + 2 * t] << 8,
			 rows = c[48 + t];

		if (bytes > 64 || rows > 16 || (t > 7 && (bytes || rows)) ||
		    (!bytes != !rows)) {
			amx_fault("a shape that there is not");
		}
		if (t < 8) {
			amx.tile[t].rows = rows;
			amx.tile[t].bytes = bytes;
		}
	}
	for (uint32_t k = 2; k < 16; k++) {
		if (c[k]) {
			amx_fault("reserved bytes of a configuration");
		}
	}
}

static void amx_tilerelease(void)
{
	memset(amx.tile, 0, sizeof amx.tile);
	amx.configured = false;
}

static void amx_tilezero(int32_t t)
{
	memset(amx_tile(t)->row, 0, sizeof amx.tile[t].row);
}

static void amx_tileloadd64(int32_t t, const uint8_t *p, int64_t stride)
{
	struct amx_tile *x = amx_tile(t);

	amx.n_load++;
	memset(x->row, 0, sizeof x->row);
	for (uint32_t r = 0; r < x->rows; r++) {
		memcpy(x->row[r], p + (int64_t)r * stride, x->bytes);
	}
}

static void amx_tilestored64(int32_t t, uint8_t *p, int64_t stride)
{
	const struct amx_tile *x = amx_tile(t);

	for (uint32_t r = 0; r < x->rows; r++) {
		memcpy(p + (int64_t)r * stride, x->row[r], x->bytes);
	}
}

static void amx_check_sum(int32_t c, int32_t a, int32_t b)
{
	const struct amx_tile *acc = amx_tile(c), *left = amx_tile(a),
			      *right = amx_tile(b);

	amx.n_sum++;
	if (c == a || c == b || a == b || acc->bytes % 4 || left->bytes % 4 ||
	    right->bytes % 4 || acc->rows != left->rows || acc->bytes != right->bytes ||
	    right->rows != left->bytes / 4) {
		amx_fault("a sum of tiles whose shapes do not agree");
	}
}

/* What is past a tile's rows and bytes becomes zero. */
static void amx_zero_rest(struct amx_tile *x)
{
	for (uint32_t r = 0; r < 16; r++) {
		uint32_t from = r < x->rows ? x->bytes : 0;

		memset(x->row[r] + from, 0, 64 - from);
	}
}

static int32_t amx_byte(uint8_t v, bool is_signed)
{
	return is_signed ? (int8_t)v : v;
}

static void amx_bytes(int32_t c, int32_t a, int32_t b, bool left_signed,
		      bool right_signed)
{
	amx_check_sum(c, a, b);
	struct amx_tile *acc = &amx.tile[c];
	const struct amx_tile *left = &amx.tile[a], *right = &amx.tile[b];

	for (uint32_t m = 0; m < acc->rows; m++) {
		for (uint32_t k = 0; k < left->bytes / 4; k++) {
			for (uint32_t n = 0; n < acc->bytes / 4; n++) {
				uint32_t sum;

				memcpy(&sum, acc->row[m] + 4 * n, 4);
				for (uint32_t t = 0; t < 4; t++) {
					sum += (uint32_t)(amx_byte(
								  left->row[m][4 * k + t],
								  left_signed) *
							  amx_byte(right->row[k]
									     [4 * n + t],
								   right_signed));
				}
				memcpy(acc->row[m] + 4 * n, &sum, 4);
			}
		}
	}
	amx_zero_rest(acc);
}

static void amx_tdpbssd(int32_t c, int32_t a, int32_t b)
{
	amx_bytes(c, a, b, true, true);
}

static void amx_tdpbsud(int32_t c, int32_t a, int32_t b)
{
	amx_bytes(c, a, b, true, false);
}

static void amx_tdpbusd(int32_t c, int32_t a, int32_t b)
{
	amx_bytes(c, a, b, false, true);
}

static void amx_tdpbuud(int32_t c, int32_t a, int32_t b)
{
	amx_bytes(c, a, b, false, false);
}

/* Numbers too small to be normal are zero, going in and coming out. */
static float amx_flush(float x)
{
	return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float amx_half(const uint8_t *p)
{
	uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 24;
	float x;

	memcpy(&x, &bits, 4);
	return amx_flush(x);
}

/* The even terms and the odd ones are summed apart, each by multiply-adds, rounded to nearest. */
static void amx_tdpbf16ps(int32_t c, int32_t a, int32_t b)
{
	amx_check_sum(c, a, b);
	struct amx_tile *acc = &amx.tile[c];
	const struct amx_tile *left = &amx.tile[a], *right = &amx.tile[b];

	for (uint32_t m = 0; m < acc->rows; m++) {
		float part[32] = { 0 };

		for (uint32_t k = 0; k < left->bytes / 4; k++) {
			for (uint32_t n = 0; n < acc->bytes / 2; n++) {
				const uint8_t *x = left->row[m] + 4 * k + 2 * (n % 2);

				part[n] = amx_flush(fmaf(amx_half(x),
							 amx_half(right->row[k] + 2 * n),
							 part[n]));
			}
		}
		for (uint32_t n = 0; n < acc->bytes / 4; n++) {
			float sum;

			memcpy(&sum, acc->row[m] + 4 * n, 4);
			sum = amx_flush(amx_flush(sum) +
					amx_flush(part[2 * n] + part[2 * n + 1]));
			memcpy(acc->row[m] + 4 * n, &sum, 4);
		}
	}
	amx_zero_rest(acc);
}

/* For run_define. */
static void amx_define(LLVMOrcLLJITRef jit)
{
	static const struct {
		const char *name;
		void *at;
	} fn[] = {
		{ "hone_model_ldtilecfg", (void *)amx_ldtilecfg },
		{ "hone_model_tilerelease", (void *)amx_tilerelease },
		{ "hone_model_tilezero", (void *)amx_tilezero },
		{ "hone_model_tileloadd64", (void *)amx_tileloadd64 },
		{ "hone_model_tilestored64", (void *)amx_tilestored64 },
		{ "hone_model_tdpbssd", (void *)amx_tdpbssd },
		{ "hone_model_tdpbsud", (void *)amx_tdpbsud },
		{ "hone_model_tdpbusd", (void *)amx_tdpbusd },
		{ "hone_model_tdpbuud", (void *)amx_tdpbuud },
		{ "hone_model_tdpbf16ps", (void *)amx_tdpbf16ps },
	};
	LLVMOrcCSymbolMapPair pair[sizeof fn / sizeof fn[0]];

	for (size_t i = 0; i < sizeof fn / sizeof fn[0]; i++) {
		pair[i].Name = LLVMOrcLLJITMangleAndIntern(jit, fn[i].name);
		pair[i].Sym.Address = (uintptr_t)fn[i].at;
		pair[i].Sym.Flags =
			(LLVMJITSymbolFlags){ LLVMJITSymbolGenericFlagsExported |
						      LLVMJITSymbolGenericFlagsCallable,
					      0 };
	}
	run_must(LLVMOrcJITDylibDefine(
		LLVMOrcLLJITGetMainJITDylib(jit),
		LLVMOrcAbsoluteSymbols(pair, sizeof fn / sizeof fn[0])));
}

#endif
