/* target/npu/npu_pipe.c -- the pipes: queues in order, flags between them, and when each instruction
 * begins and ends. */
#include "target/npu/npu_sim_int.h"

static int64_t later(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static struct npu_flag *flag_of(struct npu_sim *s, const struct npu_op *op)
{
	return &s->flag[op->in->pipe[0]][op->in->pipe[1]][op->v[0]];
}

static void note(struct npu_sim *s, enum hn_npu_pipe p, const struct hn_npu_insn *in, int64_t from,
		 int64_t to)
{
	struct hn_npu_result *r = s->ret;

	if (s->o->event != NULL && s->core == s->o->event_core && r->n_event < s->o->n_event) {
		s->o->event[r->n_event++] =
			(struct hn_npu_event){ .insn = in, .pipe = (uint8_t)p, .from = from, .to = to };
	}
}

static void learn(struct npu_clock *to, const struct npu_clock *from)
{
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		to->done[i] = to->done[i] > from->done[i] ? to->done[i] : from->done[i];
	}
}

/* What is before `number` in its own pipe is done when the pipe says so. */
static bool set(struct npu_sim *s, enum hn_npu_pipe p, const struct npu_op *op, uint32_t number,
		int64_t time)
{
	struct npu_flag *f = flag_of(s, op);

	if (f->set || (s->o->judge && !npu_judge_set(s, p, (enum hn_npu_pipe)op->in->pipe[1], f))) {
		return npu_is_wrong(&s->fault, HN_NPU_F_TWICE,
				    "flag %s %s %lld is set again, and nothing shows that the wait for "
				    "line %u's has passed", hn_npu_pipe_name[op->in->pipe[0]],
				    hn_npu_pipe_name[op->in->pipe[1]], (long long)op->v[0], f->line);
	}
	f->set = true;
	f->line = op->in->line;
	f->time = time;
	f->clock = s->pipe[p].clock;
	f->clock.done[p] = number;
	return true;
}

static int64_t startup(const struct npu_sim *s, enum hn_npu_pipe p, int64_t start)
{
	const struct npu_pipe *q = &s->pipe[p];

	return p == HN_NPU_M && (start > q->free || q->n_done == 0) ? s->m->cube_start : 0;
}

int npu_pipe_step(struct npu_sim *s, enum hn_npu_pipe p)
{
	struct npu_pipe *q = &s->pipe[p];
	struct npu_entry *e = &q->ring[q->n_done % NPU_RING];
	const struct npu_op *op = &e->op;
	uint32_t number = (uint32_t)q->n_done + 1;
	int64_t start, end, next; /* of the next one */

	if (q->n_done == q->n_given) {
		return 0;
	}
	start = later(q->free, e->given);
	if (op->in->op == HN_NPU_I_WAIT) {
		struct npu_flag *f = flag_of(s, op);

		if (!f->set) {
			return 0;
		}
		f->set = false;
		f->waited = number;
		learn(&q->clock, &f->clock);
		start = next = later(start, f->time);
	} else {
		int64_t cost = npu_cost(s->m, op, s->rate);

		end = start + startup(s, p, start) + cost;
		next = end - cost + npu_cost_until_next(s->m, op, s->rate, cost);
		if (op->in->op == HN_NPU_I_SET) {
			if (!set(s, p, op, number, later(start, q->done) + cost)) {
				s->fault_line = op->in->line;
				return -1;
			}
		} else if (op->in->op == HN_NPU_I_BARRIER) {
			q->clock.done[p] = number;
			next = later(next, q->done);
		} else {
			if (s->o->judge && !npu_judge(s, p, op)) {
				s->fault_line = op->in->line;
				return -1;
			}
			if (s->base.gm != NULL) {
				npu_compute(&s->base, op);
			}
			note(s, p, op->in, start, end);
		}
		q->busy += later(end, q->done) - later(start, q->done);
		q->done = later(q->done, end);
	}
	q->begun[q->n_done % NPU_RING] = start;
	q->free = next;
	q->n_done++;
	return 1;
}

void npu_pipe_drain(struct npu_sim *s)
{
	struct npu_pipe *v = &s->pipe[HN_NPU_V];

	v->free += v->clock.done[HN_NPU_V] < v->n_done ? s->m->vector_drain : 0;
}

void npu_pipe_meet(struct npu_sim *s)
{
	int64_t end = s->now;
	struct npu_clock all;

	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		end = later(end, later(s->pipe[i].free, s->pipe[i].done));
		all.done[i] = (uint32_t)s->pipe[i].n_done;
	}
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		s->pipe[i].clock = all;
	}
	s->now = end;
}
