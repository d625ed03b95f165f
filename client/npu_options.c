/* client/npu_options.c -- which options of `hone npu` go with what it is given: one that would change
 * nothing is refused, so that nobody believes it did.
 */
#include <string.h>

#include "base/typo.h"
#include "client/npu.h"

#define MOST_SLOTS 4

static const char *const forms[] = { "table", "text", "picture" };
static const char *const orders[] = { "flags", "barriers", "tuned" };

static const char *const subjects[] = { "a program", "a computation", "a network" };

/* Which of the subjects an option is of, a bit each. */
#define OF(subject) (1u << HN_NPU_##subject)

/* What is given for it, where the word says more than the option. */
static const char *word_of(const struct hn_opts *o, const char *name)
{
	return strcmp(name, "as") == 0 ? o->as : "";
}

static bool has_text(const struct hn_opts *o)
{
	return o->text != NULL;
}

static bool has_dtype(const struct hn_opts *o)
{
	return o->dtype != NULL;
}

static bool has_order(const struct hn_opts *o)
{
	return o->order != NULL;
}

static bool has_slots(const struct hn_opts *o)
{
	return o->slots >= 0;
}

static bool has_form(const struct hn_opts *o)
{
	return o->as != NULL && strcmp(o->as, "table") != 0;
}

static const struct {
	bool (*given)(const struct hn_opts *o);
	const char *name, *of;
	uint32_t subjects;
} options[] = {
	{ has_text, "text", "a computation, instead of a FILE", OF(COMPUTATION) },
	{ has_dtype, "dtype", "of networks", OF(NETWORK) },
	{ has_order, "order", "of computations and networks", OF(COMPUTATION) | OF(NETWORK) },
	{ has_slots, "slots", "of computations and networks", OF(COMPUTATION) | OF(NETWORK) },
	{ has_form, "as", "of one program", OF(COMPUTATION) | OF(PROGRAM) },
};

static int check_word(const char *option, const char *word, const char *const *known, size_t n,
		      struct hn_err *err)
{
	const char *meant;

	for (size_t i = 0; i < n; i++) {
		if (word == NULL || strcmp(word, known[i]) == 0) {
			return 0;
		}
	}
	meant = hn_typo_nearest(word, known, n);
	return hn_fail(err, HONE_E_INVALID, "npu: --%s %.40s: there are %s, %s and %s%s%s%s", option, word,
		       known[0], known[1], known[2], meant != NULL ? " (did you mean " : "",
		       meant != NULL ? meant : "", meant != NULL ? "?)" : "");
}

int hn_npu_check_words(const struct hn_opts *o, struct hn_err *err)
{
	int rc = check_word("as", o->as, forms, HN_COUNT_OF(forms), err);

	rc = rc ? rc : check_word("order", o->order, orders, HN_COUNT_OF(orders), err);
	if (rc == 0 && has_slots(o) && (o->slots < 1 || o->slots > MOST_SLOTS)) {
		rc = hn_fail(err, HONE_E_INVALID, "npu: --slots: 1 to %d", MOST_SLOTS);
	}
	if (rc == 0 && has_slots(o) && has_order(o) && strcmp(o->order, "tuned") == 0) {
		rc = hn_fail(err, HONE_E_INVALID, "npu: --order tuned finds the slots: leave out --slots");
	}
	if (rc == 0 && o->json && has_form(o)) {
		rc = hn_fail(err, HONE_E_INVALID, "npu: --as %.40s is no JSON: leave out --json", o->as);
	}
	return rc;
}

int hn_npu_check_options(const struct hn_opts *o, enum hn_npu_subject subject, struct hn_err *err)
{
	for (size_t i = 0; i < HN_COUNT_OF(options); i++) {
		if (options[i].given(o) && (options[i].subjects >> subject & 1) == 0) {
			const char *word = word_of(o, options[i].name);

			return hn_fail(err, HONE_E_INVALID, "npu: --%s%s%.40s is %s, and %.200s is %s", options[i].name,
				       *word != '\0' ? " " : "", word, options[i].of, o->arg != NULL ? o->arg : "--text", subjects[subject]);
		}
	}
	return 0;
}
