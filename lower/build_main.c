/* lower/build_main.c -- hone-build: from a history of steps to an object file.
 *
 * Without arguments it is a worker: frames on descriptors 0 and 1 (measure/measure.h),
 * one request at a time, HELLO first, until the other side closes.  Requests are hostile:
 * whatever is wrong with one is told as a verdict.  Wall clock and memory are the
 * parent's to limit; isl is bounded by hn_legal_check's own clock.
 *
 * With --dag it makes one object and header and ends.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "lower/lower.h"
#include "proto/frame.h"

#define PROVE_LIMIT_MS 10000
#define MAX_TEXT_BYTES (64u << 20)
#define ARENA_BYTES ((size_t)1 << 30)

/* What is asked for. Strings are borrowed. */
struct request {
	const char *dag, *steps, *target, *symbol, *plant;
	size_t dag_bytes, steps_bytes;
	bool naive, prove;
	struct hn_emit_options options;
};

struct answer {
	enum hn_verdict verdict;
	struct hn_err why; /* "" when OK */
	const struct hn_dag *dag;
	struct hn_artefact artefact;
	int64_t build_ns, prove_ns;
};

/* The emitter is kept between requests for the same target. */
struct builder {
	struct hn_emitter *emitter;
	char *target;
	bool hooks;
};

static const struct {
	const char *name;
	enum hn_plant plant;
} plants[] = {
	{ "", HN_PLANT_NONE },
	{ "hang", HN_PLANT_HANG },
	{ "oob", HN_PLANT_OUT_OF_BOUNDS },
	{ "div0", HN_PLANT_DIVIDE_BY_ZERO },
	{ "wrong", HN_PLANT_WRONG_RESULT },
};

static int find_plant(const struct builder *b, const char *name, enum hn_plant *ret,
		      struct hn_err *err)
{
	for (size_t i = 0; i < HN_COUNT_OF(plants); i++) {
		if (strcmp(plants[i].name, name) != 0) {
			continue;
		}
		if (i > 0 && !b->hooks) {
			return hn_fail(
				err, HONE_E_PERMISSION,
				"plant: only a builder started with HONE_TEST_HOOKS=1 "
				"plants faults");
		}
		*ret = plants[i].plant;
		return 0;
	}
	return hn_fail(err, HONE_E_INVALID, "plant: unknown fault '%.60s'", name);
}

static int check_symbol(const char *s, struct hn_err *err)
{
	size_t n = strlen(s);
	bool good = n > 0 && n <= 200 && !(s[0] >= '0' && s[0] <= '9');

	for (size_t i = 0; i < n && good; i++) {
		good = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		       (s[i] >= '0' && s[i] <= '9') || s[i] == '_';
	}
	return good ? 0
		    : hn_fail(err, HONE_E_INVALID, "symbol '%.60s' is not a C identifier",
			      s);
}

static int ready_emitter(struct builder *b, const char *line, struct hn_arena *a,
			 struct hn_err *err)
{
	struct hn_target target;

	if (b->emitter && strcmp(b->target, line) == 0) {
		return 0;
	}
	int rc = hn_target_parse(line, a, &target, err);

	if (rc) {
		return rc;
	}
	hn_emitter_free(b->emitter);
	free(b->target);
	b->emitter = NULL;
	b->target = strdup(line);
	return hn_emitter_new(&target, &b->emitter, err);
}

/* The loop tree that is asked for. */
static int make_tree(const struct request *r, struct hn_arena *a,
		     const struct hn_dag **ret_dag, const struct hn_looptree **ret,
		     struct hn_err *err)
{
	const struct hn_trace *trace;
	const struct hn_state *state;
	int rc = hn_dag_parse("dag", r->dag, r->dag_bytes, 0, a, ret_dag, err);

	if (rc) {
		return rc;
	}
	state = hn_state_init(*ret_dag, a);
	if (!r->naive) {
		rc = hn_trace_parse("steps", r->steps, r->steps_bytes, a, &trace, err);
		if (rc == 0 && !hn_trace_complete(trace)) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "steps: a decision is still open");
		}
		rc = rc ? rc : hn_state_replay(*ret_dag, trace, a, &state, err);
	}
	return rc ? rc : hn_looptree_build(state, a, ret, err);
}

static void answer_request(struct builder *b, const struct request *r, struct hn_arena *a,
			   struct answer *ans)
{
	struct hn_emit_options options = r->options;
	const struct hn_looptree *tree = NULL;
	int64_t start = hn_clock_ns();
	int rc = find_plant(b, r->plant, &options.plant, &ans->why);

	options.symbol = r->symbol;
	options.scalar = r->naive;
	ans->verdict = HN_VERDICT_BUILD_FAIL;
	rc = rc ? rc : check_symbol(r->symbol, &ans->why);
	rc = rc ? rc : ready_emitter(b, r->target, a, &ans->why);
	rc = rc ? rc : make_tree(r, a, &ans->dag, &tree, &ans->why);
	if (rc) {
		return;
	}
	if (r->prove && !r->naive) {
		int64_t before = hn_clock_ns();
		enum hn_verdict v = hn_legal_check(tree, PROVE_LIMIT_MS, &ans->why);

		ans->prove_ns = hn_clock_ns() - before;
		if (v != HN_VERDICT_OK) {
			ans->verdict = v;
			return;
		}
	}
	rc = hn_emit(b->emitter, tree, &options, a, &ans->artefact, &ans->why);
	ans->build_ns = hn_clock_ns() - start - ans->prove_ns;
	if (rc == 0) {
		ans->verdict = HN_VERDICT_OK;
		ans->why.msg[0] = '\0';
	}
}

/* -- worker
 * ---------------------------------------------------------------------------------- */

static int get_string(const struct hn_json *j, const char *key, const char *fallback,
		      const char **ret, struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, key);
	const char *s = v ? hn_json_string(v) : fallback;

	if (!s) {
		return hn_fail(err, HONE_E_INVALID, "request: '%s' must be a string",
			       key);
	}
	*ret = s;
	return 0;
}

static int get_bool(const struct hn_json *j, const char *key, bool *ret,
		    struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, key);

	if (v && !hn_json_bool(v, ret)) {
		return hn_fail(err, HONE_E_INVALID, "request: '%s' must be true or false",
			       key);
	}
	return 0;
}

/* A member that is JSON itself, or its text as a string. Appended to buf. */
static int get_text(const struct hn_json *j, const char *key, struct hn_buf *buf,
		    struct hn_err *err)
{
	const struct hn_json *v = hn_json_get(j, key);

	if (!v) {
		return hn_fail(err, HONE_E_INVALID, "request: no '%s'", key);
	}
	if (hn_json_string(v)) {
		hn_buf_puts(buf, hn_json_string(v));
	} else {
		hn_json_write(v, buf);
	}
	return buf->failed ? hn_fail(err, HONE_E_NOMEM, "request: no memory") : 0;
}

static int read_request(const struct hn_json *j, struct hn_buf *dag, struct hn_buf *steps,
			struct request *ret, struct hn_err *err)
{
	int rc = get_text(j, "dag", dag, err);

	ret->prove = true;
	rc = rc ? rc : get_string(j, "target", "native", &ret->target, err);
	rc = rc ? rc : get_string(j, "symbol", "hone_kernel", &ret->symbol, err);
	rc = rc ? rc : get_string(j, "plant", "", &ret->plant, err);
	rc = rc ? rc : get_bool(j, "naive", &ret->naive, err);
	rc = rc ? rc : get_bool(j, "prove", &ret->prove, err);
	if (rc == 0 && !ret->naive) {
		rc = get_text(j, "steps", steps, err);
	}
	ret->dag = dag->s;
	ret->dag_bytes = dag->n;
	ret->steps = steps->s;
	ret->steps_bytes = steps->n;
	return rc;
}

static int send_answer(uint64_t request, const struct answer *ans)
{
	struct hn_frame f = { .type = HN_FRAME_BUILT, .request = request };
	struct hn_buf json;
	struct hn_err err;

	hn_buf_init(&json);
	hn_buf_printf(&json,
		      "{\"verdict\":\"%s\",\"detail\":", hn_verdict_name(ans->verdict));
	hn_buf_json_string(&json, ans->why.msg);
	hn_buf_printf(&json,
		      ",\"build_ns\":%lld,\"prove_ns\":%lld,\"shared_bytes\":%llu,"
		      "\"per_worker_bytes\":%llu}",
		      (long long)ans->build_ns, (long long)ans->prove_ns,
		      (unsigned long long)ans->artefact.shared_bytes,
		      (unsigned long long)ans->artefact.per_worker_bytes);
	f.json = json.s;
	f.json_bytes = (uint32_t)json.n;
	if (ans->verdict == HN_VERDICT_OK) {
		f.blob = ans->artefact.object;
		f.blob_bytes = (uint32_t)ans->artefact.object_bytes;
	}
	int rc = hn_frame_send(STDOUT_FILENO, &f, &err);

	hn_buf_fini(&json);
	return rc;
}

static int serve_frame(struct builder *b, const struct hn_frame *f)
{
	struct answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct request r = { 0 };
	struct hn_json *json = NULL;
	struct hn_buf dag, steps;
	struct hn_arena a;
	int rc = 0;

	hn_buf_init(&dag);
	hn_buf_init(&steps);
	hn_arena_init(&a, ARENA_BYTES);
	if (f->type != HN_FRAME_BUILD) {
		rc = hn_fail(&ans.why, HONE_E_INVALID,
			     "a builder takes BUILD, not frame type %u", f->type);
	}
	rc = rc ? rc
		: hn_json_parse("request", f->json, f->json_bytes, NULL, &json, &ans.why);
	rc = rc ? rc : read_request(json, &dag, &steps, &r, &ans.why);
	if (rc == 0) {
		answer_request(b, &r, &a, &ans);
	}
	if (ans.artefact.object_bytes > HN_FRAME_MAX_BLOB) {
		ans.verdict = HN_VERDICT_OVER_LIMIT;
		hn_fail(&ans.why, HONE_E_QUOTA, "the object is larger than %u bytes",
			HN_FRAME_MAX_BLOB);
	}
	rc = send_answer(f->request, &ans);
	hn_json_free(json);
	hn_buf_fini(&dag);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
	return rc;
}

static int say_hello(struct hn_err *err)
{
	struct hn_frame f = { .type = HN_FRAME_HELLO };
	struct hn_target host;
	struct hn_arena a;
	struct hn_buf json, line;

	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	hn_buf_init(&line);
	hn_target_host(&a, &host);
	hn_target_print(&host, &line);
	hn_buf_printf(&json, "{\"worker\":\"build\",\"version\":\"%s\",\"target\":",
		      HONE_VERSION);
	hn_buf_json_string(&json, line.s);
	hn_buf_putc(&json, '}');
	f.json = json.s;
	f.json_bytes = (uint32_t)json.n;
	int rc = hn_frame_send(STDOUT_FILENO, &f, err);

	hn_buf_fini(&json);
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	return rc;
}

static int serve(struct builder *b)
{
	struct hn_err err = { 0 };
	struct hn_buf buf;
	int rc = say_hello(&err);

	hn_buf_init(&buf);
	while (rc == 0) {
		struct hn_frame f;

		hn_buf_reset(&buf);
		rc = hn_frame_recv(STDIN_FILENO, &buf, &f, &err);
		rc = rc ? rc : serve_frame(b, &f);
	}
	hn_buf_fini(&buf);
	if (rc < 0 && rc != -HONE_E_IO) {
		fprintf(stderr, "hone-build: %s\n", err.msg);
	}
	return rc == 1 ? 0 : 1;
}

/* -- one shot
 * --------------------------------------------------------------------------------- */

struct command {
	const char *dag, *steps, *object, *header;
	struct request request;
};

static const char usage[] =
	"usage: hone-build --dag FILE (--steps FILE|- | --naive) [--target native] "
	"[--symbol NAME]\n"
	"                  [-o FILE.o] [--header FILE.h] [--emit-ir] [--emit-asm] "
	"[--no-prove]\n"
	"       hone-build                (worker: frames on descriptors 0 and 1)\n";

enum {
	OPT_DAG = 256,
	OPT_STEPS,
	OPT_TARGET,
	OPT_SYMBOL,
	OPT_HEADER,
	OPT_IR,
	OPT_ASM,
	OPT_NO_PROVE,
	OPT_NAIVE,
	OPT_PLANT,
	OPT_HELP
};

static const struct option long_options[] = {
	{ "dag", required_argument, NULL, OPT_DAG },
	{ "steps", required_argument, NULL, OPT_STEPS },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "symbol", required_argument, NULL, OPT_SYMBOL },
	{ "header", required_argument, NULL, OPT_HEADER },
	{ "emit-ir", no_argument, NULL, OPT_IR },
	{ "emit-asm", no_argument, NULL, OPT_ASM },
	{ "no-prove", no_argument, NULL, OPT_NO_PROVE },
	{ "naive", no_argument, NULL, OPT_NAIVE },
	{ "plant", required_argument, NULL, OPT_PLANT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* 0, 1 = help was asked for, 2 = wrong usage. */
static int read_command(int argc, char **argv, struct command *c)
{
	struct request *r = &c->request;
	int opt;

	*r = (struct request){
		.target = "native", .symbol = "hone_kernel", .plant = "", .prove = true
	};
	while ((opt = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_DAG:
			c->dag = optarg;
			break;
		case OPT_STEPS:
			c->steps = optarg;
			break;
		case OPT_TARGET:
			r->target = optarg;
			break;
		case OPT_SYMBOL:
			r->symbol = optarg;
			break;
		case OPT_HEADER:
			c->header = optarg;
			break;
		case 'o':
			c->object = optarg;
			break;
		case OPT_IR:
			r->options.want_ir = true;
			break;
		case OPT_ASM:
			r->options.want_asm = true;
			break;
		case OPT_NO_PROVE:
			r->prove = false;
			break;
		case OPT_NAIVE:
			r->naive = true;
			break;
		case OPT_PLANT:
			r->plant = optarg;
			break;
		case OPT_HELP:
			return 1;
		default:
			return 2;
		}
	}
	return optind < argc || !c->dag || (!c->steps && !r->naive) ? 2 : 0;
}

static int write_results(const struct command *c, const struct answer *ans,
			 struct hn_err *err)
{
	int rc = 0;

	if (c->object) {
		rc = hn_file_replace(c->object, ans->artefact.object,
				     ans->artefact.object_bytes, err);
	}
	if (rc == 0 && c->header) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_emit_header(ans->dag, c->request.symbol, &ans->artefact, &text);
		rc = text.failed ? hn_fail(err, HONE_E_NOMEM, "no memory for the header")
				 : hn_file_replace(c->header, text.s, text.n, err);
		hn_buf_fini(&text);
	}
	if (rc == 0 && ans->artefact.ir) {
		fputs(ans->artefact.ir, stdout);
	}
	if (rc == 0 && ans->artefact.assembly) {
		fputs(ans->artefact.assembly, stdout);
	}
	return rc;
}

static int one_shot(struct builder *b, struct command *c)
{
	struct answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct hn_buf dag, steps;
	struct hn_arena a;

	hn_buf_init(&dag);
	hn_buf_init(&steps);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(c->dag, MAX_TEXT_BYTES, &dag, &ans.why);

	if (rc == 0 && c->steps) {
		rc = hn_file_read(c->steps, MAX_TEXT_BYTES, &steps, &ans.why);
	}
	c->request.dag = dag.s;
	c->request.dag_bytes = dag.n;
	c->request.steps = steps.s;
	c->request.steps_bytes = steps.n;
	if (rc == 0) {
		answer_request(b, &c->request, &a, &ans);
		rc = ans.verdict == HN_VERDICT_OK ? write_results(c, &ans, &ans.why) : 1;
	}
	if (rc) {
		bool blamed = ans.verdict != HN_VERDICT_OK &&
			      ans.verdict != HN_VERDICT_BUILD_FAIL;

		fprintf(stderr, "hone-build: %s%s%s\n",
			blamed ? hn_verdict_name(ans.verdict) : "", blamed ? ": " : "",
			ans.why.msg);
	}
	hn_buf_fini(&dag);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
	return rc ? (ans.why.code ? 10 + ans.why.code : 1) : 0;
}

int main(int argc, char **argv)
{
	const char *hooks = getenv("HONE_TEST_HOOKS");
	struct builder b = { .hooks = hooks && strcmp(hooks, "1") == 0 };
	struct command c = { 0 };
	int rc;

	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		rc = serve(&b);
	} else {
		rc = read_command(argc, argv, &c);
		if (rc) {
			fputs(usage, rc == 1 ? stdout : stderr);
			return rc == 1 ? 0 : 2;
		}
		rc = one_shot(&b, &c);
	}
	hn_emitter_free(b.emitter);
	free(b.target);
	return rc;
}
