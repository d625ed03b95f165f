/* loopstate/read/dag_text_name.c -- names for the text notation, whatever a dag's are: every
 * tensor, size, index and `let` gets one that its lexer takes and that means nothing else there. */
#include <ctype.h>
#include <string.h>

#include "loopstate/read/dag_text_out.h"

static const char *const words[] = {
	"inf", "nan", "true", "false", "let", "in", "where", "const", "select",
};

static bool is_word(const char *name)
{
	bool word = hn_dtype_of(name) != HN_N_DTYPE || hn_fn_of(name) != HN_N_FN;

	for (size_t i = 0; i < HN_COUNT_OF(words); i++) {
		word = word || strcmp(words[i], name) == 0;
	}
	for (uint32_t i = 0; i < hn_text_n_pair; i++) {
		word = word || strcmp(hn_text_pairs[i].name, name) == 0;
	}
	for (uint32_t i = 0; i < hn_text_n_reduction; i++) {
		const char *s = hn_text_reductions[i].name;

		word = word || (s != NULL && strcmp(s, name) == 0);
	}
	return word;
}

static bool is_used(const struct hn_text_out *w, const char *name)
{
	for (uint32_t i = 0; i < w->n_name; i++) {
		if (strcmp(w->name[i], name) == 0) {
			return true;
		}
	}
	return false;
}

const char *hn_text_out_word(const char *from, struct hn_arena *a)
{
	char *s = hn_arena_printf(a, "%s%.100s", isdigit((unsigned char)*from) ? "_" : "", from);

	for (char *p = s; *p != '\0'; p++) {
		*p = isalnum((unsigned char)*p) ? *p : '_';
	}
	return *s != '\0' ? s : "_";
}

const char *hn_text_out_name(struct hn_text_out *w, const char *from)
{
	const char *plain = hn_text_out_word(from != NULL ? from : "t", w->a), *s = plain;

	for (uint32_t i = 1; is_word(s) || is_used(w, s); i++) {
		s = hn_arena_printf(w->a, "%s_%u", plain, i);
	}
	if (w->n_name == w->max_name) {
		const char **more = HN_NEW_ARRAY(w->a, const char *, 2 * w->max_name + 64);

		if (w->n_name > 0) {
			memcpy(more, w->name, w->n_name * sizeof(*more));
		}
		w->name = more;
		w->max_name = 2 * w->max_name + 64;
	}
	w->name[w->n_name++] = s;
	return s;
}

static void name_op(struct hn_text_out *w, uint32_t i)
{
	const struct hn_op *op = w->dag->op[i];
	const struct hn_attr *told = op->n_out > 1 ? hn_op_attr(op, "outputs") : NULL;
	const char **name = HN_NEW_ARRAY(w->a, const char *, op->n_out);

	for (uint32_t k = 0; k < op->n_out; k++) {
		const char *from = op->id;

		if (told != NULL && told->n_item == op->n_out) {
			from = told->item[k];
		} else if (op->n_out > 1) {
			from = hn_arena_printf(w->a, "%s_v%u", op->id, k);
		}
		name[k] = hn_text_out_name(w, from);
	}
	w->tensor[i] = name;
}

void hn_text_out_names(struct hn_text_out *w)
{
	const struct hn_sizes *sizes = w->dag->sizes;
	uint32_t n_size = sizes != NULL ? sizes->n : 0;

	w->size = HN_NEW_ARRAY(w->a, const char *, n_size);
	w->tensor = HN_NEW_ARRAY(w->a, const char *const *, w->dag->n_op);
	for (uint32_t k = 0; k < n_size; k++) {
		w->size[k] = hn_text_out_name(w, sizes->size[k].name);
	}
	for (uint32_t i = 0; i < w->dag->n_op; i++) {
		name_op(w, i);
	}
}
