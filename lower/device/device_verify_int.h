/* lower/device/device_verify_int.h -- what the parts of the verifier share. */
#ifndef HN_LOWER_DEVICE_DEVICE_VERIFY_INT_H
#define HN_LOWER_DEVICE_DEVICE_VERIFY_INT_H

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/set.h>

#include "loopstate/expr/simplify.h"
#include "lower/device/device_role.h"
#include "lower/device/device_verify.h"
#include "lower/prove/poly_aff.h"

/* Nodes above a place, innermost first. */
struct path {
	const struct hn_device_node *n;
	const struct path *up;
};

/* What holds around a place: of conditions in the code, and in its expressions. */
struct holds {
	const struct hn_expr *e;
	bool positive;
	const struct holds *up;
};

/* Scalars with names around an access, the innermost first. */
struct lets {
	int32_t slot;
	const struct hn_expr *e;
	const struct lets *up;
};

struct access {
	int32_t buffer;
	bool write;
	const struct hn_expr *at;	   /* of the first element */
	const struct hn_device_copy *copy; /* all of its box; NULL: the one */
	const int64_t *stride;		   /* the box's */
	bool warp; /* of shared memory, by all threads of a warp, whichever's index it is */
	const struct path *path;
	const struct holds *holds;
	const struct lets *lets;
	uint32_t pos, stmt; /* order of the text; the statement's number, from 1 */
	/* An instance's coordinates: the digits (loopstate/nest/radix.h) of block and thread, of
	 * the loops around it, and of the box that it copies. */
	uint32_t n_dim;
	int32_t *first_dim; /* [n_slot] the slot's first digit; -1 = none */
	int64_t *count;	    /* [n_dim] values of each; an upper bound */
	int64_t *limit;	    /* [n_slot] values of each slot that conditions leave */
	int64_t *coef,
		at0; /* the index is at0 + sum of coef * coordinate; NULL: it is not linear */
	/* the same in isl, made when it is asked for (hn_verify_in_isl) */
	bool in_isl;
	struct hn_poly_space space;
	isl_set *domain;
	isl_map *reach; /* instance -> element; NULL: any */
};

struct barrier {
	const struct path *path;
	uint32_t pos;
};

struct verify {
	const struct hn_device *d;
	const struct hn_device_kernel *k;
	isl_ctx *ctx;
	struct hn_arena arena;
	struct access *access;
	uint32_t n_access, cap_access;
	struct barrier *barrier;
	uint32_t n_barrier, cap_barrier;
	uint32_t pos, stmt;
	const struct lets *lets; /* where the walk is */
	const struct hn_radix *radix; /* [n_slot] */
	struct hn_span *span;	      /* [n_slot] */
	int64_t *extent;	      /* [n_slot]; 0: of no loop or number */
	struct hn_role_use use;	      /* by the races' check */
	struct hn_range
		*range; /* what is known of the slots; made when it is asked for */
	int rc;
	struct hn_err *err;
};

/* device_access.c: all accesses and barriers of the kernel, without isl. */
void hn_verify_see(struct verify *v, const struct hn_device_kernel *k);
void hn_verify_in_isl(struct verify *v, struct access *a);
void hn_verify_forget(struct verify *v);

/* coef and *at0 += times * e, in a's digits; false when e is no sum of them. */
bool hn_verify_digits(const struct verify *v, const struct access *a, const struct hn_expr *e,
		      int64_t times, int64_t *coef, int64_t *at0);

/* Whether e is a function of the numbers and loops alone. */
bool hn_verify_is_known(const struct hn_poly_space *s, const struct hn_expr *e);

/* Digits of the slot from k on that are one number in the index, for their coefficients are as their
 * weights: the first that is none of them; how many values those below `end` have together, at most.
 * Digit by digit it would be more: of 27 a + 9 b + 3 c + d below 64 the digits reach 80. */
uint32_t hn_verify_run(const struct verify *v, const struct access *a, int32_t slot, uint32_t k);
int64_t hn_verify_run_values(const struct verify *v, const struct access *a, int32_t slot, uint32_t k,
			     uint32_t end);

/* What digits count, and the index as a sum of them, where first_dim and n_dim are known. */
void hn_verify_sums(struct verify *v, struct access *a);

/* device_inner.c: the access where sums that are divided are slots of their own, behind the kernel's, in
 * a verifier that knows them, whose arena the caller gives back in either case.  False: there are no
 * such sums.  pair: a and b in digits from their own divisions; ret[2]. */
bool hn_verify_inner(const struct verify *v, const struct access *a, struct verify *ret_v,
		     struct access *ret_a);
void hn_verify_pair(const struct verify *v, const struct access *a, const struct access *b,
		    struct verify *ret_v, struct access *ret);

/* device_facts.c: whether digits and the conditions around it show that the index stays within n
 * elements. */
bool hn_verify_is_bounded(struct verify *v, const struct access *a, int64_t n);

/* device_bounds.c: whether the index stays within n elements. */
bool hn_verify_is_within(struct verify *v, struct access *a, int64_t n);

/* device_meet.c: what is known of an instance of `a` and one of `b`, which is later. */
struct when {
	bool one_block;
	uint32_t n_same; /* loops whose values are the same */
	const struct hn_device_node *const *same;
	const struct hn_device_node
		*next; /* a loop whose value is one more for b; or NULL */
};

/* Whether the slot's value is the same for both. */
static inline bool hn_verify_is_same(const struct when *w, int32_t slot)
{
	for (uint32_t i = 0; i < w->n_same; i++) {
		if (w->same[i]->slot == slot) {
			return true;
		}
	}
	return w->one_block && slot < HN_DEVICE_THREAD;
}

/* device_ring.c: whether both are in different copies of a ring, so that they never meet. */
bool hn_verify_is_apart(struct verify *v, const struct access *a, const struct access *b,
			const struct when *w);

/* device_count.c: the same of threads, by trying all instances; NOT where there are too many. */
enum counted { COUNTED_ONE, COUNTED_MORE, COUNTED_NOT };

enum counted hn_verify_count(struct verify *v, const struct access *a,
			     const struct access *b, const struct when *w);

/* device_period.c: whether e is the same for values of the slot that are a multiple of *p apart;
 * *p, at least 1 before, becomes a multiple of itself. */
bool hn_verify_period(const struct hn_expr *e, int32_t slot, int64_t *p);

/* device_async.c: whether what asynchronous copies write is touched only when they have been waited
 * for; else which access is not, and how the sentence about it ends.  LONG: it was not gone through
 * to the end. */
enum waited { WAITED_YES, WAITED_NOT, WAITED_LONG };

enum waited hn_verify_waits(struct verify *v, const struct access **ret_at, const char **ret_why);

/* Whether those that reach one element have the same numbers first, first + 1, first + 2: of the
 * block or of the thread. */
bool hn_verify_is_one(struct verify *v, struct access *a, struct access *b, int32_t first,
		      const struct when *w);

#endif
