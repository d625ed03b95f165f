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
		"# Features\n\nWhat a learned cost model sees of a program: %d numbers for each "
		"statement of its loop tree.\nPrinted from `costmodel/features.def` by "
		"`hone-bench model --features`; a test holds the two equal.\n\nThe loops are "
		"those around the statement. \"Inwards\" counts from the innermost loop: 1 is "
		"the innermost, 0 means\nthere is none. Values are not scaled, because boosted "
		"trees see their order alone. The source is the number of\nAnsor's that a row "
		"stands for, or hone where Ansor has none. The three accesses are those with "
		"the most `l1_bytes`,\nlargest first; what is missing is 0.\n",
		HN_N_FEATURE);
	hn_columns_print(column, HN_COUNT_OF(column), buf);
}
