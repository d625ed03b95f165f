/* cpu_sample.c -- references that are known only in part.
 *
 * If all answers take too long, even by fast programs, the naive program's object holds programs
 * that compute some of them, in boxes all over the outputs (board.h: sample). They run twice,
 * over two kinds of poison: an element that is the same in both was computed. Only such elements
 * are compared. In a reference the other elements are copies of these, so that poison made from
 * it (poison.h) looks like an answer there, too.
 */
#include "measure/drv/cpu_call.h"

#include <stdio.h>
#include <string.h>

#include "measure/board/fpenv.h"
#include "measure/board/pool.h"

/* ---- in the child */

/* What one thread runs. */
struct sampling {
	struct calling *c;
	int rounding;
};

static void sample_one(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct sampling *s = closure;

	(void)worker;
	for (int64_t i = begin; i < end; i++) {
		struct calling *c = s[i].c;

		hn_fp_reset();
		fesetround(s[i].rounding);
		feclearexcept(FE_ALL_EXCEPT);
		for (uint32_t k = 0; k < HN_SAMPLES && c->sample[k] != NULL; k++) {
			int32_t returned = c->sample[k](c->args, &c->env);

			c->returned = k == 0 || c->returned == 0 ? returned : c->returned;
		}
		c->raised = fetestexcept(HN_FP_RANGE);
		hn_fp_reset();
	}
}

_Noreturn void hn_cpu_refer_sample(struct cpu_run *run, struct calling c[2],
				   struct hone_pool *pool, struct hn_arena *a)
{
	bool upwards = run->sample == CPU_SAMPLE_UPWARDS;
	struct sampling s[2] = {{&c[0], FE_TONEAREST}, {&c[1], upwards ? FE_UPWARD : FE_TONEAREST}};
	void **reference = cpu_pointers(run->w, HN_REDZONE_EXACT, run->set, a);

	c[1].args = cpu_pointers(run->w, HN_REDZONE_EXACT, run->set, a);
	for (uint32_t i = 0; i < run->w->n_tensor; i++) {
		const struct hn_redzone *g = &run->w->buffer[i].reference[run->set];

		if (run->w->tensor[i].output) {
			memset(g->data, HN_POISON_FIRST, g->bytes);
			reference[i] = g->data;
		}
	}
	c[0].args = reference;
	cpu_poison(run->w, HN_REDZONE_EXACT, HN_POISON_SECOND);
	if (pool != NULL) {
		hone_pool_run(pool, sample_one, s, 2);
	} else {
		sample_one(s, 0, 2, 0);
	}
	cpu_must_have_returned(run, &c[0]);
	cpu_must_have_returned(run, &c[1]);
	run->report->body.raised = c[1].raised;
	cpu_finish(run, HN_VERDICT_OK, "");
}

/* ---- in the parent */

/* Elements of output i that both runs have. */
static void find(struct cpu_workload *w, uint32_t i, const uint8_t *p, const uint8_t *q)
{
	struct cpu_told *told = &w->buffer[i].told;
	size_t size = hn_dtype_bytes(w->tensor[i].elem);
	int64_t n = w->tensor[i].n_elem;

	*told = (struct cpu_told){0};
	for (int pass = 0; pass < 2; pass++) {
		uint32_t k = 0;

		for (int64_t at = 0; at < n; at++) {
			int64_t begin = at;

			while (at < n && memcmp(p + (size_t)at * size, q + (size_t)at * size, size) == 0) {
				at++;
			}
			if (at > begin && pass > 0) {
				told->part[k] = (struct cpu_part){begin, at};
				told->n_elem += at - begin;
			}
			k += at > begin;
		}
		told->n = k;
		if (pass == 0) {
			told->part = HN_NEW_ARRAY(&w->arena, struct cpu_part, k);
		}
	}
}

/* What is not told becomes like what is. */
static void fill(const struct cpu_workload *w, uint32_t i, uint8_t *reference)
{
	const struct cpu_told *told = &w->buffer[i].told;
	size_t size = hn_dtype_bytes(w->tensor[i].elem);
	int64_t at = 0, from = told->part[0].begin;
	uint32_t k = 0;

	for (uint32_t next = 0; next <= told->n; next++) {
		int64_t end = next < told->n ? told->part[next].begin : w->tensor[i].n_elem;

		for (; at < end; at++) {
			memcpy(reference + (size_t)at * size, reference + (size_t)from * size, size);
			if (++from == told->part[k].end) {
				k = (k + 1) % told->n;
				from = told->part[k].begin;
			}
		}
		at = next < told->n ? told->part[next].end : at;
	}
}

static bool tell(struct cpu_workload *w, uint32_t set)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct cpu_buffer *b = &w->buffer[i];

		if (w->tensor[i].output) {
			find(w, i, b->reference[set].data, b->exact.data);
			if (b->told.n == 0) {
				return false;
			}
		}
	}
	w->told = true;
	return true;
}

void hn_cpu_sample(struct cpu_board *b, struct cpu_workload *w, uint32_t set,
		   const struct hn_board_workload *from, struct hn_board_answer *ret)
{
	struct cpu_run run = {.w = w, .kernel = &from->naive, .rival = &from->naive,
			      .made_of = from, .reference = true, .set = set,
			      .n_workers = hone_pool_cpus() < 2 ? 1 : 2};

	for (run.sample = w->told ? CPU_SAMPLE_UPWARDS : CPU_SAMPLE_TWICE;
	     run.sample <= (set > 0 ? CPU_SAMPLE_UPWARDS : CPU_SAMPLE_TWICE); run.sample++) {
		hn_cpu_run_child(b, &run, ret);
		if (ret->verdict == HN_VERDICT_OK && !w->told && !tell(w, set)) {
			ret->verdict = HN_VERDICT_WRONG_RESULT;
			snprintf(ret->detail, sizeof ret->detail,
				 "the naive program's sample computes nothing of an output");
		}
		if (ret->verdict != HN_VERDICT_OK) {
			return;
		}
	}
	w->set[set].sampled = true;
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (w->tensor[i].output) {
			fill(w, i, w->buffer[i].reference[set].data);
		}
	}
}

/* ---- in both */

bool hn_cpu_verify(const struct cpu_workload *w, uint32_t i, uint32_t set, const void *got,
		   int64_t begin, int64_t end, struct hn_mismatch *ret)
{
	const struct cpu_buffer *b = &w->buffer[i];
	const void *want = b->reference[set].data;

	if (b->bracket[1][set].region != NULL) {
		return hn_verify_between(&w->tensor[i], got, want, b->bracket[0][set].data,
					 b->bracket[1][set].data, begin, end, ret);
	}
	if (!w->set[set].sampled) {
		return hn_verify_part(&w->tensor[i], got, want, begin, end, w->tolerance,
				      b->scale[set], ret);
	}
	*ret = (struct hn_mismatch){0};
	for (uint32_t k = 0; k < b->told.n; k++) {
		int64_t from = b->told.part[k].begin, to = b->told.part[k].end;
		struct hn_mismatch m;

		from = from > begin ? from : begin;
		to = to < end ? to : end;
		if (from >= to || hn_verify_part(&w->tensor[i], got, want, from, to, w->tolerance,
						 b->scale[set], &m)) {
			continue;
		}
		ret->first = ret->n == 0 ? m.first : ret->first;
		ret->n += m.n;
		ret->worst = m.worst > ret->worst ? m.worst : ret->worst;
	}
	return ret->n == 0;
}

int64_t hn_cpu_draw(const struct cpu_workload *w, uint32_t i, uint32_t set, struct hn_rng *r)
{
	const struct cpu_told *told = &w->buffer[i].told;
	const struct cpu_part *part;

	if (!w->set[set].sampled) {
		return (int64_t)hn_rng_below(r, (uint64_t)w->tensor[i].n_elem);
	}
	part = &told->part[hn_rng_below(r, told->n)];
	return part->begin + (int64_t)hn_rng_below(r, (uint64_t)(part->end - part->begin));
}
