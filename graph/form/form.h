/* graph/form/form.h -- a network in another form of numbers: its products are of narrower ones.
 *
 * Inputs and outputs keep their types.  A form is a row of forms.def; users name it by --dtype.
 */
#ifndef HN_GRAPH_FORM_FORM_H
#define HN_GRAPH_FORM_FORM_H

#include "graph/ir/graph.h"

struct hn_form {
	const char *name;
	/* Changes a whole graph, imported and not laid out yet; g->failed where it cannot be. */
	void (*apply)(struct hn_graph *g);
};

/* The form of that name; NULL after a failure that lists them. */
const struct hn_form *hn_form_find(const char *name, struct hn_err *err);

#define FORM(name, function) void function(struct hn_graph *g);
#include "graph/form/forms.def"
#undef FORM

#endif
