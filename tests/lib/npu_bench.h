/* npu_bench.h -- a program for the small NPU as text, and its run: what tests of the machine share. */
#ifndef HN_TESTS_NPU_BENCH_H
#define HN_TESTS_NPU_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/npu/npu_run.h"

struct bench {
	struct hn_arena a;
	struct hn_npu_profile m;
	const struct hn_npu_program *p;
	struct hn_npu_options o;
	struct hn_npu_result r;
	struct hn_err err;
	void *gm[4];
};

static inline void read_text(struct bench *b, const char *text)
{
	*b = (struct bench){ .o.judge = true };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &b->m, &b->err), 0);
	if (hn_npu_parse("t", text, strlen(text), &b->a, &b->p, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, text);
	}
	for (uint32_t i = 0; i < b->p->n_buffer; i++) {
		b->gm[i] = hn_arena_alloc(&b->a, (size_t)b->p->buffer[i].bytes);
	}
	b->o.gm = b->gm;
}

static inline void run(struct bench *b)
{
	if (hn_npu_run(b->p, &b->m, &b->o, &b->a, &b->r, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
}

#endif
