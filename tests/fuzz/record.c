/* tests/fuzz/record.c -- logs of Ansor. */
#include "fuzz.h"

#include <string.h>

static void check(const struct hn_log_record *record)
{
	const struct hn_log_record *copy;
	struct hn_buf once, twice;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_record_write(record, &once);
	hn_assert(hn_record_parse("fuzz", 1, once.s, once.n, &a, &copy, NULL) == 0);
	hn_record_write(copy, &twice);
	hn_assert(strcmp(once.s, twice.s) == 0);
	hn_fuzz_trace(record->trace);
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	hn_arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	FILE *file = n > 0 ? fmemopen((void *)(uintptr_t)data, n, "r") : NULL;
	const struct hn_log_record *record;
	struct hn_record_reader r;
	int item;

	if (file == NULL) {
		return 0;
	}
	hn_record_reader_init(&r, file, "fuzz");
	while ((item = hn_record_next(&r, &record, NULL)) != HN_RECORD_END &&
	       item != -HONE_E_IO) {
		if (item == HN_RECORD_RECORD) {
			check(record);
		}
	}
	hn_record_reader_fini(&r);
	fclose(file);
	return 0;
}
