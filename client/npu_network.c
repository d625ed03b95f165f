/* client/npu_network.c -- `hone npu NETWORK`: each kernel of a network, or of a fused operator of AKG,
 * as a program of the simulated NPU, and what all of them take.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "client/network.h"
#include "client/npu.h"
#include "target/npu/npu_insn.h"

struct row {
	const struct hn_gtask *task;
	const char *refused; /* NULL: it ran */
	struct hn_npu_result r;
};

static int run_one(const struct hn_opts *o, const struct hn_npu_profile *m,
		   const struct hn_gtask *task, struct hn_npu_result *ret, struct hn_err *err)
{
	const struct hn_opts one = hn_network_task(o, task);
	const struct hn_npu_program *p;
	struct hn_npu_launched at = { .judged = true };
	const char *name;
	struct hn_arena a;
	struct hn_buf text;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	rc = hn_npu_made(&one, m->name, &a, &name, &text, err);
	rc = rc ? rc : hn_npu_parse(name, text.s, text.n, &a, &p, err);
	rc = rc ? rc : hn_npu_launched(&p, 1, NULL, m, &at, err);
	*ret = at.r;
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}

static int busiest(const struct hn_npu_result *r)
{
	int most = 1;

	for (int i = 2; i < HN_NPU_N_PIPE; i++) {
		most = r->busy[i] > r->busy[most] ? i : most;
	}
	return most;
}

static double microseconds(const struct hn_npu_profile *m, int64_t cycles)
{
	return (double)cycles / (double)m->mhz;
}

static void put_table(const char *name, const struct hn_npu_profile *m, const struct row *row, uint32_t n,
		      struct hn_buf *b)
{
	int64_t all = 0;
	uint32_t n_ran = 0;
	int width = 6;

	for (uint32_t i = 0; i < n; i++) {
		int length = (int)strlen(row[i].task->name);

		width = length > width ? length : width;
		all += row[i].refused ? 0 : row[i].r.cycles * row[i].task->n_step;
		n_ran += row[i].refused == NULL;
	}
	hn_buf_printf(b, "%-*s  runs      cycles         us  busiest pipe\n", width, "kernel");
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_npu_result *r = &row[i].r;
		int pipe = busiest(r);

		hn_buf_printf(b, "%-*s  %4u  ", width, row[i].task->name, row[i].task->n_step);
		if (row[i].refused) {
			hn_buf_printf(b, "refused: %s\n", row[i].refused);
			continue;
		}
		hn_buf_printf(b, "%10" PRId64 "  %9.2f  %-4s %5.1f %%\n", r->cycles,
			      microseconds(m, r->cycles), hn_npu_pipe_name[pipe],
			      r->core_cycles > 0 ? 100.0 * (double)r->busy[pipe] / (double)r->core_cycles : 0);
	}
	hn_buf_printf(b, "\n%s on %s: %u of %u kernels, %" PRId64 " cycles, %.2f us (simulated by a model, "
		      "docs/npu.md)\n", name, m->name, n_ran, n, all, microseconds(m, all));
}

static void put_json(const char *name, const struct hn_npu_profile *m, const struct row *row, uint32_t n,
		     struct hn_buf *b)
{
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", name);
	hn_jw_str(&w, "profile", m->name);
	hn_jw_list(&w, "kernels");
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "name", row[i].task->name);
		hn_jw_uint(&w, "runs", row[i].task->n_step);
		if (row[i].refused) {
			hn_jw_str(&w, "refused", row[i].refused);
		} else {
			hn_jw_int(&w, "cycles", row[i].r.cycles);
			hn_jw_double(&w, "us", microseconds(m, row[i].r.cycles));
		}
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

int hn_npu_network(const struct hn_opts *o, const struct hn_npu_profile *m, struct hn_buf *b,
		   struct hn_err *err)
{
	struct hn_opts at = *o;
	struct hn_network n;
	struct row *row = NULL;
	struct hn_err own;
	uint32_t n_ran = 0;
	char target[60];
	int rc;

	rc = hn_npu_check_options(o, HN_NPU_NETWORK, err);
	if (rc != 0) {
		return rc;
	}
	snprintf(target, sizeof(target), "npu -isa=%.40s", m->name);
	at.target = target;
	rc = hn_network_open_ranges(&at, &n, err);
	if (rc == 0 && n.ranges.n > 0) {
		rc = hn_npu_ranges(o, m, &n, b, err);
		hn_network_close(&n);
		return rc;
	}
	if (rc == 0) {
		row = HN_NEW_ARRAY(&n.arena, struct row, n.net.n_task);
	}
	for (uint32_t i = 0; rc == 0 && i < n.net.n_task; i++) {
		row[i].task = &n.net.task[i];
		rc = run_one(o, m, row[i].task, &row[i].r, &own);
		if (rc == -HONE_E_UNSUPPORTED ||
		    (rc == -HONE_E_INVALID && row[i].r.fault == HN_NPU_F_BUDGET)) { /* too long to be simulated */
			row[i].refused = hn_arena_strdup(&n.arena, own.msg);
			rc = 0;
		} else if (rc != 0) {
			rc = hn_fail(err, -rc, "%.100s: %.300s", row[i].task->name, own.msg);
		} else {
			n_ran++;
		}
	}
	if (rc == 0 && o->json) {
		put_json(n.name, m, row, n.net.n_task, b);
	} else if (rc == 0) {
		put_table(n.name, m, row, n.net.n_task, b);
	}
	if (rc == 0 && n_ran == 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "none of %u kernels has a program for the NPU",
			     n.net.n_task);
	}
	hn_network_close(&n);
	return rc;
}
