/* Device programs of all cases, printed and run: what sketches for a GPU make of each program, cut
 * down to a few elements, gives the interpreter's numbers
 *   - as PTX, on a machine for it (tests/ptx/ptx.h);
 *   - as OpenCL C on the device there is: on a machine without a GPU that is PoCL, which runs kernels
 *     on the CPU.  Where there is none, this part is left out, and it says so.
 * The interpreter of device programs gives the same.
 *
 * argument: states to run; they are drawn from all programs in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/tolerance.h"
#include "lower/device/device_hold.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "sketch/sketch.h"
#include "tests/lib/each_cropped.h"
#include "tests/lib/opencl_run.h"
#include "tests/lib/thread_sums.h"
#include "tests/ptx/ptx.h"

#define CORES "opencl -isa=opencl-cpu -num_cores=2"
#define STATES 150 /* to run, unless the argument says how many */
#define TRIES 40
#define LIMIT_MS 60000
#define FUEL 4000000

static uint32_t wanted = STATES;

enum { SPENT_PTX, SPENT_OPENCL, SPENT_INTERPRETER, N_SPENT };

struct counts {
	struct hn_target gpu, cores, cuda;
	const struct hn_target *target; /* gpu, or cores: whose threads have a core each */
	struct hn_quick *quick;
	struct cl *cl; /* NULL: no device */
	uint32_t programs, per_program; /* left to go through; states of the next */
	uint32_t states, on_cores, ptx, opencl, interpreted;
	uint32_t refused, with_states; /* printed by no OpenCL; programs of which some state ran */
	double spent[N_SPENT]; /* seconds of processor time */
	uint64_t steps;	       /* warps' instructions of PTX */
	double longest;	       /* of a state, by OpenCL */
	size_t longest_bytes;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail_with(const char *what, const char *why, const struct hn_device *d,
		      const struct hn_gpu_module *m)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_device_print(d, &text);
	fprintf(stderr, "%s\n%s\n", text.s, m != NULL ? (const char *)m->code : "");
	fail_msg("%s: %s", what, why);
}

static void compare(const struct each *e, const struct hn_dag *dag, const struct run_args *want,
		    const struct run_args *got, const char *what, const struct hn_device *d,
		    const struct hn_gpu_module *m)
{
	if (!(run_difference(want, got) <= hn_dag_tolerance(dag))) {
		fail_with(e->name, what, d, m);
	}
}

/* False: the language lacks something that the program needs. */
static bool judge_form(const struct each *e, const struct hn_dag *dag, const struct hn_device *d,
		       enum hn_gpu_form form, const struct run_args *want, struct counts *n)
{
	struct hn_gpu_options how = { .contracts = !hn_dag_forbids(dag, HN_LIBERTY_contraction),
				      .sums_anyhow = !hn_dag_forbids(dag, HN_LIBERTY_reassociation),
				      .picks_anyhow = !hn_dag_forbids(dag, HN_LIBERTY_minmax) };
	struct ptx_counts ran = { 0 };
	const struct hn_target *target = form == HN_GPU_PTX ? &n->cuda : n->target;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct run_args got;
	char why[2000];

	hn_arena_init(&a, 0);
	if (hn_gpu_print(d, form, target, &how, &a, &m, &err) != 0) {
		print_message("%s: %s\n", e->name, err.msg);
		hn_arena_fini(&a);
		return false;
	}
	run_args_make(dag, 7, &got);
	if (form == HN_GPU_PTX) {
		if (ptx_run_module(&m, got.at, n->states, 0, &ran, &err) != 0) {
			fail_with(e->name, err.msg, d, &m);
		}
		n->steps += ran.steps;
		compare(e, dag, want, &got, "PTX: other numbers than the interpreter's", d, &m);
	} else {
		double from = now();

		if (!cl_run(n->cl, &m, got.at, why)) {
			fail_with(e->name, why, d, &m);
		}
		if (now() - from > n->longest) {
			n->longest = now() - from;
			n->longest_bytes = m.code_bytes;
		}
		compare(e, dag, want, &got, "OpenCL: other numbers than the interpreter's", d, &m);
	}
	run_args_free(&got);
	hn_arena_fini(&a);
	return true;
}

/* Whether the state has room, and was run. */
static bool judge(const struct each *e, const struct hn_dag *dag, const struct hn_state *s,
		  const struct run_args *want, struct counts *n)
{
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct run_args got;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
	if (hn_device_place_for(t, n->target, &a, &d, &err) != 0) {
		fail_msg("%s: %s", e->name, err.msg);
	}
	if (hn_device_check(d, n->target, &err) != 0) {
		hn_arena_fini(&a);
		return false;
	}
	n->states++;
	n->on_cores += n->target == &n->cores;
	double from = now();

	n->ptx += judge_form(e, dag, d, HN_GPU_PTX, want, n);
	n->spent[SPENT_PTX] += now() - from;
	from = now();
	if (n->cl != NULL) {
		bool ran = judge_form(e, dag, d, HN_GPU_OPENCL, want, n);

		n->opencl += ran;
		n->refused += !ran;
	}
	n->spent[SPENT_OPENCL] += now() - from;
	from = now();
	run_args_make(dag, 7, &got);
	int rc = hn_device_interpret(d, got.at, n->states, FUEL, &err);

	if (rc != -HONE_E_QUOTA) {
		n->interpreted++;
		if (rc != 0) {
			fail_with(e->name, err.msg, d, NULL);
		}
		compare(e, dag, want, &got, "the device interpreter differs", d, NULL);
	}
	n->spent[SPENT_INTERPRETER] += now() - from;
	run_args_free(&got);
	hn_arena_fini(&a);
	return true;
}

static uint32_t judge_sketches(const struct each *e, const struct hn_dag *dag,
			       const struct run_args *want, uint32_t most,
			       const struct hn_target *target, struct counts *n)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a;
	uint32_t made = 0;

	n->target = target;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_sketch_generate(dag, target, &a, &sketches, &err), 0);
	for (uint32_t i = 0; i < TRIES * most && made < most; i++) {
		const struct hn_sketch *sketch = &sketches.sketch[i % sketches.n];
		struct hn_rng rng = hn_rng_stream(13, i, 0, 0);
		const struct hn_state *s;

		if (hn_sketch_fill(sketch, target, &rng, &a, &s) == HN_VERDICT_OK) {
			made += judge(e, dag, s, want, n);
		}
	}
	hn_arena_fini(&a);
	return made;
}

static void judge_sums(const struct each *e, const struct hn_dag *dag, const struct run_args *want,
		       uint32_t most, struct counts *n)
{
	uint32_t made = 0;

	for (uint64_t seed = 1; seed <= TRIES && made < most; seed++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_state *s = ts_state(dag, n->quick, seed, &a);

		made += s != NULL && judge(e, dag, s, want, n);
		hn_arena_fini(&a);
	}
}

static void count(struct hn_emitter *em, const struct hn_target *host, const struct each *e,
		  void *ctx)
{
	(void)em;
	(void)host;
	((struct counts *)ctx)->programs += e->dag->sizes == NULL;
}

static void check(struct hn_emitter *em, const struct hn_target *host, const struct each *e,
		  void *ctx)
{
	struct counts *n = ctx;
	const struct hn_dag *few;
	struct run_args want;
	struct hn_arena a;

	(void)em;
	(void)host;
	if (e->dag->sizes != NULL) {
		return;
	}
	hn_arena_init(&a, 0);
	few = each_cropped(e, &a, &want);
	/* what a program lacks, for it has few schedules, the ones behind it make up */
	n->per_program = n->states < wanted ? (wanted - n->states) / n->programs : 0;
	n->per_program += n->per_program == 0;
	n->programs--;
	struct counts before = *n;

	n->longest = 0;
	n->longest_bytes = 0;
	if (few != NULL) {
		uint32_t made = judge_sketches(e, few, &want, (n->per_program + 2) / 3, &n->gpu, n);

		made += judge_sketches(e, few, &want, (n->per_program + 2) / 3, &n->cores, n);
		n->target = &n->gpu;
		judge_sums(e, few, &want, n->per_program - (made < n->per_program ? made : 0), n);
		run_args_free(&want);
	}
	n->with_states += n->states > before.states;
	print_message("%s: %u states, %u as OpenCL C; CPU s: PTX %.1f, OpenCL %.1f (one %.1f, %zu "
		      "bytes), interpreter %.1f\n",
		      e->name, n->states - before.states, n->opencl - before.opencl,
		      n->spent[SPENT_PTX] - before.spent[SPENT_PTX],
		      n->spent[SPENT_OPENCL] - before.spent[SPENT_OPENCL], n->longest,
		      n->longest_bytes, n->spent[SPENT_INTERPRETER] - before.spent[SPENT_INTERPRETER]);
	fflush(stdout);
	hn_arena_fini(&a);
}

static void every_state_is_right_on_a_device(void **state)
{
	struct counts n = { .quick = hn_quick_new(), .cl = *state };
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("opencl", &a, &n.gpu, &err), 0);
	assert_int_equal(hn_target_parse(CORES, &a, &n.cores, &err), 0);
	assert_int_equal(hn_target_parse("cuda -isa=sm_80", &a, &n.cuda, &err), 0);
	each_case(count, &n);
	each_case(check, &n);
	print_message("%u states of %u programs, %u for cores; right: %u as PTX (%llu million instructions "
		      "of warps), %u as OpenCL C (%u more it cannot say), %u by the device interpreter\n",
		      n.states, n.with_states, n.on_cores, n.ptx,
		      (unsigned long long)(n.steps / 1000000), n.opencl, n.refused, n.interpreted);
	assert_true(n.ptx > n.states * 9 / 10);
	assert_true(n.cl == NULL || n.opencl > n.states * 98 / 100);
	assert_true(n.interpreted > n.states / 2);
	hn_quick_free(n.quick);
	hn_arena_fini(&a);
}

int main(int argc, char **argv)
{
	static struct cl cl;
	struct cl *device = cl_open(&cl) ? &cl : NULL;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(every_state_is_right_on_a_device, device),
	};

	if (argc > 1) {
		wanted = (uint32_t)strtoul(argv[1], NULL, 10);
	}
	if (device == NULL) {
		fputs("no OpenCL device: OpenCL C is not run\n", stderr);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
