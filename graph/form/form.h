/* graph/form/form.h -- the numbers that a network computes with.
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
	bool as_written; /* for hn_import */
};

/* The form of that name; NULL after a failure that lists them. */
const struct hn_form *hn_form_find(const char *name, struct hn_err *err);

#define FORM(name, function, as_written) void function(struct hn_graph *g);
#include "graph/form/forms.def"
#undef FORM

#endif
