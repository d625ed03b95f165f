/* tune.c -- has honed search for a fast kernel, and shows how it gets on.
 *
 *     honed &
 *     cc tune.c $(pkg-config --cflags --libs hone) -o tune
 *     ./tune 'mm(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' 64
 */
#include <stdio.h>
#include <stdlib.h>

#include <hone/tune.h>

static int show(void *ctx, const struct hone_progress *now)
{
	(void)ctx;
	fprintf(stderr, "%s: %lu trials, best %.6g ns\n", now->state, now->trials, now->best_ns);
	return 0;
}

int main(int argc, char **argv)
{
	struct hone_budget budget = { 0, 0 };
	struct hone_progress last;
	struct hone_daemon *daemon;
	struct hone_error error;
	char job[HONE_JOB_BYTES];

	if (argc != 3) {
		fprintf(stderr, "usage: tune COMPUTATION TRIALS\n");
		return 2;
	}
	budget.trials = strtoul(argv[2], NULL, 10);
	if (hone_daemon_open(NULL, &daemon, &error) != 0) {
		fprintf(stderr, "tune: %s\n", error.text);
		return 1;
	}
	if (hone_submit(daemon, argv[1], &budget, job, &error) != 0 ||
	    hone_follow(daemon, job, show, NULL, &last, &error) != 0) {
		fprintf(stderr, "tune: %s\n", error.text);
		hone_daemon_close(daemon);
		return 1;
	}
	printf("%lu trials, %.6g ns; as written %.6g ns\n", last.trials, last.best_ns,
	       last.naive_ns);
	hone_daemon_close(daemon);
	return 0;
}
