/* npu_bed.h -- a dag's program for the NPU on the simulated machine: its inputs drawn, its numbers
 * beside the interpreter's, at places that are drawn, or all. */
#ifndef HN_TESTS_NPU_BED_H
#define HN_TESTS_NPU_BED_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "loopstate/dag/tolerance.h"
#include "lower/interp/interp.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"

#define NPU_ARGS 256
#define NPU_PLACES 300	     /* of each result, where there are more */
#define NPU_FUEL 40000000

struct npu_bed {
	const struct hn_dag *dag;
	const struct hn_npu_profile *m;
	void *gm[NPU_ARGS], *want[NPU_ARGS];
	struct hn_interp *in;
	struct hn_err err;
};

static inline enum hn_dtype npu_type(const struct npu_bed *b, uint32_t i)
{
	return (enum hn_dtype)b->dag->op[b->dag->arg[i]]->dtype[i < b->dag->n_input ? 0
									  : hn_dag_arg_out(b->dag, i)];
}

static inline size_t npu_bytes(const struct npu_bed *b, uint32_t i)
{
	return (size_t)hn_op_elements(b->dag->op[b->dag->arg[i]]) * hn_dtype_bytes(npu_type(b, i));
}

static inline double npu_element(const void *p, enum hn_dtype t, int64_t i)
{
	switch (t) {
	case HN_F16:
		return hn_half_to_float(((const uint16_t *)p)[i]);
	case HN_F32:
		return ((const float *)p)[i];
	case HN_I32:
		return ((const int32_t *)p)[i];
	case HN_I8:
		return ((const int8_t *)p)[i];
	default:
		return ((const uint8_t *)p)[i];
	}
}

static inline void npu_fill(void *p, enum hn_dtype t, int64_t n, struct hn_rng *rng)
{
	for (int64_t i = 0; i < n; i++) {
		float v = (float)hn_rng_unit(rng) * 4 - 2;

		switch (t) {
		case HN_F16:
			((uint16_t *)p)[i] = hn_half_of_float(v);
			break;
		case HN_F32:
			((float *)p)[i] = v;
			break;
		case HN_I32:
			((int32_t *)p)[i] = (int32_t)(v * 5);
			break;
		case HN_I8:
			((int8_t *)p)[i] = (int8_t)(v * 60);
			break;
		case HN_BOOL:
			((uint8_t *)p)[i] = v > 0;
			break;
		default:
			((uint8_t *)p)[i] = (uint8_t)(v * 60 + 120);
		}
	}
}

static inline void npu_bed_close(struct npu_bed *b)
{
	hn_interp_close(b->in);
	for (uint32_t i = 0; i < b->dag->n_arg; i++) {
		free(b->gm[i]);
		free(i < b->dag->n_input ? NULL : b->want[i]);
	}
}

static inline int npu_bed_open(struct npu_bed *b, const struct hn_dag *dag, const struct hn_npu_profile *m,
			       uint64_t seed)
{
	struct hn_rng rng = hn_rng_stream(seed, 0, 0, 0);

	*b = (struct npu_bed){ .dag = dag, .m = m };
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		b->gm[i] = malloc(npu_bytes(b, i));
		b->want[i] = i < dag->n_input ? b->gm[i] : calloc(1, npu_bytes(b, i));
		if (i < dag->n_input) {
			npu_fill(b->gm[i], npu_type(b, i), hn_op_elements(dag->op[dag->arg[i]]), &rng);
		}
	}
	return hn_interp_open(dag, b->want, HN_INTERP_WIDE, &b->in, &b->err);
}

/* Results hold what no program would leave. */
static inline int npu_bed_run(struct npu_bed *b, const struct hn_npu_program *p, uint64_t seed, bool judge,
			      struct hn_arena *a, struct hn_npu_result *r)
{
	struct hn_npu_options o = { .gm = b->gm, .judge = judge, .seed = seed, .most = (uint64_t)1 << 34 };

	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		memset(b->gm[i], 0x5a, npu_bytes(b, i));
	}
	return hn_npu_run(p, b->m, &o, a, r, &b->err);
}

static inline bool npu_is_near(double got, double want, enum hn_dtype t, double tolerance)
{
	if (t != HN_F16 && t != HN_F32) {
		return got == want;
	}
	return got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance * (1 + fabs(want)) ||
	       /* float16 ends where the interpreter's float32 goes on */
	       (t == HN_F16 && fabs(want) > 65000 && fabs(got) > 65000 && (got > 0) == (want > 0));
}

/* How many places were looked at; -1: one is wrong, and err says which. */
static inline int64_t npu_bed_compare(struct npu_bed *b)
{
	double tolerance = hn_dag_tolerance(b->dag);
	struct hn_rng rng = hn_rng_stream(3, 0, 0, 0);
	int64_t seen = 0;

	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		const struct hn_op *op = b->dag->op[b->dag->arg[i]];
		int64_t n = hn_op_elements(op), places = n < NPU_PLACES ? n : NPU_PLACES;
		enum hn_dtype t = npu_type(b, i);

		for (int64_t k = 0; k < places; k++) {
			int64_t fuel = NPU_FUEL;
			int64_t at = n == places ? k
				     : k == 0	 ? n - 1
						 : (int64_t)hn_rng_below(&rng, (uint64_t)n);
			double got = npu_element(b->gm[i], t, at), want;

			if (hn_interp_element(b->in, (uint32_t)b->dag->arg[i], at, &fuel) != HN_INTERP_OK) {
				continue;
			}
			want = npu_element(b->want[i], t, at);
			if (!npu_is_near(got, want, t, tolerance)) {
				hn_fail(&b->err, HONE_E_INTERNAL, "result %u (%s), element %lld: %.9g, not %.9g", i, op->id,
					(long long)at, got, want);
				return -1;
			}
			seen++;
		}
	}
	return seen;
}

#endif
