/* lower/device/device_interp_box.c -- what a bulk copy brings: a box of a map, rows one after the
 * other, chunks moved as a warpgroup's product looks for them, 0 outside of the map. */
#include "lower/device/device_interp_role.h"

void hn_interp_box_flies(struct run *r, const struct hn_device_node *n, int64_t at)
{
	int64_t box = hn_map_box(&r->d->map[n->bulk->map]);

	for (int64_t i = 0; i < box; i++) {
		r->memory[n->buffer].seen[at + i].flies = true;
	}
}

/* The element of the buffer in global memory; -1: it is outside of the map. */
static int64_t source(const struct hn_device_map *m, const int64_t *from, int64_t i)
{
	int64_t at = 0;

	for (uint32_t d = m->n_dim; d-- > 0;) {
		int64_t x = from[d] + i % m->box[d];

		i /= m->box[d];
		if (x < 0 || x >= m->size[d]) {
			return -1;
		}
		at += x * m->stride[d];
	}
	return at;
}

void hn_interp_box(struct run *r, const struct hn_device_node *n, int64_t at, const int64_t *from)
{
	const struct hn_device_map *m = &r->d->map[n->bulk->map];
	enum hn_dtype type = (enum hn_dtype)r->d->buffer[n->buffer].dtype;
	int64_t bytes = (int64_t)hn_dtype_bytes(type), row = m->box[m->n_dim - 1];
	const struct hn_device_matrix lies = { .width = row * bytes };
	int64_t box = hn_map_box(m);

	r->thread = TOGETHER;
	for (int64_t i = 0; i < box && r->fault[0] == '\0'; i++) {
		int64_t k = source(m, from, i), place = i;
		union hn_value v = { 0 };

		if (m->swizzle > 0) {
			place = hn_wgmma_place(&lies, bytes, i / row, i % row) / bytes;
		}
		if (k >= 0) {
			k = hn_interp_reach(r, m->buffer, k, false);
			v = k >= 0 ? hn_interp_get(r->memory[m->buffer].data, type, k) : v;
		}
		r->memory[n->buffer].seen[at + place].flies = false;
		r->memory[n->buffer].seen[at + place].wrote = r->phase;
		hn_interp_put(r->memory[n->buffer].data, type, at + place, v);
	}
	r->fuel -= box;
}
