/* cpu_origin.c -- what the references of a workload are made of, as one number.
 *
 * Same programs and same inputs give the same references, whoever asks: a workload that comes again
 * is not run again.
 */
#include "measure/drv/cpu_int.h"

#include <string.h>

#include "base/hash.h"

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return text != NULL ? hn_hash64(text, strlen(text) + 1, seed) : seed + 1;
}

uint64_t hn_cpu_origin(const struct hn_board_workload *from)
{
	const double number[] = {from->tolerance, (double)from->magnitude, from->need.flops,
				 from->need.read_bytes, from->need.written_bytes,
				 (double)from->n_set, (double)from->n_tensor, from->cold,
				 from->settled, from->subnormals,
				 (double)from->naive.limit_ms};
	uint64_t h = hn_hash64(from->naive.object, from->naive.object_bytes, from->seed);

	h = hn_hash64(number, sizeof number, h);
	h = hash_text(from->naive.symbol, h);
	h = hash_text(from->wide, h);
	h = hash_text(from->refer, h);
	h = hash_text(from->sample, h);
	h = hash_text(from->bracket, h);
	for (uint32_t i = 0; i < from->n_tensor; i++) {
		const struct hn_tensor *t = &from->tensor[i];

		h = hash_text(t->name, h);
		h = hn_hash64(&t->elem, sizeof t->elem, h);
		h = hn_hash64(&t->output, sizeof t->output, h);
		h = hn_hash64(t->shape, t->n_dim * sizeof *t->shape, h);
	}
	return h;
}
