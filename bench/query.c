/* bench/query.c -- what an answer of libhone costs, with as many records as a large team has.
 *
 * A store of its own: of three workloads in four there is a record of this machine, else one of a
 * machine with another number of cores, or the automatic schedule alone.  Each call is timed by
 * itself; keys come in random order, so that they are in no cache.  `first` is the first time that
 * an entry is asked for, when it is also checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "db/snapshot/snapshot.h"
#include "hone/hone.h"
#include "target/target.h"

#define N_RECORD 200000u
#define N_CALL 20000u
#define TEXT_BYTES 700 /* of a computation, a history, a certificate: the median of the workloads */

enum kind { EXACT, CLASS, AUTOMATIC, N_KIND };

struct bed {
	struct hn_arena a;
	const char *line[N_KIND]; /* targets */
	uint32_t n;
	char (*key)[65];
	struct hn_snapshot_entry *entry;
	char dir[40];
	double *ns;
};

static enum kind kind_of(uint32_t i)
{
	return i % 4 != 3 ? EXACT : i % 8 == 3 ? CLASS : AUTOMATIC;
}

static const char *line_of(struct hn_arena *a, const char *words)
{
	struct hn_target t;
	struct hn_buf line;
	const char *ret;

	hn_buf_init(&line);
	if (words == NULL) {
		hn_target_host(a, &t);
	} else if (hn_target_parse(words, a, &t, NULL) != 0) {
		abort();
	}
	hn_target_print(&t, &line);
	ret = hn_arena_strdup(a, line.s);
	hn_buf_fini(&line);
	return ret;
}

static void make_entries(struct bed *b)
{
	char *text = hn_arena_alloc(&b->a, TEXT_BYTES + 1);
	struct hn_rng r = hn_rng_stream(18, 0, 0, 0);

	memset(text, ' ', TEXT_BYTES);
	text[0] = '[';
	text[TEXT_BYTES - 1] = ']';
	b->line[EXACT] = b->line[AUTOMATIC] = line_of(&b->a, NULL);
	b->line[CLASS] = line_of(&b->a, "cpu -num_cores=77");
	for (uint32_t i = 0; i < b->n; i++) {
		enum kind k = kind_of(i);

		for (int w = 0; w < 4; w++) {
			snprintf(b->key[i] + 16 * w, 17, "%016llx",
				 (unsigned long long)hn_rng_u64(&r));
		}
		b->entry[i] = (struct hn_snapshot_entry){
			.workload = { .key = b->key[i],
				      .name = "matmul",
				      .dag_json = text,
				      .flops = 1e9,
				      .cache = "warm" },
			.best = { .workload = b->key[i],
				  .target = b->line[k],
				  .steps = text,
				  .verdict = HN_VERDICT_OK,
				  .median_ns = k == AUTOMATIC ? 0 : 1000,
				  .certificate = k == AUTOMATIC ? "" : text,
				  .stamp = { "0", "cpu/LLVM", "board" } },
		};
	}
}

static int write_store(const struct bed *b, struct hn_err *err)
{
	char path[64];
	struct hn_buf file;
	int rc;

	hn_buf_init(&file);
	hn_snapshot_write(b->entry, b->n, NULL, "", &file);
	snprintf(path, sizeof path, "%s/best.snapshot", b->dir);
	rc = file.failed ? hn_fail(err, HONE_E_NOMEM, "out of memory")
			 : hn_file_replace(path, file.s, file.n, err);
	hn_buf_fini(&file);
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void put_rows(const char *what, double *ns, uint32_t n, uint32_t n_record)
{
	char name[64], context[64];

	qsort(ns, n, sizeof(*ns), by_value);
	snprintf(context, sizeof context, "\"records\": %u, \"calls\": %u", n_record, n);
	snprintf(name, sizeof name, "query.%s-p50", what);
	hn_bench_row(name, ns[n / 2], "ns", context);
	snprintf(name, sizeof name, "query.%s-p99", what);
	hn_bench_row(name, ns[(uint64_t)n * 99 / 100], "ns", context);
}

/* N_CALL questions of the kind, each about another workload; miss: of one that is not there. */
static void ask(struct bed *b, const struct hone_store *store, const char *what, enum kind k,
		bool miss)
{
	struct hn_rng r = hn_rng_stream(19, 0, 0, 0); /* the same again for `again` */
	struct hone_answer answer;
	struct hone_error error;
	uint32_t n = 0;

	while (n < N_CALL) {
		uint32_t i = (uint32_t)hn_rng_below(&r, b->n);
		char key[65];

		if (kind_of(i) != k) {
			continue;
		}
		memcpy(key, b->key[i], sizeof key);
		key[63] = miss ? (key[63] == '0' ? '1' : '0') : key[63];
		int64_t start = hn_clock_ns();
		int rc = hone_query_key(store, key, NULL, &answer, &error);

		b->ns[n++] = (double)(hn_clock_ns() - start);
		if (rc != (miss ? HONE_NOT_FOUND : 0)) {
			fprintf(stderr, "hone-bench: query %s: %s\n", what, error.text);
			abort();
		}
	}
	put_rows(what, b->ns, n, b->n);
}

/* One question again and again. */
static void repeat(struct bed *b, const struct hone_store *store)
{
	struct hone_answer answer;
	struct hone_error error;

	for (uint32_t n = 0; n < N_CALL; n++) {
		int64_t start = hn_clock_ns();
		int rc = hone_query_key(store, b->key[0], NULL, &answer, &error);

		b->ns[n] = (double)(hn_clock_ns() - start);
		if (rc != 0) {
			abort();
		}
	}
	put_rows("one", b->ns, N_CALL, b->n);
}

static int run(struct bed *b)
{
	struct hone_store *store;
	struct hone_answer answer;
	struct hone_error error;
	int64_t start = hn_clock_ns();

	if (hone_store_open(b->dir, &store, &error) != 0 ||
	    hone_query_key(store, b->key[0], NULL, &answer, &error) != 0) {
		fprintf(stderr, "hone-bench: %s\n", error.text);
		return 1;
	}
	hn_bench_row("query.open-and-ask", (double)(hn_clock_ns() - start) * 1e-6, "ms", "");
	ask(b, store, "first", EXACT, false);
	ask(b, store, "again", EXACT, false);
	repeat(b, store);
	ask(b, store, "class", CLASS, false);
	ask(b, store, "automatic", AUTOMATIC, false);
	ask(b, store, "miss", EXACT, true);
	hone_store_close(store);
	return 0;
}

int hn_bench_query(const struct hn_bench_args *args);

int hn_bench_query(const struct hn_bench_args *args)
{
	struct bed b = { .n = args->argc > 0 ? (uint32_t)atoi(args->argv[0]) : N_RECORD,
			 .dir = "/tmp/hone-query-XXXXXX" };
	struct hn_err err = { 0 };
	char path[64];
	int status = 1;

	if (b.n < 8 || mkdtemp(b.dir) == NULL) {
		fprintf(stderr, "usage: hone-bench query [RECORDS, 8 at least]\n");
		return 2;
	}
	hn_arena_init(&b.a, 0);
	b.key = hn_arena_array(&b.a, b.n, sizeof(*b.key));
	b.entry = HN_NEW_ARRAY(&b.a, struct hn_snapshot_entry, b.n);
	b.ns = HN_NEW_ARRAY(&b.a, double, N_CALL);
	make_entries(&b);
	if (write_store(&b, &err) == 0) {
		status = run(&b);
	} else {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	snprintf(path, sizeof path, "%s/best.snapshot", b.dir);
	unlink(path);
	rmdir(b.dir);
	hn_arena_fini(&b.a);
	return status;
}
