/* lower/device/device_interp.c -- see device_interp.h.
 *
 * Time is counted in phases: a barrier, a new block and a new kernel each begin one.  Each element
 * remembers who wrote it last and when, and who read it last and when.  Two accesses of one kernel
 * meet when they are of different blocks, or of different threads in one phase.
 *
 * An asynchronous copy writes twice: when it begins, so that who still reads the place is found, and
 * when its thread has waited for it, with the value.  Nobody may touch the place between.  Copies of
 * a thread end in order.
 */
#include "lower/device/device_interp_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/device/device_interp_role.h"

struct place_of { /* what a load's cell knows */
	struct run *r;
	int32_t buffer;
};

void hn_interp_fault(struct run *r, const char *fmt, ...)
{
	char why[240];
	va_list ap;

	if (r->fault[0] != '\0') {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	snprintf(r->fault, sizeof(r->fault), "kernel %s: %s", r->k->name, why);
}

static bool overlaps(struct run *r, const struct hn_device_buffer *b, int64_t at,
		     int64_t when, int64_t by, const char *was, const char *is)
{
	int64_t began = b->memory == HN_MEMORY_SHARED ? r->block_began : r->kernel_began;

	if (when < began || (when >= r->block_began && when < r->phase) ||
	    (when == r->phase && by == r->thread)) {
		return false;
	}
	if (when < r->block_began) {
		hn_interp_fault(r, "%s[%" PRId64 "] is %s by one block and %s by another", b->name,
		      at, was, is);
	} else if (r->thread == TOGETHER) {
		hn_interp_fault(r,
		      "%s[%" PRId64 "] is %s by thread %" PRId64
		      " and %s by a warp, with no barrier between",
		      b->name, at, was, by, is);
	} else if (by == MANY || by == TOGETHER) {
		hn_interp_fault(r,
		      "%s[%" PRId64 "] is %s by several threads and %s by thread %" PRId64
		      ", with no barrier between",
		      b->name, at, was, is, r->thread);
	} else {
		hn_interp_fault(r,
		      "%s[%" PRId64 "] is %s by thread %" PRId64
		      " and %s by thread %" PRId64 ", with no barrier between",
		      b->name, at, was, by, is, r->thread);
	}
	return true;
}

static void touch(struct run *r, const struct hn_device_buffer *b, struct seen *s,
		  int64_t at, bool write)
{
	if (overlaps(r, b, at, s->wrote, s->wrote_by, "written",
		     write ? "written" : "read")) {
		return;
	}
	if (!write) {
		s->read_before = s->read < r->block_began ? s->read : s->read_before;
		s->read_by =
			s->read == r->phase && s->read_by != r->thread ? MANY : r->thread;
		s->read = r->phase;
		return;
	}
	if (overlaps(r, b, at, s->read_before, MANY, "read", "written") ||
	    overlaps(r, b, at, s->read, s->read_by, "read", "written")) {
		return;
	}
	s->wrote = r->phase;
	s->wrote_by = r->thread;
	s->fences = r->fences[r->thread];
}

/* A product of the thread's warpgroup may still be at what it adds to. */
static bool is_open(const struct run *r)
{
	for (uint32_t i = 0; i < r->n_open && !r->in_product; i++) {
		if (r->open[i].first == r->thread / HN_WARPGROUP * HN_WARPGROUP) {
			return true;
		}
	}
	return false;
}

/* The element's place in memory; -1 when it may not be touched. */
int64_t hn_interp_reach(struct run *r, int32_t buffer, int64_t at, bool write)
{
	const struct hn_device_buffer *b = &r->d->buffer[buffer];
	struct memory *m = &r->memory[buffer];

	if (at < 0 || at >= b->n_elem) {
		hn_interp_fault(r,
		      "thread %" PRId64 " %s %s[%" PRId64 "], which has %" PRId64
		      " elements",
		      r->thread, write ? "writes" : "reads", b->name, at, b->n_elem);
		return -1;
	}
	if (b->memory == HN_MEMORY_LOCAL) {
		if (is_open(r)) {
			hn_interp_fault(r,
					"thread %" PRId64 " %s %s[%" PRId64
					"] before a product of its warpgroup is settled",
					r->thread, write ? "writes" : "reads", b->name, at);
			return -1;
		}
		at += r->thread * b->n_elem;
		if (!write && !m->filled[at]) {
			hn_interp_fault(r,
			      "thread %" PRId64 " reads %s[%" PRId64
			      "] before it is written",
			      r->thread, b->name, at % b->n_elem);
			return -1;
		}
		m->filled[at] = 1;
		return at;
	}
	if (m->seen[at].flies) {
		hn_interp_fault(r,
		      "thread %" PRId64 " %s %s[%" PRId64
		      "] before a copy to it has been waited for",
		      r->thread, write ? "writes" : "reads", b->name, at);
		return -1;
	}
	int64_t since = b->memory == HN_MEMORY_SHARED ? r->block_began : 1;

	if (!write && m->seen[at].wrote < since &&
	    !(b->arg >= 0 && m->seen[at].wrote == 0)) {
		hn_interp_fault(r, "thread %" PRId64 " reads %s[%" PRId64 "] before it is written",
		      r->thread, b->name, at);
		return -1;
	}
	if (!m->by_roles) {
		touch(r, b, &m->seen[at], at, write);
	}
	return at;
}

static union hn_value eval_element(const struct hn_cell *c, union hn_value *frame)
{
	const struct place_of *p = c->base;
	int64_t at =
		hn_interp_reach(p->r, p->buffer, c->index[0]->eval(c->index[0], frame).i, false);

	return at < 0 ? (union hn_value){ 0 }
		      : hn_interp_get(p->r->memory[p->buffer].data, c->type, at);
}

static const struct hn_cell *compile_load(struct hn_compile *c, const struct hn_expr *e)
{
	struct place_of *p = HN_NEW(c->a, struct place_of);
	const struct hn_cell **index = HN_NEW_ARRAY(c->a, const struct hn_cell *, 1);
	struct hn_cell *cell = HN_NEW(c->a, struct hn_cell);

	*p = (struct place_of){ c->load_ctx, e->ref };
	index[0] = hn_interp_compile_index(c, e->arg[0]);
	*cell = (struct hn_cell){
		.eval = eval_element, .type = e->dtype, .base = p, .index = index
	};
	return cell;
}

const struct op *hn_interp_compile_node(struct hn_compile *c, const struct hn_device_node *n)
{
	struct op *o = HN_NEW(c->a, struct op);

	o->n = n;
	o->e = n->e != NULL ? hn_interp_compile(c, n->e) : NULL;
	o->at = n->at != NULL ? hn_interp_compile_index(c, n->at) : NULL;
	o->from_at =
		n->copy != NULL ? hn_interp_compile_index(c, n->copy->from_at) : NULL;
	for (int i = 0; i < hn_device_n_from(n); i++) {
		o->warp_at[i] = hn_interp_compile_index(c, n->warp->from_at[i]);
	}
	for (uint32_t i = 0; n->bulk != NULL && i < HN_DEVICE_MAP_DIM; i++) {
		o->from[i] = n->bulk->from[i] != NULL ? hn_interp_compile_index(c, n->bulk->from[i])
						      : NULL;
	}
	o->mbarrier_at =
		n->bulk != NULL ? hn_interp_compile_index(c, n->bulk->mbarrier_at) : NULL;
	o->waits = n->kind == HN_DEVICE_BARRIER || n->kind == HN_DEVICE_ROLE || n->warp != NULL;
	o->steps = hn_role_is_step(n);
	o->child = HN_NEW_ARRAY(c->a, const struct op *, n->n_child + 1);
	for (uint32_t i = 0; i < n->n_child; i++) {
		o->child[i] = hn_interp_compile_node(c, n->child[i]);
		o->waits = o->waits || o->child[i]->waits;
		o->steps = o->steps || o->child[i]->steps;
	}
	return o;
}

static void run_copy(struct run *r, const struct op *o, union hn_value *frame)
{
	const struct hn_device_copy *c = o->n->copy;
	enum hn_dtype type = (enum hn_dtype)r->d->buffer[o->n->buffer].dtype;
	int64_t to = o->at->eval(o->at, frame).i,
		from = o->from_at->eval(o->from_at, frame).i;
	int64_t i[HN_DEVICE_MAX_DIM] = { 0 };
	uint32_t d;

	do {
		int64_t a = to, b = from;

		for (d = 0; d < c->n_dim; d++) {
			a += i[d] * c->stride[d];
			b += i[d] * c->from_stride[d];
		}
		b = hn_interp_reach(r, c->from, b, false);
		a = b < 0 ? -1 : hn_interp_reach(r, o->n->buffer, a, true);
		if (a >= 0) {
			hn_interp_put(r->memory[o->n->buffer].data, type, a,
				      hn_interp_get(r->memory[c->from].data, type, b));
		}
		for (d = c->n_dim; d-- > 0 && ++i[d] == c->extent[d];) {
			i[d] = 0;
		}
		r->fuel--;
	} while (d != UINT32_MAX && r->fault[0] == '\0' && r->fuel >= 0);
}

static void begin_flight(struct run *r, int32_t buffer, int64_t at, union hn_value v)
{
	r->flight = hn_arena_grow(&r->arena, r->flight, r->n_flight, &r->cap_flight,
				  sizeof(r->flight[0]));
	r->flight[r->n_flight++] =
		(struct flight){ r->thread, r->committed[r->thread], at, buffer, v };
	r->memory[buffer].seen[at].flies = true;
}

/* The thread's groups but the last n are there. */
static void end_flights(struct run *r, int64_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->n_flight; i++) {
		const struct flight f = r->flight[i];
		const struct hn_device_buffer *b = &r->d->buffer[f.buffer];
		struct memory *m = &r->memory[f.buffer];

		if (f.thread != r->thread || f.group >= r->committed[r->thread] - n) {
			r->flight[kept++] = f;
			continue;
		}
		m->seen[f.at].flies = false;
		touch(r, b, &m->seen[f.at], f.at, /* write= */ true);
		hn_interp_put(m->data, (enum hn_dtype)b->dtype, f.at, f.v);
	}
	r->n_flight = kept;
}

/* One thread, through code without barriers. */
void hn_interp_thread(struct run *r, const struct op *o, union hn_value *frame)
{
	const struct hn_device_node *n = o->n;
	int64_t times = n->kind == HN_DEVICE_LOOP ? n->extent : 1;

	if (--r->fuel < 0 || r->fault[0] != '\0') {
		return;
	}
	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_LET:
		frame[n->slot] = o->e->eval(o->e, frame);
		return;
	case HN_DEVICE_STORE: {
		union hn_value v = o->e->eval(o->e, frame);
		int64_t at = hn_interp_reach(r, n->buffer, o->at->eval(o->at, frame).i, true);

		if (at >= 0 && n->async) {
			begin_flight(r, n->buffer, at, v);
		} else if (at >= 0) {
			hn_interp_put(r->memory[n->buffer].data,
				      (enum hn_dtype)r->d->buffer[n->buffer].dtype, at,
				      v);
		}
		return;
	}
	case HN_DEVICE_COPY:
		run_copy(r, o, frame);
		return;
	case HN_DEVICE_COMMIT:
		r->committed[r->thread]++;
		return;
	case HN_DEVICE_WAIT:
		end_flights(r, n->extent);
		return;
	case HN_DEVICE_FENCE:
		r->fences[r->thread]++;
		return;
	case HN_DEVICE_MBARRIER:
		hn_interp_mbarrier(r, o, frame);
		return;
	case HN_DEVICE_IF:
		times = o->e->eval(o->e, frame).i != 0;
		break;
	default:
		break;
	}
	for (int64_t v = 0; v < times && r->fault[0] == '\0' && r->fuel >= 0; v++) {
		if (n->kind == HN_DEVICE_LOOP) {
			frame[n->slot].i = v;
		}
		for (uint32_t i = 0; i < n->n_child; i++) {
			hn_interp_thread(r, o->child[i], frame);
		}
	}
}

/* Thread i of those of this order. */
static int64_t thread_of(const struct run *r, int64_t i)
{
	switch (r->order % 3) {
	case 0:
		return i;
	case 1:
		return r->n_thread - 1 - i;
	default:
		return (i + r->n_thread / 2 + r->order) % r->n_thread;
	}
}

/* Whether all threads take the branch; they have to agree. */
static bool all_take(struct run *r, const struct op *o)
{
	int64_t n = 0;

	for (r->thread = 0; r->thread < r->n_thread; r->thread++) {
		n += o->e->eval(o->e, r->frame[r->thread]).i != 0;
	}
	if (n != 0 && n != r->n_thread) {
		hn_interp_fault(r, "%" PRId64 " of %" PRId64 " threads reach a barrier", n,
		      r->n_thread);
	}
	return n == r->n_thread;
}

static void run_warps(struct run *r, const struct op *o)
{
	bool group = o->n->kind == HN_DEVICE_WGMMA || o->n->kind == HN_DEVICE_SETTLE;
	int64_t n = group ? HN_WARPGROUP : HN_WARP;

	for (int64_t i = 0; i < r->n_thread && r->fault[0] == '\0'; i += n) {
		int64_t first = thread_of(r, i) / n * n;

		r->fuel -= n;
		if (o->n->kind == HN_DEVICE_SETTLE) {
			hn_interp_settle(r, o, first);
		} else if (o->n->kind == HN_DEVICE_WGMMA) {
			r->in_product = true;
			hn_interp_wgmma(r, o, first);
			r->in_product = false;
		} else if (o->n->kind == HN_DEVICE_MMA) {
			hn_interp_mma(r, o, first);
		} else {
			hn_interp_ldmatrix(r, o, first);
		}
	}
}

/* All threads of a block, together. */
void hn_interp_block(struct run *r, const struct op *o)
{
	const struct hn_device_node *n = o->n;
	int64_t times = n->kind == HN_DEVICE_LOOP ? n->extent : 1;

	if (n->kind == HN_DEVICE_BARRIER) {
		r->phase++;
		memcpy(r->fenced, r->fences, (size_t)r->n_thread * sizeof(r->fences[0]));
		return;
	}
	if (n->warp != NULL) {
		run_warps(r, o);
		return;
	}
	if (!o->waits) {
		for (int64_t i = 0; i < r->n_thread; i++) {
			r->thread = thread_of(r, i);
			hn_interp_thread(r, o, r->frame[r->thread]);
		}
		return;
	}
	if (n->kind == HN_DEVICE_IF && !all_take(r, o)) {
		return;
	}
	for (int64_t v = 0; v < times && r->fault[0] == '\0' && r->fuel >= 0; v++) {
		for (int64_t t = 0; t < r->n_thread && n->kind == HN_DEVICE_LOOP; t++) {
			r->frame[t][n->slot].i = v;
		}
		for (uint32_t i = 0; i < n->n_child; i++) {
			if (o->child[i]->n->kind == HN_DEVICE_ROLE) { /* and all behind it */
				hn_interp_roles(r, &o->child[i], n->n_child - i, false);
				return;
			}
			hn_interp_block(r, o->child[i]);
		}
	}
}

static void begin_block(struct run *r, const int64_t *block)
{
	const int64_t *n = r->k->block;

	r->phase++;
	r->block_began = r->phase;
	r->n_open = 0;
	for (uint32_t i = 0; i < r->n_flight; i++) { /* nobody has waited for them */
		r->memory[r->flight[i].buffer].seen[r->flight[i].at].flies = false;
	}
	r->n_flight = 0;
	hn_interp_forget_mbarriers(r);
	memset(r->committed, 0, (size_t)r->n_thread * sizeof(r->committed[0]));
	for (int64_t t = 0; t < r->n_thread; t++) {
		union hn_value *f = r->frame[t];

		for (int d = 0; d < 3; d++) {
			f[HN_DEVICE_BLOCK + d].i = block[d];
		}
		f[HN_DEVICE_THREAD].i = t % n[0];
		f[HN_DEVICE_THREAD + 1].i = t / n[0] % n[1];
		f[HN_DEVICE_THREAD + 2].i = t / n[0] / n[1];
	}
	for (uint32_t i = 0; i < r->d->n_buffer; i++) {
		if (r->memory[i].filled != NULL) {
			memset(r->memory[i].filled, 0,
			       (size_t)(r->d->buffer[i].n_elem * r->n_thread));
		}
	}
}

/* Memory for what lives as long as a kernel's blocks; false: there is none. */
static bool make_memory(struct run *r)
{
	for (uint32_t i = 0; i < r->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &r->d->buffer[i];
		struct memory *m = &r->memory[i];
		bool local = b->memory == HN_MEMORY_LOCAL;
		size_t n = (size_t)b->n_elem * (local ? (size_t)r->n_thread : 1);

		if (local) {
			free(m->data);
			free(m->filled);
			m->filled = calloc(n, 1);
			m->data = NULL;
		}
		if (m->data == NULL) {
			m->data = calloc(n, hn_dtype_bytes((enum hn_dtype)b->dtype));
			m->owned = true;
		}
		if (!local && m->seen == NULL) {
			m->seen = calloc(n, sizeof(m->seen[0]));
		}
		if (m->data == NULL || (local ? m->filled == NULL : m->seen == NULL)) {
			return false;
		}
	}
	return true;
}

static void make_frames(struct run *r, uint32_t n_frame)
{
	r->frame = HN_NEW_ARRAY(&r->arena, union hn_value *, (size_t)r->n_thread);
	for (int64_t t = 0; t < r->n_thread; t++) {
		/* what is undefined is counted in front */
		r->frame[t] = HN_NEW_ARRAY(&r->arena, union hn_value, n_frame + 1) + 1;
	}
}

static int run_kernel(struct run *r, const struct hn_device_kernel *k, struct hn_err *err)
{
	struct hn_compile c = { .n_axis = k->n_slot,
				.n_frame = k->n_slot,
				.load = compile_load,
				.load_ctx = r,
				.a = &r->arena };
	int64_t at[3];

	r->k = k;
	r->n_thread = k->block[0] * k->block[1] * k->block[2];
	r->kernel_began = r->phase + 1;
	r->committed = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	r->fences = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	r->fenced = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	if (!make_memory(r)) {
		return hn_fail(err, HONE_E_NOMEM, "no memory to interpret kernel %s",
			       k->name);
	}
	const struct op *body = hn_interp_compile_node(&c, k->body);

	hn_interp_make_roles(r);
	make_frames(r, c.n_frame);
	for (at[2] = 0; at[2] < k->grid[2]; at[2]++) {
		for (at[1] = 0; at[1] < k->grid[1]; at[1]++) {
			for (at[0] = 0; at[0] < k->grid[0]; at[0]++) {
				begin_block(r, at);
				hn_interp_block(r, body);
				if (r->fault[0] != '\0') {
					return hn_fail(err, HONE_E_INVALID, "%s",
						       r->fault);
				}
				if (r->fuel < 0) {
					return hn_fail(
						err, HONE_E_QUOTA,
						"kernel %s: more steps than allowed",
						k->name);
				}
			}
		}
	}
	return 0;
}

int hn_device_interpret(const struct hn_device *d, void *const *arg, uint32_t order,
			int64_t fuel, struct hn_err *err)
{
	struct run r = { .d = d, .fuel = fuel, .order = order };
	int rc = 0;

	hn_arena_init(&r.arena, 0);
	r.memory = HN_NEW_ARRAY(&r.arena, struct memory, d->n_buffer + 1);
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		r.memory[i].data = d->buffer[i].arg >= 0 ? arg[d->buffer[i].arg] : NULL;
	}
	for (uint32_t i = 0; i < d->n_kernel && rc == 0; i++) {
		rc = run_kernel(&r, &d->kernel[i], err);
	}
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		free(r.memory[i].owned ? r.memory[i].data : NULL);
		free(r.memory[i].seen);
		free(r.memory[i].filled);
	}
	hn_arena_fini(&r.arena);
	return rc;
}
