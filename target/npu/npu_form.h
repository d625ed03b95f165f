/* target/npu/npu_form.h -- numbers that follow from a program's sizes: sums, differences and products of
 * sizes and numbers, quotients and rests by numbers.
 */
#ifndef HN_TARGET_NPU_NPU_FORM_H
#define HN_TARGET_NPU_NPU_FORM_H

#include "target/npu/npu.h"

enum hn_npu_form_op {
	HN_NPU_FORM_NUMBER, HN_NPU_FORM_SIZE, HN_NPU_FORM_ADD, HN_NPU_FORM_SUB, HN_NPU_FORM_MUL,
	HN_NPU_FORM_DIV, HN_NPU_FORM_MOD
};

struct hn_npu_form {
	uint8_t op; /* enum hn_npu_form_op */
	int64_t number; /* NUMBER; SIZE: which one.  What DIV and MOD divide by is a NUMBER of 1 or more */
	const struct hn_npu_form *a, *b;
};

#define HN_NPU_FORM_DEPTH 24 /* of what is read */

const struct hn_npu_form *hn_npu_form_number(int64_t n, struct hn_arena *a);
const struct hn_npu_form *hn_npu_form_size(uint32_t size, struct hn_arena *a);
/* Numbers are computed at once, and 1 x, x / 1 and 0 + x are x. */
const struct hn_npu_form *hn_npu_form(enum hn_npu_form_op op, const struct hn_npu_form *x,
				      const struct hn_npu_form *y, struct hn_arena *a);
bool hn_npu_form_equal(const struct hn_npu_form *x, const struct hn_npu_form *y);

/* Where the sizes have these values; false: it leaves the integers of 64 bits. */
bool hn_npu_form_value(const struct hn_npu_form *f, const int64_t *size, int64_t *ret);

void hn_npu_form_print(const struct hn_npu_size *size, const struct hn_npu_form *f, struct hn_buf *b);
void hn_npu_where_print(const struct hn_npu_program *p, const struct hn_npu_where *w, struct hn_buf *b);
extern const char *const hn_npu_relation_word[3];

#endif
