/* daemon/crashes.c -- see crashes.h. */
#include "daemon/crashes.h"

struct hn_crashes hn_crashes_read(const struct hn_json *row)
{
	struct hn_crashes c = { 0 };

	if (!hn_json_int(hn_json_get(row, "crashes"), &c.n) ||
	    !hn_json_int(hn_json_get(row, "crash_trials"), &c.n_trial)) {
		c = (struct hn_crashes){ 0 };
	}
	return c;
}

void hn_crashes_write(const struct hn_crashes *c, bool running, struct hn_jw *w)
{
	hn_jw_int(w, "crashes", c->n + running);
	hn_jw_int(w, "crash_trials", c->n_trial);
}

int hn_crashes_start(struct hn_crashes *c, int64_t n_trial, struct hn_err *err)
{
	if (n_trial > c->n_trial) {
		c->n = 0;
	}
	c->n_trial = n_trial;
	if (c->n >= HN_CRASHES_MOST) {
		return hn_fail(err, HONE_E_INTERNAL,
			       "honed ended %lld times in a row while this job ran, without a new "
			       "record; it is not resumed again (is memory short? the log of "
			       "honed and of the system may say); tune again to try it",
			       (long long)c->n);
	}
	return 0;
}
