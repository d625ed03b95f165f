/* client/netfinal.c -- see netfinal.h. */
#include "client/netfinal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "client/interrupt.h"
#include "client/netmake.h"
#include "client/netrace.h"
#include "client/place.h"

#define RACE_S 4 /* each of the two races */

enum { AUTOMATIC, RECORDS, MIXED, N_RUN };

struct final {
	const char *verb;
	struct hn_network *n;
	char dir[64]; /* temporary */
	struct hn_opts o[2];	     /* of AUTOMATIC and RECORDS; their weights lie in files */
	struct hn_netmake make[N_RUN]; /* MIXED: of a network for a GPU, whose kernels are of one library */
	const char *library[N_RUN];
	bool *open; /* [n_task] the two have other schedules */
	uint32_t *which; /* [n_task] AUTOMATIC or RECORDS, of MIXED */
	uint32_t n_open;
	struct hn_netrun run[N_RUN];
};

static void say_nothing(const char *path)
{
	(void)path;
}

static int write_library(struct final *f, int which, struct hn_err *err)
{
	struct hn_arena *a = &f->n->arena;
	char note[HN_LIBRARY_NOTE] = "";
	struct hn_assembly made;
	const char *so;
	int rc;

	f->library[which] = hn_arena_printf(a, "%s/%d", f->dir, which);
	rc = hn_netmake_library(&f->make[which], f->library[which], say_nothing, note, &made, err);
	so = hn_arena_printf(a, "%s/lib" HN_PLACE_FILE ".so", f->library[which]);
	if (rc == 0 && access(so, R_OK) != 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s: a network's final needs a linker: %s",
			     f->verb, note);
	}
	return rc;
}

/* The kernels of both; those that are the same are made once. */
static int make_kernels(struct final *f, struct hn_crew *crew, struct hn_err *err)
{
	const struct hn_netmake *same = &f->make[AUTOMATIC];
	int rc = 0;

	for (int i = AUTOMATIC; rc == 0 && i <= RECORDS; i++) {
		f->o[i].automatic = i == AUTOMATIC;
		f->o[i].embed = false;
		f->make[i] = (struct hn_netmake){ .verb = f->verb,
						  .o = &f->o[i],
						  .net = f->n,
						  .dir = f->dir,
						  .n_same = i == RECORDS,
						  .same = &same };
		rc = hn_netmake_kernels(&f->make[i], crew, err);
	}
	f->open = HN_NEW_ARRAY(&f->n->arena, bool, f->n->net.n_task);
	for (uint32_t k = 0; rc == 0 && k < f->n->net.n_kernel; k++) {
		f->open[f->n->net.kernel[k].task] |=
			strcmp(f->make[AUTOMATIC].made[k].kernel.steps,
			       f->make[RECORDS].made[k].kernel.steps) != 0;
	}
	for (uint32_t i = 0; rc == 0 && i < f->n->net.n_task; i++) {
		f->n_open += f->open[i];
	}
	return rc;
}

/* A library of its own of the better of each. */
static int make_mixed(struct final *f, struct hn_crew *crew, struct hn_err *err)
{
	const struct hn_netmake *same[] = { &f->make[AUTOMATIC], &f->make[RECORDS] };
	const struct hn_net *net = &f->n->net;
	struct hn_netchoice choice = { .kernel = HN_NEW_ARRAY(&f->n->arena, struct hn_netchoice_kernel,
							      net->n_kernel) };
	int rc;

	for (uint32_t k = 0; k < net->n_kernel; k++) {
		uint32_t task = net->kernel[k].task;

		choice.kernel[choice.n_kernel++] = (struct hn_netchoice_kernel){
			.name = net->task[task].name,
			.record = f->make[RECORDS].made[k].kernel.record,
			.declined = f->open[task] && f->which[task] == AUTOMATIC,
		};
	}
	f->make[MIXED] = (struct hn_netmake){ .verb = f->verb,
					      .o = &f->o[RECORDS],
					      .net = f->n,
					      .dir = f->dir,
					      .choice = &choice,
					      .n_same = HN_COUNT_OF(same),
					      .same = same };
	rc = hn_netmake_kernels(&f->make[MIXED], crew, err);
	rc = rc ? rc : write_library(f, MIXED, err);
	f->make[MIXED].choice = NULL;
	f->make[MIXED].same = NULL;
	return rc;
}

/* All automatic and all records; then these and the better of each. */
static int race(struct final *f, struct hn_crew *crew, uint32_t *ret_best, struct hn_err *err)
{
	struct hn_netrace how = { .verb = f->verb,
				  .name = f->n->name,
				  .n_library = 2,
				  .dir = f->library,
				  .seconds = RACE_S,
				  .target = &f->n->target };
	struct hn_arena *a = &f->n->arena;
	const struct hn_net *net = &f->n->net;
	uint32_t *from[N_RUN];
	bool mixed;
	int rc;

	f->which = HN_NEW_ARRAY(a, uint32_t, net->n_task);

	for (int i = 0; i < N_RUN; i++) {
		from[i] = HN_NEW_ARRAY(a, uint32_t, net->n_kernel);
		for (uint32_t k = 0; i == RECORDS && k < net->n_kernel; k++) {
			from[i][k] = f->n->modules || f->open[net->kernel[k].task] ? RECORDS
										   : AUTOMATIC;
		}
		f->run[i] = (struct hn_netrun){ .from = from[i], .net = net };
	}
	rc = hn_netrace_run(&how, MIXED, f->run, a, err);
	mixed = rc == 0 && hn_netrace_mix(f->run, f->open, a, f->which);
	for (uint32_t k = 0; mixed && k < net->n_kernel; k++) {
		from[MIXED][k] = f->n->modules ? MIXED : f->which[net->kernel[k].task];
	}
	if (mixed && f->n->modules && !hn_interrupted()) {
		how.n_library = N_RUN;
		rc = make_mixed(f, crew, err);
	}
	if (rc == 0 && mixed && !hn_interrupted()) {
		rc = hn_netrace_run(&how, N_RUN, f->run, a, err);
	}
	*ret_best = rc == 0 ? hn_netrace_best(f->run, mixed ? N_RUN : MIXED) : 0;
	return rc;
}

/* Median time of all steps of a task. */
static double time_of(struct final *f, int which, uint32_t task)
{
	const struct hn_netrun *run = &f->run[which];

	return hn_netrace_median(hn_netrace_task(run, task, &f->n->arena), run->n_round);
}

static void decide(struct final *f, uint32_t best)
{
	struct hn_netchoice *ret = &f->n->choice;
	const struct hn_netrun *run = f->run;
	uint32_t n_round = run[0].n_round;

	ret->hone = HONE_VERSION;
	ret->unix_ms = hn_clock_unix_ms();
	ret->n_thread = hn_netrace_threads(&f->n->target);
	ret->n_round = n_round;
	ret->records_ns = hn_netrace_median(run[RECORDS].ns, n_round);
	ret->automatic_ns = hn_netrace_median(run[AUTOMATIC].ns, n_round);
	ret->chosen_ns = hn_netrace_median(run[best].ns, n_round);
	ret->n_kernel = 0;
	ret->kernel = HN_NEW_ARRAY(&f->n->arena, struct hn_netchoice_kernel, f->n_open);
	for (uint32_t i = 0, k; i < f->n->net.n_task; i++) {
		for (k = 0; f->n->net.kernel[k].task != i; k++) {
		}
		if (f->open[i]) {
			ret->kernel[ret->n_kernel++] = (struct hn_netchoice_kernel){
				.name = f->n->net.task[i].name,
				.record = f->make[RECORDS].made[k].kernel.record,
				.record_ns = time_of(f, RECORDS, i),
				.automatic_ns = time_of(f, AUTOMATIC, i),
				.declined = (best == MIXED ? f->which[i] : best) == AUTOMATIC,
			};
		}
	}
}

static int hold(struct final *f, struct hn_err *err)
{
	struct hn_crew crew;
	uint32_t best = 0;
	int rc;

	hn_crew_open(&crew);
	rc = make_kernels(f, &crew, err);
	for (int i = AUTOMATIC; rc == 0 && f->n_open > 0 && i <= RECORDS; i++) {
		rc = write_library(f, i, err);
	}
	if (rc == 0 && f->n_open > 0) {
		rc = race(f, &crew, &best, err);
		rc = rc == 0 && hn_interrupted()
			     ? hn_fail(err, HONE_E_CANCELLED, "%s: stopped", f->verb)
			     : rc;
	}
	if (rc == 0 && f->n_open > 0) {
		decide(f, best);
		rc = hn_netchoice_write(&f->o[RECORDS], f->n, err);
	}
	hn_crew_close(&crew);
	return rc;
}

int hn_netfinal(const char *verb, const struct hn_opts *o, struct hn_network *n,
		struct hn_err *err)
{
	struct final f = { .verb = verb, .n = n, .dir = "/tmp/hone-final-XXXXXX", .o = { *o, *o } };
	int rc;

	if (n->net.n_task == 0) {
		return 0;
	}
	if (mkdtemp(f.dir) == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: no temporary folder", f.dir);
	}
	rc = hold(&f, err);
	hn_file_remove_tree(f.dir);
	return rc;
}

void hn_netfinal_say(const struct hn_netchoice *c)
{
	char chosen[32], records[32], automatic[32], where[40] = "the device";
	uint32_t declined = 0;

	if (c->hone == NULL) {
		fputs("hone: no kernel has a record that differs from its automatic schedule\n", stderr);
		return;
	}
	for (uint32_t i = 0; i < c->n_kernel; i++) {
		declined += c->kernel[i].declined;
	}
	if (c->n_thread > 0) {
		snprintf(where, sizeof(where), "%u thread%s", c->n_thread, c->n_thread == 1 ? "" : "s");
	}
	fprintf(stderr,
		"hone: a run on %s takes %s with %u of %u records; %s with all, %s with none\n", where,
		hn_show_time(c->chosen_ns, chosen), c->n_kernel - declined, c->n_kernel,
		hn_show_time(c->records_ns, records), hn_show_time(c->automatic_ns, automatic));
}
