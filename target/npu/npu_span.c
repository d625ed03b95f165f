/* target/npu/npu_span.c -- which memory an instruction touches, and whether it may: the one place
 * where bounds and alignment are judged, and what races are found by.
 */
#include "base/arith.h"
#include "target/npu/npu_op.h"

static void add(struct npu_op *op, uint32_t place, bool write, struct npu_span s)
{
	s.memory = op->in->place[place].memory;
	s.buffer = op->in->place[place].buffer;
	s.write = write;
	/* what is next to each other is one piece: there is less to look at */
	if (s.s0 == s.bytes) {
		s.bytes *= s.n0;
		s.n0 = 1;
	}
	if (s.n0 == 1 && s.s1 == s.bytes) {
		s.bytes *= s.n1;
		s.n1 = 1;
	}
	op->span[op->n_span++] = s;
}

/* n pieces of `bytes`, `stride` apart. */
static void pieces(struct npu_op *op, uint32_t place, bool write, int64_t n, int64_t stride,
		   int64_t bytes)
{
	add(op, place, write, (struct npu_span){ .at = op->at[place], .n0 = 1, .s0 = bytes, .n1 = n,
						 .s1 = stride, .bytes = bytes });
}

/* An operand of a vector: whole blocks up to the last lane. */
static void lanes(struct npu_op *op, uint32_t place, bool write)
{
	const struct npu_lanes *l = &op->lane[place];
	int64_t blocks = hn_ceildiv(op->n_lane, l->per);

	if (blocks > 0) {
		add(op, place, write,
		    (struct npu_span){ .at = l->at, .n0 = blocks, .s0 = l->block, .n1 = op->v[V_REP],
				       .s1 = l->step, .bytes = HN_NPU_BLOCK });
	}
}

/* How many lanes of a repeat's results or sources lie next to each other. */
static void few(struct npu_op *op, uint32_t place, bool write, int64_t n)
{
	const struct npu_lanes *l = &op->lane[place];

	pieces(op, place, write, op->v[V_REP], l->step, n * l->bytes);
}

static void dense(int64_t *stride, int64_t fallback)
{
	*stride = *stride == HN_NPU_DENSE ? fallback : *stride;
}

static bool moved(struct npu_op *op, struct npu_fault *ret)
{
	int64_t *v = op->v;
	bool to_gm = op->in->place[0].memory == HN_NPU_GM, from_gm = op->in->place[1].memory == HN_NPU_GM;
	int64_t room = (v[L_BURST] + HN_NPU_BLOCK - 1) / HN_NPU_BLOCK * HN_NPU_BLOCK;

	dense(&v[L_FROM], from_gm ? v[L_BURST] : room);
	dense(&v[L_TO], to_gm ? v[L_BURST] : room);
	if ((!from_gm && v[L_FROM] % HN_NPU_BLOCK != 0) || (!to_gm && v[L_TO] % HN_NPU_BLOCK != 0)) {
		return npu_is_wrong(ret, HN_NPU_F_ALIGN, "bursts are no multiple of %d bytes apart",
				    HN_NPU_BLOCK);
	}
	pieces(op, 1, false, v[L_N], v[L_FROM], from_gm || to_gm ? v[L_BURST] : room);
	pieces(op, 0, true, v[L_N], v[L_TO], to_gm ? v[L_BURST] : room);
	return true;
}

static bool fractals(struct npu_op *op, struct npu_fault *ret)
{
	int64_t c0 = npu_c0(op->in), bytes = HN_NPU_BLOCK / c0, *v = op->v;
	int64_t rows = hn_ceildiv(v[Z_ROWS], 16) * 16;

	dense(&v[Z_FROM], v[Z_COLS] * bytes);
	dense(&v[Z_HEIGHT], rows);
	if (v[Z_HEIGHT] % 16 != 0 || v[Z_HEIGHT] < rows) {
		return npu_is_wrong(ret, HN_NPU_F_NUMBER, "height %lld of %lld rows",
				    (long long)v[Z_HEIGHT], (long long)v[Z_ROWS]);
	}
	pieces(op, 1, false, v[Z_ROWS], v[Z_FROM], v[Z_COLS] * bytes);
	pieces(op, 0, true, hn_ceildiv(v[Z_COLS], c0), v[Z_HEIGHT] * HN_NPU_BLOCK, rows * HN_NPU_BLOCK);
	return true;
}

static bool product(struct npu_op *op)
{
	int64_t m1 = hn_ceildiv(op->v[P_M], 16), n1 = hn_ceildiv(op->v[P_N], 16);
	int64_t k1 = hn_ceildiv(op->v[P_K], npu_c0(op->in));

	pieces(op, 1, false, 1, 0, m1 * k1 * 512);
	pieces(op, 2, false, 1, 0, k1 * n1 * 512);
	if (op->v[P_INIT] == 0) {
		pieces(op, 0, false, 1, 0, m1 * n1 * 1024);
	}
	pieces(op, 0, true, 1, 0, m1 * n1 * 1024);
	return true;
}

/* The whole image is read; which of it, nobody asks. */
static bool windows(struct npu_op *op, struct npu_fault *ret)
{
	const int64_t *g = op->image, *v = op->v;

	if (g == NULL) {
		return npu_is_wrong(ret, HN_NPU_F_UNWRITTEN, "no fmatrix is before");
	}
	if (npu_windows(g[G_H], g[G_PT], g[G_PB], g[G_KH], g[G_SH], g[G_DH]) *
		    npu_windows(g[G_W], g[G_PL], g[G_PR], g[G_KW], g[G_SW], g[G_DW]) == 0) {
		return npu_is_wrong(ret, HN_NPU_F_NUMBER, "the window is larger than the image");
	}
	pieces(op, 1, false, 1, 0,
	       ((v[I_K0] + v[I_K] - 1) / (g[G_KH] * g[G_KW]) + 1) * g[G_H] * g[G_W] * HN_NPU_BLOCK);
	pieces(op, 0, true, 1, 0, v[I_M] * v[I_K] * 512);
	return true;
}

static bool made(struct npu_op *op, struct npu_fault *ret)
{
	const int64_t *v = op->v;

	switch (hn_npu_op[op->in->op].kind) {
	case HN_NPU_K_BINARY:
	case HN_NPU_K_SELECT:
		lanes(op, 1, false);
		lanes(op, 2, false);
		if (op->in->op == HN_NPU_I_SEL) {
			few(op, 3, false, HN_NPU_BLOCK / op->lane[3].bytes);
		}
		lanes(op, 0, true);
		return true;
	case HN_NPU_K_UNARY:
	case HN_NPU_K_SCALED:
		lanes(op, 1, false);
		/* fall through */
	case HN_NPU_K_FILL:
		lanes(op, 0, true);
		return true;
	case HN_NPU_K_COMPARE:
		lanes(op, 1, false);
		lanes(op, 2, false);
		few(op, 0, true, HN_NPU_BLOCK / op->lane[0].bytes);
		return true;
	case HN_NPU_K_REDUCE:
		lanes(op, 1, false);
		few(op, 0, true, 1);
		return true;
	case HN_NPU_K_GROUPS:
		lanes(op, 1, false);
		few(op, 0, true, 8);
		return true;
	case HN_NPU_K_SPREAD:
		few(op, 1, false, 8);
		lanes(op, 0, true);
		return true;
	case HN_NPU_K_TRANSPOSE:
		pieces(op, 1, false, 1, 0, v[F_N] * 512);
		pieces(op, 0, true, 1, 0, v[F_N] * 512);
		return true;
	case HN_NPU_K_DRAIN: {
		int64_t to = 256 * (int64_t)hn_dtype_bytes(op->in->type[0]);

		pieces(op, 1, false, v[F_N], v[F_FROM] * 1024, 1024);
		pieces(op, 0, true, v[F_N], v[F_TO] * to, to);
		return true;
	}
	case HN_NPU_K_LOAD2D:
		pieces(op, 1, false, v[F_N], v[F_FROM] * 512, 512);
		pieces(op, 0, true, v[F_N], v[F_TO] * 512, 512);
		return (v[F_LAST] == 0 || op->in->type[0] == HN_F16) ||
		       npu_is_wrong(ret, HN_NPU_F_NUMBER, "fractals of float16 alone are transposed");
	case HN_NPU_K_LOAD:
	case HN_NPU_K_STORE:
	case HN_NPU_K_INTO_L1:
	case HN_NPU_K_FROM_L1:
		return moved(op, ret);
	case HN_NPU_K_FRACTALS:
		return fractals(op, ret);
	case HN_NPU_K_LOAD3D:
		return windows(op, ret);
	case HN_NPU_K_PRODUCT:
		return product(op);
	default:
		return true;
	}
}

/* Results of REDUCE and GROUPS, and sources of SPREAD, are numbers, not blocks. */
static int64_t align_of(const struct npu_op *op, const struct npu_span *s)
{
	uint8_t kind = hn_npu_op[op->in->op].kind;
	bool few = (s->write && (kind == HN_NPU_K_REDUCE || kind == HN_NPU_K_GROUPS)) ||
		   (!s->write && kind == HN_NPU_K_SPREAD);

	if (s->memory == HN_NPU_L1 && kind == HN_NPU_K_LOAD2D) {
		return 512;
	}
	return few ? (int64_t)hn_dtype_bytes(op->in->type[0]) : hn_npu_memory_align[s->memory];
}

bool npu_spans(const struct hn_npu_program *p, const struct hn_npu_profile *m, struct npu_op *op,
	       struct npu_fault *ret)
{
	if (!made(op, ret)) {
		return false;
	}
	for (uint32_t i = 0; i < op->n_span; i++) {
		const struct npu_span *s = &op->span[i];
		int64_t end = npu_span_end(s);
		int64_t room = s->memory == HN_NPU_GM ? p->buffer[s->buffer].bytes
						      : hn_npu_memory_bytes(m, s->memory);
		const char *name = s->memory == HN_NPU_GM ? p->buffer[s->buffer].name
							  : hn_npu_memory_word[s->memory];

		if (end > room) {
			return npu_is_wrong(ret, HN_NPU_F_BOUNDS, "%s[%lld] to %lld, of %lld bytes",
					    name, (long long)s->at, (long long)end, (long long)room);
		}
		if (s->at % align_of(op, s) != 0) {
			return npu_is_wrong(ret, HN_NPU_F_ALIGN, "%s[%lld] is no multiple of %lld", name,
					    (long long)s->at, (long long)align_of(op, s));
		}
	}
	return true;
}
