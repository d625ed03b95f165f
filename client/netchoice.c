/* client/netchoice.c -- see netchoice.h. */
#include "client/netchoice.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/jw.h"
#include "client/best.h"
#include "client/network.h"
#include "proto/addr.h"

#define FORMAT "hone-network-choice/1"
#define FILE_MAX_BYTES ((size_t)16 << 20)

/* -- where it is ----------------------------------------------------------------------------- */

/* The network's name in the world. */
static int find_key(const struct hn_opts *o, struct hn_network *n, struct hn_err *err)
{
	struct hn_buf b;
	int rc = 0;

	hn_buf_init(&b);
	for (uint32_t i = 0; rc == 0 && i < n->net.n_task; i++) {
		struct hn_opts one = hn_network_task(o, &n->net.task[i]);
		const char *task;

		rc = hn_input_key(&one, &n->arena, &task, err);
		hn_buf_printf(&b, "%s\n", rc == 0 ? task : "");
	}
	for (uint32_t i = 0; i < n->net.n_step; i++) {
		const struct hn_gstep *s = &n->net.step[i];

		hn_buf_printf(&b, "%u", s->task);
		for (uint32_t k = 0; k < s->n_arg; k++) {
			hn_buf_printf(&b, " %d", s->arg[k]);
		}
		hn_buf_putc(&b, '\n');
	}
	if (rc == 0 && b.failed) {
		rc = hn_fail(err, HONE_E_NOMEM, "no memory for a network's key");
	}
	if (rc == 0) {
		hn_sha256_hex(b.s, b.n, n->key);
	}
	hn_buf_fini(&b);
	return rc;
}

struct place {
	char folder[PATH_MAX], path[PATH_MAX];
	const char *target;
};

static int find_place(const struct hn_opts *o, struct hn_network *n, struct place *ret,
		      struct hn_err *err)
{
	char line[HN_SHA256_HEX];
	struct hn_target target;
	struct hn_buf home;
	int rc = hn_best_target(o, &n->arena, &target, &ret->target, err);

	hn_buf_init(&home);
	rc = rc ? rc : hn_addr_home(o->home, &home, err);
	if (rc == 0) {
		hn_sha256_hex(ret->target, strlen(ret->target), line);
		snprintf(ret->folder, PATH_MAX, "%.3800s/networks", home.s);
		snprintf(ret->path, PATH_MAX, "%.3820s/%s-%.16s.json", ret->folder, n->key, line);
	}
	hn_buf_fini(&home);
	return rc;
}

/* -- its text -------------------------------------------------------------------------------- */

static bool read_kernel(const struct hn_json *v, struct hn_arena *a, struct hn_netchoice_kernel *ret)
{
	const char *name = hn_json_string(hn_json_get(v, "name"));
	const char *taken = hn_json_string(hn_json_get(v, "taken"));

	if (name == NULL || taken == NULL || !hn_json_int(hn_json_get(v, "record"), &ret->record)) {
		return false;
	}
	ret->name = hn_arena_strdup(a, name);
	ret->record_ns = hn_show_number(v, "record_ns");
	ret->automatic_ns = hn_show_number(v, "automatic_ns");
	ret->declined = strcmp(taken, "automatic") == 0;
	return ret->declined || strcmp(taken, "record") == 0;
}

static bool read_say(const struct hn_json *v, const struct hn_network *n, struct hn_netchoice *ret,
		     struct hn_arena *a)
{
	ret->n_value = n->graph.n_value;
	ret->say = hn_json_count(v) > 0 ? HN_NEW_ARRAY(a, uint8_t, ret->n_value) : NULL;
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		const char *word = hn_json_string(hn_json_get(c, "say"));
		int64_t i;

		if (word == NULL || !hn_json_int(hn_json_get(c, "value"), &i) || i < 0 || i >= ret->n_value ||
		    (strcmp(word, "cut") != 0 && strcmp(word, "join") != 0)) {
			return false;
		}
		ret->say[i] = strcmp(word, "cut") == 0 ? HN_NET_CUT : HN_NET_JOIN;
	}
	return true;
}

/* Values that are row-major by themselves. */
static bool read_plain(const struct hn_json *v, const struct hn_network *n, struct hn_netchoice *ret,
		       struct hn_arena *a)
{
	ret->plain = hn_json_count(v) > 0 ? HN_NEW_ARRAY(a, uint8_t, n->graph.n_value) : NULL;
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		int64_t i;

		if (!hn_json_int(c, &i) || i < 0 || i >= n->graph.n_value) {
			return false;
		}
		ret->plain[i] = 1;
	}
	return true;
}

static bool read_rival(const struct hn_json *v, struct hn_arena *a, struct hn_netchoice_rival *ret)
{
	const char *name = hn_json_string(hn_json_get(v, "name"));

	*ret = (struct hn_netchoice_rival){ .name = hn_arena_strdup(a, name != NULL ? name : ""),
					    .n_place = (uint32_t)hn_show_number(v, "places"),
					    .n_taken = (uint32_t)hn_show_number(v, "taken"),
					    .rules_ns = hn_show_number(v, "rules_ns"),
					    .ns = hn_show_number(v, "ns") };
	return name != NULL;
}

static bool read_fusion(const struct hn_json *v, const struct hn_network *n, struct hn_arena *a,
			struct hn_netchoice *ret)
{
	const struct hn_json *rivals = hn_json_get(v, "rivals");
	const char *layout = hn_json_string(hn_json_get(v, "layout"));

	if (layout == NULL || !hn_json_bool(hn_json_get(v, "searched"), &ret->searched)) {
		return false;
	}
	ret->rules_ns = hn_show_number(v, "rules_ns");
	ret->fused_ns = hn_show_number(v, "fused_ns");
	ret->row_major = strcmp(layout, "row-major") == 0;
	ret->rival = HN_NEW_ARRAY(a, struct hn_netchoice_rival, hn_json_count(rivals));
	for (const struct hn_json *r = hn_json_first(rivals); r != NULL; r = hn_json_next(r)) {
		if (!read_rival(r, a, &ret->rival[ret->n_rival++])) {
			return false;
		}
	}
	return read_plain(hn_json_get(v, "row_major"), n, ret, a) &&
	       read_say(hn_json_get(v, "values"), n, ret, a);
}

static bool read_choice(const struct hn_json *v, const struct place *at, struct hn_network *n,
			struct hn_netchoice *ret)
{
	struct hn_arena *a = &n->arena;

	const char *format = hn_json_string(hn_json_get(v, "format"));
	const char *network = hn_json_string(hn_json_get(v, "network"));
	const char *target = hn_json_string(hn_json_get(v, "target"));
	const char *hone = hn_json_string(hn_json_get(v, "hone"));
	const struct hn_json *kernels = hn_json_get(v, "kernels");

	if (format == NULL || strcmp(format, FORMAT) != 0 || network == NULL ||
	    strcmp(network, n->key) != 0 || target == NULL || strcmp(target, at->target) != 0 ||
	    !hn_json_int(hn_json_get(v, "unix_ms"), &ret->unix_ms) || !read_fusion(v, n, a, ret)) {
		return false;
	}
	ret->n_thread = (uint32_t)hn_show_number(v, "threads");
	ret->n_round = (uint32_t)hn_show_number(v, "rounds");
	ret->records_ns = hn_show_number(v, "records_ns");
	ret->automatic_ns = hn_show_number(v, "automatic_ns");
	ret->chosen_ns = hn_show_number(v, "chosen_ns");
	ret->kernel = HN_NEW_ARRAY(a, struct hn_netchoice_kernel, hn_json_count(kernels));
	for (const struct hn_json *k = hn_json_first(kernels); k != NULL; k = hn_json_next(k)) {
		if (!read_kernel(k, a, &ret->kernel[ret->n_kernel++])) {
			return false;
		}
	}
	ret->hone = hone != NULL ? hn_arena_strdup(a, hone) : NULL;
	return true;
}

static void write_fusion(const struct hn_netchoice *c, struct hn_jw *w)
{
	hn_jw_bool(w, "searched", c->searched);
	hn_jw_str(w, "layout",
		  c->row_major	     ? "row-major"
		  : c->plain != NULL ? "mixed"
				     : "rules");
	hn_jw_list(w, "row_major");
	for (uint32_t i = 0; c->plain != NULL && i < c->n_value; i++) {
		if (c->plain[i] != 0) {
			hn_jw_uint(w, NULL, i);
		}
	}
	hn_jw_end(w);
	hn_jw_double(w, "rules_ns", c->rules_ns);
	hn_jw_double(w, "fused_ns", c->fused_ns);
	hn_jw_list(w, "rivals");
	for (uint32_t i = 0; i < c->n_rival; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", c->rival[i].name);
		hn_jw_uint(w, "places", c->rival[i].n_place);
		hn_jw_uint(w, "taken", c->rival[i].n_taken);
		hn_jw_double(w, "rules_ns", c->rival[i].rules_ns);
		hn_jw_double(w, "ns", c->rival[i].ns);
		hn_jw_end(w);
	}
	hn_jw_end(w);
	hn_jw_list(w, "values");
	for (uint32_t i = 0; c->say != NULL && i < c->n_value; i++) {
		if (c->say[i] != HN_NET_RULE) {
			hn_jw_object(w, NULL);
			hn_jw_uint(w, "value", i);
			hn_jw_str(w, "say", c->say[i] == HN_NET_CUT ? "cut" : "join");
			hn_jw_end(w);
		}
	}
	hn_jw_end(w);
}

static void write_choice(const struct hn_network *n, const struct place *at, struct hn_buf *ret)
{
	const struct hn_netchoice *c = &n->choice;
	struct hn_jw w;

	hn_jw_init(&w, ret);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", FORMAT);
	hn_jw_str(&w, "network", n->key);
	hn_jw_str(&w, "target", at->target);
	write_fusion(c, &w);
	hn_jw_str(&w, "hone", c->hone);
	hn_jw_int(&w, "unix_ms", c->unix_ms);
	hn_jw_uint(&w, "threads", c->n_thread);
	hn_jw_uint(&w, "rounds", c->n_round);
	hn_jw_double(&w, "records_ns", c->records_ns);
	hn_jw_double(&w, "automatic_ns", c->automatic_ns);
	hn_jw_double(&w, "chosen_ns", c->chosen_ns);
	hn_jw_list(&w, "kernels");
	for (uint32_t i = 0; i < c->n_kernel; i++) {
		const struct hn_netchoice_kernel *k = &c->kernel[i];

		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "name", k->name);
		hn_jw_int(&w, "record", k->record);
		hn_jw_double(&w, "record_ns", k->record_ns);
		hn_jw_double(&w, "automatic_ns", k->automatic_ns);
		hn_jw_str(&w, "taken", k->declined ? "automatic" : "record");
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
}

/* -- read and write -------------------------------------------------------------------------- */

int hn_netchoice_read(const struct hn_opts *o, struct hn_network *n, struct hn_err *err)
{
	struct hn_netchoice found = { 0 };
	struct hn_json *v = NULL;
	struct hn_err why = { 0 };
	struct place at;
	struct hn_buf b;
	int rc = find_key(o, n, err);

	n->choice = (struct hn_netchoice){ 0 };
	rc = rc || o->automatic ? rc : find_place(o, n, &at, err);
	if (rc != 0 || o->automatic) {
		return rc;
	}
	hn_buf_init(&b);
	rc = hn_file_read_kept(at.path, FILE_MAX_BYTES, &b, &why);
	if (rc == 0 && (hn_json_parse("it", b.s, b.n, NULL, &v, &why) != 0 ||
			!read_choice(v, &at, n, &found))) {
		fprintf(stderr,
			"hone: warning: %s is damaged and not looked at; `hone final` makes it anew\n",
			at.path);
	} else if (rc == 0) {
		n->choice = found;
	} else if (rc != -HONE_E_NOT_FOUND) {
		fprintf(stderr, "hone: warning: %s\n", why.msg);
	}
	hn_json_free(v);
	hn_buf_fini(&b);
	return 0;
}

int hn_netchoice_text(const struct hn_opts *o, struct hn_network *n, struct hn_buf *ret,
		      struct hn_err *err)
{
	struct place at;
	int rc = find_place(o, n, &at, err);

	if (rc == 0) {
		write_choice(n, &at, ret);
	}
	return rc;
}

int hn_netchoice_write(const struct hn_opts *o, struct hn_network *n, struct hn_err *err)
{
	struct place at;
	struct hn_buf b;
	int rc = find_place(o, n, &at, err);

	hn_buf_init(&b);
	rc = rc ? rc : hn_file_mkdirs(at.folder, 0700, err);
	if (rc == 0) {
		write_choice(n, &at, &b);
		hn_buf_putc(&b, '\n');
		rc = b.failed ? hn_fail(err, HONE_E_NOMEM, "no memory for what was decided")
			      : hn_file_replace(at.path, b.s, b.n, err);
	}
	hn_buf_fini(&b);
	return rc;
}

int64_t hn_netchoice_declined(const struct hn_netchoice *c, const char *kernel)
{
	for (uint32_t i = 0; c != NULL && i < c->n_kernel; i++) {
		if (strcmp(c->kernel[i].name, kernel) == 0) {
			return c->kernel[i].declined ? c->kernel[i].record : 0;
		}
	}
	return 0;
}
