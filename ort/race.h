/* ort/race.h -- whether a compiled network is faster here than onnxruntime's own providers, and gives
 * the same answers: both are run in turns on made-up inputs, once (contest.h); the result is kept in the folder.
 */
#ifndef HN_ORT_RACE_H
#define HN_ORT_RACE_H

#include "ort/contest.h"
#include "ort/library.h"
#include "ort/slots.h"

#define ORT_RACE_LEAST 1.05 /* how much faster it has to be to be taken */

/* HONE_E_INTERNAL with the runtime's own words where it cannot run the file. */
int ort_race(const void *api, const char *runtime, const char *model, const char *dir,
	     struct ort_library *l, struct ort_contest *ret, struct hn_err *err) HN_NODISCARD;

#endif
