/* graph/form/form.c -- the table of forms. */
#include "graph/form/form.h"

#include <string.h>

#include "base/buf.h"

static const struct hn_form forms[] = {
#define FORM(name, function, as_written) { name, function, as_written },
#include "graph/form/forms.def"
#undef FORM
};

const struct hn_form *hn_form_find(const char *name, struct hn_err *err)
{
	struct hn_buf known;

	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		if (strcmp(forms[i].name, name) == 0) {
			return &forms[i];
		}
	}
	hn_buf_init(&known);
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		hn_buf_printf(&known, "%s%s", i > 0 ? ", " : "", forms[i].name);
	}
	hn_fail(err, HONE_E_INVALID, "--dtype: \"%.40s\" is none of: %s", name, known.s);
	hn_buf_fini(&known);
	return NULL;
}
