/* daemon/served.c -- see served.h. */
#include "daemon/daemon.h"

#include <string.h>

#include "base/file.h"
#include "measure/board/board.h"
#include "measure/board/sandbox.h"
#include "measure/host/devices.h"
#include "target/named.h"
#include "target/npu/npu.h"

/* What records say of the board: the machine and what its kernels ran in. */
static void note_board(struct hn_served *s)
{
	char layers[64];

	s->board_stamp = hn_arena_printf(&s->daemon->arena, "%s; sandbox: %s%s", s->board_name,
					 hn_sandbox_print(s->probe.sandbox, layers, sizeof layers),
					 s->measured_parameters ? "; parameters: measured" : "");
}

static void on_probe(void *ctx, enum hn_verdict v, const struct hn_probe_result *r)
{
	struct hn_served *s = ctx;

	s->probe_state = v == HN_VERDICT_OK ? HN_PROBE_KNOWN : HN_PROBE_FAILED;
	if (v == HN_VERDICT_OK) {
		s->probe = *r;
		note_board(s);
	} else {
		hn_log_line(&s->daemon->log, "warn", "probe of %s: %s", s->name,
			    hn_verdict_text(v));
	}
	hn_daemon_wake(s->daemon);
}

/* A driver is there, and has a device; else who asks hears at once what is missing. */
static int find_device(struct hn_served *s, struct hn_err *err)
{
	struct hn_buf name;
	int rc;

	hn_buf_init(&name);
	rc = hn_devices_ask(s->daemon->config.board.s, s->target.kind, &name, err);
	if (rc == 0) {
		s->board_name = hn_arena_strdup(&s->daemon->arena, name.s);
		s->board_stamp = s->board_name;
	} else {
		rc = hn_err_within(err, "target %s", s->name);
	}
	hn_buf_fini(&name);
	return rc;
}

/* A simulated machine is always there, if the line is one's. */
static int find_machine(struct hn_served *s, struct hn_err *err)
{
	struct hn_npu_profile m;

	if (hn_npu_profile_of_target(&s->target, &m, err) != 0) {
		return -err->code;
	}
	s->board_name = hn_arena_printf(&s->daemon->arena, "simulator " HONE_VERSION " (npu %s)", m.name);
	s->board_stamp = s->board_name;
	return 0;
}

int hn_served_start(struct hn_served *s, struct hn_err *err)
{
	const struct hn_config *c = &s->daemon->config;
	struct hn_measurer_config config = { .builder_path = c->builder.s,
					     .board_path = c->board.s,
					     .target = s->line,
					     .n_builders = s->n_builders,
					     .n_boards = s->n_boards };
	int rc;

	if (s->measurer != NULL) {
		return 0;
	}
	if (hn_board_takes(s->line) == HN_BOARD_TAKES_MODULE && find_device(s, err) != 0) {
		return -err->code;
	}
	if (hn_board_takes(s->line) == HN_BOARD_TAKES_PROGRAM && find_machine(s, err) != 0) {
		return -err->code;
	}
	rc = hn_measurer_new(&s->daemon->loop, &config, &s->measurer, err);
	if (rc != 0) {
		s->measurer = NULL;
		return rc;
	}
	s->probe_state = HN_PROBE_OPEN;
	hn_measurer_probe(s->measurer, on_probe, s);
	return 0;
}

static bool any_measurer(const struct hn_daemon *d)
{
	bool any = false;

	for (uint32_t i = 0; i < d->n_served; i++) {
		any |= d->served[i].measurer != NULL;
	}
	return any;
}

static void on_closed(void *ctx)
{
	struct hn_served *s = ctx;

	s->measurer = NULL;
	if (!any_measurer(s->daemon)) {
		s->daemon->served_closed(s->daemon);
	}
}

void hn_served_stop(struct hn_daemon *d, void (*closed)(struct hn_daemon *d))
{
	if (!any_measurer(d)) {
		closed(d);
		return;
	}
	d->served_closed = closed;
	for (uint32_t i = 0; i < d->n_served; i++) {
		if (d->served[i].measurer != NULL) {
			hn_measurer_close(d->served[i].measurer, on_closed, &d->served[i]);
		}
	}
}

/* The machine's CPU, as its maker calls it: identity of records, never a host's name. */
static const char *cpu_name(struct hn_arena *a)
{
	struct hn_buf b;
	const char *line, *name = "unknown";

	hn_buf_init(&b);
	if (hn_file_read("/proc/cpuinfo", 1 << 20, &b, NULL) == 0 || b.n > 0) {
		line = strstr(b.s, "model name");
		line = line != NULL ? strchr(line, ':') : NULL;
		if (line != NULL) {
			line += strspn(line, ": \t");
			name = hn_arena_strndup(a, line, strcspn(line, "\n"));
		}
	}
	hn_buf_fini(&b);
	return name;
}

static long long vector_bytes(const struct hn_target *t)
{
	return (long long)t->param[HN_PARAM_VECTOR_UNIT_BYTES];
}

/* Boards that are this machine run its code, are one board, and there is one of them. */
static int check_machine(const struct hn_daemon *d, const struct hn_served *s,
			 const struct hn_target *machine, struct hn_err *err)
{
	if (strcmp(s->target.kind, machine->kind) != 0) {
		return 0;
	}
	if (!hn_target_runs_on(&s->target, machine)) {
		struct hn_buf need, have;

		hn_buf_init(&need);
		hn_buf_init(&have);
		hn_target_print_isa(&s->target, &need);
		hn_target_print_isa(machine, &have);
		hn_fail(err, HONE_E_INVALID,
			"its board is this machine, which cannot run code of isa %s with vectors of "
			"%lld bytes: it has %s, and vectors of %lld bytes",
			need.s, vector_bytes(&s->target), have.s, vector_bytes(machine));
		hn_buf_fini(&have);
		hn_buf_fini(&need);
		return -err->code;
	}
	if (s->n_boards > 1) {
		return hn_fail(err, HONE_E_INVALID,
			       "this machine is one board; %u would disturb each other",
			       s->n_boards);
	}
	for (uint32_t i = 0; i < d->n_served; i++) {
		if (strcmp(d->served[i].target.kind, machine->kind) == 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "this machine is one board, and is served as \"%s\" already; "
				       "two would disturb each other",
				       d->served[i].name);
		}
	}
	return 0;
}

/* The next of d->served, whose target line is `text`. */
static int add(struct hn_daemon *d, const struct hn_named *row, const struct hn_target *machine,
	       struct hn_err *err)
{
	struct hn_served *s = &d->served[d->n_served];
	struct hn_buf line;
	int rc;

	*s = (struct hn_served){ .daemon = d,
				 .name = hn_arena_strdup(&d->arena, row->name),
				 .n_boards = row->n_boards,
				 .n_builders = row->n_builders };
	rc = hn_target_parse_at(d->config.home.s, row->line, &d->arena, &s->target, err);
	rc = rc != 0 ? rc : check_machine(d, s, machine, err);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&line);
	hn_target_print(&s->target, &line);
	s->line = hn_arena_strdup(&d->arena, line.s);
	hn_buf_fini(&line);
	for (uint32_t i = 0; i < d->n_served; i++) {
		if (strcmp(d->served[i].line, s->line) == 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "it is the same target as \"%s\": give one of them more "
				       "boards=N",
				       d->served[i].name);
		}
	}
	s->board_name = strcmp(s->target.kind, machine->kind) == 0 ? cpu_name(&d->arena)
								    : s->target.kind;
	s->board_stamp = s->board_name;
	s->measured_parameters =
		strcmp(row->line, "native") == 0 &&
		memcmp(s->target.param, machine->param, sizeof machine->param) != 0;
	d->n_served++;
	return 0;
}

/* This machine, unless honed was told otherwise. */
static int add_first(struct hn_daemon *d, const struct hn_target *machine, struct hn_err *err)
{
	const char *text = d->config.board_target;
	const struct hn_named row = { .name = text != NULL ? text : "native",
				      .line = text != NULL ? text : "native",
				      .n_boards = d->config.n_boards };
	int rc = add(d, &row, machine, err);

	return rc != 0 ? hn_err_within(err, "--board, --boards") : 0;
}

int hn_served_read(struct hn_daemon *d, struct hn_err *err)
{
	struct hn_target machine;
	struct hn_named *named;
	uint32_t n = 0;
	int rc;

	hn_target_host(&d->arena, &machine);
	rc = hn_named_read(d->config.home.s, &d->arena, &n, &named, err);
	if (rc != 0) {
		return rc;
	}
	d->served = HN_NEW_ARRAY(&d->arena, struct hn_served, n + 1 + HN_SERVED_MORE);
	d->room_served = n + 1 + HN_SERVED_MORE;
	rc = add_first(d, &machine, err);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = add(d, &named[i], &machine, err);
		if (rc != 0) {
			rc = hn_err_within(err, "%s/" HN_TARGETS_FILE ": %s", d->config.home.s,
					   named[i].name);
		}
	}
	return rc;
}

struct hn_served *hn_served_machine(struct hn_daemon *d)
{
	struct hn_target machine;
	struct hn_arena a;
	struct hn_served *found = &d->served[0];

	hn_arena_init(&a, 0);
	hn_target_host(&a, &machine);
	for (uint32_t i = d->n_served; i-- > 0;) {
		if (strcmp(d->served[i].target.kind, machine.kind) == 0) {
			found = &d->served[i];
		}
	}
	hn_arena_fini(&a);
	return found;
}

int hn_served_line(const struct hn_daemon *d, const char *text, struct hn_buf *line,
		   struct hn_err *err)
{
	struct hn_target t;
	struct hn_arena a;
	int rc;

	if (text == NULL || strcmp(text, "native") == 0) {
		hn_buf_puts(line, d->served[0].line);
		return 0;
	}
	for (uint32_t i = 0; i < d->n_served; i++) {
		if (strcmp(text, d->served[i].name) == 0) {
			hn_buf_puts(line, d->served[i].line);
			return 0;
		}
	}
	hn_arena_init(&a, 0);
	rc = hn_target_parse_at(d->config.home.s, text, &a, &t, err);
	if (rc == 0) {
		hn_target_print(&t, line);
	}
	hn_arena_fini(&a);
	return rc;
}

/* "native (cpu -isa=x86-64-avx2), card (cuda -isa=sm_90)" */
static void list(const struct hn_daemon *d, struct hn_buf *b)
{
	for (uint32_t i = 0; i < d->n_served; i++) {
		const struct hn_served *s = &d->served[i];

		hn_buf_printf(b, "%s%s (%s -isa=%s)", i > 0 ? ", " : "", s->name, s->target.kind,
			      s->target.isa);
	}
}

static bool means(const struct hn_daemon *d, const char *text, const char *line, struct hn_arena *a)
{
	struct hn_target t;
	struct hn_buf b;
	bool yes;

	hn_buf_init(&b);
	yes = hn_target_parse_at(d->config.home.s, text, a, &t, NULL) == 0;
	if (yes) {
		hn_target_print(&t, &b);
		yes = strcmp(b.s, line) == 0;
	}
	hn_buf_fini(&b);
	return yes;
}

/* What a target is called that no file names: a name is asked for like a line, so it may mean no
 * other machine.  A device's kind is the device that is here. */
static const char *name_of(struct hn_daemon *d, const char *line)
{
	const char *kind = hn_arena_strndup(&d->arena, line, strcspn(line, " ")), *of_isa;
	struct hn_target t;

	if (hn_target_parse(line, &d->arena, &t, NULL) != 0 || (t.caps & HN_CAP_MODULES) != 0 ||
	    means(d, kind, line, &d->arena)) {
		return kind;
	}
	of_isa = hn_arena_printf(&d->arena, "%s -isa=%s", kind, t.isa);
	return means(d, of_isa, line, &d->arena) ? of_isa : line;
}

/* A device's target that no file names is served from the first time that it is asked for. */
static int add_asked(struct hn_daemon *d, const char *line, struct hn_served **ret,
		     struct hn_err *err)
{
	struct hn_named row = { .name = name_of(d, line), .line = hn_arena_strdup(&d->arena, line),
				.n_boards = 1 };
	struct hn_target machine;
	int rc;

	for (uint32_t i = 0; i < d->n_served; i++) {
		if (strcmp(d->served[i].name, row.name) == 0) {
			row.name = row.line; /* the second of a kind */
		}
	}
	hn_target_host(&d->arena, &machine);
	rc = add(d, &row, &machine, err);
	*ret = rc == 0 ? &d->served[d->n_served - 1] : NULL;
	return rc;
}

int hn_served_find(struct hn_daemon *d, const char *text, struct hn_served **ret,
		   struct hn_err *err)
{
	struct hn_buf line, all;
	int rc;

	*ret = NULL;
	hn_buf_init(&line);
	hn_buf_init(&all);
	list(d, &all);
	rc = hn_served_line(d, text, &line, err);
	for (uint32_t i = 0; i < d->n_served && rc == 0; i++) {
		if (strcmp(d->served[i].line, line.s) == 0) {
			*ret = &d->served[i];
		}
	}
	if (rc == 0 && *ret == NULL && d->n_served < d->room_served &&
	    hn_board_is_apart(line.s)) {
		rc = add_asked(d, line.s, ret, err);
	}
	if (rc != 0) {
		struct hn_err why = *err;

		rc = hn_fail(err, why.code, "%.300s; served here: %.600s", why.msg, all.s);
	} else if (*ret == NULL && hn_board_is_apart(line.s)) {
		rc = hn_fail(err, HONE_E_NO_BOARD,
			     "target \"%.300s\": %u targets are served, and no more are till honed "
			     "starts anew; served here: %.600s",
			     line.s, d->n_served, all.s);
	} else if (*ret == NULL) {
		rc = hn_fail(err, HONE_E_NO_BOARD,
			     "no board for target \"%.300s\"; served here: %.600s", line.s, all.s);
	}
	if (rc == 0 && !hn_board_is_driven((*ret)->line)) {
		rc = hn_fail(err, HONE_E_NO_BOARD,
			     "target %s: hone has no driver for boards of kind %s yet: nothing can be "
			     "measured there; `hone-build --target %s` makes its programs",
			     (*ret)->name, (*ret)->target.kind, (*ret)->target.kind);
		*ret = NULL;
	}
	hn_buf_fini(&all);
	hn_buf_fini(&line);
	return rc;
}
