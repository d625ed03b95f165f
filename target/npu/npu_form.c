/* target/npu/npu_form.c -- forms over sizes: made, computed and printed. */
#include "target/npu/npu_form.h"

#include <inttypes.h>

#include "base/arith.h"

const char *const hn_npu_relation_word[3] = {
	[HN_NPU_EQ] = "==", [HN_NPU_LE] = "<=", [HN_NPU_GE] = ">=",
};

static const struct {
	char sign;
	int level; /* what binds more is greater */
} signs[] = {
	[HN_NPU_FORM_NUMBER] = { 0, 3 }, [HN_NPU_FORM_SIZE] = { 0, 3 }, [HN_NPU_FORM_ADD] = { '+', 1 },
	[HN_NPU_FORM_SUB] = { '-', 1 },	 [HN_NPU_FORM_MUL] = { '*', 2 }, [HN_NPU_FORM_DIV] = { '/', 2 },
	[HN_NPU_FORM_MOD] = { '%', 2 },
};

const struct hn_npu_form *hn_npu_form_number(int64_t n, struct hn_arena *a)
{
	struct hn_npu_form *f = HN_NEW(a, struct hn_npu_form);

	*f = (struct hn_npu_form){ .op = HN_NPU_FORM_NUMBER, .number = n };
	return f;
}

const struct hn_npu_form *hn_npu_form_size(uint32_t size, struct hn_arena *a)
{
	struct hn_npu_form *f = HN_NEW(a, struct hn_npu_form);

	*f = (struct hn_npu_form){ .op = HN_NPU_FORM_SIZE, .number = size };
	return f;
}

static bool two(enum hn_npu_form_op op, int64_t x, int64_t y, int64_t *ret)
{
	switch (op) {
	case HN_NPU_FORM_ADD:
		return !__builtin_add_overflow(x, y, ret);
	case HN_NPU_FORM_SUB:
		return !__builtin_sub_overflow(x, y, ret);
	case HN_NPU_FORM_MUL:
		return !__builtin_mul_overflow(x, y, ret);
	default:
		*ret = op == HN_NPU_FORM_DIV ? hn_floordiv(x, y) : hn_floormod(x, y);
		return true;
	}
}

static bool is_number(const struct hn_npu_form *f, int64_t n)
{
	return f->op == HN_NPU_FORM_NUMBER && f->number == n;
}

const struct hn_npu_form *hn_npu_form(enum hn_npu_form_op op, const struct hn_npu_form *x,
				      const struct hn_npu_form *y, struct hn_arena *a)
{
	struct hn_npu_form *f;
	int64_t n;

	if (x->op == HN_NPU_FORM_NUMBER && y->op == HN_NPU_FORM_NUMBER && two(op, x->number, y->number, &n)) {
		return hn_npu_form_number(n, a);
	}
	if ((op == HN_NPU_FORM_MUL && is_number(x, 1)) || (op == HN_NPU_FORM_ADD && is_number(x, 0))) {
		return y;
	}
	if (((op == HN_NPU_FORM_MUL || op == HN_NPU_FORM_DIV) && is_number(y, 1)) ||
	    ((op == HN_NPU_FORM_ADD || op == HN_NPU_FORM_SUB) && is_number(y, 0))) {
		return x;
	}
	f = HN_NEW(a, struct hn_npu_form);
	*f = (struct hn_npu_form){ .op = (uint8_t)op, .a = x, .b = y };
	return f;
}

bool hn_npu_form_equal(const struct hn_npu_form *x, const struct hn_npu_form *y)
{
	if (x->op != y->op || x->number != y->number) {
		return false;
	}
	return x->op <= HN_NPU_FORM_SIZE || (hn_npu_form_equal(x->a, y->a) && hn_npu_form_equal(x->b, y->b));
}

bool hn_npu_form_value(const struct hn_npu_form *f, const int64_t *size, int64_t *ret)
{
	int64_t x, y;

	if (f->op <= HN_NPU_FORM_SIZE) {
		*ret = f->op == HN_NPU_FORM_NUMBER ? f->number : size[f->number];
		return true;
	}
	return hn_npu_form_value(f->a, size, &x) && hn_npu_form_value(f->b, size, &y) &&
	       two((enum hn_npu_form_op)f->op, x, y, ret);
}

/* In brackets where the outside binds more than it does. */
static void part(const struct hn_npu_size *size, const struct hn_npu_form *f, int outside, struct hn_buf *b)
{
	int level = signs[f->op].level;

	if (f->op == HN_NPU_FORM_NUMBER) {
		hn_buf_printf(b, "%" PRId64, f->number);
		return;
	}
	if (f->op == HN_NPU_FORM_SIZE) {
		hn_buf_puts(b, size[f->number].name);
		return;
	}
	if (level < outside) {
		hn_buf_putc(b, '(');
	}
	part(size, f->a, level, b);
	hn_buf_putc(b, signs[f->op].sign);
	part(size, f->b, level + 1, b);
	if (level < outside) {
		hn_buf_putc(b, ')');
	}
}

void hn_npu_form_print(const struct hn_npu_size *size, const struct hn_npu_form *f, struct hn_buf *b)
{
	part(size, f, 0, b);
}

void hn_npu_where_print(const struct hn_npu_program *p, const struct hn_npu_where *w, struct hn_buf *b)
{
	hn_npu_form_print(p->size, w->left, b);
	hn_buf_printf(b, " %s ", hn_npu_relation_word[w->relation]);
	hn_npu_form_print(p->size, w->right, b);
}
