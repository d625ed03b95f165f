/* costmodel/ansor_doc.c -- ansor.def, and the numbers of a program, for people. */
#include "costmodel/ansor.h"
#include "costmodel/column.h"

static const struct hn_column column[] = {
#define ANSOR(group, id, name, unit, source, text) {#group, name, unit, source, text},
#include "costmodel/ansor.def"
#undef ANSOR
};

const char *hn_ansor_name(enum hn_ansor_column i)
{
	return column[i].name;
}

void hn_ansor_print(const struct hn_ansor *f, const struct hn_dag *dag, struct hn_buf *buf)
{
	hn_buf_puts(buf, "buffer");
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hn_op *op = dag->op[f->op[i]];

		hn_buf_printf(buf, " %s", op->name);
		if (op->n_out > 1) {
			hn_buf_printf(buf, ".v%d", f->out[i]);
		}
	}
	for (int k = 0; k < HN_N_ANSOR; k++) {
		hn_buf_printf(buf, "\n%s", column[k].name);
		for (uint32_t i = 0; i < f->n; i++) {
			hn_buf_printf(buf, " %.6g", (double)f->x[(size_t)i * HN_N_ANSOR + k]);
		}
	}
	hn_buf_putc(buf, '\n');
}

void hn_ansor_doc(struct hn_buf *buf)
{
	hn_buf_printf(
		buf,
		"# Ansor's features\n\n"
		"For people who compare hone's features ([features.md](features.md)) with "
		"Ansor's. This page lists\n"
		"what Ansor's cost model sees: %d numbers for each buffer that a program "
		"stores to.\n\n"
		"The page is printed from `costmodel/ansor.def` by `hone-bench model "
		"--features ansor`. A test\n"
		"compares the two. `hone state DAG --records LOG --as features` gives the "
		"numbers for the records of\n"
		"a log. `--as corrected` gives them without two defects of Ansor's:\n\n"
		"- If several loops leave an access in place, Ansor divides its lines by the "
		"extent of the innermost\n"
		"  loop, once for each of these loops.\n"
		"- Whether a dimension of a buffer is touched in full, Ansor decides by the "
		"region of the stored\n"
		"  buffer.\n\n"
		"How the rows are made:\n\n"
		"- The loops are those around the store that run more than once, and all loops "
		"that a GPU's threads\n"
		"  run.\n"
		"- The start of a reduction and its update store to one buffer. The row is the "
		"update's.\n"
		"- Kinds are one-hot. All other numbers are log2(x + 1) of the formula.\n"
		"- The five slots B0 to B4 are the buffers that the store accesses: those with "
		"the most lines first,\n"
		"  then those with the most bytes. A missing one is 0.\n"
		"- [ansor-differences.md](ansor-differences.md#features) says how many numbers "
		"are exactly Ansor's.\n\n"
		"Ansor has no notion of some things, and these numbers do not show them: "
		"guards of loops that do not\n"
		"divide evenly (a tail counts as a whole tile), prefetches, conditions (all "
		"branches count), and what\n"
		"hone's code generator makes of a nest. A packed operand (`PK`) is a buffer "
		"like any other, and is\n"
		"read with the strides of its new layout. If it is packed once, before the "
		"first call, it has no row,\n"
		"and its readers see an argument.\n",
		HN_N_ANSOR);
	hn_columns_print(column, HN_COUNT_OF(column), buf);
}
