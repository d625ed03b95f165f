/* client/replay_make.c -- see replay.h.  hone-build makes objects and texts, hone-board runs them,
 * the system's linker joins those of several targets and makes libraries. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/seal.h"
#include "client/linker.h"
#include "client/replay.h"
#include "client/runtime.h"
#include "client/show.h"

#define FACTS_MAX ((size_t)1 << 20)
#define MOST_WORDS 40

/* -- files ---------------------------------------------------------------------------------- */

static char *in_work(const struct hn_replay *r, struct hn_arena *a, const char *name)
{
	return hn_arena_printf(a, "%s/%s", r->work, name);
}

static int write_text(const struct hn_replay *r, struct hn_arena *a, const char *name,
		      const char *text, struct hn_err *err)
{
	return hn_file_replace(in_work(r, a, name), text, strlen(text), err);
}

/* WORK/out.ENDING to DIR/FRONT SYMBOL BEHIND. */
static int put_in_place(const struct hn_replay *r, struct hn_arena *a, const char *front,
			const char *behind, struct hn_err *err)
{
	char *from = in_work(r, a, hn_arena_printf(a, "out%s", behind));
	char *to = hn_arena_printf(a, "%s/%s%s%s", r->dir, front, r->symbol, behind);

	if (rename(from, to) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", to, strerror(errno));
	}
	if (!r->json) {
		printf("%s\n", to);
	}
	return 0;
}

/* -- hone-build --------------------------------------------------------------------------------- */

/* What a caller has to provide for any of the kernels. */
struct room {
	double workspace, worker, prepared;
	bool init;
};

static void widen(double *to, double n)
{
	*to = n > *to ? n : *to;
}

static int read_room(const char *path, struct room *room, struct hn_err *err)
{
	struct hn_json *v = NULL;
	struct hn_buf b;
	bool init = false;

	hn_buf_init(&b);
	int rc = hn_file_read(path, FACTS_MAX, &b, err);

	rc = rc ? rc : hn_json_parse("hone-build", b.s, b.n, NULL, &v, err);
	if (rc == 0) {
		widen(&room->workspace, hn_show_number(v, "workspace_bytes"));
		widen(&room->worker, hn_show_number(v, "worker_bytes"));
		widen(&room->prepared, hn_show_number(v, "prepared_bytes"));
		hn_json_bool(hn_json_get(v, "init"), &init);
		room->init = room->init || init;
	}
	hn_json_free(v);
	hn_buf_fini(&b);
	return rc;
}

struct words {
	char *word[MOST_WORDS + 1];
	uint32_t n;
};

static void add(struct words *w, const char *option, const char *value)
{
	hn_assert(w->n + 2 <= MOST_WORDS);
	w->word[w->n++] = (char *)(uintptr_t)option;
	if (value != NULL) {
		w->word[w->n++] = (char *)(uintptr_t)value;
	}
}

static struct words words_for(const struct hn_replay *r, struct hn_arena *a, uint32_t i,
			      const char *symbol)
{
	struct words w = { .n = 0 };

	add(&w, "hone-build", NULL);
	add(&w, "--dag", in_work(r, a, "dag.json"));
	add(&w, "--steps", in_work(r, a, "steps.json"));
	add(&w, "--target", r->kernel[i].target_line);
	add(&w, "--symbol", symbol);
	return w;
}

/* The kernel of target i as an object, run here where it can be. */
static int build_one(struct hn_replay *r, struct hn_arena *a, uint32_t i, struct room *room,
		     struct hn_err *err)
{
	struct hn_replay_kernel *k = &r->kernel[i];
	bool several = r->n > 1;
	struct words w = words_for(r, a, i,
				   several ? hn_arena_printf(a, "%s_at%u", r->symbol, i) : r->symbol);
	char *facts = in_work(r, a, "facts.json");
	int rc = write_text(r, a, "steps.json", k->steps, err);

	add(&w, "-o", in_work(r, a, several ? hn_arena_printf(a, "at%u.o", i) : "out.o"));
	if (several) {
		add(&w, "--facts", facts);
	} else {
		add(&w, "--header", in_work(r, a, "out.h"));
		for (size_t f = 0; f < HN_REPLAY_FORMS; f++) {
			if (hn_replay_has(r, f) && *hn_replay_form[f].word != '\0') {
				add(&w, hn_replay_form[f].word,
				    in_work(r, a, hn_arena_printf(a, "out%s", hn_replay_form[f].behind)));
			}
		}
	}
	if (k->check.words[0] != NULL) {
		add(&w, k->check.words[0], k->check.words[1]);
	}
	rc = rc ? rc : hn_builder_run("replay", w.word, -1, err);
	rc = rc || !several ? rc : read_room(facts, room, err);
	return rc ? rc : hn_check_kernel("replay", &k->check, a, err);
}

/* -- several targets, and libraries ----------------------------------------------------------- */

static int link_with(const struct hn_linker *l, enum hn_linker_work work,
		     const struct hn_linking *what, const char *for_what, struct hn_err *err)
{
	if (!hn_linker_can(l, work)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "replay: %s needs %s, and none is in PATH for this target", for_what,
			       work == HN_LINK_COMPILE ? "a C compiler (cc or gcc)"
						       : "a linker (ld, ld.lld, cc or gcc)");
	}
	return hn_linker_run(l, work, what, "replay", err);
}

/* One header for all, the part that chooses, and one object of them. */
static int join(struct hn_replay *r, struct hn_arena *a, const struct hn_linker *l,
		const struct room *room, struct hn_err *err)
{
	const struct hn_linking compile = { .dir = r->work, .out = "choice.o", .in = "choice.c" };
	const struct hn_linking joined = { .dir = r->work, .out = "out.o", .in = "@objects.txt" };
	struct words w = words_for(r, a, 0, r->symbol);
	char *header = hn_arena_printf(a, "%s.h", r->symbol), *list = "choice.o\n";
	struct hn_buf source;
	int rc = write_text(r, a, "steps.json", r->kernel[0].steps, err);

	hn_buf_init(&source);
	add(&w, "--header", in_work(r, a, header));
	add(&w, "--room",
	    hn_arena_printf(a, "%.0f,%.0f,%.0f,%d", room->workspace, room->worker, room->prepared,
			    room->init));
	for (uint32_t i = 0; i < r->n; i++) {
		list = hn_arena_printf(a, "%sat%u.o\n", list, i);
	}
	rc = rc ? rc : hn_builder_run("replay", w.word, -1, err);
	rc = rc ? rc : hn_replay_choice(r, room->prepared > 0, room->init, &source, err);
	rc = rc ? rc : write_text(r, a, "choice.c", source.s, err);
	rc = rc ? rc : write_text(r, a, "objects.txt", list, err);
	rc = rc ? rc : link_with(l, HN_LINK_COMPILE, &compile, "choosing among targets", err);
	rc = rc ? rc : link_with(l, HN_LINK_JOIN, &joined, "choosing among targets", err);
	if (rc == 0 && rename(in_work(r, a, header), in_work(r, a, "out.h")) != 0) {
		rc = hn_fail(err, HONE_E_IO, "%s: %s", header, strerror(errno));
	}
	hn_buf_fini(&source);
	return rc;
}

static int share(const struct hn_replay *r, struct hn_arena *a, const struct hn_linker *l,
		 struct hn_err *err)
{
	static const char *const behind[] = { "", "_packed", "_prepare", "_prepare_packed", "_init",
					      "_why", "_info" };
	const struct hn_linking what = { .dir = r->work,
					 .out = "out.so",
					 .in = "out.o",
					 .name = hn_arena_printf(a, "lib%s.so", r->symbol),
					 .exports = "exports.map" };
	char *map = hn_arena_printf(a, "{\n\tglobal:\n\t\t__tvm_ffi_%s;\n", r->symbol);

	for (size_t i = 0; i < HN_COUNT_OF(behind); i++) {
		map = hn_arena_printf(a, "%s\t\t%s%s;\n", map, r->symbol, behind[i]);
	}
	int rc = write_text(r, a, "exports.map", hn_arena_printf(a, "%s\tlocal:\n\t\t*;\n};\n", map),
			    err);

	rc = rc ? rc : link_with(l, HN_LINK_SHARE, &what, "--as so", err);
	return rc ? rc : hn_seal_file(in_work(r, a, "out.so"), err);
}

static void say(const char *path)
{
	printf("%s\n", path);
}

static void say_nothing(const char *path)
{
	(void)path;
}

static int put_all(struct hn_replay *r, struct hn_arena *a, struct hn_err *err)
{
	static const char *const always[] = { ".o", ".h", ".json" };
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(always) && rc == 0; i++) {
		rc = put_in_place(r, a, "", always[i], err);
	}
	for (size_t f = 0; f < HN_REPLAY_FORMS && rc == 0; f++) {
		rc = hn_replay_has(r, f) ? put_in_place(r, a, hn_replay_form[f].front, hn_replay_form[f].behind, err) : 0;
	}
	return rc ? rc
		  : hn_runtime_write(r->dir, &r->kernel[0].target, HN_RUNTIME_KERNEL,
				     r->json ? say_nothing : say, err);
}

int hn_replay_make(struct hn_replay *r, struct hn_arena *a, struct hn_err *err)
{
	struct hn_linker linker;
	struct room room = { 0 };
	int rc = write_text(r, a, "dag.json", r->in->json, err);

	hn_linker_find(&r->kernel[0].target, &linker);
	for (uint32_t i = 0; i < r->n && rc == 0; i++) {
		rc = build_one(r, a, i, &room, err);
	}
	if (rc == 0 && r->n > 1) {
		rc = hn_runtime_write(r->work, &r->kernel[0].target, HN_RUNTIME_KERNEL,
				      say_nothing, err);
		rc = rc ? rc : join(r, a, &linker, &room, err);
	}
	if (rc == 0 && hn_replay_has(r, HN_REPLAY_so)) {
		rc = share(r, a, &linker, err);
	}
	rc = rc ? rc : hn_replay_manifest(r, in_work(r, a, "out.json"), err);
	rc = rc ? rc : put_all(r, a, err);
	if (rc == 0 && r->json) {
		hn_replay_print(r);
	}
	return rc;
}
