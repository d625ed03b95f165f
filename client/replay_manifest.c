/* client/replay_manifest.c -- what `hone replay` says of the files it wrote: the forms there are, the
 * manifest beside them, which of two kernels may take the other's place, and the answer as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "client/npu.h"
#include "client/replay.h"
#include "loopstate/dag/mark.h"

#define MANIFEST_MAX ((size_t)16 << 20)

const struct hn_replay_form hn_replay_form[HN_REPLAY_FORMS] = {
#define FORM(id, name, member, front, behind, word, kind) { name, member, front, behind, word, kind },
#include "client/replay_forms.def"
#undef FORM
};

int hn_replay_forms(const char *text, uint32_t *ret, struct hn_err *err)
{
	*ret = 0;
	for (const char *p = text; *p != '\0';) {
		size_t n = strcspn(p, ","), f = 0;

		while (f < HN_REPLAY_FORMS && (strlen(hn_replay_form[f].name) != n || strncmp(hn_replay_form[f].name, p, n) != 0)) {
			f++;
		}
		if (f == HN_REPLAY_FORMS) {
			return hn_fail(err, HONE_E_INVALID,
				       "--as: \"%.*s\" is none of c, ir, asm, so; of a GPU's kernel ptx, "
				       "cubin, opencl, cuda, launch; of the NPU's picture",
				       (int)(n < 60 ? n : 60), p);
		}
		*ret |= 1u << f;
		p += n + (p[n] == ',');
	}
	return 0;
}

/* Whether the kernel of a target can have the form. */
static bool is_offered(const struct hn_target *t, const struct hn_replay_form *f)
{
	const char *sort = (t->caps & HN_CAP_MODULES) != 0 ? HN_REPLAY_OF_GPU
			   : hn_npu_is(t)		    ? HN_REPLAY_OF_NPU
							    : "";
	bool same = *sort != '\0' ? strcmp(f->word, sort) == 0
				  : strcmp(f->word, HN_REPLAY_OF_GPU) != 0 && strcmp(f->word, HN_REPLAY_OF_NPU) != 0;

	return same && (*f->kind == '\0' || strcmp(f->kind, t->kind) == 0);
}

/* What there is instead. */
static int refuse_form(const struct hn_target *t, const struct hn_replay_form *refused, struct hn_err *err)
{
	char have[80] = "";
	size_t n = 0;

	for (size_t f = 0; f < HN_REPLAY_FORMS; f++) {
		if (is_offered(t, &hn_replay_form[f])) {
			n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s", n > 0 ? ", " : "",
					      hn_replay_form[f].name);
		}
	}
	return hn_fail(err, HONE_E_INVALID, "--as: kernels for target %s have no form %s; they have %s", t->kind,
		       refused->name, have);
}

int hn_replay_check_forms(const struct hn_replay *r, struct hn_err *err)
{
	for (uint32_t i = 0; i < r->n && r->n > 1; i++) {
		const struct hn_target *t = &r->kernel[i].target;

		if ((t->caps & HN_CAP_MODULES) != 0 || hn_npu_is(t)) {
			return hn_fail(err, HONE_E_INVALID, "--also: %s kernel is of one target",
				       hn_npu_is(t) ? "an NPU's" : "a GPU's");
		}
	}
	for (size_t f = 0; f < HN_REPLAY_FORMS; f++) {
		if (hn_replay_has(r, f) && !is_offered(&r->kernel[0].target, &hn_replay_form[f])) {
			return refuse_form(&r->kernel[0].target, &hn_replay_form[f], err);
		}
	}
	for (size_t f = 0; f < HN_REPLAY_FORMS && r->n > 1; f++) {
		if (hn_replay_has(r, f) && *hn_replay_form[f].word != '\0') {
			return hn_fail(err, HONE_E_INVALID,
				       "--as: %s is of one target; leave out --also",
				       hn_replay_form[f].name);
		}
	}
	return 0;
}

static void put_kernel(const struct hn_replay_kernel *k, struct hn_jw *w)
{
	hn_jw_double(w, "median_ns", k->median_ns > 0 ? k->median_ns : NAN);
	hn_check_json(&k->check, w);
}

void hn_replay_put_head(const struct hn_replay *r, struct hn_jw *w)
{
	const struct hn_replay_kernel *k = &r->kernel[0];

	hn_jw_str(w, "symbol", r->symbol);
	hn_jw_str(w, "name", r->in->name);
	hn_jw_str(w, "key", r->in->key);
	hn_jw_str(w, "target", k->target_line);
	hn_jw_double(w, "median_ns", k->median_ns > 0 ? k->median_ns : NAN);
}

int hn_replay_manifest(const struct hn_replay *r, const char *path, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", "hone-kernel/1");
	hn_jw_str(&w, "symbol", r->symbol);
	hn_jw_str(&w, "name", r->in->name);
	hn_jw_str(&w, "key", r->in->key);
	hn_jw_str(&w, "target", r->kernel[0].target_line);
	hn_jw_strf(&w, "object", "%s.o", r->symbol);
	hn_jw_strf(&w, "header", "%s.h", r->symbol);
	for (size_t f = 0; f < HN_REPLAY_FORMS; f++) {
		if (hn_replay_has(r, f)) {
			hn_jw_strf(&w, hn_replay_form[f].member, "%s%s%s", hn_replay_form[f].front, r->symbol,
				   hn_replay_form[f].behind);
		}
	}
	hn_jw_str(&w, "cache", hn_dag_cache(r->in->dag));
	put_kernel(&r->kernel[0], &w);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_json(&w, "steps", r->kernel[0].steps);
	if (r->n > 1) {
		hn_jw_list(&w, "targets");
		for (uint32_t i = 0; i < r->n; i++) {
			hn_jw_object(&w, NULL);
			hn_jw_str(&w, "target", r->kernel[i].target_line);
			put_kernel(&r->kernel[i], &w);
			hn_jw_json(&w, "steps", r->kernel[i].steps);
			hn_jw_end(&w);
		}
		hn_jw_end(&w);
	}
	hn_jw_json(&w, "dag", r->in->json);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	rc = hn_file_replace(path, b.s, b.n, err);
	hn_buf_fini(&b);
	return rc;
}

/* The key in the manifest at `path`; "" when that is none of ours. */
static void read_key(const char *path, char key[HN_KEY_BYTES])
{
	const struct hn_json_limits deep = { .max_depth = UINT32_MAX }; /* as dags are */
	struct hn_json *v = NULL;
	struct hn_buf b;
	const char *s;

	key[0] = '\0';
	hn_buf_init(&b);
	if (hn_file_read(path, MANIFEST_MAX, &b, NULL) == 0 &&
	    hn_json_parse(path, b.s, b.n, &deep, &v, NULL) == 0) {
		s = hn_json_string(hn_json_get(v, "key"));
		s = s != NULL ? s : hn_json_string(hn_json_get(v, "workload")); /* before 0.2 */
		snprintf(key, HN_KEY_BYTES, "%s", s != NULL ? s : "");
	}
	hn_json_free(v);
	hn_buf_fini(&b);
}

static int refuse_file(const char *path, const char *key, struct hn_err *err)
{
	return access(path, F_OK) != 0
		       ? 0
		       : hn_fail(err, HONE_E_INVALID,
				 "%.200s: there already, of another program%s%.12s; name this "
				 "one with --symbol, or replace that one with --force",
				 path, *key != '\0' ? ", key " : "", key);
}

int hn_replay_check_place(const struct hn_replay *r, struct hn_err *err)
{
	static const char *const ending[] = { ".o", ".h", ".module", ".hnpu", ".json" };
	char path[PATH_MAX], key[HN_KEY_BYTES];
	int rc = 0;

	snprintf(path, sizeof(path), "%.*s/%s.json", PATH_MAX - 200, r->dir, r->symbol);
	read_key(path, key);
	if (strcmp(key, r->in->key) == 0) {
		return 0;
	}
	for (size_t i = 0; i < HN_COUNT_OF(ending) && rc == 0; i++) {
		snprintf(path, sizeof(path), "%.*s/%s%s", PATH_MAX - 200, r->dir, r->symbol,
			 ending[i]);
		rc = refuse_file(path, key, err);
	}
	for (size_t f = 0; f < HN_REPLAY_FORMS && rc == 0; f++) {
		snprintf(path, sizeof(path), "%.*s/%s%s%s", PATH_MAX - 200, r->dir, hn_replay_form[f].front,
			 r->symbol, hn_replay_form[f].behind);
		rc = hn_replay_has(r, f) ? refuse_file(path, key, err) : 0;
	}
	return rc;
}

void hn_replay_print(const struct hn_replay *r)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", r->in->name);
	hn_jw_str(&w, "key", r->in->key);
	hn_jw_str(&w, "symbol", r->symbol);
	hn_jw_str(&w, "target", r->kernel[0].target_line);
	put_kernel(&r->kernel[0], &w);
	hn_jw_strf(&w, "object", "%s/%s.o", r->dir, r->symbol);
	hn_jw_strf(&w, "header", "%s/%s.h", r->dir, r->symbol);
	hn_jw_strf(&w, "manifest", "%s/%s.json", r->dir, r->symbol);
	for (size_t f = 0; f < HN_REPLAY_FORMS; f++) {
		if (hn_replay_has(r, f)) {
			hn_jw_strf(&w, hn_replay_form[f].member, "%s/%s%s%s", r->dir, hn_replay_form[f].front,
				   r->symbol, hn_replay_form[f].behind);
		}
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	puts(b.s);
	hn_buf_fini(&b);
}
