/* client/kernel.c -- one kernel of a network. */
#include "client/kernel.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "client/auto.h"

#define FACTS_MAX 4096

/* The best record that was measured on this very target; false: there is none. */
static bool find_record(const struct hn_opts *o, const char *key, int64_t declined,
			struct hn_arena *a, struct hn_kernel *ret)
{
	struct hn_best best;
	bool found;

	if (o->automatic || hn_best_find(o, key, a, &best, NULL) != 0) {
		return false;
	}
	found = best.differs == 0 && best.entry.best.median_ns > 0 &&
		best.entry.best.id != declined;
	if (found) {
		ret->record = best.entry.best.id;
		ret->median_ns = best.entry.best.median_ns;
		ret->steps = hn_arena_strdup(a, best.entry.best.steps);
		ret->target_line = hn_arena_strdup(a, best.asked_line);
	}
	hn_best_close(&best);
	return found;
}

/* A kernel for a range has the schedule of the largest sizes: their record, where its steps are right
 * for all sizes. */
static bool find_record_of_largest(const struct hn_opts *o, const struct hn_input *in,
				   int64_t declined, struct hn_arena *a, struct hn_kernel *ret)
{
	struct hn_kernel found = *ret;
	const struct hn_dag *dag;
	char key[HN_KEY_BYTES];

	if (in->dag->sizes == NULL || o->automatic ||
	    hn_auto_largest(in->dag, a, &dag, NULL) != 0) {
		return false;
	}
	hn_dag_key(dag, key);
	if (!find_record(o, key, declined, a, &found) || !hn_auto_proves(in, found.steps, a)) {
		return false;
	}
	*ret = found;
	ret->run_record = true; /* it was run for the largest */
	return true;
}

int hn_kernel_choose(const struct hn_opts *o, int64_t declined, struct hn_arena *a,
		     struct hn_kernel *ret, struct hn_err *err)
{
	struct hn_answers answers;
	struct hn_input in;
	struct hn_best best;
	int rc = hn_input_read_sized(o, a, &in, err);

	*ret = (struct hn_kernel){ 0 };
	if (rc != 0) {
		return rc;
	}
	ret->key = in.key;
	ret->dag = in.json;
	if (find_record(o, in.key, declined, a, ret) ||
	    find_record_of_largest(o, &in, declined, a, ret)) {
		return 0;
	}
	rc = hn_auto_find(o, &in, a, &best, &answers, err);
	if (rc == 0) {
		ret->steps = best.entry.best.steps;
		ret->target_line = best.target_line;
		ret->predicted_ns = answers.at[0].predicted_ns;
	}
	return rc;
}

struct files {
	char dag[PATH_MAX], steps[PATH_MAX], facts[PATH_MAX], object[PATH_MAX];
};

static void name_files(const char *dir, const char *symbol, struct files *f)
{
	snprintf(f->dag, PATH_MAX, "%.3800s/%.100s.dag", dir, symbol);
	snprintf(f->steps, PATH_MAX, "%.3800s/%.100s.steps", dir, symbol);
	snprintf(f->facts, PATH_MAX, "%.3800s/%.100s.facts", dir, symbol);
	snprintf(f->object, PATH_MAX, "%.3800s/%.100s.o", dir, symbol);
}

static const bool *read_reads(const struct hn_json *list, struct hn_arena *a)
{
	bool *ret = HN_NEW_ARRAY(a, bool, hn_json_count(list)), *at = ret;

	for (const struct hn_json *v = hn_json_first(list); v != NULL; v = hn_json_next(v)) {
		hn_json_bool(v, at++);
	}
	return ret;
}

static int read_facts(const char *path, struct hn_arena *a, struct hn_kernel *k,
		      struct hn_err *err)
{
	struct hn_json *v = NULL;
	struct hn_buf b;
	bool init;
	int rc;

	hn_buf_init(&b);
	rc = hn_file_read(path, FACTS_MAX, &b, err);
	rc = rc ? rc : hn_json_parse(path, b.s, b.n, NULL, &v, err);
	if (rc == 0) {
		k->workspace_bytes = (uint64_t)hn_show_number(v, "workspace_bytes");
		k->worker_bytes = (uint64_t)hn_show_number(v, "worker_bytes");
		k->prepared_bytes = (uint64_t)hn_show_number(v, "prepared_bytes");
		k->init = hn_json_bool(hn_json_get(v, "init"), &init) && init;
		k->reads = read_reads(hn_json_get(v, "reads"), a);
	}
	hn_json_free(v);
	hn_buf_fini(&b);
	return rc;
}

static int write_texts(const struct files *f, const struct hn_kernel *k, struct hn_err *err)
{
	int rc = hn_file_replace(f->dag, k->dag, strlen(k->dag), err);

	return rc ? rc : hn_file_replace(f->steps, k->steps, strlen(k->steps), err);
}

/* A GPU's: no board of this machine's is asked, and it prepares nothing. */
static int build_module(const char *verb, const struct files *f, const struct hn_kernel *k,
			struct hn_err *err)
{
	char *argv[] = { "hone-build", "--dag",	   (char *)f->dag,
			 "--steps",    (char *)f->steps, "--target",
			 (char *)k->target_line, "-o", (char *)f->object, NULL };
	int rc = write_texts(f, k, err);

	rc = rc ? rc : hn_builder_run(verb, argv, -1, err);
	unlink(f->dag);
	unlink(f->steps);
	return rc;
}

static int build(const char *verb, const struct files *f, const char *symbol, struct hn_kernel *k,
		 struct hn_arena *a, struct hn_err *err)
{
	char *argv[] = { "hone-build", "--dag",	  (char *)f->dag,	"--steps",
			 (char *)f->steps,	  "--target",		(char *)k->target_line,
			 "--symbol",		  (char *)symbol,	"-o",
			 (char *)f->object,	  "--facts",		(char *)f->facts,
			 "--read-soon",
			 "--strides",		  (char *)(k->strides != NULL ? k->strides : ""),
			 (char *)k->check.words[0], (char *)k->check.words[1], NULL };
	int rc = write_texts(f, k, err);

	rc = rc ? rc : hn_builder_run(verb, argv, -1, err);
	rc = rc ? rc : hn_check_kernel(verb, &k->check, a, err);
	rc = rc ? rc : read_facts(f->facts, a, k, err);
	unlink(f->dag);
	unlink(f->steps);
	unlink(f->facts);
	return rc;
}

int hn_kernel_make(const char *verb, const struct hn_opts *o, const char *dir, const char *symbol,
		   struct hn_arena *a, struct hn_kernel *k, struct hn_err *err)
{
	struct hn_opts how = *o;
	struct hn_target target;
	struct files f;
	int rc = hn_target_parse(k->target_line, a, &target, err);

	how.unchecked |= k->record != 0 && !k->run_record && k->strides == NULL;
	name_files(dir, symbol, &f);
	rc = rc ? rc : hn_check_open(verb, &how, k->target_line, a, &k->check, err);
	if (rc == 0) {
		rc = (target.caps & HN_CAP_MODULES) != 0 ? build_module(verb, &f, k, err)
							 : build(verb, &f, symbol, k, a, err);
		hn_check_close(&k->check);
	}
	return rc;
}
