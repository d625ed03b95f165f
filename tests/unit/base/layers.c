/* The layer test: an include may only point down.
 *
 * Every #include of the tree is held against the two tables below: who may include whom,
 * and where each third party is confined.  `unit_base_layers DIR` checks another tree; a
 * second test plants violations in a tree of its own, so that the check is known to bite.
 */
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"

#define SOURCE_MAX_BYTES ((size_t)4 << 20)

struct layer {
	const char *folder;
	const char *below; /* folders it may include, blanks around each; "*" = all */
};

/* From the top (L5) to the bottom (L0); its own folder and include/hone are always
 * allowed. */
static const struct layer layers[] = {
	{"bench", "*"},
	{"daemon", " search measure sketch costmodel target loopstate db proto base "},
	{"client", " search sketch costmodel graph proto db target loopstate base "},
	{"packaging", " client "},
	{"ort", " target loopstate base "},
	{"search", " sketch costmodel target loopstate base "},
	{"graph", " lower proto target loopstate base "}, /* of lower the interpreter */
	{"measure", " proto target base "},
	{"sketch", " target loopstate base "},
	{"costmodel", " target loopstate base "},
	{"lower", " target loopstate proto base "},
	{"target", " loopstate base "},
	{"loopstate", " base "},
	{"proto", " base "},
	{"db", " base "},
	{"base", " "},
	{"include", " "},
};

/* The rooms of a folder, and those of the same folder that each may include; its own folder's files
 * are said with a slash behind it.  A room that is not here is refused, and rooms may only include
 * rows further down, so there is no circle.  Other folders than the room's are the table
 * above's. */
static const struct layer rooms[] = {
	{"loopstate/record", " loopstate/state "},
	{"loopstate/nest", " loopstate/state loopstate/dag loopstate/expr "},
	{"loopstate/state/step", " loopstate/state loopstate/dag "},
	{"loopstate/state", " loopstate/dag loopstate/expr "},
	{"loopstate/read", " loopstate/dag loopstate/expr "},
	{"loopstate/dag", " loopstate/expr "},
	{"loopstate/expr", " "},
	{"target/npu", " target "},
	{"target/cpu", " target "},
	{"target", " "},
	{"lower/build", " lower/c lower/npu lower/interp lower/prove lower "},
	{"lower/gpu", " lower/device lower/vecmath lower "},
	{"lower/npu", " lower "},
	{"lower/device", " lower/interp lower/prove lower "},
	{"lower/cpu", " lower/vecmath lower "},
	{"lower/c", " lower "},
	{"lower/vecmath", " lower "},
	{"lower/interp", " lower "},
	{"lower/prove", " lower "},
	{"lower", " "},
	{"measure/host", " measure/board measure "},
	{"measure/drv", " measure/board measure "},
	{"measure/board", " measure "},
	{"measure", " "},
	{"db/sqlite", " db/sqlite/migrate db/store db/snapshot db "},
	{"db/sqlite/migrate", " "},
	{"db/store", " db/snapshot db "},
	{"db/snapshot", " db "},
	{"db", " "},
	{"sketch/fill", " sketch "},
	{"sketch/heuristic", " sketch "},
	{"sketch/rule", " sketch "},
	{"sketch", " "},
	{"search/mutate", " search "},
	{"search/strategy", " search "},
	{"search", " "},
	{"bench/peer", " bench "},
	{"bench", " bench/polybench "},
	{"bench/polybench", " "},
	{"graph/library", " graph/net graph/plan graph/ir "},
	{"graph/net", " graph/op graph/ir "},
	{"graph/akg", " graph/import graph/pass graph/op graph/ir graph/onnx "},
	{"graph/import", " graph/pass graph/op graph/ir graph/onnx "},
	{"graph/form", " graph/op graph/ir "},
	{"graph/pass", " graph/op graph/ir "},
	{"graph/op", " graph/ir "},
	{"graph/ir", " "},
	{"graph/runtime", " "},
	{"graph/plan", " "},
	{"graph/onnx", " "},
	{"client", " client/lib "}, /* libhone, which needs nothing of the command */
	{"client/lib", " client/lib/cjson "},
	{"client/lib/cjson", " "},
	{"include/hone", " "},
};

struct confined {
	const char *header;  /* what the include begins with */
	const char *places;  /* path prefixes, blanks around each */
	const char *package; /* of one that hone is built without as well; else NULL */
};

static const struct confined third_parties[] = {
	{"cjson/", " base/json.c client/lib/cjson/ ", NULL},
	{"isl/", " lower/ ", NULL},
	{"llvm-c/", " lower/ ", NULL},
	{"llvm/", " ", NULL},
	{"seccomp", " measure/board/sandbox.c ", NULL},
	{"sqlite3", " db/sqlite/ ", NULL},
	{"uv.h", " daemon/ measure/ ", NULL},
	{"uv/", " daemon/ measure/ ", NULL},
	{"xgboost/", " costmodel/xgb.c ", NULL},
	{"oneapi/", " bench/peer/ ", "oneDNN 3"},
	{"cblas", " bench/peer/ ", "libopenblas-dev"},
	{"onnxruntime", " ort/slots_check.c ", "ONNX Runtime's headers"},
	{"omp.h", " bench/peer/ bench/pool.c bench/team.c ", "OpenMP"},
	{"cmocka", " ", NULL},
};

/* Words that may not stand in a file, whatever it includes: db.h and snapshot.h share
 * their structs, but only the snapshot may be used where no SQLite is. */
struct banned_word {
	const char *place, *word, *but;
	const char *except; /* a file or a folder where it may; NULL = none */
};

static const struct banned_word banned_words[] = {
	/* `hone verify` takes the store's lock as honed does, and its place. */
	{"client/", "hn_db_", NULL, "client/cmd_verify.c"},
	{"db/snapshot", "sqlite3", NULL, NULL},
	{"db/store", "sqlite3", NULL, NULL},
	{"db/snapshot", "hn_db_", "hn_db_write_snapshot", NULL},
	/* What a step is like is data of its file (loopstate/state/step.h). */
	{"", "== HN_STEP_", NULL, "loopstate/state/step/"},
	{"", "!= HN_STEP_", NULL, "loopstate/state/step/"},
	{"", "case HN_STEP_", NULL, "loopstate/state/step/"},
};

/* Where JSON is written by base/jw.h alone, never by parts of it in a format.  A sentence that
 * shows some has a blank behind the colon; so have Ansor's records (loopstate/record/record.c),
 * whose bytes are another program's. */
static const char *const jw_folders[] = {"client/", "costmodel/", "daemon/", "db/",
					 "graph/", "loopstate/", "lower/", "measure/", "proto/",
					 "search/", "sketch/", "target/"};

/* What the walk sees. nftw has no argument for its callback: one object, this file's. */
struct walk {
	const char *root;
	struct hn_buf report; /* "file:line: what" lines */
	unsigned n_violation, n_include, n_file;
	struct hn_arena arena;
	struct header {
		const char *path;    /* in full */
		const char *wants;   /* a third party's that need not be there; NULL = none */
		const char *package; /* where that comes from */
	} header[1000];
	uint32_t n_header;
};

static struct walk *walking;

static bool has_word(const char *list, const char *word, size_t n)
{
	char padded[100];

	snprintf(padded, sizeof(padded), " %.*s ", (int)n, word);
	return strcmp(list, "*") == 0 || strstr(list, padded) != NULL;
}

static bool begins(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static const struct layer *layer_of(const char *path)
{
	size_t n = strcspn(path, "/");

	for (size_t i = 0; i < HN_COUNT_OF(layers) && path[n] == '/'; i++) {
		if (strlen(layers[i].folder) == n && begins(path, layers[i].folder)) {
			return &layers[i];
		}
	}
	return NULL;
}

static const struct layer *room_of(const char *path)
{
	const char *end = strrchr(path, '/');
	size_t n = end ? (size_t)(end - path) : 0;

	for (size_t i = 0; i < HN_COUNT_OF(rooms); i++) {
		if (strlen(rooms[i].folder) == n && begins(path, rooms[i].folder)) {
			return &rooms[i];
		}
	}
	return NULL;
}

HN_PRINTF(4, 5)
static void violation(struct walk *w, const char *file, unsigned line, const char *fmt,
		      ...)
{
	char why[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	hn_buf_printf(&w->report, "%s:%u: %s\n", file, line, why);
	w->n_violation++;
}

static bool allowed_place(const char *places, const char *file)
{
	char copy[200], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", places);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		if (p[strlen(p) - 1] == '/' ? begins(file, p) : strcmp(file, p) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_header(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && strcmp(dot, ".h") == 0;
}

static bool is_private(const char *header)
{
	return strstr(header, "_int.h") || strstr(header, "_priv.h");
}

/* Both files are in one folder; its rooms. */
static void check_rooms(struct walk *w, const char *file, unsigned line, const char *header)
{
	const struct layer *from = room_of(file), *to = room_of(header);

	if (from && to && from != to && !has_word(from->below, to->folder, strlen(to->folder))) {
		violation(w, file, line, "%s/ may not include %s (rooms allowed:%s)",
			  from->folder, header, from->below);
	}
}

static void check_include(struct walk *w, const char *file, unsigned line,
			  const char *header, bool quoted)
{
	const struct layer *from = layer_of(file), *to = layer_of(header);
	size_t n = strcspn(header, "/");

	w->n_include++;
	for (size_t i = 0; i < HN_COUNT_OF(third_parties); i++) {
		if (!begins(header, third_parties[i].header)) {
			continue;
		}
		if (!allowed_place(third_parties[i].places, file)) {
			violation(w, file, line, "%s may be included only in:%s", header,
				  third_parties[i].places);
		}
		if (third_parties[i].package && is_header(file)) {
			struct header *h = &w->header[w->n_header - 1];

			h->wants = hn_arena_strdup(&w->arena, header);
			h->package = third_parties[i].package;
		}
		return;
	}
	if (strstr(header, "..")) {
		violation(w, file, line, "%s: write the path from the source root",
			  header);
	} else if (begins(header, "hone/")) {
		return;
	} else if (!to && quoted) {
		violation(w, file, line,
			  "%s: no folder of this tree; write the path from "
			  "the source root",
			  header);
	} else if (to && to != from && !has_word(from->below, header, n)) {
		violation(w, file, line, "%s/ may not include %s (allowed:%s)",
			  from->folder, header, from->below);
	} else if (to && to != from && is_private(header)) {
		violation(w, file, line, "%s is private to %s/", header, to->folder);
	} else if (to && to == from) {
		check_rooms(w, file, line, header);
	}
}

/* The header named by an #include line, or NULL; ends the line after the name. */
static char *include_of(char *line, bool *ret_quoted)
{
	char *s = line + strspn(line, " \t"), *end;

	if (*s != '#') {
		return NULL;
	}
	s += 1 + strspn(s + 1, " \t");
	if (!begins(s, "include")) {
		return NULL;
	}
	s += strlen("include");
	s += strspn(s, " \t");
	*ret_quoted = *s == '"';
	end = *s == '"' ? strchr(s + 1, '"') : *s == '<' ? strchr(s + 1, '>') : NULL;
	if (!end) {
		*ret_quoted = true;
		return s; /* a macro: no folder of this tree */
	}
	*end = '\0';
	return s + 1;
}

static void check_words(struct walk *w, const char *file, unsigned line, const char *text)
{
	for (size_t i = 0; i < HN_COUNT_OF(banned_words); i++) {
		const struct banned_word *b = &banned_words[i];
		const char *at = begins(file, b->place) ? strstr(text, b->word) : NULL;

		if (b->except && begins(file, b->except)) {
			continue;
		}
		if (at && !(b->but && begins(at, b->but))) {
			violation(w, file, line, "%s may not stand in %s*", b->word,
				  b->place);
		}
	}
}

/* A member's name in a string literal: \"name\":, but not before a blank. */
static bool has_json(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_%-.";

	for (const char *at = strstr(text, "\\\":"); at; at = strstr(at + 1, "\\\":")) {
		const char *from = at;

		while (from > text && strchr(letters, from[-1])) {
			from--;
		}
		if (at[3] != ' ' && from < at && from - text >= 2 && from[-1] == '"' &&
		    from[-2] == '\\') {
			return true;
		}
	}
	return false;
}

static void check_json(struct walk *w, const char *file, unsigned line, const char *text)
{
	for (size_t i = 0; i < HN_COUNT_OF(jw_folders); i++) {
		if (begins(file, jw_folders[i]) && has_json(text)) {
			violation(w, file, line, "JSON is written by base/jw.h");
		}
	}
}

/* Whether the file stands deeper than its folder, or its folder has rooms. */
static bool has_rooms(const char *file)
{
	return strchr(strchr(file, '/') + 1, '/') != NULL;
}

static void check_file(struct walk *w, const char *path, const char *file)
{
	struct hn_err err = {0};
	struct hn_buf text;
	unsigned line = 1;
	bool quoted;

	hn_buf_init(&text);
	if (hn_file_read(path, SOURCE_MAX_BYTES, &text, &err) != 0) {
		violation(w, file, 0, "%s", err.msg);
	}
	w->n_file++;
	if (has_rooms(file) && !room_of(file)) {
		violation(w, file, 0, "no room of this name (the table is in layers.c)");
	}
	for (char *s = text.s, *next; s; s = next, line++) {
		char *header;

		next = strchr(s, '\n');
		if (next) {
			*next++ = '\0';
		}
		check_words(w, file, line, s);
		check_json(w, file, line, s);
		header = include_of(s, &quoted);
		if (header) {
			check_include(w, file, line, header, quoted);
		}
	}
	hn_buf_fini(&text);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	static const char *const endings[] = {".c", ".h", ".def", ".inc"};
	const char *file = path + strlen(walking->root) + 1;
	const char *dot = strrchr(path, '.');

	(void)st;
	(void)ftw;
	if (type == FTW_F && is_header(file)) {
		assert_true(walking->n_header < HN_COUNT_OF(walking->header));
		walking->header[walking->n_header++] =
			(struct header){.path = hn_arena_strdup(&walking->arena, path)};
	}
	for (size_t i = 0; type == FTW_F && dot && i < HN_COUNT_OF(endings); i++) {
		if (strcmp(dot, endings[i]) == 0) {
			check_file(walking, path, file);
		}
	}
	return 0;
}

static void walk_tree(struct walk *w, const char *root)
{
	char folder[4096];

	*w = (struct walk){.root = root};
	hn_buf_init(&w->report);
	hn_arena_init(&w->arena, 0);
	walking = w;
	for (size_t i = 0; i < HN_COUNT_OF(layers); i++) {
		snprintf(folder, sizeof(folder), "%s/%s", root, layers[i].folder);
		if (access(folder, F_OK) == 0) {
			assert_int_equal(nftw(folder, visit, 16, FTW_PHYS), 0);
		}
	}
}

static void walk_fini(struct walk *w)
{
	hn_arena_fini(&w->arena);
	hn_buf_fini(&w->report);
}

static void includes_point_down(void **state)
{
	struct walk w;

	walk_tree(&w, *state);
	if (w.n_violation > 0) {
		fail_msg("%u layer violations in %s:\n%s", w.n_violation, w.root,
			 w.report.s);
	}
	print_message("%u includes in %u files\n", w.n_include, w.n_file);
	assert_true(w.n_file >= 20 && w.n_include >= 40);
	walk_fini(&w);
}

static void rooms_point_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rooms); i++) {
		for (size_t j = 0; j <= i; j++) {
			const char *up = rooms[j].folder;

			if (has_word(rooms[i].below, up, strlen(up))) {
				fail_msg("%s/ includes %s/, which stands above it",
					 rooms[i].folder, up);
			}
		}
	}
}

struct plant {
	const char *file, *line, *expected; /* NULL: allowed */
};

static const struct plant plants[] = {
	{"base/a.c", "#include \"loopstate/dag/dag.h\"",
	 "base/a.c:3: base/ may not include loopstate/dag/dag.h (allowed: )\n"},
	{"search/a.c", "#include \"measure/measure.h\"",
	 "search/a.c:3: search/ may not include measure/measure.h (allowed: sketch "
	 "costmodel "
	 "target loopstate base )\n"},
	{"loopstate/state/step/a.c", "  # include \"db/db.h\"",
	 "loopstate/state/step/a.c:3: loopstate/ may not include db/db.h (allowed: base )\n"},
	{"loopstate/dag/a.c", "#include \"loopstate/nest/quick.h\"",
	 "loopstate/dag/a.c:3: loopstate/dag/ may not include loopstate/nest/quick.h (rooms "
	 "allowed: loopstate/expr )\n"},
	{"lower/prove/a.c", "#include \"lower/cpu/emit_int.h\"",
	 "lower/prove/a.c:3: lower/prove/ may not include lower/cpu/emit_int.h"},
	{"lower/dsp/a.c", "", "lower/dsp/a.c:0: no room of this name"},
	{"lower/prove/b.c", "#include \"lower/lower.h\"", NULL},
	{"lower/build/b.c", "#include \"lower/interp/interp_priv.h\"", NULL},
	{"daemon/a.c", "#include <lower/lower.h>",
	 "daemon/a.c:3: daemon/ may not include"},
	{"db/a.c", "#include \"../proto/msg.h\"",
	 "db/a.c:3: ../proto/msg.h: write the path from the source root\n"},
	{"proto/a.c", "#include \"msg.h\"", "proto/a.c:3: msg.h: no folder of this tree"},
	{"proto/b.c", "#include WHAT", "proto/b.c:3: WHAT: no folder of this tree"},
	{"search/b.c", "#include \"loopstate/dag/dag_int.h\"",
	 "search/b.c:3: loopstate/dag/dag_int.h is private to loopstate/\n"},
	{"include/hone/a.h", "#include \"base/err.h\"",
	 "include/hone/a.h:3: include/ may not"},
	{"base/b.c", "#include <cjson/cJSON.h>",
	 "base/b.c:3: cjson/cJSON.h may be included only in: base/json.c client/lib/cjson/ \n"},
	{"daemon/b.h", "#include <isl/ctx.h>",
	 "daemon/b.h:3: isl/ctx.h may be included only"},
	{"daemon/c.def", "#include <llvm-c/Core.h>",
	 "daemon/c.def:3: llvm-c/Core.h may be"},
	{"client/a.c", "#include <sqlite3.h>",
	 "client/a.c:3: sqlite3.h may be included only"},
	{"client/b.c", "\thn_db_open(dir);",
	 "client/b.c:3: hn_db_ may not stand in client/*\n"},
	{"sketch/a.c", "\tif (step->kind == HN_STEP_split) {",
	 "sketch/a.c:3: == HN_STEP_ may not stand in *\n"},
	{"search/c.c", "\tcase HN_STEP_pack:", "search/c.c:3: case HN_STEP_ may not stand in *\n"},
	{"search/d.c", "\t.kind = HN_STEP_pack,", NULL},
	{"loopstate/state/step/b.c", "\tif (before->kind == HN_STEP_fuse) {", NULL},
	{"daemon/e.c", "\thn_buf_printf(b, \"{\\\"job\\\":\\\"%s\\\"\", id);",
	 "daemon/e.c:3: JSON is written by base/jw.h\n"},
	{"measure/c.c", "\thn_buf_printf(b, \",\\\"%s\\\":\", key);",
	 "measure/c.c:3: JSON is written by base/jw.h\n"},
	{"lower/b.c", "\thn_fail(err, 1, \"want {\\\"dag\\\": TEXT}\");", NULL},
	{"client/c.c", "#include <uv.h>", "client/c.c:3: uv.h may be included only"},
	{"costmodel/a.c", "#include <xgboost/c_api.h>",
	 "costmodel/a.c:3: xgboost/c_api.h may"},
	{"costmodel/xgb.c", "#include <xgboost/c_api.h>", NULL},
	{"lower/a.c", "#include <isl/ctx.h>", NULL},
	{"db/sqlite/b.c", "#include <sqlite3.h>", NULL},
	{"db/b.c", "#include <sqlite3.h>",
	 "db/b.c:3: sqlite3.h may be included only in: db/sqlite/ \n"},
	{"db/store/a.c", "#include \"db/sqlite/sqlite_int.h\"",
	 "db/store/a.c:3: db/store/ may not include db/sqlite/sqlite_int.h"},
	{"db/store/b.c", "\tsqlite3_step(s);", "db/store/b.c:3: sqlite3 may not stand in db/store*\n"},
	{"measure/b.c", "#include <seccomp.h>",
	 "measure/b.c:3: seccomp.h may be included only in: measure/board/sandbox.c \n"},
	{"measure/a.c", "#include <uv.h>", NULL},
	{"base/c.c", "#include \"hone/kernel.h\"", NULL},
	{"loopstate/read/a.c", "#include \"loopstate/dag/dag_int.h\"", NULL},
	{"client/d.c", "#include \"db/snapshot/snapshot.h\"", NULL},
	{"daemon/d.c", "#include \"search/policy.h\"", NULL},
	{"bench/a.c", "#include \"lower/lower.h\"", NULL},
};

static void plant_file(const char *root, const struct plant *p)
{
	struct hn_err err = {0};
	char path[4096], text[300];

	snprintf(path, sizeof(path), "%s/%s", root, p->file);
	*strrchr(path, '/') = '\0';
	assert_int_equal(hn_file_mkdirs(path, 0700, &err), 0);
	snprintf(path, sizeof(path), "%s/%s", root, p->file);
	snprintf(text, sizeof(text), "/* planted */\n#include <stdio.h>\n%s", p->line);
	assert_int_equal(hn_file_replace(path, text, strlen(text), &err), 0);
}

static int remove_visited(const char *path, const struct stat *st, int type,
			  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void planted_violations_are_found(void **state)
{
	char root[] = "/tmp/hone layers-XXXXXX";
	unsigned expected = 0;
	struct walk w;

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < HN_COUNT_OF(plants); i++) {
		plant_file(root, &plants[i]);
		expected += plants[i].expected != NULL;
	}
	walk_tree(&w, root);
	for (size_t i = 0; i < HN_COUNT_OF(plants); i++) {
		if (plants[i].expected && !strstr(w.report.s, plants[i].expected)) {
			fail_msg("not found: %s\nin:\n%s", plants[i].expected,
				 w.report.s);
		}
	}
	if (w.n_violation != expected) {
		fail_msg("%u violations, %u planted:\n%s", w.n_violation, expected,
			 w.report.s);
	}
	walk_fini(&w);
	assert_int_equal(nftw(root, remove_visited, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The program's exit status, or -1 where it cannot be started. */
static int run(const char *const argv[])
{
	extern char **environ;
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv,
			 environ)) {
		return -1;
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Whether the compiler finds what `h` wants of a third party. */
static bool is_there(struct walk *w, const struct header *h)
{
	const char *text = hn_arena_printf(
		&w->arena, "printf '#if !__has_include(<%s>)\\n#error none\\n#endif\\n' | "
			   "'%s' -fsyntax-only -xc - 2>/dev/null", h->wants, HONE_CC);
	const char *const argv[] = {"sh", "-c", text, NULL};

	return run(argv) == 0;
}

static void headers_compile_alone(void **state)
{
	const char *root = *state;
	const char *argv[1100] = {HONE_CC, "-std=gnu17", "-fsyntax-only", "-D_GNU_SOURCE"};
	glob_t lib = { 0 };
	struct walk w;
	unsigned n = 4;

	walk_tree(&w, root);
	argv[n++] = hn_arena_printf(&w.arena, "-I%s", root);
	argv[n++] = hn_arena_printf(&w.arena, "-I%s/include", root);
	argv[n++] = "-I/usr/lib/llvm-22/include";
	argv[n++] = "-DHONE_CASES_DIR=\"\"";
	argv[n++] = "-DHONE_BIN_DIR=\"\"";
	argv[n++] = "-DHONE_SOURCE_DIR=\"\"";
	argv[n++] = "-DHONE_CC=\"\"";
	argv[n++] = "-w"; /* what tests share leaves cmocka to the test */
	argv[n++] = "-xc";
	if (glob(hn_arena_printf(&w.arena, "%s/tests/lib/*.h", root), 0, NULL, &lib) == 0) {
		assert_true(n + lib.gl_pathc + w.n_header < HN_COUNT_OF(argv));
		for (size_t i = 0; i < lib.gl_pathc; i++) {
			argv[n++] = lib.gl_pathv[i];
		}
	}
	for (uint32_t i = 0; i < w.n_header; i++) {
		const struct header *h = &w.header[i];

		if (h->wants && !is_there(&w, h)) {
			print_message("not checked: %s: no <%s> here (%s)\n", h->path,
				      h->wants, h->package);
			continue;
		}
		argv[n++] = h->path;
	}
	if (run(argv) != 0) {
		fail_msg("a header of %s does not compile alone", root);
	}
	globfree(&lib);
	walk_fini(&w);
}

int main(int argc, char **argv)
{
	static char default_root[] = HONE_SOURCE_DIR;
	char *root = argc > 1 ? argv[1] : default_root;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(includes_point_down, root),
		cmocka_unit_test(rooms_point_down),
		cmocka_unit_test_prestate(planted_violations_are_found, root),
		cmocka_unit_test_prestate(headers_compile_alone, root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
