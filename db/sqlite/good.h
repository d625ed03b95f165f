/* db/sqlite/good.h -- whether a row is the one that was written: a condition on each table, for
 * every statement that reads it.
 *
 * hone_good (sum.c) is true when the row's column `sum` is the checksum of the values named here;
 * a row for which it is not is noted and left out.  A record's names its workload, target and
 * stamp by their texts, so that it says what it is of, whatever happened to those rows.  A later
 * version may add columns at the end: NULL there adds nothing to a sum.
 */
#ifndef HN_DB_SQLITE_GOOD_H
#define HN_DB_SQLITE_GOOD_H

#define WORKLOAD_VALUES(id, key, name, dag, flops, ms, cache)                            \
	"'workload', " id ", " key ", " name ", " dag ", " flops ", " ms ", " cache
#define TARGET_VALUES(id, line) "'target', " id ", " line
#define STAMP_VALUES(id, hone, codegen, board)                                           \
	"'stamp', " id ", " hone ", " codegen ", " board
#define CERTIFICATE_VALUES(id, json, ms) "'certificate', " id ", " json ", " ms
#define TALLY_VALUES(workload, target, trial, failed, automatic)                         \
	"'tally', " workload ", " target ", " trial ", " failed ", " automatic
#define NAIVE_VALUES(workload, target, ns, ms, share)                                    \
	"'naive', " workload ", " target ", " ns ", " ms ", " share
#define MODEL_VALUES(target, name, text, ms)                                             \
	"'model', " target ", " name ", " text ", " ms
#define JOB_VALUES(seq, id, json, finished, ms)                                          \
	"'job', " seq ", " id ", " json ", " finished ", " ms
#define PROMOTION_VALUES(id, workload, target, record, judged, ns, lo, hi, entrant,      \
			 block, ms, replaced)                                            \
	"'promotion', " id ", " workload ", " target ", " record ", " judged ", " ns     \
	", " lo ", " hi ", " entrant ", " block ", " ms ", " replaced

/* hone_good's second argument is the stored sum. */
#define GOOD_(table, values) "hone_good(" #table ".sum, " values ")"

#define WORKLOAD_GOOD                                                                    \
	GOOD_(workload,                                                                  \
	      WORKLOAD_VALUES("workload.id", "workload.key", "workload.name",            \
			      "workload.dag_json", "workload.flops", "workload.unix_ms", \
			      "workload.cache"))
#define TARGET_GOOD GOOD_(target, TARGET_VALUES("target.id", "target.line"))
#define STAMP_GOOD                                                                       \
	GOOD_(stamp, STAMP_VALUES("stamp.id", "stamp.hone", "stamp.codegen", "stamp.board"))
#define CERTIFICATE_GOOD                                                                 \
	GOOD_(certificate, CERTIFICATE_VALUES("certificate.record_id", "certificate.json", \
					      "certificate.unix_ms"))
#define TALLY_GOOD                                                                       \
	GOOD_(tally, TALLY_VALUES("tally.workload_id", "tally.target_id",                \
				  "tally.n_trial", "tally.n_failed", "tally.automatic"))
#define NAIVE_GOOD                                                                       \
	GOOD_(naive, NAIVE_VALUES("naive.workload_id", "naive.target_id",                \
				  "naive.naive_ns", "naive.unix_ms", "naive.share"))
#define MODEL_GOOD                                                                       \
	GOOD_(model, MODEL_VALUES("model.target_id", "model.name", "model.text",         \
				  "model.unix_ms"))
#define JOB_GOOD                                                                         \
	GOOD_(job, JOB_VALUES("job.seq", "job.id", "job.json", "job.finished", "job.unix_ms"))
#define PROMOTION_GOOD                                                                   \
	GOOD_(promotion,                                                                 \
	      PROMOTION_VALUES("promotion.id", "promotion.workload_id",                  \
			       "promotion.target_id", "promotion.record_id",             \
			       "promotion.judged_id", "promotion.median_ns",             \
			       "promotion.gain_lo", "promotion.gain_hi",                 \
			       "promotion.n_entrant", "promotion.n_block",               \
			       "promotion.unix_ms", "promotion.replaced_id"))
/* Wants workload, target and stamp joined. */
#define RECORD_GOOD                                                                      \
	"hone_good(record.sum, 'record', record.id, workload.key, target.line,"          \
	" stamp.hone, stamp.codegen, stamp.board, record.steps, record.verdict,"         \
	" record.detail, record.median_ns, record.sample_ns, record.build_ns,"           \
	" record.run_ns, record.unix_ms, record.proved, record.origin, record.parent,"   \
	" record.mate, record.changes, record.predicted_ns, record.model)"

#endif
