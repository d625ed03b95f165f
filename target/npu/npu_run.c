/* target/npu/npu_run.c -- a program on the machine: the scalar unit of a core, and the order in which
 * its pipes go on. */
#include <stdlib.h>
#include <string.h>

#include "target/npu/npu_sim_int.h"

static const char *const fault_words[HN_NPU_N_FAULT] = {
	"fine",
#define FAULT(name, word, text) word,
#include "target/npu/faults.def"
#undef FAULT
};

const char *hn_npu_fault_word(enum hn_npu_fault f)
{
	return fault_words[f];
}

#define MOST ((uint64_t)1 << 28)

static enum npu_step wrong(struct npu_sim *s, uint32_t line)
{
	s->fault_line = line;
	return NPU_WRONG;
}

static bool is_idle(const struct npu_sim *s)
{
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		if (s->pipe[i].n_done != s->pipe[i].n_given) {
			return false;
		}
	}
	return true;
}

static void see_used(const struct npu_op *op, struct hn_npu_result *r)
{
	for (uint32_t i = 0; i < op->n_span; i++) {
		const struct npu_span *s = &op->span[i];

		if (s->memory != HN_NPU_GM && npu_span_end(s) > r->used[s->memory]) {
			r->used[s->memory] = npu_span_end(s);
		}
	}
}

static enum npu_step give(struct npu_sim *s, const struct hn_npu_insn *in, enum hn_npu_pipe to)
{
	struct npu_pipe *q = &s->pipe[to];
	struct npu_entry *e = &q->ring[q->n_given % NPU_RING];
	uint64_t room = (uint64_t)s->m->queue;

	if (q->n_given - q->n_done >= room) {
		return NPU_BLOCKED;
	}
	if (!npu_resolve(s->p, s->m, in, s->reg, s->image_now, &e->op, &s->fault)) {
		return wrong(s, in->line);
	}
	if (in->op == HN_NPU_I_IMAGE) {
		int64_t *image = s->image[s->n_image++ % NPU_IMAGES];

		memcpy(image, e->op.v, sizeof(s->image[0]));
		s->image_now = image;
	}
	if (s->o->judge) {
		see_used(&e->op, s->ret);
	}
	s->work += s->base.gm != NULL || s->o->judge ? npu_work(&e->op) : 0;
	s->now += s->m->dispatch;
	if (q->n_given >= room && q->begun[(q->n_given - room) % NPU_RING] > s->now) {
		s->now = q->begun[(q->n_given - room) % NPU_RING];
	}
	e->given = s->now;
	q->n_given++;
	s->at++;
	return NPU_GONE_ON;
}

/* One instruction of the program. */
static enum npu_step scalar_step(struct npu_sim *s, enum hn_npu_pipe *ret_to)
{
	const struct hn_npu_insn *in;
	enum hn_npu_pipe to;
	enum npu_step step = NPU_GONE_ON;

	*ret_to = HN_NPU_S;
	if (s->at == s->section->n_insn) {
		return NPU_OVER;
	}
	in = &s->section->insn[s->at]; /* a section without instructions has no array */
	to = hn_npu_pipe_of(in);
	if (to != HN_NPU_S) {
		*ret_to = to;
		step = give(s, in, to);
	} else if (in->op == HN_NPU_I_BARRIER) {
		if (!is_idle(s)) {
			return NPU_BLOCKED;
		}
		npu_pipe_drain(s);
		npu_pipe_meet(s);
		s->at++;
		step = in->pipe[0] == HN_NPU_CORES ? NPU_MET : NPU_GONE_ON;
	} else {
		if (!npu_scalar(s, in)) {
			return wrong(s, in->line);
		}
	}
	s->ret->n_insn += step != NPU_BLOCKED;
	if (step != NPU_BLOCKED && ++s->work > s->most) {
		(void)npu_is_wrong(&s->fault, HN_NPU_F_BUDGET, "more than %llu instructions that touch %d "
				   "bytes each",
				   (unsigned long long)s->most, NPU_WORK);
		return wrong(s, in->line);
	}
	return step;
}

/* All that can go on does, from pipe p on: 1 where something did, -1: a fault.  A pipe sleeps when it
 * cannot go on, and a flag that is set wakes the one that may wait for it. */
static int settle(struct npu_sim *s, enum hn_npu_pipe p)
{
	uint32_t awake = 1u << p;
	int moved = 0;

	while (awake != 0) {
		enum hn_npu_pipe q = (enum hn_npu_pipe)__builtin_ctz(awake);
		const struct hn_npu_insn *in = s->pipe[q].ring[s->pipe[q].n_done % NPU_RING].op.in;
		int rc = npu_pipe_step(s, q);

		if (rc < 0) {
			return -1;
		}
		if (rc == 0) {
			awake &= ~(1u << q);
		} else {
			moved = 1;
			awake |= in->op == HN_NPU_I_SET ? 1u << in->pipe[1] : 0;
		}
	}
	return moved;
}

static enum npu_step deadlock(struct npu_sim *s)
{
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		const struct npu_pipe *q = &s->pipe[i];

		if (q->n_done != q->n_given) {
			const struct npu_op *op = &q->ring[q->n_done % NPU_RING].op;

			(void)npu_is_wrong(&s->fault, HN_NPU_F_DEADLOCK, "%s waits for flag %s %s %lld for ever",
					   hn_npu_pipe_name[i], hn_npu_pipe_name[op->in->pipe[0]],
					   hn_npu_pipe_name[op->in->pipe[1]], (long long)op->v[0]);
			return wrong(s, op->in->line);
		}
	}
	return NPU_OVER;
}

/* In the order of the program: each pipe goes on as soon as it can. */
static enum npu_step in_order(struct npu_sim *s)
{
	enum hn_npu_pipe to;
	enum npu_step step;

	while ((step = scalar_step(s, &to)) == NPU_GONE_ON) {
		if (to != HN_NPU_S && settle(s, to) < 0) {
			return NPU_WRONG;
		}
	}
	return step == NPU_WRONG || step == NPU_MET ? step : deadlock(s);
}

/* S or a pipe, as drawn, does one thing. */
static enum npu_step at_random(struct npu_sim *s)
{
	while (true) {
		enum hn_npu_pipe first = (enum hn_npu_pipe)hn_rng_below(&s->rng, HN_NPU_N_PIPE), to;
		bool moved = false;

		/* a round from the drawn one on, until one goes on */
		for (int i = 0; i < HN_NPU_N_PIPE && !moved; i++) {
			enum hn_npu_pipe p = (enum hn_npu_pipe)((first + i) % HN_NPU_N_PIPE);
			enum npu_step step = NPU_BLOCKED;
			int rc = p == HN_NPU_S ? 0 : npu_pipe_step(s, p);

			if (p == HN_NPU_S) {
				step = scalar_step(s, &to);
			}
			if (rc < 0 || step == NPU_WRONG) {
				return NPU_WRONG;
			}
			if (step == NPU_MET) {
				return NPU_MET;
			}
			moved = rc > 0 || step == NPU_GONE_ON;
		}
		if (!moved) {
			return deadlock(s);
		}
	}
}

static bool is_left(struct npu_sim *s)
{
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		for (int k = 0; k < HN_NPU_N_PIPE; k++) {
			for (int id = 0; id < 8; id++) {
				if (s->flag[i][k][id].set) {
					s->fault_line = s->flag[i][k][id].line;
					(void)npu_is_wrong(&s->fault, HN_NPU_F_LEFT,
							   "nobody waits for flag %s %s %d",
							   hn_npu_pipe_name[i], hn_npu_pipe_name[k], id);
					return true;
				}
			}
		}
	}
	return false;
}

void npu_core_begin(struct npu_sim *s)
{
	npu_registers(s);
	memset(s->flag, 0, sizeof(s->flag));
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		s->pipe[i].n_given = s->pipe[i].n_done = 0;
		s->pipe[i].free = s->pipe[i].done = s->pipe[i].busy = 0;
		s->pipe[i].clock = (struct npu_clock){ 0 };
	}
	s->at = s->n_loop = 0;
	s->now = 0;
	s->image_now = NULL;
	if (s->o->judge) {
		npu_judge_core(s);
	}
}

enum npu_step npu_core_go(struct npu_sim *s)
{
	struct hn_npu_result *r = s->ret;
	enum npu_step step = s->o->seed == 0 ? in_order(s) : at_random(s);

	if (step == NPU_WRONG || step == NPU_MET) {
		return step;
	}
	if (is_left(s)) {
		return NPU_WRONG;
	}
	npu_pipe_meet(s);
	if (s->now > r->core_cycles) {
		r->core_cycles = s->now;
		r->core = s->core;
		for (int i = 0; i < HN_NPU_N_PIPE; i++) {
			r->busy[i] = s->pipe[i].busy;
		}
	}
	return NPU_OVER;
}

static int report(struct npu_sim *s, struct hn_err *err)
{
	s->ret->fault = s->fault.kind;
	s->ret->line = s->fault_line;
	return hn_fail(err, HONE_E_INVALID, "%s:%u: %s: %s (core %u)", s->p->what, s->fault_line,
		       fault_words[s->fault.kind], s->fault.text, s->core);
}

/* What nobody wrote there is no number. */
static void *const *with_scratch(const struct hn_npu_program *p, void *const *gm, struct hn_arena *a)
{
	void **all = HN_NEW_ARRAY(a, void *, p->n_buffer + p->n_scratch);

	for (uint32_t i = 0; i < p->n_buffer + p->n_scratch; i++) {
		size_t bytes = (size_t)p->buffer[i].bytes;

		all[i] = i < p->n_buffer ? gm[i] : memset(hn_arena_alloc(a, bytes), 0xff, bytes);
	}
	return all;
}

int hn_npu_run(const struct hn_npu_program *p, const struct hn_npu_profile *m,
	       const struct hn_npu_options *o, struct hn_arena *a, struct hn_npu_result *ret,
	       struct hn_err *err)
{
	struct npu_sim *s = HN_NEW(a, struct npu_sim);
	int64_t memory, bytes = 0;

	*ret = (struct hn_npu_result){ 0 };
	*s = (struct npu_sim){ .p = p, .m = m, .o = o, .ret = ret };
	s->most = o->most == 0 ? MOST : o->most;
	s->rate = HN_NEW_ARRAY(a, double, npu_buffers(s));
	if (p->n_size > 0 && p->value == NULL) {
		return hn_fail(err, HONE_E_INVALID, "%s: a launch gives its sizes: %s is %lld to %lld", p->what,
			       p->size[0].name, (long long)p->size[0].lo, (long long)p->size[0].hi);
	}
	for (uint32_t i = 0; i < p->n_section; i++) {
		if (p->section[i].first + p->section[i].n_core > m->cores) {
			return hn_fail(err, HONE_E_INVALID, "%s: code for core %u, and %s has %lld", p->what,
				       p->section[i].first + p->section[i].n_core - 1, m->name,
				       (long long)m->cores);
		}
	}
	for (uint32_t i = 0; i < p->n_buffer && o->judge; i++) {
		bytes += p->buffer[i].bytes;
	}
	if (bytes > HN_NPU_MOST_JUDGED) {
		return hn_fail(err, HONE_E_QUOTA, "%s: buffers of %lld bytes: races are looked for in %lld at "
			       "most", p->what, (long long)bytes, (long long)HN_NPU_MOST_JUDGED);
	}
	if (o->gm != NULL) {
		s->base = (struct npu_bases){ .gm = with_scratch(p, o->gm, a),
					      .simd = npu_simd(),
					      .left = HN_NEW_ARRAY(a, float, m->l0a_bytes / 2),
					      .right = HN_NEW_ARRAY(a, float, m->l0b_bytes / 2) };
		for (int i = 0; i < HN_NPU_GM; i++) {
			s->base.memory[i] = hn_arena_alloc(
				a, (size_t)hn_npu_memory_bytes(m, (enum hn_npu_memory)i));
		}
	}
	if (o->judge) {
		npu_judge_open(s, a);
	}
	npu_cores_alike(s, a);
	memory = npu_traffic(s, a);
	s->rng = hn_rng_stream(o->seed, 0, 0, 0);
	if (!npu_cores(s, a)) {
		return report(s, err);
	}
	ret->by_memory = memory > ret->core_cycles;
	ret->cycles = m->launch + (ret->by_memory ? memory : ret->core_cycles);
	return 0;
}
