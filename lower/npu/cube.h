/* lower/npu/cube.h -- what the files that write a product share: the sizes of tiles and slots, where
 * in the program they are, and who writes which instructions.
 */
#ifndef HN_LOWER_NPU_CUBE_H
#define HN_LOWER_NPU_CUBE_H

#include <inttypes.h>

#include "base/arith.h"
#include "lower/npu/task.h"

#define N64 "%" PRId64

/* Registers: what a core's part begins with, then addresses of the batch at hand. */
enum { CUBE_CORE, CUBE_T1, CUBE_T2, CUBE_T3, CUBE_BATCH, CUBE_ROW, CUBE_COLUMN, CUBE_T4, CUBE_T5,
       CUBE_T6, CUBE_A, CUBE_B, CUBE_RESULTS };
#define CUBE_MOST_VIEWS (HN_NPU_REGISTERS - CUBE_RESULTS)

enum { CUBE_SUM = 4, CUBE_FRACTAL = 512, CUBE_MOST_SLOTS = 64 };

struct cube_part { /* of an axis, a section's cores: how many, from where, how much each */
	int64_t first, n, size;
};

/* A tile of the result, and terms of it. */
struct cube_step {
	int64_t batch, row, column, term;
	int64_t rows, columns, terms;
	bool first, last; /* of its sums */
};

struct cube_held { /* what lies in L1 last */
	int64_t key;
	uint32_t n;
};

struct cube {
	const struct hn_npu_product *p;
	const struct hn_npu_task *t;
	const struct hn_npu_profile *m;
	struct hn_buf *text;
	int64_t c0, size;	     /* of the factors' numbers */
	int64_t rows, columns, batches; /* of a core */
	int64_t terms, n_sums; /* of a core, and how many parts of the terms there are */
	bool puts_sums;	       /* to scratch */
	int64_t sums_at;       /* where a copy has the sums of all parts */
	bool edges, edge[HN_NPU_MOST_STORES]; /* any; of a store: its parts' first numbers are stored later */
	int64_t l1_a, l1_b, l0_a, l0_b, l0_c; /* bytes of a slot */
	int64_t piece, ub_bytes;     /* columns in the unified buffer at a time, and their bytes */
	uint32_t copies;	     /* of them, behind what all pieces of a tile share */
	int64_t fixed;		     /* bytes of that */
	int64_t zeros_at;	     /* a row of the image, of zeros; -1: none is needed */
	int64_t stage, stage_at;     /* numbers that are transposed at a time, behind the pieces; 0: none */
	int64_t at[HN_NPU_MOST_VALUES], store_at[HN_NPU_MOST_STORES]; /* of values; of rows that are stored */
	int32_t last[HN_NPU_MOST_VALUES]; /* the value, or past them the store, that reads it last */
	/* in the code */
	struct cube_part part[4];    /* of the section: batch, rows, columns, terms */
	struct cube_held a, b;
	int64_t fixed_at[HN_NPU_MOST_VALUES][2]; /* what is shared: of which batch and row, or column */
	int64_t zeroed[CUBE_MOST_SLOTS]; /* rows and blocks of the image in each slot whose last rows are zeros */
	uint32_t slot_a[2], slot_b[2];
	int64_t batch_loaded, batch_stored;
	uint32_t n_l0, n_c, n_piece, n_stage;
};

static inline int64_t cube_cores_b(const struct hn_npu_product *p)
{
	return p->cores_b < 1 ? 1 : p->cores_b;
}

static inline int64_t cube_cores_k(const struct hn_npu_product *p)
{
	return p->cores_k < 1 ? 1 : p->cores_k;
}

static inline int64_t cube_least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static inline int64_t cube_up(int64_t x, int64_t to)
{
	return hn_ceildiv(x, to) * to;
}

/* Terms that lie in L1 together. */
static inline int64_t cube_unit(const struct hn_npu_task *t)
{
	return hn_npu_c0(t) * (t->window == NULL ? 1 : t->window->kh * t->window->kw);
}

/* Windows, and rows that lie a few at a time, are counted from the first of all, in each core's own code. */
static inline bool cube_has_own_rows(const struct hn_npu_task *t)
{
	return t->window != NULL || t->a.split > 0;
}

/* Bytes go to L1 with their terms next to each other, however they lie. */
static inline bool cube_turns_a(const struct hn_npu_task *t)
{
	return t->dtype == HN_I8 && t->window == NULL && t->a.turned;
}

static inline bool cube_turns_b(const struct hn_npu_task *t)
{
	return t->dtype == HN_I8 && t->window == NULL && !t->b.turned;
}

/* product_cores.c: rows, columns and batches of a core; false: two would write to one block. */
bool cube_share(struct cube *x);
int64_t cube_scratch_bytes(const struct cube *x);
void cube_put_scratch(struct cube *x); /* its lines */
void cube_edge_registers(struct cube *x);
void cube_store_edges(struct cube *x); /* a core's, when all have met */
enum { CUBE_EDGE_LINES = 4096 };       /* of a transfer */

/* product_terms.c: bytes of scratch for sums of parts of the terms; a tile's, to it; and the cores that add them
 * up, with their cycles, or -1: there is no room for it. */
int64_t cube_sums_bytes(const struct cube *x);
void cube_sums_register(struct cube *x);
void cube_put_sums(struct cube *x, const struct cube_step *s);
double cube_second(const struct cube *x, struct cube *ret, struct hn_npu_product *p);
int64_t cube_second_insns(const struct cube *y);

/* product_fit.c: sizes of a core's part, slots and pieces.  NULL, or what does not fit. */
const char *cube_fit(struct cube *x);
/* Instructions of the whole program, flags among them, rather too many than too few. */
int64_t cube_insns(const struct cube *x);
/* Rows of the image in L1 of a tile at most. */
int64_t cube_image_rows(const struct cube *x);
/* Rows of zeros that its blocks of channels may have at their ends, 0: none; and all rows that it has, so
 * that all blocks come at once. */
int64_t cube_zero_rows(const struct hn_npu_task *t);
int64_t cube_image_height(const struct cube *x, int64_t rows, int64_t blocks);
/* Bytes that one batch after the other begin with, as registers. */
void cube_batch(struct cube *x, int64_t batch, bool stored);

/* product_stage.c: bytes for what is transposed in the unified buffer; an image's points, and weights of a
 * step, to L1 by that way. */
void cube_copy(struct cube *x, int64_t to, int64_t to_step, int64_t from, int64_t from_step, int64_t n);
int64_t cube_stage_bytes(const struct cube *x);
int64_t cube_stage_insns(const struct cube *x, int64_t points, int64_t blocks, int64_t columns);
void cube_stage_image(struct cube *x, int64_t to, int64_t point, int64_t n, int64_t channel, int64_t blocks);
void cube_stage_weights(struct cube *x, const struct cube_step *s, int64_t to, int64_t channel, int64_t blocks);

/* product_bytes.c: the same of int8 whose terms are not next to each other. */
int64_t cube_bytes_room(const struct cube *x);
void cube_bring_bytes(struct cube *x, const struct hn_npu_view *v, int reg, int64_t to, int64_t column, int64_t n,
		      int64_t term, int64_t terms);

/* product_load.c: what a step needs in L1, and its product. */
void cube_load(struct cube *x, int64_t number, const struct cube_step *s);
bool cube_weights_at_once(const struct hn_npu_task *t, int64_t terms); /* of a step of so many terms */
void cube_multiply(struct cube *x, int64_t number, const struct cube_step *s);

/* product_place.c: places in the unified buffer for pieces of so many columns, in bytes of a copy. */
int64_t cube_place(struct cube *x, int64_t columns);
/* product_after.c: from the sums to the results. */
void cube_store(struct cube *x, const struct cube_step *s);

#endif
