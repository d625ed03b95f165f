/* client/tune.h -- `hone tune` of one computation, and of several. */
#ifndef HN_CLIENT_TUNE_H
#define HN_CLIENT_TUNE_H

#include "base/jw.h"
#include "client/link.h"

/* *told: its answer was shown, which says whether there is a kernel. */
int hn_tune_one(const struct hn_opts *o, bool *told, struct hn_err *err) HN_NODISCARD;
int hn_tune_set(const struct hn_opts *o, struct hn_err *err) HN_NODISCARD;

/* Members of submit and set.submit: one string, unless it is NULL; what the
 * options say, for so many computations. */
void hn_tune_put_string(struct hn_jw *w, const char *key, const char *s);
void hn_tune_put_options(struct hn_jw *w, const struct hn_opts *o, uint32_t n_task);

/* The members "record" and "steps" of a job's best: nulls where it has none. */
void hn_tune_put_best(struct hn_link *link, const struct hn_json *job, struct hn_jw *w);

/* "; BUILD_FAIL, first: C: ..." of a job without a correct candidate; "": nothing is known, or a
 * job's id is not (NULL). */
void hn_tune_why(struct hn_link *link, const char *job, char *ret, size_t cap);

#endif
