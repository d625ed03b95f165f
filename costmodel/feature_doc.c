/* costmodel/feature_doc.c -- features.def as a table for people. */
#include <string.h>

#include "base/hash.h"
#include "costmodel/column.h"
#include "costmodel/features.h"

static const struct hn_column column[] = {
#define FEATURE(group, name, unit, source, text) {#group, #name, unit, source, text},
#include "costmodel/features.def"
#undef FEATURE
};

const char *hn_feature_name(enum hn_feature i)
{
	return column[i].name;
}

uint64_t hn_features_stamp(void)
{
	uint64_t h = HN_FEATURES_VERSION;

	for (size_t i = 0; i < HN_COUNT_OF(column); i++) {
		h = hn_hash64(column[i].name, strlen(column[i].name), h);
		h = hn_hash64(column[i].text, strlen(column[i].text), h);
	}
	return h;
}

void hn_features_doc(struct hn_buf *buf)
{
	hn_buf_printf(
		buf,
		"# Features\n\n"
		"For people who change a cost model or read its input. This page lists what a "
		"learned cost model\n"
		"sees: %d numbers for each statement of a program's loop tree.\n\n"
		"The page is printed from `costmodel/features.def` by `hone-bench model "
		"--features`. A test compares\n"
		"the two.\n\n"
		"- The loops are those around the statement. \"Inwards\" counts from the "
		"innermost loop: 1 is the\n"
		"  innermost, and 0 means that there is none.\n"
		"- Values are not scaled, because boosted trees use only their order.\n"
		"- The source is the corresponding number of Ansor's, or hone if Ansor has "
		"none.\n"
		"- The three accesses are those with the most `l1_bytes`, largest first. A "
		"missing one is 0.\n",
		HN_N_FEATURE);
	hn_columns_print(column, HN_COUNT_OF(column), buf);
}
