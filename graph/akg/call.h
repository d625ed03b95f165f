/* graph/akg/call.h -- what the functions of rows work with: one operator of the file, whose operands
 * are values of the graph.
 *
 * A function fills in out[] and returns nothing; a failure is the graph's, as everywhere in graph/.
 * The types and shapes that the file says of results are compared afterwards, in one place.
 */
#ifndef HN_GRAPH_AKG_CALL_H
#define HN_GRAPH_AKG_CALL_H

#include "graph/akg/akg.h"
#include "graph/ir/graph.h"

struct hn_import;
struct hn_akg_call;

enum hn_akg_complex {
	HN_AKG_REAL,  /* of complex numbers it has no rule */
	HN_AKG_PARTS, /* of complex numbers: the same of their two parts */
	HN_AKG_PAIRS, /* the function sees complex numbers, as pairs in a last dimension */
};

struct hn_akg_row {
	const char *name;
	void (*build)(struct hn_akg_call *c);
	const char *as; /* the operator of graph/op that it is, or "" */
	uint8_t in_min, in_max;
	uint8_t complex;   /* enum hn_akg_complex */
	const char *attrs; /* names that it reads, blanks between */
};

struct hn_akg_call {
	struct hn_graph *g;
	const struct hn_import *im;
	const struct hn_akg_op *op;
	const struct hn_akg_row *row;
	const int32_t *in;  /* [op->n_in] */
	int32_t *out;	    /* [op->n_out] */
	int32_t *assigned;  /* the new value of operand 0, or HN_NONE */
};

/* -- what rows ask (call.c) ------------------------------------------------------------- */

const struct hn_json *hn_akg_attr(const struct hn_akg_call *c, const char *name);

/* An integer, or true and false; `otherwise` where it is left out.  A value of another kind is a
 * failure. */
int64_t hn_akg_int(const struct hn_akg_call *c, const char *name, int64_t otherwise);

const char *hn_akg_text(const struct hn_akg_call *c, const char *name, const char *otherwise);

/* Integers that are attribute `name` (one number is a list of one) or else literal operand i; whether
 * there are any.  Not so many as ret[] has room for, HN_GRAPH_MAX_INTS, is a failure. */
bool hn_akg_ints(const struct hn_akg_call *c, const char *name, uint32_t i, uint32_t *ret_n,
		 int64_t ret[HN_GRAPH_MAX_INTS]);

/* Attribute `axis`, or literal operand i, of `rank` dimensions; false after a failure. */
bool hn_akg_axis(const struct hn_akg_call *c, uint32_t i, uint32_t rank, int64_t otherwise,
		 uint32_t *ret);

/* Operand i, which is HN_BAD after a failure; what is known of it. */
static inline const struct hn_gvalue *hn_akg_in(const struct hn_akg_call *c, uint32_t i)
{
	return &c->g->value[c->in[i]];
}

/* -- small operators (call.c) ----------------------------------------------------------- */


/* All elements are v. */
int32_t hn_akg_filled(struct hn_graph *g, enum hn_dtype t, uint32_t rank, const int64_t *shape,
		      double v);

/* The type in which numbers of both types are computed. */
enum hn_dtype hn_akg_promoted(enum hn_dtype x, enum hn_dtype y);

/* v, [.., 2], as its parts, and back. */
int32_t hn_akg_part(struct hn_graph *g, int32_t v, uint32_t part);
int32_t hn_akg_pair(struct hn_graph *g, int32_t re, int32_t im);

/* -- formats (format.c) ----------------------------------------------------------------- */

/* [.., m, n] as fractals [.., n1, m1, 16, 16], padded with zeros, and back, cut to m and n. */
int32_t hn_akg_to_fractals(struct hn_graph *g, int32_t v);
int32_t hn_akg_from_fractals(struct hn_graph *g, int32_t v, int64_t m, int64_t n);
bool hn_akg_is_fractal(const char *format);

/* Operands in rows and columns beside one of fractals: laid out as it is. */
void hn_akg_align(struct hn_akg_call *c, int32_t *in);

#endif
