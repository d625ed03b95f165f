/* lower/c/c_int.h -- what the files of this room share; nobody else includes it.
 *
 * Text is made in one pass over the tree.  A value is a piece of C with how tightly it binds
 * (c_expr.c), a statement a line (c_stmt.c).  A function's body is made first, and then what it was
 * seen to use is declared in front of it (c_fn.c), so that nothing is declared that is not used.
 */
#ifndef HN_LOWER_C_C_INT_H
#define HN_LOWER_C_C_INT_H

#include "loopstate/expr/simplify.h"
#include "lower/c/c.h"
#include "lower/places.h"

/* From loose to tight. */
enum c_level { C_CHOICE, C_OR, C_AND, C_EQUAL, C_LESS, C_SUM, C_PRODUCT, C_UNARY, C_ATOM };

struct c_text {
	const char *s;
	enum c_level level;
};

/* A function being written.  What it uses and does not declare itself is declared by c_fn.c. */
struct c_fn {
	bool *loop, *own_loop;	   /* [n_loop] used; declared inside */
	bool *buffer, *own_buffer; /* [n_op] */
	bool *size;		   /* [n_size] */
	bool workers;
	bool runs;    /* a parallel loop */
	bool is_body; /* of a parallel loop: it has a worker's number, and a closure */
};

struct c_bind {
	int32_t slot; /* LET, LHS, RHS */
	struct c_text is;
};

struct c_helper {
	const char *name, *text;
};

struct c {
	const struct hn_looptree *t;
	const struct hn_target *target;
	const char *symbol;
	struct hn_arena *a;
	struct hn_err *err;
	int rc; /* the first failure; writing goes on harmlessly */
	struct hn_places places;

	/* names */
	const char **loop;	/* [n_loop] NULL: not entered */
	const char ***buffer;	/* [n_op][n_out] */
	const char **size;	/* [n_size] */
	uint32_t n_open, *open; /* loops around, outermost first */

	struct hn_span *span;	      /* [n_loop] */
	const struct hn_expr **known; /* [n_loop] 0 of loops that run once, a point of a register tile;
				       * NULL: of others */

	struct hn_buf functions; /* whole ones */
	struct hn_buf *out;	 /* the body being written */
	uint32_t indent;
	struct c_fn *fn;
	uint32_t n_value, n_body; /* numbers for names: v1, SYMBOL_body1 */
	uint32_t n_bind, cap_bind, n_helper, cap_helper;
	struct c_bind *bind;
	struct c_helper *helper;
};

static inline uint32_t c_n_size(const struct c *c)
{
	return c->t->dag->sizes != NULL ? c->t->dag->sizes->n : 0;
}

/* -- c_line.c: lines, names, functions that the text calls -------------------------------- */

void hn_c_refuse(struct c *c, const char *fmt, ...) HN_PRINTF(2, 3);
void hn_c_line(struct c *c, const char *fmt, ...) HN_PRINTF(2, 3);

/* A name for C like `like`, none of ours, of C's or of a buffer or an open loop. */
const char *hn_c_name(struct c *c, const char *like);
void hn_c_name_all(struct c *c);

/* The name of a function that is defined in front of the kernel: hone_WHAT_TYPE. */
const char *hn_c_helper(struct c *c, const char *what, enum hn_dtype t);
const char *hn_c_saturating(struct c *c, enum hn_dtype to, enum hn_dtype from);

/* The type of so many lanes of that type, which may lie at any element; of one: the type. */
const char *hn_c_vector_type(struct c *c, enum hn_dtype t, uint32_t lanes);

/* -- c_expr.c: values, all of loop space -------------------------------------------------- */

struct c_text hn_c_value(struct c *c, const struct hn_expr *e);
struct c_text hn_c_index(struct c *c, const struct hn_expr *e); /* in 64 bits */

/* Text that stands where that level is wanted: in parentheses, if it binds less. */
const char *hn_c_at(struct c *c, struct c_text x, enum c_level least);

void hn_c_bind(struct c *c, int32_t slot, struct c_text is);
const char *hn_c_type(enum hn_dtype t); /* of a value */

/* A new name for a value: v1, v2, ... */
const char *hn_c_value_name(struct c *c);

/* -- c_access.c: elements of buffers ------------------------------------------------------- */

/* "C[i * 64 + j]"; index in op's space of tensors, as expressions of loop space. */
const char *hn_c_element(struct c *c, int32_t op, int32_t out, const struct hn_expr *const *index);
struct c_text hn_c_loaded(struct c *c, enum hn_dtype t, const char *element);
const char *hn_c_stored(struct c *c, enum hn_dtype t, struct c_text value);

/* -- c_call.c: functions, casts, rounding ------------------------------------------------- */

struct c_text hn_c_call(struct c *c, const struct hn_expr *e);
struct c_text hn_c_cast(struct c *c, const struct hn_expr *e);
struct c_text hn_c_rounded(struct c *c, enum hn_dtype t, struct c_text x);

/* -- c_stmt.c, c_loop.c -------------------------------------------------------------------- */

/* An expression of loop space with what is known of loops put in. */
const struct hn_expr *hn_c_settled(struct c *c, const struct hn_expr *e);

void hn_c_stmt(struct c *c, const struct hn_node *n);
void hn_c_node(struct c *c, const struct hn_node *n, int32_t stage_around);
void hn_c_loop(struct c *c, const struct hn_node *n, const char *from, const char *to);

/* A loop from 0 to `to`, `step` iterations at a time, and its end. */
void hn_c_loop_open(struct c *c, const struct hn_node *n, int64_t to, int64_t step);
void hn_c_loop_close(struct c *c, const struct hn_node *n);

/* A loop through `count` iterations from the variable `base` on, where it is NULL from `at`, `step` at
 * a time; ended likewise. */
void hn_c_part_open(struct c *c, const struct hn_node *n, const char *base, int64_t at,
		    int64_t count, int64_t step);

/* Inside, what the variable of a loop is: `at` behind the loop's, or `at`; as it was. */
void hn_c_know(struct c *c, int32_t loop, bool looped, int64_t at);
void hn_c_know_nothing(struct c *c, const struct hn_node *n);

/* -- c_tile.c ------------------------------------------------------------------------------ */

/* The nest that begins at the node with its sums in registers; false, and nothing written, where it
 * is no such nest. */
bool hn_c_tile(struct c *c, const struct hn_node *n);

/* -- c_fn.c: functions and their closures --------------------------------------------------- */

struct c_fn *hn_c_fn_open(struct c *c, bool is_body);

/* Use something, so that it is declared. */
const char *hn_c_use_loop(struct c *c, int32_t loop);
const char *hn_c_use_size(struct c *c, uint32_t k);
void hn_c_use_buffer(struct c *c, int32_t op);

/* The nests at root that are prepared, or the others, as a function SYMBOL_NAME. */
void hn_c_part(struct c *c, const char *name, bool prepared);
void hn_c_parallel(struct c *c, const struct hn_node *node);

/* -- c_entry.c: what the object exports ----------------------------------------------------- */

void hn_c_entries(struct c *c, const struct hn_artefact *made, struct hn_buf *ret);

#endif
