/* graph/ir/say.h -- the writer of a template's statements, in hone's text notation (docs/dag.md).
 *
 * A template names dimensions as the operator's definition does.  The writer puts them in the order
 * in which the value lies in memory (hn_gvalue.order), so no template knows of layouts.
 */
#ifndef HN_GRAPH_IR_SAY_H
#define HN_GRAPH_IR_SAY_H

#include "base/buf.h"
#include "graph/ir/graph.h"

/* An index of one dimension, as text. */
#define HN_SAY_INDEX 320
typedef char hn_say_index[HN_SAY_INDEX];

struct hn_say {
	const struct hn_graph *g;
	struct hn_buf *b;
	const uint32_t
		*name; /* [g->n_value] the value's number in this text; 0 = none yet */
	uint32_t n_temp;
	uint32_t ranges; /* of this statement so far */
};

/* i0, i1, ..: the names of a result's indices. */
void hn_say_indices(hn_say_index *ret, uint32_t rank);

/* "\tT3(i0, i2, i1)", the beginning of value v's statement. */
void hn_say_left(struct hn_say *s, int32_t v, const hn_say_index *index);

/* "T3(i0, i2, i1)": the same without the beginning of the line. */
void hn_say_tensor(struct hn_say *s, int32_t v, const hn_say_index *index);

/* An element of value v; of a constant with one element its number. */
void hn_say_load(struct hn_say *s, int32_t v, const hn_say_index *index);

/* The element of v that element index[] of `to` needs, which v is broadcast to; of its last `direct`
 * dimensions the index is as given. */
void hn_say_broadcast(struct hn_say *s, int32_t v, int32_t to, uint32_t direct,
		      const hn_say_index *index);

/* "where i0 in 0:7, .." at a statement's end: of all dimensions of v; of one index more; and the
 * end of the line. */
void hn_say_where(struct hn_say *s, int32_t v, const hn_say_index *index);
void hn_say_range(struct hn_say *s, const char *index, int64_t extent);
void hn_say_end(struct hn_say *s);

/* A tensor between statements of one template: its number. */
uint32_t hn_say_temp(struct hn_say *s);
/* "P3(i0, i1)", in the order of value `like`, or as they come (NULL). */
void hn_say_at(struct hn_say *s, uint32_t temp, uint32_t rank, const uint8_t *order,
	       const hn_say_index *index);

/* A number of the type. */
void hn_say_number(struct hn_say *s, enum hn_dtype t, double v);
void hn_say_int(struct hn_say *s, enum hn_dtype t, int64_t v);
/* The same where the type may be a float's. */
void hn_say_int_of(struct hn_say *s, enum hn_dtype t, int64_t v);

void hn_say_text(struct hn_say *s, const char *fmt, ...) HN_PRINTF(2, 3);

#endif
