/* costmodel/forest.h -- regression trees over a program's features. The prediction is the sum of
 * their leaves.
 *
 * A training produces a forest. It is small, in no library's format, and predicting from it
 * needs no library. Splits are `x[feature] < at`, left when true. Features are never NaN.
 *
 * As text it has one tree a line, in preorder: `f,at` is a split, `=v` a leaf. Numbers are the
 * shortest that give the same float again, so reading a written forest gives the same forest.
 */
#ifndef HN_COSTMODEL_FOREST_H
#define HN_COSTMODEL_FOREST_H

#include "base/buf.h"
#include "base/err.h"

#define HN_FOREST_DEPTH 6 /* splits from a root to a leaf, at most */
#define HN_FOREST_LEAVES (1 << HN_FOREST_DEPTH)

/* Complete, so that every row takes as many steps: the children of split k are 2k + 1 and 2k + 2,
 * those of the last level are leaves.  What is shallower ends in splits at infinity whose leaves
 * are all the same. */
struct hn_forest_tree {
	float at[HN_FOREST_LEAVES - 1];
	float leaf[HN_FOREST_LEAVES];
	uint16_t feature[HN_FOREST_LEAVES - 1];
};

struct hn_forest { /* all 0: no trees; the memory is the forest's */
	uint32_t n_tree, cap_tree;
	struct hn_forest_tree *tree;
};

void hn_forest_fini(struct hn_forest *f);

/* Forget all trees but the first n. */
void hn_forest_cut(struct hn_forest *f, uint32_t n);

/* Append the tree that xgboost dumps as JSON.  HONE_E_CORRUPT: it is none, or too deep. */
int hn_forest_add_dump(struct hn_forest *f, const char *dump, struct hn_err *err) HN_NODISCARD;

void hn_forest_write(const struct hn_forest *f, struct hn_buf *buf);

/* Append the tree of one line, whose features are below n_feature.  HONE_E_CORRUPT, the forest as
 * it was, when it is none, or too deep. */
int hn_forest_add_line(struct hn_forest *f, const char *line, uint32_t n_feature,
		       struct hn_err *err) HN_NODISCARD;

/* sum[i] += the trees' values of row i; x: [n_row * n_feature].  The bits of a sum do not depend
 * on the other rows. */
void hn_forest_predict(const struct hn_forest *f, const float *x, uint32_t n_row,
		       uint32_t n_feature, double *sum);

#endif
