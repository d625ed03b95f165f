/* record_parse.c -- one line of a log, by its grammar (record.h). */
#include <string.h>

#include "base/json.h"
#include "loopstate/record/record_int.h"
#include "loopstate/state/step.h"

#define MAX_TOKENS 200000 /* of the steps: JSON values, each some 64 bytes */
#define STEPS_DEPTH 3	  /* [[tag, [n]]] */

typedef int (*item_fn)(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i);

/* `[`, items, `]`; at most n_max of them; *ret_n may be NULL. */
static int scan_list(struct hn_record_scan *s, struct hn_log_record *r, const char *where,
		     uint32_t n_max, item_fn item, uint32_t *ret_n)
{
	int rc = hn_scan_take(s, '[', where), more = 1;
	uint32_t n = 0;

	if (rc == 0 && hn_scan_peek(s) == ']') {
		s->p++;
		more = 0;
	}
	while (rc == 0 && more == 1) {
		if (n == n_max) {
			return hn_scan_fail(s, s->p, "%s: more than %u items", where,
					    (unsigned)n_max);
		}
		rc = item(s, r, n++);
		if (rc == 0) {
			more = hn_scan_more(s, ']', where);
		}
	}
	rc = rc != 0 ? rc : more;
	if (rc == 0 && ret_n != NULL) {
		*ret_n = n;
	}
	return rc;
}

static int hardware_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	return hn_scan_int(s, "hardware parameters", INT32_MIN, INT64_MAX,
			   &r->hardware[i]);
}

static int input_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	return hn_scan_string(s, "task inputs", &((const char **)r->input)[i]);
}

static int scan_inputs(struct hn_record_scan *s, struct hn_log_record *r)
{
	r->has_inputs = true;
	r->input = HN_NEW_ARRAY(s->a, const char *, HN_RECORD_MAX_INPUTS);
	return scan_list(s, r, "task inputs", HN_RECORD_MAX_INPUTS, input_item,
			 &r->n_input);
}

static int scan_hardware(struct hn_record_scan *s, struct hn_log_record *r)
{
	int rc = scan_list(s, r, "hardware parameters", HN_RECORD_N_HARDWARE,
			   hardware_item, &r->n_hardware);

	if (rc == 0 && r->n_hardware != HN_RECORD_N_HARDWARE) {
		return hn_scan_fail(s, s->p, "hardware parameters: %u of %d",
				    (unsigned)r->n_hardware, HN_RECORD_N_HARDWARE);
	}
	return rc;
}

static int task_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	int64_t layout;
	int rc;

	switch (i) {
	case 0:
		return hn_scan_string(s, "workload key", &r->workload_key);
	case 1:
		return hn_scan_string(s, "target", &r->target);
	case 2:
		return scan_hardware(s, r);
	case 3:
		return hn_scan_string(s, "target host", &r->host);
	case 4:
		rc = hn_scan_int(s, "layout rewrite option", 0, 2, &layout);
		r->layout = rc == 0 ? (int32_t)layout : -1;
		return rc;
	default:
		return scan_inputs(s, r);
	}
}

static int scan_steps(struct hn_record_scan *s, struct hn_log_record *r)
{
	const struct hn_json_limits limits = { .max_bytes = HN_RECORD_MAX_LINE,
					       .max_depth = STEPS_DEPTH,
					       .max_tokens = MAX_TOKENS };
	struct hn_json *json;
	struct hn_err why = { 0 };
	const char *text;
	size_t n;
	int rc;

	(void)hn_scan_peek(s);
	const char *at = s->p;

	rc = hn_scan_array(s, "steps", STEPS_DEPTH, &text, &n);
	if (rc != 0) {
		return rc;
	}
	rc = hn_json_parse("steps", text, n, &limits, &json, &why);
	if (rc == 0) {
		rc = hn_trace_from_json("steps", json, s->a, &r->trace, &why);
		hn_json_free(json);
	}
	return rc != 0 ? hn_scan_fail(s, at, "%s", why.msg) : 0;
}

static int stage_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	(void)r;
	(void)i;
	return hn_scan_fail(s, s->p, "stages: must be empty; only steps are stored");
}

static int state_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	return i == 0 ? scan_list(s, r, "stages", 1, stage_item, NULL) : scan_steps(s, r);
}

static int input_part(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	uint32_t n = 0;
	int rc = scan_list(s, r, i == 0 ? "task" : "state", i == 0 ? 6 : 2,
			   i == 0 ? task_item : state_item, &n);

	if (rc == 0 && n < 2) {
		return hn_scan_fail(s, s->p, "%s: only %u of its items",
				    i == 0 ? "task" : "state", (unsigned)n);
	}
	return rc;
}

static int cost_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	struct hn_record_number *cost;
	int rc;

	if (i % 16 == 0) { /* room for 16 more */
		cost = HN_NEW_ARRAY(s->a, struct hn_record_number, i + 16);
		if (i > 0) {
			memcpy(cost, r->cost, i * sizeof(*cost));
		}
		r->cost = cost;
	}
	cost = (struct hn_record_number *)&r->cost[i];
	rc = hn_scan_number(s, "cost", cost);
	if (rc == 0 && cost->value < 0) {
		return hn_scan_fail(s, s->p, "cost: %s seconds is no time", cost->text);
	}
	return rc;
}

static int scan_costs(struct hn_record_scan *s, struct hn_log_record *r)
{
	int rc = scan_list(s, r, "costs", HN_RECORD_MAX_COSTS, cost_item, &r->n_cost);

	if (rc == 0 && r->n_cost == 0) {
		return hn_scan_fail(s, s->p, "costs: none; a failure has 1e+10");
	}
	return rc;
}

static int result_item(struct hn_record_scan *s, struct hn_log_record *r, uint32_t i)
{
	int64_t error_no;
	int rc;

	switch (i) {
	case 0:
		return scan_costs(s, r);
	case 1:
		rc = hn_scan_int(s, "error number", 0, 8, &error_no);
		r->error_no = rc == 0 ? (int32_t)error_no : 0;
		return rc;
	case 2:
		return hn_scan_number(s, "all_cost", &r->all_cost);
	default:
		return hn_scan_number(s, "timestamp", &r->timestamp);
	}
}

static int scan_member(struct hn_record_scan *s, struct hn_log_record *r, char name)
{
	uint32_t n = 0;
	int rc;

	switch (name) {
	case 'i':
		r->member[r->n_member++] = HN_RECORD_INPUT;
		rc = scan_list(s, r, "i", 2, input_part, &n);
		return rc != 0 || n == 2
			       ? rc
			       : hn_scan_fail(s, s->p, "i: a task and a state expected");
	case 'r':
		r->member[r->n_member++] = HN_RECORD_RESULT;
		rc = scan_list(s, r, "r", 4, result_item, &n);
		return rc != 0 || n == 4
			       ? rc
			       : hn_scan_fail(s, s->p, "r: only %u of its 4 items",
					      (unsigned)n);
	default:
		r->member[r->n_member++] = HN_RECORD_VERSION;
		return hn_scan_string(s, "v", &r->version);
	}
}

/* One `"name": value` pair. */
static int scan_pair(struct hn_record_scan *s, struct hn_log_record *r, char *seen)
{
	(void)hn_scan_peek(s);

	const char *at = s->p, *name;
	int rc = hn_scan_string(s, "record", &name);

	if (rc != 0) {
		return rc;
	}
	if (strlen(name) != 1 || strchr("irv", name[0]) == NULL) {
		return hn_scan_fail(
			s, at, "unknown member \"%.40s\"; a record has i, r and v", name);
	}
	if (strchr(seen, name[0]) != NULL) {
		return hn_scan_fail(s, at, "member \"%s\" twice", name);
	}
	seen[strlen(seen)] = name[0];
	rc = hn_scan_take(s, ':', "record");
	return rc != 0 ? rc : scan_member(s, r, name[0]);
}

/* Ansor's versions hold Ansor's steps alone: what reads such a line must know them all. */
static int check_version(struct hn_record_scan *s, const struct hn_log_record *r)
{
	bool own = r->version != NULL && strncmp(r->version, "hone-", 5) == 0;

	for (uint32_t i = 0; !own && i < r->trace->n_step; i++) {
		const struct hn_step_ops *ops = hn_step_ops(r->trace->step[i]->kind);

		if (ops->te == NULL) {
			return hn_scan_fail(
				s, s->p,
				"step %u: %s is no step of Ansor's; the version of a "
				"record that has it is \"hone-1\"",
				(unsigned)i, ops->tag);
		}
	}
	return 0;
}

int hn_record_parse(const char *what, uint64_t line, const char *text, size_t n,
		    struct hn_arena *a, const struct hn_log_record **ret, struct hn_err *err)
{
	struct hn_record_scan s = { what, line, text, text, text + n, a, err };
	struct hn_log_record *r = HN_NEW(a, struct hn_log_record);
	char seen[4] = "";
	int rc, more = 1;

	r->layout = -1;
	rc = hn_scan_take(&s, '{', "record");
	while (rc == 0 && more == 1) {
		rc = scan_pair(&s, r, seen);
		more = rc == 0 ? hn_scan_more(&s, '}', "record") : rc;
	}
	rc = rc != 0 ? rc : more;
	if (rc == 0 && (hn_scan_peek(&s), s.p < s.end)) {
		return hn_scan_fail(&s, s.p, "text behind the record");
	}
	if (rc == 0 && (strchr(seen, 'i') == NULL || strchr(seen, 'r') == NULL)) {
		return hn_scan_fail(&s, s.p, "no member \"%s\"",
				    strchr(seen, 'i') == NULL ? "i" : "r");
	}
	if (rc == 0) {
		rc = check_version(&s, r);
	}
	if (rc == 0) {
		*ret = r;
	}
	return rc;
}
