/* daemon/recall.c -- see recall.h. */
#include "daemon/recall.h"

static int on_record(void *ctx, const struct hn_record *from)
{
	struct hn_recall *r = ctx;

	r->record = hn_arena_grow(&r->arena, r->record, r->n, &r->cap, sizeof *r->record);
	r->record[r->n++] = (struct hn_record){
		.id = from->id,
		.steps = hn_arena_strdup(&r->arena, from->steps),
		.origin = hn_arena_strdup(&r->arena, from->origin),
		.verdict = from->verdict,
		.detail = hn_arena_strdup(&r->arena, from->detail),
		.median_ns = from->median_ns,
		.build_ns = from->build_ns,
		.run_ns = from->run_ns,
		.proved = from->proved,
		.certificate = hn_arena_strdup(&r->arena, from->certificate),
	};
	return 0;
}

static int read_best(struct hn_recall *r, struct hn_db *db, const char *workload,
		     const char *target, struct hn_err *err)
{
	struct hn_record best;
	int rc = hn_db_best(db, workload, target, &r->arena, &best, err);

	if (rc == 0) {
		r->best_ns = best.median_ns;
		r->best_steps = best.steps;
	}
	return rc == -HONE_E_NOT_FOUND ? 0 : rc;
}

int hn_recall_read(struct hn_recall *r, struct hn_db *db, const char *workload,
		   const char *target, const char *model, struct hn_err *err)
{
	int rc;

	rc = hn_db_promotion(db, workload, target, &r->promotion, err);
	rc = rc == -HONE_E_NOT_FOUND ? 0 : rc;
	rc = rc != 0 ? rc : hn_db_records(db, workload, target, on_record, r, err);
	rc = rc != 0 ? rc : hn_db_get_naive(db, workload, target, &r->naive, err);
	rc = rc != 0 ? rc : read_best(r, db, workload, target, err);
	if (rc == 0 && model != NULL) {
		rc = hn_db_get_model(db, target, model, &r->arena, &r->model, err);
	}
	return rc;
}

void hn_recall_init(struct hn_recall *r)
{
	*r = (struct hn_recall){ 0 };
	hn_arena_init(&r->arena, 0);
}

void hn_recall_fini(struct hn_recall *r)
{
	hn_arena_fini(&r->arena);
}
