/* lower/npu/task.c -- whether a dag is a product, or a convolution, with what follows its sums.
 *
 * Of its ops one sums products of two loads; all others copy or pad what it reads, or follow it
 * element by element.
 */
#include "lower/npu/task_int.h"

static const struct hn_expr *without_casts(const struct hn_expr *e, enum hn_dtype_class class)
{
	while (e->op == HN_EXPR_CAST && hn_dtype_class((enum hn_dtype)e->arg[0]->dtype) == class) {
		e = e->arg[0];
	}
	return e;
}

/* The op that sums; -1: there is none, or several. */
static int32_t sum_of(const struct hn_dag *dag)
{
	int32_t at = -1;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->reduce != NULL) {
			if (at >= 0) {
				return -1;
			}
			at = (int32_t)i;
		}
	}
	return at;
}

/* float32 sums of float16, or int32 sums of int8. */
static bool read_sum(struct task *x)
{
	const struct hn_reduce *r = x->sum->reduce;
	enum hn_dtype t = (enum hn_dtype)x->sum->dtype[0];
	const struct hn_expr *e = r->n == 1 ? r->source[0] : NULL, *load;

	if (e == NULL || r->kind != HN_COMBINE_SUM || r->condition != NULL || !r->any_order || e->op != HN_EXPR_MUL ||
	    (t != HN_F32 && t != HN_I32)) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		load = without_casts(e->arg[i], t == HN_F32 ? HN_CLASS_FLOAT : HN_CLASS_SIGNED);
		if (load->op != HN_EXPR_LOAD || load->dtype != (t == HN_F32 ? HN_F16 : HN_I8)) {
			return false;
		}
	}
	x->t->dtype = t == HN_F32 ? HN_F16 : HN_I8;
	for (int i = 0; i < 2; i++) {
		load = without_casts(e->arg[i], t == HN_F32 ? HN_CLASS_FLOAT : HN_CLASS_SIGNED);
		if (!task_factor(x, load, &x->factor[i])) {
			return task_no(x, "a factor that is no argument");
		}
	}
	return true;
}

static void put_buffers(struct task *x)
{
	struct hn_npu_buffer *b = HN_NEW_ARRAY(x->a, struct hn_npu_buffer, x->dag->n_arg);

	for (uint32_t i = 0; i < x->dag->n_arg; i++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[i]];

		b[i] = (struct hn_npu_buffer){ .dtype = op->dtype[0], .n_elem = hn_op_elements(op) };
	}
	x->t->buffer = b;
	x->t->n_buffer = x->dag->n_arg;
}

static void put_role(struct task *x, const struct task_group *g, enum hn_npu_role role)
{
	for (uint32_t i = 0; i < g->n; i++) {
		x->t->role[g->axis[i]] = (uint8_t)role;
	}
}

bool hn_npu_task_of(const struct hn_dag *dag, struct hn_arena *a, struct hn_npu_product *ret, const char **why)
{
	struct task *x = HN_NEW(a, struct task);
	bool is;

	*why = NULL;
	*x = (struct task){ .dag = dag, .a = a, .sum_at = sum_of(dag), .t = HN_NEW(a, struct hn_npu_task) };
	if (x->sum_at < 0 || dag->sizes != NULL) {
		return false;
	}
	x->sum = dag->op[x->sum_at];
	if (x->sum->n_out != 1 || x->sum->n_spatial + x->sum->n_reduce > HN_DAG_MAX_ITERS || !read_sum(x)) {
		*why = x->why;
		return false;
	}
	is = task_after(x) && (task_is_window(x) ? task_window(x) : task_product(x));
	*why = x->why;
	if (!is || x->why != NULL) {
		return false;
	}
	put_buffers(x);
	put_role(x, &x->rows, HN_NPU_ROLE_ROW);
	put_role(x, &x->columns, HN_NPU_ROLE_COLUMN);
	for (uint32_t i = x->sum->n_spatial; i < x->sum->n_spatial + x->sum->n_reduce; i++) {
		x->t->role[i] = HN_NPU_ROLE_TERM;
	}
	x->t->sum = x->sum_at;
	*ret = (struct hn_npu_product){ .m = x->t->m, .n = x->t->n, .k = x->t->k,
					.result = (enum hn_dtype)x->t->value[0].dtype, .task = x->t };
	return true;
}
