/* lower/device/device_verify.c -- the order of what a kernel touches.  See device_verify.h.
 *
 * Every access is a function from an instance (numbers of block and thread, values of the loops
 * around it) to an element.  Two accesses meet when instances of different threads reach one
 * element, and nothing keeps the two apart in time: within one iteration of the loops with
 * barriers a barrier between them does, and from one iteration to the next one behind the first
 * or before the second.  Barriers stand in loops alone, so that who comes by one waits at it.
 */
#include <inttypes.h>
#include <isl/options.h>
#include <stdarg.h>
#include <stdio.h>

#include "lower/device/device_role.h"
#include "lower/device/device_verify_int.h"
#include "lower/prove/watchdog.h"

HN_PRINTF(2, 3)
static void refuse(struct verify *v, const char *fmt, ...)
{
	char why[240];
	va_list ap;

	if (v->rc != 0) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	v->rc = hn_fail(v->err, HONE_E_INVALID, "kernel %s: %s", v->k->name, why);
}

static bool is_above(const struct hn_device_node *n, const struct path *p)
{
	while (p != NULL && p->n != n) {
		p = p->up;
	}
	return p != NULL;
}

/* In one iteration of what is around both, a before b. */
static bool is_apart_within(const struct verify *v, const struct access *a,
			    const struct access *b)
{
	for (uint32_t i = 0; i < v->n_barrier; i++) {
		const struct barrier *x = &v->barrier[i];

		if (x->pos > a->pos && x->pos < b->pos) {
			return true;
		}
	}
	return false;
}

/* a in an iteration of the loop, b in the next one. */
static bool is_apart_across(const struct verify *v, const struct hn_device_node *loop,
			    const struct access *a, const struct access *b)
{
	for (uint32_t i = 0; i < v->n_barrier; i++) {
		const struct barrier *x = &v->barrier[i];

		if (is_above(loop, x->path) && (x->pos > a->pos || x->pos < b->pos)) {
			return true;
		}
	}
	return false;
}

static bool has_barrier(const struct verify *v, const struct hn_device_node *loop)
{
	for (uint32_t i = 0; i < v->n_barrier; i++) {
		if (is_above(loop, v->barrier[i].path)) {
			return true;
		}
	}
	return false;
}

static void report(struct verify *v, const struct access *a, const struct access *b,
		   const char *whom, const char *missing)
{
	const char *name = v->d->buffer[a->buffer].name;

	if (a->stmt == b->stmt && a->write == b->write) {
		refuse(v, "statement %u: two %s may write one element of %s%s", a->stmt,
		       whom, name, missing);
		return;
	}
	refuse(v,
	       "statement %u %s %s and statement %u %s it: two %s may meet in an "
	       "element%s",
	       a->stmt, a->write ? "writes" : "reads", name, b->stmt,
	       b->write ? "writes" : "reads", whom, missing);
}

#define NO_BARRIER ", with no barrier between"

/* a, then b, in the same block with no barrier on the way. */
static void check_threads(struct verify *v, struct access *a, struct access *b)
{
	const struct hn_device_node *loop[HN_DEVICE_MOST_DEPTH];
	struct when w = { .one_block = true, .same = loop };
	bool one = true;
	uint32_t n = 0;

	for (const struct path *p = b->path; p != NULL; p = p->up) {
		if (p->n->kind == HN_DEVICE_LOOP &&
		    is_above(p->n, a->path) && has_barrier(v, p->n)) {
			loop[n++] = p->n; /* innermost first */
		}
	}
	if (a->pos <= b->pos && !is_apart_within(v, a, b)) {
		w.n_same = n;
		one = hn_verify_is_one(v, a, b, HN_DEVICE_THREAD, &w);
	}
	for (uint32_t i = 0; i < n && one; i++) {
		if (loop[i]->extent > 1 && !is_apart_across(v, loop[i], a, b)) {
			w.same = &loop[i + 1]; /* those around it */
			w.n_same = n - i - 1;
			w.next = loop[i];
			one = hn_verify_is_one(v, a, b, HN_DEVICE_THREAD, &w);
		}
	}
	if (!one) {
		report(v, a, b, "threads", NO_BARRIER);
	}
}

/* Their product may be beyond 64 bits. */
static bool are_several(const int64_t n[3])
{
	return n[0] > 1 || n[1] > 1 || n[2] > 1;
}

static void check_pair(struct verify *v, struct access *a, struct access *b)
{
	enum hn_memory memory = (enum hn_memory)v->d->buffer[a->buffer].memory;
	const struct hn_device_kernel *k = v->k;
	const struct when any = { 0 };

	if (memory == HN_MEMORY_GLOBAL && are_several(k->grid) &&
	    !hn_verify_is_one(v, a, b, HN_DEVICE_BLOCK, &any)) {
		report(v, a, b, "blocks", "");
	}
	if (are_several(k->block) && v->rc == 0) {
		check_threads(v, a, b);
		if (a != b && v->rc == 0) {
			check_threads(v, b, a);
		}
	}
}

static void check_races(struct verify *v)
{
	for (uint32_t i = 0; i < v->n_access && v->rc == 0; i++) {
		struct access *a = &v->access[i];

		if (!a->write || v->d->buffer[a->buffer].memory == HN_MEMORY_LOCAL ||
		    (v->use.buffer[a->buffer] & HN_ROLE_OWNS) != 0) {
			continue;
		}
		for (uint32_t k = 0; k < v->n_access && v->rc == 0; k++) {
			struct access *b = &v->access[k];

			if (b->buffer == a->buffer && (k >= i || !b->write)) {
				check_pair(v, a, b);
			}
		}
	}
}

static void check_bounds(struct verify *v)
{
	for (uint32_t i = 0; i < v->n_access && v->rc == 0; i++) {
		struct access *a = &v->access[i];
		const struct hn_device_buffer *b = &v->d->buffer[a->buffer];

		if (!hn_verify_is_within(v, a, b->n_elem)) {
			refuse(v,
			       "statement %u %s %s, which has %" PRId64
			       " elements, and its index may be another",
			       a->stmt, a->write ? "writes" : "reads", b->name,
			       b->n_elem);
		}
	}
}

static void check_copies(struct verify *v)
{
	const struct access *a = NULL;
	const char *why = NULL;
	enum waited waited = v->rc == 0 ? hn_verify_waits(v, &a, &why) : WAITED_YES;

	if (waited == WAITED_NOT) {
		refuse(v, "statement %u %s %s%s", a->stmt, a->write ? "writes" : "reads",
		       v->d->buffer[a->buffer].name, why);
	} else if (waited == WAITED_LONG) {
		v->rc = hn_fail(v->err, HONE_E_QUOTA,
				"kernel %s: too long to see whether it waits for its copies",
				v->k->name);
	}
}

int hn_device_verify(const struct hn_device *d, const struct hn_target *target,
		     int64_t limit_ms, struct hn_err *err)
{
	struct verify v = { .d = d, .err = err };
	struct hn_watchdog *dog = NULL;
	int rc = hn_device_check(d, target, err);

	if (rc != 0) {
		return rc;
	}
	v.ctx = isl_ctx_alloc();
	isl_options_set_on_error(v.ctx, ISL_ON_ERROR_CONTINUE);
	if (limit_ms > 0) {
		dog = hn_watchdog_start(v.ctx, limit_ms);
	}
	hn_arena_init(&v.arena, 0);
	for (uint32_t i = 0; i < d->n_kernel && v.rc == 0; i++) {
		hn_verify_see(&v, &d->kernel[i]);
		v.use = hn_role_use_of(d, &d->kernel[i], &v.arena);
		check_bounds(&v);
		check_races(&v);
		check_copies(&v);
		if (v.rc == 0 && hn_role_any(&d->kernel[i])) {
			v.rc = hn_role_judge(d, &d->kernel[i], err);
		}
		hn_verify_forget(&v);
	}
	hn_watchdog_stop(dog);
	if (isl_ctx_last_error(v.ctx) != isl_error_none) {
		v.rc = hn_fail(err, HONE_E_QUOTA,
			       "device program: isl did not decide within %" PRId64
			       " ms whether threads meet",
			       limit_ms);
	}
	hn_arena_fini(&v.arena);
	isl_ctx_free(v.ctx);
	return v.rc;
}
