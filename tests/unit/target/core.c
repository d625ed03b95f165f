/* The model of a core: which of its limits binds, and that the code generator's plan keeps to
 * the registers it grants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arith.h"
#include "target/cpu/core.h"
#include "target/cpu/tile.h"

static void the_least_of_its_limits_binds(void **state)
{
	const struct hn_core c = { .registers = 16, .fma_per_cycle = 2, .fma_latency = 4 };

	(void)state;
	assert_float_equal(hn_core_cycles(&c, 12, 8, HN_CORE_LOADS), 6, 0); /* FMA units */
	assert_float_equal(hn_core_cycles(&c, 2, 20, HN_CORE_LOADS), 10, 0); /* load ports */
	assert_float_equal(hn_core_cycles(&c, 2, 20, 1), 20, 0);
	assert_float_equal(hn_core_cycles(&c, 14, 14, HN_CORE_LOADS), 7.25, 0); /* issue */
	assert_float_equal(hn_core_cycles(&c, 4, 3, HN_CORE_LOADS), 4, 0); /* latency */
	assert_int_equal(hn_core_results(&c, 3), 12); /* 4 rows by 3 vectors: the classical tile */
}

/* C(i,j) += A(i,k) * B(k,j), rows by columns by 64. */
static void plan_of(const struct hn_target *t, int64_t rows, int64_t columns,
		    struct hn_tile_dim dim[3], struct hn_tile *n)
{
	static int64_t stride[3][3];
	const int64_t extent[3] = { rows, columns, 64 };

	for (int d = 0; d < 3; d++) {
		dim[d] = (struct hn_tile_dim){ .extent = extent[d],
					       .reduce = d == 2,
					       .init = d == 2,
					       .stride = stride[d] };
	}
	stride[0][0] = columns; /* C, A, B along i */
	stride[0][1] = 64;
	stride[1][0] = stride[1][2] = 1; /* along j */
	stride[2][1] = 1;		 /* along k */
	stride[2][2] = columns;
	*n = (struct hn_tile){ .n_dim = 3,
			       .dim = dim,
			       .n_load = 2,
			       .elem_bytes = 4,
			       .update = true,
			       .init = true };
	hn_tile_choose(n, t);
}

static void plans_stay_in_registers(void **state)
{
	struct hn_tile_dim dim[3];
	struct hn_target t;
	struct hn_arena a;
	struct hn_tile n;
	struct hn_err err;
	int64_t most = 0;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2", &a, &t, &err), 0);
	for (int64_t registers = 8; registers <= 32; registers *= 2) {
		t.param[HN_PARAM_VECTOR_REGISTERS] = registers;
		struct hn_core core = hn_core_of(&t);

		for (int64_t e = 0; e < 40 * 40; e++) {
			plan_of(&t, 1 + e / 40, 1 + 3 * (e % 40), dim, &n);
			bool lanes = n.n_chain > 0 && n.chain[0] == &dim[1];
			int64_t v = lanes ? hn_ceildiv(dim[1].block, n.width) : 1;
			int64_t points = n.points;

			if (lanes) {
				assert_int_equal(points, v * dim[0].block);
				assert_true(points == 1 || points <= hn_core_results(&core, v));
			}
			most = points > most ? points : most;
		}
		assert_true(most > registers / 2); /* and they use them */
	}
	hn_arena_fini(&a);
}

/* Four rows of A by panels of B whose rows are `columns` groups: what is loaded of a panel's row is
 * all of it, for rows in parts would be a stream of short pieces each. */
static void rows_of_panels_stay_whole(void **state)
{
	struct hn_target t;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -mattr=+avx512vnni", &a, &t, &err),
			 0);
	for (int64_t columns = 16; columns <= 96; columns += 16) {
		/* C, A, B along panels, k, rows and columns */
		const int64_t stride[4][3] = { { columns, 0, 1024 * columns },
					       { 0, 1, columns },
					       { 4096, 1024, 0 },
					       { 1, 0, 1 } };
		const int64_t extent[4] = { 64, 1024, 4, columns };
		struct hn_tile_dim dim[4];

		for (int d = 0; d < 4; d++) {
			dim[d] = (struct hn_tile_dim){ .extent = extent[d],
						       .reduce = d == 1,
						       .init = d == 1,
						       .stride = stride[d] };
		}
		struct hn_tile n = { .n_dim = 4,
				     .dim = dim,
				     .n_load = 2,
				     .elem_bytes = 4,
				     .update = true,
				     .init = true,
				     .terms = true };

		hn_tile_choose(&n, &t);
		assert_true(dim[0].block == 1 || dim[3].block == columns);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_of_its_limits_binds),
		cmocka_unit_test(plans_stay_in_registers),
		cmocka_unit_test(rows_of_panels_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
