/* costmodel/forest.c -- see forest.h. */
#include "costmodel/forest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define MOST_DEPTH 32

void hn_forest_fini(struct hn_forest *f)
{
	free(f->root);
	free(f->node);
	*f = (struct hn_forest){0};
}

void hn_forest_cut(struct hn_forest *f, uint32_t n)
{
	if (n < f->n_tree) {
		f->n_node = f->root[n];
		f->n_tree = n;
	}
}

static void *grown(void *at, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap) {
		return at;
	}
	*cap = *cap ? 2 * *cap : 64;
	at = realloc(at, *cap * size);
	hn_assert(at);
	return at;
}

static uint32_t add_node(struct hn_forest *f, uint16_t feature, double at)
{
	f->node = grown(f->node, f->n_node, &f->cap_node, sizeof *f->node);
	f->node[f->n_node] = (struct hn_forest_node){(float)at, feature, 0};
	return f->n_node++;
}

/* The left child of node k is complete: the next node is its right child. */
static bool turn_right(struct hn_forest *f, uint32_t k)
{
	f->node[k].right = (uint16_t)(f->n_node - k);
	return f->n_node - k < UINT16_MAX;
}

static void add_root(struct hn_forest *f)
{
	f->root = grown(f->root, f->n_tree, &f->cap_tree, sizeof *f->root);
	f->root[f->n_tree++] = f->n_node;
}

static const struct hn_json *child(const struct hn_json *node, const char *which)
{
	int64_t want, id;

	if (!hn_json_int(hn_json_get(node, which), &want)) {
		return NULL;
	}
	for (const struct hn_json *c = hn_json_first(hn_json_get(node, "children")); c;
	     c = hn_json_next(c)) {
		if (hn_json_int(hn_json_get(c, "nodeid"), &id) && id == want) {
			return c;
		}
	}
	return NULL;
}

static bool add_dumped(struct hn_forest *f, const struct hn_json *node, int depth)
{
	const char *split = node ? hn_json_string(hn_json_get(node, "split")) : NULL;
	double at;

	if (node && hn_json_double(hn_json_get(node, "leaf"), &at)) {
		add_node(f, HN_FOREST_LEAF, at);
		return true;
	}
	if (!split || *split != 'f' || depth == MOST_DEPTH ||
	    !hn_json_double(hn_json_get(node, "split_condition"), &at)) {
		return false;
	}
	uint32_t k = add_node(f, (uint16_t)atoi(split + 1), at);

	return add_dumped(f, child(node, "yes"), depth + 1) && turn_right(f, k) &&
	       add_dumped(f, child(node, "no"), depth + 1);
}

int hn_forest_add_dump(struct hn_forest *f, const char *dump, struct hn_err *err)
{
	struct hn_json *doc;
	int rc = hn_json_parse("tree", dump, strlen(dump), NULL, &doc, err);

	if (rc < 0) {
		return rc;
	}
	add_root(f);
	if (!add_dumped(f, doc, 0)) {
		hn_forest_cut(f, f->n_tree - 1);
		rc = hn_fail(err, HONE_E_CORRUPT, "tree: not one of xgboost's");
	}
	hn_json_free(doc);
	return rc;
}

void hn_forest_write(const struct hn_forest *f, struct hn_buf *buf)
{
	for (uint32_t t = 0; t < f->n_tree; t++) {
		uint32_t end = t + 1 < f->n_tree ? f->root[t + 1] : f->n_node;

		for (uint32_t k = f->root[t]; k < end; k++) {
			const struct hn_forest_node *n = &f->node[k];

			if (n->feature == HN_FOREST_LEAF) {
				hn_buf_printf(buf, "=%.9g", (double)n->at);
			} else {
				hn_buf_printf(buf, "%u,%.9g", n->feature, (double)n->at);
			}
			hn_buf_putc(buf, k + 1 < end ? ' ' : '\n');
		}
	}
}

/* The node at *at and all below it. */
static bool read_node(struct hn_forest *f, const char **at, uint32_t n_feature, int depth)
{
	char *end = (char *)*at + 1;
	unsigned long feature = HN_FOREST_LEAF;

	if (**at != '=') {
		feature = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : n_feature;
		if (feature >= n_feature || *end++ != ',' || depth == MOST_DEPTH) {
			return false;
		}
	}
	const char *number = end;
	double value = strtod(number, &end);

	if (end == number || !isfinite(value) || fabs(value) > 3e38) {
		return false;
	}
	*at = *end == ' ' ? end + 1 : end;
	uint32_t k = add_node(f, (uint16_t)feature, value);

	return feature == HN_FOREST_LEAF ||
	       (read_node(f, at, n_feature, depth + 1) && turn_right(f, k) &&
		read_node(f, at, n_feature, depth + 1));
}

int hn_forest_add_line(struct hn_forest *f, const char *line, uint32_t n_feature,
		       struct hn_err *err)
{
	const char *at = line;

	add_root(f);
	if (read_node(f, &at, n_feature, 0) && (*at == '\n' || *at == '\0')) {
		return 0;
	}
	hn_forest_cut(f, f->n_tree - 1);
	return hn_fail(err, HONE_E_CORRUPT, "no tree at \"%.20s\"", at);
}

void hn_forest_predict(const struct hn_forest *f, const float *x, uint32_t n_row,
		       uint32_t n_feature, double *sum)
{
	for (uint32_t t = 0; t < f->n_tree; t++) {
		const struct hn_forest_node *root = &f->node[f->root[t]];

		for (uint32_t i = 0; i < n_row; i++) {
			const float *row = x + (size_t)i * n_feature;
			const struct hn_forest_node *n = root;

			while (n->feature != HN_FOREST_LEAF) {
				n += row[n->feature] < n->at ? 1 : n->right;
			}
			sum[i] += (double)n->at;
		}
	}
}
