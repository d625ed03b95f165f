/* bench/limit_stream.c -- the least time in which so many bytes can be read and so many
 * written, at the level of the memory that holds them.
 *
 * limit-read is no bound that a kernel with results could reach: a store to a line that is
 * not in the first cache fetches the line before (write-allocate), and sends it back later.
 * So this contender stores.  It does no arithmetic but an exclusive or of what it loads,
 * and is the fastest of the loops below on this machine, for this many bytes: which one that
 * is differs between levels (non-temporal stores pay only beyond the last cache, a second
 * thread only where a call outlasts waking it).
 */
#include "bench/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clock.h"

#define LINE 64
#define GROUP 8 /* lines of the longer side in a step */
#define TRY_NS 2000000
#define MAX_STREAMS 16

/* One part: read[0..n_read) and write[0..n_write) lines, in proportion. */
struct part {
	const char *read;
	char *write;
	size_t n_read, n_write;
};

/* GROUP lines of the longer side and their share of the shorter one, from stream after
 * stream; what is left of a part at the end. */
typedef uint64_t (*part_fn)(const struct part *p, uint32_t n_streams);

/* The streams' places, and how many lines of either side the next step takes. */
struct walk {
	const char *read[MAX_STREAMS];
	char *write[MAX_STREAMS];
	size_t n_step, nr, nw; /* nr, nw: at least so many a step, */
	size_t more, err;      /* one more when err, growing by `more`, passes n_step */
	bool reads_less;
	struct part rest; /* behind the last stream, and what no step takes */
};

static struct walk walk_of(const struct part *p, uint32_t n_streams)
{
	bool reads_less = p->n_read < p->n_write;
	size_t longer = (reads_less ? p->n_write : p->n_read) / n_streams;
	size_t shorter = (reads_less ? p->n_read : p->n_write) / n_streams;
	struct walk k = { .n_step = longer / GROUP, .reads_less = reads_less };

	if (k.n_step > 0) {
		k.nr = reads_less ? shorter / k.n_step : GROUP;
		k.nw = reads_less ? GROUP : shorter / k.n_step;
		k.more = shorter % k.n_step;
	}
	for (uint32_t s = 0; s < n_streams; s++) {
		k.read[s] = p->read + (reads_less ? shorter : k.n_step * GROUP) * s * LINE;
		k.write[s] = p->write + (reads_less ? k.n_step * GROUP : shorter) * s * LINE;
	}
	size_t steps = k.n_step * n_streams;
	size_t done = k.n_step > 0 ? shorter * n_streams : 0;
	size_t nr = reads_less ? done : steps * GROUP, nw = reads_less ? steps * GROUP : done;

	k.rest = (struct part){ p->read + nr * LINE, p->write + nw * LINE, p->n_read - nr,
				p->n_write - nw };
	return k;
}

/* What a step of one stream does, with counts that are constants where it matters; two sums
 * keep up with two loads a cycle. */
#define STREAM_KERNEL(name, attr, VEC, ZERO, LOAD, STORE, XOR)                           \
	attr static inline __attribute__((always_inline)) void step_##name(              \
		const char *read, size_t nr, char *write, size_t nw, VEC acc[2])         \
	{                                                                                \
		_Pragma("GCC unroll 8") for (size_t i = 0; i < nr; i++)                  \
		{                                                                        \
			acc[i % 2] = XOR(acc[i % 2], LOAD(read + i * LINE));             \
		}                                                                        \
		_Pragma("GCC unroll 8") for (size_t i = 0; i < nw; i++)                  \
		{                                                                        \
			STORE(write + i * LINE, acc[0]);                                 \
		}                                                                        \
	}                                                                                \
                                                                                         \
	attr static uint64_t stream_##name(const struct part *p, uint32_t n_streams)     \
	{                                                                                \
		struct walk k = walk_of(p, n_streams);                                   \
		VEC acc[2] = { ZERO, ZERO };                                             \
		uint64_t sink[LINE / 8];                                                 \
                                                                                         \
		for (size_t i = 0; i < k.n_step; i++) {                                  \
			size_t extra = (k.err += k.more) >= k.n_step ? 1 : 0;            \
			size_t nr = k.nr + (k.reads_less ? extra : 0);                   \
			size_t nw = k.nw + (k.reads_less ? 0 : extra);                   \
                                                                                         \
			k.err -= extra * k.n_step;                                       \
			for (uint32_t s = 0; s < n_streams; s++) {                       \
				const char *r = k.read[s];                               \
				char *w = k.write[s];                                    \
                                                                                         \
				if (nr == GROUP && nw == GROUP) {                        \
					step_##name(r, GROUP, w, GROUP, acc);            \
				} else if (nr == GROUP && nw == GROUP / 2) {             \
					step_##name(r, GROUP, w, GROUP / 2, acc);        \
				} else if (nr == GROUP && nw == 1) {                     \
					step_##name(r, GROUP, w, 1, acc);                \
				} else if (nr == GROUP && nw == 0) {                     \
					step_##name(r, GROUP, w, 0, acc);                \
				} else {                                                 \
					step_##name(r, nr, w, nw, acc);                  \
				}                                                        \
				k.read[s] += nr * LINE;                                  \
				k.write[s] += nw * LINE;                                 \
			}                                                                \
		}                                                                        \
		step_##name(k.rest.read, k.rest.n_read, k.rest.write, k.rest.n_write,    \
			    acc);                                                        \
		acc[0] = XOR(acc[0], acc[1]);                                            \
		memcpy(sink, &acc[0], sizeof(acc[0]));                                   \
		return sink[0];                                                          \
	}

struct word {
	uint64_t at[LINE / 8];
};

static inline struct word word_load(const char *at)
{
	struct word x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline void word_store(char *at, struct word x)
{
	memcpy(at, &x, sizeof(x));
}

static inline struct word word_xor(struct word x, struct word y)
{
	for (int i = 0; i < LINE / 8; i++) {
		x.at[i] ^= y.at[i];
	}
	return x;
}

#define FAST __attribute__((optimize("O3")))
#define WORD_ZERO ((struct word){ { 0 } })

STREAM_KERNEL(baseline, FAST, struct word, WORD_ZERO, word_load, word_store, word_xor)

#if defined(__x86_64__)
#define AVX512 __attribute__((target("avx512f,prefer-vector-width=512"))) FAST
#define LOAD512(at) _mm512_load_si512(at)
#define STORE512(at, x) _mm512_store_si512(at, x)
#define STREAM512(at, x) _mm512_stream_si512((__m512i *)(void *)(at), x)

STREAM_KERNEL(avx512, AVX512, __m512i, _mm512_setzero_si512(), LOAD512, STORE512,
	      _mm512_xor_si512)
STREAM_KERNEL(avx512_past, AVX512, __m512i, _mm512_setzero_si512(), LOAD512, STREAM512,
	      _mm512_xor_si512)
#endif

struct stream {
	const struct hn_contest *contest;
	char *read, *write;
	size_t n_read, n_write; /* lines */
	part_fn fn;
	uint32_t n_streams;
	int32_t n_threads;
};

static void body(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct stream *s = closure;

	(void)worker;
	for (int64_t i = begin; i < end; i++) {
		size_t k = (size_t)i, n = (size_t)s->n_threads;
		size_t r = s->n_read * k / n, w = s->n_write * k / n;
		struct part p = { s->read + r * LINE, s->write + w * LINE,
				  s->n_read * (k + 1) / n - r,
				  s->n_write * (k + 1) / n - w };
		uint64_t got = s->fn(&p, s->n_streams);

		/* it counts as used */
		__asm__ volatile("" ::"r"(got) : "memory");
	}
#if defined(__x86_64__)
	_mm_sfence();
#endif
}

static void call(void *ctx)
{
	struct stream *s = ctx;

	hone_pool_run(s->contest->pool, body, s, s->n_threads);
}

static void finish(void *ctx)
{
	struct stream *s = ctx;

	free(s->read);
	free(s->write);
	free(s);
}

static double best_of(struct stream *s)
{
	int64_t begin = hn_clock_ns(), last = begin, now;
	double best = INFINITY;

	for (int i = 0; i < 3 || last - begin < TRY_NS; i++) {
		call(s);
		now = hn_clock_ns();
		best = fmin(best, (double)(now - last));
		last = now;
	}
	return best;
}

static void choose(struct stream *s)
{
	static const uint32_t streams[] = { 1, 2, 4, 8, MAX_STREAMS };
	part_fn fn[3] = { stream_baseline };
	struct stream best = *s;
	double least = INFINITY;
	size_t n_fn = 1;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		fn[0] = stream_avx512;
		fn[1] = stream_avx512_past;
		n_fn = 2;
	}
#endif
	for (size_t i = 0; i < n_fn * HN_COUNT_OF(streams) * 2; i++) {
		s->fn = fn[i % n_fn];
		s->n_streams = streams[i / n_fn % HN_COUNT_OF(streams)];
		s->n_threads = i / n_fn / HN_COUNT_OF(streams) > 0
				       ? 1
				       : s->contest->n_threads;
		double ns = best_of(s);

		if (ns < least) {
			least = ns;
			best = *s;
		}
	}
	*s = best;
}

static char *lines_new(size_t n)
{
	void *at;

	hn_assert(posix_memalign(&at, 4096, (n > 0 ? n : 1) * LINE) == 0);
	memset(at, 1, (n > 0 ? n : 1) * LINE);
	return at;
}

void hn_limit_stream(struct hn_contest *t)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct hn_contender *c;

	hn_assert(s != NULL);
	s->contest = t;
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		size_t n = hn_contest_arg_bytes(t, i) / LINE;

		if (t->dag->op[t->dag->arg[i]]->kind == HN_OP_COMPUTE) {
			s->n_write += n;
		} else {
			s->n_read += n;
		}
	}
	s->read = lines_new(s->n_read);
	s->write = lines_new(s->n_write);
	choose(s);
	c = hn_contest_add(t, "limit-stream");
	c->ctx = s;
	c->call = call;
	c->limit = true;
	c->amount = 1;
	c->close = finish;
	c->n_range = 0;
	hn_contender_range(c, s->read, s->n_read * LINE);
	hn_contender_range(c, s->write, s->n_write * LINE);
}
