/* loopstate/read/dag_json_priv.h -- what the readers of compute-dag/1 share: the place being
 * read, for messages, and the names in scope. */
#ifndef HN_LOOPSTATE_READ_DAG_JSON_PRIV_H
#define HN_LOOPSTATE_READ_DAG_JSON_PRIV_H

#include "base/json.h"
#include "loopstate/dag/dag_priv.h"

/* One step of the way from the document to a value; frames live on the reader's stack. */
struct hn_json_path {
	const struct hn_json_path *up;
	const char *text; /* ".body"; NULL: [index] */
	uint32_t index;
	const char *note; /* " (conv2d)" without the decoration; NULL = none */
};

struct hn_dag_name;

struct hn_dag_reader {
	const char *what;
	struct hn_arena *a;
	struct hn_err *err;
	const struct hn_op **op; /* read so far: [n_op] */
	uint32_t n_op;
	const struct hn_sizes *sizes; /* NULL: none */
	const struct hn_dag_name *size_names; /* the same as names in scope */
	const struct hn_expr *within; /* what ragged extents of the op in hand ask; NULL: nothing */
	const struct hn_json
		*ops; /* the whole list, to tell a later id from an unknown one */
};

struct hn_dag_name {
	const struct hn_dag_name *up;
	const char *name;
	int32_t slot;
	enum hn_dtype dtype;
};

/* One op's expressions. */
struct hn_expr_reader {
	struct hn_dag_reader *dag;
	struct hn_node_place at;
	const struct hn_dag_name *scope;
	int32_t n_let; /* let slots given out in this op */
};

/* hn_fail with "what: place: " in front. */
int hn_dag_read_fail(const struct hn_dag_reader *r, const struct hn_json_path *at,
		     int code, const char *fmt, ...) HN_PRINTF(4, 5);

/* NULL, with err set, when it is not an EXPR that fits. */
const struct hn_expr *hn_dag_read_expr(struct hn_expr_reader *x, const struct hn_json *v,
				       const struct hn_json_path *at);

/* An optional list member: *ret NULL and n 0 when absent. At most `max` items. */
int hn_dag_read_list(struct hn_dag_reader *r, const struct hn_json *obj, const char *key,
		     uint32_t max, const struct hn_json_path *at,
		     const struct hn_json **ret, uint32_t *ret_n);
/* The same, refused when absent. */
int hn_dag_need_list(struct hn_dag_reader *r, const struct hn_json *obj, const char *key,
		     uint32_t max, const struct hn_json_path *at,
		     const struct hn_json **ret, uint32_t *ret_n);
bool hn_dag_all_strings(const struct hn_json *v); /* a list of strings */

/* The scope in which axis[0..n) are names, which lie in names[n]. */
const struct hn_dag_name *hn_dag_axis_names(const struct hn_dag_name *up,
					    const struct hn_axis *axis, uint32_t n,
					    struct hn_dag_name *names);

/* The extent of reduction axis i of op, axis[0..i) being known, that is no number: a form over
 * sizes, *ret_form, or one over axes outside of it (loopstate/dag/ragged.h), which goes to
 * r->within.  Sets ret->extent. */
int hn_dag_read_ragged(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		       uint32_t i, const struct hn_json_path *at, struct hn_axis *ret,
		       const struct hn_expr **ret_form);

/* The `body` of a compute op whose other members have been read. */
int hn_dag_read_body(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		     const struct hn_json_path *at);

#endif
