/* Runs of a kernel that have to give one answer, bit by bit: alone, with workers in any order,
 * with real threads, with prepared data; for several sizes where sizes are parameters.
 *
 * Arguments, workspace and prepared data end where their pages do, bytes before them must stay,
 * and so must inputs. */
#ifndef HN_TESTS_RANDOM_RUNS_H
#define HN_TESTS_RANDOM_RUNS_H

#include "hone/pool.h"
#include "loopstate/dag/size.h"
#include "lower/interp/interp.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/random_dags.h"

#define RP_NOTE 1100
#define RR_CASES 5 /* of sizes */
#define RR_WORKERS 3

enum rp_verdict {
	RP_PASS,
	RP_REFUSED,
	RP_TREE,
	RP_QUICK,
	RP_LEGALITY,
	RP_DAMAGE,
	RP_BUILD,
	RP_RUN,
	RP_NAIVE,
	RP_WRONG,
	RP_REDZONE,
	RP_CRASH
};

static const char *const rp_names[] = { "pass",
					"refused",
					"history accepted, its tree is wrong and refused",
					"the quick check takes what the exact one refuses",
					"legality check against evaluation",
					"damage that the legality check let pass",
					"emit",
					"the kernel's return value",
					"the naive program against the interpreter",
					"wrong numbers",
					"written past an argument, to an input, or to another's",
					"crash or hang" };

typedef int32_t (*rr_sized_fn)(const int64_t *sizes, void *const *args,
			       const struct hone_env *env);
typedef int32_t (*rr_prepare_fn)(void *const *args, void *prepared, const struct hone_env *env);

/* Arguments for one choice of sizes, and what the outputs have to be. */
struct rr_case {
	int64_t size[HN_DAG_MAX_SIZES];
	const struct hn_dag *dag; /* with numbers */
	struct run_args want;
};

struct rr_cases {
	uint32_t n;
	enum rd_family family;
	bool known; /* else the first kernel that runs says what is right (RD_BITS), or is held
		     * against the interpreter */
	struct rr_case at[RR_CASES];
};

/* ---- inputs */

static inline uint64_t rr_bits(struct hn_rng *r, enum hn_dtype type)
{
	static const uint64_t edges[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX,
					  INT32_MAX, UINT64_C(1) << 31, 0x7f, 0x80, 0xffff };
	static const double reals[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-310, 1e300, 1 };
	uint64_t v = hn_rng_u64(r);
	uint64_t kind = hn_rng_below(r, 4);

	if (type == HN_BOOL) {
		return v & 1;
	}
	if (hn_dtype_class(type) != HN_CLASS_FLOAT) {
		return kind == 0 ? edges[v % HN_COUNT_OF(edges)] : kind == 1 ? v % 9 : v;
	}
	double d = kind == 0   ? reals[v % HN_COUNT_OF(reals)]
		   : kind == 1 ? (double)(v % 9) - 4
			       : (hn_rng_unit(r) - 0.5) * pow(2, (double)(v % 64) - 32);

	v = 0;
	hn_float_put(type, &v, 0, d);
	return v;
}

/* Small whole numbers, so that sums are exact. */
static inline uint64_t rr_small(struct hn_rng *r, enum hn_dtype type)
{
	int32_t v = (int32_t)hn_rng_below(r, 4) + 1;
	double d = v > 2 ? v - 5 : v;
	uint64_t bits = 0;

	if (hn_dtype_class(type) == HN_CLASS_FLOAT) {
		hn_float_put(type, &bits, 0, d);
	} else {
		bits = type == HN_BOOL ? v & 1 : (uint64_t)(v - 1);
	}
	return bits;
}

static inline void rr_fill(const struct hn_dag *dag, enum rd_family family, struct run_args *x)
{
	for (uint32_t i = 0; i < x->n && i < dag->n_input; i++) {
		struct hn_rng r = hn_rng_stream(5, 6, i, 0);
		uint32_t size = hn_dtype_bytes(x->dtype[i]);

		for (size_t at = 0; at < x->bytes[i]; at += size) {
			uint64_t v = family == RD_WHOLE ? rr_small(&r, x->dtype[i])
							: rr_bits(&r, x->dtype[i]);

			memcpy((char *)x->at[i] + at, &v, size); /* little-endian */
		}
	}
}

/* Ends first, then any. */
static inline void rr_sizes(const struct hn_sizes *sizes, uint32_t i, int64_t *ret)
{
	struct hn_rng r = hn_rng_stream(17, i, 0, 0);

	for (uint32_t k = 0; sizes != NULL && k < sizes->n; k++) {
		const struct hn_size *s = &sizes->size[k];
		int64_t any = s->lo + (int64_t)hn_rng_below(&r, (uint64_t)(s->hi - s->lo + 1));

		ret[k] = i == 0 ? s->lo : i == 1 ? s->hi : any;
	}
}

static inline void rr_cases_close(struct rr_cases *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		run_args_free(&c->at[i].want);
	}
	c->n = 0;
}

/* The interpreter's answers, where it computes in the types of the program: floats it sums
 * wide, which is exact for whole numbers. */
static inline int rr_cases_open(const struct hn_dag *dag, enum rd_family family,
				struct hn_arena *a, struct rr_cases *ret, struct hn_err *err)
{
	int rc = 0;

	*ret = (struct rr_cases){ .family = family };
	for (uint32_t i = 0; rc == 0 && i < (dag->sizes ? RR_CASES : 1); i++) {
		struct rr_case *c = &ret->at[i];

		rr_sizes(dag->sizes, i, c->size);
		rc = hn_dag_instantiate(dag, c->size, a, &c->dag, err);
		if (rc == 0) {
			run_args_make(c->dag, 11, &c->want);
			ret->n++;
			rr_fill(c->dag, family, &c->want);
			rc = hn_interpret(c->dag, c->want.at, err);
		}
	}
	return rc;
}

/* ---- answers */

static inline bool rr_is_nan(const void *p, enum hn_dtype type)
{
	return hn_dtype_class(type) == HN_CLASS_FLOAT && isnan(run_element(p, type, 0));
}

/* The first byte of argument i that differs, or -1; of NaNs the bits are free. */
static inline int64_t rr_differs(const struct run_args *x, const struct run_args *y, uint32_t i)
{
	uint32_t size = hn_dtype_bytes(x->dtype[i]);

	for (size_t at = 0; at < x->bytes[i]; at += size) {
		const char *p = (char *)x->at[i] + at, *q = (char *)y->at[i] + at;

		if (memcmp(p, q, size) != 0 &&
		    !(rr_is_nan(p, x->dtype[i]) && rr_is_nan(q, x->dtype[i]))) {
			return (int64_t)at;
		}
	}
	return -1;
}

/* Whether the program, computing in its own types, is finite where the wide arithmetic of the
 * interpreter is: else a sum left the range of numbers on the way, and there is no answer that
 * all right kernels have. */
static inline bool rr_in_range(const struct rr_case *c, enum rd_family family)
{
	struct run_args own;
	struct hn_interp *in;
	bool same = true;

	run_args_make(c->dag, 11, &own);
	rr_fill(c->dag, family, &own);
	if (hn_interp_open(c->dag, own.at, HN_INTERP_ROUNDED, &in, NULL) != 0) {
		abort();
	}
	for (uint32_t i = c->dag->n_input; i < own.n; i++) {
		int64_t n = (int64_t)(own.bytes[i] / hn_dtype_bytes(own.dtype[i])), fuel = INT64_MAX;

		for (int64_t k = 0; k < n; k++) {
			hn_interp_element(in, (uint32_t)c->dag->arg[i], k, &fuel);
			same = same &&
			       (hn_dtype_class(own.dtype[i]) != HN_CLASS_FLOAT ||
				isfinite(run_element(own.at[i], own.dtype[i], (size_t)k)) ==
					isfinite(run_element(c->want.at[i], own.dtype[i], (size_t)k)));
		}
	}
	hn_interp_close(in);
	run_args_free(&own);
	return same;
}

/* ---- ways to call it */

struct rr_bed {
	const struct run_kernel *kernel;
	struct hone_pool *pool;
	bool sized;
	enum rd_family family;
	double tolerance;
	char *note; /* RP_NOTE */
};

/* Memory that ends where its pages do, 64-byte aligned. */
struct rr_block {
	char *region, *at;
	size_t inside, page;
};

static inline void rr_block_open(struct rr_block *b, uint64_t bytes)
{
	size_t n = (size_t)(bytes + 63) / 64 * 64;

	b->page = (size_t)sysconf(_SC_PAGESIZE);
	b->inside = (n + RUN_REDZONE + b->page - 1) / b->page * b->page;
	b->region = mmap(NULL, b->inside + b->page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->region == MAP_FAILED ||
	    mprotect(b->region + b->inside, b->page, PROT_NONE) != 0) {
		abort();
	}
	b->at = b->region + b->inside - n;
	memset(b->region, 0xa5, b->inside);
}

/* Whether nothing was written before it. */
static inline bool rr_block_close(struct rr_block *b)
{
	bool whole = true;

	for (char *c = b->region; c < b->at; c++) {
		whole = whole && (unsigned char)*c == 0xa5;
	}
	munmap(b->region, b->inside + b->page);
	return whole;
}

/* The workers of a kernel: each has a part of the workspace for itself. */
struct rr_workers {
	struct hn_rng rng;
	char *part;
	uint64_t bytes; /* of each */
	bool strayed;	/* one wrote to another's */
};

static inline void rr_work(struct rr_workers *x, hone_body_fn body, void *closure, int64_t begin,
			   int64_t end)
{
	uint64_t w = hn_rng_below(&x->rng, RR_WORKERS);
	char *before = malloc(x->bytes * RR_WORKERS + 1);

	memcpy(before, x->part, x->bytes * RR_WORKERS);
	body(closure, begin, end, (int32_t)w);
	memcpy(before + w * x->bytes, x->part + w * x->bytes, x->bytes);
	x->strayed = x->strayed || memcmp(before, x->part, x->bytes * RR_WORKERS) != 0;
	free(before);
}

/* A parallel_for of random parts in random order on random workers. */
static inline void rr_shuffled(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	struct rr_workers *x = ctx;
	struct hn_rng *r = &x->rng;
	int64_t cut[18] = { 0 };
	uint32_t order[17], parts = 1 + (uint32_t)hn_rng_below(r, 16);

	for (uint32_t i = 1; i < parts; i++) {
		int64_t at = (int64_t)hn_rng_below(r, (uint64_t)n + 1);
		uint32_t k = i;

		for (; k > 1 && cut[k - 1] > at; k--) {
			cut[k] = cut[k - 1];
		}
		cut[k] = at;
	}
	cut[parts] = n;
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t j = (uint32_t)hn_rng_below(r, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (uint32_t i = 0; i < parts; i++) {
		rr_work(x, body, closure, cut[order[i]], cut[order[i] + 1]);
	}
}

static inline int32_t rr_call(const struct rr_bed *b, const struct rr_case *c, void *const *at,
			      const struct hone_env *env)
{
	return b->sized ? ((rr_sized_fn)(void *)b->kernel->fn)(c->size, at, env)
			: b->kernel->fn(at, env);
}

static inline enum rp_verdict rr_compare(const struct rr_bed *b, const struct rr_case *c,
					 const struct run_args *got, const char *way, int32_t rc)
{
	if (rc != 0) {
		snprintf(b->note, RP_NOTE, "%s: returned %d", way, rc);
		return RP_RUN;
	}
	for (uint32_t i = 0; i < got->n; i++) {
		bool loose = got->output[i] && b->family == RD_WHOLE;
		int64_t at = loose ? -1 : rr_differs(&c->want, got, i);

		if (at >= 0) {
			snprintf(b->note, RP_NOTE, "%s: argument %u, byte %lld, sizes %lld %lld",
				 way, i, (long long)at, (long long)c->size[0],
				 (long long)c->size[1]);
			return got->output[i] ? RP_WRONG : RP_REDZONE;
		}
	}
	double d = b->family == RD_WHOLE ? run_difference(&c->want, got) : 0;

	snprintf(b->note, RP_NOTE, "%s: differs by %g, sizes %lld %lld", way, d,
		 (long long)c->size[0], (long long)c->size[1]);
	return !run_redzones_hold(got) ? RP_REDZONE : d <= b->tolerance ? RP_PASS : RP_WRONG;
}

/* One run; env NULL: no threads. */
static inline enum rp_verdict rr_once(const struct rr_bed *b, const struct rr_case *c,
				      const struct hone_env *env, const char *way)
{
	struct run_args got;

	run_args_make(c->dag, 11, &got);
	rr_fill(c->dag, b->family, &got);

	int32_t rc = rr_call(b, c, got.at, env);
	enum rp_verdict v = rr_compare(b, c, &got, way, rc);

	run_args_free(&got);
	return v;
}

static inline enum rp_verdict rr_in_any_order(const struct rr_bed *b, const struct rr_case *c,
					      const struct rr_block *prepared)
{
	const struct hn_artefact *x = &b->kernel->artefact;
	uint64_t shared = x->shared_bytes + (prepared ? 0 : x->prepared_bytes);
	uint64_t bytes = shared + x->per_worker_bytes * RR_WORKERS;
	struct rr_block work;

	rr_block_open(&work, bytes);
	struct rr_workers workers = { .rng = hn_rng_stream(c->size[0] + 3, 12, prepared != NULL, 0),
				      .part = work.at + shared,
				      .bytes = x->per_worker_bytes };
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = RR_WORKERS,
				.parallel_for = rr_shuffled,
				.ctx = &workers,
				.workspace = work.at,
				.workspace_bytes = bytes,
				.prepared = prepared ? prepared->at : NULL,
				.prepared_bytes = prepared ? x->prepared_bytes : 0 };
	enum rp_verdict v = rr_once(b, c, &env, prepared ? "prepared" : "workers in any order");

	if (v == RP_PASS && workers.strayed) {
		snprintf(b->note, RP_NOTE, "a worker wrote to another's part of the workspace");
		v = RP_REDZONE;
	}
	return !rr_block_close(&work) && v == RP_PASS ? RP_REDZONE : v;
}

/* Whether argument i is constant: an op names it, and by its id. */
static inline bool rr_is_constant(const struct hn_dag *dag, uint32_t i)
{
	bool is = false;

	for (uint32_t k = 0; k < dag->n_op && i < dag->n_input; k++) {
		const struct hn_attr *attr = hn_op_attr(dag->op[k], "layout_free_placeholders");

		for (uint32_t j = 0; attr && j < attr->n_item; j++) {
			is = is || strcmp(attr->item[j], dag->op[dag->arg[i]]->id) == 0;
		}
	}
	return is;
}

/* Data are prepared of the constant inputs alone: no other argument may be touched. */
static inline enum rp_verdict rr_prepared(const struct rr_bed *b, const struct rr_case *c)
{
	void *constant[RUN_MAX_ARGS];
	LLVMOrcExecutorAddress at;
	struct rr_block block;
	enum rp_verdict v;

	run_must(LLVMOrcLLJITLookup(b->kernel->jit, &at, "k_prepare_packed"));
	rr_block_open(&block, b->kernel->artefact.prepared_bytes);
	for (uint32_t i = 0; i < c->dag->n_arg; i++) {
		constant[i] = rr_is_constant(c->dag, i) ? c->want.at[i]
							: block.region + block.inside;
	}
	v = ((rr_prepare_fn)(uintptr_t)at)(constant, block.at, NULL) == 0 ? RP_PASS : RP_RUN;
	if (mprotect(block.region, block.inside, PROT_READ) != 0) {
		abort();
	}
	v = v == RP_PASS ? rr_in_any_order(b, c, &block) : v;
	return !rr_block_close(&block) && v == RP_PASS ? RP_REDZONE : v;
}

static inline enum rp_verdict rr_each_way(const struct rr_bed *b, const struct rr_case *c)
{
	const struct hn_artefact *x = &b->kernel->artefact;
	enum rp_verdict v = rr_once(b, c, NULL, "alone");

	v = v == RP_PASS ? rr_in_any_order(b, c, NULL) : v;
	if (v == RP_PASS) {
		v = rr_once(b, c, hone_pool_env(b->pool, x->shared_bytes + x->per_worker_bytes *
								 RR_WORKERS),
			    "threads");
	}
	return v == RP_PASS && x->prepared_bytes > 0 ? rr_prepared(b, c) : v;
}

/* Every case each way.  The first kernel of a bitwise program, which must be the naive one,
 * says what is right. */
static inline enum rp_verdict rr_all(const struct rr_bed *b, struct rr_cases *x)
{
	enum rp_verdict v = RP_PASS;

	for (uint32_t i = 0; i < x->n && v == RP_PASS; i++) {
		if (!x->known && x->family == RD_BITS) {
			v = rr_call(b, &x->at[i], x->at[i].want.at, NULL) == 0 ? RP_PASS : RP_RUN;
		}
		v = v == RP_PASS ? rr_each_way(b, &x->at[i]) : v;
	}
	return v;
}

#endif
