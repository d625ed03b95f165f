/* Models that are slightly wrong: operators with other attributes, shapes, types and operands than
 * they are made for.  Each import ends in a graph whose every node is a computation, or in one line
 * that says why not.  The argument is how many models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "graph/import/import.h"
#include "graph/ir/op.h"
#include "graph/ir/text.h"
#include "tests/lib/onnx_writer.h"

#define MAX_OPERANDS 10
#define MAX_ATTRS 12
#define MAX_NUMBERS 10

/* Calls that are right: what is changed.  Operands: a type (f float32, h float16, d double, i int64,
 * j int32, u uint8, s int8, b bool), '=' where it is a constant, and its shape; "-" is left out.
 * A constant's numbers are behind ':'.  Attributes: ints, floats with '~', text with '='. */
static const struct row {
	int opset;
	const char *op, *operands, *attrs;
} rows[] = {
	{ 17, "Conv", "f1,4,6,6 f=4,2,3,3 f=4",
	  "group:2 pads:1,1,1,1 strides:2,1 dilations:1,2" },
	{ 17, "Conv", "f1,4,9 f=6,4,3", "auto_pad=SAME_LOWER strides:2" },
	{ 17, "ConvTranspose", "f1,4,5,5 f=4,2,3,3 f=4",
	  "group:2 strides:2,2 pads:1,1,0,1 output_padding:1,0" },
	{ 17, "ConvTranspose", "f1,2,5 f=2,3,3",
	  "output_shape:11 strides:2 auto_pad=SAME_UPPER" },
	{ 17, "Gemm", "f3,4 f=5,4 f=5", "transB:1 alpha~0.5 beta~2" },
	{ 17, "MatMul", "f2,1,3,4 f3,4,5", "" },
	{ 17, "MatMul", "h4 h4,5", "" },
	{ 17, "Einsum", "f2,3,4 f2,4,5", "equation=bij,b...k->b...ik" },
	{ 17, "Einsum", "f3,3", "equation=ii->i" },
	{ 17, "MaxPool", "f1,2,7,7",
	  "kernel_shape:3,2 strides:2,2 ceil_mode:1 pads:1,0,1,1" },
	{ 19, "AveragePool", "h1,2,7,7",
	  "kernel_shape:3,3 strides:2,2 count_include_pad:1 pads:1,1,1,1 ceil_mode:1" },
	{ 18, "LpPool", "f1,2,7,7", "kernel_shape:3,2 p:3" },
	{ 17, "GlobalAveragePool", "f1,2,4,4", "" },
	{ 17, "GlobalLpPool", "f1,2,4,4", "p:2" },
	{ 18, "ReduceMean", "f2,3,4 i=2:-1,0", "keepdims:0" },
	{ 13, "ReduceMax", "j2,3,4", "axes:1 keepdims:1" },
	{ 18, "ReduceLogSumExp", "f2,3,4 i=1:1", "noop_with_empty_axes:1" },
	{ 13, "ReduceProd", "b2,3", "" },
	{ 13, "ArgMax", "f2,3,4", "axis:-1 keepdims:0 select_last_index:1" },
	{ 13, "Hardmax", "f2,3", "axis:1" },
	{ 14, "CumSum", "f2,9 i=1:1", "exclusive:1 reverse:1" },
	{ 13, "Softmax", "f2,3,4", "axis:1" },
	{ 11, "LogSoftmax", "f2,3,4", "axis:1" },
	{ 17, "LayerNormalization", "f2,3,8 f=8 f=8", "axis:-1 epsilon~0.001" },
	{ 23, "RMSNormalization", "h2,3,8 h=8", "axis:2" },
	{ 17, "InstanceNormalization", "f2,3,4,4 f=3 f=3", "epsilon~0.1" },
	{ 21, "GroupNormalization", "f2,6,4,4 f=6 f=6", "num_groups:3" },
	{ 13, "MeanVarianceNormalization", "f2,3,4,4", "axes:0,2,3" },
	{ 13, "LpNormalization", "f2,3", "axis:-1 p:1" },
	{ 13, "LRN", "f1,5,4,4", "size:3 alpha~0.1 beta~0.7 bias~1" },
	{ 15, "BatchNormalization", "f2,3,4,4 f=3 f=3 f=3 f=3",
	  "epsilon~0.001 training_mode:0" },
	{ 14, "Reshape", "f2,3,4 i=3:0,-1,2", "allowzero:0" },
	{ 13, "Flatten", "f2,3,4", "axis:-1" },
	{ 13, "Squeeze", "f2,1,4 i=1:1", "" },
	{ 11, "Unsqueeze", "f2,4", "axes:0,-1" },
	{ 15, "Shape", "f2,3,4", "start:-2 end:9" },
	{ 13, "Size", "f2,3", "" },
	{ 9, "ConstantOfShape", "i=2:3,4", "" },
	{ 11, "Range", "i=:1 i=:9 i=:2", "" },
	{ 13, "Transpose", "f2,3,4", "perm:2,0,1" },
	{ 13, "Expand", "f3,1 i=3:2,1,5", "" },
	{ 13, "Slice", "f4,6 i=2:3,-1 i=2:-9,0 i=2:0,1 i=2:-1,-2", "" },
	{ 9, "Slice", "f4,6", "starts:1 ends:3 axes:1" },
	{ 13, "Split", "f4,6 i=2:2,4", "axis:1" },
	{ 18, "Split", "f4,7", "axis:1 num_outputs:2" },
	{ 13, "Concat", "f2,3 f2,1 f2,4", "axis:1" },
	{ 18, "Pad", "f2,3 i=4:1,-1,2,0 f=:2", "mode=constant" },
	{ 18, "Pad", "f4,5 i=4:1,2,3,7", "mode=reflect" },
	{ 19, "Pad", "f4,5 i=2:1,9 - i=1:1", "mode=wrap" },
	{ 13, "Gather", "f4,5 i2,3", "axis:1" },
	{ 13, "GatherElements", "f4,5 j2,5", "axis:0" },
	{ 13, "GatherND", "f4,5,6 i3,2", "batch_dims:0" },
	{ 11, "OneHot", "i3 i=:5 f=2", "axis:0" },
	{ 13, "Tile", "f2,3 i=2:3,2", "" },
	{ 14, "Trilu", "f4,5 i=:1", "upper:0" },
	{ 9, "EyeLike", "f4,5", "dtype:7 k:-1" },
	{ 13, "DepthToSpace", "f1,8,3,4", "blocksize:2 mode=CRD" },
	{ 13, "SpaceToDepth", "f1,2,4,6", "blocksize:2" },
	{ 18, "Resize", "f1,2,4,4 - f=4:1,1,2,1.6", "mode=linear antialias:1" },
	{ 19, "Resize", "f1,2,4,4 - - i=2:7,3",
	  "mode=cubic axes:2,3 coordinate_transformation_mode=align_corners "
	  "exclude_outside:1" },
	{ 13, "Resize", "u1,2,4,4 f=8:0,0,0.2,0.3,1,1,0.8,0.9 f=4:1,1,2,3",
	  "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value~3" },
	{ 9, "Upsample", "f1,2,4,4 f=4:1,1,2,2", "mode=nearest" },
	{ 21, "QuantizeLinear", "f4,6 f=2,6 s=2,6", "axis:0 block_size:2" },
	{ 13, "QuantizeLinear", "f4,6 f=6 u=6", "axis:1" },
	{ 13, "DequantizeLinear", "s4,6 f=4 s=4", "axis:0" },
	{ 11, "DynamicQuantizeLinear", "f4,6", "" },
	{ 10, "MatMulInteger", "u3,4 s=4,5 u s=5", "" },
	{ 10, "QLinearMatMul", "u3,4 f= u= s=4,5 f=5 s=5 f= u=", "" },
	{ 10, "ConvInteger", "u1,2,5,5 s=3,2,3,3 u=:3", "pads:1,1,1,1" },
	{ 10, "QLinearConv", "u1,2,5,5 f= u= s=3,2,3,3 f=3 s=3 f= u= j=3",
	  "pads:1,1,1,1" },
	{ 13, "Add", "f2,3 f3", "" },
	{ 13, "Div", "j2,3 j=3:2,0,-1", "" },
	{ 13, "Mod", "i2,3 i3", "fmod:1" },
	{ 15, "Pow", "j2,3 f=:2.5", "" },
	{ 11, "BitShift", "u3 u3", "direction=LEFT" },
	{ 13, "Clip", "f2,3 - f=:1", "" },
	{ 6, "Clip", "f2,3", "min~0.1 max~0.5" },
	{ 13, "Max", "f2,3 f3 f1", "" },
	{ 13, "Mean", "f2,3 f3", "" },
	{ 20, "Gelu", "h2,3", "approximate=tanh" },
	{ 13, "Cast", "f2,3", "to:10" },
	{ 16, "Where", "b2,1 f2,3 f3", "" },
	{ 13, "Equal", "b2,3 b3", "" },
	{ 16, "PRelu", "f2,3 f=3", "" },
	{ 9, "Shrink", "f2,3", "bias~0.1 lambd~0.7" },
	{ 20, "IsInf", "f2,3", "detect_negative:0" },
	{ 13, "Dropout", "f2,3 f=:0.5 b=:0", "" },
	{ 6, "LeakyRelu", "f2,3", "alpha~0.1" },
	{ 13, "Identity", "f2,3", "" },
};

/* -- one call --------------------------------------------------------------------------- */

struct operand {
	char type; /* '-': left out */
	bool constant;
	uint32_t rank, n_number;
	int64_t dim[MAX_NUMBERS];
	double number[MAX_NUMBERS];
};

struct attr {
	char name[40], text[40];
	char kind; /* ':', '~', '=' */
	uint32_t n;
	double number[MAX_NUMBERS];
};

struct call {
	int opset;
	const char *op;
	uint32_t n_operand, n_attr, n_result;
	struct operand operand[MAX_OPERANDS];
	struct attr attr[MAX_ATTRS];
};

static const char *read_numbers(const char *p, double *to, uint32_t *ret_n)
{
	char *end;

	*ret_n = 0;
	while (*p != '\0' && *p != ' ' && *p != ':' && *ret_n < MAX_NUMBERS) {
		to[(*ret_n)++] = strtod(p, &end);
		assert_true(end > p);
		p = *end == ',' ? end + 1 : end;
	}
	return p;
}

static void read_operands(const char *p, struct call *c)
{
	while (*p != '\0') {
		struct operand *o = &c->operand[c->n_operand++];
		double dim[MAX_NUMBERS];

		*o = (struct operand){ .type = *p++ };
		o->constant = *p == '=';
		p = read_numbers(p + o->constant, dim, &o->rank);
		for (uint32_t d = 0; d < o->rank; d++) {
			o->dim[d] = (int64_t)dim[d];
		}
		p = *p == ':' ? read_numbers(p + 1, o->number, &o->n_number) : p;
		p += *p == ' ';
	}
}

static void read_attrs(const char *p, struct call *c)
{
	while (*p != '\0') {
		struct attr *a = &c->attr[c->n_attr++];
		size_t n = strcspn(p, ":~=");

		*a = (struct attr){ .kind = p[n] };
		snprintf(a->name, sizeof(a->name), "%.*s", (int)n, p);
		p += n + 1;
		if (a->kind == '=') {
			n = strcspn(p, " ");
			snprintf(a->text, sizeof(a->text), "%.*s", (int)n, p);
			p += n;
		} else {
			p = read_numbers(p, a->number, &a->n);
		}
		p += *p == ' ';
	}
}

static void read_call(const struct row *r, struct call *c)
{
	*c = (struct call){ .opset = r->opset, .op = r->op, .n_result = 1 };
	c->n_result = strcmp(r->op, "Split") == 0 ? 2 : 1;
	read_operands(r->operands, c);
	read_attrs(r->attrs, c);
}

/* -- changes ---------------------------------------------------------------------------- */

static int64_t some_dim(struct hn_rng *r)
{
	static const int64_t dims[] = { 0, 1, 1,  2,	3,     4,	  5,	    6,
					7, 8, 64, 1000, 65537, 1ll << 31, 1ll << 40 };

	return dims[hn_rng_below(r, HN_COUNT_OF(dims))];
}

static double some_number(struct hn_rng *r)
{
	static const double numbers[] = { 0,	1,	     -1,	  2,	3,
					  4,	-2,	     -5,	  0.5,	7,
					  1000, 2147483647., 4294967296., 1e18, -1e18,
					  9e18, -9.3e18,     1e300,	  -0.1, 1e-30 };

	return numbers[hn_rng_below(r, HN_COUNT_OF(numbers))];
}

static void change_operand(struct hn_rng *r, struct call *c)
{
	struct operand *o;

	if (c->n_operand == 0) {
		return;
	}
	o = &c->operand[hn_rng_below(r, c->n_operand)];
	switch (hn_rng_below(r, 8)) {
	case 0:
		o->type = "fhdijusb-"[hn_rng_below(r, 9)];
		break;
	case 1:
		o->constant = !o->constant;
		break;
	case 2:
		o->rank = hn_rng_below(r, MAX_NUMBERS);
		for (uint32_t d = 0; d < o->rank; d++) {
			o->dim[d] = 1 + hn_rng_below(r, 4);
		}
		break;
	case 3:
		*o = c->operand[hn_rng_below(r, c->n_operand)];
		break;
	case 4:
		o->number[hn_rng_below(r, MAX_NUMBERS)] = some_number(r);
		o->n_number = o->n_number == 0 ? MAX_NUMBERS : o->n_number;
		break;
	default:
		o->dim[hn_rng_below(r, o->rank > 0 ? o->rank : 1)] = some_dim(r);
	}
}

/* Also one that the operator knows, and the call does not have. */
static void change_attr(struct hn_rng *r, struct call *c)
{
	const struct hn_gop *op = hn_gop_find(c->op);
	struct attr *a;

	if (c->n_attr < MAX_ATTRS && *op->attrs != '\0' && hn_rng_below(r, 3) == 0) {
		const char *p = op->attrs + hn_rng_below(r, (uint32_t)strlen(op->attrs));

		a = &c->attr[c->n_attr++];
		*a = (struct attr){ .kind = ":~="[hn_rng_below(r, 3)],
				    .text = "SAME_UPPER" };
		while (p > op->attrs && p[-1] != ' ') {
			p--;
		}
		snprintf(a->name, sizeof(a->name), "%.*s", (int)strcspn(p, " "), p);
		a->n = hn_rng_below(r, 5);
		for (uint32_t i = 0; i < a->n; i++) {
			a->number[i] = some_number(r);
		}
		return;
	}
	if (c->n_attr == 0) {
		return;
	}
	a = &c->attr[hn_rng_below(r, c->n_attr)];
	switch (hn_rng_below(r, 5)) {
	case 0:
		a->kind = ":~="[hn_rng_below(r, 3)];
		break;
	case 1:
		a->n = hn_rng_below(r, MAX_NUMBERS);
		break;
	case 2:
		*a = c->attr[--c->n_attr];
		break;
	default:
		a->number[hn_rng_below(r, a->n > 0 ? a->n : 1)] = some_number(r);
		a->text[hn_rng_below(r, 3)] = (char)('a' + hn_rng_below(r, 26));
	}
}

static void change(struct hn_rng *r, struct call *c)
{
	switch (hn_rng_below(r, 12)) {
	case 0:
		c->opset = 6 + (int)hn_rng_below(r, 23);
		break;
	case 1:
		c->n_result = 1 + hn_rng_below(r, 4);
		break;
	case 2:
		c->n_operand -= c->n_operand > 0;
		break;
	case 3:
		if (c->n_operand < MAX_OPERANDS) {
			c->operand[c->n_operand++] = c->operand[0];
		}
		break;
	case 4:
	case 5:
	case 6:
		change_attr(r, c);
		break;
	default:
		change_operand(r, c);
	}
}

/* -- the model -------------------------------------------------------------------------- */

static int onnx_type(char type)
{
	return type == 'f'   ? 1
	       : type == 'h' ? 10
	       : type == 'd' ? 11
	       : type == 'i' ? 7
	       : type == 'j' ? 6
	       : type == 'u' ? 2
	       : type == 's' ? 3
			     : 9;
}

static uint32_t bytes_of(char type)
{
	return type == 'd' || type == 'i'   ? 8
	       : type == 'f' || type == 'j' ? 4
	       : type == 'h'		    ? 2
					    : 1;
}

static void put_element(struct hn_buf *b, char type, double v)
{
	float f = (float)v;
	uint32_t low;
	uint64_t bits;

	memcpy(&low, &f, sizeof low);
	memcpy(&bits, &v, sizeof bits);
	switch (type) {
	case 'f':
		put_little(b, low, 4);
		break;
	case 'd':
		put_little(b, bits, 8);
		break;
	case 'h':
		put_little(b, hn_half_of_float(f), 2);
		break;
	default:
		bits = v >= 9.2e18    ? INT64_MAX
		       : v <= -9.2e18 ? (uint64_t)INT64_MIN
				      : (uint64_t)(int64_t)v;
		put_little(b, type == 'b' ? bits & 1 : bits, bytes_of(type));
	}
}

/* A constant of more than a few thousand elements becomes an input. */
static bool is_constant(const struct operand *o)
{
	double n = 1;

	for (uint32_t d = 0; d < o->rank; d++) {
		n *= (double)o->dim[d];
	}
	return o->constant && n <= 4096;
}

static void put_initializer(struct hn_buf *b, const struct operand *o, const char *name)
{
	size_t at = put_begin(b, 5), raw;
	int64_t n = 1;

	for (uint32_t d = 0; d < o->rank; d++) {
		put_int(b, 1, o->dim[d]);
		n *= o->dim[d];
	}
	put_int(b, 2, onnx_type(o->type));
	put_text(b, 8, name);
	raw = put_begin(b, 9);
	for (int64_t i = 0; i < n; i++) {
		put_element(b, o->type,
			    o->n_number > 0 ? o->number[i % o->n_number]
					    : (double)(i % 3) + 1);
	}
	put_end(b, raw);
	put_end(b, at);
}

static void put_input(struct hn_buf *b, const struct operand *o, const char *name)
{
	size_t at = put_begin(b, 11), type, tensor, shape, dim;

	put_text(b, 1, name);
	type = put_begin(b, 2);
	tensor = put_begin(b, 1);
	put_int(b, 1, onnx_type(o->type));
	shape = put_begin(b, 2);
	for (uint32_t d = 0; d < o->rank; d++) {
		dim = put_begin(b, 1);
		put_int(b, 1, o->dim[d]);
		put_end(b, dim);
	}
	put_end(b, shape);
	put_end(b, tensor);
	put_end(b, type);
	put_end(b, at);
}

static void put_attr(struct hn_buf *b, const struct attr *a)
{
	size_t at = put_begin(b, 5);

	put_text(b, 1, a->name);
	if (a->kind == '=') {
		put_text(b, 4, a->text);
		put_int(b, 20, 3);
	} else if (a->kind == '~') {
		for (uint32_t i = 0; i < a->n; i++) {
			put_float(b, a->n == 1 ? 2 : 7, (float)a->number[i]);
		}
		put_int(b, 20, a->n == 1 ? 1 : 6);
	} else {
		/* lists of one are lists to most operators */
		bool one = a->n == 1 &&
			   strchr("aps", a->name[strlen(a->name) - 1]) == NULL &&
			   strcmp(a->name, "axes") != 0 &&
			   strcmp(a->name, "strides") != 0 &&
			   strcmp(a->name, "output_shape") != 0 &&
			   strcmp(a->name, "starts") != 0;

		for (uint32_t i = 0; i < a->n; i++) {
			double v = a->number[i];

			put_int(b, one ? 3 : 8,
				v >= 9.2e18    ? INT64_MAX
				: v <= -9.2e18 ? INT64_MIN
					       : (int64_t)v);
		}
		put_int(b, 20, one ? 2 : 7);
	}
	put_end(b, at);
}

/* The calls, one after the other; some first operands are the result of the one before. */
static void put_model(struct hn_buf *b, struct hn_rng *r, const struct call *call,
		      uint32_t n)
{
	size_t graph, at;
	char name[32], last[32] = "";

	put_int(b, 1, 8);
	at = put_begin(b, 8);
	put_int(b, 2, call[0].opset);
	put_end(b, at);
	graph = put_begin(b, 7);
	for (uint32_t k = 0; k < n; k++) {
		size_t node;

		for (uint32_t i = 0; i < call[k].n_operand; i++) {
			const struct operand *o = &call[k].operand[i];

			snprintf(name, sizeof(name), "v%u_%u", k, i);
			if (o->type != '-' && is_constant(o)) {
				put_initializer(b, o, name);
			} else if (o->type != '-') {
				put_input(b, o, name);
			}
		}
		node = put_begin(b, 1);
		for (uint32_t i = 0; i < call[k].n_operand; i++) {
			bool chained = *last != '\0' && i == 0 && hn_rng_below(r, 2);

			snprintf(name, sizeof(name), "v%u_%u", k, i);
			put_text(b, 1,
				 call[k].operand[i].type == '-' ? ""
				 : chained			? last
								: name);
		}
		for (uint32_t i = 0; i < call[k].n_result; i++) {
			snprintf(name, sizeof(name), "r%u_%u", k, i);
			put_text(b, 2, name);
		}
		put_text(b, 4, call[k].op);
		for (uint32_t i = 0; i < call[k].n_attr; i++) {
			put_attr(b, &call[k].attr[i]);
		}
		put_end(b, node);
		snprintf(last, sizeof(last), "r%u_0", k);
	}
	at = put_begin(b, 12);
	put_text(b, 1, last);
	put_end(b, at);
	put_end(b, graph);
}

/* -- what has to hold ------------------------------------------------------------------- */

static void is_one_line(const char *s)
{
	assert_true(*s != '\0' && strchr(s, '\n') == NULL);
}

static void every_node_is_a_computation(const struct hn_graph *g)
{
	for (uint32_t i = 0; i < g->n_node; i++) {
		const struct hn_dag *dag;
		struct hn_arena a;
		struct hn_gtext t;
		struct hn_err err = { 0 };

		hn_arena_init(&a, 0);
		if (hn_graph_text(g, "node", 1, &i, g->node[i].n_out, g->node[i].out, &a,
				  &t, &err) != 0 ||
		    hn_graph_dag(&t, "node", &a, &dag, &err) != 0) {
			fail_msg("%s: %s", g->node[i].op->name, err.msg);
		}
		hn_arena_fini(&a);
	}
}

/* Whether it is taken. */
static bool import(const struct hn_buf *b, const char **ret_why, struct hn_arena *a)
{
	struct hn_import im = { 0 };
	struct hn_err err = { 0 };
	struct hn_onnx *o = NULL;
	struct hn_graph g;
	int rc = hn_onnx_parse("model", b->s, b->n, &o, &err);

	hn_graph_init(&g, a, "model", &err);
	rc = rc ? rc : hn_graph_import(o, &im, &g, &err);
	if (rc == 0) {
		every_node_is_a_computation(&g);
	} else {
		is_one_line(err.msg);
		for (uint32_t i = 0; i < im.n_refusal; i++) {
			is_one_line(im.refusal[i].why);
		}
	}
	*ret_why = hn_arena_strdup(a, rc == 0 ? "" : err.msg);
	assert_true(a->used_bytes < (size_t)2 << 30);
	hn_onnx_close(o);
	return rc == 0;
}

static void rows_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_rng r = hn_rng_stream(i, 0, 0, 0);
		struct hn_arena a;
		struct hn_buf b;
		struct call c;
		const char *why;

		hn_arena_init(&a, 0);
		hn_buf_init(&b);
		read_call(&rows[i], &c);
		put_model(&b, &r, &c, 1);
		if (!import(&b, &why, &a)) {
			fail_msg("%s(%s) %s: %s", rows[i].op, rows[i].operands,
				 rows[i].attrs, why);
		}
		hn_buf_fini(&b);
		hn_arena_fini(&a);
	}
}

static uint64_t n_models = 20000;

static void changed_models_end_well(void **state)
{
	uint64_t taken = 0;

	(void)state;
	for (uint64_t number = 0; number < n_models; number++) {
		struct hn_rng r = hn_rng_stream(number, 1, 0, 0);
		uint32_t n = 1 + hn_rng_below(&r, 3);
		struct call call[3];
		struct hn_arena a;
		struct hn_buf b;
		const char *why;

		hn_arena_init(&a, 0);
		hn_buf_init(&b);
		for (uint32_t k = 0; k < n; k++) {
			read_call(&rows[hn_rng_below(&r, HN_COUNT_OF(rows))], &call[k]);
		}
		for (uint32_t k = hn_rng_below(&r, 5) + 1; k > 0; k--) {
			change(&r, &call[hn_rng_below(&r, n)]);
		}
		put_model(&b, &r, call, n);
		taken += import(&b, &why, &a);
		if (getenv("HONE_TEST_SHOW") != NULL) {
			printf("%llu %s: %s\n", (unsigned long long)number, call[0].op,
			       why);
			fflush(stdout);
		}
		hn_buf_fini(&b);
		hn_arena_fini(&a);
	}
	/* or nothing behind the first check was seen */
	assert_true(taken > n_models / 20 && taken < n_models * 19 / 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_right),
		cmocka_unit_test(changed_models_end_well),
	};

	n_models = argc > 1 ? strtoull(argv[1], NULL, 10) : n_models;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
