/* The loss that ranks: its derivatives against finite differences, and what it must not see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "costmodel/loss.h"

#define N 60

struct bed {
	struct hn_arena a;
	struct hn_loss loss;
	uint32_t task[N];
	double ns[N], weight[N], time[N], grad[N], hess[N];
};

/* Three tasks whose programs are mixed; every seventh program has no part; one task has one
 * program alone. */
static void make(struct bed *b)
{
	struct hn_rng rng = hn_rng_stream(5, 0, 0, 0);

	for (uint32_t i = 0; i < N; i++) {
		b->task[i] = i < 3 ? i : i % 2;
		b->ns[i] = 1e5 * exp(2 * hn_rng_unit(&rng) + 3 * b->task[i]);
		b->time[i] = b->ns[i] * exp(hn_rng_unit(&rng) - 0.5) / 7;
		b->weight[i] = i % 7 == 3 ? 0 : 0.1 + hn_rng_unit(&rng);
	}
	b->ns[4] = b->ns[6] * 1.01; /* hardly told apart */
	b->ns[8] = b->ns[10];
	hn_arena_init(&b->a, 0);
	hn_loss_init(&b->loss, N, b->task, b->ns, b->weight, &b->a);
}

static double at(struct bed *b, uint32_t i, double by, double *grad)
{
	double time[N], g[N], h[N];

	memcpy(time, b->time, sizeof time);
	time[i] *= exp(by);
	double loss = 0;

	hn_loss(&b->loss, time, 3, 9, g, h, &loss);

	*grad = g[i];
	return loss;
}

static void derivatives(void **state)
{
	struct bed b;
	double step = 1e-4, most = 0, loss = 0;

	(void)state;
	make(&b);
	hn_loss(&b.loss, b.time, 3, 9, b.grad, b.hess, &loss);
	assert_true(loss > 0);
	for (uint32_t i = 0; i < N; i++) {
		double g_up, g_down;
		double up = at(&b, i, step, &g_up), down = at(&b, i, -step, &g_down);

		if (fabs((up - down) / (2 * step) - b.grad[i]) > 1e-6 ||
		    fabs((g_up - g_down) / (2 * step) - b.hess[i]) > 1e-6) {
			fail_msg("program %u: %g and %g; by differences %g and %g", i, b.grad[i],
				 b.hess[i], (up - down) / (2 * step),
				 (g_up - g_down) / (2 * step));
		}
		most = fmax(most, fabs(b.grad[i]));
		assert_true((b.weight[i] > 0 && i != 2) == (b.hess[i] > 0));
	}
	assert_true(most > 0.1);
	hn_arena_fini(&b.a);
}

/* What one task takes as a whole, measured or predicted, is nothing to learn. */
static void tasks_are_not_compared(void **state)
{
	struct bed b;
	double grad[N], hess[N], was = 0, is = 0;

	(void)state;
	make(&b);
	hn_loss(&b.loss, b.time, 3, 9, b.grad, b.hess, &was);
	for (uint32_t i = 0; i < N; i++) {
		b.ns[i] *= b.task[i] == 1 ? 16 : 1;
		b.time[i] *= b.task[i] == 0 ? 4 : 1;
	}
	hn_loss_init(&b.loss, N, b.task, b.ns, b.weight, &b.a);
	hn_loss(&b.loss, b.time, 3, 9, grad, hess, &is);

	assert_true(fabs(is / was - 1) < 1e-12);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(fabs(grad[i] - b.grad[i]) < 1e-12);
	}
	hn_arena_fini(&b.a);
}

/* Over many rounds every pair has its turn: downhill ends in the order that was measured. */
static void downhill_is_the_order(void **state)
{
	struct bed b;
	uint32_t wrong = 0, pairs = 0;

	(void)state;
	make(&b);
	for (uint32_t round = 0; round < 3000; round++) {
		hn_loss(&b.loss, b.time, 3, round, b.grad, b.hess, NULL);
		for (uint32_t i = 0; i < N; i++) {
			b.time[i] *= exp(-0.1 * b.grad[i]);
		}
	}
	for (uint32_t i = 0; i < N; i++) {
		for (uint32_t k = 0; k < N; k++) {
			if (b.task[i] == b.task[k] && b.weight[i] > 0 && b.weight[k] > 0 &&
			    b.ns[i] < b.ns[k] * 0.97) {
				pairs++;
				wrong += b.time[i] >= b.time[k];
			}
		}
	}
	assert_true(pairs > 400);
	assert_int_equal(wrong, 0);
	hn_arena_fini(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derivatives),
		cmocka_unit_test(tasks_are_not_compared),
		cmocka_unit_test(downhill_is_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
