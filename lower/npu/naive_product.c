/* lower/npu/naive_product.c -- a product of matrices in steps of 16 x 16 x 16, each loaded, multiplied
 * and waited for before the next begins.  See naive.h.
 *
 * Tiles of the result are numbered row by row, and spread over the cores.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "lower/npu/naive.h"
#include "target/npu/npu_insn.h"

#define T 16
#define HALF 2
#define MOST_SIZE ((int64_t)1 << 20)

static bool is_factor(const struct hn_expr *e, int32_t op, int32_t i, int32_t j)
{
	e = e->op == HN_EXPR_CAST && e->dtype == HN_F32 ? e->arg[0] : e;
	return e->op == HN_EXPR_LOAD && e->dtype == HN_F16 && e->ref == op && e->n_arg == 2 &&
	       e->arg[0]->op == HN_EXPR_VAR && e->arg[0]->ref == i && e->arg[1]->op == HN_EXPR_VAR &&
	       e->arg[1]->ref == j;
}

bool hn_npu_naive_is_product(const struct hn_dag *dag, struct hn_npu_product *ret)
{
	const struct hn_op *op = dag->op[dag->n_op - 1];
	const struct hn_expr *e;

	if (dag->n_op != 3 || dag->n_input != 2 || op->kind != HN_OP_COMPUTE || op->reduce == NULL ||
	    op->reduce->kind != HN_COMBINE_SUM || op->reduce->n != 1 || op->reduce->condition != NULL ||
	    !op->reduce->any_order || op->n_spatial != 2 || op->n_reduce != 1 || op->dtype[0] != HN_F32) {
		return false;
	}
	e = op->reduce->source[0];
	for (int d = 0; d < 3; d++) {
		if (op->axis[d].min != 0 || op->axis[d].extent % T != 0 || op->axis[d].extent > MOST_SIZE) {
			return false;
		}
	}
	*ret = (struct hn_npu_product){ .m = op->axis[0].extent, .n = op->axis[1].extent,
					.k = op->axis[2].extent, .result = HN_F32 };
	return e->op == HN_EXPR_MUL && is_factor(e->arg[0], 0, 0, 2) && is_factor(e->arg[1], 1, 2, 1);
}

/* Tiles of cores [first, first + n_core), `tiles` each. */
static void section(const struct hn_npu_product *p, int64_t first, int64_t n_core, int64_t each,
		    int64_t tiles, struct hn_buf *t)
{
	int64_t wide = p->n / T, size = hn_dtype_bytes(p->result);

	hn_buf_printf(t, "cores %" PRId64 " %" PRId64 " {\ncore r0\nadd r0 r0 %" PRId64 "\nmul r1 r0 %" PRId64
		      "\nloop r2 %" PRId64 "\n", first, n_core, first, each, tiles);
	hn_buf_printf(t, "add r3 r1 r2\ndiv r4 r3 %" PRId64 "\nmod r5 r3 %" PRId64 "\nmul r6 r4 %" PRId64
		      "\nmul r7 r5 %d\nloop r8 %" PRId64 "\n", wide, wide, T * p->k * HALF, T * HALF, p->k / T);
	hn_buf_printf(t, "mul r9 r8 %d\nadd r9 r9 r6\nnd2nz.f16 l1[0] A[r9] rows 16 cols 16 from %" PRId64
		      "\nbarrier all\n", T * HALF, p->k * HALF);
	hn_buf_printf(t, "mul r10 r8 %" PRId64 "\nadd r10 r10 r7\nnd2nz.f16 l1[512] B[r10] rows 16 cols 16 from %"
		      PRId64 "\nbarrier all\n", T * p->n * HALF, p->n * HALF);
	hn_buf_puts(t, "load2d.f16 l0a[0] l1[0]\nbarrier all\nload2d.f16 l0b[0] l1[512] trans 1\nbarrier all\n"
		       "min r11 r8 1\nsub r11 1 r11\nmmad.f16 l0c[0] l0a[0] l0b[0] m 16 k 16 n 16 init r11\n"
		       "barrier all\nend\n");
	hn_buf_printf(t, "vdrain.%s.f32 ub[0] l0c[0]\nbarrier all\nmul r12 r4 %" PRId64 "\nmul r13 r5 %" PRId64
		      "\nadd r12 r12 r13\nstore C[r12] ub[0] n 16 burst %" PRId64 " to %" PRId64
		      "\nbarrier all\nend\n}\n", hn_npu_type_word(p->result), T * p->n * size, T * size, T * size,
		      p->n * size);
}

int hn_npu_naive_product(const struct hn_npu_product *p, const struct hn_npu_profile *m,
			 struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	int64_t all = p->m / T * (p->n / T), each = hn_ceildiv(all, m->cores), n = hn_ceildiv(all, each);
	int64_t last = all - (n - 1) * each;
	struct hn_buf t;
	int rc;

	hn_buf_init(&t);
	hn_buf_printf(&t, "hnpu/1\ngm A float16[%" PRId64 "]\ngm B float16[%" PRId64 "]\ngm C %s[%" PRId64 "]\n",
		      p->m * p->k, p->k * p->n, hn_dtype_name(p->result), p->m * p->n);
	if (last < each) {
		section(p, n - 1, 1, each, last, &t);
		n--;
	}
	if (n > 0) {
		section(p, 0, n, each, each, &t);
	}
	rc = hn_npu_parse("naive product", t.s, t.n, a, ret, err);
	hn_buf_fini(&t);
	return rc;
}
