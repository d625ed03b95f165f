/* lower/npu/order.c -- flags and barriers, where two instructions touch the same memory.
 *
 * A walk over the instructions in order, with who wrote and who read each block of 32 bytes last.
 * What an instruction has to come after is compared with what its pipe knows to be done; what is
 * missing becomes a flag.  Flags that others imply are left out.  A pair of pipes has few flags: one
 * is free again when the pipe that sets it knows that the wait for it has passed.  If none is, a
 * later place of the setting pipe is tried, then a barrier of all pipes.
 *
 * Waits stand behind their sets in the program, so there is no circle, and no deadlock.
 */
#include <string.h>

#include "lower/npu/order_int.h"

static void need(uint32_t *what, uint32_t at)
{
	*what = *what > at ? *what : at;
}

static void blocks(struct npu_order *o, const struct npu_span *s, int64_t at, enum hn_npu_pipe p,
		   uint32_t number, bool marks, uint32_t what[HN_NPU_N_PIPE])
{
	struct npu_last *t = o->touch[s->memory];

	for (int64_t b = at / HN_NPU_BLOCK; b <= (at + s->bytes - 1) / HN_NPU_BLOCK; b++) {
		if (!marks) {
			need(&what[t[b].write_pipe], t[b].write);
			for (int i = 0; i < HN_NPU_N_PIPE && s->write; i++) {
				need(&what[i], t[b].read[i]);
			}
		} else if (s->write) {
			t[b].write = number;
			t[b].write_pipe = (uint8_t)p;
		} else {
			t[b].read[p] = number;
		}
	}
}

/* Arguments are read, or written by one pipe: nothing in global memory waits. */
static void spans(struct npu_order *o, const struct npu_op *op, enum hn_npu_pipe p, uint32_t number,
		  bool marks, uint32_t what[HN_NPU_N_PIPE])
{
	for (uint32_t i = 0; i < op->n_span; i++) {
		const struct npu_span *s = &op->span[i];

		for (int64_t k = 0; k < s->n1 * s->n0 && s->memory != HN_NPU_GM; k++) {
			blocks(o, s, s->at + k / s->n0 * s->s1 + k % s->n0 * s->s0, p, number, marks, what);
		}
	}
}

static void learn(struct npu_done *to, const struct npu_done *from)
{
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		need(&to->done[i], from->done[i]);
	}
}

/* A flag that may be set behind instruction `at` of pipe from; -1: none. */
static int free_flag(const struct npu_order *o, uint32_t at, enum hn_npu_pipe from, enum hn_npu_pipe to)
{
	for (int id = 0; id < o->m->events && !o->loose; id++) {
		const struct npu_use *u = &o->use[from][to][id];

		if (u->set == 0 || (u->set < at && o->when[at].done[to] >= u->waited)) {
			return id;
		}
	}
	return o->loose ? 0 : -1;
}

static bool add_edge(struct npu_order *o, uint32_t at, enum hn_npu_pipe from, enum hn_npu_pipe to,
		     uint32_t before)
{
	for (; at < before; at++) {
		int id = o->pipe[at] == from ? free_flag(o, at, from, to) : -1;

		if (id >= 0) {
			o->edge = hn_arena_grow(o->a, o->edge, o->n_edge, &o->cap_edge, sizeof(o->edge[0]));
			o->edge[o->n_edge++] = (struct npu_edge){ .at = at, .before = before,
							      .from = (uint8_t)from, .to = (uint8_t)to,
							      .id = (uint8_t)id };
			o->use[from][to][id] = (struct npu_use){ at, before };
			learn(&o->known[to], &o->when[at]);
			o->facts->n_flag++;
			return true;
		}
	}
	return false;
}

static void all_know(struct npu_order *o, uint32_t before)
{
	struct npu_done all = { { 0 } };

	for (uint32_t i = 1; i < before; i++) {
		all.done[o->pipe[i]] = i;
	}
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		o->known[i] = all;
	}
}

static void whole(struct npu_order *o, uint32_t before)
{
	all_know(o, before);
	o->before[before] = 2;
	o->facts->n_whole++;
}

/* Whether another of what is needed comes after this one anyway. */
static bool is_implied(const struct npu_order *o, const uint32_t what[HN_NPU_N_PIPE],
		       const struct npu_done *known, enum hn_npu_pipe p, int q)
{
	for (int i = 0; i < HN_NPU_N_PIPE; i++) {
		if (i != q && i != (int)p && what[i] > known->done[i] &&
		    o->when[what[i]].done[q] >= what[q]) {
			return true;
		}
	}
	return false;
}

static void wait_for(struct npu_order *o, const uint32_t what[HN_NPU_N_PIPE], enum hn_npu_pipe p,
		     uint32_t number)
{
	struct npu_done known = o->known[p];

	for (int q = 0; q < HN_NPU_N_PIPE; q++) {
		if (q == (int)p || what[q] <= known.done[q] || is_implied(o, what, &known, p, q)) {
			continue;
		}
		if (!add_edge(o, what[q], (enum hn_npu_pipe)q, p, number)) {
			whole(o, number);
			return;
		}
	}
	if (p == HN_NPU_V && what[p] > o->known[p].done[p]) {
		o->before[number] = 1;
		o->facts->n_vector_barrier++;
		o->known[p].done[p] = number - 1;
	}
}

static int one(struct npu_order *o, const struct hn_npu_insn *in, uint32_t number, struct hn_err *err)
{
	enum hn_npu_pipe p = hn_npu_pipe_of(in);
	uint32_t what[HN_NPU_N_PIPE] = { 0 };
	struct npu_fault fault;
	struct npu_op op;

	o->pipe[number] = (uint8_t)p;
	if (hn_npu_op[in->op].kind == HN_NPU_K_LET) {
		int64_t x = in->number[0].imm + (in->number[0].reg < 0 ? 0 : o->reg[in->number[0].reg]);

		/* of the first core; only addresses in global memory differ */
		o->reg[in->reg] = in->op == HN_NPU_I_MOV ? x : 0;
		return 0;
	}
	if (in->op == HN_NPU_I_BARRIER && in->pipe[0] == HN_NPU_CORES) {
		all_know(o, number);
		return 0;
	}
	if (p == HN_NPU_S || in->op == HN_NPU_I_SET || in->op == HN_NPU_I_WAIT ||
	    in->op == HN_NPU_I_BARRIER) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%s:%u: flags are put into straight code that has none",
			       o->p->what, in->line);
	}
	if (!npu_resolve(o->p, o->m, in, o->reg, o->image, &op, &fault)) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%s:%u: %s", o->p->what, in->line, fault.text);
	}
	if (in->op == HN_NPU_I_IMAGE) {
		int64_t *image = HN_NEW_ARRAY(o->a, int64_t, HN_NPU_NUMBERS);

		memcpy(image, op.v, sizeof(op.v));
		o->image = image;
	}
	spans(o, &op, p, number, false, what);
	wait_for(o, what, p, number);
	spans(o, &op, p, number, true, what);
	o->when[number] = o->known[p];
	o->when[number].done[p] = number;
	return 0;
}

struct hn_npu_insn npu_plain(enum hn_npu_op op, uint8_t from, uint8_t to, int64_t id)
{
	return (struct hn_npu_insn){ .op = (uint8_t)op, .pipe = { from, to },
				     .number[0] = { .imm = id, .reg = -1 } };
}

struct hn_npu_section npu_order_section(struct npu_order *o, enum hn_npu_order order)
{
	const struct hn_npu_section *s = o->s;
	uint32_t room = order == HN_NPU_BARRIERS ? 2 * s->n_insn : 2 * (s->n_insn + o->n_edge), n = 0;
	struct hn_npu_insn *to = HN_NEW_ARRAY(o->a, struct hn_npu_insn, room + 1);
	uint32_t *sets = HN_NEW_ARRAY(o->a, uint32_t, s->n_insn + 2), *next, w = 0;
	struct hn_npu_section ret = *s;

	/* sets by where they stand; waits are in order */
	next = HN_NEW_ARRAY(o->a, uint32_t, o->n_edge + 1);
	for (uint32_t e = o->n_edge; e-- > 0;) {
		next[e] = sets[o->edge[e].at];
		sets[o->edge[e].at] = e + 1;
	}
	for (uint32_t i = 1; i <= s->n_insn; i++) {
		for (; w < o->n_edge && o->edge[w].before == i; w++) {
			to[n++] = npu_plain(HN_NPU_I_WAIT, o->edge[w].from, o->edge[w].to, o->edge[w].id);
		}
		if (o->before[i] != 0) {
			to[n++] = npu_plain(HN_NPU_I_BARRIER, o->before[i] == 2 ? HN_NPU_ALL : HN_NPU_V, 0, 0);
		}
		to[n++] = s->insn[i - 1];
		for (uint32_t e = sets[i]; e != 0; e = next[e - 1]) {
			to[n++] = npu_plain(HN_NPU_I_SET, o->edge[e - 1].from, o->edge[e - 1].to, o->edge[e - 1].id);
		}
		if (order == HN_NPU_BARRIERS && o->pipe[i] != HN_NPU_S) {
			to[n++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_ALL, 0, 0);
		}
	}
	ret.insn = to;
	ret.n_insn = n;
	return ret;
}

int npu_order_walk(struct npu_order *o, enum hn_npu_order order, struct hn_err *err)
{
	uint32_t n = o->s->n_insn + 1;

	o->when = HN_NEW_ARRAY(o->a, struct npu_done, n);
	o->pipe = HN_NEW_ARRAY(o->a, uint8_t, n);
	o->before = HN_NEW_ARRAY(o->a, uint8_t, n);
	for (int i = 0; i < HN_NPU_GM; i++) {
		o->touch[i] = HN_NEW_ARRAY(o->a, struct npu_last,
					   (size_t)hn_npu_memory_bytes(o->m, (enum hn_npu_memory)i) /
						   HN_NPU_BLOCK);
	}
	for (uint32_t i = 1; i < n; i++) {
		const struct hn_npu_insn *in = &o->s->insn[i - 1];
		int rc = 0;

		if (order == HN_NPU_FLAGS) {
			rc = one(o, in, i, err);
		} else {
			o->pipe[i] = (uint8_t)hn_npu_pipe_of(in);
		}
		if (rc != 0) {
			return rc;
		}
	}
	return 0;
}

int hn_npu_order(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		 enum hn_npu_order order, struct hn_arena *a, const struct hn_npu_program **ret,
		 struct hn_npu_order_facts *facts, struct hn_err *err)
{
	struct hn_npu_section *s = HN_NEW_ARRAY(a, struct hn_npu_section, p->n_section);
	struct hn_npu_program *made = HN_NEW(a, struct hn_npu_program);
	struct hn_npu_order_facts own = { 0 };
	uint32_t line = 2 + p->n_buffer + p->n_scratch;

	if (order == HN_NPU_AS_WRITTEN) {
		*ret = p;
		return 0;
	}
	for (uint32_t i = 0; i < p->n_section; i++) {
		struct npu_order *o = HN_NEW(a, struct npu_order);
		struct hn_npu_insn *in;
		int rc;

		if (!p->section[i].straight) {
			return hn_fail(err, HONE_E_UNSUPPORTED, "%s: code with loops", p->what);
		}
		*o = (struct npu_order){ .p = p, .m = m, .s = &p->section[i], .a = a, .facts = &own };
		rc = npu_order_walk(o, order, err);
		if (rc != 0) {
			return rc;
		}
		s[i] = npu_order_section(o, order);
		in = (struct hn_npu_insn *)(uintptr_t)s[i].insn;
		for (uint32_t k = 0; k < s[i].n_insn; k++) {
			in[k].line = line + 1 + k;
		}
		line += s[i].n_insn + 2;
	}
	*made = *p;
	made->section = s;
	*ret = made;
	if (facts != NULL) {
		*facts = own;
	}
	return 0;
}

/* A program that grew too long is no mistake of its text's. */
static int too_long(uint64_t n, struct hn_err *err)
{
	return n <= HN_NPU_MOST_INSNS ? 0
				      : hn_fail(err, HONE_E_UNSUPPORTED,
						"%llu instructions are too many for one program: at most %d",
						(unsigned long long)n, HN_NPU_MOST_INSNS);
}

static uint64_t lines_of(const struct hn_buf *text)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text->n; i++) {
		n += text->s[i] == '\n';
	}
	return n;
}

int hn_npu_order_text(struct hn_buf *text, const struct hn_npu_profile *m, enum hn_npu_order order,
		      struct hn_arena *a, const struct hn_npu_program **ret,
		      struct hn_npu_order_facts *facts, struct hn_err *err)
{
	const struct hn_npu_program *plain;
	uint64_t n = 0;
	int rc = text->failed ? hn_fail(err, HONE_E_UNSUPPORTED,
					"code of more than %zu MiB: there are too many tiles for one "
					"program",
					HN_NPU_TEXT_BYTES >> 20)
			      : too_long(lines_of(text), err);

	rc = rc ? rc : hn_npu_parse("code", text->s, text->n, a, &plain, err);
	hn_buf_fini(text);
	rc = rc ? rc : hn_npu_order(plain, m, order, a, ret, facts, err);
	for (uint32_t i = 0; rc == 0 && i < (*ret)->n_section; i++) {
		n += (*ret)->section[i].n_insn;
	}
	return rc ? rc : too_long(n, err);
}
