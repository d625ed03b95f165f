/* Hashes and random numbers: stored values never change, draws are even and independent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/sha256_int.h"
#include "base/rng.h"

static void sha256_is_sha256(void **state)
{
	/* lengths at which the padding takes a block more */
	static const struct {
		size_t n;
		const char *hex;
	} around_blocks[] = {
		{ 55, "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72" },
		{ 56, "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1" },
		{ 63, "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e" },
		{ 64, "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8" },
		{ 65, "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720" },
		{ 119, "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e" },
		{ 120, "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d" },
		{ 1000, "6b0df76627243d095b0c4400cb658b7e804dd03461cc03aee8fc8fe0bcada168" },
	};
	char hex[HN_SHA256_HEX];

	(void)state;
	hn_sha256_hex("", 0, hex);
	assert_string_equal(
		hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hn_sha256_hex("abc", 3, hex);
	assert_string_equal(
		hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	for (size_t i = 0; i < HN_COUNT_OF(around_blocks); i++) {
		uint8_t bytes[1000];
		size_t n = around_blocks[i].n;

		for (size_t k = 0; k < n; k++) {
			bytes[k] = (uint8_t)(k * 7 + n);
		}
		hn_sha256_hex(bytes, n, hex);
		assert_string_equal(hex, around_blocks[i].hex);
	}
}

static void hash64_tells_apart(void **state)
{
	char text[64] = {0};
	uint64_t seen[64];

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		seen[n] = hn_hash64(text, n, 0);
		for (size_t i = 0; i < n; i++) {
			assert_true(seen[i] != seen[n]);
		}
		assert_true(hn_hash64(text, n, 1) != seen[n]);
	}
	for (size_t bit = 0; bit < 8 * sizeof(text); bit++) {
		int flipped;

		text[bit / 8] ^= (char)(1 << bit % 8);
		flipped = __builtin_popcountll(hn_hash64(text, sizeof(text), 0) ^
					       hn_hash64((char[64]){0}, 64, 0));
		assert_in_range(flipped, 10, 54);
		text[bit / 8] ^= (char)(1 << bit % 8);
	}
}

/* These values are in stored files. */
static void hash64_never_changes(void **state)
{
	(void)state;
	assert_true(hn_hash64("", 0, 0) == 0xf4aa7626012e7756);
	assert_true(hn_hash64("hone", 4, 0) == 0x72cd3e8255550451);
	assert_true(hn_hash64_word(0x8807060504030201, 7) ==
		    hn_hash64("\x01\x02\x03\x04\x05\x06\x07\x88", 8, 7));
	assert_true(hn_hash64("a longer text of 32 bytes, hone!", 32, 7) ==
		    0xa7bebde60f9f8748);
}

static void draws_are_named(void **state)
{
	struct hn_rng a = hn_rng_stream(1, 2, 3, 4), b = hn_rng_stream(1, 2, 3, 4);
	struct hn_rng other[] = {
		hn_rng_stream(0, 2, 3, 4), hn_rng_stream(1, 3, 2, 4),
		hn_rng_stream(1, 2, 4, 3), hn_rng_stream(1, 2, 3, 5),
		hn_rng_stream(0, 0, 0, 0),
	};
	uint64_t first = hn_rng_u64(&a);

	(void)state;
	assert_true(first == hn_rng_u64(&b));
	assert_true(hn_rng_u64(&a) == hn_rng_u64(&b));
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		assert_true(hn_rng_u64(&other[i]) != first);
	}
}

static void draws_are_even(void **state)
{
	int count[7] = {0}, across[7] = {0};
	struct hn_rng r = hn_rng_stream(5, 0, 0, 0);
	double sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 70000; i++) {
		struct hn_rng s = hn_rng_stream(5, 0, 0, i);
		double u = hn_rng_unit(&r);

		count[hn_rng_below(&r, 7)]++;
		across[hn_rng_below(&s, 7)]++;
		assert_true(u >= 0 && u < 1);
		sum += u;
	}
	for (int i = 0; i < 7; i++) {
		assert_in_range(count[i], 9500, 10500);
		assert_in_range(across[i], 9500, 10500);
	}
	assert_true(sum > 34500 && sum < 35500);
	assert_int_equal(hn_rng_below(&r, 1), 0);
	assert_true(hn_rng_below(&r, UINT64_MAX) < UINT64_MAX);
}

static void clocks_run(void **state)
{
	int64_t before = hn_clock_ns();

	(void)state;
	assert_true(hn_clock_ns() >= before);
	assert_true(hn_clock_unix_ms() > 1600000000000);
}

/* In parts of any lengths. */
static void sha256_in_parts(void **state)
{
	uint8_t bytes[700], whole[HN_SHA256_BYTES], parts[HN_SHA256_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(i * 31 + i / 7);
	}
	for (uint64_t seed = 0; seed < 500; seed++) {
		size_t n = hn_hash64_word(seed, 1) % sizeof(bytes);
		struct hn_sha256 h;

		hn_sha256_begin(&h);
		for (size_t at = 0, part; at < n; at += part) {
			part = 1 + hn_hash64_word(at, seed) % 150;
			part = part < n - at ? part : n - at;
			hn_sha256_add(&h, bytes + at, part);
		}
		hn_sha256_end(&h, parts);
		hn_sha256(bytes, n, whole);
		assert_memory_equal(parts, whole, sizeof(whole));
	}
}

/* By the kernel's list, not by our own question of the processor. */
static bool lists_sha(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[8192];
	bool found = false;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		found |= strncmp(line, "flags", 5) == 0 && strstr(line, " sha_ni") != NULL;
	}
	if (f != NULL) {
		fclose(f);
	}
	return found;
}

/* The state after any number of blocks is the same both ways. */
static void sha256_by_instructions_is_that_of_c(void **state)
{
	uint8_t bytes[9 * HN_SHA256_BLOCK + 1];
	uint64_t x = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(x = hn_hash64_word(x, i));
	}
	for (size_t n = 0; n <= 9; n++) {
		uint32_t c[8], own[8];

		for (size_t i = 0; i < 8; i++) {
			c[i] = own[i] = (uint32_t)(x = hn_hash64_word(x, n));
		}
		hn_sha256_blocks_c(c, bytes + n % 2, n);
		if (!hn_sha256_blocks_x86(own, bytes + n % 2, n)) {
			assert_false(lists_sha());
			print_message("this processor has no instructions of SHA-256: skipped\n");
			skip();
		}
		assert_memory_equal(c, own, sizeof(c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_is_sha256),
		cmocka_unit_test(sha256_in_parts),
		cmocka_unit_test(sha256_by_instructions_is_that_of_c),
		cmocka_unit_test(hash64_tells_apart),
		cmocka_unit_test(hash64_never_changes),
		cmocka_unit_test(draws_are_named),
		cmocka_unit_test(draws_are_even),
		cmocka_unit_test(clocks_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
