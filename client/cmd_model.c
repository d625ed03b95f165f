/* client/cmd_model.c -- `hone model`: what is in a network, and where its time goes.
 *
 * A row for each kernel, as it would be compiled now: with the time of the best record, or what the
 * analytic model predicts of the automatic schedule.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "client/task_times.h"
#include "graph/net/largest.h"

/* "738 M"; two blanks stand for the unit of less than a thousand. */
static const char *flops_text(double flops, char text[32])
{
	static const char *const unit[] = { " ", "k", "M", "G", "T" };
	size_t i = 0;

	for (; flops >= 999.5 && i + 1 < HN_COUNT_OF(unit); i++) {
		flops /= 1000;
	}
	snprintf(text, 32, "%.*f %s", i == 0 || flops >= 100 ? 0 : 2, flops, unit[i]);
	return text;
}

static void print_table(const struct hn_network *n, const struct hn_task_time *row)
{
	double all = hn_task_times_sum(row, n->net.n_task), flops = 0;
	uint32_t measured = 0, refused = 0;
	char text[32], time[32];
	int width = 6;

	for (uint32_t i = 0; i < n->net.n_task; i++) {
		int length = (int)strlen(row[i].task->name);

		width = length > width ? length : width;
		flops += row[i].task->flops * row[i].task->n_step;
		measured += row[i].measured;
		refused += row[i].refused != NULL;
	}
	printf("%-*s  runs       FLOP       time  share  GFLOP/s\n", width, "kernel");
	for (uint32_t i = 0; i < n->net.n_task; i++) {
		const struct hn_task_time *r = &row[i];

		if (r->refused != NULL) {
			printf("%-*s  %4u  %9s  no kernel: %s\n", width, r->task->name, r->task->n_step,
			       flops_text(r->task->flops, text), r->refused);
			continue;
		}
		printf("%-*s  %4u  %9s %c%9s  %4.1f%%  %7.1f\n", width, r->task->name,
		       r->task->n_step, flops_text(r->task->flops, text), r->measured ? ' ' : '~',
		       hn_show_time(r->ns, time), all > 0 ? r->ns * r->task->n_step / all * 100 : 0,
		       r->ns > 0 ? r->task->flops / r->ns : 0);
	}
	printf("\n%u steps of %u kernels, %s FLOP, %s%s in all\n", n->net.n_step, n->net.n_task,
	       flops_text(flops, text), measured < n->net.n_task ? "~" : "",
	       hn_show_time(all, time));
	printf("%u of the kernels are tuned%s\n", measured,
	       measured + refused < n->net.n_task ? "; ~ = predicted, of the automatic schedule" : "");
	if (refused > 0) {
		printf("%u ha%s no kernel for this target, and count%s for nothing here\n", refused,
		       refused > 1 ? "ve" : "s", refused > 1 ? "" : "s");
	}
}

/* What `hone tune` found of ways to fuse and lay out. */
static void print_choice(const struct hn_netchoice *c)
{
	char rules[32], rival[32];

	if (!c->searched) {
		return;
	}
	printf("\nrival of the rules    places  better  a run   by the rules\n");
	for (uint32_t i = 0; i < c->n_rival; i++) {
		const struct hn_netchoice_rival *r = &c->rival[i];

		if (r->n_place > 0) {
			printf("%-20s  %6u  %6u  %s  %s\n", r->name, r->n_place, r->n_taken,
			       hn_show_time(r->ns, rival), hn_show_time(r->rules_ns, rules));
		}
	}
	if (!hn_netchoice_by_rule(c)) {
		printf("what is better is taken: a run took %s, by the rules %s\n",
		       hn_show_time(c->fused_ns, rival), hn_show_time(c->rules_ns, rules));
	} else {
		printf("the network is laid out and fused by the rules\n");
	}
}

static void print_json(const struct hn_network *n, const struct hn_task_time *row)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", n->name);
	hn_jw_uint(&w, "n_steps", n->net.n_step);
	hn_jw_double(&w, "total_ns", hn_task_times_sum(row, n->net.n_task));
	hn_jw_bool(&w, "searched", n->choice.searched);
	hn_jw_bool(&w, "by_rule", hn_netchoice_by_rule(&n->choice));
	hn_jw_list(&w, "kernels");
	for (uint32_t i = 0; i < n->net.n_task; i++) {
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "name", row[i].task->name);
		hn_jw_str(&w, "key", row[i].key);
		hn_jw_uint(&w, "runs", row[i].task->n_step);
		hn_jw_double(&w, "flops", row[i].task->flops);
		hn_jw_double(&w, "ns", row[i].ns > 0 ? row[i].ns : NAN);
		hn_jw_bool(&w, "measured", row[i].measured);
		if (row[i].refused != NULL) {
			hn_jw_str(&w, "refused", row[i].refused);
		}
		hn_jw_str(&w, "program", row[i].task->text);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	puts(b.s);
	hn_buf_fini(&b);
}

static int show(const struct hn_opts *o, struct hn_network *n, struct hn_err *err)
{
	const struct hn_task_time *row;
	int rc = hn_task_times(o, n, /* made= */ true, &row, err);

	if (rc == 0 && o->json) {
		print_json(n, row);
	} else if (rc == 0) {
		print_table(n, row);
		print_choice(&n->choice);
	}
	return rc;
}

/* Each range has steps of its own, and kernels that it shares: all are shown. */
static int show_range(const struct hn_opts *o, struct hn_network *n, uint32_t i, bool text,
		      struct hn_err *err)
{
	const struct hn_net_range *r = &n->ranges.range[i];
	int rc = text ? 0 : hn_range_largest(r, &n->arena, &n->net, err);

	if (rc == 0 && !text && !o->json) {
		printf("%s%s, at the largest\n", i > 0 ? "\n" : "",
		       hn_network_range(n, r, &n->arena));
	}
	for (uint32_t k = 0; text && k < r->net.n_task; k++) {
		if (!hn_range_has_other(&n->ranges, i, k)) {
			fputs(r->net.task[k].text, stdout);
		}
	}
	return rc != 0 || text ? rc : show(o, n, err);
}

int cmd_model(const struct hn_opts *o, struct hn_err *err)
{
	bool text = o->as != NULL && strcmp(o->as, "text") == 0;
	struct hn_network n;
	int rc;

	if (o->as != NULL && !text && strcmp(o->as, "table") != 0) {
		return hn_fail(err, HONE_E_INVALID, "--as: table or text, not \"%.40s\"", o->as);
	}
	if (text && o->json) {
		return hn_fail(err, HONE_E_INVALID, "model: --as text is no JSON: leave out --json, whose kernels have "
			       "their programs");
	}
	rc = hn_network_open_ranges(o, &n, err);
	for (uint32_t i = 0; rc == 0 && i < n.ranges.n; i++) {
		rc = show_range(o, &n, i, text, err);
	}
	for (uint32_t i = 0; rc == 0 && text && n.ranges.n == 0 && i < n.net.n_task; i++) {
		fputs(n.net.task[i].text, stdout);
	}
	rc = rc != 0 || text || n.ranges.n > 0 ? rc : show(o, &n, err);
	hn_network_close(&n);
	return rc;
}
