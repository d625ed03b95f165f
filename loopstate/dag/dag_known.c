/* loopstate/dag/dag_known.c -- the message for a word that hone does not know: the word that was
 * probably meant, and all known words. */
#include "base/typo.h"
#include "loopstate/dag/dag_priv.h"

const char *hn_dag_known(const char *word, const char *noun, const char *const *known, size_t n,
			 size_t n_more, struct hn_arena *a)
{
	const char *near = hn_typo_nearest(word, known, n + n_more);
	struct hn_buf b;
	char *s;

	hn_buf_init(&b);
	if (near != NULL) {
		hn_buf_printf(&b, " (did you mean %s?)", near);
	}
	for (size_t i = 0; i < n; i++) {
		if (i == 0) {
			hn_buf_printf(&b, "; known %s are ", noun);
		}
		hn_buf_printf(&b, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", known[i]);
	}
	s = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
	return s;
}

const char *hn_dag_known_types(const char *word, struct hn_arena *a)
{
	const char *name[HN_N_DTYPE];

	for (int i = 0; i < HN_N_DTYPE; i++) {
		name[i] = hn_dtype_name((enum hn_dtype)i);
	}
	return hn_dag_known(word, "types", name, HN_N_DTYPE, 0, a);
}

const char *hn_dag_known_functions(const char *word, struct hn_arena *a)
{
	const char *name[HN_N_FN];

	for (int i = 0; i < HN_N_FN; i++) {
		name[i] = hn_fn_name((enum hn_fn)i);
	}
	return hn_dag_known(word, "functions", name, HN_N_FN, 0, a);
}
