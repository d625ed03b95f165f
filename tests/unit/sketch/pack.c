/* Packing as a decision: which operands the sketches offer to pack, that the panels follow
 * the tiles of the reader, and that plans and traces of packed programs are the same
 * thing. */
#include "tests/lib/sketch_util.h"

#include "loopstate/nest/bounds.h"
#include "loopstate/nest/looptree.h"

#define MATMUL                                                                           \
	"m(float32 A[512,512], float32 B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"
#define PRIMES                                                                           \
	"m(float32 A[509,503], float32 B[503,521]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"
#define DENSE "m(float32 A[64,96], float32 W[128,96]) -> C { C(i,j) +=! A(i,k) * W(j,k) }"
#define BATCH                                                                            \
	"m(float32 A[6,64,48], float32 B[6,48,512]) -> C"                                \
	" { C(b,i,j) +=! A(b,i,k) * B(b,k,j) }"
#define TWICE                                                                            \
	"m(float32 A[512,512], float32 B[512,512], float32 D[512,512]) -> C, E"          \
	" { C(i,j) +=! A(i,k) * B(k,j) E(i,j) +=! C(i,k) * D(k,j) }"

static struct hn_target machine(struct hn_arena *a)
{
	return target_of(a, "cpu -isa=x86-64-avx512 -num_cores=2");
}

static struct hn_sketches own_sketches(const struct hn_dag *dag,
				       const struct hn_target *t, struct hn_arena *a)
{
	struct hn_sketches s;
	struct hn_err err = { 0 };

	if (hn_sketch_generate_own(dag, t, a, &s, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return s;
}

/* Names of the stages that some sketch packs, each once: "B D". */
static void packed_names(const struct hn_sketches *s, struct hn_buf *ret)
{
	for (uint32_t k = 0; k < s->n; k++) {
		const struct hn_state *st = s->sketch[k].state;
		for (uint32_t i = 0; i < st->n_stage; i++) {
			const char *name = st->dag->op[i]->name,
				   *end = strstr(name, ".pack");
			char word[64];
			if (end) {
				snprintf(word, sizeof word, "%.*s ", (int)(end - name),
					 name);
				if (!ret->s || !strstr(ret->s, word)) {
					hn_buf_puts(ret, word);
				}
			}
		}
	}
}

static void offers_what_pays(void **state)
{
	static const struct {
		const char *text, *packed;
	} want[] = {
		{ MATMUL, "B " },
		{ DENSE, "W " },
		{ BATCH, "B " },
		{ TWICE, "D B " },
		/* each element is read once: the copy would cost as much as the work */
		{ "v(float32 A[512,512], float32 B[512]) -> C { C(j) +=! A(k,j) * B(k) }",
		  "" },
		/* rows much shorter than a page lie well enough */
		{ "m(float32 A[512,512], float32 B[512,256]) -> C { C(i,j) +=! A(i,k) * "
		  "B(k,j) }",
		  "" },
		/* constant operands are packed before the first call: both pay then, and
		 * what is computed from constants alone too */
		{ "m(float32 A[512,512], const float32 B[512,256]) -> C { C(i,j) +=! "
		  "A(i,k) * B(k,j) }",
		  "B " },
		{ "v(float32 A[512], const float32 B[512,512]) -> C { C(j) +=! A(k) * "
		  "B(k,j) }",
		  "B " },
		{ "m(float32 A[8,64], const float32 W[128,64,4]) -> C { D(k,j) +=! "
		  "W(j,k,l) C(i,j) +=! A(i,k) * D(k,j) }",
		  "D " },
		/* 2048 x 16384 floats are more than may be copied */
		{ "m(float32 A[64,2048], float32 B[2048,16384]) -> C"
		  " { C(i,j) +=! A(i,k) * B(k,j) }",
		  "" },
		{ "r(float32 A[64]) -> B { B +=! A(k) }", "" },
		{ "c(float32 A[]) -> B { B = A * 2 }", "" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = machine(&a);
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		const struct hn_dag *dag = dag_text(&a, want[i].text);
		struct hn_sketches all = own_sketches(dag, &t, &a);
		struct hn_sketches ansor = sketches_of(dag, &t, &a);
		struct hn_buf got, none;
		hn_buf_init(&got);
		hn_buf_init(&none);
		packed_names(&all, &got);
		packed_names(&ansor, &none);
		assert_string_equal(got.n > 0 ? got.s : "", want[i].packed);
		assert_int_equal(none.n, 0);
		assert_true(all.n >= ansor.n);
		hn_buf_fini(&got);
		hn_buf_fini(&none);
	}
	hn_arena_fini(&a);
}

static void blocks_are_open_in_a_sketch(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = machine(&a);
	struct hn_sketches s = own_sketches(dag_text(&a, MATMUL), &t, &a);
	assert_int_equal(s.n, 6);
	assert_string_equal(s.sketch[3].rules, "tile,pack");
	check_steps(s.sketch[3].state, "[[\"SP\", 2, 0, 512, [null, null, null], 1], "
				       "[\"SP\", 2, 4, 512, [null, null, null], 1], "
				       "[\"SP\", 2, 8, 512, [null], 1], "
				       "[\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], "
				       "[\"PK\", 1, [null, null]]]");
	const struct hn_hole *h = &s.sketch[3].hole[3];
	assert_int_equal(s.sketch[3].n_hole, 4);
	assert_int_equal(h->role, HN_HOLE_PACK);
	assert_int_equal(h->stage, 2);
	assert_int_equal(h->pack->panel, 1);
	assert_int_equal(h->pack->tile[0], 2);
	assert_int_equal(h->pack->tile[1], 1);
	assert_int_equal(s.sketch[3].hole[0].stage, 3);
	hn_arena_fini(&a);
}

static const struct hn_step *pack_step(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->trace->n_step; i++) {
		if (s->trace->step[i]->kind == HN_STEP_pack) {
			return s->trace->step[i];
		}
	}
	return NULL;
}

/* The plan of a matmul's tiles: f of each split, panels of one and two tiles. */
static void panels_follow_the_tiles(void **state)
{
	static const int64_t i[3] = { 2, 4, 8 }, j[3] = { 2, 3, 32 },
			     narrow[3] = { 8, 1, 1 }, k[1] = { 16 };
	static const struct {
		int64_t parts[2];
		const int64_t *j;
		int64_t block[2];
	} want[] = {
		{ { 2, 1 }, j, { 503, 32 } }, { { 1, 1 }, j, { 16, 32 } },
		{ { 1, 2 }, j, { 16, 96 } },  { { 0, 3 }, j, { 1, 192 } },
		{ { 0, 4 }, j, { 1, 521 } },  { { 2, 1 }, narrow, { 503, 8 } },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = machine(&a);
	struct hn_sketches s = own_sketches(dag_text(&a, PRIMES), &t, &a);
	for (size_t n = 0; n < HN_COUNT_OF(want); n++) {
		const int64_t *len[4] = { i, want[n].j, k, want[n].parts };
		struct hn_plan *open = hn_plan_open(&s.sketch[3], &a), *back;
		struct hn_plan plan = { len, open->stage };
		struct hn_rng rng = hn_rng_stream(1, 0, 0, n);
		const struct hn_state *full;
		assert_int_equal(
			hn_sketch_rebuild(&s.sketch[3], &plan, &t, &rng, &a, &full),
			HN_VERDICT_OK);
		const struct hn_step *pk = pack_step(full);
		assert_int_equal(pk->n_list, 2);
		assert_int_equal(pk->list[0], want[n].block[0]);
		assert_int_equal(pk->list[1], want[n].block[1]);
		assert_true(hn_plan_of(&s.sketch[3], full->trace, &a, &back));
		assert_memory_equal(back->len[1], want[n].j, sizeof j);
	}
	hn_arena_fini(&a);
}

/* Every fill of every packed sketch is a program, and its plan makes the same again. */
static void plans_make_the_same_again(void **state)
{
	static const char *const texts[] = { MATMUL, PRIMES, DENSE, BATCH, TWICE };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = machine(&a);
	for (size_t d = 0; d < HN_COUNT_OF(texts); d++) {
		struct hn_sketches s = own_sketches(dag_text(&a, texts[d]), &t, &a);
		uint32_t n = 0, ok = 0;
		for (uint32_t k = 0; k < s.n; k++) {
			for (uint64_t i = 0; i < 20; i++, n++) {
				struct hn_rng r = hn_rng_stream(2, d, k, i);
				const struct hn_state *x, *y;
				const struct hn_looptree *tree;
				struct hn_plan *plan;
				if (hn_sketch_fill(&s.sketch[k], &t, &r, &a, &x) !=
				    HN_VERDICT_OK) {
					continue;
				}
				ok++;
				assert_int_equal(hn_looptree_build(x, &a, &tree, NULL),
						 0);
				for (uint32_t other = 0; other < s.n; other++) {
					bool fits = hn_plan_of(&s.sketch[other], x->trace,
							       &a, &plan);
					assert_int_equal(fits, other == k);
				}
				assert_true(
					hn_plan_of(&s.sketch[k], x->trace, &a, &plan));
				assert_int_equal(hn_sketch_rebuild(&s.sketch[k], plan, &t,
								   &r, &a, &y),
						 HN_VERDICT_OK);
				assert_int_equal(
					hn_plan_of(&s.sketch[k], y->trace, &a, &plan),
					true);
				for (uint32_t h = 0; h < s.sketch[k].n_hole; h++) {
					uint32_t at = s.sketch[k].hole[h].step;
					const struct hn_step *p = x->trace->step[at],
							     *q = y->trace->step[at];
					assert_memory_equal(p->list, q->list,
							    p->n_list * sizeof *p->list);
				}
			}
		}
		if (ok * 50 < n * 49) {
			fail_msg("%s: %u of %u fills are legal", texts[d], ok, n);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offers_what_pays),
		cmocka_unit_test(blocks_are_open_in_a_sketch),
		cmocka_unit_test(panels_follow_the_tiles),
		cmocka_unit_test(plans_make_the_same_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
