/* lower/npu/task_window.c -- a convolution: which axes of its sum are windows of which dimensions of the
 * image, and how the weights lie beside them.
 */
#include "lower/npu/task_int.h"

#define ALONE UINT32_MAX /* the dimension of an image that has one */

struct dimension { /* of the image, that windows slide over */
	int64_t extent, step, dilation, before; /* in points; before: padded */
	int32_t window, point;			/* axes of the sum; -1: one point */
};

/* first + step * (axis of the result) + dilation * (axis that is summed). */
static bool read_dimension(const struct task *x, const struct task_factor *f, uint32_t d, struct dimension *ret)
{
	const struct task_form *i = &f->index[d];
	uint32_t n = 0;

	*ret = (struct dimension){ .extent = x->dag->op[f->op]->shape[d], .step = 1, .dilation = 1,
				   .before = -i->first, .window = -1, .point = -1 };
	for (uint32_t a = 0; a < x->sum->n_spatial + x->sum->n_reduce; a++) {
		bool summed = a >= x->sum->n_spatial;

		if (i->by[a] == 0 || task_extent(x, a) == 1) {
			continue;
		}
		if (i->by[a] < 0 || n++ == 2 || (summed ? ret->point : ret->window) >= 0) {
			return false;
		}
		*(summed ? &ret->point : &ret->window) = (int32_t)a;
		*(summed ? &ret->dilation : &ret->step) = i->by[a];
	}
	return true;
}

static bool slides(const struct dimension *d)
{
	return d->window >= 0 && (d->point >= 0 || d->step > 1 || d->before != 0);
}

static bool has_lanes(const struct task *x, const struct task_steps *s)
{
	for (uint32_t i = x->sum->n_spatial; i < x->sum->n_spatial + x->sum->n_reduce; i++) {
		if (s->at.by[i] == 1) {
			return true;
		}
	}
	return false;
}

/* A window of one point is none: its rows lie apart, that is all. */
static int image_of(const struct task *x)
{
	for (int i = 0; i < 2; i++) {
		struct dimension d;

		for (uint32_t k = 0; k < x->factor[i].n_dim; k++) {
			if (read_dimension(x, &x->factor[i], k, &d) && d.window >= 0 &&
			    (d.point >= 0 || (slides(&d) && !has_lanes(x, &x->factor[i].steps)))) {
				return i;
			}
		}
		if (x->factor[i].padded) {
			return i;
		}
	}
	return -1;
}

bool task_is_window(const struct task *x)
{
	return image_of(x) >= 0;
}

static int64_t extent(const struct task *x, int32_t axis)
{
	return axis < 0 ? 1 : task_extent(x, (uint32_t)axis);
}

static int64_t step_of(const struct task_steps *s, int32_t axis)
{
	return axis < 0 ? 0 : s->at.by[axis];
}

/* The two that slide; a window that does not slide along one of them has one point there. */
static bool find_dimensions(struct task *x, uint32_t ret_at[2], struct dimension ret[2])
{
	const struct task_factor *f = &x->factor[0];
	uint32_t n = 0;

	for (uint32_t d = 0; d < f->n_dim; d++) {
		struct dimension at;

		if (!read_dimension(x, f, d, &at)) {
			return task_no(x, "an image whose indices are no windows");
		}
		if (slides(&at)) {
			if (n == 2) {
				return task_no(x, "windows of more than two dimensions");
			}
			ret_at[n] = d;
			ret[n++] = at;
		}
	}
	if (n == 1) { /* the points of the other one lie behind, or before */
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t d = k == 0 ? ret_at[0] + 1 : ret_at[0] - 1;
			struct dimension at;

			if (n == 1 && d < f->n_dim && read_dimension(x, f, d, &at) && at.window >= 0 &&
			    at.point < 0 && x->factor[1].steps.at.by[at.window] == 0) {
				ret_at[k == 0] = d;
				ret[k == 0] = at;
				if (k == 1) {
					ret_at[1] = d + 1;
					(void)read_dimension(x, f, d + 1, &ret[1]);
					ret_at[0] = d;
					ret[0] = at;
				}
				n = 2;
			}
		}
	}
	if (n == 1) { /* a row of points is an image of one row */
		ret_at[1] = ret_at[0];
		ret[1] = ret[0];
		ret_at[0] = ALONE;
		ret[0] = (struct dimension){ .extent = 1, .step = 1, .dilation = 1, .window = -1, .point = -1 };
	}
	return n > 0 || task_no(x, "an image that nothing slides over");
}

static void put_axis(struct task_group *g, int32_t axis)
{
	if (axis >= 0) {
		g->axis[g->n++] = (uint8_t)axis;
	}
}

static bool is_one_of(const struct dimension d[2], int32_t axis)
{
	return axis == d[0].window || axis == d[0].point || axis == d[1].window || axis == d[1].point;
}

/* Axes that do not slide: channels, results, images. */
static bool classify(struct task *x, const struct dimension d[2])
{
	put_axis(&x->rows, d[0].window);
	put_axis(&x->rows, d[1].window);
	for (uint32_t i = 0; i < x->sum->n_spatial + x->sum->n_reduce; i++) {
		bool image = x->factor[0].steps.at.by[i] != 0, weights = x->factor[1].steps.at.by[i] != 0;

		if (task_extent(x, i) == 1) {
			continue;
		}
		if (is_one_of(d, (int32_t)i)) {
			if (weights != (i >= x->sum->n_spatial)) {
				return task_no(x, "weights that are not the same for all windows");
			}
		} else if (i >= x->sum->n_spatial) {
			if (!image || !weights) {
				return task_no(x, "terms that one factor alone has");
			}
			put_axis(&x->terms, (int32_t)i);
		} else if (weights && !image) {
			put_axis(&x->columns, (int32_t)i);
		} else {
			put_axis(&x->batch, (int32_t)i);
		}
	}
	task_sort(x, &x->columns, &x->store[0]);
	task_sort(x, &x->terms, &x->factor[0].steps);
	return true;
}

static bool read_image(struct task *x, const uint32_t at[2], const struct dimension d[2],
		       struct hn_npu_window *w)
{
	const struct task_factor *f = &x->factor[0];
	struct hn_npu_view *a = &x->t->a;
	int64_t step[2] = { 1, 1 }, c0 = x->t->dtype == HN_I8 ? 32 : 16, lane;

	for (int i = 0; i < 2; i++) {
		for (uint32_t k = at[i] == ALONE ? f->n_dim : at[i] + 1; k < f->n_dim; k++) {
			step[i] *= x->dag->op[f->op]->shape[k];
		}
	}
	step[0] = at[0] == ALONE ? step[1] * d[1].extent : step[0];
	*w = (struct hn_npu_window){ .height = d[0].extent, .width = d[1].extent, .kh = extent(x, d[0].point),
				     .kw = extent(x, d[1].point), .sh = d[0].step, .sw = d[1].step,
				     .dh = d[0].dilation, .dw = d[1].dilation, .top = d[0].before,
				     .left = d[1].before, .high = extent(x, d[0].window),
				     .wide = extent(x, d[1].window) };
	*a = (struct hn_npu_view){ .arg = f->steps.arg, .dtype = f->steps.dtype, .row = step[1] };
	if (step[0] != step[1] * w->width) {
		return task_no(x, "an image whose rows are not one behind the other");
	}
	if (!task_blocks(x, &x->terms, &f->steps, c0, &a->block, &lane) || lane != 1) {
		a->turned = true; /* its points are */
		if (c0 != 16 || step[1] != 1 || !task_flat(x, &x->terms, &f->steps, &a->row)) {
			return task_no(x, "an image of which neither channels nor points are next to each other");
		}
	}
	a->lane = 1;
	w->channels = 1;
	for (uint32_t i = 0; i < x->terms.n; i++) {
		w->channels *= task_extent(x, x->terms.axis[i]);
	}
	/* what the padded forms begin with is in the window, not in the address */
	a->first = f->steps.at.first + w->top * step[0] + w->left * step[1];
	return true;
}

static bool is_in_range(const struct hn_npu_window *w)
{
	int64_t high = (w->kh - 1) * w->dh + 1, wide = (w->kw - 1) * w->dw + 1;

	return w->height <= 4095 && w->width <= 4095 && w->kh <= 255 && w->kw <= 255 && w->sh <= 63 &&
	       w->sw <= 63 && w->dh <= 63 && w->dw <= 63 && w->top >= 0 && w->left >= 0 && w->top < high &&
	       w->left < wide && w->top <= 255 && w->left <= 255 && high <= 4095 &&
	       (w->high - 1) * w->sh - w->top < w->height && (w->wide - 1) * w->sw - w->left < w->width &&
	       (w->high - 1) * w->sh - w->top + high - w->height <= 255 &&
	       (w->wide - 1) * w->sw - w->left + wide - w->width <= 255 &&
	       w->width + w->left - ((w->wide - 1) * w->sw + wide) < w->sw;
}

/* Weights whose terms lie as the image's do: blocks of channels, the window's rows, columns, C0. */
static bool are_merged(const struct task *x, const struct dimension d[2], const struct hn_npu_window *w, bool turned,
		       int64_t c0, struct hn_npu_view *b)
{
	const struct task_steps *s = &x->factor[1].steps;
	int64_t block, lane, points = w->kh * w->kw, point, row, terms;

	if (w->channels % c0 != 0) {
		return false;
	}
	point = w->kw > 1 ? step_of(s, d[1].point) : step_of(s, d[0].point);
	if (w->kw > 1 && w->kh > 1 && step_of(s, d[0].point) != point * w->kw) {
		return false;
	}
	if (turned) {
		if (!task_blocks(x, &x->terms, s, c0, &block, &lane) || lane != 1 ||
		    !task_flat(x, &x->columns, s, &row)) {
			return false;
		}
		if (points > 1 && w->channels > c0 && block != point * points) {
			return false;
		}
		*b = (struct hn_npu_view){ .arg = s->arg, .dtype = s->dtype, .first = s->at.first, .turned = true,
					   .row = row, .block = points > 1 ? point : block, .lane = 1 };
		return true;
	}
	if (!task_flat(x, &x->terms, s, &terms) || !task_blocks(x, &x->columns, s, 16, &block, &lane) || lane != 1) {
		return false;
	}
	if (points > 1 && (point != c0 * terms || w->channels > c0)) {
		return false;
	}
	*b = (struct hn_npu_view){ .arg = s->arg, .dtype = s->dtype, .first = s->at.first, .row = terms,
				   .block = block, .lane = 1 };
	return true;
}

static bool read_weights(struct task *x, const struct dimension d[2], struct hn_npu_window *w)
{
	const struct task_steps *s = &x->factor[1].steps;
	struct hn_npu_view *b = &x->t->b;
	int64_t c0 = x->t->dtype == HN_I8 ? 32 : 16, lane;

	*b = (struct hn_npu_view){ .arg = s->arg, .dtype = s->dtype, .first = s->at.first, .lane = 1 };
	w->merged = are_merged(x, d, w, true, c0, b) || (c0 == 16 && are_merged(x, d, w, false, c0, b));
	if (w->merged) {
		return true;
	}
	w->weight_h = step_of(s, d[0].point);
	w->weight_w = step_of(s, d[1].point);
	b->turned = true;
	if (task_flat(x, &x->columns, s, &b->row) && task_blocks(x, &x->terms, s, c0, &b->block, &lane) && lane == 1) {
		return true;
	}
	b->turned = false;
	w->staged = c0 == 16 && w->kh * w->kw <= 255 && (w->kw == 1 || w->weight_w == 1) &&
		    (w->kh == 1 || w->weight_h == w->kw) && task_flat(x, &x->columns, s, &b->row) &&
		    task_flat(x, &x->terms, s, &lane) && (lane == w->kh * w->kw || w->channels == 1);
	if (w->staged) {
		return true;
	}
	return (c0 == 16 && task_flat(x, &x->terms, s, &b->row) &&
		task_blocks(x, &x->columns, s, 16, &b->block, &lane) && lane == 1) ||
	       task_no(x, "weights of which neither channels nor results are next to each other");
}

bool task_window(struct task *x)
{
	struct hn_npu_window *w = HN_NEW(x->a, struct hn_npu_window);
	int64_t c0 = x->t->dtype == HN_I8 ? 32 : 16;
	struct dimension d[2];
	uint32_t at[2];

	if (image_of(x) == 1) {
		struct task_factor f = x->factor[0];

		x->factor[0] = x->factor[1];
		x->factor[1] = f;
	}
	if (x->factor[1].padded) {
		return task_no(x, "weights that are padded");
	}
	if (!find_dimensions(x, at, d) || !classify(x, d) || !read_image(x, at, d, w)) {
		return false;
	}
	if (!is_in_range(w)) {
		return task_no(x, "windows of sizes that have no form here");
	}
	if (!read_weights(x, d, w)) {
		return false;
	}
	x->t->window = w;
	x->t->k = hn_ceildiv(w->channels, c0) * c0 * w->kh * w->kw;
	return task_results(x);
}
