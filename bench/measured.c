/* bench/measured.c -- see measured.h. */
#include "bench/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "db/db.h"
#include "loopstate/nest/looptree.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/trace.h"

#define LEAST_SAMPLES 3 /* below: the board gave up after a first, perhaps cold call */
#define LEAST_SHARED 16 /* programs that say how the machine was on another day */

/* The records of one store. */
struct loading {
	struct hn_measured *all;
	struct hn_db *db;
	uint32_t n, cap;
	struct one {
		struct hn_measured_program is;
		uint32_t place; /* among the store's records */
	} *record;
	struct hn_arena keep, scratch;
	struct hn_err *err;
};

/* The workload's number, its dag read when the first of its records comes; or an error. */
static int workload_of(struct loading *l, const char *key)
{
	struct hn_measured *m = l->all;
	struct hn_workload_row row;

	for (uint32_t i = m->n_workload; i-- > 0;) {
		if (strcmp(m->workload[i].key, key) == 0) {
			return (int)i;
		}
	}
	if (m->n_workload == HN_MEASURED_WORKLOADS) {
		return hn_fail(l->err, HONE_E_QUOTA, "more than %d workloads",
			       HN_MEASURED_WORKLOADS);
	}
	int rc = hn_db_workload(l->db, key, &m->keep, &row, l->err);
	if (rc == 0) {
		rc = hn_dag_parse(row.name, row.dag_json, strlen(row.dag_json), 0, &m->keep,
				  &m->workload[m->n_workload].dag, l->err);
	}
	m->workload[m->n_workload].key = row.key;
	m->workload[m->n_workload].name = row.name;
	return rc < 0 ? rc : (int)m->n_workload++;
}

static int each(void *ctx, const struct hn_record *r)
{
	struct loading *l = ctx;
	const struct hn_looptree *tree;
	const struct hn_trace *t;
	const struct hn_state *s;
	struct hn_features f;

	if (r->verdict != HN_VERDICT_OK || r->n_sample < LEAST_SAMPLES) {
		return 0;
	}
	int w = workload_of(l, r->workload);
	if (w < 0) {
		return w;
	}
	hn_arena_reset(&l->scratch);
	if (hn_trace_parse("record", r->steps, strlen(r->steps), &l->scratch, &t, NULL) < 0 ||
	    hn_state_replay(l->all->workload[w].dag, t, &l->scratch, &s, NULL) < 0 ||
	    hn_looptree_build(s, &l->scratch, &tree, NULL) < 0 ||
	    !hn_features_of(tree, &l->all->target, &l->scratch, &f)) {
		return 0;
	}
	l->record = hn_arena_grow(&l->keep, l->record, l->n, &l->cap, sizeof *l->record);
	l->record[l->n] = (struct one){
		.is = {.features = hn_features_copy(&f, &l->all->keep),
		       .ns = r->median_ns,
		       .first_ns = r->median_ns,
		       .last_ns = r->median_ns,
		       .n_record = 1,
		       .n_round = r->n_sample,
		       .hash = hn_hash64(r->steps, strlen(r->steps), 0),
		       .workload = (uint32_t)w},
		.place = l->n};
	l->n++;
	return 0;
}

static int compare(const struct hn_measured_program *x, const struct hn_measured_program *y)
{
	if (x->workload != y->workload) {
		return x->workload < y->workload ? -1 : 1;
	}
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int by_program(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int c = compare(&x->is, &y->is);

	return c ? c : x->place < y->place ? -1 : 1;
}

/* Keep each program of the store once. */
static void merge_records(struct loading *l)
{
	uint32_t n = 0;

	if (l->n > 0) {
		qsort(l->record, l->n, sizeof *l->record, by_program);
	}
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hn_measured_program *x = &l->record[i].is;
		struct hn_measured_program *to = n > 0 ? &l->record[n - 1].is : NULL;

		if (to && compare(to, x) == 0) {
			to->n_record++;
			to->n_round += x->n_round;
			to->ns = fmin(to->ns, x->ns);
			to->last_ns = x->last_ns;
		} else {
			l->record[n++] = l->record[i];
		}
	}
	l->n = n;
}

/* The program in m, or NULL. */
static struct hn_measured_program *known(const struct hn_measured *m, uint32_t n,
					 const struct hn_measured_program *x)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = compare(&m->program[mid], x);

		if (c == 0) {
			return &m->program[mid];
		}
		lo = c < 0 ? mid + 1 : lo;
		hi = c < 0 ? hi : mid;
	}
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How much slower the machine was for the n programs, all of one workload, than for those of them
 * that are known. */
static double level(const struct hn_measured *m, uint32_t n_known, const struct one *record,
		    uint32_t n, struct hn_arena *a)
{
	double *ratio = HN_NEW_ARRAY(a, double, n);
	uint32_t shared = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_measured_program *was = known(m, n_known, &record[i].is);

		if (was) {
			ratio[shared++] = record[i].is.ns / was->ns;
		}
	}
	if (shared < LEAST_SHARED) {
		return 1;
	}
	qsort(ratio, shared, sizeof *ratio, by_number);
	return ratio[shared / 2];
}

static void merge(struct hn_measured_program *to, const struct hn_measured_program *x)
{
	bool longer = x->n_round > to->n_round;

	if (longer || (x->n_round == to->n_round && x->ns < to->ns)) {
		to->ns = x->ns;
		to->n_round = x->n_round;
	}
	to->n_record += x->n_record;
	to->last_ns = x->last_ns;
}

static int by_hash(const void *a, const void *b)
{
	return compare(a, b);
}

/* Add one store's programs to those of the others. */
static void add(struct hn_measured *m, struct loading *l)
{
	uint32_t n_known = m->n;

	for (uint32_t i = 0, n; i < l->n; i += n) {
		for (n = 1; i + n < l->n && l->record[i + n].is.workload == l->record[i].is.workload;) {
			n++;
		}
		double slower = level(m, n_known, &l->record[i], n, &l->keep);

		for (uint32_t k = i; k < i + n; k++) {
			struct hn_measured_program x = l->record[k].is;
			struct hn_measured_program *to = known(m, n_known, &x);

			x.ns /= slower;
			x.first_ns /= slower;
			x.last_ns /= slower;
			if (to) {
				merge(to, &x);
				continue;
			}
			m->program = hn_arena_grow(&m->keep, m->program, m->n, &m->cap,
						   sizeof *m->program);
			m->program[m->n++] = x;
		}
	}
	if (m->n > 0) {
		qsort(m->program, m->n, sizeof *m->program, by_hash);
	}
}

/* Keep no more than HN_MEASURED_MOST of a workload, and note where each begins. */
static void thin(struct hn_measured *m)
{
	uint32_t n = 0, i = 0;

	for (uint32_t w = 0; w < m->n_workload; w++) {
		m->first[w] = n;
		for (; i < m->n && m->program[i].workload == w; i++) {
			if (n - m->first[w] < HN_MEASURED_MOST) {
				m->program[n++] = m->program[i];
			}
		}
	}
	m->first[m->n_workload] = n;
	m->n = n;
}

static int load(struct hn_measured *m, const char *home, struct hn_err *err)
{
	struct loading l = {.all = m, .err = err};
	int rc = hn_db_open(home, &l.db, err);

	if (rc < 0) {
		return rc;
	}
	hn_arena_init(&l.keep, 0);
	hn_arena_init(&l.scratch, 0);
	rc = hn_db_records(l.db, NULL, NULL, each, &l, err);
	if (rc == 0) {
		merge_records(&l);
		add(m, &l);
	}
	hn_arena_fini(&l.scratch);
	hn_arena_fini(&l.keep);
	hn_db_close(l.db);
	return rc;
}

int hn_measured_load(struct hn_measured *m, char *const *home, int n_home, struct hn_err *err)
{
	int rc = 0;

	*m = (struct hn_measured){.n = 0};
	hn_arena_init(&m->keep, 0);
	hn_target_host(&m->keep, &m->target);
	for (int i = 0; i < n_home && rc == 0; i++) {
		rc = load(m, home[i], err);
	}
	thin(m);
	return rc;
}

void hn_measured_fini(struct hn_measured *m)
{
	hn_arena_fini(&m->keep);
}
