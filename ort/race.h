/* ort/race.h -- whether a compiled network is faster here than onnxruntime's own providers, and gives
 * the same answers: both are run in turns on made-up inputs, once; the result is kept in the folder.
 */
#ifndef HN_ORT_RACE_H
#define HN_ORT_RACE_H

#include "ort/library.h"
#include "ort/slots.h"

#define ORT_RACE_LEAST 1.05 /* how much faster it has to be to be taken */

struct ort_race {
	double runtime_ns, hone_ns; /* medians */
	double gain; /* the less of: the median of the turns' quotients, the quotient of the bests */
	double error; /* largest difference of an output, relative to its largest element */
	bool kept;    /* it was raced before */
};

/* HONE_E_INTERNAL with the runtime's own words where it cannot run the file. */
int ort_race(const void *api, const char *runtime, const char *model, const char *dir,
	     struct ort_library *l, struct ort_race *ret, struct hn_err *err) HN_NODISCARD;

#endif
