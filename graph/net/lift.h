/* graph/net/lift.h -- a text whose numbers depend on sizes, from what it is at a few sizes. */
#ifndef HN_GRAPH_NET_LIFT_H
#define HN_GRAPH_NET_LIFT_H

#include "graph/net/ranges.h"

/* sum of a[k] * size k, and b */
struct hn_lift_form {
	int64_t a[HN_NET_MAX_SIZES], b;
};

struct hn_lift_piece {
	const char *text; /* [n]; NULL: a number */
	size_t n;
	bool extent; /* a number that is an extent, where a form may stand without parentheses */
	struct hn_lift_form form;
	int64_t fixed; /* written instead of the form; 0: it is not */
};

struct hn_lift {
	uint32_t n_piece, cap_piece;
	struct hn_lift_piece *piece;
	bool sized; /* some number depends on a size */
};

/* The form through its value at the sizes `most`, and at the same but size k, which is one less:
 * below[k]; NULL below = size k has one value alone. */
struct hn_lift_form hn_lift_form_of(const int64_t *most, uint32_t n_size, int64_t at_most,
				    const int64_t *const *below);

int64_t hn_lift_value(const struct hn_lift_form *f, const int64_t *size, uint32_t n_size);

/* Append it as text, with these names for the sizes. */
void hn_lift_write_form(const struct hn_lift_form *f, const char *const *name, uint32_t n_size,
			struct hn_buf *b);

/* From the text at `most` and those one below, as above; false: they differ in more than numbers.
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
