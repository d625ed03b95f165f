/* Device programs of all cases as PTX and as CUDA C: what every sketch for a GPU makes of each
 * program, at full size.  All of it is printed; where NVIDIA's assembler is on this machine, it
 * takes the PTX, and says how many registers it needs and what did not fit in them.  Of schedules by
 * rule all has to fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "sketch/heuristic.h"
#include "sketch/sketch.h"
#include "tests/lib/each_case.h"

#define TRIES 40

struct counts {
	struct hn_target gpu;
	const char *isa;
	char folder[64];
	bool assembles;
	uint32_t states, by_rule, spilled_rules, unfilled, assembled, kernels, spills, most_registers;
	uint64_t registers, ptx_bytes;
	int64_t print_ns;
};

/* The assembler's words about one kernel: registers, and bytes that did not fit. */
static void read_words(const char *path, struct counts *n, const char *name, bool by_rule)
{
	char line[500];
	FILE *f = fopen(path, "r");
	unsigned registers = 0, stores = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *used = strstr(line, "Used "), *spill = strstr(line, "bytes spill stores");
		unsigned stack = 0;

		if (used != NULL && sscanf(used, "Used %u registers", &registers) == 1) {
			n->kernels++;
			n->registers += registers;
			n->most_registers = registers > n->most_registers ? registers
									  : n->most_registers;
		}
		if (spill != NULL &&
		    sscanf(line, " %u bytes stack frame, %u bytes spill stores", &stack, &stores) == 2 &&
		    (stack > 0 || stores > 0)) {
			n->spills++;
			n->spilled_rules += by_rule && stores > 0;
			print_message("%s%s: %u bytes in memory, %u spilled (%s)\n", name,
				      by_rule ? ", by rule" : "", stack, stores, n->isa);
		}
	}
	fclose(f);
}

static void assemble(const char *name, const struct hn_gpu_module *m, bool by_rule,
		     struct counts *n)
{
	char ptx[100], words[100], command[400];
	struct hn_err err = { 0 };

	snprintf(ptx, sizeof(ptx), "%s/k.ptx", n->folder);
	snprintf(words, sizeof(words), "%s/words", n->folder);
	assert_int_equal(hn_file_replace(ptx, m->code, m->code_bytes, &err), 0);
	snprintf(command, sizeof(command), "ptxas -v -arch=%s %s -o %s/k.cubin >%s 2>&1", n->isa, ptx,
		 n->folder, words);
	if (system(command) != 0) {
		snprintf(command, sizeof(command), "cat %s", words);
		(void)!system(command);
		fprintf(stderr, "%s\n", (const char *)m->code);
		fail_msg("%s: ptxas refuses it", name);
	}
	n->assembled++;
	read_words(words, n, name, by_rule);
}

static void judge(const struct each *e, const struct hn_state *s, bool by_rule, struct counts *n)
{

	struct hn_gpu_options how = { .contracts = true };
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	n->states++;
	n->by_rule += by_rule;
	assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
	if (hn_device_place(t, &a, &d, &err) != 0 || hn_device_check(d, &n->gpu, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_CUDA, &n->gpu, &how, &a, &m, &err) != 0) {
		fail_msg("%s: %s", e->name, err.msg);
	}
	int64_t start = hn_clock_ns();

	if (hn_gpu_print(d, HN_GPU_PTX, &n->gpu, &how, &a, &m, &err) != 0) {
		fail_msg("%s: %s", e->name, err.msg);
	}
	n->print_ns += hn_clock_ns() - start;
	n->ptx_bytes += m.code_bytes;
	if (hn_clock_ns() - start > 2000000000) {
		print_message("%s: %lld ms\n", e->name, (long long)(hn_clock_ns() - start) / 1000000);
	}
	if (n->assembles) {
		assemble(e->name, &m, by_rule, n);
	}
	hn_arena_fini(&a);
}

static void check(struct hn_emitter *em, const struct hn_target *host, const struct each *e,
		  void *ctx)
{
	struct counts *n = ctx;
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)em;
	(void)host;
	if (e->dag->sizes != NULL) {
		return;
	}
	hn_arena_init(&a, 0);
	assert_int_equal(hn_sketch_generate(e->dag, &n->gpu, &a, &sketches, &err), 0);
	for (uint32_t k = 0; k < sketches.n; k++) {
		struct hn_rng rng = hn_rng_stream(11, 3, k, 0);
		const struct hn_state *s = NULL;

		for (int i = 0; i < TRIES && s == NULL; i++) {
			if (hn_sketch_fill(&sketches.sketch[k], &n->gpu, &rng, &a, &s) !=
			    HN_VERDICT_OK) {
				s = NULL;
			}
		}
		n->unfilled += s == NULL;
		if (s != NULL) {
			judge(e, s, false, n);
		}
	}
	const struct hn_state *rule[HN_HEURISTIC_MAX];
	uint32_t n_rule = hn_heuristics(e->dag, &n->gpu, &a, rule);

	for (uint32_t k = 0; k < n_rule; k++) {
		judge(e, rule[k], true, n);
	}
	hn_arena_fini(&a);
}

static void every_sketch_is_ptx(const char *isa, bool assembles)
{
	struct counts n = { .isa = isa, .assembles = assembles };
	char line[100];
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	snprintf(line, sizeof(line), "cuda -isa=%s", isa);
	assert_int_equal(hn_target_parse(line, &a, &n.gpu, &err), 0);
	snprintf(n.folder, sizeof(n.folder), "/tmp/hone-ptx-XXXXXX");
	assert_non_null(mkdtemp(n.folder));
	each_case(check, &n);
	print_message("%s: %u schedules printed, %u of them by rule, %llu bytes and %lld us each; %u assembled, their %u kernels "
		      "with %u registers in the mean and at most %u, %u not all in registers; %u without a fill\n",
		      isa, n.states, n.by_rule, (unsigned long long)(n.ptx_bytes / n.states),
		      (long long)(n.print_ns / n.states / 1000), n.assembled, n.kernels,
		      n.kernels > 0 ? (unsigned)(n.registers / n.kernels) : 0, n.most_registers,
		      n.spills, n.unfilled);
	snprintf(line, sizeof(line), "rm -rf %s", n.folder);
	(void)!system(line);
	hn_arena_fini(&a);
	assert_int_equal(n.spilled_rules, 0);
}

static void for_ampere(void **state)
{
	every_sketch_is_ptx("sm_80", *(bool *)*state);
}

static void for_hopper(void **state)
{
	every_sketch_is_ptx("sm_90a", *(bool *)*state);
}

int main(void)
{
	static bool assembles;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(for_ampere, &assembles),
		cmocka_unit_test_prestate(for_hopper, &assembles),
	};

	assembles = system("command -v ptxas >/dev/null") == 0;
	if (!assembles) {
		fputs("no ptxas: PTX is printed, and assembled by nobody\n", stderr);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
