/* Kernels whose sizes are parameters: each built once, then called with many sizes (argv[1];
 * 1, the largest and primes among them) and compared with the interpreter on the dag that has
 * these numbers.  Arguments end where their pages do and lie behind bytes that must stay. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/constant.h"
#include "loopstate/dag/size.h"
#include "tests/lib/lower_run.h"

#define TOLERANCE 5e-5
#define MAX_HISTORIES 8

static uint32_t n_draws = 10;

struct sized {
	const char *name, *text;
	const char *steps[MAX_HISTORIES]; /* NULL ends; "naive" = the scalar program */
};

static const struct sized programs[] = {
	{ "matmul",
	  "f(N in [1, 96], M in [1, 128], K in [1, 64], float32 A[N,K], float32 B[K,M]) -> C {"
	  " C(i,j) +=! A(i,k) * B(k,j) }",
	  { "naive", "[]",
	    /* tiles, the reduction split too, outer loops parallel one by one */
	    "[[\"SP\",2,0,96,[8],1],[\"SP\",2,2,128,[32],1],[\"SP\",2,4,64,[16],1],"
	    "[\"RE\",2,[0,2,4,1,3,5]],[\"AN\",2,0,3],[\"AN\",2,4,2]]",
	    "[[\"SP\",2,0,96,[8],1],[\"SP\",2,2,128,[32],1],[\"SP\",2,4,64,[16],1],"
	    "[\"RE\",2,[0,2,4,5,1,3]],[\"FU\",2,[0,1]],[\"AN\",2,0,3],[\"AN\",2,4,2]]",
	    /* lengths that divide nothing, loops of three parts */
	    "[[\"SP\",2,0,96,[3,7],1],[\"SP\",2,3,128,[3,24],1],[\"SP\",2,6,64,[7],1],"
	    "[\"RE\",2,[0,3,1,4,6,7,2,5]],[\"FU\",2,[0,1,2]],[\"AN\",2,0,3],"
	    "[\"AN\",2,5,2]]",
	    /* the block in a buffer of its own, the operand copied */
	    "[[\"CHW\",2,\"local\"],[\"SP\",3,0,96,[8],1],[\"SP\",3,2,128,[32],1],"
	    "[\"RE\",3,[0,2,1,3]],[\"CA\",2,3,1],[\"AN\",3,0,3],[\"AN\",3,3,2]]",
	    "[[\"CHR\",1,\"shared\",[2]],[\"SP\",3,0,96,[8],1],[\"SP\",3,2,128,[32],1],"
	    "[\"RE\",3,[0,2,1,4,3]],[\"CA\",2,3,1],[\"AN\",3,4,2]]" } },
	/* Weights in panels are prepared: their layout is the same for all sizes. */
	{ "matmul, packed weights",
	  "f(N in [1, 70], float32 A[N,45], const float32 B[45,50], float32 b[50]) -> D {"
	  " C(i,j) +=! A(i,k) * B(k,j) D(i,j) = max(C(i,j) + b(j), 0) }",
	  { "[[\"PK\",1,[1,16]]]",
	    "[[\"PK\",1,[8,16]],[\"SP\",4,0,70,[8],1],[\"SP\",4,2,50,[16],1],"
	    "[\"RE\",4,[0,2,4,1,3]],[\"AN\",4,0,3],[\"AN\",4,4,2]]" } },
	/* Each length of a last tile, alone and behind whole ones. */
	{ "matmul, all lengths of a last tile",
	  "f(N in [1, 33], float32 A[N,7], float32 B[7,18]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  { "[[\"SP\",2,0,33,[8],1],[\"RE\",2,[0,3,1,2]],[\"AN\",2,3,2]]",
	    "[[\"SP\",2,0,33,[11],1],[\"SP\",2,2,18,[16],1],[\"RE\",2,[0,2,4,1,3]],"
	    "[\"AN\",2,4,2],[\"AN\",2,0,3]]",
	    "[]" } },
	/* The copy of a constant that ends where a size says is made in each call. */
	{ "weights up to a size",
	  "f(N in [1, 70], float32 A[N,45], const float32 B[70]) -> D {"
	  " P(i) = B(i) * 2 where i in 0:N D(i,j) = A(i,j) + P(i) }",
	  { "[]", "naive" } },
	{ "matmul transposed",
	  "f(N in [1, 40], K in [1, 150], float32 A[N,K], float32 B[24,K]) -> C {"
	  " C(i,j) +=! A(i,k) * B(j,k) }",
	  { "naive", "[]", "[[\"SP\",2,2,150,[32],1],[\"AN\",2,0,3]]",
	    "[[\"SP\",2,0,40,[4],1],[\"SP\",2,2,24,[8],1],[\"RE\",2,[0,2,1,3,4]],"
	    "[\"FU\",2,[0,1]],[\"AN\",2,0,3]]" } },
	{ "conv, padded",
	  "f(N in [1, 2], H in [1, 24], W in [1, 40], float32 X[N,H,W,5], const float32 "
	  "F[3,3,5,20], float32 b[20]) -> Y {"
	  " P(n,h,w,c) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? X(n,h-1,w-1,c) : 0"
	  " where h in 0:H + 2, w in 0:W + 2"
	  " C(n,h,w,f) +=! P(n,h+r,w+s,c) * F(r,s,c,f)"
	  " Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }",
	  { "naive", "[]", "[[\"CI\",3]]",
	    "[[\"CI\",3],[\"SP\",5,1,24,[4],1],[\"SP\",5,3,40,[8],1],"
	    "[\"RE\",5,[0,1,3,2,4,5]],[\"FU\",5,[0,1,2]],[\"AN\",5,0,3],[\"CA\",4,5,0],"
	    "[\"AN\",5,3,2]]",
	    "[[\"SP\",5,1,24,[4],1],[\"SP\",5,3,40,[8],1],[\"RE\",5,[0,1,3,2,4,5]],"
	    "[\"FU\",5,[0,1,2]],[\"AN\",5,0,3],[\"CA\",4,5,0],[\"CA\",3,5,0],"
	    "[\"AN\",5,3,2]]",
	    "[[\"CI\",3],[\"SP\",4,2,40,[7],1],[\"RE\",4,[0,1,2,5,6,7,3,4]],"
	    "[\"AN\",4,7,2],[\"FU\",4,[0,1]],[\"AN\",4,0,3]]" } },
	{ "conv, stride 2",
	  "f(H in [1, 33], W in [1, 50], float32 X[1,H,W,4], const float32 F[3,3,4,12]) -> C {"
	  " P(n,h,w,c) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? X(n,h-1,w-1,c) : 0"
	  " where h in 0:H + 2, w in 0:W + 2"
	  " C(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * F(r,s,c,f) }",
	  { "naive", "[]", "[[\"CI\",2]]",
	    "[[\"CI\",2],[\"SP\",3,2,25,[4],1],[\"RE\",3,[0,1,2,5,6,7,3,4]],"
	    "[\"AN\",3,7,2],[\"FU\",3,[0,1]],[\"AN\",3,0,3]]" } },
	{ "softmax",
	  "f(N in [1, 30], K in [2, 90], float32 x[N,K]) -> y { m(i) max=! x(i,k)"
	  " e(i,j) = exp(x(i,j) - m(i)) s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }",
	  { "naive", "[]", "[[\"CI\",2],[\"AN\",4,0,3],[\"CA\",3,4,0],[\"CA\",1,4,0]]" } },
	/* Whole vectors and a last one with a mask, in rows of the kernel's own that have room for
	 * them: rows of 200 hold three vectors of 64 and a part. */
	{ "softmax, rows attached",
	  "f(N in [1, 20], K in [1, 200], float32 x[N,K]) -> y { m(i) max=! x(i,k)"
	  " e(i,j) = exp(x(i,j) - m(i)) s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }",
	  { "[[\"SP\",4,0,20,[8],1],[\"AN\",4,0,3],[\"CA\",3,4,1],[\"CA\",2,4,1],[\"CA\",1,4,0]]",
	    "[[\"SP\",4,0,20,[3],1],[\"CA\",3,4,1],[\"CA\",2,4,0],[\"CA\",1,4,0]]" } },
	/* Sums across lanes that a size ends: in four accumulators, in one, and in a last part. */
	{ "sums of rows",
	  "f(N in [1, 9], K in [1, 200], float32 x[N,K]) -> s { s(i) +=! x(i,k) }",
	  { "[]", "[[\"SP\",1,0,9,[4],1]]", "[[\"SP\",1,1,200,[80],1]]" } },
	/* The sum's loop is around the tile, fused with the columns: past its end nothing is stored,
	 * though the buffer has room. */
	{ "a sum outside of its tile",
	  "f(N in [1, 16], int16 A[N,N], int16 B[N,8]) -> D {"
	  " C(i,j) +=! A(i,k) * B(k,j) D(i,j) = C(i,j) - 1 }",
	  { "[[\"SP\",2,1,8,[4],1],[\"RE\",2,[1,3,2,0]],[\"FU\",2,[1,2]],[\"SP\",2,1,64,[2],1]]",
	    "[[\"SP\",2,2,16,[4],1],[\"RE\",2,[2,0,3,1]]]", "[[\"RE\",2,[2,0,1]]]" } },
	/* Panels of an operand whose rows a size counts: the last is padded with zeros. */
	{ "scores, packed",
	  "f(S in [1, 90], float32 Q[2,S,20], float32 K[2,S,20]) -> C {"
	  " C(b,i,j) +=! Q(b,i,k) * K(b,j,k) }",
	  { "[[\"PK\",1,[1,32,1]]]",
	    /* in blocks that are turned */
	    "[[\"PK\",1,[1,32,1]],[\"SP\",2,2,20,[16],1],[\"SP\",2,4,32,[16],1],"
	    "[\"RE\",2,[0,1,2,4,3,5]],[\"AN\",2,5,2],[\"AN\",2,0,3],[\"SP\",3,1,90,[4],1],"
	    "[\"SP\",3,3,90,[32],1],[\"RE\",3,[0,3,1,5,2,4]],[\"AN\",3,5,2],[\"AN\",3,0,3]]",
	    /* lengths that divide nothing, and dimensions kept whole */
	    "[[\"PK\",1,[1,7,20]],[\"SP\",3,2,90,[16],1]]", "[[\"PK\",1,[2,90,1]]]",
	    "[[\"PK\",0,[1,8,3]],[\"PK\",2,[1,64,1]]]" } },
	{ "scores of two sizes, packed where they are computed",
	  "f(N in [1, 33], M in [2, 50], float32 A[N,M], float32 B[M,M]) -> C {"
	  " P(i,k) = A(i,k) * 2 where i in 0:N, k in 0:M C(i,j) +=! P(i,k) * B(j,k) }",
	  { "[[\"PK\",1,[8,4]]]", "[[\"PK\",1,[4,1]],[\"PK\",3,[16,1]]]",
	    "[[\"PK\",2,[1,50]],[\"PK\",1,[33,50]]]" } },
	/* The guard is not linear in the fused loop, points of which lie in the lanes. */
	{ "fused, then split",
	  "f(W in [1, 40], int32 X[13,W]) -> Y { Y(f,x) = X(f,x) * 2 }",
	  { "naive", "[[\"FU\",1,[0,1]],[\"SP\",1,0,0,[2],1]]",
	    "[[\"FU\",1,[0,1]],[\"SP\",1,0,0,[3,5],1]]" } },
	/* What a tile reads begins where the size says: its buffer holds the tile for all sizes. */
	/* The last row of the tile is the one behind the end of A, where it is not the same as
	 * the row before: a point past the end, made into the last one, must not read it. */
	{ "rows of which the last reads nothing",
	  "f(N in [1, 3], M in [1, 8], float32 A[N,N], float32 B[N,M]) -> C {"
	  " C(i,j) +=! (i < N ? A(k,i) : 0) * B(k,j) where i in 0:N + 1, j in 0:M, k in 0:N }",
	  { "naive", "[]", "[[\"SP\",2,1,8,[6],1]]", "[[\"SP\",2,0,4,[4],1],[\"SP\",2,2,8,[6],1]]" } },
	{ "backwards, attached",
	  "f(N in [1, 40], float32 V[64]) -> C { B(i,j) = float32(i) * V(j)"
	  " where i in 0:N + 3, j in 0:64 C(i,j) = B(N+2-i,j) + 1 where i in 0:N, j in 0:64 }",
	  { "naive", "[[\"SP\",2,0,40,[2],1],[\"CA\",1,2,0]]",
	    "[[\"SP\",2,0,40,[2],1],[\"CA\",1,2,1]]" } },
	/* Data say which element is read: any that the size leaves, of an argument and of a tensor that
	 * is computed before. */
	{ "gathered",
	  "f(N in [2, 40], float32 V[N], int32 t[N]) -> (C, D) { B(i) = V(i) * 2"
	  " C(i) = B(min(max(t(i), 0), N - 1)) D(i) = V(min(max(t(i), 0), N - 1)) }",
	  { "naive", "[]", "[[\"SP\",4,0,40,[16],1],[\"AN\",4,1,2]]",
	    "[[\"SP\",2,0,40,[7],1],[\"SP\",3,0,40,[16],1],[\"AN\",3,1,2]]" } },
	/* The outer part of the split lies in the lanes, inside of the inner one. */
	{ "sum, split",
	  "f(N in [1, 40], float32 A[N]) -> M { M +=! A(i) }",
	  { "naive", "[[\"SP\",1,0,0,[2],1]]", "[[\"SP\",1,0,0,[7,3],1]]" } },
	{ "matmul of max",
	  "f(N in [1, 16], int8 A[N,16], int8 B[16,16]) -> C { C(i,j) max=! A(i,k) * B(k,j) }",
	  { "naive",
	    "[[\"SP\",2,0,0,[7,15],0],[\"RE\",2,[0,1,3,2,4]],[\"SP\",2,2,0,[2,1,9],1],"
	    "[\"SP\",2,7,0,[4,13],1],[\"FSP\",2,7,0,3],"
	    "[\"RE\",2,[3,1,2,0,5,4,6,7,8,9,10,11,12]],[\"FU\",2,[2,3,4]],[\"AN\",2,0,2]]" } },
	{ "sizes as values",
	  "f(N in [1, 40], K in [3, 65], float32 x[N,K], int32 t[4*N,K / 2], float32 v[3,2*N]) -> (y, r, u, q) {"
	  " z(i) +=! x(i,k) y(i) = z(i) / float32(K)"
	  " r(i,j) = x(N-1-i,K-1-j) where i in 0:N, j in 0:K"
	  " u(i,j) = t(2*i+1,j) + N q(i,j) = v(i,j) * 0.5 }",
	  { "naive", "[]", "[[\"SP\",5,1,65,[16],1],[\"AN\",5,0,3],[\"AN\",5,2,2]]" } },
};

typedef int32_t (*sized_fn)(const int64_t *sizes, void *const *args,
			    const struct hone_env *env);

struct kernels {
	struct run_kernel kernel[MAX_HISTORIES];
	uint32_t n;
};

/* The 1st is all ones as far as it goes, the 2nd the largest; then primes and any. */
static void draw(const struct hn_sizes *sizes, uint32_t i, int64_t *value)
{
	static const int64_t prime[] = { 2,  3,	 5,  7,	 11, 13, 17, 19, 23, 29, 31,
					 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79,
					 83, 89, 97, 101 };
	struct hn_rng r = hn_rng_stream(31, i, 0, 0);

	for (uint32_t k = 0; k < sizes->n; k++) {
		int64_t lo = sizes->size[k].lo, hi = sizes->size[k].hi;
		uint64_t p = hn_rng_below(&r, HN_COUNT_OF(prime));

		value[k] = i == 0   ? lo
			   : i == 1 ? hi
			   : i % 2	? prime[p]
				    : lo + (int64_t)hn_rng_below(&r, (uint64_t)(hi - lo + 1));
		if (i > 1 && hn_rng_below(&r, 8) == 0) {
			value[k] = lo;
		}
		value[k] = value[k] < lo ? lo : value[k] > hi ? hi : value[k];
	}
}

/* Without the guards of sizes a tree is refused: it would leave its arguments. */
static void drop_guards(const struct hn_node *node)
{
	((struct hn_node *)node)->n_guard = 0;
	if (node->init) {
		drop_guards(node->init);
	}
	for (uint32_t i = 0; i < node->n_child; i++) {
		drop_guards(node->child[i]);
	}
}

static void must_be_proved(const struct sized *p, const struct hn_dag *dag,
			   const struct hn_trace *trace, const char *steps,
			   struct hn_arena *a)
{
	const struct hn_state *s = hn_state_init(dag, a);
	const struct hn_looptree *t;
	struct hn_err err = { 0 };

	if ((trace && hn_state_replay(dag, trace, a, &s, &err)) ||
	    hn_looptree_build(s, a, &t, &err) ||
	    hn_legal_check(t, 0, &err) != HN_VERDICT_OK) {
		fail_msg("%s: %s: %s", p->name, steps, err.msg);
	}
	drop_guards(t->root);
	assert_int_equal(hn_legal_check(t, 0, &err), HN_VERDICT_ILLEGAL);
}

static void build_all(struct hn_emitter *em, const struct sized *p,
		      const struct hn_dag *dag, struct hn_arena *a, struct kernels *ret)
{
	struct hn_err err = { 0 };

	for (ret->n = 0; ret->n < MAX_HISTORIES && p->steps[ret->n]; ret->n++) {
		const char *steps = p->steps[ret->n];
		bool naive = strcmp(steps, "naive") == 0;
		const struct hn_trace *trace = NULL;

		if (!naive &&
		    hn_trace_parse(p->name, steps, strlen(steps), a, &trace, &err)) {
			fail_msg("%s: %s", p->name, err.msg);
		}
		if (run_build(em, dag, trace, naive, a, &ret->kernel[ret->n], &err)) {
			fail_msg("%s: %s: %s", p->name, steps, err.msg);
		}
		must_be_proved(p, dag, trace, steps, a);
	}
}

typedef int32_t (*prepare_fn)(void *const *args, void *prepared, const struct hone_env *env);

/* What the kernel prepares, of constant inputs alone: it is not told the sizes. */
static void *prepare(const struct run_kernel *k, const struct hn_dag *dag, void *const *args)
{
	void *constant[RUN_MAX_ARGS] = { NULL }, *prepared;
	LLVMOrcExecutorAddress at = 0;

	if (k->artefact.prepared_bytes == 0) {
		return NULL;
	}
	for (uint32_t i = 0; i < dag->n_input; i++) {
		constant[i] = hn_dag_arg_is_constant(dag, i) ? args[i] : NULL;
	}
	prepared = aligned_alloc(64, (k->artefact.prepared_bytes + 63) / 64 * 64);
	assert_non_null(prepared);
	run_must(LLVMOrcLLJITLookup(k->jit, &at, "k_prepare_packed"));
	assert_int_equal(((prepare_fn)(uintptr_t)at)(constant, prepared, NULL), 0);
	return prepared;
}

static void check_sizes(const struct sized *p, const struct hn_dag *dag,
			const struct kernels *k, const int64_t *value)
{
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };
	const struct hn_dag *numbers;
	struct run_args want, got;
	struct hn_arena a;
	struct hn_err err = { 0 };

	hn_arena_init(&a, 0);
	if (hn_dag_instantiate(dag, value, &a, &numbers, &err) ||
	    hn_dag_check("numbers", numbers, 0, &err)) {
		fail_msg("%s: %s", p->name, err.msg);
	}
	run_args_make(numbers, 7, &want);
	assert_int_equal(hn_interpret(numbers, want.at, &err), 0);
	for (uint32_t i = 0; i < 2 * k->n; i++) {
		sized_fn fn = (sized_fn)(void *)k->kernel[i / 2].fn;

		run_args_make(numbers, 7, &got);
		env.prepared = i % 2 ? prepare(&k->kernel[i / 2], dag, got.at) : NULL;
		env.prepared_bytes = k->kernel[i / 2].artefact.prepared_bytes;
		int32_t rc = fn(value, got.at, i % 2 ? &env : NULL);

		free((void *)(uintptr_t)env.prepared);
		double d = run_difference(&want, &got);

		if (rc || d > TOLERANCE || !run_redzones_hold(&got)) {
			fail_msg("%s, %s, sizes %lld %lld %lld: rc %d, differs by %g%s", p->name,
				 p->steps[i / 2], (long long)value[0], (long long)value[1],
				 (long long)value[2], rc, d,
				 run_redzones_hold(&got) ? "" : ", wrote out of bounds");
		}
		run_args_free(&got);
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

/* A size out of its range is an answer, and nothing is touched. */
static void check_refusals(const struct hn_dag *dag, const struct kernels *k)
{
	for (uint32_t i = 0; i < dag->sizes->n * 4; i++) {
		const struct hn_size *s = &dag->sizes->size[i / 4];
		const int64_t wrong[] = { s->lo - 1, s->hi + 1, INT64_MIN, INT64_MAX };
		int64_t value[HN_DAG_MAX_SIZES];

		draw(dag->sizes, 0, value);
		value[i / 4] = wrong[i % 4];
		for (uint32_t h = 0; h < k->n; h++) {
			void *none[RUN_MAX_ARGS] = { NULL };

			assert_int_equal(((sized_fn)(void *)k->kernel[h].fn)(value, none, NULL),
					 HONE_KERNEL_SIZE);
		}
	}
}

/* One size of few values: each of them is tried. */
static bool has_few(const struct hn_sizes *sizes, int64_t v)
{
	return sizes->n == 1 && sizes->size[0].hi <= 40 && v <= sizes->size[0].hi;
}

static void all_sizes(void **state)
{
	struct hn_target host;
	struct hn_emitter *em;
	struct hn_arena a;
	struct hn_err err = { 0 };
	const char *only = getenv("RUN_ONLY");

	(void)state;
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	for (uint32_t p = 0; p < HN_COUNT_OF(programs); p++) {
		const char *text = programs[p].text;
		const struct hn_dag *dag;
		struct kernels k = { 0 };

		if (only && !strstr(programs[p].name, only)) {
			continue;
		}
		if (hn_dag_parse_sized("p", text, strlen(text), 0, &a, &dag, &err)) {
			fail_msg("%s: %s", programs[p].name, err.msg);
		}
		build_all(em, &programs[p], dag, &a, &k);
		for (uint32_t i = 0; i < n_draws; i++) {
			int64_t value[HN_DAG_MAX_SIZES] = { 0 };

			draw(dag->sizes, i, value);
			check_sizes(&programs[p], dag, &k, value);
		}
		for (int64_t v = dag->sizes->size[0].lo; has_few(dag->sizes, v); v++) {
			check_sizes(&programs[p], dag, &k, &v);
		}
		check_refusals(dag, &k);
		for (uint32_t h = 0; h < k.n; h++) {
			run_unload(&k.kernel[h]);
		}
	}
	hn_emitter_free(em);
	hn_arena_fini(&a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_sizes) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	n_draws = argc > 1 ? (uint32_t)atoi(argv[1]) : n_draws;
	return cmocka_run_group_tests_name("lower sizes", tests, NULL, NULL);
}
