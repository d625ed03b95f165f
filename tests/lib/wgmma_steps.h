/* wgmma_steps.h -- schedules of products by warpgroups, for the tests of both ways of bringing in
 * factors. */
#ifndef HN_TESTS_WGMMA_STEPS_H
#define HN_TESTS_WGMMA_STEPS_H

/* Stages: A, A.shared, B, B.shared, C.local, C.  A block's tile is 128 rows, two warpgroups' 64 each,
 * of so many columns; the terms of a fetch are n times the instruction's. */
#define RESULTS(ins, tiles, n, terms)                                                              \
	"[[\"CHW\", 2, \"local\"], [\"SP\", 3, 0, 0, [2, 64], 1], [\"SP\", 3, 3, 0, [" tiles       \
	", 8], 1], [\"RE\", 3, [0, 3, 1, 4, 2, 5]], [\"AN\", 3, 0, 7], [\"AN\", 3, 1, 5], "         \
	"[\"AN\", 3, 2, 8], [\"SP\", 2, 0, 0, [64], 1], [\"SP\", 2, 2, 0, [8], 1], [\"SP\", 2, 4, " \
	"0, [" n ", " terms "], 1], [\"RE\", 2, [4, 5, 0, 2, 1, 3, 6]], [\"CA\", 2, 3, 2], "        \
	"[\"TE\", 2, [4, 5, 6], \"" ins "\"], [\"CHR\", 0, \"shared\", [2]], [\"CHR\", 2, "         \
	"\"shared\", [3]], [\"CA\", 1, 4, 0], [\"CA\", 3, 4, 0]"
/* The same where a block makes several tiles, one after the other: so many blocks. */
#define WAVES(ins, tiles, n, terms, blocks)                                                        \
	"[[\"CHW\", 2, \"local\"], [\"SP\", 3, 0, 0, [2, 64], 1], [\"SP\", 3, 3, 0, [" tiles       \
	", 8], 1], [\"RE\", 3, [0, 3, 1, 4, 2, 5]], [\"FU\", 3, [0, 1]], [\"SP\", 3, 0, 0, ["     \
	blocks "], 1], [\"RE\", 3, [1, 0, 2, 3, 4, 5]], [\"AN\", 3, 0, 5], [\"AN\", 3, 2, 8], "    \
	"[\"SP\", 2, 0, 0, [64], 1], [\"SP\", 2, 2, 0, [8], 1], [\"SP\", 2, 4, "                   \
	"0, [" n ", " terms "], 1], [\"RE\", 2, [4, 5, 0, 2, 1, 3, 6]], [\"CA\", 2, 3, 2], "        \
	"[\"TE\", 2, [4, 5, 6], \"" ins "\"], [\"CHR\", 0, \"shared\", [2]], [\"CHR\", 2, "         \
	"\"shared\", [3]], [\"CA\", 1, 4, 0], [\"CA\", 3, 4, 0]"
#define FETCH(stage, n)                                                                            \
	", [\"FU\", " stage ", [0, 1]], [\"SP\", " stage ", 0, 0, [2, 128, " n "], 1], [\"AN\", "   \
	stage ", 1, 8], [\"AN\", " stage ", 2, 6], [\"AN\", " stage ", 3, 2]"
#define TURN(stage, unit, bits, shift)                                                             \
	", [\"SW\", " stage ", 0, " unit ", " bits ", " shift "]"
#define AHEAD(stages) ", [\"PL\", 4, 0, " stages ", 2]"
#define OPEN(stages) ", [\"PL\", 4, 0, " stages ", 3]"

#define BF16 "wgmma_m64n8k16_bf16"
#define F16 "wgmma_m64n8k16_f16"
#define S8 "wgmma_m64n8k32_s8"

#endif
