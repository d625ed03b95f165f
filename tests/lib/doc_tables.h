/* Tables of a page of docs/, for tests that hold them against the tables of the code. */
#ifndef HN_TESTS_DOC_TABLES_H
#define HN_TESTS_DOC_TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/file.h"

static struct hn_buf doc;
static const char *doc_page;

/* page: "docs/dag.md" */
static inline int read_doc(const char *page)
{
	char path[300];

	doc_page = page;
	snprintf(path, sizeof path, HONE_SOURCE_DIR "/%s", page);
	hn_buf_init(&doc);
	return hn_file_read(path, 1 << 20, &doc, NULL);
}

static inline int free_doc(void **state)
{
	(void)state;
	hn_buf_fini(&doc);
	return 0;
}

/* The rows of the table whose head begins so, without the rule below the head. */
static inline const char *table(const char *head)
{
	const char *at = strstr(doc.s, head);

	assert_non_null(at);
	at = strchr(at, '\n') + 1;
	return strchr(at, '\n') + 1;
}

static inline uint32_t count_rows(const char *at)
{
	uint32_t n = 0;

	for (; *at == '|'; at = strchr(at, '\n') + 1) {
		n++;
	}
	return n;
}

static inline void assert_row(const char *at, const char *begins)
{
	for (; *at == '|'; at = strchr(at, '\n') + 1) {
		if (strncmp(at, begins, strlen(begins)) == 0) {
			return;
		}
	}
	fail_msg("%s: there is no row '%s'", doc_page, begins);
}

#endif
