/* loopstate/nest/quick_int.h -- what the parts of the quick check share. */
#ifndef HN_LOOPSTATE_NEST_QUICK_INT_H
#define HN_LOOPSTATE_NEST_QUICK_INT_H

#include "loopstate/nest/quick.h"
#include "loopstate/nest/digit_form.h"

/* One step down the tree, as in lower/prove/poly.h: 2 i for the init of child i, 2 i + 1 for
 * child i. */
struct hn_quick_level {
	const struct hn_node *node;
	uint32_t position;
};

struct hn_quick_stmt {
	const struct hn_node *node;
	const struct hn_op *op;
	uint32_t n_level;
	const struct hn_quick_level *level;
	uint32_t n_loop; /* LOOPs among them */
	uint32_t life;	 /* the first loops, of which an element is made anew each iteration */
	uint32_t n_axis;
	const struct hn_digit_form *const *raw;	 /* [n_axis], exact */
	const struct hn_digit_form *const *axis; /* the same with guards made into digits */
	/* An element's axis d is base[d] (of the first `life` loops) + [0, span[d]], cut by
	 * the domain and nothing else. */
	const struct hn_digit_form *const *base;
	const int64_t *span;
};

/* The statements of one op. */
struct hn_quick_writers {
	const struct hn_quick_stmt *init, *main; /* main: COMPUTE or UPDATE */
};

struct hn_quick_check {
	const struct hn_looptree *tree;
	struct hn_digit_space space;
	struct hn_arena *arena;
	struct hn_err *err;
	uint32_t n_stmt, cap_stmt;
	struct hn_quick_stmt *stmt;
	struct hn_quick_writers *writers; /* [n_op] */
	uint32_t n_concurrent;
	const struct hn_node **concurrent; /* loops whose iterations run at once */
};

/* Answers false, with the sentence. */
bool hn_quick_refuse(struct hn_quick_check *c, const struct hn_quick_stmt *s,
		     const char *why);

/* quick_cover.c: fills s->axis, base and span; whether the statement computes what its
 * loops say (each point of a reduction once), inside its op's domain and its buffer. */
bool hn_quick_cover(struct hn_quick_check *c, struct hn_quick_stmt *s);

/* quick_order.c: whether all digits of loops [first, end) of s that run more than once follow
 * from the element and the loops outside `first`. */
bool hn_quick_determined(const struct hn_quick_check *c, const struct hn_quick_stmt *s,
			 uint32_t first, uint32_t end);

/* Whether the updates of an element run in the order of its reduction's points. */
bool hn_quick_in_sequence(const struct hn_quick_check *c, const struct hn_quick_stmt *s);

/* Loops around both; *ret_before: x's branch comes first. x != y. */
uint32_t hn_quick_common(const struct hn_quick_stmt *x, const struct hn_quick_stmt *y,
			 bool *ret_before);

/* How many iterations of the last loop around both x runs before y, of what is ahead in it
 * (looptree.h). */
int32_t hn_quick_lead(const struct hn_quick_stmt *x, const struct hn_quick_stmt *y);

/* Whether init runs before update, per element. */
bool hn_quick_init_first(const struct hn_quick_check *c, const struct hn_quick_stmt *init,
			 const struct hn_quick_stmt *update);

/* quick_read.c: whether everything s reads lies in its buffer and has been computed. */
bool hn_quick_reads(struct hn_quick_check *c, const struct hn_quick_stmt *s);

#endif
