/* lower/npu/vector_move.c -- loads and stores of a tile's values, and where in global memory they are.
 *
 * What lies in a row on both sides is a burst.  Bursts along one dimension are a transfer; other
 * dimensions are transfers one after the other.  What a core's part adds to an address is in a
 * register, one for all values whose parts are as far apart.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/arith.h"
#include "lower/npu/vector_text.h"

#define MOST_BURSTS 65535
#define MOST_BYTES ((int64_t)1 << 24)
#define MOST_APART ((int64_t)1 << 30)
#define FIRST_REGISTER 3 /* r0 to r2: the core, and its places along what is shared */

struct bursts { /* along a dimension */
	int64_t n, memory, buffer; /* how many, bytes apart */
};

/* -- where a core's part begins --------------------------------------------------------- */

static int64_t apart(const struct vec *x, const struct vec_value *v, int i)
{
	int32_t d = x->split[i];

	return d < 0 || !vec_has(v->dims, (uint32_t)d)
		       ? 0 : x->part[d] * v->stride[d] * (int64_t)hn_dtype_bytes((enum hn_dtype)v->dtype);
}

int vec_assign(struct vec *x)
{
	x->n_register = 0;
	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];
		int64_t a = apart(x, v, 0), b = apart(x, v, 1);
		uint32_t r = 0;

		v->reg = -1;
		if (v->arg < 0 || (a == 0 && b == 0)) {
			continue;
		}
		while (r < x->n_register && (x->apart[r][0] != a || x->apart[r][1] != b)) {
			r++;
		}
		if (r == VEC_REGISTERS) {
			return hn_fail(x->err, HONE_E_UNSUPPORTED, "arguments lie in more than %d ways",
				       VEC_REGISTERS);
		}
		x->n_register = r == x->n_register ? r + 1 : x->n_register;
		x->apart[r][0] = a;
		x->apart[r][1] = b;
		v->reg = (int8_t)(FIRST_REGISTER + r);
	}
	return 0;
}

static void put(struct vec_tile *t, const char *word, int to, int from, int64_t by)
{
	hn_buf_printf(t->text, "%s r%d r%d %" PRId64, word, to, from, by);
	vec_end_line(t);
}

void vec_registers(struct vec_tile *t)
{
	const struct vec *x = t->x;
	bool two = x->split[1] >= 0;

	hn_buf_puts(t->text, "core r0");
	vec_end_line(t);
	if (two) {
		put(t, "div", 1, 0, x->core[x->split[1]]);
		put(t, "mod", 2, 0, x->core[x->split[1]]);
	}
	for (uint32_t r = 0; r < x->n_register; r++) {
		int to = FIRST_REGISTER + (int)r;

		put(t, "mul", to, two ? 1 : 0, x->apart[r][0]);
		if (two && x->apart[r][1] != 0) {
			put(t, "mul", HN_NPU_REGISTERS - 1, 2, x->apart[r][1]);
			hn_buf_printf(t->text, "add r%d r%d r%d", to, to, HN_NPU_REGISTERS - 1);
			vec_end_line(t);
		}
	}
}

/* -- transfers -------------------------------------------------------------------------- */

static void one(struct vec_tile *t, bool in, int32_t v, int64_t memory, int64_t buffer, int64_t burst,
		const struct bursts *b)
{
	const struct vec_value *w = &t->x->v[v];
	char place[40], argument[60];

	snprintf(place, sizeof(place), "ub[%" PRId64 "]", buffer);
	if (w->reg < 0) {
		snprintf(argument, sizeof(argument), "a%d[%" PRId64 "]", w->arg, memory);
	} else {
		snprintf(argument, sizeof(argument), "a%d[r%d+%" PRId64 "]", w->arg, w->reg, memory);
	}
	hn_buf_printf(t->text, "%s %s %s", in ? "load" : "store", in ? place : argument, in ? argument : place);
	vec_named(t, "n", b->n, 1);
	hn_buf_printf(t->text, " burst %" PRId64, burst);
	if (b->n > 1) {
		int64_t room = hn_ceildiv(burst, HN_NPU_BLOCK) * HN_NPU_BLOCK;

		vec_named(t, in ? "from" : "to", b->memory, burst);
		vec_named(t, in ? "to" : "from", b->buffer, room);
	}
	vec_end_line(t);
}

static bool are_bursts(const struct bursts *b)
{
	return b->n > 1 && b->memory >= 0 && b->memory <= MOST_APART && b->buffer <= MOST_APART;
}

static void several(struct vec_tile *t, bool in, int32_t v, int64_t memory, int64_t burst,
		    const struct bursts *ways, uint32_t n)
{
	int64_t i[VEC_DIMS] = { 0 }, buffer = vec_address(t, v);
	uint32_t by = n;

	for (uint32_t k = 0; k < n; k++) {
		by = are_bursts(&ways[k]) && (by == n || ways[k].n > ways[by].n) ? k : by;
	}
	for (;;) {
		int64_t from = memory, to = buffer;
		uint32_t j = 0;

		for (uint32_t k = 0; k < n; k++) {
			from += i[k] * ways[k].memory;
			to += i[k] * ways[k].buffer;
		}
		for (int64_t r = 0, all = by < n ? ways[by].n : 1; r < all; r += MOST_BURSTS) {
			struct bursts b = { 1, 0, 0 };

			b = by < n ? ways[by] : b;
			b.n = all - r < MOST_BURSTS ? all - r : MOST_BURSTS;
			one(t, in, v, from + r * b.memory, to + r * b.buffer, burst, &b);
		}
		while (j < n && (j == by || ++i[j] == ways[j].n)) {
			i[j++] = 0;
		}
		if (j == n || t->n_insn > HN_NPU_MOST_INSNS) {
			return;
		}
	}
}

void vec_transfer(struct vec_tile *t, bool in, int32_t v)
{
	const struct vec *x = t->x;
	const struct vec_value *w = &x->v[v];
	int64_t size = vec_size(x, v), memory = w->offset * size, burst = size, room;
	bool rows = w->form == VEC_FULL || w->form == VEC_NUMBERS;
	struct bursts ways[VEC_DIMS];
	uint32_t n = 0;

	for (int i = 0; i < 2; i++) {
		memory += t->skip[i] * apart(x, w, i);
	}
	for (uint32_t d = x->n_dim; d-- > 0;) {
		struct bursts b = { t->n[d], w->stride[d] * size, vec_stride(t, v, d) };

		if (!vec_has(w->dims, d)) {
			continue;
		}
		memory += t->at[d] * b.memory;
		if (rows && burst == size && n == 0 && b.memory == size && b.buffer == size) {
			burst = b.n * size;
			continue;
		}
		/* part of the burst, or of the way before, where that makes no difference */
		room = hn_ceildiv(burst, HN_NPU_BLOCK) * HN_NPU_BLOCK;
		if (n == 0 && room == burst && b.memory == burst && b.buffer == burst && burst * b.n <= MOST_BYTES) {
			burst *= b.n;
		} else if (n > 0 && b.memory == ways[n - 1].memory * ways[n - 1].n &&
			   b.buffer == ways[n - 1].buffer * ways[n - 1].n) {
			ways[n - 1].n *= b.n;
		} else if (b.n > 1) {
			ways[n++] = b;
		}
	}
	several(t, in, v, memory, burst, ways, n);
}
