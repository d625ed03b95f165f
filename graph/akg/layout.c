/* graph/akg/layout.c -- tensors laid out anew: fractals, and blocks of channels. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

static bool is_rows(const char *format)
{
	return strcmp(format, "DefaultFormat") == 0 || strcmp(format, "NCHW") == 0 ||
	       strcmp(format, "ND") == 0;
}

void hn_akg_trans_data(struct hn_akg_call *c)
{
	const char *from = hn_akg_text(c, "src_format", ""), *to = hn_akg_text(c, "dst_format", "");
	const struct hn_akg_tensor *t = &c->op->out[0];

	if (is_rows(from) && hn_akg_is_fractal(to)) {
		c->out[0] = hn_akg_to_fractals(c->g, c->in[0]);
	} else if (hn_akg_is_fractal(from) && is_rows(to) && t->rank >= 2) {
		c->out[0] = hn_akg_from_fractals(c->g, c->in[0], t->shape[t->rank - 2],
						 t->shape[t->rank - 1]);
	} else if (strcmp(from, to) == 0) {
		c->out[0] = c->in[0];
	} else {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "from %.40s to %.40s", from, to);
	}
}

/* -- LayoutTransform -------------------------------------------------------------------- */

/* "NCHW16c": a letter for each dimension; a small one is a block, of so many, of the capital's. */
struct layout {
	uint32_t n;
	char letter[HN_GRAPH_MAX_RANK];
	int64_t block[HN_GRAPH_MAX_RANK];
};

static bool read_layout(const char *s, struct layout *ret)
{
	*ret = (struct layout){ 0 };
	while (*s != '\0') {
		char *end;
		long long block = strtoll(s, &end, 10);
		bool is_block = islower((unsigned char)*end) != 0;

		if (ret->n == HN_GRAPH_MAX_RANK || !isalpha((unsigned char)*end) ||
		    (end > s && (!isdigit((unsigned char)*s) || !is_block || block < 1)) ||
		    memchr(ret->letter, *end, ret->n) != NULL) {
			return false;
		}
		ret->letter[ret->n] = *end;
		ret->block[ret->n++] = end > s ? block : 0;
		s = end + 1;
	}
	return true;
}

/* The dimension of that letter; n: there is none. */
static uint32_t dimension_of(const struct layout *l, char letter)
{
	uint32_t d = 0;

	while (d < l->n && l->letter[d] != letter) {
		d++;
	}
	return d;
}

/* Each block is joined to its dimension; the capitals that are left into ret. */
static int32_t joined(struct hn_graph *g, int32_t v, const struct layout *l, struct layout *ret)
{
	int64_t perm[HN_GRAPH_MAX_RANK], shape[HN_GRAPH_MAX_RANK];
	uint32_t n = 0, d, small;

	*ret = (struct layout){ 0 };
	for (d = 0; d < l->n; d++) {
		if (!isupper((unsigned char)l->letter[d])) {
			continue;
		}
		small = dimension_of(l, (char)tolower((unsigned char)l->letter[d]));
		shape[ret->n] = g->value[v].shape[d];
		perm[n++] = d;
		if (small < l->n) {
			shape[ret->n] *= g->value[v].shape[small];
			perm[n++] = small;
		}
		ret->letter[ret->n++] = l->letter[d];
	}
	if (n != l->n) {
		return hn_graph_fail(g, HONE_E_INVALID, "a block of no dimension");
	}
	return hn_reshaped(g, hn_transposed(g, v, n, perm), ret->n, shape);
}

/* From capitals alone to the layout `to`. */
static int32_t split(struct hn_graph *g, int32_t v, const struct layout *from, const struct layout *to)
{
	int64_t perm[HN_GRAPH_MAX_RANK], shape[HN_GRAPH_MAX_RANK];
	struct layout cut = { 0 };

	for (uint32_t d = 0; d < from->n; d++) {
		char letter = from->letter[d], small = (char)tolower((unsigned char)letter);
		uint32_t block = dimension_of(to, small);
		int64_t extent = g->value[v].shape[d], by = block < to->n ? to->block[block] : 1;

		if (cut.n + 2 > HN_GRAPH_MAX_RANK || by < 1 || extent % by != 0) {
			return hn_graph_fail(g, HONE_E_INVALID, "%lld elements in blocks of %lld",
					     (long long)extent, (long long)by);
		}
		shape[cut.n] = extent / by;
		cut.letter[cut.n++] = letter;
		if (block < to->n) {
			shape[cut.n] = by;
			cut.letter[cut.n++] = small;
		}
	}
	for (uint32_t d = 0; d < to->n; d++) {
		perm[d] = dimension_of(&cut, to->letter[d]);
		if (cut.n != to->n || perm[d] == cut.n) {
			return hn_graph_fail(g, HONE_E_INVALID, "layouts of different dimensions");
		}
	}
	return hn_transposed(g, hn_reshaped(g, v, cut.n, shape), to->n, perm);
}

void hn_akg_layout(struct hn_akg_call *c)
{
	const char *from = hn_akg_text(c, "src_format", ""), *to = hn_akg_text(c, "dst_format", "");
	struct layout src, dst, plain;
	int32_t v;

	if (!read_layout(from, &src) || !read_layout(to, &dst) ||
	    src.n != hn_akg_in(c, 0)->rank) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "from %.40s to %.40s", from, to);
		return;
	}
	v = joined(c->g, c->in[0], &src, &plain);
	c->out[0] = v < 0 ? v : split(c->g, v, &plain, &dst);
}
