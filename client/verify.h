/* client/verify.h -- the records that `hone verify` proves again: those of the store
 * (cmd_verify.c) or of a log (verify_log.c). The two mean different things by a record. */
#ifndef HN_CLIENT_VERIFY_H
#define HN_CLIENT_VERIFY_H

#include "client/cmd.h"
#include "client/prove.h"

/* One history; strings in the arena. */
struct hn_verify_item {
	int64_t id; /* record of the store, or line of the log */
	const char *workload, *target, *steps, *certificate;
	double median_ns;
	bool passed;
};

struct hn_verify {
	struct hn_arena arena;
	uint32_t n, cap;
	struct hn_verify_item *item;
	struct hn_prover prover;
	const char *what; /* the log; NULL for the store */
	bool json;
	uint32_t n_unread; /* lines of the log that are no record */
	uint32_t n_failed, n_given, n_withdrawn, n_damaged; /* n_unread among n_failed */
};

/* Append a copy of x; its strings live as long as v. */
void hn_verify_add(struct hn_verify *v, struct hn_verify_item x);

/* Ask for every record of --records on the computation given. */
int hn_verify_log(struct hn_verify *v, const struct hn_opts *o, struct hn_err *err) HN_NODISCARD;

#endif
