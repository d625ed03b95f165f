/* The inner loops of a listing and the classes of their instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "client/asm.h"

static const char listing[] = "kernel:\n"
			      "\t.cfi_startproc\n"
			      "\txorl\t%eax, %eax\n"
			      ".LBB0_1:\n"
			      "\tmovq\t%rax, %rcx\n"
			      "\t.p2align\t4\n"
			      ".LBB0_2:\n"
			      "\tvbroadcastss\t(%rdi,%rcx,4), %zmm1\n"
			      "\tvmovups\t(%rsi), %zmm2 {%k1} {z}\n"
			      "\tvmovaps\t%zmm2, %zmm5\n"
			      "\tvfmadd231ps\t%zmm2, %zmm1, %zmm0\n"
			      "\tvfmadd231ps\t64(%rsi), %zmm1, %zmm3\n"
			      "\tvmovups\t%zmm4, 128(%rsp)\n"
			      "\tprefetcht0\t512(%rsi)\n"
			      "\tincq\t%rcx\n"
			      "\tjne\t.LBB0_2\n"
			      "\tje\t.LBB0_9\n"
			      ".LBB0_3:\n"
			      "\tvmovups\t%zmm0, (%rdx) {%k1}\n"
			      "\tvmaxps\t%zmm0, %zmm0, %zmm1\n"
			      "\tvpermps\t%zmm0, %zmm1, %zmm2\n"
			      "\tjne\t.LBB0_3\n"
			      "\tjne\t.LBB0_1\n"
			      ".LBB0_9:\n"
			      "\tretq\n";

static void inner_loops_and_their_mix(void **state)
{
	struct hn_asm_loop *loop;
	struct hn_arena a;
	struct hn_buf b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	assert_int_equal(hn_asm_loops(listing, &a, &loop), 2);
	assert_memory_equal(loop[0].text, ".LBB0_2:", 8);
	assert_memory_equal(loop[1].text, ".LBB0_3:", 8);
	hn_asm_print_mix(&loop[0], &b);
	hn_buf_putc(&b, '\n');
	hn_asm_print_mix(&loop[1], &b);
	assert_string_equal(
		b.s,
		"9 instructions: 2 fused multiply-add, 1 broadcast, 1 vector load, 1 "
		"vector store, 1 shuffle or select, 1 prefetch, 1 branch, 1 scalar; 1 "
		"of the arithmetic read memory; 1 touch the stack\n"
		"4 instructions: 1 other vector arithmetic, 1 vector store, 1 shuffle "
		"or select, 1 branch");
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

static void listings_without_loops(void **state)
{
	static const char *const none[] = {
		"",
		"\n",
		"ret",
		"\tjmp\t.LBB0_1\n",
		".LBB0_1:\n",
		"\tj\n.L",
		"\tjmp\t*%rax\n",
	};
	struct hn_asm_loop *loop;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(none); i++) {
		assert_int_equal(hn_asm_loops(none[i], &a, &loop), 0);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inner_loops_and_their_mix),
		cmocka_unit_test(listings_without_loops),
	};

	return cmocka_run_group_tests_name("client asm", tests, NULL, NULL);
}
