/* graph/form/float32.c -- a network as its model is written: products of a quantized one are of
 * dequantized numbers.  The import has done so; nothing is left to do. */
#include "graph/form/form.h"

void hn_form_float32(struct hn_graph *g)
{
	(void)g;
}
