/* lower/device/device_role.c -- the form of kernels with roles: device_role.h. */
#include "lower/device/device_role.h"

#include "base/arith.h"

const char *const hn_device_role_word[HN_DEVICE_N_ROLE] = { "producer", "consumer" };

bool hn_role_is_word(const struct hn_device_node *n)
{
	return n->kind >= HN_DEVICE_MBARRIER && n->kind <= HN_DEVICE_ROLE;
}

bool hn_role_is_step(const struct hn_device_node *n)
{
	return hn_role_is_word(n) || n->kind == HN_DEVICE_WGMMA || n->kind == HN_DEVICE_SETTLE;
}

bool hn_role_any(const struct hn_device_kernel *k)
{
	const struct hn_device_node *last =
		k->body->n_child > 0 ? k->body->child[k->body->n_child - 1] : NULL;

	return last != NULL && last->kind == HN_DEVICE_ROLE;
}

int64_t hn_map_box(const struct hn_device_map *m)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < m->n_dim; i++) {
		n *= m->box[i];
	}
	return n;
}

const char *hn_map_why_not(const struct hn_device *d, const struct hn_device_map *m)
{
	const struct hn_device_buffer *b = &d->buffer[m->buffer];
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)b->dtype), last = 1;

	if (b->memory != HN_MEMORY_GLOBAL || m->n_dim < 1 || m->n_dim > HN_DEVICE_MAP_DIM) {
		return "a map is of a buffer in global memory, and has 1 to 5 dimensions";
	}
	for (uint32_t i = 0; i < m->n_dim; i++) {
		bool end = i + 1 == m->n_dim;

		if (m->size[i] < 1 || m->size[i] > HN_MAP_SIZE || m->box[i] < 1 ||
		    m->box[i] > HN_MAP_BOX) {
			return "a map has 1 to 2^32 elements in a dimension, and its box 1 to 256";
		}
		if (end ? m->stride[i] != 1
			: m->stride[i] < 1 || hn_mul_sat(m->stride[i], bytes) >= HN_MAP_STRIDE ||
				  m->stride[i] * bytes % HN_MAP_ALIGN != 0) {
			return "strides of a map are multiples of 16 bytes, and that of the last "
			       "dimension is one element";
		}
		last = hn_add_sat(last, hn_mul_sat(m->size[i] - 1, m->stride[i]));
	}
	if (last > b->n_elem) {
		return "a map reaches past the end of its buffer";
	}
	if (m->box[m->n_dim - 1] * bytes % HN_MAP_ALIGN != 0) {
		return "rows of a map's box are multiples of 16 bytes";
	}
	if (m->swizzle != 0 && m->swizzle != 32 && m->swizzle != 64 && m->swizzle != 128) {
		return "chunks of a map change places within 32, 64 or 128 bytes";
	}
	if (m->swizzle != 0 && m->box[m->n_dim - 1] * bytes != m->swizzle) {
		return "rows of a map's box are as long as chunks change places in";
	}
	return NULL;
}

/* ---- the form */

struct judge {
	const struct hn_device *d;
	const struct hn_device_kernel *k;
	const struct hn_role_use *use;
	enum hn_device_role role;
	bool begun; /* within a role */
	bool doubt; /* under a condition that depends on the thread, or on memory */
};

struct plain {
	const bool *named;
	bool group, block, yes;
};

static void see_load(const struct hn_expr *e, void *ctx)
{
	bool *any = ctx;

	*any = *any || e->op == HN_EXPR_LOAD;
}

static bool loads(const struct hn_expr *e)
{
	bool any = false;

	hn_expr_visit(e, see_load, &any);
	return any;
}

static void see_plain(const struct hn_expr *e, void *ctx)
{
	struct plain *p = ctx;
	bool number = e->op == HN_EXPR_VAR && e->ref < HN_DEVICE_FIRST;
	bool may = (p->group && e->ref == HN_DEVICE_THREAD + 1) ||
		   (p->block && e->ref < HN_DEVICE_THREAD);

	if (e->op == HN_EXPR_LOAD || (number && !may) ||
	    (e->op == HN_EXPR_VAR && !number && p->named[e->ref])) {
		p->yes = false;
	}
}

/* A number of the protocol: of loops' turns alone, and of thread.y where `group`. */
static bool is_plain(const struct judge *j, const struct hn_expr *e, bool group)
{
	struct plain p = { .named = j->use->named, .group = group, .yes = true };

	hn_expr_visit(e, see_plain, &p);
	return p.yes;
}

bool hn_role_is_of_block(const bool *named, const struct hn_expr *e)
{
	struct plain p = { .named = named, .block = true, .yes = true };

	hn_expr_visit(e, see_plain, &p);
	return p.yes;
}

static const char *why_no_bulk(const struct judge *j, const struct hn_device_node *n)
{
	const struct hn_device_bulk *b = n->bulk;
	const struct hn_device_map *m = &j->d->map[b->map];
	const struct hn_device_buffer *to = &j->d->buffer[n->buffer];
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)to->dtype);
	int64_t rows = m->swizzle > 0 ? HN_WGMMA_ROWS * m->swizzle : HN_MAP_PLACE;

	if (to->memory != HN_MEMORY_SHARED || to->dtype != j->d->buffer[m->buffer].dtype) {
		return "a bulk copy is to shared memory, of the map's type";
	}
	if (!is_plain(j, n->at, false) || !is_plain(j, b->mbarrier_at, false)) {
		return "where a bulk copy goes depends on the block, the thread, or a value in "
		       "memory";
	}
	if (!hn_warp_is_multiple(n->at, rows / bytes)) {
		return "a bulk copy may begin at what is no multiple of 8 rows";
	}
	for (uint32_t i = 0; i < m->n_dim; i++) {
		if (loads(b->from[i])) {
			return "where a bulk copy begins is a value in memory";
		}
	}
	return (j->use->buffer[m->buffer] & HN_ROLE_WRITES) != 0
		       ? "a kernel writes what its bulk copies read"
		       : NULL;
}

static const char *why_no_word(const struct judge *j, const struct hn_device_node *n)
{
	enum hn_device_role of = n->kind == HN_DEVICE_ARRIVE ? HN_DEVICE_CONSUMER
							     : HN_DEVICE_PRODUCER;

	if (n->kind == HN_DEVICE_MBARRIER) {
		return j->begun ? "an mbarrier is made within a role"
		       : n->extent < 1 || n->extent > HN_ROLE_MOST * HN_ROLE_WARPS
			       ? "an mbarrier has 1 to 32 arrivals in a phase"
		       : !is_plain(j, n->at, false) ? "which mbarrier is made depends on the thread"
						 : NULL;
	}
	if (!j->begun || (n->kind != HN_DEVICE_AWAIT && j->role != of)) {
		return "producers expect and begin bulk copies, consumers arrive, within their roles";
	}
	if (n->kind == HN_DEVICE_BULK) {
		return why_no_bulk(j, n);
	}
	if (!is_plain(j, n->at, false) || (n->kind == HN_DEVICE_AWAIT && !is_plain(j, n->e, false))) {
		return "which mbarrier, or phase, depends on the block, the thread, or a value in "
		       "memory";
	}
	return n->kind == HN_DEVICE_EXPECT && (n->extent < 1 || n->extent >= 1 << 20)
		       ? "1 to 2^20 - 1 bytes can be expected"
		       : NULL;
}

/* What stands in a role, or before. */
static const char *why_no_node(struct judge *j, const struct hn_device_node *n)
{
	bool inner = n->kind == HN_DEVICE_SEQ || n->kind == HN_DEVICE_LOOP ||
		     n->kind == HN_DEVICE_IF || n->kind == HN_DEVICE_LET;
	const char *why = NULL;
	bool doubt = j->doubt;

	if (j->doubt && hn_role_is_step(n)) {
		return "a condition around words of roles depends on the thread, or a value in "
		       "memory";
	}
	if (hn_role_is_word(n)) {
		return n->kind == HN_DEVICE_ROLE ? "a role stands within something else"
						 : why_no_word(j, n);
	}
	if (n->kind == HN_DEVICE_WGMMA) {
		why = !is_plain(j, n->warp->from_at[0], true) || !is_plain(j, n->warp->from_at[1], true)
			      ? "what a product of a role reads depends on the block, or a value "
				"in memory"
			      : NULL;
	} else if (j->begun ? !inner && n->kind != HN_DEVICE_SETTLE &&
				      (n->kind != HN_DEVICE_STORE || n->async ||
				       j->role == HN_DEVICE_PRODUCER)
			    : n->kind != HN_DEVICE_LOOP && n->kind != HN_DEVICE_FENCE &&
				      n->kind != HN_DEVICE_BARRIER) {
		why = j->begun ? "a producer begins bulk copies alone, and consumers multiply and "
				 "store"
			       : "something else than mbarriers is made before the roles";
	}
	j->doubt = doubt ||
		   (n->kind == HN_DEVICE_IF && !hn_role_is_of_block(j->use->named, n->e));
	if (why == NULL && j->begun && j->role == HN_DEVICE_PRODUCER &&
	    (n->warp != NULL || (n->kind == HN_DEVICE_LET && loads(n->e)))) {
		why = "a producer begins bulk copies alone, and consumers multiply and store";
	}
	for (uint32_t i = 0; i < n->n_child && why == NULL; i++) {
		why = why_no_node(j, n->child[i]);
	}
	j->doubt = doubt;
	return why;
}

/* The condition names consumers, 0 to their number, or the last warpgroup. */
static const char *why_no_role(struct judge *j, const struct hn_device_node *n, int64_t *seen)
{
	const struct hn_expr *e = n->e;
	bool producer = n->how == HN_DEVICE_PRODUCER;
	const char *why = NULL;

	if (e->op != (producer ? HN_EXPR_GE : HN_EXPR_LT) || e->arg[0]->op != HN_EXPR_VAR ||
	    e->arg[0]->ref != HN_DEVICE_THREAD + 1 || e->arg[1]->op != HN_EXPR_INT ||
	    e->arg[1]->u.i != j->k->block[1] - 1 || ++*seen > 1) {
		return "a kernel has one producer, the last of its warpgroups, and the others are "
		       "consumers";
	}
	if (n->extent < 24 || n->extent > 256 || n->extent % 8 != 0) {
		return "a role's threads have 24, 32, ... or 256 registers";
	}
	j->role = (enum hn_device_role)n->how;
	for (uint32_t i = 0; i < n->n_child && why == NULL; i++) {
		why = why_no_node(j, n->child[i]);
	}
	return why;
}

static const char *why_no_buffer(const struct judge *j, uint32_t b)
{
	const struct hn_device_buffer *x = &j->d->buffer[b];
	uint8_t use = j->use->buffer[b];

	if ((use & HN_ROLE_COUNTS) != 0 &&
	    (x->memory != HN_MEMORY_SHARED || x->dtype != HN_I64 || (use & HN_ROLE_FILLS) != 0)) {
		return "mbarriers are elements of a buffer of int64 in shared memory";
	}
	return x->memory == HN_MEMORY_SHARED && (use & HN_ROLE_TOUCHES) != 0
		       ? "threads of a kernel with roles touch shared memory"
		       : NULL;
}

/* The same of a kernel whose use is known. */
static const char *why_no_kernel(struct judge *j)
{
	const struct hn_device *d = j->d;
	const struct hn_device_kernel *k = j->k;
	const struct hn_device_node *body = k->body;
	int64_t seen[HN_DEVICE_N_ROLE] = { 0 }, n_mbarrier = 0;
	const char *why = NULL;

	if (k->block[0] != HN_WARPGROUP || k->block[2] != 1 || k->block[1] < 2 ||
	    k->block[1] > HN_ROLE_MOST) {
		return "a block with roles is 128 threads in x, and 2 to 8 warpgroups in y";
	}
	for (uint32_t i = 0; i < body->n_child && why == NULL; i++) {
		const struct hn_device_node *n = body->child[i];

		if (n->kind == HN_DEVICE_ROLE && n->how < HN_DEVICE_N_ROLE) {
			if (!j->begun && (i == 0 || body->child[i - 1]->kind != HN_DEVICE_BARRIER)) {
				return "a barrier stands before the roles";
			}
			j->begun = true;
			why = why_no_role(j, n, &seen[n->how]);
		} else {
			why = j->begun ? "something stands behind the roles" : why_no_node(j, n);
		}
	}
	if (why == NULL && (seen[0] == 0 || seen[1] == 0)) {
		why = "a kernel with roles has a producer and consumers";
	}
	for (uint32_t b = 0; b < d->n_buffer && why == NULL; b++) {
		bool counts = (j->use->buffer[b] & HN_ROLE_COUNTS) != 0;

		why = why_no_buffer(j, b);
		n_mbarrier = hn_add_sat(n_mbarrier, counts ? d->buffer[b].n_elem : 0);
	}
	if (why == NULL && n_mbarrier > HN_ROLE_MBARRIERS) {
		why = "a kernel has 128 mbarriers at most";
	}
	return why;
}

const char *hn_role_why_not(const struct hn_device *d, const struct hn_device_kernel *k)
{
	struct hn_role_use use;
	struct hn_arena a;
	const char *why = NULL;

	hn_arena_init(&a, 0);
	use = hn_role_use_of(d, k, &a);
	if (hn_role_any(k)) {
		struct judge j = { .d = d, .k = k, .use = &use };

		why = why_no_kernel(&j);
	} else if (use.words) {
		why = "words of roles stand in a kernel without roles";
	}
	hn_arena_fini(&a);
	return why;
}
