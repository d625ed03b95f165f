/* lower/npu/product_fit.c -- whether a plan of a product can be carried out: tiles against the memories,
 * cores against the blocks that they write (product_cores.c), the program against its greatest length.
 *
 * One place decides it for the rule that makes plans and for the code, so no plan of the rule's list
 * is refused.
 */
#include "lower/npu/cube.h"

#define MOST_SIZE ((int64_t)1 << 24)
#define MOST_STRIDE ((int64_t)1 << 29) /* elements: bytes of transfers are at most 2^30 apart */
#define MOST_OFFSET ((int64_t)1 << 38) /* of batches */
#define MOST_ZEROS 1024 /* points of an image */
#define MOST_HEIGHT 4095
#define MOST_ROWS 16384 /* of an nd2nz */
#define STAGE 256		       /* numbers of a row that are transposed at a time, at least */
#define STAGE_BYTES 128		       /* terms of 32 columns, of int8 */
#define MOST_AT_ONCE 4080	       /* of mmad, in whole fractals */

int64_t cube_image_rows(const struct cube *x)
{
	const struct hn_npu_window *w = x->t->window;
	int64_t high = cube_least((x->p->m0 + w->wide - 2) / w->wide + 1, w->high);

	return cube_least((high - 1) * w->sh + (w->kh - 1) * w->dh + 1, w->height);
}

int64_t cube_zero_rows(const struct hn_npu_task *t)
{
	int64_t c0 = hn_npu_c0(t), rows;

	if (t->window == NULL || t->a.turned || t->a.block != c0 || t->window->channels <= c0) {
		return 0;
	}
	rows = 16 / hn_gcd(16, t->window->width) - 1;
	return rows * t->window->width <= MOST_ZEROS ? rows : 0; /* more would take what tiles need */
}

int64_t cube_image_height(const struct cube *x, int64_t rows, int64_t blocks)
{
	int64_t width = x->t->window->width, high = rows;

	while (high * width % 16 != 0) {
		high++;
	}
	return cube_zero_rows(x->t) > 0 && blocks > 1 && high <= MOST_HEIGHT && high * width <= MOST_ROWS ? high : rows;
}

/* -- the program's length --------------------------------------------------------------- */

static int64_t transfers(const struct cube *x, const struct hn_npu_view *v, int64_t columns)
{
	return v->block == x->c0 || v->row == x->c0 ? 2 : hn_ceildiv(columns, x->c0) + 1;
}

static int64_t loads(const struct cube *x)
{
	const struct hn_npu_product *p = x->p;
	const struct hn_npu_task *t = x->t;
	int64_t k1 = cube_least(p->k1, t->k), n;

	if (t->window == NULL && t->dtype == HN_I8) {
		return (hn_ceildiv(p->m0, 32) + hn_ceildiv(p->n0, 32)) * (k1 / STAGE_BYTES + 1) * 50 + 60 +
		       transfers(x, &t->a, k1) + transfers(x, &t->b, k1);
	}
	if (t->window == NULL) {
		n = transfers(x, &t->a, t->a.turned ? p->m0 : k1) * (t->a.split > 0 ? p->m0 / t->a.split + 3 : 1);
	} else {
		n = 2 * (hn_ceildiv(k1, t->window->kh * t->window->kw * x->c0) + 1) + 3 * cube_zero_rows(t);
	}
	if (t->window != NULL) {
		n += cube_stage_insns(x, cube_image_rows(x) * t->window->width,
				      hn_ceildiv(k1, t->window->kh * t->window->kw * x->c0), p->n0);
	}
	if (t->window != NULL && !t->window->merged) {
		int64_t points = t->window->kh * t->window->kw;

		return n + points * (1 + transfers(x, &t->b, t->b.turned ? k1 / points : p->n0));
	}
	return n + transfers(x, &t->b, t->b.turned ? k1 : p->n0);
}

static int64_t of_a_piece(const struct cube *x)
{
	const struct hn_npu_task *t = x->t;
	int64_t n1 = x->piece / 16, n = 8;

	for (uint32_t i = 1; i < t->n_value; i++) { /* repeats are 255 at a time; a barrier each */
		n += t->value[i].view.turned ? 40 * n1 * (1 + x->p->m0 / 1000) : 0;
		n += x->last[i] < 0 ? 0 : 16 + 5 * n1 * (1 + x->p->m0 / 1000);
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		n += t->store[i].view.turned ? 40 * n1 * (1 + x->p->m0 / 1000) : 0;
	}
	return n + n1 * t->n_store * 4 * (1 + x->p->m0 / 1000);
}

/* Registers, a load and a store, with their flags, of each batch. */
static int64_t edges(const struct cube *x)
{
	int64_t longest = x->rows > x->columns ? x->rows : x->columns;
	int64_t transfers = longest / cube_least(CUBE_EDGE_LINES, x->m->ub_bytes / 128) + 1;

	return hn_mul_sat(x->batches, 8 * x->t->n_store * transfers + 6 * (int64_t)(x->t->n_batch + 1) * (2 + 2 * x->t->n_store + 4));
}

/* With the cores that add up the sums: each may have code of its own. */
static int64_t second(const struct cube *x, int64_t first)
{
	struct hn_npu_product p;
	struct cube y;
	int64_t pieces, scalar = 6 * (int64_t)(x->t->n_batch + 1) * (2 + 2 * x->t->n_store + 4);

	if (cube_second(x, &y, &p) < 0) {
		return INT64_MAX;
	}
	pieces = hn_mul_sat(y.batches, hn_ceildiv(y.rows, p.m0) * hn_ceildiv(y.columns, p.n0));
	return hn_add_sat(first, hn_mul_sat(x->m->cores, hn_add_sat(cube_second_insns(&y),
								     hn_mul_sat(pieces, of_a_piece(&y) + scalar))));
}

int64_t cube_insns(const struct cube *x)
{
	const struct hn_npu_product *p = x->p;
	const struct hn_npu_task *t = x->t;
	int64_t tiles = hn_mul_sat(x->batches, hn_mul_sat(hn_ceildiv(x->rows, p->m0), hn_ceildiv(x->columns, p->n0)));
	int64_t steps = hn_ceildiv(x->terms, p->k1), q = p->k0 / x->c0, m1 = p->m0 / 16, n1 = p->n0 / 16;
	int64_t mult = hn_ceildiv(cube_least(p->k1, x->terms), p->k0) *
		       (cube_least(m1, q) + (t->window != NULL ? q : cube_least(n1, q)) + 9);
	int64_t scalar = 6 * (int64_t)(t->n_batch + 1) * (2 + 2 * t->n_store + 4);
	int64_t of_a_tile = steps * (mult + loads(x) + 8 + scalar) + scalar +
			    hn_ceildiv(p->n0, x->piece) * (x->n_sums > 1 ? 8 : of_a_piece(x));
	int64_t sections = (x->batches < hn_npu_batches(t) && hn_npu_batches(t) % x->batches != 0 ? 2 : 1) *
			   (t->n > x->columns && t->n % x->columns != 0 ? 2 : 1);

	sections *= cube_has_own_rows(t) ? hn_ceildiv(t->m, x->rows) : t->m > x->rows && t->m % x->rows != 0 ? 2 : 1;
	if (x->n_sums > 1) {
		return second(x, hn_mul_sat(sections * x->n_sums, hn_mul_sat(tiles, of_a_tile)));
	}
	return hn_mul_sat(sections, hn_add_sat(hn_mul_sat(tiles, of_a_tile), x->edges ? edges(x) : 0));
}

/* -- tiles ------------------------------------------------------------------------------ */

static bool steps_fit(const struct hn_npu_view *v)
{
	for (int d = 0; d < HN_NPU_BATCH; d++) {
		if (v->batch[d] < 0 || v->batch[d] > MOST_OFFSET) {
			return false;
		}
	}
	return v->first >= 0 && v->first <= MOST_OFFSET && v->outer <= MOST_OFFSET && v->split >= 0 && v->outer >= 0 && v->row >= 0 && v->row <= MOST_STRIDE && v->block >= 0 && v->block <= MOST_STRIDE && v->lane >= 0;
}

static const char *task_fits(const struct cube *x)
{
	const struct hn_npu_task *t = x->t;
	uint32_t views = 2 * t->n_store; /* each may have edges */

	for (uint32_t i = 0; i < t->n_value; i++) {
		views += t->value[i].loaded;
		if (t->value[i].loaded && !steps_fit(&t->value[i].view)) {
			return "an operand lies too far apart";
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		if (!steps_fit(&t->store[i].view)) {
			return "a result lies too far apart";
		}
	}
	return views > CUBE_MOST_VIEWS ? "more operands behind the sums than there are registers"
	       : !steps_fit(&t->a) || !steps_fit(&t->b) ? "a factor lies too far apart" : NULL;
}

static const char *plan_fits(const struct cube *x)
{
	const struct hn_npu_product *p = x->p;
	int64_t of_k1 = cube_unit(x->t), cores = hn_mul_sat(p->cores_m * p->cores_n, hn_mul_sat(cube_cores_b(p), cube_cores_k(p)));

	if (p->cores_m < 1 || p->cores_n < 1 || p->cores_m > x->m->cores || p->cores_n > x->m->cores ||
	    cores > x->m->cores) {
		return "plan: more cores than there are, or none";
	}
	if (p->m0 < 16 || p->n0 < 16 || p->k0 < x->c0 || p->k1 < x->c0 || p->m0 % 16 != 0 || p->n0 % 16 != 0 ||
	    p->k0 % x->c0 != 0 || p->k1 % of_k1 != 0 || p->m0 > MOST_AT_ONCE || p->n0 > MOST_AT_ONCE ||
	    p->k0 > MOST_AT_ONCE || p->k1 > MOST_SIZE) {
		return "plan: tiles are whole fractals, and terms in L1 whole windows";
	}
	return p->slots_l0 < 1 || p->slots_l1 < 1 || p->slots_l0c < 1 || p->slots_l0 > CUBE_MOST_SLOTS ||
			       p->slots_l1 > CUBE_MOST_SLOTS || p->slots_l0c > CUBE_MOST_SLOTS
		       ? "plan: slots are 1 to 64" : NULL;
}

/* Of terms that other cores have as well nothing but the sums goes through it. */
static int64_t of_a_copy(struct cube *x)
{
	if (x->n_sums > 1) {
		x->fixed = 0;
		return x->p->m0 * x->piece * CUBE_SUM;
	}
	return cube_place(x, x->piece);
}

static bool has_room(struct cube *x)
{
	const struct hn_npu_product *p = x->p;
	const struct hn_npu_task *t = x->t;
	int64_t room = x->m->ub_bytes;

	x->l1_a = (p->m0 + (t->a.split > 0 ? 16 : 0)) * p->k1 * x->size;
	if (t->window != NULL) { /* rows that are filled up to 16 may reach behind the last channels */
		int64_t rows = cube_image_rows(x) + cube_zero_rows(t);

		x->l1_a = p->k1 / (t->window->kh * t->window->kw * x->c0) * rows * t->window->width * 32 +
			  16 * HN_NPU_BLOCK;
		x->l1_a = cube_up(x->l1_a, CUBE_FRACTAL);
	}
	x->l1_b = p->n0 * p->k1 * x->size;
	x->l0_a = p->m0 * p->k0 * x->size;
	x->l0_b = p->n0 * p->k0 * x->size;
	x->l0_c = p->m0 * p->n0 * CUBE_SUM;
	if ((x->l1_a + x->l1_b) * p->slots_l1 > x->m->l1_bytes || x->l0_a * p->slots_l0 > x->m->l0a_bytes ||
	    x->l0_b * p->slots_l0 > x->m->l0b_bytes || x->l0_c * p->slots_l0c > x->m->l0c_bytes) {
		return false;
	}
	x->stage = 0;
	if (t->window != NULL && (t->a.turned || t->window->staged)) {
		int64_t least = t->window->staged ? t->window->kh * t->window->kw * 16 : 16;

		x->stage = cube_up(least > STAGE ? least : STAGE, 128);
		room -= cube_stage_bytes(x);
	}
	if (cube_turns_a(t) || cube_turns_b(t)) {
		x->stage = STAGE_BYTES;
		room -= cube_bytes_room(x);
	}
	room -= cube_zero_rows(t) > 0 ? t->window->width * 32 : 0;
	x->piece = p->n0;
	x->copies = 2;
	while ((x->ub_bytes = of_a_copy(x)) * 2 + x->fixed > room && x->piece > 16) {
		x->piece = hn_ceildiv(x->piece / 16, 2) * 16;
	}
	x->copies = x->ub_bytes * 2 + x->fixed > room ? 1 : 2;
	x->zeros_at = cube_zero_rows(t) > 0 ? x->m->ub_bytes / 32 * 32 - t->window->width * 32 : -1;
	x->stage_at = x->fixed + x->ub_bytes * x->copies;
	return x->ub_bytes + x->fixed <= room;
}

const char *cube_fit(struct cube *x)
{
	const struct hn_npu_task *t = x->t;
	const char *why;

	x->c0 = hn_npu_c0(t);
	x->size = hn_dtype_bytes(t->dtype);
	if (t->m < 1 || t->n < 1 || t->k < 1 || t->m > MOST_SIZE || t->n > MOST_SIZE || t->k > MOST_SIZE) {
		return "sizes are 1 to 16777216";
	}
	why = task_fits(x);
	why = why ? why : plan_fits(x);
	if (why != NULL) {
		return why;
	}
	if (!cube_share(x)) {
		return "plan: two cores would write to one block of 32 bytes";
	}
	if (cube_scratch_bytes(x) > HN_NPU_MOST_SCRATCH) {
		return "plan: more scratch than a program has";
	}
	if (!has_room(x)) {
		return "plan: its tiles do not fit into the buffers";
	}
	return cube_insns(x) > HN_NPU_MOST_INSNS ? "its tiles are too many for one program" : NULL;
}
