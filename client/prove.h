/* client/prove.h -- histories proved by hone-build, one run of it for many of them. */
#ifndef HN_CLIENT_PROVE_H
#define HN_CLIENT_PROVE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct hn_prover {
	FILE *requests, *answers; /* temporary, gone when closed */
};

int hn_prover_open(struct hn_prover *p, struct hn_err *err) HN_NODISCARD;
void hn_prover_close(struct hn_prover *p); /* one that did not open is fine */

/* Ask for a proof of steps; dag NULL = the same as before. */
void hn_prover_ask(struct hn_prover *p, const char *dag, const char *steps);

/* Prove all that was asked for; the answers, a JSON object a line, in order, are read from
 * p->answers then: {"verdict", "detail", "certificate"}; BUILD_TIMEOUT is the verdict on what takes
 * more than so many operations of isl (0 = any number). */
int hn_prover_run(struct hn_prover *p, const char *verb, uint32_t operations,
		  struct hn_err *err) HN_NODISCARD;

/* A string member of an answer or of a certificate; "" when there is none. */
struct hn_json;
const char *hn_prover_word(const struct hn_json *object, const char *name);

#endif
