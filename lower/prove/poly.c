/* lower/prove/poly.c -- building the polyhedral model of a loop tree.  See poly.h. */
#include "lower/prove/poly.h"

#include <inttypes.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdio.h>

#include "loopstate/dag/size.h"
#include "loopstate/nest/digit_form.h"
#include "lower/prove/poly_aff.h"

#define MAX_LEVELS 256

struct builder {
	struct hn_poly *poly;
	struct hn_arena *arena;
	uint32_t cap_stmt;
	uint32_t n_level;
	struct hn_poly_level level[MAX_LEVELS];
};

uint32_t hn_poly_common(const struct hn_poly_stmt *x, const struct hn_poly_stmt *y,
			bool *ret_before)
{
	uint32_t n_loop = 0;
	uint32_t i = 0;

	while (x->level[i].position == y->level[i].position) {
		n_loop += x->level[i].node->kind == HN_NODE_LOOP;
		i++;
		hn_assert(i < x->n_level && i < y->n_level);
	}
	*ret_before = x->level[i].position < y->level[i].position;
	return n_loop;
}

int32_t hn_poly_ahead(const struct hn_poly_stmt *s, uint32_t i)
{
	uint32_t k = 0;

	while (s->level[k].node != s->loop[i]) {
		k++;
	}
	return s->level[k].node->child[s->level[k + 1].position / 2]->ahead;
}

uint32_t hn_poly_lifetime(const struct hn_looptree *t, int32_t op,
			  const struct hn_poly_stmt *s)
{
	if (t->buffer[op].lifetime != HN_LIFETIME_LOOP) {
		return 0;
	}
	for (uint32_t i = 0; i < s->n_loop; i++) {
		if (s->loop[i]->loop == t->buffer[op].at_loop) {
			return i + 1;
		}
	}
	return s->n_loop;
}

uint32_t hn_poly_dims(const struct hn_poly *p, const struct hn_poly_stmt *s,
		      uint32_t n_loop)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_loop; i++) {
		n += p->radix[s->loop[i]->loop].n_digit;
	}
	return n;
}

isl_space *hn_poly_set_space(const struct hn_poly *p, uint32_t n)
{
	const struct hn_sizes *sizes = p->tree->dag->sizes;
	uint32_t n_size = sizes ? sizes->n : 0;
	isl_space *space = isl_space_set_alloc(p->ctx, n_size, n);

	for (uint32_t k = 0; k < n_size; k++) {
		char name[20];

		snprintf(name, sizeof(name), "p%" PRIu32, k);
		space = isl_space_set_dim_name(space, isl_dim_param, k, name);
	}
	return space;
}

isl_set *hn_poly_context(const struct hn_poly *p)
{
	const struct hn_sizes *sizes = p->tree->dag->sizes;
	isl_set *set = isl_set_universe(isl_space_params(hn_poly_set_space(p, 0)));

	for (uint32_t k = 0; sizes && k < sizes->n; k++) {
		set = isl_set_lower_bound_val(
			set, isl_dim_param, k,
			isl_val_int_from_si(p->ctx, sizes->size[k].lo));
		set = isl_set_upper_bound_val(
			set, isl_dim_param, k,
			isl_val_int_from_si(p->ctx, sizes->size[k].hi));
	}
	return set;
}

/* The statement being modelled. */
struct current {
	struct hn_poly_stmt *stmt;
	struct hn_poly_space space;
	struct hn_digit_space digits;		   /* its coordinates, for what needs no isl */
	const struct hn_digit_form *const *axis;   /* [axes of the op] NULL = no such form */
	isl_set *domain;			   /* instances that run */
	uint32_t cap_read;
};

static void open_space(struct builder *b, struct current *c)
{
	const struct hn_poly *p = b->poly;
	const struct hn_poly_stmt *s = c->stmt;
	uint32_t n = hn_poly_dims(p, s, s->n_loop);
	int32_t *first_dim = HN_NEW_ARRAY(b->arena, int32_t, p->tree->n_loop);
	isl_space *space = hn_poly_set_space(p, n);
	int32_t dim = 0;

	for (uint32_t l = 0; l < p->tree->n_loop; l++) {
		first_dim[l] = -1;
	}
	c->digits = (struct hn_digit_space){ p->radix, first_dim,
					     HN_NEW_ARRAY(b->arena, struct hn_digit, n), n, n };
	space = isl_space_set_tuple_name(space, isl_dim_set,
					 hn_arena_printf(b->arena, "S%u", s->id));
	for (uint32_t i = 0; i < s->n_loop; i++) {
		int32_t l = s->loop[i]->loop;

		first_dim[l] = dim;
		hn_digit_set_loop(&c->digits, l, i);
		for (uint32_t k = 0; k < p->radix[l].n_digit; k++, dim++) {
			space = isl_space_set_dim_name(
				space, isl_dim_set, (unsigned)dim,
				hn_arena_printf(b->arena, "l%d_%u", l, k));
		}
	}
	c->space = (struct hn_poly_space){ space, p->radix, first_dim };
}

static void find_domain(const struct builder *b, struct current *c)
{
	const struct hn_poly_stmt *s = c->stmt;

	c->domain = isl_set_intersect_params(
		isl_set_universe(isl_space_copy(c->space.space)),
		hn_poly_context(b->poly));
	for (uint32_t i = 0; i < s->n_loop; i++) {
		c->domain = isl_set_intersect(
			c->domain, hn_poly_loop_range(&c->space, s->loop[i]->loop));
	}
	for (uint32_t i = 0; i < s->node->n_guard; i++) {
		c->domain = isl_set_intersect(
			c->domain,
			hn_poly_condition(&c->space, s->node->guard[i], true, NULL));
	}
}

/* A function from instances to n_out coordinates, all zero; tuple NULL = none. */
static isl_multi_pw_aff *zero_function(struct builder *b, const struct current *c,
				       const char *tuple, uint32_t n_out)
{
	isl_space *out = hn_poly_set_space(b->poly, n_out);

	if (tuple) {
		out = isl_space_set_tuple_name(out, isl_dim_set, tuple);
	}
	return isl_multi_pw_aff_zero(
		isl_space_map_from_domain_and_range(isl_space_copy(c->space.space), out));
}

/* The tuple of op's elements, and the coordinates its lifetime takes. */
static isl_multi_pw_aff *element_function(struct builder *b, const struct current *c,
					  int32_t op, uint32_t n_index,
					  uint32_t *ret_before)
{
	const struct hn_poly *p = b->poly;
	uint32_t n = hn_poly_dims(p, c->stmt, hn_poly_lifetime(p->tree, op, c->stmt));
	isl_multi_pw_aff *f =
		zero_function(b, c, hn_arena_printf(b->arena, "T%d", op), n + n_index);

	for (uint32_t i = 0; i < n; i++) {
		f = isl_multi_pw_aff_set_pw_aff(
			f, (int)i,
			isl_pw_aff_var_on_domain(isl_local_space_from_space(
							 isl_space_copy(c->space.space)),
						 isl_dim_set, i));
	}
	*ret_before = n;
	return f;
}

static isl_map *on(struct builder *b, isl_multi_pw_aff *f, isl_set *domain)
{
	isl_map *m = isl_multi_pw_aff_isa_multi_aff(f) == isl_bool_true
			     ? isl_map_from_multi_aff(isl_multi_pw_aff_as_multi_aff(f))
			     : isl_map_from_multi_pw_aff(f);

	m = isl_map_intersect_domain(m, domain);

	b->poly->n_error += m == NULL;
	return m;
}

/* The value of dimension d's extent, which a coordinate that is left open stays below. */
static isl_pw_aff *extent_of(const struct current *c, const struct hn_op *o, uint32_t d)
{
	const struct hn_expr number = { .op = HN_EXPR_INT, .dtype = HN_I64, .u.i = o->shape[d] };
	const struct hn_expr *form = hn_op_extent(o, d);

	return hn_poly_value(&c->space, form != NULL ? form : &number, NULL);
}

/* Coordinate `at` of m, an extent, may be anything in [0, extent). */
static isl_map *leave_open(isl_map *m, uint32_t at)
{
	isl_space *space = isl_space_range(isl_map_get_space(m));
	isl_map *below = isl_map_identity(isl_space_map_from_set(space));

	below = isl_map_eliminate(below, isl_dim_out, at, 1);
	below = isl_map_lower_bound_si(below, isl_dim_out, at, 0);
	below = isl_map_order_lt(below, isl_dim_out, (int)at, isl_dim_in, (int)at);
	return isl_map_apply_range(m, below);
}

/* S -> T[lifetime, index...]; an index that is not quasi-affine stays open within the
 * tensor. */
static isl_map *element_map(struct builder *b, const struct current *c, int32_t op,
			    const struct hn_expr *const *index,
			    const struct hn_expr *const *axis, isl_set *domain)
{
	const struct hn_op *o = b->poly->tree->dag->op[op];
	uint32_t n_before;
	isl_multi_pw_aff *f = element_function(b, c, op, o->n_dim, &n_before);
	isl_map *m;

	for (uint32_t d = 0; d < o->n_dim; d++) {
		f = isl_multi_pw_aff_set_pw_aff(f, (int)(n_before + d),
						hn_poly_is_affine(index[d], axis)
							? hn_poly_value(&c->space, index[d], axis)
							: extent_of(c, o, d));
	}
	m = on(b, f, domain);
	for (uint32_t d = 0; d < o->n_dim; d++) {
		if (!hn_poly_is_affine(index[d], axis)) {
			m = leave_open(m, n_before + d);
		}
	}
	return m;
}

/* S -> [index - buffer min, ...]: where in the buffer.  An index that is not quasi-affine
 * may be anything in the tensor, so only a buffer that holds the whole dimension takes
 * it. */
static isl_map *slot_map(struct builder *b, const struct current *c, int32_t op,
			 const struct hn_expr *const *index,
			 const struct hn_expr *const *axis, isl_set *domain)
{
	const struct hn_buffer *buffer = &b->poly->tree->buffer[op];
	isl_multi_pw_aff *f = zero_function(b, c, NULL, buffer->n_dim);
	isl_map *m;

	for (uint32_t d = 0; d < buffer->n_dim; d++) {
		isl_pw_aff *at = extent_of(c, b->poly->tree->dag->op[op], d);

		if (hn_poly_is_affine(index[d], axis)) {
			isl_pw_aff_free(at);
			at = isl_pw_aff_sub(hn_poly_value(&c->space, index[d], axis),
					    hn_poly_value(&c->space, buffer->min[d], NULL));
		}
		f = isl_multi_pw_aff_set_pw_aff(f, (int)d, at);
	}
	m = on(b, f, domain);
	for (uint32_t d = 0; d < buffer->n_dim; d++) {
		if (!hn_poly_is_affine(index[d], axis)) {
			m = leave_open(m, d);
		}
	}
	return m;
}

/* The axes of the statement as forms. */
static void find_axes(struct builder *b, struct current *c)
{
	const struct hn_node *node = c->stmt->node;
	const struct hn_op *o = b->poly->tree->dag->op[node->stage];
	uint32_t n = o->n_spatial + o->n_reduce;
	const struct hn_digit_form **axis = HN_NEW_ARRAY(b->arena, const struct hn_digit_form *, n);

	for (uint32_t i = 0; i < n; i++) {
		struct hn_digit_form f;

		hn_digit_form_zero(&f);
		if (node->axis[i] && hn_digit_form_add_expr(&c->digits, node->axis[i], NULL, 1, &f)) {
			axis[i] = hn_digit_form_keep(&f, b->arena);
		}
	}
	c->axis = axis;
}

/* Whether intervals alone show that op's element at index lies in its buffer; axis: what the
 * variables of index are, NULL = loops. */
static bool in_buffer(const struct builder *b, const struct current *c, int32_t op,
		      const struct hn_expr *const *index,
		      const struct hn_digit_form *const *axis)
{
	const struct hn_buffer *buffer = &b->poly->tree->buffer[op];

	if (buffer->lifetime == HN_LIFETIME_ARG && hn_op_is_sized(b->poly->tree->dag->op[op])) {
		return false; /* its extents are not those of the largest sizes */
	}
	for (uint32_t d = 0; d < buffer->n_dim; d++) {
		struct hn_digit_form f;

		hn_digit_form_zero(&f);
		if (!hn_digit_form_add_expr(&c->digits, index[d], axis, 1, &f) ||
		    !hn_digit_form_add_expr(&c->digits, buffer->min[d], NULL, -1, &f) ||
		    !hn_digit_form_within(&c->digits, &f, 0, buffer->extent[d] - 1)) {
			return false;
		}
	}
	return true;
}

/* Whether intervals alone show that the statement stays within its op's shape. */
static bool in_shape(const struct builder *b, const struct current *c)
{
	const struct hn_node *node = c->stmt->node;
	const struct hn_op *o = b->poly->tree->dag->op[node->stage];
	uint32_t n = o->n_spatial + (node->stmt == HN_STMT_UPDATE ? o->n_reduce : 0);

	for (uint32_t d = 0; d < n; d++) {
		const struct hn_axis *x = &o->axis[d];

		if (hn_op_extent(o, d) || !c->axis[d] ||
		    !hn_digit_form_within(&c->digits, c->axis[d], x->min, x->min + x->extent - 1)) {
			return false;
		}
	}
	return true;
}

/* Whether forms alone show that `point` is injective: all digits follow from the axes and the
 * loops of the element's life. */
static bool is_injective(const struct builder *b, const struct current *c)
{
	const struct hn_poly *p = b->poly;
	const struct hn_op *o = p->tree->dag->op[c->stmt->node->stage];
	uint32_t life = hn_poly_lifetime(p->tree, c->stmt->node->stage, c->stmt);
	bool *told = HN_NEW_ARRAY(b->arena, bool, c->digits.n_digit), again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < o->n_spatial + o->n_reduce; i++) {
			again |= c->axis[i] &&
				 hn_digit_form_tell(&c->digits, c->axis[i], life, told);
		}
	}
	for (uint32_t d = 0; d < c->digits.n_digit; d++) {
		const struct hn_digit *x = &c->digits.digit[d];

		if (x->depth >= life && x->range > 1 && !told[d]) {
			return false;
		}
	}
	return true;
}

static isl_map *point_map(struct builder *b, const struct current *c)
{
	int32_t op = c->stmt->node->stage;
	const struct hn_op *o = b->poly->tree->dag->op[op];
	uint32_t n_axis = o->n_spatial + o->n_reduce;
	uint32_t n_before;
	isl_multi_pw_aff *f = element_function(b, c, op, n_axis, &n_before);

	for (uint32_t i = 0; i < n_axis; i++) {
		f = isl_multi_pw_aff_set_pw_aff(
			f, (int)(n_before + i),
			hn_poly_value(&c->space, c->stmt->node->axis[i], NULL));
	}
	return on(b, f, isl_set_copy(c->domain));
}

static void add_read(struct builder *b, struct current *c, const struct hn_expr *load,
		     isl_set *reading)
{
	struct hn_poly_stmt *s = c->stmt;

	s->read = hn_arena_grow(b->arena, s->read, s->n_read, &c->cap_read,
				sizeof(*s->read));
	s->read[s->n_read++] = (struct hn_poly_read){
		.op = load->ref,
		.element = element_map(b, c, load->ref, load->arg, s->node->axis,
				       isl_set_copy(reading)),
		.slot = in_buffer(b, c, load->ref, load->arg, c->axis)
				? NULL
				: slot_map(b, c, load->ref, load->arg, s->node->axis,
					   isl_set_copy(reading)),
	};
}

/* The loads of e, which is evaluated on the instances `reading`. */
static void collect_reads(struct builder *b, struct current *c, const struct hn_expr *e,
			  isl_set *reading)
{
	const struct hn_expr *const *axis = c->stmt->node->axis;

	if (e->op == HN_EXPR_LOAD) {
		add_read(b, c, e, reading);
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		isl_set *here = isl_set_copy(reading);

		if (e->op == HN_EXPR_IF && i > 0) {
			here = isl_set_intersect(
				here,
				hn_poly_condition(&c->space, e->arg[0], i == 1, axis));
		}
		collect_reads(b, c, e->arg[i], here);
		isl_set_free(here);
	}
}

static void collect_statement_reads(struct builder *b, struct current *c)
{
	const struct hn_node *node = c->stmt->node;
	const struct hn_op *op = b->poly->tree->dag->op[node->stage];
	isl_set *reading = isl_set_copy(c->domain);

	if (node->stmt == HN_STMT_COMPUTE) {
		for (uint32_t i = 0; i < op->n_out; i++) {
			collect_reads(b, c, op->body[i], reading);
		}
	} else if (node->stmt == HN_STMT_UPDATE) {
		if (op->reduce->condition) {
			collect_reads(b, c, op->reduce->condition, reading);
			reading = isl_set_intersect(
				reading,
				hn_poly_condition(&c->space, op->reduce->condition, true,
						  node->axis));
		}
		for (uint32_t i = 0; i < op->reduce->n; i++) {
			collect_reads(b, c, op->reduce->source[i], reading);
		}
	}
	isl_set_free(reading);
}

/* Writes must be exact: what hone itself made of an axis is quasi-affine, or it is a bug.
 */
static void model_statement(struct builder *b, struct hn_poly_stmt *s)
{
	struct current c = { .stmt = s };

	open_space(b, &c);
	find_axes(b, &c);
	find_domain(b, &c);
	s->write = element_map(b, &c, s->node->stage, s->node->axis, NULL,
			       isl_set_copy(c.domain));
	if (!in_buffer(b, &c, s->node->stage, s->node->axis, NULL)) {
		s->slot = slot_map(b, &c, s->node->stage, s->node->axis, NULL,
				   isl_set_copy(c.domain));
	}
	s->in_shape = in_shape(b, &c);
	if (s->node->stmt == HN_STMT_UPDATE) {
		s->injective = is_injective(b, &c);
		s->point = point_map(b, &c);
	}
	collect_statement_reads(b, &c);
	isl_set_free(c.domain);
	isl_space_free(c.space.space);
}

static void add_statement(struct builder *b, const struct hn_node *node)
{
	struct hn_poly *p = b->poly;
	struct hn_poly_stmt *s;
	struct hn_poly_level *level =
		HN_NEW_ARRAY(b->arena, struct hn_poly_level, b->n_level);
	const struct hn_node **loop =
		HN_NEW_ARRAY(b->arena, const struct hn_node *, b->n_level);

	p->stmt = hn_arena_grow(b->arena, p->stmt, p->n_stmt, &b->cap_stmt,
				sizeof(*p->stmt));
	s = &p->stmt[p->n_stmt];
	*s = (struct hn_poly_stmt){ .node = node,
				    .id = p->n_stmt++,
				    .n_level = b->n_level };
	for (uint32_t i = 0; i < b->n_level; i++) {
		level[i] = b->level[i];
		if (level[i].node->kind == HN_NODE_LOOP) {
			loop[s->n_loop++] = level[i].node;
		}
	}
	s->level = level;
	s->loop = loop;
	model_statement(b, s);
}

static void walk(struct builder *b, const struct hn_node *node, uint32_t position)
{
	if (node->init) {
		hn_assert(position % 2 == 1);
		walk(b, node->init, position - 1);
	}
	hn_assert(b->n_level < MAX_LEVELS);
	b->level[b->n_level++] = (struct hn_poly_level){ node, position };
	if (node->kind == HN_NODE_STMT) {
		add_statement(b, node);
	}
	for (uint32_t i = 0; i < node->n_child; i++) {
		walk(b, node->child[i], 2 * i + 1);
	}
	b->n_level--;
}

void hn_poly_build(const struct hn_looptree *t, isl_ctx *ctx, struct hn_arena *a,
		   struct hn_poly *ret)
{
	struct builder b = { .poly = ret, .arena = a };

	*ret = (struct hn_poly){ .ctx = ctx, .tree = t };
	ret->radix = hn_radix_of(t, a);
	walk(&b, t->root, 1);
}

void hn_poly_free(struct hn_poly *p)
{
	for (uint32_t i = 0; i < p->n_stmt; i++) {
		struct hn_poly_stmt *s = &p->stmt[i];

		isl_map_free(s->write);
		isl_map_free(s->slot);
		isl_map_free(s->point);
		for (uint32_t k = 0; k < s->n_read; k++) {
			isl_map_free(s->read[k].element);
			isl_map_free(s->read[k].slot);
		}
	}
}
