/* graph/onnx/onnx_int.h -- the reader's own: messages as tables of fields, and who reads them.
 *
 * A message becomes a struct by its rows (messages.c), read in two passes (read.c): the first
 * counts what is repeated, so that each list is allocated once and at its size; the second fills.
 * Neither looks into the bytes of a field that it does not read, so weights are not touched.
 */
#ifndef HN_GRAPH_ONNX_ONNX_INT_H
#define HN_GRAPH_ONNX_ONNX_INT_H

#include "base/arena.h"
#include "graph/onnx/onnx.h"
#include "graph/onnx/wire.h"

enum onnx_message {
	ONNX_MODEL,
	ONNX_OPSET,
	ONNX_ENTRY,
	ONNX_FUNCTION,
	ONNX_GRAPH,
	ONNX_NODE,
	ONNX_ATTRIBUTE,
	ONNX_TENSOR,
	ONNX_VALUE_INFO,
	ONNX_TYPE,
	ONNX_TENSOR_TYPE,
	ONNX_SHAPE,
	ONNX_DIM,
	ONNX_N_MESSAGE,
};

enum onnx_kind {
	ONNX_INT,   /* int64_t */
	ONNX_INT32, /* int32_t; a number that does not fit is refused */
	ONNX_FLOAT, /* float */
	ONNX_TEXT,  /* const char *, copied and checked */
	ONNX_BYTES, /* struct hn_onnx_bytes, where they lie */
	ONNX_ONE,   /* pointer to the message's struct */
	ONNX_HERE, /* the message's fields go into this struct, too; a bool says that it was there */
	ONNX_WORD,  /* const char *: the row's name, of a message that is not read */
	ONNX_LATER, /* counted; the message's finish reads it; `of` is its wire type */
	ONNX_COUNT, /* uint32_t: how many there are of what is not read */
	ONNX_INTS,  /* from here on lists: a pointer, and a uint32_t beside it */
	ONNX_FLOATS,
	ONNX_TEXTS,
	ONNX_BYTES_LIST,
	ONNX_MANY,
};

#define ONNX_N_NUMBER 32 /* field numbers that rows have are below */
#define ONNX_NOWHERE UINT16_MAX

struct onnx_row {
	const char *name;
	uint16_t number;
	uint8_t kind;	    /* enum onnx_kind */
	uint8_t of;	    /* enum onnx_message of ONE, HERE, MANY */
	uint16_t at, count; /* offsets in the struct: of the member, of its n_ */
};

struct onnx_reader {
	struct hn_arena *arena;
	uint64_t most_bytes; /* of the arena */
	const uint8_t *base; /* the file's first byte */
	uint64_t file_bytes;
	uint64_t n_node;
	uint32_t n_depth;   /* graphs that are being read */
	uint32_t n_context; /* that the message of an error has */
	struct hn_err *err; /* never NULL */
};

struct onnx_shape {
	const char *word; /* in messages */
	uint32_t bytes;	  /* of the struct */
	uint32_t n_row;
	const struct onnx_row *row;
	uint16_t
		at; /* offset of the member that is its place in the file, or ONNX_NOWHERE */
	uint8_t name, also; /* fields that name one in messages; 0 = none */
	bool one_of;	    /* at most one of the fields may be there */
	/* Called when the rest is filled; n[number] = how many items of that field there were. */
	int (*finish)(struct onnx_reader *r, const struct hn_wire *w, void *to,
		      const uint64_t *n);
};

/* Of each message (messages.c). */
extern const struct onnx_shape onnx_shape[ONNX_N_MESSAGE];

/* Read the message that `w` covers into the struct at `to`, which is zero. */
int onnx_read(struct onnx_reader *r, enum onnx_message m, struct hn_wire w,
	      void *to) HN_NODISCARD;

/* Zeroed room for n items, or NULL and the error where the file would take too much. */
void *onnx_take(struct onnx_reader *r, uint64_t n, size_t size);

/* The field as a text of its own in the arena, or NULL and the error. */
const char *onnx_text(struct onnx_reader *r, const char *what, struct hn_wire inside,
		      uint64_t at);

/* The bytes that the model was read from (onnx.c). */
struct hn_wire onnx_file(const struct hn_onnx *o);

/* Types, sizes and data of a tensor: tensor.c. */
int onnx_finish_tensor(struct onnx_reader *r, const struct hn_wire *w, void *to,
		       const uint64_t *n);

#endif
