/* client/cmd_verify.c -- `hone verify`: every correct record of the store, or every record of a
 * log, proved anew by one run of hone-build.
 *
 * In the store a record that fails loses its certificate, so that it is best no more; the
 * fastest one that passes gets one where it has none (stores older than schema 3).  The store
 * belongs to honed, which must not run meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "client/best.h"
#include "client/verify.h"
#include "db/db.h"

void hn_verify_add(struct hn_verify *v, struct hn_verify_item x)
{
	v->item = hn_arena_grow(&v->arena, v->item, v->n, &v->cap, sizeof(*v->item));
	v->item[v->n++] = x;
}

static int on_record(void *ctx, const struct hn_record *r)
{
	struct hn_verify *v = ctx;

	if (r->verdict == HN_VERDICT_OK) {
		hn_verify_add(v, (struct hn_verify_item){
			       .id = r->id,
			       .workload = hn_arena_strdup(&v->arena, r->workload),
			       .target = hn_arena_strdup(&v->arena, r->target),
			       .steps = hn_arena_strdup(&v->arena, r->steps),
			       .certificate = hn_arena_strdup(&v->arena, r->certificate),
			       .median_ns = r->median_ns,
		       });
	}
	return 0;
}

/* Told once: from then on the store is taken as it is, without what is damaged. */
static void on_damage(void *ctx, const char *place, const char *detail)
{
	struct hn_verify *v = ctx;
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	if (v->json) {
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "place", place);
		hn_jw_str(&w, "detail", detail);
		hn_jw_end(&w);
	} else {
		hn_buf_printf(&b, "%s: DAMAGED: %s", place, detail);
	}
	puts(b.s);
	hn_buf_fini(&b);
	v->n_damaged++;
}

static int by_workload(const void *x, const void *y)
{
	const struct hn_verify_item *a = x, *b = y;
	int c = strcmp(a->workload, b->workload);

	return c != 0 ? c : (a->id > b->id) - (a->id < b->id);
}

static void swap(struct hn_verify_item *a, struct hn_verify_item *b)
{
	struct hn_verify_item t = *a;

	*a = *b;
	*b = t;
}

static int ask_store(struct hn_verify *v, struct hn_db *db, struct hn_err *err)
{
	struct hn_workload_row w = { 0 };
	uint32_t n = 0;
	int rc = hn_db_records(db, NULL, NULL, on_record, v, err);

	if (rc == 0 && v->n > 0) {
		qsort(v->item, v->n, sizeof(*v->item), by_workload);
	}
	for (uint32_t i = 0; rc == 0 && i < v->n; i++) {
		if (i == 0 || strcmp(v->item[i - 1].workload, v->item[i].workload) != 0) {
			rc = hn_db_workload(db, v->item[i].workload, &v->arena, &w, err);
		}
		if (rc == -HONE_E_NOT_FOUND) { /* damaged, and told as that */
			w.dag_json = NULL;
			rc = 0;
		}
		if (rc == 0 && w.dag_json != NULL) {
			hn_prover_ask(&v->prover, w.dag_json, v->item[i].steps);
			swap(&v->item[n++], &v->item[i]);
		}
	}
	v->n = n;
	return rc;
}

/* A kept certificate of these same versions must be what they say now. */
static bool is_other(const char *kept, const char *now)
{
	struct hn_json *k = NULL, *n = NULL;
	bool other = false;

	if (*kept != '\0' && hn_json_parse("certificate", kept, strlen(kept), NULL, &k, NULL) != 0) {
		return true;
	}
	if (k && hn_json_parse("certificate", now, strlen(now), NULL, &n, NULL) == 0) {
		other = strcmp(hn_prover_word(k, "hone"), hn_prover_word(n, "hone")) == 0 &&
			strcmp(hn_prover_word(k, "isl"), hn_prover_word(n, "isl")) == 0 &&
			strcmp(hn_prover_word(k, "schedule"), hn_prover_word(n, "schedule")) != 0;
	}
	hn_json_free(k);
	hn_json_free(n);
	return other;
}

static void report(struct hn_verify *v, const struct hn_verify_item *x, const char *verdict,
		   const char *detail)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	if (v->json) {
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_int(&w, v->what ? "line" : "record", x->id);
		hn_jw_str(&w, "key", *x->workload != '\0' ? x->workload : NULL);
		hn_jw_str(&w, "verdict", verdict);
		hn_jw_str(&w, "detail", detail);
		hn_jw_end(&w);
	} else if (v->what) {
		hn_buf_printf(&b, "%s:%" PRId64 ": %s: %s", v->what, x->id, verdict, detail);
	} else {
		hn_buf_printf(&b, "record %" PRId64 " (workload %.16s): %s: %s", x->id,
			      x->workload, verdict, detail);
	}
	puts(b.s);
	hn_buf_fini(&b);
}

/* One answer; a certificate that stays or is new is left in the item. */
static void judge(struct hn_verify *v, struct hn_verify_item *x, const char *line)
{
	struct hn_json *answer = NULL;
	const char *verdict = "BUILD_FAIL", *detail = "hone-build gave no answer", *now = "";

	if (line && hn_json_parse("answer", line, strlen(line), NULL, &answer, NULL) == 0) {
		verdict = hn_prover_word(answer, "verdict");
		detail = hn_prover_word(answer, "detail");
		now = hn_prover_word(answer, "certificate");
	}
	x->passed = strcmp(verdict, "OK") == 0;
	if (x->passed && is_other(x->certificate, now)) {
		x->passed = false;
		verdict = "CERTIFICATE";
		detail = "its certificate is of another schedule";
	}
	if (!x->passed) {
		report(v, x, verdict, detail);
		v->n_failed++;
	}
	if (x->passed && *x->certificate == '\0') {
		x->steps = hn_arena_strdup(&v->arena, now); /* to be given */
	}
	hn_json_free(answer);
}

static void judge_all(struct hn_verify *v)
{
	char *line = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		bool there = getline(&line, &cap, v->prover.answers) > 0;

		judge(v, &v->item[i], there ? line : NULL);
	}
	free(line);
}

/* Whether x is the fastest of its workload and target that passed. */
static bool is_best(const struct hn_verify *v, const struct hn_verify_item *x)
{
	for (uint32_t i = 0; i < v->n; i++) {
		const struct hn_verify_item *y = &v->item[i];

		if (y->passed && strcmp(y->workload, x->workload) == 0 &&
		    strcmp(y->target, x->target) == 0 &&
		    (y->median_ns < x->median_ns ||
		     (y->median_ns == x->median_ns && y->id < x->id))) {
			return false;
		}
	}
	return true;
}

static int keep_answers(struct hn_verify *v, struct hn_db *db, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < v->n; i++) {
		const struct hn_verify_item *x = &v->item[i];

		if (!x->passed && *x->certificate != '\0') {
			rc = hn_db_certify(db, x->id, NULL, err);
			v->n_withdrawn++;
		} else if (x->passed && *x->certificate == '\0' && is_best(v, x)) {
			rc = hn_db_certify(db, x->id, x->steps, err);
			v->n_given++;
		}
	}
	return rc == 0 ? hn_db_write_snapshot(db, err) : rc;
}

static int verify_store(struct hn_verify *v, const struct hn_opts *o, struct hn_err *err)
{
	struct hn_db *db = NULL;
	struct hn_buf home;
	int rc;

	hn_buf_init(&home);
	rc = hn_best_store(o, &home, err);
	rc = rc != 0 ? rc : hn_db_open(home.s, &db, err);
	rc = rc != 0 ? rc : ask_store(v, db, err);
	rc = rc != 0 ? rc : hn_prover_run(&v->prover, "verify", 0, err);
	if (rc == 0) {
		hn_db_damage(db, on_damage, v);
		judge_all(v);
		rc = hn_db_settle(db, err);
		rc = rc != 0 ? rc : keep_answers(v, db, err);
	}
	hn_db_close(db);
	hn_buf_fini(&home);
	return rc;
}

static int verify_log(struct hn_verify *v, const struct hn_opts *o, struct hn_err *err)
{
	int rc = hn_verify_log(v, o, err);

	rc = rc != 0 ? rc : hn_prover_run(&v->prover, "verify", 0, err);
	if (rc == 0) {
		judge_all(v);
	}
	return rc;
}

static int summarise(const struct hn_verify *v, struct hn_err *err)
{
	uint32_t n = v->n + v->n_unread;
	struct hn_buf b;
	struct hn_jw w;

	if (v->json) {
		hn_buf_init(&b);
		hn_jw_init(&w, &b);
		hn_jw_object(&w, NULL);
		hn_jw_uint(&w, "records", n);
		hn_jw_uint(&w, "failed", v->n_failed);
		hn_jw_uint(&w, "given", v->n_given);
		hn_jw_uint(&w, "withdrawn", v->n_withdrawn);
		hn_jw_uint(&w, "damaged", v->n_damaged);
		hn_jw_end(&w);
		hn_jw_done(&w);
		puts(b.s);
		hn_buf_fini(&b);
	} else {
		printf("%u %srecords: %u proved, %u failed", n, v->what ? "" : "correct ",
		       n - v->n_failed, v->n_failed);
		if (!v->what) {
			printf("; certificates: %u given, %u withdrawn", v->n_given,
			       v->n_withdrawn);
		}
		if (v->n_damaged > 0) {
			printf("; damaged: %u", v->n_damaged);
		}
		putchar('\n');
	}
	if (v->n_damaged > 0) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "verify: %u place%s of the store damaged; answers go without, "
			       "and no longer say so",
			       v->n_damaged, v->n_damaged > 1 ? "s" : "");
	}
	return v->n_failed == 0 ? 0
				: hn_fail(err, HONE_E_INVALID,
					  "verify: %u record%s not proved", v->n_failed,
					  v->n_failed > 1 ? "s" : "");
}

int cmd_verify(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_verify v = { .what = o->records, .json = o->json };
	int rc;

	if (!o->records && (o->arg || o->text)) {
		return hn_fail(err, HONE_E_INVALID,
			       "verify: give --records LOG with the computation, or "
			       "nothing for the store");
	}
	hn_arena_init(&v.arena, 0);
	rc = hn_prover_open(&v.prover, err);
	if (rc == 0) {
		rc = o->records ? verify_log(&v, o, err) : verify_store(&v, o, err);
	}
	rc = rc != 0 ? rc : summarise(&v, err);
	hn_prover_close(&v.prover);
	hn_arena_fini(&v.arena);
	return rc;
}
