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
		"# Ansor's features\n\nWhat Ansor's cost model sees of a program: %d numbers for "
		"each buffer that it stores to, which hone's own\n([features.md](features.md)) "
		"are held against. Printed from `costmodel/ansor.def` by\n`hone-bench model "
		"--features ansor`; a test holds the two equal. `hone state DAG --records LOG --as "
		"features` gives them for\nthe records of a log, `--as corrected` without Ansor's "
		"two defects: of an access that several loops leave in place,\nAnsor divides the "
		"lines by the innermost loop's extent for each of them; and which dimension of a "
		"buffer is touched in\nfull it tells from the region of the stored one.\n\nThe "
		"loops are those around the store that run more than once, and all that a GPU's "
		"threads run. A reduction's start\nand its update store to one buffer: the "
		"row is of the update. Kinds are one-hot; all other numbers are log2(x + 1) of "
		"the\nformula. The five slots B0 to B4 are the "
		"buffers that the store accesses, with\nthe most lines first, then with the most "
		"bytes; what is missing is 0. How far they are Ansor's to the last "
		"digit:\n[ansor-differences.md](ansor-differences.md).\n\nOf what Ansor lacks "
		"these numbers say nothing: guards of loops that do not divide evenly (a tail counts "
		"as a whole\ntile), prefetches, conditions (all branches count), what hone's code "
		"generator makes of a nest. A packed operand (`PK`)\nis a buffer like any other, "
		"read with the strides of its new layout; when it is packed once, before the first "
		"call,\nit has no row, and its readers see an argument.\n",
		HN_N_ANSOR);
	hn_columns_print(column, HN_COUNT_OF(column), buf);
}
