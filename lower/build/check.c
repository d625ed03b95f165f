/* lower/build/check.c -- see check.h. */
#include "lower/build/check.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "loopstate/dag/size.h"
#include "loopstate/dag/sway.h"
#include "loopstate/dag/tolerance.h"
#include "loopstate/nest/strided.h"
#include "loopstate/state/bracket.h"
#include "lower/interp/interp.h"
#include "lower/interp/interp_priv.h"
#include "proto/frames.h"

#define SEED 12
#define CELLS 1000000	  /* of the interpreter, a case: about 10 ms */
#define CELLS_FIRST 20000000 /* of one element, where it takes more than its share */
#define MOST_TOLD 20000	  /* elements of an output in part */
#define MOST_BYTES ((uint64_t)192 << 20) /* of the arguments: a frame holds them */
#define EASY_BYTES ((uint64_t)8 << 20)	 /* more are filled for one case alone */
#define EASY_POINTS 5e8 /* more are run for one case alone */
#define MOST_POINTS 8.6e9 /* of a kernel's nests: a second, of one well made */
#define CLOSE 8	      /* so much nearer than a kernel may be must the two arithmetics be */

/* What is known of one output. */
struct told {
	uint32_t n;
	int64_t *at; /* ascending */
	const void *value; /* the whole output; at these places it is known */
};

struct check_case {
	const struct hn_dag *dag; /* without sizes */
	const struct hn_looptree *tree; /* NULL: no argument is strided */
	uint32_t i;
	int64_t size[HN_DAG_MAX_SIZES];
	void **arg, **rounded; /* the latter: outputs of another arithmetic */
	void **side[2];	       /* outputs, rounded lower and higher; NULL: there is no such program */
	const struct hn_dag *moved[2]; /* where elements are asked for; else NULL */
	struct told *told;     /* [n_arg] */
	uint32_t n_long;       /* outputs of which not one element was short enough */
	bool trapped;	       /* an element was undefined */
};

static bool divides(const struct hn_expr *e)
{
	bool by_data = false;

	if ((e->op == HN_EXPR_DIV || e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD ||
	     e->op == HN_EXPR_TRUNCMOD) &&
	    hn_dtype_class(e->dtype) != HN_CLASS_FLOAT) {
		by_data = e->arg[1]->op != HN_EXPR_INT;
	}
	for (uint32_t i = 0; i < e->n_arg && !by_data; i++) {
		by_data = divides(e->arg[i]);
	}
	return by_data;
}

/* Whether an integer is divided by what is no constant. */
static bool dag_divides(const struct hn_dag *dag)
{
	bool ret = false;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		for (uint32_t k = 0; op->kind == HN_OP_COMPUTE && k < op->n_out; k++) {
			const struct hn_reduce *r = op->reduce;

			ret = ret || divides(r != NULL ? r->source[k] : op->body[k]) ||
			      (r != NULL && divides(r->result[k])) ||
			      (r != NULL && r->condition != NULL && divides(r->condition));
		}
	}
	return ret;
}

static int by_place(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* The k-th place to look at: the corners, then anywhere, and often at an edge. */
static int64_t place(const struct hn_op *op, uint32_t k, struct hn_rng *r)
{
	bool corner = k >> (op->n_dim < 4 ? op->n_dim : 4) == 0;
	int64_t at = 0;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		uint64_t draw = corner ? (k >> (d % 4)) & 1 : hn_rng_below(r, 8);
		int64_t n = op->shape[d];

		at = at * n + (draw == 0   ? n - 1
			       : draw == 1 ? 0
					   : (int64_t)hn_rng_below(r, (uint64_t)n));
	}
	return at;
}

/* The element of output i, rounded lower and higher, where it is not known yet. */
static bool compute_sides(const struct check_case *c, struct hn_interp *const in[4], uint32_t i,
			  int64_t at, int64_t *fuel)
{
	enum hn_interp_result r = HN_INTERP_OK;

	for (int k = 0; k < 2 && r != HN_INTERP_LONG && c->moved[k] != NULL; k++) {
		r = hn_interp_element(in[2 + k], (uint32_t)c->moved[k]->arg[i], at, fuel);
	}
	return r != HN_INTERP_LONG;
}

/* Both arithmetics' value of an element; false when it takes too long. */
static bool compute(struct check_case *c, struct hn_interp *const in[4], uint32_t op, int64_t at,
		    int64_t *fuel, bool *ret_defined)
{
	enum hn_interp_result wide = hn_interp_element(in[0], op, at, fuel);
	enum hn_interp_result rounded =
		wide == HN_INTERP_LONG ? wide : hn_interp_element(in[1], op, at, fuel);

	*ret_defined = wide == HN_INTERP_OK && rounded == HN_INTERP_OK;
	c->trapped |= wide == HN_INTERP_UNDEFINED || rounded == HN_INTERP_UNDEFINED;
	return rounded != HN_INTERP_LONG;
}

/* Elements of output i that are computed and defined, as far as the fuel goes. */
static void look(struct check_case *c, struct hn_interp *const in[4], uint32_t i, bool whole,
		 int64_t fuel, struct hn_arena *a)
{
	uint32_t op = (uint32_t)c->dag->arg[i];
	int64_t n_elem = hn_op_elements(c->dag->op[op]);
	int64_t n = whole ? n_elem : n_elem < MOST_TOLD ? n_elem : MOST_TOLD;
	struct hn_rng r = hn_rng_stream(SEED, 0, c->i, i);
	struct told *told = &c->told[i];
	uint32_t n_dim = c->dag->op[op]->n_dim;
	int64_t first = 0, row = n_dim > 0 ? c->dag->op[op]->shape[n_dim - 1] : 1;
	bool defined, large = false;

	told->value = c->arg[i];
	told->at = HN_NEW_ARRAY(a, int64_t, n);
	for (int64_t k = 0; k < n && (k == 0 || fuel > 0); k++) {
		int64_t at = whole ? k : place(c->dag->op[op], (uint32_t)k, &r);
		int64_t given = k == 0 && fuel < CELLS_FIRST ? CELLS_FIRST : fuel, left = given;

		if (large) { /* what the first took may serve those in its row */
			at = first - first % row + at % row;
		}
		bool done = compute(c, in, op, at, &left, &defined) &&
			    compute_sides(c, in, i, at, &left);

		if (k == 0) {
			c->n_long += !done;
			first = at;
			large = given - left > fuel;
		}
		fuel -= large && k == 0 ? 0 : given - left;
		if (!done) {
			break;
		}
		if (defined) {
			told->at[told->n++] = at;
		}
	}
	qsort(told->at, told->n, sizeof *told->at, by_place);
}

static double float_at(enum hn_dtype t, const void *bytes, int64_t at)
{
	return hn_interp_get(bytes, t, at).f;
}

/* Whether all outputs are rounded to few bits, and it is known of all of them where they lie near a border: the
 * others have one value. */
static bool is_certain(const struct check_case *c)
{
	bool ret = c->side[0] != NULL && c->moved[0] == NULL;

	for (uint32_t i = c->dag->n_input; i < c->dag->n_arg; i++) {
		enum hn_dtype t = c->dag->op[c->dag->arg[i]]->dtype[hn_dag_arg_out(c->dag, i)];

		ret &= hn_dtype_class(t) != HN_CLASS_FLOAT || hn_dtype_is_narrow(t);
	}
	return ret;
}

/* Whether the element may have another value in a right kernel: it lies near a border. */
static bool near_border(const struct check_case *c, uint32_t i, enum hn_dtype t, int64_t at)
{
	size_t size = hn_dtype_bytes(t);

	return c->side[0] != NULL && memcmp((char *)c->side[0][i] + (size_t)at * size,
					    (char *)c->side[1][i] + (size_t)at * size, size) != 0;
}

/* Leave out those that no two right kernels need have in common, and what is there twice. */
static void settle(const struct check_case *c, uint32_t i, double tolerance)
{
	const struct hn_op *op = c->dag->op[c->dag->arg[i]];
	enum hn_dtype t = op->dtype[hn_dag_arg_out(c->dag, i)];
	bool is_float = hn_dtype_class(t) == HN_CLASS_FLOAT;
	struct told *told = &c->told[i];
	double sum = 0, scale = 0;
	uint32_t n = 0;

	for (uint32_t k = 0; is_float && k < told->n; k++) {
		double v = float_at(t, c->arg[i], told->at[k]);

		if (isfinite(v)) {
			sum += v * v;
			scale = sqrt(sum / ++n);
		}
	}
	n = 0;
	for (uint32_t k = 0; k < told->n; k++) {
		int64_t at = told->at[k];
		union hn_value x = hn_interp_get(c->arg[i], t, at),
			       y = hn_interp_get(c->rounded[i], t, at);
		bool same = is_float ? fabs(x.f - y.f) <=
					       tolerance * fmax(fabs(x.f), scale) / CLOSE &&
					       isfinite(x.f)
				     : x.i == y.i;

		if (same && !near_border(c, i, t, at) && (n == 0 || told->at[n - 1] != at)) {
			told->at[n++] = at;
		}
	}
	told->n = n;
}

/* -- as the kernel's caller has them ------------------------------------------------------- */

/* The buffer of argument i where its elements do not lie in a row; else NULL. */
static const struct hn_buffer *strided(const struct check_case *c, uint32_t i)
{
	const struct hn_op *op = c->dag->op[c->dag->arg[i]];
	const struct hn_buffer *b =
		c->tree != NULL ? &c->tree->buffer[c->tree->dag->arg[i]] : NULL;

	return b != NULL && hn_strided_span(b) != hn_op_elements(op) ? b : NULL;
}

static void put_rows(const struct hn_buffer *b, const char *bytes, size_t size, int64_t n,
		     struct hn_buf *to)
{
	size_t begin = to->n;

	for (int64_t i = 0; i < n; i++) {
		while (to->n < begin + (size_t)hn_strided_place(b, i) * size && !to->failed) {
			hn_buf_putc(to, '\0');
		}
		hn_buf_add(to, bytes + (size_t)i * size, size);
	}
}

static void pad(struct hn_buf *b)
{
	while (b->n % 8 != 0) {
		hn_buf_putc(b, '\0');
	}
}

static void put_bytes(const struct check_case *c, uint32_t i, struct hn_buf *b)
{
	const struct hn_op *op = c->dag->op[c->dag->arg[i]];
	uint32_t out = hn_dag_arg_out(c->dag, i), size = hn_dtype_bytes(op->dtype[out]);
	const struct hn_buffer *rows = strided(c, i);
	const struct told *told = &c->told[i];

	if (i < c->dag->n_input) {
		if (rows != NULL) {
			put_rows(rows, c->arg[i], size, hn_op_elements(op), b);
		} else {
			hn_buf_add(b, c->arg[i], (size_t)hn_op_bytes(op, out));
		}
		pad(b);
		return;
	}
	for (uint32_t k = 0; k < told->n; k++) {
		int64_t at = rows != NULL ? hn_strided_place(rows, told->at[k]) : told->at[k];

		hn_buf_add(b, &at, sizeof at);
	}
	for (uint32_t k = 0; k < told->n; k++) {
		hn_buf_add(b, (const char *)told->value + told->at[k] * size, size);
	}
	pad(b);
}

static int send(int fd, enum hn_frame_type type, const struct hn_buf *json, const void *blob,
		size_t blob_bytes, struct hn_err *err)
{
	struct hn_frame f = hn_frame_of(type, 0, json);

	f.blob = blob;
	f.blob_bytes = (uint32_t)blob_bytes;
	return json->failed ? hn_fail(err, HONE_E_NOMEM, "check: no memory")
			    : hn_frame_send(fd, &f, err);
}

static int send_case(int fd, const struct check_case *c, uint32_t n_size, double tolerance,
		     struct hn_arena *a, struct hn_err *err)
{
	uint32_t n = c->dag->n_arg;
	struct hn_frame_argument *arg = HN_NEW_ARRAY(a, struct hn_frame_argument, n);
	int64_t *n_told = HN_NEW_ARRAY(a, int64_t, n), *span = HN_NEW_ARRAY(a, int64_t, n);
	struct hn_buf json, blob;

	hn_buf_init(&json);
	hn_buf_init(&blob);
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_op *op = c->dag->op[c->dag->arg[i]];
		const struct hn_buffer *rows = strided(c, i);

		span[i] = rows != NULL ? hn_strided_span(rows) : 0;
		arg[i] = (struct hn_frame_argument){
			.name = op->id,
			.dtype = op->dtype[hn_dag_arg_out(c->dag, i)],
			.shape = { rows != NULL ? 1 : op->n_dim,
				   rows != NULL ? &span[i] : op->shape },
			.output = i >= c->dag->n_input,
		};
		n_told[i] = c->told[i].n;
		put_bytes(c, i, &blob);
	}
	hn_frame_encode_case(&(struct hn_frame_case){ .inputs = hn_check_inputs(c->dag, c->i),
						      .sizes = { n_size, c->size },
						      .args = { n, arg },
						      .tolerance = tolerance,
						      .elements = { n, n_told } },
			     &json);
	int rc = blob.failed ? hn_fail(err, HONE_E_NOMEM, "check: no memory for a case")
			     : send(fd, HN_FRAME_CASE, &json, blob.s, blob.n, err);

	hn_buf_fini(&json);
	hn_buf_fini(&blob);
	return rc;
}

/* All outputs by the programs that round lower and higher, where there are such. */
static int bracket(struct check_case *c, struct hn_arena *a, struct hn_err *err)
{
	int rc = 0;

	for (int k = 0; k < 2 && rc == 0; k++) {
		const struct hn_dag *moved = hn_dag_bracket(c->dag, (enum hn_bracket)k,
							    HN_BRACKET_WHOLE, a);
		void **arg = HN_NEW_ARRAY(a, void *, c->dag->n_arg);

		if (moved == NULL) {
			return 0;
		}
		for (uint32_t i = 0; i < c->dag->n_arg; i++) {
			const struct hn_op *op = c->dag->op[c->dag->arg[i]];
			uint32_t out = hn_dag_arg_out(c->dag, i);

			arg[i] = i < c->dag->n_input
					 ? c->arg[i]
					 : hn_arena_alloc(a, (size_t)hn_op_bytes(op, out));
		}
		rc = hn_interpret(moved, arg, err);
		c->side[k] = arg;
	}
	return rc;
}

/* The same, for elements that are asked for: where integers hang on loose floats, of which a step is
 * no matter of tolerance. */
static int bracket_elements(struct check_case *c, struct hn_interp *in[4], struct hn_arena *a,
			    struct hn_err *err)
{
	int rc = 0;

	for (int k = 0; k < 2 && rc == 0 && !hn_dag_settled(c->dag); k++) {
		void **arg = HN_NEW_ARRAY(a, void *, c->dag->n_arg);

		c->moved[k] = hn_dag_bracket(c->dag, (enum hn_bracket)k, HN_BRACKET_ELEMENTS, a);
		if (c->moved[k] == NULL) {
			return 0;
		}
		for (uint32_t i = 0; i < c->dag->n_arg; i++) {
			size_t bytes = (size_t)hn_op_bytes(c->dag->op[c->dag->arg[i]],
							   hn_dag_arg_out(c->dag, i));

			arg[i] = c->arg[i];
			if (i >= c->dag->n_input) {
				arg[i] = hn_arena_alloc(a, bytes);
				memset(arg[i], 0, bytes);
			}
		}
		rc = hn_interp_open(c->moved[k], arg, HN_INTERP_WIDE, &in[2 + k], err);
		c->side[k] = arg;
	}
	return rc;
}

/* Compute what is known of the outputs. */
static int interpret(struct check_case *c, double tolerance, struct hn_arena *a,
		     struct hn_err *err)
{
	struct hn_interp *in[4] = { NULL };
	const struct hn_dag *dag = c->dag;
	uint32_t n_output = dag->n_arg - dag->n_input;
	int rc = hn_interp_open(dag, c->arg, HN_INTERP_WIDE, &in[0], err);

	rc = rc ? rc : hn_interp_open(dag, c->rounded, HN_INTERP_ROUNDED, &in[1], err);
	if (rc == 0) {
		bool whole = 2 * hn_interp_cells(in[0]) <= CELLS;

		rc = whole ? bracket(c, a, err) : bracket_elements(c, in, a, err);
		for (uint32_t i = dag->n_input; rc == 0 && i < dag->n_arg; i++) {
			look(c, in, i, whole, whole ? 2 * CELLS : CELLS / n_output, a);
			settle(c, i, tolerance);
		}
	}
	for (int k = 0; k < 4; k++) {
		hn_interp_close(in[k]);
	}
	return rc;
}

static int open_case(struct check_case *c, bool by_data, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_dag *dag = c->dag;

	c->arg = HN_NEW_ARRAY(a, void *, dag->n_arg);
	c->rounded = HN_NEW_ARRAY(a, void *, dag->n_arg);
	c->told = HN_NEW_ARRAY(a, struct told, dag->n_arg);
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		size_t bytes = (size_t)hn_op_bytes(op, hn_dag_arg_out(dag, i));
		bool output = i >= dag->n_input;

		c->arg[i] = calloc(1, bytes);
		c->rounded[i] = output ? calloc(1, bytes) : c->arg[i];
		if (c->arg[i] == NULL || c->rounded[i] == NULL) {
			return hn_fail(err, HONE_E_NOMEM, "check: no memory for '%s'", op->id);
		}
		if (!output) {
			hn_check_fill(dag, op, i, c->i, by_data, c->arg[i]);
		}
	}
	return 0;
}

static void close_case(struct check_case *c)
{
	for (uint32_t i = 0; c->arg != NULL && i < c->dag->n_arg; i++) {
		if (c->rounded[i] != c->arg[i]) {
			free(c->rounded[i]);
		}
		free(c->arg[i]);
	}
}

/* Why a case is of no use; NULL: it was sent. */
static int make_case(int fd, const struct hn_dag *dag, const struct hn_looptree *t, uint32_t i,
		     bool by_data, const char **ret_why, struct hn_arena *a, struct hn_err *err)
{
	struct check_case c = { .dag = dag, .tree = dag->sizes == NULL ? t : NULL, .i = i };
	uint32_t n_size = dag->sizes != NULL ? dag->sizes->n : 0, n = 0;
	int rc = 0;

	if (n_size > 0) {
		hn_check_sizes(dag, i, c.size);
		rc = hn_dag_instantiate(dag, c.size, a, &c.dag, err);
	}
	if (rc == 0 && hn_dag_arg_bytes(c.dag) > MOST_BYTES) {
		*ret_why = "its arguments take too much memory";
		return 0;
	}
	double tolerance = rc == 0 ? hn_dag_tolerance(c.dag) : 0;

	rc = rc ? rc : open_case(&c, by_data, a, err);
	rc = rc ? rc : interpret(&c, tolerance, a, err);
	for (uint32_t k = dag->n_input; rc == 0 && k < dag->n_arg; k++) {
		n += c.told[k].n;
	}
	*ret_why = by_data && c.trapped ? "it divides by zero on the inputs tried"
		   : c.n_long > 0	? "one element takes the interpreter too long"
					: "no element is certain on the inputs tried";
	if (rc == 0 && n > 0 && !(by_data && c.trapped)) {
		*ret_why = NULL;
		rc = send_case(fd, &c, n_size, is_certain(&c) ? 0 : tolerance, a, err);
	}
	close_case(&c);
	return rc;
}

static int send_kernel(int fd, const struct hn_dag *dag, const char *symbol,
		       const struct hn_artefact *artefact, struct hn_err *err)
{
	const struct hn_frame_object object = {
		.bytes = (int64_t)artefact->object_bytes,
		.shared_bytes = (int64_t)artefact->shared_bytes,
		.per_worker_bytes = (int64_t)artefact->per_worker_bytes,
		.prepared_bytes = (int64_t)artefact->prepared_bytes,
	};
	struct hn_buf json;

	hn_buf_init(&json);
	hn_frame_encode_kernel(&(struct hn_frame_kernel){ .object = &object,
							  .symbol = symbol,
							  .may_trap = dag_divides(dag),
							  .sized = dag->sizes != NULL },
			       &json);
	int rc = send(fd, HN_FRAME_KERNEL, &json, artefact->object, artefact->object_bytes, err);

	hn_buf_fini(&json);
	return rc;
}

static int send_why(int fd, const char *why, struct hn_err *err)
{
	struct hn_buf json;

	hn_buf_init(&json);
	hn_frame_encode_case(&(struct hn_frame_case){ .why = why }, &json);
	int rc = send(fd, HN_FRAME_CASE, &json, NULL, 0, err);

	hn_buf_fini(&json);
	return rc;
}

void hn_check_plan(const struct hn_dag *dag, uint32_t *ret_first, uint32_t *ret_end)
{
	bool reals = false;

	for (uint32_t i = 0; i < dag->n_input; i++) {
		reals |= hn_dtype_class(dag->op[dag->arg[i]]->dtype[0]) == HN_CLASS_FLOAT;
	}
	*ret_first = 0;
	*ret_end = dag->sizes != NULL ? HN_CHECK_CASES : hn_check_kinds(dag);
	if (dag->sizes == NULL &&
	    (hn_dag_arg_bytes(dag) > EASY_BYTES || hn_check_points(dag) > EASY_POINTS)) {
		*ret_first = reals ? 0 : 1;
		*ret_end = *ret_first + 1;
	}
}

int hn_check_write(const char *path, const struct hn_dag *dag, const struct hn_looptree *t,
		   const char *symbol, const struct hn_artefact *artefact, struct hn_err *err)
{
	bool by_data = dag_divides(dag), too_long = dag->sizes == NULL &&
						    hn_check_points(dag) > MOST_POINTS;
	const char *why = too_long ? "a run of it would take too long" : NULL, *last;
	uint32_t i, end, n_sent = 0;
	struct hn_arena a;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	int rc = send_kernel(fd, dag, symbol, artefact, err);

	hn_arena_init(&a, 0);
	hn_check_plan(dag, &i, &end);
	for (; rc == 0 && i < end && !too_long; i++) {
		rc = make_case(fd, dag, t, i, by_data, &last, &a, err);
		if (rc == -HONE_E_NOMEM) {
			last = "there is no memory for it";
			rc = 0;
		}
		n_sent += last == NULL;
		why = last != NULL ? last : why;
		hn_arena_reset(&a);
	}
	if (rc == 0 && n_sent == 0) {
		rc = send_why(fd, why, err);
	}
	hn_arena_fini(&a);
	close(fd);
	return rc;
}
