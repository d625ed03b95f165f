/* lower/npu/join.c -- the code of several programs one after the other, with `barrier cores`, or `barrier all`,
 * between.
 *
 * Programs share their cores otherwise each: a section of all is of cores that have one section, or
 * none, in each of them.
 */
#include "lower/npu/parts.h"
#include "target/npu/npu_insn.h"

struct join {
	const struct hn_npu_part *part;
	uint32_t n_part;
	struct hn_arena *a;
	struct hn_npu_insn *insn; /* of the section at hand */
	uint32_t n_insn, cap_insn;
	uint64_t n_all;
};

/* The section that has the core; NULL: none.  *end falls to the first core that may have another one. */
static const struct hn_npu_section *section_at(const struct hn_npu_program *p, uint32_t core, uint32_t *end)
{
	const struct hn_npu_section *ret = NULL;

	for (uint32_t i = 0; i < p->n_section; i++) {
		const struct hn_npu_section *s = &p->section[i];
		bool has = core >= s->first && core < s->first + s->n_core;
		uint32_t until = has ? s->first + s->n_core : s->first;

		*end = until > core && until < *end ? until : *end;
		ret = has ? s : ret;
	}
	return ret;
}

static void put(struct join *j, const struct hn_npu_insn *in)
{
	if (++j->n_all <= HN_NPU_MOST_INSNS) {
		j->insn = hn_arena_grow(j->a, j->insn, j->n_insn, &j->cap_insn, sizeof(*in));
		j->insn[j->n_insn++] = *in;
	}
}

/* Straight code of cores from `core` on, which its own section counts from its first. */
static void put_code(struct join *j, const struct hn_npu_part *part, const struct hn_npu_section *s, uint32_t core)
{
	for (uint32_t i = 0; i < s->n_insn; i++) {
		struct hn_npu_insn in = s->insn[i];

		for (int k = 0; k < HN_NPU_PLACES; k++) {
			if (k < hn_npu_kind[hn_npu_op[in.op].kind].n_place && in.place[k].memory == HN_NPU_GM) {
				in.place[k].buffer = (int16_t)part->buffer[in.place[k].buffer];
			}
		}
		put(j, &in);
		if (in.op == HN_NPU_I_CORE && core > s->first) {
			in.op = HN_NPU_I_SADD;
			in.number[0] = (struct hn_npu_number){ .reg = (int8_t)in.reg };
			in.number[1] = (struct hn_npu_number){ .imm = core - s->first, .reg = -1 };
			put(j, &in);
		}
	}
}

static bool is_straight(const struct join *j)
{
	for (uint32_t i = 0; i < j->n_part; i++) {
		for (uint32_t k = 0; k < j->part[i].p->n_section; k++) {
			if (!j->part[i].p->section[k].straight) {
				return false;
			}
		}
	}
	return true;
}

int hn_npu_join(const struct hn_npu_part *part, uint32_t n, const struct hn_npu_program *like, struct hn_arena *a,
		const struct hn_npu_program **ret, struct hn_err *err)
{
	struct join j = { .part = part, .n_part = n, .a = a };
	struct hn_npu_program *p = HN_NEW(a, struct hn_npu_program);
	uint32_t cap = 0, line = 2 + like->n_buffer + like->n_scratch;
	struct hn_npu_section *section = NULL;

	if (!is_straight(&j)) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%s: code with loops", like->what);
	}
	*p = *like;
	p->n_section = 0;
	for (uint32_t core = 0, end = UINT32_MAX; core < UINT32_MAX; core = end, end = UINT32_MAX) {
		const struct hn_npu_section *of[HN_NPU_MOST_PARTS];
		bool any = false;

		for (uint32_t i = 0; i < n; i++) {
			of[i] = section_at(part[i].p, core, &end);
			any |= of[i] != NULL;
		}
		if (!any) {
			continue;
		}
		j.insn = NULL;
		j.n_insn = j.cap_insn = 0;
		for (uint32_t i = 0; i < n; i++) {
			const struct hn_npu_insn barrier = { .op = HN_NPU_I_BARRIER,
							     .pipe = { part[i].meets ? HN_NPU_CORES : HN_NPU_ALL } };

			if (i > 0) {
				put(&j, &barrier);
			}
			if (of[i] != NULL) {
				put_code(&j, &part[i], of[i], core);
			}
		}
		for (uint32_t i = 0; i < j.n_insn; i++) {
			j.insn[i].line = line + 1 + i;
		}
		line += j.n_insn + 2;
		section = hn_arena_grow(a, section, p->n_section, &cap, sizeof(*section));
		section[p->n_section++] = (struct hn_npu_section){ .first = core, .n_core = end - core, .insn = j.insn,
								    .n_insn = j.n_insn, .straight = true };
	}
	p->section = section;
	*ret = p;
	return j.n_all <= HN_NPU_MOST_INSNS
		       ? 0 : hn_fail(err, HONE_E_UNSUPPORTED, "it takes more than %d instructions", HN_NPU_MOST_INSNS);
}
