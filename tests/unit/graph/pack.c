/* Prepared blocks as weights: each step's block is the bytes that were prepared for it, what only
 * the preparing reads is left out, and what a run reads stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "graph/library/pack.h"
#include "graph/library/settle.h"
#include "tests/lib/model_small.h"

#define BLOCK (MS_ALL - 4)

struct packing {
	struct hn_arena a;
	struct ms s;
	struct hn_weight w[2];
	struct hn_model before, after;
	struct hn_weights weights;
	char *prepared;
};

/* Both products prepare their weight, of `same` content; a run reads it besides, or not. */
static void pack(struct packing *p, bool same, bool reads)
{
	const bool *const by[] = { (const bool[]){ true, reads }, (const bool[]){ true } };
	struct hn_err err = { 0 };
	struct hn_packed packed;

	hn_arena_init(&p->a, 0);
	ms_make(&p->s, BLOCK);
	p->s.arg[2][1] = (struct hone_model_arg){ HONE_MODEL_WEIGHTS, 1, 0 };
	for (uint32_t i = 0; i < 2; i++) {
		float *f = HN_NEW_ARRAY(&p->a, float, MS_N *MS_N);

		f[1] = (float)(same ? 1 : 1 + i);
		p->w[i] = (struct hn_weight){ f, MS_ALL, 4, 0 };
	}
	assert_int_equal(hn_weights_plan(p->w, 2, &p->a, &p->weights, &err), 0);
	assert_int_equal(
		hn_library_settle(&p->s.m, p->w, 2, &p->weights, &p->a, &p->before, &err), 0);
	p->prepared = HN_NEW_ARRAY(&p->a, char, p->before.prepared_bytes);
	for (uint64_t i = 0; i < p->before.prepared_bytes; i++) {
		p->prepared[i] = (char)(i * 7 + i / MS_ALL);
	}
	hn_library_pack(&p->s.m, p->w, 2, &p->before, p->prepared, by, &p->a, &packed);
	assert_int_equal(
		hn_weights_plan(packed.weight, packed.n_weight, &p->a, &p->weights, &err), 0);
	if (hn_library_settle(&packed.model, packed.weight, packed.n_weight, &p->weights, &p->a,
			      &p->after, &err) != 0) {
		fail_msg("%s", err.msg);
	}
}

/* What the file has at this place. */
static const void *stored(const struct packing *p, uint64_t at)
{
	for (uint32_t i = 0; i < p->weights.n_entry; i++) {
		if (p->weights.entry[i].at == at) {
			return p->weights.entry[i].bytes;
		}
	}
	fail_msg("nothing is stored at %llu", (unsigned long long)at);
	return NULL;
}

static void blocks_become_weights(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 4; way++) {
		bool same = way & 1, reads = way & 2;
		struct packing p;

		pack(&p, same, reads);
		assert_int_equal(p.after.prepared_bytes, 0);
		assert_int_equal(p.weights.n_entry, (same ? 1 : 2) * (reads ? 2 : 1));
		for (uint32_t i = 0; i < 3; i += 2) {
			const struct hn_model_step *s = &p.after.step[i];

			assert_true(s->stored);
			assert_memory_equal(stored(&p, s->prepared),
					    p.prepared + p.before.step[i].prepared, BLOCK);
			assert_int_equal(s->arg[1].place,
					 reads ? HONE_MODEL_WEIGHTS : HONE_MODEL_NOWHERE);
			if (reads) {
				assert_memory_equal(stored(&p, s->arg[1].offset),
						    p.w[i / 2].bytes, MS_ALL);
			}
			assert_int_equal(s->arg[0].place,
					 i == 0 ? HONE_MODEL_INPUT : HONE_MODEL_ARENA);
		}
		assert_false(p.after.step[1].stored);
		assert_int_equal(p.s.arg[0][1].place, HONE_MODEL_WEIGHTS); /* what was given stays */
		hn_arena_fini(&p.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_become_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
