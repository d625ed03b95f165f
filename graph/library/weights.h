/* graph/library/weights.h -- the weights of a compiled network as one file that a program maps.
 *
 * The first 64 bytes are a head: the word "hone-w/2", then eight bytes, the lowest first, that are a
 * hash of all that follows: a network knows its own file by it.  Entries begin at multiples of 64
 * bytes, and the file's length is a multiple of a page, with zeros between.  Equal weights are stored once.  A fill, whose elements are all the same, is the
 * beginning of the longest fill of these bytes, so that each value is stored once for all sizes.
 * What is where, the network's table says.  Without weights the file is empty.
 */
#ifndef HN_GRAPH_LIBRARY_WEIGHTS_H
#define HN_GRAPH_LIBRARY_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define HN_WEIGHTS_ALIGN 64
#define HN_WEIGHTS_HEAD 64
#define HN_WEIGHTS_WORD "hone-w/2"
#define HN_WEIGHTS_PAGE 4096
#define HN_WEIGHTS_MAX (1u << 17)

struct hn_weight {
	const void *bytes; /* n_bytes of them; NULL: a fill of `element` */
	uint64_t n_bytes;  /* of a fill a multiple of `unit` */
	uint32_t unit; /* bytes of an element: 1, 2, 4, 8; anything else: never a fill */
	uint64_t element; /* of a fill: its low bytes, the lowest first */
};

struct hn_weights_entry {
	const void *bytes; /* NULL: a fill */
	uint64_t n_bytes, at;
	uint64_t pattern; /* of a fill: eight bytes of it */
};

struct hn_weights {
	uint64_t *offset; /* [n] of each weight in the file */
	uint64_t n_bytes; /* of the file */
	uint64_t stamp;	  /* in its head; 0: it is empty */
	uint32_t n_entry; /* of what is stored, in order */
	const struct hn_weights_entry *entry;
};

/* Decide where each of n weights lies; all of *ret is in the arena, and points to the weights'
 * bytes.  HONE_E_INVALID: a fill of no known unit; HONE_E_QUOTA: too many, or 2^50 bytes. Reads
 * each weight once or twice. */
int hn_weights_plan(const struct hn_weight *weight, uint32_t n, struct hn_arena *a,
		    struct hn_weights *ret, struct hn_err *err) HN_NODISCARD;

/* Write the file, a new one; lasting: it is on the disk after.  HONE_E_DISK_FULL, HONE_E_IO and the
 * like, naming it. */
int hn_weights_write(const struct hn_weights *w, const char *path, bool lasting,
		     struct hn_err *err) HN_NODISCARD;

#endif
