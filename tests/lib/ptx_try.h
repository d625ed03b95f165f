/* tests/lib/ptx_try.h -- a few instructions of PTX on the machine of tests/ptx: registers are filled,
 * shared memory as well, the instructions run, registers are read. */
#ifndef HN_TESTS_LIB_PTX_TRY_H
#define HN_TESTS_LIB_PTX_TRY_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/ptx/ptx.h"

#define PTX_TRY_SEEDS 24

struct ptx_try {
	uint32_t threads, n_in, n_out, n_wide;
	const uint32_t *in;   /* [register][thread], in %i0, ... */
	uint32_t *out;	      /* the same, from %o0, ... */
	const uint64_t *wide; /* for all threads the same: %w0, ... */
	const void *shared;   /* what lies at %a at first; NULL: nothing is written there */
	uint32_t n_shared, maxnreg;
	const struct ptx_range *more; /* memory, besides */
	uint32_t n_more;
};

static inline void ptx_try_text(struct hn_buf *s, const struct ptx_try *t, const char *body)
{
	hn_buf_puts(s, ".version 8.5\n.target sm_90a\n.address_size 64\n"
		       ".extern .shared .align 1024 .b8 smem[];\n"
		       ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 wide, "
		       ".param .u64 image)\n");
	if (t->maxnreg) {
		hn_buf_printf(s, ".maxnreg %u\n", t->maxnreg);
	}
	hn_buf_printf(s,
		      "{\n.reg .b32 %%i<%u>, %%o<%u>, %%r<64>, %%t, %%a;\n.reg .pred %%p<8>, "
		      "%%q;\n.reg .b64 %%w<%u>, %%x<8>, %%y<64>;\n"
		      "ld.param.u64 %%x0, [in];\nld.param.u64 %%x1, [out];\n"
		      "ld.param.u64 %%x2, [wide];\nld.param.u64 %%x3, [image];\n"
		      "mov.u32 %%t, %%tid.x;\nmul.wide.u32 %%x4, %%t, 4;\n"
		      "add.s64 %%x0, %%x0, %%x4;\nadd.s64 %%x1, %%x1, %%x4;\n"
		      "add.s64 %%x3, %%x3, %%x4;\nmov.u32 %%a, smem;\n",
		      t->n_in + 1, t->n_out + 1, t->n_wide + 1);
	for (uint32_t i = 0; i < t->n_in; i++) {
		hn_buf_printf(s, "ld.global.b32 %%i%u, [%%x0+%u];\n", i, i * t->threads * 4);
	}
	for (uint32_t i = 0; i < t->n_wide; i++) {
		hn_buf_printf(s, "ld.global.b64 %%w%u, [%%x2+%u];\n", i, i * 8);
	}
	if (t->shared) {
		hn_buf_printf(s,
			      "shl.b32 %%r0, %%t, 2;\nadd.s32 %%r1, %%a, %%r0;\n$fill:\n"
			      "setp.lt.u32 %%q, %%r0, %u;\n@!%%q bra $filled;\n"
			      "ld.global.b32 %%r2, [%%x3];\nst.shared.b32 [%%r1], %%r2;\n"
			      "add.s32 %%r0, %%r0, %u;\nadd.s32 %%r1, %%r1, %u;\n"
			      "add.s64 %%x3, %%x3, %u;\nbra $fill;\n$filled:\n",
			      t->n_shared, t->threads * 4, t->threads * 4, t->threads * 4);
	}
	hn_buf_puts(s, body);
	for (uint32_t i = 0; i < t->n_out; i++) {
		hn_buf_printf(s, "st.global.b32 [%%x1+%u], %%o%u;\n", i * t->threads * 4, i);
	}
	hn_buf_puts(s, "ret;\n}\n");
}

/* Negative: not understood, or a fault; err says which. */
static inline int ptx_try(const struct ptx_try *t, const char *body, uint64_t seed,
			  struct hn_err *err)
{
	struct ptx_range range[8] = {
		{ (void *)t->in, (uint64_t)t->n_in * t->threads * 4, true },
		{ t->out, (uint64_t)t->n_out * t->threads * 4, false },
		{ (void *)t->wide, (uint64_t)t->n_wide * 8, true },
		{ (void *)t->shared, t->shared ? t->n_shared : 0, true },
	};
	void *param[] = { &range[0].at, &range[1].at, &range[2].at, &range[3].at };
	struct ptx_launch l = { .kernel = "k",
				.grid = { 1, 1, 1 },
				.block = { t->threads, 1, 1 },
				.shared = t->n_shared,
				.param = param,
				.range = range,
				.n_range = 4 + t->n_more,
				.seed = seed,
				.steps = 10000000 };
	struct ptx_counts counts = { 0 };
	struct ptx_module *m;
	struct hn_arena a;
	struct hn_buf s;
	int rc;

	for (uint32_t i = 0; i < t->n_more; i++) {
		range[4 + i] = t->more[i];
	}
	*err = (struct hn_err){ 0 };
	hn_arena_init(&a, 0);
	hn_buf_init(&s);
	ptx_try_text(&s, t, body);
	rc = ptx_parse(s.s, s.n, &a, &m, err);
	if (rc == 0) {
		rc = ptx_run(m, &l, &counts, err);
	}
	hn_buf_fini(&s);
	hn_arena_fini(&a);
	return rc;
}

#endif
