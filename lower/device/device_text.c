/* lower/device/device_text.c -- a device program as text.
 *
 *     device/1
 *     global A float32[3840] arg 0
 *     shared A.shared float32[320]
 *     local C.local float32[1]
 *     kernel k0 grid 3 1 1 block 160 1 1 {
 *       for v6 4 {                             also: for v6 4 unroll {, for v6 4 lanes {
 *         if (thread.x < 80) {
 *           A.shared[thread.x] = A[((v6 * 80) + thread.x)]
 *         }
 *         barrier
 *         let v7 = A.shared[0]
 *         copy A.shared[0] stride 16 1 from A[v6] stride 64 1 box 20 16
 *         async A.shared[thread.x] = A[thread.x]
 *         commit
 *         wait 1
 *         ldmatrix x4 F[0] from A.shared[(thread.x * 8)]        also: ldmatrix x2 trans F[0] ...
 *         mma mma_m16n8k16_bf16 C.local[0] F[0] F[8]
 *         fence
 *         wgmma wgmma_m64n8k16_bf16 columns 128 steps 4 C.local[0] A.shared[0] along 128
 *             B.shared[0] across 128 next 8192                   on one line
 *         settle wgmma_m64n8k16_bf16 columns 128 C.local[0]      behind wgmma open NAME ...; or
 *         settle wgmma_m64n8k16_bf16 columns 128 but last C.local[0]
 *       }
 *     }
 *
 * Maps and roles: device_role.h.
 *
 * Expressions: a variable (block.x, thread.x, v6), an element, (x op y) with op one of + - * / <
 * <= > >= == !=, NAME(x, ...) of the other operators and functions, TYPE(x) for a cast, let(v7, x,
 * body).  12 is an int32, 0.5, inf and nan are float32; another type stands behind: 1:bool,
 * 0.5:float64.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lower/device/device_int.h"
#include "lower/device/device_role.h"

const char *const hn_device_infix[HN_N_EXPR] = {
	[HN_EXPR_ADD] = "+", [HN_EXPR_SUB] = "-", [HN_EXPR_MUL] = "*",
	[HN_EXPR_DIV] = "/", [HN_EXPR_LT] = "<",  [HN_EXPR_LE] = "<=",
	[HN_EXPR_GT] = ">",  [HN_EXPR_GE] = ">=", [HN_EXPR_EQ] = "==",
	[HN_EXPR_NE] = "!=",
};

const char *const hn_device_number[HN_DEVICE_FIRST] = {
	"block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z"
};

const char *const hn_device_how_word[HN_DEVICE_N_HOW] = { "", " unroll", " roll", " lanes" };

struct printer {
	const struct hn_device *d;
	struct hn_buf *buf;
};

static void put_slot(const struct printer *p, int32_t slot)
{
	if (slot < HN_DEVICE_FIRST) {
		hn_buf_puts(p->buf, hn_device_number[slot]);
	} else {
		hn_buf_printf(p->buf, "v%d", slot);
	}
}

static void put_float(const struct printer *p, double v)
{
	size_t from = p->buf->n;

	if (isfinite(v)) {
		hn_buf_double(p->buf, v);
		if (!strpbrk(p->buf->s + from, ".e")) {
			hn_buf_puts(p->buf, ".0");
		}
	} else {
		hn_buf_puts(p->buf, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
	}
}

static void put(const struct printer *p, const struct hn_expr *e);

static void put_args(const struct printer *p, const struct hn_expr *e, uint32_t first)
{
	for (uint32_t i = first; i < e->n_arg; i++) {
		hn_buf_puts(p->buf, i > first ? ", " : "");
		put(p, e->arg[i]);
	}
	hn_buf_putc(p->buf, ')');
}

static void put_type(const struct printer *p, const struct hn_expr *e,
		     enum hn_dtype plain)
{
	if (e->dtype != plain) {
		hn_buf_printf(p->buf, ":%s", hn_dtype_name((enum hn_dtype)e->dtype));
	}
}

static void put(const struct printer *p, const struct hn_expr *e)
{
	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_VAR:
		put_slot(p, e->ref);
		return;
	case HN_EXPR_INT:
		hn_buf_printf(p->buf, "%" PRId64, e->u.i);
		put_type(p, e, HN_I32);
		return;
	case HN_EXPR_FLOAT:
		put_float(p, e->u.f);
		put_type(p, e, HN_F32);
		return;
	case HN_EXPR_LOAD:
		hn_buf_printf(p->buf, "%s[", p->d->buffer[e->ref].name);
		put(p, e->arg[0]);
		hn_buf_putc(p->buf, ']');
		return;
	case HN_EXPR_LET:
		hn_buf_printf(p->buf, "let(v%d, ", e->ref);
		put_args(p, e, 0);
		return;
	case HN_EXPR_CAST:
		hn_buf_printf(p->buf, "%s(", hn_dtype_name((enum hn_dtype)e->dtype));
		put_args(p, e, 0);
		return;
	case HN_EXPR_CALL:
		hn_buf_printf(p->buf, "%s(", hn_fn_name((enum hn_fn)e->ref));
		put_args(p, e, 0);
		return;
	default:
		break;
	}
	if (hn_device_infix[e->op] != NULL) {
		hn_buf_putc(p->buf, '(');
		put(p, e->arg[0]);
		hn_buf_printf(p->buf, " %s ", hn_device_infix[e->op]);
		put_args(p, e, 1);
	} else {
		hn_buf_printf(p->buf, "%s(", hn_expr_op_name((enum hn_expr_op)e->op));
		put_args(p, e, 0);
	}
}

static void put_place(const struct printer *p, int32_t buffer, const struct hn_expr *at)
{
	hn_buf_printf(p->buf, "%s[", p->d->buffer[buffer].name);
	put(p, at);
	hn_buf_putc(p->buf, ']');
}

static void put_list(const struct printer *p, const char *word, const int64_t *v,
		     uint32_t n)
{
	hn_buf_printf(p->buf, " %s", word);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(p->buf, " %" PRId64, v[i]);
	}
}

static void put_copy(const struct printer *p, const struct hn_device_node *n)
{
	const struct hn_device_copy *c = n->copy;

	hn_buf_puts(p->buf, "copy ");
	put_place(p, n->buffer, n->at);
	put_list(p, "stride", c->stride, c->n_dim);
	hn_buf_puts(p->buf, " from ");
	put_place(p, c->from, c->from_at);
	put_list(p, "stride", c->from_stride, c->n_dim);
	put_list(p, "box", c->extent, c->n_dim);
}

static void put_wgmma(const struct printer *p, const struct hn_device_node *n)
{
	const struct hn_device_warp *w = n->warp;

	hn_buf_printf(p->buf, "wgmma %s%s columns %" PRId64 " steps %" PRId64 " ",
		      w->open ? "open " : "", w->intrin->name, w->columns, w->steps);
	put_place(p, n->buffer, n->at);
	for (int i = 0; i < 2; i++) {
		hn_buf_putc(p->buf, ' ');
		put_place(p, w->from[i], w->from_at[i]);
		hn_buf_printf(p->buf, " %s %" PRId64, w->lies[i].across ? "across" : "along",
			      w->lies[i].width);
		if (w->lies[i].across) {
			hn_buf_printf(p->buf, " next %" PRId64, w->lies[i].next);
		}
	}
}

static void put_bulk(const struct printer *p, const struct hn_device_node *n)
{
	const struct hn_device_bulk *b = n->bulk;

	hn_buf_puts(p->buf, "bulk ");
	put_place(p, n->buffer, n->at);
	hn_buf_printf(p->buf, " from %s[", p->d->map[b->map].name);
	for (uint32_t i = 0; i < p->d->map[b->map].n_dim; i++) {
		hn_buf_puts(p->buf, i > 0 ? ", " : "");
		put(p, b->from[i]);
	}
	hn_buf_puts(p->buf, "] on ");
	put_place(p, b->mbarrier, b->mbarrier_at);
}

/* The words of roles. */
static void put_word(const struct printer *p, const struct hn_device_node *n)
{
	static const char *const word[HN_DEVICE_N_KIND] = { [HN_DEVICE_MBARRIER] = "mbarrier ",
							    [HN_DEVICE_EXPECT] = "expect ",
							    [HN_DEVICE_ARRIVE] = "arrive ",
							    [HN_DEVICE_AWAIT] = "await " };

	if (n->kind == HN_DEVICE_BULK) {
		put_bulk(p, n);
		return;
	}
	if (n->kind == HN_DEVICE_ROLE) {
		hn_buf_printf(p->buf, "role %s registers %" PRId64 " ", hn_device_role_word[n->how],
			      n->extent);
		put(p, n->e);
		return;
	}
	hn_buf_puts(p->buf, word[n->kind]);
	put_place(p, n->buffer, n->at);
	if (n->kind == HN_DEVICE_MBARRIER || n->kind == HN_DEVICE_EXPECT) {
		hn_buf_printf(p->buf, " %s %" PRId64,
			      n->kind == HN_DEVICE_MBARRIER ? "count" : "bytes", n->extent);
	} else if (n->kind == HN_DEVICE_AWAIT) {
		hn_buf_puts(p->buf, " parity ");
		put(p, n->e);
	}
}

static void put_node(const struct printer *p, const struct hn_device_node *n, int depth);

static void put_children(const struct printer *p, const struct hn_device_node *n,
			 int depth)
{
	for (uint32_t i = 0; i < n->n_child; i++) {
		put_node(p, n->child[i], depth);
	}
}

static void put_node(const struct printer *p, const struct hn_device_node *n, int depth)
{
	bool opens = n->kind == HN_DEVICE_LOOP || n->kind == HN_DEVICE_IF ||
		     n->kind == HN_DEVICE_ROLE;

	if (n->kind == HN_DEVICE_SEQ) {
		put_children(p, n, depth);
		return;
	}
	hn_buf_printf(p->buf, "%*s", 2 * depth, "");
	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_LOOP:
		hn_buf_printf(p->buf, "for v%d %" PRId64 "%s", n->slot, n->extent,
			      hn_device_how_word[n->how]);
		break;
	case HN_DEVICE_IF:
		hn_buf_puts(p->buf, "if ");
		put(p, n->e);
		break;
	case HN_DEVICE_LET:
		hn_buf_printf(p->buf, "let v%d = ", n->slot);
		put(p, n->e);
		break;
	case HN_DEVICE_STORE:
		hn_buf_puts(p->buf, n->async ? "async " : "");
		put_place(p, n->buffer, n->at);
		hn_buf_puts(p->buf, " = ");
		put(p, n->e);
		break;
	case HN_DEVICE_COPY:
		put_copy(p, n);
		break;
	case HN_DEVICE_BARRIER:
		hn_buf_puts(p->buf, "barrier");
		break;
	case HN_DEVICE_COMMIT:
		hn_buf_puts(p->buf, "commit");
		break;
	case HN_DEVICE_WAIT:
		hn_buf_printf(p->buf, "wait %" PRId64, n->extent);
		break;
	case HN_DEVICE_MMA:
		hn_buf_printf(p->buf, "mma %s ", n->warp->intrin->name);
		put_place(p, n->buffer, n->at);
		for (int i = 0; i < 2; i++) {
			hn_buf_putc(p->buf, ' ');
			put_place(p, n->warp->from[i], n->warp->from_at[i]);
		}
		break;
	case HN_DEVICE_WGMMA:
		put_wgmma(p, n);
		break;
	case HN_DEVICE_SETTLE:
		hn_buf_printf(p->buf, "settle %s columns %" PRId64 "%s ", n->warp->intrin->name,
			      n->warp->columns, n->extent > 0 ? " but last" : "");
		put_place(p, n->buffer, n->at);
		break;
	case HN_DEVICE_FENCE:
		hn_buf_puts(p->buf, "fence");
		break;
	case HN_DEVICE_LDMATRIX:
		hn_buf_printf(p->buf, "ldmatrix x%u %s", n->warp->n_matrix,
			      n->warp->trans ? "trans " : "");
		put_place(p, n->buffer, n->at);
		hn_buf_puts(p->buf, " from ");
		put_place(p, n->warp->from[0], n->warp->from_at[0]);
		break;
	default:
		put_word(p, n);
	}
	hn_buf_puts(p->buf, opens ? " {\n" : "\n");
	if (opens) {
		put_children(p, n, depth + 1);
		hn_buf_printf(p->buf, "%*s}\n", 2 * depth, "");
	}
}

void hn_device_print(const struct hn_device *d, struct hn_buf *buf)
{
	const struct printer p = { d, buf };

	hn_buf_puts(buf, HN_DEVICE_FORMAT "\n");
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		const struct hn_device_buffer *b = &d->buffer[i];

		hn_buf_printf(buf, "%s %s %s[%" PRId64 "]", hn_memory_rows[b->memory].keyword,
			      b->name, hn_dtype_name((enum hn_dtype)b->dtype), b->n_elem);
		if (b->arg >= 0) {
			hn_buf_printf(buf, " arg %d", b->arg);
		}
		hn_buf_putc(buf, '\n');
	}
	for (uint32_t i = 0; i < d->n_map; i++) {
		const struct hn_device_map *m = &d->map[i];

		hn_buf_printf(buf, "map %s of %s", m->name, d->buffer[m->buffer].name);
		put_list(&p, "size", m->size, m->n_dim);
		put_list(&p, "stride", m->stride, m->n_dim);
		put_list(&p, "box", m->box, m->n_dim);
		hn_buf_printf(buf, " swizzle %" PRId64 "\n", m->swizzle);
	}
	for (uint32_t i = 0; i < d->n_kernel; i++) {
		const struct hn_device_kernel *k = &d->kernel[i];

		hn_buf_printf(buf, "kernel %s", k->name);
		put_list(&p, "grid", k->grid, 3);
		put_list(&p, "block", k->block, 3);
		hn_buf_puts(buf, " {\n");
		put_node(&p, k->body, 1);
		hn_buf_puts(buf, "}\n");
	}
}
