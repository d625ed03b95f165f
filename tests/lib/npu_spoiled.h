/* A program of the NPU without one of its flags: what each flag is there for has to show. */
#ifndef TESTS_LIB_NPU_SPOILED_H
#define TESTS_LIB_NPU_SPOILED_H

#include <string.h>

#include "target/npu/npu_run.h"

/* The first section without the n-th set and the wait for it.  False: it has no n-th. */
static bool npu_without(const struct hn_npu_program *p, uint32_t n, struct hn_arena *a,
			struct hn_npu_program *ret)
{
	const struct hn_npu_section *s = &p->section[0];
	struct hn_npu_insn *in = HN_NEW_ARRAY(a, struct hn_npu_insn, s->n_insn);
	struct hn_npu_section *own = HN_NEW(a, struct hn_npu_section);
	uint32_t k = 0, i = 0, w;

	while (i < s->n_insn && !(s->insn[i].op == HN_NPU_I_SET && k++ == n)) {
		i++;
	}
	w = i;
	while (w < s->n_insn && !(s->insn[w].op == HN_NPU_I_WAIT &&
				  memcmp(s->insn[w].pipe, s->insn[i].pipe, 2) == 0 &&
				  s->insn[w].number[0].imm == s->insn[i].number[0].imm)) {
		w++;
	}
	if (w == s->n_insn) {
		return false;
	}
	*own = *s;
	own->n_core = 1;
	own->n_insn = 0;
	own->insn = in;
	for (k = 0; k < s->n_insn; k++) {
		if (k != i && k != w) {
			in[own->n_insn++] = s->insn[k];
		}
	}
	*ret = *p;
	ret->section = own;
	ret->n_section = 1;
	return true;
}

/* How many flags there are; fails where something is left out and nothing is found. */
static uint32_t npu_each_flag_is_needed(const struct hn_npu_program *p, const struct hn_npu_profile *m)
{
	struct hn_npu_program spoiled;
	struct hn_arena a;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	for (; npu_without(p, n, &a, &spoiled); n++) {
		const struct hn_npu_options o = { .judge = true };
		struct hn_npu_result r;
		struct hn_err err = { 0 };

		if (hn_npu_run(&spoiled, m, &o, &a, &r, &err) == 0 ||
		    (r.fault != HN_NPU_F_RACE && r.fault != HN_NPU_F_TWICE)) {
			fail_msg("without flag %u: %s", n, err.msg);
		}
		hn_arena_reset(&a);
	}
	hn_arena_fini(&a);
	return n;
}

#endif
