/* lower/npu/sized.h -- one program for all sizes of a dag: tiles of fixed lengths, as many as a launch has.
 *
 * Most sizes are lengths of dimensions that nothing sums over and nothing counts along: what is computed
 * for a row of such a dimension does not depend on where the row is.  So the code of a dag with T rows,
 * written as for numbers, is the code of any T rows, at other addresses of global memory.  Cores share
 * the rows; each goes through its own in tiles, the last of which ends where the rows end, over rows
 * that were done before if need be.  There is code for a few T, and how many rows a core has says
 * which is taken.  Of sizes that are summed over a tile has all, and there is code for a few lengths.
 *
 *   sized_axes.c   which dimensions these are
 *   sized_args.c   how arguments lie along them
 *   sized_sum.c    sizes that are summed over: code of up to so many terms
 *   sized_cut.c    its transfers and masks, for the terms that a launch has
 *   sized_value.c  sizes that ops compute with, as in a mean
 *   sized_tile.c   code of T rows
 *   sized_time.c   what it takes
 *   sized_early.c  what is loaded first
 *   sized_pick.c   which T is taken for how many rows
 *   sized_code.c   the program; sized_share.c what a core has, sized_write.c instructions
 *   sized_few.c    where there are few rows
 */
#ifndef HN_LOWER_NPU_SIZED_H
#define HN_LOWER_NPU_SIZED_H

#include "lower/npu/order_int.h"
#include "target/npu/npu_form.h"

#define SIZED_CLASSES 8	 /* dimensions that are gone through */
#define SIZED_TILES 48	 /* lengths of a tile that are looked at */
#define SIZED_ADDRESSES 8
#define SIZED_APART 32768 /* terms that a row has in the dag of a tile */
#define SIZED_WIDTHS 64	 /* numbers of terms that there is code for */
#define SIZED_MULTIPLES 6 /* of the terms, in registers */
#define SIZED_VALUES 4	 /* forms over sizes that ops compute with */
#define SIZED_KEPT 2048 /* bytes of the unified buffer that such numbers are kept in, behind all tiles */
#define SIZED_MASK 16	 /* instructions that the load of a mask becomes, at most */
#define SIZED_CUT 12	 /* instructions that one of a ragged tile becomes, at most */

/* Axes that go together: through all ops that have one of them. */
struct sized_class {
	const struct hn_npu_form *extent;
	int64_t largest;
	uint32_t set; /* which (sized_axes.c) */
};

/* How arguments lie: those that lie alike share registers. */
struct sized_address {
	bool rows;	   /* along the rows that are in tiles */
	uint32_t n_outer;
	int8_t outer[SIZED_CLASSES]; /* along these of the others, outermost first */
	uint32_t terms;	   /* how many of these, and rows, are outside of the terms; 0: it has none, or all are inside */
	int64_t row_bytes; /* of what lies behind all of them */
};

struct sized_tile {
	int64_t rows;
	uint32_t slots;		   /* tiles of a turn */
	struct hn_npu_section single; /* a tile by itself, in the first slot */
	struct npu_turns *turns;      /* [inner] */
	double alone, first, next; /* cycles of a tile alone, of the first turn, and of each further one */
	int64_t from, to; /* rows of a core that it is taken for: from <= rows < to; none: from == to */
};

/* Code for up to so many terms: tiles of so many, whatever a launch has. */
struct sized_width {
	int64_t terms; /* 0: nothing is summed over a size */
	uint32_t n_tile;
	struct sized_tile *tile;
};

/* Registers that code of ragged tiles has: what a launch's terms are, and multiples of them; of its rows,
 * where `by` is below 0. */
struct sized_registers {
	int terms, scratch[2];
	uint32_t n;
	int64_t by[SIZED_MULTIPLES];
	int reg[SIZED_MULTIPLES];
};

struct sized {
	const struct hn_dag *dag;
	const struct hn_npu_profile *m;
	const struct hn_npu_plan *plan;
	struct hn_arena *a;
	struct hn_err *err;
	/* axes: parent[first[op] + axis] */
	uint32_t *first, *parent;
	uint32_t *bound; /* of a set: 1 + the op that has it otherwise than row by row; 0: none */
	uint32_t *summed; /* of a set: 1 + an op that sums over it; 0: none */
	bool *is_read; /* [n_op] by another */
	uint32_t n_class;
	struct sized_class class[SIZED_CLASSES]; /* outer ones, then those of the rows, outermost first */
	uint32_t n_outer;
	uint32_t n_sum; /* sizes that are summed over, outermost first: one behind the other wherever they are */
	struct sized_class sum[SIZED_CLASSES];
	const struct hn_npu_form *terms; /* how many these have together */
	int64_t most_terms;
	int64_t *unit; /* [n_arg] bytes from term to term; 0: it has none */
	int64_t *far; /* [n_arg] where rows as many as a launch says lie between terms, the bytes of each; else 0 */
	uint32_t n_address;
	struct sized_address address[SIZED_ADDRESSES];
	int8_t *of; /* [n_arg] its address; -1: it does not depend on rows */
	const struct hn_npu_form **length; /* [n_arg] */
	bool lines; /* results have terms outside of rows */
	int64_t step; /* rows of which results have whole blocks, whatever their terms are */
	int64_t least_step; /* the same, of terms that fill whole blocks */
	struct hn_npu_size size[HN_NPU_MOST_SIZES];
	uint32_t n_size;
	const struct hn_npu_form *rows, *outer; /* how many there are */
	int64_t most_rows; /* of a core */
	uint32_t cores; /* that share rows */
	uint32_t inner; /* of a product: cores that share the columns of the same rows; else 1 */
	uint32_t depth; /* dimensions inside of the sizes' that are gone through as well */
	bool shared;  /* all cores work; where there are outer dimensions, for sizes of whole blocks */
	struct hn_npu_program *head; /* its sizes, conditions and buffers, and no code */
	struct hn_npu_program *apart; /* the same, with terms as far apart as in tiles: SIZED_APART */
	uint32_t n_value;
	const struct hn_npu_form *value[SIZED_VALUES]; /* that ops compute with, as floats */
	int64_t width; /* terms of the tiles that are being made */
	uint32_t n_width;
	struct sized_width at[SIZED_WIDTHS];
	uint32_t n_tile;
	struct sized_tile *tile;
};

/* Operands, and instructions of S. */
static inline struct hn_npu_number sized_reg(int r)
{
	return (struct hn_npu_number){ .reg = (int8_t)r };
}

static inline struct hn_npu_number sized_imm(int64_t v)
{
	return (struct hn_npu_number){ .imm = v, .reg = -1 };
}

static inline struct hn_npu_insn sized_scalar(enum hn_npu_op op, int to, struct hn_npu_number x, struct hn_npu_number y)
{
	return (struct hn_npu_insn){ .op = (uint8_t)op, .reg = (uint8_t)to, .number = { x, y } };
}

/* sized.c: the program for all cores, or for one. */
int sized_one(struct sized *s, bool shared, uint32_t inner, const struct hn_npu_program **ret);
/* sized_few.c: where sizes are small, other dimensions are shared by cores as well: programs for few rows,
 * before those that there are. */
void sized_few(const struct sized *s, const struct hn_npu_program *ret[HN_NPU_SIZED_KERNELS], uint32_t *ret_n);

static inline const struct hn_op *sized_arg(const struct sized *s, uint32_t i)
{
	return s->dag->op[s->dag->arg[i]];
}

int sized_axes(struct sized *s);
int sized_classes(struct sized *s); /* s->class */
int32_t sized_class_of(const struct sized *s, uint32_t set); /* -1: none */
const struct hn_npu_form *sized_form(struct sized *s, const struct hn_expr *e); /* NULL: it is none */
const struct hn_npu_form *sized_extent(struct sized *s, const struct hn_op *op, uint32_t d); /* NULL: none */
int64_t sized_largest(const struct hn_op *op, uint32_t axis);
int sized_refuse(struct sized *s, const struct hn_op *op, const char *why);
uint32_t sized_find(const struct sized *s, uint32_t op, uint32_t axis);
uint32_t sized_n_axis(const struct hn_op *op);

/* sized_sum.c: sizes that are summed over. */
int sized_add_sum(struct sized *s, uint32_t op, uint32_t d);
int sized_terms(struct sized *s); /* s->sum has all: their order; which widths there are */
bool sized_is_sum(const struct sized *s, uint32_t set);
/* Whether a tile has arguments that nobody gives: a mask, and values.  They stand behind the inputs. */
static inline bool sized_writes(const struct sized *s)
{
	return s->n_sum > 0 || s->n_value > 0;
}
/* The dag of a tile with these, and how its arguments lie. */
const struct hn_dag *sized_with_written(struct sized *s, const struct hn_dag *dag, const int64_t *const **lies);
/* sized_cut.c: code of a tile, with its masks written where they were loaded; false: it cannot be for fewer terms. */
bool sized_ragged(const struct sized *s, struct hn_npu_insn *in, uint32_t *n);
/* The multiples of the terms that it has. */
bool sized_multiples(const struct sized *s, const struct hn_npu_insn *in, uint32_t n, struct sized_registers *r);
/* An instruction as it is for the terms of a launch: how many it becomes.  Ends of conditions are found by
 * whoever puts them into code. */
uint32_t sized_cut(const struct sized *s, const struct sized_registers *r, const struct hn_npu_insn *in,
		   struct hn_npu_insn to[SIZED_CUT]);
/* What is loaded short is written before, so that nothing unwritten is read: how many instructions. */
uint32_t sized_clear(const struct sized *s, const struct hn_npu_insn *in, uint32_t n,
		     const struct hn_npu_insn **ret);

/* sized_value.c: sizes that ops compute with. */
int sized_values(struct sized *s); /* s->value */
int32_t sized_value_of(struct sized *s, const struct hn_expr *e); /* of which e is one, as a float; -1: none */
int64_t sized_kept(const struct sized *s, uint32_t value); /* where its number is: a block of it */
/* Registers q and t are free: the values are put there. */
void sized_keep(const struct sized *s, uint32_t value, struct hn_npu_number v, int q, int t,
		const struct hn_npu_insn **ret, uint32_t *n);
/* A load of it as a copy of where it is kept. */
struct hn_npu_insn sized_copy(const struct sized *s, uint32_t value, const struct hn_npu_insn *load);
/* sized_cut.c */
struct hn_npu_insn sized_fill(int64_t at, float value, int64_t rep, int64_t mask, int64_t step);

/* sized_early.c: loads stand as early as they can in the code of a tile. */
void sized_early(const struct sized *s, struct hn_npu_insn *in, uint32_t n);
/* sized_time.c: cycles of so many turns. */
double sized_turns(const struct sized *s, const struct npu_turns *t, uint32_t turns);
bool sized_is_product(const struct sized *s);
/* The code for all lengths of a tile that there is one for. */
int sized_tiles(struct sized *s);
/* tile[i].from and to. */
void sized_pick(struct sized *s);
/* Cycles of a core that has so many rows, as picked. */
double sized_cycles(const struct sized *s, int64_t rows);
int sized_code(struct sized *s, const struct hn_npu_program **ret);
/* Which register of the code has the offset of slot k at an address. */
int sized_register(const struct sized *s, uint32_t slot, uint32_t address);

#endif
