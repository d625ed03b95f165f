/* lower/c/c_tile.c -- sums in registers: nests whose results are held while the loops of their
 * reduction run, a box of points at a time, lanes of which are vectors.
 *
 * Which box that is, c_choose.c says.  Each element's terms are added in the order of the schedule's
 * loops.  Other nests stay the loops that they are.
 */
#include "lower/c/c_tile.h"

#define MOST_UNROLL 8

/* -- where the text stands ------------------------------------------------------------------- */

/* The loops of the tile at one point of it. */
static void set_point(struct c_tile *x, int64_t point)
{
	struct c *c = x->c;
	struct c_dim *chain[HN_TILE_MAX_CHAIN];
	uint32_t n_chain = hn_c_tile_chain(x, chain), n_axis = x->nest.op->n_spatial + x->nest.op->n_reduce;
	int64_t lanes = 1, lane;

	for (uint32_t i = 0; i < n_chain; i++) {
		lanes *= chain[i]->now;
	}
	lane = point % (lanes / x->width) * x->width;
	point /= lanes / x->width;
	for (uint32_t i = 0; i < n_chain; i++) {
		hn_c_know(c, chain[i]->loop->loop, chain[i]->looped,
			  chain[i]->base + lane % chain[i]->now);
		lane /= chain[i]->now;
	}
	for (uint32_t i = x->n_dim; i-- > 0;) {
		struct c_dim *d = &x->dim[i];

		if (d->chain < 0 && !d->reduce && d->loop->extent > 1) {
			hn_c_know(c, d->loop->loop, d->looped, d->base + point % d->now);
			point /= d->now;
		}
	}
	x->axis = HN_NEW_ARRAY(c->a, const struct hn_expr *, n_axis);
	for (uint32_t i = 0; i < n_axis; i++) {
		const struct hn_expr *e = x->nest.stmt->axis[i];

		x->axis[i] = e != NULL ? hn_c_settled(c, e) : NULL;
	}
}

static uint32_t points_now(const struct c_tile *x)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < x->n_dim; i++) {
		n *= x->dim[i].reduce || x->dim[i].loop->extent == 1 ? 1 : x->dim[i].now;
	}
	return (uint32_t)(n / x->width);
}

/* -- text ------------------------------------------------------------------------------------ */

/* Results of a vector lie apart. */
static bool is_spread(const struct c_tile *x)
{
	return x->width > 1 && x->reach[0].lane != 1;
}

static void first_values(struct c_tile *x)
{
	struct c *c = x->c;

	x->n_acc = points_now(x);
	for (uint32_t i = 0; i < x->n_acc; i++) {
		x->acc[i] = hn_c_value_name(c);
		if (x->from_identity) {
			hn_c_line(c, x->width > 1 ? "%s %s = { 0 };" : "%s %s = 0;", x->type,
				  x->acc[i]);
			continue;
		}
		set_point(x, i);
		if (is_spread(x)) {
			hn_c_line(c, "%s %s;", x->type, x->acc[i]);
			hn_c_line(c, "for (int k = 0; k < %u; k++) {", x->width);
			hn_c_line(c, "\t%s[k] = %s;", x->acc[i], hn_c_vector_place(x));
			hn_c_line(c, "}");
		} else {
			hn_c_line(c, "%s %s = %s;", x->type, x->acc[i], hn_c_vector_place(x));
		}
	}
}

static void add_terms(struct c_tile *x)
{
	const char *guard = hn_c_guards_of_term(x);
	struct c *c = x->c;

	x->n_named = 0;
	if (guard != NULL) {
		hn_c_line(c, "if (%s) {", guard);
		c->indent++;
	}
	for (uint32_t i = 0; i < x->n_acc; i++) {
		set_point(x, i);
		struct c_text v = hn_c_vector(x, x->nest.op->reduce->source[0]);

		hn_c_line(c, "%s += %s;", x->acc[i], v.s);
	}
	if (guard != NULL) {
		c->indent--;
		hn_c_line(c, "}");
	}
}

static void store(struct c_tile *x)
{
	for (uint32_t i = 0; i < x->n_acc; i++) {
		set_point(x, i);
		if (is_spread(x)) {
			hn_c_line(x->c, "for (int k = 0; k < %u; k++) {", x->width);
			hn_c_line(x->c, "\t%s = %s[k];", hn_c_vector_place(x), x->acc[i]);
			hn_c_line(x->c, "}");
		} else {
			hn_c_line(x->c, "%s = %s;", hn_c_vector_place(x), x->acc[i]);
		}
	}
}

static void dims_from(struct c_tile *x, uint32_t i);

/* Reductions inside of the tile. */
static void sum_from(struct c_tile *x, uint32_t i)
{
	struct c *c = x->c;

	while (i < x->n_dim && (!x->dim[i].reduce || x->dim[i].loop->extent == 1)) {
		i++;
	}
	if (i == x->n_dim) {
		add_terms(x);
		return;
	}
	const struct c_dim *d = &x->dim[i];

	if (d->block > 1) {
		hn_buf_printf(c->out, "#pragma GCC unroll %lld\n",
			      (long long)(d->block < MOST_UNROLL ? d->block : MOST_UNROLL));
	}
	hn_c_loop_open(c, d->loop, d->loop->extent, 1);
	sum_from(x, i + 1);
	hn_c_loop_close(c, d->loop);
}

static void sums(struct c_tile *x)
{
	first_values(x);
	sum_from(x, x->tile);
	store(x);
}

/* "if (condition) {", unless there is none. */
static bool open_guards(struct c_tile *x)
{
	const char *guard = hn_c_guards_of_box(x);

	if (guard != NULL) {
		hn_c_line(x->c, "if (%s) {", guard);
		x->c->indent++;
	}
	return guard != NULL;
}

static void set_width(struct c_tile *x, uint32_t width)
{
	x->width = width;
	x->type = hn_c_vector_type(x->c, x->t, width);
}

static void points_from(struct c_tile *x, uint32_t i);

/* A single point, or a vector: its lanes one by one where not all of them count. */
static void point(struct c_tile *x)
{
	struct c *c = x->c;
	uint32_t width = x->width;

	if (!open_guards(x)) {
		sums(x);
		return;
	}
	sums(x);
	if (x->by_lane && width > 1) {
		c->indent--;
		hn_c_line(c, "} else {");
		c->indent++;
		set_width(x, 1);
		points_from(x, 0);
		set_width(x, width);
	}
	c->indent--;
	hn_c_line(c, "}");
}

/* The box's points one by one, from loop i on, lanes by vectors where the text is about those. */
static void points_from(struct c_tile *x, uint32_t i)
{
	struct c *c = x->c;

	while (i < x->n_dim && (x->dim[i].reduce || x->dim[i].now <= 1 ||
				(x->dim[i].chain >= 0 && (!x->by_lane || x->dim[i].now <= x->width)))) {
		i++;
	}
	if (i == x->n_dim) {
		point(x);
		return;
	}
	struct c_dim *d = &x->dim[i], was = *d;
	const char *outer = c->loop[d->loop->loop];
	uint32_t step = d->chain >= 0 ? x->width : 1;

	hn_c_part_open(c, d->loop, d->looped ? outer : NULL, d->base, d->now, step);
	d->now = step;
	d->base = 0;
	d->looped = true;
	points_from(x, i + 1);
	*d = was;
	hn_c_loop_close(c, d->loop);
	c->loop[d->loop->loop] = outer;
}

/* All points at once where all count. */
static void box(struct c_tile *x)
{
	struct c_dim *chain[HN_TILE_MAX_CHAIN];
	struct c *c = x->c;
	uint32_t width = x->width;

	if (!open_guards(x)) {
		sums(x);
		return;
	}
	sums(x);
	c->indent--;
	hn_c_line(c, "} else {");
	c->indent++;
	/* a chain of loops has no single one to go along by vectors */
	set_width(x, x->by_lane && hn_c_tile_chain(x, chain) > 1 ? 1 : width);
	points_from(x, 0);
	set_width(x, width);
	c->indent--;
	hn_c_line(c, "}");
}

/* Of so many iterations left over, those held at once, and as how wide vectors. */
static int64_t piece_of(const struct c_tile *x, const struct c_dim *d, int64_t left, uint32_t *width)
{
	*width = x->width;
	if (d->chain < 0) {
		return left;
	}
	while (*width > left) {
		*width /= 2;
	}
	return left / *width * *width;
}

/* One block of dimension i after the other, then what is left over. */
static void blocks(struct c_tile *x, uint32_t i)
{
	struct c *c = x->c;
	struct c_dim *d = &x->dim[i];
	int64_t extent = d->loop->extent, at = extent - extent % d->block;
	uint32_t width = x->width, narrow;
	bool loops = at > d->block;

	d->now = d->block;
	d->base = 0;
	d->looped = loops;
	if (loops) {
		hn_c_loop_open(c, d->loop, at, d->block);
	}
	if (at > 0) {
		dims_from(x, i + 1);
	}
	if (loops) {
		hn_c_loop_close(c, d->loop);
	}
	for (d->looped = false; at < extent; at += d->now) {
		d->now = piece_of(x, d, extent - at, &narrow);
		d->base = at;
		set_width(x, narrow);
		hn_c_line(c, "{");
		c->indent++;
		dims_from(x, i + 1);
		c->indent--;
		hn_c_line(c, "}");
		set_width(x, width);
	}
	d->now = 1;
	d->base = 0;
	hn_c_know_nothing(c, d->loop);
}

/* The loops around the tile: those outside of its first reduction loop, then what is left of
 * the others' blocks. */
static void dims_from(struct c_tile *x, uint32_t i)
{
	struct c *c = x->c;

	for (; i < x->n_dim; i++) {
		const struct c_dim *d = &x->dim[i];

		if (d->loop->init != NULL && !x->from_identity) {
			hn_c_node(c, d->loop->init, d->loop->stage);
		}
		if (d->loop->extent == 1 || (d->reduce && i >= x->tile)) {
			continue;
		}
		if (!d->reduce) {
			blocks(x, i);
			return;
		}
		hn_c_loop_open(c, d->loop, d->loop->extent, 1);
		dims_from(x, i + 1);
		hn_c_loop_close(c, d->loop);
		return;
	}
	box(x);
}

bool hn_c_tile(struct c *c, const struct hn_node *node)
{
	struct c_tile x;

	if (!hn_c_tile_choose(c, node, &x)) {
		return false;
	}
	hn_c_line(c, x.width > 1 ? "{ /* sums in registers: %lld vectors of %u */"
				 : "{ /* sums in registers: %lld */",
		  (long long)hn_c_tile_points(&x), x.width);
	c->indent++;
	dims_from(&x, 0);
	c->indent--;
	hn_c_line(c, "}");
	return true;
}
