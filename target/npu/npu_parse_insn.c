/* target/npu/npu_parse_insn.c -- one instruction of the NPU from its line. */
#include <stdio.h>
#include <string.h>

#include "base/typo.h"
#include "target/npu/npu_parse_int.h"

static uint8_t take_pipe(struct npu_parse *p, int n)
{
	const char *word = hn_npu_take(p);

	for (int i = 0; i < n; i++) {
		if (strcmp(word, hn_npu_pipe_name[i]) == 0) {
			return (uint8_t)i;
		}
	}
	hn_npu_refuse(p, "'%s' is no pipe", word);
}

static struct hn_npu_place take_place(struct npu_parse *p, uint32_t allowed)
{
	const char *word = hn_npu_take(p);
	struct hn_npu_place v = { .memory = HN_NPU_N_MEMORY, .buffer = -1 };

	for (uint32_t i = 0; i < p->p.n_buffer + p->p.n_scratch; i++) {
		if (strcmp(word, p->buffer[i].name) == 0) {
			v.memory = HN_NPU_GM;
			v.buffer = (int16_t)i;
		}
	}
	for (int i = 0; i < HN_NPU_GM; i++) {
		v.memory = strcmp(word, hn_npu_memory_word[i]) == 0 ? (uint8_t)i : v.memory;
	}
	if (v.memory == HN_NPU_N_MEMORY) {
		hn_npu_refuse(p, "'%s' is no memory and no buffer", word);
	}
	if ((allowed >> v.memory & 1) == 0) {
		hn_npu_refuse(p, "'%s' cannot stand here", word);
	}
	hn_npu_expect(p, "[");
	v.at = hn_npu_take_number(p);
	hn_npu_expect(p, "]");
	return v;
}

/* vadd.f32: the word up to the first '.', and the types behind. */
static void take_op(struct npu_parse *p, struct hn_npu_insn *in)
{
	const char *words[HN_NPU_N_OP], *near;
	size_t n, op = HN_NPU_N_OP;
	const char *at;

	hn_npu_take(p);
	n = strcspn(p->word, ".");
	for (size_t i = 0; i < HN_NPU_N_OP; i++) {
		words[i] = hn_npu_op[i].word;
		op = strlen(words[i]) == n && memcmp(words[i], p->word, n) == 0 ? i : op;
	}
	if (op == HN_NPU_N_OP) {
		p->word[n] = '\0';
		near = hn_typo_nearest(p->word, words, HN_NPU_N_OP);
		hn_npu_refuse(p, "there is no instruction '%s'%s%s", p->word,
			      near ? "; did you mean " : "", near ? near : "");
	}
	in->op = (uint8_t)op;
	at = p->word + n;
	for (int i = 0; i < 2; i++) {
		uint32_t set = i == 0 ? hn_npu_op[op].types.first : hn_npu_op[op].types.second;
		enum hn_dtype t;

		if (set == 0) {
			break;
		}
		n = *at == '.' ? strcspn(at + 1, ".") : 0;
		t = hn_npu_type_of(at + 1, n);
		if (n == 0 || t == HN_N_DTYPE || (set >> t & 1) == 0) {
			hn_npu_refuse(p, "%s of which type? '%s' does not say one that it has",
				      hn_npu_op[op].word, p->word);
		}
		in->type[i] = (uint8_t)t;
		at += n + 1;
	}
	if (*at != '\0') {
		hn_npu_refuse(p, "'%s' stands behind %s", at, hn_npu_op[op].word);
	}
}

static void take_numbers(struct npu_parse *p, const struct hn_npu_kind_row *kind,
			 struct hn_npu_insn *in)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < kind->n_number; i++) {
		in->number[i] = (struct hn_npu_number){
			.imm = hn_npu_numeral[kind->number[i]].fallback, .reg = -1
		};
	}
	while (hn_npu_peek(p) > 0) {
		uint32_t i = 0;

		hn_npu_take(p);
		while (i < kind->n_number &&
		       strcmp(p->word, hn_npu_numeral[kind->number[i]].word) != 0) {
			i++;
		}
		if (i == kind->n_number || (seen >> i & 1) != 0) {
			hn_npu_refuse(p, "'%s': %s has no such number, or has it already", p->word,
				      hn_npu_op[in->op].word);
		}
		seen |= 1u << i;
		in->number[i] = hn_npu_take_number(p);
		if (in->number[i].reg < 0 &&
		    (in->number[i].imm < hn_npu_numeral[kind->number[i]].least ||
		     in->number[i].imm > hn_npu_numeral[kind->number[i]].greatest)) {
			hn_npu_refuse(p, "%s %lld is not in %lld to %lld",
				      hn_npu_numeral[kind->number[i]].word,
				      (long long)in->number[i].imm,
				      (long long)hn_npu_numeral[kind->number[i]].least,
				      (long long)hn_npu_numeral[kind->number[i]].greatest);
		}
	}
	for (uint32_t i = 0; i < kind->n_number; i++) {
		if (in->number[i].reg < 0 && in->number[i].imm == HN_NPU_NONE &&
		    hn_npu_numeral[kind->number[i]].fallback == HN_NPU_NONE) {
			hn_npu_refuse(p, "%s wants %s", hn_npu_op[in->op].word,
				      hn_npu_numeral[kind->number[i]].word);
		}
	}
}

static void take_scalars(struct npu_parse *p, struct hn_npu_insn *in)
{
	uint32_t n = 2;

	switch (in->op) {
	case HN_NPU_I_SET:
	case HN_NPU_I_WAIT:
		in->pipe[0] = take_pipe(p, HN_NPU_N_PIPE);
		in->pipe[1] = take_pipe(p, HN_NPU_N_PIPE);
		if (in->pipe[0] == in->pipe[1] || in->pipe[0] == HN_NPU_S || in->pipe[1] == HN_NPU_S) {
			hn_npu_refuse(p, "a flag is between two pipes, S is none of them");
		}
		n = 1;
		break;
	case HN_NPU_I_BARRIER:
		in->pipe[0] = take_pipe(p, HN_NPU_N_PIPE + 2);
		if (in->pipe[0] == HN_NPU_S) {
			hn_npu_refuse(p, "S has no barrier: it does one thing after the other");
		}
		return;
	case HN_NPU_I_END:
		return;
	case HN_NPU_I_CORE:
		in->reg = hn_npu_take_register(p);
		return;
	case HN_NPU_I_IF:
		break;
	case HN_NPU_I_MOV:
	case HN_NPU_I_LOOP:
		n = 1;
		/* fall through */
	default:
		in->reg = hn_npu_take_register(p);
	}
	for (uint32_t i = 0; i < n; i++) {
		in->number[i] = hn_npu_take_number(p);
	}
}

struct hn_npu_insn hn_npu_take_insn(struct npu_parse *p)
{
	struct hn_npu_insn in = { .line = p->line };
	const struct hn_npu_kind_row *kind;

	take_op(p, &in);
	kind = &hn_npu_kind[hn_npu_op[in.op].kind];
	for (uint32_t i = 0; i < kind->n_place; i++) {
		in.place[i] = take_place(p, kind->place[i]);
	}
	if (hn_npu_op[in.op].kind == HN_NPU_K_SCALED || hn_npu_op[in.op].kind == HN_NPU_K_FILL) {
		in.scale = hn_npu_take_float(p);
	}
	if (kind->n_place > 0 || kind->n_number > 0) {
		take_numbers(p, kind, &in);
	} else {
		take_scalars(p, &in);
	}
	return in;
}
