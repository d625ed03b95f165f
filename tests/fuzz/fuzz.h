/* tests/fuzz/fuzz.h -- the one function of a fuzz target, and what targets share. */
#ifndef HN_TESTS_FUZZ_H
#define HN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "loopstate/record/record.h"
#include "loopstate/state/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Whatever a reader took must hold together: a dag is valid, has a key, is written as
 * JSON that is read back to the same bytes. */
void hn_fuzz_dag(const struct hn_dag *dag);

/* Written, read and written again, a trace is the same text. */
void hn_fuzz_trace(const struct hn_trace *trace);

#endif
