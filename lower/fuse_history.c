/* lower/fuse_history.c -- groups of ops as a history: each one nest, its common loops fused and
 * in parallel, all its ops computed at the innermost of them.  See fuse.h. */
#include <string.h>

#include "loopstate/access.h"
#include "loopstate/inline.h"
#include "loopstate/trace.h"
#include "lower/fuse.h"

#define VECTORS 4 /* in a block of the last axis: sums that stay in registers */

struct history {
	const struct hn_dag *dag; /* inlined */
	const struct hn_access *acc;
	const struct hn_target *target;
	const bool *skip;
	struct hn_fused_op *op;
	struct hn_buf text;
};

static void put_list(struct hn_buf *b, const uint32_t *x, uint32_t n)
{
	hn_buf_putc(b, '[');
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(b, "%s%u", i > 0 ? ", " : "", x[i]);
	}
	hn_buf_puts(b, "]]");
}

static void begin_step(struct hn_buf *b)
{
	hn_buf_puts(b, b->n > 1 ? ", " : "");
}

/* Only ops that the rest of the group reads, and nobody else, can be computed inside it. */
static void check_members(struct history *h)
{
	for (int32_t i = (int32_t)h->dag->n_op - 1; i >= 0; i--) {
		struct hn_fused_op *op = &h->op[i];
		const struct hn_op_access *acc = &h->acc->op[i];
		uint32_t n = 0;
		bool inside = op->host > i && hn_dag_arg_of(h->dag, i) < 0;

		for (uint32_t k = 0; inside && k < acc->n_consumer; k++) {
			int32_t c = acc->consumer[k];

			inside = h->skip[c] || h->op[c].host == op->host;
			n += !h->skip[c];
		}
		if (op->host > i && (!inside || n == 0)) {
			op->host = i;
		}
	}
}

/* The host's common axes, one that is for lanes left out; whether that is to be in blocks. */
static uint32_t common_axes(const struct history *h, int32_t host, int64_t block,
			    uint32_t *axis, bool *ret_split)
{
	const struct hn_op *op = h->dag->op[host];
	uint32_t lanes = op->n_spatial - 1, n = 0;
	bool common = false;

	for (uint32_t k = 0; k < h->op[host].n; k++) {
		if (h->op[host].axis[k] == lanes) {
			common = true;
		} else {
			axis[n++] = h->op[host].axis[k];
		}
	}
	*ret_split = common && op->axis[lanes].extent > block;
	if (*ret_split) {
		axis[n++] = lanes;
	}
	return n;
}

/* Loops of the host: common ones first, its lanes last when they are split. */
static uint32_t order_loops(const struct hn_op *op, const uint32_t *axis, uint32_t n,
			    bool split, uint32_t *order)
{
	uint32_t lanes = op->n_spatial - 1, n_axis = op->n_spatial + op->n_reduce, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		order[k++] = axis[i];
	}
	for (uint32_t a = 0; a < n_axis; a++) {
		bool common = false;

		for (uint32_t i = 0; i < n; i++) {
			common = common || axis[i] == a;
		}
		if (!common) {
			order[k++] = a + (split && a > lanes);
		}
	}
	if (split) {
		order[k++] = lanes + 1;
	}
	return k;
}

static void put_group(struct history *h, int32_t host)
{
	const struct hn_op *op = h->dag->op[host];
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)op->dtype[0]);
	int64_t block = VECTORS * h->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / bytes;
	uint32_t axis[HN_DAG_MAX_ITERS], order[HN_DAG_MAX_ITERS + 1], k;
	struct hn_buf *b = &h->text;
	bool split;

	if (op->n_spatial == 0 || h->op[host].n == 0) {
		return;
	}
	uint32_t n = common_axes(h, host, block, axis, &split);

	if (n == 0) {
		return;
	}
	if (split) {
		begin_step(b);
		hn_buf_printf(b, "[\"SP\", %d, %u, %lld, [%lld], 1]", host, op->n_spatial - 1,
			      (long long)op->axis[op->n_spatial - 1].extent,
			      (long long)block);
	}
	k = order_loops(op, axis, n, split, order);
	begin_step(b);
	hn_buf_printf(b, "[\"RE\", %d, ", host);
	put_list(b, order, k);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
	}
	if (n > 1) {
		begin_step(b);
		hn_buf_printf(b, "[\"FU\", %d, ", host);
		put_list(b, order, n);
	}
	begin_step(b);
	hn_buf_printf(b, "[\"AN\", %d, 0, 3]", host);
	if (split) {
		hn_buf_printf(b, ", [\"AN\", %d, %u, 2]", host, k - n);
	}
	for (int32_t i = host - 1; i >= 0; i--) {
		if (h->op[i].host == host) {
			begin_step(b);
			hn_buf_printf(b, "[\"CA\", %d, %d, 0]", i, host);
		}
	}
}

/* Element-wise ops that a reader takes over: the steps, and the dag after them. */
static int inline_ops(const struct hn_dag *dag, bool *skip, struct hn_arena *a,
		      const struct hn_dag **ret, struct hn_buf *text, struct hn_err *err)
{
	const struct hn_access *acc = hn_access_analyze(dag, a);
	const struct hn_state *s = hn_state_init(dag, a);
	int rc = 0;

	for (int32_t i = (int32_t)dag->n_op - 1; i >= 0 && rc == 0; i--) {
		struct hn_step step = { .kind = HN_STEP_compute_inline, .stage = i };

		skip[i] = dag->op[i]->kind == HN_OP_COMPUTE &&
			  dag->op[i]->reduce == NULL && acc->op[i].has_expensive == 0 &&
			  hn_dag_arg_of(dag, i) < 0 && acc->op[i].n_consumer == 1;
		if (skip[i]) {
			begin_step(text);
			hn_buf_printf(text, "[\"CI\", %d]", i);
			rc = hn_state_apply(s, &step, a, &s, err);
		}
	}
	return rc ? rc : hn_inline_dag(s, a, ret, err);
}

int hn_fuse_history(const struct hn_dag *dag, const struct hn_target *target,
		    const struct hn_fuse_limits *limits, struct hn_arena *a,
		    const char **ret_steps, enum hn_fuse_how *ret_how, struct hn_err *err)
{
	bool *skip = HN_NEW_ARRAY(a, bool, dag->n_op);
	struct history h = { .target = target, .skip = skip };
	const struct hn_trace *trace;
	const struct hn_state *state;
	struct hn_fusion f;

	hn_buf_init(&h.text);
	hn_buf_putc(&h.text, '[');
	int rc = inline_ops(dag, skip, a, &h.dag, &h.text, err);

	if (rc == 0) {
		hn_fuse_groups(h.dag, skip, limits, a, &f);
		h.op = f.op;
		h.acc = hn_access_analyze(h.dag, a);
		check_members(&h);
		for (int32_t i = (int32_t)dag->n_op - 1; i >= 0; i--) {
			if (h.op[i].host == i) {
				put_group(&h, i);
			}
		}
		hn_buf_putc(&h.text, ']');
		*ret_steps = hn_arena_strndup(a, h.text.s, h.text.n);
		*ret_how = f.how;
		rc = hn_trace_parse("fusion", h.text.s, h.text.n, a, &trace, err);
	}
	rc = rc ? rc : hn_state_replay(dag, trace, a, &state, err);
	hn_buf_fini(&h.text);
	return rc;
}
