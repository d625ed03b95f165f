/* graph/net/lift.h -- a text whose numbers depend on sizes, from what it is at a few sizes. */
#ifndef HN_GRAPH_NET_LIFT_H
#define HN_GRAPH_NET_LIFT_H

#include "graph/net/ranges.h"

/* Where a text is looked at: at the largest sizes, with one of them one less, and with two. */
#define HN_LIFT_PAIRS (HN_NET_MAX_SIZES * (HN_NET_MAX_SIZES - 1) / 2)
#define HN_LIFT_BELOW (HN_NET_MAX_SIZES + HN_LIFT_PAIRS)

/* The place of sizes j < k, of which both are one less, among those below. */
uint32_t hn_lift_pair(uint32_t j, uint32_t k);

/* sum of a[k] * size k, of pair[j, k] * size j * size k, and b */
struct hn_lift_form {
	int64_t a[HN_NET_MAX_SIZES], pair[HN_LIFT_PAIRS], b;
};

/* What a number of a text is in terms of a form. */
enum hn_lift_kind {
	HN_LIFT_INTEGER,
	HN_LIFT_RECIPROCAL,    /* 1 / form, as a double is written: the factor of a mean */
	HN_LIFT_RECIPROCAL_F32 /* the same, rounded to float32 before */
};

struct hn_lift_piece {
	const char *text; /* [n]; NULL: a number */
	size_t n;
	bool extent; /* a number that is an extent, where a form may stand without parentheses */
	enum hn_lift_kind kind;
	struct hn_lift_form form;
	int64_t fixed; /* written instead of the form; 0: it is not */
};

struct hn_lift {
	uint32_t n_piece, cap_piece;
	struct hn_lift_piece *piece;
	bool sized; /* some number depends on a size */
};

/* The form through its value at the sizes `most`, and at those below[HN_LIFT_BELOW]; NULL below: the
 * size has one value alone. */
struct hn_lift_form hn_lift_form_of(const int64_t *most, uint32_t n_size, int64_t at_most,
				    const int64_t *const *below);

int64_t hn_lift_value(const struct hn_lift_form *f, const int64_t *size, uint32_t n_size);

/* Append it as text, with these names for the sizes; of what is called `name` the size is the part
 * that step[k] divides.  NULL steps are all 1. */
void hn_lift_write_form(const struct hn_lift_form *f, const char *const *name,
			const int64_t *step, uint32_t n_size, struct hn_buf *b);

/* From the text at `most` and those below, as above; false: they differ in more than numbers.
 * Borrows text. */
bool hn_lift_texts(const char *text, const char *const *below, const int64_t *most,
		   uint32_t n_size, struct hn_arena *a, struct hn_lift *ret);

/* The tensor that is declared as `name` keeps the extents that it has at `most`. */
void hn_lift_fix(struct hn_lift *l, const char *name, const int64_t *most, uint32_t n_size);

/* Whether it is `text` at these sizes. */
bool hn_lift_is(const struct hn_lift *l, const char *text, const int64_t *size, uint32_t n_size);

/* Append it with forms; in expressions as numbers of type `type`, or NULL. */
void hn_lift_write(const struct hn_lift *l, const char *const *name, uint32_t n_size,
		   const char *type, struct hn_buf *b);

#endif
