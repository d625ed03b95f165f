/* Bulk copies by tensor maps and mbarriers on the machine for PTX: boxes against plain loops, with
 * swizzles written as rows and chunks; phases; and what a kernel may forget is said, or is seen in what
 * arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/rng.h"
#include "tests/lib/ptx_try.h"

#define THREADS 64
#define ROOM (64 * 1024) /* of shared memory; the mbarriers are behind it */
#define WORDS (ROOM / 4 / THREADS)

static uint32_t out[WORDS * THREADS];
static _Alignas(128) unsigned char tensor[256 * 1024];

static const char *const begin =
	"mov.u32 %r20, 0;\nsetp.eq.u32 %p0, %t, 0;\nadd.s32 %r5, %a, 65536;\n"
	"@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;\n";
static const char *const hand_over = "@%p0 fence.mbarrier_init.release.cluster;\n"
				     "@%p0 fence.proxy.async;\nbar.sync 0;\n";
static const char *const wait = "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r20;\n"
				"@!%p1 bra $wait;\n";

/* All of shared memory, to the registers that are looked at. */
static void look(struct hn_buf *s)
{
	hn_buf_puts(s, "mad.lo.u32 %r6, %t, 4, %a;\n");
	for (uint32_t i = 0; i < WORDS; i++) {
		hn_buf_printf(s, "ld.shared.b32 %%o%u, [%%r6+%u];\n", i, i * THREADS * 4);
	}
}

static int run(const struct ptx_map *map, const char *body, const uint32_t *in, uint32_t n_in,
	       bool all, uint64_t seed, struct hn_err *err)
{
	uint64_t wide = (uint64_t)(uintptr_t)map;
	struct ptx_range more[] = { { (void *)(uintptr_t)map, sizeof *map, true },
				    { tensor, sizeof tensor, false } };
	struct ptx_try t = { .threads = THREADS, .n_in = n_in, .in = in, .n_out = all ? WORDS : 1,
			     .out = out, .n_wide = map ? 1 : 0, .wide = &wide,
			     .n_shared = ROOM + 64, .more = more, .n_more = 2 };
	struct hn_buf s;
	int rc;

	hn_buf_init(&s);
	hn_buf_puts(&s, body);
	if (all) {
		look(&s);
	}
	more[0].bytes = map ? more[0].bytes : 0;
	rc = ptx_try(&t, s.s, seed, err);
	hn_buf_fini(&s);
	return rc;
}

/* -- boxes ------------------------------------------------------------------------------------ */

struct boxes {
	struct ptx_map map;
	int32_t at[5];
	uint32_t to; /* from the beginning of shared memory */
};

static uint32_t box_bytes(const struct ptx_map *m)
{
	uint32_t n = m->bytes;

	for (uint32_t d = 0; d < m->rank; d++) {
		n *= m->box[d];
	}
	return n;
}

static void copy_text(struct hn_buf *s, const struct boxes *b)
{
	hn_buf_printf(s, "@%%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r5], %u;\n",
		      box_bytes(&b->map));
	hn_buf_printf(s,
		      "add.s32 %%r7, %%a, %u;\n@%%p0 cp.async.bulk.tensor.%ud.shared::cluster.global."
		      "tile.mbarrier::complete_tx::bytes [%%r7], [%%w0, ",
		      b->to, b->map.rank);
	for (uint32_t d = 0; d < b->map.rank; d++) {
		hn_buf_printf(s, "%s%%i%u", d ? ", " : "{", d);
	}
	hn_buf_puts(s, "}], [%r5];\n");
}

/* The byte that the box has at `byte`, by its coordinates; what is outside is zero. */
static unsigned char wanted(const struct boxes *b, uint32_t byte)
{
	const struct ptx_map *m = &b->map;
	uint64_t at = byte % m->bytes, rest = byte / m->bytes;

	for (uint32_t d = 0; d < m->rank; d++) {
		int64_t c = b->at[d] + (int64_t)(rest % m->box[d]);

		if (c < 0 || c >= (int64_t)m->size[d]) {
			return 0;
		}
		rest /= m->box[d];
		at += (uint64_t)c * (d ? m->stride[d - 1] : m->bytes);
	}
	return tensor[(unsigned char *)m->at - tensor + at];
}

/* Rows of 128 bytes of shared memory: eight, four or two chunks each are turned by the row's number. */
static uint32_t swizzled(uint32_t byte, uint32_t span)
{
	uint32_t row = byte / 128, chunk = byte % 128 / 16, n = span / 16;

	return n ? row * 128 + (chunk / n * n + (chunk % n ^ row % n)) * 16 + byte % 16 : byte;
}

static void box_arrives(const struct boxes *b, uint64_t seed)
{
	const unsigned char *got = (const unsigned char *)out;
	uint32_t in[5 * THREADS], n = box_bytes(&b->map);
	struct hn_err err;
	struct hn_buf s;

	for (uint32_t i = 0; i < b->map.rank * THREADS; i++) {
		in[i] = (uint32_t)b->at[i / THREADS];
	}
	hn_buf_init(&s);
	hn_buf_puts(&s, begin);
	hn_buf_puts(&s, hand_over);
	copy_text(&s, b);
	hn_buf_puts(&s, wait);
	if (run(&b->map, s.s, in, b->map.rank, true, seed, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_fini(&s);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = swizzled(b->to + i, b->map.swizzle);

		if (got[at] != wanted(b, i)) {
			fail_msg("rank %u, swizzle %u: byte %u is at %u, it is %u, not %u", b->map.rank,
				 b->map.swizzle, i, at, got[at], wanted(b, i));
		}
	}
	for (uint32_t i = 0; i < b->to / 128 * 128; i++) { /* nothing else was touched */
		assert_int_equal(got[i], 0xdb);
	}
	for (uint32_t i = b->to + (n + 127) / 128 * 128; i < ROOM; i++) {
		assert_int_equal(got[i], 0xdb);
	}
}

static void fill(void)
{
	for (uint32_t i = 0; i < sizeof tensor; i++) {
		tensor[i] = (unsigned char)(1 + (i ^ i >> 8) % 251);
	}
}

static struct ptx_map plane(uint32_t bytes, uint32_t span)
{
	return (struct ptx_map){ .at = (char *)tensor + 16, .rank = 2, .bytes = (uint8_t)bytes,
				 .swizzle = (uint8_t)span, .size = { 200, 60 }, .stride = { 1024 },
				 .box = { (uint16_t)((span ? span : 48) / bytes), 20 } };
}

static void boxes_of_planes(void **state)
{
	static const uint32_t spans[] = { 0, 32, 64, 128 };
	static const int32_t corner[][2] = { { 0, 0 }, { 3, 7 }, { -5, -3 }, { 190, 50 },
					     { -1000, 0 }, { 0, 60 }, { 200, 2147483647 },
					     { -2147483647, -2147483647 } };

	(void)state;
	fill();
	for (uint32_t i = 0; i < 4 * 8; i++) {
		struct boxes b = { .map = plane(1 << i % 3, spans[i / 8]),
				   .at = { corner[i % 8][0], corner[i % 8][1] },
				   .to = i % 5 * 128 };

		box_arrives(&b, i);
	}
}

static void boxes_of_all_ranks(void **state)
{
	(void)state;
	fill();
	for (uint32_t rank = 1; rank <= 5; rank++) {
		struct boxes b = { .map = { .at = (char *)tensor, .rank = (uint8_t)rank, .bytes = 4,
					    .size = { 20, 9, 7, 5, 3 },
					    .stride = { 80, 720, 5040, 25200 },
					    .box = { 16, 3, 2, 4, 2 },
					    .swizzle = rank % 2 ? 64 : 0 },
				   .to = 1024 };

		for (uint64_t seed = 0; seed < 6; seed++) {
			struct hn_rng r = hn_rng_stream(seed, rank, 0, 0);

			for (uint32_t d = 0; d < rank; d++) {
				b.at[d] = (int32_t)hn_rng_below(&r, b.map.size[d] + 4) - 3;
			}
			box_arrives(&b, seed);
		}
	}
}

/* -- what a kernel may forget ----------------------------------------------------------------- */

/* Of some seed a fault with that line. */
static void is_said(const struct ptx_map *map, const char *body, const char *why)
{
	static const uint32_t in[5 * THREADS];
	struct hn_err err;
	bool said = false;

	for (uint64_t seed = 0; seed < PTX_TRY_SEEDS && !said; seed++) {
		said = run(map, body, in, 5, false, seed, &err) != 0;
	}
	if (!said || !strstr(err.msg, why)) {
		fail_msg("'%s' is not said of %s, but '%s'", why, body, err.msg);
	}
}

#define INIT "mov.u32 %o0, 0;\nmov.u32 %r20, 0;\nsetp.eq.u32 %p0, %t, 0;\nadd.s32 %r5, %a, 65536;\n" \
	     "@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;\n"
#define HAND "@%p0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
#define EXPECT(n) "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], " #n ";\n"
#define COPY "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
	     "[%a], [%w0, {%i0, %i1}], [%r5];\n"
#define WAIT "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r20;\n@!%p1 bra $wait;\n"

static void faults_are_said(void **state)
{
	struct ptx_map map = plane(2, 64), odd = plane(2, 64), wide = plane(2, 64);

	(void)state;
	fill();
	is_said(&map, INIT HAND EXPECT(1276) COPY WAIT, "more came");
	is_said(&map, INIT HAND EXPECT(1281) COPY WAIT, "hangs");
	is_said(&map, INIT HAND EXPECT(1280) WAIT, "hangs");
	is_said(&map, INIT HAND COPY WAIT, "hangs");
	is_said(&map, INIT HAND EXPECT(1280) COPY "mov.u32 %r20, 2;\n" WAIT, "a parity of 2");
	is_said(&map, INIT "bar.sync 0;\n" EXPECT(1280) COPY WAIT, "behind no fence");
	is_said(&map, INIT "st.shared.b32 [%a], %t;\n" HAND EXPECT(1280) COPY WAIT, "behind no fence");
	is_said(&map, INIT HAND EXPECT(1280) COPY "@%p0 st.shared.b32 [%a], %t;\n" WAIT, "behind no fence");
	is_said(&map, INIT HAND EXPECT(1280) COPY, "on its way");
	is_said(&map, INIT HAND EXPECT(1280) EXPECT(1280) COPY COPY WAIT, "arrivals at the mbarrier");
	is_said(&map, INIT HAND EXPECT(1280) "add.s32 %r5, %r5, 8;\n" COPY WAIT, "no mbarrier");
	is_said(&map, INIT HAND "mov.u32 %r9, 1280;\nst.shared.b32 [%r5], %r9;\n" EXPECT(1280) COPY WAIT,
		"no mbarrier");
	is_said(&map, INIT HAND EXPECT(1280) "add.s32 %a, %a, 64;\n" COPY WAIT, "no multiple of 128");
	is_said(&map, INIT HAND EXPECT(1280) "add.s32 %a, %a, 64512;\n" COPY WAIT, "shared memory");
	is_said(&map, INIT HAND EXPECT(1280) "add.s64 %w0, %w0, 64;\n" COPY WAIT, "no array is");
	is_said(&map, INIT "@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;\n", "already");
	is_said(&map, "mov.u32 %o0, 0;\nmbarrier.arrive.shared::cta.b64 _, [%a];\n", "no mbarrier");
	is_said(&map, INIT "@%p0 mbarrier.inval.shared::cta.b64 [%r5];\n" HAND EXPECT(1280),
		"no mbarrier");
	odd.stride[0] = 1032;
	is_said(&odd, INIT HAND EXPECT(1280) COPY WAIT, "a multiple of 16");
	wide.swizzle = 128;
	is_said(&wide, INIT HAND EXPECT(1280) COPY WAIT, "different sizes");
	map.size[1] = 1000; /* the map says more than there is */
	map.box[1] = 256;
	map.stride[0] = 4096;
	is_said(&map, INIT HAND EXPECT(16384) COPY WAIT, "no array is");
}

/* The box is read before it came: of some seed. */
static void forgotten_waits_are_seen(void **state)
{
	static const char *const ways[] = {
		INIT HAND EXPECT(1280) COPY "ld.shared.b32 %o0, [%a];\n" WAIT,
		/* the parity of the phase before: it is over at once */
		INIT HAND EXPECT(1280) COPY "mov.u32 %r20, 1;\n" WAIT
					    "ld.shared.b32 %o0, [%a];\nmov.u32 %r20, 0;\n$more:\n"
					    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], "
					    "%r20;\n@!%p1 bra $more;\n",
		/* one try may say no, even when it is over */
		INIT HAND EXPECT(1280) COPY
		"$ask:\nmbarrier.test_wait.parity.shared::cta.b64 %p1, [%r5], %r20;\n@!%p1 bra $ask;\n"
		"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r20;\n"
		"@%p1 ld.shared.b32 %o0, [%a];\n" WAIT,
	};
	static const uint32_t in[5 * THREADS];
	struct ptx_map map = plane(2, 64);
	struct hn_err err;
	uint32_t first;

	(void)state;
	fill();
	memcpy(&first, map.at, 4);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t wrong = 0;

		for (uint64_t seed = 0; seed < 6 * PTX_TRY_SEEDS; seed++) {
			/* who asks for the parity too late waits for the next phase's end */
			if (run(&map, ways[i], in, 5, false, seed, &err) != 0 &&
			    (i != 1 || !strstr(err.msg, "hangs"))) {
				fail_msg("%s", err.msg);
			}
			wrong += out[0] != first;
		}
		assert_true(wrong > 0);
	}
}

/* Four rounds by two mbarriers, one for what came and one for what was read: each round's box is the
 * next rows. */
static void phases_follow_each_other(void **state)
{
	static const char *const body =
		"mov.u32 %o0, 0;\nmov.u32 %o1, 0;\nmov.u32 %o2, 0;\nmov.u32 %o3, 0;\n"
		"setp.eq.u32 %p0, %t, 0;\nadd.s32 %r5, %a, 65536;\nadd.s32 %r6, %a, 65544;\n"
		"@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;\n"
		"@%p0 mbarrier.init.shared::cta.b64 [%r6], 32;\n" HAND
		"setp.lt.u32 %p2, %t, 32;\nmov.u32 %r20, 0;\nmov.u32 %r21, 1;\nmov.u32 %r22, 0;\n"
		"mov.u32 %r23, 0;\n@!%p2 bra $read;\n@!%p0 bra $end;\n$write:\n"
		"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r6], %r21;\n@!%p1 bra $write;\n"
		"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1280;\n"
		"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
		"[%a], [%w0, {%r23, %r22}], [%r5];\n"
		"xor.b32 %r21, %r21, 1;\nadd.s32 %r22, %r22, 1;\nsetp.lt.u32 %p3, %r22, 4;\n"
		"@%p3 bra $write;\nbra $end;\n$read:\n"
		"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r20;\n@!%p1 bra $read;\n"
		"mov.b32 %o0, %o1;\nmov.b32 %o1, %o2;\nmov.b32 %o2, %o3;\n"
		"ld.shared.b32 %o3, [%a];\nmbarrier.arrive.shared::cta.b64 _, [%r6];\n"
		"xor.b32 %r20, %r20, 1;\nadd.s32 %r22, %r22, 1;\nsetp.lt.u32 %p3, %r22, 4;\n"
		"@%p3 bra $read;\n$end:\n";
	struct ptx_map map = plane(2, 64);
	uint64_t wide = (uint64_t)(uintptr_t)&map;
	struct ptx_range more[] = { { &map, sizeof map, true }, { tensor, sizeof tensor, false } };
	struct ptx_try t = { .threads = THREADS, .n_out = 4, .out = out, .n_wide = 1, .wide = &wide,
			     .n_shared = ROOM + 64, .more = more, .n_more = 2 };
	struct hn_err err;

	(void)state;
	fill();
	for (uint64_t seed = 0; seed < 40; seed++) {
		if (ptx_try(&t, body, seed, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		for (uint32_t i = 0; i < 4 * THREADS; i++) {
			uint32_t want;

			memcpy(&want, map.at + i / THREADS * 1024, 4);
			assert_int_equal(out[i], i % THREADS < 32 ? 0 : want);
		}
	}
}

/* What arrive gives is what test_wait asks for; a count arrives for many. */
static void states_are_phases(void **state)
{
	static const char *const body =
		INIT "@%p0 mbarrier.inval.shared::cta.b64 [%r5];\nsetp.eq.u32 %p2, %t, 0;\n"
		     "@%p2 mbarrier.init.shared.b64 [%r5], 66;\nbar.sync 0;\n"
		     "mbarrier.arrive.shared.b64 %y0, [%r5];\n"
		     "@%p2 mbarrier.arrive.release.cta.shared::cta.b64 _, [%r5], 2;\n$ask:\n"
		     "mbarrier.test_wait.shared.b64 %p3, [%r5], %y0;\n@!%p3 bra $ask;\n"
		     "mov.u32 %o0, 7;\nmbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r5], 1;\n"
		     "@%p3 mov.u32 %o0, 8;\n";
	static const uint32_t in[5 * THREADS];
	struct hn_err err;

	(void)state;
	for (uint64_t seed = 0; seed < PTX_TRY_SEEDS; seed++) {
		if (run(NULL, body, in, 5, false, seed, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		for (uint32_t i = 0; i < THREADS; i++) {
			assert_int_equal(out[i], 7);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_of_planes),
		cmocka_unit_test(boxes_of_all_ranks),
		cmocka_unit_test(faults_are_said),
		cmocka_unit_test(forgotten_waits_are_seen),
		cmocka_unit_test(phases_follow_each_other),
		cmocka_unit_test(states_are_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
