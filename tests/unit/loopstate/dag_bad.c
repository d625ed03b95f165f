/* Every refusal of compute-dag/1: one small file in tests/data/bad, its error class and
 * the part of the message that names the place and the fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/file.h"
#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"

struct bad {
	const char *name;
	int code;
	uint64_t max_bytes;
	const char *message;
};

static const struct bad table[] = {
	{ "truncated", HONE_E_INVALID, 0, "truncated.json:1:" },
	{ "not_an_object", HONE_E_INVALID, 0,
	  "expected the name of the computation, found '['" },
	{ "format", HONE_E_VERSION, 0, "'format' must be \"compute-dag/1\"" },
	{ "no_ops", HONE_E_INVALID, 0, "'ops' is missing" },
	{ "empty_ops", HONE_E_INVALID, 0, "there is no op 'B'" },
	{ "no_args", HONE_E_INVALID, 0, "'inputs_outputs' is missing" },
	{ "unknown_node", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0][1]: unknown node 'shift'" },
	{ "not_a_node", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0][1]: expected an expression" },
	{ "unknown_op", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: load: there is no op 'Z'" },
	{ "self_cycle", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: load: the op reads itself (a cycle)" },
	{ "cycle", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: load: reads 'C', which comes later (a cycle" },
	{ "index_count", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: load(A): 2 indices, the tensor has 1 dimensions" },
	{ "duplicate_id", HONE_E_INVALID, 0,
	  "ops[1] (A): duplicate id, ops[0] has it too" },
	{ "duplicate_axis", HONE_E_INVALID, 0,
	  "ops[1] (B).axes[1]: duplicate axis name 'i'" },
	{ "duplicate_reduce_axis", HONE_E_INVALID, 0,
	  "ops[1] (B).reduce_axes[1]: duplicate axis name 'r'" },
	{ "extent_zero", HONE_E_INVALID, 0,
	  "ops[0] (A): shape[1]: extent 0, at least 1 is needed" },
	{ "extent_negative", HONE_E_INVALID, 0, "ops[1] (B): shape[0]: extent -3" },
	{ "reduce_extent_zero", HONE_E_INVALID, 0,
	  "ops[1] (B).reduce_axes[0] (r): extent 0" },
	{ "extent_2_40", HONE_E_QUOTA, (uint64_t)1 << 30,
	  "ops[0] (A): the tensor needs 4 TiB (4398046511104 bytes), the limit is 1 "
	  "GiB" },
	{ "product_2_62", HONE_E_INVALID, 0,
	  "ops[0] (A).shape: the product of the extents passes 2^62" },
	{ "axes_product", HONE_E_INVALID, 0,
	  "ops[1] (B): the product of all axes' extents passes 2^62" },
	{ "memory_total", HONE_E_QUOTA, 1000,
	  "arguments and intermediates need 1.562 KiB (1600 bytes) together, the limit "
	  "is 1000 B" },
	{ "index_high", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0].load(A) index 0: reaches 4, the extent is 4" },
	{ "index_low", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0].load(A) index 0: reaches -1, the extent is 4" },
	{ "index_select", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0].load(A) index 0: reaches -1" },
	{ "index_wrong_side", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0].load(A) index 0: may reach -1" },
	{ "index_guard_off_by_one", HONE_E_INVALID, 0,
	  "index 0: may reach 4, the extent is 4" },
	{ "index_source", HONE_E_INVALID, 0,
	  "ops[1] (B).source[0].load(A) index 1: reaches 4, the extent is 4" },
	{ "index_data", HONE_E_UNSUPPORTED, 0,
	  "ops[2] (B).body[0].load(A) index 0: depends on data" },
	{ "index_float", HONE_E_INVALID, 0,
	  "load: index 0 is float32, an integer is needed" },
	{ "divide_zero", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0][2]: floordiv: divides by zero" },
	{ "divide_axis", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: floormod: the divisor reaches 0" },
	{ "too_deep", HONE_E_INVALID, 0, "nested deeper than 250" },
	{ "operand_types", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: add: operands are float32 and int32" },
	{ "body_type", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: the expression is int32, float32 is needed" },
	{ "condition_type", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0]: if: the condition is int32, bool is needed" },
	{ "sides", HONE_E_INVALID, 0, "select: the two sides are float32 and int32" },
	{ "unknown_var", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0][2]: variable 'q' is not an axis of this op" },
	{ "unknown_fn", HONE_E_UNSUPPORTED, 0,
	  "call: function 'frobnicate' is not supported" },
	{ "fn_arity", HONE_E_INVALID, 0, "call: exp takes 1 arguments, 2 are given" },
	{ "fn_int", HONE_E_INVALID, 0, "call: exp is for floats, not int32" },
	{ "node_arity", HONE_E_INVALID, 0, "add takes 2 arguments, 1 are given" },
	{ "dtype", HONE_E_UNSUPPORTED, 0,
	  "ops[0] (A): dtype 'float8' is not supported" },
	{ "int_range", HONE_E_INVALID, 0, "int: 300 does not fit uint8" },
	{ "float_range", HONE_E_INVALID, 0, "float: 1e+300 does not fit float32" },
	{ "kind", HONE_E_INVALID, 0, "ops[0] (A): unknown kind 'tensor'" },
	{ "no_id", HONE_E_INVALID, 0, "ops[0]: an op needs an 'id' or a 'name'" },
	{ "axis_shape", HONE_E_INVALID, 0,
	  "ops[1] (B).axes[0] (i): extent 4, shape[0] is 5" },
	{ "axis_count", HONE_E_INVALID, 0, "ops[1] (B).axes: 1 axes for 2 dimensions" },
	{ "axis_start", HONE_E_UNSUPPORTED, 0, "ops[1] (B).axes[0] (i): starts at 1" },
	{ "rank", HONE_E_INVALID, 0,
	  "ops[0] (A): 'shape' has 17 items, at most 16 are allowed" },
	{ "reduce_no_axis", HONE_E_INVALID, 0, "ops[1] (B): reduces over no axis" },
	{ "axis_no_reduce", HONE_E_INVALID, 0,
	  "ops[1] (B): has reduce_axes, but its body reduces nothing" },
	{ "reduce_init", HONE_E_UNSUPPORTED, 0,
	  "ops[1] (B).body[0]: a reduction with 'init' is not supported" },
	{ "value_index", HONE_E_INVALID, 0, "ops[1] (B).body[0]: value_index must be 0" },
	{ "combiner_scope", HONE_E_INVALID, 0,
	  "ops[1] (B).body[0].reduce.result[0][2][2]: variable 'i' is not an argument of "
	  "the combiner" },
	{ "identity", HONE_E_INVALID, 0, "ops[1] (B).identity[0]: must be a constant" },
	{ "missing_output", HONE_E_INVALID, 0,
	  "inputs_outputs: 'C' is missing: nobody reads it, so it is an output" },
	{ "missing_input", HONE_E_INVALID, 0,
	  "inputs_outputs: 'A' is missing: it is an input" },
	{ "unknown_arg", HONE_E_INVALID, 0, "inputs_outputs[2]: there is no op 'Z'" },
	{ "arg_order", HONE_E_INVALID, 0,
	  "inputs_outputs[1] (A): inputs come first, then outputs" },
	{ "arg_twice", HONE_E_INVALID, 0,
	  "inputs_outputs[1]: 'A' is listed twice or out of order" },
	{ "no_output", HONE_E_INVALID, 0, "inputs_outputs: no output" },
	{ "which_output", HONE_E_INVALID, 0,
	  "ops[2] (B).body[0]: load: 'T' has several outputs; say 'T.v0'" },
	{ "some_outputs", HONE_E_INVALID, 0,
	  "inputs_outputs: 'T' is listed 1 times, has 2 outputs" },
	{ "control_name", HONE_E_INVALID, 0,
	  "id and name must be 1 to 128 of letters, digits" },
};

static int parse_file(const struct bad *b, struct hn_arena *a, const struct hn_dag **ret,
		      struct hn_err *err)
{
	char path[512], what[128];
	struct hn_buf text;

	snprintf(path, sizeof(path), "%s/tests/data/bad/%s.json", HONE_SOURCE_DIR,
		 b->name);
	snprintf(what, sizeof(what), "%s.json", b->name);
	hn_buf_init(&text);
	assert_int_equal(hn_file_read(path, 1 << 20, &text, err), 0);
	int rc = hn_dag_parse(what, text.s, text.n, b->max_bytes, a, ret, err);

	hn_buf_fini(&text);
	return rc;
}

/* Whether the file is refused as the table says; prints what it got otherwise. */
static bool refused(const struct bad *b)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = parse_file(b, &a, &dag, &err);
	bool right = rc == -b->code && dag == NULL && strchr(err.msg, '\n') == NULL &&
		     strncmp(err.msg, b->name, strlen(b->name)) == 0 &&
		     strstr(err.msg, b->message) != NULL;

	if (!right) {
		print_error("%s: rc %d, wanted %d \"%s\"\n  got \"%s\"\n", b->name, rc,
			    -b->code, b->message, err.msg);
	}
	hn_arena_fini(&a);
	return right;
}

static void refuse_each(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		n_wrong += !refused(&table[i]);
	}
	assert_int_equal(n_wrong, 0);
}

/* No prefix and no single changed byte of a valid document may crash the reader. */
static void survive_damage(void **state)
{
	char path[512];
	struct hn_buf text;

	(void)state;
	hn_buf_init(&text);
	snprintf(path, sizeof(path), "%s/examples/softmax.json", HONE_SOURCE_DIR);
	assert_int_equal(hn_file_read(path, 1 << 20, &text, NULL), 0);
	for (size_t i = 0; i < text.n; i++) {
		static const char swap[] = "0]{\"9-";
		const struct hn_dag *dag;
		struct hn_arena a;
		char kept = text.s[i];

		hn_arena_init(&a, 0);
		assert_int_not_equal(
			i < text.n - 1 ? hn_dag_parse("t", text.s, i, 0, &a, &dag, NULL)
				       : -1,
			0);
		text.s[i] = swap[i % (sizeof(swap) - 1)];
		(void)!hn_dag_parse("t", text.s, text.n, 1 << 30, &a, &dag, NULL);
		text.s[i] = kept;
		hn_arena_fini(&a);
	}
	hn_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuse_each),
		cmocka_unit_test(survive_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
