/* lower/gpu/ptx_role.c -- words of roles (lower/device/device_role.h), as inline assembly.
 *
 * A consumer's turns are one piece of assembly, from the first wait to the last: the loop, its waits,
 * products and arrivals.  So nobody moves a register that the hardware still adds to.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA, "mbarrier", "cp.async.bulk.tensor", "setmaxnreg".
 */
#include "lower/device/device_role.h"
#include "lower/gpu/ptx_int.h"

#include <inttypes.h>
#include <stdio.h>

/* A place in shared memory, as instructions on mbarriers take it. */
static LLVMValueRef address(struct gpu *g, const struct gpu_at *at)
{
	const struct gpu_ptx *p = g->own;

	return LLVMBuildPtrToInt(p->b, hn_gpu_ptx_place(g, at), p->i32, "");
}

static void run(struct gpu *g, const char *code, const char *operands, LLVMValueRef *arg, unsigned n)
{
	LLVMTypeRef type[3 + HN_DEVICE_MAP_DIM];
	struct hn_buf text, list;

	hn_buf_init(&text);
	hn_buf_init(&list);
	hn_buf_puts(&text, code);
	hn_buf_puts(&list, operands);
	for (unsigned i = 0; i < n; i++) {
		type[i] = LLVMTypeOf(arg[i]);
	}
	hn_gpu_ptx_run(g, &text, &list, LLVMVoidTypeInContext(gpu_ptx_of(g)->ctx), type, arg, n);
	hn_buf_fini(&text);
	hn_buf_fini(&list);
}

void hn_gpu_ptx_mbarrier(struct gpu *g, const struct gpu_at *at, int64_t count)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef arg[] = { address(g, at), LLVMConstInt(p->i32, (uint64_t)count, 0) };

	run(g,
	    "{\n.reg .b32 x, y;\n.reg .pred q;\nmov.u32 x, %tid.x;\nmov.u32 y, %tid.y;\nor.b32 x, x, "
	    "y;\nsetp.eq.u32 q, x, 0;\n@q mbarrier.init.shared::cta.b64 [$0], $1;\n}",
	    "r,r,~{memory}", arg, 2);
}

void hn_gpu_ptx_registers(struct gpu *g, int64_t n, bool more)
{
	char code[80];

	snprintf(code, sizeof(code), "setmaxnreg.%s.sync.aligned.u32 %" PRId64 ";",
		 more ? "inc" : "dec", n);
	run(g, code, "~{memory}", NULL, 0);
}

void hn_gpu_ptx_await(struct gpu *g, const struct gpu_at *at, gpu_val parity)
{
	LLVMValueRef arg[] = { address(g, at), (LLVMValueRef)(uintptr_t)parity };

	run(g,
	    "{\n.reg .pred q;\nhn_wait_${:uid}:\nmbarrier.try_wait.parity.shared::cta.b64 q, [$0], "
	    "$1;\n@!q bra hn_wait_${:uid};\n}",
	    "r,r,~{memory}", arg, 2);
}

#define FIRST_LANE "mov.u32 x, %laneid;\nsetp.eq.u32 q, x, 0;\n"

void hn_gpu_ptx_arrive(struct gpu *g, const struct gpu_at *at)
{
	LLVMValueRef arg[] = { address(g, at) };

	run(g,
	    "{\n.reg .b32 x;\n.reg .pred q;\n" FIRST_LANE
	    "@q mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
	    "r,~{memory}", arg, 1);
}

void hn_gpu_ptx_expect(struct gpu *g, const struct gpu_at *at, int64_t bytes)
{
	const struct gpu_ptx *p = g->own;
	LLVMValueRef arg[] = { address(g, at), LLVMConstInt(p->i32, (uint64_t)bytes, 0) };

	run(g, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}", arg, 2);
}

void hn_gpu_ptx_bulk(struct gpu *g, int32_t map, const struct gpu_at *to, const gpu_val *from,
		     const struct gpu_at *mbarrier)
{
	const struct gpu_ptx *p = g->own;
	uint32_t n = g->d->map[map].n_dim;
	LLVMValueRef arg[3 + HN_DEVICE_MAP_DIM] = {
		address(g, to), LLVMBuildPtrToInt(p->b, p->map[map], p->i64, ""),
		address(g, mbarrier)
	};
	struct hn_buf code, operands;

	hn_buf_init(&code);
	hn_buf_init(&operands);
	hn_buf_printf(&code,
		      "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::"
		      "bytes [$0], [$1, {", n);
	hn_buf_puts(&operands, "r,l,r");
	for (uint32_t d = 0; d < n; d++) { /* the last dimension comes first */
		arg[3 + d] = (LLVMValueRef)(uintptr_t)from[n - 1 - d];
		hn_buf_printf(&code, "%s$%u", d > 0 ? ", " : "", 3 + d);
		hn_buf_puts(&operands, ",r");
	}
	hn_buf_puts(&code, "}], [$2];");
	hn_buf_puts(&operands, ",~{memory}");
	run(g, code.s, operands.s, arg, 3 + n);
	hn_buf_fini(&code);
	hn_buf_fini(&operands);
}

/* Registers: turn, stage, phase; the mbarrier that is full, that which is given back. */
static void put_turns(const struct gpu_turns *t, const int64_t far[2], int64_t n, struct hn_buf *out)
{
	hn_buf_puts(out, "{\n.reg .b64 a, b, left, right;\n.reg .b32 t, s, f, x, m, e;\n"
			 ".reg .pred p, q, r, lane;\nsetp.eq.u32 p, 0, 0;\nmov.u32 x, %laneid;\n"
			 "setp.eq.u32 lane, x, 0;\nmov.u32 t, 0;\n");
	hn_buf_printf(out,
		      "mov.u32 e, $%" PRId64 ";\nmov.u32 s, $%" PRId64 ";\nmov.u32 f, $%" PRId64
		      ";\n", n + 3, n + 4, n + 5);
	hn_buf_printf(out,
		      "hn_turn_${:uid}:\nshl.b32 m, s, 3;\nadd.u32 m, m, $%" PRId64
		      ";\nhn_wait_${:uid}:\nmbarrier.try_wait.parity.shared::cta.b64 q, [m], f;\n"
		      "@!q bra hn_wait_${:uid};\n", n + 2);
	for (int i = 0; i < 2; i++) {
		const char *to = i == 0 ? "left" : "right";

		hn_buf_printf(out,
			      "mul.wide.u32 %s, s, %" PRId64 ";\nadd.s64 %s, %s, $%" PRId64 ";\n", to,
			      far[i] / 16, to, to, n + i);
	}
	hn_buf_puts(out, "wgmma.fence.sync.aligned;\n");
	for (int64_t i = 0; i < t->w->steps; i++) {
		hn_gpu_ptx_put_step(t->w, i, "left", "right", out);
	}
	hn_buf_printf(out,
		      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"
		      "setp.ne.u32 q, t, 0;\nand.pred q, q, lane;\n"
		      "@q mbarrier.arrive.shared::cta.b64 _, [e];\n"
		      "shl.b32 e, s, 3;\nadd.u32 e, e, $%" PRId64 ";\n"
		      "add.u32 s, s, 1;\nsetp.eq.u32 r, s, %" PRId64 ";\n"
		      "@r mov.u32 s, 0;\n@r xor.b32 f, f, 1;\n"
		      "add.u32 t, t, 1;\nsetp.lt.u32 r, t, %" PRId64 ";\n@r bra hn_turn_${:uid};\n"
		      "wgmma.wait_group.sync.aligned 0;\n}",
		      n + 3, t->n_stage, t->n_turn);
}

void hn_gpu_ptx_turns(struct gpu *g, const struct gpu_turns *t)
{
	int64_t bytes = (int64_t)hn_dtype_bytes(t->w->intrin->left);
	const int64_t far[2] = { t->step[0] * bytes, t->step[1] * bytes };
	LLVMValueRef from[] = { hn_gpu_ptx_descriptor(g, &t->from[0], &t->w->lies[0]),
				hn_gpu_ptx_descriptor(g, &t->from[1], &t->w->lies[1]),
				address(g, &t->full), address(g, &t->empty),
				(LLVMValueRef)(uintptr_t)t->stage,
				(LLVMValueRef)(uintptr_t)t->phase };
	struct hn_buf code;

	hn_buf_init(&code);
	put_turns(t, far, t->w->columns / 2, &code);
	hn_gpu_ptx_with_sums(g, t->w, &t->sum, from, 6, ",l,l,r,r,r,r", &code);
	hn_buf_fini(&code);
}
