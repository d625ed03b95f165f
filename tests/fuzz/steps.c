/* tests/fuzz/steps.c -- steps, read and applied to a small program: each is refused or
 * leaves a sound state that has bounds or says why not, a preview and Python. */
#include "fuzz.h"

#include <string.h>

#include "loopstate/nest/bounds.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/te_text.h"

/* A convolution with what surrounds it: pad, reduction, a reader that can share tiles. */
static const char program[] =
	"f(float32 X[1,7,7,6], W[3,3,6,8], bias[8]) -> Y {"
	" P(n,h,w,c) = h >= 1 && h < 8 && w >= 1 && w < 8 ? X(n,h-1,w-1,c) : 0"
	" where h in 0:9, w in 0:9"
	" C(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f)"
	" Y(n,h,w,f) = max(C(n,h,w,f) + bias(f), 0) }";

static void apply(const struct hn_dag *dag, const struct hn_trace *trace,
		  enum hn_replay_mode mode, struct hn_arena *a)
{
	const struct hn_bounds *bounds;
	const struct hn_state *s;
	struct hn_state start;
	struct hn_buf buf;

	if (hn_state_replay_as(dag, trace, mode, a, &s, NULL) != 0) {
		return;
	}
	hn_state_check(s);
	hn_buf_init(&buf);
	if (hn_trace_complete(trace) && hn_bounds_infer(s, a, &bounds, NULL) == 0) {
		s = hn_bounds_apply(s, bounds, a);
	}
	hn_state_print(s, /* delete_trivial_loops= */ true, &buf);
	start = *hn_state_init(dag, a);
	start.mode = (uint8_t)mode;
	(void)!hn_te_print(&start, trace, a, &buf, NULL);
	hn_buf_fini(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct hn_trace *trace;
	const struct hn_dag *dag;
	struct hn_arena a;

	hn_arena_init(&a, (size_t)64 << 20);
	hn_assert(hn_dag_from_text("f", program, strlen(program), 0, &a, &dag, NULL) ==
		  0);
	if (hn_trace_parse("fuzz", (const char *)data, n, &a, &trace, NULL) == 0) {
		hn_fuzz_trace(trace);
		apply(dag, trace, HN_REPLAY_RIGHT, &a);
		apply(dag, trace, HN_REPLAY_ANSOR, &a);
	}
	hn_arena_fini(&a);
	return 0;
}
