/* target/npu/npu_cores.c -- the cores of a program: one after the other, or each up to where it waits for
 * the others.
 *
 * Cores share nothing but global memory.  Between two meetings what two cores do to the same block is
 * a race in any order, so there one may be simulated after the other; each keeps what it has while
 * others go on.  A program without `barrier cores` needs one core's memory for all.
 */
#include "target/npu/npu_sim_int.h"

void npu_cores_alike(struct npu_sim *s, struct hn_arena *a)
{
	bool *alike = HN_NEW_ARRAY(a, bool, s->p->n_section);

	for (uint32_t i = 0; i < s->p->n_section; i++) {
		alike[i] = npu_is_alike(&s->p->section[i]);
	}
	s->alike = alike;
}

/* One core stands for all where they are alike and nothing is looked at but time. */
static uint32_t cores_to_run(const struct npu_sim *s, uint32_t section)
{
	return s->o->gm == NULL && !s->o->judge && s->alike[section] ? 1 : s->p->section[section].n_core;
}

static bool meets(const struct hn_npu_program *p)
{
	for (uint32_t i = 0; i < p->n_section; i++) {
		for (uint32_t k = 0; k < p->section[i].n_insn; k++) {
			const struct hn_npu_insn *in = &p->section[i].insn[k];

			if (in->op == HN_NPU_I_BARRIER && in->pipe[0] == HN_NPU_CORES) {
				return true;
			}
		}
	}
	return false;
}

static bool one_by_one(struct npu_sim *s)
{
	for (uint32_t i = 0; i < s->p->n_section; i++) {
		uint32_t n = cores_to_run(s, i);

		s->section = &s->p->section[i];
		for (uint32_t k = 0; k < n; k++) {
			s->core = s->section->first + k;
			npu_core_begin(s);
			if (npu_core_go(s) == NPU_WRONG) {
				return false;
			}
		}
	}
	return true;
}

/* A core with memory of its own. */
static struct npu_sim *apart(const struct npu_sim *s, uint32_t section, uint32_t k, struct hn_arena *a)
{
	struct npu_sim *c = HN_NEW(a, struct npu_sim);

	*c = *s;
	c->section = &s->p->section[section];
	c->core = c->section->first + k;
	c->rng = hn_rng_stream(s->o->seed, c->core + 1, 0, 0);
	for (int i = 0; i < HN_NPU_GM && s->o->gm != NULL; i++) {
		c->base.memory[i] = hn_arena_alloc(a, (size_t)hn_npu_memory_bytes(s->m, (enum hn_npu_memory)i));
	}
	if (s->o->judge) {
		npu_judge_alone(c, a);
	}
	npu_core_begin(c);
	return c;
}

/* Each core to its end or to the next meeting: how many came to their end; UINT32_MAX: s->fault. */
static uint32_t one_round(struct npu_sim *s, struct npu_sim *const *core, uint32_t n)
{
	uint32_t n_over = 0, first = s->o->seed == 0 ? 0 : (uint32_t)hn_rng_below(&s->rng, n);

	for (uint32_t i = 0; i < n; i++) {
		struct npu_sim *c = core[(first + i) % n];
		enum npu_step step;

		c->work = s->work;
		step = npu_core_go(c);
		s->work = c->work;
		s->core = c->core;
		if (step == NPU_WRONG) {
			s->fault = c->fault;
			s->fault_line = c->fault_line;
			return UINT32_MAX;
		}
		c->over = step == NPU_OVER;
		n_over += c->over;
	}
	return n_over;
}

/* The latest says when they go on. */
static void go_on(struct npu_sim *s, struct npu_sim *const *core, uint32_t n)
{
	int64_t latest = 0;

	for (uint32_t i = 0; i < n; i++) {
		latest = core[i]->now > latest ? core[i]->now : latest;
	}
	for (uint32_t i = 0; i < n; i++) {
		core[i]->now = latest + s->m->meeting;
	}
	for (uint32_t i = 0; i < npu_buffers(s) && s->o->judge; i++) {
		s->work += (uint64_t)s->p->buffer[i].bytes / NPU_WORK;
	}
	if (s->o->judge) {
		npu_judge_met(s);
	}
}

/* Some wait for those that are at their end. */
static bool never(struct npu_sim *s, struct npu_sim *const *core, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!core[i]->over) {
			s->core = core[i]->core;
			s->fault_line = core[i]->section->insn[core[i]->at - 1].line;
		}
	}
	return npu_is_wrong(&s->fault, HN_NPU_F_DEADLOCK, "it waits for all cores, and some have come to their "
			    "end");
}

bool npu_cores(struct npu_sim *s, struct hn_arena *a)
{
	struct npu_sim **core;
	uint32_t n = 0, n_over = 0;

	if (!meets(s->p)) {
		return one_by_one(s);
	}
	for (uint32_t i = 0; i < s->p->n_section; i++) {
		n += cores_to_run(s, i);
	}
	core = HN_NEW_ARRAY(a, struct npu_sim *, n);
	n = 0;
	for (uint32_t i = 0; i < s->p->n_section; i++) {
		for (uint32_t k = 0; k < cores_to_run(s, i); k++) {
			core[n++] = apart(s, i, k, a);
		}
	}
	while (n_over < n) {
		n_over = one_round(s, core, n);
		if (n_over == UINT32_MAX) {
			return false;
		}
		if (n_over > 0 && n_over < n) {
			return never(s, core, n);
		}
		if (n_over == 0) {
			go_on(s, core, n);
		}
	}
	return true;
}
