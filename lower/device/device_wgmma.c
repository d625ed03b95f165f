/* lower/device/device_wgmma.c -- see device_wgmma.h. */
#include "lower/device/device_wgmma.h"

#include "base/arith.h"

#define CHUNK 16 /* bytes */
#define LINE 128 /* bytes of shared memory that all banks hold */

int64_t hn_wgmma_place(const struct hn_device_matrix *m, int64_t bytes, int64_t side, int64_t term)
{
	int64_t per = m->width / bytes;
	int64_t at = m->across ? side / per * m->next + side % per * bytes + term * m->width
			       : side * m->width + term * bytes;

	return at ^ (at / LINE % (m->width / CHUNK) * CHUNK);
}

int64_t hn_wgmma_step(const struct hn_device_matrix *m, const struct hn_intrin *in)
{
	return hn_intrin_terms(in) *
	       (m->across ? m->width : (int64_t)hn_dtype_bytes(in->left));
}

static int64_t sides(const struct hn_device_warp *w, int i)
{
	return i == 0 ? w->intrin->most[HN_INTRIN_M] : w->columns;
}

int64_t hn_wgmma_run(const struct hn_device_warp *w, int i, int64_t *ret)
{
	const struct hn_device_matrix *m = &w->lies[i];
	int64_t per = m->width / (int64_t)hn_dtype_bytes(w->intrin->left);

	*ret = m->across ? hn_ceildiv(sides(w, i), per) : 1;
	return m->width *
	       (m->across ? w->steps * hn_intrin_terms(w->intrin) : sides(w, i));
}

uint64_t hn_wgmma_descriptor(const struct hn_device_matrix *m)
{
	uint64_t leading = m->across ? (uint64_t)m->next / 16 : 1; /* else it is not looked at */
	uint64_t stride = (uint64_t)(HN_WGMMA_ROWS * m->width) / 16;
	uint64_t swizzle = m->width == 128 ? 1 : m->width == 64 ? 2 : 3;

	return (leading & 0x3fff) << 16 | (stride & 0x3fff) << 32 | swizzle << 62;
}

static const char *why_no_matrix(const struct hn_device *d, const struct hn_device_warp *w, int i)
{
	const struct hn_device_matrix *m = &w->lies[i];
	int64_t bytes = (int64_t)hn_dtype_bytes(w->intrin->left);

	if (d->buffer[w->from[i]].memory != HN_MEMORY_SHARED) {
		return "wgmma takes its factors from shared memory";
	}
	if (m->width != 32 && m->width != 64 && m->width != 128) {
		return "rows of a factor of wgmma have 32, 64 or 128 bytes";
	}
	if (m->across && bytes != 2) {
		return "wgmma takes rows across terms of elements of 2 bytes alone";
	}
	if (m->across ? m->next < 0 || m->next % (HN_WGMMA_ROWS * m->width) != 0 ||
				m->next / 16 > 0x3fff
		      : m->next != 0) {
		return "wgmma: where the next rows or columns lie has no form";
	}
	if (!m->across && w->steps * hn_intrin_terms(w->intrin) * bytes > m->width) {
		return "wgmma takes more terms than its factor's rows have";
	}
	if (!hn_warp_is_multiple(w->from_at[i], HN_WGMMA_ROWS * m->width / bytes)) {
		return "a factor of wgmma may lie at what is no multiple of 8 rows";
	}
	return NULL;
}

const char *hn_wgmma_why_not(const struct hn_device *d, const struct hn_device_node *n)
{
	const struct hn_device_warp *w = n->warp;
	const struct hn_device_buffer *to = &d->buffer[n->buffer];
	bool reads = n->kind == HN_DEVICE_WGMMA;
	const char *why;

	if (w->intrin == NULL || !hn_intrin_is_warpgroup(w->intrin)) {
		return "wgmma names no instruction of a warpgroup's";
	}
	if (to->dtype != w->intrin->sum ||
	    (reads && (d->buffer[w->from[0]].dtype != w->intrin->left ||
		       d->buffer[w->from[1]].dtype != w->intrin->right))) {
		return "wgmma has operands of other types";
	}
	if (to->memory != HN_MEMORY_LOCAL) {
		return "wgmma adds to local memory";
	}
	if (w->columns < 8 || w->columns > HN_WGMMA_COLUMNS || w->columns % 8 != 0) {
		return "wgmma has 8, 16, ... or 256 columns";
	}
	/* bytes: the sizes that the ISA has of it */
	if (hn_dtype_bytes(w->intrin->left) == 1 && w->columns % 16 != 0 && w->columns != 8 &&
	    w->columns != 24) {
		return "wgmma on bytes has 8, 24 or a multiple of 16 columns";
	}
	if (!reads) {
		return NULL;
	}
	if (w->steps < 1 || w->steps > HN_WGMMA_STEPS) {
		return "wgmma takes its terms 1 to 16 times";
	}
	why = why_no_matrix(d, w, 0);
	return why != NULL ? why : why_no_matrix(d, w, 1);
}
