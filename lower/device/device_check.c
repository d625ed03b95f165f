/* lower/device/device_check.c -- the form of a device program: types, names in scope, where
 * barriers may stand, and room on the target.  What it computes is not looked at. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "lower/device/device_verify.h"
#include "lower/device/device_role.h"

#define MOST_COUNT (INT64_C(1) << 31) /* blocks or threads in one dimension */

struct form {
	const struct hn_device *d;
	const struct hn_device_kernel *k;
	bool *known; /* [n_slot] has a value here */
	bool *once;  /* [n_slot] has had one */
	bool *named; /* [n_slot] it is a scalar's */
	bool *used;  /* [n_buffer] by this kernel */
	bool fences; /* warpgroups read shared memory: barriers come with fences */
	bool in_role;
	uint32_t depth;
	int rc;
	struct hn_err *err;
};

HN_PRINTF(2, 3)
static void refuse(struct form *f, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	if (f->rc != 0) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	f->rc = hn_fail(f->err, HONE_E_INVALID, "kernel %s: %s", f->k->name, why);
}

static bool is_integer(uint8_t type)
{
	enum hn_dtype_class c = hn_dtype_class((enum hn_dtype)type);

	return c == HN_CLASS_SIGNED || c == HN_CLASS_UNSIGNED;
}

static void check_expr(struct form *f, const struct hn_expr *e);

/* Arguments of one type, which is the result's too where `same`. */
static void check_types(struct form *f, const struct hn_expr *e, uint32_t first,
			uint8_t result)
{
	for (uint32_t i = first + 1; i < e->n_arg; i++) {
		if (e->arg[i]->dtype != e->arg[first]->dtype) {
			refuse(f, "%s of %s and %s",
			       hn_expr_op_name((enum hn_expr_op)e->op),
			       hn_dtype_name((enum hn_dtype)e->arg[first]->dtype),
			       hn_dtype_name((enum hn_dtype)e->arg[i]->dtype));
		}
	}
	if (e->dtype != result) {
		refuse(f, "%s gives %s", hn_expr_op_name((enum hn_expr_op)e->op),
		       hn_dtype_name((enum hn_dtype)e->dtype));
	}
}

static void check_slot(struct form *f, int32_t slot)
{
	if (slot < HN_DEVICE_FIRST || slot >= (int32_t)f->k->n_slot || f->once[slot]) {
		refuse(f, "v%d is no variable's name here, or the name of two", slot);
		return;
	}
	f->known[slot] = f->once[slot] = true;
}

static void check_variable(struct form *f, const struct hn_expr *e)
{
	if (e->ref < 0 || e->ref >= (int32_t)f->k->n_slot || !f->known[e->ref]) {
		refuse(f, "v%d has no value here", e->ref);
	} else if (e->dtype != f->k->type[e->ref]) {
		refuse(f, "v%d is no %s", e->ref, hn_dtype_name((enum hn_dtype)e->dtype));
	}
}

static void check_place(struct form *f, int32_t buffer, const struct hn_expr *at)
{
	check_expr(f, at);
	if (buffer < 0 || (uint32_t)buffer >= f->d->n_buffer) {
		refuse(f, "there is no buffer %d", buffer);
	} else if (f->rc == 0 && !is_integer(at->dtype)) {
		refuse(f, "an index of %s is %s", f->d->buffer[buffer].name,
		       hn_dtype_name((enum hn_dtype)at->dtype));
	} else {
		f->used[buffer] = true;
	}
}

static uint32_t n_args(const struct hn_expr *e)
{
	static const int8_t arity[HN_N_EXPR] = {
#define EXPR(name, text, arity, result) arity,
#include "loopstate/expr/exprops.def"
#undef EXPR
	};

	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_LET:
		return 2;
	case HN_EXPR_LOAD:
	case HN_EXPR_CAST:
		return 1;
	case HN_EXPR_CALL:
		return e->ref >= 0 && e->ref < HN_N_FN ? hn_fn_arity((enum hn_fn)e->ref)
						       : UINT32_MAX;
	default:
		return arity[e->op] < 0 ? 0 : (uint32_t)arity[e->op];
	}
}

static void check_operator(struct form *f, const struct hn_expr *e)
{
	static const char result[HN_N_EXPR] = {
#define S 'S'
#define A 'A'
#define B 'B'
#define EXPR(name, text, arity, result) result,
#include "loopstate/expr/exprops.def"
#undef EXPR
#undef S
#undef A
#undef B
	};
	uint8_t type = e->n_arg > 0 ? e->arg[e->n_arg - 1]->dtype : e->dtype;

	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_LOAD:
		check_place(f, e->ref, e->arg[0]);
		if (f->rc == 0 && e->dtype != f->d->buffer[e->ref].dtype) {
			refuse(f, "an element of %s is no %s", f->d->buffer[e->ref].name,
			       hn_dtype_name((enum hn_dtype)e->dtype));
		}
		break;
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		check_types(f, e, 1, type);
		if (e->arg[0]->dtype != HN_BOOL) {
			refuse(f, "a condition is %s",
			       hn_dtype_name((enum hn_dtype)e->arg[0]->dtype));
		}
		break;
	case HN_EXPR_CAST:
	case HN_EXPR_INT:
	case HN_EXPR_FLOAT:
		break;
	case HN_EXPR_LET:
		check_types(f, e, 1, type);
		break;
	case HN_EXPR_CALL:
		check_types(f, e, 0, type);
		break;
	default:
		check_types(f, e, 0, result[e->op] == 'B' ? HN_BOOL : type);
	}
}

static void check_expr(struct form *f, const struct hn_expr *e)
{
	if (f->rc != 0) {
		return;
	}
	if (++f->depth > HN_DEVICE_MOST_DEPTH || e->op >= HN_N_EXPR || e->n_arg != n_args(e)) {
		refuse(f, "an expression is nested too deep, or has no such form");
	} else if (e->op == HN_EXPR_VAR) {
		check_variable(f, e);
	} else {
		for (uint32_t i = 0; i < e->n_arg && f->rc == 0; i++) {
			check_expr(f, e->arg[i]);
			if (e->op == HN_EXPR_LET && i == 0) {
				check_slot(f, e->ref);
			}
		}
		if (f->rc == 0) {
			check_operator(f, e);
		}
		if (e->op == HN_EXPR_LET && f->rc == 0) {
			f->known[e->ref] = false;
		}
	}
	f->depth--;
}

static void check_node(struct form *f, const struct hn_device_node *n, bool waits);

/* How far the box's elements are from each other; HN_EXTENT_MAX: too far to count. */
static int64_t span(const struct hn_device_copy *c, const int64_t *stride)
{
	int64_t sum = 0;

	for (uint32_t d = 0; d < c->n_dim; d++) {
		int64_t step = stride[d] == INT64_MIN ? HN_EXTENT_MAX : stride[d];

		sum = hn_add_sat(sum, hn_mul_sat(step < 0 ? -step : step, c->extent[d] - 1));
	}
	return sum;
}

static void check_copy(struct form *f, const struct hn_device_node *n)
{
	const struct hn_device_copy *c = n->copy;

	if (c == NULL || c->n_dim == 0 || c->n_dim > HN_DEVICE_MAX_DIM) {
		refuse(f, "a copy has no box");
		return;
	}
	check_place(f, n->buffer, n->at);
	check_place(f, c->from, c->from_at);
	for (uint32_t d = 0; d < c->n_dim && f->rc == 0; d++) {
		if (c->extent[d] < 1 || c->extent[d] > MOST_COUNT) {
			refuse(f, "a copy's box has %" PRId64 " elements in a dimension",
			       c->extent[d]);
		}
	}
	if (f->rc == 0 && (span(c, c->stride) >= HN_EXTENT_MAX ||
			   span(c, c->from_stride) >= HN_EXTENT_MAX)) {
		refuse(f, "a copy's box reaches further than any buffer");
	}
	if (f->rc == 0 && f->d->buffer[n->buffer].dtype != f->d->buffer[c->from].dtype) {
		refuse(f, "a copy from %s to %s changes the type",
		       f->d->buffer[c->from].name, f->d->buffer[n->buffer].name);
	}
}

static void check_store(struct form *f, const struct hn_device_node *n)
{
	check_place(f, n->buffer, n->at);
	check_expr(f, n->e);
	if (f->rc == 0 && n->e->dtype != f->d->buffer[n->buffer].dtype) {
		refuse(f, "%s holds %s and is given %s", f->d->buffer[n->buffer].name,
		       hn_dtype_name((enum hn_dtype)f->d->buffer[n->buffer].dtype),
		       hn_dtype_name((enum hn_dtype)n->e->dtype));
	}
	if (f->rc == 0 && n->async &&
	    (f->d->buffer[n->buffer].memory != HN_MEMORY_SHARED || n->e->op != HN_EXPR_LOAD ||
	     f->d->buffer[n->e->ref].memory != HN_MEMORY_GLOBAL)) {
		refuse(f, "an asynchronous copy to %s is none from global to shared memory",
		       f->d->buffer[n->buffer].name);
	}
}

static void check_warp(struct form *f, const struct hn_device_node *n, bool waits)
{
	const char *why;

	if (n->warp == NULL) {
		refuse(f, "a warp's node has no form");
		return;
	}
	check_place(f, n->buffer, n->at);
	for (int i = 0; i < hn_device_n_from(n); i++) {
		check_place(f, n->warp->from[i], n->warp->from_at[i]);
	}
	if (f->rc != 0) {
		return;
	}
	if (!waits) {
		refuse(f, "what a warp does together stands under a condition, where not all "
			  "threads may come");
	}
	if ((n->kind == HN_DEVICE_WGMMA || n->kind == HN_DEVICE_SETTLE) &&
	    f->k->block[0] % HN_WARPGROUP != 0) {
		refuse(f, "its threads are %" PRId64 " in x, and no whole warpgroups",
		       f->k->block[0]);
	}
	if (f->k->block[0] % HN_WARP != 0) {
		refuse(f, "its threads are %" PRId64 " in x, and no whole warps", f->k->block[0]);
	}
	why = hn_warp_why_not(f->d, n);
	if (why != NULL) {
		refuse(f, "%s", why);
	}
}

static void check_children(struct form *f, const struct hn_device_node *n, bool waits);

static void check_bulk(struct form *f, const struct hn_device_node *n)
{
	const struct hn_device_bulk *b = n->bulk;

	if (b == NULL || b->map < 0 || (uint32_t)b->map >= f->d->n_map) {
		refuse(f, "a bulk copy has no map");
		return;
	}
	for (uint32_t i = 0; i < f->d->map[b->map].n_dim && f->rc == 0; i++) {
		check_expr(f, b->from[i]);
		if (f->rc == 0 && b->from[i]->dtype != HN_I32) {
			refuse(f, "where a bulk copy begins is %s",
			       hn_dtype_name((enum hn_dtype)b->from[i]->dtype));
		}
	}
	check_place(f, b->mbarrier, b->mbarrier_at);
	f->used[f->d->map[b->map].buffer] = true;
}

/* Words of roles; what they say together is looked at behind all of them. */
static void check_word(struct form *f, const struct hn_device_node *n, bool waits)
{
	if (n->kind != HN_DEVICE_ROLE) {
		check_place(f, n->buffer, n->at);
	}
	if (n->kind == HN_DEVICE_BULK) {
		check_bulk(f, n);
	} else if (n->e != NULL) {
		uint8_t want = n->kind == HN_DEVICE_ROLE ? HN_BOOL : HN_I32;

		check_expr(f, n->e);
		if (f->rc == 0 && n->e->dtype != want) {
			refuse(f, "a role's condition, or a parity, is %s",
			       hn_dtype_name((enum hn_dtype)n->e->dtype));
		}
	}
	if (n->kind == HN_DEVICE_ROLE) {
		f->in_role = true;
		check_children(f, n, waits);
		f->in_role = false;
	}
}

static void check_children(struct form *f, const struct hn_device_node *n, bool waits)
{
	for (uint32_t i = 0; i < n->n_child && f->rc == 0; i++) {
		if (f->fences && n->child[i]->kind == HN_DEVICE_BARRIER &&
		    (i == 0 || n->child[i - 1]->kind != HN_DEVICE_FENCE)) {
			refuse(f, "a barrier has no fence before it, and warpgroups read what "
				  "threads write");
			return;
		}
		check_node(f, n->child[i], waits);
	}
	const char *why = f->rc == 0 ? hn_wgmma_why_open(f->d, n) : NULL;

	if (why != NULL) {
		refuse(f, "%s", why);
	}
	for (uint32_t i = 0; i < n->n_child && f->rc == 0;
	     i++) { /* what it named ends here */
		if (n->child[i]->kind == HN_DEVICE_LET && n->kind != HN_DEVICE_SEQ) {
			f->known[n->child[i]->slot] = false;
		}
	}
}

static void check_loop(struct form *f, const struct hn_device_node *n, bool waits)
{
	if (n->extent < 1 || n->extent > MOST_COUNT || n->how > HN_DEVICE_LANES) {
		refuse(f, "a loop runs %" PRId64 " times", n->extent);
		return;
	}
	check_slot(f, n->slot);
	if (f->rc == 0) {
		check_children(f, n, waits);
		f->known[n->slot] = false;
	}
}

static void check_node(struct form *f, const struct hn_device_node *n, bool waits)
{
	if (++f->depth > HN_DEVICE_MOST_DEPTH) {
		refuse(f, "it is nested too deep");
	}
	if (f->rc != 0) {
		return;
	}
	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_SEQ:
		check_children(f, n, waits);
		break;
	case HN_DEVICE_LOOP:
		check_loop(f, n, waits);
		break;
	case HN_DEVICE_IF:
		check_expr(f, n->e);
		if (f->rc == 0 && n->e->dtype != HN_BOOL) {
			refuse(f, "a condition is %s",
			       hn_dtype_name((enum hn_dtype)n->e->dtype));
		}
		check_children(f, n,
			       waits && f->in_role && f->rc == 0 && hn_role_is_of_block(f->named, n->e));
		break;
	case HN_DEVICE_LET:
		check_expr(f, n->e);
		check_slot(f, n->slot);
		if (f->rc == 0) {
			f->named[n->slot] = true;
		}
		if (f->rc == 0 && f->k->type[n->slot] != n->e->dtype) {
			refuse(f, "v%d is given another type", n->slot);
		}
		break;
	case HN_DEVICE_STORE:
		check_store(f, n);
		break;
	case HN_DEVICE_COPY:
		check_copy(f, n);
		break;
	case HN_DEVICE_BARRIER:
		if (!waits) {
			refuse(f, "a barrier stands under a condition, where not all "
				  "threads may come");
		}
		break;
	case HN_DEVICE_COMMIT:
	case HN_DEVICE_WAIT:
		if (!waits) {
			refuse(f, "a commit or wait stands under a condition, where not all "
				  "threads may come");
		} else if (n->extent < 0 || n->extent > HN_DEVICE_MOST_GROUPS) {
			refuse(f, "a wait for all but %" PRId64 " groups; 0 to %d are possible",
			       n->extent, HN_DEVICE_MOST_GROUPS);
		}
		break;
	case HN_DEVICE_FENCE:
		if (!waits) {
			refuse(f, "a fence stands under a condition, where not all threads may "
				  "come");
		}
		break;
	case HN_DEVICE_MMA:
	case HN_DEVICE_LDMATRIX:
	case HN_DEVICE_WGMMA:
	case HN_DEVICE_SETTLE:
		check_warp(f, n, waits);
		break;
	case HN_DEVICE_MBARRIER:
	case HN_DEVICE_EXPECT:
	case HN_DEVICE_BULK:
	case HN_DEVICE_ARRIVE:
	case HN_DEVICE_AWAIT:
	case HN_DEVICE_ROLE:
		check_word(f, n, waits);
		break;
	default:
		refuse(f, "a node has no kind");
	}
	f->depth--;
}

/* What one copy of the memory holds of this kernel's, against what the target has. */
static void check_room(struct form *f, enum hn_memory memory, const struct hn_target *t)
{
	static const int param[HN_N_MEMORY] = {
#define HN_PARAM_NONE (-1)
#define MEMORY(name, keyword, copies, in_device, param) HN_PARAM_##param,
#include "loopstate/nest/memories.def"
#undef MEMORY
	};
	int64_t bytes = 0;

	for (uint32_t i = 0; i < f->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &f->d->buffer[i];

		if (f->used[i] && b->memory == memory) {
			bytes = hn_add_sat(
				bytes,
				hn_mul_sat(b->n_elem,
					   hn_dtype_bytes((enum hn_dtype)b->dtype)));
		}
	}
	if (param[memory] >= 0 && bytes > t->param[param[memory]]) {
		refuse(f, "%" PRId64 " bytes of %s memory; %s has %" PRId64, bytes,
		       hn_memory_rows[memory].keyword, t->kind, t->param[param[memory]]);
	}
}

static bool has_wgmma(const struct hn_device_node *n, uint32_t depth)
{
	bool any = n->kind == HN_DEVICE_WGMMA;

	for (uint32_t i = 0; i < n->n_child && depth < HN_DEVICE_MOST_DEPTH && !any; i++) {
		any = has_wgmma(n->child[i], depth + 1);
	}
	return any;
}

static void check_kernel(struct form *f, const struct hn_target *t)
{
	const struct hn_device_kernel *k = f->k;
	int64_t threads = 1;

	for (int d = 0; d < 3; d++) {
		if (k->grid[d] < 1 || k->grid[d] > MOST_COUNT || k->block[d] < 1 ||
		    k->block[d] > MOST_COUNT) {
			refuse(f, "its grid, or its block, has a length that is none");
			return;
		}
		threads = hn_mul_sat(threads, k->block[d]);
		f->known[HN_DEVICE_BLOCK + d] = f->known[HN_DEVICE_THREAD + d] = true;
	}
	if (threads > MOST_COUNT) {
		refuse(f, "%" PRId64 " threads a block", threads);
		return;
	}
	f->fences = has_wgmma(k->body, 0);
	check_node(f, k->body, true);
	const char *why = f->rc == 0 ? hn_role_why_not(f->d, k) : NULL;

	if (why != NULL) {
		refuse(f, "%s", why);
	}
	if (t != NULL) {
		if (threads > t->param[HN_PARAM_MAX_THREADS_PER_BLOCK]) {
			refuse(f, "%" PRId64 " threads a block; %s runs %" PRId64,
			       threads, t->kind,
			       t->param[HN_PARAM_MAX_THREADS_PER_BLOCK]);
		}
		for (int m = 0; m < HN_N_MEMORY && f->rc == 0; m++) {
			check_room(f, (enum hn_memory)m, t);
		}
	}
}

static int check_buffers(const struct hn_device *d, struct hn_err *err)
{
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		const struct hn_device_buffer *b = &d->buffer[i];

		if (b->n_elem < 1 || b->n_elem > HN_EXTENT_MAX / 16 ||
		    b->memory >= HN_N_MEMORY || !hn_memory_rows[b->memory].in_device ||
		    (b->arg >= 0 && b->memory != HN_MEMORY_GLOBAL)) {
			return hn_fail(err, HONE_E_INVALID,
				       "buffer %s: %" PRId64
				       " elements, a memory that device programs do not know, or "
				       "an argument that is not in global memory",
				       b->name, b->n_elem);
		}
	}
	for (uint32_t i = 0; i < d->n_map; i++) {
		const struct hn_device_map *m = &d->map[i];
		const char *why = m->buffer < 0 || (uint32_t)m->buffer >= d->n_buffer
					  ? "it is of no buffer"
					  : hn_map_why_not(d, m);

		if (why != NULL) {
			return hn_fail(err, HONE_E_INVALID, "map %s: %s", m->name, why);
		}
	}
	return 0;
}

int hn_device_check(const struct hn_device *d, const struct hn_target *target,
		    struct hn_err *err)
{
	struct hn_arena a;
	int rc = check_buffers(d, err);

	hn_arena_init(&a, 0);
	for (uint32_t i = 0; i < d->n_kernel && rc == 0; i++) {
		const struct hn_device_kernel *k = &d->kernel[i];
		struct form f = {
			.d = d,
			.k = k,
			.known = HN_NEW_ARRAY(&a, bool, k->n_slot + HN_DEVICE_FIRST),
			.once = HN_NEW_ARRAY(&a, bool, k->n_slot + HN_DEVICE_FIRST),
			.named = HN_NEW_ARRAY(&a, bool, k->n_slot + HN_DEVICE_FIRST),
			.used = HN_NEW_ARRAY(&a, bool, d->n_buffer + 1),
			.err = err
		};

		check_kernel(&f, target);
		rc = f.rc;
	}
	hn_arena_fini(&a);
	return rc;
}
