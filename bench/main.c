/* bench/main.c -- hone-bench: the figures hone states, each from a command. */
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/cdefs.h"
#include "measure/board/tiles.h"

#define BENCH(name, text) int hn_bench_##name(const struct hn_bench_args *args);
#include "bench/benches.def"
#undef BENCH

static const struct {
	const char *name;
	const char *text;
	hn_bench_fn run;
} benches[] = {
#define BENCH(name, text) { #name, text, hn_bench_##name },
#include "bench/benches.def"
#undef BENCH
};

static int usage(void)
{
	fputs("usage: hone-bench NAME [ARGUMENT...]\n", stderr);
	for (size_t i = 0; i < HN_COUNT_OF(benches); i++) {
		fprintf(stderr, "  %-10s %s\n", benches[i].name, benches[i].text);
	}
	return 2;
}

int main(int argc, char **argv)
{
	struct hn_bench_args args = { .examples = HONE_EXAMPLES_DIR,
				      .cases = HONE_CASES_DIR,
				      .nests = HONE_NESTS_DIR };
	char why[200];
	int status = 0;

	if (hn_tiles_ask(NULL, why, sizeof why) == HN_TILES_REFUSED) {
		fprintf(stderr, "hone-bench: %s\n", why);
	}
	if (argc > 1) {
		args.argc = argc - 2;
		args.argv = argv + 2;
		for (size_t i = 0; i < HN_COUNT_OF(benches); i++) {
			if (strcmp(argv[1], benches[i].name) == 0) {
				return benches[i].run(&args);
			}
		}
		return usage();
	}
	for (size_t i = 0; i < HN_COUNT_OF(benches); i++) {
		status |= benches[i].run(&args);
	}
	return status;
}
