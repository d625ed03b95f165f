/* costmodel/forest.c -- see forest.h. */
#include "costmodel/forest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define N_SPLIT (HN_FOREST_LEAVES - 1)

void hn_forest_fini(struct hn_forest *f)
{
	free(f->tree);
	*f = (struct hn_forest){0};
}

void hn_forest_cut(struct hn_forest *f, uint32_t n)
{
	f->n_tree = n < f->n_tree ? n : f->n_tree;
}

static struct hn_forest_tree *add_tree(struct hn_forest *f)
{
	if (f->n_tree == f->cap_tree) {
		f->cap_tree = f->cap_tree ? 2 * f->cap_tree : 64;
		f->tree = realloc(f->tree, f->cap_tree * sizeof *f->tree);
		hn_assert(f->tree);
	}
	return &f->tree[f->n_tree++];
}

/* A leaf at place k, and so all that would be below it. */
static void put_leaf(struct hn_forest_tree *t, uint32_t k, float value)
{
	if (k >= N_SPLIT) {
		t->leaf[k - N_SPLIT] = value;
		return;
	}
	t->at[k] = INFINITY;
	t->feature[k] = 0;
	put_leaf(t, 2 * k + 1, value);
	put_leaf(t, 2 * k + 2, value);
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

static bool add_dumped(struct hn_forest_tree *t, const struct hn_json *node, uint32_t k)
{
	const char *split = node ? hn_json_string(hn_json_get(node, "split")) : NULL;
	double at;

	if (node && hn_json_double(hn_json_get(node, "leaf"), &at)) {
		put_leaf(t, k, (float)at);
		return true;
	}
	if (!split || *split != 'f' || k >= N_SPLIT ||
	    !hn_json_double(hn_json_get(node, "split_condition"), &at)) {
		return false;
	}
	t->at[k] = (float)at;
	t->feature[k] = (uint16_t)atoi(split + 1);
	return add_dumped(t, child(node, "yes"), 2 * k + 1) &&
	       add_dumped(t, child(node, "no"), 2 * k + 2);
}

int hn_forest_add_dump(struct hn_forest *f, const char *dump, struct hn_err *err)
{
	struct hn_json *doc;
	int rc = hn_json_parse("tree", dump, strlen(dump), NULL, &doc, err);

	if (rc < 0) {
		return rc;
	}
	if (!add_dumped(add_tree(f), doc, 0)) {
		hn_forest_cut(f, f->n_tree - 1);
		rc = hn_fail(err, HONE_E_CORRUPT, "tree: not one of xgboost's");
	}
	hn_json_free(doc);
	return rc;
}

/* Place k and all below it, in preorder. */
static void write_node(const struct hn_forest_tree *t, uint32_t k, struct hn_buf *buf)
{
	if (k < N_SPLIT && t->at[k] < INFINITY) {
		hn_buf_printf(buf, "%u,%.9g ", t->feature[k], (double)t->at[k]);
		write_node(t, 2 * k + 1, buf);
		hn_buf_putc(buf, ' ');
		write_node(t, 2 * k + 2, buf);
		return;
	}
	while (k < N_SPLIT) {
		k = 2 * k + 1;
	}
	hn_buf_printf(buf, "=%.9g", (double)t->leaf[k - N_SPLIT]);
}

void hn_forest_write(const struct hn_forest *f, struct hn_buf *buf)
{
	for (uint32_t i = 0; i < f->n_tree; i++) {
		write_node(&f->tree[i], 0, buf);
		hn_buf_putc(buf, '\n');
	}
}

/* The node at *at and all below it, at place k. */
static bool read_node(struct hn_forest_tree *t, const char **at, uint32_t n_feature, uint32_t k)
{
	char *end = (char *)*at + 1;
	unsigned long feature = 0;
	bool leaf = **at == '=';

	if (!leaf) {
		feature = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : n_feature;
		if (feature >= n_feature || *end++ != ',' || k >= N_SPLIT) {
			return false;
		}
	}
	const char *number = end;
	double value = strtod(number, &end);

	if (end == number || !isfinite(value) || fabs(value) > 3e38) {
		return false;
	}
	*at = *end == ' ' ? end + 1 : end;
	if (leaf) {
		put_leaf(t, k, (float)value);
		return true;
	}
	t->at[k] = (float)value;
	t->feature[k] = (uint16_t)feature;
	return read_node(t, at, n_feature, 2 * k + 1) && read_node(t, at, n_feature, 2 * k + 2);
}

int hn_forest_add_line(struct hn_forest *f, const char *line, uint32_t n_feature,
		       struct hn_err *err)
{
	const char *at = line;

	if (read_node(add_tree(f), &at, n_feature, 0) && (*at == '\n' || *at == '\0')) {
		return 0;
	}
	hn_forest_cut(f, f->n_tree - 1);
	return hn_fail(err, HONE_E_CORRUPT, "no tree at \"%.20s\"", at);
}

/* Which of the two places below k; no branch, for which it is is hard to guess. */
static inline uint32_t below(const struct hn_forest_tree *t, const float *row, uint32_t k)
{
	return 2 * k + 2 - (row[t->feature[k]] < t->at[k]);
}

static inline double leaf(const struct hn_forest_tree *t, uint32_t k)
{
	return (double)t->leaf[k - N_SPLIT];
}

/* Four rows abreast: a step waits for the one before, but not for other rows'. */
static void add_four(const struct hn_forest_tree *t, const float *x, uint32_t n_feature,
		     double *sum)
{
	const float *y = x + n_feature, *z = y + n_feature, *w = z + n_feature;
	uint32_t i = 0, j = 0, k = 0, l = 0;

	for (int level = 0; level < HN_FOREST_DEPTH; level++) {
		i = below(t, x, i);
		j = below(t, y, j);
		k = below(t, z, k);
		l = below(t, w, l);
	}
	sum[0] += leaf(t, i);
	sum[1] += leaf(t, j);
	sum[2] += leaf(t, k);
	sum[3] += leaf(t, l);
}

static void add_one(const struct hn_forest_tree *t, const float *x, double *sum)
{
	uint32_t k = 0;

	for (int level = 0; level < HN_FOREST_DEPTH; level++) {
		k = below(t, x, k);
	}
	*sum += leaf(t, k);
}

void hn_forest_predict(const struct hn_forest *f, const float *x, uint32_t n_row,
		       uint32_t n_feature, double *sum)
{
	for (uint32_t t = 0; t < f->n_tree; t++) {
		uint32_t i = 0;

		for (; i + 4 <= n_row; i += 4) {
			add_four(&f->tree[t], x + (size_t)i * n_feature, n_feature, sum + i);
		}
		for (; i < n_row; i++) {
			add_one(&f->tree[t], x + (size_t)i * n_feature, sum + i);
		}
	}
}
