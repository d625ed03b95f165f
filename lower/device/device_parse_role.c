/* lower/device/device_parse_role.c -- maps and the words of roles (device_role.h) in a device program's
 * text. */
#include <string.h>

#include "lower/device/device_parse_int.h"
#include "lower/device/device_role.h"

static int32_t find_map(const struct parse *p, const char *name)
{
	for (uint32_t i = 0; i < p->d.n_map; i++) {
		if (strcmp(p->map[i].name, name) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

void hn_parse_map(struct parse *p)
{
	struct hn_device_map m = { 0 };
	int64_t v[3][HN_DEVICE_MAX_DIM];
	uint32_t n[3];

	if (p->d.n_map == HN_DEVICE_MOST_MAPS) {
		hn_parse_refuse(p, "more than %d maps", HN_DEVICE_MOST_MAPS);
	}
	hn_parse_take(p);
	if (!hn_parse_is_name(p) || find_map(p, p->word) >= 0) {
		hn_parse_refuse(p, "'%s' is no name for a map, or two have it", p->word);
	}
	m.name = hn_arena_strdup(p->a, p->word);
	hn_parse_expect(p, "of");
	m.buffer = hn_parse_take_buffer(p);
	n[0] = hn_parse_numbers(p, "size", v[0]);
	n[1] = hn_parse_numbers(p, "stride", v[1]);
	n[2] = hn_parse_numbers(p, "box", v[2]);
	if (n[0] < 1 || n[0] > HN_DEVICE_MAP_DIM || n[1] != n[0] || n[2] != n[0]) {
		hn_parse_refuse(p, "a map has 1 to %d sizes, and as many strides and lengths of its "
				   "box", HN_DEVICE_MAP_DIM);
	}
	m.n_dim = n[0];
	for (uint32_t i = 0; i < m.n_dim; i++) {
		m.size[i] = v[0][i];
		m.stride[i] = v[1][i];
		m.box[i] = v[2][i];
	}
	hn_parse_expect(p, "swizzle");
	m.swizzle = hn_parse_take_int(p);
	hn_parse_end_line(p);
	if (p->d.n_map == p->cap_map) {
		p->map = hn_arena_grow(p->a, p->map, p->d.n_map, &p->cap_map, sizeof(p->map[0]));
	}
	p->map[p->d.n_map++] = m;
}

static void bulk(struct parse *p, struct hn_device_node *n)
{
	struct hn_device_bulk *b = HN_NEW(p->a, struct hn_device_bulk);

	n->buffer = hn_parse_element(p, &n->at);
	hn_parse_expect(p, "from");
	b->map = find_map(p, hn_parse_take(p));
	if (b->map < 0) {
		hn_parse_refuse(p, "there is no map '%s'", p->word);
	}
	for (uint32_t i = 0; i < p->map[b->map].n_dim; i++) {
		hn_parse_expect(p, i > 0 ? "," : "[");
		b->from[i] = hn_parse_expr(p);
	}
	hn_parse_expect(p, "]");
	hn_parse_expect(p, "on");
	b->mbarrier = hn_parse_element(p, &b->mbarrier_at);
	n->bulk = b;
}

static void role(struct parse *p, struct hn_device_node *n)
{
	hn_parse_take(p);
	while (n->how < HN_DEVICE_N_ROLE && strcmp(p->word, hn_device_role_word[n->how]) != 0) {
		n->how++;
	}
	if (n->how == HN_DEVICE_N_ROLE) {
		hn_parse_refuse(p, "'%s' is no role: producer or consumer", p->word);
	}
	hn_parse_expect(p, "registers");
	n->extent = hn_parse_take_int(p);
	n->e = hn_parse_expr(p);
	hn_parse_block(p, n);
}

bool hn_parse_role_word(struct parse *p, struct hn_device_node *n)
{
	static const struct {
		const char *word, *number;
		enum hn_device_kind kind;
	} row[] = { { "mbarrier", "count", HN_DEVICE_MBARRIER },
		    { "expect", "bytes", HN_DEVICE_EXPECT },
		    { "arrive", NULL, HN_DEVICE_ARRIVE },
		    { "await", NULL, HN_DEVICE_AWAIT },
		    { "bulk", NULL, HN_DEVICE_BULK },
		    { "role", NULL, HN_DEVICE_ROLE } };
	size_t i = 0;

	while (i < HN_COUNT_OF(row) && !hn_parse_accept(p, row[i].word)) {
		i++;
	}
	if (i == HN_COUNT_OF(row)) {
		return false;
	}
	n->kind = (uint8_t)row[i].kind;
	if (n->kind == HN_DEVICE_BULK) {
		bulk(p, n);
	} else if (n->kind == HN_DEVICE_ROLE) {
		role(p, n);
	} else {
		n->buffer = hn_parse_element(p, &n->at);
	}
	if (row[i].number != NULL) {
		hn_parse_expect(p, row[i].number);
		n->extent = hn_parse_take_int(p);
	}
	if (n->kind == HN_DEVICE_AWAIT) {
		hn_parse_expect(p, "parity");
		n->e = hn_parse_expr(p);
	}
	return true;
}
