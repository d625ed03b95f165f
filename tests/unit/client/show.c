/* What the summary of a job says: of its final, of a peak that is its own type's or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "client/show.h"

/* Members of a job that all of them have: 2 GFLOP in 10 ms are 200 GFLOP/s. */
#define JOB                                                                              \
	"\"name\":\"mm\",\"workload\":\"0123456789abcdef0123\",\"job\":\"j1\","          \
	"\"state\":\"done\",\"cache\":\"warm\",\"trials\":9,\"warm\":0,\"ok\":9,"        \
	"\"elapsed_ms\":2000,\"flops\":2e9,\"best_ns\":1e7,"        \
	"\"message\":\"\",\"failures\":{}"

static const struct row {
	const char *more; /* further members */
	const char *has[2], *lacks;
} rows[] = {
	{"", {"tuned     10.00 ms", "9 correct, 0 failed"}, "final"},
	{"", {"tuned     10.00 ms"}, "peak"},
	{",\"peak_gflops\":null", {"tuned     10.00 ms"}, "peak"},
	{",\"peak_gflops\":250", {"peak      250.0 GFLOP/s float32", ": 80.0 % of it reached"}, "final"},
	/* zero whatever the data: not work that was done */
	{",\"peak_gflops\":250,\"needed_flops\":1e9", {": 40.0 % of it reached"}, "80.0"},
	{",\"final\":{\"entrants\":9,\"duels\":18,\"decided\":false}",
	 {"final     9 against each other, 18 duels: not decided; the next job of this workload "
	  "holds it\n"},
	 "leader"},
	{",\"final\":{\"entrants\":9,\"duels\":18,\"decided\":true,\"changed\":false,"
	 "\"before_ns\":1e7,\"median_ns\":1e7}",
	 {"18 duels: the leader stays\n"},
	 "shown before"},
	{",\"final\":{\"entrants\":2,\"duels\":7,\"decided\":true,\"changed\":false,"
	 "\"before_ns\":9e6,\"median_ns\":1e7}",
	 {"the leader stays; 9.000 ms, shown before, was luck of one screening\n"},
	 "another"},
	{",\"final\":{\"entrants\":2,\"duels\":7,\"decided\":true,\"changed\":true,"
	 "\"gain_lo\":0.012,\"gain_hi\":0.034,\"before_ns\":1.1e7,\"median_ns\":1e7}",
	 {"another took the lead, by 1.2 to 3.4 %; 11.00 ms was shown before\n"},
	 "luck"},
	{",\"naive_ns\":1e9,\"naive_share\":0.02",
	 {"estimated from 1/50 of its iterations\n", "100.0x faster"},
	 "final"},
	{",\"naive_ns\":1e9", {"100.0x faster"}, "estimated"},
	{",\"naive_ns\":1e9,\"target\":\"cuda -isa=sm_80\"", {"GFLOP/s  by this computer's cores\n"}, "estimated"},
	{",\"naive_ns\":1e9,\"target\":\"cpu -isa=x86-64-avx2\"", {"100.0x faster"}, "computer"},
	{",\"naive_ns\":0,\"speedup\":0", {"naive     none: as written it has no program there"}, "faster"},
	{",\"inputs\":\"seed 1; seed 2 with zeros, a sample of 9 of 99 outputs\",\"in_part\":true",
	 {"compared  on seed 1; seed 2 with zeros, a sample of 9 of 99 outputs\n"},
	 "note"},
	{",\"inputs\":\"seed 1; seed 2 with zeros\",\"in_part\":false", {"correct"}, "compared"},
};

static void each_row_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		const struct row *r = &rows[i];
		struct hn_json *job;
		struct hn_buf text, b;

		hn_buf_init(&text);
		hn_buf_init(&b);
		hn_buf_printf(&text, "{%s%s}", JOB, r->more);
		assert_int_equal(hn_json_parse("row", text.s, text.n, NULL, &job, NULL), 0);
		hn_show_table(job, &b);
		for (size_t k = 0; k < HN_COUNT_OF(r->has) && r->has[k] != NULL; k++) {
			if (strstr(b.s, r->has[k]) == NULL) {
				fail_msg("row %zu: no \"%s\" in:\n%s", i, r->has[k], b.s);
			}
		}
		if (strstr(b.s, r->lacks) != NULL) {
			fail_msg("row %zu: \"%s\" in:\n%s", i, r->lacks, b.s);
		}
		hn_json_free(job);
		hn_buf_fini(&b);
		hn_buf_fini(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
