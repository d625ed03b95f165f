/* target/features.c -- features.def as text and as sets of bits. */
#include <string.h>

#include "loopstate/state/intrin.h"
#include "target/target_int.h"

static const struct feature {
	const char *name, *family;
	int32_t level;
	uint32_t bytes;
	const char *needs;
} rows[] = {
#define FEATURE(name, family, level, bytes, needs, word, bit, os)                        \
	{ name, family, level, bytes, needs },
#include "target/features.def"
#undef FEATURE
};

_Static_assert(HN_N_TARGET_FEATURE <= 32, "sets of features are 32 bits");

const char *hn_target_feature_name(uint32_t i)
{
	return i < HN_N_TARGET_FEATURE ? rows[i].name : "?";
}

/* -1 = there is none of that name. */
static int32_t find(const char *name, size_t n)
{
	for (int32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0) {
			return i;
		}
	}
	return -1;
}

uint32_t hn_target_has(const struct hn_target *t, const char *feature)
{
	int32_t i = find(feature, strlen(feature));

	return i >= 0 && (t->features >> i & 1) ? rows[i].bytes : 0;
}

uint32_t hn_target_has_intrin(const struct hn_target *t, const struct hn_intrin *in)
{
	uint32_t most = 0;

	for (size_t i = 0; i < HN_COUNT_OF(in->feature) && in->feature[i] != NULL; i++) {
		uint32_t bytes = hn_target_has(t, in->feature[i]);

		most = bytes > most ? bytes : most;
	}
	return most;
}

uint32_t hn_target_features_of_isa(const char *isa)
{
	const char *family;
	int32_t level;
	uint32_t all = 0;

	if (!hn_target_rank(isa, &family, &level)) {
		return 0;
	}
	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		bool may = strcmp(rows[i].family, family) == 0 && rows[i].level <= level;

		all |= (uint32_t)may << i;
	}
	return all;
}

uint32_t hn_target_features_whole(uint32_t features)
{
	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		const char *needs = rows[i].needs;

		if (needs != NULL && !(features >> find(needs, strlen(needs)) & 1)) {
			features &= ~(1u << i);
		}
	}
	return features;
}

void hn_target_features_print(uint32_t features, struct hn_buf *buf)
{
	const char *sep = "";

	for (uint32_t i = 0; i < HN_N_TARGET_FEATURE; i++) {
		if (features >> i & 1) {
			hn_buf_printf(buf, "%s+%s", sep, rows[i].name);
			sep = ",";
		}
	}
}

static int unknown(const char *word, size_t n, const struct hn_target *t,
		   struct hn_err *err)
{
	struct hn_buf known;
	int rc;

	hn_buf_init(&known);
	hn_target_features_print(hn_target_features_of_isa(t->isa), &known);
	rc = hn_fail(err, HONE_E_INVALID,
		     "target: '-mattr=': unknown feature '%.*s': isa %s has %s",
		     (int)(n < 60 ? n : 60), word, t->isa,
		     known.n > 0 ? known.s : "none that hone makes code with");
	hn_buf_fini(&known);
	return rc;
}

int hn_target_features_parse(const char *list, struct hn_target *t, struct hn_err *err)
{
	uint32_t known = hn_target_features_of_isa(t->isa), found = 0;

	for (const char *s = list; *list != '\0'; s++) {
		size_t n = strcspn(s, ",");
		int32_t i = *s == '+' ? find(s + 1, n - 1) : -1;

		if (i < 0 || !(known >> i & 1)) {
			return unknown(s, n, t, err);
		}
		found |= 1u << i;
		if (rows[i].needs != NULL) {
			found |= 1u << find(rows[i].needs, strlen(rows[i].needs));
		}
		s += n;
		if (*s == '\0') {
			break;
		}
	}
	t->features = found;
	return 0;
}
