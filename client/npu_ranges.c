/* client/npu_ranges.c -- `hone npu NETWORK --dim NAME=1..64`: each kernel of a network for a range of sizes as
 * programs for all of them, and what launches of the least and of the largest sizes take.
 */
#include <inttypes.h>
#include <string.h>

#include "base/jw.h"
#include "client/network.h"
#include "client/npu.h"
#include "target/npu/npu_launch.h"

#define MOST_PROGRAMS 16

struct row {
	const struct hn_gtask *task;
	const char *refused; /* NULL: it ran */
	const struct hn_npu_program *p[MOST_PROGRAMS];
	uint32_t n;
	struct hn_npu_launched at[2]; /* the least sizes, the largest */
};

/* With all its sizes at one end. */
static int launch(struct row *row, bool largest, const struct hn_npu_profile *m, struct hn_err *err)
{
	int64_t value[HN_NPU_MOST_SIZES];

	for (uint32_t k = 0; k < row->p[0]->n_size; k++) {
		value[k] = largest ? row->p[0]->size[k].hi : row->p[0]->size[k].lo;
	}
	return hn_npu_launched(row->p, row->n, value, m, &row->at[largest], err);
}

static int run_one(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_arena *a, struct row *row,
		   struct hn_err *err)
{
	const struct hn_opts one = hn_network_task(o, row->task);
	struct hn_err own;
	struct hn_buf text;
	const char *name;
	int rc;

	hn_buf_init(&text);
	rc = hn_npu_made(&one, m->name, a, &name, &text, &own);
	rc = rc ? rc : hn_npu_parse_kernels(name, text.s, text.n, MOST_PROGRAMS, a, row->p, &row->n, &own);
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = launch(row, i == 1, m, &own);
	}
	hn_buf_fini(&text);
	if (rc == -HONE_E_UNSUPPORTED) {
		row->refused = hn_arena_strdup(a, own.msg);
		return 0;
	}
	return rc == 0 ? 0 : hn_fail(err, -rc, "%.100s: %.300s", row->task->name, own.msg);
}

static void put_table(const char *range, const struct row *row, uint32_t n, struct hn_buf *b)
{
	hn_buf_printf(b, "%s\n%-40s  runs  programs  cycles of the least  of the largest\n", range, "kernel");
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(b, "%-40s  %4u  ", row[i].task->name, row[i].task->n_step);
		if (row[i].refused) {
			hn_buf_printf(b, "refused: %s\n", row[i].refused);
		} else {
			hn_buf_printf(b, "%8u  %19" PRId64 "  %14" PRId64 "\n", row[i].n, row[i].at[0].r.cycles,
				      row[i].at[1].r.cycles);
		}
	}
}

static void put_json(const char *range, const struct row *row, uint32_t n, struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "for", range);
	hn_jw_list(w, "kernels");
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", row[i].task->name);
		hn_jw_uint(w, "runs", row[i].task->n_step);
		if (row[i].refused) {
			hn_jw_str(w, "refused", row[i].refused);
		} else {
			hn_jw_uint(w, "programs", row[i].n);
			hn_jw_int(w, "least_cycles", row[i].at[0].r.cycles);
			hn_jw_int(w, "largest_cycles", row[i].at[1].r.cycles);
		}
		hn_jw_end(w);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

int hn_npu_ranges(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_network *n, struct hn_buf *b,
		  struct hn_err *err)
{
	uint32_t n_ran = 0, n_all = 0;
	struct hn_jw w;
	int rc = 0;

	hn_jw_init(&w, b);
	if (o->json) {
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "name", n->name);
		hn_jw_str(&w, "profile", m->name);
		hn_jw_list(&w, "ranges");
	}
	for (uint32_t k = 0; k < n->ranges.n && rc == 0; k++) {
		const struct hn_net_range *range = &n->ranges.range[k];
		struct row *row = HN_NEW_ARRAY(&n->arena, struct row, range->net.n_task + 1);
		const char *says = hn_network_range(n, range, &n->arena);

		for (uint32_t i = 0; i < range->net.n_task && rc == 0; i++) {
			row[i].task = &range->net.task[i];
			rc = run_one(o, m, &n->arena, &row[i], err);
			n_ran += rc == 0 && row[i].refused == NULL;
			n_all++;
		}
		if (rc == 0 && o->json) {
			put_json(says, row, range->net.n_task, &w);
		} else if (rc == 0) {
			put_table(says, row, range->net.n_task, b);
		}
	}
	if (o->json) {
		hn_jw_end(&w);
		hn_jw_end(&w);
		hn_jw_done(&w);
		hn_buf_putc(b, '\n');
	} else if (rc == 0) {
		hn_buf_printf(b, "%s on %s: %u of %u kernels have programs for all sizes of their range (simulated by a "
			      "model, docs/npu.md)\n", n->name, m->name, n_ran, n_all);
	}
	return rc == 0 && n_ran == 0 ? hn_fail(err, HONE_E_UNSUPPORTED, "none of %u kernels has a program for the NPU",
					       n_all) : rc;
}
