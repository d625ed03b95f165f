/* client/npu_show.c -- what a run on the simulated NPU is said to have taken: cycles of pipes, and what
 * of the machine's cores and memories.
 */
#include <inttypes.h>

#include "client/npu.h"
#include "target/npu/npu_insn.h"
#include "target/npu/npu_picture.h"

#define MOST_EVENTS 4000 /* of a picture */

static uint32_t cores_of(const struct hn_npu_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_section; i++) {
		n += p->section[i].n_core;
	}
	return n;
}

void hn_npu_put_room(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		     const struct hn_npu_result *r, struct hn_buf *b)
{
	hn_buf_printf(b, "  cores %9u  of %9" PRId64 "\n", cores_of(p), m->cores);
	for (int i = 0; i < HN_NPU_GM; i++) {
		int64_t all = hn_npu_memory_bytes(m, (enum hn_npu_memory)i);

		hn_buf_printf(b, "  %-5s %9" PRId64 "  of %9" PRId64 " bytes  %5.1f %%\n", hn_npu_memory_word[i],
			      r->used[i], all, 100.0 * (double)r->used[i] / (double)all);
	}
}

void hn_npu_put_room_members(const struct hn_npu_program *p, const struct hn_npu_profile *m,
			     const struct hn_npu_result *r, struct hn_jw *w)
{
	hn_jw_uint(w, "cores", cores_of(p));
	hn_jw_int(w, "of_cores", m->cores);
	hn_jw_list(w, "memories");
	for (int i = 0; i < HN_NPU_GM; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", hn_npu_memory_word[i]);
		hn_jw_int(w, "bytes", r->used[i]);
		hn_jw_int(w, "of_bytes", hn_npu_memory_bytes(m, (enum hn_npu_memory)i));
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

void hn_npu_put_members(const struct hn_npu_profile *m, const struct hn_npu_result *r, struct hn_jw *w)
{
	hn_jw_str(w, "profile", m->name);
	hn_jw_int(w, "cycles", r->cycles);
	hn_jw_int(w, "core_cycles", r->core_cycles);
	hn_jw_double(w, "us", (double)r->cycles / (double)m->mhz);
	hn_jw_bool(w, "by_memory", r->by_memory);
	hn_jw_int(w, "read_bytes", r->read_bytes);
	hn_jw_int(w, "written_bytes", r->written_bytes);
	hn_jw_uint(w, "instructions", r->n_insn);
	hn_jw_list(w, "pipes");
	for (int i = 1; i < HN_NPU_N_PIPE; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", hn_npu_pipe_name[i]);
		hn_jw_int(w, "busy", r->busy[i]);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

void hn_npu_put_table(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		      const struct hn_npu_result *r, struct hn_buf *b)
{
	hn_buf_printf(b, "%s on %s: %" PRId64 " cycles, %.2f us (simulated by a model, docs/npu.md)\n",
		      p->what, m->name, r->cycles, (double)r->cycles / (double)m->mhz);
	hn_buf_printf(b, "  slowest core %u: %" PRId64 " cycles%s\n", r->core, r->core_cycles,
		      r->by_memory ? "; all cores together ask more than the memory gives" : "");
	for (int i = 1; i < HN_NPU_N_PIPE; i++) {
		hn_buf_printf(b, "  %-5s busy %9" PRId64 "  %5.1f %%\n", hn_npu_pipe_name[i], r->busy[i],
			      r->core_cycles > 0 ? 100.0 * (double)r->busy[i] / (double)r->core_cycles : 0);
	}
	hn_buf_printf(b, "  global memory: %" PRId64 " bytes read, %" PRId64 " written\n"
		      "  no race, in any order of the pipes; %" PRIu64 " instructions\n", r->read_bytes,
		      r->written_bytes, r->n_insn);
	hn_npu_put_room(p, m, r, b);
}

int hn_npu_show(const struct hn_npu_program *p, const struct hn_npu_profile *m, struct hn_arena *a,
		struct hn_npu_result *ret, struct hn_buf *svg, struct hn_err *err)
{
	struct hn_npu_options options = { .judge = true };
	int rc;

	if (svg != NULL) {
		options.event = HN_NEW_ARRAY(a, struct hn_npu_event, MOST_EVENTS);
		options.n_event = MOST_EVENTS;
		options.event_core = p->section[0].first;
	}
	rc = hn_npu_run(p, m, &options, a, ret, err);
	if (rc == 0 && svg != NULL) {
		hn_npu_picture(p, &options, ret, svg);
	}
	return rc;
}
