/* tests/full/all_tensorized.c -- histories that give loops to instructions (step TE), right and
 * wrong: the quick check, the exact one, the evaluation of the tree and the machine code have to
 * tell the same story.
 *
 * Programs are random sums of products of narrow types (random_products.h). Of each, histories
 * are: fills of the sketches with TE, some of the search's mutations of them, random histories
 * with TE in them, and such as a hostile record may bring: the step at another loop, stage or
 * place, for another instruction, twice; its loop of another length, split, fused, moved,
 * annotated. What the steps refuse is counted; what they accept is judged as in unit/all_random.
 *
 * Without an argument 600 histories, else that many; a second one says with which program to
 * begin. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/random_pairs.h"
#include "tests/lib/random_products.h"

static uint64_t n_histories = 600, first_program;
static uint64_t at_work = UINT64_MAX; /* on this program; for the case of a crash */

#define EACH 12 /* histories of a program */

/* Where histories come from, each twice. */
enum source { FILLED, SEARCHED, HOSTILE, EDITED, WILD, MOVED, N_SOURCE };

static const char *const source_names[N_SOURCE] = { "filled", "searched", "hostile",
						    "edited", "wild",	  "moved" };

struct tally {
	struct rp_bench bench;
	uint64_t n[N_SOURCE], refused[N_SOURCE]; /* by the steps, or no tree */
	uint64_t given, by_instruction, programs, offered;
};

struct one {
	struct tally *t;
	struct rp_program *p;
	const struct hn_intrin *in;
	struct hn_rng rng;
	struct hn_arena *a;
};

static int64_t below(struct one *o, int64_t n)
{
	return (int64_t)hn_rng_below(&o->rng, (uint64_t)n);
}

static bool has_group(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->stage[i]->intrin != NULL) {
			return true;
		}
	}
	return false;
}

/* A fill of a sketch with TE; NULL: there is none. */
static const struct hn_state *fill(struct one *o, const struct hn_sketch **ret_of)
{
	const struct hn_state *s;

	for (int i = 0; i < 60; i++) {
		s = rp_fill_sketch(&o->t->bench, o->p, &o->rng, ret_of, o->a);
		if (s != NULL && has_group(s)) {
			return s;
		}
	}
	return NULL;
}

static const struct hn_state *searched(struct one *o)
{
	const struct hn_sketch *of;
	const struct hn_state *s = fill(o, &of), *next;
	const char *origin;
	struct hn_plan *plan;

	for (int64_t n = 1 + below(o, 5); s != NULL && n > 0; n--) {
		const struct hn_plan *other =
			hn_plan_of(of, s->trace, o->a, &plan)
				? hn_mutate(of, plan, NULL, &o->rng, o->a, &origin)
				: NULL;

		if (other != NULL &&
		    hn_sketch_rebuild(of, other, &o->t->bench.host, &o->rng, o->a,
				      &next) == HN_VERDICT_OK) {
			s = next;
		}
	}
	return s;
}

/* The stage whose sum fits the instruction. */
static int32_t sum_of(const struct hn_state *s, const struct hn_intrin *in)
{
	const struct hn_expr *factor[2];

	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->dag->op[i]->kind == HN_OP_COMPUTE &&
		    s->stage[i]->at != HN_AT_INLINED &&
		    hn_intrin_factors(in, s->dag->op[i], factor)) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* One step more; true when it could be taken. */
static bool take(struct one *o, const struct hn_state **s, const struct hn_step *step)
{
	const struct hn_state *next;

	if (hn_state_apply(*s, step, o->a, &next, NULL) != 0) {
		return false;
	}
	*s = next;
	return true;
}

/* A loop for dimension d, most often cut to what it takes; the n in loop[] stay what they are. */
static int64_t cut_any(struct one *o, const struct hn_state **s, int32_t stage,
		       enum hn_intrin_dim d, int64_t *loop, uint32_t n)
{
	int64_t terms = hn_intrin_terms(o->in), at = below(o, (*s)->stage[stage]->n_iter);
	int64_t len = d == HN_INTRIN_TERMS ? below(o, 4) ? terms : 1 + below(o, 6)
					   : 1 + below(o, 17);
	const struct hn_state *next;

	if (below(o, 5) == 0 ||
	    hn_split(*s, stage, (int32_t)at, &len, 1, true, o->a, &next, NULL) != 0) {
		return at;
	}
	*s = next;
	for (uint32_t i = 0; i < n; i++) {
		loop[i] += loop[i] > at;
	}
	return at + 1;
}

/* Any loop of the stage cut, and a part of it, or another loop, given away. */
static const struct hn_state *give_any(struct one *o, const struct hn_state *s,
				       int32_t stage)
{
	uint32_t n = hn_intrin_n_dim(o->in);
	int64_t loop[HN_INTRIN_DIMS];
	struct hn_step give = { .kind = HN_STEP_tensorize,
				.stage = stage,
				.n_list = n,
				.list = loop,
				.text = o->in->name };

	for (int tries = 0; tries < 6 && stage >= 0 && s->stage[stage]->n_iter > 0;
	     tries++) {
		for (uint32_t i = 0; i < n; i++) {
			loop[i] = cut_any(o, &s, stage, hn_intrin_dim(o->in, i), loop, i);
		}
		if (take(o, &s, &give)) {
			break;
		}
	}
	return s;
}

/* Random, with the sum's group among it, before or after the rest. */
static const struct hn_state *wild(struct one *o)
{
	uint64_t seed = hn_rng_u64(&o->rng);
	const struct hn_state *s = hn_state_init(o->p->dag, o->a);
	struct draw d = { s, hn_rng_stream(seed, 3, 1, 0), o->a };

	if (below(o, 2)) { /* then the rest */
		d.s = give_any(o, s, sum_of(s, o->in));
		for (int32_t i = (int32_t)d.s->n_stage - 1; i >= 0; i--) {
			if (d.s->dag->op[i]->kind == HN_OP_COMPUTE &&
			    d.s->stage[i]->at != HN_AT_INLINED) {
				split_all(&d, i);
				shuffle_loops(&d, i);
				annotate_loops(&d, i);
			}
		}
		return below(o, 2) ? annotate_any(d.s, &o->rng, o->a) : d.s;
	}
	s = below(o, 2) ? rp_wild(o->p->dag, seed, o->a)
			: random_history(o->p->dag, seed, o->a);
	return give_any(o, s, sum_of(s, o->in));
}

/* The place of the stage's group among its loops; -1: none. */
static int32_t group_of(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];

	for (uint32_t i = 0; st->intrin != NULL && i < st->n_iter; i++) {
		if (st->iter[i].var == st->intrin_var[HN_INTRIN_TERMS]) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* Something done to the group's loop after it was given away. */
static const struct hn_state *disturb(struct one *o, const struct hn_state *s)
{
	const struct hn_state *next;
	int64_t len = 1 + below(o, 5), order[64];
	int32_t stage = -1, at;
	uint32_t n;
	int rc;

	for (uint32_t i = 0; i < s->n_stage; i++) {
		stage = s->stage[i]->intrin != NULL ? (int32_t)i : stage;
	}
	if (stage < 0 || (at = group_of(s, stage)) < 0) {
		return s;
	}
	n = s->stage[stage]->n_iter;
	switch (below(o, 6)) {
	case 0:
		rc = hn_split(s, stage, at, &len, 1, below(o, 2), o->a, &next, NULL);
		break;
	case 1:
		rc = hn_fuse(s, stage, at > 0 ? at - 1 : at, 2, o->a, &next, NULL);
		break;
	case 2:
		for (uint32_t i = 0; i < n && n <= 64; i++) {
			int64_t j = below(o, i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		rc = hn_reorder(s, stage, order, n <= 64 ? n : 0, o->a, &next, NULL);
		break;
	case 3:
		rc = hn_annotate(s, stage, at,
				 below(o, 2)   ? HN_ANN_UNROLL
				 : below(o, 2) ? HN_ANN_VECTORIZE
					       : HN_ANN_PARALLEL,
				 o->a, &next, NULL);
		break;
	case 4:
		return annotate_any(s, &o->rng, o->a);
	default:
		rc = hn_rfactor(s, stage, (int32_t)below(o, n), 0, o->a, &next, NULL);
	}
	return rc == 0 ? next : s;
}

static const struct hn_step *changed(struct one *o, const struct hn_step *step)
{
	struct hn_step *x = HN_NEW(o->a, struct hn_step);
	int64_t *list = HN_NEW_ARRAY(o->a, int64_t, step->n_list + 1);

	*x = *step;
	memcpy(list, step->list, step->n_list * sizeof(*list));
	x->list = list;
	switch (step->kind == HN_STEP_tensorize ? below(o, 3) : 3 + below(o, 2)) {
	case 0:
		list[below(o, step->n_list)] = below(o, 12);
		break;
	case 1:
		x->stage = (int32_t)below(o, 6);
		break;
	case 2:
		x->text = hn_intrin_at((uint32_t)below(o, hn_intrin_count()))->name;
		break;
	case 3:
		if (step->n_list > 0) {
			list[below(o, step->n_list)] = 1 + below(o, 9);
		}
		break;
	default:
		x->a[0] = below(o, 8);
	}
	return x;
}

/* The fill's steps one by one, with some changed, moved, or taken twice; what does not fit is
 * passed over, or ends it. */
static const struct hn_state *hostile(struct one *o)
{
	const struct hn_sketch *of;
	const struct hn_state *from = fill(o, &of), *s = hn_state_init(o->p->dag, o->a);
	uint32_t n = from != NULL ? from->trace->n_step : 0, te = n, early;
	bool lenient = below(o, 3) > 0;
	int64_t kind = below(o, 4);

	for (uint32_t i = 0; i < n; i++) {
		te = from->trace->step[i]->kind == HN_STEP_tensorize ? i : te;
	}
	if (te == n) {
		return NULL;
	}
	early = (uint32_t)below(o, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_step *step = from->trace->step[i];
		bool near = i == te || (i + 1 == te && below(o, 2)) || below(o, 12) == 0;

		if (kind == 0 && near) {
			step = changed(o, step);
		}
		if ((kind == 1 && i == early && !take(o, &s, from->trace->step[te]) &&
		     !lenient) ||
		    (!(kind == 1 && i == te && below(o, 2)) && !take(o, &s, step) &&
		     !lenient)) {
			return NULL;
		}
		if (kind >= 2 && i >= te && below(o, i == te ? 2 : 6) == 0) {
			s = disturb(o, s);
		}
	}
	return s;
}

/* A step lost, two swapped, a length changed. */
static const struct hn_state *edited(struct one *o)
{
	const struct hn_sketch *of;
	const struct hn_state *from = fill(o, &of), *s;

	return from != NULL && hn_state_replay(o->p->dag,
					       edit_trace(from->trace, &o->rng, o->a),
					       o->a, &s, NULL) == 0
		       ? s
		       : NULL;
}

static const struct hn_state *draw_history(struct one *o, enum source from)
{
	const struct hn_sketch *of;
	const struct hn_state *s;

	switch (from) {
	case FILLED:
		return fill(o, &of);
	case SEARCHED:
		return searched(o);
	case HOSTILE:
		return hostile(o);
	case EDITED:
		return edited(o);
	case WILD:
		return wild(o);
	default:
		s = fill(o, &of);
		for (int64_t n = 1 + below(o, 4); s != NULL && n > 0; n--) {
			s = below(o, 3) == 0 ? move_any(s, &o->rng, o->a)
					     : annotate_any(s, &o->rng, o->a);
		}
		return s;
	}
}

/* The seed says to rp_judge whether a tree that is wrong is a finding (random_pairs.h). */
static uint64_t judged_as(uint64_t i, enum source from)
{
	return i * RP_HISTORIES +
	       (from == FILLED || from == SEARCHED ? RP_FILL : RP_MUTATED);
}

static bool calls(struct one *o, const struct hn_looptree *t)
{
	struct hn_emit_options e = { .symbol = "k", .want_ir = true };
	struct hn_artefact ret;

	return hn_emit(o->t->bench.em, t, &e, o->a, &ret, NULL) == 0 &&
	       strstr(ret.ir, o->in->llvm) != NULL;
}

static void judge(struct one *o, const char *text, enum source from, uint64_t i)
{
	const struct hn_state *s = draw_history(o, from);
	const struct hn_looptree *tree;
	struct hn_buf steps;

	o->t->n[from]++;
	if (s == NULL || hn_looptree_build(s, o->a, &tree, NULL) != 0) {
		o->t->refused[from]++;
		return;
	}
	o->t->given += has_group(s);
	if (i % 16 == 0) { /* a build more */
		o->t->by_instruction += calls(o, tree);
	}
	enum rp_verdict v = rp_judge(&o->t->bench, o->p, s, judged_as(i, from), o->a);

	if (v != RP_PASS) {
		hn_buf_init(&steps);
		hn_trace_write(s->trace, &steps);
		hn_looptree_print(tree, &steps);
		fail_msg("%s, %s: %s; %s\n%s%s", source_names[from], o->in->name,
			 rp_names[v], o->t->bench.note, text, steps.s);
	}
}

/* Whole numbers where the order of a sum of floats is free, else any. */
static struct rd_kind kind_of(const struct hn_intrin *in)
{
	return (struct rd_kind){ .family = in->sum == HN_I32 ? RD_RANGE : RD_WHOLE };
}

/* Whether some sketch has TE: packing pays. Else histories are wild ones. */
static bool is_offered(const struct rp_program *p)
{
	for (uint32_t i = 0; i < p->sketches.n; i++) {
		if (has_group(p->sketches.sketch[i].state)) {
			return true;
		}
	}
	return false;
}

static void check_program(struct tally *t, uint64_t seed, uint64_t *i)
{
	struct rp_program p;
	struct one o = { .t = t, .p = &p };
	struct hn_buf text;
	struct hn_arena a;

	hn_buf_init(&text);
	random_product(seed, &text, &o.in);

	struct rd_kind kind = kind_of(o.in);

	if (rp_open(&t->bench, text.s, &kind, false, &p) != 0) {
		fail_msg("%s\n%s", t->bench.note, text.s);
	}
	hn_arena_init(&a, 0);
	bool offered = is_offered(&p);

	at_work = seed;
	t->programs++;
	t->offered += offered;
	for (uint32_t h = 0; h < EACH && *i < n_histories; h++, ++*i) {
		o.a = &a;
		o.rng = hn_rng_stream(seed, 41, h, 0);
		judge(&o, text.s, offered ? (enum source)(h % N_SOURCE) : WILD, *i);
		hn_arena_reset(&a);
	}
	hn_arena_fini(&a);
	rp_close(&p);
	hn_buf_fini(&text);
}

static void print(const struct tally *t)
{
	const struct rp_counts *n = &t->bench.n;

	for (int i = 0; i < N_SOURCE; i++) {
		print_message("%llu %s, %llu refused by a step; ",
			      (unsigned long long)t->n[i], source_names[i],
			      (unsigned long long)t->refused[i]);
	}
	print_message(
		"\n%llu programs, %llu with sketches that tensorize; %llu trees, %llu of "
		"them with a group (1 of 16 emitted once more: %llu call the "
		"instruction)\n",
		(unsigned long long)t->programs, (unsigned long long)t->offered,
		(unsigned long long)n->pairs, (unsigned long long)t->given,
		(unsigned long long)t->by_instruction);
	print_message(
		"%llu right, of which %llu refused by the exact check and %llu by the "
		"quick "
		"one; %llu illegal, %llu undecided; %llu kernels ran; %llu damaged, none "
		"accepted\n",
		(unsigned long long)n->right, (unsigned long long)n->missed,
		(unsigned long long)n->plain_missed, (unsigned long long)n->illegal,
		(unsigned long long)n->unknown, (unsigned long long)n->run,
		(unsigned long long)n->damaged);
}

static void one_story(void **state)
{
	struct tally *t = calloc(1, sizeof(*t));
	const struct rp_counts *n = &t->bench.n;
	uint64_t i = 0;

	(void)state;
	rp_bench_open(&t->bench);
	for (uint64_t seed = first_program; i < n_histories; seed++) {
		check_program(t, seed, &i);
	}
	print(t);
	assert_true(n->right * 4 > n_histories);
	assert_true((n->illegal + n->damaged) * 20 > n_histories);
	assert_true(n->missed <=
		    n->unknown); /* none that the exact check refused outright */
	assert_true(n->plain_missed * 50 <= n->plain);
	rp_bench_close(&t->bench);
	free(t);
	at_work = UINT64_MAX;
}

static int say_where(void **state)
{
	(void)state;
	if (at_work != UINT64_MAX) {
		print_message("it was at work on program %llu\n",
			      (unsigned long long)at_work);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(one_story,
								      say_where) };

	n_histories = argc > 1 ? strtoull(argv[1], NULL, 10) : n_histories;
	first_program = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	return cmocka_run_group_tests_name("tensorized histories", tests, NULL, NULL);
}
