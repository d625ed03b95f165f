/* target/npu/npu_cost.c -- how many cycles an instruction takes its pipe: closed forms of the
 * profile's numbers.  docs/npu.md says where they are from.
 */
#include "base/arith.h"
#include "target/npu/npu_op.h"

/* Bytes, of n bursts from `at`; cycles of all but these. */
static double asked(const struct npu_op *op, int64_t *ret_n)
{
	bool whole = hn_npu_op[op->in->op].kind == HN_NPU_K_LOAD;
	const int64_t *v = op->v;

	*ret_n = whole ? v[L_N] : v[Z_ROWS];
	return (double)(*ret_n * (whole ? v[L_BURST] : v[Z_COLS] * (HN_NPU_BLOCK / npu_c0(op->in))));
}

static int64_t beside(const struct hn_npu_profile *m, int64_t at, int64_t n)
{
	return (n - 1) * m->gm_gap + (at % 512 != 0 ? m->gm_odd : 0);
}

/* Short transfers are bounded by the latency, long ones by the rate. */
static int64_t memory(const struct hn_npu_profile *m, const struct npu_op *op, double rate)
{
	int64_t n;
	double bytes = asked(op, &n), fast = rate > (double)m->gm_burst ? rate : (double)m->gm_burst;
	double burst = (double)m->gm_latency + bytes / fast, sustained = bytes / rate;

	return (int64_t)(burst > sustained ? burst : sustained) + beside(m, op->at[1], n);
}

/* Memory has not answered yet, and is asked for more. */
int64_t npu_cost_until_next(const struct hn_npu_profile *m, const struct npu_op *op, const double *rate,
			    int64_t cost)
{
	uint8_t kind = hn_npu_op[op->in->op].kind;
	double sustained;
	int64_t n, next;

	if (kind != HN_NPU_K_LOAD && kind != HN_NPU_K_FRACTALS) {
		return cost;
	}
	sustained = asked(op, &n) / rate[op->in->place[1].buffer];
	next = sustained > (double)m->gm_interval ? (int64_t)sustained : m->gm_interval;
	next += beside(m, op->at[1], n);
	return next < cost ? next : cost;
}

/* Of a vector instruction, behind its start. */
static int64_t repeats(const struct hn_npu_profile *m, int64_t n, int64_t cycles)
{
	return hn_ceildiv(n * cycles * m->vector_percent, 100);
}

static int64_t fractals(const struct hn_npu_profile *m, int64_t n, int64_t cycles)
{
	return hn_ceildiv(n * cycles * m->l0_percent, 100);
}

int64_t npu_cost(const struct hn_npu_profile *m, const struct npu_op *op, const double *rate)
{
	const struct hn_npu_insn *in = op->in;
	const struct hn_npu_op_row *row = &hn_npu_op[in->op];
	const int64_t *v = op->v;

	switch (row->kind) {
	case HN_NPU_K_LOAD:
	case HN_NPU_K_FRACTALS:
		return memory(m, op, rate[in->place[1].buffer]);
	case HN_NPU_K_STORE: /* nobody waits for an answer */
		return hn_ceildiv(v[L_N] * v[L_BURST], m->gm_rate) + (v[L_N] - 1) * m->gm_gap +
		       (op->at[0] % 512 != 0 ? m->gm_odd : 0);
	case HN_NPU_K_INTO_L1:
	case HN_NPU_K_FROM_L1:
		return hn_ceildiv(v[L_N] * v[L_BURST], m->l1_ub_rate);
	case HN_NPU_K_LOAD2D:
		return fractals(m, v[F_N], in->place[0].memory == HN_NPU_L0A ? m->l0a_cycles : m->l0b_cycles);
	case HN_NPU_K_LOAD3D:
		return fractals(m, v[I_M] * v[I_K], m->l0a_cycles);
	case HN_NPU_K_PRODUCT:
		return hn_ceildiv(v[P_M], 16) * hn_ceildiv(v[P_K], npu_c0(in)) * hn_ceildiv(v[P_N], 16);
	case HN_NPU_K_DRAIN:
		return m->vector_start + hn_ceildiv(v[F_N] * 1024, m->l0c_ub_rate);
	case HN_NPU_K_TRANSPOSE:
		return m->vector_start + repeats(m, v[F_N] * 2, row->c16);
	case HN_NPU_K_BARRIER:
		return in->pipe[0] == HN_NPU_V ? m->vector_drain : 0;
	default:
		return row->pipe != HN_NPU_V
			       ? 1
			       : m->vector_start +
					 repeats(m, v[V_REP], in->type[0] == HN_F16 ? row->c16 : row->c32);
	}
}
