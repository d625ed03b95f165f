/* graph/akg/assign.c -- operators that write into operand 0: its name means another value then. */
#include "graph/akg/rows.h"

/* The result is the last operand: of Assign what was written, of InplaceAssign another tensor. */
void hn_akg_assign(struct hn_akg_call *c)
{
	*c->assigned = c->in[1];
	c->out[0] = c->in[c->op->n_in - 1];
}

void hn_akg_assign_add(struct hn_akg_call *c)
{
	hn_akg_binary(c);
	*c->assigned = c->out[0];
}
